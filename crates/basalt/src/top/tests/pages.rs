//! What the screen says beside its tables, in terminals of several sizes, and the page of
//! docs/operate/messages that has all of it.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;

use api::client::AskError;
use api::response::{Failure, FailureCode};
use api::status::VerifyReport;
use api::wire::WireError;
use ratatui::style::Modifier;

use super::*;
use crate::adm::explain::rows::{self, Row, variant_of};
use crate::top::columns::{Column, OF_NODES, OF_PEERS, OF_VOLUMES};
use crate::top::keys::{self, Hint};

const CLAIM: &str = "pvc-0f3c2f9e-7b1d-4a57-9d54-2d1f0a7c9c11";
const SIZES: [(u16, u16); 2] = [(80, 24), (200, 50)];

fn after(seconds: u64) -> Time {
    NOW + Duration::from_secs(seconds)
}

/// A daemon that was stopped (SIGSTOP) looked like an idle one.
#[test]
fn silent_daemon_is_told_of_and_its_rows_are_marked_old() {
    let mut state = state(vec![], vec![resource("r0", 5, 0)]);
    let fresh = screen_at(after(3), (80, 24), &state, &mut Wishes::default());
    assert!(!joined(&fresh).contains("no answer") && !fresh[0].contains("ago"), "{fresh:#?}");
    for _ in 0..2 {
        let lines = screen_at(after(7), (80, 24), &state, &mut Wishes::default());
        assert!(lines[0].starts_with("alfa  as of 7s ago  basalt"), "{lines:#?}");
        let text = joined(&lines);
        assert!(text.contains("no answer for 7 s: `journalctl -u basalt-node`"), "{lines:#?}");
        assert!(text.contains("`systemctl restart basalt-node` ends and starts"), "{lines:#?}");
        let buffer = drawn(after(7), (80, 24), &state, &mut Wishes::default());
        let row = lines.iter().position(|line| line.starts_with("r0/0")).unwrap();
        let row = u16::try_from(row).unwrap();
        assert!(buffer[(0, row)].modifier.contains(Modifier::DIM), "{lines:#?}");
        // The same once the question was given up.
        state.take(Err(Sentence::Silent { seconds: 0 }), after(6));
    }
    let answer = state.now.take().unwrap().status;
    state.take(Ok(answer), after(8));
    let lines = screen_at(after(8), (80, 24), &state, &mut Wishes::default());
    assert!(!joined(&lines).contains("no answer"), "{lines:#?}");
}

#[test]
fn daemon_that_never_answered_is_told_of_too() {
    let state = State::new(NOW, INTERVAL);
    let lines = screen_at(after(1), (80, 24), &state, &mut Wishes::default());
    assert_eq!(joined(&lines[..23]), "basalt top: waiting for the daemon");
    let lines = screen_at(after(9), (80, 24), &state, &mut Wishes::default());
    assert!(lines[1].starts_with("no answer for 9 s: `journalctl"), "{lines:#?}");
}

#[test]
fn daemon_that_is_gone_is_told_of_beside_what_was_seen_last() {
    let mut state = state(vec![], vec![resource("r0", 5, 0)]);
    let source = Error::from(ErrorKind::ConnectionRefused);
    let error = AskError::Unreachable { socket: PathBuf::from("/run/basalt/admin.sock"), source };
    state.take(Err(Sentence::of(&error)), after(1));
    let lines = screen_at(after(2), (80, 24), &state, &mut Wishes::default());
    assert!(lines[1].starts_with("cannot reach the node daemon at /run/basalt"), "{lines:#?}");
    let text = joined(&lines);
    assert!(text.contains("`systemctl start basalt-node` starts it; --node-socket"), "{lines:#?}");
    assert!(text.contains("r0/0 Primary") && lines[23].starts_with("q quit"), "{lines:#?}");
}

/// Three hundred claims; every seventh has a reason, and 2 MiB are missing at bravo of each.
fn claims() -> State {
    let claim = |n: u64| {
        let mut claim = resource(&format!("pvc-{n:04x}2f9e-7b1d-4a57-9d54-2d1f0a7c{n:04}"), n, 1);
        if n.is_multiple_of(7) {
            claim.reasons = vec!["no quorum: 1 of 3 voters answer, 2 are needed".to_owned()];
        }
        claim
    };
    let before = (0..300).map(|n| resource(&claim(n).name, 0, 0)).collect();
    state(before, (0..300).map(claim).collect())
}

