//! A controller from its first property to its events.

use std::net::SocketAddr;

use frontend::nvme::connect::{Connect, FlowControl};
use frontend::nvme::controller::{Answer, Controller, Event};
use frontend::nvme::send::Completion;
use frontend::nvme::status::Status;
use frontend::nvme::view::{Namespace, Path, Record, Subsystem, View};
use frontend::nvme::wire::{Sqe, le16, le32, le64};

use crate::sqe;

fn connect() -> Connect {
    Connect {
        command: 0,
        queue: 0,
        entries: 32,
        flow_control: FlowControl::On,
        keep_alive_ms: 5001,
        host_id: [9; 16],
        controller: 0xffff,
        subsystem: String::new(),
        host: "host".to_owned(),
    }
}

fn subsystem(path: Path) -> Subsystem {
    let id = 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10;
    let namespaces = vec![Namespace { number: 1, size_bytes: 64 << 20 }];
    Subsystem { name: "r0".to_owned(), id, node: 2, namespaces, path, changes: 3, losses: 0 }
}

fn ask(controller: &mut Controller, sqe: &Sqe, view: &View<'_>) -> Result<(u64, Vec<u8>), Status> {
    let mut out = Vec::new();
    match controller.on_command(sqe, &[], view, &mut out) {
        Answer::Now(Completion { status: Status::SUCCESS, result, .. }) => Ok((result, out)),
        Answer::Now(Completion { status, .. }) => Err(status),
        Answer::Later => panic!("{sqe:?} is to be answered at once"),
    }
}

fn property(kind: u8, size: u8, offset: u8, value: u32) -> Sqe {
    let value = value.to_le_bytes();
    sqe(0x7f, &[(4, &[kind]), (40, &[size]), (44, &[offset]), (48, &value)])
}

const ENABLE: u32 = 0x0046_0001;

fn enabled(view: &View<'_>) -> Controller {
    let mut controller = Controller::new(4007, &connect());
    ask(&mut controller, &property(0, 0, 0x14, ENABLE), view).unwrap();
    controller
}

/// Data of so many bytes is wanted.
fn wanting(opcode: u8, length: u32, fields: &[(usize, &[u8])]) -> Sqe {
    let length = length.to_le_bytes();
    let mut all = vec![(32, &length[..])];
    all.extend_from_slice(fields);
    sqe(opcode, &all)
}

fn log(page: u8, length: u32, offset: u64) -> Sqe {
    wanting(0x02, length, &[(40, &[page]), (48, &offset.to_le_bytes())])
}

#[test]
fn controller_becomes_ready_and_shuts_down() {
    let subsystem = subsystem(Path::Optimized);
    let view = View::Volume(&subsystem);
    let mut controller = Controller::new(4007, &connect());
    let identify = wanting(0x06, 4096, &[(40, &[1])]);
    assert_eq!(ask(&mut controller, &identify, &view), Err(Status::SEQUENCE_ERROR));
    let (capabilities, _) = ask(&mut controller, &property(4, 1, 0, 0), &view).unwrap();
    assert_eq!(capabilities & 0xffff, 127, "entries of a queue, less one");
    assert_eq!(capabilities >> 37 & 1, 1, "the NVM command set");
    assert_eq!(ask(&mut controller, &property(4, 0, 8, 0), &view).unwrap().0, 0x0001_0400);
    let status = property(4, 0, 0x1c, 0);
    assert_eq!(ask(&mut controller, &status, &view).unwrap().0, 0);
    let wrong = property(0, 0, 0x14, 0x0056_0001);
    assert_eq!(ask(&mut controller, &wrong, &view), Err(Status::INVALID_FIELD));
    ask(&mut controller, &property(0, 0, 0x14, ENABLE), &view).unwrap();
    assert_eq!(ask(&mut controller, &status, &view).unwrap().0, 1);
    ask(&mut controller, &property(0, 0, 0x14, ENABLE | 1 << 14), &view).unwrap();
    assert_eq!(ask(&mut controller, &status, &view).unwrap().0, 1 | 2 << 2);
    ask(&mut controller, &property(0, 0, 0x14, 0), &view).unwrap();
    assert!(!controller.is_ready());
}

