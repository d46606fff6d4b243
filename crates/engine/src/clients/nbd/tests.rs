//! Sessions that end in the middle of something, and what they hold of the buffers.
#![expect(clippy::disallowed_methods, reason = "the other end is the test's own")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;

use frontend::nbd::handshake::Agreement;
use frontend::nbd::reply::ReplyEncoder;
use frontend::nbd::transmission::Transmission;
use frontend::nbd::wire::{
    CMD_FLAG_DF, Command, FLAG_SEND_DF, FLAG_SEND_FLUSH, FLAG_SEND_TRIM, FLAG_SEND_WRITE_ZEROES,
    REQUEST_MAGIC, ReplyForm,
};
use io::Event;
use replication::contract::Request;
use stdx::time::Time;

use super::*;
use crate::clients::outstanding::Orphanage;
use crate::limits::{
    ARRIVING_BYTES_MAX, CLIENTS_BYTES_MAX, REPLIES_BYTES_MAX, RESOURCE_BYTES_LEAST,
    RESOURCE_BYTES_MAX,
};

const HELD: HostedId = HostedId(0);

fn serve(nbd: &mut Nbd, kit: &mut Kit, form: ReplyForm) -> (Key, UnixStream) {
    let (socket, outside) = UnixStream::pair().unwrap();
    let socket = kit.reactor.adopt(socket.into()).unwrap();
    let agreement = Box::new(Agreement {
        export: export_of("r0", (HELD, Place::FIRST), 1 << 30, 512),
        flags: FLAG_SEND_DF | FLAG_SEND_FLUSH | FLAG_SEND_TRIM | FLAG_SEND_WRITE_ZEROES,
        replies: form,
        allocation_context: None,
    });
    let machine = Transmission::new(&agreement);
    let stage = Stage::Serving { machine, agreement, write: None };
    let mut client = Client::new(socket, stage);
    client.hosted = Some(HELD);
    client.replies = Some(ReplyEncoder::new(form));
    let key = nbd.clients.insert(client);
    nbd.clients.get_mut(key).unwrap().receive(key.token(TOKEN_CLIENT), kit);
    (key, outside)
}

/// A request as it comes over the wire.
fn request(command: Command, cookie: u64, length: u32) -> Vec<u8> {
    let mut request = REQUEST_MAGIC.to_be_bytes().to_vec();
    request.extend(0_u16.to_be_bytes());
    request.extend((command as u16).to_be_bytes());
    request.extend(cookie.to_be_bytes());
    request.extend((cookie << 20).to_be_bytes());
    request.extend(length.to_be_bytes());
    request
}

/// Waits for something to happen to a socket, and tells the front end.
fn turn(nbd: &mut Nbd, kit: &mut Kit) {
    for event in kit.wait_for_events() {
        if let Event::Received { token, result, .. } = event {
            nbd.on_received(Key::of_token(token).1, result, kit);
        } else if let Event::Sent { token, result, .. } = event {
            nbd.on_sent(Key::of_token(token).1, result, kit);
        } else {
            panic!("{event:?}");
        }
    }
    nbd.flush(kit);
}

/// What the core was asked.
fn asked(nbd: &mut Nbd) -> Vec<Request> {
    let mut requests = Vec::new();
    while let Some(fact) = nbd.pop_fact() {
        if let Fact::Request { request, .. } = fact {
            requests.push(request);
        }
    }
    requests
}

fn answer_read(nbd: &mut Nbd, asked: Request, kit: &mut Kit) {
    let slice = kit.reactor.pool().take_for(asked.length).unwrap();
    kit.reactor.pool().bytes_mut(slice).fill(7);
    let payload = kit.payloads.adopt(slice);
    nbd.complete(asked.part, Ok(Some(payload)), kit);
}

/// It said goodbye on a connection that it keeps open, with a request that gets no answer: it
/// counted as a user of the resource for ever.
#[test]
fn client_that_said_goodbye_holds_the_resource_for_a_while_only() {
    let (mut nbd, mut kit) = (Nbd::new(), Kit::of_lone_shard());
    let (key, mut outside) = serve(&mut nbd, &mut kit, ReplyForm::Simple);
    nbd.clients.get_mut(key).unwrap().requests = 1;
    outside.write_all(&request(Command::Disconnect, 0, 0)).unwrap();
    turn(&mut nbd, &mut kit);
    kit.now = Time::ZERO + Duration::from_secs(29);
    nbd.tick(&mut kit);
    assert_eq!(nbd.clients_of(HELD), 1, "its answer may come yet");
    kit.now = Time::ZERO + Duration::from_secs(31);
    nbd.tick(&mut kit);
    assert_eq!(nbd.clients_of(HELD), 0);
    let left = nbd.pop_fact();
    assert!(matches!(left, Some(Fact::Left { hosted: HELD })), "{left:?}");
}

