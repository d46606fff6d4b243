//! What is written through one node is on all, and any node serves.

use api::role::Role;
use frontend::nbd::wire::CMD_FLAG_NO_HOLE;

use crate::BLOCK;
use crate::harness::Cluster;

#[test]
fn write_through_one_node_is_on_all_replicas() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &[0x41; BLOCK]).unwrap();
    client.write(5 << 20, &vec![0x42; 3 << 20]).unwrap();
    client.write(512, &[0x43; 1024]).unwrap();
    client.write_durably(size - 512, &[0x44; 512]).unwrap();
    client.trim((5 << 20) + 4096, 1 << 20).unwrap();
    client.flush().unwrap();
    let mut block = [0; BLOCK];
    client.read(0, &mut block).unwrap();
    assert_eq!((block[511], block[512], block[1535], block[1536]), (0x41, 0x43, 0x43, 0x41));
    client.read((5 << 20) + 4096, &mut block).unwrap();
    assert_eq!(block, [0; BLOCK], "what was discarded reads as zeroes");
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    assert_eq!(cluster.data(1, size).last(), Some(&0x44));
}

#[test]
fn unaligned_zeroes_leave_their_neighbours_alone() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &vec![0x55; 64 << 10]).unwrap();
    client.write_zeroes(512, (32 << 10) + 512, CMD_FLAG_NO_HOLE).unwrap();
    let mut bytes = vec![0; 64 << 10];
    client.read(0, &mut bytes).unwrap();
    let end = 33 << 10;
    assert!(bytes[..512].iter().all(|byte| *byte == 0x55));
    assert!(bytes[512..end].iter().all(|byte| *byte == 0));
    assert!(bytes[end..].iter().all(|byte| *byte == 0x55));
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn node_without_a_disk_serves_the_volume() {
    let cluster = Cluster::start_in_sync(3, 1);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let mut client = cluster.client(2);
    let size = client.export().size_bytes;
    assert_eq!(cluster.role(2), Role::Primary);
    client.write(1 << 20, &[0x77; BLOCK]).unwrap();
    let mut block = [0; BLOCK];
    client.read(1 << 20, &mut block).unwrap();
    assert_eq!(block, [0x77; BLOCK]);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn role_follows_the_clients() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let mut client = cluster.client(1);
    assert_eq!(cluster.role(1), Role::Primary);
    let refusal = cluster.connect(2).unwrap_err().to_string();
    assert!(refusal.contains("Primary"), "{refusal}");
    client.write(0, &[1; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.wait(1, "way back to Secondary", |status| status.role == Role::Secondary);
    let mut client = cluster.client(2);
    let mut block = [0; BLOCK];
    client.read(0, &mut block).unwrap();
    assert_eq!(block, [1; BLOCK]);
}

#[test]
fn one_turn_sends_to_a_peer_at_most_once() {
    let mut cluster = Cluster::prepare(3, 0);
    // A look before a sleep is an enter of its own.
    cluster.nodes[0].words = ["--spin-us", "0"].map(str::to_owned).to_vec();
    cluster.begin();
    cluster.make_in_sync();
    let mut client = cluster.client(0);
    for index in 0..500 {
        client.write(index * 4096, &[7; BLOCK]).unwrap();
    }
    let mut status = cluster.status(0).unwrap();
    let shard = status.shards.remove(0);
    for peer in &shard.peers {
        assert!(peer.sendmsg > 500, "every write was sent to {}", peer.name);
        assert!(peer.sendmsg <= shard.turns, "{shard:?}");
    }
    if status.io_backend == "io_uring" {
        assert!(shard.enters <= shard.turns, "{shard:?}");
    }
}

#[test]
fn nodes_that_poll_and_nodes_with_a_ring_work_together_and_say_which() {
    let mut cluster = Cluster::prepare(3, 0);
    let backends = ["poll", "io_uring", "poll"];
    for (index, backend) in backends.into_iter().enumerate() {
        cluster.nodes[index].environment = vec![("BASALT_IO_BACKEND", backend)];
    }
    cluster.begin();
    cluster.make_in_sync();
    for (index, backend) in backends.into_iter().enumerate() {
        assert_eq!(cluster.status(index).unwrap().io_backend, backend);
    }
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    for number in 0..32 {
        client.write(number << 20, &[7; BLOCK]).unwrap();
    }
    client.flush().unwrap();
    client.close().unwrap();
    cluster.adm_ok(0, &["secondary", "r0"]);
    let mut client = cluster.client(1);
    let mut block = [0; BLOCK];
    client.read(31 << 20, &mut block).unwrap();
    assert_eq!(block, [7; BLOCK]);
    client.write_durably(0, &[8; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn latencies_are_counted_and_holders_are_named() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    for index in 0..100 {
        client.write(index * 4096, &[7; BLOCK]).unwrap();
    }
    let status = cluster.status(0).unwrap();
    let device = &status.devices[0];
    let written = device.write_latency.as_ref().unwrap();
    assert_eq!(written.count(), 100, "{written:?}");
    assert!(written.sum_us > 0, "{written:?}");
    for connection in &status.connections {
        // One write at a time is followed, and each was answered before the next was sent.
        let acknowledged = connection.peer_devices[0].ack_latency.as_ref().unwrap();
        assert!((50..=100).contains(&acknowledged.count()), "{acknowledged:?}");
    }
    let holder = &device.holders[0];
    assert_eq!(holder.pid, Some(std::process::id()));
    let own = std::fs::read_to_string("/proc/self/comm").unwrap();
    assert_eq!(holder.command.as_deref(), Some(own.trim()));
}