#[test]
fn controller_tells_what_multipath_needs() {
    let subsystem = subsystem(Path::Optimized);
    let view = View::Volume(&subsystem);
    let mut controller = enabled(&view);
    let (_, id) = ask(&mut controller, &wanting(0x06, 4096, &[(40, &[1])]), &view).unwrap();
    assert_eq!(id.len(), 4096);
    assert_eq!(le16(&id, 522), 0, "no pairs of commands");
    let half = wanting(0x06, 4096, &[(1, &[1]), (40, &[1])]);
    assert_eq!(ask(&mut controller, &half, &view), Err(Status::INVALID_FIELD));
    assert_eq!(id[76] & 0b1010, 0b1010, "several controllers, and ANA");
    assert_eq!((id[77], le16(&id, 78), id[111]), (8, 4007, 1));
    assert_eq!((le32(&id, 344), le32(&id, 348), le32(&id, 516)), (1, 1, 1));
    assert_eq!(le32(&id, 92), 1 << 8 | 1 << 11, "notices of size and path");
    assert_eq!((le16(&id, 520), id[525] & 1), (0b1100, 1), "deallocate, zeroes, a cache");
    assert_eq!(le32(&id, 1792), (64 + 16384) / 16, "16 KiB in a capsule");
    let name = "nqn.2026-01.local.basalt:r0";
    assert_eq!(&id[768..768 + name.len()], name.as_bytes());
    assert_eq!((controller.keep_alive_ms(), le16(&id, 320)), (6000, 10));
}

/// The name of namespace `number`, and what the namespace itself says it is.
fn name(controller: &mut Controller, number: u8, view: &View<'_>) -> Vec<u8> {
    let descriptors = wanting(0x06, 4096, &[(4, &[number]), (40, &[3])]);
    let name = ask(controller, &descriptors, view).unwrap().1[4..20].to_vec();
    assert_eq!(describe(controller, number, view), name);
    name
}

fn describe(controller: &mut Controller, number: u8, view: &View<'_>) -> Vec<u8> {
    let identify = wanting(0x06, 4096, &[(4, &[number]), (40, &[0])]);
    ask(controller, &identify, view).unwrap().1[104..120].to_vec()
}

/// Two volumes, after so many losses.
fn lossy(losses: u32) -> Subsystem {
    let second = Namespace { number: 2, size_bytes: 64 << 20 };
    let mut subsystem = Subsystem { losses, ..subsystem(Path::Optimized) };
    subsystem.namespaces.push(second);
    subsystem
}

/// C5: a namespace that may lack writes is another one.
#[test]
fn losses_give_namespaces_other_names() {
    let mut names = Vec::new();
    for losses in 0..3 {
        let subsystem = lossy(losses);
        let view = View::Volume(&subsystem);
        let mut controller = enabled(&view);
        names.extend([1, 2].map(|number| name(&mut controller, number, &view)));
    }
    let mut others = names.clone();
    others.sort();
    others.dedup();
    assert_eq!(others.len(), names.len(), "{names:?}");
}

/// As Linux does it: the name, the namespace, and once more what it keeps.
#[test]
fn an_initiator_shows_that_it_took_a_name() {
    let (before, after) = (lossy(0), lossy(1));
    let view = View::Volume(&before);
    let mut controller = enabled(&view);
    for number in [1, 2] {
        name(&mut controller, number, &view);
        describe(&mut controller, number, &view);
    }
    assert!(controller.has_taken_names(&before));
    assert!(!controller.looks_at_names(&after), "it cannot know those");
    let view = View::Volume(&after);
    for number in [1, 2] {
        name(&mut controller, number, &view);
    }
    assert!(controller.looks_at_names(&after) && !controller.has_taken_names(&after));
    describe(&mut controller, 1, &view);
    assert!(!controller.has_taken_names(&after), "the other one it may have dropped");
    describe(&mut controller, 2, &view);
    assert!(controller.has_taken_names(&after));
}

