//! What an operator wants to know, as facts: the node turns them into words.

use format::config::{Ancestor, Config, Purpose, Voter};
use format::ids::{Branch, Epoch, NodeId};
use format::metadata::ReplicaState;
use format::space::{Place, Space};
use stdx::time::Time;

use crate::contract::OnNoQuorum;
use crate::lineage::standing::{insync, is_of_history};
use crate::quorum::{Tally, is_vote_of};
use crate::resource::member::CopyStatus;
use crate::resource::resize::{ResizeStatus, Resizing};
use crate::resource::suspend::Shortage;
use crate::resource::verify::{VerifyStatus, Verifying};
use crate::resource::{LostAgain, Resource};

/// One node's view of the resource.
#[derive(Clone, Debug)]
pub struct Status {
    pub primary_here: bool,
    /// A promotion is under way.
    pub promoting: bool,
    /// The Primary of the newest value that is known to be chosen.
    pub primary: Option<NodeId>,
    /// Who leads the newest session: the Primary, or a Secondary that feeds a resync.
    pub leader: Option<NodeId>,
    pub config: Option<Config>,
    pub branch: Branch,
    pub epoch: Epoch,
    /// A majority of the voters, and what the options ask for on top.
    pub has_quorum: bool,
    pub has_majority: bool,
    /// Since when neither a quorum nor who leads is in reach: what is said of other nodes is of
    /// then. None while one of them is.
    pub out_of_touch_since: Option<Time>,
    /// What the options ask for and is not there.
    pub shortage: Option<Shortage>,
    /// Votes in reach, and how many have to be.
    pub votes: Tally,
    /// An operator holds requests back.
    pub suspended_by_user: bool,
    /// No in-sync replica is in reach of this Primary, and requests wait for one.
    pub waits_for_data: bool,
    /// The voters of that value, or of the birth.
    pub voters: Vec<VoterStatus>,
    /// State of the local replica as its superblock says; `None` without a disk.
    pub replica: Option<ReplicaState>,
    /// The replica could be brought up to date, and waits for the answer of its node.
    pub asks_to_resync: bool,
    /// How far the copy to the local replica is, as its source said last. None while nothing is
    /// copied to it, and of a source that does not say it.
    pub copying_here: Option<CopyStatus>,
    pub disk_failed: bool,
    /// Requests wait for that disk, and no other is up to date: only a start can tell what it has.
    pub disk_wants_restart: bool,
    pub lease_until: Option<Time>,
    pub members: Vec<MemberStatus>,
    /// The last comparison of the replicas that this node led.
    pub verify: Option<VerifyStatus>,
    /// The last change of the size that this node led.
    pub resize: Option<ResizeStatus>,
}

/// One voter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoterStatus {
    pub node: NodeId,
    /// Connected, with the vote store that the value names.
    pub is_reachable: bool,
    /// The lease of the Primary here rests on no newer answer of it than one that is over.
    pub is_late: bool,
    /// It votes only until a change of the voters is complete.
    pub is_retiring: bool,
    /// It is one of those whom that change adds.
    pub is_joining: bool,
    /// It has no data.
    pub is_witness: bool,
}

/// One member, this node included.
#[derive(Clone, Copy, Debug)]
pub struct MemberStatus {
    pub node: NodeId,
    pub diskful: bool,
    pub connected: bool,
    /// In sync by the newest chosen config that is known here.
    pub in_sync: bool,
    /// That config means another replica than the one that it has now: it was made anew since, and
    /// the config does not say so yet. Of a member that is not in reach this is not known.
    pub is_made_anew: bool,
    pub in_write_set: bool,
    /// It counts for a client's answer once it received a write.
    pub by_receipt: bool,
    /// It is a follower (protocol A): no answer waits for it.
    pub follows: bool,
    /// It is a follower, and clients write without it.
    pub is_behind: bool,
    /// This node leads, and asks it back later.
    pub lost_again: Option<LostAgain>,
    /// It is being brought up to date.
    pub syncing: bool,
    /// Blocks of each volume.
    pub out_of_sync: Space,
    pub copied_blocks: u64,
    pub has_replica: bool,
    /// Its replica is of some line: it was in sync once, or was copied to.
    pub has_data: bool,
    /// Its replica is of no line that leads to the value which a majority has: it is copied to by
    /// nobody until an operator gives it up.
    pub has_other_history: bool,
    /// The first volume of the value that its replica does not have, or not as large.
    pub lacks: Option<Place>,
    /// What its disk holds of that volume; 0 where it has none.
    pub holds_bytes: u64,
    /// Its line and that of this node parted, after that value of both, if it is known.
    pub split: Option<Option<Ancestor>>,
}

