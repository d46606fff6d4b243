//! The screen of made-up states, and what keys do.

mod pages;

use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::latency::LatencyHistogram;
use api::replication_state::ReplicationState;
use api::role::Role;
use api::status::{
    ConnectionStatus, DeviceStatistics, DeviceStatus, NodeStatus, PeerDeviceStatus, ResourceStatus,
    SyncDetails,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
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
            write_latency: Some(LatencyHistogram {
                counts: vec![writes],
                sum_us: writes * 100,
                ..LatencyHistogram::default()
            }),
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
    State { before: look(10, before), now: look(12, now), ..State::new(Time::ZERO, INTERVAL) }
}

const INTERVAL: Duration = Duration::from_secs(1);
/// When the newer look of `state` was taken.
const NOW: Time = Time(12_000_000_000);

fn screen(state: &State, wishes: &mut Wishes) -> Vec<String> {
    screen_of((80, 24), state, wishes)
}

fn screen_of(size: (u16, u16), state: &State, wishes: &mut Wishes) -> Vec<String> {
    screen_at(NOW, size, state, wishes)
}

fn screen_at(now: Time, size: (u16, u16), state: &State, wishes: &mut Wishes) -> Vec<String> {
    let buffer = drawn(now, size, state, wishes);
    let lines = buffer.content.chunks(size.0.into());
    lines.map(|line| line.iter().map(|cell| cell.symbol()).collect()).collect()
}

fn drawn(now: Time, (width, height): (u16, u16), state: &State, wishes: &mut Wishes) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view::draw(frame, state, now, wishes)).unwrap();
    terminal.backend().buffer().clone()
}

/// The lines as one text, with single blanks.
fn joined(lines: &[String]) -> String {
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    words.collect::<Vec<_>>().join(" ")
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
    names_of((80, 24), state, wishes)
}

/// Of the rows of the table that are in sight.
fn names_of(size: (u16, u16), state: &State, wishes: &mut Wishes) -> Vec<String> {
    let lines = screen_of(size, state, wishes);
    let rows = lines[3..].iter().take_while(|line| !line.starts_with("-- "));
    let words = rows.filter_map(|line| line.split_whitespace().next());
    words.map(str::to_owned).collect()
}

