//! Volumes over NVMe/TCP: what an initiator writes, and which node it is to go to.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::fs::MetadataExt;

use api::role::Role;
use frontend::nvme::wire::{CONTROLLER_DYNAMIC, DISCOVERY_NQN, le16, le64};

use crate::harness::Cluster;
use crate::initiator::{Digests, Initiator, Line, NQN, command, connect};

const OPTIMIZED: u8 = 1;
const NON_OPTIMIZED: u8 = 2;
const INACCESSIBLE: u8 = 3;
const STATUS_INACCESSIBLE: u16 = 0x302;

pub(crate) fn initiator(cluster: &Cluster, index: usize) -> Initiator {
    Initiator::connect(cluster.nodes[index].nvme, Digests::None, 0)
}

/// Bytes that differ from place to place.
fn pattern(seed: u8, length: usize) -> Vec<u8> {
    let word = |index: usize| u8::try_from(index / 512 % 251).unwrap().wrapping_add(seed);
    (0..length).map(word).collect()
}

#[track_caller]
fn wait_for_path(cluster: &Cluster, index: usize, initiator: &mut Initiator, path: u8) {
    let initiator = std::cell::RefCell::new(initiator);
    cluster.poll(index, &format!("path in state {path}"), || {
        (initiator.borrow_mut().path() == path).then_some(())
    });
}

fn check_reads_and_writes(digests: Digests) {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut initiator = Initiator::connect(cluster.nodes[0].nvme, digests, 0);
    let size = le64(&initiator.identify(0), 0) * 512;
    assert_eq!(size, cluster.client(0).export().size_bytes);
    let (short, long) = (pattern(1, 4096), pattern(2, 1 << 20));
    assert_eq!(initiator.write(0, &short), 0);
    assert_eq!(initiator.write(512, &pattern(3, 1024)), 0);
    // Neither begins nor ends where a part or a block does.
    assert_eq!(initiator.write((5 << 20) + 1536, &long), 0);
    assert_eq!(initiator.write_durably(size - 512, &[0x44; 512]), 0);
    assert_eq!(initiator.write(9 << 20, &pattern(4, 17 << 10)), 0);
    assert_eq!(initiator.flush(), 0);
    let block = initiator.read(0, 4096);
    assert_eq!((&block[..512], &block[512..1536]), (&short[..512], &pattern(3, 1024)[..]));
    assert_eq!(block[1536..], short[1536..]);
    assert_eq!(initiator.read((5 << 20) + 1536, 1 << 20), long);
    assert_eq!(initiator.read((5 << 20) + 2048, 1024), long[512..1536]);
    assert_eq!(initiator.zero((5 << 20) + 2048, 300 << 10), 0);
    let zeroed = initiator.read((5 << 20) + 1536, 512 << 10);
    assert!(zeroed[512..][..300 << 10].iter().all(|byte| *byte == 0));
    assert_eq!(
        (&zeroed[..512], &zeroed[512 + (300 << 10)..]),
        (&long[..512], &long[512 + (300 << 10)..512 << 10])
    );
    drop(initiator);
    let mut other = cluster.client(0);
    let mut bytes = vec![0; 17 << 10];
    other.read(9 << 20, &mut bytes).unwrap();
    assert_eq!(bytes, pattern(4, 17 << 10), "NBD shows the same volume");
    other.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn what_is_written_is_read() {
    check_reads_and_writes(Digests::None);
}

#[test]
fn what_is_written_with_digests_is_read() {
    check_reads_and_writes(Digests::Both);
}

#[test]
fn deallocated_ranges_are_given_back_by_all_replicas() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut initiator = initiator(&cluster, 0);
    for index in 0..8 {
        assert_eq!(initiator.write(index << 20, &pattern(5, 1 << 20)), 0);
    }
    let taken = || -> Vec<u64> {
        (0..3).map(|index| cluster.disk(index).metadata().unwrap().blocks() / 2).collect()
    };
    let before = taken();
    assert_eq!(initiator.deallocate(&[(0, 2 << 20), (0, 0), ((3 << 20) + 512, 4 << 20)]), 0);
    for (before, after) in before.iter().zip(taken()) {
        assert!(before - after > 5 << 10, "{before} KiB before, {after} KiB after");
    }
    assert_eq!(initiator.read(1 << 20, 4096), [0; 4096]);
    // Of a block that is given back in part, nothing is.
    assert_eq!(initiator.read((3 << 20) + 512, 512), pattern(5, 1 << 20)[512..1024]);
    assert_eq!(initiator.read((4 << 20) - 512, 512), [0; 512]);
    let size = le64(&initiator.identify(0), 0) * 512;
    assert_eq!(initiator.deallocate(&[(0, 4096), (size, 512)]), 0x080, "outside");
}

