//! A hunt: many seeds, as many at a time as there are cores, and what is known of them so far.

use std::cell::RefCell;
use std::io::Write as _;
use std::panic;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use simulator::run::{Report, RunOptions};

use crate::Kind;

/// A hunt is over at so many seeds that fail: they have few causes.
const FAILURES_MAX: usize = 20;
/// Events between two lines of progress: some seconds of two cores.
const EVENTS_PER_LINE: u64 = 1_000_000;

#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) seeds: u64,
    pub(crate) total: Report,
    pub(crate) failures: Vec<Failure>,
    /// Events at the last line of progress.
    told: u64,
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) options: RunOptions,
    pub(crate) text: String,
}

thread_local! {
    /// What a thread is at, with the word of its kind, for the message of a panic.
    static RUNNING: RefCell<Option<(RunOptions, String)>> = const { RefCell::new(None) };
}

/// Lets the message of a panic end with the command that shows it again.
pub(crate) fn name_seeds_in_panics() {
    let told = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        told(info);
        RUNNING.with_borrow(|running| {
            if let Some((options, word)) = running {
                say(&format!("seed {}: a panic\nagain: {} {word}", options.seed, options.again()));
            }
        });
    }));
}

/// Runs `options` with `seeds` seeds from its own on, and `events_of` each.
pub(crate) fn hunt(
    options: &RunOptions,
    seeds: u64,
    threads: usize,
    (word, kind): (&str, Kind),
    events_of: impl Fn(u64) -> u64 + Sync,
) -> Found {
    let next = AtomicU64::new(options.seed);
    let end = options.seed.saturating_add(seeds);
    let found = Mutex::new(Found::default());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut is_over = false;
                while !is_over {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let options = RunOptions { seed, events: events_of(seed), ..options.clone() };
                    RUNNING.set(Some((options.clone(), word.to_owned())));
                    let result = kind(&options);
                    let mut found = found.lock().expect("a panic in a run ends the process");
                    found.note((options, word), result, seeds);
                    is_over = found.failures.len() >= FAILURES_MAX;
                }
            });
        }
    });
    found.into_inner().expect("a panic in a run ends the process")
}

impl Found {
    fn note(
        &mut self,
        (options, word): (RunOptions, &str),
        result: Result<Report, String>,
        seeds: u64,
    ) {
        self.seeds += 1;
        match result {
            Ok(report) => self.total.add(&report),
            Err(text) => {
                let again = options.again();
                say(&format!("seed {}: {text}\nagain: {again} {word}", options.seed));
                self.failures.push(Failure { options, text });
            }
        }
        let (done, events, failed) = (self.seeds, self.total.events, self.failures.len());
        if events >= self.told + EVENTS_PER_LINE {
            self.told = events;
            let percent = 100 * done / seeds.max(1);
            say(&format!(
                "{percent} %: {done} of {seeds} seeds, {events} events, {failed} violations"
            ));
        }
    }
}

/// Progress and failures go to the standard error; there is nobody to tell when that is gone.
fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").ok();
}
