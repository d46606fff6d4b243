//! DH-HMAC-CHAP, with a host that does right and with others.
//!
//! The figures were computed with Python's `hmac`, `hashlib` and `pow`.

use std::sync::Arc;

use frontend::nvme::auth::group::Group;
use frontend::nvme::auth::proof::{Parties, Question};
use frontend::nvme::auth::secret::{Hash, Secret, SecretError};
use frontend::nvme::auth::{Exchange, Failure, RANDOM_BYTES, Received, Sent};
use frontend::nvme::status::Status;
use frontend::nvme::wire::{Sqe, le16, put32};
use ring::digest;
use stdx::random::Random;

use crate::hex;
use crate::host::{CONTROLLER_SECRET, HOST, HOST_SECRET, Host, SUBSYSTEM};

const RANDOM: [u8; RANDOM_BYTES] = [0xa7; RANDOM_BYTES];
const ROOM: usize = 4096;

fn parties(controller_secret: Option<&str>) -> Arc<Parties> {
    Arc::new(Parties {
        host: HOST.to_owned(),
        subsystem: SUBSYSTEM.to_owned(),
        host_secret: Secret::parse(HOST_SECRET).unwrap(),
        controller_secret: controller_secret.map(|text| Secret::parse(text).unwrap()),
    })
}

fn exchange() -> Exchange {
    Exchange::new(parties(Some(CONTROLLER_SECRET)))
}

fn part(kind: u8, length: usize) -> Sqe {
    let mut bytes = [0; 64];
    (bytes[0], bytes[4], bytes[39]) = (0x7f, kind, 0x5a);
    bytes[41..44].copy_from_slice(&[1, 1, 0xe9]);
    for at in [32, 44] {
        put32(&mut bytes, at, u32::try_from(length).unwrap());
    }
    Sqe::of(&bytes)
}

/// Sends a message, and has its work done.
fn send(exchange: &mut Exchange, message: &[u8]) -> Sent {
    let sent = exchange.on_send(&part(5, message.len()), message, &RANDOM);
    if let Sent::Work(task) = sent {
        assert!(exchange.is_working());
        exchange.on_finding(task.run());
        return Sent::Taken;
    }
    sent
}

fn receive(exchange: &mut Exchange) -> (Received, Vec<u8>) {
    let mut out = Vec::new();
    let received = exchange.on_receive(&part(6, ROOM), &mut out);
    assert_eq!(out.len(), ROOM);
    (received, out)
}

/// Up to what comes for the Reply.
fn ask(exchange: &mut Exchange, host: &mut Host) -> (Received, Vec<u8>) {
    assert!(matches!(send(exchange, &host.negotiate()), Sent::Taken));
    let (received, challenge) = receive(exchange);
    if received != Received::Told {
        return (received, challenge);
    }
    assert!(matches!(send(exchange, &host.reply(&challenge)), Sent::Taken));
    receive(exchange)
}

#[track_caller]
fn check_refused(exchange: &mut Exchange, host: &mut Host, why: Failure) {
    let (received, message) = ask(exchange, host);
    assert_eq!(received, Received::Failed(why));
    assert_eq!(message[..2], [0, 0xf1]);
    assert_eq!(message[6..8], [1, why.explanation()]);
    assert!(!exchange.is_proved());
}

fn counted(from: u8) -> [u8; 48] {
    std::array::from_fn(|index| from + u8::try_from(index).unwrap())
}

#[test]
fn values_and_keys_are_those_of_the_groups() {
    let expected = [
        (
            Group::Ffdhe2048,
            "3e77339b97ec6440594ea41992dd8742f102f220cefadd0832d131a8fedcc1c1",
            "9b0030d37d3bb7262b02cb680eaea8e8fbc3a607771fafedc2a069147de08620",
        ),
        (
            Group::Ffdhe3072,
            "6d3aec5998403220d1fc3c75f749bafc179616c891ea4a7d17eecfcacf8269e9",
            "565d63ca7e4e6f1fcfa6b23c335cda81bf4747673baef43f996a0c0c44054ff9",
        ),
        (
            Group::Ffdhe4096,
            "863b6f6eda7e7b9a65a1589bd51e601ce3ea81edc82888c30a13b2cd3ae90298",
            "0f7d72eca49bfcd6d85092e1a979fb5d5814f6dfcb3156bea0c0bd43d4e2fdd7",
        ),
    ];
    let sum = |bytes: &[u8]| digest::digest(&digest::SHA256, bytes).as_ref().to_vec();
    let (first, second) = (counted(1), counted(49));
    for (group, value, key) in expected {
        let (ours, theirs) = (group.value(&first), group.value(&second));
        assert_eq!(ours.len(), group.value_bytes());
        assert_eq!(sum(&ours), hex(value), "{group:?}");
        let shared = group.shared(&ours, &second).unwrap();
        assert_eq!(sum(&shared), hex(key), "{group:?}");
        assert_eq!(group.shared(&theirs, &first), Some(shared));
    }
}

