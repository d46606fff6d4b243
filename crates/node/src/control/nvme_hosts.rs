//! The file of hosts that may use NVMe/TCP (`--nvme-auth`): read at the start, and when it changes.
//!
//! A daemon does not start with a file that it cannot use: it would serve nobody, or anybody. Later
//! such a file leaves what was read before in place, and the log says why. Hosts that are connected
//! stay; who connects is measured by the file of then.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};

use engine::clients::nvme::hosts::{HostCheck, Hosts, Job};
use engine::contract::ToShard;
use engine::log::{Scope, log};
use stdx::mutex::lock;

use crate::control::{Control, spawn};
use crate::desk::Desk;
use crate::error::NodeError;
use crate::key_files::read_hosts;

#[derive(Debug)]
pub(super) struct NvmeHostsKeeper {
    path: PathBuf,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    hosts: Arc<Hosts>,
    /// Why the file of now is not used, as it was logged.
    failure: Option<String>,
    prover: mpsc::Sender<Job>,
    /// For the thread that will do the work.
    jobs: Option<mpsc::Receiver<Job>>,
}

impl NvmeHostsKeeper {
    pub(super) fn read(path: PathBuf) -> Result<Self, NodeError> {
        let hosts = read_hosts(&path).map_err(|error| NodeError::NvmeHosts {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        let (prover, jobs) = mpsc::channel();
        let kept = Kept { hosts: Arc::new(hosts), failure: None, prover, jobs: Some(jobs) };
        Ok(Self { path, kept: Mutex::new(kept) })
    }

    /// Looks whether there is something new.
    pub(super) fn look(&self, desk: &Desk) {
        let mut kept = lock(&self.kept);
        match read_hosts(&self.path) {
            Ok(hosts) => {
                kept.failure = None;
                if hosts != *kept.hosts && kept.tell(Arc::new(hosts), desk) {
                    let path = self.path.display();
                    log!(Info, Scope::NODE, "{path} was read anew, for hosts that connect now");
                }
            }
            Err(error) => {
                let text = error.to_string();
                if kept.failure.as_ref() != Some(&text) {
                    let path = self.path.display();
                    log!(
                        Error,
                        Scope::NODE,
                        "the hosts of --nvme-auth stay what they were: {path}: {text}"
                    );
                    kept.failure = Some(text);
                }
            }
        }
    }
}

impl Kept {
    /// False if a shard is overloaded.
    fn tell(&mut self, hosts: Arc<Hosts>, desk: &Desk) -> bool {
        let prover = self.prover.clone();
        let check = Arc::new(HostCheck { hosts: Arc::clone(&hosts), prover });
        let is_told = desk.tell_all(|| ToShard::NvmeHosts(Arc::clone(&check)));
        if is_told {
            self.hosts = hosts;
        }
        is_told
    }
}

/// Has the shards ask hosts for proofs from now on, where a file says so.
pub(super) fn begin_host_checks(control: &Arc<Control>) -> Result<(), NodeError> {
    let Some(keeper) = &control.nvme_hosts else { return Ok(()) };
    let mut kept = lock(&keeper.kept);
    let hosts = Arc::clone(&kept.hosts);
    if !kept.tell(hosts, &control.desk) {
        return Err(NodeError::Shard("it does not take the hosts of --nvme-auth".to_owned()));
    }
    let Some(jobs) = kept.jobs.take() else { return Ok(()) };
    let desk = Arc::clone(&control.desk);
    spawn("nvme-auth", move || {
        for Job { shard, queue, task, count } in jobs {
            // If the shard does not take it, the deadline of the queue ends the wait.
            desk.tell(shard, ToShard::Proved { queue, finding: task.run() });
            drop(count);
        }
    })
}
