//! Which of two lines that parted gives way, and how: PROTOCOL.md 9.5 and 9.6.
//!
//! Nothing is given up unless the other side agreed to stay as it is, for as long as they are
//! connected: so two that were both told to, or that both think that they should, never both go.
//! An operator's word is enough to ask; where the options say who has to (`after-sb-*`), both sides
//! tell each other what their lines are worth, and judge by the same rule on the same facts.
//! Whoever gives way makes the marks of all its slots its own, takes the other's line, and is
//! copied to like any member that returns.

use format::config::{Ancestor, Config, InSync, Purpose};
use format::ids::{Branch, MemberSet, NodeId, Nonce, VoteStoreId};
use format::message::{Accepted, Control, ReplicaReport, Standing};
use format::metadata::ReplicaState;
use stdx::time::Time;

use crate::contract::{
    AfterSplitBrain, CommandErrorCode, CommandId, GiveWayReason, PeerReport, ReplicaRole,
    ResourceAction, RoundId, ToGroup,
};
use crate::limits;
use crate::lineage::relation::{is_overtaken, went_along};
use crate::lineage::stamp::make_blank;
use crate::lineage::standing::{insync, is_candidate_of_line, is_of_history, shared_until};
use crate::lineage::verdict::{Side, Verdict, Which, judge};
use crate::resource::{AfterSave, Peer, Resource, RoundKind};

/// What this node gives up.
#[derive(Debug, Default)]
pub(crate) struct GivingWay {
    /// Set by an operator who gives up the local data, for what this peer has or any. Cleared when
    /// the two meet and are of one line, or when clients write here.
    wish: Option<Wish>,
    discard: Option<Discard>,
    /// The id of the last standing that this node sent.
    last_id: u64,
    /// The losses that the value of another line counts, while that line is given up for what this
    /// node has and no chosen value records it yet.
    pub(crate) untold: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    peer: Option<NodeId>,
}

/// The local data is being given up for what the line of `winner` has.
#[derive(Clone, Debug)]
struct Discard {
    winner: Accepted,
    /// The last value that both lines have.
    fork: Option<Ancestor>,
}

/// A peer whose line and ours both went on after they parted.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub(crate) report: PeerReport,
    pub(crate) theirs: Accepted,
    pub(crate) fork: Option<Ancestor>,
    pub(crate) talk: Talk,
}

/// What a peer of another line and this node said to each other, since they are connected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Talk {
    /// The standing of this node that the peer was told.
    own: Option<Standing>,
    /// A newer one, which the peer is told once the changed blocks are counted.
    counting: Option<Standing>,
    /// The standing of the peer, as it told last.
    pub(crate) other: Option<Standing>,
    /// GIVE_WAY was sent, and not answered: by this standing of ours, or (0) by the operator's
    /// word.
    asked: Option<u64>,
    /// The peer did not agree to the operator's word.
    refused: bool,
    /// When the peer is asked again that did not agree by the options.
    ask_at: Time,
    /// The node was told what the two standings come to.
    told: bool,
}

/// A word that names a peer, or none and so any, means `node`.
fn is_meant(node: NodeId, by: Option<NodeId>) -> bool {
    by.is_none_or(|named| named == node)
}

/// The replica left the line of `head`, and is of the line of the peer.
fn is_left_for(replica: &ReplicaReport, head: &Config, split: &Split) -> bool {
    replica.branch != head.branch && replica.branch == split.theirs.value.branch
}

/// In place of a standing where an operator's word counts, and not the options.
pub(crate) const BY_WORD: u64 = 0;

impl Resource {
    /// The data of this node is being given up.
    #[must_use]
    pub fn is_discarding(&self) -> bool {
        self.giving.discard.is_some()
    }

    fn splits(&self) -> impl Iterator<Item = (NodeId, &Split)> {
        self.peers.iter().filter_map(|(&node, peer)| Some((node, peer.split.as_ref()?)))
    }

