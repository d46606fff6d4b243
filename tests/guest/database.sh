# PostgreSQL on our block device, over NVMe/TCP and over NBD, each with ext4 and xfs: nodes die under it.
SIZE_MIB=400
. /lab/lib.sh
. /lab/database.lib.sh
start_cluster
mkdir -p /mnt/volume
size_bytes=0

# A replica that dies, and comes back.
kill_replica() {
  kill_node "$1"
  transactions_go_on
  start_node "$1"
  wait_whole "$2"
}

# with_ublk KIND: the serving daemon dies and comes back, and its device waits for it.
with_ublk() {
  say "ublk, $1"
  adm alice primary "$RESOURCE"
  size_bytes=$(blockdev --getsize64 /dev/ublkb0)
  make_file_system "$1" /dev/ublkb0
  start_database
  start_transactions
  kill_replica bob alice
  kill_node alice
  start_node alice
  transactions_go_on
  wait_whole alice
  stop_transactions
  check_database
  umount /mnt/volume
  check_file_system "$1" /dev/ublkb0
  give_all_back /dev/ublkb0
  adm alice secondary "$RESOURCE"
}

# The memory of the backing files.
give_all_back() { blkdiscard -f "$1"; }

NQN=nqn.2026-01.local.basalt:$RESOURCE
ID=11111111-2222-3333-4444-555555555555

# with_nvme KIND: the serving daemon dies, and another node serves.
with_nvme() {
  say "NVMe/TCP, $1"
  local node
  for node in "${NODES[@]}"; do
    nvme connect -t tcp -a 127.0.0.1 -s "$(nvme_port "$node")" -n "$NQN" \
      --hostnqn "nqn.2014-08.org.nvmexpress:uuid:$ID" --hostid "$ID" --nr-io-queues=2 \
      --reconnect-delay=1 --ctrl-loss-tmo=120 --keep-alive-tmo=5
    # The first one that is asked for data serves.
    wait_for 20 "the namespace" test -b /dev/nvme0n1
    dd if=/dev/nvme0n1 of=/dev/null bs=4k count=1 iflag=direct status=none
  done
  make_file_system "$1" /dev/nvme0n1
  start_database
  start_transactions
  local server
  server=$(primary)
  kill_replica "$(other_than "$server")" "$server"
  kill_node "$server"
  transactions_go_on
  start_node "$server"
  has_primary() { [ -n "$(primary)" ]; }
  wait_for 30 "a Primary" has_primary
  wait_whole "$(primary)"
  stop_transactions
  check_database
  umount /mnt/volume
  check_file_system "$1" /dev/nvme0n1
  give_all_back /dev/nvme0n1
  nvme disconnect -n "$NQN"
  is_secondary() { [ -z "$(primary)" ]; }
  wait_for 20 "a node that serves nobody" is_secondary
}

primary() {
  local node
  for node in "${NODES[@]}"; do
    if [ "$(adm "$node" status --json 2>/dev/null | jq -r '.[0].role')" = Primary ]; then
      echo "$node"
    fi
  done
}

other_than() {
  local node
  for node in "${NODES[@]}"; do
    [ "$node" = "$1" ] || { echo "$node"; return; }
  done
}

attach() {
  nbd-client -N "$RESOURCE" 127.0.0.1 "$(nbd_port "$1")" /dev/nbd0 -connections 2 -block-size 4096
}

# with_nbd KIND: the serving daemon dies, its client is cut off, and mounts what another node serves.
with_nbd() {
  say "NBD, $1"
  wait_for 20 "alice's export" attach alice
  make_file_system "$1" /dev/nbd0
  start_database
  start_transactions
  kill_replica bob alice
  kill_node alice
  # The database has lost its disk; whoever was told of a commit was told before.
  touch /tmp/transactions.stop
  wait "$transactions" || true
  as_postgres $programs/pg_ctl --pgdata=$database --mode=immediate --silent stop || true
  pkill -9 -u postgres || true
  wait_for 20 "the end of the database" no_database
  umount --force /mnt/volume 2>/dev/null || umount --lazy /mnt/volume
  nbd-client -d /dev/nbd0
  wait_for 20 "bob's export" attach bob
  mount /dev/nbd0 /mnt/volume
  rm -f $database/postmaster.pid
  start_database
  start_node alice
  check_database
  umount /mnt/volume
  check_file_system "$1" /dev/nbd0
  wait_whole bob
  give_all_back /dev/nbd0
  nbd-client -d /dev/nbd0
}

no_database() { ! pgrep -u postgres > /dev/null; }

for kind in ext4 xfs; do
  with_ublk $kind
  with_nvme $kind
  with_nbd $kind
done
compare_replicas "$size_bytes"
check_kernel_log
