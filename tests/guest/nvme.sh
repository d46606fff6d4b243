# The kernel's NVMe/TCP initiator, connected to all nodes: a file system that does not notice when
# the serving node dies, because another path leads to the same namespace.
. /lab/lib.sh
. /lab/nvme.lib.sh

start_cluster
say "three nodes are up to date"
nvme discover -t tcp -a 127.0.0.1 -s "$(nvme_port bob)" "${host[@]}" > /tmp/discovery
cat /tmp/discovery
grep -q "subnqn: *$NQN" /tmp/discovery || fail "discovery does not tell of the resource"
grep -q "trsvcid: *$(nvme_port bob)" /tmp/discovery || fail "discovery does not tell of the port"

connect alice
wait_for 20 "the namespace" test -b "$DEVICE"
wait_for 20 "an optimized path" is_path alice optimized
connect bob --hdr-digest --data-digest
connect charlie
wait_for 20 "a path that is left alone" is_path bob inaccessible
wait_for 20 "a path that is left alone" is_path charlie inaccessible
paths
nvme id-ctrl "$DEVICE" > /tmp/id || fail "nvme id-ctrl fails"
nvme id-ns "$DEVICE" > /tmp/id || fail "nvme id-ns fails"
nvme smart-log "$DEVICE" > /dev/null || fail "nvme smart-log fails"
nvme error-log "$DEVICE" > /dev/null || fail "nvme error-log fails"
nvme ana-log "$DEVICE" > /dev/null || fail "nvme ana-log fails"
lsblk --discard "$DEVICE"
size_bytes=$(blockdev --getsize64 "$DEVICE")
[ "$size_bytes" -gt $((SIZE_MIB << 19)) ] || fail "the size is wrong: $size_bytes"
echo "queue limits: $(cat /sys/block/nvme0n1/queue/max_hw_sectors_kb) KiB," \
  "write zeroes $(cat /sys/block/nvme0n1/queue/write_zeroes_max_bytes)," \
  "cache $(cat /sys/block/nvme0n1/queue/write_cache)," \
  "fua $(cat /sys/block/nvme0n1/queue/fua)"

mkfs.ext4 -q -b 4096 "$DEVICE"
mkdir -p /mnt/volume
mount "$DEVICE" /mnt/volume
mkdir /mnt/volume/a
write_files /mnt/volume/a 20
start_load /mnt/volume
say "bob dies, whom nobody asks"
kill_node bob
load_goes_on
start_node bob
wait_whole alice

kill_server
kill_server
stop_load
check_files /mnt/volume/a
say "trim reaches all three backing files"
make_room() {
  head -c 24M /dev/urandom > /mnt/volume/junk
  sync --file-system /mnt/volume/junk
}
make_room
trim() {
  rm /mnt/volume/junk
  sync --file-system /mnt/volume
  fstrim --verbose /mnt/volume
}
give_back 20000 trim
umount /mnt/volume
e2fsck -fn "$DEVICE" > /tmp/fsck || { cat /tmp/fsck; fail "the file system is damaged"; }

say "a long write and its check, through the path with digests"
serving=$(server)
nvme disconnect -n "$NQN"
is_secondary() { [ "$(adm "$serving" status --json | jq -r '.[0].role')" = Secondary ]; }
wait_for 20 "a node that serves nobody" is_secondary
connect bob --hdr-digest --data-digest
wait_for 20 "the namespace" test -b "$DEVICE"
fio --name=long --filename="$DEVICE" --size=16M --rw=write --bs=1M --ioengine=libaio --iodepth=4 \
  --direct=1 --verify=crc32c --do_verify=1 --eta=never --output=/tmp/fio.log ||
  { cat /tmp/fio.log; fail "fio met an error"; }
blkdiscard --zeroout --offset 512 --length $((1 << 20)) "$DEVICE"
cmp <(dd if="$DEVICE" bs=512 skip=1 count=2048 status=none) <(head -c 1M /dev/zero) ||
  fail "what was zeroed is not zero"
nvme disconnect -n "$NQN"
check_kernel_log
check_losses
compare_replicas "$size_bytes"
