# The volume by iSCSI: the kernel's own target has our block device for a disk, set up as the guide
# says, and the kernel's initiator uses it while daemons die.
. /lab/lib.sh
TARGET=iqn.2026-01.local.basalt:$RESOURCE
INITIATOR=iqn.2026-01.local.client:one
start_cluster
adm alice primary "$RESOURCE"
mkdir -p /mnt/volume

say "the target"
mkdir -p /etc/target/backup /etc/iscsi /run/dbus /run/lock
# It asks for services there which we do not need, and takes no for an answer, but not silence.
dbus-daemon --system --fork
targetcli > /tmp/said 2>&1 <<COMMANDS || { cat /tmp/said; fail "targetcli"; }
/backstores/block create name=$RESOURCE dev=/dev/basalt/by-res/$RESOURCE/0
/backstores/block/$RESOURCE set attribute emulate_tpu=1
/iscsi create $TARGET
/iscsi/$TARGET/tpg1/luns create /backstores/block/$RESOURCE
/iscsi/$TARGET/tpg1/acls create $INITIATOR
exit
COMMANDS
cat /tmp/said
if adm alice secondary "$RESOURCE" 2> /tmp/refusal; then fail "secondary took what the target uses"; fi

say "the initiator"
echo "InitiatorName=$INITIATOR" > /etc/iscsi/initiatorname.iscsi
iscsid
iscsiadm --mode discovery --type sendtargets --portal 127.0.0.1
iscsiadm --mode node --targetname "$TARGET" --portal 127.0.0.1 --login
disk() { readlink -f /dev/disk/by-path/*"$TARGET"-lun-0 2> /dev/null; }
is_there() { [ -b "$(disk)" ]; }
wait_for 30 "the disk" is_there
disk=$(disk)
lsblk --discard --bytes "$disk"
size_bytes=$(blockdev --getsize64 /dev/ublkb0)
[ "$(blockdev --getsize64 "$disk")" = "$size_bytes" ] || fail "the size differs"

say "ext4, and daemons that die"
mkfs.ext4 -q "$disk"
mount "$disk" /mnt/volume
mkdir /mnt/volume/a
write_files /mnt/volume/a 20
start_load /mnt/volume
kill_node bob
load_goes_on
start_node bob
wait_whole alice
kill_node alice
sleep 1
start_node alice
load_goes_on
wait_whole alice
stop_load
check_files /mnt/volume/a

check_trim /mnt/volume
umount /mnt/volume
fsck.ext4 -f -n "$disk"

say "the end of it"
iscsiadm --mode node --targetname "$TARGET" --portal 127.0.0.1 --logout
targetcli clearconfig confirm=True > /tmp/said 2>&1 || { cat /tmp/said; fail "targetcli"; }
adm alice secondary "$RESOURCE"
compare_replicas "$size_bytes"
# At a logout the kernel's initiator warns of the order of its own work queues.
if dmesg | grep -E "WARNING:|BUG:|blocked for more than" | grep -v check_flush_dependency; then
  fail "the kernel complained"
fi
