//! What becomes of resources when the daemon starts: those that were up come up again, and then
//! `become-primary-on`.
//!
//! As DRBD's start script does it: once, for the resources that are brought up with the daemon.
//! `up` by an operator does not promote. Another node that is Primary stays so.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use api::response::{Failure, FailureCode};
use engine::definition::Definition;
use engine::limits::DISK_STALL_MAX;
use engine::log::{Scope, log};
use replication::contract::PromoteMode;
use stdx::mutex::lock;
use stdx::time::Time;

use crate::control::Control;
use crate::control::parts::Parts;
use crate::control::texts::NewText;
use crate::control::up::{BringUp, DiskWait};
use crate::crash;
use crate::limits::{
    DISK_STALL_MAX_AGAIN, PRIMARY_COMMAND_DEADLINE, START_PROMOTION_DEADLINE, START_PROMOTION_REST,
    START_PROMOTIONS_AT_ONCE_MAX, STARTS_AT_ONCE_MAX,
};
use crate::patience::{Patience, Steps};

impl Control {
    /// Brings up what was up when the daemon ended; one that fails does not keep the others down.
    pub(super) fn start_resources(&self, patience: &Patience) {
        let texts = match self.state.stored_texts() {
            Ok(texts) => texts,
            Err(error) => {
                log!(Error, Scope::NODE, "cannot read the stored resources: {error}");
                return;
            }
        };
        if let Err(error) = crash::judge(&self.state) {
            log!(Error, Scope::NODE, "cannot read what the daemon aborted at before: {error}");
        }
        self.service.starts(texts.len());
        let at_once = texts.len().min(STARTS_AT_ONCE_MAX);
        let waiting = Mutex::new(VecDeque::from(texts));
        let has_stalled = AtomicBool::new(false);
        by_several(at_once, || {
            let steps = Steps::default();
            self.service.watch(steps.clone());
            let mut patience = patience.counted_by(&steps);
            loop {
                let Some((name, text)) = lock(&waiting).pop_front() else { return };
                if let Err(failure) = self.start(&name, &text, &mut patience, &has_stalled) {
                    self.hold_down(name, failure);
                }
                self.service.one_started();
            }
        });
    }

    fn start(
        &self,
        name: &str,
        text: &str,
        patience: &mut Patience,
        has_stalled: &AtomicBool,
    ) -> Result<(), Failure> {
        if let Some(failure) = crash::held(&self.state, name) {
            return Err(failure);
        }
        let stall_max = match has_stalled.load(Ordering::Relaxed) {
            false => DISK_STALL_MAX,
            true => DISK_STALL_MAX_AGAIN,
        };
        let began = io::now();
        let permit = self.up_locks.begin_up(name)?;
        let new = NewText { resource: name, text, permit: &permit };
        let whole = BringUp { new, parts: Parts::ALL, added: &[] };
        self.bring_up_or_without_disk(whole, DiskWait { patience, stall_max })?;
        if io::now().since(began) >= stall_max && self.without_disk().contains_key(name) {
            has_stalled.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Makes this node Primary where the configuration wants it, as soon as that can be.
    pub(super) fn promote_at_start(&self) {
        let texts = self.state.stored_texts().unwrap_or_default();
        let is_named = |name: &String, text: &str| {
            Definition::from_text(&self.name, name, text).is_ok_and(|it| it.becomes_primary)
        };
        let named = texts.into_iter().filter(|(name, text)| is_named(name, text));
        let waiting: VecDeque<String> = named.map(|(name, _)| name).collect();
        let at_once = waiting.len().min(START_PROMOTIONS_AT_ONCE_MAX);
        let waiting = Mutex::new(waiting);
        let until = io::now() + START_PROMOTION_DEADLINE;
        by_several(at_once, || self.promote_waiting(&waiting, until));
    }

    /// Each has the time that its promotion may take, for nobody else makes its block device.
    fn promote_waiting(&self, waiting: &Mutex<VecDeque<String>>, until: Time) {
        loop {
            let Some(name) = lock(waiting).pop_front() else { return };
            let promoted = self.primary(&name, PromoteMode::Normal, PRIMARY_COMMAND_DEADLINE);
            let Err(failure) = promoted else { continue };
            if may_help(&failure) && io::now() < until {
                lock(waiting).push_back(name);
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

/// Has so many threads do the same work, this one among them, and waits for the last.
fn by_several(count: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..count {
            // Where a thread cannot be started, there are fewer.
            let thread = thread::Builder::new().name("startup".to_owned());
            drop(thread.spawn_scoped(scope, &work));
        }
        work();
    });
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
