//! More is asked than there are buffers.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use frontend::nbd::client::{Connection, Request};
use frontend::nbd::wire::{Command, OPT_EXPORT_NAME, OPT_INFO, OPTION_MAGIC, REQUEST_MAGIC};

use crate::harness::{Cluster, DISK_BYTES};
use crate::hung_disks::prepare_two_resources;
use crate::initiator::{Digests, Initiator, command};

/// 64 KiB are taken for each of these, and a data thread has 2,048 times that.
const BYTES: usize = 8 << 10;
const IN_FLIGHT: u64 = 256;
const CLIENTS: u64 = 14;
/// Below the times after which who holds buffers for nothing is let go.
const PATIENCE: Duration = Duration::from_secs(15);

/// Keeps so many writes under way until all are answered.
fn write_all(client: Connection, number: u64, all: u64) {
    let (mut sender, mut receiver, _) = client.split();
    receiver.set_read_timeout(PATIENCE).unwrap();
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

/// What grows at the first node while it takes requests of clients.
#[derive(Clone, Copy)]
enum Count {
    /// Requests that it has to answer.
    Requests,
    /// KiB that it read from its disk.
    Read,
}

fn counted(cluster: &Cluster, count: Count) -> Option<u64> {
    let status = cluster.status(0)?;
    let statistics = status.devices[0].statistics.as_ref()?;
    Some(match count {
        Count::Requests => statistics.upper_pending.into(),
        Count::Read => statistics.read,
    })
}

/// Waits until a count has grown, and grows no more: the node takes as much as there is room for.
#[track_caller]
fn wait_until_full(cluster: &Cluster, count: Count, before: u64) -> u64 {
    let mut last = before;
    cluster.poll(0, "no room for more", || {
        let now = counted(cluster, count)?;
        let is_full = now > before && now == last;
        last = now;
        is_full.then_some(now)
    })
}

fn read_of(cookie: u64, offset: u64, length: u64) -> Request {
    Request { command: Command::Read, flags: 0, cookie, offset, length }
}

fn assert_links_live(cluster: &Cluster) {
    for index in 0..cluster.nodes.len() {
        assert!(!cluster.log(index).contains("no sign of life"), "a link was lost");
    }
}

/// A session that may choose an export.
fn greeted(cluster: &Cluster) -> UnixStream {
    let mut stream = UnixStream::connect(cluster.nbd_socket(0)).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    stream.write_all(&3_u32.to_be_bytes()).unwrap();
    stream
}

/// A session that sends the head of a long write, and nothing more.
fn begin_a_write(cluster: &Cluster) -> UnixStream {
    let mut stream = greeted(cluster);
    let mut option = OPTION_MAGIC.to_be_bytes().to_vec();
    option.extend(OPT_EXPORT_NAME.to_be_bytes());
    option.extend(2_u32.to_be_bytes());
    option.extend(b"r0");
    stream.write_all(&option).unwrap();
    stream.read_exact(&mut [0; 10]).unwrap();
    let mut write = REQUEST_MAGIC.to_be_bytes().to_vec();
    write.extend([0, 0, 0, 1]);
    write.extend([0; 16]);
    write.extend((32_u32 << 20).to_be_bytes());
    stream.write_all(&write).unwrap();
    stream
}

/// A session that asks again and again for an export that does not exist, with a long name, and
/// reads no answer: as far as the node takes it.
fn ask_for_nothing(cluster: &Cluster) -> UnixStream {
    let mut stream = greeted(cluster);
    let mut option = OPTION_MAGIC.to_be_bytes().to_vec();
    option.extend(OPT_INFO.to_be_bytes());
    option.extend((4 + 4096 + 2_u32).to_be_bytes());
    option.extend(4096_u32.to_be_bytes());
    option.extend([b'x'; 4096]);
    option.extend([0, 0]);
    stream.set_write_timeout(Some(Duration::from_millis(250))).unwrap();
    for _ in 0..1000 {
        if stream.write_all(&option).is_err() {
            break;
        }
    }
    stream
}

#[test]
fn clients_that_read_no_answer_of_a_handshake_keep_nobody_waiting() {
    let cluster = Cluster::start_in_sync(3, 0);
    let strangers: Vec<UnixStream> = (0..40).map(|_| ask_for_nothing(&cluster)).collect();
    write_all(cluster.client(0), 0, 500);
    assert_links_live(&cluster);
    drop(strangers);
}

/// Each asks for so much at once that a few would have all buffers that reads may take.
#[test]
fn clients_that_do_not_read_the_longest_answers_keep_nobody_waiting() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut first = cluster.client(0);
    for offset in (0..32 << 20).step_by(1 << 20) {
        first.write(offset, &[7; 1 << 20]).unwrap();
    }
    let greedy = (0..8).map(|_| {
        let (mut sender, receiver, _) = cluster.client(0).split();
        sender.send_request(&read_of(1, 0, 32 << 20), &[]).unwrap();
        (sender, receiver)
    });
    let greedy: Vec<_> = greedy.collect();
    cluster.poll(0, "answers that begin", || {
        (counted(&cluster, Count::Requests)? == greedy.len() as u64).then_some(())
    });
    let mut other = cluster.client(0);
    other.set_read_timeout(PATIENCE).unwrap();
    let mut bytes = vec![0; 128 << 10];
    for round in 0..50 {
        other.read(round << 17, &mut bytes).unwrap();
    }
    assert_links_live(&cluster);
    // What was asked for comes when it is taken.
    for (_, mut receiver) in greedy {
        receiver.set_read_timeout(PATIENCE).unwrap();
        assert_eq!(receiver.recv_reply().unwrap().error, None);
    }
}

