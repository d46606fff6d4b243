//! Each sentence about the connections, for each situation.

use std::net::SocketAddr;

use api::status::PeerDeviceStatus;

use super::*;
use crate::adm::explain::rows::{self, Row};

fn situation(state: ConnectionState) -> ResourceStatus {
    let end = |text: &str| Endpoint::from(text.parse::<SocketAddr>().unwrap());
    let path = PathStatus {
        this_host: end("10.0.0.1:7789"),
        remote_host: end("10.0.0.2:7789"),
        established: state == ConnectionState::Connected,
        in_use: state == ConnectionState::Connected,
        ..PathStatus::default()
    };
    let bob = ConnectionStatus {
        name: "bob".to_owned(),
        connection_state: state,
        paths: vec![path],
        peer_devices: vec![PeerDeviceStatus::default()],
        ..ConnectionStatus::default()
    };
    ResourceStatus { name: "r0".to_owned(), connections: vec![bob], ..ResourceStatus::default() }
}

fn row(situation: impl Into<String>, sentence: &Sentence) -> Row {
    // The time is that of the test.
    let text = if let Sentence::Away { since: Some(when), .. } = sentence {
        sentence.to_string().replace(when, "TIME")
    } else {
        sentence.to_string()
    };
    let variant = rows::variant_of(sentence);
    Row { variant, situation: situation.into(), sentence: text }
}

fn rows_of_states() -> Vec<Row> {
    let mut rows = Vec::new();
    for state in ConnectionState::ALL {
        for reason in [None, Some("no route to host")] {
            for down_ms in [None, Some(90_000)] {
                let mut resource = situation(state);
                let bob = &mut resource.connections[0];
                bob.reason = reason.map(str::to_owned);
                bob.down_ms = down_ms;
                let told = peers(&resource);
                assert_eq!(told.len(), 1, "{told:?}");
                let why = if reason.is_some() { ", the reason is known" } else { "" };
                let since = if down_ms.is_some() { ", since when is known" } else { "" };
                let is_away =
                    !matches!(told[0], Sentence::AllConnected | Sentence::StandAlone { .. });
                let place = match is_away {
                    true => format!("bob is {state}{why}{since}"),
                    false => format!("bob is {state}"),
                };
                // Of those that differ in the word alone one is enough.
                let is_one = matches!(
                    state,
                    ConnectionState::Connecting
                        | ConnectionState::StandAlone
                        | ConnectionState::Connected
                );
                rows.extend(is_one.then(|| row(place, &told[0])));
            }
        }
    }
    rows
}

#[test]
fn rows_of_peers_are_those_of_the_page() {
    let mut rows = rows_of_states();
    let mut split = situation(ConnectionState::StandAlone);
    split.connections[0].split_brain = true;
    split.connections[0].reason = Some("split brain: this node and bob both went on".to_owned());
    rows.push(row("a split brain", &peers(&split)[0]));

    let mut resting = situation(ConnectionState::Connected);
    resting.connections[0].lost_again = Some(LostAgainStatus { losses: 3, rest_ms: 11_200 });
    rows.push(row("bob was lost again and again", &peers(&resting)[0]));
    resting.suspended = true;
    rows.push(row("bob was lost again and again, requests wait", &peers(&resting)[0]));

    let mut paths = situation(ConnectionState::Connected);
    let known = &mut paths.connections[0].paths;
    let mut dead = known[0].clone();
    (dead.established, dead.in_use, dead.down_ms) = (false, false, Some(5_000));
    dead.reason = Some("no route to host".to_owned());
    known.push(dead.clone());
    rows.push(row("one of two paths is down", &peers(&paths)[0]));
    let mut paths = situation(ConnectionState::Connecting);
    paths.connections[0].paths = vec![dead.clone(), dead];
    rows.push(row("both paths are down", &peers(&paths)[1]));

    let mut timed = situation(ConnectionState::Connected);
    let latency = |sum_us| LatencyHistogram { counts: vec![4], sum_us, ..Default::default() };
    timed.connections[0].peer_devices[0].ack_latency = Some(latency(2000));
    rows.push(row("of one peer it is known how long it takes", &peers(&timed)[0]));
    let mut carol = timed.connections[0].clone();
    carol.name = "carol".to_owned();
    carol.peer_devices[0].ack_latency = Some(latency(1000));
    timed.connections.push(carol);
    rows.push(row("of two peers it is known how long they take", &peers(&timed)[0]));
    rows::check(("explain-peers.md", "What `explain` says of peers"), rows);
}
