//! Handlers: scripts of the operator that are run when something happens to a resource.
//!
//! Most are called for what a look at a resource finds changed (`triggers`); what no look can tell
//! (a disk failed, rather than being detached) the shards say. Threads of their own run the scripts
//! (`script`): a few at once, one after another for each resource, each with a deadline. What to
//! run comes from this node's own configuration, never from a peer, and while no resource that is
//! up has handlers, nobody looks.

pub(crate) mod by_hand;
mod environment;
mod fencing;
mod script;
mod triggers;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use api::events::HelperCall;
use api::response::{Failure, FailureCode};
use api::status::{HandlerStatus, ResourceStatus, StatusReply};
use api::subscription::Update;
use engine::contract::{Fact, ToShard, Unreachable};
use engine::definition::Definition;
use engine::log::{Scope, log};
use replication::contract::FenceVerdict;
use stdx::mutex::{lock, unpoisoned};

use crate::control::Control;
use crate::control::handlers::script::Ended;
use crate::control::handlers::triggers::{Trigger, first_look, triggers};
use crate::control::resync_order::Asked;
use crate::desk::overloaded;
use crate::limits::{
    HANDLER_DEADLINE, HANDLER_QUORUM_PATIENCE, HANDLERS_AT_ONCE_MAX, HANDLERS_WAITING_MAX,
};

/// Scripts by the names of their handlers.
pub(crate) type Scripts = BTreeMap<&'static str, String>;

#[derive(Debug, Default)]
pub(crate) struct Handlers {
    shared: Mutex<Shared>,
    /// For the thread that looks.
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Shared {
    /// Of the resources that are up and have any.
    scripts: BTreeMap<String, Scripts>,
    waiting: VecDeque<Call>,
    /// Resources for which a script is running, and what its end answers.
    busy: BTreeMap<String, Option<Question>>,
    counts: BTreeMap<(String, &'static str), HandlerStatus>,
    is_ended: bool,
}

/// What becomes of a resync that asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Allowed,
    Refused,
}

/// One call of a handler.
#[derive(Clone, Debug)]
struct Call {
    resource: String,
    trigger: Trigger,
    script: String,
    /// What was seen when it was called for; what no look found is looked at before it runs.
    state: Option<Arc<ResourceStatus>>,
    /// The question of the shard that its end answers.
    answers: Option<Question>,
}

/// What a shard waits for, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Resync(u64),
    Fence(u64, Unreachable),
}

impl Call {
    fn is_fence(&self) -> bool {
        matches!(self.answers, Some(Question::Fence(..)))
    }

    /// The script did what it is there for.
    fn is_good(&self, status: u8) -> bool {
        match self.answers {
            Some(Question::Fence(_, unreachable)) => fencing::judge(status, unreachable).0,
            Some(Question::Resync(_)) | None => status == 0,
        }
    }
}

