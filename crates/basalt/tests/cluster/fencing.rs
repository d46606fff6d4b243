//! `fencing`: of two nodes the one that is left goes on when `fence-peer` says that the other one
//! is out, and not before.

use std::fs;
use std::path::PathBuf;

use api::role::Role;
use api::status::HandlerStatus;

use crate::BLOCK;
use crate::harness::Cluster;

/// Two nodes, the first of them Primary. `fence-peer` waits for a file of its node, and ends with
/// the exit code that stands in it.
fn pair(fencing: &str, options: &str) -> Cluster {
    let mut cluster = Cluster::prepare(2, 0);
    set(&cluster, fencing, options);
    cluster.begin();
    cluster.make_in_sync();
    cluster
}

fn set(cluster: &Cluster, fencing: &str, options: &str) {
    let folder = cluster.directory.path().display();
    let code = format!("{folder}/code.$DRBD_MY_NODE_ID");
    // It outlives the daemon that called it, but not the test.
    let fence = format!(
        "env > {folder}/env.$DRBD_MY_NODE_ID; \
         until [ -s {code} ]; do [ -d {folder} ] || exit 1; sleep 0.05; done; exit $(cat {code})"
    );
    let unfence = format!("env > {folder}/unfenced.$DRBD_MY_NODE_ID");
    cluster.configure(&cluster.config_with(&format!(
        "options {{ {options} }} net {{ fencing {fencing}; }}
  handlers {{ fence-peer \"{fence}\"; unfence-peer \"{unfence}\"; }}"
    )));
}

fn file(cluster: &Cluster, name: &str, index: usize) -> PathBuf {
    cluster.directory.path().join(format!("{name}.{index}"))
}

fn content(cluster: &Cluster, name: &str, index: usize) -> String {
    cluster.poll(index, &format!("file {name}"), || {
        fs::read_to_string(file(cluster, name, index)).ok().filter(|text| !text.is_empty())
    })
}

/// The end of its calls so far.
fn ended(cluster: &Cluster, index: usize, handler: &str) -> HandlerStatus {
    cluster.poll(index, &format!("end of {handler}"), || {
        let handlers = cluster.status(index)?.handlers;
        handlers.into_iter().find(|it| it.name == handler && it.calls > 0)
    })
}

#[test]
fn the_primary_of_two_goes_on_when_the_other_one_was_stonithed() {
    let mut cluster = pair("resource-and-stonith", "on-no-quorum io-error;");
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &[1; BLOCK]).unwrap();
    // The first copy ended.
    ended(&cluster, 0, "unfence-peer");
    fs::remove_file(file(&cluster, "unfenced", 0)).unwrap();
    cluster.kill(1);
    let environment = content(&cluster, "env", 0);
    for line in ["DRBD_PEER=n1", "DRBD_PEER_NODE_ID=1", "UP_TO_DATE_NODES=0x1"] {
        assert!(environment.lines().any(|it| it == line), "no {line} in {environment}");
    }
    cluster.wait(0, "loss of the quorum", |status| !status.devices[0].quorum);
    // It is frozen while the handler runs, though `on-no-quorum` is `io-error`.
    let code = file(&cluster, "code", 0);
    let answers = std::thread::scope(|scope| {
        let writer = scope.spawn(|| client.write(0, &[2; BLOCK]));
        std::thread::park_timeout(std::time::Duration::from_secs(3));
        assert!(!writer.is_finished(), "it waits for the handler");
        fs::write(&code, "7").unwrap();
        writer.join().unwrap()
    });
    answers.unwrap();
    let count = ended(&cluster, 0, "fence-peer");
    assert_eq!((count.calls, count.failures, count.last_status), (1, 0, Some(7)));
    cluster.wait(0, "quorum", |status| status.devices[0].quorum && status.role == Role::Primary);
    client.write(4096, &[3; BLOCK]).unwrap();
    assert!(!file(&cluster, "unfenced", 0).exists());
    cluster.launch(1);
    cluster.wait_up_to_date(0);
    assert!(content(&cluster, "unfenced", 0).contains("DRBD_PEER=n1"));
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn what_is_no_proof_leaves_the_primary_waiting() {
    let mut cluster = pair("resource-only", "");
    let mut client = cluster.client(0);
    client.write(0, &[1; BLOCK]).unwrap();
    fs::write(file(&cluster, "code", 0), "5").unwrap();
    cluster.kill(1);
    let count = ended(&cluster, 0, "fence-peer");
    assert_eq!((count.failures, count.last_status), (1, Some(5)));
    cluster.wait_for_log(0, "that is no proof");
    cluster.wait(0, "loss of the quorum", |status| !status.devices[0].quorum);
    cluster.launch(1);
    cluster.wait_up_to_date(0);
    client.write(0, &[2; BLOCK]).unwrap();
    client.close().unwrap();
}

/// What was asked about the peer is over when that is back, whatever the script says later; and one
/// that hangs holds up nothing but the requests.
#[test]
fn a_script_that_hangs_proves_nothing_and_stops_nobody() {
    let mut cluster = pair("resource-and-stonith", "");
    let mut client = cluster.client(0);
    client.write(0, &[1; BLOCK]).unwrap();
    cluster.kill(1);
    content(&cluster, "env", 0);
    cluster.wait(0, "loss of the quorum", |status| !status.devices[0].quorum);
    cluster.launch(1);
    cluster.wait_up_to_date(0);
    client.write(0, &[2; BLOCK]).unwrap();
    fs::write(file(&cluster, "code", 0), "7").unwrap();
    ended(&cluster, 0, "fence-peer");
    for name in ["env", "code"] {
        fs::remove_file(file(&cluster, name, 0)).unwrap();
    }
    cluster.kill(1);
    content(&cluster, "env", 0);
    cluster.wait(0, "loss of the quorum", |status| !status.devices[0].quorum);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| client.write(0, &[3; BLOCK]));
        std::thread::park_timeout(std::time::Duration::from_secs(2));
        assert!(!writer.is_finished(), "the 7 was said of another absence");
        cluster.adm_ok(0, &["down", "--force", "r0"]);
        writer.join().unwrap().unwrap_err();
    });
}

