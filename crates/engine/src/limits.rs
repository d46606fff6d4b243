//! Every bound and every time of the data threads, in one place.

use std::time::Duration;

use format::limits::PAYLOAD_BYTES_MAX;
use format::message::HEADER_BYTES_MAX;
use io::Class;

/// Shards a daemon runs, and that it takes when nobody says a number.
pub const SHARDS_MAX: u8 = 8;
/// Messages of one turn from one shard to another; more wait for the next.
pub(crate) const CROSS_CAPACITY: usize = 4096;
/// How often in one turn a shard goes on with what its devices did at once; then it looks at its
/// sockets first.
pub(crate) const DONE_ROUNDS_MAX: usize = 4;
/// Payload bytes of one send to a peer; the rest waits for the next turn. With the 64 KiB that its
/// messages usually take, a frame fits into one receive buffer of the usual size.
pub(crate) const FRAME_PAYLOAD_MAX: u32 = 192 << 10;
/// Bytes of one frame: what the largest receive buffer holds, and a peer takes. It is met where
/// messages with long lists, which may take 1 MiB, and payloads wait together.
pub(crate) const FRAME_BYTES_MAX: u32 = Class::Huge.size_bytes();
const _: () = assert!(
    Class::Medium.size_bytes() + FRAME_PAYLOAD_MAX <= Class::Large.size_bytes(),
    "a usual frame fits into a usual buffer"
);
const _: () = assert!(PAYLOAD_BYTES_MAX <= FRAME_PAYLOAD_MAX, "a frame takes any payload");
const _: () = assert!(HEADER_BYTES_MAX <= FRAME_BYTES_MAX as usize, "and the longest message");
/// Parts of one send: below the kernel's 1024.
pub(crate) const FRAME_SEGMENTS_MAX: usize = 512;
/// Messages that wait for one peer before its connection counts as stuck.
pub(crate) const LINK_QUEUE_MAX: usize = 65_536;
/// A first wait before a peer is dialled again, and the longest.
pub(crate) const DIAL_BACKOFF_MIN: Duration = Duration::from_millis(50);
pub(crate) const DIAL_BACKOFF_MAX: Duration = Duration::from_secs(1);
/// The rest before an address that the machine does not have is tried again.
pub(crate) const LISTEN_REST: Duration = Duration::from_secs(1);
/// Ports of one host that are dialled before a rest: that many, or more where there are so many
/// that the last one would come after more rounds than this.
pub(crate) const ROUTE_TRIES_MIN: usize = 128;
pub(crate) const ROUTE_ROUNDS_MAX: usize = 16;
/// The same of ports that are waited for in vain.
pub(crate) const ROUTE_SILENT_MAX: usize = 8;
/// A connection has to come up, and its HELLO to arrive, within this.
pub(crate) const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(3);
/// The same of one path while there are others to try.
pub(crate) const PATH_DEADLINE: Duration = Duration::from_secs(1);
/// Full segments of its path that a connection carries each way before it counts. A new connection
/// may have ten on their way, so these take one round trip.
pub(crate) const PROBE_SEGMENTS: u32 = 4;
/// The segment of a connection of which the kernel says none: that of jumbo frames.
pub(crate) const SEGMENT_BYTES_UNKNOWN: u32 = 8948;
/// Large packets that did not come in this time, which TCP sends again after 200 ms, are lost.
pub(crate) const PROBE_PATIENCE: Duration = Duration::from_millis(500);
const _: () = assert!(PROBE_PATIENCE.as_millis() < PATH_DEADLINE.as_millis());
/// Paths to one peer that are watched at a time.
pub(crate) const PATHS_WATCHED_MAX: usize = 16;
/// How long a link whose path died may take to come up over another one before its resources hear
/// of a loss.
pub(crate) const MOVE_MAX: Duration = Duration::from_millis(500);
/// A path has to have worked so long before traffic is spread over it, each time that it failed
/// soon after it came back twice as long.
pub(crate) const PATH_REST_MIN: Duration = Duration::from_secs(1);
pub(crate) const PATH_REST_MAX: Duration = Duration::from_secs(60);
/// A connected peer is replaced by another process of its name only after so much silence.
pub(crate) const RIVAL_SILENCE_MIN: Duration = Duration::from_millis(500);
/// No file makes a peer lost for less silence: two heartbeats have to be missed.
pub(crate) const PEER_SILENT_MIN: Duration = Duration::from_millis(600);
/// No file makes a member late sooner: a disk may be busy for a moment.
pub(crate) const SLOW_MEMBER_MIN: Duration = Duration::from_secs(1);
/// Where a file says that no member ever is.
pub(crate) const SLOW_MEMBER_NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// How often disks with a `disk-timeout` are looked at, an eighth of it in these bounds.
pub(crate) const HUNG_LOOK_MIN: Duration = Duration::from_millis(50);
pub(crate) const HUNG_LOOK_MAX: Duration = Duration::from_secs(1);
/// A look that comes later than this was late because this process did not run: it was stopped, or
/// the machine was.
pub(crate) const STOOD_STILL: Duration = Duration::from_millis(500);
/// A state directory that does not write a register within this takes no vote any more. It may be
/// busy for a moment, and nothing but a restart takes it back into use.
pub(crate) const REGISTER_PATIENCE: Duration = DISK_STALL_MAX;
/// A resource that a peer refused is offered again after this.
pub(crate) const OPEN_RETRY: Duration = Duration::from_secs(10);
/// A peer that misbehaved in a resource is met there again after this: it may have been chance.
pub(crate) const MISBEHAVED_REST: Duration = Duration::from_secs(1);
/// Handles of a peer that are settled while an earlier one is not: its connections end with more.
pub(crate) const SETTLED_BEYOND_MAX: usize = 1024;
/// Heartbeats without an answer that are remembered.
pub(crate) const HEARTBEATS_MAX: usize = 16;
/// Connections whose HELLO did not come yet: so many from addresses of peers, and as many from all
/// others.
pub(crate) const STRANGERS_MAX: usize = 64;
/// How many that were turned away are remembered, and how long: until then one that comes again
/// from the same address and for the same reason is not logged.
pub(crate) const TURNED_AWAY_LOGGED_MAX: usize = 64;
pub(crate) const TURNED_AWAY_LOG_INTERVAL: Duration = Duration::from_secs(600);
/// A certificate that is valid for longer is said to be valid for so long, in years of 365 days.
pub(crate) const CERTIFICATE_YEARS_MAX: u64 = 100;

