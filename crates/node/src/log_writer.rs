//! The thread that writes what a daemon logs.
//!
//! Lines that found no room are counted, and the next one that is written says how many.

use std::io;
use std::sync::mpsc::{Receiver, TrySendError, channel, sync_channel};
use std::time::Duration;

use engine::log::{Entry, Level, Scope, rendered, set_writer, take_lost, write, writer};

use crate::limits::{LOG_FLUSH_DEADLINE, LOG_LINES_MAX};

/// What is logged is written by a thread of its own from now on, and is written when this ends.
#[derive(Debug)]
pub(crate) struct Writing;

impl Writing {
    pub(crate) fn start() -> io::Result<Self> {
        let (sender, entries) = sync_channel(LOG_LINES_MAX);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || write_all(&entries))?;
        set_writer(sender);
        Ok(Self)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        flush();
    }
}

/// Waits until what was logged is written; not for ever, for that may be why the process ends.
pub(crate) fn flush() {
    let Some(writer) = writer() else { return };
    let (done, waits) = channel();
    let mut left = LOG_FLUSH_DEADLINE;
    let mut entry = Entry::Flush(done);
    while let Err(full) = writer.try_send(entry) {
        let (TrySendError::Full(again) | TrySendError::Disconnected(again)) = full;
        entry = again;
        if left.is_zero() {
            return;
        }
        std::thread::park_timeout(FLUSH_REST);
        left = left.saturating_sub(FLUSH_REST);
    }
    // Late or done: nothing else can be waited for.
    waits.recv_timeout(left).ok();
}

const FLUSH_REST: Duration = Duration::from_millis(10);

fn write_all(entries: &Receiver<Entry>) {
    for entry in entries {
        match entry {
            Entry::Line(line) => write(&line),
            Entry::Flush(done) => drop(done.send(())),
        }
        let lost = take_lost();
        if lost > 0 {
            let text = format!("{lost} lines are lost: standard error took none for a while");
            write(&rendered(Level::Warning, Scope::NODE, &text));
        }
    }
}
