//! Golden texts over made-up values: one per situation that an operator meets.

use super::*;
use api::role::Role;
use api::status::{
    DeviceStatistics, DiskFailure, EpochStatus, LeaseStatus, LostAgainStatus, QuorumVotes,
    ShardPeerStatus, VerifyReport, VoterStatus, VotesBefore,
};
use api::write_ordering::WriteOrdering;

const BRIEF: Layout =
    Layout { detail: Detail::Brief, statistics: Statistics::Hidden, reader: Reader::Program };
const ALL: Layout =
    Layout { detail: Detail::Verbose, statistics: Statistics::Shown, reader: Reader::Program };

fn peer(node_id: u8, name: &str) -> ConnectionStatus {
    ConnectionStatus {
        peer_node_id: node_id,
        name: name.to_owned(),
        connection_state: ConnectionState::Connected,
        peer_role: Role::Secondary,
        peer_devices: vec![PeerDeviceStatus {
            replication_state: ReplicationState::Established,
            peer_disk_state: DiskState::UpToDate,
            ..PeerDeviceStatus::default()
        }],
        ..ConnectionStatus::default()
    }
}

fn lost_peer(node_id: u8, name: &str) -> ConnectionStatus {
    ConnectionStatus {
        connection_state: ConnectionState::Connecting,
        peer_role: Role::Unknown,
        peer_devices: vec![PeerDeviceStatus::default()],
        ..peer(node_id, name)
    }
}

fn three_nodes() -> ResourceStatus {
    ResourceStatus {
        name: "r0".to_owned(),
        role: Role::Primary,
        write_ordering: WriteOrdering::Flush,
        devices: vec![DeviceStatus {
            minor: 1,
            disk_state: DiskState::UpToDate,
            open: true,
            quorum: true,
            backing_dev: Some("/dev/vg/lv".to_owned()),
            ..DeviceStatus::default()
        }],
        connections: vec![peer(1, "bob"), peer(2, "carol")],
        ..ResourceStatus::default()
    }
}

fn resyncing() -> ResourceStatus {
    let mut resource = three_nodes();
    resource.connections[1] = lost_peer(2, "carol");
    let bob = &mut resource.connections[0].peer_devices[0];
    bob.replication_state = ReplicationState::SyncSource;
    bob.peer_disk_state = DiskState::Inconsistent;
    bob.sent = 819_200;
    bob.out_of_sync = 1_310_720;
    bob.pending = 3;
    *bob = bob.clone().with_sync(SyncDetails {
        percent_resync_done: 37.5,
        rate_recent: 98.4,
        estimated_seconds_to_finish: 13,
        rs_total: 4_194_304,
        want: 100.0,
        ..SyncDetails::default()
    });
    resource
}

#[test]
fn all_up_to_date() {
    let expected = "\
r0 role:Primary
  disk:UpToDate open:yes
  bob role:Secondary
    peer-disk:UpToDate
  carol role:Secondary
    peer-disk:UpToDate

";
    assert_eq!(status_text(&three_nodes(), BRIEF), expected);
}

#[test]
fn way_to_the_kernel_is_told_if_it_is_not_the_usual_one() {
    let first_line = |io_backend: &str, layout| {
        let resource = ResourceStatus { io_backend: io_backend.to_owned(), ..three_nodes() };
        status_text(&resource, layout).lines().next().unwrap().to_owned()
    };
    assert_eq!(first_line("io_uring", BRIEF), "r0 role:Primary");
    assert_eq!(first_line("poll", BRIEF), "r0 role:Primary io:poll");
    assert!(first_line("io_uring", ALL).ends_with(" io:io_uring"));
}

