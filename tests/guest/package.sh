# A machine with our package, under systemd: the package is upgraded while a file system on a volume
# is written, and not removed while the block device is there.
. /lab/lib.sh
modprobe brd rd_nr=1 rd_size=$((SIZE_MIB << 10))
unit=basalt-node.service

install_package() { DEBIAN_FRONTEND=noninteractive dpkg --install /lab/basalt.deb; }
process() { systemctl show --property=MainPID --value $unit; }
answers() { /usr/bin/basalt setup status > /dev/null 2>&1; }

say "an installation starts the daemon"
install_package
wait_for 60 "the daemon" answers
cat > /etc/basalt.conf <<RES
resource r0 {
  options { quorum off; }
  volume 0 { device minor 0; disk /dev/ram0; meta-disk internal; }
  on $(uname -n) { node-id 0; address 127.0.0.1:7900; }
}
RES
/usr/bin/basalt adm create-md r0
/usr/bin/basalt adm up r0
/usr/bin/basalt adm primary --force r0
device=/dev/basalt/by-res/r0/0
mkfs.ext4 -q $device
mkdir -p /mnt/volume
mount $device /mnt/volume

say "an upgrade while somebody writes: a pause, and no error"
write() {
  local number=0
  while [ ! -e /run/enough ]; do
    number=$((number + 1))
    head -c 64K /dev/urandom > /run/wanted
    dd if=/run/wanted of=/mnt/volume/$((number % 100)) conv=fsync status=none || return 1
    dd if=/mnt/volume/$((number % 100)) iflag=direct bs=64K status=none | cmp - /run/wanted || return 1
    echo $number > /run/count
  done
}
write &
writer=$!
count() { cat /run/count 2> /dev/null || echo 0; }
has_written_since() { [ "$(count)" -gt "$1" ]; }
wait_for 60 "the first files" has_written_since 5
before=$(process)
install_package
systemctl is-active --quiet $unit || fail "an upgrade ended the daemon"
[ "$(process)" != "$before" ] || fail "an upgrade restarted nothing"
wait_for 60 "files of after the upgrade" has_written_since $(($(count) + 5))
touch /run/enough
wait $writer || fail "somebody who wrote saw an error"
grep -q ' /mnt/volume ext4 rw' /proc/mounts || fail "the file system went read-only"

say "no removal while the device is there, with a daemon and without"
if said=$(dpkg --remove basalt 2>&1); then fail "removed while in use: $said"; fi
case $said in *"$device"*) ;; *) fail "the refusal does not name $device: $said" ;; esac
systemctl is-active --quiet $unit || fail "a refused removal ended the daemon"

say "and a removal once it is gone"
umount /mnt/volume
e2fsck -fn $device
/usr/bin/basalt adm secondary r0
dpkg --remove basalt
if systemctl is-active --quiet $unit; then fail "a removal left the daemon"; fi
[ ! -e /usr/bin/basalt ] || fail "a removal left the program"