#[test]
fn a_secondary_takes_over_when_the_primary_was_stonithed() {
    let mut cluster = pair("resource-and-stonith", "");
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &[1; BLOCK]).unwrap();
    drop(client);
    cluster.kill(0);
    fs::write(file(&cluster, "code", 1), "7").unwrap();
    cluster.adm_ok(1, &["primary", "r0"]);
    let mut other = cluster.client(1);
    let mut block = [0; BLOCK];
    other.read(0, &mut block).unwrap();
    assert_eq!(block, [1; BLOCK]);
    other.write(0, &[2; BLOCK]).unwrap();
    cluster.launch(0);
    cluster.wait_up_to_date(1);
    other.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// The script says that the other one is Primary, or fails.
#[test]
fn a_secondary_does_not_take_over_without_proof() {
    let mut cluster = pair("resource-only", "");
    cluster.kill(0);
    fs::write(file(&cluster, "code", 1), "6").unwrap();
    cluster.adm_refused(1, &["primary", "r0"]);
    assert_eq!(cluster.role(1), Role::Secondary);
    cluster.wait_for_log(1, "it is Primary: this node does not go on");
}

#[test]
fn fencing_without_a_handler_is_refused_and_told_of_where_a_majority_decides() {
    let mut cluster = Cluster::prepare(3, 0);
    cluster.launch(0);
    let with = |handlers: &str| {
        cluster.config_with(&format!("net {{ fencing resource-only; }} {handlers}"))
    };
    cluster.configure(&with(""));
    let said = cluster.adm_refused(0, &["up", "r0"]);
    assert!(said.contains("no handler for it") && said.contains("fence-peer"), "{said}");
    cluster.configure(&with("handlers { fence-peer \"exit 7\"; }"));
    let said = cluster.adm_warned(0, &["up", "r0"]);
    assert!(said.contains("a majority of 3 voters decides who goes on"), "{said}");
}