/// Client sessions over NBD of a data thread at a time; and beside them those that are told that
/// there are so many, which has to be done within the time.
pub(crate) const CLIENTS_MAX: usize = 1024;
pub(crate) const CLIENTS_SURPLUS_MAX: usize = 64;
pub(crate) const CLIENT_SURPLUS_DEADLINE: Duration = Duration::from_secs(5);
/// Wide buffers of those that can do without: two of a session with TLS (stream.rs).
pub(crate) const WIDE_CLIENTS_MAX: usize = 512;
/// A session gives a wide buffer up after so many receives in turn that bring little.
pub(crate) const STREAM_CALM_AFTER: u32 = 64;
/// Client requests in flight of one session, and parts of one request.
pub(crate) const REQUESTS_PER_CLIENT_MAX: usize = 256;
pub(crate) const PARTS_PER_REQUEST_MAX: usize = 16;
/// Bytes of the buffers that one session may hold: requests, and what was read and is not sent yet.
pub(crate) const CLIENT_BYTES_MAX: usize = 16 << 20;
/// The same of what the core of a shard has of a resource, and of all of them (budget.rs).
pub(crate) const RESOURCE_BYTES_MAX: usize = 16 << 20;
pub(crate) const CLIENTS_BYTES_MAX: usize = 40 << 20;
/// The same of data that clients of a shard are still sending, and of what is read for them and not
/// taken. Somewhat more is held where each of many sessions has begun one thing.
pub(crate) const ARRIVING_BYTES_MAX: usize = 48 << 20;
pub(crate) const REPLIES_BYTES_MAX: usize = 48 << 20;
/// What is left of these for those that hold little of them: so much of it for each session.
pub(crate) const RESERVED_BYTES: usize = 16 << 20;
pub(crate) const CLIENT_BYTES_RESERVED: usize = 512 << 10;
const _: () = {
    // Who is alone has all of its room.
    assert!(ARRIVING_BYTES_MAX >= RESERVED_BYTES + 2 * CLIENT_BYTES_MAX);
    assert!(REPLIES_BYTES_MAX >= RESERVED_BYTES + 2 * CLIENT_BYTES_MAX);
};
/// Where the core has all that it may, a session and a resource still get so much.
pub(crate) const CLIENT_BYTES_LEAST: usize = 1 << 20;
pub(crate) const RESOURCE_BYTES_LEAST: usize = 4 << 20;
/// A client that keeps others from their buffers has so long for what it is to take or to send, and
/// a second more for so many bytes.
pub(crate) const CLIENT_STALL_MAX: Duration = Duration::from_secs(30);
pub(crate) const CLIENT_BYTES_PER_SECOND_LEAST: usize = 256 << 10;
pub(crate) const CLIENT_STALL_LOOK: Duration = Duration::from_secs(1);
/// Bytes of heads of one session that are not sent yet; the second while it chooses an export.
pub(crate) const CLIENT_HEAD_BYTES_MAX: usize = 32 << 10;
pub(crate) const GREETING_HEAD_BYTES_MAX: usize = 32 << 10;
/// Extents that one answer about the state of blocks tells: each asks the file system twice.
pub(crate) const STATUS_EXTENTS_MAX: usize = 128;
/// Bytes of one client that are sealed at a time.
pub(crate) const SEALED_BYTES_MAX: u32 = 512 << 10;
/// Lines of the list of what clients may do.
pub(crate) const GRANTS_MAX: usize = 1024;
/// A client has to choose an export within this.
pub(crate) const CLIENT_HANDSHAKE_DEADLINE: Duration = Duration::from_secs(30);
/// A client that said goodbye, or was sent away, hears what it is to hear within this: it counts as
/// a user of the resource until it is gone.
pub(crate) const CLIENT_GOODBYE_DEADLINE: Duration = Duration::from_secs(30);
/// How long a client's handshake waits at least for this node to become Primary, whatever
/// `auto-promote-timeout` says: a promotion takes a few round trips.
pub(crate) const PROMOTE_WAIT_MIN: Duration = Duration::from_millis(100);
/// A node that was promoted for a client goes back this long after the last client left.
pub(crate) const AUTO_DEMOTE_GRACE: Duration = Duration::from_secs(1);

