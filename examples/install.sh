#!/bin/sh
# Installs Basalt on this machine, or upgrades it, and starts the daemon:
#
#   install.sh PACKAGE [--node-conf FILE] [--res FILE]...
#
# PACKAGE is a .deb or .rpm. FILE of --node-conf becomes /etc/basalt/node.conf, and each --res a file
# of /etc/basalt.d. All files are read by the new program before one is put in place. A file that is
# there already with another text is kept beside it, with the ending `.before`. To run it again
# changes nothing.
set -eu

usage() {
  echo "usage: $0 PACKAGE [--node-conf FILE] [--res FILE]..." >&2
  exit 2
}

say() { echo "install.sh: $*"; }

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

package='' node_conf='' resources=''
while [ $# -gt 0 ]; do
  case $1 in
    --node-conf) [ $# -ge 2 ] || usage; node_conf=$2; shift ;;
    --res) [ $# -ge 2 ] || usage; resources="$resources
$2"; shift ;;
    -*) usage ;;
    *) [ -z "$package" ] || usage; package=$1 ;;
  esac
  shift
done
[ -n "$package" ] || usage
[ "$(id -u)" -eq 0 ] || fail "only root may install: run it behind sudo"
[ -r "$package" ] || fail "cannot read $package: make one with \`cargo xtask package\`"
if [ -n "$node_conf" ]; then [ -r "$node_conf" ] || fail "cannot read $node_conf"; fi

case $package in
  *.deb) DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet "$(realpath "$package")" ;;
  *.rpm)
    if command -v dnf > /dev/null; then dnf install --assumeyes "$(realpath "$package")"
    else rpm --upgrade --replacepkgs "$package"; fi ;;
  *) fail "$package is neither a .deb nor a .rpm" ;;
esac

# Puts the file $1 at $2, and says whether that changed anything.
changed=no
put() {
  if cmp -s "$1" "$2"; then return 0; fi
  if [ -e "$2" ]; then cp -p "$2" "$2.before"; fi
  install -m "$3" "$1" "$2"
  changed=yes
  say "wrote $2"
}

if [ -n "$node_conf" ]; then
  basalt node --check-config --config "$node_conf" > /dev/null || fail "$node_conf was not put in place"
  put "$node_conf" /etc/basalt/node.conf 644
fi
daemon_changed=$changed

# A .res may hold a secret.
echo "$resources" | while read -r file; do
  [ -n "$file" ] || continue
  basalt adm --config-file "$file" dump > /dev/null || fail "$file was not put in place"
  put "$file" "/etc/basalt.d/$(basename "$file")" 600
done
if [ -n "$resources" ] && [ ! -e /etc/basalt.conf ]; then
  if [ -e /etc/drbd.conf ]; then say "/etc/drbd.conf is not read by basalt from now on"; fi
  echo 'include "basalt.d/*.res";' > /etc/basalt.conf
  say "wrote /etc/basalt.conf"
fi

if [ -d /run/systemd/system ]; then
  systemctl enable --quiet basalt-node
  if [ "$daemon_changed" = yes ]; then systemctl restart basalt-node; else systemctl start basalt-node; fi
  # It answers at once, unless another node.conf names another socket.
  tries=0
  until basalt setup status > /dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || fail "the daemon gives no answer; why: \`journalctl --unit basalt-node --lines 30\`"
    sleep 0.5
  done
  say "the daemon runs; next: \`basalt adm create-md RES\` and \`basalt adm up RES\` on each node"
else
  say "systemd does not run here; start the daemon: \`basalt node --config /etc/basalt/node.conf\`"
fi
