//! Each sentence about the quorum, for each option and situation.

use api::status::{ConnectionStatus, DeviceStatus, EpochStatus, PeerDeviceStatus, VotesBefore};

use super::*;
use crate::adm::explain::rows::{self, Row};

const ROLES: [Role; 2] = [Role::Primary, Role::Secondary];
const OPTIONS: [(&str, Option<GoesOn>); 5] = [
    ("`quorum majority`, `all` or a number", Some(GoesOn::No)),
    ("`quorum off`", Some(GoesOn::Alone)),
    ("`quorum off` with `fencing`", Some(GoesOn::Fenced)),
    ("two voters with `fencing`", Some(GoesOn::Proved)),
    ("a daemon that tells no options", None),
];
const REQUESTS: [(&str, RequestsWithoutQuorum); 2] =
    [("suspend-io", RequestsWithoutQuorum::Wait), ("io-error", RequestsWithoutQuorum::Fail)];
const NAMES: [&str; 3] = ["alice", "bob", "carol"];

/// alice reaches so many of the voters, herself among them. There are three of them, or two where
/// a proof about the other one is what counts.
fn situation(role: Role, without: Option<WithoutQuorum>, have: u32) -> ResourceStatus {
    let is_of_two = without.is_some_and(|it| it.goes_on == GoesOn::Proved);
    let names = &NAMES[..if is_of_two { 2 } else { 3 }];
    let voters = (0u8..).zip(names).map(|(node_id, name)| VoterStatus {
        node_id,
        name: (*name).to_owned(),
        present: u32::from(node_id) < have,
        ..VoterStatus::default()
    });
    let disk_state = if have > 1 { DiskState::UpToDate } else { DiskState::Consistent };
    let peer = |name: &&str| ConnectionStatus {
        name: (*name).to_owned(),
        reason: Some("no route".to_owned()),
        peer_devices: vec![PeerDeviceStatus::default()],
        ..ConnectionStatus::default()
    };
    let voters = voters.collect();
    ResourceStatus {
        role,
        without_quorum: without,
        devices: vec![DeviceStatus { disk_state, quorum: have > 1, ..DeviceStatus::default() }],
        connections: names[1..].iter().map(peer).collect(),
        quorum_votes: Some(QuorumVotes { have, needed: 2, voters, before_change: None }),
        ..ResourceStatus::default()
    }
}

fn row(situation: impl Into<String>, sentence: &Sentence) -> Row {
    let variant = rows::variant_of(sentence);
    Row { variant, situation: situation.into(), sentence: sentence.to_string() }
}

/// A row for each combination of options and role.
fn rows_of_options() -> Vec<Row> {
    let mut rows = Vec::new();
    for role in ROLES {
        for (asked, goes_on) in OPTIONS {
            for (on_no_quorum, requests) in REQUESTS {
                for (have, is_in_touch) in [(3, true), (2, true), (1, true), (1, false)] {
                    let without = goes_on.map(|goes_on| WithoutQuorum { requests, goes_on });
                    let mut resource = situation(role, without, have);
                    let all = resource.connections.len() + 1;
                    if have == 3 && all == 2 {
                        continue;
                    }
                    let age_ms = (!is_in_touch).then_some(1000);
                    resource.epoch = Some(EpochStatus { age_ms, ..EpochStatus::default() });
                    let sentences = quorum(&resource).into_iter();
                    let decided = sentences.filter(|it| {
                        matches!(it, Sentence::NoneToLose(_) | Sentence::WayOn { .. })
                    });
                    let decided: Vec<_> = decided.collect();
                    assert_eq!(decided.len(), usize::from(have < 3), "of {have}");
                    let touch = if is_in_touch { "" } else { ", out of touch" };
                    let answer = format!("{have} of {all} answer{touch}");
                    let situation =
                        format!("{role}, {asked}, `on-no-quorum {on_no_quorum}`, {answer}");
                    rows.extend(decided.iter().map(|it| row(situation.clone(), it)));
                }
            }
        }
    }
    rows
}

