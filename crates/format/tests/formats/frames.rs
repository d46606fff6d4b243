//! Frames of several messages: packing, alignment, limits, refusals.

use format::config::Config;
use format::error::{DecodeError, EncodeError};
use format::frame::{
    FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX, FrameHeader, FrameReader, FrameWriter, Message,
    PayloadRef, QUANTUM_BYTES_MAX, QUANTUM_BYTES_MIN,
};
use format::ids::{BlockMask, BlockRange, Epoch, LaneIndex, MemberSet, Nonce, Seq, VoteStoreId};
use format::limits::{PAYLOAD_BYTES_MAX, RANGES_MAX};
use format::message::{
    Accepted, Control, Data, DataBody, FEATURE_LINES, FEATURE_NEWS, FEATURE_OWN_REPLICA,
    FEATURE_TELLS, FEATURE_TOUCH, FEATURE_VERIFY_ANSWER, LinkMessage, ReadStatus, ResourceMessage,
    Write, WriteKind,
};
use stdx::checksum::crc32c;

use crate::golden::{frame_of, read_all};
use crate::samples;

const HANDLE: u32 = 7;

fn write_of(blocks: u32) -> (Data, Option<PayloadRef>) {
    let range = BlockRange::new(2048, blocks);
    let write = Write {
        lane: LaneIndex(2),
        seq: Seq(1),
        order: 0,
        range,
        kind: WriteKind::Data,
        fua: false,
        stable: Seq(0),
        absent: MemberSet::EMPTY,
    };
    let payload = PayloadRef { length_bytes: blocks * 4096, crc: blocks };
    (Data { nonce: Nonce(1), volume: 0, body: DataBody::Write(write) }, Some(payload))
}

fn read_done(length_bytes: u32) -> (Data, Option<PayloadRef>) {
    let (lane, id, status) = (LaneIndex(0), 1, ReadStatus::Ok);
    let zeroes = BlockMask::EMPTY;
    let body = DataBody::ReadDone { lane, id, status, length_bytes, zeroes };
    (Data { nonce: Nonce(1), volume: 0, body }, Some(PayloadRef { length_bytes, crc: 9 }))
}

/// Writes the checksum of a header part that a test changed.
pub(crate) fn reseal(bytes: &mut [u8]) {
    let rest = [&bytes[..28], &bytes[FRAME_HEADER_BYTES..]].concat();
    bytes[28..32].copy_from_slice(&crc32c(&rest).to_le_bytes());
}

#[test]
fn payloads_are_placed_in_order_on_the_quantum() {
    for quantum in [64, 128, 256, 512] {
        let mut writer = FrameWriter::new([0xaa; 4096], quantum);
        for (data, payload) in [write_of(1), read_done(100), write_of(2), read_done(1)] {
            writer.push_data(HANDLE, &data, payload).unwrap();
        }
        let area = writer.payload_bytes();
        let (bytes, length) = writer.finish();
        assert_eq!(length % usize::from(quantum), 0);
        let reader = FrameReader::new(&bytes[..length], quantum).unwrap();
        assert_eq!(reader.header().payload_bytes, area);
        let offsets: Vec<u32> =
            reader.map(|received| received.unwrap().payload.unwrap().offset_bytes).collect();
        let padded = 100_u32.next_multiple_of(quantum.into());
        assert_eq!(offsets, [0, 4096, 4096 + padded, 3 * 4096 + padded]);
        assert_eq!(area, 3 * 4096 + padded + u32::from(quantum));
    }
}

#[test]
fn all_messages_fit_into_one_frame_in_order() {
    let samples = samples::messages();
    let mut writer = FrameWriter::new(vec![0; 64 << 10], QUANTUM_BYTES_MAX);
    for sample in &samples {
        writer.push(sample.handle, &sample.message, sample.payload).unwrap();
    }
    let (bytes, length) = writer.finish();
    let received: Vec<Message> = FrameReader::new(&bytes[..length], QUANTUM_BYTES_MAX)
        .unwrap()
        .map(|received| received.unwrap().message)
        .collect();
    assert_eq!(received, samples.into_iter().map(|sample| sample.message).collect::<Vec<_>>());
}

/// A release that knows nothing of them reads the same message as before.
#[test]
fn names_of_questions_are_left_out_where_the_receiver_does_not_know_of_them() {
    let samples = samples::messages();
    let sample = |name: &str| samples.iter().find(|sample| sample.name == name).unwrap();
    let names = ["loss", "loss_done", "resize", "resize_answer", "verify", "verify_answer"];
    for name in names {
        let (plain, named) = (sample(name), sample(&format!("{name}_named")));
        let mut writer = FrameWriter::new(vec![0; 4096], 64).without_questions();
        writer.push(named.handle, &named.message, None).unwrap();
        let (bytes, length) = writer.finish();
        assert_eq!(bytes[..length], frame_of(plain), "{name}");
    }
}

