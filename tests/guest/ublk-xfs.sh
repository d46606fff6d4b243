# Our block devices, the rest: odd sectors, zeroing, xfs, discard, and removal by force.
SIZE_MIB=320
. /lab/lib.sh
start_cluster
mkdir -p /mnt/volume
adm alice primary "$RESOURCE"
size_bytes=$(blockdev --getsize64 /dev/ublkb0)

say "sectors that are no blocks, and both ways to zero"
head -c 65536 /dev/urandom > /tmp/pattern
dd if=/tmp/pattern of=/dev/ublkb0 bs=65536 seek=1 oflag=direct status=none
dd if=/tmp/pattern of=/dev/ublkb0 bs=512 skip=3 seek=200 count=5 oflag=direct conv=notrunc status=none
dd if=/tmp/pattern of=/tmp/expected bs=65536 status=none
dd if=/tmp/pattern of=/tmp/expected bs=512 skip=3 seek=72 count=5 conv=notrunc status=none
dd if=/dev/ublkb0 bs=512 skip=128 count=128 iflag=direct status=none | cmp - /tmp/expected ||
  fail "sectors were mixed up"
blkdiscard --zeroout --offset 66048 --length 10240 /dev/ublkb0
dd if=/dev/zero of=/tmp/expected bs=512 seek=1 count=20 conv=notrunc status=none
dd if=/dev/ublkb0 bs=512 skip=128 count=128 iflag=direct status=none | cmp - /tmp/expected ||
  fail "zeroing went wrong"

say "xfs"
mkfs.xfs -q -f /dev/ublkb0
check_kills "xfs_repair -n"

say "the whole device is discarded"
dd if=/dev/urandom of=/dev/ublkb0 bs=1M count=16 oflag=direct status=none
give_back 16000 blkdiscard -f /dev/ublkb0

say "force cuts a user off"
mkfs.xfs -q -f /dev/ublkb0
mount /dev/ublkb0 /mnt/volume
adm alice secondary --force "$RESOURCE"
[ ! -e /dev/ublkb0 ] || fail "the device stayed"
umount /mnt/volume

compare_replicas "$size_bytes"
check_kernel_log
