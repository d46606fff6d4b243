//! `explain`: the sentences for the situations that an operator meets.

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::latency::LatencyHistogram;
use api::replication_state::ReplicationState;
use api::response::{Reply, Response};
use api::role::Role;
use api::status::{
    DiskFailure, EpochStatus, GoesOn, Holder, LostAgainStatus, NodeStatus, PathStatus, QuorumVotes,
    RequestsWithoutQuorum, ResourceStatus, StatusReply, SyncDetails, VoterStatus, VotesBefore,
    WithoutQuorum,
};

use crate::fake_node::Place;
use crate::resource;

fn explained(resource: ResourceStatus) -> String {
    let reply = StatusReply { node: NodeStatus::default(), resources: vec![resource] };
    let run = Place::new().run(&["explain", "r0"], vec![Response::Ok(Reply::Status(reply))]);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""));
    run.stdout
}

/// alice is Primary, bob in sync, carol away.
fn one_away() -> ResourceStatus {
    let mut resource = resource("r0");
    resource.devices[0].backing_dev = Some("/dev/vg/lv".to_owned());
    resource.connections[1].reason = Some("cannot connect: Connection refused".to_owned());
    let voter = |node_id, name: &str, present| VoterStatus {
        node_id,
        name: name.to_owned(),
        present,
        ..Default::default()
    };
    resource.quorum_votes = Some(QuorumVotes {
        have: 2,
        needed: 2,
        voters: vec![voter(0, "alice", true), voter(1, "bob", true), voter(2, "carol", false)],
        before_change: None,
    });
    let (requests, goes_on) = (RequestsWithoutQuorum::Wait, GoesOn::No);
    resource.without_quorum = Some(WithoutQuorum { requests, goes_on });
    let insync = vec!["alice".to_owned(), "bob".to_owned()];
    resource.epoch = Some(EpochStatus { epoch: 4, insync, ..EpochStatus::default() });
    resource
}

/// The node names the time that its knowledge of the others is of.
#[test]
fn a_node_that_reaches_no_quorum_says_since_when() {
    let mut resource = one_away();
    let epoch = resource.epoch.as_mut().unwrap();
    epoch.age_ms = Some(90_000);
    let text = explained(resource);
    let line = text.lines().find(|line| line.contains("every acknowledged write")).unwrap();
    assert!(line.contains(" as of 20") && line.contains("Z every"), "{line}");
    assert!(line.contains("was on alice and bob; since then neither a quorum"), "{line}");
}

/// By what is said of others, and of the others' sight of this node, where this node sees neither.
const TRUE_ONLY_IN_TOUCH: [&str; 13] = [
    "no node is Primary",
    "bob is Primary",
    "carol is Primary",
    "clients write here",
    "one may become it",
    "every acknowledged write is on",
    "one more, and writes are held",
    "held writes then go on by themselves\n",
    "what it misses is copied",
    "it has what volume 0 here misses",
    "the Primary, to begin its copy",
    "misses data;",
    "writes go on without it",
];

