# What the chapters share: three nodes in this one kernel, and words for what is to hold.
# A chapter opens with `. /lab/lib.sh`.
set -euo pipefail

NODES=(alice bob charlie)
RESOURCE=r0
SIZE_MIB=${SIZE_MIB:-256}
WORK=/tmp/nodes

say() { echo "== $*"; }

fail() {
  echo "FAILED: $*"
  exit 1
}

# Shows what the daemons said when the chapter ends badly.
at_exit() {
  local status=$?
  [ "$status" = 0 ] && return
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

disk_of() { echo "$WORK/$1.disk"; }

adm() {
  local node=$1
  shift
  basalt adm --config-file "$WORK/r0.res" --node-socket "$WORK/$node/admin.sock" "$@"
}

start_node() {
  local node=$1
  shift
  basalt node --name "$node" --state-dir "$WORK/$node" --nbd "127.0.0.1:$(nbd_port "$node")" "$@" \
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

is_whole() {
  local states
  states=$(adm "$1" status --json | jq -r '.[0] |
    [.devices[]."disk-state", .connections[].peer_devices[]."peer-disk-state"] | join(" ")')
  [ "$states" = "UpToDate UpToDate UpToDate" ]
}

# All three replicas up to date, as the node sees it.
wait_whole() { wait_for 60 "three replicas that are up to date" is_whole "$1"; }

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
    truncate --size="${SIZE_MIB}M" "$(disk_of "$node")"
    mkdir -p "$WORK/$node"
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
  local node pid bytes=$1
  for node in "${NODES[@]}"; do
    pid=$(cat "$WORK/$node.pid")
    kill "$pid"
    wait "$pid" || fail "the daemon of $node did not end well"
  done
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
