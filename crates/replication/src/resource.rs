//! A resource's home: config register, seals, promotion, leases and membership.
//!
//! One `Resource` on one node plays up to three parts at once: a voter (`voter`), a member with
//! data (`member`), and, while it promotes itself or is Primary, the leader (`propose`, `promote`,
//! `session`, `admit`). Messages to itself go through the same code as those of others.

mod options;
mod messages;
mod admit;
mod gate;
mod caretake;
mod forks;
mod fencing;
mod give_way;
mod telling;
mod leave;
mod give_up;
mod member;
mod membership;
mod news;
mod left_out;
mod promote;
mod propose;
mod rounds;
mod saves;
mod trust;
mod session;
mod change;
mod losses;
mod rests;
mod lost_vote;
mod reopen;
mod receipts;
mod followers;
mod congestion;
mod superseded;
mod suspend;
mod status;
mod voters;
mod verify;
mod resize;
mod room;
mod volumes;
mod word;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use format::config::{Config, Purpose, Tenure, VolumeConfig};
use format::ids::{Ballot, Branch, Epoch, MemberSet, NodeId, Nonce, ValueId, VoteStoreId};
use format::message::{Accepted, Control, ReplicaReport, SlotBase};
use format::metadata::{ReplicaState, Superblock};
use stdx::random::Random;
use stdx::time::Time;

use crate::contract::{
    Command, CommandDone, CommandError, CommandErrorCode, CommandId, FromGroup, MemberOptions,
    Parting, PeerReport, ReplicaRole, ResourceAction, ResourceInput, ToGroup,
};
use crate::limits;
use crate::lineage::stamp;
use crate::lineage::standing::report_of;
use crate::resource::fencing::Fencing;
use crate::resource::followers::Following;
use crate::resource::forks::Forks;
use crate::resource::gate::Gate;
use crate::resource::give_way::{GivingWay, Split};
use crate::resource::leave::{GiveUp, Leave, Leaver};
use crate::resource::left_out::LeftOut;
use crate::resource::member::MemberState;
use crate::resource::promote::Promotion;
use crate::resource::propose::Attempt;
use crate::resource::reopen::Reopening;
use crate::resource::resize::{Resizing, SizeWish};
use crate::resource::room::DiskRoom;
use crate::resource::rounds::{Round, RoundKind};
use crate::resource::saves::{AfterSave, Saves};
use crate::resource::session::Session;
use crate::resource::superseded::Superseded;
use crate::resource::suspend::ByUser;
use crate::resource::telling::Agreement;
use crate::resource::verify::{Progress, VerifyWish, Verifying};
use crate::voter::Voter;

pub use crate::resource::member::CopyStatus;
pub use crate::resource::options::{Comparing, ResourceOptions};
pub use crate::resource::resize::{ResizeState, ResizeStatus};
pub use crate::resource::rests::LostAgain;
pub use crate::resource::status::{MemberStatus, Status, VoterStatus};
pub use crate::resource::suspend::Shortage;
pub use crate::resource::verify::{VerifyState, VerifyStatus};

/// What binds a client of this node to the volume, while the node is Primary. A client that comes
/// back, and finds both as they were, finds the data as it left it (C5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reign {
    pub tenure: Nonce,
    /// As the config counts them.
    pub losses: u32,
}

