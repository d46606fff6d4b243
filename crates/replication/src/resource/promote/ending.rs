//! How a promotion ends without a session: given up, refused, overtaken, or put off to another try.
//!
//! Whoever asked for it is told why. Groups that had begun to lead are told to stand down.

use format::config::{Config, Purpose};

use super::{Phase, Promotion};
use crate::contract::CommandErrorCode;
use crate::limits;
use crate::lineage::standing::names;
use crate::resource::Resource;
use crate::resource::propose::Attempt;
use crate::voter::Refusal;

impl Resource {
    /// Past its deadline a promotion waits for no more than to hear what became of its value.
    pub(crate) fn give_up_overdue_promotion(&mut self) {
        if self.promotion.as_ref().is_some_and(|promotion| self.now >= promotion.deadline) {
            self.give_up_promotion();
        }
    }

    /// A disk comes: that may be what it waits for, and the next try would begin beside it.
    pub(crate) fn give_up_waiting_promotion(&mut self) {
        let waits = |it: &&Promotion| matches!(it.phase, Phase::Resting { .. } | Phase::Reading);
        let Some(promotion) = self.promotion.as_ref().filter(waits) else { return };
        let (code, reason) = promotion.reason.clone().unwrap_or_else(|| {
            (CommandErrorCode::Busy, "the disk of this node is being attached".to_owned())
        });
        self.end_promotion(code, &reason);
    }

    pub(crate) fn give_up_promotion(&mut self) {
        let refusal = self.attempt.as_ref().and_then(|attempt| attempt.refusal);
        self.attempt = None;
        let Some(promotion) = self.promotion.take() else { return };
        let reason = promotion.reason.clone();
        let (code, message) = reason.unwrap_or_else(|| self.no_quorum_reason(refusal));
        self.give_up_lead();
        let nonce = promotion.nonce;
        self.tell_session_over(nonce);
        for id in promotion.into_commands() {
            self.refuse(id, code, message.clone());
        }
    }

    /// A voter keeps others away from the session that holds its lease.
    pub(crate) fn on_promotion_refused_for_lease(&mut self) {
        let Some(promotion) = self.promotion.as_ref() else { return };
        let is_old = self.now >= promotion.began + limits::OTHER_PRIMARY_WAIT;
        let is_asked = promotion.purpose == Purpose::Clients;
        let leader = self.config().filter(|config| self.is_led(config));
        let serves = leader.and_then(|config| config.primary);
        if let Some(primary) = serves.filter(|it| it.purpose == Purpose::Clients)
            && is_old
            && is_asked
        {
            let reason = format!("another node (node {}) is Primary", primary.node);
            self.end_promotion(CommandErrorCode::PeerPrimary, &reason);
        }
    }

    fn no_quorum_reason(&self, refusal: Option<Refusal>) -> (CommandErrorCode, String) {
        if refusal == Some(Refusal::LeaseHeld) {
            let holder = self.config().and_then(|config| config.primary);
            let who =
                holder.map_or_else(String::new, |primary| format!(" (node {})", primary.node));
            return (CommandErrorCode::PeerPrimary, format!("another node{who} is Primary"));
        }
        let votes = self.votes_in_reach_of(&self.newest_value());
        let mut message = format!("no quorum: {votes}");
        if votes.is_quorum() {
            message += ", and those in reach did not agree in time";
        }
        if self.voter.is_mute {
            message += ", and the state directory of this node takes no write: its vote is lost \
                        until that is mended and the daemon is restarted";
        }
        if !self.not_out().is_empty() {
            let not_out = names(self.not_out());
            message += &format!(", and the handler fence-peer does not say that {not_out} is out");
        }
        (CommandErrorCode::NoQuorum, message)
    }

    /// This try failed: another one, with a new ballot, a little later.
    pub(super) fn rest_promotion(&mut self, code: CommandErrorCode, reason: String) {
        let until = self.now + self.random_delay();
        self.attempt = None;
        if let Some(nonce) = self.nonce_in_doubt() {
            // Voters that accepted it need not keep others, and the next try, away.
            self.tell_session_over(nonce);
        }
        self.give_up_lead();
        if let Some(promotion) = self.promotion.as_mut() {
            promotion.reason = Some((code, reason));
            promotion.phase = Phase::Resting { until };
        }
    }

    /// It is not to be had so: by force, if that was asked for.
    pub(super) fn fail_promotion(&mut self, code: CommandErrorCode, reason: &str) {
        if !self.turns_to_force() {
            self.end_promotion(code, reason);
        }
    }

    pub(super) fn end_promotion(&mut self, code: CommandErrorCode, reason: &str) {
        self.attempt = None;
        if let Some(promotion) = self.promotion.take() {
            self.give_up_lead();
            for id in promotion.into_commands() {
                self.refuse(id, code, reason);
            }
        }
    }

    /// The value is chosen, and stands in the place of the one that a promotion proposes, or is
    /// about to, or behind it.
    pub(crate) fn overtakes_promotion(&self, value: &Config) -> bool {
        let Some(promotion) = &self.promotion else { return false };
        let proposed = match &promotion.phase {
            Phase::Recording { desired, .. } => Some(desired),
            Phase::Proposing { .. } => self.attempt.as_ref().and_then(Attempt::desired),
            Phase::Announcing { value, .. } => Some(value),
            // It reads what a quorum knows, and finds out.
            Phase::Reading | Phase::Sealing { .. } | Phase::Resting { .. } => None,
        };
        proposed.is_some_and(|ours| ours.branch == value.branch && ours.epoch <= value.epoch)
    }

    /// Another session's value stands where ours was to be.
    pub(crate) fn on_promotion_superseded(&mut self, value: &Config) {
        let Some(promotion) = self.promotion.as_ref() else { return };
        if value.primary.is_some_and(|primary| primary.nonce == promotion.nonce) {
            return;
        }
        let serves = value.primary.filter(|primary| primary.purpose == Purpose::Clients);
        if let Some(primary) = serves
            && primary.node != self.me()
            && Some(primary.nonce) != promotion.known
            && promotion.purpose == Purpose::Clients
        {
            let reason = format!("node {} became Primary", primary.node);
            return self.end_promotion(CommandErrorCode::PeerPrimary, &reason);
        }
        let is_bound = matches!(
            promotion.phase,
            Phase::Proposing { .. } | Phase::Recording { .. } | Phase::Announcing { .. }
        );
        if is_bound {
            let reason = "another node became Primary".to_owned();
            self.rest_promotion(CommandErrorCode::PeerPrimary, reason);
        }
    }
}
