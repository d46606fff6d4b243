# A power cut of all three nodes at once, at moments of all kinds: what was synced is there afterwards.
#
# Each node keeps its disk and its state directory on one device whose writes dm-log-writes logs, so
# that the log has the order of both. While files are written and synced, all three logs are marked
# at one moment again and again. Later each log is replayed up to such a mark, and that is what a
# power cut at that moment left on disks that lose their whole cache: the nodes are started on it,
# and every file that was synced before has to be there.
. /lab/lib.sh
STATE_MIB=16
DISK_MIB=32
# How many moments are marked, and how many of them are replayed: a start of three nodes each.
MARKS=40
CUTS=${CUTS:-5}

modprobe brd rd_nr=6 rd_size=$((192 << 10))
disk_of() { echo "/dev/mapper/$1-disk"; }
log_of() { echo "/dev/ram$(($(index_of "$1") + 3))"; }

# split NODE DEVICE: its state directory and its disk are parts of one device.
split() {
  dmsetup create "$1-state" --table "0 $((STATE_MIB << 11)) linear $2 0"
  dmsetup create "$1-disk" --table "0 $((DISK_MIB << 11)) linear $2 $((STATE_MIB << 11))"
}

join() {
  umount "$WORK/$1"
  dmsetup remove "$1-state"
  dmsetup remove "$1-disk"
}

make_disk() {
  dmsetup create "$1-log" --table \
    "0 $(((STATE_MIB + DISK_MIB) << 11)) log-writes /dev/ram$(index_of "$1") $(log_of "$1")"
  split "$1" "/dev/mapper/$1-log"
  mkfs.ext4 -q "/dev/mapper/$1-state"
  mount "/dev/mapper/$1-state" "$WORK/$1"
}

# Writes files, syncs each, and then notes it where no cut reaches.
write_synced() {
  local i=0
  until [ -e /tmp/write.stop ]; do
    i=$((i + 1))
    head -c $((i % 5 * 3000 + 700)) /dev/urandom > "/mnt/volume/synced/file$i"
    sync "/mnt/volume/synced/file$i"
    (cd /mnt/volume/synced && sha256sum "file$i") > /tmp/sum
    cat /tmp/sum >> /tmp/synced
    # Gone, and durably so, is a promise as well; every third of them goes.
    if [ $((i % 3)) = 0 ]; then
      rm "/mnt/volume/synced/file$((i - 1))"
      sync /mnt/volume/synced
      echo "gone file$((i - 1))" >> /tmp/synced
    fi
  done
}

# mark NUMBER: no disk takes a write while all logs are marked.
mark() {
  local node lines
  lines=$(wc -l < /tmp/synced)
  for node in "${NODES[@]}"; do dmsetup suspend --nolockfs --noflush "$node-log"; done
  for node in "${NODES[@]}"; do dmsetup message "$node-log" 0 mark "cut-$1"; done
  for node in "${NODES[@]}"; do dmsetup resume "$node-log"; done
  echo "$lines" > "/tmp/lines.$1"
}

# missing LINES: what of the first lines of the list is not as it says.
missing() {
  local sum name gone
  head -n "$1" /tmp/synced > /tmp/promised
  gone=$(sed -n 's/^gone //p' /tmp/promised)
  while read -r sum name; do
    if [ "$sum" = gone ]; then
      [ ! -e "/mnt/volume/synced/$name" ] || echo "$name is there, and was removed"
    elif ! grep -qx "$name" <<< "$gone"; then
      # The next one in the list may have been on its way.
      if [ ! -e "/mnt/volume/synced/$name" ]; then
        [ "$name" = "$(next_to_go "$1")" ] || echo "$name is missing"
      elif [ "$(sha256sum < "/mnt/volume/synced/$name")" != "$sum  -" ]; then
        echo "$name is damaged"
      fi
    fi
  done < /tmp/promised
}

