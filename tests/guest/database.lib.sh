# A database on a mounted volume that is loaded while nodes die, and checked for what it promised.
# To be read after lib.sh. The data directory was made with the image.
programs=/usr/lib/postgresql/15/bin
database=/mnt/volume/database
TRANSACTIONS=10
CLIENTS=4

as_postgres() { (cd /tmp && setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); }

query() { as_postgres $programs/psql --host=/tmp --no-align --tuples-only --command="$1" postgres; }

make_database() {
  cp --archive /var/lib/postgresql/ready $database
  sync --file-system $database
  : > /tmp/database.log
  chown postgres /tmp/database.log
}

start_database() {
  as_postgres $programs/pg_ctl --pgdata=$database --log=/tmp/database.log --wait \
    --timeout=120 --silent start || { tail -n 20 /tmp/database.log; fail "the database does not start"; }
}

# Clients that commit transactions, round after round, until `stop_transactions`.
start_transactions() {
  rm -f /tmp/transactions.stop /tmp/transactions.failed
  : > /tmp/transactions.rounds
  (
    until [ -e /tmp/transactions.stop ]; do
      if ! as_postgres $programs/pgbench --host=/tmp --client=$CLIENTS \
        --transactions=$TRANSACTIONS --no-vacuum postgres > /tmp/pgbench.said 2>&1; then
        cp /tmp/pgbench.said /tmp/transactions.failed
        exit 1
      fi
      echo round >> /tmp/transactions.rounds
    done
  ) &
  transactions=$!
  transactions_go_on
}

rounds() { wc -l < /tmp/transactions.rounds; }

# Two more rounds: at least one of them began after this was asked.
transactions_go_on() {
  local before
  before=$(rounds)
  have_moved() { [ "$(rounds)" -ge $((before + 2)) ] || [ -e /tmp/transactions.failed ]; }
  wait_for 120 "progress of the database" have_moved
  [ ! -e /tmp/transactions.failed ] || { cat /tmp/transactions.failed; fail "the database failed"; }
}

stop_transactions() {
  touch /tmp/transactions.stop
  wait "$transactions" || { cat /tmp/transactions.failed; fail "the database failed"; }
}

# Every committed transaction is there, all balances agree, and so do indexes, tables and checksums;
# the database has ended then.
check_database() {
  local sums done_at_least found
  done_at_least=$(($(rounds) * CLIENTS * TRANSACTIONS))
  sums=$(query "SELECT count(DISTINCT total), (SELECT count(*) FROM pgbench_history) FROM (
    SELECT sum(abalance) AS total FROM pgbench_accounts
    UNION ALL SELECT sum(tbalance) FROM pgbench_tellers
    UNION ALL SELECT sum(bbalance) FROM pgbench_branches
    UNION ALL SELECT sum(delta) FROM pgbench_history) AS totals")
  [ "${sums%|*}" = 1 ] || fail "the balances do not agree: $sums"
  found=${sums#*|}
  echo "$found transactions, of which $done_at_least were told to be committed"
  [ "$found" -ge "$done_at_least" ] || fail "$found transactions are there, not $done_at_least"
  as_postgres $programs/pg_amcheck --host=/tmp --heapallindexed postgres ||
    fail "a table or an index is damaged"
  as_postgres $programs/pg_ctl --pgdata=$database --wait --silent stop
  as_postgres $programs/pg_checksums --check --pgdata=$database > /tmp/checksums ||
    { cat /tmp/checksums; fail "a page is damaged"; }
}

# check_file_system KIND DEVICE: of a device that is not mounted.
check_file_system() {
  case $1 in
    ext4) fsck.ext4 -f -n "$2" > /tmp/fsck 2>&1 ;;
    xfs) xfs_repair -n "$2" > /tmp/fsck 2>&1 ;;
  esac || { cat /tmp/fsck; fail "the file system is damaged"; }
}

# make_file_system KIND DEVICE: mounted, and with the database on it.
make_file_system() {
  case $1 in
    ext4) mkfs.ext4 -q -F "$2" ;;
    xfs) mkfs.xfs -q -f "$2" ;;
  esac
  mount "$2" /mnt/volume
  make_database
}
