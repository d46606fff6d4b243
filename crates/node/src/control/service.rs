//! The daemon tells the service manager how it is, from its start to its end.
//!
//! While it starts: how far it is, and that this may take longer, as long as it gets further. While
//! it runs: that it is alive, if every data thread took a question and its answer came back, and
//! its state in a line. While it ends: that this may take longer, up to a bound. Each has a thread
//! of its own, which sleeps for most of the time. Without a manager there is none of this.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::role::Role;
use api::status::ResourceStatus;
use engine::contract::ToShard;
use engine::log::{Scope, log};
use stdx::mutex::{lock, unpoisoned};

use crate::control::asking::About;
use crate::control::{Control, spawn};
use crate::error::NodeError;
use crate::limits::{
    SERVICE_END_MAX, SERVICE_EXTENSION, SERVICE_STANDSTILL_MAX, SERVICE_TELL_INTERVAL,
};
use crate::notify::{Notifier, Word, watchdog};
use crate::patience::Steps;

/// Of that time, which the manager waits for a word, a third goes by between two.
const WORDS_PER_WATCHDOG: u32 = 3;
const ENDED_BY_SYSTEMD: &str =
    "; systemd ends the daemon if that lasts for as long as WatchdogSec= of its unit says";

#[derive(Debug, Default)]
pub(super) struct Service {
    manager: Option<Notifier>,
    /// How long the manager waits for a word.
    watchdog: Option<Duration>,
    phase: Mutex<Phase>,
    bell: Condvar,
    start: Start,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Starting,
    Running,
    Ending,
    Over,
}

/// How far a start is.
#[derive(Debug, Default)]
struct Start {
    resources: AtomicUsize,
    done: AtomicUsize,
    /// Of those that bring resources up.
    steps: Mutex<Vec<Steps>>,
}

impl Service {
    /// Of the manager that the environment names; it is told from now on that the daemon starts.
    pub(super) fn begin() -> Result<Arc<Self>, NodeError> {
        let manager = Notifier::from_environment().unwrap_or_else(|error| {
            log!(Warning, Scope::NODE, "NOTIFY_SOCKET names no socket: {error}");
            None
        });
        let watchdog = watchdog().filter(|_| manager.is_some());
        let service = Arc::new(Self { manager, watchdog, ..Self::default() });
        if service.manager.is_some() {
            let starting = Arc::clone(&service);
            spawn("service", move || starting.tell_of_start())?;
        }
        Ok(service)
    }

    /// So many resources are brought up now.
    pub(super) fn starts(&self, resources: usize) {
        self.start.resources.store(resources, Ordering::Relaxed);
    }

    /// As long as these go on the start gets further.
    pub(super) fn watch(&self, steps: Steps) {
        lock(&self.start.steps).push(steps);
    }

