//! Each sentence about the role, for each situation.

use api::status::{DeviceStatus, EpochStatus, GoesOn, PeerDeviceStatus, WithoutQuorum};

use super::*;
use crate::adm::explain::rows::{self, Row};

/// Where carol is, whom the newest configuration may name as Primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carol {
    NotNamed,
    Away,
    PrimaryInReach,
}

const CAROLS: [(&str, Carol); 3] = [
    ("carol is not named Primary", Carol::NotNamed),
    ("carol is named Primary and away", Carol::Away),
    ("carol is Primary in reach", Carol::PrimaryInReach),
];

fn peer(name: &str, state: DiskState, connection_state: ConnectionState) -> ConnectionStatus {
    let device = PeerDeviceStatus { peer_disk_state: state, ..PeerDeviceStatus::default() };
    ConnectionStatus {
        name: name.to_owned(),
        connection_state,
        peer_devices: vec![device],
        ..ConnectionStatus::default()
    }
}

/// alice, with bob in reach.
fn situation(role: Role, carol: Carol, bob: DiskState) -> ResourceStatus {
    let mut away = peer("carol", DiskState::DUnknown, ConnectionState::Connecting);
    if carol == Carol::PrimaryInReach {
        (away.peer_role, away.connection_state) = (Role::Primary, ConnectionState::Connected);
    }
    let primary = (carol != Carol::NotNamed).then(|| "carol".to_owned());
    ResourceStatus {
        role,
        devices: vec![DeviceStatus { quorum: true, ..DeviceStatus::default() }],
        connections: vec![peer("bob", bob, ConnectionState::Connected), away],
        epoch: Some(EpochStatus { primary, ..EpochStatus::default() }),
        ..ResourceStatus::default()
    }
}

fn row(situation: &str, sentence: &Sentence) -> Row {
    // The time is that of the test.
    let text = match sentence {
        Sentence::PrimaryAsOf { when }
        | Sentence::SecondaryAsOf { when, .. }
        | Sentence::NobodyAsOf { when } => sentence.to_string().replace(when, "TIME"),
        Sentence::Primary
        | Sentence::Secondary { .. }
        | Sentence::PrimaryAway { .. }
        | Sentence::ThisOneMay
        | Sentence::NobodyMay
        | Sentence::NobodyInReach
        | Sentence::Held { .. }
        | Sentence::HeldUnlessTakenOver { .. }
        | Sentence::HeldUntilDecided { .. }
        | Sentence::Told(_)
        | Sentence::FailUntilClosed => sentence.to_string(),
    };
    let variant = rows::variant_of(sentence);
    Row { variant, situation: situation.to_owned(), sentence: text }
}

fn rows_of_roles() -> Vec<Row> {
    let mut rows = Vec::new();
    for (place, carol) in CAROLS {
        for role in [Role::Primary, Role::Secondary] {
            if role == Role::Primary && carol != Carol::NotNamed {
                continue;
            }
            for (may, may_promote) in [("may be promoted", true), ("may not be promoted", false)] {
                for bob in [DiskState::UpToDate, DiskState::Inconsistent] {
                    let mut resource = situation(role, carol, bob);
                    resource.may_promote = may_promote;
                    let role_of = format!("{role}, {place}");
                    let here = format!("{role_of}, this node {may}, bob is {bob}");
                    rows.push(row(&here, &roles(&resource)));
                    if carol != Carol::PrimaryInReach {
                        resource.epoch.as_mut().unwrap().age_ms = Some(1000);
                        rows.push(row(&format!("{role_of}, out of touch"), &roles(&resource)));
                    }
                }
            }
        }
    }
    rows
}

/// Requests of a Primary that is to hold them back for this.
fn suspended(requests: RequestsWithoutQuorum, age_ms: Option<u64>) -> ResourceStatus {
    let mut resource = situation(Role::Primary, Carol::NotNamed, DiskState::UpToDate);
    (resource.suspended, resource.suspended_quorum) = (true, true);
    resource.without_quorum = Some(WithoutQuorum { requests, goes_on: GoesOn::Alone });
    resource.epoch.as_mut().unwrap().age_ms = age_ms;
    resource
}

#[test]
fn rows_of_the_role_are_those_of_the_page() {
    let mut rows = rows_of_roles();
    let mut nobody = situation(Role::Secondary, Carol::NotNamed, DiskState::DUnknown);
    nobody.epoch = None;
    nobody.devices[0].quorum = false;
    rows.push(row("Secondary, nothing was heard of anybody yet", &roles(&nobody)));
    let wait = RequestsWithoutQuorum::Wait;
    for (place, resource) in [
        ("suspended, `on-no-quorum suspend-io`", suspended(wait, None)),
        ("suspended, `on-no-quorum suspend-io`, out of touch", suspended(wait, Some(1000))),
        (
            "suspended with `on-no-quorum io-error`, where the node may go on alone",
            suspended(RequestsWithoutQuorum::Fail, None),
        ),
    ] {
        rows.push(row(place, &held(&resource)));
    }
    let mut failing = situation(Role::Primary, Carol::NotNamed, DiskState::UpToDate);
    failing.reasons = vec![
        "requests of clients fail until there is a quorum (`on-no-quorum io-error`)".to_owned(),
    ];
    failing.force_io_failures = true;
    let told = role(&failing);
    rows.push(row("the daemon tells that requests fail", &told[1]));
    rows.push(row("`force-io-failures`", &told[2]));
    rows::check(("explain-role.md", "What `explain` says of the role"), rows);
}

/// It was said that none could be promoted, and a peer that is up to date could.
#[test]
fn peer_that_may_take_the_place_of_a_primary_is_named() {
    let resource = situation(Role::Secondary, Carol::Away, DiskState::UpToDate);
    assert!(roles(&resource).to_string().contains("if it ended, bob may become Primary"));
    let resource = situation(Role::Secondary, Carol::Away, DiskState::Inconsistent);
    assert!(roles(&resource).to_string().contains("none could be promoted"));
}
