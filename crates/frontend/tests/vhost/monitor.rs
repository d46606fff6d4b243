//! A small monitor: the messages of QEMU 7.2 in their order, and what is answered.

use std::fs::File;

use frontend::vhost::config::{Cache, Disk};
use frontend::vhost::inflight::Layout;
use frontend::vhost::session::{Answer, Passed, Session, Step, Task};
use frontend::vhost::wire::{HEADER_BYTES, Header};

use crate::guest::{Guest, PLACE};

const DISK: Disk = Disk { size_bytes: 1 << 20, block_bytes: 512, queues_max: 2 };
/// Which the monitor has of the guest's address 0.
const USER: u64 = 0x7f00_0000;

#[derive(Debug)]
struct Monitor(Session<()>);

impl Monitor {
    fn new() -> Self {
        Self(Session::new(DISK))
    }

    fn try_send(
        &mut self,
        request: u8,
        flags: u8,
        payload: &[u8],
        files: usize,
    ) -> Result<Step, String> {
        let mut bytes = [0; HEADER_BYTES];
        (bytes[0], bytes[4]) = (request, flags);
        bytes[8..10].copy_from_slice(&u16::try_from(payload.len()).unwrap().to_le_bytes());
        let header = Header::decode(&bytes).map_err(|broken| broken.to_string())?;
        let file = |_| match request {
            12..=14 => Passed::Eventfd(()),
            _ => other_file(),
        };
        self.0
            .step(header, payload, (0..files).map(file).collect())
            .map_err(|broken| broken.to_string())
    }

    fn send(&mut self, request: u8, payload: &[u8], files: usize) -> Step {
        self.try_send(request, 1, payload, files).unwrap()
    }

    /// Sends what is remembered, and neither done nor answered.
    fn tell(&mut self, request: u8, payload: &[u8], files: usize) {
        let step = self.send(request, payload, files);
        assert!(matches!(step.task, Task::Nothing), "{step:?}");
        assert_eq!(step.answer, Answer::Nothing);
    }

    fn ask(&mut self, request: u8, payload: &[u8]) -> Vec<u8> {
        let step = self.send(request, payload, 0);
        assert!(matches!(step.task, Task::Nothing), "{step:?}");
        let Answer::Bytes(bytes) = step.answer else { panic!("no answer") };
        assert_eq!(bytes[..8], [request, 0, 0, 0, 5, 0, 0, 0], "an answer of version 1");
        assert_eq!(usize::from(bytes[8]), bytes.len() - HEADER_BYTES);
        bytes[HEADER_BYTES..].to_vec()
    }

    fn ask_number(&mut self, request: u8) -> u64 {
        u64::from_le_bytes(self.ask(request, &[]).try_into().unwrap())
    }

    /// From the first message until ring 0 could be enabled.
    fn set_up(&mut self) {
        let features = self.ask_number(1);
        assert_eq!(features, 0x1_7000_7e44, "the offered features");
        let protocol = self.ask_number(15);
        let what = "queues, acknowledgements, a channel back, configuration, kept requests";
        assert_eq!(protocol, 0x1229, "{what}");
        self.tell(16, &protocol.to_le_bytes(), 0);
        assert_eq!(self.ask_number(17), 2);
        self.tell(3, &[], 0);
        self.tell(2, &features.to_le_bytes(), 0);
        let step = self.send(5, &memory_table(&Guest::new()), 2);
        assert!(matches!(step.task, Task::Map(parts) if parts.len() == 2));
        self.tell(8, &ring_number(0, 8), 0);
        self.tell(10, &ring_number(0, 3), 0);
        let address = |at: u64| (USER + at).to_le_bytes();
        let places =
            [address(PLACE.descriptors), address(PLACE.used), address(PLACE.available), [0; 8]];
        self.tell(9, &[&[0; 8][..], &places.concat()].concat(), 0);
        self.tell(12, &0_u64.to_le_bytes(), 1);
        let step = self.send(13, &0_u64.to_le_bytes(), 1);
        assert!(matches!(step.task, Task::SetCall(0)));
        assert!(self.0.call(0).is_some() && self.0.kick(0).is_some());
    }
}

pub(crate) fn other_file() -> Passed<()> {
    Passed::Other(File::open("/dev/null").unwrap().into())
}

fn ring_number(ring: u32, number: u32) -> Vec<u8> {
    [ring.to_le_bytes(), number.to_le_bytes()].concat()
}

fn memory_table(_: &Guest) -> Vec<u8> {
    let border = crate::guest::BORDER;
    let region = |at: u64| [at, border, USER + at, 0].map(u64::to_le_bytes).concat();
    [&ring_number(2, 0)[..], &region(0), &region(border)].concat()
}

