//! Starting the data threads, and the mailboxes between all of them.
//!
//! A reactor has to be made on the thread that turns it; its waker comes back from there, and with
//! all wakers at hand the mailboxes are made and their ends given out.

use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use engine::contract::{FromShard, ToShard};
use engine::limits::MAILBOX_CAPACITY;
use engine::links::Identity;
use engine::log::{Scope, log};
use engine::memory::MemoryPlan;
use engine::shard::mesh::make_ways;
use engine::shard::{Ends, Shard};
use format::ids::KernelBootId;
use io::mailbox::{Mailbox, Receiver, Sender};
use io::process::ThreadId;
use io::{BackendKind, BackendWish, CongestionChoice, CongestionWish, Parker, Reactor, Waker};

use crate::error::NodeError;
use crate::options::Options;
use crate::{crash, pressure};

/// Why the daemon ends.
#[derive(Debug)]
pub(crate) enum End {
    Asked(String),
    ShardFailed(String),
}

/// The running data threads, as the control side sees them.
#[derive(Debug)]
pub(crate) struct Shards {
    pub(crate) senders: Vec<Mutex<Sender<ToShard>>>,
    pub(crate) answers: Vec<Receiver<FromShard>>,
    pub(crate) parker: Parker,
    pub(crate) threads: Vec<JoinHandle<()>>,
    /// How all of them speak to the kernel.
    pub(crate) backend: BackendKind,
    pub(crate) ids: Vec<ThreadId>,
}

struct Starting {
    waker: Waker,
    backend: BackendKind,
    id: ThreadId,
    ends: mpsc::Sender<Ends>,
    thread: JoinHandle<()>,
}

/// What the daemon's options say of the reactors of its data threads, which run on `cores`.
pub(crate) fn reactor_options(options: &Options, cores: usize) -> Result<io::Options, NodeError> {
    let wish = &options.congestion;
    let CongestionChoice { chosen, system } = congestion(wish)?;
    if let (CongestionWish::Unpaced, Some(chosen)) = (wish, chosen) {
        log!(
            Notice,
            Scope::NODE,
            "TCP connections use {chosen} in place of the system's {system}, which paces; for \
             peers that are far away keep it: --tcp-congestion system"
        );
    }
    // On its only core a thread would look while those it waits for cannot run.
    let spin = if cores > 1 { options.spin } else { Duration::ZERO };
    Ok(io::Options { spin, congestion: chosen, ..io::Options::default() })
}

/// What the kernel makes of the wish.
pub(crate) fn congestion(wish: &CongestionWish) -> Result<CongestionChoice, NodeError> {
    wish.choose().map_err(|source| match wish {
        CongestionWish::Named(name) => NodeError::Congestion { name: name.clone(), source },
        CongestionWish::Unpaced | CongestionWish::System => {
            NodeError::System { what: "ask for TCP's congestion control", source }
        }
    })
}

pub(crate) fn start_shards(
    identity: &Identity,
    reactor: io::Options,
    end: &mpsc::Sender<End>,
    crash_file: &Path,
) -> Result<Shards, NodeError> {
    let parker = Parker::new()
        .map_err(|source| NodeError::System { what: "make an event for the answers", source })?;
    let starting: Result<Vec<_>, _> = (0..identity.shards)
        .map(|shard| start_thread(shard, identity, reactor, end, crash_file))
        .collect();
    let starting = starting?;
    let wakers: Vec<_> = starting.iter().map(|starting| starting.waker.clone()).collect();
    let is_polling = starting.iter().any(|starting| starting.backend == BackendKind::Poll);
    let mut shards = Shards {
        senders: Vec::new(),
        answers: Vec::new(),
        parker,
        threads: Vec::new(),
        ids: starting.iter().map(|starting| starting.id).collect(),
        backend: if is_polling { BackendKind::Poll } else { BackendKind::IoUring },
    };
    for ((shard, ways), starting) in (0..).zip(make_ways(&wakers)).zip(starting) {
        let Starting { waker, ends, thread, .. } = starting;
        let (sender, mailbox) = Mailbox::channel(MAILBOX_CAPACITY, waker);
        let (outbox, answers) = Mailbox::channel(MAILBOX_CAPACITY, shards.parker.waker());
        ends.send(Ends { mailbox, outbox, ways })
            .map_err(|error| NodeError::Shard(format!("shard {shard} did not start: {error}")))?;
        shards.senders.push(Mutex::new(sender));
        shards.answers.push(answers);
        shards.threads.push(thread);
    }
    pressure::watch(shards.ids.clone())
        .map_err(|source| NodeError::System { what: "start a thread", source })?;
    Ok(shards)
}

fn start_thread(
    shard: u8,
    identity: &Identity,
    reactor: io::Options,
    end: &mpsc::Sender<End>,
    crash_file: &Path,
) -> Result<Starting, NodeError> {
    let (identity, end, crash_file) = (identity.clone(), end.clone(), crash_file.to_owned());
    let memory = MemoryPlan::of_this_machine(identity.shards);
    let (ready, started) = mpsc::channel();
    let (ends, ends_of_shard) = mpsc::channel();
    let thread = Builder::new()
        .name(format!("shard-{shard}"))
        .spawn(move || {
            io::process::prepare_thread();
            crash::watch_thread(crash_file);
            let made = BackendWish::from_environment().and_then(|backend| {
                let pool = memory.pool();
                Reactor::new(io::Options { backend, pool, ..reactor })
            });
            let reactor = match made {
                Ok(reactor) => reactor,
                Err(error) => return drop(ready.send(Err(error))),
            };
            if shard == 0
                && let Some(refusal) = reactor.refusal()
            {
                log!(
                    Warning,
                    Scope::NODE,
                    "{refusal}; working by poll and plain calls meanwhile, at a higher cost per \
                     request"
                );
            }
            if ready.send(Ok((reactor.waker(), reactor.backend(), ThreadId::own()))).is_err() {
                return;
            }
            // Without ends the start was given up.
            let Ok(ends) = ends_of_shard.recv() else { return };
            let kernel = KernelBootId(io::kernel_boot_id());
            let mut shard = Shard::new(reactor, identity, kernel, memory, ends);
            if let Err(error) = shard.run() {
                drop(end.send(End::ShardFailed(error.to_string())));
            }
        })
        .map_err(|source| NodeError::System { what: "start a thread", source })?;
    let (waker, backend, id) = started
        .recv()
        .map_err(|error| NodeError::Shard(format!("it did not start: {error}")))??;
    Ok(Starting { waker, backend, id, ends, thread })
}