/// More of them than a data thread has buffers of the class for so little.
#[test]
fn what_is_only_hinted_takes_no_buffer_for_good() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut initiator = initiator(&cluster, 0);
    for _ in 0..17_000 {
        assert_eq!(initiator.hint(), 0);
    }
    assert_eq!(initiator.write(0, &pattern(3, 4096)), 0);
    assert_eq!(initiator.read(0, 4096), pattern(3, 4096));
}

#[test]
fn path_is_good_where_the_volume_is_served() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let mut initiators: Vec<_> = (0..3).map(|index| initiator(&cluster, index)).collect();
    let ids: Vec<_> = initiators.iter().map(|initiator| initiator.id / 2000).collect();
    assert_eq!(ids, [0, 1, 2], "each node has controller ids of its own");
    let names: Vec<_> = initiators.iter_mut().map(|it| it.identify(3)[4..20].to_vec()).collect();
    assert!(names.iter().all(|name| *name == names[0]), "the namespace has one name: {names:?}");
    for (index, initiator) in initiators.iter_mut().enumerate() {
        wait_for_path(&cluster, index, initiator, NON_OPTIMIZED);
        assert_eq!(cluster.role(index), Role::Secondary, "a connection makes nobody Primary");
        let wish = command(9, &[(40, &[0x0b]), (44, &[0, 8])]);
        assert_eq!(initiator.admin.run(wish, &[], 0).status, 0);
    }
    let event = initiators[2].admin.send(command(0x0c, &[]), &[], 0);
    assert_eq!(initiators[1].write(0, &pattern(6, 4096)), 0);
    assert_eq!(cluster.role(1), Role::Primary);
    let end = initiators[2].admin.wait(&[]);
    assert_eq!((end.command, end.result), (event, 0x000c_0302), "the change is told");
    wait_for_path(&cluster, 1, &mut initiators[1], OPTIMIZED);
    wait_for_path(&cluster, 2, &mut initiators[2], INACCESSIBLE);
    wait_for_path(&cluster, 0, &mut initiators[0], INACCESSIBLE);
    assert_eq!(initiators[2].write(0, &pattern(7, 4096)), STATUS_INACCESSIBLE);
    assert_eq!(cluster.role(1), Role::Primary, "who serves is left alone");
    cluster.kill(1);
    wait_for_path(&cluster, 2, &mut initiators[2], NON_OPTIMIZED);
    let wrote = cluster.poll(2, "write on another path", || {
        let mut initiator = Initiator::connect(cluster.nodes[2].nvme, Digests::None, 0);
        match initiator.write(4096, &pattern(8, 4096)) {
            0 => Some(initiator),
            STATUS_INACCESSIBLE => None,
            other => panic!("a write ended with {other:#x}"),
        }
    });
    let mut third = wrote;
    assert_eq!(third.read(0, 4096), pattern(6, 4096));
    wait_for_path(&cluster, 2, &mut third, OPTIMIZED);
    drop((third, initiators));
    cluster.wait(2, "way back to Secondary", |status| status.role == Role::Secondary);
}

