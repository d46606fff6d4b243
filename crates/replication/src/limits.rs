//! Every bound and every time of the core, in one place.

use std::time::Duration;

pub use format::layout::LANES_DEFAULT;

/// Lanes a volume can have: a power of two.
pub const LANES_MAX: u8 = 64;
/// Operations of one lane that hold a lock at a time.
pub const OPERATIONS_PER_LANE_MAX: usize = 256;
/// Reads of one lane that keep a place, with those that are answered and that a late disk, of a
/// member that may not be left behind, owes its answers to.
pub const READ_PLACES_MAX: usize = 8192;
/// Copies (resync or reconciliation) in flight per lane.
pub const COPIES_PER_LANE_MAX: usize = 2;
/// Copies to a returning member, in one lane, for which no source could be read: then it rests.
pub const COPY_FAILURES_MAX: u32 = 8;
/// What differs between members, and nobody could read, rests so long before it is tried again.
pub const UNREADABLE_REST: Duration = Duration::from_secs(5);
/// Blocks of one copy.
pub const COPY_BLOCKS_MAX: u32 = 32;
/// How often who leads tells a member how far the copy to it is.
pub const COPYING_TOLD_INTERVAL: Duration = Duration::from_millis(500);
/// So many copies of a full resync that found nothing equal at its target end the comparing; as
/// many later it is tried once more.
pub const COMPARE_MISSES_MAX: u32 = 64;
/// So many blocks (1.25 MiB) written one behind the other in an extent make a sequential writer:
/// more than one large write of a client, and early enough for the next extent's record.
pub const RUN_BLOCKS: usize = 320;
/// Writes that are so far out of order still follow each other: requests in flight change places.
pub const RUN_SLACK_BLOCKS: u16 = 64;
/// Extents that are to be logged ahead; with more sequential writers the oldest is left out.
pub const AHEAD_MAX: usize = 8;
/// Ranges in one message of a slot's content.
pub const SLOT_RANGES_PER_MESSAGE: usize = 512;
/// Seqs of one lane that are sent and not stable, the completed ones behind a slow one included:
/// so many entries a member's window has at most.
pub const WINDOW_PER_LANE_MAX: usize = 256;
/// The same at a member, with what was admitted already when that bound was reached: what has no
/// place there is not sent.
pub const WINDOW_AT_MEMBER_MAX: usize = WINDOW_PER_LANE_MAX + OPERATIONS_PER_LANE_MAX;
/// Bytes of one lane that clients were told are written, while some member has them in memory
/// alone: what would be more is answered when all have written it.
pub const EARLY_BYTES_PER_LANE_MAX: u64 = 2 << 20;
/// Reads of other nodes in one lane, those of connections that are gone included.
pub const PEER_READS_PER_LANE_MAX: usize = 4 * OPERATIONS_PER_LANE_MAX;
/// Flushes of clients that a group has under way as the leader; more wait for one of them to end.
pub const FLUSHES_PER_GROUP_MAX: usize = 1024;
/// What a member's group has to flush for, or to answer: all that the groups of a leader may have
/// under way, with the flushes of drains that were given up.
pub const FLUSHES_AT_MEMBER_MAX: usize = 32 * (FLUSHES_PER_GROUP_MAX + 32);
/// LOSS messages that wait at a member's group until the start of a slot is durable: as many as a
/// node has for one connection. What has more pieces than that is more than is ever sent.
pub const LOSSES_AT_MEMBER_MAX: usize = 65_536;
/// Starts of one slot that a group has the home make durable at a time: each is that of a loss, and
/// a member that is lost again returned before.
pub const SLOT_STARTS_MAX: u32 = 64;
/// Sets of ranges in one message (a seal's answer has two, a new epoch one): what has more is
/// covered with whole extents, or larger pieces, until it fits.
pub const REPORT_RANGES_MAX: usize = 12_288;

