//! The bytes of every message, written out by hand from the protocol's text. Nothing here uses the
//! crate's own constants: a wrong number there must not be wrong here too.

use frontend::nbd::handshake::{
    Access, Agreement, CloseReason, Directory, Export, Handshake, Next, Unavailable,
};
use frontend::nbd::reply::{ChunkEnd, REPLY_BYTES_MAX, ReplyEncoder, block_status_bytes};
use frontend::nbd::transmission::{Kind, Parsed, Refusal, Request, Transmission};
use frontend::nbd::wire::{Errno, Extent, ReplyForm};

/// Bytes from hexadecimal digits; spaces and line ends are for the reader.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| u8::try_from(c.to_digit(16).unwrap()).unwrap())
        .collect();
    digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}

const OPTION: &str = "49484156454f5054";
const ANSWER: &str = "0003e889045565a9";
const SIZE: u64 = 1 << 30;

fn find(name: &str) -> Result<Export, Unavailable> {
    match name {
        "r0" | "" => {
            let mut export = Export::new("r0", SIZE, Access::ReadWrite);
            export.description = "a b".into();
            Ok(export)
        }
        "ro" => {
            let mut export = Export::new("ro", SIZE + 511, Access::ReadOnly);
            export.blocks.min_bytes = 512;
            Ok(export)
        }
        "no" => Err(Unavailable::Refused("not now".into())),
        "end" => Err(Unavailable::ShuttingDown),
        _ => Err(Unavailable::Unknown),
    }
}

/// What a handshake sends for these bytes after the client's flags, and how it goes on.
pub(crate) fn answer_to(sent: &[u8]) -> (Vec<u8>, Next) {
    let listed = [find("r0").unwrap(), find("ro").unwrap()];
    let directory = Directory { listed: &listed, find: &find };
    let mut output = Vec::new();
    let mut handshake = Handshake::start(&mut output);
    output.clear();
    let flags = handshake.step(&[0, 0, 0, 3], &directory, &mut output);
    assert!(output.is_empty() && matches!(flags.next, Next::More));
    let mut at = 0;
    loop {
        let step = handshake.step(&sent[at..], &directory, &mut output);
        at += step.consumed;
        if at == sent.len() || !matches!(step.next, Next::More) {
            return (output, step.next);
        }
    }
}

pub(crate) fn agreed(next: Next) -> Agreement {
    let Next::Transmission(agreement) = next else { panic!("not agreed: {next:?}") };
    *agreement
}

fn assert_answer(option: &str, answers: &[&str]) {
    let (output, _) = answer_to(&hex(&format!("{OPTION} {option}")));
    let expected: String = answers.iter().map(|answer| format!("{ANSWER} {answer}")).collect();
    assert_eq!(output, hex(&expected), "{option}");
}

#[test]
fn the_greeting_and_the_padding() {
    let mut output = Vec::new();
    let mut handshake = Handshake::start(&mut output);
    assert_eq!(output, hex("4e42444d41474943 49484156454f5054 0003"));
    output.clear();
    // A client that did not decline them gets 124 zeroes.
    let directory = Directory { listed: &[], find: &find };
    let sent = hex(&format!("00000001 {OPTION} 00000001 00000002 7230"));
    let step = handshake.step(&sent, &directory, &mut output);
    assert_eq!(step.consumed, sent.len());
    assert_eq!(output.len(), 10 + 124);
    assert_eq!(output[..10], hex("0000000040000000 0d6d"));
    assert!(output[10..].iter().all(|byte| *byte == 0));
    let (output, next) = answer_to(&hex(&format!("{OPTION} 00000001 00000002 726f")));
    // Read-only, without the 511 bytes after the last block of 512.
    assert_eq!(output, hex("0000000040000000 050f"));
    let agreement = agreed(next);
    assert_eq!((agreement.export.size_bytes, agreement.flags), (SIZE, 0x050f));
    assert_eq!(agreement.export.name, "ro");
}