/// A client without time to wait comes again and again while its volume is held.
#[test]
fn requests_that_nobody_waits_for_any_more_hold_up_no_other_volume() {
    let mut cluster = prepare_two_resources();
    cluster.launch(0);
    for resource in ["r0", "r1"] {
        cluster.adm_ok(0, &["up", resource]);
        cluster.adm_ok(0, &["primary", "--force", resource]);
    }
    cluster.adm_ok(0, &["suspend-io", "r0"]);
    let mut under_way = 0;
    for _ in 0..15 {
        let (mut sender, receiver, _) = cluster.client_of(0, "r0").split();
        // It takes as many as there is room for.
        let sending = thread::spawn(move || {
            let mut requests = (0..100).map(|cookie| write_of(cookie, cookie << 17, 128 << 10));
            requests.all(|request| sender.send_request(&request, &[1; 128 << 10]).is_ok());
        });
        under_way = wait_until_full(&cluster, Count::Requests, under_way);
        receiver.shutdown().unwrap();
        sending.join().unwrap();
    }
    let mut other = cluster.client_of(0, "r1");
    other.set_read_timeout(PATIENCE).unwrap();
    for round in 0..50 {
        other.write(round << 17, &[2; 128 << 10]).unwrap();
    }
    // And the room comes back.
    cluster.adm_ok(0, &["resume-io", "r0"]);
    let mut again = cluster.client_of(0, "r0");
    again.set_read_timeout(PATIENCE).unwrap();
    for round in 0..50 {
        again.write(round << 17, &[3; 128 << 10]).unwrap();
    }
}

/// Sends more writes than a session has room for, and reads no answer until it is cut off.
fn leave_writes(client: Connection) -> thread::JoinHandle<()> {
    let (mut sender, mut receiver, _) = client.split();
    thread::spawn(move || {
        let mut requests = (0..100).map(|cookie| write_of(cookie, cookie << 17, 128 << 10));
        requests.all(|request| sender.send_request(&request, &[1; 128 << 10]).is_ok());
        while receiver.recv_reply().is_ok() {}
    })
}

/// Nothing of the volume stands down in order: without a majority there is nobody to agree.
#[test]
fn requests_of_a_volume_that_is_torn_down_give_their_room_back() {
    let mut cluster = Cluster::start_in_sync(2, 0);
    for _ in 0..8 {
        let client = cluster.client(0);
        cluster.kill(1);
        let writing = leave_writes(client);
        wait_until_full(&cluster, Count::Requests, 0);
        cluster.adm_ok(0, &["down", "--force", "r0"]);
        writing.join().unwrap();
        cluster.launch(1);
        cluster.adm_ok(0, &["up", "r0"]);
        (0..2).for_each(|index| cluster.wait_up_to_date(index));
    }
    let mut last = cluster.client(0);
    last.set_read_timeout(PATIENCE).unwrap();
    for round in 0..50 {
        last.write(round << 17, &[2; 128 << 10]).unwrap();
    }
}

fn write_of(cookie: u64, offset: u64, length: u64) -> Request {
    Request { command: Command::Write, flags: 0, cookie, offset, length }
}

#[test]
fn clients_that_send_no_data_keep_no_other_waiting() {
    let cluster = Cluster::start_in_sync(3, 0);
    let silent: Vec<UnixStream> = (0..40).map(|_| begin_a_write(&cluster)).collect();
    write_all(cluster.client(0), 0, 500);
    assert_links_live(&cluster);
    drop(silent);
}

/// Writes as much as it may until it is told to end.
fn write_much(mut client: Connection, is_over: &AtomicBool) {
    let payload = vec![9; 8 << 20];
    for round in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        client.write(round % 4 * (8 << 20), &payload).unwrap();
    }
}

