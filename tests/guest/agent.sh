# What Debian has for DRBD, unmodified, by our links: the agent for cluster managers and the
# completion of bash. The kernel's own DRBD is loaded by the agent, as it wants, and serves nothing.
. /lab/lib.sh
NODE_OPTIONS=(--drbd-names)
AGENT=/usr/lib/ocf/resource.d/linbit/drbd
LINKS=/usr/local/links
# A look at what may not run; else the agent takes it for what does, and rates it.
PROBE=OCF_RESKEY_CRM_meta_interval=0
NOT_RUNNING=7
PRIMARY=8

# In the place of the cluster manager, which is told how good a Primary the node would be.
install_manager() {
  cat > /usr/sbin/crm_master << 'SCRIPT'
#!/bin/bash
place=/tmp/score.$(uname -n)
case "$*" in
  *-v*) echo "${!#}" > "$place" ;;
  *-D*) rm -f "$place" ;;
  *-G*) cat "$place" ;;
esac
SCRIPT
  printf '#!/bin/sh\nexit 1\n' > /usr/sbin/crm_resource
  chmod +x /usr/sbin/crm_master /usr/sbin/crm_resource
}

# on NODE COMMAND..: as if that were the name of the machine, with that node's daemon.
on() {
  local node=$1
  shift
  BASALT_ADMIN_SOCKET="$WORK/$node/admin.sock" PATH="$LINKS:$PATH" \
    unshare --uts bash -c 'hostname "$0"; exec "$@"' "$node" "$@"
}

# agent NODE ACTION [NAME=VALUE..]: as Pacemaker calls it for a resource of three instances.
agent() {
  local node=$1 action=$2
  shift 2
  on "$node" env OCF_ROOT=/usr/lib/ocf OCF_RESOURCE_PROVIDER=linbit OCF_RESOURCE_TYPE=drbd \
    OCF_RESOURCE_INSTANCE="drbd_$RESOURCE" OCF_RESKEY_drbd_resource="$RESOURCE" \
    OCF_RESKEY_crm_feature_set=3.17.4 OCF_RESKEY_CRM_meta_interval=10000 \
    OCF_RESKEY_CRM_meta_clone_max=3 OCF_RESKEY_CRM_meta_clone_node_max=1 \
    OCF_RESKEY_CRM_meta_master_max=1 OCF_RESKEY_CRM_meta_master_node_max=1 \
    OCF_RESKEY_CRM_meta_notify=true HA_LOGFILE=/tmp/agent.log HA_DEBUGLOG=/tmp/agent.log "$@" \
    timeout 100 "$AGENT" "$action" < /dev/null
}

# expect STATUS NODE ACTION [NAME=VALUE..]
expect() {
  local wanted=$1 status=0
  shift
  agent "$@" > /tmp/agent.said 2>&1 || status=$?
  [ "$status" = "$wanted" ] && return
  cat /tmp/agent.said
  tail -n 40 /tmp/agent.log
  fail "$2 on $1 ended with $status, not with $wanted"
}

score_of() { cat "/tmp/score.$1" 2> /dev/null || echo none; }

# completes NODE WANTED WORD..: what the last word may become.
completes() {
  local node=$1 wanted=$2 found
  shift 2
  found=$(on "$node" bash -c '
    . /usr/share/bash-completion/completions/drbdadm
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=()
    _drbdadm
    echo "${COMPREPLY[*]}"' bash "$@")
  [ "$found" = "$wanted" ] || fail "on $node \`$*\` becomes \`$found\`, not \`$wanted\`"
}

mkdir -p "$WORK" "$LINKS" /mnt/volume
basalt install-links "$LINKS"
install_manager
configuration > "$WORK/r0.res"
# Where Debian's own drbd.conf looks for it.
cp "$WORK/r0.res" /etc/drbd.d/
for node in "${NODES[@]}"; do
  mkdir -p "$WORK/$node"
  make_disk "$node"
  on "$node" drbdadm create-md "$RESOURCE" > /dev/null
  start_node "$node"
done
[ ! -e /proc/drbd ] || fail "the kernel's DRBD is loaded before the agent asks for it"
agent alice meta-data | grep -q '<resource-agent name="drbd"' || fail "no metadata of the agent"
expect 0 alice validate-all
for node in "${NODES[@]}"; do expect $NOT_RUNNING "$node" monitor $PROBE; done

say "the agent starts the resource on three nodes"
for node in "${NODES[@]}"; do
  expect 0 "$node" start
  expect 0 "$node" monitor
  [ -b "/dev/drbd$(index_of "$node")" ] || fail "no /dev/drbd$(index_of "$node") on a Secondary"
done
adm alice new-current-uuid --clear-bitmap "$RESOURCE"
wait_whole alice
for node in "${NODES[@]}"; do
  expect 0 "$node" monitor
  [ "$(score_of "$node")" = 10000 ] || fail "$node says $(score_of "$node") of itself"
done
if dd if=/dev/drbd1 of=/dev/null bs=4k count=1 status=none 2> /dev/null; then
  fail "a Secondary's device can be read"
fi

say "it promotes one, and then another one"
expect 0 alice promote
expect $PRIMARY alice monitor
expect 0 bob notify OCF_RESKEY_CRM_meta_notify_type=post OCF_RESKEY_CRM_meta_notify_operation=promote
mkfs.ext4 -q /dev/drbd0
mount /dev/drbd0 /mnt/volume
write_files /mnt/volume 20
completes alice r0 drbdadm secondary ""
completes bob r0 drbdadm primary ""
completes bob "" drbdadm secondary ""
completes bob r0 drbdadm disconnect ""
completes bob "r0 all" drbdadm dump ""
completes bob primary drbdadm prim
umount /mnt/volume
expect 0 alice demote
expect 0 alice monitor
[ ! -L /dev/drbd0 ] || fail "the name of alice's device still leads somewhere"
expect 0 bob promote
mount /dev/drbd1 /mnt/volume
check_files /mnt/volume
umount /mnt/volume

say "the Primary dies, and the agent's manager takes another one"
kill_node bob
expect $NOT_RUNNING bob monitor $PROBE
expect 0 alice promote
mount /dev/drbd0 /mnt/volume
check_files /mnt/volume
umount /mnt/volume
start_node bob
expect 0 bob start
wait_whole alice
expect 0 bob monitor

say "it stops the resource everywhere, twice"
for node in "${NODES[@]}"; do
  expect 0 "$node" stop
  [ "$(score_of "$node")" = none ] || fail "$node is still worth $(score_of "$node")"
  expect $NOT_RUNNING "$node" monitor $PROBE
  expect 0 "$node" stop
done
if compgen -G '/dev/drbd*[0-9]' > /dev/null; then
  fail "names are left: $(compgen -G '/dev/drbd*[0-9]' | xargs)"
fi
check_kernel_log
