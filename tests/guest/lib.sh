# What the chapters share: three nodes in this one kernel, and words for what is to hold.
# A chapter opens with `. /lab/lib.sh`.
set -euo pipefail

NODES=(alice bob charlie)
RESOURCE=r0
SIZE_MIB=${SIZE_MIB:-64}
WORK=${WORK:-/tmp/nodes}
# What else every daemon is started with.
NODE_OPTIONS=()

# Where words go also while a command that is waited for has to be silent.
exec 9>&1

say() { echo "== $*"; }

fail() {
  echo "FAILED: $*" >&9
  exit 1
}

# Shows what the daemons said when the chapter ends badly.
at_exit() {
  local status=$?
  [ "$status" = 0 ] && return
  exec >&9 2>&9
  local node
  for node in "${NODES[@]}"; do
    echo "-- the end of $node's log:"
    tail -n 25 "$WORK/$node.log" 2>/dev/null || true
  done
  echo "-- the end of the kernel's log:"
  dmesg | tail -n 25
  exit "$status"
}
trap at_exit EXIT

# wait_for SECONDS WORDS COMMAND..: until the command succeeds.
wait_for() {
  local limit=$1 what=$2
  shift 2
  local end=$((SECONDS + limit))
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || fail "$what did not come within $limit s"
    sleep 0.2
  done
}

index_of() {
  case $1 in alice) echo 0 ;; bob) echo 1 ;; charlie) echo 2 ;; esac
}

nbd_port() { echo $((10809 + $(index_of "$1"))); }

nvme_port() { echo $((4420 + $(index_of "$1"))); }

disk_of() { echo "$WORK/$1.disk"; }

make_disk() { truncate --size="${SIZE_MIB}M" "$(disk_of "$1")"; }

adm() {
  local node=$1
  shift
  basalt adm --config-file "$WORK/r0.res" --node-socket "$WORK/$node/admin.sock" "$@"
}

start_node() {
  local node=$1
  shift
  basalt node --name "$node" --state-dir "$WORK/$node" --nbd "127.0.0.1:$(nbd_port "$node")" \
    --nvme "127.0.0.1:$(nvme_port "$node")" "${NODE_OPTIONS[@]}" "$@" \
    >> "$WORK/$node.log" 2>&1 &
  echo $! > "$WORK/$node.pid"
  wait_for 20 "the daemon of $node" adm "$node" status > /dev/null 2>&1
}

# SIGKILL, and it is gone when this returns.
kill_node() {
  local pid
  pid=$(cat "$WORK/$1.pid")
  kill -9 "$pid"
  wait "$pid" 2>/dev/null || true
}

# SIGTERM, and its end is clean.
stop_node() {
  local pid
  pid=$(cat "$WORK/$1.pid")
  kill "$pid"
  wait "$pid" || fail "the daemon of $1 did not end well"
}

