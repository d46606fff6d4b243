//! Our client against our server, over a socket pair.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::ram_server::{RamDisk, RamServer, pair};
use frontend::nbd::client::{BlockStatus, ClientError, Connection, Request, Wishes, list_exports};
use frontend::nbd::limits::PART_BYTES;
use frontend::nbd::wire::{
    CMD_FLAG_DF, CMD_FLAG_FAST_ZERO, CMD_FLAG_FUA, CMD_FLAG_NO_HOLE, CMD_FLAG_REQ_ONE, Command,
    Errno, Extent, FLAG_SEND_DF, ReplyForm, STATE_HOLE, STATE_ZERO,
};
use stdx::random::Random;

const FORMS: [ReplyForm; 3] = [ReplyForm::Simple, ReplyForm::Structured, ReplyForm::Extended];
const SIZE: u64 = 48 << 20;
const HOLE: u32 = STATE_HOLE | STATE_ZERO;

pub(crate) fn wishes(replies: ReplyForm) -> Wishes {
    Wishes { replies, block_status: BlockStatus::Ask, ..Wishes::default() }
}

fn pattern(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut bytes = vec![0; length];
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random.next_u64().to_le_bytes()[..chunk.len()]);
    }
    bytes
}

fn errno_of(result: Result<impl std::fmt::Debug, ClientError>) -> Errno {
    match result {
        Err(ClientError::Failed { errno, .. }) => errno,
        other => panic!("not refused by the server: {other:?}"),
    }
}

#[test]
fn what_is_written_is_read_in_every_form_of_replies() {
    for form in FORMS {
        let disk = Arc::new(RamDisk::new(SIZE));
        let (stream, server) = pair(&disk);
        let mut client = Connection::over(stream, "r0", &wishes(form)).unwrap();
        assert_eq!(client.export().replies, form);
        assert_eq!(client.export().size_bytes, SIZE);
        assert_eq!(client.export().block_min_bytes, 1);
        assert_eq!(client.export().payload_max_bytes, 32 << 20);
        assert_eq!(client.export().flags & FLAG_SEND_DF != 0, form != ReplyForm::Simple);
        assert!(client.export().may_use_many_connections());
        let part = u64::from(PART_BYTES);
        let cases = [
            (0, 512),
            (512, part),
            (part - 512, 1024),
            (part, 4 * part),
            (4096, 32 << 20),
            (1, 1),
            (4095, 2),
            (part - 1, 3 * part + 2),
            (4095, 32 << 20),
            (SIZE - 1, 1),
        ];
        for (offset, length) in cases {
            let written = pattern(usize::try_from(length).unwrap(), offset + length);
            client.write(offset, &written).unwrap();
            let mut back = vec![0; written.len()];
            client.read(offset, &mut back).unwrap();
            assert!(back == written, "{length} bytes at {offset} as {form:?}");
        }
        client.flush().unwrap();
        assert_eq!(disk.flushes.load(Ordering::Relaxed), 1);
        client.cache(0, 4096).unwrap();
        client.write_durably(SIZE - 512, &[7; 512]).unwrap();
        client.close().unwrap();
        assert_eq!(server.join().unwrap().unwrap(), "disconnect");
    }
}

#[test]
fn chunks_are_split_by_part_and_a_read_with_df_is_not() {
    for form in [ReplyForm::Structured, ReplyForm::Extended] {
        let disk = Arc::new(RamDisk::new(SIZE));
        let (stream, server) = pair(&disk);
        let mut client = Connection::over(stream, "r0", &wishes(form)).unwrap();
        let length = 8 * u64::from(PART_BYTES);
        let written = pattern(usize::try_from(length).unwrap(), 5);
        client.write(512, &written).unwrap();
        for (flags, chunks) in [(0, 9), (CMD_FLAG_DF, 1)] {
            let reply = client.call(Command::Read, flags, 512, length, &[]).unwrap();
            assert!(reply.data == written);
            assert_eq!(reply.chunks, chunks);
        }
        client.close().unwrap();
        server.join().unwrap().unwrap();
    }
}