#[test]
fn ring_is_set_up_started_stopped_and_started_again() {
    let mut monitor = Monitor::new();
    monitor.set_up();
    let step = monitor.send(18, &ring_number(0, 1), 0);
    assert!(matches!(step.task, Task::Start(0)));
    let guest = Guest::new();
    assert_eq!(monitor.0.place(0, &guest.memory), Ok((PLACE, 3)));
    let step = monitor.send(11, &ring_number(0, 0), 0);
    assert!(matches!((&step.task, &step.answer), (Task::Stop(0), Answer::Base(0))), "{step:?}");
    monitor.0.stopped(0, 77);
    let answer = monitor.0.base_answer(0);
    assert_eq!(answer[HEADER_BYTES..], ring_number(0, 77));
    assert!(monitor.0.kick(0).is_none());
    // It stays enabled; the next kick starts it.
    let step = monitor.send(12, &0_u64.to_le_bytes(), 1);
    assert!(matches!(step.task, Task::Start(0)));
    let step = monitor.send(18, &ring_number(0, 0), 0);
    assert!(matches!(step.task, Task::Stop(0)));
}

#[test]
fn configuration_is_read_and_only_the_cache_written() {
    let mut monitor = Monitor::new();
    let request = |offset: u32, size: u32| [offset, size, 0].map(u32::to_le_bytes).concat();
    let space = monitor.ask(24, &[request(0, 60), vec![0; 60]].concat());
    assert_eq!(space[12..], DISK.encode(Cache::WriteBack));
    assert_eq!(monitor.ask(24, &request(250, 6))[12..], [0; 6], "beyond the space");
    monitor.try_send(24, 1, &request(250, 7), 0).unwrap_err();
    monitor.try_send(24, 1, &request(u32::MAX, 2), 0).unwrap_err();
    let step = monitor.send(25, &[request(32, 1), vec![0]].concat(), 0);
    assert!(matches!(step.task, Task::SetCache(Cache::WriteThrough)));
    assert_eq!(monitor.ask(24, &request(32, 1))[12..], [0]);
    for (offset, bytes) in [(31, vec![0]), (33, vec![0]), (32, vec![0, 0]), (32, vec![])] {
        let size = u32::try_from(bytes.len()).unwrap();
        monitor.try_send(25, 1, &[request(offset, size), bytes].concat(), 0).unwrap_err();
    }
}

#[test]
fn message_that_wants_an_answer_gets_one_when_that_was_agreed_on() {
    let mut monitor = Monitor::new();
    let owner = |monitor: &mut Monitor| monitor.try_send(3, 9, &[], 0).unwrap().answer;
    assert_eq!(owner(&mut monitor), Answer::Nothing);
    monitor.set_up();
    let Answer::Bytes(bytes) = owner(&mut monitor) else { panic!("no answer") };
    assert_eq!(bytes, [3, 0, 0, 0, 5, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn kept_requests_are_made_and_handed_over() {
    let mut monitor = Monitor::new();
    let layout = Layout { queues: 2, size: 128 };
    let payload = |length: u64, files| {
        let numbers = [length, 0].map(u64::to_le_bytes).concat();
        ([&numbers[..], &[2, 0, 128, 0]].concat(), files)
    };
    let step = monitor.send(31, &payload(0, 0).0, 0);
    assert!(matches!(step.task, Task::MakeInflight(made) if made == layout));
    assert_eq!(step.answer, Answer::Inflight);
    let answer = Session::<()>::inflight_answer(layout);
    // QEMU takes nothing but the size of its structure, with the padding at its end.
    assert_eq!((answer[8], answer.len()), (24, HEADER_BYTES + 24));
    assert_eq!(answer[HEADER_BYTES..HEADER_BYTES + 8], layout.bytes().to_le_bytes());
    let step = monitor.send(32, &payload(layout.bytes(), 1).0, 1);
    assert!(matches!(step.task, Task::UseInflight { layout: used, .. } if used == layout));
    for (length, files) in [(layout.bytes() - 1, 1), (layout.bytes(), 0), (layout.bytes(), 2)] {
        let (payload, files) = payload(length, files);
        monitor.try_send(32, 1, &payload, files).unwrap_err();
    }
}

#[test]
fn messages_that_cannot_be_are_refused_with_the_reason() {
    let mut monitor = Monitor::new();
    let mut refusal = |request, flags, payload: &[u8], files| {
        monitor.try_send(request, flags, payload, files).unwrap_err()
    };
    let long = 1_u64 << 40;
    for (request, flags, payload, files, reason) in [
        (1, 0, vec![], 0, "with the flags 0x0"),
        (1, 5, vec![], 0, "with the flags 0x5"),
        (99, 1, vec![], 0, "message 99, not known here"),
        (2, 1, vec![0; 7], 0, "too short"),
        (2, 1, long.to_le_bytes().to_vec(), 0, "wants the features"),
        (5, 1, ring_number(9, 0), 0, "too many regions"),
        (5, 1, memory_table(&Guest::new()), 1, "2 regions of memory in 1 files"),
        (8, 1, ring_number(0, 100), 0, "a ring of 100 descriptors"),
        (8, 1, ring_number(2, 8), 0, "names ring 2"),
        (12, 1, 0x100_u64.to_le_bytes().to_vec(), 0, "to be polled"),
        (12, 1, 0_u64.to_le_bytes().to_vec(), 0, "to be polled"),
    ] {
        let said = refusal(request, flags, &payload, files);
        assert!(said.starts_with("the monitor ") && said.contains(reason), "{reason}: {said}");
    }
    let guest = Guest::new();
    let said = monitor.0.place(0, &guest.memory).unwrap_err().to_string();
    assert_eq!(said, "the monitor starts ring 0 without saying where it lies");
}
