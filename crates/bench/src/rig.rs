//! A cluster under the checker's load: what the kill schedule and the demo have in common.

mod resync;

use std::time::Duration;

use anyhow::{Context, Result, bail};
use io::clock;

use self::resync::ResyncView;
use crate::checker::Run;
use crate::checker::mix::Writes;
use crate::checker::report::Report;
use crate::cluster::{self, Cluster, replicas};
use crate::progress::Progress;
use crate::waiting;

/// A resync of the whole volume, on a slow machine.
const RESYNC_LIMIT: Duration = Duration::from_secs(300);
const WRITE_LIMIT: Duration = Duration::from_secs(60);
const SWITCH_LIMIT: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) cluster: Cluster,
    pub(crate) run: Run,
    pub(crate) progress: Progress,
}

impl Rig {
    /// Kills a node and notes it in the run; `role` is what the node was at that moment.
    pub(crate) fn kill(&mut self, index: usize, role: &str) -> Result<()> {
        let name = self.cluster.nodes()[index].name;
        self.cluster.kill(index)?;
        self.run.note_fault(role, format!("killed {name} ({role})"));
        Ok(())
    }

    pub(crate) fn restart(&mut self, index: usize) -> Result<()> {
        self.cluster.restart(index)
    }

    /// Moves the clients, and so the role of Primary, to a node: no request is lost on the way.
    pub(crate) fn serve_at(&mut self, index: usize) -> Result<()> {
        let name = self.cluster.nodes()[index].name;
        self.run.note_fault("switch-over", format!("the clients move to {name}"));
        self.run.load.move_to(index);
        self.look_until(&format!("{name} to be Primary"), SWITCH_LIMIT, |rig| {
            rig.cluster.primary() == Some(index)
        })?;
        self.wait_for_next_write()
    }

    /// From now on every write is durable when it is acknowledged, and so are those of before.
    pub(crate) fn write_durably(&mut self) -> Result<()> {
        let server = self.cluster.primary().unwrap_or_default();
        let count = |rig: &Self| rig.run.load.shared().tally().sessions.len();
        let sessions = count(self);
        self.run.load.write(Writes::All);
        // A session ends here when all its writes are answered; a flush of the next covers them.
        self.run.load.move_to(server);
        self.look_until("a session of durable writes", SWITCH_LIMIT, |rig| count(rig) > sessions)?;
        let count = |rig: &Self| rig.run.load.shared().tally().flushes.count();
        let flushes = count(self);
        self.look_until("a flush", SWITCH_LIMIT, |rig| count(rig) > flushes)
    }

    /// Lets the load go on for a while.
    pub(crate) fn go_on(&mut self, time: Duration) -> Result<()> {
        let until = clock::now() + time;
        self.look_until("more load", time * 2, |rig| {
            rig.progress.show(None, || rig.run.line());
            clock::now() > until
        })
    }

    /// Waits for a write that started after the last fault. Where the last disk that was up to date
    /// is lost there is none before somebody attaches it.
    pub(crate) fn wait_for_next_write(&mut self) -> Result<()> {
        self.look_until("a write after the fault", WRITE_LIMIT, |rig| {
            rig.progress.show(None, || rig.run.line());
            rig.cluster.attach_lost_disks_if_all_wait();
            rig.cluster.reopen_after_losses();
            rig.run.is_over_the_last_fault()
        })
    }

    /// Waits until all replicas are up to date, and shows how far it is.
    pub(crate) fn wait_until_whole(&mut self) -> Result<()> {
        self.wait_until_whole_within(RESYNC_LIMIT)
    }

    pub(crate) fn wait_until_whole_within(&mut self, limit: Duration) -> Result<()> {
        let mut view = ResyncView::default();
        self.look_until("all replicas to be up to date", limit, |rig| {
            show_resync(&rig.cluster, &mut rig.progress, &mut view, &rig.run.line());
            rig.cluster.attach_lost_disks();
            rig.cluster.reopen_after_losses();
            rig.cluster.is_whole()
        })
    }

    /// Ends the load, reads everything back, lets the replicas settle, and compares them.
    pub(crate) fn finish(self) -> Result<(Report, Cluster)> {
        let Self { mut cluster, run, mut progress } = self;
        match finish(&mut cluster, run, &mut progress) {
            Ok(report) => Ok((report, cluster)),
            Err(error) => Err(cluster.with_evidence(&error)),
        }
    }

    /// The same for faults that a seed drew; the files of a run that failed are kept.
    pub(crate) fn finish_schedule(self, seed: u64) -> Result<Report> {
        let (mut report, mut cluster) = self.finish()?;
        report.seed = seed;
        if !report.passed {
            let kept = cluster.keep_files().display().to_string();
            report.violations.push(format!("files and logs are kept in {kept}"));
        }
        Ok(report)
    }

    /// Ends everything because of `error`, and adds to it what is there to be seen.
    pub(crate) fn give_up(mut self, error: anyhow::Error) -> anyhow::Error {
        // The load's own failure, where there is one, says more than what waited for it.
        let error = if self.run.load.has_failed() {
            self.run.load.stop().map_or_else(|inner| inner, |_| error)
        } else {
            error
        };
        self.cluster.with_evidence(&error)
    }

    fn look_until(
        &mut self,
        what: &str,
        limit: Duration,
        mut is_so: impl FnMut(&mut Self) -> bool,
    ) -> Result<()> {
        waiting::wait_for(what, limit, || {
            if self.run.load.has_failed() {
                bail!("the load ended before its time");
            }
            Ok(is_so(self).then_some(()))
        })
    }
}

fn finish(cluster: &mut Cluster, run: Run, progress: &mut Progress) -> Result<Report> {
    let volume_bytes = run.volume_bytes();
    let mut report = run.finish(progress)?;
    wait_until_whole(cluster, progress)?;
    // A clean end writes back everything, so the files hold all there is.
    cluster.stop()?;
    let compared = replicas::compare(&cluster.replicas(), volume_bytes, |share| {
        progress.show(Some(share), || "comparing the replicas byte for byte".to_owned());
    });
    report.on_comparison(compared.err().map(|error| format!("{error:#}")));
    Ok(report)
}

/// Starts a cluster and waits until its replicas are filled.
pub(crate) fn start_cluster(plan: &cluster::Plan, progress: &mut Progress) -> Result<Cluster> {
    let mut cluster = Cluster::start(plan)?;
    let filled = wait_until_whole(&cluster, progress).and_then(|()| cluster.release());
    match filled {
        Ok(()) => Ok(cluster),
        Err(error) => Err(cluster.with_evidence(&error)),
    }
}

/// The same without a load.
pub(crate) fn wait_until_whole(cluster: &Cluster, progress: &mut Progress) -> Result<()> {
    let mut view = ResyncView::default();
    let look = || {
        show_resync(cluster, progress, &mut view, "");
        Ok(cluster.is_whole().then_some(()))
    };
    let result = waiting::wait_for("all replicas to be up to date", RESYNC_LIMIT, look);
    result.with_context(|| cluster.describe())
}

fn show_resync(cluster: &Cluster, progress: &mut Progress, view: &mut ResyncView, load: &str) {
    let states = cluster.states();
    let look = view.look(states.iter().flatten(), clock::now());
    let share = look.as_ref().map(|look| look.share);
    progress.show(share, || {
        let text = look.map_or_else(|| "waiting for the replicas to meet".to_owned(), |l| l.text);
        format!("{text}  {load}")
    });
}
