# A daemon that is restarted again and again under a load: how long its clients stand still.
#
# Half of the restarts of the serving daemon are crashes, half are clean ends.
. /lab/lib.sh
ROUNDS=${ROUNDS:-25}
# Two seconds is the promise for a CPU that is not emulated: here the start of a daemon alone takes
# between half a second and one and a half, as busy as the host is. What is more than this is a hang.
LIMIT_MS=${LIMIT_MS:-10000}

# Each write of this job is timed: what stands still shows as one long write.
start_probe() {
  rm -rf /tmp/probe && mkdir /tmp/probe
  (cd /tmp/probe && exec fio --name=probe --filename="$1" --offset=16M --size=1M --rw=randwrite \
    --bs=4k --ioengine=psync --direct=1 --thinktime=10ms --time_based --runtime=3600 --eta=never \
    --write_lat_log=/tmp/probe/log --log_unix_epoch=1 --output=/tmp/probe/said) &
  probe=$!
  sleep 1
}

# stalls: the longest write of each round in ms, in order; the probe ends.
stop_probe() {
  kill -INT "$probe"
  # It tells of the signal with its exit code.
  wait "$probe" || true
  grep -q "err= 0" /tmp/probe/said || { cat /tmp/probe/said >&2; fail "the probe met an error" >&2; }
  # time in ms, latency in ns, ..: a round lasts longer than a stall, and the times of the rounds are noted.
  awk -F', *' 'NR == FNR { from[++rounds] = $1; next }
    { for (i = at ? at : 1; i < rounds && $1 - $2 / 1e6 >= from[i + 1]; i++); at = i
      if ($2 / 1e6 > longest[i]) longest[i] = $2 / 1e6 }
    END { for (i = 1; i <= rounds; i++) printf "%d ", longest[i]; print "" }' \
    /tmp/rounds /tmp/probe/log_clat.1.log
}

# No command asks for its state meanwhile, for that takes the CPU as well.
start_quietly() {
  basalt node --name "$1" --state-dir "$WORK/$1" --nbd "127.0.0.1:$(nbd_port "$1")" \
    2>> "$WORK/$1.log" &
  echo $! > "$WORK/$1.pid"
}

# restart HOW: the serving daemon ends, and the next one starts at once.
restart() {
  local taken
  taken=$(grep -c "block device /dev/ublkb0" "$WORK/alice.log" || true)
  is_taken() { [ "$(grep -c "block device /dev/ublkb0" "$WORK/alice.log")" -gt "$taken" ]; }
  echo "${EPOCHREALTIME/./}" | awk '{ printf "%.0f\n", $1 / 1000 }' >> /tmp/rounds
  echo "$(date +%T.%3N) the daemon is to end" >> "$WORK/alice.log"
  "$1" alice
  start_quietly alice
  wait_for 20 "the device" is_taken
}

# check NAME RESTARTED_BY..: rounds of restarts, and what they took.
check_restarts() {
  local name=$1 way=$2 i worst
  : > /tmp/rounds
  start_probe "$device"
  for i in $(seq "$ROUNDS"); do
    restart "$way"
    wait_whole alice
    kill -0 "$probe" || { cat /tmp/probe/said; fail "the probe ended in round $i"; }
  done
  stop_probe > /tmp/stalls
  echo "$name, ms: $(cat /tmp/stalls); median $(tr ' ' '\n' < /tmp/stalls | grep . | sort -n |
    awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }')"
  echo "the last of them:"
  awk '/is to end/ { text = "" } { text = text $0 "\n" } END { printf "%s", text }' "$WORK/alice.log"
  worst=$(tr ' ' '\n' < /tmp/stalls | sort -n | tail -n 1)
  [ "$worst" -le "$LIMIT_MS" ] || fail "$name: clients stood still for $worst ms"
}

start_cluster
size_bytes=0
say "our block device: $ROUNDS crashes, $ROUNDS clean ends"
adm alice primary "$RESOURCE"
size_bytes=$(blockdev --getsize64 /dev/ublkb0)
# Held by another layer: what nobody holds goes with a clean end.
dmsetup create held --table "0 $((size_bytes >> 9)) linear /dev/ublkb0 0"
device=/dev/mapper/held
check_restarts "crashes" kill_node
check_restarts "clean ends" stop_node
dmsetup remove held
adm alice secondary "$RESOURCE"
compare_replicas "$size_bytes"
check_kernel_log