    fn talk(&mut self, peer: NodeId) -> Option<&mut Talk> {
        Some(&mut self.peers.get_mut(&peer)?.split.as_mut()?.talk)
    }

    /// This node agreed to keep its data, and a peer relies on that.
    fn stays(&self) -> bool {
        self.peers.values().any(|peer| peer.relies)
    }

    fn has_asked(&self) -> bool {
        self.splits().any(|(_, split)| split.talk.asked.is_some())
    }

    pub(crate) fn send_parted(&mut self, to: NodeId, message: Control) {
        self.actions.push(ResourceAction::Send { to, message });
    }

    // ---- By an operator's word.

    /// The operator gives up what this node wrote since it parted from `peer`, or from any.
    pub(crate) fn on_discard_asked(&mut self, id: CommandId, peer: Option<NodeId>) {
        // Those who could say what became of its value left the line, perhaps, that is given up.
        self.give_up_overdue_promotion();
        let refusal = if self.serves_clients() || self.is_candidate() {
            Some("this node is Primary: make it Secondary before its data is given up")
        } else if self.stays() {
            Some("another node is giving its data up for that of this one")
        } else if self.serves_others() && !self.splits().any(|(it, _)| is_meant(it, peer)) {
            Some("clients write to this replica, and who is meant is not here to take over")
        } else if self.is_of_one_line_with(peer) {
            Some("nothing parted: who is meant is connected, and has the same data")
        } else {
            None
        };
        if let Some(message) = refusal {
            return self.refuse(id, CommandErrorCode::Busy, message);
        }
        self.giving.wish = Some(Wish { peer });
        for split in self.peers.values_mut().filter_map(|peer| peer.split.as_mut()) {
            split.talk.refused = false;
        }
        self.answer(id, Ok(()));
        self.start_discard();
    }

    /// No peer that is meant is parted from this node. A wish would wait for some later split
    /// brain, whose data the operator has not seen.
    fn is_of_one_line_with(&self, meant: Option<NodeId>) -> bool {
        let mut peers = self.peers.iter().filter(|(node, _)| is_meant(**node, meant));
        // Before its REPORT nobody knows.
        let has_told = |peer: &Peer| peer.report.is_some() && peer.members.is_some();
        peers.all(|(_, peer)| has_told(peer) && peer.split.is_none() && !peer.unrelated)
    }

    /// This replica takes part in a session of clients.
    fn serves_others(&self) -> bool {
        let primary = self.head().and_then(|head| head.value.primary);
        primary.is_some_and(|it| it.purpose == Purpose::Clients && self.obeys(it.nonce))
    }

    /// The local replica becomes a part of this value. If clients write by it, the wish ends.
    pub(crate) fn review_wish(&mut self, value: &Config) {
        if value.primary.is_some_and(|primary| primary.purpose == Purpose::Clients) {
            self.forget_any_wish();
        }
    }

    /// Clients write to the replica from now on, and the operator did not speak of that data.
    pub(crate) fn forget_any_wish(&mut self) {
        self.giving.wish = None;
    }

    /// The peer that was to take over is gone. Until it is back, clients may write to this replica
    /// for long, and the operator did not speak of that.
    pub(crate) fn forget_wish_of_absent(&mut self) {
        let is_here = |wish: Wish| self.splits().any(|(node, _)| is_meant(node, wish.peer));
        if self.giving.wish.is_some_and(|wish| !is_here(wish)) && self.serves_others() {
            self.forget_any_wish();
        }
    }

    /// The peer is connected, and its line is ours: the wish was for this meeting only.
    pub(crate) fn forget_wish(&mut self, met: NodeId) {
        self.giving.wish.take_if(|wish| wish.peer.is_none_or(|peer| peer == met));
    }

    pub(crate) fn forget_discard(&mut self) {
        self.giving.discard = None;
        self.drop_round(RoundKind::SlotsMerged);
    }

