//! One session: all connections to one server, from opening them until the first one fails.
//!
//! Each connection has two threads, one that sends and one that takes the replies; what is on its
//! way lies in a window between them. The first failure of any of them closes all sockets, so no
//! thread waits for a server that will never answer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use anyhow::{Result, bail};
use frontend::nbd::client::{
    BlockStatus, ClientError, Connection, ExportInfo, Receiver, Sender, Stream, Wishes,
};
use frontend::nbd::wire::ReplyForm;
use io::clock;
use stdx::mutex::{lock, unpoisoned};
use stdx::random::Random;
use stdx::time::Time;

use super::plan::Plan;
use super::shared::{InFlight, Shared, Work};
use crate::waiting;

/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long it may say nothing while a connection is opened, a promotion included, and how often a
/// receiver looks whether an answer is overdue.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Connections to one server, ready to be used.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) server: usize,
    connections: Vec<Connection>,
    closers: Vec<Stream>,
}

#[derive(Debug)]
pub(crate) enum SessionEnd {
    Done,
    Broken { why: String, answers: u64 },
}

/// What the threads of a session share.
#[derive(Debug)]
struct Session<'a> {
    shared: &'a Shared,
    work: Work,
    closers: Vec<Stream>,
    is_broken: AtomicBool,
    why: Mutex<String>,
    answers: AtomicU64,
}

/// The requests of one connection that are on their way, by cookie; cookies grow.
#[derive(Debug, Default)]
struct Window {
    requests: Mutex<BTreeMap<u64, InFlight>>,
    has_room: Condvar,
    is_finished: AtomicBool,
}

/// Opens a connection to the first server that lets it, asks what it exports, and closes it.
pub(crate) fn probe(plan: &Plan) -> Result<ExportInfo> {
    let deadline = clock::now() + plan.reconnect_limit;
    let (_, connection, _) = open_first(plan, 0, deadline, || false)?.expect("nothing stops it");
    let export = connection.export().clone();
    if export.is_read_only() {
        bail!("the export is read-only; the checker has to write");
    }
    connection.close()?;
    Ok(export)
}

/// Opens all connections of a session at the first server, from `first` on, that lets it in.
/// None if the load was told to stop meanwhile.
pub(crate) fn open_anywhere(
    shared: &Shared,
    first: usize,
    deadline: Time,
) -> Result<Option<Opened>> {
    let plan = &shared.plan;
    let is_stopping = || shared.is_stopping(Work::Mix);
    let Some((server, connection, closer)) = open_first(plan, first, deadline, is_stopping)? else {
        return Ok(None);
    };
    let many = connection.export().may_use_many_connections();
    let mut opened = Opened { server, connections: vec![connection], closers: vec![closer] };
    let wanted = if many { plan.connections } else { 1 };
    while opened.connections.len() < wanted {
        match open_one(plan, server) {
            Ok((connection, closer)) => {
                opened.connections.push(connection);
                opened.closers.push(closer);
            }
            // The ones that are open find out themselves whether the server is gone.
            Err(_) => break,
        }
    }
    Ok(Some(opened))
}

fn open_first(
    plan: &Plan,
    first: usize,
    deadline: Time,
    is_stopping: impl Fn() -> bool,
) -> Result<Option<(usize, Connection, Stream)>> {
    let mut refusals = vec![String::new(); plan.servers.len()];
    loop {
        for step in 0..plan.servers.len() {
            let server = (first + step) % plan.servers.len();
            match open_one(plan, server) {
                Ok((connection, closer)) => return Ok(Some((server, connection, closer))),
                Err(error) => {
                    refusals[server] = format!("{}: {}", plan.servers[server], told(error));
                }
            }
            if is_stopping() {
                return Ok(None);
            }
        }
        if clock::now() > deadline {
            let limit = plan.reconnect_limit.as_secs();
            bail!("no server let the checker in for {limit} s:\n  {}", refusals.join("\n  "));
        }
        waiting::rest();
    }
}

fn open_one(plan: &Plan, server: usize) -> Result<(Connection, Stream), ClientError> {
    let uri = &plan.servers[server];
    let wishes = Wishes {
        replies: ReplyForm::Structured,
        block_status: BlockStatus::No,
        connect_timeout: CONNECT_TIMEOUT,
        read_timeout: READ_TIMEOUT,
    };
    let stream = Stream::connect(&uri.address, &wishes)?;
    let clone = stream.try_clone();
    let closer = clone.map_err(|source| ClientError::Lost { doing: "cloning it", source })?;
    Ok((Connection::over(stream, &uri.export, &wishes)?, closer))
}

