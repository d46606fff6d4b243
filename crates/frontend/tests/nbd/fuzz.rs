//! Garbage from either side: nothing panics, everything ends, nothing is handed on unchecked.
//!
//! Each run has a seed; a failure prints it, and the same seed gives the same run.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::golden::{answer_to, hex};
use crate::ram_server::{RamDisk, pair, serve};
use frontend::nbd::client::negotiation::Negotiation;
use frontend::nbd::client::{BlockStatus, Connection, Stream, Wishes};
use frontend::nbd::handshake::{Access, Agreement, Directory, Export, Handshake, Next};
use frontend::nbd::transmission::{Kind, Parsed, Request, Transmission};
use frontend::nbd::wire::{OPTION_MAGIC, ReplyForm};
use stdx::random::Random;

const SIZE: u64 = 1 << 20;
const FORMS: [ReplyForm; 3] = [ReplyForm::Simple, ReplyForm::Structured, ReplyForm::Extended];

/// `cargo xtask fuzz` goes on from where the fixed ones end.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let first = std::env::var("FUZZ_FIRST").ok().and_then(|first| first.parse().ok());
    let first = first.unwrap_or(0);
    first..first + count
}

fn below(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.below(bound as u64)).unwrap()
}

/// Numbers that lie at the edges of something.
fn odd_number(random: &mut Random) -> u64 {
    let edges: [u64; 14] =
        [0, 1, 2, 3, 511, 512, 4095, 4096, 4097, 16384, 1 << 20, 32 << 20, 1 << 31, 1 << 32];
    let edge = edges[below(random, edges.len())];
    match random.below(6) {
        0 => edge.wrapping_sub(1),
        1 => edge.wrapping_neg(),
        2 => random.next_u64(),
        _ => edge,
    }
}

/// Changes a few bytes, or cuts, doubles or drops a stretch.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = below(random, bytes.len());
        let end = (at + below(random, 40)).min(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            3 => {
                let number = odd_number(random).to_be_bytes();
                let length = [2, 4, 8][below(random, 3)].min(bytes.len() - at);
                bytes[at..at + length].copy_from_slice(&number[8 - length..]);
            }
            _ => bytes[at] ^= 1 << random.below(8),
        }
    }
}

/// A client's whole handshake, made of options that are right for the most part.
fn handshake_bytes(random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, u8::try_from(random.below(4)).unwrap()];
    let payloads = [
        hex(""),
        hex("00000002 7230 0002 0000 0003"),
        hex("00000002 726f 0000"),
        hex("7230"),
        hex("00000002 7230 00000001 0000000f 626173653a616c6c6f636174696f6e"),
        hex("00000002 7230 00000002 00000005 626173653a 00000004 782d793a"),
        vec![0; 20_000],
    ];
    for _ in 0..random.below(12) {
        let payload = &payloads[below(random, payloads.len())];
        let length = u32::try_from(payload.len()).unwrap();
        bytes.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
        bytes.extend_from_slice(&u32::try_from(random.below(13)).unwrap().to_be_bytes());
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(payload);
    }
    bytes
}

#[test]
fn a_handshake_survives_any_bytes() {
    let disk = RamDisk::new(SIZE);
    let directory = Directory { listed: &disk.exports, find: &|name| disk.find(name) };
    let (mut agreed, mut closed) = (0, 0);
    for seed in seeds(20_000) {
        let mut random = Random::new(seed);
        let mut bytes = handshake_bytes(&mut random);
        mutate(&mut bytes, &mut random);
        let mut output = Vec::new();
        let mut handshake = Handshake::start(&mut output);
        let (mut at, mut steps) = (0, 0);
        while at < bytes.len() {
            output.clear();
            let end = bytes.len().min(at + 1 + below(&mut random, 300));
            let step = handshake.step(&bytes[at..end], &directory, &mut output);
            at += step.consumed;
            steps += 1;
            assert!(step.consumed > 0 || !output.is_empty(), "seed {seed}: no progress");
            assert!(steps <= 2 * bytes.len(), "seed {seed}: no end");
            assert!(output.len() < 1024, "seed {seed}: an answer of {} bytes", output.len());
            match step.next {
                Next::More => continue,
                Next::Transmission(agreement) => {
                    assert!(disk.exports.iter().any(|export| export.name == agreement.export.name));
                    agreed += 1;
                }
                Next::StartTls => panic!("TLS is not offered"),
                Next::Close(_) => closed += 1,
            }
            break;
        }
    }
    // The garbage must be good enough to reach both ends.
    assert!(agreed > 1000 && closed > 1000, "{agreed} agreed, {closed} closed");
}

fn agreement(replies: ReplyForm, random: &mut Random) -> Agreement {
    let access = if random.chance(1, 4) { Access::ReadOnly } else { Access::ReadWrite };
    let read_only = if access == Access::ReadOnly { 2 } else { 0 };
    Agreement {
        export: Export::new("r0", SIZE, access),
        flags: (u16::try_from(random.next_u64() & 0x0dfd).unwrap() | 1) | read_only,
        replies,
        allocation_context: random.chance(1, 2).then_some(1),
    }
}

