//! Disks of virtual machines: what a guest writes is on all replicas, and a daemon that dies under
//! it is replaced by one that goes on.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use crate::BLOCK;
use crate::harness::Cluster;
use crate::machine::{Answer, DISCARD, FLUSH, Machine, NAME, WRITE};

const MIB: u64 = 1 << 20;

fn socket(cluster: &Cluster, index: usize) -> PathBuf {
    cluster.vhost_folder(index).join("r0-0.sock")
}

/// Attaches the machine's disk as soon as the node can serve it.
#[track_caller]
fn attach(cluster: &Cluster, index: usize, machine: &mut Machine) -> UnixStream {
    let place = socket(cluster, index);
    cluster.poll(index, "disk of a machine", || machine.attach(&place).ok())
}

#[test]
fn guest_writes_on_all_replicas_through_all_rings() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut machine = Machine::new();
    let stream = attach(&cluster, 0, &mut machine);
    for number in 0..48_u64 {
        let queue = usize::from(number % 2 == 1);
        let data = [u8::try_from(number + 1).unwrap(); BLOCK];
        // Every lane, and blocks that lie half in two of them.
        let offset = number * MIB + if number % 3 == 0 { 512 } else { 0 };
        machine.does(queue, WRITE, offset, &data);
        assert_eq!(machine.reads(1 - queue, offset), data);
    }
    machine.does(0, FLUSH, 0, &[]);
    let head = machine.does(0, NAME, 0, &[0; 20]);
    assert_eq!(machine.data(0, head), *b"r0\0\0");
    let range = [&(MIB / 512).to_le_bytes()[..], &8_u32.to_le_bytes(), &[0; 4]].concat();
    machine.does(1, DISCARD, 0, &range);
    assert_eq!(machine.reads(0, MIB), [0; BLOCK]);
    let beyond = machine.submit(0, WRITE, 1 << 40, &[1; BLOCK]);
    assert_eq!(machine.answer(0), Answer { head: beyond, status: 1 });
    let holders = cluster.status(0).unwrap().devices[0].holders.clone();
    assert!(holders.iter().any(|holder| holder.pid == Some(std::process::id())), "{holders:?}");
    let refusal = cluster.adm_refused(0, &["secondary", "r0"]);
    assert!(refusal.contains("1 clients have it open"), "{refusal}");
    drop(stream);
    for index in 0..3 {
        cluster.terminate(index);
    }
    assert!(!socket(&cluster, 0).exists(), "a daemon that ends takes its sockets away");
    cluster.assert_replicas_equal(48 * MIB);
}

/// It held the place of the disk, and made its node Primary, for as long as it liked.
#[test]
fn connection_that_asks_nothing_keeps_no_machine_waiting() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let silent = UnixStream::connect(socket(&cluster, 1)).unwrap();
    let half = UnixStream::connect(socket(&cluster, 1)).unwrap();
    std::io::Write::write_all(&mut &half, &[1, 0, 0, 0, 1]).unwrap();
    let mut machine = Machine::new();
    let stream = attach(&cluster, 1, &mut machine);
    machine.does(0, WRITE, 0, &[5; BLOCK]);
    assert_eq!(machine.reads(1, 0), [5; BLOCK]);
    drop(stream);
    // Those that ask nothing do not keep it Primary, either.
    cluster.wait(1, "way back to Secondary", |status| status.role == api::role::Role::Secondary);
    let _stream = attach(&cluster, 1, &mut machine);
    assert_eq!(machine.reads(1, 0), [5; BLOCK]);
    drop((silent, half));
}

#[test]
fn requests_under_way_when_the_daemon_is_killed_are_answered_by_the_next_one() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut machine = Machine::new();
    let stream = attach(&cluster, 0, &mut machine);
    machine.does(0, WRITE, 0, &[1; BLOCK]);
    // Without a majority nothing is answered.
    cluster.kill(1);
    cluster.kill(2);
    let mut heads = Vec::new();
    for number in 0..6 {
        let data = [u8::try_from(10 + number).unwrap(); BLOCK];
        heads.push(machine.submit(usize::from(number % 2 == 1), WRITE, number * MIB, &data));
    }
    cluster.wait(0, "loss of the majority", |status| !status.devices[0].quorum);
    for queue in [0, 1] {
        assert!(!machine.has_answer(queue));
        // What is refused at once is answered ahead of the others: they do not follow it.
        let head = machine.submit(queue, WRITE, 1 << 40, &[1; BLOCK]);
        assert_eq!(machine.answer(queue), Answer { head, status: 1 });
    }
    cluster.kill(0);
    drop(stream);
    for index in 0..3 {
        cluster.launch(index);
    }
    let _stream = attach(&cluster, 0, &mut machine);
    for queue in [0, 1] {
        let mut answered: Vec<_> = (0..3).map(|_| machine.answer(queue)).collect();
        answered.sort_by_key(|answer| answer.head);
        let mut wanted: Vec<_> = heads.iter().skip(queue).step_by(2).copied().collect();
        wanted.sort_unstable();
        let wanted: Vec<_> = wanted.iter().map(|head| Answer { head: *head, status: 0 }).collect();
        assert_eq!(answered, wanted);
        assert!(!machine.has_answer(queue), "each is answered once");
    }
    for number in 0..6 {
        let data = [u8::try_from(10 + number).unwrap(); BLOCK];
        assert_eq!(machine.reads(0, number * MIB), data);
    }
}