#[test]
fn clients_that_write_much_leave_room_to_those_that_write_little() {
    let cluster = Cluster::start_in_sync(3, 0);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..12 {
            let client = cluster.client(0);
            scope.spawn(|| write_much(client, &is_over));
        }
        let mut little = cluster.client(0);
        little.set_read_timeout(PATIENCE).unwrap();
        let mut initiator = Initiator::connect(cluster.nodes[0].nvme, Digests::None, 0);
        for round in 0..20 {
            little.write(round << 17, &[2; 128 << 10]).unwrap();
            assert_eq!(initiator.write(round << 20, &[3; 256 << 10]), 0);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_links_live(&cluster);
}

/// What the core has of them is answered when nobody is there any more.
#[test]
fn initiators_that_break_the_protocol_while_the_core_works_for_them_only_end_themselves() {
    let cluster = Cluster::start_in_sync(1, 0);
    let connect = || Initiator::connect(cluster.nodes[0].nvme, Digests::None, 0);
    let mut first = connect();
    assert_eq!(first.write(0, &[1; 4096]), 0);
    cluster.adm_ok(0, &["suspend-io", "r0"]);
    for _ in 0..3 {
        let mut it = connect();
        // One more than the queue has entries.
        for index in 0..33 {
            let length = (48, &7_u16.to_le_bytes()[..]);
            if index % 2 == 0 {
                it.io.send(command(1, &[(4, &[1]), length]), &[2; 4096], 0);
            } else {
                it.io.send(command(2, &[(4, &[1]), length]), &[], 4096);
            }
        }
        it.io.wait_for_the_end();
    }
    cluster.adm_ok(0, &["resume-io", "r0"]);
    let mut last = connect();
    assert_eq!(last.write(1 << 20, &[3; 4096]), 0);
    assert_eq!(last.read(1 << 20, 4096), [3; 4096]);
}

/// A write of 1 MiB there.
fn long_write(offset: u64) -> [u8; 64] {
    let place = (offset >> 9).to_le_bytes();
    command(1, &[(4, &[1]), (40, &place), (48, &2047_u16.to_le_bytes())])
}

/// They got leave to send, and do not.
fn begin_to_write(cluster: &Cluster) -> [Initiator; 2] {
    let address = cluster.nodes[0].nvme;
    let connect = |host: &str| Initiator::connect_as(host, address, Digests::None, 0);
    let mut silent = [connect("silent"), connect("quiet")];
    for index in 0..31 {
        for it in &mut silent {
            it.io.send(long_write(index << 20), &[], 1 << 20);
        }
    }
    silent
}

/// Its short write stands before the data of its long one.
#[test]
fn data_that_has_leave_to_come_does_not_wait_for_what_stands_before_it() {
    let cluster = Cluster::start_in_sync(3, 0);
    let silent = begin_to_write(&cluster);
    let mut other = Initiator::connect(cluster.nodes[0].nvme, Digests::None, 0);
    other.io.stream.set_read_timeout(Some(PATIENCE)).unwrap();
    for round in 0..5 {
        other.io.send(long_write(round << 20), &[], 1 << 20);
        let short = command(1, &[(4, &[1]), (48, &7_u16.to_le_bytes())]);
        other.io.send(short, &[5; 4096], 0);
        for _ in 0..2 {
            assert_eq!(other.io.wait(&[4; 1 << 20]).status, 0);
        }
    }
    drop(silent);
}

#[test]
fn initiators_that_send_no_data_keep_no_other_waiting() {
    let cluster = Cluster::start_in_sync(3, 0);
    let silent = begin_to_write(&cluster);
    let address = cluster.nodes[0].nvme;
    let connect = |host: &str| Initiator::connect_as(host, address, Digests::None, 0);
    let mut others = [connect("one"), connect("two")];
    for round in 0..50 {
        for other in &mut others {
            assert_eq!(other.write(round << 20, &[3; 256 << 10]), 0);
            assert_eq!(other.read(round << 20, 256 << 10), [3; 256 << 10]);
        }
    }
    write_all(cluster.client(0), 0, 500);
    assert_links_live(&cluster);
    drop(silent);
}

/// One that asks for much and reads nothing.
#[test]
fn a_client_that_does_not_read_its_answers_keeps_nobody_waiting() {
    let cluster = Cluster::start_in_sync(3, 0);
    let (mut sender, receiver, _) = cluster.client(0).split();
    let before = counted(&cluster, Count::Read).unwrap();
    for cookie in 0..250 {
        let (offset, length) = (cookie % 32 * (1 << 20), 1 << 20);
        let request = Request { command: Command::Read, flags: 0, cookie, offset, length };
        sender.send_request(&request, &[]).unwrap();
    }
    wait_until_full(&cluster, Count::Read, before);
    let client = cluster.client(0);
    write_all(client, 0, 500);
    for index in 0..3 {
        assert!(!cluster.log(index).contains("no sign of life"), "a link was lost");
    }
    drop(receiver);
}