impl Handlers {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared)
    }

    /// The scripts of a resource are these from now on. Returns those that it had.
    pub(super) fn define(&self, definition: &Definition) -> Scripts {
        self.set(&definition.name, definition.handlers.clone())
    }

    /// The resource did not become what it was to be: it has these scripts, as before.
    pub(super) fn restore(&self, resource: &str, before: Scripts) {
        self.set(resource, before);
    }

    fn set(&self, resource: &str, scripts: Scripts) -> Scripts {
        let mut shared = self.lock();
        let before = match scripts.is_empty() {
            true => shared.scripts.remove(resource),
            false => shared.scripts.insert(resource.to_owned(), scripts),
        };
        self.bell.notify_all();
        before.unwrap_or_default()
    }

    /// The resource is down. What runs goes on, what waits does not begin.
    pub(super) fn forget(&self, resource: &str) {
        let mut shared = self.lock();
        shared.scripts.remove(resource);
        shared.waiting.retain(|call| call.resource != resource);
        shared.counts.retain(|(name, _), _| name != resource);
    }

    /// The daemon ends: nothing is called any more. What runs goes on without it.
    pub(super) fn end(&self) {
        let mut shared = self.lock();
        shared.is_ended = true;
        shared.waiting.clear();
        self.bell.notify_all();
    }

    /// Waits until some resource has a handler; false at the end.
    fn wait_for_scripts(&self) -> bool {
        let mut shared = self.lock();
        while shared.scripts.is_empty() && !shared.is_ended {
            shared = unpoisoned(self.bell.wait(shared));
        }
        !shared.is_ended
    }

    pub(super) fn has_scripts(&self) -> bool {
        !self.lock().scripts.is_empty()
    }

    fn has(&self, resource: &str, handler: &str) -> bool {
        self.lock().scripts.get(resource).is_some_and(|scripts| scripts.contains_key(handler))
    }

    /// Puts a call into the queue, if the resource has a script for it.
    fn enqueue(&self, resource: &str, trigger: Trigger, state: Option<&Arc<ResourceStatus>>) {
        self.enqueue_answer(resource, trigger, state, None);
    }

    /// The same, of a call whose end is an answer; `Some` where nothing is called.
    fn enqueue_answer(
        &self,
        resource: &str,
        trigger: Trigger,
        state: Option<&Arc<ResourceStatus>>,
        answers: Option<Question>,
    ) -> Option<Verdict> {
        let mut shared = self.lock();
        let script = shared.scripts.get(resource).and_then(|scripts| scripts.get(trigger.handler));
        // Whoever asks was told that there is one: it is gone, or not there yet.
        let Some(script) = script.cloned().filter(|_| !shared.is_ended) else {
            return Some(Verdict::Refused);
        };
        let call =
            Call { resource: resource.to_owned(), trigger, script, state: state.cloned(), answers };
        let call = shared.without_second_fence(call)?;
        // Those that fence are as many as there are peers.
        let count = shared.waiting.iter().filter(|it| !it.is_fence()).count();
        let is_full = !call.is_fence() && count >= HANDLERS_WAITING_MAX;
        let count = shared.count(resource, call.trigger.handler);
        if is_full {
            count.calls += 1;
            count.failures += 1;
            let scope = Scope::resource(resource);
            let name = call.trigger.handler;
            log!(
                Error,
                scope,
                "handler {name} is not called: {HANDLERS_WAITING_MAX} calls are waiting; do the \
                 scripts hang?"
            );
            return Some(Verdict::Refused);
        }
        count.pending += 1;
        // Clients wait for what fences, and longest for what was called for first.
        let others = shared.waiting.iter().position(|it| !it.is_fence());
        let place = others.filter(|_| call.is_fence()).unwrap_or(shared.waiting.len());
        shared.waiting.insert(place, call);
        None
    }

    /// The next call that may begin, which counts as running from now on.
    fn take(&self) -> Option<Call> {
        let mut shared = self.lock();
        if shared.busy.len() >= HANDLERS_AT_ONCE_MAX {
            return None;
        }
        let is_free = |call: &Call| !shared.busy.contains_key(&call.resource);
        let place = shared.waiting.iter().position(is_free)?;
        let call = shared.waiting.remove(place)?;
        shared.busy.insert(call.resource.clone(), call.answers);
        Some(call)
    }

    /// It turned out not to be called for.
    fn withdraw(&self, call: &Call) {
        let mut shared = self.lock();
        shared.busy.remove(&call.resource);
        if shared.scripts.contains_key(&call.resource) {
            let count = shared.count(&call.resource, call.trigger.handler);
            count.pending = count.pending.saturating_sub(1);
        }
    }

    fn finish(&self, call: &Call, status: u8) {
        let mut shared = self.lock();
        shared.busy.remove(&call.resource);
        if !shared.scripts.contains_key(&call.resource) {
            return;
        }
        let count = shared.count(&call.resource, call.trigger.handler);
        count.pending = count.pending.saturating_sub(1);
        count.calls += 1;
        count.failures += u64::from(!call.is_good(status));
        count.last_status = Some(status);
    }
}

impl Shared {
    /// `None` for one whose answer another call brings, or which takes the place of another: a peer
    /// that was put out, and returned meanwhile, would be put out again.
    fn without_second_fence(&mut self, call: Call) -> Option<Call> {
        if !call.is_fence() {
            return Some(call);
        }
        if self.busy.get(&call.resource) == Some(&call.answers) {
            return None;
        }
        let is_same = |it: &&mut Call| {
            it.is_fence() && it.resource == call.resource && it.trigger.peer == call.trigger.peer
        };
        let Some(waiting) = self.waiting.iter_mut().find(is_same) else { return Some(call) };
        *waiting = call;
        None
    }

