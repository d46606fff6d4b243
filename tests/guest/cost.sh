# What a request costs: thousand guest instructions, everything included, of our volume with three
# copies and of what the kernel brings, in one guest with one CPU that counts its instructions.
#
# A virtual second is 10^9 instructions, so a request costs 10^9 divided by the requests of a second:
# the load's own part, all nodes, loopback TCP and the kernel. It tells nothing of caches.
. /lab/lib.sh
RUNTIME=500ms
modprobe brd rd_nr=4 rd_size=$((72 << 10))
disk_of() { echo "/dev/ram$(index_of "$1")"; }
make_disk() { dd if=/dev/zero of="$(disk_of "$1")" bs=1M oflag=direct status=none 2>/dev/null || true; }
table=/tmp/table

# NAME READ-OR-WRITE BLOCK DEPTH, in the order of the table.
loads() {
  cat <<'LOADS'
write-1 randwrite 4k 1
write-32 randwrite 4k 32
read-1 randread 4k 1
read-32 randread 4k 32
write-128 write 128k 8
read-128 read 128k 8
LOADS
}

# row NAME DEVICE: a line of the table. One fio for all, for its start takes seconds here.
row() {
  local name rw block depth words=()
  dd if=/dev/zero of="$2" bs=1M count=40 oflag=direct status=none
  while read -r name rw block depth; do
    words+=(--name="$name" --stonewall --rw="$rw" --bs="$block" --iodepth="$depth")
  done < <(loads)
  fio --filename="$2" --direct=1 --ioengine=io_uring --size=40M --time_based --runtime=$RUNTIME \
    --norandommap --randrepeat=0 --thread --output-format=json --output=/tmp/report \
    "${words[@]}" > /tmp/fio.said 2>&1 || { cat /tmp/fio.said; fail "fio on $1"; }
  echo "| $1 | $(jq -r '[.jobs[] | (.read.iops + .write.iops) as $iops |
    if .error == 0 and $iops > 0 then 1e7 / $iops | round / 10 else error("a job failed") end] |
    join(" | ")' /tmp/report) |" | tee -a $table
}

# figure ROW COLUMN
figure() { awk -F' *[|] *' -v row="$1" -v column="$2" '$2 == row { print $(column + 2) }' $table; }

# goal COLUMN GOAL CEILING WHAT: whether our block device meets the goal, and whether it is below
# the ceiling: a tenth to a fifth above what it cost when that was last written down.
OURS="Basalt, 3 copies, ublk"
is_dearer=
goal() {
  local cost
  cost=$(figure "$OURS" "$1")
  if awk "BEGIN { exit !($cost <= $2) }"; then echo "goal met: $4: $cost <= $2"
  else echo "goal missed: $4: $cost > $2"; fi
  if awk "BEGIN { exit !($cost > $3) }"; then
    echo "$4 has become dearer: $cost > $3"
    is_dearer=yes
  fi
}

echo "| thousand instructions per request | 4K write QD1 | 4K write QD32 | 4K read QD1 |" \
  "4K read QD32 | 128K write QD8 | 128K read QD8 |" > $table
echo "| --- | --- | --- | --- | --- | --- | --- |" >> $table
row "a RAM disk" /dev/ram3

start_cluster
adm alice primary "$RESOURCE"
row "$OURS" /dev/ublkb0
adm alice secondary "$RESOURCE"
nvme connect -t tcp -a 127.0.0.1 -s "$(nvme_port alice)" -n "nqn.2026-01.local.basalt:$RESOURCE" \
  --hostnqn nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555 \
  --hostid 11111111-2222-3333-4444-555555555555
wait_for 20 "the namespace" test -b /dev/nvme0n1
row "Basalt, 3 copies, the kernel's NVMe/TCP initiator" /dev/nvme0n1
before=$SECONDS
nvme disconnect-all
[ $((SECONDS - before)) -lt 20 ] || fail "the initiator waited $((SECONDS - before)) s for its end"
for node in "${NODES[@]}"; do stop_node "$node"; done

say "DRBD 8.4, two copies"
modprobe drbd
mkdir -p /run/lock
setup=/lib/drbd/drbdsetup-84
[ -x $setup ] || setup=/usr/lib/drbd/drbdsetup-84
for i in 0 1; do
  make_disk "${NODES[i]}"
  drbdmeta --force $i v08 /dev/ram$i internal create-md < <(yes yes) > /tmp/drbd.said 2>&1 ||
    { cat /tmp/drbd.said; fail "drbdmeta makes no metadata"; }
  $setup new-resource r$i
  $setup new-minor r$i $i 0
  $setup attach $i /dev/ram$i /dev/ram$i internal
done
options=(--protocol=C --max-buffers=8000 --max-epoch-size=8000 --sndbuf-size=0)
$setup connect r0 ipv4:127.0.0.1:7788 ipv4:127.0.0.1:7789 "${options[@]}"
$setup connect r1 ipv4:127.0.0.1:7789 ipv4:127.0.0.1:7788 "${options[@]}"
are() { [ "$(grep -c "$1" /proc/drbd)" = 2 ]; }
wait_for 30 "DRBD's connection" are cs:Connected
$setup new-current-uuid --clear-bitmap 0
wait_for 30 "two copies" are UpToDate/UpToDate
$setup primary 0
row "DRBD 8.4 of this kernel, 2 copies, protocol C" /dev/drbd0
$setup secondary 0
$setup down r0
$setup down r1

say "md RAID10 over three NVMe/TCP targets"
modprobe nvmet-tcp
modprobe raid10
targets=/sys/kernel/config/nvmet
port=$targets/ports/1
mkdir -p $port
echo tcp > $port/addr_trtype
echo ipv4 > $port/addr_adrfam
echo 127.0.0.1 > $port/addr_traddr
echo 4520 > $port/addr_trsvcid
for i in 0 1 2; do
  make_disk "${NODES[i]}"
  subsystem=$targets/subsystems/copy$i
  mkdir -p $subsystem/namespaces/1
  echo 1 > $subsystem/attr_allow_any_host
  echo -n /dev/ram$i > $subsystem/namespaces/1/device_path
  echo 1 > $subsystem/namespaces/1/enable
  ln -s $subsystem $port/subsystems/copy$i
done
for i in 0 1 2; do
  nvme connect -t tcp -a 127.0.0.1 -s 4520 -n copy$i \
    --hostnqn nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555 \
    --hostid 11111111-2222-3333-4444-555555555555
done
disks() { lsblk --nodeps --noheadings --output NAME | grep -E '^nvme[0-9]+n1$' | sed 's,^,/dev/,' | xargs; }
are_three() { [ "$(disks | wc -w)" = 3 ]; }
wait_for 20 "three disks" are_three
# shellcheck disable=SC2046
mdadm --create /dev/md0 --level=10 --raid-devices=3 --layout=o3 --assume-clean \
  --bitmap=internal --run $(disks) < <(yes) > /tmp/mdadm.said 2>&1 ||
  { cat /tmp/mdadm.said; fail "mdadm makes no array"; }
row "md RAID10 (o3) over 3 NVMe/TCP targets" /dev/md0

say "the table"
cat $table
goal 2 60 91 "4K write QD32"
goal 1 200 217 "4K write QD1"
goal 4 24 23 "4K read QD32"
goal 5 600 1575 "128K write QD8"
[ -z "$is_dearer" ] || fail "a request has become dearer"
check_kernel_log