#[derive(Debug)]
pub struct Resource {
    options: ResourceOptions,
    random: Random,
    voter: Voter,
    superblock: Option<Superblock>,
    /// By member, from where on the bitmap slot for it has all that it misses. A slot header on
    /// disk may be behind this.
    slot_bases: BTreeMap<NodeId, SlotBase>,
    /// The members for whom the groups keep slots, as they were told last.
    tracking: MemberSet,
    /// Members whose receipt of a write, before it is durable, counts for a client's answer; as the
    /// groups were told last.
    told_by_receipt: MemberSet,
    /// The members that the groups call followers, and those of them for whom no client's answer
    /// waits; as the groups were told last.
    told_followers: (MemberSet, MemberSet),
    following: Following,
    member: MemberState,
    peers: BTreeMap<NodeId, Peer>,
    /// The newest value known to be chosen.
    chosen: Option<Accepted>,
    superseded: Superseded,
    /// Since when this node reaches neither a quorum nor the node that leads; `None` while it
    /// reaches one of them.
    out_of_touch_since: Option<Time>,
    /// The highest ballot counter seen anywhere.
    ballot_counter: u64,
    attempt: Option<Attempt>,
    promotion: Option<Promotion>,
    session: Option<Session>,
    /// When this node begins to lead a resync of its own accord, unless another node leads by then.
    caretake_at: Time,
    saves: Saves,
    /// Messages of this node to itself.
    inbox: VecDeque<Control>,
    /// Questions to the groups that not every shard has answered.
    rounds: Vec<Round>,
    next_round: u32,
    /// Sessions of this node that ended, until every shard has stood down.
    endings: Vec<Ending>,
    /// The command to stop; set until the superblock says that the end was clean.
    stop: Option<CommandId>,
    by_user: ByUser,
    /// Set by a command; cleared when that is answered, or the groups stop.
    leave: Option<Leave>,
    verify: Option<Verifying>,
    resize: Option<Resizing>,
    /// Set while another node, which leads, is asked for another size of a volume.
    size_wish: Option<SizeWish>,
    /// Set while another node, which leads, is asked for a comparison of the replicas.
    verify_wish: Option<VerifyWish>,
    reopening: Option<Reopening>,
    room: DiskRoom,
    left_out: LeftOut,
    forks: Forks,
    fencing: Fencing,
    giving: GivingWay,
    gate: Gate,
    now: Time,
    wake_at: Time,
    actions: Vec<ResourceAction>,
}

#[derive(Debug, Default)]
struct Peer {
    /// Of the current connection; `None` while there is none.
    report: Option<PeerReport>,
    /// The session that it leads, as it said last; cleared when it is disconnected.
    session: Option<Nonce>,
    /// Its vote store, as it said last.
    store: Option<VoteStoreId>,
    /// The newest value that it accepted, as it said last.
    accepted: Option<Accepted>,
    /// The ballot of the newest value that it and this node told each other to be chosen; zero when
    /// the connection is new.
    told_chosen: Ballot,
    /// The session that it leads without reaching a quorum, as its last TOUCH said; cleared by its
    /// next REPORT.
    lacks_quorum: Option<Nonce>,
    /// The members that its configuration names, once it said so; cleared when it is disconnected.
    members: Option<MemberSet>,
    /// When this node asked for the newest lease that the peer granted.
    lease_asked_at: Option<Time>,
    /// The session in which it said that it applies cuts alone, as a follower.
    follows: Option<Nonce>,
    /// Its data belongs to another history, so it is not copied to.
    unrelated: bool,
    /// The local disk grew, or got one more volume, while the peer was not connected: what the peer
    /// was told of it may be older. Cleared when it is connected, and told.
    lacks_sizes: bool,
    /// What it wants to leave with. Set when it asks to be let go; cleared when it is disconnected,
    /// or says that it stays.
    leaver: Option<Leaver>,
    /// This node agreed to keep its data while the peer gives its own up for them. Cleared when the
    /// connection ends.
    relies: bool,
    /// The answer that the peer gets once the chosen value records what clients of the line that is
    /// given up lose (9.5b). Set while it waits for that.
    agreement: Option<Agreement>,
    /// The session of the peer for which this node sent LINE_LOST: a line was given up.
    told_lost: Option<Nonce>,
    /// Set while its line and ours are parted; `report` is `None` then, as if it were not
    /// connected.
    split: Option<Split>,
}

/// A session of this node that is over, until every shard has stood down: one that has not may
/// still answer reads under the lease.
#[derive(Debug)]
struct Ending {
    nonce: Nonce,
    /// Demotions that are answered then.
    commands: Vec<CommandId>,
}