    fn count(&mut self, resource: &str, handler: &'static str) -> &mut HandlerStatus {
        let count = self.counts.entry((resource.to_owned(), handler)).or_default();
        if count.name.is_empty() {
            handler.clone_into(&mut count.name);
        }
        count
    }
}

impl Control {
    /// Calls handlers for what changes, until the daemon ends.
    pub(super) fn watch_for_handlers(self: &Arc<Self>) {
        while self.handlers.wait_for_scripts() {
            let subscriber = self.watch.subscribe_own();
            let mut known = BTreeMap::new();
            while let Some(update) = subscriber.next() {
                self.call_for(update, &mut known);
                if !self.handlers.has_scripts() {
                    break;
                }
            }
            self.watch.unsubscribe(&subscriber);
        }
    }

    fn call_for(
        self: &Arc<Self>,
        update: Update,
        known: &mut BTreeMap<String, Arc<ResourceStatus>>,
    ) {
        let changed = match update {
            Update::All { resources, .. } => {
                known.retain(|name, _| resources.iter().any(|it| it.name == *name));
                resources
            }
            Update::Changed { resource, .. } => vec![*resource],
            Update::Gone { resource, .. } => {
                known.remove(&resource);
                Vec::new()
            }
            Update::Helper { .. } | Update::Polled | Update::Alive => Vec::new(),
        };
        for after in changed {
            let after = Arc::new(after);
            let before = known.insert(after.name.clone(), Arc::clone(&after));
            let found = match before {
                Some(before) => triggers(&before, &after),
                None => first_look(&after),
            };
            for trigger in found {
                self.handlers.enqueue(&after.name, trigger, Some(&after));
            }
        }
        self.start_handlers();
    }

    /// A shard says what happened.
    pub(super) fn on_fact(self: &Arc<Self>, resource: &str, fact: Fact) {
        let trigger = match fact {
            Fact::PrimaryLost => Trigger::of_resource("pri-lost"),
            Fact::DiskFailed => Trigger::of_resource("local-io-error"),
            Fact::ShouldGiveWay => Trigger::of_resource("pri-lost-after-sb"),
            Fact::ResyncWanted { number, leader, is_image } => {
                let asked = Asked { number, leader, is_image };
                if !self.waits_for_turn(resource, &asked) {
                    self.begin_resync(resource, asked);
                }
                return;
            }
            Fact::FenceWanted { number, peer, unreachable } => {
                let trigger = Trigger { peer, ..Trigger::of_resource("fence-peer") };
                let question = Some(Question::Fence(number, unreachable));
                if self.handlers.enqueue_answer(resource, trigger, None, question).is_some() {
                    self.answer_fence(resource, number, FenceVerdict::Unproven);
                }
                return self.start_handlers();
            }
        };
        self.handlers.enqueue(resource, trigger, None);
        self.start_handlers();
    }

    /// It is its turn; a handler may have a say.
    pub(super) fn begin_resync(self: &Arc<Self>, resource: &str, asked: Asked) {
        let Asked { number, leader, is_image } = asked;
        let trigger = Trigger { peer: leader, ..Trigger::of_resource("before-resync-target") };
        if !is_image || !self.handlers.has(resource, trigger.handler) {
            return self.answer_resync(resource, number, Verdict::Allowed);
        }
        let question = Some(Question::Resync(number));
        let verdict = self.handlers.enqueue_answer(resource, trigger, None, question);
        if let Some(verdict) = verdict {
            self.answer_resync(resource, number, verdict);
        }
        self.start_handlers();
    }

    fn answer_resync(&self, resource: &str, number: u64, verdict: Verdict) {
        let allowed = verdict == Verdict::Allowed;
        if !allowed {
            log!(
                Error,
                Scope::resource(resource),
                "the handler before-resync-target does not allow the resync: the replica stays as \
                 it is, and the handler is called again in about half a minute"
            );
        }
        let answer = ToShard::ResyncAnswer { resource: resource.to_owned(), number, allowed };
        if !self.desk.tell(self.desk.home_of(resource), answer) {
            log!(
                Error,
                Scope::resource(resource),
                "its resync waits, and the handler is called again in some minutes: {}",
                overloaded()
            );
        }
    }

