# Metadata on persistent memory: what the activity log costs there, in thousand instructions of all
# nodes for a write to an extent that is not in the log, and what is left after a kill.
. /lab/lib.sh
SIZE_MIB=1024
modprobe -a nd_e820 nd_pmem
modprobe brd rd_nr=6 rd_size=$((SIZE_MIB << 10))
disk_of() { echo "/dev/ram$(index_of "$1")"; }
make_disk() { :; }
metadata=block

configuration() {
  echo "resource $RESOURCE {"
  # The fewest that there may be: most writes are to an extent that is not in the log.
  echo "  disk { al-extents 67; }"
  local node i place
  for node in "${NODES[@]}"; do
    i=$(index_of "$node")
    if [ $metadata = block ]; then place=/dev/ram$((i + 3)); else place=/mnt/pmem/$node; fi
    echo "  on $node { node-id $i; address 127.0.0.1:$((7000 + i));"
    echo "    volume 0 { device minor $i; disk $(disk_of "$node"); meta-disk $place; } }"
  done
  echo "  connection-mesh { hosts ${NODES[*]}; }"
  echo "}"
}

# cost DEPTH
cost() {
  fio --name=cold --filename=/dev/ublkb0 --rw=randwrite --bs=4k --iodepth="$1" --direct=1 \
    --ioengine=io_uring --norandommap --time_based --runtime=500ms --thread --output-format=json \
    --output=/tmp/report > /tmp/fio.said 2>&1 || { cat /tmp/fio.said; fail "fio"; }
  jq '1e7 / .jobs[0].write.iops | round / 10' /tmp/report
}

measure() {
  start_cluster
  adm alice primary "$RESOURCE"
  local one many
  one=$(cost 1)
  many=$(cost 32)
  echo "$metadata: $one thousand instructions per cold write at QD1, $many at QD32"
  echo "$one $many" > "/tmp/$metadata"
}

say "metadata on RAM disks"
measure
for node in "${NODES[@]}"; do stop_node "$node"; done
rm -rf "$WORK"

say "metadata on persistent memory"
wait_for 10 "the persistent memory" test -b /dev/pmem0
mkfs.ext4 -q -b 4096 /dev/pmem0
mkdir -p /mnt/pmem
mount -o dax /dev/pmem0 /mnt/pmem
metadata=persistent
for node in "${NODES[@]}"; do truncate --size=8M "/mnt/pmem/$node"; done
measure
for node in "${NODES[@]}"; do
  grep -q "on persistent memory" "$WORK/$node.log" || fail "$node does not use it"
done

say "what it says is true after a kill"
fio --name=late --filename=/dev/ublkb0 --rw=randwrite --bs=4k --iodepth=8 --direct=1 --size=64M \
  --ioengine=io_uring --number_ios=200 --verify=crc32c --do_verify=0 --output=/tmp/fio.said
for node in "${NODES[@]}"; do kill_node "$node"; done
for node in "${NODES[@]}"; do start_node "$node"; done
wait_for 60 "alice as Primary" adm alice primary "$RESOURCE" > /dev/null 2>&1
wait_whole alice
fio --name=late --filename=/dev/ublkb0 --rw=randwrite --bs=4k --iodepth=8 --direct=1 --size=64M \
  --ioengine=io_uring --number_ios=200 --verify=crc32c --verify_only --output=/tmp/fio.said ||
  { cat /tmp/fio.said; fail "what was written is not there"; }
size_bytes=$(blockdev --getsize64 /dev/ublkb0)
adm alice secondary "$RESOURCE"
compare_replicas "$size_bytes"

read -r block_one block_many < /tmp/block
read -r one many < /tmp/persistent
echo "saved: $(echo "$block_one $one" | awk '{ print $1 - $2 }') thousand at QD1," \
  "$(echo "$block_many $many" | awk '{ print $1 - $2 }') at QD32"
awk "BEGIN { exit !($one < $block_one) }" || fail "it saves nothing"
check_kernel_log
