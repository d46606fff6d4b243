# What the chapters share whose disk is served on the host. To be read after lib.sh.
# shellcheck disable=SC2034
NODES=()
disk=/dev/vdb
number=0

# host WORDS..: has the host do something, and shows what came of it.
host() {
  number=$((number + 1))
  echo "$*" > /lab/ask.new
  mv /lab/ask.new "/lab/ask.$number"
  wait_for 150 "the host's answer to '$*'" test -e "/lab/done.$number"
  cat "/lab/said.$number"
  [ "$(cat "/lab/done.$number")" = 0 ] || fail "the host could not '$*'"
}
