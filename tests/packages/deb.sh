# The Debian packages on a machine without systemd: installed, upgraded under a load, kept from
# removal while a volume is in use, removed, purged.
. "$LIB"
begin
program=$(package "basalt_*.deb")
names=$(package "basalt-drbd-names_*.deb")
paths > "$WORK/before"

# Installed, nothing runs, and what is secret is nobody else's.
inside dpkg --install "$program"
version=$(inside dpkg-query --show --showformat='${Version}' basalt)
[ "$(inside basalt --version)" = "basalt $version" ] || fail "basalt --version"
[ "$(stat -c %a "$root/var/lib/basalt" "$root/etc/basalt/pki" "$root/etc/basalt.d" | xargs)" = \
  "700 700 755" ] || fail "the modes of the folders"
inside dpkg --verify basalt
if inside basalt setup status 2> /dev/null; then fail "a daemon runs without systemd"; fi
[ -L "$root/etc/systemd/system/multi-user.target.wants/basalt-node.service" ] || fail "not enabled"
inside basalt node --check-config --config /etc/basalt/node.conf
inside basalt demo --size-mib 64 --seconds-scale 0.1 --json | grep -q '"take_over_ms"' ||
  fail "the demo"

# Upgraded over itself while a volume is loaded.
write_resource
mkdir "$root/run/basalt"
start
bring_up
load 6
echo 'shards = 2' >> "$root/etc/basalt/node.conf"
said=$(inside dpkg --install "$program" 2>&1)
must_say "$said" "a daemon runs that systemd did not start"
grep -q '^shards = 2' "$root/etc/basalt/node.conf" || fail "the upgrade took an edited node.conf"
kill -0 "$daemon" || fail "the upgrade ended the daemon"
must_have_loaded

# Not removed while the node serves a volume: the package stays as it was.
if said=$(inside dpkg --remove basalt 2>&1); then fail "removed while in use: $said"; fi
must_say "$said" "volumes that may be in use: r0"
must_say "$said" "basalt adm secondary all"
must_say "$said" "BASALT_REMOVE_IN_USE=yes"
[ "$(inside dpkg-query --show --showformat='${db:Status-Status}' basalt)" = installed ] ||
  fail "a refused removal left the package half-way"
inside basalt setup status | grep -q 'r0 role:Primary' || fail "a refused removal ended the role"

# Removed and purged where nobody can be asked: the state stays, and what operators made.
inside basalt adm secondary all
stop
inside dpkg --remove basalt
[ ! -e "$root/usr/bin/basalt" ] || fail "a removed program"
said=$(inside DEBIAN_FRONTEND=noninteractive dpkg --purge basalt 2>&1)
must_say "$said" "/var/lib/basalt stays"
left=$(paths | comm -13 "$WORK/before" - | grep -v '^\./var/lib/basalt/' | xargs)
[ "$left" = "./etc/basalt.conf ./srv/disk ./var/lib/basalt" ] || fail "a purge leaves: $left"

# The same disk and state again, and removed while in use, as somebody asks for.
inside dpkg --install "$program"
start
inside basalt adm primary r0
said=$(inside BASALT_REMOVE_IN_USE=yes dpkg --remove basalt 2>&1)
must_say "$said" "removed all the same"
stop
inside BASALT_PURGE_STATE=yes dpkg --purge basalt
left=$(paths | comm -13 "$WORK/before" - | xargs)
[ "$left" = "./etc/basalt.conf ./srv/disk" ] || fail "a purge with the state leaves: $left"

# An answer to the question counts, too.
inside dpkg --install "$program"
mkdir -p "$root/var/lib/basalt/some"
echo yes | inside DEBIAN_FRONTEND=teletype dpkg --purge basalt
[ ! -e "$root/var/lib/basalt" ] || fail "the answer yes to the question"

# DRBD's names are ours while that package is there.
is_drbds() { [ "$(readlink "$root/usr/sbin/drbdsetup")" != ../bin/basalt ]; }
is_drbds || fail "drbd-utils has no drbdsetup"
inside dpkg --install "$program" "$names"
if is_drbds; then fail "drbdsetup is not ours"; fi
inside drbdadm --version | grep -q '^DRBDADM_BUILDTAG=basalt' || fail "drbdadm is not ours"
inside dpkg --install "$names"
inside dpkg --purge basalt-drbd-names basalt
is_drbds || fail "drbd-utils did not get its drbdsetup back"
left=$(paths | comm -3 "$WORK/before" - | xargs)
[ "$left" = "./etc/basalt.conf ./srv/disk" ] || fail "all purged, and it differs: $left"
