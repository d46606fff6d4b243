//! Scripts of the configuration that are run when something happens.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use api::disk_state::DiskState;
use api::role::Role;
use api::status::HandlerStatus;
use stdx::child::HeldChild;

use crate::BLOCK;
use crate::harness::Cluster;

/// Daemons with `r0` up and in sync, and with these sections more than usual.
fn start_with(nodes: usize, sections: impl Fn(&Cluster) -> String) -> Cluster {
    let mut cluster = Cluster::prepare(nodes, 0);
    set(&cluster, &sections(&cluster));
    cluster.begin();
    cluster.make_in_sync();
    cluster
}

fn set(cluster: &Cluster, sections: &str) {
    cluster.configure(&cluster.config_with(sections));
}

/// What a handler of a node left behind.
fn note(cluster: &Cluster, index: usize, handler: &str) -> PathBuf {
    cluster.directory.path().join(format!("{index}.{handler}"))
}

/// A handler that leaves its environment behind.
fn noting(cluster: &Cluster, handler: &str) -> String {
    let folder = cluster.directory.path().display();
    format!("{handler} \"echo says $DRBD_PEER; env > {folder}/$DRBD_MY_NODE_ID.{handler}\";")
}

fn noted(cluster: &Cluster, index: usize, handler: &str) -> String {
    cluster.poll(index, &format!("call of {handler}"), || {
        let text = fs::read_to_string(note(cluster, index, handler)).ok()?;
        (!text.is_empty()).then_some(text)
    })
}

/// Waits until so many calls of a handler ended.
fn counted(cluster: &Cluster, index: usize, handler: &str, calls: u64) -> HandlerStatus {
    cluster.poll(index, &format!("end of {calls} calls of {handler}"), || {
        let handlers = cluster.status(index)?.handlers;
        handlers.into_iter().find(|it| it.name == handler && it.calls == calls)
    })
}

/// What `events2` tells goes to a file.
struct Events {
    _program: HeldChild,
}