    /// Asks a peer that the operator meant to keep its data, so that this node may give up its own.
    pub(crate) fn start_discard(&mut self) {
        let Some(wish) = self.giving.wish else { return };
        let is_busy = self.is_discarding() || self.has_asked() || self.stays();
        if is_busy || self.stop.is_some() || self.serves_clients() {
            return;
        }
        let is_open =
            |(node, split): &(NodeId, &Split)| is_meant(*node, wish.peer) && !split.talk.refused;
        // Who leads can say at once what that means for clients.
        let leads = |(node, split): &(NodeId, &Split)| {
            split.theirs.value.primary.is_some_and(|primary| primary.node == *node)
        };
        let open = self.splits().filter(is_open).max_by_key(leads).map(|(node, _)| node);
        let Some(peer) = open else { return };
        self.ask(peer, BY_WORD, BY_WORD);
    }

    fn ask(&mut self, peer: NodeId, standing: u64, against: u64) {
        let Some(talk) = self.talk(peer) else { return };
        talk.asked = Some(standing);
        self.send_parted(peer, Control::GiveWay { standing, against });
    }

    // ---- By the options.

    pub(crate) fn advance_give_way(&mut self) {
        let parted: Vec<NodeId> = self.splits().map(|(node, _)| node).collect();
        for peer in parted {
            self.review_standing(peer);
            self.follow_out(peer);
            self.decide(peer);
        }
    }

    pub(crate) fn give_way_wakes_at(&self) -> Time {
        let end = self.end_of_candidacy().filter(|_| self.splits().next().is_some());
        let later = self.splits().map(|(_, split)| split.talk.ask_at).chain(end);
        later.filter(|&at| at > self.now).min().unwrap_or(Time::NEVER)
    }

    /// Tells the peer the standing of this node, if it is another than the peer was told.
    fn review_standing(&mut self, peer: NodeId) {
        let wanted = self.standing_against(peer);
        let is_counting = self.is_asked(RoundKind::Counted(peer));
        let Some(talk) = self.talk(peer) else { return };
        let known = talk.counting.filter(|_| is_counting).or(talk.own);
        let facts = |it: Standing| Standing { id: 0, changed_blocks: 0, ..it };
        if wanted == known.map(facts) {
            return;
        }
        (talk.own, talk.counting, talk.told, talk.ask_at) = (None, None, false, Time(0));
        talk.asked.take_if(|asked| *asked != BY_WORD);
        let Some(wanted) = wanted else { return };
        self.giving.last_id += 1;
        let standing = Standing { id: self.giving.last_id, ..wanted };
        if !self.does_slot_cover(peer) {
            return self.say_standing(peer, Standing { changed_blocks: u64::MAX, ..standing });
        }
        if let Some(talk) = self.talk(peer) {
            talk.counting = Some(standing);
        }
        let count = |round| ToGroup::CountMarks { member: peer, round };
        self.ask_groups(RoundKind::Counted(peer), count);
    }

    /// The standing of this node against a peer, if it can speak for its line: it has the data of
    /// the line, and no other node leads.
    fn standing_against(&self, peer: NodeId) -> Option<Standing> {
        let policy = self.options.demands.after_split;
        let is_changing = self.stop.is_some() || self.is_discarding() || self.is_candidate();
        if policy.is_nobody() || is_changing {
            return None;
        }
        let split = self.peers.get(&peer)?.split.as_ref()?;
        let head = self.head()?.value;
        if self.is_led(&head) || !self.has_data_of(&head) {
            return None;
        }
        Some(Standing {
            id: 0,
            head: head.value_id,
            against: split.theirs.value.value_id,
            is_primary: self.serves_clients(),
            changed_blocks: 0,
            policy: policy.seen_by(self.me(), peer).code(),
        })
    }

    /// The local replica is in sync by this value, and of its line.
    pub(crate) fn has_data_of(&self, head: &Config) -> bool {
        let replica = self.report().filter(|replica| replica.branch == head.branch);
        let is_in_sync = self.replica_state() == Some(ReplicaState::InSync);
        replica.is_some() && is_in_sync && self.own_part(head).is_some()
    }