/// Requests that are right for the most part, with payloads.
fn request_bytes(form: ReplyForm, random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(8) {
        let command = u16::try_from(random.below(9)).unwrap();
        let offset = if random.chance(3, 4) { random.below(64) * 512 } else { odd_number(random) };
        let length = if random.chance(3, 4) { random.below(16) * 512 } else { odd_number(random) };
        let mut flags =
            if random.chance(1, 4) { u16::try_from(random.below(64)).unwrap() } else { 0 };
        let is_extended = form == ReplyForm::Extended;
        if is_extended && command == 1 && random.chance(9, 10) {
            flags |= 1 << 5;
        }
        let magic = if is_extended { "21e41c71" } else { "25609513" };
        bytes.extend_from_slice(&hex(magic));
        bytes.extend_from_slice(&flags.to_be_bytes());
        bytes.extend_from_slice(&command.to_be_bytes());
        bytes.extend_from_slice(&random.next_u64().to_be_bytes());
        bytes.extend_from_slice(&offset.to_be_bytes());
        let number = length.to_be_bytes();
        bytes.extend_from_slice(if is_extended { &number } else { &number[4..] });
        let has_payload = if is_extended { flags & (1 << 5) != 0 } else { command == 1 };
        if has_payload {
            bytes.resize(bytes.len() + usize::try_from(length.min(100_000)).unwrap(), 0x5a);
        }
    }
    bytes
}

/// What the daemon relies on.
fn assert_sound(request: &Request, agreement: &Agreement, seed: u64) {
    let Request { kind, offset, length, .. } = *request;
    assert!(!request.fua || agreement.flags & 8 != 0, "seed {seed}: {request:?}");
    let is_writing = matches!(kind, Kind::Write | Kind::Trim | Kind::WriteZeroes { .. });
    assert!(
        !is_writing || agreement.export.access == Access::ReadWrite,
        "seed {seed}: {request:?}"
    );
    if kind == Kind::Flush {
        assert_eq!((offset, length), (0, 0), "seed {seed}");
        return;
    }
    assert!(length > 0 && offset.checked_add(length).unwrap() <= SIZE, "seed {seed}: {request:?}");
    let is_status = matches!(kind, Kind::BlockStatus { .. });
    assert!(!is_status || agreement.allocation_context.is_some(), "seed {seed}: {request:?}");
    if kind == (Kind::Read { df: true }) {
        assert!(agreement.replies != ReplyForm::Simple || agreement.flags & 0x80 != 0);
    }
}

#[test]
fn a_transmission_survives_any_bytes() {
    let (mut requests, mut refused, mut closed) = (0, 0, 0);
    for seed in seeds(30_000) {
        let mut random = Random::new(seed);
        let form = FORMS[below(&mut random, 3)];
        let agreement = agreement(form, &mut random);
        let mut session = Transmission::new(&agreement);
        let mut bytes = request_bytes(form, &mut random);
        if random.chance(1, 2) {
            mutate(&mut bytes, &mut random);
        }
        let (mut at, mut end, mut steps) = (0, 0, 0);
        loop {
            steps += 1;
            assert!(steps < 10_000 + bytes.len(), "seed {seed}: no end");
            match session.next(&bytes[at..end]) {
                Parsed::NeedMore(more) => {
                    assert!(more > 0, "seed {seed}");
                    if end == bytes.len() {
                        break;
                    }
                    end = bytes.len().min(end + 1 + below(&mut random, 5000));
                }
                Parsed::Skipped { consumed } => {
                    assert!(consumed > 0 && consumed <= end - at, "seed {seed}");
                    at += consumed;
                }
                Parsed::Refused { consumed, .. } => {
                    at += consumed;
                    refused += 1;
                }
                Parsed::Request { consumed, request } => {
                    requests += 1;
                    at += consumed;
                    assert_sound(&request, &agreement, seed);
                    let left = session.payload_left();
                    assert_eq!(left, if request.kind == Kind::Write { request.length } else { 0 });
                    let there = left.min((bytes.len() - at) as u64);
                    session.advance_payload(there);
                    at += usize::try_from(there).unwrap();
                    end = end.max(at);
                    if there < left {
                        break;
                    }
                }
                Parsed::Disconnect => break,
                Parsed::Invalid(_) => {
                    closed += 1;
                    break;
                }
            }
        }
    }
    let enough = requests > 10_000 && refused > 5000 && closed > 1000;
    assert!(enough, "{requests} requests, {refused} refused, {closed} closed");
}