impl Resource {
    #[must_use]
    pub fn new(options: ResourceOptions) -> Self {
        let mut random = Random::new(options.seed);
        let mut register = options.register.clone();
        let mut superblock = options.superblock.clone();
        if let Some(superblock) = superblock.as_mut() {
            stamp::forget_cache_of_failed(&register, superblock);
            stamp::compare_stamp(&mut register, superblock, &mut random);
        }
        let voter = Voter::new(register, options.me, options.started_at);
        let slot_bases = superblock.as_ref().map_or_else(BTreeMap::new, member::slot_bases);
        let peers = options
            .members
            .iter()
            .filter(|member| member.node != options.me)
            .map(|member| (member.node, Peer::default()))
            .collect();
        let mut resource = Self {
            random,
            ballot_counter: options.register.promised.counter,
            saves: Saves::new(voter.accepted(), voter.register.store),
            voter,
            superblock,
            slot_bases,
            tracking: diskful_of(&options.members),
            told_by_receipt: MemberSet::EMPTY,
            told_followers: (MemberSet::EMPTY, MemberSet::EMPTY),
            following: Following::default(),
            member: MemberState::default(),
            peers,
            chosen: None,
            superseded: Superseded::default(),
            out_of_touch_since: Some(options.started_at),
            attempt: None,
            promotion: None,
            session: None,
            caretake_at: Time::NEVER,
            inbox: VecDeque::new(),
            rounds: Vec::new(),
            next_round: 0,
            endings: Vec::new(),
            stop: None,
            by_user: ByUser::No,
            leave: None,
            verify: None,
            resize: None,
            size_wish: None,
            verify_wish: None,
            reopening: None,
            room: DiskRoom::default(),
            left_out: LeftOut::default(),
            forks: Forks::default(),
            fencing: Fencing::default(),
            giving: GivingWay::default(),
            gate: Gate::default(),
            now: options.started_at,
            wake_at: Time::NEVER,
            actions: Vec::new(),
            options,
        };
        resource.wake_at = resource.next_wake();
        resource
    }

    pub fn step(&mut self, now: Time, input: ResourceInput, actions: &mut Vec<ResourceAction>) {
        self.now = now;
        match input {
            ResourceInput::Connected { peer, report } => self.on_connected(peer, *report),
            ResourceInput::Disconnected { peer, parting } => self.on_disconnected(peer, parting),
            ResourceInput::Control { from, message } => self.on_control(from, *message),
            ResourceInput::Lease { peer, nonce, sent_at, granted: true } => {
                if !self.on_lease_granted(peer, nonce, sent_at) {
                    // Each peer grants it several times a second: nothing waits for a lease that
                    // goes on, and `wake_at` may be early.
                    return actions.append(&mut self.actions);
                }
            }
            ResourceInput::Lease { peer, nonce, granted: false, .. } => {
                self.on_lease_refused(peer, nonce);
            }
            ResourceInput::Saved { save } => self.on_saved(save),
            ResourceInput::SaveFailed { save } => self.on_save_failed(save),
            ResourceInput::RegisterFailed { save } => self.on_register_failed(save),
            ResourceInput::Group { shard, fact } => self.on_group(shard, fact),
            ResourceInput::Command { id, command } => self.on_command(id, command),
            ResourceInput::Attach { id, superblock, slots_max } => {
                self.on_attach(id, superblock, slots_max);
            }
            ResourceInput::AddDisk { id, disk } => self.on_add_disk(id, disk),
            ResourceInput::DiskEnlarged { place, size_bytes } => {
                self.on_disk_enlarged(place, size_bytes);
            }
            ResourceInput::Device { place, size } => self.on_device(place, size),
            ResourceInput::Members { id, members } => self.on_members(id, members),
            ResourceInput::Demands(demands) => self.on_demands(demands),
            ResourceInput::Readmission(readmission) => self.on_readmission(readmission),
            ResourceInput::ResyncRate { bytes_per_second } => {
                self.on_resync_rate(bytes_per_second);
            }
            ResourceInput::ResyncAnswer { number, allowed: true } => self.on_resync_allowed(number),
            ResourceInput::ResyncAnswer { number, allowed: false } => {
                self.on_resync_refused(number);
            }
            ResourceInput::FenceAnswer { number, verdict } => {
                self.on_fence_answer(number, verdict);
            }
            ResourceInput::Tick => {}
        }
        self.advance();
        while let Some(message) = self.inbox.pop_front() {
            self.on_control(self.options.me, message);
            self.advance();
        }
        self.note_touch();
        self.start_save();
        actions.append(&mut self.actions);
        self.wake_at = self.next_wake();
    }