#[test]
fn options_and_their_answers() {
    // ABORT
    assert_answer("00000002 00000000", &["00000002 00000001 00000000"]);
    // LIST: name length, name, description
    assert_answer(
        "00000003 00000000",
        &[
            "00000003 00000002 00000009 00000002 7230 612062",
            "00000003 00000002 00000006 00000002 726f",
            "00000003 00000001 00000000",
        ],
    );
    // INFO of r0 with NAME, DESCRIPTION, BLOCK_SIZE and an unknown item
    assert_answer(
        "00000006 00000010 00000002 7230 0004 0001 0002 0003 00ff",
        &[
            "00000006 00000003 0000000c 0000 0000000040000000 0d6d",
            "00000006 00000003 0000000e 0003 00000001 00001000 02000000",
            "00000006 00000003 00000004 0001 7230",
            "00000006 00000003 00000005 0002 612062",
            "00000006 00000001 00000000",
        ],
    );
    // GO for the default export, with nothing asked
    assert_answer(
        "00000007 00000006 00000000 0000",
        &[
            "00000007 00000003 0000000c 0000 0000000040000000 0d6d",
            "00000007 00000003 0000000e 0003 00000001 00001000 02000000",
            "00000007 00000001 00000000",
        ],
    );
    // STRUCTURED_REPLY and EXTENDED_HEADERS
    assert_answer("00000008 00000000", &["00000008 00000001 00000000"]);
    assert_answer("0000000b 00000000", &["0000000b 00000001 00000000"]);
    // STARTTLS and an unknown option: unsupported
    let text = "746869732073657276657220646f6573206e6f7420737065616b20544c53";
    assert_answer("00000005 00000000", &[&format!("00000005 80000001 0000001e {text}")]);
    assert_answer(
        "00000063 00000003 616263",
        &["00000063 80000001 0000000e 756e6b6e6f776e206f7074696f6e"],
    );
}

#[test]
fn refusals_of_an_export() {
    // INFO of "x": no export `x`
    assert_answer(
        "00000006 00000007 00000001 78 0000",
        &["00000006 80000006 0000000d 6e6f206578706f727420607860"],
    );
    assert_answer(
        "00000007 00000008 00000002 6e6f 0000",
        &["00000007 80000002 00000007 6e6f74206e6f77"],
    );
    let text = "7468652073657276657220697320736875747469 6e6720646f776e";
    assert_answer(
        "00000007 00000009 00000003 656e64 0000",
        &[&format!("00000007 80000007 0000001b {text}")],
    );
    let (output, next) = answer_to(&hex(&format!("{OPTION} 00000001 00000001 78")));
    assert!(output.is_empty());
    assert!(matches!(next, Next::Close(CloseReason::NoExport)));
}

#[test]
fn metadata_contexts() {
    let structured = format!("{OPTION} 00000008 00000000");
    let yes = format!("{ANSWER} 00000008 00000001 00000000");
    let allocation = "626173653a616c6c6f636174696f6e";
    let case = |option: &str, answer: &str| {
        let (output, _) = answer_to(&hex(&format!("{structured} {OPTION} {option}")));
        assert_eq!(output, hex(&format!("{yes} {answer}")), "{option}");
    };
    let listed = format!("{ANSWER} 00000009 00000004 00000013 00000000 {allocation}");
    let end = format!("{ANSWER} 00000009 00000001 00000000");
    // LIST of r0: without a query, with "base:", with "x-y:"
    case("00000009 0000000a 00000002 7230 00000000", &format!("{listed} {end}"));
    case(
        "00000009 00000013 00000002 7230 00000001 00000005 626173653a",
        &format!("{listed} {end}"),
    );
    case("00000009 00000012 00000002 7230 00000001 00000004 782d793a", &end);
    // SET of r0: "base:allocation" twice, then "base:", then nothing
    let end = format!("{ANSWER} 0000000a 00000001 00000000");
    let granted = format!("{ANSWER} 0000000a 00000004 00000013 00000001 {allocation}");
    let query = format!("0000000f {allocation}");
    case(
        &format!("0000000a 00000030 00000002 7230 00000002 {query} {query}"),
        &format!("{granted} {end}"),
    );
    case("0000000a 00000013 00000002 7230 00000001 00000005 626173653a", &end);
    case("0000000a 0000000a 00000002 7230 00000000", &end);
    // Without structured replies it is invalid.
    let (output, _) =
        answer_to(&hex(&format!("{OPTION} 0000000a 0000000a 00000002 7230 00000000")));
    assert_eq!(output[..16], hex(&format!("{ANSWER} 0000000a 80000003")));
}