#[test]
fn last_verify_has_a_line_with_its_times_where_all_is_shown() {
    let verify = VerifyReport {
        state: "done".to_owned(),
        verified: 20_480,
        skipped: 4,
        age_ms: 5000,
        took_ms: 3000,
        ended_age_ms: Some(2000),
        differing: vec![("bob".to_owned(), 8), ("carol".to_owned(), 4)],
        ..VerifyReport::default()
    };
    let resource = ResourceStatus { verify: Some(verify), ..three_nodes() };
    assert!(!status_text(&resource, BRIEF).contains("verify"));
    let text = status_text(&resource, ALL);
    let line = text.lines().find(|line| line.starts_with("          verify:done began:20"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains(" took-ms:3000 ended:20"), "{line}");
    assert!(line.ends_with("Z verified:20480 skipped:4 differing:12"), "{line}");
}

#[test]
fn one_resyncing_and_one_connecting() {
    let expected = "\
r0 role:Primary
  disk:UpToDate open:yes
  bob role:Secondary
    replication:SyncSource peer-disk:Inconsistent done:37.50
  carol connection:Connecting

";
    assert_eq!(status_text(&resyncing(), BRIEF), expected);
}

#[test]
fn verbose_with_statistics_shows_everything() {
    let mut resource = resyncing();
    resource.connections.truncate(1);
    resource.connections[0].rs_in_flight = 2048;
    resource.devices[0].statistics = Some(DeviceStatistics {
        size: 104_857_600,
        read: 4096,
        written: 819_200,
        al_writes: 57,
        ..DeviceStatistics::default()
    });
    let expected = "\
r0 node-id:0 role:Primary suspended:no force-io-failures:no
    write-ordering:flush
  volume:0 minor:1 disk:UpToDate backing_dev:/dev/vg/lv quorum:yes open:yes
      size:104857600 read:4096 written:819200 al-writes:57 bm-writes:0 upper-pending:0 \
lower-pending:0 al-suspended:no blocked:no
  bob node-id:1 connection:Connected role:Secondary tls:no congested:no ap-in-flight:0 \
rs-in-flight:2048
    volume:0 replication:SyncSource peer-disk:Inconsistent done:37.50 resync-suspended:no
        received:0 sent:819200 out-of-sync:1310720 pending:3 unacked:0 dbdt1:98.40 eta:13

";
    assert_eq!(status_text(&resource.clone(), ALL), expected);

    let very = Layout { detail: Detail::VeryVerbose, ..ALL };
    resource.connections[0].peer_devices[0].sync.as_mut().unwrap().estimated_seconds_to_finish =
        STALLED_SECONDS;
    let text = status_text(&resource, very);
    let line = text.lines().find(|line| line.contains("rs-total")).unwrap();
    assert_eq!(
        line,
        "        received:0 sent:819200 out-of-sync:1310720 pending:3 unacked:0 \
         rs-total:4194304 rs-failed:0 rs-same-csum:0 rs-paused-ms:0 want:100.00 dbdt:0.00 \
         dbdt0:0.00 dbdt1:98.40 eta:nan"
    );
}

#[test]
fn statistics_alone_show_traffic_and_shards() {
    let mut resource = three_nodes();
    resource.connections.truncate(1);
    resource.devices[0].statistics = Some(DeviceStatistics { size: 1024, ..Default::default() });
    resource.shards = vec![ShardStatus {
        shard: 0,
        turns: 12,
        enters: 11,
        peers: vec![ShardPeerStatus { name: "bob".to_owned(), sendmsg: 9 }],
    }];
    let expected = "\
r0 role:Primary
  disk:UpToDate open:yes
      read:0 written:0
  bob role:Secondary
    peer-disk:UpToDate
        received:0 sent:0 out-of-sync:0
          shard:0 turns:12 enters:11 sendmsg[bob]:9

";
    let layout = Layout { statistics: Statistics::Shown, ..BRIEF };
    assert_eq!(status_text(&resource, layout), expected);
}

#[test]
fn lost_quorum_is_explained() {
    let mut resource = three_nodes();
    resource.connections = vec![lost_peer(1, "bob"), lost_peer(2, "carol")];
    resource.connections[1].reason = Some("connection refused by 10.0.0.3:7900".to_owned());
    resource.devices[0].quorum = false;
    resource.suspended = true;
    resource.suspended_quorum = true;
    resource.reasons = vec!["no quorum: 1 of 3 voters present, 2 needed".to_owned()];
    resource.quorum_votes = Some(QuorumVotes {
        have: 1,
        needed: 2,
        voters: [(0, "alice", true), (1, "bob", false), (2, "carol", false)]
            .map(|(node_id, name, present)| VoterStatus {
                node_id,
                name: name.to_owned(),
                present,
                ..Default::default()
            })
            .to_vec(),
        before_change: None,
    });
    resource.lease = Some(LeaseStatus { held: false, remaining_ms: 0 });
    resource.epoch = Some(EpochStatus {
        branch: "00000000000000a1".to_owned(),
        epoch: 7,
        insync: vec!["alice".to_owned(), "bob".to_owned()],
        primary: None,
        losses: 0,
        awaits_reopen: false,
        age_ms: None,
    });
    let expected = "\
r0 role:Primary suspended:quorum
          # no quorum: 1 of 3 voters present, 2 needed
  disk:UpToDate quorum:no open:yes
  bob connection:Connecting
  carol connection:Connecting
          # connection refused by 10.0.0.3:7900

";
    assert_eq!(status_text(&resource.clone(), BRIEF), expected);
    let verbose = Layout { detail: Detail::Verbose, ..BRIEF };
    let text = status_text(&resource, verbose);
    assert_eq!(
        text.lines().nth(1).unwrap(),
        "          epoch:7 branch:00000000000000a1 insync:alice,bob losses:0 votes:1/3 \
         votes-needed:2 voters-absent:bob,carol lease:no lease-ms:0"
    );
    assert!(text.contains("    volume:0 replication:Off peer-disk:DUnknown"), "{text}");

    let votes = resource.quorum_votes.as_mut().unwrap();
    votes.voters[2].joining = true;
    votes.before_change = Some(VotesBefore { have: 1, needed: 2 });
    let text = status_text(&resource, verbose);
    let told = "votes:1/3 votes-needed:2 votes-before:1/2 votes-before-needed:2 voters-absent:";
    assert!(text.contains(told), "{text}");
}

#[test]
fn diskless_client_and_its_view_from_a_peer() {
    let mut resource = three_nodes();
    resource.devices[0].disk_state = DiskState::Diskless;
    resource.devices[0].client = true;
    resource.connections.truncate(2);
    let peer_device = &mut resource.connections[1].peer_devices[0];
    peer_device.peer_disk_state = DiskState::Diskless;
    peer_device.peer_client = true;
    let expected = "\
r0 role:Primary
  disk:Diskless client:yes open:yes
  bob role:Secondary
    peer-disk:UpToDate
  carol role:Secondary
    peer-disk:Diskless peer-client:yes

";
    assert_eq!(status_text(&resource.clone(), BRIEF), expected);
    let terminal = Layout { reader: Reader::Terminal, ..BRIEF };
    assert_eq!(
        status_text(&resource, terminal),
        expected.replace(" client:yes", "").replace(" peer-client:yes", "")
    );
}

#[test]
fn suspension_failing_io_congestion_and_blocks_are_told() {
    let mut resource = three_nodes();
    resource.suspended_user = true;
    resource.suspended_no_data = true;
    resource.force_io_failures = true;
    resource.devices[0].blocked = Blocked::Both;
    resource.connections.truncate(1);
    let bob = &mut resource.connections[0];
    bob.congested = true;
    bob.tls = true;
    bob.protocol = Some("B".to_owned());
    bob.ap_in_flight = 8;
    bob.peer_devices[0].replication_state = ReplicationState::PausedSyncS;
    bob.peer_devices[0].resync_suspended = "user,peer".to_owned();
    bob.peer_devices[0].percent_in_sync = 99.994;
    bob.lost_again = Some(LostAgainStatus { losses: 2, rest_ms: 9_001 });
    let expected = "\
r0 role:Primary suspended:user,no-data force-io-failures:yes
  disk:UpToDate open:yes blocked:upper,lower
  bob role:Secondary tls:yes protocol:B congested:yes ap-in-flight:8 rs-in-flight:0
    # rests for 10 s: lost 2 times soon after it returned; `explain` says what to try
    replication:PausedSyncS peer-disk:UpToDate done:99.99 resync-suspended:user,peer

";
    assert_eq!(status_text(&resource, BRIEF), expected);
}

#[test]
fn volume_numbers_show_unless_it_is_the_single_volume_zero() {
    let mut resource = three_nodes();
    resource.connections.truncate(1);
    resource.devices[0].volume = 1;
    resource.connections[0].peer_devices[0].volume = 1;
    let expected = "\
r0 role:Primary
  volume:1 disk:UpToDate open:yes
  bob role:Secondary
    volume:1 peer-disk:UpToDate

";
    assert_eq!(status_text(&resource, BRIEF), expected);
}

/// As scripts read DRBD's text: by its depth a line is one of a resource, of a volume or a peer, of
/// a peer's volume, or counters. What is deeper is none of DRBD's, and they pass over it.
fn read_by_depth(text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let words = line.trim_start();
        let first = words.split(' ').next().unwrap_or_default();
        match line.len() - words.len() {
            0 => {}
            2 if ["volume:", "disk:"].iter().any(|key| first.starts_with(key)) => {}
            2 => names.push(first.to_owned()),
            4 | 6 | 8 => {
                let is_pair = |word: &str| word.contains(':');
                let known = match line.len() - words.len() {
                    4 => &["volume", "replication", "peer-disk", "write-ordering"][..],
                    6 => &["size", "read", "al-suspended"],
                    _ => &["received"],
                };
                let key = first.split(':').next().unwrap_or_default();
                if !known.contains(&key) || !words.split(' ').all(is_pair) {
                    return Err(format!("{line:?} is no line of DRBD's"));
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

#[test]
fn parsers_of_drbds_lines_find_the_peers_and_nothing_else() {
    let path = |established| PathStatus { established, ..PathStatus::default() };
    let mut resource = resyncing();
    resource.reasons = vec!["no quorum: 1 of 3 voters present, 2 needed".to_owned()];
    resource.connections[1].reason = Some("connection refused".to_owned());
    resource.connections[0].paths = vec![path(true), path(false)];
    resource.devices[0].disk_failure = Some(DiskFailure {
        disk: "/dev/vg/lv".to_owned(),
        request: "a write to the disk".to_owned(),
        ..DiskFailure::default()
    });
    resource.connections[0].peer_devices[0].disk_failure =
        Some(DiskFailure { request: "a write to the disk".to_owned(), ..DiskFailure::default() });
    resource.devices[0].statistics = Some(DeviceStatistics::default());
    resource.shards = vec![ShardStatus { shard: 0, turns: 1, enters: 1, peers: Vec::new() }];
    resource.lease = Some(LeaseStatus { held: false, remaining_ms: 0 });
    resource.epoch = Some(EpochStatus {
        branch: "a1".to_owned(),
        epoch: 7,
        insync: vec!["alice".to_owned()],
        primary: None,
        losses: 0,
        awaits_reopen: false,
        age_ms: Some(7),
    });
    for detail in [Detail::Brief, Detail::Verbose, Detail::VeryVerbose] {
        for statistics in [Statistics::Hidden, Statistics::Shown] {
            let text =
                status_text(&resource, Layout { detail, statistics, reader: Reader::Program });
            let names = read_by_depth(&text);
            assert_eq!(names, Ok(vec!["bob".to_owned(), "carol".to_owned()]), "{text}");
            assert!(
                text.contains("# no quorum") && text.contains("# connection refused"),
                "{text}"
            );
        }
    }
}
