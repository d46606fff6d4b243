//! PDUs byte for byte, in both directions, with and without digests.

use frontend::nvme::connect::{Connect, FlowControl};
use frontend::nvme::receive::{Check, DataHead, Digests, Hello, Parsed, Receiver};
use frontend::nvme::send::{Completion, DataEnd, Encoder, PDU_BYTES_MAX, Stretch};
use frontend::nvme::status::{Fatal, Status};
use frontend::nvme::transfers::Transfers;
use frontend::nvme::wire::{DataPointer, Sqe};

use crate::hex;

const BOTH: Digests = Digests { header: true, data: true };

fn greeting(options: &str) -> Vec<u8> {
    let mut bytes = hex("00 00 80 00 80000000 0000");
    bytes.extend(hex(options));
    bytes.resize(128, 0);
    bytes
}

fn written(write: impl FnOnce(&mut [u8]) -> usize) -> Vec<u8> {
    let mut out = vec![0xee; PDU_BYTES_MAX as usize];
    let length = write(&mut out);
    out.truncate(length);
    out
}

/// A header with its digest behind it.
fn digested(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(&digest.to_le_bytes());
    bytes
}

#[test]
fn crc_is_castagnoli() {
    assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
}

#[test]
fn greeting_is_answered_in_kind() {
    let mut receiver = Receiver::default();
    let bytes = greeting("00 03 00000000");
    assert_eq!(receiver.next(&bytes[..127]), Parsed::NeedMore(128));
    let Parsed::Hello { consumed, hello } = receiver.next(&bytes) else { panic!("no greeting") };
    assert_eq!((consumed, hello), (128, Hello { digests: BOTH, alignment: 4 }));
    let mut expected = hex("01 00 80 00 80000000 0000 00 03 00000200");
    expected.resize(128, 0);
    assert_eq!(written(|out| Encoder::new(&hello).hello(out)), expected);
    assert!(matches!(receiver.next(&bytes), Parsed::Invalid(_)), "a second greeting");
}

#[test]
fn greeting_that_asks_for_the_impossible_is_refused() {
    for wrong in ["40 00 00000000", "20 00 00000000"] {
        assert!(matches!(Receiver::default().next(&greeting(wrong)), Parsed::Invalid(_)));
    }
    let mut other_version = greeting("00 00 00000000");
    other_version[8] = 1;
    assert!(matches!(Receiver::default().next(&other_version), Parsed::Invalid(_)));
    let mut command_first = hex("04 00 48 00 48000000");
    command_first.resize(72, 0);
    assert!(matches!(Receiver::default().next(&command_first), Parsed::Invalid(_)));
}

const WRITE: &str = "01 00 0900 01000000 0000000000000000 0000000000000000
    0000000000000000 00020000 000000 01
    0800000000000000 0000 0040 00000000 00000000 00000000";

#[test]
fn command_with_data_in_its_capsule() {
    let mut receiver = Receiver::greeted(Digests::default());
    let mut bytes = hex("04 00 48 48 48020000");
    bytes.extend(hex(WRITE));
    bytes.extend([0xab; 512]);
    assert_eq!(receiver.next(&bytes[..100]), Parsed::NeedMore(584));
    let Parsed::Command { consumed, sqe, data, check } = receiver.next(&bytes) else {
        panic!("no command")
    };
    assert_eq!((consumed, data, check), (584, 72..584, Check::Intact));
    assert_eq!((sqe.opcode(), sqe.command(), sqe.namespace()), (1, 9, 1));
    assert_eq!(sqe.data(), DataPointer::Capsule { offset: 0, length: 512 });
    assert_eq!((sqe.double(40), sqe.half(48), sqe.half(50)), (8, 0, 0x4000));
}

#[test]
fn digests_are_checked() {
    let mut bytes = hex("04 03 48 4c 50020000");
    bytes.extend(hex(WRITE));
    let mut bytes = digested(bytes);
    bytes.extend([0xab; 512]);
    bytes.extend_from_slice(&crc32c::crc32c(&[0xab; 512]).to_le_bytes());
    let command = |bytes: &[u8]| Receiver::greeted(BOTH).next(bytes);
    assert!(matches!(command(&bytes), Parsed::Command { check: Check::Intact, .. }));
    let mut torn = bytes.clone();
    torn[300] ^= 1;
    // Data can be sent again; behind a wrong header nothing is certain.
    assert!(matches!(command(&torn), Parsed::Command { check: Check::Broken, .. }));
    bytes[20] ^= 1;
    assert!(matches!(command(&bytes), Parsed::Invalid(_)));
    let mut without = hex("04 00 48 00 48000000");
    without.extend(hex(WRITE));
    assert!(matches!(command(&without), Parsed::Invalid(_)), "agreed digests are not optional");
}

#[test]
fn data_of_a_long_write_is_counted() {
    let mut receiver = Receiver::greeted(BOTH);
    let mut bytes = digested(hex("06 07 18 1c 24000000 0900 0300 00100000 04000000 00000000"));
    bytes.extend(b"data");
    bytes.extend_from_slice(&crc32c::crc32c(b"data").to_le_bytes());
    let head = DataHead { command: 9, tag: 3, offset: 4096, length: 4 };
    assert_eq!(receiver.next(&bytes), Parsed::Data { consumed: 28, head });
    assert_eq!(receiver.payload_left(), 4);
    receiver.advance(b"da");
    receiver.advance(b"ta");
    assert_eq!(receiver.next(&bytes[32..35]), Parsed::NeedMore(4));
    let end = Parsed::DataEnd { consumed: 4, check: Check::Intact };
    assert_eq!(receiver.next(&bytes[32..]), end);
    assert_eq!(receiver.next(&[]), Parsed::NeedMore(8));
}

