# Our block devices without a quorum, and with peers that stand still: whoever wants such a device to
# go is answered in time, and the daemon ends in time.
. /lab/lib.sh
LIMIT=10
# shellcheck disable=SC2034
NODE_OPTIONS=(--device-timeout "$LIMIT")
# An answer of the daemon, and its end.
ANSWER_S=25

is_gone() { [ ! -e /dev/ublkb0 ]; }
pid_of() { cat "$WORK/$1.pid"; }
of_alice() { adm alice status --json | jq -r ".[0] | $1"; }
is_suspended() { [ "$(of_alice .suspended)" = true ]; }
has_role() { [ "$(of_alice .role)" = "$1" ]; }

# refuses WORDS COMMAND..: alice refuses the command for that reason, and in time.
refuses() {
  local words=$1 before=$SECONDS status=0 said=${SAID:-/tmp/said}
  shift
  timeout "$ANSWER_S" basalt adm --config-file "$WORK/r0.res" --node-socket "$WORK/alice/admin.sock" \
    "$@" "$RESOURCE" 2>"$said" || status=$?
  echo "$1 ended with $status after $((SECONDS - before)) s: $(cat "$said")"
  [ "$status" != 124 ] || fail "$1 was not answered in $ANSWER_S s"
  [ "$status" != 0 ] || fail "$1 was not refused"
  tr '\n' ' ' < "$said" | grep -qE "$words" || fail "$1 was refused for another reason"
}

# ends_in_time NODE: SIGTERM, and it is gone.
ends_in_time() {
  local pid before=$SECONDS
  pid=$(pid_of "$1")
  kill "$pid"
  has_ended() { [ ! -d "/proc/$pid" ] || grep -qs "^State:.Z" "/proc/$pid/status"; }
  wait_for "$ANSWER_S" "the end of $1" has_ended
  wait "$pid" || fail "the daemon of $1 did not end well"
  echo "$1 ended after $((SECONDS - before)) s"
}

start_cluster
adm alice primary "$RESOURCE"
size_bytes=$(blockdev --getsize64 /dev/ublkb0)
dd if=/dev/urandom of=/dev/ublkb0 bs=64k count=8 status=none

say "without quorum the device stays, and who asks for its end is told why"
kill_node bob
kill_node charlie
wait_for 40 "requests that wait" is_suspended
refuses "no quorum.*--force" secondary
refuses "no quorum.*--force" down
[ -b /dev/ublkb0 ] || fail "the device went away"

say "nor does the end of the daemon wait for it"
ends_in_time alice
start_node alice
refuses "taken over" secondary
# The role may still be asked for, for that device.
wait_for 25 "the end of the promotion" adm alice secondary --force "$RESOURCE" 2>/tmp/said
is_gone || fail "the device stayed"
start_node bob
start_node charlie
wait_whole alice

say "peers that stand still: the device stays as long as it cannot be written out"
adm alice primary "$RESOURCE"
kill -STOP "$(pid_of bob)" "$(pid_of charlie)"
# Who asks meanwhile hears the same, and not that somebody else has the device.
SAID=/tmp/said-too refuses "not written out yet|no quorum" secondary &
too=$!
refuses "not written out yet|no quorum" secondary
wait "$too" || fail "the second one was not told the same"
kill -CONT "$(pid_of bob)" "$(pid_of charlie)"
wait_whole alice
is_unclaimed() { ! pgrep -f "^basalt device claim " > /dev/null; }
wait_for 20 "the end of the claim" is_unclaimed
has_role Primary || fail "the node stepped down after it had refused to"
dd if=/dev/ublkb0 of=/dev/null bs=4k count=1 iflag=direct status=none
adm alice secondary "$RESOURCE"
is_gone || fail "the device stayed"

say "whoever gave a device up does not become Primary for it"
adm alice primary "$RESOURCE"
for node in "${NODES[@]}"; do kill -9 "$(pid_of "$node")"; done
for node in "${NODES[@]}"; do wait "$(pid_of "$node")" 2>/dev/null || true; done
before=$(grep -c "this node is Primary" "$WORK/alice.log")
start_node alice
has_given_up() { grep -q "no block device .* did not become Primary in" "$WORK/alice.log"; }
wait_for 60 "the device to be given up" has_given_up
start_node bob
start_node charlie
wait_whole alice
# As long as a promotion may take.
sleep 20
echo "promotions since: $(($(grep -c "this node is Primary" "$WORK/alice.log") - before))"
has_role Secondary || fail "alice is $(of_alice .role) without a device"

compare_replicas "$size_bytes"
check_kernel_log