#[test]
fn rows_of_the_quorum_are_those_of_the_page() {
    let mut rows = rows_of_options();
    let alone = WithoutQuorum { requests: RequestsWithoutQuorum::Wait, goes_on: GoesOn::Alone };
    let mut resource = situation(Role::Primary, Some(alone), 2);
    for sentence in quorum(&resource) {
        rows.push(row("2 of 3 voters answer", &sentence));
    }
    resource.devices[0].disk_state = DiskState::Inconsistent;
    let told = quorum(&resource).into_iter().filter(|it| matches!(it, Sentence::NoneToLose(_)));
    let text = "Primary, `quorum off`, `on-no-quorum suspend-io`, 2 of 3, no replica with every \
                write here";
    rows.extend(told.map(|it| row(text, &it)));
    let votes = resource.quorum_votes.as_mut().unwrap();
    votes.voters.truncate(1);
    (votes.have, votes.needed) = (1, 1);
    let told = quorum(&resource).into_iter();
    let told = told.filter(|it| *it == Sentence::AloneByOwnVote);
    rows.extend(told.map(|it| row("Primary, `quorum off`, the only voter, with a peer", &it)));

    let mut resource = situation(Role::Secondary, Some(alone), 2);
    let votes = resource.quorum_votes.as_mut().unwrap();
    votes.voters[2].joining = true;
    votes.before_change = Some(VotesBefore { have: 2, needed: 2 });
    let told = quorum(&resource).into_iter();
    let told = told.filter(|it| matches!(it, Sentence::VotesBefore { .. }));
    rows.extend(told.map(|it| row("while the voters change", &it)));
    resource.quorum_votes = None;
    rows.extend(quorum(&resource).iter().map(|it| row("no votes in the answer", it)));

    let mut resource = situation(Role::Primary, Some(alone), 2);
    resource.devices[0].quorum = false;
    resource.reasons = vec![
        "no quorum: 1 replica in reach is up to date, and \
                             `quorum-minimum-redundancy` asks for 2"
            .to_owned(),
    ];
    let told = quorum(&resource).into_iter().filter(|it| matches!(it, Sentence::Told(_)));
    rows.extend(told.map(|it| row("an option asks for more than a majority", &it)));
    let when = Sentence::KnownAsOf("2026-01-31T12:00:00Z".to_owned());
    rows.push(row("out of touch", &when));
    rows::check(("explain-quorum.md", "What `explain` says of the quorum"), rows);
}

/// Writes were said to be held, and the node went on alone, or its clients got errors.
#[test]
fn next_loss_is_told_as_the_options_make_it() {
    let after = |goes_on, requests| {
        let resource = situation(Role::Primary, Some(WithoutQuorum { requests, goes_on }), 2);
        quorum(&resource).last().unwrap().to_string()
    };
    use RequestsWithoutQuorum::{Fail, Wait};
    assert!(after(GoesOn::No, Wait).ends_with("one more, and writes are held"));
    assert!(after(GoesOn::No, Fail).contains("one more, and requests of clients fail"));
    for requests in [Wait, Fail] {
        let said = after(GoesOn::Alone, requests);
        assert!(said.contains("goes on alone") && said.contains("split brain"), "{said}");
    }
    assert!(after(GoesOn::Fenced, Fail).contains("fail until `fence-peer`"));
    assert!(after(GoesOn::Proved, Wait).contains("held until `fence-peer`"));
}

/// The reason was told once here, and once with the peers.
#[test]
fn missing_vote_points_to_the_peer_that_has_the_reason() {
    let said = quorum(&situation(Role::Primary, None, 1))[1].to_string();
    let states = "bob is StandAlone (see peers), carol is StandAlone (see peers)";
    assert_eq!(said, format!("no vote from bob and carol: {states}"));
}