#[test]
fn namespace_has_one_name_on_every_node() {
    let (first, mut second) = (subsystem(Path::Optimized), subsystem(Path::Inaccessible));
    second.node = 3;
    let mut names = Vec::new();
    for subsystem in [&first, &second] {
        let view = View::Volume(subsystem);
        let mut controller = enabled(&view);
        let nsid: &[u8] = &[1];
        let (_, id) =
            ask(&mut controller, &wanting(0x06, 4096, &[(4, nsid), (40, &[0])]), &view).unwrap();
        assert_eq!((le64(&id, 0), id[30], id[130]), (131_072, 1, 9));
        let (_, list) =
            ask(&mut controller, &wanting(0x06, 4096, &[(4, nsid), (40, &[3])]), &view).unwrap();
        assert_eq!(list[..4], [2, 16, 0, 0]);
        assert_eq!(list[4..20], id[104..120], "both tell one NGUID");
        names.push(id[104..120].to_vec());
        let (_, active) = ask(&mut controller, &wanting(0x06, 4096, &[(40, &[2])]), &view).unwrap();
        assert_eq!((le32(&active, 0), le32(&active, 4)), (1, 0));
        let other = wanting(0x06, 4096, &[(4, &[2]), (40, &[0])]);
        assert_eq!(ask(&mut controller, &other, &view), Err(Status::INVALID_NAMESPACE));
    }
    assert_eq!(names[0], names[1]);
    assert_eq!(first.serial(), second.serial());
    assert_eq!(first.serial().len(), 20);
}

#[test]
fn ana_log_tells_the_path() {
    for (path, state) in [(Path::Optimized, 1), (Path::NonOptimized, 2), (Path::Inaccessible, 3)] {
        let subsystem = subsystem(path);
        let view = View::Volume(&subsystem);
        let (_, page) = ask(&mut enabled(&view), &log(0x0c, 52, 0), &view).unwrap();
        assert_eq!((le64(&page, 0), le16(&page, 8)), (3, 1), "three changes, one group");
        assert_eq!((le32(&page, 16), le32(&page, 20), page[32]), (1, 1, state));
        assert_eq!(le32(&page, 48), 1, "its only namespace");
        let (_, tail) = ask(&mut enabled(&view), &log(0x0c, 4, 48), &view).unwrap();
        assert_eq!(tail, page[48..]);
    }
}

#[test]
fn each_volume_is_a_namespace() {
    let mut subsystem = subsystem(Path::Optimized);
    subsystem.namespaces.push(Namespace { number: 5, size_bytes: 32 << 20 });
    let view = View::Volume(&subsystem);
    let mut controller = enabled(&view);
    let identify = |what: u8, namespace: u8| wanting(6, 4096, &[(4, &[namespace]), (40, &[what])]);
    let (_, id) = ask(&mut controller, &identify(1, 0), &view).unwrap();
    assert_eq!((le32(&id, 516), le32(&id, 540), le32(&id, 348)), (5, 5, 1), "one ANA group");
    let mut listed = |after: u8| {
        let (_, list) = ask(&mut controller, &identify(2, after), &view).unwrap();
        [0, 4, 8].map(|at| le32(&list, at))
    };
    assert_eq!([listed(0), listed(1), listed(5)], [[1, 5, 0], [5, 0, 0], [0; 3]]);
    let names = [1, 5].map(|namespace| {
        let (_, id) = ask(&mut controller, &identify(0, namespace), &view).unwrap();
        let (_, described) = ask(&mut controller, &identify(3, namespace), &view).unwrap();
        assert_eq!(described[4..20], id[104..120]);
        (le64(&id, 0), id[104..120].to_vec())
    });
    assert_eq!((names[0].0, names[1].0), (131_072, 65_536));
    assert_ne!(names[0].1, names[1].1, "each has a name of its own");
    let refused = ask(&mut controller, &identify(0, 2), &view);
    assert_eq!(refused, Err(Status::INVALID_NAMESPACE));
    let (_, page) = ask(&mut controller, &log(0x0c, 56, 0), &view).unwrap();
    assert_eq!((le32(&page, 20), page[32], le32(&page, 48), le32(&page, 52)), (2, 1, 1, 5));
    controller.on_event(Event::Namespace);
    let (_, page) = ask(&mut controller, &log(4, 4096, 0), &view).unwrap();
    assert_eq!([0, 4, 8].map(|at| le32(&page, at)), [1, 5, 0]);
}

#[test]
fn log_pages_have_bounds() {
    let subsystem = subsystem(Path::Optimized);
    let view = View::Volume(&subsystem);
    let mut controller = enabled(&view);
    assert_eq!(ask(&mut controller, &log(0x0c, 4096, 0), &view).unwrap().1.len(), 4096);
    assert_eq!(ask(&mut controller, &log(0x02, 512, 0), &view).unwrap().1[3], 100);
    assert_eq!(ask(&mut controller, &log(0x01, 64, 0), &view).unwrap().1, [0; 64]);
    for (length, offset) in [(1 << 30, 0), (0, 0)] {
        let refused = ask(&mut controller, &log(0x0c, length, offset), &view);
        assert_eq!(refused, Err(Status::DATA_LENGTH_INVALID));
    }
    let refused = ask(&mut controller, &log(0x0c, 52, 1 << 40), &view);
    assert_eq!(refused, Err(Status::INVALID_FIELD));
    assert_eq!(ask(&mut controller, &log(0x70, 16, 0), &view), Err(Status::INVALID_LOG_PAGE));
}

