//! Clients that are slow, or stand still, beside others that are not.
//!
//! A client decides for how long it does not send the rest of a write, and does not take what it
//! asked for. So nothing that others need may be held by it meanwhile: those go on without a pause.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use frontend::nbd::wire::Command;
use frontend::nvme::wire::{le16, put16, put32};

use crate::harness::Cluster;
use crate::initiator::{Digests, Initiator, Line, command};
use crate::raw_client::{Raw, Way, head_of, with_tls};

/// Slow clients of a row, of each kind that it has.
const SLOW: usize = 20;
/// How long the others are looked at, and their longest pause: or so many times that which they
/// have without slow clients, where the machine has much else to do.
const LOOK: Duration = Duration::from_secs(4);
const PAUSE_MAX: Duration = Duration::from_millis(500);
const PAUSES_MAX: u32 = 4;
const LONG: usize = 1 << 20;
const PART: usize = 128 << 10;
/// Where the others write: behind what the slow ones do.
const OTHERS: u64 = 40 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Nbd,
    NbdTls,
    Nvme,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It sends a half of a write, and nothing more.
    HalfSent,
    /// It asks for much, and reads nothing.
    Unread,
    /// It sends a byte of a write each second, and takes a byte of what it asked for.
    ByteASecond,
}

const ROWS: [&[Manner]; 4] = [
    &[Manner::HalfSent],
    &[Manner::Unread],
    &[Manner::ByteASecond],
    &[Manner::HalfSent, Manner::Unread],
];

/// One that is slow.
enum Slow {
    Nbd(Raw),
    Nvme(Box<Initiator>),
}

impl Slow {
    fn begin(protocol: Protocol, manner: Manner, number: usize, site: &Site) -> Self {
        match protocol {
            Protocol::Nbd => Self::Nbd(begin_over_nbd(&site.cluster, &Way::Plain, manner)),
            Protocol::NbdTls => Self::Nbd(begin_over_nbd(&site.cluster, &site.tls, manner)),
            Protocol::Nvme => {
                let host = format!("slow{number}");
                let address = site.cluster.nodes[0].nvme;
                let mut it = Initiator::connect_as(&host, address, Digests::None, 0);
                begin_over_nvme(&mut it.io, manner);
                Self::Nvme(Box::new(it))
            }
        }
    }

    /// A second is over.
    fn go_on(&mut self) {
        let wire: &mut dyn ReadWrite = match self {
            Self::Nbd(raw) => &mut raw.wire,
            Self::Nvme(it) => &mut it.io.stream,
        };
        // One that is let go for its slowness does no harm.
        drop(wire.write_all(&[7]).and_then(|()| wire.flush()));
    }
}

trait ReadWrite: Read + Write {}

impl<T: Read + Write> ReadWrite for T {}

fn begin_over_nbd(cluster: &Cluster, way: &Way, manner: Manner) -> Raw {
    let mut client = Raw::open(cluster, way);
    match manner {
        // Some parts, and the beginning of one more.
        Manner::HalfSent => {
            client.say(&[head_of(Command::Write, 0, LONG), vec![7; LONG / 2 + 5000]].concat());
        }
        Manner::Unread => {
            let heads = (0..32).flat_map(|at| head_of(Command::Read, at << 20, LONG));
            client.say(&heads.collect::<Vec<u8>>());
        }
        Manner::ByteASecond => {
            let mut heads = head_of(Command::Read, 0, LONG);
            heads.extend(head_of(Command::Write, 0, LONG));
            client.say(&heads);
            // It takes a byte, and that is all of it for now.
            client.wire.read_exact(&mut [0]).unwrap();
        }
    }
    client
}

/// A read or a write of 1 MiB there.
fn long(opcode: u8, offset: u64) -> [u8; 64] {
    let place = (offset >> 9).to_le_bytes();
    command(opcode, &[(4, &[1]), (40, &place), (48, &2047_u16.to_le_bytes())])
}

fn begin_over_nvme(line: &mut Line, manner: Manner) {
    match manner {
        Manner::HalfSent => begin_to_write(line, 1 + PART / 2),
        Manner::Unread => {
            for at in 0..31 {
                line.send(long(2, at << 20), &[], LONG);
            }
        }
        Manner::ByteASecond => begin_to_write(line, 0),
    }
}

/// Long writes; of the first one so much of a part as soon as it has leave to come.
fn begin_to_write(line: &mut Line, length: usize) {
    for at in 0..8 {
        line.send(long(1, at << 20), &[], LONG);
    }
    let mut ready = [0; 24];
    line.stream.set_read_timeout(Some(PAUSE_MAX)).unwrap();
    if line.stream.read_exact(&mut ready).is_err() {
        // It has to wait: it holds nothing.
        return;
    }
    let mut pdu = vec![0; 24];
    (pdu[0], pdu[2], pdu[3]) = (6, 24, 24);
    put32(&mut pdu, 4, u32::try_from(24 + PART).unwrap());
    put16(&mut pdu, 8, le16(&ready, 8));
    put16(&mut pdu, 10, le16(&ready, 10));
    put32(&mut pdu, 16, u32::try_from(PART).unwrap());
    pdu.extend(vec![7; length]);
    line.stream.write_all(&pdu).unwrap();
}

