//! What a line that gives way lost to its clients, in the value of the one that stays: C5.
//!
//! Whoever had the volume open on the other line may go on from here, and cannot be told from
//! others: the value says first that it awaits `reopen`, and only then the peer hears that it may
//! go. Where nobody is served it counts more losses, too, than the other line did. Under clients it
//! does not: those of this line lost nothing, and what they hold on to is the number of losses.
//!
//! Without a quorum the peer is not kept waiting for long, and one that goes by the options waits
//! only where somebody leads: this node remembers it, and whoever leads next says so. If that is
//! another node, this one tells it, and remembers it until the answer.

use format::config::Config;
use format::ids::{NodeId, Nonce};
use format::message::Control;
use format::metadata::ReplicaState;
use stdx::time::Time;

use crate::limits;
use crate::resource::Resource;
use crate::resource::give_way::BY_WORD;

/// To a question that was not answered yet.
#[derive(Clone, Debug)]
pub(crate) struct Agreement {
    answer: Control,
    until: Time,
}

impl Resource {
    pub(crate) fn is_untold(&self) -> bool {
        self.giving.untold.is_some()
    }

    /// The losses that the value should count next: NVMe hosts of the line that was given up know
    /// the volume by the number of theirs.
    pub(crate) fn next_losses(&self, config: &Config) -> u32 {
        let untold = self.giving.untold.filter(|_| !self.serves_clients());
        let least = untold.map_or(0, |theirs| theirs.saturating_add(1).min(limits::LOSSES_MAX));
        config.losses.max(least)
    }

    /// The peer may go. True if it is told so once the value says what that means.
    pub(super) fn tell_first(&mut self, peer: NodeId, standing: u64) -> bool {
        if !self.gives_data_up(peer, standing) {
            return false;
        }
        self.note_untold(self.losses_of(peer));
        // To lead for it would be another value, and a reason for one that goes by its options to
        // ask anew. It hears at once: what copies to it is a session, whose value says it first.
        let leads = self.session.is_some() || self.leader().is_some();
        if !leads && (standing != BY_WORD || !self.lead_to_tell()) {
            return false;
        }
        let until = self.now + limits::TELLING_DEADLINE;
        let Some(peer) = self.peers.get_mut(&peer) else { return false };
        let answer = Control::GiveWayAnswer { standing, agreed: true };
        peer.agreement = Some(Agreement { answer, until });
        true
    }

    fn note_untold(&mut self, losses: u32) {
        self.giving.untold = self.giving.untold.max(Some(losses));
        for peer in self.peers.values_mut() {
            peer.told_lost = None;
        }
        self.advance_reopening();
    }

    /// As the value of the peer's line counts them.
    fn losses_of(&self, peer: NodeId) -> u32 {
        let peer = self.peers.get(&peer);
        let split = peer.and_then(|peer| peer.split.as_ref()).map(|split| &split.theirs);
        let theirs = split.or_else(|| peer?.accepted.as_ref());
        theirs.map_or(0, |theirs| theirs.value.losses)
    }

    /// It has data of its line, and is not known to have written none.
    fn gives_data_up(&self, peer: NodeId, standing: u64) -> bool {
        let Some(peer) = self.peers.get(&peer) else { return false };
        let split = peer.split.as_ref();
        let report = split.map(|split| split.report).or(peer.report);
        let replica = report.and_then(|report| report.replica);
        let head = self.newest_own().map(|head| head.branch);
        let said = split.and_then(|split| split.talk.other).filter(|it| it.id == standing);
        let wrote_nothing = standing != BY_WORD && said.is_some_and(|it| it.changed_blocks == 0);
        replica.is_some_and(|replica| Some(replica.branch) != head) && !wrote_nothing
    }

    /// This node sets out to lead.
    fn lead_to_tell(&mut self) -> bool {
        if self.promotion.is_some() {
            return true;
        }
        let may_lead = self.replica_state() == Some(ReplicaState::InSync)
            && self.reaches_majority()
            && self.stop.is_none();
        if may_lead {
            self.promote_for_resync();
        }
        may_lead
    }

    /// Another node that leads, and its session.
    fn leader(&self) -> Option<(NodeId, Nonce)> {
        let config = self.config().filter(|config| self.is_led(config))?;
        config.primary.map(|primary| (primary.node, primary.nonce))
    }

    /// Who leads says what this node agreed to.
    fn tell_leader(&mut self) {
        let Some(losses) = self.giving.untold.filter(|_| self.session.is_none()) else { return };
        let Some((leader, nonce)) = self.leader() else { return };
        let Some(peer) = self.peers.get_mut(&leader) else { return };
        if peer.told_lost.replace(nonce) != Some(nonce) {
            self.send(leader, Control::LineLost { nonce, losses });
        }
    }

    /// A member agreed that a line is given up, while this node led, or was about to: if it does no
    /// more, both remember it. A word to another session is none: it goes to whoever leads then.
    pub(crate) fn on_line_lost(&mut self, from: NodeId, nonce: Nonce, losses: u32) {
        let session = self.session.as_ref().map(|session| session.nonce);
        if session.or_else(|| self.nonce_of_lead()) != Some(nonce) {
            return;
        }
        self.note_untold(losses);
        if let Some(peer) = self.peers.get_mut(&from) {
            // It waits for nothing, and remembers it until then.
            let answer = Control::LineLostDone { nonce };
            peer.agreement = Some(Agreement { answer, until: Time::NEVER });
        }
    }

    pub(crate) fn on_line_lost_done(&mut self, from: NodeId, nonce: Nonce) {
        if self.peers.get(&from).is_some_and(|peer| peer.told_lost == Some(nonce)) {
            self.giving.untold = None;
        }
    }

    pub(crate) fn agreement_due(&self) -> Time {
        let agreements = self.peers.values().filter_map(|peer| peer.agreement.as_ref());
        agreements.map(|agreement| agreement.until).min().unwrap_or(Time::NEVER)
    }

    pub(crate) fn advance_telling(&mut self) {
        // What is being proposed may take it back: it was typed before.
        let leads = self.session.as_ref().is_some_and(|session| session.change.is_none());
        let says_it =
            |config: &Config| config.awaits_reopen && self.next_losses(config) == config.losses;
        if leads && self.config().is_some_and(says_it) {
            self.giving.untold = None;
        }
        self.tell_leader();
        let (now, is_untold) = (self.now, self.is_untold());
        let is_due = |it: &mut Agreement| !is_untold || now >= it.until;
        let due = self
            .peers
            .iter_mut()
            .filter_map(|(&node, peer)| Some((node, peer.agreement.take_if(is_due)?.answer)));
        for (to, answer) in due.collect::<Vec<_>>() {
            self.send_parted(to, answer);
        }
    }
}
