# Two volumes in one resource: a file system on one, its journal on the other. What the journal says
# is true of the file system only as long as neither is ahead of the other.
. /lab/lib.sh
UUID=11111111-2222-3333-4444-555555555555
host=(--hostnqn "nqn.2014-08.org.nvmexpress:uuid:$UUID" --hostid "$UUID")
LINKS=/dev/basalt/by-res/$RESOURCE

second_of() { echo "$WORK/$1.second"; }

make_disk() {
  truncate --size="${SIZE_MIB}M" "$(disk_of "$1")"
  truncate --size=32M "$(second_of "$1")"
}

# The minors of the second volume are ten above those of the first.
configuration() {
  echo "resource $RESOURCE {"
  local node i
  for node in "${NODES[@]}"; do
    i=$(index_of "$node")
    echo "  on $node { node-id $i; address 127.0.0.1:$((7000 + i));"
    echo "    volume 0 { device minor $i; disk $(disk_of "$node"); meta-disk internal; }"
    echo "    volume 1 { device minor $((10 + i)); disk $(second_of "$node"); meta-disk internal; } }"
  done
  echo "  connection-mesh { hosts ${NODES[*]}; }"
  echo "}"
}

is_whole() {
  adm "$1" status --json | jq -e '.[0] |
    [.devices[]."disk-state", .connections[].peer_devices[]."peer-disk-state"] |
    length == 6 and all(. == "UpToDate")' > /dev/null
}

# mount_on MINOR: the file system of that device, with the journal of the volume beside it.
mount_on() { mount -o "journal_path=/dev/ublkb$((10 + $1))" "/dev/ublkb$1" /mnt/volume; }

start_cluster
mkdir -p /mnt/volume
adm alice primary "$RESOURCE"
for volume in 0 1; do
  wait_for 20 "a link to volume $volume" test -b "$LINKS/$volume"
done
[ "$(readlink -f "$LINKS/1")" = /dev/ublkb10 ] || fail "a link leads to $(readlink -f "$LINKS/1")"
first_bytes=$(blockdev --getsize64 /dev/ublkb0)
second_bytes=$(blockdev --getsize64 /dev/ublkb10)
[ "$second_bytes" -lt $((32 << 20)) ] && [ "$first_bytes" -gt "$second_bytes" ] ||
  fail "the sizes are $first_bytes and $second_bytes"
[ "$(pgrep -fc '^basalt device supervise ')" = 2 ] || fail "each device has a supervisor"
mke2fs -q -b 4096 -O journal_dev /dev/ublkb10
mkfs.ext4 -q -b 4096 -J device=/dev/ublkb10 /dev/ublkb0
mount_on 0
mkdir /mnt/volume/a
write_files /mnt/volume/a 20
start_load /mnt/volume

say "bob's daemon dies"
kill_node bob
load_goes_on
start_node bob
wait_whole alice

say "the serving daemon dies, and the next one takes both devices over"
kill_node alice
sleep 1
for minor in 0 10; do
  [ -b "/dev/ublkb$minor" ] || fail "the device $minor went away with its daemon"
done
start_node alice
load_goes_on
wait_whole alice
for minor in 0 10; do
  dd if=/dev/ublkb$minor of=/dev/null bs=4k count=1 iflag=direct status=none
done
stop_load

say "neither device goes while one of them is in use"
if adm alice secondary "$RESOURCE"; then fail "a mounted volume was taken away"; fi
for volume in 0 1; do
  [ -b "$LINKS/$volume" ] || fail "volume $volume went"
done
umount /mnt/volume
e2fsck -fn -j /dev/ublkb10 /dev/ublkb0 > /tmp/fsck || { cat /tmp/fsck; fail "the file system is damaged"; }