    fn answer_fence(&self, resource: &str, number: u64, verdict: FenceVerdict) {
        let answer = ToShard::FenceAnswer { resource: resource.to_owned(), number, verdict };
        if !self.desk.tell(self.desk.home_of(resource), answer) {
            log!(
                Error,
                Scope::resource(resource),
                "what fence-peer found is not known, and it is called again in some minutes: {}",
                overloaded()
            );
        }
    }

    /// Begins what may begin, each in a thread that goes on with what waits.
    fn start_handlers(self: &Arc<Self>) {
        while let Some(call) = self.handlers.take() {
            let control = Arc::clone(self);
            let (resource, first) = (call.resource.clone(), call.clone());
            let started = thread::Builder::new().name("handler".to_owned()).spawn(move || {
                let mut next = Some(call);
                while let Some(call) = next {
                    control.run_handler(&call);
                    next = control.handlers.take();
                }
            });
            // What waits behind it is tried too: nobody else would begin it, and clients may wait.
            if let Err(error) = started {
                log!(Error, Scope::resource(&resource), "no thread for a handler: {error}");
                self.end_call(&first, Ended::NotStarted(error).status());
            }
        }
    }

    fn state_of(&self, resource: &str) -> Option<Arc<ResourceStatus>> {
        let states = self.states(&[resource.to_owned()], false).ok()?;
        states.into_iter().next().map(Arc::new)
    }

    /// Waits whether the quorum comes back at once. Who calls for it means to end something.
    fn is_quorum_back(&self, call: &Call) -> bool {
        let until = io::now() + HANDLER_QUORUM_PATIENCE;
        while io::now() < until {
            thread::park_timeout(until.since(io::now()));
        }
        let volume = call.trigger.volume.map_or(0, |(volume, _)| volume);
        let state = self.state_of(&call.resource);
        state.is_some_and(|state| {
            state.devices.iter().any(|device| device.volume == volume && device.quorum)
        })
    }

    /// A call may have waited for long. Who is back is not put out, nor is anybody whom nobody
    /// needs out any more: the resource has a quorum by another one, or waits for one by its
    /// options now.
    fn is_fence_void(&self, resource: &str, number: u64) -> bool {
        let name = resource.to_owned();
        let question = |ticket| ToShard::CheckFence { ticket, resource: name, number };
        self.ask(resource, question).is_err_and(|it| is_void(&it))
    }

    fn run_handler(&self, call: &Call) {
        let Call { resource, trigger, script, .. } = call;
        if trigger.handler == "quorum-lost" && self.is_quorum_back(call) {
            return self.handlers.withdraw(call);
        }
        if let Some(Question::Fence(number, _)) = call.answers
            && self.is_fence_void(resource, number)
        {
            return self.handlers.withdraw(call);
        }
        let state = call.state.clone().or_else(|| self.state_of(resource));
        let peer = trigger.peer.as_ref();
        let variables = environment::variables(resource, &self.name, state.as_deref(), trigger);
        let scope = Scope { resource, peer: peer.map_or("", |(_, name)| name) };
        let name = trigger.handler;
        log!(Notice, scope, "handler {name} is called: {script}");
        let (peer, volume) = (peer.cloned(), trigger.volume);
        let mut told = HelperCall {
            resource: resource.clone(),
            helper: name.to_owned(),
            peer,
            volume,
            status: None,
        };
        self.watch.tell_of_helper(unix_us(), &told);
        let ended = script::run(script, &variables, HANDLER_DEADLINE, |line| {
            log!(Info, scope, "handler {name}: {line}");
        });
        let status = ended.status();
        let is_good = call.is_good(status);
        if let Some(Question::Fence(_, unreachable)) = call.answers {
            log!(Warning, scope, "{}", fencing::judge(status, unreachable).1);
        }
        match &ended {
            Ended::Exited(code @ 1..) if is_good => {
                log!(Notice, scope, "handler {name} ended with exit code {code}");
            }
            Ended::Exited(0) => log!(Notice, scope, "handler {name} ended well"),
            Ended::Exited(_)
            | Ended::Killed(_)
            | Ended::TimedOut(_)
            | Ended::Stuck(_)
            | Ended::NotStarted(_) => {
                log!(Warning, scope, "handler {name} {ended}");
            }
        }
        self.end_call(call, status);
        told.status = Some(status);
        self.watch.tell_of_helper(unix_us(), &told);
    }