#[test]
fn three_hundred_volumes_are_summed_scrolled_and_named_in_full() {
    let state = claims();
    for size in SIZES {
        let mut wishes = Wishes::default();
        let lines = screen_of(size, &state, &mut wishes);
        // Of all: the writes are 0 to 299, in two seconds.
        let sums = "reasons 43  writes/s 22425  us 100  read 0K/s  write 88M/s  in flight 300";
        assert!(joined(&lines[1..3]).starts_with(&joined(&[sums.to_owned()])), "{lines:#?}");
        assert!(joined(&lines).contains("misses 600M"), "{lines:#?}");
        let all: Vec<String> = state
            .now
            .iter()
            .flat_map(|it| &it.status.resources)
            .map(|it| it.name.clone())
            .collect();
        let mut keys = vec![KeyCode::End, KeyCode::PageUp, KeyCode::PageUp, KeyCode::Home];
        keys.extend([KeyCode::PageDown; 3]);
        keys.extend([KeyCode::Char('j'); 40]);
        keys.extend([KeyCode::Char('k'); 60]);
        for key in keys {
            wishes.on_key(key.into());
            let lines = screen_of(size, &state, &mut wishes);
            let chosen = wishes.chosen.clone().unwrap();
            let place = all.iter().position(|name| *name == chosen[..chosen.len() - 2]).unwrap();
            let title = format!("-- {chosen}  -- {} of 300", place + 1);
            assert!(lines.iter().any(|line| line.trim_end() == title), "{title}: {lines:#?}");
            let buffer = drawn(NOW, size, &state, &mut wishes);
            let reversed =
                (0..size.1).filter(|row| buffer[(0, *row)].modifier.contains(Modifier::REVERSED));
            let reversed: Vec<u16> = reversed.collect();
            let [row] = reversed[..] else { panic!("one row is chosen: {reversed:?}") };
            let end = &chosen[chosen.len() - 4..];
            assert!(lines[usize::from(row)].contains(end), "{chosen}: {lines:#?}");
            assert!(lines[usize::from(size.1) - 1].starts_with("q quit"), "{lines:#?}");
        }
    }
}

#[test]
fn whole_name_of_the_chosen_row_stands_above_its_peers() {
    let long = format!("z{CLAIM}-{CLAIM}-of-another-cluster");
    let state = state(vec![], vec![resource(CLAIM, 5, 0), resource(&long, 5, 0)]);
    let mut wishes = Wishes::default();
    let lines = screen(&state, &mut wishes);
    let title = lines.iter().position(|line| line.starts_with(&format!("-- {CLAIM}/0"))).unwrap();
    assert!(lines[title].trim_end().ends_with("-- 1 of 2"), "{lines:#?}");
    assert!(lines[title + 1].starts_with("PEER"), "{lines:#?}");
    press(&mut wishes, "j");
    let lines: String = screen(&state, &mut wishes).iter().map(|line| line.trim_end()).collect();
    assert!(lines.contains(&format!("{long}/0")), "it goes on in the next line: {lines}");
    press(&mut wishes, "n");
    assert!(joined(&screen(&state, &mut wishes)).contains("-- alfa -- 1 of 2"));
}

#[test]
fn reasons_are_whole_and_where_they_have_no_room_a_line_says_how_many_are_missing() {
    let mut claim = resource(CLAIM, 5, 0);
    let reason = |n: usize| format!("reason {n} {}its end {n}", "and again ".repeat(12));
    claim.reasons = (0..4).map(reason).collect();
    let mut others: Vec<_> = (1..30).map(|n| resource(&format!("z{n:02}"), 5, 0)).collect();
    others.insert(0, claim);
    let mut state = state(vec![], others);
    let text = joined(&screen(&state, &mut Wishes::default()));
    for n in 0..4 {
        assert!(text.contains(&reason(n)), "{n}: {text}");
    }
    let all = &mut state.now.as_mut().unwrap().status.resources[0];
    all.reasons = (0..40).map(reason).collect();
    let lines = screen(&state, &mut Wishes::default());
    let shown = lines.iter().filter(|line| line.contains("again")).count();
    let missing = 80 - shown;
    let words = format!("lines without room: {missing}; `basalt explain {CLAIM}` tells all");
    assert_eq!(joined(&lines[21..23]), words, "{lines:#?}");
    assert!(names(&state, &mut Wishes::default()).len() >= 5, "there is a choice to see");
}

