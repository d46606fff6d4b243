//! Orders of options, what is refused, and what must not be believed.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::golden::{agreed, answer_to, hex};
use crate::ram_server::{RamDisk, pair};
use frontend::nbd::client::negotiation::Negotiation;
use frontend::nbd::client::{BlockStatus, ClientError, Connection, Stream, Wishes};
use frontend::nbd::handshake::{CloseReason, Directory, Handshake, Next, Unavailable};
use frontend::nbd::limits::{OPTION_BYTES_MAX, OPTIONS_MAX};
use frontend::nbd::wire::{
    OPT_ABORT, OPT_EXPORT_NAME, OPT_EXTENDED_HEADERS, OPT_GO, OPT_INFO, OPT_LIST,
    OPT_LIST_META_CONTEXT, OPT_SET_META_CONTEXT, OPT_STARTTLS, OPT_STRUCTURED_REPLY, OPTION_MAGIC,
    REP_ACK, REP_ERR_EXT_HEADER_REQD, REP_ERR_INVALID, REP_ERR_TLS_REQD, REP_ERR_TOO_BIG,
    REP_ERR_UNKNOWN, REP_ERR_UNSUP, REP_INFO, REP_META_CONTEXT, ReplyForm,
};

const SIZE: u64 = 1 << 20;

