# Sequential reads over links that are slower than the machines: a client of ours with three replicas
# against md RAID10 over three NVMe/TCP targets, each host of both behind the same link.
#
# Each host is a network namespace that may send LINK_MBIT; the client is in that of the guest. Time
# is counted in instructions, or the emulated CPU would be what is slow.
. /lab/lib.sh
LINK_MBIT=${LINK_MBIT:-24}
ROUNDS=${ROUNDS:-3}
NUMBERS=(0 1 2)
modprobe -a veth sch_tbf
modprobe brd rd_nr=6 rd_size=$(((SIZE_MIB + 8) << 10))

# dora has no replica, and serves.
index_of() {
  case $1 in alice) echo 0 ;; bob) echo 1 ;; charlie) echo 2 ;; dora) echo 3 ;; esac
}
disk_of() { echo "/dev/ram$(index_of "$1")"; }
make_disk() { :; }
address_of() { if [ "$1" = dora ]; then echo 10.9.0.1; else echo "10.1.$(index_of "$1").2"; fi; }

configuration() {
  echo "resource $RESOURCE {"
  local node i
  for node in "${NODES[@]}" dora; do
    i=$(index_of "$node")
    echo "  on $node { node-id $i; address $(address_of "$node"):7000;"
    if [ "$node" = dora ]; then echo "    volume 0 { device minor 3; disk none; } }"
    else echo "    volume 0 { device minor $i; disk $(disk_of "$node"); meta-disk internal; } }"; fi
  done
  echo "  connection-mesh { hosts ${NODES[*]} dora; }"
  echo "}"
}

start_node() {
  local node=$1 into=(ip netns exec "$1")
  [ "$node" != dora ] || into=()
  "${into[@]}" basalt node --name "$node" --state-dir "$WORK/$node" >> "$WORK/$node.log" 2>&1 &
  echo $! > "$WORK/$node.pid"
  wait_for 20 "the daemon of $node" adm "$node" status > /dev/null 2>&1
}

is_whole() {
  local count
  count=$(adm "$1" status --json | jq '[.[0] | .devices[]."disk-state",
    .connections[].peer_devices[]."peer-disk-state" | select(. == "UpToDate")] | length')
  [ "$count" = 3 ]
}

say "three hosts that send $LINK_MBIT Mbit/s each"
ip addr add 10.9.0.1/32 dev lo
echo 1 > /proc/sys/net/ipv4/ip_forward
for i in "${NUMBERS[@]}"; do
  host=${NODES[i]}
  ip netns add "$host"
  ip link add "to-$host" type veth peer name eth0 netns "$host"
  ip addr add "10.1.$i.1/24" dev "to-$host"
  ip link set "to-$host" up
  ip -n "$host" addr add "10.1.$i.2/24" dev eth0
  ip -n "$host" link set lo up
  ip -n "$host" link set eth0 up
  ip -n "$host" route add default via "10.1.$i.1"
  tc -n "$host" qdisc add dev eth0 root tbf rate "${LINK_MBIT}mbit" burst 64kb latency 400ms
done

# All nodes are asked before a volume is new everywhere.
mkdir -p "$WORK/dora"
configuration > "$WORK/r0.res"
start_node dora
adm dora up "$RESOURCE" 2> /dev/null
start_cluster
wait_for 20 "dora's peers" is_whole dora
adm dora primary "$RESOURCE"
ours=/dev/ublkb3
[ -b $ours ] || fail "there is no device"

say "md over the same links"
modprobe nvmet-tcp
modprobe raid10
targets=/sys/kernel/config/nvmet
initiator=(--hostnqn "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555"
  --hostid 11111111-2222-3333-4444-555555555555)
for i in "${NUMBERS[@]}"; do
  port=$targets/ports/$((i + 1))
  subsystem=$targets/subsystems/copy$i
  mkdir -p "$subsystem/namespaces/1" "$port"
  echo tcp > "$port/addr_trtype"
  echo ipv4 > "$port/addr_adrfam"
  echo "10.1.$i.2" > "$port/addr_traddr"
  echo 4420 > "$port/addr_trsvcid"
  echo 1 > "$subsystem/attr_allow_any_host"
  echo -n "/dev/ram$((i + 3))" > "$subsystem/namespaces/1/device_path"
  echo 1 > "$subsystem/namespaces/1/enable"
  # The socket is made in the network of who links them.
  nsenter --net="/run/netns/${NODES[i]}" ln -s "$subsystem" "$port/subsystems/copy$i"
  nvme connect -t tcp -a "10.1.$i.2" -s 4420 -n "copy$i" "${initiator[@]}"
done
disks() { lsblk --nodeps --noheadings --output NAME | grep -E '^nvme[0-9]+n1$' | sed 's,^,/dev/,' | xargs; }
are_three() { [ "$(disks | wc -w)" = 3 ]; }
wait_for 20 "three disks" are_three
# shellcheck disable=SC2046
mdadm --create /dev/md0 --level=10 --raid-devices=3 --layout=o3 --assume-clean \
  --bitmap=internal --run $(disks) < <(yes) > /tmp/mdadm.said 2>&1 ||
  { cat /tmp/mdadm.said; fail "mdadm makes no array"; }

say "sequential reads, 128 KiB, QD16"
megabytes=$((SIZE_MIB - 16))
for device in $ours /dev/md0; do
  dd if=/dev/urandom of=$device bs=1M count=$megabytes oflag=direct status=none
done
# read_from DEVICE: KiB in a second.
read_from() {
  fio --name=read --filename="$1" --rw=read --bs=128k --iodepth=16 --direct=1 --ioengine=io_uring \
    --size="${megabytes}M" --time_based --runtime=2 --ramp_time=500ms --output-format=json \
    --output=/tmp/report > /tmp/fio.said 2>&1 || { cat /tmp/fio.said; fail "fio on $1"; }
  jq '.jobs[0].read.bw' /tmp/report
}
median() { sort --numeric-sort | sed -n "$(((ROUNDS + 1) / 2))p"; }
: > /tmp/ours
: > /tmp/md
for round in $(seq "$ROUNDS"); do
  read_from $ours >> /tmp/ours
  read_from /dev/md0 >> /tmp/md
  echo "round $round: ours $(tail -n 1 /tmp/ours) KiB/s, md $(tail -n 1 /tmp/md) KiB/s"
done
link_kib=$((LINK_MBIT * 1000000 / 8 / 1024))
ours_kib=$(median < /tmp/ours)
md_kib=$(median < /tmp/md)
echo "median: ours $ours_kib KiB/s, md $md_kib KiB/s; a link carries $link_kib KiB/s"
[ "$((ours_kib * 100))" -ge "$((link_kib * 250))" ] || fail "three links are not used"
# Both fill the links. One request more or less in the measured time would be 0.7 %.
[ "$((ours_kib * 1000))" -ge "$((md_kib * 995))" ] || fail "md reads faster"
check_kernel_log
