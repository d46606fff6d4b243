//! Garbage from an initiator: nothing panics, everything ends, and nothing grows without bound.
//!
//! Each run has a seed; a failure prints it, and the same seed gives the same run.

use frontend::block::Kind;
use frontend::nvme::command::{What, decode, range};
use frontend::nvme::connect::{Connect, FlowControl};
use frontend::nvme::controller::{Answer, Controller};
use frontend::nvme::limits::{
    ADMIN_DATA_BYTES_MAX, CAPSULE_DATA_BYTES_MAX, DATA_PDU_BYTES_MAX, TRANSFER_BYTES_MAX,
};
use frontend::nvme::receive::{Digests, Parsed, Receiver};
use frontend::nvme::transfers::Transfers;
use frontend::nvme::view::{Namespace, Path, Subsystem, View};
use frontend::nvme::wire::Sqe;
use stdx::random::Random;

const RUNS: u64 = 4000;
const SIZE: u64 = 1 << 30;

fn below(random: &mut Random, bound: u64) -> u8 {
    u8::try_from(random.below(bound)).unwrap()
}

/// A command out of opcodes and lengths that are right for the most part.
fn command(random: &mut Random) -> [u8; 64] {
    let mut bytes = [0; 64];
    for byte in &mut bytes {
        if random.chance(1, 8) {
            *byte = below(random, 256);
        }
    }
    let opcodes = [0, 1, 2, 8, 9, 2, 6, 9, 0x0a, 0x0c, 0x18, 0x7f, below(random, 256)];
    bytes[0] = *random.pick(&opcodes).unwrap();
    bytes[4] = *random.pick(&[1, 1, 0, 4, 0xff]).unwrap();
    bytes[32..36].copy_from_slice(&(random.below(32) * 512).to_le_bytes()[..4]);
    bytes[39] = *random.pick(&[0x5a, 0x5a, 0x01, 0, 0xff]).unwrap();
    bytes[40] = below(random, 16);
    bytes[48] = below(random, 32);
    bytes
}

/// PDUs that are right for the most part, and then changed here and there.
fn stream(random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![0, 0, 128, 0, 128, 0, 0, 0];
    bytes.resize(128, 0);
    for _ in 0..random.below(8) {
        let data = usize::try_from(random.below(5) * 512).unwrap();
        let (kind, head) = if random.chance(1, 2) { (4, 72) } else { (6, 24) };
        let start = bytes.len();
        let length = u32::try_from(usize::from(head) + data).unwrap().to_le_bytes();
        bytes.extend([kind, 0, head, if data == 0 { 0 } else { head }]);
        bytes.extend(length);
        bytes.extend(command(random));
        bytes.resize(start + usize::from(head) + data, 0x5a);
        if kind == 6 {
            let length = u32::try_from(data).unwrap().to_le_bytes();
            bytes[start + 16..start + 20].copy_from_slice(&length);
        }
    }
    for _ in 0..random.below(6) {
        let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
        match random.below(3) {
            0 => bytes.truncate(at.max(1)),
            1 => drop(bytes.drain(at..(at + 7).min(bytes.len()))),
            _ => bytes[at] = below(random, 256),
        }
        if bytes.is_empty() {
            return bytes;
        }
    }
    bytes
}

/// What the daemon may have to keep at a time to go on.
const KEPT_BYTES_MAX: usize = 72 + 4 + CAPSULE_DATA_BYTES_MAX as usize + 4;

fn check_stream(bytes: &[u8], random: &mut Random) {
    let mut receiver = Receiver::default();
    let mut transfers = Transfers::new(4);
    let mut rest = bytes;
    loop {
        let before = rest.len();
        let left = usize::try_from(receiver.payload_left()).unwrap();
        if left > 0 {
            let taken = left.min(rest.len()).min(1 + usize::try_from(random.below(600)).unwrap());
            if taken == 0 {
                return;
            }
            receiver.advance(&rest[..taken]);
            rest = &rest[taken..];
            continue;
        }
        match receiver.next(rest) {
            Parsed::NeedMore(needed) => {
                assert!(needed > rest.len() && needed <= KEPT_BYTES_MAX, "{needed}");
                return;
            }
            Parsed::Hello { consumed, .. } => rest = &rest[consumed..],
            Parsed::Command { consumed, sqe, data, .. } => {
                assert!(data.end <= consumed && data.len() <= CAPSULE_DATA_BYTES_MAX as usize);
                check_command(&sqe, &rest[data]);
                rest = &rest[consumed..];
            }
            Parsed::Data { consumed, head } => {
                assert!(head.length <= DATA_PDU_BYTES_MAX);
                if random.chance(1, 2) {
                    let granted = u32::try_from(random.below(4096)).unwrap();
                    transfers.begin((), head.command, granted);
                }
                if transfers.on_data(&head).is_ok() {
                    transfers.end_if_whole(head.tag);
                }
                rest = &rest[consumed..];
            }
            Parsed::DataEnd { consumed, .. } => {
                rest = &rest[consumed..];
                continue;
            }
            Parsed::Terminated(_) | Parsed::Invalid(_) => return,
        }
        assert!(rest.len() < before, "a PDU takes some bytes");
    }
}

