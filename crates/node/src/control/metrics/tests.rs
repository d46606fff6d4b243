//! The text of a made-up status, and the rules of the format.

use std::collections::BTreeSet;

use super::*;
use api::status::{
    DeviceStatistics, EpochStatus, NodeStatus, PathStatus, QuorumVotes, SyncDetails, VerifyReport,
    VoterStatus, VotesBefore,
};

fn status() -> StatusReply {
    let latency = LatencyHistogram { counts: vec![2, 1, 0], sum_us: 100, ..Default::default() };
    let sync = SyncDetails {
        percent_resync_done: 37.5,
        estimated_seconds_to_finish: 13,
        ..SyncDetails::default()
    };
    let peer_device = PeerDeviceStatus {
        replication_state: ReplicationState::SyncSource,
        peer_disk_state: DiskState::Inconsistent,
        out_of_sync: 4,
        ack_latency: Some(latency.clone()),
        reads: Some(ReadsServed { served: 9, in_flight: 2, latency_us: 150 }),
        ..PeerDeviceStatus::default()
    };
    let resource = ResourceStatus {
        name: "r\"0".to_owned(),
        role: Role::Primary,
        promotion_score: 10_102,
        devices: vec![DeviceStatus {
            minor: 1,
            disk_state: DiskState::UpToDate,
            open: true,
            quorum: true,
            statistics: Some(DeviceStatistics { size: 64, written: 8, ..Default::default() }),
            write_latency: Some(latency),
            reads: Some(ReadsServed { served: 5, ..ReadsServed::default() }),
            ..DeviceStatus::default()
        }],
        connections: vec![ConnectionStatus {
            peer_node_id: 1,
            name: "bob".to_owned(),
            connection_state: ConnectionState::Connected,
            paths: vec![PathStatus::default()],
            peer_devices: vec![peer_device.with_sync(sync)],
            ..ConnectionStatus::default()
        }],
        quorum_votes: Some(QuorumVotes {
            have: 1,
            needed: 2,
            voters: vec![VoterStatus { node_id: 1, name: "bob".to_owned(), ..Default::default() }],
            before_change: Some(VotesBefore { have: 1, needed: 3 }),
        }),
        verify: Some(VerifyReport {
            state: "done".to_owned(),
            verified: 64,
            differing: vec![("bob".to_owned(), 4)],
            ..VerifyReport::default()
        }),
        epoch: Some(EpochStatus { insync: vec!["alice".to_owned()], ..EpochStatus::default() }),
        ..ResourceStatus::default()
    };
    let node = NodeStatus {
        name: "alice".to_owned(),
        version: "1.2.3".to_owned(),
        certificate_end: Some(4_102_358_400),
        ..NodeStatus::default()
    };
    StatusReply { node, resources: vec![resource] }
}