#[test]
fn last_verify_of_the_chosen_volume_is_told_below_its_reasons() {
    let mut claim = resource(CLAIM, 5, 0);
    claim.verify = Some(VerifyReport {
        state: "done".to_owned(),
        verified: 65_536,
        age_ms: 90_000,
        took_ms: 30_000,
        ended_age_ms: Some(60_000),
        ..VerifyReport::default()
    });
    let text = joined(&screen(&state(vec![], vec![claim]), &mut Wishes::default()));
    assert!(text.contains("the last verify, of KiB 0 to 0, began at 20"), "{text}");
    assert!(text.contains("took 30 s: 65536 KiB were compared, and nothing differs"), "{text}");
}

#[test]
fn word_that_is_longer_than_the_terminal_goes_on_in_the_next_line() {
    let mut claim = resource("r0", 5, 0);
    let path = format!("/{}", "folder/".repeat(20));
    claim.reasons = vec![format!("cannot read {path} now")];
    let lines = screen(&state(vec![], vec![claim]), &mut Wishes::default());
    let text: String = joined(&lines).split(' ').collect();
    assert!(text.contains(&path), "{lines:#?}");
}

/// Every wish at once, in a terminal of 80 columns.
#[test]
fn last_line_has_whole_hints_and_the_end_of_a_long_filter() {
    let state = state(vec![], vec![resource(CLAIM, 5, 0)]);
    let mut wishes = Wishes::default();
    press(&mut wishes, "ssssr");
    let last = |wishes: &mut Wishes, width| {
        screen_of((width, 24), &state, wishes)[23].trim_end().to_owned()
    };
    assert_eq!(
        last(&mut wishes, 80),
        "q quit  ? help  n nodes  s sort: out of sync reversed  / filter  r reverse"
    );
    press(&mut wishes, &format!("/{CLAIM}"));
    assert_eq!(last(&mut wishes, 80), format!("filter: {CLAIM}_  Enter keeps it, Esc ends it"));
    press(&mut wishes, "\n");
    let ending = format!("filter: {CLAIM} (Esc ends it)  q quit  ? help");
    assert_eq!(last(&mut wishes, 80), ending);
    let narrow = last(&mut wishes, 50);
    assert_eq!(narrow, "filter: ..1f0a7c9c11 (Esc ends it)  q quit  ? help");
    press(&mut wishes, "n");
    let wide = last(&mut wishes, 120);
    assert_eq!(wide, format!("{ending}  n volumes  / filter"), "the order is of volumes alone");
}

#[test]
fn node_without_resources_says_how_one_comes_up() {
    let lines = screen(&state(vec![], vec![]), &mut Wishes::default());
    assert!(lines[2].starts_with("no resource is up on this node: `basalt adm up all`"));
}

#[test]
fn help_explains_every_key_and_column_of_its_page_in_any_size() {
    let state = state(vec![], vec![resource("r0", 5, 0)]);
    let tables: [(&str, Vec<Column>); 2] =
        [("?", [&OF_VOLUMES[..], &OF_PEERS].concat()), ("n?", OF_NODES.to_vec())];
    for size in [(80, 24), (200, 50), (60, 12)] {
        for (typed, columns) in &tables {
            let mut wishes = Wishes::default();
            press(&mut wishes, typed);
            let mut text = String::new();
            while wishes.help.is_some() {
                let lines = screen_of(size, &state, &mut wishes);
                let inside = lines.iter().filter_map(|line| line.split('\u{2502}').nth(1));
                let inside: Vec<String> = inside.map(str::to_owned).collect();
                text += &(joined(&inside) + " ");
                press(&mut wishes, "x");
            }
            for column in columns {
                let row = format!("{} {column}", column.head());
                assert!(text.contains(&row), "{size:?}: no {row} in {text}");
            }
            for key in keys::ALL {
                assert!(text.contains(&format!("{} {key}", key.names())), "{size:?}: {key}");
            }
        }
    }
    let mut wishes = Wishes::default();
    press(&mut wishes, "?");
    screen(&state, &mut wishes);
    assert_eq!(press(&mut wishes, "q"), Next::Go, "it ends the help alone");
    assert!(screen(&state, &mut wishes)[3].starts_with("r0/0"));
}

