//! Work on disks that may never answer.
//!
//! A thread that waits for such a disk cannot be ended. So whatever reads or writes the disks of a
//! resource before the data threads have them is done by a thread of its own, and whoever asked for
//! it is told when nothing moves any more. Until that thread ends the resource is claimed: nobody
//! else takes its disks. The other resources do not notice.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use api::response::{Failure, FailureCode};
use stdx::mutex::lock;
use stdx::time::Time;

use crate::limits::DISK_WORK_POLL_INTERVAL;
use crate::patience::{Patience, Steps};
use crate::refusal::Refusal;

/// The resources whose disks somebody works on.
#[derive(Debug, Default)]
pub(crate) struct DiskWork {
    claimed: Arc<Mutex<BTreeMap<String, Arc<Progress>>>>,
    /// Changed with the claims locked.
    is_closed: AtomicBool,
}

/// Of one who works.
#[derive(Debug, Default)]
struct Progress {
    steps: Steps,
    is_given_up: AtomicBool,
    stage: Mutex<Stage>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    CanStop,
    /// What is under way has to be done to its end.
    LastSteps,
    Stopped,
}

impl Stage {
    fn check(self) -> Result<(), Failure> {
        match self {
            Self::CanStop | Self::LastSteps => Ok(()),
            Self::Stopped => Err(Refusal::TakenDown.into()),
        }
    }
}

impl Progress {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        lock(&self.stage)
    }

    fn check(&self) -> Result<(), Failure> {
        self.stage().check()
    }

    fn begin_last_steps(&self) -> Result<(), Failure> {
        let mut stage = self.stage();
        stage.check()?;
        *stage = Stage::LastSteps;
        Ok(())
    }

    fn cancel(&self) {
        let mut stage = self.stage();
        if *stage == Stage::CanStop {
            *stage = Stage::Stopped;
        }
    }
}

/// The right to work on the disks of a resource; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    resource: String,
    progress: Arc<Progress>,
    claimed: Arc<Mutex<BTreeMap<String, Arc<Progress>>>>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        lock(&self.claimed).remove(&self.resource);
    }
}

impl DiskWork {
    /// Waits for whoever has it, as long as his work goes on.
    pub(crate) fn claim(&self, resource: &str, stall_max: Duration) -> Result<Claim, Failure> {
        let mut watched = Watched::new();
        loop {
            let holder = {
                let mut claimed = lock(&self.claimed);
                if self.is_closed.load(Ordering::Acquire) {
                    return Err(Refusal::DaemonEnds.into());
                }
                let Some(holder) = claimed.get(resource) else {
                    let progress = Arc::<Progress>::default();
                    claimed.insert(resource.to_owned(), Arc::clone(&progress));
                    let claimed = Arc::clone(&self.claimed);
                    return Ok(Claim { resource: resource.to_owned(), progress, claimed });
                };
                Arc::clone(holder)
            };
            let is_given_up = holder.is_given_up.load(Ordering::Acquire);
            if is_given_up || watched.stands_since(&holder.steps) >= stall_max {
                let message = "an earlier command still waits for the disk, which gives no answer";
                return Err(Refusal::DiskSilent { reason: message.to_owned() }.into());
            }
            thread::park_timeout(DISK_WORK_POLL_INTERVAL);
        }
    }