# The file that may be gone though nobody was told yet.
next_to_go() { tail -n "+$(($1 + 1))" /tmp/synced | sed -n 's/^gone //p' | head -n 1; }

say "three nodes on disks whose writes are logged"
start_cluster
adm alice primary "$RESOURCE"
size_bytes=$(blockdev --getsize64 /dev/ublkb0)
mkfs.ext4 -q -F /dev/ublkb0
mkdir -p /mnt/volume
mount /dev/ublkb0 /mnt/volume
mkdir /mnt/volume/synced
sync --file-system /mnt/volume
touch /tmp/synced
write_synced &
writer=$!
start_load /mnt/volume
for number in $(seq "$MARKS"); do
  mark "$number"
  sleep "0.$((RANDOM % 8 + 1))"
done
touch /tmp/write.stop
wait "$writer"
stop_load
mark end
echo "$(wc -l < /tmp/synced) promises; marks after $(cat /tmp/lines.* | sort -n | xargs) of them"

say "everything dies, and the logs are closed"
pkill -9 -f "^basalt device supervise" || true
for node in "${NODES[@]}"; do kill_node "$node"; done
basalt device remove 0
umount /mnt/volume
for node in "${NODES[@]}"; do
  join "$node"
  dmsetup remove "$node-log"
  echo "$node: $(perl /lab/replay-log count "$(log_of "$node")")"
  truncate --size="$((STATE_MIB + DISK_MIB))M" "/tmp/base.$node"
done

# restore FROM TO: the three devices as a cut at the mark TO left them.
restore() {
  local node loop
  for node in "${NODES[@]}"; do
    perl /lab/replay-log replay "$(log_of "$node")" "/tmp/base.$node" "$1" "$2"
    cp --sparse=always "/tmp/base.$node" "/tmp/cut.$node"
    loop=$(losetup --find --show "/tmp/cut.$node")
    echo "$loop" > "/tmp/loop.$node"
    split "$node" "$loop"
    mount "/dev/mapper/$node-state" "$WORK/$node"
  done
}

release() {
  local node
  for node in "${NODES[@]}"; do
    join "$node"
    losetup --detach "$(cat "/tmp/loop.$node")"
  done
}

is_primary() { adm alice primary "$RESOURCE" > /dev/null 2>&1 && [ -b /dev/ublkb0 ]; }

# start_after_cut LINES: three nodes come back; what is missing lies in /tmp/missing.
start_after_cut() {
  local node
  for node in "${NODES[@]}"; do start_node "$node"; done
  wait_for 60 "alice as Primary" is_primary
  mount /dev/ublkb0 /mnt/volume
  missing "$1" > /tmp/missing
  umount /mnt/volume
  fsck.ext4 -f -n /dev/ublkb0 > /tmp/fsck || { cat /tmp/fsck; fail "the file system is damaged"; }
  wait_whole alice
  adm alice secondary "$RESOURCE"
}

from=-
for cut in $(seq "$CUTS"); do
  number=$((MARKS * cut / CUTS))
  lines=$(cat "/tmp/lines.$number")
  say "the power goes at mark $number, after $lines promises"
  restore "$from" "cut-$number"
  from=cut-$number
  start_after_cut "$lines"
  [ ! -s /tmp/missing ] || { cat /tmp/missing; fail "what was synced is not there"; }
  compare_replicas "$size_bytes"
  release
done

say "a disk that lies is found out: nothing from the last mark on, and all of the promises"
for node in "${NODES[@]}"; do
  rm "/tmp/base.$node"
  truncate --size="$((STATE_MIB + DISK_MIB))M" "/tmp/base.$node"
done
restore - "cut-$((MARKS / 2))"
start_after_cut "$(cat /tmp/lines.end)"
[ -s /tmp/missing ] || fail "nobody missed what was lost"
echo "missed: $(wc -l < /tmp/missing) of $(wc -l < /tmp/promised)"
for node in "${NODES[@]}"; do stop_node "$node"; done
release
check_kernel_log
