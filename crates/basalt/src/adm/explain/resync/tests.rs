//! Each sentence about copies, for each situation.

use api::status::{
    DeviceStatus, EpochStatus, LostAgainStatus, RequestsWithoutQuorum, SyncDetails, WithoutQuorum,
};

use super::*;
use crate::adm::explain::rows::{self, Row};

/// Where bob is, as alice sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bob {
    Connected(DiskState),
    Away,
    Parted,
}

const BOBS: [(&str, Bob); 4] = [
    ("bob is UpToDate", Bob::Connected(DiskState::UpToDate)),
    ("bob is Inconsistent", Bob::Connected(DiskState::Inconsistent)),
    ("bob is away", Bob::Away),
    ("bob is in a split brain with it", Bob::Parted),
];

fn situation(role: Role, own: DiskState, bob: Bob) -> ResourceStatus {
    let (connection_state, peer_disk_state) = match bob {
        Bob::Connected(state) => (ConnectionState::Connected, state),
        Bob::Away => (ConnectionState::Connecting, DiskState::DUnknown),
        Bob::Parted => (ConnectionState::StandAlone, DiskState::DUnknown),
    };
    let device = PeerDeviceStatus { peer_disk_state, ..PeerDeviceStatus::default() };
    let connection = ConnectionStatus {
        name: "bob".to_owned(),
        connection_state,
        split_brain: bob == Bob::Parted,
        peer_devices: vec![device],
        ..ConnectionStatus::default()
    };
    let has_all = if own == DiskState::UpToDate { "alice" } else { "bob" };
    let insync = vec![has_all.to_owned()];
    ResourceStatus {
        role,
        devices: vec![DeviceStatus { disk_state: own, ..DeviceStatus::default() }],
        connections: vec![connection],
        epoch: Some(EpochStatus { insync, ..EpochStatus::default() }),
        ..ResourceStatus::default()
    }
}

fn row(situation: impl Into<String>, sentence: &Sentence) -> Row {
    // The time is that of the test.
    let text = if let Sentence::AwayWithDataAsOf { when, .. } | Sentence::MissedAsOf { when, .. } =
        sentence
    {
        sentence.to_string().replace(when, "TIME")
    } else {
        sentence.to_string()
    };
    let variant = rows::variant_of(sentence);
    Row { variant, situation: situation.into(), sentence: text }
}

/// By the roles, the disks, and what this node knows.
fn rows_of_waits() -> Vec<Row> {
    let mut rows = Vec::new();
    for role in [Role::Primary, Role::Secondary] {
        for own in [DiskState::UpToDate, DiskState::Outdated] {
            for (place, bob) in BOBS {
                for (touch, age_ms) in [("", None), (", out of touch", Some(1000))] {
                    let mut resource = situation(role, own, bob);
                    resource.epoch.as_mut().unwrap().age_ms = age_ms;
                    let here = format!("{role}, {own} here, {place}{touch}");
                    rows.extend(resyncs(&resource).iter().map(|it| row(here.clone(), it)));
                }
            }
        }
    }
    rows
}

fn rows_of_options() -> Vec<Row> {
    let options = [
        ("`quorum majority`, `all` or a number", GoesOn::No),
        ("`quorum off`", GoesOn::Alone),
        ("`quorum off` with `fencing`", GoesOn::Fenced),
        ("two voters with `fencing`", GoesOn::Proved),
    ];
    let rows = options.into_iter().map(|(asked, goes_on)| {
        let mut resource = situation(Role::Primary, DiskState::UpToDate, Bob::Away);
        let requests = RequestsWithoutQuorum::Wait;
        resource.without_quorum = Some(WithoutQuorum { requests, goes_on });
        row(format!("{asked}, bob is away"), &resyncs(&resource)[0])
    });
    rows.collect()
}

#[test]
fn rows_of_resyncs_are_those_of_the_page() {
    let mut rows = rows_of_waits();
    rows.extend(rows_of_options());
    let inconsistent = Bob::Connected(DiskState::Inconsistent);
    for (place, state) in [
        ("bob is copied to, at what rate is not known", ReplicationState::SyncSource),
        ("protocol A, bob is behind", ReplicationState::Ahead),
        ("protocol A, this node is behind", ReplicationState::Behind),
        ("`verify`", ReplicationState::VerifyS),
        ("bob copies to this node", ReplicationState::SyncTarget),
    ] {
        let mut resource = situation(Role::Primary, DiskState::UpToDate, inconsistent);
        let device = &mut resource.connections[0].peer_devices[0];
        (device.replication_state, device.out_of_sync) = (state, 2048);
        rows.push(row(place, &resyncs(&resource)[0]));
        let timed = if state == ReplicationState::SyncSource {
            "bob is copied to"
        } else if state == ReplicationState::SyncTarget {
            "bob copies to this node, and says how far it is"
        } else {
            continue;
        };
        for (rate, estimated_seconds_to_finish) in
            [("", 13), (", it stands still", STALLED_SECONDS)]
        {
            let sync = SyncDetails { estimated_seconds_to_finish, ..SyncDetails::default() };
            let device = &mut resource.connections[0].peer_devices[0];
            *device = device.clone().with_sync(sync);
            rows.push(row(format!("{timed}{rate}"), &resyncs(&resource)[0]));
        }
    }
    let mut resource = situation(Role::Primary, DiskState::UpToDate, inconsistent);
    resource.connections[0].lost_again = Some(LostAgainStatus::default());
    rows.push(row("bob was lost again and again", &resyncs(&resource)[0]));
    resource.reasons = vec!["the replica of bob stays away: it has no disk".to_owned()];
    rows.push(row("`status` says that bob stays away", &resyncs(&resource)[0]));
    let mut resource = situation(Role::Primary, DiskState::Outdated, inconsistent);
    resource.connections[0].peer_devices[0].replication_state = ReplicationState::PausedSyncT;
    rows.push(row("this node waits for its turn", &resyncs(&resource)[0]));
    let resource = situation(Role::Primary, DiskState::Diskless, Bob::Away);
    rows.push(row("Diskless here, bob is away, and no other replica", &resyncs(&resource)[0]));
    let mut resource = situation(Role::Secondary, DiskState::Outdated, inconsistent);
    resource.connections[0].peer_role = Role::Primary;
    rows.push(row("Outdated here, bob is Primary", &resyncs(&resource)[0]));
    rows::check(("explain-resync.md", "What `explain` says of copies"), rows);
}

/// It was to be copied when it came back, which nobody does before one of the two gives way.
#[test]
fn no_copy_is_promised_in_a_split_brain() {
    for role in [Role::Primary, Role::Secondary] {
        for own in DiskState::ALL {
            let told = resyncs(&situation(role, own, Bob::Parted));
            assert_eq!(told, [Sentence::SplitBrain { name: "bob".to_owned() }], "{role} {own}");
        }
    }
}
