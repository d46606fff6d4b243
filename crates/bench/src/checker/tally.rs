//! What happened during a run: how many requests, how fast, and what was done to the servers.

use std::time::Duration;

use stdx::time::Time;

use crate::histogram::Histogram;

#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) reads: Histogram,
    pub(crate) writes: Histogram,
    pub(crate) flushes: Histogram,
    pub(crate) bytes_read: u64,
    pub(crate) bytes_written: u64,
    /// Requests that a server answered with an error.
    pub(crate) refused: u64,
    /// Requests whose session died before the answer.
    pub(crate) unanswered: u64,
    pub(crate) sessions: Vec<Session>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) pause: Pause,
    last_ack: Option<Time>,
}

/// A time during which all connections led to one server.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) started: Time,
    /// Position in the list of servers.
    pub(crate) server: usize,
    /// Why it ended, if it did before the run.
    pub(crate) end: Option<String>,
}

/// Something that was done to the servers on purpose.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) at: Time,
    pub(crate) what: String,
    pub(crate) role: String,
    /// When the first write that started after it was acknowledged.
    pub(crate) over: Option<Time>,
}

/// The longest time without any acknowledged write.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pause {
    pub(crate) from: Time,
    pub(crate) length: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Flush,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            reads: Histogram::new(),
            writes: Histogram::new(),
            flushes: Histogram::new(),
            bytes_read: 0,
            bytes_written: 0,
            refused: 0,
            unanswered: 0,
            sessions: Vec::new(),
            faults: Vec::new(),
            pause: Pause::default(),
            last_ack: None,
        }
    }

    pub(crate) fn requests(&self) -> u64 {
        self.reads.count() + self.writes.count() + self.flushes.count()
    }

    /// A request that started at `started` was answered with success.
    pub(crate) fn on_success(&mut self, kind: Kind, bytes: u64, started: Time, now: Time) {
        let latency = now.since(started);
        match kind {
            Kind::Read => {
                self.reads.add(latency);
                self.bytes_read += bytes;
            }
            Kind::Flush => self.flushes.add(latency),
            Kind::Write => {
                self.writes.add(latency);
                self.bytes_written += bytes;
                self.on_write(started, now);
            }
        }
    }

    pub(crate) fn on_session(&mut self, server: usize, now: Time) {
        self.sessions.push(Session { started: now, server, end: None });
    }

    pub(crate) fn on_session_end(&mut self, why: String) {
        if let Some(session) = self.sessions.last_mut() {
            session.end = Some(why);
        }
    }

    pub(crate) fn on_fault(&mut self, role: &str, what: String, now: Time) {
        self.faults.push(Fault { at: now, what, role: role.to_owned(), over: None });
    }

    fn on_write(&mut self, started: Time, now: Time) {
        if let Some(last) = self.last_ack
            && now.since(last) > self.pause.length
        {
            self.pause = Pause { from: last, length: now.since(last) };
        }
        self.last_ack = Some(now);
        for fault in self.faults.iter_mut().rev().take_while(|fault| fault.over.is_none()) {
            if started > fault.at {
                fault.over = Some(now);
            }
        }
    }
}
