# What the chapters share. `begin` lays out the root that $ROOT_TAR has, in $WORK/root, with the
# packages of $PACKAGES in its /packages. The caller gave this shell name spaces of its own for
# processes, mounts and the network, so that nothing of it is left behind.

root=$WORK/root

fail() { echo "failed: $*" >&2; exit 1; }

# The text $1 must have the words $2.
must_say() { grep -qF -- "$2" <<< "$1" || fail "no word of \"$2\" in: $1"; }

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LC_ALL=C "$@"; }

# Runs the command $2.. until it succeeds, for at most a minute; $1 is what it waits for.
wait_for() {
  local what=$1 end=$((SECONDS + 60))
  shift
  until "$@" > /dev/null 2>&1; do
    ((SECONDS < end)) || fail "waited a minute for $what"
    read -rt 0.1 <> <(:) || true
  done
}

# With the devices that every container has: none of the machine's can be reached.
begin() {
  hostname alice
  ip link set lo up
  mkdir "$root"
  tar --extract --file="$ROOT_TAR" --directory="$root"
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  local name
  for name in null zero full random urandom tty; do
    touch "$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
  done
  mkdir "$root/dev/pts" "$root/dev/shm" "$root/packages"
  mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount --bind -o ro "$PACKAGES" "$root/packages"
}

# Where the package of the pattern $1 is inside.
# shellcheck disable=SC2086  # It is a pattern.
package() { echo "/packages/$(cd "$PACKAGES" && echo $1)"; }

# All paths of the root but what is mounted, and the notes of dpkg, debconf and systemd.
paths() {
  (cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/cache/debconf \
    -o -path ./var/log -o -path ./var/lib/systemd -o -path ./tmp -o -path ./var/tmp \
    -o -path ./etc/machine-id -o -path ./var/cache/ldconfig \) -prune -o -print | sort)
}

# A resource of one node, alice, on a file.
write_resource() {
  truncate --size=64M "$root/srv/disk"
  cat > "$root/etc/basalt.conf" <<'RES'
resource r0 {
  options { quorum off; }
  volume 0 { disk /srv/disk; meta-disk internal; }
  on alice { node-id 0; address 127.0.0.1:7900; }
}
RES
}

# Starts a daemon by hand, as the unit does, and serves a port; not by `inside`, whose process is a shell's.
start() {
  chroot "$root" /usr/bin/basalt node --config /etc/basalt/node.conf --nbd 127.0.0.1:10809 \
    >> "$WORK/daemon.log" 2>&1 &
  daemon=$!
  wait_for "the daemon" inside basalt setup status
}

stop() {
  kill "$daemon"
  wait "$daemon" || fail "the daemon ended with $?"
}

# Makes alice Primary of it; she runs.
bring_up() {
  wait_for "the daemon" inside basalt setup status
  inside basalt adm create-md r0
  inside basalt adm up r0
  inside basalt adm primary --force r0
}

# Loads the volume by its NBD port for $1 seconds; what it reports goes to $WORK/load.
load() {
  inside basalt bench verify --nbd nbd://127.0.0.1:10809/r0 --span-mib 16 --seconds "$1" --json \
    > "$WORK/load" 2> "$WORK/load.errors" &
  load=$!
}

# It read what it wrote, all the time.
must_have_loaded() {
  wait "$load" || fail "the load: $(cat "$WORK/load" "$WORK/load.errors")"
}

# Starts systemd as the first process of a name space below ours, with control groups of its own.
# Both end with us. From then on `inside` is beside systemd.
boot() {
  echo alice > "$root/etc/hostname"
  groups=$WORK/groups
  mkdir "$groups"
  mount -t cgroup2 cgroup2 "$groups"
  group=$groups/basalt-${WORK//\//-}
  mkdir "$group"
  echo 0 > "$group/cgroup.procs"
  unshare --pid --fork --kill-child --mount --cgroup bash -euo pipefail -c '
    mount -t proc proc "$1/proc"
    mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup"
    exec env -i container=lab PATH=/usr/sbin:/usr/bin chroot "$1" /lib/systemd/systemd \
      --unit=multi-user.target --log-target=null --show-status=no' - "$root" &
  first=$!
  wait_for "a first process" pgrep --parent "$first"
  systemd=$(pgrep --parent "$first")
  trap end EXIT
  inside() { beside_systemd /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LC_ALL=C "$@"; }
  wait_for "systemd" inside systemctl is-active --quiet multi-user.target
}

# In all name spaces of systemd, whom its tools look for as the first process.
beside_systemd() { nsenter --target "$systemd" --pid --mount --cgroup --root --wd "$@"; }

end() {
  kill -KILL "$systemd"
  wait "$first" || true
  echo 0 > "$groups/cgroup.procs"
  find "$group" -depth -type d -exec rmdir {} +
}
