# A machine of 512 MiB with all three daemons, which swaps onto the volume while more is written to
# a file system there than it has memory: it frees memory by writing through the daemons.
WORK=/var/lib/basalt
SIZE_MIB=3072
SWAP_MIB=512
. /lab/lib.sh
disk_of() { echo "/dev/mapper/disk-$1"; }
make_disk() { :; }

# part NAME DEVICE FROM_MIB MIB
part() { dmsetup create "$1" --table "0 $(($4 << 11)) linear $2 $(($3 << 11))"; }

for node in "${NODES[@]}"; do
  part "disk-$node" /dev/vdb $(($(index_of "$node") * SIZE_MIB)) "$SIZE_MIB"
done
# As the guide says for such a machine.
sysctl --quiet --load /lab/basalt-sysctl.conf
start_cluster
adm alice primary "$RESOURCE"
size_mib=$(($(blockdev --getsize64 /dev/ublkb0) >> 20))
part swap /dev/ublkb0 0 "$SWAP_MIB"
part files /dev/ublkb0 "$SWAP_MIB" $((size_mib - SWAP_MIB))

say "swap and ext4 on the volume"
mkswap --quiet /dev/mapper/swap
swapon /dev/mapper/swap
mkfs.ext4 -q -E lazy_itable_init=1,nodiscard /dev/mapper/files
mkdir -p /mnt/volume
mount /dev/mapper/files /mnt/volume
write_files /mnt/volume 20
free --mebi

say "a process that holds more memory than is free"
swapped_mib() { awk '/^pswpout/ { print int($2 / 256) }' /proc/vmstat; }
# A line without an end, which `tail` keeps; of pages of zeroes the kernel swaps nothing but a mark.
(head -c 384M /dev/zero | tr '\0' x; sleep 3600) | tail --lines=1 > /dev/null &
has_swapped() { [ "$(swapped_mib)" -ge 64 ]; }
wait_for 120 "64 MiB of swapped pages" has_swapped
echo "swapped out: $(swapped_mib) MiB"

say "2 GiB"
dd if=/dev/zero of=/mnt/volume/large bs=1M count=2048 conv=fsync status=progress 2> /tmp/dd.log &
writer=$!
while kill -0 "$writer" 2> /dev/null; do
  sleep 10
  tr '\r' '\n' < /tmp/dd.log | tail -n 1
done
wait "$writer" || fail "dd: $(cat /tmp/dd.log)"
tr '\r' '\n' < /tmp/dd.log | tail -n 1
echo "swapped out: $(swapped_mib) MiB"
free --mebi

say "what was written is there"
echo 3 > /proc/sys/vm/drop_caches
check_files /mnt/volume
[ "$(stat --format=%s /mnt/volume/large)" = $((2 << 30)) ] || fail "the file has another size"
# A sixteenth of it: to read all takes the emulated CPU minutes.
for i in {0..15}; do
  cmp --ignore-initial=$((i * 128))M:0 --bytes=8M /mnt/volume/large /dev/zero ||
    fail "the file differs"
done
wait_whole alice

say "the memory is given back, and the volume"
pkill -x tail
swapoff /dev/mapper/swap
umount /mnt/volume
fsck.ext4 -f -n /dev/mapper/files
dmsetup remove swap
dmsetup remove files
adm alice secondary "$RESOURCE"
if dmesg | grep "I/O error"; then fail "the kernel met errors of I/O"; fi
check_kernel_log
