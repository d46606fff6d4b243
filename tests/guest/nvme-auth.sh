# The kernel's NVMe/TCP initiator where hosts have to prove that they know a secret: on every queue
# of every path, and again whenever a node comes back.
. /lab/lib.sh
. /lab/nvme.lib.sh

HOSTS=$WORK/hosts
host_nqn=${host[1]}
key() { nvme gen-dhchap-key --hmac="$1" --nqn="$2"; }
secret=$(key 3 "$host_nqn")
own_secret=$(key 1 "$NQN")
wrong=$(key 3 "$host_nqn")
mkdir -p "$WORK"
(umask 077; echo "$host_nqn $RESOURCE $secret $own_secret" > "$HOSTS")
NODE_OPTIONS=(--nvme-auth "$HOSTS")

# refused WHAT WORDS CONNECT..: a connect that must fail, and what alice says of it.
refused() {
  local what=$1 words=$2
  shift 2
  if "$@"; then fail "$what was let in"; fi
  says_so() { grep -q "$words" "$WORK/alice.log"; }
  wait_for 10 "a line of alice about $what" says_so
  echo "$what was refused"
}

# How often a controller's host has proved itself, as the nodes say.
proofs() { cat "$WORK"/*.log | grep -c "has proved itself" || true; }

start_cluster
say "three nodes are up to date"
nvme discover -t tcp -a 127.0.0.1 -s "$(nvme_port alice)" "${host[@]}" > /tmp/discovery
grep -q "subnqn: *$NQN" /tmp/discovery || fail "discovery does not tell of the resource"
refused "a host without a secret" "NVMe controller [0-9]* ended" connect alice
refused "a wrong secret" "was refused: its secret is another one" \
  connect alice --dhchap-secret="$wrong"
refused "a node with a wrong secret" "compare its --dhchap-ctrl-secret" \
  connect alice --dhchap-secret="$secret" --dhchap-ctrl-secret="$wrong"
stranger() {
  nvme connect -t tcp -a 127.0.0.1 -s "$(nvme_port alice)" -n "$NQN" --dhchap-secret="$secret" \
    --hostnqn="nqn.2014-08.org.nvmexpress:uuid:${UUID//1/9}" --hostid="${UUID//1/9}"
}
refused "a host without a line" "may not use" stranger
[ ! -b "$DEVICE" ] || fail "there is a device without a proof"

say "one side, or both, prove themselves"
connect alice --dhchap-secret="$secret"
connect bob --dhchap-secret="$secret" --dhchap-ctrl-secret="$own_secret"
connect charlie --dhchap-secret="$secret" --dhchap-ctrl-secret="$own_secret" \
  --hdr-digest --data-digest
wait_for 20 "the namespace" test -b "$DEVICE"
wait_for 20 "a path that serves" has_server
paths
first=$(proofs)
[ "$first" = 3 ] || fail "there are three controllers and $first proofs"
size_bytes=$(blockdev --getsize64 "$DEVICE")
mkfs.ext4 -q -b 4096 "$DEVICE"
mkdir -p /mnt/volume
mount "$DEVICE" /mnt/volume
mkdir /mnt/volume/a
write_files /mnt/volume/a 20
start_load /mnt/volume
kill_server
again=$(proofs)
[ "$again" -gt "$first" ] || fail "the host proved nothing to the node that came back"
kill_server
stop_load
check_files /mnt/volume/a
umount /mnt/volume
e2fsck -fn "$DEVICE" > /tmp/fsck || { cat /tmp/fsck; fail "the file system is damaged"; }

say "a host that is asked for a new proof while it is connected"
controller=$(controller_of alice)
before=$(proofs)
echo -n "$secret" > "$controller/dhchap_secret"
has_proved_again() { [ "$(proofs)" -gt "$before" ]; }
wait_for 20 "a second proof" has_proved_again
nvme disconnect -n "$NQN"
check_kernel_log
compare_replicas "$size_bytes"
