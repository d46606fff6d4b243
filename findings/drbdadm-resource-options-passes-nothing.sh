#!/usr/bin/env bash
# drbdadm 9.22 passes none of the file's options on in `drbdadm resource-options RES`: what it runs
# is `drbdsetup resource-options RES`, which changes nothing, and exits with 0. `net-options`,
# `disk-options` and `peer-device-options` of the same file pass theirs on. So an `options` section
# that was changed (`quorum`, `on-no-quorum`, `auto-promote`) takes effect by `adjust` alone.
#
# Expected before the run: the options of the file, as with the other three verbs.
# Source: drbd-utils 9.22.0-1 of Debian 12, run with -d (dry run). Needs apt-get and dpkg, no root
# beyond what `apt-get download` needs, and no kernel module.
set -euo pipefail
export LC_ALL=C

VERSION=9.22.0-1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
chmod 755 .

apt-get download "drbd-utils=$VERSION" >/dev/null 2>&1 || {
  echo "drbd-utils $VERSION is not to be had from the package sources of this machine" >&2
  exit 2
}
dpkg-deb -x drbd-utils_*.deb tools
drbdadm=$place/tools/sbin/drbdadm
[ -x "$drbdadm" ] || drbdadm=$place/tools/usr/sbin/drbdadm

cat > r.res <<RES
resource r {
  options { auto-promote no; quorum majority; on-no-quorum io-error; }
  net { protocol B; }
  disk { c-max-rate 10M; al-extents 127; }
  device minor 1;
  disk /dev/null;
  meta-disk internal;
  on $(uname -n) { address 192.0.2.1:7000; node-id 0; }
  on other { address 192.0.2.2:7000; node-id 1; }
}
RES

# What drbdadm would run, or `error`.
asked() {
  local said
  if said=$("$drbdadm" -c "$place/r.res" -d "$@" 2>/dev/null); then
    sed 's|^.*/||' <<<"$said"
  else
    echo error
  fi
}

failures=0
expect() {
  local expected=$1 got
  shift
  got=$(asked "$@")
  echo "drbdadm -d $*  ->  $got"
  [ "$got" = "$expected" ] || { echo "  expected: $expected" >&2; failures=$((failures + 1)); }
}

echo "drbd-utils $VERSION"
expect 'drbdsetup resource-options r' resource-options r
expect 'drbdsetup resource-options r --quorum=off' resource-options r --quorum=off
expect 'drbdsetup net-options r 1 --_name=other --protocol=B' net-options r
expect 'drbdsetup disk-options 1 --al-extents=127' disk-options r
expect 'drbdsetup peer-device-options r 1 0 --c-max-rate=10M' peer-device-options r
exit "$((failures > 0))"
