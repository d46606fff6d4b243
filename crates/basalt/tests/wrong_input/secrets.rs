//! Resources with a `shared-secret`, and peers that do not know it, or only overheard somebody.
//!
//! Whatever a peer tries, the resource is not connected to it, both ends say what is wrong, and the
//! secret itself is nowhere to be read.

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;

use api::connection_state::ConnectionState;
use ring::hmac;

use crate::cluster::{Cluster, RESOURCE, wait_for};
use crate::fake_peer::{FakePeer, Opened, Prover};

const SECRET: &str = "hushhush";
/// Reasons to close a handle.
const DOWN: u8 = 5;
const PROOF_MISSING: u8 = 6;
const PROOF_WRONG: u8 = 9;

fn with_net(text: &str, net: &str) -> String {
    text.replace("  options {", &format!("  net {{ {net} }}\n  options {{"))
}

fn with_secret(text: &str, digest: &str, secret: &str) -> String {
    with_net(text, &format!("cram-hmac-alg {digest}; shared-secret \"{secret}\";"))
}

/// It is nowhere but in the file of the operator and in one that only the daemon's user may read.
fn assert_secret_is_kept(cluster: &Cluster) {
    for (index, node) in cluster.nodes.iter().enumerate() {
        assert!(!node.log().contains(SECRET), "{}", node.log());
        let stored = node.state_dir().join("resources/r0.res");
        assert!(fs::read_to_string(&stored).unwrap().contains(SECRET));
        assert_eq!(fs::metadata(&stored).unwrap().permissions().mode() & 0o777, 0o600);
        for words in [&["status", RESOURCE, "--verbose"][..], &["adjust", "--dry-run", RESOURCE]] {
            let said = cluster.adm(index, words);
            assert!(!said.stdout.contains(SECRET) && !said.stderr.contains(SECRET), "{said:?}");
        }
    }
}

#[test]
fn nodes_with_one_secret_are_connected_and_it_changes_under_clients() {
    let cluster = Cluster::prepare(3);
    let plain = cluster.text();
    cluster.configure(&with_secret(&plain, "sha1", "before"));
    let mut cluster = cluster.bring_up();
    let mut client = cluster.nodes[1].client();
    client.write(0, &[1; 4096]).unwrap();
    cluster.nodes[0].wait_for_log("connected, and knows the `shared-secret`");
    // One node after the other: what is connected stays so.
    cluster.configure(&with_secret(&plain, "sha512", SECRET));
    for index in 0..3 {
        let would = cluster.adm(index, &["adjust", "--dry-run", RESOURCE]);
        assert!(would.stdout.contains("--shared-secret=(hidden)"), "{would:?}");
        cluster.adm(index, &["adjust", RESOURCE]).exits(0);
        client.write(4096, &[2; 4096]).unwrap();
        let status = cluster.nodes[index].status().unwrap();
        let mut all = status.connections.iter();
        assert!(all.all(|one| one.connection_state == ConnectionState::Connected), "{status:?}");
    }
    client.close().unwrap();
    cluster.nodes[2].kill();
    cluster.nodes[2].start();
    cluster.become_whole();
    cluster.nodes[0].serves();
    assert_secret_is_kept(&cluster);
}

#[test]
fn nodes_that_do_not_know_the_same_stay_apart_until_they_do() {
    let mut cluster = Cluster::prepare(3);
    let plain = cluster.text();
    let right = with_secret(&plain, "sha256", SECRET);
    cluster.configure(&right);
    for index in [0, 2] {
        cluster.create_md(index);
        cluster.nodes[index].start();
        cluster.adm(index, &["up", RESOURCE]).ok();
    }
    cluster.create_md(1);
    cluster.nodes[1].start();
    cluster.configure(&plain);
    cluster.adm(1, &["up", RESOURCE]).ok();
    let variants = [
        (plain.clone(), "it has no `shared-secret` and this node has one", "it has a `shared-secr"),
        (with_secret(&plain, "sha256", "other"), "its `shared-secret` is another", "secret` is an"),
        (with_secret(&plain, "sha512", SECRET), "its `cram-hmac-alg` is another", "hmac-alg` is a"),
    ];
    for (text, alfa_says, bravo_says) in variants {
        cluster.configure(&text);
        cluster.adm(1, &["adjust", RESOURCE]).exits(0);
        cluster.wait_for_reason(0, "bravo", alfa_says);
        cluster.wait_for_reason(1, "alfa", bravo_says);
        cluster.wait_for_reason(1, "charlie", "authentication of the peer failed");
        let votes = |at: usize| cluster.nodes[at].status().unwrap().quorum_votes.unwrap().have;
        assert_eq!((votes(0), votes(1)), (2, 1), "bravo is alone");
    }
    cluster.configure(&right);
    cluster.adm(1, &["adjust", RESOURCE]).exits(0);
    cluster.become_whole();
    assert_secret_is_kept(&cluster);
}

