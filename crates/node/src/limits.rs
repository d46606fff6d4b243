//! Every bound and every time of the control side, in one place; those of data threads are
//! `engine`'s.

use std::time::Duration;

use engine::limits::DISK_STALL_MAX;
use replication::limits::PROVEN_PROMOTE_DEADLINE;

/// How often the files of certificates are looked at for newer ones.
pub(crate) const CREDENTIALS_LOOK_INTERVAL: Duration = Duration::from_secs(10);
/// A certificate that ends within this is warned of.
pub(crate) const CERTIFICATE_RENEWAL: Duration = Duration::from_secs(30 * 24 * 3600);
/// How often a certificate that ends soon is warned of.
pub(crate) const CERTIFICATE_WARNING_INTERVAL: Duration = Duration::from_secs(24 * 3600);
/// A command that makes or removes a device is answered by then; the device may come later.
pub(crate) const DEVICE_COMMAND_DEADLINE: Duration = Duration::from_secs(15);
/// What a device holds is written out by then, or it is not removed.
pub(crate) const DEVICE_CLAIM_DEADLINE: Duration = Duration::from_secs(10);
/// How long the thread of a device waits for the shard.
pub(crate) const DEVICE_SHARD_DEADLINE: Duration = Duration::from_secs(10);
/// How long the requests of a device whose daemon died wait for this node to be Primary again;
/// then they fail.
pub(crate) const DEVICE_RECOVERY_DEADLINE: Duration = Duration::from_secs(30);
/// How often the supervisor of a device looks whether another daemon has it.
pub(crate) const DEVICE_SUPERVISOR_INTERVAL: Duration = Duration::from_millis(200);
/// How often, and after which pauses, it tries to end a device that the driver does not end.
pub(crate) const DEVICE_STOP_ATTEMPTS_MAX: u32 = 60;
pub(crate) const DEVICE_STOP_INTERVAL: Duration = Duration::from_secs(1);
/// How often the users of a device wait anew, because a daemon was taking it over when their time
/// was up, and did not get it.
pub(crate) const DEVICE_WAITS_ANEW_MAX: u32 = 2;
/// A supervisor that died is followed by another one after this, and how many are.
pub(crate) const DEVICE_SUPERVISOR_REST: Duration = Duration::from_secs(1);
pub(crate) const DEVICE_SUPERVISORS_MAX: u32 = 20;
/// How often a promotion for that is looked after, and whether another node was Primary.
pub(crate) const DEVICE_PROMOTION_LOOK: Duration = Duration::from_secs(1);
/// How often the peers are looked for before the first one.
pub(crate) const DEVICE_PEER_LOOK: Duration = Duration::from_millis(20);
/// How long a number or a file that is still taken is waited for, and how often it is tried.
pub(crate) const DEVICE_BUSY_PATIENCE: Duration = Duration::from_secs(5);
pub(crate) const DEVICE_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long the driver is asked again for what it cannot do just now; less than a device that is to
/// be left may take for that.
pub(crate) const DEVICE_DRIVER_PATIENCE: Duration = Duration::from_secs(3);
const _: () = assert!(DEVICE_DRIVER_PATIENCE.as_secs() < DEVICE_LEAVE_DEADLINE.as_secs());
/// A daemon that ends waits so long to be told whose requests are held back.
pub(crate) const DEVICE_LOOK_DEADLINE: Duration = Duration::from_secs(3);
/// And so long for a device to be left.
pub(crate) const DEVICE_LEAVE_DEADLINE: Duration = Duration::from_secs(5);

/// Rings of one virtual machine's disk.
pub(crate) const GUEST_QUEUES_MAX: u16 = 128;
/// Monitors at the socket of a volume that have not asked anything yet.
pub(crate) const GUESTS_ARRIVING_MAX: usize = 16;
/// Files that come with a message of a monitor: one for each region of the memory that it shares.
pub(crate) const GUEST_FILES_MAX: usize = 8;
/// How long a virtual machine's monitor waits for this node to become Primary.
pub(crate) const GUEST_ADMISSION_DEADLINE: Duration = Duration::from_secs(6);
/// A monitor that reads nothing for so long is let go.
pub(crate) const GUEST_SEND_DEADLINE: Duration = Duration::from_secs(10);
/// How long the thread of a virtual machine's session waits for the shards.
pub(crate) const GUEST_SHARD_DEADLINE: Duration = Duration::from_secs(10);
/// How long a monitor that stops a ring waits for what is under way; then it has to come back.
pub(crate) const GUEST_STOP_DEADLINE: Duration = Duration::from_secs(20);

