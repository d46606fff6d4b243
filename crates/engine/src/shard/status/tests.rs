//! What a question costs where there are many resources.
#![expect(clippy::disallowed_methods, reason = "the other end is the test's own")]

use std::cell::Cell;
use std::net::TcpListener;

use api::response::FailureCode;
use io::Parker;
use io::mailbox::Receiver;
use tempfile::TempDir;

use super::*;
use crate::contract::FromShard;
use crate::definition::Definition;
use crate::links::session::Held;
use crate::shard::fixture::{attached, shard};
use crate::shard::hosted::Peer;

/// One data thread with resources that have a peer each, whose connection nobody takes.
struct Place {
    shard: Shard,
    _answers: Receiver<FromShard>,
    _parker: Parker,
    _directory: TempDir,
}

impl Place {
    fn new(count: u16) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let parker = Parker::new().unwrap();
        let (mut shard, answers) = shard(&parker);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        for number in 0..count {
            let name = format!("r{number}");
            let text = format!(
                "resource {name} {{
                   on a {{ node-id 0; address 127.0.0.1:{port}; volume 0 {{ disk none; }} }}
                   on b {{ node-id 1; address 127.0.0.2:1; volume 0 {{ disk none; }} }} }}"
            );
            let definition = Definition::from_text("a", &name, &text).unwrap();
            let attached = attached(definition, directory.path());
            shard.host(1, attached).unwrap();
        }
        Self { shard, _answers: answers, _parker: parker, _directory: directory }
    }

    fn peers(&mut self) -> impl Iterator<Item = &mut Peer> {
        self.shard.hosted.iter_mut().flatten().map(|hosted| &mut hosted.peers[0])
    }
}

/// The status of every resource was computed for a question about one.
#[test]
fn question_about_one_resource_looks_at_no_other() {
    let mut place = Place::new(3);
    // A resync that is over: the next look finds that.
    let look = pace::Look { at: Time::ZERO, copied_blocks: 1, left_blocks: 1 };
    place.peers().for_each(|peer| peer.pace = Some(Pace::new(look)));
    let reply = place.shard.status(&["r1".to_owned()], Statistics::Hidden).unwrap();
    let names: Vec<_> = reply.resources.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["r1"]);
    let looked_at: Vec<bool> = place.peers().map(|peer| peer.pace.is_none()).collect();
    assert_eq!(looked_at, [false, true, false]);
}

#[test]
fn unknown_names_are_refused_or_left_out_as_asked() {
    let mut place = Place::new(2);
    let names = ["r1".to_owned(), "r7".to_owned()];
    let failure = place.shard.status(&names, Statistics::Hidden).unwrap_err();
    assert_eq!(failure.code, FailureCode::UnknownResource);
    let named = |reply: StatusReply| -> Vec<String> {
        reply.resources.into_iter().map(|resource| resource.name).collect()
    };
    assert_eq!(named(place.shard.status_of_known(&names, Statistics::Hidden)), ["r1"]);
    assert!(named(place.shard.status_of_known(&[], Statistics::Hidden)).is_empty());
    assert_eq!(named(place.shard.names()), ["r0", "r1"]);
}

/// One that is about to come up, or has just gone, was told as if it were up, and without a role.
#[test]
fn resource_that_is_not_wholly_here_is_left_out() {
    let mut place = Place::new(2);
    drop(place.shard.hosted[0].take());
    let names = ["r0".to_owned(), "r1".to_owned()];
    let told = place.shard.status_of_known(&names, Statistics::Hidden).resources;
    assert_eq!(told.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["r1"]);
}

/// Each resource went through the sessions and the clients of all of them.
#[test]
fn sessions_are_gone_through_once_for_a_question_about_many() {
    let mut place = Place::new(9);
    let visits = Cell::new(0);
    let is_asked = |id: HostedId| {
        visits.set(visits.get() + 1);
        id.0 < 2
    };
    let census = Census::take(&place.shard.rim, is_asked);
    assert_eq!(visits.get(), 9, "one session each, and no client");
    let peer = NodeId::new(1).unwrap();
    assert!(!census.session(HostedId(1), peer).is_held);
    place.shard.hold(HostedId(1), None, Held::Yes).unwrap();
    let census = Census::take(&place.shard.rim, |_| true);
    assert!(census.session(HostedId(1), peer).is_held);
    assert!(!census.session(HostedId(2), peer).is_held, "another one");
}
