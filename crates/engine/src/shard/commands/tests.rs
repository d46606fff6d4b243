//! Commands whose resource goes before they are done, and what is asked before a script is called.

use std::net::TcpListener;

use format::space::Place;
use io::Parker;
use io::mailbox::Receiver;
use replication::contract::{Repair, VerifyTask};

use super::*;
use crate::contract::{DeviceOrder, Ticket};
use crate::shard::fixture::{host, host_diskless, shard};

const HOSTED: HostedId = HostedId(0);

/// A shard that hosts `r0`, which has no disk here.
struct Diskless {
    shard: Shard,
    answers: Receiver<FromShard>,
    _parker: Parker,
    _directory: tempfile::TempDir,
}

impl Diskless {
    fn new() -> Self {
        let (parker, directory) = (Parker::new().unwrap(), tempfile::tempdir().unwrap());
        let (mut shard, answers) = shard(&parker);
        host_diskless(&mut shard, &directory);
        Self { shard, answers, _parker: parker, _directory: directory }
    }
}

/// The answers by ticket.
fn heard(
    shard: &mut Shard,
    answers: &mut Receiver<FromShard>,
) -> Vec<(Ticket, Result<Reply, FailureCode>)> {
    shard.rim.outbox.publish();
    let mut heard = Vec::new();
    while let Some(message) = answers.pop() {
        if let FromShard::Answer { ticket: ticket @ 1.., answer } = message {
            heard.push((ticket, answer.map_err(|failure| failure.code)));
        }
    }
    heard
}

/// They were not answered at all, and each command of an operator waited for 25 s.
#[test]
fn commands_are_answered_when_their_resource_goes_before_they_are_done() {
    let Diskless { mut shard, mut answers, .. } = Diskless::new();
    let resource = || "r0".to_owned();
    let (ticket, command) = (1, Command::Invalidate);
    shard.on_message(ToShard::Ask { ticket, resource: resource(), command });
    let order = DeviceOrder::Promote { ticket: 2, place: Place::FIRST };
    shard.on_message(ToShard::Device { resource: resource(), order });
    shard.on_message(ToShard::Remove { ticket: 3, resource: resource(), force: Force::No });
    let stop = shard.hosted_mut(HOSTED).commands.last().unwrap().id;
    shard.on_answer(HOSTED, stop, Ok(CommandDone::AsAsked));
    let heard = heard(&mut shard, &mut answers);
    let gone = || Err(FailureCode::UnknownResource);
    assert_eq!(heard, [(1, gone()), (2, gone()), (3, Ok(Reply::done()))]);
}

/// It was told as done, and nothing was compared.
#[test]
fn verify_on_a_primary_without_a_quorum_is_refused_and_says_who_is_missing() {
    let (parker, directory) = (Parker::new().unwrap(), tempfile::tempdir().unwrap());
    let (mut shard, mut answers) = shard(&parker);
    let text = "resource r0 {
                  on a { node-id 0; address 127.0.0.1:1; volume 0 { disk none; } }
                  on b { node-id 1; address 127.0.0.1:2; volume 0 { disk /b; } } }";
    host(&mut shard, &directory, text);
    let mut ask = |shard: &mut Shard, ticket| {
        let task = VerifyTask { from_block: 0, until_block: u64::MAX, repair: Repair::No };
        let (resource, command) = ("r0".to_owned(), Command::Verify(task));
        shard.on_message(ToShard::Ask { ticket, resource, command });
        shard.rim.outbox.publish();
        let mut told = None;
        while let Some(message) = answers.pop() {
            if let FromShard::Answer { ticket: of, answer } = message
                && of == ticket
            {
                told = Some(answer);
            }
        }
        told
    };
    assert_eq!(ask(&mut shard, 1), None, "the machine of a Secondary answers, and knows why");
    shard.hosted_mut(HOSTED).is_primary = true;
    let refusal = ask(&mut shard, 2).expect("an answer at once").unwrap_err();
    assert_eq!(refusal.code, FailureCode::NoQuorum);
    let Failure { message, hint, .. } = refusal;
    let start = "nothing can be compared: no quorum: ";
    assert!(message.starts_with(start) && message.ends_with("(missing: b)"), "{message}");
    assert!(hint.contains("`basalt adm explain r0`"), "{hint}");
}

/// Before a script puts a peer out, which only an answer of these keeps from being called.
#[test]
fn question_that_nobody_asks_any_more_is_told_to_be_void() {
    let Diskless { mut shard, mut answers, .. } = Diskless::new();
    for (ticket, name) in [(1, "r0"), (2, "gone")] {
        let resource = name.to_owned();
        shard.on_message(ToShard::CheckFence { ticket, resource, number: 7 });
    }
    let (void, gone) = (Err(FailureCode::StateRefused), Err(FailureCode::UnknownResource));
    assert_eq!(heard(&mut shard, &mut answers), [(1, void), (2, gone)]);
    // It was kept, and nobody asked again for two minutes.
    let told = shard.rim.inbox.pop_back().expect("the machine hears of it");
    let (number, verdict) = (7, FenceVerdict::NotAsked);
    let wanted = ResourceInput::FenceAnswer { number, verdict };
    assert_eq!(format!("{told:?}"), format!("{:?}", (HOSTED, Input::Resource(wanted))));
}