/// A release that does not know of them takes their tags for damage, and closes the connection.
#[test]
fn newer_words_are_for_those_that_know_of_them() {
    let needs = |sample: &samples::Sample| match &sample.message {
        Message::Resource(ResourceMessage::Control(control)) => control.needed_features(),
        Message::Link(_) | Message::Resource(ResourceMessage::Data(_)) => 0,
    };
    for sample in samples::messages() {
        let needed = match sample.name {
            "line_lost" | "line_lost_done" => FEATURE_LINES,
            "news" => FEATURE_NEWS,
            "touch" | "touch_lost" => FEATURE_TOUCH,
            "copying" => FEATURE_TELLS,
            "verify_answer" | "verify_answer_named" => FEATURE_VERIFY_ANSWER,
            "own_replica_stays" | "own_replica_leaves" | "own_replica_gone" => FEATURE_OWN_REPLICA,
            _ => 0,
        };
        assert_eq!(needs(&sample), needed, "{}", sample.name);
    }
}

#[test]
fn full_buffer_refuses_a_message_and_keeps_the_others() {
    let mut writer = FrameWriter::new([0; 300], 64);
    let (data, payload) = write_of(1);
    writer.push_data(HANDLE, &data, payload).unwrap();
    let mut pushed = 1;
    while writer.push_data(HANDLE, &data, payload).is_ok() {
        pushed += 1;
    }
    assert_eq!(writer.push_data(HANDLE, &data, payload), Err(EncodeError::Full));
    let (bytes, length) = writer.finish();
    assert_eq!((pushed, length), (2, 192), "256 bytes of four quanta hold two writes of 78");
    let reader = FrameReader::new(&bytes[..length], 64).unwrap();
    assert_eq!(reader.map(Result::unwrap).count(), pushed);
}

#[test]
fn payloads_of_a_frame_are_bounded() {
    let mut writer = FrameWriter::new(vec![0; 8192], 512);
    let (data, payload) = write_of(PAYLOAD_BYTES_MAX / 4096);
    for _ in 0..FRAME_PAYLOAD_BYTES_MAX / PAYLOAD_BYTES_MAX {
        writer.push_data(HANDLE, &data, payload).unwrap();
    }
    assert_eq!(writer.push_data(HANDLE, &data, payload), Err(EncodeError::Full));
    let (data, _) = read_done(1);
    let acknowledgement = Data { body: DataBody::Flush { id: 1, shard: 0 }, ..data };
    writer.push_data(HANDLE, &acknowledgement, None).unwrap();
}

#[test]
fn too_long_lists_are_refused_at_the_sender() {
    let inherited = vec![BlockRange::new(1, 1); RANGES_MAX + 1];
    let (ballot, nonce, value) = (samples::ballot(1), Nonce(1), samples::config());
    let message = Control::NewEpoch { ballot, nonce, value, inherited };
    let mut writer = FrameWriter::new(vec![0; 1 << 20], 64);
    let result = writer.push_control(HANDLE, &message);
    let Err(EncodeError::TooLong { count, max, .. }) = result else { panic!("{result:?}") };
    assert_eq!((count, max), (RANGES_MAX + 1, RANGES_MAX));
    assert!(writer.is_empty());
}

#[test]
fn header_says_what_to_wait_for_before_the_rest_is_there() {
    let sample =
        samples::messages().into_iter().find(|sample| sample.name == "write_data").unwrap();
    let bytes = frame_of(&sample);
    let header = FrameHeader::parse(bytes.first_chunk().unwrap(), 64).unwrap();
    assert_eq!(header, FrameHeader { header_bytes: 128, message_count: 1, payload_bytes: 8192 });
}

/// A change to the header of a frame, and the refusal it must lead to.
type Refusal = (usize, u8, fn(&DecodeError) -> bool);