fn transmission(replies: ReplyForm, access: Access) -> Transmission {
    let flags = if access == Access::ReadOnly { 0x05cf } else { 0x0ded };
    Transmission::new(&Agreement {
        export: Export::new("r0", SIZE, access),
        flags,
        replies,
        allocation_context: Some(1),
    })
}

#[test]
fn requests() {
    let cases = [
        ("0000 0000", "0000000000000200", "00000400", Kind::Read { df: false }, false),
        ("0004 0000", "0000000000000200", "00000400", Kind::Read { df: true }, false),
        ("0001 0001", "0000000000000200", "00000400", Kind::Write, true),
        ("0000 0003", "0000000000000000", "00000000", Kind::Flush, false),
        ("0001 0004", "0000000000000200", "00000400", Kind::Trim, true),
        ("0000 0005", "0000000000000200", "00000400", Kind::Cache, false),
        (
            "0013 0006",
            "0000000000000200",
            "00000400",
            Kind::WriteZeroes { no_hole: true, fast: true },
            true,
        ),
        ("0008 0007", "0000000000000200", "00000400", Kind::BlockStatus { req_one: true }, false),
    ];
    let cookie = "0123456789abcdef";
    for (head, offset, length, kind, fua) in cases {
        let request = Request {
            cookie: 0x0123_4567_89ab_cdef,
            kind,
            offset: if kind == Kind::Flush { 0 } else { 0x200 },
            length: if kind == Kind::Flush { 0 } else { 0x400 },
            fua,
        };
        let mut session = transmission(ReplyForm::Structured, Access::ReadWrite);
        let bytes = hex(&format!("25609513 {head} {cookie} {offset} {length}"));
        assert_eq!(session.next(&bytes), Parsed::Request { consumed: 28, request });
        assert_eq!(session.payload_left(), if kind == Kind::Write { 0x400 } else { 0 });
        let mut session = transmission(ReplyForm::Extended, Access::ReadWrite);
        let head = if kind == Kind::Write { "0021 0001" } else { head };
        let bytes = hex(&format!("21e41c71 {head} {cookie} {offset} 00000000 {length}"));
        assert_eq!(session.next(&bytes), Parsed::Request { consumed: 32, request });
    }
    let mut session = transmission(ReplyForm::Simple, Access::ReadWrite);
    let bytes = hex(&format!("25609513 0000 0002 {cookie} 0000000000000000 00000000"));
    assert_eq!(session.next(&bytes), Parsed::Disconnect);
}

fn request(kind: Kind) -> Request {
    let cookie = 0x0123_4567_89ab_cdef;
    Request { cookie, kind, offset: 0x1000, length: 0x2000, fua: false }
}

/// Compares what an encoder writes in the three forms; none where a form has no such reply.
fn assert_replies(
    write: impl Fn(ReplyEncoder, &mut [u8]) -> usize,
    simple: Option<&str>,
    structured: &str,
    extended: &str,
) {
    let forms = [
        (ReplyForm::Simple, simple),
        (ReplyForm::Structured, Some(structured)),
        (ReplyForm::Extended, Some(extended)),
    ];
    for (form, expected) in forms {
        let Some(expected) = expected else { continue };
        let mut out = vec![0; block_status_bytes(8).max(REPLY_BYTES_MAX)];
        let length = write(ReplyEncoder::new(form), &mut out);
        assert_eq!(out[..length], hex(expected), "{form:?}");
    }
}