/// What the rows are tried on.
struct Site {
    cluster: Cluster,
    tls: Way,
}

/// Does one thing after the other, and says how long the longest one took.
fn longest(is_over: &AtomicBool, mut does: impl FnMut(u64)) -> Duration {
    let mut longest = Duration::ZERO;
    for round in 0.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let began_at = io::now();
        does(round);
        longest = longest.max(io::now().since(began_at));
    }
    longest
}

fn over_nbd(mut client: Raw, place: u64, is_over: &AtomicBool) -> Duration {
    let mut bytes = vec![1; PART];
    longest(is_over, |round| match round % 4 {
        0 => client.write(place, &vec![5; PART]).unwrap(),
        1 => client.read(place, &mut bytes).unwrap(),
        2 => client.write(place, &[5; 4096]).unwrap(),
        _ => client.read(place, &mut bytes[..4096]).unwrap(),
    })
}

fn over_nvme(mut client: Initiator, place: u64, is_over: &AtomicBool) -> Duration {
    let bytes = vec![5; 2 * PART];
    longest(is_over, |round| match round % 4 {
        0 => assert_eq!(client.write(place, &bytes), 0),
        1 => assert_eq!(client.read(place, bytes.len()), bytes),
        2 => assert_eq!(client.write(place, &[5; 4096]), 0),
        _ => assert_eq!(client.read(place, 4096), [5; 4096]),
    })
}

impl Site {
    fn new() -> Self {
        let mut cluster = Cluster::prepare(3, 0);
        let tls = with_tls(&mut cluster);
        cluster.begin();
        cluster.make_in_sync();
        Self { cluster, tls }
    }

    /// The longest pauses of an honest client over each protocol, while a second after the other
    /// passes for the slow ones.
    fn pauses(&self, slow: &mut [Slow]) -> [Duration; 3] {
        let is_over = &AtomicBool::new(false);
        let plain = Raw::open(&self.cluster, &Way::Plain);
        let sealed = Raw::open(&self.cluster, &self.tls);
        let address = self.cluster.nodes[0].nvme;
        let initiator = Initiator::connect_as("honest", address, Digests::None, 0);
        thread::scope(|scope| {
            let threads = [
                scope.spawn(move || over_nbd(plain, OTHERS, is_over)),
                scope.spawn(move || over_nbd(sealed, OTHERS + (1 << 20), is_over)),
                scope.spawn(move || over_nvme(initiator, OTHERS + (2 << 20), is_over)),
            ];
            for _ in 0..LOOK.as_secs() {
                let until = io::now() + Duration::from_secs(1);
                while io::now() < until {
                    thread::park_timeout(until.since(io::now()));
                }
                slow.iter_mut().for_each(Slow::go_on);
            }
            is_over.store(true, Ordering::Relaxed);
            threads.map(|thread| thread.join().unwrap())
        })
    }
}

fn keep_nobody_waiting(protocol: Protocol) {
    let site = Site::new();
    let mut first = site.cluster.client(0);
    for offset in (0..32 << 20).step_by(LONG) {
        first.write(offset, &vec![7; LONG]).unwrap();
    }
    first.close().unwrap();
    let without = site.pauses(&mut []);
    let bound = PAUSE_MAX.max(*without.iter().max().unwrap() * PAUSES_MAX);
    for row in ROWS {
        let all = row.iter().flat_map(|manner| [*manner; SLOW]).enumerate();
        let mut slow: Vec<Slow> =
            all.map(|(number, manner)| Slow::begin(protocol, manner, number, &site)).collect();
        let is_a_second = row.contains(&Manner::ByteASecond);
        let pauses = site.pauses(if is_a_second { &mut slow } else { &mut [] });
        assert!(
            pauses.iter().all(|pause| *pause < bound),
            "{row:?} over {protocol:?}: NBD, NBD with TLS and NVMe/TCP paused for {pauses:?}, and \
             without slow clients for {without:?}"
        );
    }
    assert!(!site.cluster.log(0).contains("no sign of life"), "a link was lost");
}

#[test]
fn slow_clients_over_nbd_keep_nobody_waiting() {
    keep_nobody_waiting(Protocol::Nbd);
}

#[test]
fn slow_clients_over_nbd_with_tls_keep_nobody_waiting() {
    keep_nobody_waiting(Protocol::NbdTls);
}

#[test]
fn slow_initiators_keep_nobody_waiting() {
    keep_nobody_waiting(Protocol::Nvme);
}
