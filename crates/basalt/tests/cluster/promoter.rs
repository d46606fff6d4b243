//! A promoter as drbd-reactor has it: it knows nothing but the lines of `events2`, and what it
//! does is `primary`. One runs beside each daemon.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use api::role::Role;

use crate::harness::Cluster;

const BLOCK: usize = 4096;
/// What the best node waits before it promotes; each missing point of the score adds to it.
const PATIENCE: Duration = Duration::from_millis(50);

const START_MAX: Duration = Duration::from_secs(30);

struct Promoter {
    events: Child,
    thread: JoinHandle<Vec<String>>,
    is_ended: Arc<AtomicBool>,
}

impl Promoter {
    fn start(cluster: &Cluster, index: usize) -> Self {
        let socket = cluster.state_dir(index).join("admin.sock");
        let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
        command.arg("adm").arg("--node-socket").arg(&socket).args(["events2", "--full", "r0"]);
        let mut events = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(events.stdout.take().unwrap());
        let is_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_ended);
        let (first, has_seen) = mpsc::channel();
        let thread = thread::spawn(move || promote_by(lines, &socket, &ended, &first));
        // What follows is to be seen as a change, however long the program takes to start.
        has_seen.recv_timeout(START_MAX).expect("the first line comes");
        Self { events, thread, is_ended }
    }

    /// The lines of the resource that it saw.
    fn end(mut self) -> Vec<String> {
        self.is_ended.store(true, Ordering::Relaxed);
        // It may have ended with its daemon.
        drop(self.events.kill());
        self.events.wait().unwrap();
        self.thread.join().unwrap()
    }
}

fn promote_by(
    lines: impl BufRead,
    socket: &PathBuf,
    is_ended: &AtomicBool,
    first: &mpsc::Sender<()>,
) -> Vec<String> {
    let mut seen = Vec::new();
    for line in lines.lines() {
        let Ok(line) = line else { break };
        let mut words = line.split(' ');
        let (action, object) = (words.next().unwrap(), words.next().unwrap());
        if object != "resource" {
            continue;
        }
        let fields: BTreeMap<&str, &str> = words.filter_map(|word| word.split_once(':')).collect();
        seen.push(line.clone());
        // Nobody listens after the first one.
        let _is_heard = first.send(()).is_ok();
        if action == "destroy" || fields["may_promote"] != "yes" {
            continue;
        }
        let score: u32 = fields["promotion_score"].parse().unwrap();
        // A node with a better disk comes first.
        thread::park_timeout(PATIENCE * (1 + 10_199_u32.saturating_sub(score) / 100));
        if is_ended.load(Ordering::Relaxed) {
            break;
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
        command.arg("adm").arg("--node-socket").arg(socket);
        command.args(["--timeout", "3", "primary", "r0"]);
        // A refusal is followed by an event of the one who was first.
        command.stderr(Stdio::null()).status().unwrap();
    }
    seen
}

#[test]
fn promoter_driven_by_events_alone_fails_a_volume_over() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write_durably(0, &[0x61; BLOCK]).unwrap();
    drop(client);
    let promoters: Vec<_> = (0..3).map(|index| Promoter::start(&cluster, index)).collect();
    cluster.wait(0, "role that stays", |status| status.role == Role::Primary);
    cluster.kill(0);
    let is_primary =
        |index: &usize| cluster.status(*index).is_some_and(|status| status.role == Role::Primary);
    let successor = cluster.poll(1, "successor", || (1..3).find(is_primary));
    let mut client = cluster.client(successor);
    let mut block = [0; BLOCK];
    client.read(0, &mut block).unwrap();
    assert_eq!(block, [0x61; BLOCK]);
    client.write_durably(4096, &[0x62; BLOCK]).unwrap();

    cluster.launch(0);
    cluster.wait_up_to_date(0);
    let seen: Vec<_> = promoters.into_iter().map(Promoter::end).collect();
    let lines = &seen[successor];
    assert!(lines[0].starts_with("exists resource name:r0 role:Secondary"), "{lines:#?}");
    assert!(lines[0].contains(" may_promote:no "), "{lines:#?}");
    let may = lines.iter().position(|line| line.contains(" may_promote:yes ")).unwrap();
    let did = lines.iter().position(|line| line.contains(" role:Primary ")).unwrap();
    assert!(may < did, "{lines:#?}");
    // The one whose daemon died saw it Primary to the last.
    assert!(seen[0].iter().all(|line| line.contains(" role:Primary ")), "{:#?}", seen[0]);
}

#[test]
fn openers_and_the_end_of_a_resource_are_events() {
    let cluster = Cluster::start_in_sync(3, 0);
    let socket = cluster.state_dir(0).join("admin.sock");
    let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
    command.arg("adm").arg("--node-socket").arg(&socket).args(["events2", "--diff"]);
    let mut events = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(events.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut until = |part: &str| lines.find(|line| line.contains(part)).expect("the line comes");
    until("exists -");
    let client = cluster.client(0);
    until("change device name:r0 volume:0 minor:1 open:no->yes");
    client.close().unwrap();
    until("change device name:r0 volume:0 minor:1 open:yes->no");
    cluster.adm_ok(0, &["disconnect", "r0:n1"]);
    until("conn-name:n1 connection:Connected->StandAlone role:Secondary->Unknown");
    cluster.adm_ok(0, &["secondary", "r0"]);
    until("change resource name:r0 role:Primary->Secondary");
    cluster.adm_ok(0, &["down", "r0"]);
    until("destroy resource name:r0");
    events.kill().unwrap();
    events.wait().unwrap();
}
