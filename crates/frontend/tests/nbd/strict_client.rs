//! Our client against a server that is wrong in one point: each is told from a right reply.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::golden::{answer_to, hex};
use frontend::nbd::client::{
    BlockStatus, ClientError, Connection, Receiver, Reply, Request, Sender, Stream, Wishes,
};
use frontend::nbd::wire::{CMD_FLAG_DF, CMD_FLAG_REQ_ONE, Command, Errno, ReplyForm};

/// A client in transmission and the server's end of its connection.
fn connect(form: ReplyForm) -> (Sender, Receiver, UnixStream) {
    let magic = "49484156454f5054";
    let mut options = Vec::new();
    if form == ReplyForm::Extended {
        options.extend(hex(&format!("{magic} 0000000b 00000000")));
    } else if form == ReplyForm::Structured {
        options.extend(hex(&format!("{magic} 00000008 00000000")));
    }
    if form != ReplyForm::Simple {
        let query = "00000002 7230 00000001 0000000f 626173653a616c6c6f636174696f6e";
        options.extend(hex(&format!("{magic} 0000000a 0000001d {query}")));
    }
    options.extend(hex(&format!("{magic} 00000007 0000000a 00000002 7230 0001 0003")));
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(&hex("4e42444d41474943 49484156454f5054 0003")).unwrap();
    theirs.write_all(&answer_to(&options).0).unwrap();
    let wishes = Wishes { replies: form, block_status: BlockStatus::Ask, ..Wishes::default() };
    let client = Connection::over(Stream::Unix(ours), "r0", &wishes).unwrap();
    let (sender, receiver, export) = client.split();
    assert_eq!(export.replies, form);
    assert_eq!(export.allocation_context.is_some(), form != ReplyForm::Simple);
    (sender, receiver, theirs)
}

/// Sends one request of 1024 bytes at 4096 with cookie 1, and takes the given bytes for its reply.
fn reply_to(
    form: ReplyForm,
    command: Command,
    flags: u16,
    bytes: &str,
) -> Result<Reply, ClientError> {
    let (mut sender, mut receiver, mut server) = connect(form);
    let request = Request { command, flags, cookie: 1, offset: 4096, length: 1024 };
    let payload: &[u8] = if command == Command::Write { &[7; 1024] } else { &[] };
    sender.send_request(&request, payload).unwrap();
    server.write_all(&hex(bytes)).unwrap();
    drop(server);
    receiver.recv_reply()
}

const COOKIE: &str = "0000000000000001";

fn data(flags: u16, start: u64, length: u32) -> String {
    let payload = "07".repeat(length as usize);
    format!("668e33ef {flags:04x} 0001 {COOKIE} {:08x} {start:016x} {payload}", length + 8)
}

#[test]
fn right_replies_are_taken() {
    let structured = |command, bytes: &str| reply_to(ReplyForm::Structured, command, 0, bytes);
    let halves = [data(0, 4608, 512), data(1, 4096, 512)].concat();
    assert_eq!(structured(Command::Read, &halves).unwrap().data, [7; 1024]);
    let hole = format!("668e33ef 0000 0002 {COOKIE} 0000000c 0000000000001200 00000200");
    let reply = structured(Command::Read, &[hole, data(1, 4096, 512)].concat()).unwrap();
    assert!(reply.data[..512] == [7; 512] && reply.data[512..] == [0; 512]);
    let end = format!("668e33ef 0001 0000 {COOKIE} 00000000");
    assert_eq!(structured(Command::Write, &end).unwrap().error, None);
    // An error with an offset after some data, and one of an unknown type.
    let late = format!("668e33ef 0001 8002 {COOKIE} 0000000e 00000005 0000 0000000000001000");
    let reply = structured(Command::Read, &[data(0, 4096, 512), late].concat()).unwrap();
    assert_eq!(reply.error, Some(Errno::Io));
    let strange = format!("668e33ef 0001 80ff {COOKIE} 00000006 0000004b 0000");
    assert_eq!(structured(Command::Trim, &strange).unwrap().error, Some(Errno::Overflow));
    // A simple error for something that is not a read.
    let refused = format!("67446698 0000001c {COOKIE}");
    assert_eq!(structured(Command::Write, &refused).unwrap().error, Some(Errno::NoSpace));
}