/// A session that asked for a write and a read, and went.
fn gone(nbd: &mut Nbd, kit: &mut Kit) -> [Request; 2] {
    let (_, mut outside) = serve(nbd, kit, ReplyForm::Simple);
    outside.write_all(&request(Command::Write, 1, 4096)).unwrap();
    outside.write_all(&[1; 4096]).unwrap();
    outside.write_all(&request(Command::Read, 2, 4096)).unwrap();
    drop(outside);
    let mut all = Vec::new();
    while nbd.clients.len() > 0 {
        turn(nbd, kit);
        all.extend(asked(nbd));
    }
    all.try_into().unwrap()
}

/// Of what a session asked that holds nothing, nothing is left when it goes.
#[test]
fn requests_without_data_go_with_their_session() {
    let (mut nbd, mut kit) = (Nbd::new(), Kit::of_lone_shard());
    let (_, mut outside) = serve(&mut nbd, &mut kit, ReplyForm::Simple);
    outside.write_all(&request(Command::Flush, 0, 0)).unwrap();
    outside.write_all(&request(Command::Trim, 1, 1 << 20)).unwrap();
    outside.write_all(&request(Command::WriteZeroes, 2, 512)).unwrap();
    turn(&mut nbd, &mut kit);
    drop(outside);
    while nbd.clients.len() > 0 {
        turn(&mut nbd, &mut kit);
    }
    assert_eq!(
        (nbd.requests.len(), kit.budget.held()),
        (1, 8192),
        "but a part of a block to write, and that block"
    );
    let parts = asked(&mut nbd);
    for part in parts {
        nbd.complete(part.part, Ok(None), &mut kit);
    }
    assert_eq!((nbd.requests.len(), kit.budget.held()), (0, 0));
}

#[test]
fn requests_without_data_hold_nothing() {
    let (mut nbd, mut kit) = (Nbd::new(), Kit::of_lone_shard());
    let (_, mut outside) = serve(&mut nbd, &mut kit, ReplyForm::Simple);
    outside.write_all(&request(Command::Trim, 1, 1 << 20)).unwrap();
    turn(&mut nbd, &mut kit);
    let parts = asked(&mut nbd);
    assert_eq!((parts.len(), kit.budget.held()), (1, 0));
    nbd.complete(parts[0].part, Ok(None), &mut kit);
    assert_eq!((kit.budget.held(), nbd.requests_in_progress()), (0, 0));
}

#[test]
fn requests_of_a_session_that_ended_count_until_the_core_answers_them() {
    let (mut nbd, mut kit) = (Nbd::new(), Kit::of_lone_shard());
    let [write, read] = gone(&mut nbd, &mut kit);
    assert_eq!((kit.budget.held(), nbd.requests_in_progress()), (2 * 4096, 0));
    nbd.complete(write.part, Ok(None), &mut kit);
    assert_eq!(kit.budget.held(), 4096);
    answer_read(&mut nbd, read, &mut kit);
    assert_eq!((kit.budget.held(), nbd.requests_in_progress()), (0, 0));
}

/// The core answers nothing of a resource that is gone.
#[test]
fn requests_of_a_session_that_ended_end_with_their_resource() {
    let (mut nbd, mut kit) = (Nbd::new(), Kit::of_lone_shard());
    let [write, read] = gone(&mut nbd, &mut kit);
    nbd.forget_orphans(HostedId(1), &mut kit);
    assert_eq!(kit.budget.held(), 2 * 4096);
    nbd.forget_orphans(HELD, &mut kit);
    assert_eq!((kit.budget.held(), nbd.requests_in_progress()), (0, 0));
    // What another data thread had of them comes too late.
    nbd.complete(write.part, Ok(None), &mut kit);
    answer_read(&mut nbd, read, &mut kit);
    assert_eq!((kit.budget.held(), nbd.requests_in_progress()), (0, 0));
}

/// Which part the core answers first.
#[derive(Clone, Copy, Debug)]
enum First {
    Asked,
    Latest,
}

/// Four reads at a time.
fn read_all(form: ReplyForm, first_flags: u16, first: First, held_by_others: usize) {
    let (mut nbd, mut kit) = (Nbd::new(), Kit::of_lone_shard());
    let (key, mut outside) = serve(&mut nbd, &mut kit, form);
    for cookie in 0..4 {
        let mut request = request(Command::Read, cookie, 4 << 20);
        if cookie == 0 {
            request[4..6].copy_from_slice(&first_flags.to_be_bytes());
        }
        outside.write_all(&request).unwrap();
    }
    turn(&mut nbd, &mut kit);
    let reader = thread::spawn(move || {
        let mut all = Vec::new();
        outside.read_to_end(&mut all).unwrap();
        all.len()
    });
    kit.budget.keep(held_by_others);
    let mut under_way = Vec::new();
    let mut answered = 0;
    while answered < 4 * 32 {
        under_way.extend(asked(&mut nbd));
        let next = match first {
            First::Asked => under_way.first().copied(),
            First::Latest => under_way.pop(),
        };
        let Some(next) = next else {
            turn(&mut nbd, &mut kit);
            continue;
        };
        under_way.retain(|it| it.part != next.part);
        answer_read(&mut nbd, next, &mut kit);
        answered += 1;
        nbd.flush(&mut kit);
        while nbd.clients.get(key).unwrap().has_to_send() {
            turn(&mut nbd, &mut kit);
        }
    }
    assert_eq!((nbd.requests_in_progress(), kit.budget.held()), (0, held_by_others));
    nbd.close(key, "", &mut kit);
    assert!(reader.join().unwrap() > 16 << 20);
}