    /// The slot of the peer marks all that was written since the fork.
    fn does_slot_cover(&self, peer: NodeId) -> bool {
        let split = self.peers.get(&peer).and_then(|peer| peer.split.as_ref());
        let known = split.and_then(|split| {
            let volume = split.theirs.value.volumes.first()?;
            Some((split.fork?, *volume.insync_member(peer)?))
        });
        let Some((fork, theirs)) = known else { return false };
        let ours = self.config().map_or(MemberSet::EMPTY, insync);
        self.is_slot_of(ours, &theirs, fork)
    }

    fn is_slot_of(&self, ours: MemberSet, theirs: &InSync, fork: Ancestor) -> bool {
        let base = self.slot_bases.get(&theirs.node);
        !ours.has(theirs.node)
            && base.is_some_and(|base| {
                base.incarnation == theirs.incarnation && base.epoch <= fork.epoch
            })
    }

    pub(crate) fn on_marks(&mut self, shard: u8, round: RoundId, blocks: u64) {
        let Some(RoundKind::Counted(peer)) = self.kind_of(round) else { return };
        let is_all = self.all_answered(shard, round).is_some();
        let Some(talk) = self.talk(peer) else { return };
        let Some(standing) = talk.counting.as_mut() else { return };
        standing.changed_blocks = standing.changed_blocks.saturating_add(blocks);
        if is_all {
            // Its clients write at any time.
            let least = u64::from(standing.is_primary);
            let changed_blocks = standing.changed_blocks.max(least);
            let standing = Standing { changed_blocks, ..*standing };
            self.say_standing(peer, standing);
        }
    }

    fn say_standing(&mut self, peer: NodeId, standing: Standing) {
        let Some(talk) = self.talk(peer) else { return };
        talk.counting = None;
        talk.own = Some(standing);
        self.send_parted(peer, Control::Standing(standing));
    }

    /// A member without data of its line has nothing to say. It leaves the line for one that its
    /// replica is of already (it lost its power while it gave way), or with the last of those whose
    /// data it was. Without options only a replica that holds another line's data does: it was
    /// given up by an operator's word, and the register did not hear of it, for its voter was mute.
    fn follow_out(&mut self, peer: NodeId) {
        // Nor may one go that is Primary, whose replica is another node's, or may become it.
        let is_primary = self.serves_clients() || self.awaits_promotion();
        // The operator said whose line it is to go on with.
        let is_elsewhere = self.giving.wish.is_some_and(|wish| !is_meant(peer, wish.peer));
        let is_busy = self.has_asked() || self.is_discarding() || self.stop.is_some();
        if is_busy || is_primary || is_elsewhere {
            return;
        }
        let Some(head) = self.head().map(|head| head.value) else { return };
        let Some(split) = self.peers.get(&peer).and_then(|peer| peer.split.as_ref()) else {
            return;
        };
        let left = self.report().filter(|replica| is_left_for(replica, &head, split));
        let goes = if self.options.demands.after_split.is_nobody() {
            // One that began before the fork may be of either line.
            left.is_some_and(|replica| shared_until(&head, &replica).is_none())
        } else {
            let (members, me) = (insync(&head), self.me());
            // What it had of its line is gone: its disk may have heard before its register that
            // the data was given up, and that the replica is another one.
            let is_blank = self.report().is_some_and(|replica| replica.branch == Branch(0));
            let is_replaced = members.has(me) && is_blank && self.own_part(&head).is_none();
            let others = if is_replaced { members.without(me) } else { members };
            left.is_some()
                || !self.is_left_for_any(&head)
                    && !self.has_data_of_another_line(&head)
                    && (is_replaced || members.has(peer))
                    && others.iter().all(|member| self.has_left(member, &head))
        };
        // A refusal is for once: the peer is being copied to, perhaps.
        if goes && self.now >= split.talk.ask_at && !self.is_led(&head) {
            // Who agrees relies on it: with a promotion under way the answer would be of no use.
            self.give_up_overdue_promotion();
            self.ask(peer, BY_WORD, BY_WORD);
        }
    }

