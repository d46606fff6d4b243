//! `sndbuf-size` and `rcvbuf-size`: what the kernel keeps for the connections between nodes.
//!
//! It takes the program `ss`; without it it says so and shows nothing.

use std::process::Command;

use stdx::testing::skip;

use crate::BLOCK;
use crate::harness::Cluster;

/// Send and receive buffer of each connection of the first node's port.
fn sizes(cluster: &Cluster) -> Option<Vec<(u64, u64)>> {
    let port = format!("( sport = :{0} or dport = :{0} )", cluster.nodes[2].address.port());
    let words = ["-tmnOH", "state", "established", &port];
    let output = Command::new("ss").args(words).output().ok().filter(|it| it.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |line: &str, key: &str| -> Option<u64> {
        let memory = line.split_once("skmem:(")?.1.split(')').next()?;
        memory.split(',').find_map(|word| word.strip_prefix(key)?.parse().ok())
    };
    Some(text.lines().filter_map(|line| Some((number(line, "tb")?, number(line, "rb")?))).collect())
}

#[test]
fn buffers_of_connections_have_the_sizes_of_the_options_and_change_under_clients() {
    let cluster = Cluster::start_in_sync(3, 0);
    let Some(own) = sizes(&cluster) else {
        skip("sizes are told by `ss`");
        return;
    };
    // The kernel doubles what it is asked for.
    let wanted = (2 * (96 << 10), 2 * (80 << 10));
    assert!(!own.is_empty() && !own.contains(&wanted), "{own:?}");
    let mut client = cluster.client(0);
    cluster.adjust_to("net { sndbuf-size 96K; rcvbuf-size 80K; }");
    client.write(0, &[5; BLOCK]).unwrap();
    // Connections are found at both ends; those that only watch a path stay as they are.
    let changed = cluster.poll(0, "buffers of these sizes", || {
        sizes(&cluster).filter(|all| all.iter().filter(|it| **it == wanted).count() >= 4)
    });
    assert!(changed.len() >= 4, "{changed:?}");
    client.close().unwrap();
}
