//! What `status`, `show` and `events2` print in each state, whole: standard output, standard error
//! and exit code, in one golden file for each state.
//!
//! The shapes are DRBD's, with our own words after the known ones. `UPDATE_GOLDEN=1 cargo test -p
//! basalt --test adm golden` writes the files that differ; read what changes before you commit it.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::response::{FailureCode, Reply, Response, Running, RunningReply};
use api::role::Role;
use api::status::{
    ConnectionStatus, DeviceStatistics, DeviceStatus, EpochStatus, LeaseStatus, NodeStatus,
    PathStatus, PeerDeviceStatus, QuorumVotes, ResourceStatus, StatusReply, SyncDetails,
    VoterStatus,
};
use api::subscription::Update;
use api::write_ordering::WriteOrdering;

use crate::events::{AT_US, told, with_score};
use crate::fake_node::{Place, Run};
use crate::refused;

/// A state, and what the daemon answers in it.
struct State {
    name: &'static str,
    resources: Result<Vec<ResourceStatus>, Response>,
    text: &'static str,
}

const DISKFUL: &str = "resource r0 {
    options { quorum majority; auto-promote no; }
    net { max-buffers 8000; }
    disk { al-extents 1237; c-max-rate 200M; }
    volume 0 { device minor 1; disk /dev/vg/r0; meta-disk /dev/vg/r0-meta; }
    on alice { node-id 0; }
    on bob { node-id 1; }
    on carol { node-id 2; }
    connection { path { host alice address 10.0.0.1:7900; host bob address 10.0.0.2:7900; }
                 path { host alice address 10.0.1.1:7900; host bob address 10.0.1.2:7900; } }
    connection { host alice address 10.0.0.1:7900; host carol address 10.0.0.3:7900; }
    connection { host bob address 10.0.0.2:7900; host carol address 10.0.0.3:7900; }
}";

const CLIENT: &str = "resource r0 {
    on alice { node-id 0; address 10.0.0.1:7900; volume 0 { device minor 1; disk none; } }
    on bob { node-id 1; address 10.0.0.2:7900;
      volume 0 { device minor 1; disk /dev/vg/r0; meta-disk internal; } }
    on carol { node-id 2; address 10.0.0.3:7900;
      volume 0 { device minor 1; disk /dev/vg/r0; meta-disk internal; } }
    connection-mesh { hosts alice bob carol; }
}";

/// The one over the first network is in use.
fn path(peer: u8, network: u8) -> PathStatus {
    let end = |last| std::net::SocketAddr::from(([10, 0, network, last], 7900)).into();
    PathStatus {
        this_host: end(1),
        remote_host: end(peer + 1),
        established: network == 0,
        ..PathStatus::default()
    }
}

fn peer(node_id: u8, name: &str) -> ConnectionStatus {
    let mut paths = vec![path(node_id, 0)];
    if node_id == 1 {
        paths.push(path(1, 1));
    }
    ConnectionStatus {
        peer_node_id: node_id,
        name: name.to_owned(),
        connection_state: ConnectionState::Connected,
        peer_role: Role::Secondary,
        paths,
        peer_devices: vec![PeerDeviceStatus {
            replication_state: ReplicationState::Established,
            peer_disk_state: DiskState::UpToDate,
            sent: 8192,
            ..PeerDeviceStatus::default()
        }],
        ..ConnectionStatus::default()
    }
}

fn lose(connection: &mut ConnectionStatus, reason: &str) {
    connection.connection_state = ConnectionState::Connecting;
    connection.peer_role = Role::Unknown;
    connection.peer_devices = vec![PeerDeviceStatus { out_of_sync: 64, ..Default::default() }];
    connection.reason = Some(reason.to_owned());
    connection.paths.iter_mut().for_each(|path| path.established = false);
}

fn voters(present: [bool; 3]) -> Option<QuorumVotes> {
    let voter = |(node_id, (name, present)): (u8, (&str, bool))| VoterStatus {
        node_id,
        name: name.to_owned(),
        present,
        ..VoterStatus::default()
    };
    let have = present.iter().filter(|present| **present).count();
    Some(QuorumVotes {
        have: u32::try_from(have).unwrap(),
        needed: 2,
        voters: (0..).zip(["alice", "bob", "carol"].into_iter().zip(present)).map(voter).collect(),
        before_change: None,
    })
}

fn epoch(insync: &[&str]) -> Option<EpochStatus> {
    Some(EpochStatus {
        branch: "00000000000000a1".to_owned(),
        epoch: 7,
        insync: insync.iter().map(|&name| name.to_owned()).collect(),
        primary: None,
        losses: 0,
        awaits_reopen: false,
        age_ms: None,
    })
}