#[test]
fn wrong_replies_are_told_by_what_is_wrong() {
    let status = |length: &str, body: &str| format!("668e33ef 0001 0005 {COOKIE} {length} {body}");
    let read = Command::Read;
    let ask = Command::BlockStatus;
    let cases: Vec<(Command, u16, String, &str)> = vec![
        (read, 0, format!("67446698 00000000 {COOKIE}"), "simple reply"),
        (read, 0, data(1, 4096, 512), "left out"),
        (read, 0, [data(0, 4096, 512), data(1, 4096, 512)].concat(), "overlap"),
        (read, 0, [data(0, 4608, 512), data(1, 4096, 1024)].concat(), "overlap"),
        (read, 0, [data(0, 4096, 1024), data(1, 4608, 1)].concat(), "overlap"),
        (read, 0, data(1, 4095, 512), "outside"),
        (read, 0, data(1, 4609, 512), "outside"),
        (read, 0, data(1, u64::MAX - 100, 512), "outside"),
        (read, 0, data(1, 4096, 1025), "type 0x1 with 1033 bytes"),
        (read, 0, format!("668e33ef 0001 0001 {COOKIE} 00000008 0000000000001000"), "type 0x1"),
        (read, 0, format!("668e33ef 0001 0002 {COOKIE} 0000000d"), "type 0x2"),
        (read, 0, status("0000000c", "00000001 00000200 00000000"), "type 0x5"),
        (read, 0, format!("668e33ef 0001 0007 {COOKIE} 00000000"), "type 0x7"),
        (read, 0, format!("668e33ef 0001 0000 {COOKIE} 00000001"), "type 0x0"),
        (read, 0, format!("668e33ef 0001 0000 {COOKIE} 00000000"), "left out"),
        (read, CMD_FLAG_DF, [data(0, 4096, 512), data(1, 4608, 512)].concat(), "DF"),
        (read, 0, "668e33ef 0001 0000 0000000000000002 00000000".into(), "cookie 2"),
        (read, 0, "12345678".into(), "0x12345678"),
        (read, 0, "6e8a278c".into(), "0x6e8a278c"),
        (read, 0, format!("668e33ef 0001 8001 {COOKIE} 00000006 00000000 0000"), "malformed"),
        (read, 0, format!("668e33ef 0001 8001 {COOKIE} 00000006 00000005 0001"), "malformed"),
        (read, 0, format!("668e33ef 0001 8001 {COOKIE} 00000005"), "type 0x8001"),
        (Command::Write, 0, data(1, 4096, 512), "type 0x1"),
        (ask, 0, format!("668e33ef 0001 0000 {COOKIE} 00000000"), "without an extent"),
        (ask, 0, status("0000000c", "00000002 00000200 00000000"), "not agreed"),
        (ask, 0, status("0000000c", "00000001 00000000 00000000"), "empty extent"),
        (ask, 0, status("0000000d", ""), "type 0x5"),
        (ask, 0, status("ffffffff", ""), "type 0x5"),
        (
            ask,
            0,
            status("00000014", "00000001 00000400 00000000 00000200 00000003"),
            "after the last extent",
        ),
        (
            ask,
            CMD_FLAG_REQ_ONE,
            status("0000000c", "00000001 00000800 00000000"),
            "more than the one extent",
        ),
    ];
    for (command, flags, bytes, reason) in cases {
        let error = reply_to(ReplyForm::Structured, command, flags, &bytes).unwrap_err();
        let told = error.to_string();
        assert!(matches!(error, ClientError::Protocol { .. }), "{bytes}: {told}");
        assert!(told.contains(reason), "{reason}: {told}");
    }
}