#[test]
fn discovery_lists_the_subsystems() {
    let address: SocketAddr = "127.0.0.1:4420".parse().unwrap();
    let records = ["a", "b"].map(|name| Record { nqn: name.to_owned(), address });
    let view = View::Discovery { records: &records, changes: 9 };
    let mut controller = enabled(&view);
    let (_, page) = ask(&mut controller, &log(0x70, 3072, 0), &view).unwrap();
    assert_eq!((le64(&page, 0), le64(&page, 8)), (9, 2));
    let record = &page[2048..];
    assert_eq!((record[0], record[1], record[2]), (3, 1, 2), "TCP, IPv4, a subsystem");
    assert_eq!((&record[32..37], record[256]), (&b"4420 "[..], b'b'));
    assert_eq!(&record[512..522], b"127.0.0.1 ");
    let (_, id) = ask(&mut controller, &wanting(0x06, 4096, &[(40, &[1])]), &view).unwrap();
    assert_eq!(id[111], 2, "a discovery controller");
    let namespaces = wanting(0x06, 4096, &[(40, &[2])]);
    assert_eq!(ask(&mut controller, &namespaces, &view), Err(Status::INVALID_FIELD));
}

#[test]
fn features_are_set_and_told() {
    let subsystem = subsystem(Path::Optimized);
    let view = View::Volume(&subsystem);
    let mut controller = enabled(&view);
    let set = |feature: u8, value: u32| sqe(0x09, &[(40, &[feature]), (44, &value.to_le_bytes())]);
    let get = |feature: u8| wanting(0x0a, 16, &[(40, &[feature])]);
    assert_eq!(ask(&mut controller, &set(7, 0x0003_0005), &view).unwrap().0, 0x0003_0003);
    assert_eq!(ask(&mut controller, &get(7), &view).unwrap().0, 0x0003_0003);
    assert_eq!(ask(&mut controller, &set(7, 0xffff_ffff), &view).unwrap().0, 0x000f_000f);
    ask(&mut controller, &set(0x0f, 2500), &view).unwrap();
    assert_eq!((controller.keep_alive_ms(), controller.queues), (3000, 16));
    assert_eq!(ask(&mut controller, &get(6), &view).unwrap().0, 1, "there is a cache");
    assert_eq!(ask(&mut controller, &set(6, 0), &view), Err(Status::NOT_CHANGEABLE));
    assert_eq!(ask(&mut controller, &get(0x81), &view).unwrap().1, [9; 16]);
    assert_eq!(ask(&mut controller, &set(0x55, 0), &view), Err(Status::INVALID_FIELD));
}

#[test]
fn event_is_told_once_until_its_page_is_read() {
    let subsystem = subsystem(Path::Inaccessible);
    let view = View::Volume(&subsystem);
    let mut controller = enabled(&view);
    controller.on_event(Event::Path);
    let request = sqe(0x0c, &[]);
    let mut out = Vec::new();
    for _ in 0..4 {
        assert_eq!(controller.on_command(&request, &[], &view, &mut out), Answer::Later);
    }
    assert_eq!(ask(&mut controller, &request, &view), Err(Status::EVENT_LIMIT));
    assert_eq!(controller.next_event(), None, "nobody wanted to hear of paths yet");
    let wish = sqe(0x09, &[(40, &[0x0b]), (44, &(1_u32 << 11).to_le_bytes())]);
    ask(&mut controller, &wish, &view).unwrap();
    controller.on_event(Event::Namespace);
    assert_eq!(controller.next_event(), None, "nor of sizes");
    controller.on_event(Event::Path);
    assert_eq!(controller.next_event().unwrap().result, 0x000c_0302);
    controller.on_event(Event::Path);
    assert_eq!(controller.next_event(), None, "the page was not looked at");
    ask(&mut controller, &log(0x0c, 52, 0), &view).unwrap();
    assert_eq!(controller.next_event().unwrap().result, 0x000c_0302);
}