#[test]
fn value_that_makes_a_known_key_is_refused() {
    for group in [Group::Ffdhe2048, Group::Ffdhe3072, Group::Ffdhe4096] {
        let length = group.value_bytes();
        let small = |last: u8| [vec![0; length - 1], vec![last]].concat();
        let minus_one = minus_one(group);
        for wrong in [small(0), small(1), minus_one, vec![0xff; length]] {
            assert_eq!(wrong.len(), length);
            assert_eq!(group.shared(&wrong, &[3; 48]), None);
        }
        assert!(group.shared(&small(2), &[3; 48]).is_some());
        assert_eq!(group.shared(&small(2)[1..], &[3; 48]), None, "a short value");
        assert_eq!(group.shared(&[0; 600], &[3; 48]), None, "a long value");
    }
}

/// The prime less one: 2 to the power of its length is what it lacks to that.
fn minus_one(group: Group) -> Vec<u8> {
    let mut length = [0; 48];
    let bits = u16::try_from(group.value_bytes() * 8).unwrap();
    length[46..].copy_from_slice(&bits.to_be_bytes());
    group.value(&length).iter().map(|byte| !byte).collect()
}

#[test]
fn responses_are_those_of_the_standard() {
    let expected = [
        (
            Hash::Sha256,
            None,
            "c11f1abc589213422e859574462dcacb8943bf2ea9310d80f688f37daff96840",
            "2c02fa42012be6acfba984b04f694c7fdeaa184bfa370473462b9116d8321401",
        ),
        (
            Hash::Sha256,
            Some(Group::Ffdhe2048),
            "2f24952975f9c669a772b35028451773c87fb4bd11e24bf54dd05f42cd391f94",
            "76b876554ccb957b8ca6acc6ea64e275c236c4b0e4a255508a11f53272dc9db1",
        ),
        (
            Hash::Sha384,
            Some(Group::Ffdhe3072),
            "05beff489685190e4a51ace33c9d6f1446a74cbc6a036d1199e94dd7b6b6462b\
             3d413b4d0e351cc76c664641e80c8165",
            "d49102eb0971caa08e6a39bd53307772b34ef5e5d70878cfcf63aae666aa461c\
             f2a097e4d1609c90ac5d4ebdec7480f6",
        ),
        (
            Hash::Sha512,
            Some(Group::Ffdhe4096),
            "c3a6af90f49b4a212cd781ac35046d98222cf297685859c06d87ea87ebd5b78b\
             8b08d1913c84c5378cda0dbdf51d520565b35c03cf938b6744ab315afdbf4937",
            "7f716e7b1e099ffbf3c49682f2300efc0955f38c41bdc4bf328f3a62ea384efe\
             a51f699e7d53fc4266070f99181213b1cea9506ca9dc9acd8a5a891066598f26",
        ),
    ];
    let parties = parties(Some(CONTROLLER_SECRET));
    for (hash, group, host, controller) in expected {
        let challenge: Vec<u8> = (0..u8::try_from(hash.length()).unwrap()).collect();
        let shared = group.and_then(|group| group.shared(&group.value(&counted(1)), &counted(49)));
        let question = Question {
            hash,
            transaction: 0x0506,
            sequence: 0x0102_0304,
            challenge: &challenge,
            shared_key: shared.as_deref(),
        };
        assert_eq!(parties.respond(&question), Some(hex(controller)), "{hash:?} {group:?}");
        let host = hex(host);
        assert!(parties.is_right(&question, &host), "{hash:?} {group:?}");
        for place in 0..host.len() {
            let mut other = host.clone();
            other[place] ^= 1;
            assert!(!parties.is_right(&question, &other));
            assert!(!parties.is_right(&question, &host[..place]));
        }
    }
}

