//! News of a chosen value passes over third nodes (PROTOCOL.md 7d).
//!
//! Who leads tells all whom it reaches. A node that it does not reach would go on with what it
//! knew last, and take itself for up to date: so whoever hears of a chosen value tells it on, once
//! over each connection. What is told is known to be chosen, never what was merely accepted. Who
//! tells it need not lead, and may have been away: nothing follows for its own part in a session.

use format::config::Config;
use format::ids::{Branch, NodeId, Nonce};
use format::message::{Accepted, Control};

use crate::resource::Resource;

impl Resource {
    /// Epochs are compared on one branch only.
    pub(crate) fn is_newer_than_chosen(&self, value: &Accepted) -> bool {
        self.chosen.as_ref().is_none_or(|known| {
            if known.value.branch == value.value.branch {
                known.value.epoch < value.value.epoch
            } else {
                known.ballot < value.ballot
            }
        })
    }

    /// As the one that leads by it, or did.
    pub(crate) fn tell_chosen(&mut self, to: NodeId, chosen: &Accepted) {
        self.note_told_chosen(to, chosen);
        let Accepted { ballot, value } = chosen.clone();
        self.send(to, Control::Chosen { ballot, value });
    }

    /// One of the two told the other.
    pub(crate) fn note_told_chosen(&mut self, peer: NodeId, chosen: &Accepted) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.told_chosen = peer.told_chosen.max(chosen.ballot);
        }
    }

    /// Whoever is in reach of this node may not be in that of the leader.
    pub(crate) fn pass_on_news(&mut self) {
        for peer in self.connected().without(self.me()).iter() {
            self.pass_on_news_to(peer);
        }
    }

    pub(crate) fn pass_on_news_to(&mut self, to: NodeId) {
        let Some(chosen) = self.chosen.as_ref().filter(|_| self.is_connected(to)) else { return };
        let is_told = self.peers.get(&to).is_none_or(|peer| peer.told_chosen >= chosen.ballot);
        if is_told {
            return;
        }
        let chosen = chosen.clone();
        self.note_told_chosen(to, &chosen);
        let Accepted { ballot, value } = chosen;
        self.send(to, Control::News { ballot, value });
    }

    pub(crate) fn on_news(&mut self, from: NodeId, chosen: Accepted) {
        if chosen.value.resource != self.options.resource {
            return;
        }
        self.ballot_counter = self.ballot_counter.max(chosen.ballot.counter);
        self.note_told_chosen(from, &chosen);
        if !self.is_newer_than_chosen(&chosen) || !self.is_of_own_line(&chosen) {
            return;
        }
        self.learn_chosen(&chosen);
        if self.overtakes_promotion(&chosen.value) {
            self.on_promotion_superseded(&chosen.value);
        }
        self.on_session_superseded(&chosen.value);
        self.on_chosen(chosen);
        self.pass_on_news();
    }

    /// What is known here is of now while a quorum is in reach, or who leads, and does not say that
    /// it reaches none.
    pub(crate) fn note_touch(&mut self) {
        let is_in_touch =
            self.has_majority() || self.config().is_some_and(|it| self.is_led_now(it));
        if is_in_touch == self.out_of_touch_since.is_none() {
            return;
        }
        self.out_of_touch_since = if is_in_touch { None } else { Some(self.now) };
        for peer in self.connected().without(self.me()).iter() {
            self.tell_touch(peer);
        }
    }

    /// As the one that leads.
    pub(crate) fn tell_touch(&mut self, to: NodeId) {
        let Some(session) = &self.session else { return };
        let (nonce, has_quorum) = (session.nonce, self.out_of_touch_since.is_none());
        self.send(to, Control::Touch { nonce, has_quorum });
    }

    /// The session that a peer leads without a quorum; none if it reaches one.
    pub(crate) fn on_touch(&mut self, from: NodeId, without_quorum: Option<Nonce>) {
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.lacks_quorum = without_quorum;
        }
    }

    fn is_led_now(&self, config: &Config) -> bool {
        let leader = config.primary.and_then(|primary| self.peers.get(&primary.node));
        let lacks_quorum = leader.and_then(|peer| peer.lacks_quorum);
        self.is_led(config) && lacks_quorum != config.primary.map(|primary| primary.nonce)
    }

    /// A line that one node began alone is followed at contact with who knows of it at first hand,
    /// or not at all (9.5).
    fn is_of_own_line(&self, chosen: &Accepted) -> bool {
        let lines = [Branch(0), chosen.value.branch];
        self.lines().all(|known| lines.contains(&known.value.branch))
    }
}
