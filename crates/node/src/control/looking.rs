//! The thread that looks at resources for those who watch.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use api::response::Failure;
use engine::contract::ToShard;
use engine::log::{Scope, log};

use crate::control::Control;
use crate::control::asking::About;
use crate::control::watch::{Counters, Look, Seen, Subscriber};
use crate::limits::{WATCH_GAP, WATCH_INTERVAL};

impl Control {
    pub(crate) fn subscribe(
        &self,
        resources: Vec<String>,
        counters: Counters,
    ) -> Result<Arc<Subscriber>, Failure> {
        self.watch.subscribe(resources, counters)
    }

    pub(crate) fn unsubscribe(&self, subscriber: &Arc<Subscriber>) {
        self.watch.unsubscribe(subscriber);
    }

    pub(crate) fn poll(&self, subscriber: &Subscriber) {
        self.watch.poll(subscriber);
    }

    /// Looks whenever there is something to see, until the daemon ends.
    pub(super) fn look(&self) {
        let mut are_shards_telling = false;
        while let Some(look) = self.watch.next_look(WATCH_INTERVAL) {
            let should_tell = look != Look::Nothing;
            if should_tell != are_shards_telling {
                // Without being told, the looks at everything remain.
                if self.desk.tell_all(|| ToShard::Watch { is_on: should_tell }) {
                    are_shards_telling = should_tell;
                }
            }
            match self.see(&look) {
                Ok(seen) => {
                    self.watch.publish(&look, seen);
                    thread::park_timeout(WATCH_GAP);
                }
                Err(failure) => {
                    log!(Warning, Scope::NODE, "no state for those who watch: {failure}");
                    thread::park_timeout(WATCH_INTERVAL);
                }
            }
        }
    }

    fn see(&self, look: &Look) -> Result<Seen, Failure> {
        let unix = io::clock::unix_time();
        let mut seen =
            Seen { at_us: u64::try_from(unix.as_micros()).unwrap_or(u64::MAX), ..Seen::default() };
        match look {
            Look::Nothing => {}
            Look::All { with_counters } => {
                seen.resources = self.states(&[], *with_counters)?;
            }
            Look::Some { names, with_counters } => {
                seen.resources = self.status_of(About::Known(names), *with_counters)?.resources;
                let there: BTreeSet<&str> = seen.resources.iter().map(|it| &*it.name).collect();
                let gone = names.iter().filter(|name| !there.contains(name.as_str()));
                seen.gone = gone.cloned().collect();
            }
        }
        Ok(seen)
    }

    #[expect(clippy::fn_params_excessive_bools, reason = "as the request has it")]
    pub(super) fn states(
        &self,
        names: &[String],
        with_counters: bool,
    ) -> Result<Vec<api::status::ResourceStatus>, Failure> {
        Ok(self.status_of(About::asked(names), with_counters)?.resources)
    }
}

impl From<bool> for Counters {
    fn from(wanted: bool) -> Self {
        if wanted { Self::With } else { Self::Without }
    }
}