fn string(text: &str) -> Vec<u8> {
    [&u32::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat()
}

fn queries(export: &str, queries: &[&str]) -> Vec<u8> {
    let mut payload = string(export);
    payload.extend_from_slice(&u32::try_from(queries.len()).unwrap().to_be_bytes());
    queries.iter().for_each(|query| payload.extend_from_slice(&string(query)));
    payload
}

fn go(export: &str) -> Vec<u8> {
    [string(export), vec![0, 0]].concat()
}

fn option(option: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap();
    let head = [option.to_be_bytes(), length.to_be_bytes()].concat();
    [&OPTION_MAGIC.to_be_bytes(), &head[..], payload].concat()
}

fn start() -> Negotiation {
    Negotiation::start(pair(&Arc::new(RamDisk::new(SIZE))).0).unwrap()
}

/// The kinds of the replies to an option.
fn kinds(negotiation: &mut Negotiation, option: u32, payload: &[u8]) -> Vec<u32> {
    negotiation.option(option, payload).unwrap().iter().map(|reply| reply.kind).collect()
}

/// The kinds of the replies in an output.
fn kinds_in(mut output: &[u8]) -> Vec<u32> {
    let be32 = |at: &[u8]| u32::from_be_bytes(at[..4].try_into().unwrap());
    let mut kinds = Vec::new();
    while !output.is_empty() {
        kinds.push(be32(&output[12..]));
        output = &output[20 + be32(&output[16..]) as usize..];
    }
    kinds
}

/// Each sequence of up to four options, repetitions included, ends in the same rules.
#[test]
fn every_order_of_the_stateful_options_agrees() {
    let options = [OPT_STRUCTURED_REPLY, OPT_EXTENDED_HEADERS, OPT_SET_META_CONTEXT, OPT_INFO];
    for sequence in 0..options.len().pow(4) {
        let (mut form, mut context) = (ReplyForm::Simple, None);
        let (mut sent, mut expected) = (Vec::new(), Vec::new());
        for place in 0..4 {
            let chosen = options[sequence / options.len().pow(place) % options.len()];
            let (payload, answers) = match (chosen, form) {
                (OPT_STRUCTURED_REPLY, ReplyForm::Extended) => {
                    (Vec::new(), vec![REP_ERR_EXT_HEADER_REQD])
                }
                (OPT_STRUCTURED_REPLY, _) => {
                    form = ReplyForm::Structured;
                    (Vec::new(), vec![REP_ACK])
                }
                (OPT_EXTENDED_HEADERS, _) => {
                    form = ReplyForm::Extended;
                    (Vec::new(), vec![REP_ACK])
                }
                (OPT_SET_META_CONTEXT, ReplyForm::Simple) => {
                    (queries("r0", &["base:allocation"]), vec![REP_ERR_INVALID])
                }
                (OPT_SET_META_CONTEXT, _) => {
                    context = Some(1);
                    (queries("r0", &["base:allocation"]), vec![REP_META_CONTEXT, REP_ACK])
                }
                _ => (go("r0"), vec![REP_INFO, REP_INFO, REP_ACK]),
            };
            sent.extend(option(chosen, &payload));
            expected.extend(answers);
        }
        sent.extend(option(OPT_GO, &go("r0")));
        expected.extend([REP_INFO, REP_INFO, REP_ACK]);
        let (output, next) = answer_to(&sent);
        assert_eq!(kinds_in(&output), expected, "sequence {sequence}");
        let agreement = agreed(next);
        assert_eq!((agreement.replies, agreement.allocation_context), (form, context));
    }
}

#[test]
fn a_context_counts_only_for_the_export_it_was_asked_for() {
    let allocation = queries("r0", &["base:allocation"]);
    let structured = option(OPT_STRUCTURED_REPLY, &[]);
    let set = option(OPT_SET_META_CONTEXT, &allocation);
    let unset = option(OPT_SET_META_CONTEXT, &queries("r0", &[]));
    let unknown = option(OPT_SET_META_CONTEXT, &queries("nil", &["base:allocation"]));
    let cut = option(OPT_SET_META_CONTEXT, &allocation[..allocation.len() - 1]);
    let cases = [
        (vec![&structured, &set], "r0", Some(1)),
        (vec![&structured, &set], "ro", None),
        // The default export is the same disk under another name, as the protocol counts names.
        (vec![&structured, &set], "", None),
        (vec![&structured, &set, &unset], "r0", None),
        (vec![&structured, &set, &unknown], "r0", None),
        (vec![&structured, &set, &cut], "r0", None),
        (vec![&structured, &set, &cut, &set], "r0", Some(1)),
        (vec![&set, &structured], "r0", None),
    ];
    for (options, export, expected) in cases {
        let mut sent: Vec<u8> = options.into_iter().flatten().copied().collect();
        sent.extend(option(OPT_GO, &go(export)));
        assert_eq!(agreed(answer_to(&sent).1).allocation_context, expected);
    }
}

#[test]
fn lengths_that_lie_are_invalid_and_the_next_option_is_understood() {
    let lying = |length: u32, rest: &[u8]| [&length.to_be_bytes(), rest].concat();
    let cases = [
        (OPT_INFO, vec![]),
        (OPT_INFO, vec![0, 0, 0]),
        (OPT_INFO, lying(u32::MAX, b"r0\0\0")),
        (OPT_INFO, lying(3, b"r0\0")),
        (OPT_GO, lying(2, b"r0")),
        (OPT_GO, lying(2, b"r0\xff\xff")),
        (OPT_GO, lying(2, b"r0\0\x01\0")),
        (OPT_GO, lying(2, b"r0\0\0\0")),
        (OPT_GO, lying(2, b"\xff\xfe\0\0")),
        (OPT_GO, lying(2, b"r\0\0\0")),
        (OPT_GO, go(&"x".repeat(4097))),
        (OPT_LIST, vec![0]),
        (OPT_STRUCTURED_REPLY, vec![0]),
        (OPT_EXTENDED_HEADERS, vec![0]),
        (OPT_SET_META_CONTEXT, lying(2, b"r0\xff\xff\xff\xff")),
        (OPT_SET_META_CONTEXT, lying(2, b"r0\0\0\0\x01\xff\xff\xff\xff")),
        (OPT_SET_META_CONTEXT, queries("r0", &["base"])),
        (OPT_LIST_META_CONTEXT, [queries("r0", &["base:"]), vec![0]].concat()),
    ];
    for (number, payload) in cases {
        let mut negotiation = start();
        assert_eq!(kinds(&mut negotiation, OPT_STRUCTURED_REPLY, &[]), [REP_ACK]);
        let told = kinds(&mut negotiation, number, &payload);
        assert_eq!(told, [REP_ERR_INVALID], "option {number}: {payload:?}");
        assert_eq!(kinds(&mut negotiation, OPT_ABORT, b"bytes to spare"), [REP_ACK]);
    }
}

#[test]
fn a_long_option_is_read_past_and_a_longer_one_ends_the_connection() {
    let mut negotiation = start();
    let long = vec![0; OPTION_BYTES_MAX + 1];
    assert_eq!(kinds(&mut negotiation, OPT_INFO, &long), [REP_ERR_TOO_BIG]);
    assert_eq!(kinds(&mut negotiation, 77, &vec![0; 1 << 20]), [REP_ERR_UNSUP]);
    assert_eq!(kinds(&mut negotiation, OPT_INFO, &go("r0")), [REP_INFO, REP_INFO, REP_ACK]);
    for (number, length) in [(OPT_INFO, (1 << 20) + 1), (77, u32::MAX), (OPT_EXPORT_NAME, 16385)] {
        let head = [number.to_be_bytes(), length.to_be_bytes()].concat();
        let (output, next) = answer_to(&[&OPTION_MAGIC.to_be_bytes(), &head[..]].concat());
        assert!(output.is_empty());
        let expected = CloseReason::OptionTooLong { option: number, length };
        assert!(matches!(next, Next::Close(reason) if reason == expected));
    }
    // A name that is too long is no name.
    let (_, next) = answer_to(&option(OPT_EXPORT_NAME, "x".repeat(4097).as_bytes()));
    assert!(matches!(next, Next::Close(CloseReason::NoExport)));
}

#[test]
fn options_without_end_end_the_connection() {
    let many: Vec<u8> = (0..OPTIONS_MAX).flat_map(|_| option(99, &[])).collect();
    assert!(matches!(answer_to(&many).1, Next::More));
    let (_, next) = answer_to(&[many, option(99, &[])].concat());
    assert!(matches!(next, Next::Close(CloseReason::TooManyOptions)));
}

#[test]
fn flags_and_magics_that_are_unknown_end_the_connection() {
    let directory = Directory { listed: &[], find: &|_| Err(Unavailable::Unknown) };
    let mut output = Vec::new();
    let step = Handshake::start(&mut output).step(&[0, 0, 1, 3], &directory, &mut output);
    assert!(matches!(step.next, Next::Close(CloseReason::UnknownClientFlags(0x100))));
    let (_, next) = answer_to(b"GET / HTTP/1.1\r\n");
    assert!(matches!(next, Next::Close(CloseReason::BadMagic(_))));
}

#[test]
fn a_refused_starttls_changes_nothing_and_promises_nothing() {
    let mut negotiation = start();
    assert_eq!(kinds(&mut negotiation, OPT_STRUCTURED_REPLY, &[]), [REP_ACK]);
    assert_eq!(kinds(&mut negotiation, OPT_STARTTLS, &[]), [REP_ERR_UNSUP]);
    // Bytes of a TLS greeting behind the option are no option.
    let hello = hex("16030100f8010000f4030300000000");
    let (output, next) = answer_to(&[option(OPT_STARTTLS, &[]), hello, vec![0; 8]].concat());
    assert_eq!(output[8..16], hex("00000005 80000001"));
    assert!(matches!(next, Next::Close(CloseReason::BadMagic(_))));
}

/// What is answered before TLS, when TLS is required, and what the machine wants next.
fn before_tls(sent: &[u8]) -> (Vec<u8>, Next) {
    let directory = Directory { listed: &[], find: &|_| panic!("no name is looked up") };
    let mut greeting = Vec::new();
    let mut handshake = Handshake::start_with_tls(&mut greeting);
    let sent = [&[0, 0, 0, 3], sent].concat();
    let (mut output, mut at) = (Vec::new(), 0);
    loop {
        let step = handshake.step(&sent[at..], &directory, &mut output);
        at += step.consumed;
        if at == sent.len() || !matches!(step.next, Next::More) {
            return (output, step.next);
        }
    }
}

#[test]
fn nothing_but_tls_begins_where_it_is_required() {
    for number in [OPT_LIST, OPT_INFO, OPT_GO, OPT_STRUCTURED_REPLY, OPT_SET_META_CONTEXT, 99] {
        let (output, next) = before_tls(&option(number, &go("r0")));
        assert_eq!(output[12..16], REP_ERR_TLS_REQD.to_be_bytes(), "option {number}");
        assert!(matches!(next, Next::More));
    }
    let (output, next) = before_tls(&option(OPT_EXPORT_NAME, b"r0"));
    assert!(output.is_empty() && matches!(next, Next::Close(CloseReason::ClearText)));
    let (output, _) = before_tls(&option(OPT_STARTTLS, b"x"));
    assert_eq!(output[12..16], REP_ERR_INVALID.to_be_bytes());
    // What was sent before the answer to STARTTLS is no option: it belongs to TLS.
    let (output, next) = before_tls(&[option(OPT_STARTTLS, &[]), option(OPT_LIST, &[])].concat());
    assert_eq!(output.len(), 20, "one answer");
    assert_eq!(output[12..16], REP_ACK.to_be_bytes());
    assert!(matches!(next, Next::StartTls));
}

#[test]
fn tls_begins_once_and_the_handshake_goes_on_behind_it() {
    let disk = RamDisk::new(SIZE);
    let directory = Directory { listed: &disk.exports, find: &|name| disk.find(name) };
    let mut output = Vec::new();
    let mut handshake = Handshake::start_with_tls(&mut output);
    let sent = [vec![0, 0, 0, 3], option(OPT_STARTTLS, &[])].concat();
    assert!(matches!(handshake.step(&sent, &directory, &mut output).next, Next::StartTls));
    output.clear();
    handshake.step(&option(OPT_STARTTLS, &[]), &directory, &mut output);
    assert_eq!(output[12..16], REP_ERR_INVALID.to_be_bytes());
    let step = handshake.step(&option(OPT_GO, &go("r0")), &directory, &mut output);
    assert!(matches!(step.next, Next::Transmission(_)));
}

#[test]
fn export_name_still_works_but_not_after_extended_headers() {
    let mut negotiation = start();
    let info = negotiation.export_name("r0").unwrap();
    assert_eq!(info.size_bytes, SIZE);
    let extended = option(OPT_EXTENDED_HEADERS, &[]);
    let (_, next) = answer_to(&[extended, option(OPT_EXPORT_NAME, b"r0")].concat());
    assert!(matches!(next, Next::Close(CloseReason::NoExport)));
    let structured = option(OPT_STRUCTURED_REPLY, &[]);
    let (_, next) = answer_to(&[structured, option(OPT_EXPORT_NAME, b"r0")].concat());
    assert_eq!(agreed(next).replies, ReplyForm::Structured);
}

#[test]
fn unknown_exports_are_refused_for_contexts_too() {
    let mut negotiation = start();
    kinds(&mut negotiation, OPT_STRUCTURED_REPLY, &[]);
    for number in [OPT_SET_META_CONTEXT, OPT_LIST_META_CONTEXT] {
        let payload = queries("nil", &["base:allocation"]);
        assert_eq!(kinds(&mut negotiation, number, &payload), [REP_ERR_UNKNOWN]);
    }
}

/// Whatever the pieces in which the client's bytes come, the answers are the same.
#[test]
fn pieces_of_any_size_give_the_same_answers() {
    let mut sent = vec![0, 0, 0, 3];
    sent.extend(option(OPT_LIST, &[]));
    sent.extend(option(77, &[1; 300]));
    sent.extend(option(OPT_INFO, &vec![0; OPTION_BYTES_MAX + 1]));
    sent.extend(option(OPT_STRUCTURED_REPLY, &[]));
    sent.extend(option(OPT_SET_META_CONTEXT, &queries("r0", &["base:allocation"])));
    sent.extend(option(OPT_GO, &go("r0")));
    let disk = RamDisk::new(SIZE);
    let directory = Directory { listed: &disk.exports, find: &|name| disk.find(name) };
    let run = |piece: usize| {
        let mut output = Vec::new();
        let mut handshake = Handshake::start(&mut output);
        let mut at = 0;
        loop {
            let end = sent.len().min(at + piece);
            let step = handshake.step(&sent[at..end], &directory, &mut output);
            at += step.consumed;
            match step.next {
                Next::More => assert!(at < sent.len(), "pieces of {piece}: no end"),
                Next::Transmission(agreement) => return (output, at, *agreement),
                Next::StartTls => panic!("pieces of {piece}: TLS is not offered"),
                Next::Close(reason) => panic!("pieces of {piece}: {reason}"),
            }
        }
    };
    let whole = run(usize::MAX / 2);
    assert_eq!(whole.1, sent.len());
    for piece in [1, 2, 3, 5, 7, 16, 20, 1000] {
        assert_eq!(run(piece), whole, "pieces of {piece}");
    }
}

/// An output is one answer at most: a client that does not read cannot make the server gather.
#[test]
fn one_step_answers_one_option() {
    let disk = RamDisk::new(SIZE);
    let directory = Directory { listed: &disk.exports, find: &|name| disk.find(name) };
    let mut output = Vec::new();
    let mut handshake = Handshake::start(&mut output);
    let sent: Vec<u8> = std::iter::once(vec![0, 0, 0, 3])
        .chain((0..10).map(|_| option(OPT_LIST, &[])))
        .flatten()
        .collect();
    let (mut at, mut steps) = (0, 0);
    while at < sent.len() {
        output.clear();
        at += handshake.step(&sent[at..], &directory, &mut output).consumed;
        steps += 1;
        assert!(output.len() < 200);
    }
    assert_eq!(steps, 10);
}

/// What a server may greet with that our client must not go on with.
#[test]
fn our_client_refuses_a_greeting_of_another_kind() {
    let cases = [
        // The oldest handshake, and a newstyle one that is not fixed.
        ("4e42444d41474943 0000420281861253 0000000000100000 0000", "fixed newstyle"),
        ("4e42444d41474943 49484156454f5054 0002", "fixed newstyle"),
        ("485454502f312e31 2034303020426164 2052", "is it an NBD server?"),
    ];
    for (greeting, reason) in cases {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(&hex(greeting)).unwrap();
        let error = Connection::over(Stream::Unix(ours), "r0", &Wishes::default()).unwrap_err();
        assert!(matches!(error, ClientError::Protocol { .. }));
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn our_client_asks_for_no_more_than_its_form_of_replies_has() {
    let (stream, server) = pair(&Arc::new(RamDisk::new(SIZE)));
    let wishes =
        Wishes { replies: ReplyForm::Simple, block_status: BlockStatus::Ask, ..Wishes::default() };
    let client = Connection::over(stream, "r0", &wishes).unwrap();
    assert_eq!(client.export().allocation_context, None);
    client.close().unwrap();
    server.join().unwrap().unwrap();
}