/// The rest of a thread that could not accept a connection.
pub(crate) const ACCEPT_REST: Duration = Duration::from_millis(500);
/// An admin request is read, and its answer written, within this.
pub(crate) const ADMIN_IO_DEADLINE: Duration = Duration::from_secs(10);
/// An admin command is answered by then, with a failure if need be: before `basalt adm` stops to
/// wait (30 s) and can only say that nothing came.
pub(crate) const ADMIN_COMMAND_DEADLINE: Duration = Duration::from_secs(25);
/// The same of `primary`: a promotion that waits for proof that others are out (`fencing`) takes so
/// long, and what follows it is the work of the command.
pub const PRIMARY_COMMAND_DEADLINE: Duration =
    PROVEN_PROMOTE_DEADLINE.saturating_add(Duration::from_secs(5));
/// A data thread that is told to take a resource down does so within `SHUTDOWN_DEADLINE` once it
/// hears of it, and nothing takes that back. One that hears nothing for so long is lost, and the
/// daemon with it.
pub(crate) const REMOVAL_ANSWER_DEADLINE: Duration = Duration::from_secs(600);
/// A command that takes a disk away waits for who works on it, unless no step of it ends for so
/// long: then the disk may be the reason for the command.
pub(crate) const DISK_END_STALL_MAX: Duration = Duration::from_secs(2);
/// The same while the daemon starts, once one disk was like that: there may be many.
pub(crate) const DISK_STALL_MAX_AGAIN: Duration = Duration::from_secs(5);
pub(crate) const DISK_WORK_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Admin connections served at a time.
pub(crate) const ADMIN_CONNECTIONS_MAX: usize = 64;
/// Beside them, those that wait for a promotion: after a loss that many resources notice each may
/// wait for a script.
pub(crate) const ADMIN_WAITING_MAX: usize = 1024;
/// Admin connections that have not asked anything yet, and the bytes that these may have said.
pub(crate) const ADMIN_ARRIVING_MAX: usize = 256;
#[expect(clippy::cast_possible_truncation, reason = "far below 4 GiB")]
pub(crate) const ADMIN_REQUEST_BYTES_MAX: usize = api::wire::LINE_BYTES_MAX as usize;
pub(crate) const ADMIN_ARRIVING_BYTES_MAX: usize = 2 * ADMIN_REQUEST_BYTES_MAX;
/// Those that do not take their answer at once: of the admin socket, and of the metrics.
pub(crate) const SLOW_ANSWERS_MAX: usize = 64;
/// Programs that watch for changes at a time, beside the other admin connections.
pub(crate) const SUBSCRIBERS_MAX: usize = 32;
/// States that wait for one of them before it loses them all and gets the whole state again.
pub(crate) const SUBSCRIBER_QUEUE_MAX: usize = 256;
/// A watching program that reads nothing at all for so long is let go.
pub(crate) const SUBSCRIBER_STALL_MAX: Duration = Duration::from_secs(600);
/// While somebody watches, everything is looked at so often: the progress of a resync, and what
/// no shard told.
pub(crate) const WATCH_INTERVAL: Duration = Duration::from_secs(3);
/// Resources whose status is asked for in one question: a data thread serves nobody while it
/// answers.
pub(crate) const STATUS_SLICE_MAX: usize = 32;
/// Changes that come within this are told as one.
pub(crate) const WATCH_GAP: Duration = Duration::from_millis(10);
/// Scrapes of the metrics at a time, and the time that one has.
pub(crate) const SCRAPES_MAX: usize = 4;
pub(crate) const SCRAPE_DEADLINE: Duration = Duration::from_secs(10);
/// Connections that have not asked for anything of the metrics yet.
pub(crate) const SCRAPES_ARRIVING_MAX: usize = 64;
/// Bytes of the head of a scrape.
pub(crate) const SCRAPE_HEAD_BYTES_MAX: usize = 8 << 10;
/// Scripts of handlers that run at a time, calls that wait for their turn, and how long one may
/// take.
pub(crate) const HANDLERS_AT_ONCE_MAX: usize = 4;
pub(crate) const HANDLERS_WAITING_MAX: usize = 64;
pub(crate) const HANDLER_DEADLINE: Duration = Duration::from_secs(60);
/// A loss of quorum that is over by then is none: voters change, and links come one by one.
pub(crate) const HANDLER_QUORUM_PATIENCE: Duration = Duration::from_secs(1);
/// While a resync waits for another one (`resync-after`): how often that is looked at, and how long
/// one that may begin, or was allowed to, counts as under way.
pub(crate) const RESYNC_ORDER_INTERVAL: Duration = Duration::from_millis(250);
pub(crate) const RESYNC_ORDER_BEGIN: Duration = Duration::from_secs(5);
/// How often a running script is looked at.
pub(crate) const HANDLER_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long one that was killed is waited for, and how many of those may be there that do not end.
pub(crate) const HANDLER_KILL_PATIENCE: Duration = Duration::from_secs(2);
pub(crate) const HANDLERS_STUCK_MAX: usize = 16;
/// Lines of its output that are logged, and bytes of one.
pub(crate) const HANDLER_LINES_MAX: usize = 64;
pub(crate) const HANDLER_LINE_BYTES_MAX: usize = 512;
/// How long a start waits for addresses and locks that a killed daemon still holds: on a busy
/// machine the kernel takes seconds to let go of them.
pub(crate) const START_PATIENCE: Duration = Duration::from_secs(20);
/// The same of an operator's command, who waits for the answer.
pub(crate) const COMMAND_PATIENCE: Duration = Duration::from_secs(1);
/// How long a daemon that starts tries to make Primary what is to be, and how it rests in between.
pub(crate) const START_PROMOTION_DEADLINE: Duration = Duration::from_secs(60);
pub(crate) const START_PROMOTION_REST: Duration = Duration::from_secs(1);
/// How many resources a start brings up at a time: while the disks of one are waited for, others
/// are read.
pub(crate) const STARTS_AT_ONCE_MAX: usize = 4;
/// How many promotions it waits for at a time.
pub(crate) const START_PROMOTIONS_AT_ONCE_MAX: usize = 64;
/// How long `attach` waits for what is under way on the former disk, and for its loss to be known.
pub(crate) const ATTACH_PATIENCE: Duration = Duration::from_secs(10);
/// How long `adjust` waits for members that it removed not to be needed any more.
pub(crate) const MEMBERS_PATIENCE: Duration = Duration::from_secs(3);
/// A wait that is longer is logged.
pub(crate) const PATIENCE_LOGGED_AFTER: Duration = Duration::from_secs(1);
/// How long such a wait rests between two attempts: nobody tells when a lock is free.
pub(crate) const PATIENCE_POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How often a daemon looks whether its parent still lives, where the kernel does not tell.
pub(crate) const PARENT_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How often a service manager is told how the daemon is, at least.
pub(crate) const SERVICE_TELL_INTERVAL: Duration = Duration::from_secs(10);
/// By how much a long start or end asks for more time, again and again.
pub(crate) const SERVICE_EXTENSION: Duration = Duration::from_secs(60);
const _: () = assert!(SERVICE_TELL_INTERVAL.as_secs() * 3 <= SERVICE_EXTENSION.as_secs());
/// A start that gets no further for so long asks for no more time; longer than any wait in it.
pub(crate) const SERVICE_STANDSTILL_MAX: Duration = Duration::from_secs(60);
const _: () = assert!(SERVICE_STANDSTILL_MAX.as_secs() > START_PATIENCE.as_secs());
const _: () = assert!(SERVICE_STANDSTILL_MAX.as_secs() > DISK_STALL_MAX.as_secs());
/// An end asks for more time up to this.
pub(crate) const SERVICE_END_MAX: Duration = Duration::from_secs(300);
/// How long a message to the service manager waits for room there.
pub(crate) const SERVICE_SEND_DEADLINE: Duration = Duration::from_secs(1);
/// Two aborts within this, while the same resource was stepping, hold that one down.
pub(crate) const CRASH_LOOP_WITHIN: Duration = Duration::from_secs(60);
/// Aborts that are remembered.
pub(crate) const CRASH_LINES_MAX: usize = 16;
/// How long after the kernel's last word that memory is short it counts as over.
pub(crate) const MEMORY_CALM: Duration = Duration::from_secs(10);
/// Lines of the log that wait to be written, and how long a process that ends waits for them.
pub(crate) const LOG_LINES_MAX: usize = 1024;
pub(crate) const LOG_FLUSH_DEADLINE: Duration = Duration::from_secs(1);
/// How long the data threads are waited for after that, and those that work on disks: one that
/// waits for a disk may never end.
pub(crate) const THREADS_END_DEADLINE: Duration = Duration::from_secs(5);
pub(crate) const ENDING_POLL_INTERVAL: Duration = Duration::from_millis(5);