#[test]
fn machine_is_turned_away_when_another_node_wrote_meanwhile() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut machine = Machine::new();
    let stream = attach(&cluster, 0, &mut machine);
    machine.does(0, WRITE, 0, &[1; BLOCK]);
    cluster.kill(0);
    drop(stream);
    cluster.client(1).write(0, &[2; BLOCK]).unwrap();
    cluster.launch(0);
    cluster.wait_up_to_date(0);
    cluster.poll(0, "refusal", || {
        machine.attach(&socket(&cluster, 0)).unwrap_err();
        cluster.log(0).contains("another node was Primary since it last wrote").then_some(())
    });
    let mut restarted = Machine::new();
    let _stream = attach(&cluster, 0, &mut restarted);
    assert_eq!(restarted.reads(0, 0), [2; BLOCK]);
}

#[test]
fn guest_that_means_ill_loses_its_disk_and_nobody_else_does() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let reason = "where there is no memory";
    for shift in [1 << 40, 0_u64.wrapping_sub(1 << 30)] {
        let mut machine = Machine::new();
        let stream = attach(&cluster, 0, &mut machine);
        machine.does(1, WRITE, 0, &[1; BLOCK]);
        let before = cluster.log(0).matches(reason).count();
        machine.submit_at(0, WRITE, 0, &[1; BLOCK], shift);
        cluster.poll(0, "end of the session", || {
            (cluster.log(0).matches(reason).count() > before).then_some(())
        });
        let mut rest = [0];
        assert_eq!(std::io::Read::read(&mut &stream, &mut rest).unwrap(), 0, "it is cut off");
        client.write(4096, &[3; BLOCK]).unwrap();
    }
}

/// A signal for which there is no room is one that waits, where the monitor says so.
#[test]
fn monitor_whose_eventfd_is_full_holds_nobody_up() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let mut machine = Machine::new();
    let _stream = attach(&cluster, 0, &mut machine);
    for queue in [0, 1] {
        machine.fill_call(queue);
        machine.does(queue, WRITE, 0, &[1; BLOCK]);
        client.write(4096, &[2; BLOCK]).unwrap();
    }
}

/// To poll or to write another file may take as long as somebody likes.
#[test]
fn monitor_that_gives_other_files_than_eventfds_is_turned_away() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut machine = Machine::new();
    let other = File::options().read(true).write(true).open("/dev/null").unwrap();
    for (request, name) in [(12, "kick of ring 0"), (13, "call of ring 0"), (14, "error of a ring")]
    {
        let stream = attach(&cluster, 0, &mut machine);
        machine.does(1, WRITE, 0, &[1; BLOCK]);
        Machine::gives(&stream, request, &other);
        cluster.poll(0, "refusal", || {
            let reason = format!("gives a file that is no eventfd as the {name}");
            cluster.log(0).contains(&reason).then_some(())
        });
        let mut rest = [0];
        assert_eq!(std::io::Read::read(&mut &stream, &mut rest).unwrap(), 0, "it is cut off");
    }
}

/// Each byte of a message can bring files, and a daemon has only so many.
#[test]
fn monitor_that_sends_more_files_than_a_message_has_is_turned_away() {
    let cluster = Cluster::start_in_sync(3, 0);
    let stream = UnixStream::connect(socket(&cluster, 0)).unwrap();
    let file = File::open("/dev/null").unwrap();
    for byte in [5, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0] {
        // It may be cut off by now.
        drop(io::descriptors::send_file(&stream, &[byte], Some(file.as_fd())));
    }
    cluster.poll(0, "refusal", || {
        cluster.log(0).contains("sends more than 8 files with a message").then_some(())
    });
}

/// What it says of a ring that runs goes to the shard, which has room for so much and no more.
#[test]
fn monitor_that_says_the_same_again_and_again_leaves_nothing_behind() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut machine = Machine::new();
    let stream = attach(&cluster, 0, &mut machine);
    let call = File::from(io::eventfd().unwrap());
    for number in 0..5000 {
        Machine::gives(&stream, 13, &call);
        if number % 100 == 0 {
            machine.does(0, WRITE, MIB, &[2; BLOCK]);
        }
    }
    drop(stream);
    cluster.wait(0, "end of the session", |status| status.devices[0].holders.is_empty());
    let mut machine = Machine::new();
    let _stream = attach(&cluster, 0, &mut machine);
    assert_eq!(machine.reads(0, MIB), [2; BLOCK]);
}

/// It costs the monitor nothing, and a daemon has only so many addresses.
#[test]
fn monitor_that_shares_terabytes_is_turned_away() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut machine = Machine::new();
    let stream = attach(&cluster, 0, &mut machine);
    let file = io::memory_file(64 << 40).unwrap();
    Machine::shares(&stream, 64 << 40, &file).unwrap();
    cluster.poll(0, "refusal", || cluster.log(0).contains("cannot share its memory").then_some(()));
    let _stream = attach(&cluster, 0, &mut machine);
    assert_eq!(machine.reads(0, 0), [0; BLOCK]);
}

/// The guest hears of it at once, and every ring takes what is new.
#[test]
fn guest_uses_what_its_disk_grew_by() {
    const GROWN: u64 = 160 << 20;
    let cluster = Cluster::start_in_sync(3, 0);
    let mut machine = Machine::new();
    let stream = attach(&cluster, 0, &mut machine);
    let beyond = machine.submit(1, WRITE, GROWN - 4096, &[1; BLOCK]);
    assert_eq!(machine.answer(1), Answer { head: beyond, status: 1 });
    cluster.adm_ok(1, &["resize", "--size", "160M", "r0"]);
    assert_eq!(machine.hears_of_size(&stream), GROWN);
    for queue in [0, 1] {
        let offset = GROWN - 4096 * (1 + queue as u64);
        assert_eq!(machine.reads(queue, offset), [0; BLOCK]);
        machine.does(queue, WRITE, offset, &[7; BLOCK]);
        assert_eq!(machine.reads(1 - queue, offset), [7; BLOCK]);
    }
    drop(stream);
    cluster.assert_replicas_equal(GROWN);
}
