//! What becomes of resources when the daemon starts: `become-primary-on`.
//!
//! As DRBD's start script does it: once, for the resources that are brought up with the daemon.
//! `up` by an operator does not promote. Another node that is Primary stays so.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;

use api::response::{Failure, FailureCode};
use replication::contract::PromoteMode;
use stdx::time::Time;

use crate::control::Control;
use crate::definition::Definition;
use crate::limits::{
    PRIMARY_COMMAND_DEADLINE, START_PROMOTION_DEADLINE, START_PROMOTION_REST,
    START_PROMOTIONS_AT_ONCE_MAX,
};
use crate::log::{Scope, log};

impl Control {
    /// Makes this node Primary where the configuration wants it, as soon as that can be.
    pub(super) fn promote_at_start(&self) {
        let texts = self.state.stored_texts().unwrap_or_default();
        let is_named = |name: &String, text: &str| {
            Definition::from_text(&self.name, name, text).is_ok_and(|it| it.becomes_primary)
        };
        let named = texts.into_iter().filter(|(name, text)| is_named(name, text));
        let waiting: VecDeque<String> = named.map(|(name, _)| name).collect();
        let others = waiting.len().min(START_PROMOTIONS_AT_ONCE_MAX).saturating_sub(1);
        let waiting = Mutex::new(waiting);
        let until = io::now() + START_PROMOTION_DEADLINE;
        thread::scope(|scope| {
            for _ in 0..others {
                // Where a thread cannot be started, there are fewer.
                let thread = thread::Builder::new().name("startup".to_owned());
                drop(thread.spawn_scoped(scope, || self.promote_waiting(&waiting, until)));
            }
            self.promote_waiting(&waiting, until);
        });
    }

    /// Each has the time that its promotion may take, for nobody else makes its block device.
    fn promote_waiting(&self, waiting: &Mutex<VecDeque<String>>, until: Time) {
        let lock = || waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Some(name) = lock().pop_front() else { return };
            let promoted = self.primary(&name, PromoteMode::Normal, PRIMARY_COMMAND_DEADLINE);
            let Err(failure) = promoted else { continue };
            if may_help(&failure) && io::now() < until {
                lock().push_back(name);
                thread::park_timeout(START_PROMOTION_REST);
            } else {
                let scope = Scope::resource(&name);
                log!(
                    Warning,
                    scope,
                    "it is not Primary here as `become-primary-on` asks: {failure}"
                );
            }
        }
    }
}

/// Whether time may help.
fn may_help(failure: &Failure) -> bool {
    matches!(
        failure.code,
        FailureCode::NoQuorum
            | FailureCode::NoUpToDateData
            | FailureCode::StateRefused
            | FailureCode::Timeout
    )
}