#[test]
fn data_comes_in_order_and_only_where_it_was_asked_for() {
    let mut transfers = Transfers::new(2);
    let tag = transfers.begin('a', 9, 8192).unwrap();
    transfers.begin('b', 10, 4096).unwrap();
    assert_eq!(transfers.begin('c', 11, 1), None, "there is room for two");
    let head = |tag, command, offset, length| DataHead { command, tag, offset, length };
    transfers.on_data(&head(tag, 10, 0, 4096)).unwrap_err();
    transfers.on_data(&head(9, 9, 0, 4096)).unwrap_err();
    transfers.on_data(&head(tag, 9, 4096, 4096)).unwrap_err();
    transfers.on_data(&head(tag, 9, 0, 8193)).unwrap_err();
    assert_eq!(transfers.on_data(&head(tag, 9, 0, 4096)).unwrap(), 'a');
    assert!(!transfers.end_if_whole(tag));
    assert_eq!(transfers.on_data(&head(tag, 9, 4096, 4096)).unwrap(), 'a');
    assert!(transfers.end_if_whole(tag) && !transfers.end_if_whole(tag));
    assert_eq!(transfers.begin('c', 11, 1), Some(tag), "its tag is free again");
}

fn encoder(digests: Digests, alignment: usize) -> Encoder {
    Encoder::new(&Hello { digests, alignment })
}

#[test]
fn answers_stand_on_the_wire_as_the_standard_has_them() {
    let plain = encoder(Digests::default(), 4);
    let end = Completion { command: 9, result: 0x0102, status: Status::SUCCESS };
    let bytes = written(|out| plain.completion(&end, 2, 5, out));
    assert_eq!(bytes, hex("05 00 18 00 18000000 0201000000000000 0500 0200 0900 0000"));
    let end = Completion::of(9, Status::PATH_INACCESSIBLE);
    let bytes = written(|out| plain.completion(&end, 2, 5, out));
    assert_eq!(bytes[22..], hex("0406"), "type 3, code 2, worth another try");
    let end = Completion::of(9, Status::LBA_OUT_OF_RANGE);
    assert_eq!(written(|out| plain.completion(&end, 2, 5, out))[22..], hex("0081"));

    let stretch = Stretch { command: 9, offset: 0x2000, length: 0x1000 };
    let bytes = written(|out| plain.ready(stretch, 3, out));
    assert_eq!(bytes, hex("09 00 18 00 18000000 0900 0300 00200000 00100000 00000000"));
    let bytes = written(|out| plain.data_head(stretch, DataEnd::Last, out));
    assert_eq!(bytes, hex("07 04 18 18 18100000 0900 0000 00200000 00100000 00000000"));
    let bytes = written(|out| plain.data_head(stretch, DataEnd::Success, out));
    assert_eq!(bytes[1], 0x0c);
}

#[test]
fn answers_have_the_digests_and_the_padding_that_were_agreed() {
    let with = encoder(BOTH, 64);
    let end = Completion::of(9, Status::SUCCESS);
    let bytes = written(|out| with.completion(&end, 2, 5, out));
    let expected = hex("05 01 18 00 1c000000 0000000000000000 0500 0200 0900 0000");
    assert_eq!(bytes, digested(expected));
    let stretch = Stretch { command: 9, offset: 0, length: 0x1000 };
    let bytes = written(|out| with.data_head(stretch, DataEnd::More, out));
    let head = hex("07 03 18 40 44100000 0900 0000 00000000 00100000 00000000");
    let mut expected = digested(head);
    expected.resize(64, 0);
    assert_eq!(bytes, expected);
    let bytes = written(|out| with.data_digest(b"123456789", out));
    assert_eq!(bytes, hex("839206e3"));
}

#[test]
fn last_word_says_why() {
    let plain = encoder(Digests::default(), 4);
    let fatal = Fatal::sequence("a reason");
    let bytes = written(|out| plain.terminate(&fatal, &[1, 2, 3], out));
    assert_eq!(bytes, hex("03 00 18 00 1b000000 0200 00000000 0000000000000000 0000 010203"));
    let from_host = hex("02 00 18 00 18000000 0300 00000000 0000000000000000 0000");
    assert_eq!(Receiver::default().next(&from_host), Parsed::Terminated(3));
}

#[test]
fn connect_is_read() {
    let mut command = hex("7f 00 0100 01");
    command.resize(64, 0);
    command[42..52].copy_from_slice(&hex("0200 7f00 04 00 88130000"));
    let mut data = vec![0x11; 16];
    data.extend(hex("0500"));
    data.resize(1024, 0);
    data[256..260].copy_from_slice(b"sub1");
    data[512..517].copy_from_slice(b"host1");
    let connect = Connect::of(&Sqe::of(&command), &data).unwrap();
    let expected = Connect {
        command: 1,
        queue: 2,
        entries: 128,
        flow_control: FlowControl::Off,
        keep_alive_ms: 5000,
        host_id: [0x11; 16],
        controller: 5,
        subsystem: "sub1".to_owned(),
        host: "host1".to_owned(),
    };
    assert_eq!(connect, expected);
    command[44..46].copy_from_slice(&hex("8000"));
    let refusal = Connect::of(&Sqe::of(&command), &data).unwrap_err();
    assert_eq!((refusal.status, refusal.result), (Status::CONNECT_INVALID, 44));
    command[44..46].copy_from_slice(&hex("0000"));
    Connect::of(&Sqe::of(&command), &data).unwrap_err();
    command[44..46].copy_from_slice(&hex("0100"));
    data[512..517].fill(0);
    let refusal = Connect::of(&Sqe::of(&command), &data).unwrap_err();
    assert_eq!(refusal.result, 512 | 1 << 16, "the host has no name");
}