/// Whole sessions with a few bytes wrong: the server ends each of them and the disk stays whole.
#[test]
fn a_server_survives_mutated_sessions() {
    let disk = Arc::new(RamDisk::new(SIZE));
    for seed in seeds(1500) {
        let mut random = Random::new(seed);
        let form = FORMS[below(&mut random, 3)];
        let mut bytes = vec![0, 0, 0, 3];
        for (option, payload) in [
            (if form == ReplyForm::Extended { 11 } else { 8 }, hex("")),
            (10, hex("00000002 7230 00000001 0000000f 626173653a616c6c6f636174696f6e")),
            (7, hex("00000002 7230 0000")),
        ] {
            if option == 8 && form == ReplyForm::Simple {
                continue;
            }
            let length = u32::try_from(payload.len()).unwrap();
            bytes.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
            bytes.extend_from_slice(&[0, 0, 0, option]);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(&payload);
        }
        bytes.extend(request_bytes(form, &mut random));
        mutate(&mut bytes, &mut random);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let disk = Arc::clone(&disk);
        let server = std::thread::spawn(move || drop(serve(Stream::Unix(theirs), &disk)));
        let mut reading = ours.try_clone().unwrap();
        let reader =
            std::thread::spawn(move || drop(std::io::copy(&mut reading, &mut std::io::sink())));
        let mut writing = &ours;
        drop(writing.write_all(&bytes));
        drop(ours.shutdown(std::net::Shutdown::Write));
        server.join().unwrap_or_else(|_| panic!("seed {seed}: the server panicked"));
        reader.join().unwrap();
    }
    let (stream, server) = pair(&disk);
    let mut client = Connection::over(stream, "r0", &Wishes::default()).unwrap();
    client.write(0, &[1; 4096]).unwrap();
    client.close().unwrap();
    server.join().unwrap().unwrap();
}

/// What a server sends to our client, with a few bytes wrong.
#[test]
fn a_client_survives_mutated_servers() {
    let greeting = hex("4e42444d41474943 49484156454f5054 0003");
    let (options, _) = answer_to(
        &[
            option_bytes(8, ""),
            option_bytes(10, "00000002 7230 00000001 0000000f 626173653a616c6c6f636174696f6e"),
            option_bytes(7, "00000002 7230 0001 0003"),
        ]
        .concat(),
    );
    let data = [hex("668e33ef 0001 0001 0000000000000001 00000208 0000000000000000"), vec![7; 512]];
    let status = hex("668e33ef 0001 0005 0000000000000002 0000000c 00000001 00000200 00000000");
    let error = hex("668e33ef 0001 8001 0000000000000003 0000000a 0000001c 0004 66756c6c");
    let whole = [&greeting[..], &options, &data.concat(), &status, &error].concat();
    let (mut fine, mut failed) = (0, 0);
    for seed in seeds(5000) {
        let mut random = Random::new(seed);
        let mut bytes = whole.clone();
        if seed > 0 {
            mutate(&mut bytes, &mut random);
        }
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(&bytes).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let wishes = Wishes { block_status: BlockStatus::Ask, ..Wishes::default() };
        let Ok(mut client) = Connection::over(Stream::Unix(ours), "r0", &wishes) else {
            failed += 1;
            continue;
        };
        let read = client.read(0, &mut [0; 512]);
        let result = read.and_then(|()| client.block_status(0, 512)).map(drop);
        let result = result.and_then(|()| client.write(0, &[7; 512]));
        assert!(seed > 0 || result.unwrap_err().to_string().contains("ENOSPC"));
        fine += 1;
    }
    assert!(fine > 1000 && failed > 1000, "{fine} sessions, {failed} failed handshakes");
}

fn option_bytes(option: u32, payload: &str) -> Vec<u8> {
    let payload = hex(payload);
    let length = u32::try_from(payload.len()).unwrap();
    let head = [option.to_be_bytes(), length.to_be_bytes()].concat();
    [&OPTION_MAGIC.to_be_bytes(), &head[..], &payload].concat()
}

/// An answer that never ends must not fill the client's memory.
#[test]
fn an_endless_option_reply_is_refused() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(&hex("4e42444d41474943 49484156454f5054 0003")).unwrap();
    theirs.write_all(&hex("0003e889045565a9 00000003 00000002 ffffffff")).unwrap();
    let mut negotiation = Negotiation::start(Stream::Unix(ours)).unwrap();
    let error = negotiation.list().unwrap_err();
    assert!(error.to_string().contains("too long"), "{error}");
}

/// The client looked at four bytes that were not there, and ended the program.
#[test]
fn short_entry_of_a_list_is_refused() {
    let entries = ["00000000", "00000003 000000", "00000004 00000001", "00000005 00000002 72"];
    for entry in entries {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(&hex("4e42444d41474943 49484156454f5054 0003")).unwrap();
        theirs.write_all(&hex(&format!("0003e889045565a9 00000003 00000002 {entry}"))).unwrap();
        theirs.write_all(&hex("0003e889045565a9 00000003 00000001 00000000")).unwrap();
        let mut negotiation = Negotiation::start(Stream::Unix(ours)).unwrap();
        let error = negotiation.list().unwrap_err();
        assert!(error.to_string().contains("its list of exports is malformed"), "{error}");
    }
}