    pub(super) fn one_started(&self) {
        self.start.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The end begins, for this reason.
    pub(super) fn ending(self: &Arc<Self>, reason: &str) {
        self.enter(Phase::Ending);
        let status = Word::Status(format!("ending: {reason}"));
        self.tell(&[Word::Stopping, Word::Extend(SERVICE_EXTENSION), status]);
        if self.manager.is_some() {
            let ending = Arc::clone(self);
            // Without a thread the manager waits as long as its unit says.
            drop(spawn("service", move || ending.tell_of_end()));
        }
    }

    pub(super) fn over(&self) {
        self.enter(Phase::Over);
    }

    fn enter(&self, phase: Phase) {
        *lock(&self.phase) = phase;
        self.bell.notify_all();
    }

    /// Waits so long; false if the phase is over before.
    fn stays_for(&self, phase: Phase, time: Duration) -> bool {
        let until = io::now() + time;
        let mut now = lock(&self.phase);
        while *now == phase {
            let rest = until.since(io::now());
            if rest.is_zero() {
                return true;
            }
            now = unpoisoned(self.bell.wait_timeout(now, rest)).0;
        }
        false
    }

    fn tell(&self, words: &[Word]) {
        if let Some(manager) = &self.manager
            && let Err(error) = manager.tell(words)
        {
            log!(Warning, Scope::NODE, "the service manager was not told {words:?}: {error}");
        }
    }

    fn tell_of_start(&self) {
        let (mut far, mut moved_at) = (self.start.far(), io::now());
        while self.stays_for(Phase::Starting, SERVICE_TELL_INTERVAL) {
            let now = self.start.far();
            if now != far {
                (far, moved_at) = (now, io::now());
            }
            if io::now().since(moved_at) < SERVICE_STANDSTILL_MAX {
                let status = Word::Status(self.start.status());
                self.tell(&[Word::Extend(SERVICE_EXTENSION), status]);
            }
        }
    }

    fn tell_of_end(&self) {
        let until = io::now() + SERVICE_END_MAX;
        while self.stays_for(Phase::Ending, SERVICE_TELL_INTERVAL) && io::now() < until {
            self.tell(&[Word::Extend(SERVICE_EXTENSION)]);
        }
    }
}

impl Start {
    /// It changes while the start gets further.
    fn far(&self) -> (usize, u64) {
        (self.done.load(Ordering::Relaxed), lock(&self.steps).iter().map(Steps::count).sum())
    }

    fn status(&self) -> String {
        let (done, all) = (&self.done, &self.resources);
        let (done, all) = (done.load(Ordering::Relaxed), all.load(Ordering::Relaxed));
        format!("starting: {done} of {all} resources were looked at")
    }
}

impl Control {
    /// The daemon serves, and what was up is up again: that is told now, and how it goes on from a
    /// thread.
    pub(super) fn tell_that_ready(self: &Arc<Self>) -> Result<(), NodeError> {
        self.service.enter(Phase::Running);
        if self.service.manager.is_none() {
            return Ok(());
        }
        let status = Word::Status(self.service_status().unwrap_or_default());
        self.service.tell(&[Word::Ready, Word::Alive, status]);
        let telling = Arc::clone(self);
        spawn("service", move || telling.tell_how_it_goes())
    }

    fn tell_how_it_goes(&self) {
        let watchdog = self.service.watchdog.map(|it| it / WORDS_PER_WATCHDOG);
        let interval = watchdog.map_or(SERVICE_TELL_INTERVAL, |it| it.min(SERVICE_TELL_INTERVAL));
        let (mut told, mut was_silent) = (None, false);
        while self.service.stays_for(Phase::Running, interval) {
            let silent = self.silent_threads(interval);
            if !silent.is_empty() && !was_silent {
                let then = if watchdog.is_some() { ENDED_BY_SYSTEMD } else { "" };
                let text = silent.join(", ");
                log!(Error, Scope::NODE, "{text} gave no answer within {interval:?}{then}");
            }
            was_silent = !silent.is_empty();
            if was_silent {
                continue;
            }
            if self.service.watchdog.is_some() {
                self.service.tell(&[Word::Alive]);
            }
            let status = self.service_status();
            if let Some(status) = status.filter(|status| told.as_ref() != Some(status)) {
                self.service.tell(&[Word::Status(status.clone())]);
                told = Some(status);
            }
        }
    }

    /// The data threads that do not answer a question that costs nothing.
    fn silent_threads(&self, deadline: Duration) -> Vec<String> {
        let answers = self.desk.ask_all(|ticket| ToShard::Names { ticket }, deadline);
        let silent = answers.iter().enumerate().filter(|(_, answer)| answer.is_err());
        silent.map(|(shard, _)| format!("data thread {shard}")).collect()
    }

