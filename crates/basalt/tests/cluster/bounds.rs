//! As many clients as one data thread serves, and one more.
//!
//! A bound that cannot be reached, or that shows itself as silence, is none that anybody can plan
//! with: all of those below it work, and the one past it hears at once why it does not.

use std::time::Duration;

use frontend::nvme::wire::CONTROLLER_DYNAMIC;
use stdx::testing::skip;

use crate::harness::Cluster;
use crate::initiator::{Digests, Initiator, Line, NQN, connect_as};
use crate::raw_client::{Raw, Way, with_tls};

/// Client sessions over NBD, and connections of NVMe/TCP initiators, of a data thread.
const CLIENTS: usize = 1024;
const QUEUES: usize = 1024;
/// I/O queues of an initiator of this test, beside its admin queue.
const IO_QUEUES: u16 = 7;
const CONNECT_BUSY: u16 = 0x181;
/// Who is refused hears of it within this.
const AT_ONCE: Duration = Duration::from_secs(2);
const BLOCK: usize = 4096;
/// Initiators write behind what NBD clients do.
const THEIRS: u64 = 16 << 20;

/// Of this process: each end of a connection here is one. The daemon raises its own limit.
fn has_files_for(count: usize) -> bool {
    let limit = io::process::raise_file_limit().unwrap();
    let is_enough = limit >= count as u64;
    if !is_enough {
        skip("there are too few open files for so many clients: raise `ulimit -Hn`");
    }
    is_enough
}

fn serve() -> (Cluster, Way) {
    let mut cluster = Cluster::prepare(1, 0);
    let tls = with_tls(&mut cluster);
    cluster.begin();
    cluster.make_in_sync();
    (cluster, tls)
}

/// Each writes a block of its own, and then reads it.
fn all_do_their_work(clients: &mut [Raw], round: u8) {
    let own = |index: usize| [u8::try_from(index % 251).unwrap() ^ round; BLOCK];
    for (index, client) in clients.iter_mut().enumerate() {
        let offset = (index * BLOCK) as u64;
        client.write(offset, &own(index)).unwrap_or_else(|error| panic!("{index}: {error}"));
    }
    for (index, client) in clients.iter_mut().enumerate() {
        let mut bytes = [0; BLOCK];
        client.read((index * BLOCK) as u64, &mut bytes).unwrap();
        assert_eq!(bytes, own(index), "client {index}");
    }
}

/// The one past the bound.
fn is_refused(cluster: &Cluster, way: &Way, bound: &str) {
    let began_at = io::now();
    let said = Raw::connect(cluster, way).go().unwrap_err();
    let waited = io::now().since(began_at);
    assert!(said.contains(bound), "{said:?} does not name {bound:?}");
    assert!(waited < AT_ONCE, "{waited:?} until {said:?}");
}

fn reaches_the_bound_of_sessions(way_of: impl Fn(&Way) -> Way) {
    if !has_files_for(CLIENTS + 500) {
        return;
    }
    let (cluster, tls) = serve();
    let way = way_of(&tls);
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| Raw::open(&cluster, &way)).collect();
    all_do_their_work(&mut clients, 1);
    let bound = "1024 client sessions";
    for way in [&Way::Plain, &tls] {
        is_refused(&cluster, way, bound);
    }
    cluster.wait_for_log(0, bound);
    assert!(!cluster.log(0).contains("chose no export in time"), "the client is not to blame");
    all_do_their_work(&mut clients, 2);
    // A place that becomes free is one.
    clients.pop();
    cluster.poll(0, "a place", || Raw::connect(&cluster, &way).go().ok());
}

#[test]
fn all_nbd_sessions_of_the_bound_are_served_and_one_more_is_refused_at_once() {
    reaches_the_bound_of_sessions(|_| Way::Plain);
}

#[test]
fn all_nbd_sessions_with_tls_of_the_bound_are_served_and_one_more_is_refused_at_once() {
    reaches_the_bound_of_sessions(Way::clone);
}

/// A controller with several I/O queues; the first one is its own.
fn connect_queues(cluster: &Cluster, number: usize) -> (Initiator, Vec<Line>) {
    let (host, address) = (format!("host{number}"), cluster.nodes[0].nvme);
    let initiator = Initiator::connect_as(&host, address, Digests::None, 0);
    let more = (2..=IO_QUEUES).map(|queue| {
        let mut line = Line::open(address, Digests::None);
        let (sqe, data) = connect_as(&host, queue, initiator.id, 0, NQN);
        assert_eq!(line.run(sqe, &data, 0).status, 0, "queue {queue} of {host}");
        line
    });
    let more = more.collect();
    (initiator, more)
}

#[test]
fn all_connections_of_initiators_of_the_bound_are_served_and_one_more_is_told_that_it_is_busy() {
    if !has_files_for(CLIENTS + QUEUES + 500) {
        return;
    }
    let (cluster, _) = serve();
    let address = cluster.nodes[0].nvme;
    let count = QUEUES / (usize::from(IO_QUEUES) + 1);
    // Clients of the other kind take nothing from these.
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| Raw::open(&cluster, &Way::Plain)).collect();
    let mut initiators: Vec<_> =
        (0..count).map(|number| connect_queues(&cluster, number)).collect();
    for (index, (initiator, more)) in initiators.iter_mut().enumerate() {
        let offset = THEIRS + (index * BLOCK) as u64;
        for _ in 0..=more.len() {
            // Its data comes with the command, and is longer than the smallest buffer.
            assert_eq!(initiator.write(offset, &[7; 2 * BLOCK]), 0);
            assert_eq!(initiator.read(offset, BLOCK), [7; BLOCK]);
            // In turns over all of its queues.
            if let Some(next) = more.pop() {
                more.insert(0, std::mem::replace(&mut initiator.io, next));
            }
        }
    }
    all_do_their_work(&mut clients, 1);
    let began_at = io::now();
    let mut late = Line::open(address, Digests::None);
    let (sqe, data) = connect_as("late", 0, CONTROLLER_DYNAMIC, 0, NQN);
    assert_eq!(late.run(sqe, &data, 0).status, CONNECT_BUSY);
    let waited = io::now().since(began_at);
    assert!(waited < AT_ONCE, "{waited:?} until it is told");
    cluster.wait_for_log(0, "1024 connections of initiators");
    // And those that are here go on.
    for (initiator, _) in &mut initiators {
        assert_eq!(initiator.read(THEIRS, BLOCK), [7; BLOCK]);
    }
    initiators.pop();
    cluster.poll(0, "a place", || {
        let mut line = Line::open(address, Digests::None);
        (line.run(sqe, &data, 0).status == 0).then_some(())
    });
}