#[test]
fn a_failing_part_fails_the_read_in_the_way_of_its_form() {
    let mut disk = RamDisk::new(SIZE);
    let bad = 5 * u64::from(PART_BYTES);
    disk.failing = Some(bad..bad + 512);
    let disk = Arc::new(disk);
    for form in FORMS {
        for flags in [0, CMD_FLAG_DF] {
            if form == ReplyForm::Simple && flags != 0 {
                continue;
            }
            let (stream, server) = pair(&disk);
            let mut client = Connection::over(stream, "r0", &wishes(form)).unwrap();
            let read = client.call(Command::Read, flags, 0, 16 * u64::from(PART_BYTES), &[]);
            match read {
                Err(ClientError::Failed { errno, message, .. }) => {
                    assert_eq!(errno, Errno::Io);
                    let is_told = message.contains("the disk failed");
                    assert_eq!(is_told, form != ReplyForm::Simple);
                    client.read(0, &mut [0; 4096]).unwrap();
                    client.close().unwrap();
                    server.join().unwrap().unwrap();
                }
                Err(ClientError::Lost { .. }) => {
                    assert_eq!(form, ReplyForm::Simple, "only this form cannot take it back");
                    assert_eq!(server.join().unwrap().unwrap(), "hung up");
                }
                other => panic!("a read of a failing part gave {other:?}"),
            }
        }
    }
}

#[test]
fn a_failing_part_fails_the_write_whatever_follows() {
    let mut disk = RamDisk::new(SIZE);
    disk.failing = Some(u64::from(PART_BYTES)..u64::from(PART_BYTES) + 512);
    let disk = Arc::new(disk);
    for form in FORMS {
        let (stream, server) = pair(&disk);
        let mut client = Connection::over(stream, "r0", &wishes(form)).unwrap();
        assert_eq!(errno_of(client.write(0, &vec![1; 4 * PART_BYTES as usize])), Errno::Io);
        client.write(0, &[1; 512]).unwrap();
        client.close().unwrap();
        server.join().unwrap().unwrap();
    }
}

#[test]
fn block_status_follows_writes_and_trims() {
    for form in [ReplyForm::Structured, ReplyForm::Extended] {
        let disk = Arc::new(RamDisk::new(SIZE));
        let (stream, server) = pair(&disk);
        let mut client = Connection::over(stream, "r0", &wishes(form)).unwrap();
        client.write(8192, &[1; 8192]).unwrap();
        let all = client.block_status(0, SIZE).unwrap();
        let extent = |length_bytes, state| Extent { length_bytes, state };
        assert_eq!(all, [extent(8192, HOLE), extent(8192, 0), extent(SIZE - 16384, HOLE)]);
        assert_eq!(client.block_status_one(8192, 4096).unwrap(), extent(4096, 0));
        assert_eq!(client.block_status_one(512, 65536).unwrap(), extent(7680, HOLE));
        client.trim(8192, 4096).unwrap();
        client.write_zeroes(0, 4096, CMD_FLAG_NO_HOLE).unwrap();
        client.write_zeroes(12288, 4096, 0).unwrap();
        let all = client.block_status(0, SIZE).unwrap();
        assert_eq!(all, [extent(4096, 0), extent(SIZE - 4096, HOLE)]);
        let mut back = [1; 16384];
        client.read(0, &mut back).unwrap();
        assert_eq!(back, [0; 16384]);
        client.close().unwrap();
        server.join().unwrap().unwrap();
    }
}

