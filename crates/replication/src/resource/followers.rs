//! Followers (protocol A, PROTOCOL.md 10.1): members in sync for whom no answer waits.
//!
//! A follower is a member like any other, but that it applies what it is sent cut by cut: so its
//! disk is always a state that all replicas could have been in, and may be an older one. The
//! configuration of the node that leads says who is one; the value names it before an answer leaves
//! it out, and until the session ends; and it says itself that it applies cuts alone. There is
//! always a member in sync that is no follower, and only such a one has all that was answered.

use format::config::{Config, Purpose};
use format::ids::{MemberSet, NodeId, Nonce};
use format::message::Control;
use format::metadata::ReplicaState;

use crate::contract::{AboutCuts, AckWhen, ToGroup, is_later_cut, next_cut};
use crate::lineage::standing::insync;
use crate::resource::{Resource, RoundKind};

/// As the leader: cuts, one at a time.
#[derive(Debug, Default)]
pub(crate) struct CutsMade {
    number: u32,
    is_wanted: bool,
    is_under_way: bool,
}

/// As a follower.
#[derive(Debug, Default)]
pub(crate) struct Following {
    /// The session whose leader was told, or is about to be.
    told: Option<Nonce>,
    /// The cut that is coming in, and the lanes that it is here of.
    number: u32,
    lanes: u64,
}

impl Resource {
    /// Those whom this node's configuration names. Its own replica is no matter of a connection.
    pub(crate) fn wanted_followers(&self) -> MemberSet {
        let members = self.options.members.iter();
        let wanted = members.filter(|it| it.diskful && it.ack_when == AckWhen::Sent);
        wanted.map(|member| member.node).collect::<MemberSet>().without(self.me())
    }

    /// What a value with which a session of this node begins says.
    pub(crate) fn followers_of(&self, purpose: Purpose, members: MemberSet) -> MemberSet {
        let wanted = self.wanted_followers();
        match purpose {
            // Somebody has to have all that is answered.
            Purpose::Clients if !members.is_subset_of(wanted) => wanted,
            Purpose::Clients | Purpose::Resync => MemberSet::EMPTY,
        }
    }

    /// What the next value says: a name goes with the session alone, for the follower may lack what
    /// was answered.
    pub(crate) fn next_followers(&self, config: &Config) -> MemberSet {
        let next = config.followers | self.wanted_followers();
        let is_possible = self.serves_clients() && !insync(config).is_subset_of(next);
        if is_possible { next } else { config.followers }
    }

    // ---- The leader's side.

    /// The groups are to lead a session with that value: nobody follows yet.
    pub(crate) fn begin_followers(&mut self, named: MemberSet) {
        self.told_followers = (named, MemberSet::EMPTY);
        let follow = AboutCuts::Follow { named, counted: MemberSet::EMPTY };
        self.tell_groups(ToGroup::Cuts(follow));
    }

    /// Whom the value names, and for whom no answer waits.
    pub(crate) fn count_followers(&mut self) {
        let Some(named) = self.config().map(|config| config.followers) else { return };
        let Some(session) = &self.session else { return };
        let (following, write_set) = (session.following, session.write_set);
        let counted = named.and(self.wanted_followers()).and(following);
        let before = std::mem::replace(&mut self.told_followers, (named, counted));
        if before != (named, counted) {
            self.tell_groups(ToGroup::Cuts(AboutCuts::Follow { named, counted }));
            if before.0 != named {
                self.tell_log_room(write_set);
            }
            self.watch_lag(counted);
        }
    }

    /// By what the groups were told while this node leads, else by the value.
    pub(crate) fn counts_as_follower(&self, member: NodeId) -> bool {
        let is_in_sync = |config: &Config| insync(config).has(member);
        let named = self.config().is_some_and(|it| it.followers.has(member) && is_in_sync(it));
        named && (self.session.is_none() || self.told_followers.1.has(member))
    }

