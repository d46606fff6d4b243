//! What a line that gives way lost to its clients, in the value of the one that stays: C5.
//!
//! Whoever had the volume open on the other line may go on from here, and cannot be told from
//! others: the value says first that it awaits `reopen`, and only then the peer hears that it may
//! go. Where nobody is served it counts as a loss, too. Under clients it does not: those of this
//! line lost nothing, and what they hold on to is the number of losses.
//!
//! Without a quorum the peer is not kept waiting for long, and one that goes by the options waits
//! only where somebody leads: this node remembers it, and whatever it leads next says so.

use format::config::Config;
use format::ids::NodeId;
use format::message::Control;
use format::metadata::ReplicaState;
use stdx::time::Time;

use crate::limits;
use crate::resource::Resource;
use crate::resource::give_way::BY_WORD;

/// To a question that was not answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreement {
    standing: u64,
    until: Time,
}

impl Resource {
    pub(crate) fn is_untold(&self) -> bool {
        self.giving.is_untold
    }

    /// The losses that the value of a running session should count next.
    pub(crate) fn next_losses(&self, config: &Config) -> u32 {
        let counts = self.is_untold() && !config.awaits_reopen && !self.serves_clients();
        config.losses + u32::from(counts)
    }

    /// The peer may go. True if it is told so once the value says what that means.
    pub(super) fn tell_first(&mut self, peer: NodeId, standing: u64) -> bool {
        if !self.gives_data_up(peer, standing) {
            return false;
        }
        self.giving.is_untold = true;
        self.advance_reopening();
        // To lead for it would be another value, and a reason for one that goes by its options to
        // ask anew. It hears at once: what copies to it is a session, whose value says it first.
        if self.session.is_none() && (standing != BY_WORD || !self.lead_to_tell()) {
            return false;
        }
        let until = self.now + limits::TELLING_DEADLINE;
        let Some(peer) = self.peers.get_mut(&peer) else { return false };
        peer.agreement = Some(Agreement { standing, until });
        true
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
        let is_led = self.config().is_some_and(|config| self.is_led(config));
        let may_lead = self.replica_state() == Some(ReplicaState::InSync)
            && self.reaches_majority()
            && self.stop.is_none()
            && !is_led;
        if may_lead {
            self.promote_for_resync();
        }
        may_lead
    }

    pub(crate) fn agreement_due(&self) -> Time {
        let agreements = self.peers.values().filter_map(|peer| peer.agreement);
        agreements.map(|agreement| agreement.until).min().unwrap_or(Time::NEVER)
    }

    pub(crate) fn advance_telling(&mut self) {
        // What is being proposed may take it back: it was typed before.
        let leads = self.session.as_ref().is_some_and(|session| session.change.is_none());
        if leads && self.awaits_reopen() {
            self.giving.is_untold = false;
        }
        let (now, is_untold) = (self.now, self.is_untold());
        let is_due = |it: &mut Agreement| !is_untold || now >= it.until;
        let due = self
            .peers
            .iter_mut()
            .filter_map(|(&node, peer)| Some((node, peer.agreement.take_if(is_due)?.standing)));
        for (to, standing) in due.collect::<Vec<_>>() {
            self.send_parted(to, Control::GiveWayAnswer { standing, agreed: true });
        }
    }
}
