//! The end of the daemon: clean, if peers and disks let it be, and in time in any case.
//!
//! A thread that waits for a disk which answers nothing cannot be ended, nor can a request that the
//! kernel has; and what is left of a process stays for as long as one of its threads waits so. So
//! such threads are not waited for: what the next daemon needs is let go of, addresses, sockets and
//! the lock of the state directory, and the process ends as far as the kernel lets it. The disk
//! itself stays locked: nobody takes it into use while an old request may still reach it.

use std::collections::BTreeSet;
use std::thread::{self, JoinHandle};

use crate::NodeError;
use crate::control::Control;
use crate::definition::Definition;
use crate::limits::{ENDING_POLL_INTERVAL, SHUTDOWN_DEADLINE, THREADS_END_DEADLINE};
use crate::log::{Scope, log};
use crate::shard::messages::ToShard;

impl Control {
    /// Takes all resources down and ends the data threads.
    pub(super) fn end(&self, threads: Vec<JoinHandle<()>>) -> Result<(), NodeError> {
        // Later nobody may be able to read them.
        let definitions = self.stored_definitions();
        self.stop(&definitions);
        let until = io::now() + THREADS_END_DEADLINE;
        let is_over = || threads.iter().all(JoinHandle::is_finished) && self.disk_work.is_idle();
        while !is_over() && io::now() < until {
            thread::park_timeout(ENDING_POLL_INTERVAL);
        }
        if is_over() {
            threads.into_iter().for_each(|thread| drop(thread.join()));
            return Ok(());
        }
        Err(NodeError::DisksHang { disks: self.silent_disks(&definitions) })
    }

    fn stop(&self, definitions: &[Definition]) {
        self.guests.close_all();
        self.devices.end_all();
        definitions.iter().for_each(|definition| self.devices.leave(definition));
        for answer in self.desk.ask_all(|ticket| ToShard::Stop { ticket }, SHUTDOWN_DEADLINE) {
            if let Err(failure) = answer {
                log!(Warning, Scope::NODE, "the end is not clean: {failure}");
            }
        }
        for shard in 0..self.desk.shards() {
            self.desk.tell(shard, ToShard::Exit);
        }
    }

    /// The resources whose disks are waited for, with the disks.
    fn silent_disks(&self, definitions: &[Definition]) -> String {
        let mut resources: BTreeSet<String> = self.left_disks().clone();
        resources.extend(self.disk_work.claimed());
        let describe = |name: &String| {
            let definition = definitions.iter().find(|definition| definition.name == *name);
            let volumes = definition.into_iter().flat_map(Definition::volumes);
            let disks = volumes.filter_map(|volume| volume.disk);
            let paths: Vec<_> = disks.map(|disk| disk.data.display().to_string()).collect();
            if paths.is_empty() { name.clone() } else { format!("{name} ({})", paths.join(", ")) }
        };
        let disks: Vec<_> = resources.iter().map(describe).collect();
        if disks.is_empty() { "one that is not known".to_owned() } else { disks.join(", ") }
    }
}
