//! Initiators that wait for room, and some that do not go.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use frontend::nvme::connect::{Connect, FlowControl};
use frontend::nvme::controller::Controller;
use frontend::nvme::receive::{Digests, Hello, Receiver};
use frontend::nvme::send::{DataEnd, Encoder};
use frontend::nvme::transfers::Transfers;
use frontend::nvme::view::Namespace;
use frontend::nvme::wire::{put16, put32};
use io::Event;

use super::*;
use crate::clients::nvme::work::Step;
use crate::clients::outstanding::Orphanage as _;
use crate::limits::{CLIENTS_BYTES_MAX, RESOURCE_BYTES_LEAST};

const HELD: HostedId = HostedId(0);

/// An I/O queue of a resource that this node serves.
pub(crate) fn serve(nvme: &mut Nvme, kit: &mut Kit) -> (Key, UnixStream) {
    let subsystem = Subsystem {
        name: "r0".to_owned(),
        id: 1,
        node: 0,
        namespaces: vec![Namespace { number: 1, size_bytes: 1 << 30 }],
        path: Path::Optimized,
        changes: 0,
        losses: 0,
    };
    let connect = Connect {
        command: 0,
        queue: 1,
        entries: 16,
        flow_control: FlowControl::On,
        keep_alive_ms: 0,
        host_id: [1; 16],
        controller: 1,
        subsystem: subsystem.nqn(),
        host: "host".to_owned(),
    };
    nvme.offer(Offer { hosted: HELD, subsystem });
    let (socket, outside) = UnixStream::pair().unwrap();
    nvme.on_accepted(kit.reactor.adopt(socket.into()).unwrap(), kit);
    let key = nvme.queues.key_at(0).unwrap();
    let machine = Controller::new(1, &connect);
    let session = Session::new(machine, key, (Some(HELD), None), kit.now);
    let controller = nvme.controllers.insert(session);
    let queue = nvme.queues.get_mut(key).unwrap();
    queue.connect(&connect);
    let digests = Digests::default();
    queue.receiver = Receiver::greeted(digests);
    queue.encoder = Some(Encoder::new(&Hello { digests, alignment: 4 }));
    queue.stage = Stage::Io(IoQueue {
        controller,
        hosted: HELD,
        admission: Admission::Admitted,
        transfers: Transfers::new(connect.entries),
        filling: None,
        requests: 0,
        last_data: DataEnd::Last,
    });
    nvme.flush(kit);
    (key, outside)
}

/// Reads the first bytes of the volume.
fn read(command: u16, length: u16) -> Vec<u8> {
    transfer(2, command, 0, length)
}

/// Writes so many bytes from a sector on, which are sent on leave.
pub(crate) fn write(command: u16, sector: u64, length: u16) -> Vec<u8> {
    transfer(1, command, sector, length)
}

fn transfer(opcode: u8, command: u16, sector: u64, length: u16) -> Vec<u8> {
    let mut pdu = vec![0; 72];
    (pdu[0], pdu[2], pdu[4]) = (4, 72, 72);
    let sqe = &mut pdu[8..];
    (sqe[0], sqe[4], sqe[39]) = (opcode, 1, 0x5a);
    put16(sqe, 2, command);
    put32(sqe, 32, length.into());
    sqe[40..48].copy_from_slice(&sector.to_le_bytes());
    put16(sqe, 48, length / 512 - 1);
    pdu
}

/// Waits for bytes to come or to go, and tells the front end.
fn turn(nvme: &mut Nvme, kit: &mut Kit) {
    for event in kit.wait_for_events() {
        if let Event::Received { token, result, .. } = event {
            nvme.on_received(Key::of_token(token).1, result, kit);
        } else if let Event::Sent { token, result, .. } = event {
            nvme.on_sent(Key::of_token(token).1, result, kit);
        } else {
            panic!("{event:?}");
        }
    }
    nvme.flush(kit);
}