#[test]
fn samples_have_reactors_names_and_labels_and_ours_beside_them() {
    let text = text(&status());
    for line in [
        "drbdreactor_up 1",
        "drbd_version{kmod=\"1.2.3\",utils=\"1.2.3\"} 1",
        "drbd_resource_resources 1",
        "drbd_resource_role{name=\"r\\\"0\",drbd_resource_role=\"Primary\"} 1",
        "drbd_resource_role{name=\"r\\\"0\",drbd_resource_role=\"Unknown\"} 0",
        "drbd_resource_promotionscore{name=\"r\\\"0\"} 10102",
        "drbd_connection_state{name=\"r\\\"0\",conn_name=\"bob\",peer_node_id=\"1\",\
         drbd_connection_state=\"Connected\"} 1",
        "drbd_device_state{name=\"r\\\"0\",volume=\"0\",minor=\"1\",\
         drbd_device_state=\"UpToDate\"} 1",
        "drbd_device_written_bytes_total{name=\"r\\\"0\",volume=\"0\",minor=\"1\"} 8192",
        "drbd_peerdevice_outofsync_bytes{name=\"r\\\"0\",conn_name=\"bob\",peer_node_id=\"1\",\
         volume=\"0\"} 4096",
        "basalt_certificate_end_timestamp_seconds 4102358400",
        "basalt_insync_replicas{name=\"r\\\"0\"} 1",
        "basalt_replicas{name=\"r\\\"0\"} 2",
        "basalt_verify_state{name=\"r\\\"0\",state=\"done\"} 1",
        "basalt_verify_state{name=\"r\\\"0\",state=\"running\"} 0",
        "basalt_verify_compared_bytes{name=\"r\\\"0\"} 65536",
        "basalt_verify_differing_bytes{name=\"r\\\"0\",replica=\"bob\"} 4096",
        "basalt_quorum_votes_needed{name=\"r\\\"0\"} 2",
        "basalt_quorum_votes_before{name=\"r\\\"0\"} 1",
        "basalt_quorum_votes_before_needed{name=\"r\\\"0\"} 3",
        "basalt_quorum_voter_present{name=\"r\\\"0\",voter=\"bob\",node_id=\"1\"} 0",
        "basalt_resync_done_percent{name=\"r\\\"0\",conn_name=\"bob\",peer_node_id=\"1\",\
         volume=\"0\"} 37.50",
        "basalt_resync_eta_seconds{name=\"r\\\"0\",conn_name=\"bob\",peer_node_id=\"1\",\
         volume=\"0\"} 13",
        "basalt_write_latency_seconds_bucket{name=\"r\\\"0\",volume=\"0\",minor=\"1\",\
         le=\"0.000064\"} 3",
        "basalt_write_latency_seconds_sum{name=\"r\\\"0\",volume=\"0\",minor=\"1\"} 0.000100",
        "# TYPE basalt_ack_latency_seconds histogram",
        "basalt_reads_served_total{name=\"r\\\"0\",volume=\"0\",replica=\"local\"} 5",
        "basalt_reads_served_total{name=\"r\\\"0\",volume=\"0\",replica=\"bob\"} 9",
        "basalt_reads_in_flight{name=\"r\\\"0\",volume=\"0\",replica=\"bob\"} 2",
        "basalt_read_latency_seconds{name=\"r\\\"0\",volume=\"0\",replica=\"bob\"} 0.000150",
    ] {
        assert!(text.lines().any(|there| there == line), "{line} is missing in\n{text}");
    }
}

#[test]
fn each_family_is_told_once_and_its_samples_are_together() {
    let mut status = status();
    let mut other = status.resources[0].clone();
    other.name = "r1".to_owned();
    status.resources.push(other);
    let text = text(&status);
    let mut families = BTreeSet::new();
    let mut family = "";
    let mut samples = BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            family = rest.split(' ').next().unwrap();
            assert!(families.insert(family), "{family} comes twice");
        } else if !line.starts_with('#') {
            assert!(line.starts_with(family), "{line} is no sample of {family}");
            let (sample, value) = line.rsplit_once(' ').unwrap();
            assert!(samples.insert(sample), "{sample} comes twice");
            value.parse::<f64>().unwrap();
        }
    }
}

/// Names of ours and of drbd-reactor in a file.
fn metrics_in(file: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = file.split(|c: char| !is_part(c));
    // Labels of the state enumerations have the names of their families.
    let is_name = |word: &&str| word.starts_with("drbd_") || word.starts_with("basalt_");
    words.filter(is_name).collect()
}

#[test]
fn dashboard_and_alerts_ask_for_what_there_is() {
    let text = text(&status());
    let there: BTreeSet<&str> =
        text.lines().filter_map(|line| line.split(['{', ' ']).next()).collect();
    // A text may speak of a histogram as a whole.
    let families = text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next());
    let there: BTreeSet<&str> = there.into_iter().chain(families).collect();
    let dashboard = include_str!("../../../../../docs/monitoring/dashboard.json");
    for file in [dashboard, include_str!("../../../../../docs/monitoring/rules.yml")] {
        let asked = metrics_in(file);
        assert!(asked.len() > 10, "{asked:?}");
        let missing: Vec<_> = asked.difference(&there).collect();
        assert_eq!(missing, [&""; 0], "nobody exports these");
    }
}
