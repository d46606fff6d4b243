//! What only several shards can show.

use crate::BLOCK;
use crate::harness::Cluster;
use crate::variant::Variant;

const EXTENT: u64 = 4 << 20;
/// Fewer than the extents of a disk, each in a lane of its own.
const EXTENTS: u64 = 12;

#[test]
fn lanes_and_clients_are_spread_over_the_shards() {
    let cluster = Cluster::plan(3).variant(Variant::Shards).start_in_sync();
    let mut clients: Vec<_> = (0..4).map(|_| cluster.client(0)).collect();
    let size = clients[0].export().size_bytes;
    for round in 0..20 {
        for (number, client) in (0..).zip(&mut clients) {
            for extent in 0..EXTENTS {
                let value = u8::try_from(1 + (round + number + extent) % 250).unwrap();
                let offset = extent * EXTENT + (round * 4 + number) * 4096;
                client.write(offset, &[value; BLOCK]).unwrap();
                let mut block = [0; BLOCK];
                client.read(offset, &mut block).unwrap();
                assert_eq!(block, [value; BLOCK], "client {number}, extent {extent}");
            }
        }
    }
    // One request with parts in many lanes, and one client's write under another's eyes.
    clients[1].write(EXTENT / 2, &vec![0xee; 9 << 20]).unwrap();
    clients[2].flush().unwrap();
    let mut bytes = vec![0; 9 << 20];
    clients[3].read(EXTENT / 2, &mut bytes).unwrap();
    assert!(bytes.iter().all(|byte| *byte == 0xee));
    clients[0].trim(EXTENT, 2 * EXTENT).unwrap();

    let shards = cluster.status(0).unwrap().shards;
    assert_eq!(shards.len(), 2, "{shards:?}");
    for shard in &shards {
        for peer in &shard.peers {
            assert!(peer.sendmsg > 100, "shard {} sent to {}: {shards:?}", shard.shard, peer.name);
        }
    }
    for client in clients {
        client.close().unwrap();
    }
    cluster.assert_replicas_equal(size);
}

#[test]
fn restart_with_other_shards_replays_the_log_of_all() {
    let mut cluster = Cluster::plan(3).variant(Variant::Shards).start_in_sync();
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    for extent in 0..EXTENTS {
        client.write(extent * EXTENT, &[0x31; BLOCK]).unwrap();
    }
    // The node with three shards comes back with one, then with two.
    for shards in [1, 2] {
        cluster.kill(2);
        client.write(3 * EXTENT, &[0x32; BLOCK]).unwrap();
        cluster.nodes[2].shards = shards;
        cluster.launch(2);
        cluster.poll(2, "line of each shard", || {
            let lines = cluster.log(2).matches("unclean end: ").count();
            (lines >= usize::from(shards)).then_some(())
        });
        let log = cluster.log(2);
        let counts: Vec<u64> = log
            .split("unclean end: ")
            .skip(1)
            .map(|text| text.split(' ').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!(counts.len(), usize::from(shards), "{log}");
        // The copies of the first return are in sequence: the log may be an extent ahead of each.
        assert!(counts.iter().all(|count| (EXTENTS..=2 * EXTENTS).contains(count)), "{log}");
        assert_eq!(counts[0], EXTENTS, "{log}");
        cluster.wait_up_to_date(2);
        for extent in 0..EXTENTS {
            client.write(extent * EXTENT, &[0x33; BLOCK]).unwrap();
        }
    }
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}
