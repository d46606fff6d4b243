# The Debian package on a machine whose first process is systemd: the daemon is started, restarted
# by an upgrade under a load, left alone where it must be, and stopped by a removal.
. "$LIB"
begin
program=$(package "basalt_*.deb")
unit=basalt-node.service
boot

process() { inside systemctl show --property=MainPID --value $unit; }

# An installation starts the daemon.
inside dpkg --install "$program"
inside systemctl is-active --quiet $unit || fail "an installation started nothing"
inside systemctl is-enabled --quiet $unit || fail "an installation enabled nothing"
said=$(inside systemd-analyze verify "/usr/lib/systemd/system/$unit" \
  /usr/lib/systemd/system/basalt-verify.timer 2>&1) || fail "systemd of our units: $said"

# An upgrade restarts it under a load, which goes on: no write is lost.
write_resource
mkdir -p "$root/etc/systemd/system/$unit.d"
printf '[Service]\nReadWritePaths=/srv\n' > "$root/etc/systemd/system/$unit.d/lab.conf"
echo 'nbd = 127.0.0.1:10809' >> "$root/etc/basalt/node.conf"
inside systemctl daemon-reload
inside systemctl restart $unit
bring_up
before=$(process)
load 8
inside dpkg --install "$program"
inside systemctl is-active --quiet $unit || fail "an upgrade ended the daemon"
[ "$(process)" != "$before" ] || fail "an upgrade restarted nothing"
must_have_loaded
grep -q '"ended": "' "$WORK/load" || fail "the load saw no restart: $(cat "$WORK/load")"

# A daemon that an administrator stopped or disabled stays so.
inside basalt adm secondary all
inside systemctl disable --now $unit
inside dpkg --install "$program"
if inside systemctl is-active --quiet $unit; then fail "an upgrade started a stopped daemon"; fi
if inside systemctl is-enabled --quiet $unit; then fail "an upgrade enabled a daemon"; fi

# A file that the new version refuses leaves the daemon of before at work.
inside systemctl enable --now $unit
wait_for "the daemon" inside basalt setup status
before=$(process)
echo 'no-such-option = 1' >> "$root/etc/basalt/node.conf"
said=$(inside dpkg --install "$program" 2>&1)
must_say "$said" "/etc/basalt/node.conf does not fit the new version"
must_say "$said" "no-such-option"
[ "$(process)" = "$before" ] || fail "a file that does not fit ended the daemon"
sed -i '/no-such-option/d' "$root/etc/basalt/node.conf"

# One that cannot start again is told with what to type, and the package is whole.
printf '[Service]\nExecStartPre=/bin/false\n' > "$root/etc/systemd/system/$unit.d/broken.conf"
inside systemctl daemon-reload
said=$(inside dpkg --install "$program" 2>&1)
must_say "$said" "the daemon did not start again"
must_say "$said" "journalctl --unit $unit"
[ "$(inside dpkg-query --show --showformat='${db:Status-Abbrev}' basalt)" = "ii " ] ||
  fail "a daemon that does not start leaves the package half-way"
rm "$root/etc/systemd/system/$unit.d/broken.conf"
inside systemctl daemon-reload
inside systemctl reset-failed $unit
inside systemctl start $unit
wait_for "the daemon" inside basalt setup status

# A removal stops it, and where that was refused the daemon goes on.
wait_for "the role" inside basalt adm primary r0
before=$(process)
if inside dpkg --remove basalt; then fail "removed while in use"; fi
[ "$(process)" = "$before" ] || fail "a refused removal ended the daemon"
inside basalt adm secondary all
inside dpkg --remove basalt
if inside systemctl is-active --quiet $unit; then fail "a removal left the daemon"; fi
inside dpkg --purge basalt
[ ! -e "$root/etc/systemd/system/multi-user.target.wants/$unit" ] || fail "a purge left the unit"

# Where policy-rc.d forbids it, an installation starts nothing.
printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
inside dpkg --install "$program"
if inside systemctl is-active --quiet $unit; then fail "started against policy-rc.d"; fi
