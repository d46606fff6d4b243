# PostgreSQL on a disk over vhost-user, with ext4 and xfs: the daemons on the host die under it.
. /lab/lib.sh
. /lab/database.lib.sh
. /lab/vhost.lib.sh
mkdir -p /mnt/volume

for kind in ext4 xfs; do
  say "vhost-user, $kind"
  make_file_system $kind $disk
  start_database
  start_transactions
  host kill_node bob
  transactions_go_on
  host start_vhost_node bob
  host wait_whole alice
  host restart_alice
  transactions_go_on
  host wait_whole alice
  stop_transactions
  check_database
  umount /mnt/volume
  check_file_system $kind $disk
done
check_kernel_log
host compare_replicas "$(blockdev --getsize64 $disk)"