    /// Nobody works on any disk.
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.claimed).is_empty()
    }

    /// The resources whose disks somebody works on.
    pub(crate) fn claimed(&self) -> Vec<String> {
        lock(&self.claimed).keys().cloned().collect()
    }

    /// Whoever works for it now stops, once his last steps are done if they have begun, and nobody
    /// does when this returns; or its disk gives no answer for `stall_max`. Then whoever gets one
    /// later does nothing with it any more.
    pub(crate) fn end(&self, resource: &str, stall_max: Duration) -> Result<(), Failure> {
        self.cancel(resource);
        self.claim(resource, stall_max).map(drop).inspect_err(|failure| {
            if failure.code == FailureCode::DiskFailed
                && let Some(progress) = lock(&self.claimed).get(resource)
            {
                *progress.stage() = Stage::Stopped;
            }
        })
    }

    /// Whoever works for it now is not to take it into use.
    pub(crate) fn cancel(&self, resource: &str) {
        if let Some(progress) = lock(&self.claimed).get(resource) {
            progress.cancel();
        }
    }

    /// The daemon ends: all work stops, and none begins.
    pub(crate) fn close(&self) {
        let claimed = lock(&self.claimed);
        self.is_closed.store(true, Ordering::Release);
        claimed.values().for_each(|it| it.cancel());
    }
}

impl Claim {
    /// An error once the resource goes down, or gives its disk up: it may be another's soon.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.progress.check()
    }

    /// What follows leaves the disk of no use if it is not done to its end: nobody stops it but
    /// who has waited for the disk in vain. An error as of `check`.
    pub(crate) fn begin_last_steps(&self) -> Result<(), Failure> {
        self.progress.begin_last_steps()
    }

    /// Which whoever waits for it watches.
    pub(crate) fn steps(&self) -> Steps {
        self.progress.steps.clone()
    }

    /// What comes of `work`, with the claim; or a failure, as soon as none of its steps ends for
    /// `stall_max`. It goes on then, and what comes of it is dropped.
    pub(crate) fn done_in_time<T: Send + 'static>(
        self,
        patience: &Patience,
        stall_max: Duration,
        work: impl FnOnce(&mut Patience) -> Result<T, Failure> + Send + 'static,
    ) -> Result<(Self, T), Failure> {
        let progress = Arc::clone(&self.progress);
        let mut patience = patience.counted_by(&progress.steps);
        let (sender, receiver) = mpsc::channel();
        let started = thread::Builder::new().name("disk-work".to_owned()).spawn(move || {
            let result = work(&mut patience);
            // The claim is given back where nobody listens any more.
            drop(sender.send((self, result)));
        });
        started.map_err(|error| Refusal::NoThread { error })?;
        let mut watched = Watched::new();
        loop {
            let answer = receiver.recv_timeout(DISK_WORK_POLL_INTERVAL);
            progress.check()?;
            match answer {
                Ok((claim, result)) => return result.map(|done| (claim, done)),
                Err(RecvTimeoutError::Timeout)
                    if watched.stands_since(&progress.steps) < stall_max => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    progress.is_given_up.store(true, Ordering::Release);
                    let seconds = stall_max.as_secs();
                    let reason = format!("the disk gave no answer for {seconds} s");
                    return Err(Refusal::DiskSilent { reason }.into());
                }
            }
        }
    }
}

/// Since when there is no step.
struct Watched {
    steps: u64,
    at: Time,
}

impl Watched {
    fn new() -> Self {
        Self { steps: 0, at: io::now() }
    }

