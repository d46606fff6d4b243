//! A node that is cut off does not tell of what it knew as if it were now.

use std::time::Duration;

use api::disk_state::DiskState;
use api::status::{ConnectionStatus, ResourceStatus};
use io::now;

use crate::BLOCK;
use crate::harness::Cluster;
use crate::relay::{Mode, Relay};

/// A silent peer is lost after 1.2 s; the rest is for a machine that has other things to do.
const LONGEST_DELUSION: Duration = Duration::from_secs(4);

fn epoch(status: &ResourceStatus) -> u64 {
    status.epoch.as_ref().map_or(0, |epoch| epoch.epoch)
}

/// Three nodes in sync; between the first two lies a relay.
fn start() -> (Cluster, Relay) {
    let mut cluster = Cluster::prepare(3, 0);
    let own = cluster.nodes[0].address;
    let listening = cluster.nodes[1].address;
    let relay = Relay::to(listening);
    // The one that dials comes last.
    for index in [2, 1, 0] {
        let theirs = if index == 0 { relay.address } else { listening };
        let path = format!("path {{ host n0 address {own}; host n1 address {theirs}; }}");
        let mesh = "connection-mesh { hosts n0 n1 n2; }";
        let connection = format!("connection {{ {path} }} {mesh}");
        cluster.configure(&cluster.config_text("r0").replace(mesh, &connection));
        cluster.launch(index);
        cluster.adm_ok(index, &["up", "r0"]);
    }
    cluster.make_in_sync();
    (cluster, relay)
}

/// The Primary goes on with the third node, which the second one reaches, too.
#[test]
fn replica_that_the_primary_alone_does_not_reach_knows_that_it_is_behind() {
    let (cluster, relay) = start();
    let mut client = cluster.client(0);
    client.write(0, &[1; BLOCK]).unwrap();
    let began = now();
    relay.set(Mode::Silent);
    cluster.wait(1, "knowledge that it is behind", |status| {
        status.devices[0].disk_state == DiskState::Outdated
    });
    let deluded = now().since(began);
    assert!(deluded < LONGEST_DELUSION, "it took itself for up to date for {deluded:?}");
    for number in 0..100 {
        client.write(0, &[number; BLOCK]).unwrap();
    }
    let known = epoch(&cluster.status(0).unwrap());
    let status = cluster.status(1).unwrap();
    assert_eq!(epoch(&status), known);
    assert_eq!(status.epoch.unwrap().insync, ["n0", "n2"]);
    let said = cluster.adm_told(1, &["explain", "r0"]);
    assert!(said.contains("every acknowledged write is on n0 and n2"), "{said}");
    assert!(!said.contains("no node is Primary"), "{said}");
    assert!(said.contains("n0 is Primary by the newest that is known here"), "{said}");
    relay.set(Mode::Refusing);
    relay.set(Mode::Open);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
}

/// n2 may be in sync and vote by now, for all that n1 can see.
#[test]
fn node_that_reaches_nobody_does_not_say_who_votes_as_if_it_were_so() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(2, &["down", "r0"]);
    let reason = "n2 has no vote: it left, was given up or never voted";
    let says = |cluster: &Cluster, start: &str| {
        let text = format!("{start}{reason}");
        cluster.wait(1, &text, |status| status.reasons.iter().any(|it| it.starts_with(&text)));
    };
    says(&cluster, "");
    cluster.kill(0);
    says(&cluster, "when this node was in touch last: ");
}

#[test]
fn node_that_reaches_nobody_says_of_when_its_knowledge_is() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.kill(0);
    cluster.kill(2);
    cluster.wait(1, "end of what is known", |status| {
        let age_ms = status.epoch.as_ref().and_then(|epoch| epoch.age_ms);
        status.devices[0].disk_state == DiskState::Consistent && age_ms.is_some()
    });
    let said = cluster.adm_told(1, &["explain", "r0"]);
    assert!(!said.contains("no node is Primary") && said.contains("Z n0 was Primary"), "{said}");
    for name in ["n0", "n2"] {
        assert!(said.contains(&format!("{name} is not connected: which of the two")), "{said}");
    }
    assert!(said.contains("who votes is known here as of 20"), "{said}");
    // Both were killed: the machine answers, and nobody listens. This node dials one of them.
    cluster.wait(1, "a refused connection", |status| {
        let told = |it: &ConnectionStatus| it.reason.as_ref().map(|it| it.contains("refused"));
        status.connections.iter().any(|it| it.name == "n2" && told(it) == Some(true))
    });
    let told = cluster.adm_told(1, &["explain", "r0"]);
    assert!(told.contains("n0 is Connecting, since 20"), "{told}");
    assert!(told.contains("nothing listens there for r0: on n2 `systemctl start"), "{told}");
    let told = cluster.adm_told(1, &["status", "r0"]);
    assert!(told.contains("then `basalt adm up r0` (since 20"), "{told}");
    assert!(
        said.contains("as of 20") && said.contains("every acknowledged write was on"),
        "{said}"
    );
    let said = cluster.adm_told(1, &["status", "--verbose", "r0"]);
    assert!(said.contains(" as-of:20"), "{said}");
    let said = cluster.adm_told(1, &["status", "r0"]);
    assert!(said.contains("# of the others it knows as of 20"), "{said}");
    for index in [0, 2] {
        cluster.launch(index);
        cluster.adm_ok(index, &["up", "r0"]);
    }
    cluster.wait_up_to_date(1);
    let status = cluster.status(1).unwrap();
    assert_eq!(status.epoch.unwrap().age_ms, None);
}

/// It was silent until its deadline, and its failure did not name who was missing.
#[test]
fn primary_without_a_quorum_says_meanwhile_what_it_waits_on() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.kill(0);
    cluster.kill(2);
    cluster.wait(1, "want of a quorum", |status| !status.devices[0].quorum);
    let output = cluster.adm(1, &["--json", "--timeout", "8", "primary", "r0"]);
    assert!(!output.status.success(), "{output:?}");
    let reason = "no quorum: 1 of 3 voters answer, 2 are needed (missing: n0, n2)";
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let meanwhile = format!("r0: primary: not done yet, it waits on:\n  {reason}\n");
    assert!(said.starts_with(&meanwhile), "{said}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told[0]["error"]["reasons"][0], reason, "{told}");
}

/// A node without a disk was told to make its data the truth.
#[test]
fn force_is_proposed_only_where_there_is_a_replica() {
    let cluster = Cluster::plan(3).clients(1).start();
    cluster.wait_connected(2);
    let said = cluster.adm_refused(2, &["primary", "r0"]);
    assert!(said.contains("no replica is UpToDate yet") && !said.contains("--force"), "{said}");
    let said = cluster.adm_refused(0, &["primary", "r0"]);
    assert!(said.contains("`basalt adm primary --force --dry-run r0` says what"), "{said}");
}