#[test]
fn what_cannot_be_done_is_refused_and_the_session_lives_on() {
    for form in FORMS {
        let disk = Arc::new(RamDisk::new(SIZE));
        let (stream, server) = pair(&disk);
        let mut client = Connection::over(stream, "r0", &wishes(form)).unwrap();
        let data = [1; 1024];
        let invalid = Errno::Invalid;
        let mut call = |command, flags, offset, length| {
            let payload: &[u8] = if command == Command::Write { &data } else { &[] };
            let payload = &payload[..payload.len().min(usize::try_from(length).unwrap())];
            errno_of(client.call(command, flags, offset, length, payload))
        };
        assert_eq!(call(Command::Write, 0, SIZE, 512), Errno::NoSpace);
        assert_eq!(call(Command::Write, 0, SIZE - 512, 1024), Errno::NoSpace);
        assert_eq!(call(Command::Write, 0, u64::MAX - 511, 1024), Errno::NoSpace);
        assert_eq!(call(Command::WriteZeroes, 0, SIZE, 512), Errno::NoSpace);
        assert_eq!(call(Command::Read, 0, SIZE, 512), invalid);
        assert_eq!(call(Command::Trim, 0, SIZE - 512, 1024), invalid);
        assert_eq!(call(Command::Cache, 0, SIZE, 512), invalid);
        assert_eq!(call(Command::Read, 0, SIZE - 1, 2), invalid);
        assert_eq!(call(Command::Write, 0, SIZE - 1, 2), Errno::NoSpace);
        assert_eq!(call(Command::Read, 0, 0, 0), invalid);
        assert_eq!(call(Command::Write, 0, 0, 0), invalid);
        assert_eq!(call(Command::Read, 0, 0, (32 << 20) + 512), invalid);
        assert_eq!(call(Command::Flush, 0, 512, 0), invalid);
        assert_eq!(call(Command::Read, CMD_FLAG_NO_HOLE, 0, 512), invalid);
        assert_eq!(call(Command::Write, CMD_FLAG_REQ_ONE, 0, 512), invalid);
        assert_eq!(call(Command::Trim, CMD_FLAG_FAST_ZERO, 0, 512), invalid);
        let fast = CMD_FLAG_FAST_ZERO | CMD_FLAG_NO_HOLE;
        assert_eq!(call(Command::WriteZeroes, fast, 0, 512), Errno::NotSupported);
        if form == ReplyForm::Simple {
            assert_eq!(call(Command::Read, CMD_FLAG_DF, 0, 512), invalid);
            assert_eq!(call(Command::BlockStatus, 0, 0, 512), invalid);
        } else {
            assert_eq!(call(Command::BlockStatus, 0, SIZE, 512), invalid);
        }
        // FUA is a habit of some clients and allowed on everything.
        client.call(Command::Read, CMD_FLAG_FUA, 0, 512, &[]).unwrap();
        client.call(Command::Flush, CMD_FLAG_FUA, 0, 0, &[]).unwrap();
        client.write(0, &data).unwrap();
        client.close().unwrap();
        assert_eq!(server.join().unwrap().unwrap(), "disconnect");
    }
}

/// Some clients ask for no sizes, and some do not keep to them.
#[test]
fn who_does_not_keep_to_the_blocks_that_are_told_is_served() {
    for form in FORMS {
        let mut disk = RamDisk::new(SIZE);
        disk.exports[0].blocks.min_bytes = 4096;
        let disk = Arc::new(disk);
        let (stream, server) = pair(&disk);
        let mut client = Connection::over(stream, "r0", &wishes(form)).unwrap();
        assert_eq!(client.export().block_min_bytes, 4096);
        client.write(0, &[1; 8192]).unwrap();
        client.write_durably(4095, &[2; 2]).unwrap();
        client.write_zeroes(4097, 1, 0).unwrap();
        let mut bytes = [0; 5];
        client.read(4094, &mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 2, 0, 1], "{form:?}");
        client.close().unwrap();
        assert_eq!(server.join().unwrap().unwrap(), "disconnect");
    }
}

#[test]
fn an_oversized_write_is_read_past_or_ends_the_session() {
    let disk = Arc::new(RamDisk::new(SIZE));
    let payload = vec![1; (32 << 20) + 512];
    for form in FORMS {
        let (stream, server) = pair(&disk);
        let mut client = Connection::over(stream, "r0", &wishes(form)).unwrap();
        let result = client.write(0, &payload);
        if form == ReplyForm::Extended {
            assert!(matches!(result, Err(ClientError::Lost { .. })), "{result:?}");
            assert!(server.join().unwrap().unwrap().contains("33554944 bytes"));
            continue;
        }
        assert_eq!(errno_of(result), Errno::Invalid);
        client.write(0, &[1; 512]).unwrap();
        client.close().unwrap();
        server.join().unwrap().unwrap();
    }
}