    /// When `Tick` is to come at the latest: asked after every turn of the shard, and found once a
    /// step, for nothing else changes it.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        self.wake_at
    }

    fn next_wake(&self) -> Time {
        let attempt = self.attempt.as_ref().map_or(Time::NEVER, Attempt::wake_at);
        let promotion = self.promotion_wakes_at();
        let session = self.session.as_ref().map_or(Time::NEVER, Session::wake_at);
        let asked = self.leave_wakes_at().min(self.suspension_wakes_at()).min(self.alone_at());
        let asked = asked.min(self.fencing_wakes_at()).min(self.give_way_wakes_at());
        let asked = asked.min(self.reopening_until()).min(self.agreement_due());
        let asked = asked.min(self.left_out.wakes_at(self.now));
        let size = self.size_wish_until().min(self.resize_wakes_at());
        let asked = asked.min(self.verify_wish_until());
        attempt.min(promotion).min(session).min(self.caretake_at).min(asked).min(size)
    }

    /// Whose clients wrote last, as far as this node knows.
    #[must_use]
    pub fn tenure(&self) -> Option<Tenure> {
        self.config()?.tenure
    }

    /// What clients of this node hold on to, while it is Primary.
    #[must_use]
    pub fn reign(&self) -> Option<Reign> {
        let config = self.config().filter(|_| self.serves_clients())?;
        let tenure = config.tenure.filter(|tenure| tenure.node == self.me())?;
        Some(Reign { tenure: tenure.id, losses: config.losses })
    }

    /// What OPEN says of the local replica.
    #[must_use]
    pub fn report(&self) -> Option<ReplicaReport> {
        let superblock = self.superblock.as_ref().filter(|_| !self.member.disk_failed)?;
        Some(ReplicaReport { log_slots: self.options.log_slots, ..report_of(superblock) })
    }

    /// The session for which this node wants leases. None where it reaches too few voters: it would
    /// get no lease, and the voters that it does reach would keep everybody else away.
    #[must_use]
    pub fn lease_wanted(&self) -> Option<Nonce> {
        let session = self.session.as_ref().filter(|it| it.purpose == Purpose::Clients)?;
        self.reaches_majority().then_some(session.nonce)
    }

    /// As a voter: a peer asks for the lease of its session. It is granted only if the register on
    /// disk names that session: by it a restarted voter knows for whom it refuses others.
    pub fn grant(&mut self, now: Time, from: NodeId, nonce: Nonce, length: Duration) -> bool {
        self.saves.names_session(&self.voter, nonce) && self.voter.grant(now, from, nonce, length)
    }

    fn on_group(&mut self, shard: u8, fact: FromGroup) {
        match fact {
            FromGroup::Answer { round } => {
                if let Some(kind) = self.all_answered(shard, round) {
                    self.on_round(kind);
                }
            }
            FromGroup::Quiesced { round, lanes, inherited, own_slot, is_torn, is_open } => {
                if self.is_open(round, RoundKind::Quiesced) {
                    // Its disk is in no state that ever was, as after a restart.
                    self.member.admitted &= !(is_torn || is_open && self.is_called_follower());
                    self.on_quiesced(lanes, inherited, own_slot);
                    if self.all_answered(shard, round).is_some() {
                        self.on_all_quiesced();
                    }
                }
            }
            FromGroup::Floors { round, floors } => {
                if self.is_open(round, RoundKind::Floors) {
                    self.on_floors(&floors);
                    if self.all_answered(shard, round).is_some() {
                        self.on_all_floors();
                    }
                }
            }
            FromGroup::SettleReceipts { number } => self.on_flush_asks(shard, number),
            FromGroup::DeviceFlushed { number } => self.on_device_flushed(shard, number),
            FromGroup::WantCut => self.on_cut_wanted(),
            FromGroup::CutArrived { nonce, number, lanes } => {
                self.on_cut_arrived(nonce, number, lanes);
            }
            FromGroup::Marks { round, blocks } => self.on_marks(shard, round, blocks),
            FromGroup::RebaseSlot(slot) => self.rebase_slot(slot),
            FromGroup::SyncProgress { member, remaining, copied_blocks } => {
                self.on_progress(shard, member, (*remaining, copied_blocks));
            }
            FromGroup::VerifyProgress { position, verified_blocks, skipped_blocks, differing } => {
                let progress = Progress { position, verified_blocks, skipped_blocks, differing };
                self.on_verify_progress(shard, progress);
            }
            FromGroup::MemberFailed { member } => self.on_member_failed(member),
            // Only time may help, as with a member that is too slow.
            FromGroup::MemberSlow { stay } | FromGroup::CopyFailed { stay } => {
                self.on_member_slow(stay);
            }
            FromGroup::Lag { stay, lag } => self.on_lag(shard, stay, lag),
            FromGroup::LossLate { stay } => self.on_loss_late(stay),
            FromGroup::Misbehaved { member, how } => {
                self.actions.push(ResourceAction::Misbehaved { peer: member, how });
                self.reset(member);
            }
        }
    }

    fn on_command(&mut self, id: CommandId, command: Command) {
        match command {
            Command::Promote(mode) => self.on_promote(id, mode),
            Command::Demote => self.on_demote(id),
            Command::Stop => self.on_stop(id),
            Command::Invalidate => self.on_give_up(id, GiveUp::Invalidate),
            Command::Detach => self.on_give_up(id, GiveUp::Detach),
            Command::Verify(task) => self.on_verify(id, task),
            Command::Suspend => self.on_suspend(id),
            Command::Resume => self.on_resume(id),
            Command::Resize(task) => self.on_resize(id, task),
            Command::Reopen => self.on_reopen(id),
            Command::DiscardData { peer } => self.on_discard_asked(id, peer),
        }
    }

    /// Goes on with everything that no message is awaited for: deadlines, losses, joins.
    fn advance(&mut self) {
        self.advance_attempt();
        self.advance_promotion();
        self.advance_members();
        self.advance_suspension();
        let was_resizing = self.is_resizing();
        self.advance_session();
        self.review_following();
        self.advance_resize();
        self.advance_verify_wish();
        if was_resizing && !self.is_resizing() {
            // Members that waited for its end are admitted now: no other input may follow.
            self.advance_session();
        }
        self.tell_of_quorum();
        self.advance_alone();
        self.recheck_parted();
        self.advance_give_way();
        self.advance_caretaker();
        self.advance_reopening();
        self.advance_telling();
        self.advance_leave();
    }

    fn on_connected(&mut self, node: NodeId, report: PeerReport) {
        let own = self.own_report();
        let Some(peer) = self.peers.get_mut(&node) else { return };
        peer.report = Some(report);
        peer.told_chosen = Ballot::default();
        peer.lease_asked_at = None;
        peer.follows = None;
        peer.unrelated = false;
        peer.split = None;
        (peer.relies, peer.agreement, peer.told_lost) = (false, None, None);
        let lacks_sizes = std::mem::take(&mut peer.lacks_sizes);
        self.forget_fenced(node);
        self.leave_nobody_out();
        self.ask_for_room_again(node);
        self.repeat_following();
        self.send(node, own);
        if lacks_sizes {
            self.tell_sizes(node);
        }
        self.repeat_leave(node);
        self.repeat_gone(node);
        if self.session.is_some()
            && let Some(chosen) = self.chosen.clone()
        {
            self.tell_chosen(node, &chosen);
        }
        self.repeat_attempt(node);
        if let Some(session) = self.session.as_ref().filter(|it| it.write_set.has(node)) {
            self.tell_log_room(session.write_set);
        }
        self.on_member_connected(node, report);
    }

    fn on_disconnected(&mut self, node: NodeId, parting: Parting) {
        let Some(peer) = self.peers.get_mut(&node) else { return };
        peer.report = None;
        peer.split = None;
        (peer.relies, peer.agreement, peer.told_lost) = (false, None, None);
        peer.members = None;
        peer.session = None;
        peer.lease_asked_at = None;
        peer.leaver = None;
        self.forget_wish_of_absent();
        self.drop_admission_of(node);
        self.on_member_disconnected(node, parting);
    }

    // ---- Helpers of all parts.

    fn me(&self) -> NodeId {
        self.options.me
    }

    fn leads(&self, nonce: Nonce) -> bool {
        self.session.as_ref().is_some_and(|session| session.nonce == nonce)
    }

    #[must_use]
    pub fn is_connected(&self, node: NodeId) -> bool {
        node == self.me() || self.peers.get(&node).is_some_and(|peer| peer.report.is_some())
    }

    fn connected(&self) -> MemberSet {
        let peers = self.peers.iter().filter(|(_, peer)| peer.report.is_some());
        peers.map(|(&node, _)| node).collect::<MemberSet>().with(self.me())
    }

    /// What is known of a member's replica: of this node's own from the superblock.
    fn replica_of(&self, node: NodeId) -> Option<ReplicaReport> {
        if node == self.me() {
            return self.report();
        }
        self.peers.get(&node)?.report?.replica
    }

    /// The replica of a member is in reach, and has data of some history.
    fn has_data(&self, node: NodeId) -> bool {
        self.replica_of(node).is_some_and(|replica| replica.branch != Branch(0))
    }

    /// The members that this node's configuration names.
    fn named(&self) -> MemberSet {
        self.options.members.iter().map(|member| member.node).collect()
    }

    fn diskful(&self) -> MemberSet {
        diskful_of(&self.options.members)
    }

    fn diskless(&self) -> MemberSet {
        let members = self.options.members.iter();
        members.filter(|member| !member.diskful).map(|member| member.node).collect()
    }

    /// The value before any was chosen: the same at every node, from its configuration.
    fn birth_config(&self) -> Config {
        Config {
            resource: self.options.resource,
            branch: Branch(0),
            ancestors: Vec::new(),
            epoch: Epoch(0),
            value_id: ValueId(0),
            previous: ValueId(0),
            primary: None,
            tenure: None,
            volumes: vec![VolumeConfig {
                number: 0,
                size_bytes: 0,
                lanes: limits::LANES_DEFAULT,
                insync: Vec::new(),
            }],
            voters: self.voters_at_start(),
            voters_old: Vec::new(),
            members: self.diskful(),
            by_receipt: MemberSet::EMPTY,
            followers: MemberSet::EMPTY,
            clean: true,
            losses: 0,
            awaits_reopen: false,
        }
    }

    fn config(&self) -> Option<&Config> {
        self.chosen.as_ref().map(|chosen| &chosen.value)
    }

    fn next_ballot(&mut self) -> Ballot {
        // A vote whose store is lost binds as others do: voters of its line accept no lower ballot.
        let known = self.lines().map(|line| line.ballot.counter).max().unwrap_or(0);
        // A peer may have named the highest counter there is. Then proposals are refused, and no
        // overflow ends this node.
        self.ballot_counter = self.ballot_counter.max(known).saturating_add(1);
        Ballot { counter: self.ballot_counter, random: self.random.next_u64() }
    }

    fn random_delay(&mut self) -> Duration {
        let spread = limits::RETRY_MAX - limits::RETRY_MIN;
        let nanos = u64::try_from(spread.as_nanos()).expect("a short time");
        limits::RETRY_MIN + Duration::from_nanos(self.random.below(nanos))
    }

    fn send(&mut self, to: NodeId, message: Control) {
        if to == self.me() {
            self.inbox.push_back(message);
        } else if self.is_connected(to) {
            self.actions.push(ResourceAction::Send { to, message });
        }
    }

    fn tell_groups(&mut self, message: ToGroup) {
        self.actions.push(ResourceAction::Group(message));
    }

    fn reset(&mut self, peer: NodeId) {
        if peer != self.me() {
            self.actions.push(ResourceAction::Reset { peer });
        }
    }

    fn answer(&mut self, id: CommandId, result: Result<(), CommandError>) {
        let result = result.map(|()| CommandDone::AsAsked);
        self.actions.push(ResourceAction::Answer { id, result });
    }

    fn refuse(&mut self, id: CommandId, code: CommandErrorCode, message: impl Into<String>) {
        self.answer(id, Err(CommandError { code, message: message.into() }));
    }

    /// The chosen config moved on: tell everyone who listens.
    fn on_chosen(&mut self, chosen: Accepted) {
        if !self.is_newer_than_chosen(&chosen) {
            return;
        }
        self.tell_size(&chosen.value);
        self.note_superseded(&chosen.value);
        self.chosen = Some(chosen.clone());
        if chosen.value.primary.is_some_and(|primary| self.obeys(primary.nonce)) {
            self.follow_receipts(&chosen.value);
            self.count_followers();
        }
        if self.tracking != self.tracked() {
            self.tell_tracked();
        }
        self.actions.push(ResourceAction::ConfigChanged(Box::new(chosen.value)));
        self.on_config_for_member();
        self.tell_parted();
    }

    fn set_role(&mut self, role: ReplicaRole) {
        self.tell_groups(ToGroup::Replica(role));
    }

    fn replica_state(&self) -> Option<ReplicaState> {
        self.superblock.as_ref().map(|superblock| superblock.state)
    }
}

fn diskful_of(members: &[MemberOptions]) -> MemberSet {
    members.iter().filter(|member| member.diskful).map(|member| member.node).collect()
}
