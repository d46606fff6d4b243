//! What becomes of resources when the daemon starts: `become-primary-on`.
//!
//! As DRBD's start script does it: once, for the resources that are brought up with the daemon.
//! `up` by an operator does not promote. Another node that is Primary stays so.

use std::collections::VecDeque;
use std::thread;

use api::response::{Failure, FailureCode};
use replication::contract::PromoteMode;

use crate::control::Control;
use crate::definition::Definition;
use crate::limits::{ADMIN_COMMAND_DEADLINE, START_PROMOTION_DEADLINE, START_PROMOTION_REST};
use crate::log::{Scope, log};

impl Control {
    /// Makes this node Primary where the configuration wants it, as soon as that can be.
    pub(super) fn promote_at_start(&self) {
        let texts = self.state.stored_texts().unwrap_or_default();
        let is_named = |name: &String, text: &str| {
            Definition::from_text(&self.name, name, text).is_ok_and(|it| it.becomes_primary)
        };
        let named = texts.into_iter().filter(|(name, text)| is_named(name, text));
        let mut waiting: VecDeque<String> = named.map(|(name, _)| name).collect();
        let until = io::now() + START_PROMOTION_DEADLINE;
        while let Some(name) = waiting.pop_front() {
            // One that waits for proof keeps the others no longer than that, and is asked again.
            let promoted = self.primary(&name, PromoteMode::Normal, ADMIN_COMMAND_DEADLINE);
            let Err(failure) = promoted else { continue };
            if may_help(&failure) && io::now() < until {
                waiting.push_back(name);
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