/// Of alice, with all three nodes up.
fn secondary() -> ResourceStatus {
    ResourceStatus {
        name: "r0".to_owned(),
        role: Role::Secondary,
        io_backend: "io_uring".to_owned(),
        write_ordering: WriteOrdering::Flush,
        devices: vec![DeviceStatus {
            minor: 1,
            disk_state: DiskState::UpToDate,
            quorum: true,
            backing_dev: Some("/dev/vg/r0".to_owned()),
            statistics: Some(DeviceStatistics {
                size: 1_048_576,
                read: 4096,
                written: 8192,
                al_writes: 3,
                ..DeviceStatistics::default()
            }),
            ..DeviceStatus::default()
        }],
        connections: vec![peer(1, "bob"), peer(2, "carol")],
        quorum_votes: voters([true; 3]),
        epoch: epoch(&["alice", "bob", "carol"]),
        lease: Some(LeaseStatus { held: false, remaining_ms: 0 }),
        ..ResourceStatus::default()
    }
}

fn primary() -> ResourceStatus {
    let mut resource = secondary();
    resource.role = Role::Primary;
    resource.devices[0].open = true;
    resource.lease = Some(LeaseStatus { held: true, remaining_ms: 1400 });
    resource
}

fn one_peer_down() -> ResourceStatus {
    let mut resource = primary();
    lose(&mut resource.connections[1], "carol at 10.0.0.3:7900 refuses connections");
    resource.quorum_votes = voters([true, true, false]);
    resource.epoch = epoch(&["alice", "bob"]);
    resource.reasons = vec!["carol misses 64 KiB".to_owned()];
    resource
}

fn no_quorum() -> ResourceStatus {
    let mut resource = one_peer_down();
    lose(&mut resource.connections[0], "no answer from bob for 1.2 s");
    resource.quorum_votes = voters([true, false, false]);
    resource.devices[0].quorum = false;
    resource.suspended = true;
    resource.suspended_quorum = true;
    resource.reasons = vec!["no quorum: 1 of 3 voters answer, 2 are needed".to_owned()];
    resource.lease = Some(LeaseStatus { held: false, remaining_ms: 0 });
    resource
}

fn client() -> ResourceStatus {
    let mut resource = primary();
    let device = &mut resource.devices[0];
    device.disk_state = DiskState::Diskless;
    device.client = true;
    device.backing_dev = None;
    resource.quorum_votes = voters([true; 3]);
    resource.epoch = epoch(&["bob", "carol"]);
    resource
}

fn resync() -> ResourceStatus {
    let mut resource = primary();
    let connection = &mut resource.connections[0];
    connection.rs_in_flight = 2048;
    let bob = &mut connection.peer_devices[0];
    bob.replication_state = ReplicationState::SyncSource;
    bob.peer_disk_state = DiskState::Inconsistent;
    bob.out_of_sync = 655_360;
    bob.percent_in_sync = 37.5;
    *bob = bob.clone().with_sync(SyncDetails {
        rs_total: 2_097_152,
        rs_dt_start_ms: 4000,
        rs_dt1_ms: 3000,
        rs_db1_sectors: 604_569,
        want: 100.0,
        rate_tick: 99.0,
        rate_recent: 98.4,
        rate_overall: 96.0,
        estimated_seconds_to_finish: 7,
        percent_resync_done: 37.5,
        ..SyncDetails::default()
    });
    resource.epoch = epoch(&["alice", "carol"]);
    resource
}

/// Bob is a follower that fell behind.
fn ahead() -> ResourceStatus {
    let mut resource = primary();
    let connection = &mut resource.connections[0];
    (connection.congested, connection.protocol) = (true, Some("A".to_owned()));
    let bob = &mut connection.peer_devices[0];
    bob.replication_state = ReplicationState::Ahead;
    bob.peer_disk_state = DiskState::Inconsistent;
    resource.epoch = epoch(&["alice", "carol"]);
    resource
}

/// Alice is a follower that fell behind bob, the Primary.
fn behind() -> ResourceStatus {
    let mut resource = secondary();
    resource.devices[0].disk_state = DiskState::Outdated;
    let connection = &mut resource.connections[0];
    (connection.peer_role, connection.protocol) = (Role::Primary, Some("A".to_owned()));
    connection.peer_devices[0].replication_state = ReplicationState::Behind;
    resource.epoch = epoch(&["bob", "carol"]);
    resource
}

fn states() -> Vec<State> {
    let is =
        |name, resource| State { name, resources: Ok(vec![with_score(resource)]), text: DISKFUL };
    let unknown = refused(
        FailureCode::UnknownResource,
        "no resource \"r0\" is up on this node",
        "see `basalt adm status`",
    );
    vec![
        State { name: "down", resources: Err(unknown), text: DISKFUL },
        State { name: "unconfigured", resources: Ok(Vec::new()), text: DISKFUL },
        is("secondary", secondary()),
        is("primary", primary()),
        is("one-peer-down", one_peer_down()),
        is("no-quorum", no_quorum()),
        is("resync", resync()),
        is("ahead", ahead()),
        is("behind", behind()),
        State { name: "client", resources: Ok(vec![with_score(client())]), text: CLIENT },
    ]
}

