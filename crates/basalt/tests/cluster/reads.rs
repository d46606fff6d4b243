//! Reads go to every in-sync replica that the policy names, and none fails with the replica that it
//! was asked of.

use std::collections::BTreeMap;

use api::role::Role;
use frontend::nbd::client::{Connection, Receiver, Request, Sender, Wishes};
use frontend::nbd::wire::{CMD_FLAG_DF, Command, ReplyForm};

use crate::BLOCK;
use crate::harness::Cluster;

/// Of one request.
const PIECE: usize = 128 << 10;
const PIECES: u64 = 128;
const DEPTH: u64 = 16;

/// Each block of the volume differs from every other.
fn pattern(piece: u64) -> Vec<u8> {
    let first = piece * (PIECE / BLOCK) as u64;
    let blocks = (first..first + (PIECE / BLOCK) as u64).map(|block| block.to_le_bytes());
    blocks.flat_map(|number| number.repeat(BLOCK / 8)).collect()
}

fn fill(client: &mut Connection) {
    for piece in 0..PIECES {
        client.write(piece * PIECE as u64, &pattern(piece)).unwrap();
    }
}

/// Reads everything in order, `DEPTH` requests at a time; `after` hears of each answer.
fn read_in_order(sender: &mut Sender, receiver: &mut Receiver, mut after: impl FnMut(u64)) {
    for piece in 0..PIECES + DEPTH {
        if piece >= DEPTH {
            let reply = receiver.recv_reply().unwrap();
            let piece_read = reply.request.cookie;
            assert_eq!(reply.error, None, "piece {piece_read}");
            assert!(reply.data == pattern(piece_read), "piece {piece_read} has other bytes");
            after(piece - DEPTH);
        }
        if piece < PIECES {
            let (offset, length) = (piece * PIECE as u64, PIECE as u64);
            let (command, flags, cookie) = (Command::Read, 0, piece);
            let request = Request { command, flags, cookie, offset, length };
            sender.send_request(&request, &[]).unwrap();
        }
    }
}

/// Reads that each member served for `index`, its own disk under its own name.
fn served(cluster: &Cluster, index: usize) -> BTreeMap<String, u64> {
    let status = cluster.status(index).unwrap();
    let own = status.devices[0].reads.unwrap_or_default();
    let others = status.connections.iter().map(|connection| {
        let reads = connection.peer_devices[0].reads.unwrap_or_default();
        (connection.name.clone(), reads.served)
    });
    others.chain([(cluster.nodes[index].name.clone(), own.served)]).collect()
}

#[test]
fn a_client_reads_from_all_replicas_and_goes_on_when_one_dies() {
    let mut cluster = Cluster::start_in_sync(4, 1);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let mut client = cluster.client(3);
    fill(&mut client);
    let (mut sender, mut receiver, _) = client.split();
    let before = served(&cluster, 3);
    for _ in 0..4 {
        read_in_order(&mut sender, &mut receiver, |_| ());
    }
    let after = served(&cluster, 3);
    for name in ["n0", "n1", "n2"] {
        let share = after[name] - before[name];
        assert!(share >= PIECES / 4, "{name} served {share} of {}: {after:?}", 4 * PIECES);
    }
    assert_eq!(after["n3"], 0, "it has no disk");

    // Reads are under way at the replica that dies.
    read_in_order(&mut sender, &mut receiver, |piece| {
        if piece == PIECES / 2 {
            cluster.kill(1);
        }
    });
    let before = served(&cluster, 3);
    read_in_order(&mut sender, &mut receiver, |_| ());
    let after = served(&cluster, 3);
    assert_eq!(after["n1"], before["n1"]);
    assert!(after["n0"] > before["n0"] && after["n2"] > before["n2"], "{after:?}");
}

#[test]
fn the_policy_changes_under_a_client() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    fill(&mut client);
    let (mut sender, mut receiver, _) = client.split();
    let shares = |sender: &mut Sender, receiver: &mut Receiver| {
        let before = served(&cluster, 0);
        read_in_order(sender, receiver, |_| ());
        let after = served(&cluster, 0);
        ["n0", "n1", "n2"].map(|name| after[name] - before[name])
    };
    assert_eq!(shares(&mut sender, &mut receiver), [PIECES, 0, 0], "a disk of its own");

    let choose = |policy: &str| {
        cluster.configure(&cluster.config_with(&format!("disk {{ read-balancing {policy}; }}")));
        cluster.adm_ok(0, &["adjust", "r0"]);
        assert_eq!(cluster.role(0), Role::Primary);
    };
    choose("prefer-remote");
    let [own, left, right] = shares(&mut sender, &mut receiver);
    assert!(own == 0 && left > 0 && right > 0, "{own} {left} {right}");
    choose("1M-striping");
    let shares = shares(&mut sender, &mut receiver);
    // 16 MiB are 16 stripes: 6 of one replica, 5 of each other.
    assert!(shares.iter().all(|share| [5 * 8, 6 * 8].contains(share)), "{shares:?}");
}

/// The kernel's client takes simple replies only: the data of a long read is one message there, and
/// what was answered between two of its parts was once sent in the middle of it.
#[test]
fn reply_that_comes_in_parts_is_not_mixed_with_others() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    fill(&mut client);
    client.close().unwrap();
    for (replies, flags) in [(ReplyForm::Simple, 0), (ReplyForm::Structured, CMD_FLAG_DF)] {
        let wishes = Wishes { replies, ..Wishes::default() };
        let open = || Connection::open(&cluster.uri(0), &wishes).ok();
        let (mut sender, mut receiver, export) = cluster.poll(0, "NBD session", open).split();
        assert_eq!(export.replies, replies);
        // Some have more parts than may be under way at once.
        let pieces = |cookie: u64| if cookie.is_multiple_of(8) { 40 } else { 1 + cookie % 3 };
        for cookie in 0..64 {
            let (offset, length) = (cookie * PIECE as u64, pieces(cookie) * PIECE as u64);
            let request = Request { command: Command::Read, flags, cookie, offset, length };
            sender.send_request(&request, &[]).unwrap();
        }
        for _ in 0..64 {
            let reply = receiver.recv_reply().unwrap();
            let first = reply.request.cookie;
            let expected: Vec<u8> = (first..first + pieces(first)).flat_map(pattern).collect();
            assert!(reply.data == expected, "the read of {:?} has other data", reply.request);
        }
        sender.send_disconnect().unwrap();
    }
}