    fn stands_since(&mut self, steps: &Steps) -> Duration {
        let steps = steps.count();
        if steps != self.steps {
            (self.steps, self.at) = (steps, io::now());
        }
        io::now().since(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STALL_MAX: Duration = Duration::from_millis(100);

    fn patience() -> Patience {
        Patience::new(Duration::ZERO)
    }

    #[test]
    fn a_resource_stays_claimed_as_long_as_its_disk_is_waited_for() {
        let disk_work = DiskWork::default();
        let (answer, disk) = mpsc::channel::<()>();
        let claim = disk_work.claim("r0", STALL_MAX).unwrap();
        let waits = move |_: &mut Patience| Ok(disk.recv().is_ok());
        let failure = claim.done_in_time(&patience(), STALL_MAX, waits).unwrap_err();
        assert!(failure.message.contains("the disk gave no answer"), "{failure}");
        let failure = disk_work.claim("r0", Duration::MAX).unwrap_err();
        assert!(failure.message.contains("an earlier command still waits"), "{failure}");
        // Another resource does not notice.
        let other = disk_work.claim("r1", STALL_MAX).unwrap();
        let (_claim, done) = other.done_in_time(&patience(), STALL_MAX, |_| Ok(7)).unwrap();
        assert_eq!(done, 7);
        answer.send(()).unwrap();
        while disk_work.claim("r0", STALL_MAX).is_err() {
            thread::yield_now();
        }
    }

    #[test]
    fn slow_work_that_goes_on_is_waited_for() {
        let disk_work = DiskWork::default();
        // Long enough for a machine that is busy with other tests.
        let stall_max = STALL_MAX * 5;
        let claim = disk_work.claim("r0", stall_max).unwrap();
        let began = io::now();
        let until = stall_max * 2;
        let work = move |patience: &mut Patience| {
            while io::now().since(began) < until {
                thread::park_timeout(STALL_MAX / 5);
                patience.steps().add_one();
            }
            Ok(())
        };
        claim.done_in_time(&patience(), stall_max, work).unwrap();
        assert!(io::now().since(began) >= until);
    }

    #[test]
    fn what_was_taken_down_meanwhile_comes_to_nothing() {
        let disk_work = DiskWork::default();
        let claim = disk_work.claim("r0", STALL_MAX).unwrap();
        disk_work.cancel("r1");
        disk_work.cancel("r0");
        let failure = claim.done_in_time(&patience(), STALL_MAX, |_| Ok(())).unwrap_err();
        assert!(failure.message.contains("taken down meanwhile"), "{failure}");
    }

    /// A disk that was being enlarged had the daemon's end take long, and called it hung.
    #[test]
    fn end_of_the_daemon_stops_all_work_and_lets_none_begin() {
        let disk_work = DiskWork::default();
        let claims = ["r0", "r1"].map(|name| disk_work.claim(name, STALL_MAX).unwrap());
        disk_work.close();
        assert!(claims.iter().all(|claim| claim.check().is_err()));
        drop(claims);
        assert!(disk_work.is_idle());
        let failure = disk_work.claim("r0", STALL_MAX).unwrap_err();
        assert_eq!(failure.message, "the daemon ends");
    }

    /// A growth was stopped between the two superblocks, and the replica given up for it.
    #[test]
    fn last_steps_are_stopped_by_who_waited_in_vain_alone() {
        let disk_work = DiskWork::default();
        let claim = disk_work.claim("r0", STALL_MAX).unwrap();
        claim.begin_last_steps().unwrap();
        disk_work.cancel("r0");
        claim.check().unwrap();
        disk_work.end("r0", STALL_MAX).unwrap_err();
        claim.check().unwrap_err();
        claim.begin_last_steps().unwrap_err();
        drop(claim);
        let claim = disk_work.claim("r0", STALL_MAX).unwrap();
        claim.begin_last_steps().unwrap();
        disk_work.close();
        // Nobody waits any more who begins now.
        disk_work.end("r0", STALL_MAX).unwrap_err();
        claim.check().unwrap();
        drop(claim);
        let ended = DiskWork::default();
        let claim = ended.claim("r0", STALL_MAX).unwrap();
        ended.cancel("r0");
        claim.begin_last_steps().unwrap_err();
    }

    /// A disk was still written to after `down` had said that it is free.
    #[test]
    fn whoever_ends_the_work_waits_until_it_has_stopped() {
        let disk_work = DiskWork::default();
        disk_work.end("r0", STALL_MAX).unwrap();
        let claim = disk_work.claim("r0", STALL_MAX).unwrap();
        claim.check().unwrap();
        let has_stopped = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while claim.check().is_ok() {
                    claim.steps().add_one();
                    thread::yield_now();
                }
                has_stopped.store(true, Ordering::Release);
                drop(claim);
            });
            disk_work.end("r0", STALL_MAX).unwrap();
            assert!(has_stopped.load(Ordering::Acquire));
        });
    }
}
