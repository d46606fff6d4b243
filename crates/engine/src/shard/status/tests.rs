//! The cost of a question where there are many resources, and the truth of each option.
#![expect(clippy::disallowed_methods, reason = "the other end is the test's own")]

use std::cell::Cell;
use std::net::TcpListener;

use api::response::FailureCode;
use io::Parker;
use io::mailbox::Receiver;
use replication::contract::ToGroup;
use tempfile::TempDir;

use super::*;
use crate::contract::FromShard;
use crate::definition::Definition;
use crate::links::session::Held;
use crate::shard::fixture::{attached, shard};
use crate::shard::hosted::Peer;
use crate::shard::rows::{self, Row};
use crate::shard::status::reason::{LessWith, Loss, NoVote};
use crate::shard::status::reasons::out_of_reach;

/// One data thread with resources that have a peer each, whose connection nobody takes.
struct Place {
    shard: Shard,
    _answers: Receiver<FromShard>,
    _parker: Parker,
    _directory: TempDir,
}

impl Place {
    fn new(count: u16) -> Self {
        Self::with_options(count, "")
    }

    fn with_options(count: u16, sections: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let parker = Parker::new().unwrap();
        let (mut shard, answers) = shard(&parker);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        for number in 0..count {
            let name = format!("r{number}");
            let text = format!(
                "resource {name} {{ {sections}
                   on a {{ node-id 0; address 127.0.0.1:{port}; volume 0 {{ disk none; }} }}
                   on b {{ node-id 1; address 127.0.0.2:1; volume 0 {{ disk /b; }} }} }}"
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

/// `status` says so to `explain`, which cannot know the options otherwise.
#[test]
fn each_option_says_what_becomes_of_requests_without_a_quorum() {
    let fencing = "net { fencing resource-and-stonith; } handlers { fence-peer x; }";
    let asked = ["", "quorum majority;", "quorum all;", "quorum 2;", "quorum off;"];
    let policies = [
        ("", RequestsWithoutQuorum::Wait),
        ("on-no-quorum suspend-io;", RequestsWithoutQuorum::Wait),
        ("on-no-quorum io-error;", RequestsWithoutQuorum::Fail),
    ];
    for (quorum, (policy, requests)) in
        asked.into_iter().flat_map(|quorum| policies.map(|policy| (quorum, policy)))
    {
        for fences in [false, true] {
            let net = if fences { fencing } else { "" };
            let sections = format!("options {{ {quorum} {policy} }} {net}");
            let mut place = Place::with_options(1, &sections);
            let reply = place.shard.status(&[], Statistics::Hidden).unwrap();
            let goes_on = match (quorum, fences) {
                ("quorum off;", false) => GoesOn::Alone,
                ("quorum off;", true) => GoesOn::Fenced,
                (_, false) => GoesOn::No,
                (_, true) => GoesOn::Proved,
            };
            let told = reply.resources[0].without_quorum;
            assert_eq!(told, Some(WithoutQuorum { requests, goes_on }), "of {sections}");
        }
    }
    let mut place = Place::with_options(1, "options { quorum off; quorum-minimum-redundancy 2; }");
    place.shard.hosted[0].as_mut().unwrap().is_primary = true;
    let reply = place.shard.status(&[], Statistics::Hidden).unwrap();
    let told = reply.resources[0].without_quorum.unwrap();
    assert_eq!(told.goes_on, GoesOn::No, "one replica is never two");
}

/// It was said to have left, and was out of reach of a node that went on alone.
#[test]
fn replica_out_of_reach_is_said_to_have_left_only_where_nobody_goes_on_alone() {
    let fencing = "net { fencing resource-only; } handlers { fence-peer x; }";
    for quorum in ["", "quorum majority;", "quorum all;", "quorum 2;", "quorum off;"] {
        for net in ["", fencing] {
            let sections = format!("options {{ {quorum} }} {net}");
            let place = Place::with_options(1, &sections);
            let definition = &place.shard.hosted[0].as_ref().unwrap().definition;
            let why = out_of_reach(&definition.demands);
            let may_be_alone = quorum == "quorum off;" || !net.is_empty();
            let expected = if may_be_alone { NoVote::OutOfReachOfOne } else { NoVote::OutOfReach };
            assert_eq!(why, expected, "with {sections}");
            let said = Reason::NoVote { peer: "bob".to_owned(), why }.to_string();
            assert_eq!(said.contains("goes on without it"), may_be_alone, "{said}");
        }
    }
}

/// It was shown that requests are held back while clients got errors.
#[test]
fn primary_without_a_quorum_holds_requests_back_only_where_the_options_say_so() {
    for (options, fails, suspended, reason) in [
        ("", false, true, None),
        ("on-no-quorum suspend-io;", false, true, None),
        // Before its lease is over nothing has failed yet.
        ("on-no-quorum io-error;", false, false, None),
        ("on-no-quorum io-error;", true, false, Some(Reason::FailForQuorum)),
        ("quorum off;", false, true, None),
        ("quorum off; on-no-quorum io-error;", false, true, None),
        ("quorum off; on-no-quorum io-error;", true, false, Some(Reason::FailForQuorum)),
    ] {
        let mut place = Place::with_options(1, &format!("options {{ {options} }}"));
        place.shard.tell_groups(HostedId(0), ToGroup::OnNoQuorum { fail: fails });
        place.shard.hosted[0].as_mut().unwrap().is_primary = true;
        let resource = place.shard.status(&[], Statistics::Hidden).unwrap().resources.remove(0);
        assert!(!resource.devices[0].quorum);
        let told = (resource.suspended, resource.suspended_quorum, resource.fails_requests);
        assert_eq!(told, (suspended, suspended, fails), "with {options}");
        let failing = resource.reasons.iter().find(|it| it.starts_with("requests of clients fail"));
        assert_eq!(failing, reason.map(|it| it.to_string()).as_ref(), "with {options}");
    }
}

fn votes() -> QuorumVotes {
    let voter = |name: &str, present| VoterStatus {
        name: name.to_owned(),
        present,
        ..VoterStatus::default()
    };
    let voters = vec![voter("alice", true), voter("bob", false), voter("carol", false)];
    QuorumVotes { have: 1, needed: 2, voters, before_change: None }
}

/// One row for each, with the situation that `reasons` says it in.
#[expect(clippy::too_many_lines, reason = "one flat list")]
fn reasons() -> Vec<(&'static str, Reason)> {
    let (resource, peer) = ("r0".to_owned(), "bob".to_owned());
    let (resource, peer) = (|| resource.clone(), || peer.clone());
    let less = |option| Some(LessWith { option, resource: resource() });
    let no_vote = |why| Reason::NoVote { peer: peer(), why };
    let barred = |why| Reason::Barred { why, resource: resource() };
    let told_by_option = "`quorum all` or a number asks for more than the majority that answers";
    vec![
        ("fewer voters answer than are needed", Reason::NoMajority { votes: votes() }),
        (told_by_option, Reason::TooFewForQuorum { votes: votes(), less: less("quorum majority") }),
        (
            "`quorum all` or a number, in the log",
            Reason::TooFewForQuorum { votes: votes(), less: None },
        ),
        (
            "`quorum-minimum-redundancy 2` with one replica in reach",
            Reason::TooFewReplicas {
                have: 1,
                needed: 2,
                less: less("quorum-minimum-redundancy 1"),
            },
        ),
        (
            "a majority answers, and the lease of this Primary is over",
            Reason::TooLate { votes: votes(), late: vec![peer()] },
        ),
        ("Primary without quorum, `on-no-quorum io-error`", Reason::FailForQuorum),
        (
            "Primary with quorum and without data, `on-no-data-accessible io-error`",
            Reason::FailForData,
        ),
        ("a loss is counted (`losses`)", barred(Loss::Counted)),
        ("this node gave way after a split brain", barred(Loss::GaveUp { peer: peer() })),
        ("the other node gave way, `losses` is 0", barred(Loss::Kept { peer: peer() })),
        (
            "a split brain ended, on a third node or after a restart, `losses` is 0",
            barred(Loss::OfAnotherLine),
        ),
        ("`suspend-io`", Reason::HeldByOperator { resource: resource() }),
        (
            "Primary with quorum and without data, `on-no-data-accessible suspend-io`",
            Reason::WaitsForData,
        ),
        ("the config register could not be written", Reason::StateDirectoryFailed),
        ("`max-parallel-resyncs`", Reason::WaitsForTurn { after: None }),
        ("`resync-after r1`", Reason::WaitsForTurn { after: Some("r1".to_owned()) }),
        ("the handler is running", Reason::WaitsForHandler),
        (
            "the disk of the last replica up to date failed",
            Reason::LastDiskFailed { resource: resource() },
        ),
        (
            "a request failed at the disk, also for want of room",
            Reason::DiskFailed { resource: resource() },
        ),
        ("no request failed at the disk", Reason::DiskOutOfUse { resource: resource() }),
        (
            "a peer that is to have a disk is connected without one",
            Reason::PeerWithoutDisk { peer: peer(), resource: resource() },
        ),
        (
            "a peer that is to have a disk is connected without one, and says which request failed",
            Reason::PeerDiskFailed {
                peer: peer(),
                request: "a write to the disk".to_owned(),
                error: "Input/output error (os error 5)".to_owned(),
                resource: resource(),
            },
        ),
        (
            "`verify` found differences at a peer",
            Reason::Differs { peer: peer(), kib: 4, resource: resource() },
        ),
        (
            "`verify` found differences at this node, which is Secondary",
            Reason::DiffersHere { kib: 4, resource: resource() },
        ),
        (
            "`verify` found differences at this node, which is Primary",
            Reason::DiffersAtPrimary { kib: 4, resource: resource() },
        ),
        (
            "`verify --repair` found differences at a peer",
            Reason::WasRepaired { peer: peer(), kib: 4 },
        ),
        (
            "`verify --repair` found differences at this node",
            Reason::WasRepaired { peer: "this node".to_owned(), kib: 4 },
        ),
        (
            "`verify` was interrupted",
            Reason::VerifyInterrupted { position: 8, volume: "r0/1".to_owned() },
        ),
        (
            "a replica without a vote that is not connected, where a quorum decides alone",
            no_vote(NoVote::OutOfReach),
        ),
        (
            "a replica without a vote that is not connected, with `quorum off` or `fencing`",
            no_vote(NoVote::OutOfReachOfOne),
        ),
        (
            "a replica without a vote that is connected, with data of some line",
            no_vote(NoVote::Left),
        ),
        ("a replica without a vote that is connected, with a new disk", no_vote(NoVote::New)),
        (
            "a replica without a vote that is connected, without a disk",
            no_vote(NoVote::WithoutDisk),
        ),
        (
            "a replica without a vote, as a node out of touch says it",
            Reason::AsKnown(Box::new(no_vote(NoVote::Left))),
        ),
        (
            "the replica of a peer is of no line of this resource",
            Reason::OtherHistory { peer: peer(), resource: resource() },
        ),
        (
            "a volume was added, and not every replica has a disk for it",
            Reason::VolumeNotInUse { volume: 1, resource: resource() },
        ),
        (
            "the disk of a replica is smaller than the volume",
            Reason::DiskTooSmall { peer: peer(), volume: 1, held: 4096, size: 8192 },
        ),
        (
            "a replica has no disk for a volume that is in use",
            Reason::NoDiskForVolume { peer: peer(), volume: 1, resource: resource() },
        ),
        ("a promotion is under way", Reason::BecomesPrimary),
        ("no replica has data, and none was the first", Reason::NoOrigin { resource: resource() }),
        ("a majority lost its votes", Reason::VotesKnowOfNoData),
    ]
}

/// `explain` promised a copy beside each of them.
#[test]
fn reasons_that_keep_a_replica_from_a_copy_are_known_as_such() {
    for (situation, reason) in reasons() {
        let is_left_alone = matches!(
            reason,
            Reason::OtherHistory { .. }
                | Reason::DiskTooSmall { .. }
                | Reason::NoDiskForVolume { .. }
        );
        let resource =
            ResourceStatus { reasons: vec![reason.to_string()], ..ResourceStatus::default() };
        assert_eq!(resource.stays_away("bob"), is_left_alone, "{situation}");
        assert!(!resource.stays_away("carol"), "{situation}");
    }
}

#[test]
fn rows_of_reasons_are_those_of_the_page() {
    let rows = reasons().into_iter().map(|(situation, reason)| {
        let variant = rows::variant_of(&reason);
        Row { variant, situation: situation.to_owned(), sentence: reason.to_string() }
    });
    let title = "What `status` says below a resource";
    rows::check(("status.md", title), rows.collect());
}
