# A machine is told to reboot with a mounted volume: our unit and systemd's own order of things.
WORK=/var/lib/basalt
. /lab/lib.sh
modprobe brd rd_nr=3 rd_size=$((SIZE_MIB << 10))
disk_of() { echo "/dev/ram$(index_of "$1")"; }
make_disk() { :; }

# Each node is a service of the unit that comes with the documents.
start_node() {
  local node=$1
  sed -e "s,^ExecStart=.*,ExecStart=/usr/local/bin/basalt node --name $node --state-dir $WORK/$node \
--nbd 127.0.0.1:$(nbd_port "$node")," -e "s,^\(StateDirectory\|RuntimeDirectory\)=.*,\1=basalt/$node," \
    /lab/basalt-node.service > "/run/systemd/system/node-$node.service"
  systemctl daemon-reload
  systemctl start "node-$node" || { systemctl status "node-$node"; fail "the unit of $node"; }
  wait_for 30 "the daemon of $node" adm "$node" status > /dev/null 2>&1
}

start_cluster
say "a block device that was taken out is free: it can be taken back"
take_out_and_back() {
  adm "$1" detach "$RESOURCE"
  adm "$1" attach "$RESOURCE"
  wait_whole alice
}
adm alice primary "$RESOURCE"
take_out_and_back bob
take_out_and_back alice

say "also while a client does not receive what it asked for, far more than sockets hold"
exec 5<> "/dev/tcp/127.0.0.1/$(nbd_port alice)"
printf '\0\0\0\3IHAVEOPT\0\0\0\1\0\0\0\2%s' "$RESOURCE" >&5
for _ in $(seq 64); do
  # A read of the first MiB.
  printf '\x25\x60\x95\x13\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0' >&5
done
# Until nothing moves any more.
sleep 3
take_out_and_back alice
exec 5>&-

say "a mounted volume, and data that nobody synced"
mkfs.ext4 -q /dev/ublkb0
mkdir -p /mnt/volume
mount -o _netdev /dev/ublkb0 /mnt/volume
write_files /mnt/volume 20
head -c 3M /dev/urandom > /mnt/volume/late
(cd /mnt/volume && sha256sum late >> sums)
exec 4< /mnt/volume/file1

# The last that runs: what was mounted is not, and the disks of all nodes hold all of it.
cat > /usr/lib/systemd/system-shutdown/look <<'LOOK'
#!/bin/bash
mountpoint -q /lab || mount -t 9p -o trans=virtio,version=9p2000.L,cache=none lab /lab
exec > /dev/hvc0 2>&1
end() {
  echo "$2"
  dmesg > /lab/dmesg
  [ "$1" = 0 ] || cat /proc/mounts
  echo "$1" > /lab/status
  exit
}
echo "== the end came after $(($(date +%s) - $(cat /lab/told))) s"
[ $(($(date +%s) - $(cat /lab/told))) -lt 80 ] || end 1 "FAILED: somebody was waited for in vain"
! grep -q ublk /proc/mounts || end 1 "FAILED: the volume is still mounted"
for i in 0 1 2; do
  ! dumpe2fs -h /dev/ram$i 2> /dev/null | grep -q needs_recovery ||
    end 1 "FAILED: the file system on /dev/ram$i was not unmounted"
  fsck.ext4 -f -n /dev/ram$i || end 1 "FAILED: the file system on /dev/ram$i is damaged"
  mount -o ro /dev/ram$i /mnt || end 1 "FAILED: /dev/ram$i cannot be mounted"
  (cd /mnt && sha256sum --check --quiet sums) || end 1 "FAILED: files on /dev/ram$i changed"
  umount /mnt
done
if dmesg | grep -E "WARNING:|BUG:|blocked for more than|I/O error"; then end 1 "FAILED: the kernel complained"; fi
end 0 "all three disks hold it all"
LOOK
chmod +x /usr/lib/systemd/system-shutdown/look

say "reboot"
date +%s > /lab/told
trap - EXIT
systemctl --no-block start reboot.target
sleep 300