/// Others hold all that there is, or nobody anything.
#[test]
fn reads_go_on_whichever_part_the_core_answers_first() {
    for first in [First::Asked, First::Latest] {
        for held in [0, REPLIES_BYTES_MAX] {
            read_all(ReplyForm::Simple, 0, first, held);
            read_all(ReplyForm::Structured, 0, first, held);
            // What is behind the whole reply to the first one waits for it.
            read_all(ReplyForm::Structured, CMD_FLAG_DF, first, held);
        }
    }
}

/// A part held its place among what the core has while it was on its way, so a few that sent none
/// stopped their volume.
#[test]
fn part_of_a_write_counts_for_the_core_once_it_is_here() {
    let full = CLIENTS_BYTES_MAX + RESOURCE_BYTES_LEAST;
    let (mut nbd, mut kit) = (Nbd::new(), Kit::of_lone_shard());
    let (_, mut outside) = serve(&mut nbd, &mut kit, ReplyForm::Simple);
    outside.write_all(&request(Command::Write, 1, 8192)).unwrap();
    outside.write_all(&[1; 1000]).unwrap();
    while kit.budget.held() == 0 {
        turn(&mut nbd, &mut kit);
    }
    // Others have all of the core by the time that the rest comes.
    kit.budget.take(HELD, full);
    outside.write_all(&[1; 7192]).unwrap();
    while nbd.clients.iter().any(|(_, client)| client.arriving().is_some()) {
        turn(&mut nbd, &mut kit);
    }
    nbd.flush(&mut kit);
    assert!(asked(&mut nbd).is_empty() && !nbd.is_waiting(&kit));
    kit.budget.give_back(HELD, full);
    assert!(nbd.is_waiting(&kit));
    nbd.flush(&mut kit);
    assert_eq!(asked(&mut nbd).len(), 1);
}

/// So many seconds pass.
fn pass(nbd: &mut Nbd, kit: &mut Kit, seconds: u64) {
    for _ in 0..seconds {
        nbd.flush(kit);
        kit.now = kit.now + Duration::from_secs(1);
        nbd.tick(kit);
    }
}

#[test]
fn client_that_does_not_send_the_rest_of_a_write_makes_room_for_others() {
    let (mut nbd, mut kit) = (Nbd::new(), Kit::of_lone_shard());
    let (_, mut outside) = serve(&mut nbd, &mut kit, ReplyForm::Simple);
    outside.write_all(&request(Command::Write, 1, 128 << 10)).unwrap();
    outside.write_all(&[1; 4096]).unwrap();
    turn(&mut nbd, &mut kit);
    pass(&mut nbd, &mut kit, 100);
    assert_eq!(nbd.clients_of(HELD), 1, "nobody needs it");
    kit.budget.take(HELD, RESOURCE_BYTES_MAX);
    kit.budget.keep(REPLIES_BYTES_MAX);
    pass(&mut nbd, &mut kit, 100);
    assert_eq!(nbd.clients_of(HELD), 1, "it would not help those");
    kit.budget.give_up(REPLIES_BYTES_MAX);
    pass(&mut nbd, &mut kit, 2);
    kit.budget.await_arrival(ARRIVING_BYTES_MAX);
    pass(&mut nbd, &mut kit, 29);
    assert_eq!(nbd.clients_of(HELD), 1, "it may go on yet");
    pass(&mut nbd, &mut kit, 4);
    assert_eq!(nbd.clients_of(HELD), 0);
}

#[test]
fn client_that_does_not_take_what_was_read_makes_room_for_others() {
    let (mut nbd, mut kit) = (Nbd::new(), Kit::of_lone_shard());
    let (key, mut outside) = serve(&mut nbd, &mut kit, ReplyForm::Simple);
    outside.write_all(&request(Command::Read, 1, 4 << 20)).unwrap();
    turn(&mut nbd, &mut kit);
    for part in asked(&mut nbd) {
        answer_read(&mut nbd, part, &mut kit);
    }
    pass(&mut nbd, &mut kit, 100);
    assert_eq!(nbd.clients_of(HELD), 1, "nobody needs it");
    kit.budget.keep(REPLIES_BYTES_MAX);
    // 2 MiB are on their way, and have 8 s more.
    assert!(nbd.clients.get(key).unwrap().has_to_send());
    pass(&mut nbd, &mut kit, 37);
    assert_eq!(nbd.clients_of(HELD), 1, "it may go on yet");
    pass(&mut nbd, &mut kit, 4);
    assert_eq!(nbd.clients_of(HELD), 0);
    drop(outside);
}
