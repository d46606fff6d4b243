#!/usr/bin/env bash
# `systemd-analyze verify` of systemd 252 ends with exit code 0 for a unit with a key that does not
# exist, or with a value that cannot be read. systemd ignores both: `WatchdogSecs=60` is no watchdog,
# and `Restart=on-falure` no restart. It prints a warning. A program that is not there is exit code
# 1. A check of units in CI has to take any output for a failure.
#
# Expected before the run: exit code 1 for each of the three.
# Source: systemd 252.39-1~deb12u2 of Debian 12, unpacked into a folder. Needs apt-get and dpkg, no
# root beyond what `apt-get download` needs, and no running systemd.
set -euo pipefail
export LC_ALL=C

VERSION=252.39-1~deb12u2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
chmod 755 .

for package in systemd libsystemd-shared; do
  apt-get download "$package=$VERSION" >/dev/null 2>&1 || {
    echo "$package $VERSION is not to be had from the package sources of this machine" >&2
    exit 2
  }
done
for package in ./*.deb; do
  dpkg-deb -x "$package" tools
done
libraries=$(dirname "$(find "$place/tools" -name 'libsystemd-shared-*.so')")
analyze=$place/tools/usr/bin/systemd-analyze

failures=0
# A line of [Service], the expected exit code, and a part of what is said.
expect() {
  local line=$1 code=$2 part=$3 got=0 said
  printf '[Unit]\nDescription=a try\n[Service]\nType=exec\n%s\n' "$line" > try.service
  [[ $line == ExecStart=* ]] || echo 'ExecStart=/bin/sleep 1' >> try.service
  said=$(LD_LIBRARY_PATH=$libraries "$analyze" verify "$place/try.service" 2>&1) || got=$?
  echo "$line  ->  exit code $got: ${said##*/try.service:}"
  [[ $got == "$code" && $said == *"$part"* ]] || {
    echo "  expected: $code, with: $part" >&2
    failures=$((failures + 1))
  }
}

echo "systemd $VERSION"
expect 'WatchdogSec=60' 0 ''
expect 'WatchdogSecs=60' 0 "Unknown key 'WatchdogSecs' in section [Service], ignoring"
expect 'Restart=on-falure' 0 'Failed to parse service restart specifier, ignoring'
expect 'ExecStart=/bin/nowhere' 1 'is not executable'
exit "$((failures > 0))"