/// What is carried out lies within the volume, and is not long.
fn check_command(sqe: &Sqe, data: &[u8]) {
    drop(Connect::of(sqe, data));
    let Ok(io) = decode(sqe, data.len(), Some(SIZE)) else { return };
    match io.what {
        What::Block(request) => {
            assert!(request.offset + request.length <= SIZE);
            let has_data = matches!(request.kind, Kind::Read | Kind::Write { .. });
            assert!(!has_data || request.length <= u64::from(TRANSFER_BYTES_MAX));
        }
        What::Deallocate { ranges } => {
            let data = if data.is_empty() { vec![0xff; 4096] } else { data.to_vec() };
            for index in 0..ranges.min(u32::try_from(data.len() / 16).unwrap()) {
                if let Ok(Some(request)) = range(&data, index, SIZE) {
                    assert!(request.offset + request.length <= SIZE);
                }
            }
        }
        What::Nothing => {}
    }
}

#[test]
fn stream_of_garbage_is_survived() {
    for seed in 0..RUNS {
        let mut random = Random::new(seed);
        let bytes = stream(&mut random);
        let run = std::panic::AssertUnwindSafe(|| check_stream(&bytes, &mut random));
        assert!(std::panic::catch_unwind(run).is_ok(), "seed {seed}");
    }
}

#[test]
fn pure_noise_is_survived() {
    for seed in 0..RUNS {
        let mut random = Random::new(seed);
        let length = 1 + random.below(300);
        let bytes: Vec<u8> = (0..length).map(|_| below(&mut random, 256)).collect();
        let digests = Digests { header: random.chance(1, 2), data: random.chance(1, 2) };
        let mut receiver = Receiver::greeted(digests);
        drop(receiver.next(&bytes));
        check_stream(&bytes, &mut random);
    }
}

#[test]
fn controller_survives_every_command() {
    let subsystem = Subsystem {
        name: "r0".to_owned(),
        id: 5,
        node: 0,
        namespaces: [1, 2, 16].map(|number| Namespace { number, size_bytes: SIZE }).to_vec(),
        path: Path::Optimized,
        changes: 1,
        losses: 2,
    };
    let connect = Connect {
        command: 0,
        queue: 0,
        entries: 32,
        flow_control: FlowControl::On,
        keep_alive_ms: u32::MAX,
        host_id: [0; 16],
        controller: 0,
        subsystem: String::new(),
        host: String::new(),
    };
    let mut answers = 0;
    for seed in 0..RUNS {
        let mut random = Random::new(seed);
        let mut controller = Controller::new(1, &connect);
        let mut out = Vec::new();
        for _ in 0..32 {
            let views =
                [View::Volume(&subsystem), View::Discovery { records: &[], changes: u64::MAX }];
            let view = random.pick(&views).unwrap();
            let mut bytes = command(&mut random);
            let pages = [0, 1, 2, 3, 6, 7, 0x0b, 0x0c, 0x0f, 0x70, 0x81];
            bytes[40] = *random.pick(&pages).unwrap();
            if random.chance(3, 4) {
                bytes[48..56].fill(0);
            }
            if random.chance(1, 8) {
                // It becomes ready.
                bytes[0] = 0x7f;
                bytes[4] = 0;
                bytes[40..44].fill(0);
                bytes[44..52].copy_from_slice(&[0x14, 0, 0, 0, 1, 0, 0x46, 0]);
            }
            let answer = controller.on_command(&Sqe::of(&bytes), &[], view, &mut out);
            assert!(out.len() <= ADMIN_DATA_BYTES_MAX as usize, "seed {seed}");
            answers += u32::from(answer != Answer::Later && !out.is_empty());
            controller.next_event();
        }
    }
    assert!(answers > 1000, "only {answers} answers had data: the commands are too wrong");
}
