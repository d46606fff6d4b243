//! The checker: it loads a volume over NBD, knows every acknowledged write, and reports each read
//! that no order of the requests explains.
//!
//! In reading order: what a block holds, what a read may return, which requests are sent, what the
//! threads share, the load with its sessions, and what is counted.

pub(crate) mod block;
pub(crate) mod oracle;
pub(crate) mod mix;
pub(crate) mod plan;
pub(crate) mod tally;
pub(crate) mod shared;
mod session;
pub(crate) mod load;
pub(crate) mod report;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use io::clock;
use stdx::time::Time;

use self::load::Load;
use self::plan::Plan;
use self::report::Report;
use self::shared::Shared;
use crate::progress::Progress;
use crate::waiting;

/// A load since its start.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) load: Load,
    from: Time,
}

impl Run {
    pub(crate) fn start(plan: Plan) -> Result<Self> {
        let load = Load::start(plan).context("cannot start the load")?;
        Ok(Self { load, from: clock::now() })
    }

    pub(crate) fn elapsed(&self) -> Duration {
        clock::now().since(self.from)
    }

    /// The size of the whole export, of which the load may use a part.
    pub(crate) fn volume_bytes(&self) -> u64 {
        self.load.shared().volume_bytes
    }

    /// Something was just done to the servers.
    pub(crate) fn note_fault(&self, role: &str, what: String) {
        self.load.shared().tally().on_fault(role, what, clock::now());
    }

    /// True once a write that started after the last fault was acknowledged.
    pub(crate) fn is_over_the_last_fault(&self) -> bool {
        self.load.shared().tally().faults.last().is_none_or(|fault| fault.over.is_some())
    }

    /// One line on how it goes.
    pub(crate) fn line(&self) -> String {
        let shared = self.load.shared();
        let violations = shared.oracle().violations().len();
        let tally = shared.tally();
        format!(
            "{} requests, {} writes acknowledged, {} sessions, {violations} violations",
            tally.requests(),
            tally.writes.count(),
            tally.sessions.len(),
        )
    }

    /// Stops the load, reads everything back, and reports.
    pub(crate) fn finish(self, progress: &mut Progress) -> Result<Report> {
        self.finish_with(progress, || ())
    }

    /// The same, with something to do between the load and the read-back.
    pub(crate) fn finish_with(
        self,
        progress: &mut Progress,
        between: impl FnOnce(),
    ) -> Result<Report> {
        let from = self.from;
        let shared = self.load.stop().context("the load failed")?;
        let to = clock::now();
        between();
        let load = shared.tally().clone();
        read_back(&shared, progress)?;
        Ok(Report::new(&shared, from, to, &load))
    }
}

fn read_back(shared: &Arc<Shared>, progress: &mut Progress) -> Result<()> {
    let reader = std::thread::spawn({
        let shared = Arc::clone(shared);
        move || load::read_back(&shared)
    });
    while !reader.is_finished() {
        let mib = shared.span_bytes() >> 20;
        progress.show(Some(shared.read_back_share()), || format!("reading {mib} MiB back"));
        waiting::rest();
    }
    match reader.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ram_server::{RamServer, Volume};

    const LIMIT: Duration = Duration::from_secs(60);

    fn plan(servers: &[&RamServer]) -> Plan {
        Plan {
            servers: servers.iter().map(|server| server.uri().parse().unwrap()).collect(),
            seed: 7,
            span_bytes: 16 << 20,
            connections: 4,
            depth: 8,
            answer_limit: LIMIT,
            reconnect_limit: LIMIT,
        }
    }

    fn wait_for_requests(run: &Run, count: u64) {
        let wanted = run.load.shared().tally().requests() + count;
        let has_come = || Ok((run.load.shared().tally().requests() > wanted).then_some(()));
        waiting::wait_for("requests", LIMIT, has_come).unwrap();
    }

    #[test]
    fn a_session_that_dies_moves_to_the_next_server_without_false_alarms() {
        let volume = Volume::new(16 << 20);
        let mut servers: Vec<RamServer> =
            (0..4).map(|_| RamServer::start(Arc::clone(&volume)).unwrap()).collect();
        let run = Run::start(plan(&servers.iter().collect::<Vec<_>>())).unwrap();
        while servers.len() > 1 {
            wait_for_requests(&run, 500);
            let killed = servers.remove(0);
            drop(killed);
            run.note_fault("server", "killed".to_owned());
        }
        wait_for_requests(&run, 500);
        let report = run.finish(&mut Progress::new()).unwrap();
        assert!(report.passed, "{report}");
        assert_eq!(report.sessions.len(), 4, "{report}");
        assert!(report.unanswered > 0, "requests were in flight when the servers died: {report}");
        assert!(report.faults.iter().all(|fault| fault.pause_ms.is_some()), "{report}");
        assert!(report.pause_p95_ms("server").is_some());
    }

    #[test]
    fn a_volume_that_loses_everything_at_a_failover_is_reported() {
        let first = RamServer::start(Volume::new(16 << 20)).unwrap();
        let second = RamServer::start(Volume::new(16 << 20)).unwrap();
        let run = Run::start(plan(&[&first, &second])).unwrap();
        wait_for_requests(&run, 2000);
        drop(first);
        wait_for_requests(&run, 100);
        let report = run.finish(&mut Progress::new()).unwrap();
        assert!(!report.passed && report.lost > 100, "{report}");
    }

    #[test]
    fn without_any_server_the_run_fails_and_says_where_it_knocked() {
        let server = RamServer::start(Volume::new(16 << 20)).unwrap();
        let mut plan = plan(&[&server]);
        plan.reconnect_limit = Duration::ZERO;
        let uri = server.uri();
        drop(server);
        let error = format!("{:#}", Run::start(plan).unwrap_err());
        assert!(error.contains(&uri), "{error}");
    }
}
