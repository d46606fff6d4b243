//! The screen of made-up states, and what keys do.

use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::role::Role;
use api::status::{
    ConnectionStatus, DeviceStatistics, DeviceStatus, LatencyHistogram, NodeStatus,
    PeerDeviceStatus, ResourceStatus, SyncDetails,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use stdx::time::Time;

use super::*;

/// A resource whose client has made so many writes of 4 KiB, of 100 us each.
fn resource(name: &str, writes: u64, in_flight: u32) -> ResourceStatus {
    let peer_device = PeerDeviceStatus {
        replication_state: ReplicationState::SyncSource,
        peer_disk_state: DiskState::Inconsistent,
        out_of_sync: 2048,
        ..PeerDeviceStatus::default()
    };
    let sync = SyncDetails {
        percent_resync_done: 42.4,
        estimated_seconds_to_finish: 75,
        ..SyncDetails::default()
    };
    let statistics = DeviceStatistics {
        size: 65536,
        written: writes * 4,
        upper_pending: in_flight,
        ..DeviceStatistics::default()
    };
    ResourceStatus {
        name: name.to_owned(),
        role: Role::Primary,
        devices: vec![DeviceStatus {
            disk_state: DiskState::UpToDate,
            quorum: true,
            statistics: Some(statistics),
            write_latency: Some(LatencyHistogram { counts: vec![writes], sum_us: writes * 100 }),
            ..DeviceStatus::default()
        }],
        connections: vec![ConnectionStatus {
            name: "bravo".to_owned(),
            connection_state: ConnectionState::Connected,
            tls: true,
            peer_devices: vec![peer_device.with_sync(sync)],
            ..ConnectionStatus::default()
        }],
        ..ResourceStatus::default()
    }
}

fn state(before: Vec<ResourceStatus>, now: Vec<ResourceStatus>) -> State {
    let look = |seconds, resources| {
        let node = NodeStatus { name: "alfa".to_owned(), uptime_ms: 90_000, ..Default::default() };
        let at = Time::ZERO + Duration::from_secs(seconds);
        Some(Look { at, status: StatusReply { node, resources } })
    };
    State { before: look(10, before), now: look(12, now), failure: None }
}

fn screen(state: &State, wishes: &mut Wishes) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| view::draw(frame, state, wishes)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    buffer.content.chunks(80).map(|line| line.iter().map(|cell| cell.symbol()).collect()).collect()
}

fn press(wishes: &mut Wishes, keys: &str) -> Next {
    let key = |letter| match letter {
        '\n' => KeyCode::Enter,
        '\x1b' => KeyCode::Esc,
        other => KeyCode::Char(other),
    };
    keys.chars().fold(Next::Go, |_, letter| wishes.on_key(key(letter).into()))
}

fn names(state: &State, wishes: &mut Wishes) -> Vec<String> {
    let lines = screen(state, wishes);
    let rows = lines[2..].iter().take_while(|line| !line.starts_with("PEER"));
    let words = rows.filter_map(|line| line.split_whitespace().next());
    words.map(str::to_owned).collect()
}

#[test]
fn screen_tells_rates_latency_and_the_progress_of_a_resync() {
    let state = state(vec![resource("r0", 1000, 0)], vec![resource("r0", 3000, 7)]);
    let lines = screen(&state, &mut Wishes::default());
    assert!(lines[0].starts_with("alfa  basalt") && lines[0].contains("up 1m30s"), "{lines:#?}");
    let volume: Vec<&str> = lines[2].split_whitespace().collect();
    let expected = ["r0/0", "Primary", "UpToDate", "yes", "1000", "0K", "4M", "100", "7"];
    assert_eq!(volume, expected, "{lines:#?}");
    let peer = lines.iter().find(|line| line.starts_with("bravo")).unwrap();
    for part in ["r0/0", "Connected", "yes", "Inconsistent", "2M", "####______ 42%", "1m15s"] {
        assert!(peer.contains(part), "no {part} in {peer}");
    }
    assert!(lines[23].starts_with("q quit"), "{lines:#?}");
}

#[test]
fn single_look_and_counters_that_went_back_give_no_rates() {
    for state in [
        State { before: None, ..state(vec![], vec![resource("r0", 5, 0)]) },
        state(vec![resource("r0", 9, 0)], vec![resource("r0", 5, 0)]),
    ] {
        let lines = screen(&state, &mut Wishes::default());
        let volume: Vec<&str> = lines[2].split_whitespace().collect();
        assert_eq!(volume[4..8], ["-", "-", "-", "-"], "{lines:#?}");
    }
}

#[test]
fn keys_sort_reverse_filter_and_quit() {
    let before = ["a", "b", "c"].map(|name| resource(name, 0, 0)).to_vec();
    let now = vec![resource("a", 10, 1), resource("b", 30, 0), resource("c", 20, 9)];
    let state = state(before, now);
    let mut wishes = Wishes::default();
    assert_eq!(names(&state, &mut wishes), ["a/0", "b/0", "c/0"]);
    press(&mut wishes, "s");
    assert_eq!(names(&state, &mut wishes), ["b/0", "c/0", "a/0"], "by writes");
    press(&mut wishes, "ss");
    assert_eq!(names(&state, &mut wishes), ["c/0", "a/0", "b/0"], "by what is in flight");
    press(&mut wishes, "r");
    assert_eq!(names(&state, &mut wishes), ["b/0", "a/0", "c/0"]);
    assert_eq!(press(&mut wishes, "/q"), Next::Go, "a letter of the filter");
    assert!(screen(&state, &mut wishes)[23].starts_with("filter: q_"));
    assert_eq!(names(&state, &mut wishes), [""; 0]);
    press(&mut wishes, "\x1b/b\n");
    assert_eq!(names(&state, &mut wishes), ["b/0"]);
    assert_eq!(press(&mut wishes, "\x1b"), Next::Go, "the filter ends first");
    assert_eq!(names(&state, &mut wishes).len(), 3);
    assert_eq!(press(&mut wishes, "q"), Next::Quit);
}

#[test]
fn scrolling_ends_at_the_last_row_and_nothing_leaves_the_screen() {
    let many: Vec<_> = (0..50).map(|n| resource(&format!("volume-{n:02}"), n, 0)).collect();
    let state = state(many.clone(), many);
    let mut wishes = Wishes::default();
    press(&mut wishes, &"j".repeat(100));
    assert_eq!(names(&state, &mut wishes), ["volume-49/0"]);
    press(&mut wishes, "k");
    assert_eq!(names(&state, &mut wishes), ["volume-48/0", "volume-49/0"]);
}

#[test]
fn daemon_that_does_not_answer_is_told_of_beside_what_was_seen_last() {
    let mut state = state(vec![], vec![resource("r0", 5, 0)]);
    state.take(Err("cannot reach the node daemon".to_owned()));
    let lines = screen(&state, &mut Wishes::default());
    assert!(lines[2].starts_with("r0/0") && lines[23].starts_with("cannot reach"), "{lines:#?}");
}
