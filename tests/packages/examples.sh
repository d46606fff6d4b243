# The installer and the Ansible role of the examples, each on a machine that has nothing of ours,
# and each a second time, when it has nothing to do.
. "$LIB"
begin
program=$(package "basalt_*.deb")
boot
mount_inside() {
  beside_systemd mkdir -p "$2"
  mkdir -p "$root$2"
  nsenter --target "$systemd" --mount mount --bind "$1" "$root$2"
}
mkdir "$WORK/files"
cp "$EXAMPLES/install.sh" "$WORK/files/"
sed 's/^# spin-us = .*/spin-us = 0/' "$EXAMPLES/../docs/systemd/node.conf" > "$WORK/files/node.conf"
cp "$EXAMPLES/two-replicas-and-a-witness.res" "$WORK/files/r0.res"
echo 'no-such-option = 1' > "$WORK/files/wrong.conf"
echo 'resource { }' > "$WORK/files/wrong.res"
mount_inside "$WORK/files" /files

process() { inside systemctl show --property=MainPID --value basalt-node; }

must_be_installed() {
  inside systemctl is-active --quiet basalt-node || fail "$1 started no daemon"
  inside systemctl is-enabled --quiet basalt-node || fail "$1 enabled no daemon"
  inside basalt setup status || fail "$1: the daemon gives no answer"
  cmp "$WORK/files/node.conf" "$root/etc/basalt/node.conf"
  [ "$(stat -c %a "$root/etc/basalt.d/r0.res")" = 600 ] || fail "$1: others may read a .res"
  inside basalt adm dump | grep -q '^resource' || fail "$1: the .res is not read"
}

# The installer.
words=("$program" --node-conf /files/node.conf --res /files/r0.res)
inside sh /files/install.sh "${words[@]}"
must_be_installed "the installer"
before=$(process)
said=$(inside sh /files/install.sh "${words[@]}")
if grep -q wrote <<< "$said"; then fail "the installer changes what is right: $said"; fi
for wrong in "--node-conf /files/wrong.conf" "--res /files/wrong.res"; do
  # shellcheck disable=SC2086  # Two words.
  if said=$(inside sh /files/install.sh "$program" $wrong 2>&1); then fail "took $wrong"; fi
  must_say "$said" "was not put in place"
done
must_be_installed "the installer, with a wrong file,"
inside dpkg --purge basalt
inside rm -r /etc/basalt.conf /etc/basalt.d /var/lib/basalt

# The Ansible role, as it is but for the machine: modules run inside, in a folder that both have.
mkdir "$WORK/remote"
mount_inside "$WORK/remote" "$WORK/remote"
cat > "$WORK/python" <<PYTHON
#!/bin/sh
exec nsenter --target $systemd --pid --mount --cgroup --root /usr/bin/env -i HOME=/ LC_ALL=C.UTF-8 \
  PATH=/usr/sbin:/usr/bin:/sbin:/bin /usr/bin/python3 "\$@"
PYTHON
chmod +x "$WORK/python"
play() {
  ANSIBLE_REMOTE_TMP=$WORK/remote ANSIBLE_LOCAL_TEMP=$WORK/local ANSIBLE_NOCOLOR=1 LC_ALL=C.UTF-8 \
    ANSIBLE_RETRY_FILES_ENABLED=false ansible-playbook --connection local --inventory alice, \
    --extra-vars "ansible_python_interpreter=$WORK/python ansible_become=false" \
    --extra-vars "basalt_package=$PACKAGES/$(basename "$program")" \
    --extra-vars "basalt_node_conf=$WORK/files/$1" \
    --extra-vars "{\"basalt_resources\": [\"$WORK/files/$2\"]}" "$WORK/site.yml"
}
cp -r "$EXAMPLES/ansible/roles" "$WORK/roles"
sed 's/hosts: basalt/hosts: all/' "$EXAMPLES/ansible/site.yml" > "$WORK/site.yml"
play node.conf r0.res
must_be_installed "the role"
before=$(process)
said=$(play node.conf r0.res)
must_say "$said" "changed=0 "
[ "$(process)" = "$before" ] || fail "the role restarts a daemon without a reason"
if said=$(play wrong.conf r0.res); then fail "the role took a wrong node.conf"; fi
must_say "$said" "no-such-option"
if said=$(play node.conf wrong.res); then fail "the role took a wrong .res"; fi
must_be_installed "the role, with a wrong file,"