impl Events {
    fn of(cluster: &Cluster, index: usize) -> Self {
        let out = File::create(cluster.directory.path().join("events")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
        command.args(["adm", "--node-socket"]).arg(cluster.state_dir(index).join("admin.sock"));
        command.args(["events2", "r0"]).stdin(Stdio::null()).stdout(out);
        Self { _program: command.spawn().unwrap().into() }
    }

    fn wait_for(&self, cluster: &Cluster, line: &str) {
        let path = cluster.directory.path().join("events");
        cluster.poll(0, line, || {
            fs::read_to_string(&path).unwrap().lines().any(|it| it == line).then_some(())
        });
    }
}

#[test]
fn handlers_are_called_with_drbds_environment_and_counted() {
    let mut cluster = start_with(3, |cluster| {
        let (noting, quorum) = (noting(cluster, "disconnected"), noting(cluster, "quorum-lost"));
        format!("handlers {{ {noting} {quorum} }}")
    });
    let events = Events::of(&cluster, 0);
    events.wait_for(&cluster, "exists -");
    cluster.kill(2);
    let found = noted(&cluster, 0, "disconnected");
    for line in [
        "DRBD_RESOURCE=r0",
        "DRBD_PEER=n2",
        "DRBD_PEER_NODE_ID=2",
        "DRBD_MY_NODE_ID=0",
        "DRBD_NODE_ID_1=n1",
        "DRBD_MINOR=1",
        "DRBD_VOLUME=0",
        "DRBD_MY_AF=ipv4",
        "DRBD_PEER_ADDRESS=127.0.0.1",
        "DRBD_CSTATE=Connecting",
    ] {
        assert!(found.lines().any(|it| it == line), "no {line} in {found}");
    }
    assert!(!found.contains("CARGO"), "nothing of the daemon's own: {found}");
    let call = "helper name:r0 peer-node-id:2 conn-name:n2 helper:disconnected";
    events.wait_for(&cluster, &format!("call {call}"));
    events.wait_for(&cluster, &format!("response {call} status:0"));
    let count = counted(&cluster, 0, "disconnected", 1);
    assert_eq!((count.failures, count.last_status), (0, Some(0)));
    cluster.wait_for_log(0, "handler disconnected: says n2");
    assert!(!cluster.log(0).contains("handler quorum-lost"), "two of three are a majority");
    cluster.kill(1);
    noted(&cluster, 0, "quorum-lost");
    assert!(!cluster.log(1).contains("handler quorum-lost"), "{}", cluster.log(1));
}

#[test]
fn scripts_that_fail_are_shown_and_changed_under_clients() {
    let mut cluster = start_with(3, |_| "handlers { disconnected \"exit 5\"; }".to_owned());
    let mut client = cluster.client(0);
    cluster.kill(2);
    let count = counted(&cluster, 0, "disconnected", 1);
    assert_eq!((count.failures, count.last_status), (1, Some(5)));
    cluster.wait_for_log(0, "handler disconnected ended with exit code 5");

    set(&cluster, "handlers { disconnected \"true\"; }");
    cluster.adm_ok(0, &["adjust", "r0"]);
    cluster.launch(2);
    cluster.wait_up_to_date(0);
    cluster.kill(2);
    assert_eq!(counted(&cluster, 0, "disconnected", 2).failures, 1, "the new one is called");
    client.write(0, &[1; BLOCK]).unwrap();
    client.close().unwrap();
}

/// It was not asked to step down: it stood still, and another node took over.
#[test]
fn pri_lost_is_called_where_another_node_took_over() {
    let cluster =
        start_with(3, |cluster| format!("handlers {{ {} }}", noting(cluster, "pri-lost")));
    let id = cluster.nodes[0].daemon.as_ref().unwrap().id().to_string();
    let signal =
        |word: &str| assert!(Command::new("kill").args([word, &id]).status().unwrap().success());
    signal("-STOP");
    drop(cluster.client(1));
    cluster.wait(1, "promotion", |status| status.role == Role::Primary);
    signal("-CONT");
    noted(&cluster, 0, "pri-lost");
    cluster.wait(0, "end of its role", |status| status.role == Role::Secondary);
    cluster.wait(1, "end of its role", |status| status.role == Role::Secondary);
    thread::park_timeout(Duration::from_millis(200));
    assert!(!note(&cluster, 1, "pri-lost").exists(), "its last client left: it was to go back");
}

#[test]
fn split_brain_is_told_to_a_handler() {
    let cluster = start_with(2, |cluster| {
        let both = noting(cluster, "split-brain") + &noting(cluster, "initial-split-brain");
        format!("options {{ quorum off; }} handlers {{ {both} }}")
    });
    let mut client = cluster.client(0);
    cluster.adm_ok(0, &["disconnect", "r0"]);
    client.write(0, &[2; BLOCK]).unwrap();
    let mut other = cluster.client(1);
    other.write(0, &[3; BLOCK]).unwrap();
    other.close().unwrap();
    cluster.adm_ok(0, &["connect", "r0"]);
    for index in 0..2 {
        noted(&cluster, index, "initial-split-brain");
        let found = noted(&cluster, index, "split-brain");
        assert!(found.contains(&format!("DRBD_PEER=n{}", 1 - index)), "{found}");
    }
    client.close().unwrap();
}

/// What it misses is not copied before the script ended, which may keep an image of it.
#[test]
fn a_resync_waits_for_its_handler() {
    let mut cluster = start_with(3, |cluster| {
        let folder = cluster.directory.path().display();
        fs::write(cluster.directory.path().join("go"), "").unwrap();
        let script = format!("until [ -e {folder}/go ]; do sleep 0.05; done");
        format!("handlers {{ before-resync-target \"{script}\"; }}")
    });
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(4096, &[1; BLOCK]).unwrap();
    cluster.kill(2);
    client.write(4096, &[2; BLOCK]).unwrap();
    let go = cluster.directory.path().join("go");
    fs::remove_file(&go).unwrap();
    cluster.launch(2);
    cluster.wait(2, "wait for the handler", |status| {
        status.reasons.iter().any(|reason| reason.contains("before-resync-target"))
    });
    client.write(8192, &[3; BLOCK]).unwrap();
    let image = cluster.data(2, size);
    assert_eq!((&image[4096..8192], &image[8192..12_288]), (&[1; BLOCK][..], &[0; BLOCK][..]));
    fs::write(go, "").unwrap();
    cluster.wait_up_to_date(0);
    assert_eq!(counted(&cluster, 2, "before-resync-target", 1).failures, 0);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn a_handler_that_fails_refuses_the_resync() {
    let mut cluster = start_with(3, |_| String::new());
    let mut client = cluster.client(0);
    set(&cluster, "handlers { before-resync-target \"exit 9\"; }");
    cluster.adm_ok(2, &["adjust", "r0"]);
    cluster.kill(2);
    client.write(4096, &[2; BLOCK]).unwrap();
    cluster.launch(2);
    assert_eq!(counted(&cluster, 2, "before-resync-target", 1).last_status, Some(9));
    cluster.wait_for_log(2, "does not allow the resync");
    let state = cluster.status(2).unwrap().devices[0].disk_state;
    assert_ne!(state, DiskState::UpToDate);
    // Without the handler nothing is asked any more.
    set(&cluster, "");
    cluster.adm_ok(2, &["adjust", "r0"]);
    client.close().unwrap();
}