/// Connections of NVMe initiators of a data thread at a time; beside them those that are told that
/// there are so many; and their controllers. Those that only ask what there
/// is prove nothing, and take no place of a host.
pub(crate) const NVME_QUEUES_MAX: usize = 1024;
pub(crate) const NVME_QUEUES_SURPLUS_MAX: usize = 64;
pub(crate) const NVME_CONTROLLERS_MAX: usize = 256;
pub(crate) const NVME_DISCOVERIES_MAX: usize = 32;
/// One that asks only, and wants to be heard of at no time, is over after so much silence.
pub(crate) const NVME_DISCOVERY_SILENCE_MAX: Duration = Duration::from_secs(120);
/// A connection has to become part of a controller within this.
pub(crate) const NVME_CONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// It has to prove within this that its host knows a secret, where that is asked.
pub(crate) const NVME_PROOF_DEADLINE: Duration = Duration::from_secs(10);
/// Steps of such proofs that wait for their thread, or are at work.
pub(crate) const NVME_PROOFS_MAX: usize = 256;
/// Lines of the file of hosts.
pub(crate) const NVME_HOSTS_MAX: usize = 1024;
/// How long after its keep-alive interval a silent initiator counts as gone.
pub(crate) const NVME_KEEP_ALIVE_GRACE: Duration = Duration::from_secs(1);
/// An initiator that began to read the names of namespaces, after writes may have been lost, has
/// compared them with those that it knew by then.
pub(crate) const NVME_NAMES_REST: Duration = Duration::from_secs(2);
/// A command that failed is answered after this, unless the node turns out to be Primary no more.
pub(crate) const NVME_DOUBT: Duration = Duration::from_millis(100);
/// A node that stepped down, or could not become Primary, is no way to the volume for so long:
/// others come first.
pub(crate) const NVME_REFUSAL_REST: Duration = Duration::from_secs(1);

/// Descriptors of all rings of guests that are read in a turn, which takes some milliseconds, and
/// of one ring before the next one has its turn. A part for the core counts as so many more.
pub(crate) const GUEST_DESCRIPTORS_PER_TURN: u32 = 8192;
pub(crate) const GUEST_DESCRIPTORS_PER_LOOK: u32 = 1024;
pub(crate) const GUEST_PART_DESCRIPTORS: u32 = 4;
/// Requests of one virtual machine's disk that a shard has under way; a few more, where a request
/// waits for room. The others are left in its rings.
pub(crate) const GUEST_REQUESTS_MAX: usize = 2048;
/// Chains of descriptors whose memory is kept for requests to come.
pub(crate) const GUEST_CHAINS_SPARE_MAX: usize = 1024;
/// Requests of a block device that the kernel may have under way.
pub const DEVICE_DEPTH: u16 = 128;
/// What one virtual machine's disk may have mapped of its memory, as so many times the memory of
/// the machine: some of it is promised and not there, and two tables of it are mapped while one
/// takes the place of the other.
pub(crate) const GUEST_MEMORY_TIMES: u64 = 4;
/// What all of them may: half of the addresses that a process has.
pub const GUESTS_ADDRESSES_MAX: u64 = 64 << 40;
/// A disk that answers none of the daemon's requests for so long is not waited for; shorter than
/// `ADMIN_COMMAND_DEADLINE`, for whoever asked is to hear of it.
pub const DISK_STALL_MAX: Duration = Duration::from_secs(20);
/// A write whose acknowledgement does not come is not followed longer than this.
pub(crate) const ACK_FOLLOWED_MAX: Duration = Duration::from_secs(10);
/// Messages between the control thread and a shard.
pub const MAILBOX_CAPACITY: usize = 1024;
/// A Primary that goes down gives up after so long without a majority, which it looks for so often.
pub(crate) const REMOVAL_WITHOUT_QUORUM: Duration = Duration::from_secs(2);
pub(crate) const REMOVAL_POLL_INTERVAL: Duration = Duration::from_millis(250);
/// A clean shutdown gives up after this: what is left is recovered at the next start.
pub const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(20);

/// Hot extents of one resource, whatever the configuration asks for.
pub(crate) const AL_SLOTS_MAX: usize = format::metadata::AL_SLOTS_MAX;
