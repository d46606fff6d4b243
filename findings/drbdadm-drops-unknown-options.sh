#!/usr/bin/env bash
# drbdadm 9.22 hands options behind `--` on to drbdsetup, and drops those that it does not know:
# without a word, and with exit code 0. So `drbdadm -- --overwrite-data-of-peer primary RES`, which
# texts for DRBD 8 have, is a plain `primary`. The same option behind the verb is an error.
#
# Expected before the run: an error, or the force that the option had been in DRBD 8.
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
expect 'drbdsetup primary r' -- --overwrite-data-of-peer primary r
expect 'drbdsetup primary r' -- --no-such-option primary r
expect 'drbdsetup primary r --force' -- --force primary r
expect error primary --no-such-option r
exit "$((failures > 0))"