    /// Counts what came of a call, and tells the shard that waits for it.
    fn end_call(&self, call: &Call, status: u8) {
        let is_good = call.is_good(status);
        self.handlers.finish(call, status);
        match call.answers {
            Some(Question::Resync(number)) => {
                let verdict = if is_good { Verdict::Allowed } else { Verdict::Refused };
                self.answer_resync(&call.resource, number, verdict);
            }
            Some(Question::Fence(number, _)) => {
                let verdict = if is_good { FenceVerdict::Out } else { FenceVerdict::Unproven };
                self.answer_fence(&call.resource, number, verdict);
            }
            None => {}
        }
    }

    /// What came of the handlers, for the status.
    pub(super) fn tell_of_handlers(&self, status: &mut StatusReply) {
        let shared = self.handlers.lock();
        for resource in &mut status.resources {
            let own = shared.counts.iter().filter(|((name, _), _)| *name == resource.name);
            resource.handlers = own.map(|(_, count)| count.clone()).collect();
        }
    }
}

/// The shard says so: one that gives no answer in time keeps nobody from being put out.
fn is_void(failure: &Failure) -> bool {
    matches!(failure.code, FailureCode::StateRefused | FailureCode::UnknownResource)
}

fn unix_us() -> u64 {
    u64::try_from(io::clock::unix_time().as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn with_scripts(names: &[&str]) -> Handlers {
        let handlers = Handlers::default();
        for name in names {
            let scripts = ["disconnected", "fence-peer"].map(|name| (name, "true".to_owned()));
            let scripts = Scripts::from(scripts);
            handlers.lock().scripts.insert((*name).to_owned(), scripts);
        }
        handlers
    }

    fn call(handlers: &Handlers, resource: &str) {
        handlers.enqueue(resource, Trigger::of_resource("disconnected"), None);
    }

    /// `up` of what is up already fails, and leaves it as it is.
    #[test]
    fn what_was_defined_before_is_restored() {
        let handlers = with_scripts(&["a"]);
        let before = handlers.set("a", Scripts::new());
        assert!(!handlers.has_scripts());
        handlers.restore("a", before);
        call(&handlers, "a");
        assert!(handlers.take().is_some());
    }

    #[test]
    fn a_resource_has_one_script_running_and_the_node_a_few() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let handlers = with_scripts(&names);
        for name in names {
            call(&handlers, name);
            call(&handlers, name);
        }
        let running: Vec<Call> = std::iter::from_fn(|| handlers.take()).collect();
        let resources: Vec<&str> = running.iter().map(|call| &*call.resource).collect();
        assert_eq!(resources, &names[..HANDLERS_AT_ONCE_MAX]);
        handlers.finish(&running[1], 0);
        assert_eq!(handlers.take().unwrap().resource, "b", "the older one of those that may");
        assert!(handlers.take().is_none());
    }

    #[test]
    fn calls_are_counted_and_bounded() {
        let handlers = with_scripts(&["a"]);
        call(&handlers, "a");
        let running = handlers.take().unwrap();
        for _ in 0..=HANDLERS_WAITING_MAX {
            call(&handlers, "a");
        }
        handlers.finish(&running, 3);
        let shared = handlers.lock();
        let count = &shared.counts[&("a".to_owned(), "disconnected")];
        assert_eq!((count.calls, count.failures), (2, 2), "one was not called, one failed");
        assert_eq!(count.pending as usize, HANDLERS_WAITING_MAX);
        assert_eq!(count.last_status, Some(3));
        drop(shared);
        handlers.forget("a");
        assert!(handlers.take().is_none(), "the resource is down");
    }

    fn ask_to_fence(handlers: &Handlers, resource: &str, number: u64) -> Option<Verdict> {
        let peer = Some((1, "peer".to_owned()));
        let trigger = Trigger { peer, ..Trigger::of_resource("fence-peer") };
        let question = Question::Fence(number, Unreachable::IsNoProof);
        handlers.enqueue_answer(resource, trigger, None, Some(question))
    }

    /// Clients wait for it, and nobody asks for it a second time: more volumes than calls may wait
    /// lost one peer.
    #[test]
    fn who_is_to_be_put_out_is_however_many_calls_wait() {
        let many: Vec<String> = (0..2 * HANDLERS_WAITING_MAX).map(|it| it.to_string()).collect();
        let handlers = with_scripts(&many.iter().map(|it| &**it).collect::<Vec<_>>());
        for _ in 0..=HANDLERS_WAITING_MAX {
            call(&handlers, "0");
        }
        for resource in &many {
            assert_eq!(ask_to_fence(&handlers, resource, 7), None);
        }
        let mut fenced = BTreeSet::new();
        while let Some(call) = handlers.take() {
            handlers.finish(&call, 7);
            if call.trigger.handler == "fence-peer" {
                fenced.insert(call.resource);
            }
        }
        assert_eq!(fenced.len(), many.len());
    }

    /// Before all other calls, in the order in which it was asked for: who asked first waits
    /// longest.
    #[test]
    fn who_is_to_be_put_out_first_is() {
        let names: Vec<String> = (0..HANDLERS_WAITING_MAX).map(|it| it.to_string()).collect();
        let handlers = with_scripts(&names.iter().map(|it| &**it).collect::<Vec<_>>());
        call(&handlers, "0");
        names.iter().for_each(|name| assert_eq!(ask_to_fence(&handlers, name, 7), None));
        let calls = std::iter::from_fn(|| {
            let call = handlers.take()?;
            handlers.finish(&call, 7);
            Some((call.resource, call.trigger.handler))
        });
        let calls: Vec<(String, &str)> = calls.collect();
        let mut wanted: Vec<(String, &str)> =
            names.into_iter().map(|name| (name, "fence-peer")).collect();
        wanted.push(("0".to_owned(), "disconnected"));
        assert_eq!(calls, wanted);
    }

    /// The scripts of many volumes take longer than the core waits for an answer.
    #[test]
    fn who_asks_once_more_to_put_a_peer_out_calls_nothing_more() {
        let handlers = with_scripts(&["a"]);
        call(&handlers, "a");
        let before = handlers.take().unwrap();
        ask_to_fence(&handlers, "a", 7);
        // Of the same absence, and of another.
        ask_to_fence(&handlers, "a", 7);
        ask_to_fence(&handlers, "a", 8);
        handlers.finish(&before, 0);
        let fence = handlers.take().unwrap();
        let question = Question::Fence(8, Unreachable::IsNoProof);
        assert_eq!(fence.answers, Some(question));
        ask_to_fence(&handlers, "a", 8);
        handlers.finish(&fence, 7);
        assert!(handlers.take().is_none(), "its answer was on its way");
        let shared = handlers.lock();
        let count = &shared.counts[&("a".to_owned(), "fence-peer")];
        assert_eq!((count.calls, count.pending), (1, 0));
    }

    /// The first of many calls started the machine anew, and the others still wait; or there is a
    /// quorum without it.
    #[test]
    fn who_need_not_be_out_is_not_put_out_by_a_call_that_waited() {
        let handlers = with_scripts(&["a"]);
        ask_to_fence(&handlers, "a", 7);
        let call = handlers.take().unwrap();
        let failed = |code| Failure::new(code, "text", "hint");
        assert!(is_void(&failed(FailureCode::StateRefused)));
        assert!(is_void(&failed(FailureCode::UnknownResource)), "it is down");
        assert!(!is_void(&failed(FailureCode::Timeout)));
        handlers.withdraw(&call);
        let shared = handlers.lock();
        let count = &shared.counts[&("a".to_owned(), "fence-peer")];
        assert_eq!((count.calls, count.pending), (0, 0));
    }

    #[test]
    fn without_a_script_nothing_is_called() {
        let handlers = with_scripts(&["a"]);
        call(&handlers, "b");
        handlers.enqueue("a", Trigger::of_resource("pri-lost"), None);
        assert!(handlers.take().is_none());
        handlers.end();
        call(&handlers, "a");
        assert!(handlers.take().is_none(), "the daemon ends");
    }
}
