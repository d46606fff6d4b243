//! Clients that cannot tell what was lost, and an operator who lets them go on: C5.
//!
//! A promotion that may have lost completed writes counts it in the value, and the value says from
//! then on that it awaits `reopen`. Only an operator's word takes that back, in a value of its own.
//! It is about the losses that the operator could know of: one that comes in between is another.

use format::config::{Config, Purpose};
use format::ids::Branch;
use format::metadata::ReplicaState;
use stdx::time::Time;

use crate::contract::{CommandErrorCode, CommandId};
use crate::limits;
use crate::resource::Resource;

/// An operator looked at the data, and waits until that is recorded.
#[derive(Debug)]
pub(crate) struct Reopening {
    command: CommandId,
    /// The line, and the losses that its value counted then.
    seen: (Branch, u32),
    until: Time,
}

impl Resource {
    /// Completed writes may be lost: a client that may have been there before, and cannot tell, is
    /// not to go on.
    #[must_use]
    pub fn awaits_reopen(&self) -> bool {
        self.config().is_some_and(|config| config.awaits_reopen)
    }

    /// How often completed writes may have been lost, as far as this node knows.
    #[must_use]
    pub fn losses(&self) -> u32 {
        self.config().map_or_else(|| self.newest_value().losses, |config| config.losses)
    }

    pub(crate) fn on_reopen(&mut self, id: CommandId) {
        if self.stop.is_some() || self.reopening.is_some() {
            let text = "another `reopen`, or the end of the resource, is under way";
            return self.refuse(id, CommandErrorCode::Busy, text);
        }
        if self.session.is_none() {
            let led = self.config().filter(|config| self.is_led(config));
            let purpose = led.and_then(|config| config.primary).map(|primary| primary.purpose);
            if purpose == Some(Purpose::Clients) {
                let text = "another node is Primary: type it there";
                return self.refuse(id, CommandErrorCode::PeerPrimary, text);
            }
            if self.replica_state() != Some(ReplicaState::InSync) || !self.reaches_majority() {
                let text = "no node leads, and this one cannot: its replica has to be up to date, \
                            and a majority of the voters in reach";
                return self.refuse(id, CommandErrorCode::NoQuorum, text);
            }
        }
        let Some(config) = self.config() else {
            let text = "nothing is known of the resource yet";
            return self.refuse(id, CommandErrorCode::NoQuorum, text);
        };
        let (seen, until) = (seen_in(config), self.now + limits::REOPEN_DEADLINE);
        self.reopening = Some(Reopening { command: id, seen, until });
        if self.session.is_none() && self.promotion.is_none() && self.awaits_reopen() {
            self.promote_for_resync();
        }
    }

    /// What the value should say next.
    pub(crate) fn next_awaits_reopen(&self, config: &Config) -> bool {
        let said = self.reopening.as_ref().is_some_and(|said| said.seen == seen_in(config));
        config.awaits_reopen && !said || self.is_untold()
    }

    pub(crate) fn reopening_until(&self) -> Time {
        self.reopening.as_ref().map_or(Time::NEVER, |said| said.until)
    }

    pub(crate) fn advance_reopening(&mut self) {
        let Some(said) = &self.reopening else { return };
        let known = self.config().map(|config| (seen_in(config), config.awaits_reopen));
        let (command, late) = (said.command, self.now >= said.until);
        match known {
            Some((seen, _)) if seen != said.seen || self.is_untold() => {
                let text = "writes may have been lost once more meanwhile: look at the data again";
                self.refuse(command, CommandErrorCode::Busy, text);
            }
            Some((_, false)) => self.answer(command, Ok(())),
            Some((_, true)) | None if late => {
                let text = "it could not be recorded in time";
                self.refuse(command, CommandErrorCode::TimedOut, text);
            }
            Some((_, true)) | None => return,
        }
        self.reopening = None;
    }
}

fn seen_in(config: &Config) -> (Branch, u32) {
    (config.branch, config.losses)
}