/// Clients of another kind hold all that there is, and give some back: nothing else happens to the
/// initiator meanwhile.
#[test]
fn read_that_waits_for_room_begins_when_others_give_it_back() {
    let (mut nvme, mut kit) = (Nvme::new(), Kit::of_lone_shard());
    let (_, mut outside) = serve(&mut nvme, &mut kit);
    kit.budget.take(HostedId(1), CLIENTS_BYTES_MAX);
    kit.budget.take(HELD, RESOURCE_BYTES_LEAST);
    outside.write_all(&read(7, 4096)).unwrap();
    turn(&mut nvme, &mut kit);
    nvme.flush(&mut kit);
    assert!(nvme.pop_fact().is_none() && !nvme.is_waiting(&kit));
    kit.budget.give_back(HELD, RESOURCE_BYTES_LEAST);
    assert!(nvme.is_waiting(&kit));
    nvme.flush(&mut kit);
    let begun = nvme.pop_fact();
    assert!(matches!(begun, Some(Fact::Request { hosted: HELD, .. })), "{begun:?}");
    nvme.flush(&mut kit);
    assert!(!nvme.is_waiting(&kit));
}

/// A write held its place among what the core has while its data was on its way, so a few that
/// sent none stopped their volume.
#[test]
fn write_counts_for_the_core_once_its_data_is_here() {
    const LENGTH: u16 = 32 << 10;
    let full = CLIENTS_BYTES_MAX + RESOURCE_BYTES_LEAST;
    let (mut nvme, mut kit) = (Nvme::new(), Kit::of_lone_shard());
    let (key, mut outside) = serve(&mut nvme, &mut kit);
    outside.write_all(&write(7, 0, LENGTH)).unwrap();
    let mut ready = [0; 24];
    outside.set_nonblocking(true).unwrap();
    while outside.read_exact(&mut ready).is_err() {
        turn(&mut nvme, &mut kit);
    }
    outside.set_nonblocking(false).unwrap();
    // Others have all of the core by the time that it comes.
    kit.budget.take(HELD, full);
    let mut data = vec![0; 24];
    (data[0], data[1], data[2], data[3]) = (6, 4, 24, 24);
    put32(&mut data, 4, 24 + u32::from(LENGTH));
    put16(&mut data, 8, 7);
    data[10..12].copy_from_slice(&ready[10..12]);
    put32(&mut data, 16, LENGTH.into());
    data.resize(24 + usize::from(LENGTH), 7);
    outside.write_all(&data).unwrap();
    let is_here = |nvme: &Nvme| nvme.requests.iter().all(|(_, it)| it.step == Step::Waiting);
    while !is_here(&nvme) {
        turn(&mut nvme, &mut kit);
    }
    nvme.flush(&mut kit);
    assert!(nvme.pop_fact().is_none() && !nvme.is_waiting(&kit));
    kit.budget.give_back(HELD, full);
    assert!(nvme.is_waiting(&kit));
    nvme.flush(&mut kit);
    let begun = nvme.pop_fact();
    assert!(matches!(begun, Some(Fact::Request { hosted: HELD, .. })), "{begun:?}");
    // Its answer finds nobody, and still gives all back.
    nvme.close(key, "", &mut kit);
    nvme.forget_orphans(HELD, &mut kit);
    assert_eq!(kit.budget.held(), 0);
}

/// It reads a few bytes now and then, or none: it kept its place among the connections.
#[test]
fn initiator_that_is_let_go_keeps_its_place_for_a_while_only() {
    let (mut nvme, mut kit) = (Nvme::new(), Kit::of_lone_shard());
    let (key, mut outside) = serve(&mut nvme, &mut kit);
    kit.now = Time::ZERO + Duration::from_secs(100);
    // No PDU of an initiator.
    outside.write_all(&[0xff; 8]).unwrap();
    turn(&mut nvme, &mut kit);
    assert!(matches!(nvme.queues.get(key).unwrap().stage, Stage::Leaving));
    kit.now = kit.now + Duration::from_secs(29);
    nvme.tick(&mut kit);
    assert_eq!(nvme.queues.len(), 1, "it may hear why yet");
    assert!(nvme.deadline() < Time::NEVER);
    kit.now = kit.now + Duration::from_secs(2);
    nvme.tick(&mut kit);
    assert_eq!(nvme.queues.len(), 0);
}