#[test]
fn host_with_the_secret_is_let_in_with_every_hash_and_group() {
    for hash in Hash::PREFERRED {
        for group in Group::PREFERRED {
            for is_mutual in [false, true] {
                let (hashes, groups) = (vec![hash.number()], vec![group.number()]);
                let mut host = Host { hashes, groups, is_mutual, ..Host::new() };
                let mut exchange = exchange();
                let (received, success) = ask(&mut exchange, &mut host);
                assert!(host.is_content(&success), "{hash:?} {group:?}");
                if is_mutual {
                    assert_eq!((received, exchange.is_proved()), (Received::Told, false));
                    assert!(matches!(send(&mut exchange, &host.success2()), Sent::Proved));
                } else {
                    assert_eq!(received, Received::Proved);
                }
                assert!(exchange.is_proved() && !exchange.is_under_way());
            }
        }
    }
}

#[test]
fn best_of_what_is_offered_is_taken() {
    let cases = [
        (vec![1, 2, 3], vec![0, 1, 2, 3, 4, 5], (3, 2)),
        (vec![2, 1], vec![0, 3, 1], (2, 3)),
        (vec![9, 1], vec![0, 1, 200], (1, 1)),
        (vec![1], vec![5, 4, 0], (1, 0)),
    ];
    for (hashes, groups, chosen) in cases {
        let host = Host { hashes, groups, ..Host::new() };
        let mut exchange = exchange();
        send(&mut exchange, &host.negotiate());
        let (_, challenge) = receive(&mut exchange);
        assert_eq!((challenge[8], challenge[9]), chosen);
    }
}

#[test]
fn host_without_the_secret_is_refused() {
    for group in [0, 2] {
        let mut host = Host { host_key: vec![7; 32], groups: vec![group], ..Host::new() };
        check_refused(&mut exchange(), &mut host, Failure::Failed);
        let mut host = Host { groups: vec![group], ..Host::new() };
        // The key itself, not mixed with the name as the secret says.
        host.host_key = (0..32).collect();
        check_refused(&mut exchange(), &mut host, Failure::Failed);
    }
}

#[test]
fn controller_proves_itself_with_the_right_secret_only() {
    let mut host = Host { is_mutual: true, controller_key: vec![7; 48], ..Host::new() };
    let mut first = exchange();
    let (received, success) = ask(&mut first, &mut host);
    assert_eq!(received, Received::Told);
    assert!(!host.is_content(&success), "it knows another secret");
    let sent = send(&mut first, &host.failure2());
    assert!(matches!(sent, Sent::GivenUp { explanation: 1 }));
    assert!(!first.is_proved());
    let mut host = Host { is_mutual: true, ..Host::new() };
    let mut without = Exchange::new(parties(None));
    check_refused(&mut without, &mut host, Failure::NoControllerSecret);
}

#[test]
fn what_was_overheard_is_good_for_nothing() {
    let mut host = Host::new();
    let mut exchange = exchange();
    send(&mut exchange, &host.negotiate());
    let (_, challenge) = receive(&mut exchange);
    let overheard = host.reply(&challenge);
    send(&mut exchange, &overheard);
    assert_eq!(receive(&mut exchange).0, Received::Proved);
    // The same connection, another transaction or the same number: the challenge is another one.
    for random in [[1; RANDOM_BYTES], [2; RANDOM_BYTES]] {
        let mut other = Exchange::new(parties(Some(CONTROLLER_SECRET)));
        let negotiate = host.negotiate();
        let Sent::Work(task) = other.on_send(&part(5, negotiate.len()), &negotiate, &random) else {
            panic!("it has nothing to do")
        };
        other.on_finding(task.run());
        assert_eq!(receive(&mut other).0, Received::Told);
        send(&mut other, &overheard);
        assert_eq!(receive(&mut other).0, Received::Failed(Failure::Failed));
    }
}