#[test]
fn screen_tells_rates_latency_and_the_progress_of_a_resync() {
    let state = state(vec![resource("r0", 1000, 0)], vec![resource("r0", 3000, 7)]);
    let lines = screen(&state, &mut Wishes::default());
    assert!(lines[0].starts_with("alfa  basalt") && lines[0].contains("up 1m30s"), "{lines:#?}");
    let volume: Vec<&str> = lines[3].split_whitespace().collect();
    let expected = ["r0/0", "Primary", "UpToDate", "yes", "1000", "0K", "4M", "100", "7"];
    assert_eq!(volume, expected, "{lines:#?}");
    let peer = lines.iter().find(|line| line.starts_with("bravo")).unwrap();
    for part in ["Connected", "yes", "Inconsistent", "2M", "####______ 42%", "1m15s"] {
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
        let volume: Vec<&str> = lines[3].split_whitespace().collect();
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
    let lines = screen(&state, &mut wishes);
    assert!(lines[23].starts_with("filter: q_  Enter keeps it, Esc ends it"), "{lines:#?}");
    assert!(lines[2].starts_with("no name here has `q` in it: Esc ends the filter"), "{lines:#?}");
    press(&mut wishes, "\x1b/b\n");
    assert_eq!(names(&state, &mut wishes), ["b/0"]);
    assert_eq!(press(&mut wishes, "\x1b"), Next::Go, "the filter ends first");
    assert_eq!(names(&state, &mut wishes).len(), 3);
    assert_eq!(press(&mut wishes, "q"), Next::Quit);
}

#[test]
fn choice_moves_over_all_rows_stays_in_sight_and_with_its_volume() {
    let many: Vec<_> = (0..50).map(|n| resource(&format!("volume-{n:02}"), n, 0)).collect();
    let state = state(many.clone(), many);
    let mut wishes = Wishes::default();
    let chosen = |wishes: &Wishes| wishes.chosen.clone().unwrap_or_default();
    assert_eq!(names(&state, &mut wishes)[0], "volume-00/0");
    press(&mut wishes, &"j".repeat(100));
    assert_eq!(names(&state, &mut wishes).last().unwrap(), "volume-49/0");
    assert_eq!(chosen(&wishes), "volume-49/0");
    press(&mut wishes, "k");
    names(&state, &mut wishes);
    assert_eq!(chosen(&wishes), "volume-48/0");
    press(&mut wishes, "r");
    assert!(names(&state, &mut wishes).contains(&"volume-48/0".to_owned()), "it is in sight");
    assert_eq!(chosen(&wishes), "volume-48/0", "another order chooses nothing else");
    for (key, place) in [(KeyCode::Home, "volume-49/0"), (KeyCode::End, "volume-00/0")] {
        wishes.on_key(key.into());
        names(&state, &mut wishes);
        assert_eq!(chosen(&wishes), place);
    }
    wishes.on_key(KeyCode::PageUp.into());
    let shown = names(&state, &mut wishes);
    let page = usize::from(wishes.room);
    assert!(page > 5 && shown.len() == page, "{page}: {shown:?}");
    assert_eq!(chosen(&wishes), format!("volume-{page:02}/0"));
}

#[test]
fn names_of_claims_are_told_apart_in_any_width() {
    let claim = "pvc-3f2c8a1e-90b4-4c1d-8e57-0a1b2c3d4e5f";
    let other = "pvc-3f2c8a1e-90b4-4c1d-8e57-0a1b2c3d4e60";
    let mut resources = vec![resource(claim, 5, 0), resource(other, 5, 0)];
    resources[0].reasons = vec!["its disk is not attached".to_owned()];
    let state = state(vec![], resources);
    let narrow = screen(&state, &mut Wishes::default());
    assert!(narrow[3].starts_with("pvc-3f..4e5f/0! Primary"), "{narrow:#?}");
    assert!(narrow[4].starts_with("pvc-3f2..4e60/0 Primary"), "{narrow:#?}");
    let wide = screen_of((200, 50), &state, &mut Wishes::default());
    assert!(wide[3].starts_with(&format!("{claim}/0! ")), "{wide:#?}");
    assert!(wide[2].trim_end().ends_with("MISSES SIZE  OPEN"), "{wide:#?}");
    assert_eq!(wide[3].split_whitespace().rev().nth(1), Some("64M"), "{wide:#?}");
    for size in [(20, 5), (1, 1), (40, 3)] {
        let mut wishes = Wishes::default();
        press(&mut wishes, "?");
        screen_of(size, &state, &mut wishes);
        press(&mut wishes, "qn");
        screen_of(size, &state, &mut wishes);
    }
}

#[test]
fn reasons_of_the_chosen_volume_stand_below_in_whole_words() {
    let mut resources = vec![resource("r0", 5, 0), resource("r1", 5, 0)];
    resources[1].reasons = vec!["writes wait: ".to_owned() + &"there is no quorum ".repeat(6)];
    resources[1].connections[0].reason = Some("connection refused".to_owned());
    let state = state(vec![], resources);
    let mut wishes = Wishes::default();
    let lines = screen(&state, &mut wishes);
    assert!(lines[1].starts_with("reasons 1 "), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("refused")), "{lines:#?}");
    press(&mut wishes, "j");
    let lines = screen(&state, &mut wishes);
    let first = lines.iter().position(|line| line.starts_with("! writes wait: ")).unwrap();
    assert!(lines[first].trim_end().ends_with("there is"), "{lines:#?}");
    assert!(lines[first + 1].starts_with("  no quorum there"), "{lines:#?}");
    assert!(lines[first + 2].starts_with("! bravo: connection refused"), "{lines:#?}");
}

#[test]
fn nodes_are_summed_over_their_resources() {
    let mut resources = vec![resource("r0", 5, 0), resource("r1", 5, 0)];
    let connection = &mut resources[1].connections[0];
    connection.connection_state = ConnectionState::Connecting;
    connection.reason = Some("no route to host".to_owned());
    resources[0].connections[0].peer_role = Role::Primary;
    resources[0].role = Role::Secondary;
    let state = state(vec![], resources);
    let mut wishes = Wishes::default();
    press(&mut wishes, "nj");
    let lines = screen(&state, &mut wishes);
    let row = |place: usize| lines[place].split_whitespace().collect::<Vec<_>>();
    assert_eq!(row(3), ["alfa", "*", "2/2", "1", "2", "2/2", "0K", "0"], "{lines:#?}");
    assert_eq!(row(4), ["bravo", "1/2", "1", "2", "0/2", "4M", "2"], "{lines:#?}");
    assert!(lines[22].starts_with("! no route to host"), "{lines:#?}");
    press(&mut wishes, "n");
    assert!(screen(&state, &mut wishes)[3].starts_with("r0/0"));
}

#[test]
fn sums_are_of_all_rows_and_the_latency_is_of_all_writes() {
    let before = vec![resource("r0", 0, 0), resource("r1", 0, 0)];
    let mut now = vec![resource("r0", 3000, 2), resource("r1", 1000, 3)];
    let slow = LatencyHistogram { counts: vec![1000], sum_us: 500_000, ..Default::default() };
    now[1].devices[0].write_latency = Some(slow);
    let lines = screen(&state(before, now), &mut Wishes::default());
    let expected =
        "reasons 0  writes/s 2000  us 200  read 0K/s  write 8M/s  in flight 5  misses 4M";
    assert_eq!(lines[1].trim_end(), expected, "{lines:#?}");
}
