//! Threads that do what a disk may be slow at, so that the shard's thread never waits for one.
//!
//! ```text
//! shard --give--> jobs of a file, in order --> a thread --> results --eventfd--> shard
//! ```
//!
//! Threads are made as jobs come, up to `THREADS_MAX`, and stay. One file occupies at most
//! `THREADS_PER_FILE` of them, and files take turns: a disk that hangs leaves threads to the
//! others until several hang at once. A job begins in its turn and ends when it ends; the order of
//! two jobs that are under way together is no more promised than that of two requests of a ring.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{Builder, JoinHandle};

use stdx::mutex::{lock, unpoisoned};

use super::calls;
use crate::operation::{Completion, DiskCall, Place, Tag};
use crate::waker::eventfd;

const THREADS_MAX: usize = 32;
const THREADS_PER_FILE: u32 = 8;
/// A thread makes one system call at a time, and its stack is locked into memory.
const STACK_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Job {
    pub(super) file: Place,
    pub(super) fd: RawFd,
    pub(super) call: DiskCall,
    pub(super) tag: Tag,
}

// SAFETY: whoever pushed the request vouched for its memory until the completion, whichever
// thread makes the call; nothing else in it is bound to a thread.
unsafe impl Send for Job {}

#[derive(Debug)]
pub(super) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    results: Vec<Completion>,
}

#[derive(Debug)]
struct Shared {
    jobs: Mutex<Jobs>,
    work: Condvar,
    results: Mutex<Vec<Completion>>,
    /// Signalled when a result comes and none was there.
    bell: File,
    carry_out: fn(&Job) -> i32,
}

#[derive(Debug, Default)]
struct Jobs {
    /// By place.
    files: Vec<Queue>,
    /// Files that may begin a job now, each once.
    turns: VecDeque<Place>,
    /// Jobs that no thread has taken.
    waiting: usize,
    idle: usize,
    is_ending: bool,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Job>,
    running: u32,
    has_turn: bool,
}

impl Workers {
    /// With one thread, so that there is always one.
    pub(super) fn new() -> io::Result<Self> {
        Self::with(|job| {
            // SAFETY: as for `Job`; the slot of the request keeps others away from it.
            unsafe { calls::carry_out(job.fd, job.call) }
        })
    }

    fn with(carry_out: fn(&Job) -> i32) -> io::Result<Self> {
        let shared = Shared {
            jobs: Mutex::default(),
            work: Condvar::new(),
            results: Mutex::default(),
            bell: File::from(eventfd()?),
            carry_out,
        };
        let mut workers =
            Self { shared: Arc::new(shared), threads: Vec::new(), results: Vec::new() };
        workers.add_thread()?;
        Ok(workers)
    }

    /// Becomes readable, at an edge, when there are results to take.
    pub(super) fn descriptor(&self) -> RawFd {
        self.shared.bell.as_raw_fd()
    }

    pub(super) fn give(&mut self, job: Job) {
        let wants_thread = {
            let mut jobs = lock(&self.shared.jobs);
            jobs.add(job);
            jobs.waiting > jobs.idle
        };
        self.shared.work.notify_one();
        if wants_thread && self.threads.len() < THREADS_MAX {
            // Without another one the job waits for those that are there.
            drop(self.add_thread());
        }
    }

    pub(super) fn take_results(&mut self) -> impl Iterator<Item = Completion> {
        mem::swap(&mut self.results, &mut *lock(&self.shared.results));
        self.results.drain(..)
    }

    fn add_thread(&mut self) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let builder = Builder::new().name("disk".to_owned()).stack_size(STACK_BYTES);
        self.threads.push(builder.spawn(move || shared.work_until_end())?);
        Ok(())
    }
}