/// Works until the work is done or a connection fails.
pub(crate) fn run(shared: &Shared, opened: Opened, work: Work) -> SessionEnd {
    let Opened { connections, closers, .. } = opened;
    let session = Session {
        shared,
        work,
        closers,
        is_broken: AtomicBool::new(false),
        why: Mutex::new(String::new()),
        answers: AtomicU64::new(0),
    };
    let windows: Vec<Window> = connections.iter().map(|_| Window::default()).collect();
    std::thread::scope(|scope| {
        for (number, (connection, window)) in connections.into_iter().zip(&windows).enumerate() {
            let (sender, receiver, _) = connection.split();
            let session = &session;
            let seed = shared.plan.seed ^ ((number as u64) << 32) ^ clock::now().0;
            scope.spawn(move || session.send_all(sender, window, Random::new(seed)));
            scope.spawn(move || session.receive_all(receiver, window));
        }
    });
    // Every socket is closed: from here on nothing of this session may take effect any more.
    for window in windows {
        let left = unpoisoned(window.requests.into_inner());
        shared.tally().unanswered += left.len() as u64;
        left.into_values().for_each(|in_flight| shared.abandon(in_flight, work));
    }
    if session.is_broken.into_inner() {
        let why = unpoisoned(session.why.into_inner());
        return SessionEnd::Broken { why, answers: session.answers.into_inner() };
    }
    SessionEnd::Done
}

impl Session<'_> {
    fn send_all(&self, mut sender: Sender, window: &Window, mut random: Random) {
        let mut payload = Vec::new();
        let mut cookie = 0;
        while window.wait_until_below(self, self.shared.plan.depth) {
            let Some(intent) = self.shared.next_intent(self.work, &mut random) else {
                // Answers that are still out may ask for a second look.
                if window.is_empty() {
                    break;
                }
                window.wait_until_below(self, 1);
                continue;
            };
            cookie += 1;
            let (request, in_flight) = self.shared.start(intent, cookie, &mut payload);
            lock(&window.requests).insert(cookie, in_flight);
            if let Err(error) = sender.send_request(&request, &payload) {
                self.fail(told(error));
            }
        }
        window.is_finished.store(true, Ordering::SeqCst);
        if !self.is_broken()
            && let Err(error) = sender.send_disconnect()
        {
            self.fail(told(error));
        }
    }

    fn receive_all(&self, mut receiver: Receiver, window: &Window) {
        loop {
            match receiver.recv_reply() {
                Ok(reply) => {
                    let in_flight = window.take(reply.request.cookie);
                    if let Some(errno) = reply.error {
                        self.shared.tally().refused += 1;
                        self.shared.abandon(in_flight, self.work);
                        let command = reply.request.command;
                        return self.fail(format!("{command} refused: {errno} {}", reply.message));
                    }
                    self.shared.complete(in_flight, &reply);
                    self.answers.fetch_add(1, Ordering::Relaxed);
                }
                Err(_) if window.is_finished.load(Ordering::SeqCst) && window.is_empty() => return,
                Err(ClientError::TimedOut { .. }) => {}
                Err(error) => return self.fail(told(error)),
            }
            let limit = self.shared.plan.answer_limit;
            if window.oldest_start().is_some_and(|start| clock::now() > start + limit) {
                return self.fail(format!("a request had no answer for {} s", limit.as_secs()));
            }
        }
    }

    fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    /// The first failure is the reason; it closes all connections.
    fn fail(&self, why: String) {
        if self.is_broken.swap(true, Ordering::SeqCst) {
            return;
        }
        *lock(&self.why) = why;
        for closer in &self.closers {
            // One that the server has closed already reports that it is not connected.
            closer.shutdown().ok();
        }
    }
}

impl Window {
    fn is_empty(&self) -> bool {
        lock(&self.requests).is_empty()
    }

    fn oldest_start(&self) -> Option<Time> {
        lock(&self.requests).first_key_value().map(|(_, in_flight)| in_flight.started)
    }

    fn take(&self, cookie: u64) -> InFlight {
        let taken = lock(&self.requests).remove(&cookie);
        self.has_room.notify_one();
        taken.expect("the client hands out each reply to a request that was sent, once")
    }

    /// Waits until fewer than `depth` requests are on their way; false if the session broke.
    fn wait_until_below(&self, session: &Session<'_>, depth: usize) -> bool {
        let mut requests = lock(&self.requests);
        while requests.len() >= depth && !session.is_broken() {
            let waited = self.has_room.wait_timeout(requests, Duration::from_millis(100));
            requests = unpoisoned(waited).0;
        }
        !session.is_broken()
    }
}

/// An error with its causes on one line.
fn told(error: ClientError) -> String {
    format!("{:#}", anyhow::Error::from(error))
}