#[test]
fn question_is_not_answered_with_itself() {
    let mut host = Host { is_mutual: true, groups: vec![0], hashes: vec![1], ..Host::new() };
    let mut exchange = exchange();
    send(&mut exchange, &host.negotiate());
    let (_, challenge) = receive(&mut exchange);
    let mut reply = host.reply(&challenge);
    reply[48..80].copy_from_slice(&challenge[16..48]);
    send(&mut exchange, &reply);
    assert_eq!(receive(&mut exchange).0, Received::Failed(Failure::Payload));
}

#[test]
fn host_may_prove_itself_again_and_fails_for_good() {
    let mut exchange = exchange();
    let mut host = Host::new();
    assert_eq!(ask(&mut exchange, &mut host).0, Received::Proved);
    host.transaction = 8;
    assert_eq!(ask(&mut exchange, &mut host).0, Received::Proved);
    assert!(exchange.is_proved());
    host.host_key = vec![1; 32];
    assert_eq!(ask(&mut exchange, &mut host).0, Received::Failed(Failure::Failed));
    for _ in 0..3 {
        let (received, _) = ask(&mut exchange, &mut Host::new());
        assert_eq!(received, Received::Failed(Failure::Failed), "there is no second try");
    }
}

#[test]
fn message_out_of_order_fails() {
    let host = Host::new();
    let negotiate = host.negotiate();
    for first in [host.success2(), vec![1, 2, 0, 0, 7, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0]] {
        let mut exchange = exchange();
        send(&mut exchange, &first);
        assert!(matches!(
            receive(&mut exchange).0,
            Received::Failed(Failure::Message | Failure::Payload)
        ));
    }
    let mut twice = exchange();
    send(&mut twice, &negotiate);
    send(&mut twice, &negotiate);
    assert_eq!(receive(&mut twice).0, Received::Failed(Failure::Message));
    let mut early = exchange();
    assert_eq!(receive(&mut early).0, Received::Failed(Failure::Message));
    assert!(!early.is_proved());
    let mut eager = exchange();
    send(&mut eager, &negotiate);
    receive(&mut eager);
    assert_eq!(receive(&mut eager).0, Received::Failed(Failure::Message));
}

#[test]
fn what_does_not_fit_is_named() {
    let check = |change: fn(&mut Vec<u8>), why: Failure| {
        let mut message = Host::new().negotiate();
        change(&mut message);
        let mut exchange = exchange();
        send(&mut exchange, &message);
        assert_eq!(receive(&mut exchange).0, Received::Failed(why));
    };
    check(|it| it[6] = 1, Failure::SecureChannel);
    check(|it| it[8] = 2, Failure::ProtocolUnusable);
    check(|it| it[10] = 0, Failure::HashUnusable);
    check(|it| it[11] = 0, Failure::GroupUnusable);
    check(|it| it[10] = 31, Failure::Payload);
    check(|it| it[7] = 2, Failure::Payload);
    check(|it| it.truncate(40), Failure::Payload);
    check(|it| it.truncate(7), Failure::Payload);
    check(|it| it[1] = 0x11, Failure::Message);
    let check = |change: fn(&mut Vec<u8>), why: Failure| {
        let mut host = Host { is_mutual: true, ..Host::new() };
        let mut exchange = exchange();
        send(&mut exchange, &host.negotiate());
        let (_, challenge) = receive(&mut exchange);
        let mut message = host.reply(&challenge);
        change(&mut message);
        send(&mut exchange, &message);
        assert_eq!(receive(&mut exchange).0, Received::Failed(why));
    };
    check(|it| it[4] ^= 1, Failure::Payload);
    check(|it| it[6] = 32, Failure::Payload);
    check(|it| it[8] = 2, Failure::Payload);
    check(|it| it[12..16].fill(0), Failure::SecureChannel);
    check(|it| it.truncate(200), Failure::Payload);
    check(|it| it[16] ^= 1, Failure::Failed);
    // Another value makes another key.
    check(|it| it[16 + 128 + 100] ^= 1, Failure::Failed);
    check(|it| it[16 + 128..].fill(0), Failure::Payload);
}

