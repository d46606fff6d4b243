# Our block devices when no daemon comes back: whoever waits gets errors in time, and the device goes.
. /lab/lib.sh
LIMIT=10
# shellcheck disable=SC2034
NODE_OPTIONS=(--device-timeout "$LIMIT")
start_cluster
link=/dev/basalt/by-res/$RESOURCE/0
mkdir -p /mnt/volume
adm alice primary "$RESOURCE"
size_bytes=$(blockdev --getsize64 /dev/ublkb0)

supervisor() { pgrep -f "^basalt device supervise --device 0 " || true; }
is_alone() { [ "$(supervisor | wc -w)" = 1 ]; }
is_gone() { [ ! -e /dev/ublkb0 ]; }

# is_waiting PID: it sleeps where no signal reaches it.
is_waiting() { [ "$(awk '$1 == "State:" { print $2 }' "/proc/$1/status")" = D ]; }

# Starts a read and a write of the device, and returns when both wait.
start_waiting() {
  (if dd if=/dev/ublkb0 of=/dev/null bs=4k count=1 skip=100 iflag=direct 2>/tmp/read.said; then
    echo done > /tmp/read.said
  fi) &
  reader=$!
  (if dd if=/dev/zero of=/dev/ublkb0 bs=4k count=1 seek=8000 oflag=direct 2>/tmp/write.said; then
    echo done > /tmp/write.said
  fi) &
  writer=$!
  both_wait() { is_waiting "$(pgrep -P "$reader" dd)" && is_waiting "$(pgrep -P "$writer" dd)"; }
  wait_for 20 "two requests that wait" both_wait
}

# Both ended with an error of the device.
check_errors() {
  wait "$reader" "$writer"
  grep -q "Input/output error" /tmp/read.said || fail "the read: $(cat /tmp/read.said)"
  grep -q "Input/output error" /tmp/write.said || fail "the write: $(cat /tmp/write.said)"
}

seconds_since() { echo "$1 $EPOCHREALTIME" | awk '{ print $2 - $1 }'; }

say "a process watches over the device, and all of its memory is locked"
wait_for 20 "a supervisor" is_alone
status=/proc/$(supervisor)/status
is_locked() { [ "$(awk '$1 == "VmLck:" { print $2 }' "$status")" -gt 1000 ]; }
wait_for 10 "memory that is locked" is_locked
grep -E "VmSize|VmLck|VmRSS" "$status"
if find "/proc/$(supervisor)/fd" -lname '/dev/ublkc*' -o -lname '*.disk' | grep .; then
  fail "the supervisor holds files of the daemon"
fi

say "it dies, and another one takes its place"
first=$(supervisor)
kill -9 "$first"
is_another() { is_alone && [ "$(supervisor)" != "$first" ]; }
wait_for 20 "another supervisor" is_another

mkfs.ext4 -q -F /dev/ublkb0
mount /dev/ublkb0 /mnt/volume
mkdir /mnt/volume/a
write_files /mnt/volume/a 10
umount /mnt/volume

say "a daemon that comes back in time has its device, and the old supervisor leaves it alone"
old=$(supervisor)
kill_node alice
start_waiting
start_node alice
wait "$reader" "$writer"
[ "$(cat /tmp/read.said /tmp/write.said)" = "$(printf 'done\ndone')" ] ||
  fail "requests failed: $(cat /tmp/read.said /tmp/write.said)"
is_another_alone() { is_alone && [ "$(supervisor)" != "$old" ]; }
wait_for 20 "the end of the old supervisor" is_another_alone
sleep $((LIMIT + 2))
[ -b /dev/ublkb0 ] || fail "the device went away"
dd if=/dev/ublkb0 of=/dev/null bs=4k count=1 iflag=direct status=none

say "no daemon comes back: requests fail in time, also those of a file system, and the device goes"
mount /dev/ublkb0 /mnt/volume
before=$EPOCHREALTIME
kill_node alice
start_waiting
if adm alice down "$RESOURCE" 2>/tmp/said; then fail "a daemon that is gone took the resource down"; fi
grep -q "basalt device remove" /tmp/said || fail "down does not say what to do: $(cat /tmp/said)"
check_errors
took=$(seconds_since "$before")
echo "they failed after $took s"
echo "$took $LIMIT" | awk '{ exit !($1 > $2 - 2 && $1 < $2 + 5) }' || fail "that is not $LIMIT s"
wait_for 5 "the end of the device" is_gone
[ ! -L "$link" ] || fail "its link stayed"
if cat /mnt/volume/a/* > /dev/null 2>&1 && touch /mnt/volume/new && sync -f /mnt/volume/new; then
  fail "the file system goes on without its device"
fi
umount /mnt/volume
[ -z "$(supervisor)" ] || fail "the supervisor stayed"
grep -q "users got errors" "$WORK/alice.log" || fail "nobody said so"

say "a daemon brings it back"
start_node alice
bring_back() { adm alice primary "$RESOURCE" && [ -b "$link" ]; }
wait_for 20 "the device" bring_back
mount "$link" /mnt/volume
check_files /mnt/volume/a
umount /mnt/volume
fsck.ext4 -f -n /dev/ublkb0

say "daemon and supervisor die at once: the device goes by hand"
if basalt device remove 0 2>/tmp/said; then fail "a device that is served was removed"; fi
grep -q "serves" /tmp/said || fail "the refusal says: $(cat /tmp/said)"
kill -9 "$(supervisor)"
kill_node alice
start_waiting
basalt device remove 0
check_errors
wait_for 5 "the end of the device" is_gone
[ ! -L "$link" ] || fail "its link stayed"
if basalt device remove 0 2>/tmp/said; then fail "a device that is gone was removed"; fi

say "both die at once, and a daemon comes: nobody notices"
start_node alice
wait_for 20 "the device" bring_back
wait_for 20 "a supervisor" is_alone
kill -9 "$(supervisor)"
kill_node alice
start_waiting
start_node alice
wait "$reader" "$writer"
[ "$(cat /tmp/read.said)" = done ] || fail "the read failed"
wait_for 20 "a supervisor" is_alone

say "it ends with its device"
wait_whole alice
adm alice secondary "$RESOURCE"
is_unwatched() { [ -z "$(supervisor)" ]; }
wait_for 5 "the end of the supervisor" is_unwatched
compare_replicas "$size_bytes"
check_kernel_log