/// They were told as done, as what was up still, or were done to what went away.
#[test]
fn commands_are_refused_while_their_resource_goes_down() {
    let Diskless { mut shard, mut answers, .. } = Diskless::new();
    shard.hosted_mut(HOSTED).is_primary = true;
    let resource = || "r0".to_owned();
    shard.on_message(ToShard::Remove { ticket: 1, resource: resource(), force: Force::No });
    let mode = PromoteMode::Normal;
    shard.on_message(ToShard::Promote { ticket: 2, resource: resource(), mode });
    let (peer, own_data) = (None, OwnData::Kept);
    shard.on_message(ToShard::Connect { ticket: 3, resource: resource(), peer, own_data });
    shard.on_message(ToShard::Disconnect { ticket: 4, resource: resource(), peer: None });
    shard.on_message(ToShard::Remove { ticket: 5, resource: resource(), force: Force::Yes });
    let busy = || Err(FailureCode::StateRefused);
    let heard = heard(&mut shard, &mut answers);
    assert_eq!(heard, [(2, busy()), (3, busy()), (4, busy()), (5, busy())]);
}

/// The daemon ends: a device that is kept late was ended with its resource, and what waited in it
/// failed.
#[test]
fn device_is_left_to_the_next_daemon_while_its_resource_goes_down() {
    let Diskless { mut shard, mut answers, .. } = Diskless::new();
    let resource = || "r0".to_owned();
    shard.on_message(ToShard::Remove { ticket: 1, resource: resource(), force: Force::Yes });
    shard.on_device_order("r0", DeviceOrder::Leave { ticket: 2 });
    assert!(shard.find("r0").is_none());
    shard.on_device_order("r0", DeviceOrder::Leave { ticket: 3 });
    let heard = heard(&mut shard, &mut answers);
    let (done, gone) = (|| Ok(Reply::done()), Err(FailureCode::UnknownResource));
    assert_eq!(heard, [(1, done()), (2, done()), (3, gone)]);
}

/// `adjust` took a resource that goes down for a replica that has the disk.
#[test]
fn replica_that_takes_no_disk_is_told_from_one_that_goes_down() {
    let Diskless { mut shard, mut answers, .. } = Diskless::new();
    let resource = || "r0".to_owned();
    let place = Place::FIRST;
    shard.on_message(ToShard::CheckVolume { ticket: 1, resource: resource(), place });
    shard.on_message(ToShard::Remove { ticket: 2, resource: resource(), force: Force::No });
    shard.on_message(ToShard::CheckVolume { ticket: 3, resource: resource(), place });
    let (no_disk, busy) = (Err(FailureCode::NoLocalDisk), Err(FailureCode::StateRefused));
    assert_eq!(heard(&mut shard, &mut answers), [(1, no_disk), (3, busy)]);
}

/// What is done to its disk meanwhile was stopped by a `down` that was refused, too.
#[test]
fn resource_that_goes_down_is_told_of_before_it_is_gone() {
    let Diskless { mut shard, mut answers, .. } = Diskless::new();
    let mut told = |shard: &mut Shard| {
        let remove = ToShard::Remove { ticket: 1, resource: "r0".to_owned(), force: Force::No };
        shard.on_message(remove);
        shard.rim.outbox.publish();
        let mut messages = std::iter::from_fn(|| answers.pop());
        messages.any(|it| matches!(it, FromShard::Going { resource } if resource == "r0"))
    };
    assert!(told(&mut shard));
    assert!(!told(&mut shard), "another one is under way: it is refused");
}

/// It was told as done here, and the machine, which would have the handler called again, did not
/// hear of it.
#[test]
#[expect(clippy::disallowed_methods, reason = "a port that nobody has is found by binding it")]
fn primary_that_waits_for_a_quorum_hears_that_it_is_to_be_primary() {
    let (parker, directory) = (Parker::new().unwrap(), tempfile::tempdir().unwrap());
    let (mut shard, mut answers) = shard(&parker);
    // The shard listens there.
    let own = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let text = format!(
        "resource r0 {{
        on a {{ node-id 0; address {own}; volume 0 {{ device minor 1; disk none; }} }}
        on b {{ node-id 1; address 127.0.0.1:1; volume 0 {{ disk /b; meta-disk internal; }} }}
        connection-mesh {{ hosts a b; }} }}"
    );
    host(&mut shard, &directory, &text);
    shard.hosted_mut(HOSTED).is_primary = true;
    let mode = PromoteMode::Normal;
    shard.on_message(ToShard::Promote { ticket: 1, resource: "r0".to_owned(), mode });
    let told = shard.rim.inbox.pop_back().map(|(_, input)| format!("{input:?}"));
    assert!(told.is_some_and(|told| told.contains("Promote(Normal)")));
    assert_eq!(heard(&mut shard, &mut answers), []);
    assert!(shard.hosted_mut(HOSTED).clients.is_explicit);
}