#[test]
fn half_of_the_two_options_is_refused() {
    let mut cluster = Cluster::prepare(1);
    let plain = cluster.text().replace(
        "  on alfa",
        "  on zulu {\n    node-id 9;\n    address \
        127.0.0.1:9; volume 0 { device minor 0; disk none; }\n  }\n  on alfa",
    );
    let plain = plain.replace("}\n}\n", "}\n  connection-mesh { hosts alfa zulu; }\n}\n");
    cluster.create_md(0);
    cluster.nodes[0].start();
    for (net, parts) in [
        ("shared-secret hushhush;", ["has `shared-secret` and no `cram-hmac-alg`", "set both"]),
        ("cram-hmac-alg sha256;", ["has `cram-hmac-alg` and no `shared-secret`", "set both"]),
        ("cram-hmac-alg md5; shared-secret hushhush;", ["`md5` is not one of", "sha256"]),
    ] {
        cluster.configure(&with_net(&plain, net));
        let said = cluster.adm(0, &["up", RESOURCE]);
        assert_ne!(said.exit, 0, "{said:?}");
        assert!(parts.iter().all(|part| said.stderr.contains(part)), "{said:?}");
        assert!(!said.stderr.contains(SECRET), "{said:?}");
    }
}

/// As alfa says it to charlie.
fn prove(secret: &str, opened: &Opened, theirs: [u8; 16], ours: [u8; 16]) -> Vec<u8> {
    let mut text = b"basalt proof of a shared secret\0\0\x02".to_vec();
    for part in [&opened.resource[..], &opened.handle, &theirs, &ours] {
        text.extend_from_slice(part);
    }
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    hmac::sign(&key, &text).as_ref().to_vec()
}

fn is_connected(cluster: &Cluster, peer: &str) -> bool {
    let status = cluster.nodes[2].status().unwrap();
    let found = status.connections.iter().find(|one| one.name == peer);
    found.is_some_and(|one| one.connection_state == ConnectionState::Connected)
}

/// Alfa is somebody else, at alfa's address.
#[test]
fn overheard_and_reflected_proofs_are_worth_nothing() {
    let cluster = Cluster::prepare_with_first_at(Ipv4Addr::LOCALHOST, 3);
    cluster.configure(&with_secret(&cluster.text(), "sha256", SECRET));
    let mut cluster = cluster.bring_up();
    cluster.nodes[0].kill();
    wait_for("charlie to miss alfa", || cluster.reason(2, "alfa"));
    let charlie = cluster.nodes[2].peer;
    let (me, peer, ours) = (0, 2, [7; 16]);

    // What charlie says of itself is sent back to it, for its own challenge.
    let mut mirror = Prover::greet(charlie, "alfa");
    let said = mirror.challenge(mirror.their_challenge);
    mirror.open(&said, (me, peer));
    assert_eq!(mirror.refusal(&said), PROOF_WRONG);
    let silent = Opened { code: Vec::new(), handle: 3210_u32.to_le_bytes(), ..said.clone() };
    mirror.open(&silent, (me, peer));
    assert_eq!(mirror.refusal(&silent), PROOF_MISSING);
    assert!(!is_connected(&cluster, "alfa"));

    // Who knows the secret is let in.
    let mut knowing = Prover::greet(charlie, "alfa");
    let said = knowing.challenge(ours);
    let handle = 0x1230_u32.to_le_bytes();
    let claim = Opened { handle, code: Vec::new(), ..said };
    let code = prove(SECRET, &claim, knowing.their_challenge, ours);
    let genuine = Opened { code, ..claim };
    knowing.open(&genuine, (me, peer));
    wait_for("charlie to believe it", || is_connected(&cluster, "alfa").then_some(()));
    // The same once more over the same connection.
    knowing.open(&genuine, (me, peer));
    assert_eq!(knowing.refusal(&genuine), PROOF_WRONG);
    assert!(is_connected(&cluster, "alfa"), "what is connected is not disturbed");

    // Who overheard it says the same, challenge and all.
    drop(knowing);
    wait_for("charlie to miss it", || (!is_connected(&cluster, "alfa")).then_some(()));
    let mut overhearing = Prover::greet(charlie, "alfa");
    overhearing.challenge(ours);
    overhearing.open(&genuine, (me, peer));
    assert_eq!(overhearing.refusal(&genuine), PROOF_WRONG);
    let code = prove("other", &genuine, overhearing.their_challenge, ours);
    let guessed = Opened { code, ..genuine };
    overhearing.open(&guessed, (me, peer));
    assert_eq!(overhearing.refusal(&guessed), PROOF_WRONG);
    assert!(!is_connected(&cluster, "alfa"));

    // A version that knows of no proofs is told apart from one that proves nothing.
    drop(overhearing);
    let mut older = FakePeer::greet(charlie, "alfa");
    let resource = guessed.resource;
    assert_eq!(older.open_unasked(0x1240, (me, peer), resource), DOWN);
    cluster.wait_for_reason(2, "alfa", "its version knows of no `shared-secret`; update it");
    assert!(!cluster.nodes[2].has_ended());
}