#[test]
fn replies() {
    let cookie = "0123456789abcdef";
    let simple = format!("67446698 00000000 {cookie}");
    let extended = format!("6e8a278c 0001 0000 {cookie} 0000000000001000 0000000000000000");
    let write = request(Kind::Write);
    assert_replies(|encoder, out| encoder.success(&write, out), Some(&simple), &simple, &extended);
    let read = request(Kind::Read { df: false });
    assert_replies(
        |encoder, out| encoder.success(&read, out),
        None,
        &format!("668e33ef 0001 0000 {cookie} 00000000"),
        &extended,
    );
    assert_replies(
        |encoder, out| encoder.error(&write, Errno::NoSpace, "full", out),
        Some(&format!("67446698 0000001c {cookie}")),
        &format!("668e33ef 0001 8001 {cookie} 0000000a 0000001c 0004 66756c6c"),
        &format!(
            "6e8a278c 0001 8001 {cookie} 0000000000001000 000000000000000a 0000001c 0004 66756c6c"
        ),
    );
    let refusal = Refusal { cookie: write.cookie, offset: 1, errno: Errno::Invalid, message: "" };
    assert_replies(
        |encoder, out| encoder.refusal(&refusal, out),
        Some(&format!("67446698 00000016 {cookie}")),
        &format!("668e33ef 0001 8001 {cookie} 00000006 00000016 0000"),
        &format!("6e8a278c 0001 8001 {cookie} 0000000000000001 0000000000000006 00000016 0000"),
    );
}

#[test]
fn replies_with_data() {
    let cookie = "0123456789abcdef";
    let read = request(Kind::Read { df: false });
    assert_replies(
        |encoder, out| encoder.read_head(&read, 0x1000, 0x2000, ChunkEnd::Done, out),
        Some(&format!("67446698 00000000 {cookie}")),
        &format!("668e33ef 0001 0001 {cookie} 00002008 0000000000001000"),
        &format!("6e8a278c 0001 0001 {cookie} 0000000000001000 0000000000002008 0000000000001000"),
    );
    assert_replies(
        |encoder, out| encoder.read_head(&read, 0x2000, 0x200, ChunkEnd::More, out),
        None,
        &format!("668e33ef 0000 0001 {cookie} 00000208 0000000000002000"),
        &format!("6e8a278c 0000 0001 {cookie} 0000000000001000 0000000000000208 0000000000002000"),
    );
}

#[test]
fn replies_with_block_status() {
    let cookie = "0123456789abcdef";
    let extent = |length_bytes, state| Extent { length_bytes, state };
    let case = |req_one, extents: &[Extent], structured: &str, extended: &str| {
        let status = request(Kind::BlockStatus { req_one });
        let (compact, wide) = (hex(structured).len(), hex(extended).len());
        assert_replies(
            |encoder, out| encoder.block_status(&status, 1, extents.iter().copied(), out),
            None,
            &format!("668e33ef 0001 0005 {cookie} {compact:08x} {structured}"),
            &format!("6e8a278c 0001 0006 {cookie} 0000000000001000 {wide:016x} {extended}"),
        );
    };
    // Neighbours are joined, empty extents left out, the last may reach further.
    case(
        false,
        &[extent(0x800, 0), extent(0, 3), extent(0x800, 0), extent(0x1_0000, 3), extent(1, 0)],
        "00000001 00001000 00000000 00010000 00000003",
        "00000001 00000002 0000000000001000 0000000000000000 0000000000010000 0000000000000003",
    );
    // What is asked for is told; nothing follows it.
    case(
        false,
        &[extent(0x2000, 0), extent(0x1000, 3)],
        "00000001 00002000 00000000",
        "00000001 00000001 0000000000002000 0000000000000000",
    );
    // One extent not longer than the request.
    case(
        true,
        &[extent(0x1_0000, 3)],
        "00000001 00002000 00000003",
        "00000001 00000001 0000000000002000 0000000000000003",
    );
    // More than 32 bits: cut in the compact form, whole in the extended one.
    case(
        false,
        &[extent(0x2_0000_0000, 3), extent(0x1000, 0)],
        "00000001 ffff0000 00000003",
        "00000001 00000001 0000000200000000 0000000000000003",
    );
    // Nothing known: data.
    case(
        false,
        &[],
        "00000001 00002000 00000000",
        "00000001 00000001 0000000000002000 0000000000000000",
    );
}

#[test]
fn a_full_buffer_cuts_block_status_short() {
    let status = request(Kind::BlockStatus { req_one: false });
    let extents = (0..1000).map(|n| Extent { length_bytes: 1, state: n % 2 });
    let mut out = vec![0; block_status_bytes(3)];
    let length = ReplyEncoder::new(ReplyForm::Extended).block_status(&status, 1, extents, &mut out);
    assert_eq!(length, block_status_bytes(3));
    assert_eq!(out[32..40], hex("00000001 00000003"));
}