    /// The local replica has data of another line, and the register did not hear of it. It may be
    /// the last that has it, and nobody decided about that.
    fn has_data_of_another_line(&self, head: &Config) -> bool {
        let Some(replica) = self.report() else { return false };
        let is_whole = match self.replica_state() {
            Some(ReplicaState::InSync | ReplicaState::Outdated) => true,
            // It was whole as it wrote that down, and does not know whether it joined.
            Some(ReplicaState::Syncing) => replica.candidate.is_some(),
            Some(ReplicaState::Blank | ReplicaState::Failed) | None => false,
        };
        let is_of_line = is_of_history(head, &replica) && is_candidate_of_line(head, &replica);
        is_whole && !is_of_line
    }

    /// A peer is of the line that the local replica is of already.
    fn is_left_for_any(&self, head: &Config) -> bool {
        let replica = self.report();
        replica.is_some_and(|it| self.splits().any(|(_, split)| is_left_for(&it, head, split)))
    }

    /// The replica of the peer is of another line than this value, and by its word so is the peer.
    fn has_left(&self, node: NodeId, head: &Config) -> bool {
        let split = self.peers.get(&node).and_then(|peer| peer.split.as_ref());
        split.is_some_and(|split| {
            let branch = split.theirs.value.branch;
            branch != head.branch
                && split.report.replica.is_some_and(|replica| replica.branch == branch)
        })
    }

    fn decide(&mut self, peer: NodeId) {
        let is_busy = self.giving.wish.is_some() || self.is_discarding() || self.has_asked();
        if is_busy || self.stays() {
            return;
        }
        let Some((own, other, verdict)) = self.judge(peer) else { return };
        let now = self.now;
        let Some(talk) = self.talk(peer) else { return };
        if verdict == Verdict::GivesWay(Which::Own) {
            if now >= talk.ask_at {
                self.ask(peer, own.id, other.id);
            }
            return;
        }
        let outcome = if own.policy != other.policy {
            Some(AfterSplitBrain::PoliciesDiffer)
        } else if verdict == Verdict::PrimaryLost(Which::Own) {
            Some(AfterSplitBrain::PrimaryLost)
        } else {
            None
        };
        if !std::mem::replace(&mut talk.told, true) {
            let action = outcome.map(|outcome| ResourceAction::AfterSplit { peer, outcome });
            self.actions.extend(action);
        }
    }

    /// What the options decide by both standings, if these are about the same two values.
    fn judge(&self, peer: NodeId) -> Option<(Standing, Standing, Verdict)> {
        let split = self.peers.get(&peer)?.split.as_ref()?;
        let (own, other) = (split.talk.own?, split.talk.other?);
        if (own.head, own.against) != (other.against, other.head) {
            return None;
        }
        if own.policy != other.policy {
            return Some((own, other, Verdict::Undecided));
        }
        let head = self.head().filter(|head| head.value.value_id == own.head)?.value;
        let side = |node, standing, value: &Config| Side {
            node,
            standing,
            branch: value.branch,
            went_along: split.fork.is_some_and(|fork| went_along(value, &fork)),
        };
        let policy = self.options.demands.after_split.seen_by(self.me(), peer);
        let sides = [side(self.me(), own, &head), side(peer, other, &split.theirs.value)];
        Some((own, other, judge(policy, &sides)))
    }

    // ---- The two sides agree.

    pub(crate) fn on_standing(&mut self, from: NodeId, standing: Standing) {
        let Some(talk) = self.talk(from) else { return };
        talk.other = Some(standing);
        (talk.told, talk.ask_at) = (false, Time(0));
        talk.asked.take_if(|asked| *asked != BY_WORD);
    }

