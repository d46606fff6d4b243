# The kernel's NVMe/TCP initiator and its paths to the three nodes. A chapter reads lib.sh first.
NQN=nqn.2026-01.local.basalt:$RESOURCE
UUID=11111111-2222-3333-4444-555555555555
DEVICE=/dev/nvme0n1
host=(--hostnqn "nqn.2014-08.org.nvmexpress:uuid:$UUID" --hostid "$UUID")

connect() {
  local node=$1
  shift
  nvme connect -t tcp -a 127.0.0.1 -s "$(nvme_port "$node")" -n "$NQN" "${host[@]}" \
    --nr-io-queues=2 --reconnect-delay=1 --ctrl-loss-tmo=120 --keep-alive-tmo=5 "$@"
}

# The controller of a node, and how good its path is: optimized, non-optimized or inaccessible.
controller_of() {
  grep -l "trsvcid=$(nvme_port "$1")" /sys/class/nvme/nvme*/address | xargs -n 1 dirname | head -n 1
}

path_of() { cat "$(controller_of "$1")"/nvme*c*n1/ana_state; }
state_of() { cat "$(controller_of "$1")/state"; }

paths() {
  local node
  for node in "${NODES[@]}"; do echo -n "$node: $(state_of "$node") $(path_of "$node"); "; done
  echo
}

is_path() { [ "$(path_of "$1" 2>/dev/null)" = "$2" ]; }
is_live() { [ "$(state_of "$1" 2>/dev/null)" = live ]; }

# The node whose path is optimized.
server() {
  local node
  for node in "${NODES[@]}"; do
    if is_live "$node" && is_path "$node" optimized; then echo "$node"; fi
  done
}

has_server() { [ "$(server | wc -w)" = 1 ]; }

# The serving node dies, another one serves, and the dead one comes back.
kill_server() {
  local dead
  dead=$(server)
  say "$dead dies, which serves"
  local before=$EPOCHREALTIME
  kill_node "$dead"
  other_serves() { has_server && [ "$(server)" != "$dead" ]; }
  wait_for 60 "another serving node" other_serves
  echo "$(server) serves after $(echo "$before $EPOCHREALTIME" | awk '{ print $2 - $1 }') s"
  load_goes_on
  paths
  start_node "$dead"
  wait_for 60 "the connection of $dead" is_live "$dead"
  wait_whole "$(server)"
  wait_for 30 "a path that is left alone" is_path "$dead" inaccessible
  load_goes_on
}

connect_all() {
  local node
  for node in "${NODES[@]}"; do connect "$node"; done
  wait_for 20 "the namespace" test -b "$DEVICE"
  wait_for 20 "a serving node" reads_device
}

reads_device() {
  dd if="$DEVICE" of=/dev/null bs=4k count=1 iflag=direct status=none 2> /dev/null && has_server
}

# Acknowledged writes may be gone: who has the volume open gets errors, and finds another namespace.
check_losses() {
  local node dead other former
  say "an operator takes a node by force, and a write was under way"
  connect_all
  former=$(cat /sys/block/nvme0n1/nguid)
  dead=$(server)
  for node in "${NODES[@]}"; do [ "$node" = "$dead" ] || other=$node; done
  exec 8<> "$DEVICE"
  write_held() { dd if=/dev/urandom bs=4k count=1 oflag=direct status=none >&8; }
  write_held || fail "the volume cannot be written"
  kill_node "$dead"
  adm "$other" primary --force "$RESOURCE" 2>&1 | tee /tmp/forced
  grep -q "adm reopen $RESOURCE" /tmp/forced || fail "nobody says that writes may be lost"
  rm -f /tmp/late
  (
    write_held && echo done > /tmp/late.new || echo failed > /tmp/late.new
    mv /tmp/late.new /tmp/late
  ) &
  names_changed() { dmesg | grep -q "identifiers changed for nsid 1"; }
  wait_for 30 "the kernel's look at the names" names_changed
  # The path to the node that died is still there, and lets requests wait.
  sleep 1
  [ ! -e /tmp/late ] || [ "$(cat /tmp/late)" = failed ] || fail "a write went on as if nothing had been"
  nvme disconnect -d "$(basename "$(controller_of "$dead")")"
  wait_for 30 "the end of the write" test -e /tmp/late
  [ "$(cat /tmp/late)" = failed ] || fail "a write went on as if nothing had been"
  ! write_held 2> /dev/null || fail "another write goes on"
  exec 8>&-
  nvme disconnect -n "$NQN"
  start_node "$dead"
  wait_whole "$other"
  connect_all
  echo "$former, and now $(cat /sys/block/nvme0n1/nguid)"
  [ "$(cat /sys/block/nvme0n1/nguid)" != "$former" ] || fail "the namespace has its former name"
  dd if=/dev/urandom of="$DEVICE" bs=4k count=1 oflag=direct status=none ||
    fail "who opens it anew cannot write"
  nvme disconnect -n "$NQN"
}