impl Drop for Workers {
    /// Waits for what is under way.
    fn drop(&mut self) {
        lock(&self.shared.jobs).is_ending = true;
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // One that panicked has aborted the process.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn work_until_end(&self) {
        let mut jobs = lock(&self.jobs);
        while !jobs.is_ending {
            let Some(job) = jobs.take() else {
                jobs.idle += 1;
                jobs = unpoisoned(self.work.wait(jobs));
                jobs.idle -= 1;
                continue;
            };
            drop(jobs);
            let result = (self.carry_out)(&job);
            jobs = lock(&self.jobs);
            jobs.end(job.file);
            self.report(Completion { tag: job.tag, result, more: false });
        }
    }

    fn report(&self, completion: Completion) {
        let mut results = lock(&self.results);
        results.push(completion);
        if results.len() == 1 {
            // Any number but zero will do, so the order of its bytes does not matter. Nobody reads
            // the count, whose end is centuries away.
            let written = (&self.bell).write(&1_u64.to_le_bytes());
            assert_eq!(written.ok(), Some(8), "an eventfd takes a signal");
        }
    }
}

impl Jobs {
    fn add(&mut self, job: Job) {
        let (file, index) = (job.file, job.file.0 as usize);
        if self.files.len() <= index {
            self.files.resize_with(index + 1, Queue::default);
        }
        self.files[index].jobs.push_back(job);
        self.waiting += 1;
        self.offer_turn(file);
    }

    fn take(&mut self) -> Option<Job> {
        let file = self.turns.pop_front()?;
        let queue = &mut self.files[file.0 as usize];
        queue.has_turn = false;
        let job = queue.jobs.pop_front().expect("a file with a turn has a job");
        queue.running += 1;
        self.waiting -= 1;
        self.offer_turn(file);
        Some(job)
    }

    fn end(&mut self, file: Place) {
        self.files[file.0 as usize].running -= 1;
        self.offer_turn(file);
    }

    fn offer_turn(&mut self, file: Place) {
        let queue = &mut self.files[file.0 as usize];
        if !queue.jobs.is_empty() && !queue.has_turn && queue.running < THREADS_PER_FILE {
            queue.has_turn = true;
            self.turns.push_back(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    static GATE: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

    /// File 0 hangs until the gate opens.
    fn carry_out(job: &Job) -> i32 {
        if job.file == Place(0) {
            drop(GATE.1.wait_while(GATE.0.lock().unwrap(), |is_open| !*is_open).unwrap());
        }
        7
    }

    fn job(file: u32, number: u32) -> Job {
        let file = Place(file);
        Job { file, fd: -1, call: DiskCall::Sync, tag: Tag::Disk(number) }
    }

    /// Gathers `count` results, and gives up after a minute.
    fn gather(workers: &mut Workers, count: usize) -> Vec<Tag> {
        let (_sender, pause) = mpsc::channel::<()>();
        let mut tags = Vec::new();
        for _ in 0..60_000 {
            tags.extend(workers.take_results().map(|completion| completion.tag));
            if tags.len() >= count {
                break;
            }
            pause.recv_timeout(Duration::from_millis(1)).unwrap_err();
        }
        tags
    }

    #[test]
    fn a_disk_that_hangs_leaves_the_others_their_threads() {
        let mut workers = Workers::with(carry_out).unwrap();
        for number in 0..100 {
            workers.give(job(0, number));
        }
        for number in 100..300 {
            workers.give(job(1 + number % 3, number));
        }
        let mut tags = gather(&mut workers, 200);
        assert_eq!(tags.len(), 200, "those of the other files are done");
        assert!(tags.iter().all(|tag| matches!(tag, Tag::Disk(100..))));
        assert_eq!(lock(&workers.shared.jobs).files[0].running, THREADS_PER_FILE);
        assert!(workers.threads.len() <= THREADS_MAX);
        *GATE.0.lock().unwrap() = true;
        GATE.1.notify_all();
        tags.extend(gather(&mut workers, 100));
        tags.sort_by_key(|tag| if let Tag::Disk(number) = tag { *number } else { u32::MAX });
        assert_eq!(tags, (0..300).map(Tag::Disk).collect::<Vec<_>>());
        let ended = thread::spawn(move || drop(workers));
        ended.join().unwrap();
    }
}