#[test]
fn role_that_is_taken_away_sends_commands_elsewhere() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let mut first = initiator(&cluster, 0);
    let mut second = initiator(&cluster, 1);
    wait_for_path(&cluster, 0, &mut first, NON_OPTIMIZED);
    assert_eq!(first.write(0, &pattern(9, 4096)), 0);
    let refusal = cluster.adm_refused(0, &["secondary", "r0"]);
    assert!(refusal.contains("clients"), "{refusal}");
    cluster.adm_ok(0, &["secondary", "--force", "r0"]);
    wait_for_path(&cluster, 1, &mut second, NON_OPTIMIZED);
    assert_eq!(second.write(4096, &pattern(10, 4096)), 0);
    wait_for_path(&cluster, 0, &mut first, INACCESSIBLE);
    assert_eq!(first.write(0, &pattern(11, 4096)), STATUS_INACCESSIBLE);
    assert_eq!(second.read(0, 4096), pattern(9, 4096));
}

#[test]
fn discovery_tells_of_the_volume() {
    let cluster = Cluster::start_in_sync(3, 0);
    let address = cluster.nodes[1].nvme;
    let mut admin = Line::open(address, Digests::None);
    let (sqe, data) = connect(0, CONTROLLER_DYNAMIC, 0, DISCOVERY_NQN);
    assert_eq!(admin.run(sqe, &data, 0).status, 0);
    let enable = command(0x7f, &[(44, &[0x14]), (48, &[1, 0, 0x46, 0])]);
    assert_eq!(admin.run(enable, &[], 0).status, 0);
    let page = admin.run(command(2, &[(40, &[0x70])]), &[], 2048).data;
    assert_eq!(le64(&page, 8), 1);
    let record = &page[1024..];
    let text = |at: usize| {
        let field = std::str::from_utf8(&record[at..at + 32]).unwrap();
        field.trim_end_matches([' ', '\0']).to_owned()
    };
    assert_eq!((text(256), text(512)), (NQN.to_owned(), "127.0.0.1".to_owned()));
    assert_eq!((text(32), le16(record, 6)), (address.port().to_string(), 0xffff));
}

/// They prove nothing, and end of themselves after a while only.
#[test]
fn those_that_ask_what_there_is_take_no_place_of_a_host() {
    let cluster = Cluster::start_in_sync(3, 0);
    let asks = |_| {
        let mut line = Line::open(cluster.nodes[0].nvme, Digests::None);
        let (sqe, data) = connect(0, CONTROLLER_DYNAMIC, 0, DISCOVERY_NQN);
        (line.run(sqe, &data, 0).status == 0).then_some(line)
    };
    let lines: Vec<_> = (0..256).filter_map(asks).collect();
    assert_eq!(initiator(&cluster, 0).write(0, &pattern(15, 4096)), 0);
    assert_eq!(lines.len(), 32);
}

#[test]
fn connect_is_refused_for_a_reason() {
    let cluster = Cluster::start_in_sync(3, 0);
    let address = cluster.nodes[0].nvme;
    let refused = |queue: u16, controller: u16, name: &str| {
        let mut line = Line::open(address, Digests::None);
        let (sqe, data) = connect(queue, controller, 0, name);
        let end = line.run(sqe, &data, 0);
        line.wait_for_the_end();
        (end.status, end.result)
    };
    let unknown = "nqn.2026-01.local.basalt:other";
    assert_eq!(refused(0, CONTROLLER_DYNAMIC, unknown), (0x182, 1 << 16 | 256));
    assert_eq!(refused(0, 5, NQN), (0x182, 1 << 16 | 16), "ids are given out here");
    assert_eq!(refused(1, 5, NQN), (0x182, 1 << 16 | 16), "there is no such controller");
    let initiator = initiator(&cluster, 0);
    assert_eq!(refused(1, initiator.id, NQN), (0x182, 42), "the queue is there already");
    assert_eq!(refused(17, initiator.id, NQN), (0x182, 42), "one queue too many");
}

