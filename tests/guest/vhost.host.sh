# The host's part of a chapter: three daemons, and what the guest asks of them while it runs.
# It runs in a network of its own, with WORK and LAB, the folder that the guest sees as /lab; it
# ends with its standard input.
. "$LAB/lib.sh"
ip link set lo up
NODE_OPTIONS=(--exit-with-parent)
SIZE_MIB=320
vhost_folder() { echo "$WORK/$1.vhost"; }

start_vhost_node() { start_node "$1" --vhost "$(vhost_folder "$1")"; }

restart_alice() {
  kill_node alice
  start_vhost_node alice
}

for node in "${NODES[@]}"; do mkdir -p "$(vhost_folder "$node")"; done
start_cluster
# They were started without their sockets.
for node in "${NODES[@]}"; do
  stop_node "$node"
  start_vhost_node "$node"
done
wait_whole alice
echo ready

number=1
while :; do
  ask=$LAB/ask.$number
  if [ -e "$ask" ]; then
    read -r -a words < "$ask"
    status=0
    "${words[@]}" > "$LAB/said.$number" 2>&1 || status=$?
    echo "$status" > "$LAB/done.$number.new"
    mv "$LAB/done.$number.new" "$LAB/done.$number"
    number=$((number + 1))
    continue
  fi
  # More than 128 is the end of its time; anything else is the end of the input.
  status=0
  read -r -t 0.1 || status=$?
  [ "$status" -gt 128 ] || exit 0
done