impl Resource {
    /// Without a majority the value that is known here may be the older one.
    fn has_other_history(&self, node: NodeId) -> bool {
        let (Some(config), Some(replica)) = (self.config(), self.replica_of(node)) else {
            return false;
        };
        config.branch != Branch(0) && self.has_majority() && !is_of_history(config, &replica)
    }

    /// What is under way, for a person who looks for what hangs.
    #[must_use]
    pub fn explain(&self) -> String {
        let Self { promotion, attempt, session, rounds, .. } = self;
        format!("node {}: {promotion:?} {attempt:?} {session:?} {rounds:?}", self.me())
    }

    /// For checkers: this process was admitted to a session, and so its replica lost nothing.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.member.admitted && !self.member.disk_failed
    }

    /// For checkers: it said where it stands, and began nothing since; and it lost nothing.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.is_intact() && self.member.may_begin
    }

    /// For checkers: the newest value that this node knows to be chosen.
    #[must_use]
    pub fn chosen(&self) -> Option<&Config> {
        self.config()
    }

    /// For checkers: since when what is known here of other nodes is old.
    #[must_use]
    pub fn out_of_touch_since(&self) -> Option<Time> {
        self.out_of_touch_since
    }

    /// It wants to be Primary.
    #[must_use]
    pub fn is_candidate(&self) -> bool {
        self.promotion.as_ref().is_some_and(|it| it.purpose == Purpose::Clients)
    }

    /// For checkers: the session that this voter promised itself to.
    #[must_use]
    pub fn promised(&self) -> format::ids::Nonce {
        self.voter.register.promised_nonce
    }

    /// The last comparison that this node led, without all else that `status` gathers.
    #[must_use]
    pub fn verify_status(&self) -> Option<VerifyStatus> {
        self.verify.as_ref().map(Verifying::status)
    }

    /// For checkers: what the slot of `member` is good for.
    #[must_use]
    pub fn slot_base(&self, member: NodeId) -> Option<format::message::SlotBase> {
        self.slot_bases.get(&member).copied()
    }

    /// No promotion, demotion, loss, admission or change of the config is under way.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let session = self.session.as_ref().is_none_or(|session| {
            let is_changing = session.change.is_some() || session.drain.is_some();
            session.losses.is_empty() && session.admissions.is_empty() && !is_changing
        });
        session && self.promotion.is_none() && self.attempt.is_none()
    }

    /// What this node's own disk holds now is what a read of the volume would return: it leads,
    /// with a lease, and no member differs from another.
    #[must_use]
    pub fn speaks_for_all(&self, now: Time) -> bool {
        let me = self.me();
        self.session.as_ref().is_some_and(|session| {
            now < session.lease_until
                && session.reconciled
                && session.write_set.has(me)
                && !session.losses.contains_key(&me)
        }) && self.in_sync().has(me)
            && !self.member.disk_failed
    }

    fn copying_here(&self) -> Option<CopyStatus> {
        let is_copied_to = self.replica_state() == Some(ReplicaState::Syncing);
        self.member.copying.filter(|_| is_copied_to)
    }

    fn describe_voters(&self, value: &Config) -> Vec<VoterStatus> {
        let Config { voters: new, voters_old: old, .. } = value;
        let retiring = old.iter().filter(|voter| !new.contains(voter));
        let in_reach = self.votes_in_reach();
        let late = self.late_for_lease();
        let status = |voters: &[Voter], voter: &Voter, is_retiring| VoterStatus {
            node: voter.node,
            is_reachable: in_reach.clone().any(|vote| is_vote_of(voters, voter, vote)),
            is_late: late.has(voter.node),
            is_retiring,
            is_joining: !is_retiring && !old.is_empty() && !old.contains(voter),
            is_witness: !self.replicas_by(value).has(voter.node),
        };
        let staying = new.iter().map(|voter| status(new, voter, false));
        staying.chain(retiring.map(|voter| status(old, voter, true))).collect()
    }

    /// Which node is Primary, by the newest config that is known here.
    #[must_use]
    pub fn primary(&self) -> Option<NodeId> {
        let leader = self.config()?.primary.filter(|leader| leader.purpose == Purpose::Clients)?;
        Some(leader.node)
    }

    #[must_use]
    pub fn status(&self) -> Status {
        let config = self.config().cloned();
        let (newest, shortage) = (self.newest_value(), self.shortage());
        let value = config.as_ref().unwrap_or(&newest);
        let waits = self.options.demands.on_no_data == OnNoQuorum::SuspendIo;
        let in_sync = config.as_ref().map(insync);
        let leader = config.as_ref().and_then(|config| config.primary);
        let members = self.options.members.iter().map(|member| {
            let node = member.node;
            let admission = self.session.as_ref().and_then(|session| session.admissions.get(&node));
            let (left, copied) =
                admission.map_or((Space::EMPTY, 0), |admission| admission.progress());
            MemberStatus {
                node,
                diskful: member.diskful,
                connected: self.is_connected(node),
                in_sync: in_sync.is_some_and(|set| set.has(node)),
                is_made_anew: config.as_ref().is_some_and(|config| {
                    insync(config).has(node) && !self.holds_replica_of(config, node)
                }),
                by_receipt: self.counts_by_receipt(node),
                follows: self.counts_as_follower(node),
                is_behind: self.is_behind(node),
                in_write_set: self.session.as_ref().is_some_and(|it| it.write_set.has(node)),
                lost_again: self.lost_again(node),
                syncing: admission.is_some_and(|admission| admission.is_copying()),
                out_of_sync: left,
                copied_blocks: copied,
                has_replica: self.replica_of(node).is_some(),
                has_data: self.has_data(node),
                has_other_history: self.has_other_history(node),
                lacks: self.lacks(node),
                holds_bytes: self.held_of_lacking(node),
                split: self.peers.get(&node).and_then(|it| Some(it.split.as_ref()?.fork)),
            }
        });
        Status {
            primary_here: self.serves_clients(),
            promoting: self.is_candidate(),
            primary: self.primary(),
            leader: leader.map(|it| it.node),
            branch: config.as_ref().map_or(Branch(0), |config| config.branch),
            epoch: config.as_ref().map_or(Epoch(0), |config| config.epoch),
            has_quorum: self.has_majority() && shortage.is_none(),
            has_majority: self.has_majority(),
            out_of_touch_since: self.out_of_touch_since,
            shortage,
            votes: self.votes(value),
            suspended_by_user: self.is_suspended_by_user(),
            waits_for_data: self.has_no_data() && waits,
            voters: self.describe_voters(value),
            replica: self.replica_state(),
            asks_to_resync: self.asks_to_resync(),
            copying_here: self.copying_here(),
            disk_failed: self.member.disk_failed,
            disk_wants_restart: self.member.disk_failed && self.is_last_needed(),
            lease_until: self
                .session
                .as_ref()
                .filter(|session| session.purpose == Purpose::Clients)
                .map(|session| session.lease_until),
            members: members.collect(),
            verify: self.verify.as_ref().map(Verifying::status),
            resize: self.resize.as_ref().map(Resizing::status),
            config,
        }
    }
}