    /// `None` if it is not known just now.
    fn service_status(&self) -> Option<String> {
        let status = self.status_of(About::All, false).ok()?;
        Some(in_a_line(&status.resources))
    }
}

/// The resources that are up, and their state, in the words of `status`.
fn in_a_line(resources: &[ResourceStatus]) -> String {
    let up: Vec<_> = resources.iter().filter(|it| !it.devices.is_empty()).collect();
    let primary = up.iter().filter(|it| it.role == Role::Primary).count();
    let degraded = resources.iter().filter(|it| !is_whole(it)).count();
    let held_down = resources.len() - up.len();
    let mut line = format!("resources: {} up, {primary} Primary", up.len());
    if held_down > 0 {
        line.push_str(&format!(", {held_down} held down"));
    }
    if degraded > 0 {
        line.push_str(&format!(", {degraded} degraded (basalt adm status)"));
    }
    line
}

/// Whether all replicas are there and in sync, as far as this node knows.
fn is_whole(resource: &ResourceStatus) -> bool {
    let has_disk = |it: DiskState, is_client: bool| it == DiskState::UpToDate || is_client;
    !resource.devices.is_empty()
        && resource.devices.iter().all(|it| it.quorum && has_disk(it.disk_state, it.client))
        && resource.connections.iter().all(|connection| {
            let peers = &connection.peer_devices;
            connection.connection_state == ConnectionState::Connected
                && peers.iter().all(|it| has_disk(it.peer_disk_state, it.peer_client))
        })
}

#[cfg(test)]
mod tests {
    use api::status::{ConnectionStatus, DeviceStatus, PeerDeviceStatus};

    use super::*;

    fn resource(role: Role, peer: ConnectionState, disk: DiskState) -> ResourceStatus {
        ResourceStatus {
            role,
            devices: vec![DeviceStatus {
                disk_state: DiskState::UpToDate,
                quorum: true,
                ..DeviceStatus::default()
            }],
            connections: vec![ConnectionStatus {
                connection_state: peer,
                peer_devices: vec![PeerDeviceStatus {
                    peer_disk_state: disk,
                    ..PeerDeviceStatus::default()
                }],
                ..ConnectionStatus::default()
            }],
            ..ResourceStatus::default()
        }
    }

    #[test]
    fn state_of_the_service_counts_what_is_up_and_what_is_not_whole() {
        let connected = ConnectionState::Connected;
        let whole = resource(Role::Primary, connected, DiskState::UpToDate);
        let without_peer =
            resource(Role::Secondary, ConnectionState::Connecting, DiskState::DUnknown);
        let mut witness = resource(Role::Secondary, connected, DiskState::Diskless);
        witness.connections[0].peer_devices[0].peer_client = true;
        let mut without_quorum = whole.clone();
        without_quorum.devices[0].quorum = false;
        assert_eq!(in_a_line(&[]), "resources: 0 up, 0 Primary");
        assert_eq!(in_a_line(&[whole.clone(), witness]), "resources: 2 up, 1 Primary");
        assert_eq!(
            in_a_line(&[whole, without_peer, without_quorum, ResourceStatus::default()]),
            "resources: 3 up, 2 Primary, 1 held down, 3 degraded (basalt adm status)"
        );
    }

    /// A start that does not get further is not extended for ever.
    #[test]
    fn start_gets_further_with_each_step_and_each_resource() {
        let service = Service::default();
        let steps = Steps::default();
        service.starts(2);
        service.watch(steps.clone());
        let begin = service.start.far();
        assert_eq!(service.start.far(), begin);
        steps.add_one();
        let later = service.start.far();
        assert_ne!(later, begin);
        service.one_started();
        assert_ne!(service.start.far(), later);
        assert_eq!(service.start.status(), "starting: 1 of 2 resources were looked at");
    }

    #[test]
    fn phase_that_ends_wakes_who_waits_in_it() {
        let service = Service::default();
        assert!(service.stays_for(Phase::Starting, Duration::ZERO));
        assert!(!service.stays_for(Phase::Ending, Duration::from_secs(600)));
        std::thread::scope(|scope| {
            let waiting =
                scope.spawn(|| service.stays_for(Phase::Starting, Duration::from_secs(600)));
            service.over();
            assert!(!waiting.join().unwrap());
        });
    }
}
