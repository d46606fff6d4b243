//! More is asked than there are buffers.

use std::thread;
use std::time::Duration;

use frontend::nbd::client::{Connection, Request};
use frontend::nbd::wire::Command;

use crate::harness::{Cluster, DISK_BYTES};

/// 64 KiB are taken for each of these, and a data thread has 2,048 times that.
const BYTES: usize = 8 << 10;
const IN_FLIGHT: u64 = 256;
const CLIENTS: u64 = 14;

/// Keeps so many writes under way until all are answered.
fn write_all(client: Connection, number: u64, all: u64) {
    let (mut sender, mut receiver, _) = client.split();
    receiver.set_read_timeout(Duration::from_secs(30)).unwrap();
    let payload = vec![u8::try_from(number).unwrap(); BYTES];
    let mut sent = 0;
    let mut answered = 0;
    while answered < all {
        while sent < all && sent - answered < IN_FLIGHT {
            let offset = (sent * CLIENTS + number) * BYTES as u64 % (DISK_BYTES / 2);
            let length = BYTES as u64;
            let request =
                Request { command: Command::Write, flags: 0, cookie: sent, offset, length };
            sender.send_request(&request, &payload).unwrap();
            sent += 1;
        }
        assert_eq!(receiver.recv_reply().unwrap().error, None);
        answered += 1;
    }
    sender.send_disconnect().unwrap();
}

/// What clients hold comes back when the replicas have answered, which takes buffers itself.
#[test]
fn clients_that_want_all_buffers_leave_some_to_the_links() {
    let cluster = Cluster::start_in_sync(3, 0);
    let clients: Vec<Connection> = (0..CLIENTS).map(|_| cluster.client(0)).collect();
    let threads = clients.into_iter().zip(0..);
    let threads: Vec<_> = threads
        .map(|(client, number)| thread::spawn(move || write_all(client, number, 1_500)))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    for index in 0..3 {
        assert!(!cluster.log(index).contains("no sign of life"), "a link was lost");
    }
}

/// One that asks for much and reads nothing.
#[test]
fn a_client_that_does_not_read_its_answers_keeps_nobody_waiting() {
    let cluster = Cluster::start_in_sync(3, 0);
    let (mut sender, receiver, _) = cluster.client(0).split();
    for cookie in 0..250 {
        let (offset, length) = (cookie % 32 * (1 << 20), 1 << 20);
        let request = Request { command: Command::Read, flags: 0, cookie, offset, length };
        sender.send_request(&request, &[]).unwrap();
    }
    thread::park_timeout(Duration::from_secs(2));
    let client = cluster.client(0);
    write_all(client, 0, 500);
    for index in 0..3 {
        assert!(!cluster.log(index).contains("no sign of life"), "a link was lost");
    }
    drop(receiver);
}