is_whole() {
  local states
  states=$(adm "$1" status --json | jq -r '.[0] |
    [.devices[]."disk-state", .connections[].peer_devices[]."peer-disk-state"] | join(" ")')
  [ "$states" = "UpToDate UpToDate UpToDate" ]
}

# All three replicas up to date, as the node sees it.
wait_whole() { wait_for 120 "three replicas that are up to date" is_whole "$1"; }

# configuration DEVICE_OF_NODE: each node has the minor of its place, for they share a kernel.
configuration() {
  echo "resource $RESOURCE {"
  local node i
  for node in "${NODES[@]}"; do
    i=$(index_of "$node")
    echo "  on $node { node-id $i; address 127.0.0.1:$((7000 + i));"
    echo "    volume 0 { device minor $i; disk $(disk_of "$node"); meta-disk internal; } }"
  done
  echo "  connection-mesh { hosts ${NODES[*]}; }"
  echo "}"
}

# Three nodes with an empty volume, all up to date and Secondary.
start_cluster() {
  mkdir -p "$WORK"
  configuration > "$WORK/r0.res"
  local node
  for node in "${NODES[@]}"; do
    mkdir -p "$WORK/$node"
    make_disk "$node"
    basalt adm --config-file "$WORK/r0.res" create-md --node "$node" "$RESOURCE" > /dev/null
    start_node "$node"
    adm "$node" up "$RESOURCE"
  done
  wait_for 20 "a volume that is new everywhere" \
    adm alice new-current-uuid --clear-bitmap "$RESOURCE" > /dev/null 2>&1
  wait_whole alice
}

# KiB that the three backing files really take.
allocated_kib() {
  local node
  for node in "${NODES[@]}"; do du --block-size=1K "$(disk_of "$node")" | cut -f 1; done | xargs
}

# Ends the nodes cleanly and compares the data of their files.
compare_replicas() {
  local node bytes=$1
  for node in "${NODES[@]}"; do stop_node "$node"; done
  for node in bob charlie; do
    cmp --bytes="$bytes" "$(disk_of alice)" "$(disk_of "$node")" || fail "$node differs from alice"
  done
  say "the replicas are equal"
}

# Files with random content, and their checksums, in the folder $1; $2 of them.
write_files() {
  local i
  for i in $(seq "$2"); do
    head -c $((i % 7 * 20000 + 500)) /dev/urandom > "$1/file$i"
  done
  (cd "$1" && sha256sum file* > sums)
  sync --file-system "$1/sums"
}

check_files() { (cd "$1" && sha256sum --check --quiet sums) || fail "files in $1 changed"; }

# fio writes and reads back what it wrote, again and again, in the folder $1 until `stop_load`.
start_load() {
  rm -f /tmp/load.stop /tmp/load.failed
  : > /tmp/load.rounds
  (
    until [ -e /tmp/load.stop ]; do
      if ! fio --name=load --directory="$1" --size=4M --io_size=1M --rw=randwrite --bs=4k \
        --ioengine=io_uring --iodepth=8 --direct=1 --fdatasync=32 --verify=crc32c \
        --verify_backlog=64 --verify_fatal=1 --verify_state_save=0 --eta=never \
        --output=/tmp/load.log; then
        cp /tmp/load.log /tmp/load.failed
        exit 1
      fi
      echo round >> /tmp/load.rounds
    done
  ) &
  load=$!
  load_goes_on
}

# Two more rounds of it: at least one of them began after this was asked.
load_goes_on() {
  local before
  before=$(wc -l < /tmp/load.rounds)
  has_moved() { [ "$(wc -l < /tmp/load.rounds)" -ge $((before + 2)) ] || [ -e /tmp/load.failed ]; }
  wait_for 90 "progress of the load" has_moved
  [ ! -e /tmp/load.failed ] || { cat /tmp/load.failed; fail "the load met an error"; }
}

stop_load() {
  touch /tmp/load.stop
  wait "$load" || { cat /tmp/load.failed; fail "the load met an error"; }
}

# check_kills CHECKER: on alice's device, everything that may die dies while fio reads back what it writes.
check_kills() {
  local check=$1
  mount /dev/ublkb0 /mnt/volume
  mkdir /mnt/volume/a
  write_files /mnt/volume/a 20
  start_load /mnt/volume
  say "bob's daemon dies"
  kill_node bob
  load_goes_on
  start_node bob
  wait_whole alice
  say "the serving daemon dies"
  kill_node alice
  sleep 1
  [ -b /dev/ublkb0 ] || fail "the device went away with its daemon"
  local before=$EPOCHREALTIME
  start_node alice
  dd if=/dev/ublkb0 of=/dev/null bs=4k count=1 iflag=direct status=none
  echo "the first read after the start came after $(echo "$before $EPOCHREALTIME" |
    awk '{ print $2 - $1 }') s"
  load_goes_on
  wait_whole alice
  stop_load
  check_files /mnt/volume/a
  umount /mnt/volume
  $check /dev/ublkb0
}

# give_back LEAST_KIB COMMAND..: a command that makes all three backing files so much smaller.
give_back() {
  local least=$1 old new i
  shift
  sync
  wait_whole alice
  read -r -a old <<< "$(allocated_kib)"
  "$@"
  read -r -a new <<< "$(allocated_kib)"
  echo "KiB before: ${old[*]}; after: ${new[*]}"
  for i in 0 1 2; do
    [ $((old[i] - new[i])) -ge "$least" ] || fail "${NODES[i]} kept what it was to give back"
  done
}

# check_trim FOLDER: what is removed and trimmed there is given back by all three.
check_trim() {
  say "what is trimmed is given back by all three"
  head -c 16M /dev/urandom > "$1/large"
  trim() {
    rm "$1/large"
    sync
    fstrim --verbose "$1"
  }
  give_back 16000 trim "$1"
}

# Nothing bad stands in the kernel's log.
check_kernel_log() {
  if dmesg | grep -E "WARNING:|BUG:|blocked for more than"; then fail "the kernel complained"; fi
}