#[test]
fn nonsense_ends_a_connection_and_nothing_else() {
    let cluster = Cluster::start_in_sync(3, 0);
    let address = cluster.nodes[0].nvme;
    let mut good = Initiator::connect(address, Digests::None, 0);
    for nonsense in [vec![0xff; 4096], b"GET / HTTP/1.1\r\n\r\n".to_vec(), vec![4; 128]] {
        let mut line = Line::open(address, Digests::None);
        line.stream.write_all(&nonsense).unwrap();
        line.wait_for_the_end();
    }
    let mut victim = Initiator::connect(cluster.nodes[1].nvme, Digests::Both, 0);
    // Data that nobody asked for: the controller is over, with both of its queues.
    let mut pdu = vec![6, 0, 24, 24, 32, 0, 0, 0];
    pdu.resize(32, 0);
    victim.io.stream.write_all(&pdu).unwrap();
    victim.io.wait_for_the_end();
    victim.admin.wait_for_the_end();
    assert_eq!(good.write(0, &pattern(12, 4096)), 0);
}

#[test]
fn silent_initiator_is_let_go() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let mut initiator = Initiator::connect(cluster.nodes[0].nvme, Digests::None, 1000);
    wait_for_path(&cluster, 0, &mut initiator, NON_OPTIMIZED);
    assert_eq!(initiator.write(0, &pattern(13, 4096)), 0);
    assert_eq!(initiator.admin.run(command(0x18, &[]), &[], 0).status, 0);
    initiator.io.wait_for_the_end();
    initiator.admin.wait_for_the_end();
    cluster.wait(0, "way back to Secondary", |status| status.role == Role::Secondary);
}

#[test]
fn initiator_that_connects_again_ends_its_former_self() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut former = initiator(&cluster, 0);
    assert_eq!(former.write(0, &pattern(14, 4096)), 0);
    let mut latter = initiator(&cluster, 0);
    former.io.wait_for_the_end();
    former.admin.wait_for_the_end();
    assert_eq!(latter.read(0, 4096), pattern(14, 4096));
    let holders = &cluster.status(0).unwrap().devices[0].holders;
    assert_eq!(holders.len(), 1, "{holders:?}");
}

/// Linux closes its I/O queues first, and then waits a minute for the controller's end to be
/// answered.
#[test]
fn initiator_that_closes_a_queue_is_heard_on_the_others() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let mut initiator = initiator(&cluster, 0);
    wait_for_path(&cluster, 0, &mut initiator, NON_OPTIMIZED);
    assert_eq!(initiator.write(0, &pattern(15, 4096)), 0);
    initiator.io.stream.shutdown(Shutdown::Write).unwrap();
    initiator.io.wait_for_the_end();
    cluster.wait(0, "way back to Secondary", |status| status.role == Role::Secondary);
    let mut again = Line::open(cluster.nodes[0].nvme, Digests::None);
    let (sqe, data) = connect(1, initiator.id, 0, NQN);
    assert_eq!(again.run(sqe, &data, 0).status, 0, "the queue's number is free again");
    again.stream.shutdown(Shutdown::Write).unwrap();
    again.wait_for_the_end();
    let shut_down = command(0x7f, &[(44, &[0x14]), (48, &[1, 0x40, 0x46, 0])]);
    assert_eq!(initiator.admin.run(shut_down, &[], 0).status, 0);
    let state = initiator.admin.run(command(0x7f, &[(4, &[4]), (44, &[0x1c])]), &[], 0);
    assert_eq!((state.status, state.result & 0b1100), (0, 0b1000), "the shutdown is complete");
    initiator.admin.stream.shutdown(Shutdown::Write).unwrap();
    initiator.admin.wait_for_the_end();
}