#[test]
fn large_figures_have_fewer_digits_instead_of_missing_ones() {
    let mut busy = resource("r0", 20, 123_456);
    let latency = LatencyHistogram { counts: vec![20], sum_us: 30_000_000, ..Default::default() };
    busy.devices[0].write_latency = Some(latency);
    let lines = screen(&state(vec![resource("r0", 0, 0)], vec![busy]), &mut Wishes::default());
    let volume = lines.iter().find(|line| line.starts_with("r0/0 ")).unwrap();
    let volume: Vec<&str> = volume.split_whitespace().collect();
    assert_eq!(volume[7..9], ["1500k", "123k"], "{lines:#?}");
}

fn row(situation: impl Into<String>, told: &(impl ToString + std::fmt::Debug)) -> Row {
    Row { variant: variant_of(told), situation: situation.into(), sentence: told.to_string() }
}

fn rows_of_errors() -> Vec<Row> {
    let socket = || PathBuf::from("/run/basalt/admin.sock");
    let unreachable =
        |kind: ErrorKind| AskError::Unreachable { socket: socket(), source: Error::from(kind) };
    let wire = |source| AskError::Wire { socket: socket(), verb: "status", source };
    let malformed = serde_json::from_str::<u8>("x").unwrap_err();
    let failure = Failure::new(FailureCode::Internal, "data thread 1 gave no answer", "");
    let errors = [
        ("no daemon listens", unreachable(ErrorKind::NotFound)),
        ("another user runs it", unreachable(ErrorKind::PermissionDenied)),
        ("the daemon ends while it is asked", wire(WireError::Closed)),
        ("the answer is not of this version", wire(WireError::Malformed(malformed))),
        ("the daemon refuses to answer", AskError::Refused(failure)),
    ];
    errors.iter().map(|(situation, error)| row(*situation, &Sentence::of(error))).collect()
}

#[test]
fn rows_of_the_screen_are_those_of_the_page() {
    let mut rows = rows_of_errors();
    for (situation, sentence) in [
        ("output to a pipe or a file", Sentence::NoTerminal),
        ("no answer came yet", Sentence::Waiting),
        ("no answer comes any more, 2 s after it was due", Sentence::Silent { seconds: 7 }),
        ("the answer is of another kind", Sentence::Confused),
        ("the daemon has no resource", Sentence::NothingUp),
        ("no row passes the filter", Sentence::NoneMatches { filter: "pvc".to_owned() }),
        (
            "what there is to say of the chosen row has no room",
            Sentence::More { lines: 3, resource: "r0".to_owned() },
        ),
    ] {
        rows.push(row(situation, &sentence));
    }
    for key in keys::ALL {
        rows.push(row(format!("help: {}", key.names()), &key));
    }
    let filter = || "pvc".to_owned();
    let order = "writes";
    for hint in [
        Hint::Leave,
        Hint::Explain,
        Hint::ToNodes,
        Hint::ToVolumes,
        Hint::Ordered { order },
        Hint::OrderedReversed { order },
        Hint::Narrow,
        Hint::TurnRound,
        Hint::Filtered { filter: filter() },
        Hint::Typing { filter: filter() },
        Hint::KeepOrEnd,
    ] {
        rows.push(row("last line", &hint));
    }
    for (table, columns) in
        [("volumes", &OF_VOLUMES[..]), ("peers", &OF_PEERS[..]), ("nodes", &OF_NODES[..])]
    {
        for column in columns {
            rows.push(row(format!("help: column {} of the {table}", column.head()), column));
        }
    }
    rows::check(("top.md", "What `basalt top` says"), rows);
}
