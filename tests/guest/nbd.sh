# The kernel's NBD client on our server: a file system, a replica that dies under it, trim.
. /lab/lib.sh
start_cluster
say "three nodes are up to date"
size_bytes=0

attach() {
  nbd-client -N "$RESOURCE" 127.0.0.1 "$(nbd_port "$1")" /dev/nbd0 -connections 2 -block-size 4096
  size_bytes=$(blockdev --getsize64 /dev/nbd0)
}

attach alice
lsblk --discard /dev/nbd0
mkfs.ext4 -q /dev/nbd0
mkdir -p /mnt/volume
mount /dev/nbd0 /mnt/volume
mkdir /mnt/volume/a /mnt/volume/b
write_files /mnt/volume/a 20

say "bob dies under a load that syncs each write"
fio --name=load --filename=/mnt/volume/load --size=2M --rw=randwrite --bs=4k --fdatasync=16 \
  --ioengine=psync --verify=crc32c --verify_backlog=256 --output=/tmp/fio.log --eta=never &
load=$!
wait_for 20 "the load" test -s /mnt/volume/load
kill_node bob
write_files /mnt/volume/b 20
wait "$load" || { cat /tmp/fio.log; fail "fio met an error"; }
start_node bob
wait_whole alice
check_files /mnt/volume/a
check_files /mnt/volume/b

say "what is trimmed is given back by all three"
head -c 8M /dev/urandom > /mnt/volume/large
trim() {
  rm -r /mnt/volume/load /mnt/volume/large /mnt/volume/a
  sync
  fstrim --verbose /mnt/volume
}
give_back 8000 trim
umount /mnt/volume
fsck.ext4 -f -n /dev/nbd0
nbd-client -d /dev/nbd0

say "the primary dies under a mounted file system, and bob serves on"
attach alice
mount /dev/nbd0 /mnt/volume
mkdir /mnt/volume/c
write_files /mnt/volume/c 20
kill_node alice
umount --force /mnt/volume 2>/dev/null || umount --lazy /mnt/volume
nbd-client -d /dev/nbd0
wait_for 20 "bob's export" attach bob
# Replays the journal.
mount /dev/nbd0 /mnt/volume
check_files /mnt/volume/b
check_files /mnt/volume/c
umount /mnt/volume
fsck.ext4 -f -n /dev/nbd0
start_node alice
wait_whole bob
nbd-client -d /dev/nbd0
compare_replicas "$size_bytes"