/// Every sentence is of what this node sees, or says of when it is.
#[test]
fn nothing_is_said_as_if_it_were_so_by_a_node_that_is_out_of_touch() {
    let disk_states = [DiskState::Consistent, DiskState::Outdated, DiskState::Inconsistent];
    let named = [None, Some("alice"), Some("bob"), Some("carol")];
    let roles = [Role::Primary, Role::Secondary];
    let peer_states =
        [DiskState::Consistent, DiskState::Inconsistent, DiskState::Diskless, DiskState::DUnknown];
    let mut seen = 0;
    for disk_state in disk_states {
        for (role, primary) in roles.into_iter().flat_map(|role| named.map(|name| (role, name))) {
            for peer_state in peer_states {
                let mut resource = out_of_touch();
                resource.role = role;
                resource.devices[0].disk_state = disk_state;
                resource.suspended = role == Role::Primary;
                resource.suspended_quorum = resource.suspended;
                resource.epoch.as_mut().unwrap().primary = primary.map(str::to_owned);
                let bob = &mut resource.connections[0];
                bob.peer_devices[0].peer_disk_state = peer_state;
                if peer_state == DiskState::DUnknown {
                    bob.connection_state = ConnectionState::Connecting;
                    bob.peer_role = Role::Unknown;
                } else if primary == Some("bob") {
                    bob.peer_role = Role::Primary;
                }
                let text = explained(resource);
                for claim in TRUE_ONLY_IN_TOUCH {
                    assert!(!text.contains(claim), "{claim} is said in\n{text}");
                }
                let role = text.lines().nth(1).unwrap();
                assert!(role.contains("as of 20"), "{text}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 3 * 2 * 4 * 4);
}

/// alice, whose two peers have a quorum without her.
fn out_of_touch() -> ResourceStatus {
    let mut resource = one_away();
    resource.role = Role::Secondary;
    resource.devices[0].quorum = false;
    let epoch = resource.epoch.as_mut().unwrap();
    epoch.age_ms = Some(90_000);
    let votes = resource.quorum_votes.as_mut().unwrap();
    votes.have = 1;
    votes.voters[1].present = false;
    resource
}

/// The newest configuration means the disk that bob had before.
#[test]
fn replica_that_was_made_anew_is_not_said_to_have_every_write() {
    let anew = "the disk of bob that had every acknowledged write is in use no more";
    for (state, is_anew) in [
        (DiskState::UpToDate, false),
        (DiskState::Consistent, false),
        (DiskState::Inconsistent, true),
        (DiskState::Diskless, true),
        (DiskState::DUnknown, false),
    ] {
        let mut resource = one_away();
        resource.connections[0].peer_devices[0].peer_disk_state = state;
        let text = explained(resource);
        assert_eq!(text.contains("every acknowledged write is on alice and bob\n"), !is_anew);
        assert_eq!(text.contains("every acknowledged write is on alice\n"), is_anew, "{text}");
        assert_eq!(text.contains(anew), is_anew, "{text}");
    }
    let mut resource = one_away();
    resource.devices[0].disk_state = DiskState::Inconsistent;
    resource.connections[0].peer_devices[0].peer_disk_state = DiskState::Inconsistent;
    let text = explained(resource);
    assert!(!text.contains("every acknowledged write is on"), "{text}");
    assert!(text.contains("the disk of alice and bob that had"), "{text}");
}

/// It was said that no node is Primary, and advised to promote one.
#[test]
fn primary_that_is_out_of_reach_is_named() {
    let role = |resource: &ResourceStatus| -> String {
        explained(resource.clone()).lines().nth(1).unwrap().trim().to_owned()
    };
    let mut resource = one_away();
    resource.role = Role::Secondary;
    resource.devices[0].disk_state = DiskState::Outdated;
    resource.epoch.as_mut().unwrap().primary = Some("carol".to_owned());
    assert_eq!(
        role(&resource),
        "role:    this node is Secondary; carol is Primary by the newest that is known here, and \
         is out of reach of this node; if it ended, bob may become Primary, which is up to date: \
         there by a client or by `basalt adm primary`"
    );
    let text = explained(resource.clone());
    assert!(text.contains("one more, and this node lacks quorum"), "{text}");
    assert!(!text.contains("and writes are held"), "{text}");
    resource.may_promote = true;
    assert_eq!(
        role(&resource),
        "role:    this node is Secondary; carol is Primary by the newest that is known here, and \
         is out of reach of this node; if it ended, another one may become Primary, by a client \
         or by `basalt adm primary`"
    );
    // A node that was Primary itself, and was started again.
    resource.epoch.as_mut().unwrap().primary = Some("alice".to_owned());
    assert_eq!(
        role(&resource),
        "role:    no node is Primary; this one may become it, by a client or by `basalt adm \
         primary`"
    );
    // Nothing was heard of anybody yet.
    resource.may_promote = false;
    resource.devices[0].quorum = false;
    resource.epoch = None;
    assert_eq!(
        role(&resource),
        "role:    this node is Secondary; no node in its reach is Primary, and what the others \
         do is not known here"
    );
    let mut resource = out_of_touch();
    resource.epoch.as_mut().unwrap().primary = Some("carol".to_owned());
    let said = role(&resource);
    assert!(said.contains("this node is Secondary; as of 20"), "{said}");
    let now = "Z carol was Primary; it, or another node, may serve clients now, out of reach of \
               this one";
    assert!(said.ends_with(now), "{said}");
    resource.epoch.as_mut().unwrap().primary = None;
    let said = role(&resource);
    let now = "Z no other node was Primary; one may serve clients now, out of reach of this one";
    assert!(said.ends_with(now), "{said}");
    resource.role = Role::Primary;
    let said = role(&resource);
    assert!(said.contains("this node is Primary as of 20"), "{said}");
    assert!(said.ends_with("Z; another one may have taken over since, out of reach"), "{said}");
}

/// Why a disk is out of use was in the log alone.
#[test]
fn a_disk_that_failed_is_explained() {
    let mut resource = one_away();
    let device = &mut resource.devices[0];
    device.disk_failure = Some(DiskFailure {
        disk: "/dev/vg/lv".to_owned(),
        request: "a write to the disk".to_owned(),
        error: "No space left on device (os error 28)".to_owned(),
        hint: "make room".to_owned(),
        age_ms: 90_000,
    });
    for (state, words) in [
        (DiskState::Failed, "volume 0 here: /dev/vg/lv is going out of use: a write to the disk"),
        (DiskState::Diskless, "volume 0 here: /dev/vg/lv is out of use: a write to the disk"),
    ] {
        resource.devices[0].disk_state = state;
        let text = explained(resource.clone());
        let line =
            text.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{text}"));
        assert!(line.contains(" failed at 20"), "{line}");
        let end = "Z (/dev/vg/lv): No space left on device (os error 28); make room";
        assert!(line.ends_with(end), "{line}");
    }
}

#[test]
fn a_missing_node_is_explained() {
    let mut resource = one_away();
    resource.devices[0].open = true;
    let command = Some("qemu-kvm".to_owned());
    resource.devices[0].holders = vec![
        Holder { pid: Some(7), command, requests: 1, ..Holder::default() },
        Holder { address: Some("10.0.0.9:5000".to_owned()), ..Holder::default() },
    ];
    resource.not_in_effect = vec![
        "r0.res:2:9: `max-buffers 8000` changes nothing: buffers are a bounded pool".to_owned(),
    ];
    let timed = |sum_us| Some(LatencyHistogram { counts: vec![4], sum_us, ..Default::default() });
    resource.connections[0].peer_devices[0].ack_latency = timed(1000);
    resource.connections[1].peer_devices[0].ack_latency = timed(2000);
    assert_eq!(
        explained(resource),
        "\
r0
  role:    this node is Primary: clients write here
  quorum:  it has quorum: 2 of 3 voters answer, 2 are needed; here are (alice and bob)
           no vote from carol: carol is Connecting (see peers)
           none may be lost on top of this: one more, and writes are held
  data:    volume 0 here: /dev/vg/lv is up to date
           every acknowledged write is on alice and bob
  resync:  carol is not connected: what it misses is copied when it comes back
  peers:   carol is Connecting: cannot connect: Connection refused
           bob acknowledges slowest, after 250 us on average
  open:    volume 0: qemu-kvm (process 7), 1 request in flight
           volume 0: a client at 10.0.0.9:5000, idle
  options: r0.res:2:9: `max-buffers 8000` changes nothing: buffers are a bounded pool

"
    );
}

/// Its connection works again each time, and says nothing.
#[test]
fn who_rests_is_named_with_the_likely_cause() {
    let mut resource = one_away();
    let bob = &mut resource.connections[0];
    bob.connection_state = ConnectionState::Connected;
    bob.lost_again = Some(LostAgainStatus { losses: 3, rest_ms: 11_200 });
    bob.peer_devices[0].peer_disk_state = DiskState::Inconsistent;
    let remote = "10.0.0.2:7789".parse::<std::net::SocketAddr>().unwrap();
    bob.paths =
        vec![PathStatus { remote_host: remote.into(), established: true, ..PathStatus::default() }];
    let text = explained(resource);
    for sentence in [
        "bob misses data, and rests before it is copied: see peers",
        "bob rests for 12 s, and writes go on without it: 3 times in a row its connection broke",
        "loses large packets (MTU): see whether `ping -M do -s 1472 10.0.0.2` is answered",
        "`basalt adm disconnect r0:bob`, then `connect`, ends the rest",
    ] {
        assert!(text.contains(sentence), "{sentence} is missing in\n{text}");
    }
}

#[test]
fn lost_quorum_names_who_is_missing_and_what_to_do() {
    let mut resource = one_away();
    resource.suspended = true;
    resource.suspended_quorum = true;
    resource.devices[0].quorum = false;
    resource.devices[0].disk_state = DiskState::Consistent;
    let bob = &mut resource.connections[0];
    bob.connection_state = ConnectionState::StandAlone;
    bob.reason = Some("disconnected by the operator".to_owned());
    let votes = resource.quorum_votes.as_mut().unwrap();
    votes.have = 1;
    votes.voters[1].present = false;
    let text = explained(resource);
    for sentence in [
        "requests of clients are held back (quorum); they are not lost",
        "it lacks quorum: 1 of 3 voters answer, 2 are needed; here is one (alice)",
        "no vote from bob and carol: bob is StandAlone (see peers), carol is Connecting (see \
         peers)",
        "to go on, bring one of them back; held writes then go on by themselves",
        "/dev/vg/lv is whole; whether it is the newest is for a quorum to say",
        "bob is StandAlone (disconnected by the operator): this node connects to it once you type \
         `basalt adm connect r0:bob`",
        "no client of this node has it open",
        "all that are set are in effect",
    ] {
        assert!(text.contains(sentence), "{sentence} is missing in\n{text}");
    }
}

/// It was told to bring one of them back, and there was nobody whom it missed.
#[test]
fn option_that_holds_requests_of_a_primary_alone_is_named() {
    let mut resource = one_away();
    resource.suspended = true;
    resource.suspended_quorum = true;
    resource.devices[0].quorum = false;
    let votes = resource.quorum_votes.as_mut().unwrap();
    votes.voters.truncate(1);
    votes.have = 1;
    let told = "1 of 1 voters answer, 2 are needed, as `quorum` asks for; to go on with fewer: \
                `quorum majority` in the configuration of this node, then `basalt adm adjust r0`";
    resource.reasons = vec![format!("no quorum: {told}")];
    let text = explained(resource.clone());
    assert!(text.contains(told), "{text}");
    assert!(!text.contains("to go on, bring"), "{text}");
    // While others are missed, they are to be brought back.
    let votes = resource.quorum_votes.as_mut().unwrap();
    votes.voters = one_away().quorum_votes.unwrap().voters;
    (votes.have, votes.needed) = (2, 3);
    let text = explained(resource);
    assert!(text.contains(told) && text.contains("to go on, bring one of them back"), "{text}");
}

/// Of the three voters two answer, and of the two of before the change one.
#[test]
fn who_is_needed_while_the_voters_change_is_named() {
    let mut resource = one_away();
    resource.devices[0].quorum = false;
    let votes = resource.quorum_votes.as_mut().unwrap();
    votes.voters[1].joining = true;
    votes.before_change = Some(VotesBefore { have: 1, needed: 2 });
    let told = "2 of 3 voters answer, 2 are needed (missing: carol); the voters change, and of the \
                2 before 1 answer, 2 are needed (missing: carol)";
    assert_eq!(votes.to_string(), told);
    let text = explained(resource.clone());
    for sentence in [
        "it lacks quorum: 2 of 3 voters answer, 2 are needed; here are (alice and bob)",
        "the voters change, and until then those before decide as well: 1 of 2 answer, 2 are \
         needed (alice)",
        "no vote from carol: carol is Connecting (see peers)",
        "to go on, bring carol (who voted before) back; held writes then go on by themselves",
    ] {
        assert!(text.contains(sentence), "{sentence} is missing in\n{text}");
    }
    let mut alone = resource.clone();
    let votes = alone.quorum_votes.as_mut().unwrap();
    votes.have = 1;
    votes.voters[1].present = false;
    let text = explained(alone);
    assert!(
        text.contains("bring one of bob and carol, and carol (who voted before) back"),
        "{text}"
    );
    resource.devices[0].quorum = true;
    let votes = resource.quorum_votes.as_mut().unwrap();
    votes.before_change = Some(VotesBefore { have: 2, needed: 2 });
    votes.have = 3;
    let text = explained(resource);
    assert!(text.contains("none may be lost on top of this"), "{text}");
}

#[test]
fn resyncs_say_how_far_they_are_or_what_they_wait_for() {
    let mut resource = resource("r0");
    let path = PathStatus::default();
    resource.connections[0].paths = vec![path];
    let bob = &mut resource.connections[0].peer_devices[0];
    bob.replication_state = ReplicationState::SyncSource;
    bob.peer_disk_state = DiskState::Inconsistent;
    bob.out_of_sync = 2048;
    let sync = SyncDetails { estimated_seconds_to_finish: 13, ..SyncDetails::default() };
    *bob = bob.clone().with_sync(sync);
    let text = explained(resource.clone());
    assert!(
        text.contains("copied to bob: 2 MiB are left, about 13 s at the present rate"),
        "{text}"
    );
    assert!(text.contains("the path from :0 to bob at :0 is down"), "{text}");

    resource.role = Role::Secondary;
    let bob = &mut resource.connections[0].peer_devices[0];
    bob.replication_state = ReplicationState::Established;
    bob.sync = None;
    let text = explained(resource.clone());
    assert!(text.contains("bob misses data; a Primary copies it"), "{text}");

    resource.devices[0].disk_state = DiskState::Inconsistent;
    resource.connections[0].peer_role = Role::Primary;
    let text = explained(resource);
    assert!(text.contains("volume 0 here waits for bob, the Primary, to begin its copy"), "{text}");
    assert!(text.contains("this node is Secondary; bob is Primary"), "{text}");
}

#[test]
fn a_resource_that_is_held_down_says_why() {
    let reasons = vec!["it stays down: no such disk".to_owned()];
    let text = explained(ResourceStatus { name: "r0".to_owned(), reasons, ..Default::default() });
    assert!(text.contains("  state:   it stays down: no such disk\n"), "{text}");
}

#[test]
fn a_follower_that_fell_behind_is_explained_at_both_ends() {
    for (state, sentence) in [
        (ReplicationState::Ahead, "bob fell behind, and writes go on without it (protocol A)"),
        (ReplicationState::Behind, "volume 0 here fell behind bob, which goes on without it"),
    ] {
        let mut resource = resource("r0");
        resource.connections[0].peer_devices[0].replication_state = state;
        let text = explained(resource);
        assert!(text.contains(sentence), "{sentence} is missing in\n{text}");
    }
}

/// That nothing waits to be copied would contradict that writes are missing here.
#[test]
fn a_node_that_misses_data_says_who_brings_it() {
    let mut resource = one_away();
    resource.devices[0].disk_state = DiskState::Inconsistent;
    let told = explained(resource.clone());
    assert!(told.contains("volume 0 here is brought up to date from the other replicas"), "{told}");
    resource.connections[0].peer_devices[0].replication_state = ReplicationState::SyncTarget;
    let told = explained(resource.clone());
    assert!(told.contains("resync:  volume 0 is being copied here from bob\n"), "{told}");
    assert!(!told.contains("brought up to date from"), "{told}");
    resource.connections[0].peer_devices[0].replication_state = ReplicationState::VerifyS;
    let told = explained(resource.clone());
    assert!(told.contains("resync:  volume 0 is being compared with bob, not copied\n"), "{told}");
    resource.connections[0].connection_state = ConnectionState::Connecting;
    resource.connections[0].peer_devices[0].replication_state = ReplicationState::Off;
    let told = explained(resource.clone());
    assert!(told.contains("bob is not connected: it has what volume 0 here misses\n"), "{told}");
    resource.connections[0].connection_state = ConnectionState::Connected;
    resource.connections[0].peer_devices[0].replication_state = ReplicationState::Established;
    resource.role = Role::Secondary;
    resource.devices[0].disk_state = DiskState::Outdated;
    let told = explained(resource);
    assert!(told.contains("volume 0 here misses data: a Primary copies it, or"), "{told}");
    assert!(!told.contains("nothing waits to be"), "{told}");
}

/// A path told the reason of its connection once more, and neither said since when.
#[test]
fn reason_of_a_lost_peer_is_told_once_with_its_time() {
    let mut resource = one_away();
    let reason = "no sign of life for 1200 ms";
    let carol = &mut resource.connections[1];
    carol.reason = Some(reason.to_owned());
    carol.down_ms = Some(90_000);
    let path = PathStatus {
        down_ms: Some(90_000),
        reason: Some(reason.to_owned()),
        ..PathStatus::default()
    };
    carol.paths = vec![path.clone()];
    let text = explained(resource.clone());
    let peers: Vec<&str> = text.lines().skip_while(|line| !line.contains("peers:")).collect();
    let line = peers[0];
    assert!(line.contains("carol is Connecting, since 20"), "{line}");
    assert!(line.ends_with(&format!("Z: {reason}")), "{line}");
    assert!(!text.contains("the path from"), "{text}");
    // Of several paths each may have a reason of its own.
    resource.connections[1].paths.push(path);
    assert_eq!(explained(resource).matches("the path from").count(), 2);
}

/// It was said of all writes, beside a node whose writes were given up, or are to be.
#[test]
fn writes_of_one_side_are_not_said_to_be_all() {
    let mut resource = one_away();
    resource.connections[1].split_brain = true;
    let one_side = "every write that was acknowledged on this side is on alice and bob";
    let text = explained(resource.clone());
    assert!(text.contains(one_side) && !text.contains("every acknowledged write is"), "{text}");
    // Nothing is copied to the other side.
    assert!(!text.contains("is copied when it comes back"), "{text}");
    assert!(text.contains("between this node and carol until one of them gives"), "{text}");
    resource.connections[1].split_brain = false;
    // A node that gave way has what the other side acknowledged, and not what it did itself.
    for (awaits_reopen, losses) in [(true, 0), (false, 1), (true, 1)] {
        let epoch = resource.epoch.as_mut().unwrap();
        (epoch.awaits_reopen, epoch.losses) = (awaits_reopen, losses);
        let text = explained(resource.clone());
        let told = "is on alice and bob, but for those that are told lost or given up below";
        assert!(text.contains(told) && !text.contains("on this side"), "{text}");
    }
}

/// It was to be copied, and goes on alone as well with `quorum off`.
#[test]
fn copy_is_promised_only_where_the_other_node_cannot_have_gone_on() {
    let mut resource = one_away();
    for (goes_on, is_sure) in
        [(GoesOn::No, true), (GoesOn::Alone, false), (GoesOn::Fenced, true), (GoesOn::Proved, true)]
    {
        let requests = RequestsWithoutQuorum::Wait;
        resource.without_quorum = Some(WithoutQuorum { requests, goes_on });
        let text = explained(resource.clone());
        assert_eq!(text.contains("is copied when it comes back\n"), is_sure, "{text}");
        assert_eq!(text.contains("unless it went on by itself"), !is_sure, "{text}");
    }
    // Connected, and kept from a copy.
    resource.connections[0].peer_devices[0].peer_disk_state = DiskState::Inconsistent;
    for (reason, is_left_alone) in [
        ("the replica of bob stays away: it has no disk for volume 1", true),
        ("the data of bob has another history than that of the others", true),
        ("bob has no vote: its replica is new", false),
    ] {
        resource.reasons = vec![reason.to_owned()];
        let text = explained(resource.clone());
        assert_eq!(text.contains("begins to copy it when bob asks"), !is_left_alone, "{text}");
        assert_eq!(text.contains("bob misses data, and nobody copies it"), is_left_alone, "{text}");
    }
}