#[test]
fn wrong_headers_are_refused() {
    let cases: [Refusal; 9] = [
        (0, b'X', |fault| matches!(fault, DecodeError::WrongMagic { offset: 0, .. })),
        (4, 2, |fault| matches!(fault, DecodeError::NewerVersion { offset: 4, value: 2, .. })),
        (4, 0, |fault| matches!(fault, DecodeError::OutOfRange { offset: 4, .. })),
        (6, 1, |fault| matches!(fault, DecodeError::OutOfRange { offset: 6, .. })),
        (8, 33, |fault| matches!(fault, DecodeError::OutOfRange { offset: 8, .. })),
        (11, 1, |fault| matches!(fault, DecodeError::OutOfRange { offset: 8, .. })),
        (12, 0, |fault| matches!(fault, DecodeError::OutOfRange { offset: 12, value: 0, .. })),
        (18, 17, |fault| matches!(fault, DecodeError::OutOfRange { offset: 16, .. })),
        (20, 1, |fault| matches!(fault, DecodeError::OutOfRange { offset: 20, .. })),
    ];
    let sample = samples::messages().remove(0);
    for (at, byte, is_expected) in cases {
        let mut bytes = frame_of(&sample);
        bytes[at] = byte;
        reseal(&mut bytes);
        let fault = read_all(&bytes).unwrap_err();
        assert!(is_expected(&fault), "byte {at} = {byte}: {fault}");
    }
}

#[test]
fn wrong_messages_are_refused() {
    let cases: [Refusal; 9] = [
        // Type, flags, length, handle.
        (33, 9, |fault| matches!(fault, DecodeError::UnknownTag { .. })),
        (34, 2, |fault| matches!(fault, DecodeError::OutOfRange { .. })),
        (36, 67, |fault| matches!(fault, DecodeError::Trailing { .. })),
        (36, 65, |fault| matches!(fault, DecodeError::Truncated { .. })),
        (40, 0, |fault| matches!(fault, DecodeError::OutOfRange { what: "handle", .. })),
        // Payload length, kind, count of blocks; the zeroes behind the message.
        (45, 0, |fault| matches!(fault, DecodeError::OutOfRange { what: "payload length", .. })),
        (63, 4, |fault| matches!(fault, DecodeError::UnknownTag { value: 4, .. })),
        (102, 0, |fault| matches!(fault, DecodeError::OutOfRange { .. })),
        (127, 1, |fault| matches!(fault, DecodeError::Trailing { .. })),
    ];
    let sample =
        samples::messages().into_iter().find(|sample| sample.name == "write_data").unwrap();
    for (at, byte, is_expected) in cases {
        let mut bytes = frame_of(&sample);
        assert_ne!(bytes[at], byte);
        bytes[at] = byte;
        reseal(&mut bytes);
        let fault = read_all(&bytes).unwrap_err();
        assert!(is_expected(&fault), "byte {at} = {byte}: {fault}");
    }
}

/// A voter answers with a value whose number has none behind it: whoever built on that one could
/// not count on, and neither could its register at the next start.
#[test]
fn value_behind_the_last_epoch_is_refused() {
    let value = |epoch| Config { epoch, ..samples::config() };
    let read = |epoch| {
        let (ballot, store) = (samples::ballot(1), VoteStoreId(1));
        let accepted = Some(Accepted { ballot, value: value(epoch) });
        let promise = Control::Promise { ballot, store, accepted };
        let bytes = frame_of(&samples::control("promise", promise));
        FrameReader::new(&bytes, 64).unwrap().next().unwrap().map(drop)
    };
    let last = Epoch::VALUE_MAX;
    assert_eq!(read(last), Ok(()));
    assert_eq!((Epoch(last.0 - 1).next(), last.next()), (last, last));
    for far in [last.0 + 1, u64::MAX] {
        let fault = read(Epoch(far));
        assert!(matches!(fault, Err(DecodeError::OutOfRange { value, .. }) if value == far));
    }
}

#[test]
fn operation_over_the_border_of_an_extent_is_refused() {
    for kind in [WriteKind::Data, WriteKind::Discard] {
        let (mut data, payload) = write_of(2);
        let payload = payload.filter(|_| kind == WriteKind::Data);
        let DataBody::Write(write) = &mut data.body else { panic!("{data:?} is a write") };
        (write.kind, write.range.start) = (kind, 1023);
        let mut writer = FrameWriter::new([0; 512], 64);
        writer.push_data(HANDLE, &data, payload).unwrap();
        let (bytes, length) = writer.finish();
        let fault = read_all(&bytes[..length]).unwrap_err();
        assert!(matches!(fault, DecodeError::OutOfRange { value: 1023, .. }), "{fault}");
    }
}

#[test]
fn changed_header_part_fails_its_checksum() {
    let mut bytes = frame_of(&samples::messages().remove(0));
    bytes[40] ^= 1;
    let fault = read_all(&bytes).unwrap_err();
    assert!(matches!(fault, DecodeError::WrongChecksum { offset: 28, .. }), "{fault}");
}