#[test]
fn a_read_only_export_takes_no_writes() {
    for form in FORMS {
        let disk = Arc::new(RamDisk::new(SIZE));
        let (stream, server) = pair(&disk);
        let mut client = Connection::over(stream, "ro", &wishes(form)).unwrap();
        assert!(client.export().is_read_only());
        assert_eq!(errno_of(client.write(0, &[1; 512])), Errno::NotPermitted);
        assert_eq!(errno_of(client.trim(0, 512)), Errno::NotPermitted);
        let flags = CMD_FLAG_FAST_ZERO;
        assert_eq!(errno_of(client.write_zeroes(0, 512, flags)), Errno::NotPermitted);
        client.flush().unwrap();
        client.read(0, &mut [1; 512]).unwrap();
        client.close().unwrap();
        server.join().unwrap().unwrap();
    }
}

#[test]
fn a_flush_on_one_connection_follows_writes_on_another() {
    let disk = Arc::new(RamDisk::new(SIZE));
    let server = RamServer::on_tcp(&disk);
    let open = || Connection::open(&server.uri("r0/0"), &wishes(ReplyForm::Structured)).unwrap();
    let (mut one, mut two, mut three) = (open(), open(), open());
    // What lets a client flush on any connection.
    assert!([&one, &two, &three].iter().all(|client| client.export().may_use_many_connections()));
    one.write(4096, &[3; 4096]).unwrap();
    assert_eq!(disk.flushes.load(Ordering::Relaxed), 0);
    two.flush().unwrap();
    assert_eq!(disk.flushes.load(Ordering::Relaxed), 1);
    let mut back = [0; 4096];
    three.read(4096, &mut back).unwrap();
    assert_eq!(back, [3; 4096]);
    for client in [one, two, three] {
        client.close().unwrap();
    }
}

#[test]
fn a_thousand_mixed_requests_are_in_flight() {
    for form in FORMS {
        let disk = Arc::new(RamDisk::new(SIZE));
        let (stream, server) = pair(&disk);
        let client = Connection::over(stream, "r0", &wishes(form)).unwrap();
        let (mut sender, mut receiver, _) = client.split();
        const COUNT: u64 = 1000;
        let receiving = std::thread::spawn(move || {
            for _ in 0..COUNT {
                let reply = receiver.recv_reply().unwrap();
                assert_eq!(reply.error, None);
                assert!(reply.data.iter().all(|byte| *byte == reply.data[0]));
            }
            receiver.wait_for_end().unwrap();
        });
        let mut random = Random::new(7);
        for cookie in 0..COUNT {
            let offset = random.below(SIZE / 4096 / 64) * 4096 * 64;
            let (command, length) = match random.below(4) {
                0 => (Command::Flush, 0),
                1 => (Command::Write, 4096 * 64),
                _ => (Command::Read, 4096 * 64),
            };
            let offset = if command == Command::Flush { 0 } else { offset };
            let request = Request { command, flags: 0, cookie, offset, length };
            let payload = vec![u8::try_from(cookie % 256).unwrap(); 4096 * 64];
            let payload = if command == Command::Write { &payload[..] } else { &[] };
            sender.send_request(&request, payload).unwrap();
        }
        sender.send_disconnect().unwrap();
        receiving.join().unwrap();
        assert_eq!(server.join().unwrap().unwrap(), "disconnect");
    }
}

#[test]
fn exports_are_listed_and_refused_by_reason() {
    let disk = Arc::new(RamDisk::new(SIZE));
    let server = RamServer::on_unix(&disk, "list");
    let exports = list_exports(&server.uri("").address, &Wishes::default()).unwrap();
    let names: Vec<&str> = exports.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["r0", "r0/0", "ro"]);
    assert_eq!(exports[0].1, "a disk in memory");
    let refused = |name: &str| match Connection::open(&server.uri(name), &Wishes::default()) {
        Err(ClientError::Refused { answer, message, .. }) => (answer, message),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(refused("nil"), ("unknown export", "no export `nil`".into()));
    assert_eq!(refused("secondary").0, "forbidden by policy");
    assert!(refused("secondary").1.contains("use node n2"));
}