    /// The member applies cuts alone from now on.
    pub(crate) fn on_following(&mut self, from: NodeId, nonce: Nonce) {
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.follows = Some(nonce);
        }
        self.note_following();
    }

    pub(crate) fn note_following(&mut self) {
        let in_sync = self.in_sync();
        let Some(session) = self.session.as_mut() else { return };
        let nonce = session.nonce;
        let said = self.peers.iter().filter(|(_, peer)| peer.follows == Some(nonce));
        let said: MemberSet = said.map(|(&node, _)| node).collect();
        session.following |= said.and(in_sync);
        self.count_followers();
    }

    /// It is out of the write set, and begins anew.
    pub(crate) fn forget_following(&mut self, member: NodeId) {
        if let Some(peer) = self.peers.get_mut(&member) {
            peer.follows = None;
        }
        if let Some(session) = self.session.as_mut() {
            session.following.remove(member);
        }
        self.count_followers();
    }

    pub(crate) fn on_cut_wanted(&mut self) {
        if let Some(session) = self.session.as_mut() {
            session.cuts.is_wanted = true;
            self.start_cut();
        }
    }

    fn start_cut(&mut self) {
        let Some(session) = self.session.as_mut() else { return };
        let cuts = &mut session.cuts;
        if cuts.is_under_way || !std::mem::take(&mut cuts.is_wanted) {
            return;
        }
        cuts.is_under_way = true;
        cuts.number = next_cut(cuts.number);
        let number = cuts.number;
        let note = |round| ToGroup::Cuts(AboutCuts::Note { number, round });
        self.ask_groups(RoundKind::CutNoted, note);
    }

    /// No shard answers any more what another one may have left out.
    pub(crate) fn on_cut_noted(&mut self) {
        let let_go = |round| ToGroup::Cuts(AboutCuts::LetGo { round });
        self.ask_groups(RoundKind::CutWritten, let_go);
    }

    /// The followers have written it, or are no followers any more.
    pub(crate) fn on_cut_written(&mut self) {
        if let Some(session) = self.session.as_mut() {
            session.cuts.is_under_way = false;
            self.start_cut();
        }
    }

    // ---- The follower's side.

    /// As a member that the session's value calls a follower: the groups apply no more than is
    /// released, then the leader hears of it.
    pub(crate) fn review_following(&mut self) {
        let Some(nonce) = self.followed_session() else { return };
        if self.following.told != Some(nonce) {
            self.following.told = Some(nonce);
            let hold = |round| ToGroup::Cuts(AboutCuts::Hold { round });
            self.ask_groups(RoundKind::Holding(nonce), hold);
        }
    }

    fn followed_session(&self) -> Option<Nonce> {
        let (me, config) = (self.me(), self.config()?);
        let nonce = config.primary?.nonce;
        let leads = self.session.is_some() || self.promotion.is_some();
        let is_one = config.followers.has(me) && insync(config).has(me) && !leads;
        let is_in_sync = self.replica_state() == Some(ReplicaState::InSync);
        (is_one && is_in_sync && self.takes_part_in(nonce)).then_some(nonce)
    }

    pub(crate) fn is_called_follower(&self) -> bool {
        self.config().is_some_and(|config| config.followers.has(self.me()))
    }

    pub(crate) fn on_holding(&mut self, nonce: Nonce) {
        if let Some(primary) = self.config().and_then(|config| config.primary)
            && self.followed_session() == Some(nonce)
        {
            self.send(primary.node, Control::Following { nonce });
            // One that came before the groups held may be the last of an idle volume.
            self.release_if_whole();
        }
    }

    /// What was said to a peer may be lost.
    pub(crate) fn repeat_following(&mut self) {
        self.following.told = None;
    }

    /// Another session seals this member.
    pub(crate) fn end_following(&mut self) {
        self.following = Following::default();
    }

    pub(crate) fn on_cut_arrived(&mut self, nonce: Nonce, number: u32, lanes: u64) {
        if !self.obeys(nonce) {
            return;
        }
        let all = self.all_lanes();
        let following = &mut self.following;
        if is_later_cut(number, following.number) {
            (following.number, following.lanes) = (number, 0);
        }
        let before = following.lanes;
        if number == following.number {
            following.lanes |= lanes & all;
        }
        if following.lanes != before {
            self.release_if_whole();
        }
    }

    fn release_if_whole(&mut self) {
        let Following { number, lanes, .. } = self.following;
        if number > 0 && lanes == self.all_lanes() {
            self.tell_groups(ToGroup::Cuts(AboutCuts::Release { number }));
        }
    }

    fn all_lanes(&self) -> u64 {
        let count = self.superblock.as_ref().map_or(64, |superblock| superblock.lanes);
        u64::MAX >> (64 - u32::from(count.clamp(1, 64)))
    }
}
