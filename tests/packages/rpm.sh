# The RPM, by rpm itself, on a root that has a shell and the libraries: installed, upgraded under a
# load, kept from removal while a volume is in use, removed.
. "$LIB"
begin
# Which package has the libraries is for rpm's own distributions to say; here dpkg has them.
rpm() { command rpm --root "$root" "$@"; }
program=$PACKAGES/$(cd "$PACKAGES" && echo basalt-[0-9]*.rpm)
rpm --initdb
paths | grep -v '^\./var/lib/rpm' > "$WORK/before"

rpm --install --nodeps "$program"
version=$(rpm --query --queryformat '%{VERSION}' basalt)
[ "$(inside basalt --version)" = "basalt $version" ] || fail "basalt --version"
[ "$(stat -c %a "$root/var/lib/basalt" "$root/etc/basalt/pki" "$root/etc/basalt.d" | xargs)" = \
  "700 700 755" ] || fail "the modes of the folders"
rpm --verify --nodeps basalt
if rpm --query --requires "$program" | grep -q "$WORK"; then fail "it requires a path of here"; fi
rpm --query --requires "$program" | grep -q '^libc.so.6' || fail "it requires no library"

write_resource
mkdir "$root/run/basalt"
start
bring_up
load 4
echo 'shards = 2' >> "$root/etc/basalt/node.conf"
said=$(rpm --upgrade --nodeps --replacepkgs "$program" 2>&1)
must_say "$said" "a daemon runs that systemd did not start"
must_have_loaded
grep -q '^shards = 2' "$root/etc/basalt/node.conf" || fail "the upgrade took an edited node.conf"

if said=$(rpm --erase basalt 2>&1); then fail "removed while in use: $said"; fi
must_say "$said" "volumes that may be in use: r0"
rpm --query basalt > /dev/null || fail "a refused removal took the package"
[ -x "$root/usr/bin/basalt" ] || fail "a refused removal took the program"

inside basalt adm secondary all
stop
said=$(rpm --erase basalt 2>&1)
must_say "$said" "/var/lib/basalt stays"
left=$(paths | grep -v '^\./var/lib/rpm' | comm -3 "$WORK/before" - |
  grep -v '^\s*\./var/lib/basalt/' | xargs)
# rpm keeps what somebody edited under another name.
[ "$left" = "./etc/basalt ./etc/basalt.conf ./etc/basalt/node.conf.rpmsave ./srv/disk ./var/lib/basalt" ] ||
  fail "a removal leaves: $left"