/// PROTOCOL.md 7c.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(250);
/// A peer that says nothing for so long is lost.
pub const PEER_SILENT_MAX: Duration = Duration::from_millis(1200);
pub const LEASE: Duration = Duration::from_millis(1500);
/// The longest lease a voter ever grants; a constant of the format, for a voter that restarts has
/// to wait for what it may have granted before.
pub const LEASE_MAX: Duration = Duration::from_millis(1500);
/// What a voter adds to a lease for clocks that drift: 2 % and 50 ms.
pub const LEASE_MARGIN: Duration = Duration::from_millis(50);
pub const LEASE_DRIFT_PERCENT: u32 = 2;
/// How long a restarted voter refuses strangers: a lease it forgot may still run.
pub const VOTER_HOLD_OFF: Duration = Duration::from_millis(1580);
/// A refused attempt at the register is repeated after a random time between these.
pub const RETRY_MIN: Duration = Duration::from_millis(20);
pub const RETRY_MAX: Duration = Duration::from_millis(200);
/// An attempt at the register that is not answered by then is repeated.
pub const ATTEMPT_DEADLINE: Duration = Duration::from_millis(1000);
/// A member that answers a write or a flush later than this is taken out of the write set, where
/// the options say nothing else; it is looked for at every half of this.
pub const SLOW_MEMBER_LIMIT: Duration = Duration::from_secs(5);
/// A read that was not answered by then is asked of another member, too; it is looked for at every
/// such interval. Where reads take long at all members, it is so many times as long as they take.
pub const READ_PATIENCE: Duration = Duration::from_millis(250);
pub const READ_LATENCY_FACTOR: u32 = 8;
/// Members that one read is asked of at a time.
pub const READ_SOURCES_MAX: u32 = 4;
/// How long a member rests that was taken out for being slow; doubled each time in a session.
pub const SLOW_MEMBER_REST_MIN: Duration = Duration::from_secs(20);
pub const SLOW_MEMBER_REST_MAX: Duration = Duration::from_secs(1280);
/// A member whose connection breaks again before it has been back for so long did not show that it
/// can keep up. It rests: so long the first time, doubled each time.
pub const LOST_AGAIN_WITHIN: Duration = Duration::from_secs(60);
pub const LOST_AGAIN_REST_MIN: Duration = Duration::from_secs(5);
pub const LOST_AGAIN_REST_MAX: Duration = Duration::from_secs(60);
/// How long a follower rests that fell too far behind; doubled each time, until it kept up for
/// twice the longest rest.
pub const CONGESTED_REST_MIN: Duration = Duration::from_secs(1);
pub const CONGESTED_REST_MAX: Duration = Duration::from_secs(64);
/// A follower that has not written down by then what another member misses is lost as well: the
/// writes of all wait for that.
pub const FOLLOWER_LOSS_PATIENCE: Duration = Duration::from_secs(1);
/// A sealed member has to answer within this, or counts as unreachable.
pub const SEAL_DEADLINE: Duration = Duration::from_millis(1500);
/// A lease that is held so long after a promotion began was renewed since: its holder lives.
pub const OTHER_PRIMARY_WAIT: Duration = VOTER_HOLD_OFF;
/// A Primary that reaches no quorum for so long goes on alone, where that is allowed.
pub const ALONE_WAIT: Duration = Duration::from_millis(500);
/// A node that wants to be Primary waits so long for a quorum before it decides alone: longer than
/// a voter that restarted refuses strangers, and than peers take to connect.
pub const ALONE_PROMOTION_WAIT: Duration = Duration::from_secs(2);
/// A node that asked whether a peer is out asks again after this, if it heard nothing.
pub const FENCE_PATIENCE: Duration = Duration::from_secs(120);
/// A peer that could not be put out is tried again after this, when somebody wants to be Primary.
pub const FENCE_RETRY: Duration = Duration::from_secs(30);
/// One that was put out for nothing is put out again after this, likewise: longer than a machine
/// takes to start, or it would never be back.
pub const FENCED_FOR: Duration = Duration::from_secs(600);
/// Ballots of one generation: whoever goes on alone begins the next one, so that nothing of the
/// line that it leaves ever has a higher ballot. At five attempts a second they last 27 years.
pub const GENERATION_BALLOTS: u64 = 1 << 32;
/// A peer that did not agree to stay as it is, while this node gives way, is asked again after it:
/// it was busy with another one.
pub const GIVE_WAY_RETRY: Duration = Duration::from_secs(2);
/// How long one that may give way waits until the value says what its clients lose: a few round
/// trips, and no longer where there is no quorum for it.
pub const TELLING_DEADLINE: Duration = Duration::from_secs(2);
/// A promotion that has not succeeded by then is answered with the reason.
pub const PROMOTE_DEADLINE: Duration = Duration::from_secs(20);
/// How long `primary --force` tries what `primary` does, before it uses force: a lease of a Primary
/// that died runs out in the meantime, and who starts beside this node connects.
pub const UNFORCED_PATIENCE: Duration = Duration::from_secs(5);
/// The same where it waits for proof that others are out: what was asked before it would have ended
/// otherwise may be answered, and be of use. However often others come and go, it ends by then.
pub const PROVEN_PROMOTE_DEADLINE: Duration =
    FENCE_PATIENCE.saturating_add(PROMOTE_DEADLINE).saturating_add(PROMOTE_DEADLINE);