#[test]
fn wrong_replies_with_extended_headers() {
    let head = |offset: u64, kind: &str, length: &str| {
        format!("6e8a278c 0001 {kind} {COOKIE} {offset:016x} {length}")
    };
    let cases = [
        (Command::Write, head(4097, "0000", "0000000000000000"), "another offset"),
        (Command::Write, format!("67446698 00000000 {COOKIE}"), "0x67446698"),
        (Command::Read, head(4096, "0001", "ffffffffffffffff"), "type 0x1"),
        (Command::BlockStatus, head(4096, "0005", "000000000000000c"), "not agreed"),
        (
            Command::BlockStatus,
            head(
                4096,
                "0006",
                "0000000000000018 00000001 00000002 0000000000000200 0000000000000000",
            ),
            "counts its extents",
        ),
        (
            Command::BlockStatus,
            head(
                4096,
                "0006",
                "0000000000000018 00000001 00000001 0000000000000200 0000000100000000",
            ),
            "more than 32 bits",
        ),
    ];
    for (command, bytes, reason) in cases {
        let bytes = format!("{bytes} 000000ff 00000000 00000000");
        let error = reply_to(ReplyForm::Extended, command, 0, &bytes).unwrap_err();
        assert!(error.to_string().contains(reason), "{reason}: {error}");
    }
}

#[test]
fn an_answer_cut_short_is_a_lost_connection() {
    let whole = hex(&[data(0, 4096, 512), data(1, 4608, 512)].concat());
    for length in [0, 1, 19, 20, 28, 100, 540, whole.len() - 1] {
        let text: String = whole[..length].iter().map(|byte| format!("{byte:02x}")).collect();
        let error = reply_to(ReplyForm::Structured, Command::Read, 0, &text).unwrap_err();
        assert!(matches!(error, ClientError::Lost { .. }), "{length} bytes: {error}");
    }
}

#[test]
fn a_timeout_between_replies_loses_nothing() {
    let (mut sender, mut receiver, mut server) = connect(ReplyForm::Simple);
    let request = Request { command: Command::Read, flags: 0, cookie: 9, offset: 0, length: 512 };
    sender.send_request(&request, &[]).unwrap();
    receiver.set_read_timeout(Duration::from_millis(10)).unwrap();
    for _ in 0..2 {
        let error = receiver.recv_reply().unwrap_err();
        assert!(matches!(error, ClientError::TimedOut { timeout_ms: 10.. }), "{error}");
    }
    server.write_all(&hex("67446698 00000000 0000000000000009")).unwrap();
    server.write_all(&[5; 512]).unwrap();
    assert_eq!(receiver.recv_reply().unwrap().data, [5; 512]);
    assert_eq!(sender.in_flight(), 0);
}

/// The late reply to a call that timed out is not taken for the reply to the next.
#[test]
fn a_late_reply_goes_to_nobody_else() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(&hex("4e42444d41474943 49484156454f5054 0003")).unwrap();
    let go = hex("49484156454f5054 00000007 0000000a 00000002 7230 0001 0003");
    theirs.write_all(&answer_to(&go).0).unwrap();
    let wishes = Wishes { replies: ReplyForm::Simple, ..Wishes::default() };
    let mut client = Connection::over(Stream::Unix(ours), "r0", &wishes).unwrap();
    client.set_read_timeout(Duration::from_millis(10)).unwrap();
    let mut buffer = [0; 512];
    assert!(matches!(client.read(0, &mut buffer), Err(ClientError::TimedOut { .. })));
    for cookie in [1, 2] {
        theirs.write_all(&hex(&format!("67446698 00000000 {cookie:016x}"))).unwrap();
        theirs.write_all(&[cookie; 512]).unwrap();
    }
    client.read(512, &mut buffer).unwrap();
    assert_eq!(buffer, [2; 512]);
}

#[test]
fn a_server_that_falls_silent_within_a_reply_is_lost() {
    let (mut sender, mut receiver, mut server) = connect(ReplyForm::Simple);
    let request = Request { command: Command::Read, flags: 0, cookie: 9, offset: 0, length: 512 };
    sender.send_request(&request, &[]).unwrap();
    receiver.set_read_timeout(Duration::from_millis(10)).unwrap();
    server.write_all(&hex("67446698 0000")).unwrap();
    match receiver.recv_reply() {
        Err(ClientError::Lost { source, .. }) => assert!(source.to_string().contains("silent")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_shutdown_wakes_the_receiver() {
    let (sender, mut receiver, server) = connect(ReplyForm::Simple);
    let receiving = std::thread::spawn(move || receiver.recv_reply().unwrap_err());
    sender.shutdown().unwrap();
    assert!(matches!(receiving.join().unwrap(), ClientError::Lost { .. }));
    drop(server);
}
