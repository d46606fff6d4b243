//! The end of the daemon: clean, if peers and disks let it be, and in time in any case.
//!
//! A thread that waits for a disk which answers nothing cannot be ended, nor can a request that the
//! kernel has; and what is left of a process stays for as long as one of its threads waits so. So
//! such threads are not waited for: what the next daemon needs is let go of, addresses, sockets and
//! the lock of the state directory, and the process ends as far as the kernel lets it. The disk
//! itself stays locked: nobody takes it into use while an old request may still reach it.

use std::collections::BTreeSet;
use std::thread::{self, JoinHandle};

use engine::contract::ToShard;
use engine::definition::Definition;
use engine::limits::SHUTDOWN_DEADLINE;
use engine::log::{Scope, log};
use stdx::time::Time;

use crate::control::Control;
use crate::desk::Desk;
use crate::error::NodeError;
use crate::limits::{ENDING_POLL_INTERVAL, THREADS_END_DEADLINE};

impl Control {
    /// Takes all resources down and ends the data threads.
    pub(super) fn end(&self, threads: Vec<JoinHandle<()>>) -> Result<(), NodeError> {
        // Later nobody may be able to read them.
        let definitions = self.stored_definitions();
        self.stop(&definitions);
        let until = io::now() + THREADS_END_DEADLINE;
        let is_over = || threads.iter().all(JoinHandle::is_finished) && self.disk_work.is_idle();
        if have_end(&self.desk, is_over, until) {
            threads.into_iter().for_each(|thread| drop(thread.join()));
            return Ok(());
        }
        Err(NodeError::DisksHang { disks: self.silent_disks(&definitions) })
    }

    fn stop(&self, definitions: &[Definition]) {
        // No data thread stops while the metadata of a disk is being moved.
        self.disk_work.close();
        self.guests.close_all();
        self.devices.end_all();
        definitions.iter().for_each(|definition| self.devices.leave(definition));
        let stop = |ticket| ToShard::Stop { ticket };
        for answer in self.desk.ask_all_surely(stop, SHUTDOWN_DEADLINE) {
            if let Err(failure) = answer {
                log!(Warning, Scope::NODE, "the end is not clean: {failure}");
            }
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

/// Has the data threads end, each of which is told as soon as it has room to hear it, and waits
/// until all is over; false if that is not so at the deadline.
fn have_end(desk: &Desk, mut is_over: impl FnMut() -> bool, until: Time) -> bool {
    let mut untold: Vec<u8> = (0..desk.shards()).collect();
    loop {
        untold.retain(|shard| !desk.tell(*shard, ToShard::Exit));
        if is_over() {
            return true;
        }
        if io::now() >= until {
            break;
        }
        thread::park_timeout(ENDING_POLL_INTERVAL);
    }
    for shard in untold {
        log!(Error, Scope::NODE, "data thread {shard} does not hear that it is to end");
    }
    false
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// It was told once, and went on to serve if it had no room for that.
    #[test]
    fn data_thread_is_told_to_end_until_it_hears_it() {
        let (desk, mut mailboxes) = Desk::with_mailboxes(1, 1);
        assert!(desk.tell(0, ToShard::Stop { ticket: 1 }));
        assert!(!have_end(&desk, || false, io::now()), "it hears nothing");
        // What it did not hear before this look was told when it had no room.
        let is_over = || matches!(mailboxes[0].pop(), Some(ToShard::Exit));
        assert!(have_end(&desk, is_over, io::now() + Duration::from_secs(2)));
    }
}
