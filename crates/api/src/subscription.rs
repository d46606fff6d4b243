//! A connection on which the daemon tells of every change, until one side has enough.
//!
//! ```text
//! tool    {"version":1,"command":{"verb":"events",..}}     once
//! daemon  {"ok":{"done":..}}                               or a failure, and the end
//! daemon  {"all":{"at_us":..,"lost":0,"resources":[..]}}   the whole state, first
//! daemon  {"changed":..} | {"gone":..} | {"helper":..} | "alive"     from then on
//! tool    "poll"                                           a wish for counters, at any time
//! daemon  {"changed":..} ..  "polled"                      those, and that these were all
//! ```
//! The daemon keeps a bounded number of changes for a reader. One that is slower is sent `all`
//! again, with the number of changes that it missed: nothing is ever kept for it beyond that.
//! An `alive` comes at least every [`ALIVE_WITHIN`], so that silence means a daemon that hangs.

use std::io::{BufReader, ErrorKind};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::client::{AskError, connect_within};
use crate::events::HelperCall;
use crate::request::{Command, Request};
use crate::response::Response;
use crate::status::ResourceStatus;
use crate::wire::{WireError, read_message, write_message};

/// A daemon says something at least this often.
pub const ALIVE_WITHIN: Duration = Duration::from_secs(5);
/// A daemon that said nothing for so long is not waited for any more.
const SILENT_MAX: Duration = Duration::from_secs(20);
/// Updates that were received and not taken yet; beyond them the socket fills, and then the
/// daemon's own bound counts.
const RECEIVED_MAX: usize = 64;

/// What a daemon says to a subscriber.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Update {
    /// Everything, as it is: at the start, and after `lost` changes that were not read in time.
    All { at_us: u64, lost: u64, resources: Vec<ResourceStatus> },
    /// One resource is new, or other than it was; after a `Poll` also one with other counters.
    Changed { at_us: u64, polled: bool, resource: Box<ResourceStatus> },
    /// One resource is down.
    Gone { at_us: u64, resource: String },
    /// The last `Poll` is answered.
    Polled,
    /// A handler was called, or has ended.
    Helper { at_us: u64, call: HelperCall },
    /// Nothing happened.
    Alive,
}

/// What a subscriber may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Wish {
    /// Send every resource once, for its counters.
    Poll,
}

/// The reading end.
#[derive(Debug)]
pub struct Subscription {
    socket: PathBuf,
    stream: UnixStream,
    updates: mpsc::Receiver<Result<Update, WireError>>,
}

/// What came of waiting for an update.
#[derive(Debug)]
pub enum Next {
    Update(Update),
    /// Nothing came within the time that the caller gave.
    Nothing,
}

const VERB: &str = "events2";

impl Subscription {
    /// Subscribes with a [`Command::Events`].
    ///
    /// # Errors
    /// If the daemon is not there, does not answer in time, or refuses.
    pub fn open(socket: &Path, events: Command, answer_within: Duration) -> Result<Self, AskError> {
        let failed = |source| ended(socket, source, answer_within);
        let stream = connect_within(socket)?;
        let clone = || stream.try_clone().map_err(|error| failed(error.into()));
        let (sender, updates) = mpsc::sync_channel(RECEIVED_MAX);
        let subscription = Self { socket: socket.to_owned(), stream: clone()?, updates };
        stream.set_read_timeout(Some(answer_within)).map_err(|error| failed(error.into()))?;
        stream.set_write_timeout(Some(answer_within)).map_err(|error| failed(error.into()))?;
        write_message(&stream, &Request::new(events)).map_err(failed)?;
        let mut reader = BufReader::new(clone()?);
        match read_message(&mut reader).map_err(failed)? {
            Response::Ok(_) => {}
            Response::Err(failure) => return Err(AskError::Refused(failure)),
        }
        stream.set_read_timeout(Some(SILENT_MAX)).map_err(|error| failed(error.into()))?;
        thread::spawn(move || {
            loop {
                let update = read_message(&mut reader);
                let is_end = update.is_err();
                if sender.send(update).is_err() || is_end {
                    return;
                }
            }
        });
        Ok(subscription)
    }

    /// The next update but `Alive`, or nothing within `within`; without it, however long it takes
    /// while the daemon is alive.
    ///
    /// # Errors
    /// If the daemon ended, or fell silent.
    pub fn next(&self, within: Option<Duration>) -> Result<Next, AskError> {
        let within = within.unwrap_or(Duration::MAX);
        loop {
            // The reader has a deadline of its own.
            match self.updates.recv_timeout(within.min(SILENT_MAX * 2)) {
                Ok(Ok(Update::Alive)) if within == Duration::MAX => {}
                // The caller looks at its own clock.
                Ok(Ok(Update::Alive)) => return Ok(Next::Nothing),
                Ok(Ok(update)) => return Ok(Next::Update(update)),
                Ok(Err(source)) => return Err(self.ended(source)),
                Err(RecvTimeoutError::Timeout) if within < SILENT_MAX * 2 => {
                    return Ok(Next::Nothing);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(self.ended(WireError::Closed));
                }
            }
        }
    }

    /// Another handle of the connection, to ask for counters with.
    ///
    /// # Errors
    /// If the process may open no more files.
    pub fn poller(&self) -> Result<Poller, AskError> {
        let clone = self.stream.try_clone();
        clone.map(|stream| Poller { stream }).map_err(|error| self.ended(error.into()))
    }

    fn ended(&self, source: WireError) -> AskError {
        ended(&self.socket, source, SILENT_MAX)
    }
}

/// A silence of `within`, or another end.
fn ended(socket: &Path, source: WireError, within: Duration) -> AskError {
    let socket = socket.to_owned();
    match &source {
        WireError::Io(error)
            if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
        {
            AskError::AnswerTimeout { socket, verb: VERB, within }
        }
        WireError::Closed | WireError::Cut | WireError::Malformed(_) | WireError::Io(_) => {
            AskError::Wire { socket, verb: VERB, source }
        }
    }
}

#[derive(Debug)]
pub struct Poller {
    stream: UnixStream,
}

impl Poller {
    /// Asks for the counters of all resources.
    ///
    /// # Errors
    /// If the daemon does not listen any more.
    pub fn poll(&self) -> Result<(), WireError> {
        write_message(&self.stream, &Wish::Poll)
    }

    /// Ends the subscription: its reader finds it closed.
    pub fn end(&self) {
        // A connection that is closed already needs no ending.
        drop(self.stream.shutdown(Shutdown::Both));
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        // Ends the reading thread; a connection that is closed already needs no ending.
        drop(self.stream.shutdown(Shutdown::Both));
    }
}