#[test]
fn part_of_another_length_than_its_header_says_is_refused() {
    let bytes = frame_of(&samples::messages().remove(0));
    let short = read_all(&bytes[..bytes.len() - 1]).unwrap_err();
    assert!(matches!(short, DecodeError::Truncated { value: 1, .. }), "{short}");
    let long = read_all(&[bytes, vec![0]].concat()).unwrap_err();
    assert!(matches!(long, DecodeError::Trailing { value: 1, .. }), "{long}");
}

#[test]
fn reader_ends_after_the_first_error() {
    let mut writer = FrameWriter::new(vec![0; 512], 64);
    let close = |handle| LinkMessage::Close { handle, reason: format::message::CloseReason::Down };
    writer.push_link(&close(1)).unwrap();
    writer.push_link(&close(2)).unwrap();
    let (mut bytes, length) = writer.finish();
    bytes.truncate(length);
    bytes[48] = 99;
    reseal(&mut bytes);
    let results: Vec<_> = FrameReader::new(&bytes, QUANTUM_BYTES_MIN).unwrap().collect();
    assert!(matches!(results.as_slice(), [Err(DecodeError::UnknownTag { offset: 48, .. })]));
}

#[test]
fn unclaimed_payload_is_refused() {
    let mut writer = FrameWriter::new(vec![0; 512], 64);
    let (data, payload) = write_of(1);
    writer.push_data(HANDLE, &data, payload).unwrap();
    let (mut bytes, length) = writer.finish();
    bytes.truncate(length);
    bytes[16..20].copy_from_slice(&8192_u32.to_le_bytes());
    reseal(&mut bytes);
    let results: Vec<_> = FrameReader::new(&bytes, 64).unwrap().collect();
    let [Ok(first), Err(DecodeError::Trailing { value: 4096, .. })] = results.as_slice() else {
        panic!("{results:?}")
    };
    assert_eq!(first.message, Message::Resource(ResourceMessage::Data(data)));
}

/// A change to the bytes of a sample, from the start of its frame, and the refusal it leads to.
type ValueRefusal = (&'static str, usize, u8, fn(&DecodeError) -> bool);

#[test]
fn wrong_values_are_refused() {
    let range: fn(&DecodeError) -> bool = |fault| matches!(fault, DecodeError::OutOfRange { .. });
    let tag: fn(&DecodeError) -> bool = |fault| matches!(fault, DecodeError::UnknownTag { .. });
    let short: fn(&DecodeError) -> bool = |fault| matches!(fault, DecodeError::Truncated { .. });
    let cases: &[ValueRefusal] = &[
        // Versions, shards, class, quantum of 513 and 1024, length of a name and its first byte.
        ("hello", 44, 3, range),
        ("hello", 72, 0, range),
        ("hello", 75, 3, tag),
        ("hello", 77, 1, range),
        ("hello", 78, 4, range),
        ("hello", 79, 128, range),
        ("hello", 79, 65, short),
        ("hello", 81, 0xff, range),
        // Node id, presence of a replica, lanes.
        ("open", 64, 32, range),
        ("open", 66, 2, range),
        ("open", 115, 3, range),
        ("open", 115, 0, range),
        ("set_full", 52, 32, range),
        // Count of ranges, a start of 2^63 and 2^52 blocks, an empty range.
        ("loss", 82, 2, range),
        ("loss", 81, 1, short),
        ("loss", 91, 0x80, range),
        ("loss", 90, 0x10, range),
        ("loss", 92, 0, range),
        // More blocks than a payload may have; an answer without data that has some.
        ("read", 67, 33, range),
        ("read_done", 67, 4, tag),
        ("read_done", 67, 2, range),
        ("read_done", 70, 3, range),
    ];
    for (name, at, byte, is_expected) in cases {
        let sample = samples::messages().into_iter().find(|sample| sample.name == *name).unwrap();
        let mut bytes = frame_of(&sample);
        assert_ne!(bytes[*at], *byte, "{name}: byte {at} is that already");
        bytes[*at] = *byte;
        reseal(&mut bytes);
        let fault = read_all(&bytes).unwrap_err();
        assert!(is_expected(&fault), "{name}: byte {at} = {byte}: {fault}");
    }
}

#[test]
fn members_out_of_order_are_refused() {
    let mut value = samples::config();
    value.volumes[0].insync.reverse();
    let message = Control::Chosen { ballot: samples::ballot(1), value };
    let mut writer = FrameWriter::new(vec![0; 1024], 64);
    writer.push_control(HANDLE, &message).unwrap();
    let (bytes, length) = writer.finish();
    let fault = read_all(&bytes[..length]).unwrap_err();
    assert!(matches!(fault, DecodeError::OutOfRange { what: "InSync.joined", .. }), "{fault}");
}
