//! While the machine is short of memory the data threads run before all others.
//!
//! The kernel frees memory through them then. They need some of it themselves, for what goes to
//! the peers and to the disks, and a core; whoever wants memory takes both from them, again and
//! again, and gets no further. A real-time thread gets a core at once, and may use half of what the
//! kernel holds back (`vm.min_free_kbytes`). Not always: then a client that is about to ask for
//! more is interrupted for each request, and none are done together (docs/decisions/0029).

use std::thread::{self, Builder};

use engine::log::{Scope, log};
use io::process::{MemoryPressure, ThreadId, Urgency};

use crate::limits::MEMORY_CALM;

/// Watches from a thread of its own, where the kernel lets it.
pub(crate) fn watch(data_threads: Vec<ThreadId>) -> std::io::Result<()> {
    // Without the kernel's word all threads stay as they are.
    let Ok(pressure) = MemoryPressure::watch() else { return Ok(()) };
    Builder::new().name("pressure".to_owned()).spawn(move || heed(&pressure, &data_threads))?;
    Ok(())
}

fn heed(pressure: &MemoryPressure, data_threads: &[ThreadId]) {
    loop {
        match pressure.wait(None) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(_) => return,
        }
        if let Err(error) = set(data_threads, Urgency::Urgent) {
            log!(Warning, Scope::NODE, "{REFUSED}: {error}");
            return;
        }
        log!(Notice, Scope::NODE, "memory is short: the data threads run before all others");
        while let Ok(true) = pressure.wait(Some(MEMORY_CALM)) {
            // The kernel says so once a second at most.
            thread::yield_now();
        }
        if set(data_threads, Urgency::Ordinary).is_err() {
            return;
        }
        log!(
            Notice,
            Scope::NODE,
            "memory is not short any more: the data threads run in their turn"
        );
    }
}

const REFUSED: &str = "memory is short, and the data threads may not run before all others \
    (CAP_SYS_NICE): a volume that is used on this node can come to a stand";

fn set(data_threads: &[ThreadId], urgency: Urgency) -> std::io::Result<()> {
    data_threads.iter().try_for_each(|thread| thread.set_urgency(urgency))
}
