# Our block devices: a file system on one, daemons that die under it, and its ends.
. /lab/lib.sh
start_cluster
link=/dev/basalt/by-res/$RESOURCE/0
mkdir -p /mnt/volume

say "the device comes with the role, and says what it can do"
[ ! -e /dev/ublkb0 ] || fail "there is a device without a Primary"
adm alice primary "$RESOURCE"
[ -b /dev/ublkb0 ] || fail "there is no device"
[ "$(readlink -f "$link")" = /dev/ublkb0 ] || fail "$link leads elsewhere"
lsblk --discard --bytes /dev/ublkb0
attribute() {
  local found
  found=$(cat "/sys/block/ublkb0/queue/$1")
  [ "$found" = "$2" ] || fail "$1 is $found, not $2"
}
attribute logical_block_size 512
attribute physical_block_size 4096
attribute max_hw_sectors_kb 1024
attribute write_cache "write back"
attribute fua 1
attribute rotational 0
# What it offers is the kernel's affair, and so is the space at the end.
case $(cat "/sys/block/ublkb0/queue/scheduler") in
*"[none]"*) ;;
*) fail "the device has an I/O scheduler: $(cat /sys/block/ublkb0/queue/scheduler)" ;;
esac
attribute discard_granularity 4096
attribute discard_max_bytes $((1 << 30))
attribute write_zeroes_max_bytes $((1 << 30))
size_bytes=$(blockdev --getsize64 /dev/ublkb0)

say "ext4"
mkfs.ext4 -q -F /dev/ublkb0
check_kills "fsck.ext4 -f -n"

say "what is mounted is not taken away"
mount /dev/ublkb0 /mnt/volume
if adm alice secondary "$RESOURCE" 2>/tmp/refusal; then fail "secondary took a mounted device"; fi
grep -q mounted /tmp/refusal || fail "the refusal says: $(cat /tmp/refusal)"

say "a daemon that is told to end leaves what is mounted to the next one"
mkdir /mnt/volume/b
write_files /mnt/volume/b 10
stop_node alice
head -c 1M /dev/urandom > /mnt/volume/b/late
start_node alice
sync --file-system /mnt/volume/b/late
check_files /mnt/volume/b

check_trim /mnt/volume
umount /mnt/volume

say "the role moves, and the device with it"
adm alice secondary "$RESOURCE"
[ ! -e /dev/ublkb0 ] && [ ! -L "$link" ] || fail "the device or its link stayed"
adm bob primary "$RESOURCE"
mount "$link" /mnt/volume
check_files /mnt/volume/a
umount /mnt/volume
adm bob secondary "$RESOURCE"

say "whoever was overtaken gets errors, and no other data"
adm alice primary "$RESOURCE"
mount /dev/ublkb0 /mnt/volume
kill_node alice
wait_for 20 "bob as Primary" adm bob primary "$RESOURCE" > /dev/null 2>&1
dd if=/dev/urandom of=/dev/ublkb1 bs=4096 seek=1000 count=1 oflag=direct status=none
start_node alice
is_gone() { [ ! -e /dev/ublkb0 ]; }
wait_for 20 "the end of alice's device" is_gone
if dd if=/mnt/volume/a/file1 of=/dev/null iflag=direct status=none 2>/dev/null; then
  fail "alice's file system still reads"
fi
umount /mnt/volume
adm bob secondary "$RESOURCE"

wait_whole alice
compare_replicas "$size_bytes"
check_kernel_log
