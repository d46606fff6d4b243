# A virtual machine's disk over vhost-user: a file system on it, daemons that die under it.
. /lab/lib.sh
. /lab/vhost.lib.sh

attribute() {
  local found
  found=$(cat "/sys/block/vdb/$1")
  [ "$found" = "$2" ] || fail "$1 is $found, not $2"
}

say "the disk says what it can do"
lsblk --discard --bytes $disk
attribute queue/logical_block_size 512
attribute queue/physical_block_size 4096
attribute queue/write_cache "write back"
attribute queue/discard_granularity 4096
attribute queue/discard_max_bytes $((1 << 30))
attribute queue/write_zeroes_max_bytes $((1 << 30))
attribute serial r0
[ "$(find /sys/block/vdb/mq -mindepth 1 -maxdepth 1 | wc -l)" = 2 ] || fail "not two queues"
size_bytes=$(blockdev --getsize64 $disk)

say "ext4"
mkfs.ext4 -q -F $disk
mkdir -p /mnt/volume
mount $disk /mnt/volume
mkdir /mnt/volume/a
write_files /mnt/volume/a 20
start_load /mnt/volume

say "bob's daemon dies"
host kill_node bob
load_goes_on
host start_vhost_node bob
host wait_whole alice
load_goes_on

say "the serving daemon dies, and the next one goes on"
before=$EPOCHREALTIME
host restart_alice
dd if=$disk of=/dev/null bs=4k count=1 iflag=direct status=none
echo "the first read came $(echo "$before $EPOCHREALTIME" | awk '{ print $2 - $1 }') s after the kill was asked for"
load_goes_on
host wait_whole alice

say "writes go through when there is no cache"
echo "write through" > /sys/block/vdb/cache_type
attribute queue/write_cache "write through"
load_goes_on
echo "write back" > /sys/block/vdb/cache_type

stop_load
check_files /mnt/volume/a

say "what is trimmed is given back by all three"
head -c 16M /dev/urandom > /mnt/volume/large
sync
host allocated_kib
read -r -a old < "/lab/said.$number"
rm /mnt/volume/large
sync
fstrim --verbose /mnt/volume
host allocated_kib
read -r -a new < "/lab/said.$number"
for i in 0 1 2; do
  [ $((old[i] - new[i])) -ge 16000 ] || fail "replica $i kept what it was to give back"
done

umount /mnt/volume
fsck.ext4 -f -n $disk
check_kernel_log
say "the replicas are compared"
host wait_whole alice
host compare_replicas "$size_bytes"