#[test]
fn command_that_is_none_of_the_exchange_is_refused() {
    let negotiate = Host::new().negotiate();
    let wrong = |change: fn(&mut [u8; 64])| {
        let mut bytes = [0; 64];
        (bytes[0], bytes[4], bytes[39]) = (0x7f, 5, 0x5a);
        bytes[41..44].copy_from_slice(&[1, 1, 0xe9]);
        put32(&mut bytes, 32, 72);
        put32(&mut bytes, 44, 72);
        change(&mut bytes);
        Sqe::of(&bytes)
    };
    let changes: [fn(&mut [u8; 64]); 3] = [|it| it[43] = 0, |it| it[41] = 2, |it| it[44] = 71];
    for change in changes {
        let sent = exchange().on_send(&wrong(change), &negotiate, &RANDOM);
        assert!(matches!(sent, Sent::Refused(Status::INVALID_FIELD)), "{sent:?}");
    }
    let mut exchange = exchange();
    send(&mut exchange, &negotiate);
    let mut out = Vec::new();
    for (length, status) in [(100, Status::INVALID_FIELD), (1 << 20, Status::INVALID_FIELD)] {
        assert_eq!(exchange.on_receive(&part(6, length), &mut out), Received::Refused(status));
        assert!(out.is_empty());
    }
    assert_eq!(receive(&mut exchange).0, Received::Told, "the challenge still waits");
}

#[test]
fn secret_is_read_as_it_is_made() {
    let good = [
        "DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:",
        HOST_SECRET,
        CONTROLLER_SECRET,
        "DHHC-1:03:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4O\
         To7PD0+P4zODhA=:",
    ];
    for text in good {
        let secret = Secret::parse(text).unwrap();
        assert_eq!(format!("{secret:?}"), "(a secret)");
    }
    let wrong = [
        ("", SecretError::Form),
        ("DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR", SecretError::Form),
        ("DHHC-2:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:", SecretError::Form),
        ("DHHC-1:04:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:", SecretError::Hash),
        ("DHHC-1:0:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:", SecretError::Hash),
        ("DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaS:", SecretError::Checksum),
        ("DHHC-1:00:BAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:", SecretError::Checksum),
        ("DHHC-1:00:AAECAwQF:", SecretError::Length),
        ("DHHC-1:00::", SecretError::Length),
        ("DHHC-1:00:AAE*AwQF:", SecretError::Form),
        ("DHHC-1:00:AAECAw===:", SecretError::Form),
        ("DHHC-1:00:AAECAwQ:", SecretError::Form),
    ];
    for (text, error) in wrong {
        assert_eq!(Secret::parse(text), Err(error), "{text}");
    }
}

/// Whatever comes, nobody gets in without the secret, and what is kept is bounded.
#[test]
fn garbage_proves_nothing() {
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        // The small group keeps it quick.
        let groups = vec![if seed % 50 == 0 { 1 } else { 0 }];
        let is_mutual = random.chance(1, 2);
        let mut host = Host { groups, is_mutual, host_key: vec![9; 32], ..Host::new() };
        let mut exchange = exchange();
        let mut heard = host.negotiate();
        for _ in 0..8 {
            let mut message = match random.below(6) {
                0 | 1 => host.negotiate(),
                2 if heard[..2] == [1, 1] && heard[9] == host.groups[0] => {
                    host.transaction = le16(&heard, 4);
                    host.reply(&heard)
                }
                3 => host.success2(),
                4 => heard.clone(),
                _ => {
                    let length = random.below(700);
                    (0..length).map(|_| u8::try_from(random.below(256)).unwrap()).collect()
                }
            };
            for _ in 0..random.below(3) {
                if !message.is_empty() {
                    let place = usize::try_from(random.next_u64()).unwrap() % message.len();
                    message[place] ^= u8::try_from(random.below(256)).unwrap();
                }
            }
            if random.chance(1, 8) {
                message.truncate(usize::try_from(random.below(80)).unwrap());
            }
            assert!(!matches!(send(&mut exchange, &message), Sent::Proved), "seed {seed}");
            if random.chance(3, 4) {
                let (received, told) = receive(&mut exchange);
                assert_ne!(received, Received::Proved, "seed {seed}");
                if received == Received::Told {
                    heard = told;
                }
            }
            assert!(!exchange.is_proved(), "seed {seed}");
        }
    }
}