impl State {
    fn status(&self) -> Response {
        match &self.resources {
            Err(response) => response.clone(),
            Ok(resources) => Response::Ok(Reply::Status(StatusReply {
                node: NodeStatus { name: "alice".to_owned(), ..NodeStatus::default() },
                resources: resources.clone(),
            })),
        }
    }

    fn running(&self) -> Vec<Response> {
        let Ok(resources) = &self.resources else { return vec![self.status()] };
        let running = |resource: &ResourceStatus| Running {
            resource: resource.name.clone(),
            config_text: self.text.to_owned(),
        };
        let resources = resources.iter().map(running).collect();
        let reply = RunningReply { node: "alice".to_owned(), resources };
        vec![Response::Ok(Reply::Running(reply)), self.status()]
    }

    /// Every command in this state.
    fn text(&self) -> String {
        // What is not configured cannot be named.
        let target = if self.name == "unconfigured" { "" } else { " r0" };
        let mut text = String::new();
        for command in [
            "adm status",
            "adm status --verbose --statistics",
            "adm status --json",
            "adm status --json --statistics",
            "setup status",
            "adm events2 --now",
            "adm events2 --now --statistics",
            "adm events2 --now --full --diff",
            "adm events2 --now --json",
            "setup show",
            "setup show --json",
        ] {
            let command = format!("{command}{target}");
            let words: Vec<&str> = command.split(' ').collect();
            let answers = match words[1] {
                "show" => self.running(),
                _ => vec![self.status()],
            };
            let run = Place::new().run_tool(words[0], &words[1..], answers);
            add(&mut text, &command, &run);
        }
        text
    }
}

fn add(text: &mut String, command: &str, run: &Run) {
    writeln!(text, "$ basalt {command}").unwrap();
    writeln!(text, "exit {}", run.exit).unwrap();
    for (name, part) in [("out", &run.stdout), ("err", &run.stderr)] {
        for line in part.lines() {
            writeln!(text, "{name}|{line}").unwrap();
        }
    }
    text.push('\n');
}

fn check(name: &str, text: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/adm/golden");
    let path = folder.join(format!("{name}.txt"));
    let golden = fs::read_to_string(&path).unwrap_or_default();
    if golden == text {
        return;
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(&folder).unwrap();
        return fs::write(&path, text).unwrap();
    }
    let line = golden.lines().zip(text.lines()).position(|(left, right)| left != right);
    let line = line.unwrap_or_else(|| golden.lines().count().min(text.lines().count()));
    panic!(
        "{name}: line {} is {:?}, and was {:?}; UPDATE_GOLDEN=1 writes it anew",
        line + 1,
        text.lines().nth(line),
        golden.lines().nth(line)
    );
}

#[test]
fn each_command_prints_what_it_did_in_each_state() {
    for state in states() {
        check(state.name, &state.text());
    }
}

/// A resource that comes up, is promoted, loses a peer, gets it back, and goes.
#[test]
fn events_are_told_in_every_style() {
    let updates = || {
        let changed = |polled, resource| Update::Changed {
            at_us: AT_US,
            polled,
            resource: Box::new(with_score(resource)),
        };
        let mut counted = primary();
        counted.devices[0].statistics.as_mut().unwrap().written = 12_288;
        vec![
            Update::All { at_us: AT_US, lost: 0, resources: vec![with_score(secondary())] },
            changed(false, primary()),
            changed(true, counted),
            changed(false, one_peer_down()),
            changed(false, no_quorum()),
            changed(false, resync()),
            Update::Gone { at_us: AT_US, resource: "r0".to_owned() },
        ]
    };
    let mut text = String::new();
    for style in 0..32 {
        let options = ["--timestamps", "--statistics", "--diff", "--full", "--json"];
        let chosen = options.iter().enumerate().filter(|(bit, _)| style & 1 << bit != 0);
        let mut words = vec!["events2"];
        words.extend(chosen.map(|(_, option)| *option));
        let (stdout, stderr, _) = told(&words, updates());
        let run = Run { exit: 20, stdout, stderr, asked: Vec::new() };
        add(&mut text, &format!("adm {}", words.join(" ")), &run);
    }
    check("events2", &text);
}

/// Nobody answers, and the words are wrong: nothing is asked of the daemon.
#[test]
fn failures_before_the_first_question_are_told() {
    let place = Place::new();
    let mut text = String::new();
    for command in [
        "adm status",
        "adm status r0 --json",
        "adm events2 --now",
        "adm events2",
        "setup show",
        "setup show --json",
        "setup status r0",
        "adm status r0:bob",
        "adm status --verbosely",
        "adm events2 --color=always --no",
        "adm events2 r0/0",
        "setup show r0 --show-default-values",
        "setup status minor-0",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let run = place.run_tool_alone(words[0], &words[1..]);
        add(&mut text, command, &run);
    }
    check("failures", &text);
}