say "all daemons die under a load, and another node has the file system and its journal"
mount_on 0
start_load /mnt/volume
load_goes_on
# Nothing of the load is left when its devices are gone.
for node in "${NODES[@]}"; do kill_node "$node"; done
basalt device remove 0
basalt device remove 10
touch /tmp/load.stop
wait "$load" || true
umount /mnt/volume
for node in "${NODES[@]}"; do start_node "$node"; done
wait_for 60 "a Primary" adm bob primary "$RESOURCE"
wait_for 20 "bob's devices" test -b /dev/ublkb11
mount_on 1
check_files /mnt/volume/a
umount /mnt/volume
e2fsck -fn -j /dev/ublkb11 /dev/ublkb1 > /tmp/fsck || { cat /tmp/fsck; fail "the file system is damaged"; }
wait_whole bob
adm bob secondary "$RESOURCE"
for volume in 0 1; do
  [ ! -e "$LINKS/$volume" ] || fail "the link to volume $volume stays"
done

say "both are namespaces over NVMe/TCP"
nvme connect -t tcp -a 127.0.0.1 -s "$(nvme_port alice)" "${host[@]}" \
  -n "nqn.2026-01.local.basalt:$RESOURCE"
# The kernel scans namespaces side by side: the number of a device is not that of its namespace.
namespace() { grep -lx "$1" /sys/block/nvme0n*/nsid | sed 's|^/sys/block/\(.*\)/nsid$|/dev/\1|'; }
is_there() { [ -b "$(namespace "$1" 2> /dev/null)" ]; }
wait_for 20 "the first namespace" is_there 1
wait_for 20 "the second namespace" is_there 2
first=$(namespace 1) second=$(namespace 2)
[ "$(blockdev --getsize64 "$first")" = "$first_bytes" ] || fail "the first has another size"
[ "$(blockdev --getsize64 "$second")" = "$second_bytes" ] || fail "the second has another size"
# lsblk asks udev, which is not here.
cmp -s "/sys/block/${first#/dev/}/wwid" "/sys/block/${second#/dev/}/wwid" && fail "they have one name"
mount -o "journal_path=$second" "$first" /mnt/volume
check_files /mnt/volume/a
write_files /mnt/volume/a 20
umount /mnt/volume
nvme disconnect -n "nqn.2026-01.local.basalt:$RESOURCE"
check_kernel_log
compare_replicas "$first_bytes"
for node in bob charlie; do
  cmp --bytes="$second_bytes" "$(second_of alice)" "$(second_of "$node")" ||
    fail "volume 1 of $node differs from that of alice"
done

say "a volume that is added in use has its device at once, beside those of the others"
for node in "${NODES[@]}"; do start_node "$node"; done
wait_whole alice
adm alice primary "$RESOURCE"
for volume in 0 1; do
  wait_for 20 "a link to volume $volume" test -b "$LINKS/$volume"
done
third_of() { echo "$WORK/$1.third"; }
for node in "${NODES[@]}"; do
  truncate --size=32M "$(third_of "$node")"
  third="volume 2 { device minor $((20 + $(index_of "$node"))); disk $(third_of "$node"); meta-disk internal; }"
  sed -i "s|\(disk $(second_of "$node"); meta-disk internal; }\)|\1 $third|" "$WORK/r0.res"
done
for node in "${NODES[@]}"; do
  adm "$node" create-md --node "$node" "$RESOURCE/2" > /dev/null
  adm "$node" adjust "$RESOURCE"
done
wait_for 30 "the device of the new volume" test -b "$LINKS/2"
[ "$(readlink -f "$LINKS/2")" = /dev/ublkb20 ] || fail "a link leads to $(readlink -f "$LINKS/2")"
printf 'new' | dd of=/dev/ublkb20 bs=4k count=1 conv=sync oflag=direct status=none
[ "$(dd if=/dev/ublkb20 bs=4k count=1 iflag=direct status=none | head -c 3)" = new ] ||
  fail "the new volume does not hold what was written"
adm alice secondary "$RESOURCE"
[ ! -e "$LINKS/2" ] || fail "the link to the new volume stays"
check_kernel_log