/// How long nobody leads before an in-sync replica does, to bring others up to date, after a
/// Primary was lost. Longer than its clients take to turn to another node.
pub const CARETAKER_WAIT: Duration = Duration::from_secs(3);
/// What each further in-sync replica waits more, so that one of them leads.
pub const CARETAKER_STEP: Duration = Duration::from_secs(1);
/// The same where the last Primary ended cleanly, or a member waits to be let go: a client that
/// moves from node to node comes first.
pub const CARETAKER_PROMPT_WAIT: Duration = Duration::from_millis(300);
pub const CARETAKER_PROMPT_STEP: Duration = Duration::from_millis(300);
/// A promotion for a resync that has not succeeded by then gives way.
pub const CARETAKER_DEADLINE: Duration = Duration::from_secs(5);
/// How long the requests of a session that is to end, or is suspended, may take to finish.
pub const DRAIN_DEADLINE: Duration = Duration::from_secs(10);
/// How long a member that is stopped waits to be let go; then it goes as one that crashed would.
pub const LEAVE_DEADLINE: Duration = Duration::from_secs(4);
/// How long a member whose replica is to be given up waits until the value says that it is out of
/// sync, two turns of a caretaker included; then it keeps the replica.
pub const GIVE_UP_DEADLINE: Duration = Duration::from_secs(10);
/// A disk that takes a save not within this, and is to be detached, counts as one that failed.
pub const SAVE_PATIENCE: Duration = Duration::from_secs(5);
const _: () = assert!(SAVE_PATIENCE.as_secs() < GIVE_UP_DEADLINE.as_secs(), "known by then");
/// A step of an admission that is not answered by then is given up and tried again.
pub const ADMIT_DEADLINE: Duration = Duration::from_secs(30);
/// A replica that asked its node whether it may be brought up to date asks again after this, if it
/// heard nothing.
pub const RESYNC_QUESTION_PATIENCE: Duration = Duration::from_secs(300);

const _: () = assert!(LEASE.as_millis() <= LEASE_MAX.as_millis(), "a default within its bound");
/// What a value can count.
pub const LOSSES_MAX: u32 = (1 << 31) - 1;
/// Who lets clients go on after losses is answered by then: another caretaker's turn included.
pub const REOPEN_DEADLINE: Duration = Duration::from_secs(15);
/// The node that leads says by then whether it compares the replicas as another one asked.
pub const VERIFY_ANSWER_MAX: Duration = Duration::from_secs(2);
/// Who asks for another size is answered by then.
pub const RESIZE_DEADLINE: Duration = Duration::from_secs(30);
/// The members have so long to make the new area ready, and for each GiB of it so much more.
pub const PREPARE_SIZE_DEADLINE: Duration = Duration::from_secs(60);
pub const PREPARE_SIZE_PER_GIB: Duration = Duration::from_secs(60);
/// A member whose disk is smaller than the volume tries so often to enlarge it.
pub const ROOM_RETRY: Duration = Duration::from_secs(10);
/// Who leads tries so often to bring a volume into use that all replicas have a disk for.
pub const VOLUME_RETRY: Duration = Duration::from_secs(20);
/// Requests with which a group makes new blocks read as zeroes, under way at a time: of an extent
/// each.
pub const ZEROES_IN_FLIGHT_MAX: u32 = 4;
/// The answer to a seal: what is inherited, the own slot, and the window of every lane, to which
/// operations that were admitted already may add.
const SEALED_BYTES_MAX: usize =
    2 * REPORT_RANGES_MAX * 12 + LANES_MAX as usize * (WINDOW_AT_MEMBER_MAX * 20 + 64);
const _: () = assert!(SEALED_BYTES_MAX < format::message::HEADER_BYTES_MAX, "it fits into a frame");