    /// The peer wants to give way: this node stays as it is, unless it is about to go itself.
    pub(crate) fn on_give_way(&mut self, from: NodeId, standing: u64, against: u64) {
        let is_meant = |wish: Wish| wish.peer.is_none_or(|peer| peer == from);
        let goes =
            self.is_discarding() || self.has_asked() || self.giving.wish.is_some_and(is_meant);
        let is_right = if standing == BY_WORD {
            // What it is to be copied must be here: another replica may be giving way, too.
            self.head().is_none_or(|head| self.has_data_of(&head.value))
        } else {
            self.judge(from).is_some_and(|(own, other, verdict)| {
                (own.id, other.id) == (against, standing)
                    && verdict == Verdict::GivesWay(Which::Other)
            })
        };
        // Nobody speaks for the line of a lost vote until the operator has it go on.
        let speaks = self.lost_vote().is_none();
        let agreed = is_right && !goes && speaks && !self.is_overtaken_by(from);
        // Also where only the peer takes the two for parted.
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.relies |= agreed;
        }
        if !agreed || !self.tell_first(from, standing) {
            self.send_parted(from, Control::GiveWayAnswer { standing, agreed });
        }
    }

    /// A quorum of this line decided without this node, and the peer went on from that value. Its
    /// newer data is not given up for the older data here.
    fn is_overtaken_by(&self, peer: NodeId) -> bool {
        let split = self.peers.get(&peer).and_then(|peer| peer.split.as_ref());
        let head = self.head();
        head.zip(split).is_some_and(|(head, split)| is_overtaken(&head.value, &split.theirs.value))
    }

    /// Whether the answer is to what was asked last.
    fn is_answered(&mut self, from: NodeId, standing: u64) -> bool {
        self.talk(from).and_then(|talk| talk.asked.take_if(|it| *it == standing)).is_some()
    }

    pub(crate) fn on_not_agreed(&mut self, from: NodeId, standing: u64) {
        if !self.is_answered(from, standing) {
            return;
        }
        let again = self.now + limits::GIVE_WAY_RETRY;
        let Some(talk) = self.talk(from) else { return };
        talk.ask_at = again;
        if standing != BY_WORD {
            return;
        }
        talk.refused = true;
        self.start_discard();
        // One without data cannot agree; whoever has that of its line may be met yet.
        let has_replica = self
            .peers
            .get(&from)
            .and_then(|peer| peer.split.as_ref())
            .is_some_and(|split| split.report.replica.is_some());
        let is_over = has_replica && !self.has_asked();
        let is_meant = |wish: &mut Wish| is_meant(from, wish.peer);
        if is_over && self.giving.wish.take_if(is_meant).is_some() {
            let outcome = AfterSplitBrain::KeepsData;
            self.actions.push(ResourceAction::AfterSplit { peer: from, outcome });
        }
    }

    pub(crate) fn on_agreed(&mut self, from: NodeId, standing: u64) {
        if !self.is_answered(from, standing) {
            // What it was asked by is over. It stays as it is until we part: not for ever.
            return self.reset(from);
        }
        let Some(split) = self.peers.get(&from).and_then(|peer| peer.split.as_ref()) else {
            return;
        };
        let (theirs, fork) = (split.theirs.clone(), split.fork);
        let is_wanted = match standing {
            BY_WORD => {
                let has_data = self.head().is_some_and(|head| self.has_data_of(&head.value));
                let is_meant = |wish: Wish| is_meant(from, wish.peer);
                self.giving.wish.map_or(!has_data, is_meant)
            }
            _ => split.talk.own.is_some_and(|own| own.id == standing),
        };
        let is_violent = standing != BY_WORD && self.serves_clients();
        let is_free = is_violent || !(self.serves_clients() || self.is_candidate());
        if !is_wanted || !is_free || self.is_discarding() || self.stop.is_some() {
            // It stays as it is for as long as we are connected: not for ever.
            self.reset(from);
            return self.start_discard();
        }
        if is_violent {
            self.end_session();
        }
        let by = match standing {
            BY_WORD if self.giving.wish.is_some() => GiveWayReason::Operator,
            BY_WORD => GiveWayReason::NoData,
            _ => GiveWayReason::Policy,
        };
        let outcome = AfterSplitBrain::GivesWay { by };
        self.actions.push(ResourceAction::AfterSplit { peer: from, outcome });
        self.discard(Discard { winner: theirs, fork });
    }

    // ---- Giving data up.

    fn discard(&mut self, discard: Discard) {
        self.giving.wish = None;
        self.yield_role();
        self.member.forget_session();
        let has_their_data =
            self.report().is_none_or(|replica| replica.branch == discard.winner.value.branch);
        self.giving.discard = Some(discard);
        if has_their_data {
            return self.on_discard_durable();
        }
        self.ask_groups(RoundKind::SlotsMerged, |round| ToGroup::MergeSlots { round });
    }

    /// Everything that may differ here from the common ancestor is in the own slot, durably.
    pub(crate) fn on_slots_merged(&mut self) {
        let Some(discard) = self.giving.discard.clone() else { return };
        let fork = discard.fork.filter(|fork| self.do_slots_cover(&discard.winner.value, *fork));
        self.note_data_given_up();
        let Some(superblock) = self.superblock.as_mut() else { return };
        superblock.branch = discard.winner.value.branch;
        superblock.candidate = None;
        match fork {
            Some(fork) => {
                superblock.joined = superblock.joined.min(fork.epoch);
                superblock.state = ReplicaState::Syncing;
            }
            // Who knows what differs: all of it is compared.
            None => make_blank(superblock, &mut self.random),
        }
        superblock.sealed.nonce = Nonce(0);
        superblock.clean = false;
        self.set_role(ReplicaRole::Syncing);
        self.save_superblock(AfterSave::Discarded);
    }

    /// The slots of this node's disk name all that was written since the fork: it was in sync on
    /// its line, and every replica of the other side is one that left this line at the fork.
    fn do_slots_cover(&self, winner: &Config, fork: Ancestor) -> bool {
        let me = self.me();
        let ours = self.config().map_or(MemberSet::EMPTY, insync);
        let state = self.replica_state();
        let theirs = winner.volumes.first().map_or(&[][..], |volume| &volume.insync);
        let mut others = theirs.iter().filter(|member| member.node != me).peekable();
        let is_covered = |member: &InSync| self.is_slot_of(ours, member, fork);
        // The fork is where the line of the register left theirs. Of a replica that gave way with a
        // mute voter it may say nothing: that one's epochs, and its slots', are of another line.
        let is_of_line = self.newest_own().is_some_and(|head| !self.has_data_of_another_line(head));
        // One that was copied to since may have come from the winner's line: what was written there
        // before it left is in no slot.
        let stayed = self.superblock.as_ref().is_some_and(|it| it.joined <= fork.epoch);
        is_of_line
            && stayed
            && matches!(state, Some(ReplicaState::InSync | ReplicaState::Outdated))
            && others.peek().is_some()
            && others.all(is_covered)
    }

    /// The replica is of the winner's line. Its vote was for the other one: it is a new voter. That
    /// the winner accepted its newest value does not make that chosen: others say whether it is.
    pub(crate) fn on_discard_durable(&mut self) {
        let Some(Discard { winner, .. }) = self.giving.discard.take() else { return };
        let register = &mut self.voter.register;
        register.store = VoteStoreId(self.random.next_u64() | 1);
        register.promised = winner.ballot;
        register.promised_nonce = Nonce(0);
        register.accepted = Some((winner.ballot, winner.value));
        self.attempt = None;
        self.chosen = None;
        // What peers accepted of the line that was left would be taken for chosen again.
        self.peers.values_mut().for_each(|peer| peer.accepted = None);
        self.saves.forget_votes();
        self.save_register(AfterSave::Reconnect);
    }
}
