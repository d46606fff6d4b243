//! A client with two networks to each of three replicas, every host in a namespace of its own:
//! links go down and packets vanish, in one direction or both, and its reads and writes go on. Or a
//! network between two replicas loses what is large, and nothing else.
//!
//! It takes root, and the programs `ip` and `nft`; without them it says so and shows nothing.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use api::connection_state::ConnectionState;
use frontend::nbd::client::Connection;
use io::now;
use stdx::testing::skip;

use crate::BLOCK;
use crate::frozen::run;
use crate::harness::Cluster;

const SERVERS: usize = 3;
const CLIENT: usize = 3;
const PORT: u16 = 7900;
/// A silent path is given up after 0.6 s, and three links move at once; the rest is for a machine
/// that has other things to do.
const LONGEST_WAIT: Duration = Duration::from_millis(2500);

/// Hosts on two bridges; dropping it removes all.
struct Networks {
    hub: String,
    hosts: Vec<String>,
}

#[track_caller]
fn ip(words: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    assert!(run("ip", &words), "ip {words:?}");
}

impl Networks {
    /// Those of one test; `None` where this may not be done.
    fn create(test: &str, count: usize) -> Option<Self> {
        let name = |end: &str| format!("basalt-{test}-{}-{end}", std::process::id());
        let hosts = (0..count).map(|index| name(&index.to_string())).collect();
        let networks = Self { hub: name("hub"), hosts };
        let may = run("ip", &["netns", "add", &networks.hub]) && run("nft", &["--version"]);
        may.then(|| {
            networks.build();
            networks
        })
    }

    fn build(&self) {
        let hub = &self.hub;
        for network in 0..2 {
            ip(&format!("-n {hub} link add bridge{network} type bridge"));
            ip(&format!("-n {hub} link set bridge{network} up"));
        }
        for (index, host) in self.hosts.iter().enumerate() {
            ip(&format!("netns add {host}"));
            ip(&format!("-n {host} link set lo up"));
            for network in 0..2 {
                let (port, link) = (format!("p{index}-{network}"), format!("eth{network}"));
                ip(&format!("-n {hub} link add {port} type veth peer name {link} netns {host}"));
                ip(&format!("-n {hub} link set {port} master bridge{network} up"));
                let address = address(index, network).ip();
                ip(&format!("-n {host} address add {address}/24 dev {link}"));
                ip(&format!("-n {host} link set {link} up"));
            }
        }
    }

    fn cut(&self, cut: Cut) {
        let Cut { host, network, how } = cut;
        let (host, link) = (&self.hosts[host], format!("eth{network}"));
        let (hook, word) = match how {
            How::Down => return ip(&format!("-n {host} link set {link} down")),
            How::LoseSent => ("output", "oifname"),
            How::LoseReceived => ("input", "iifname"),
        };
        let rules = format!(
            "add table inet cut; \
             add chain inet cut {hook} {{ type filter hook {hook} priority 0; policy accept; }}; \
             add rule inet cut {hook} {word} {link} drop"
        );
        assert!(run("ip", &["netns", "exec", host, "nft", &rules]), "{rules}");
    }

    /// What is larger than most messages does not come from one host to another any more, and
    /// nobody is told: as behind a tunnel that is narrower than the networks at its ends.
    fn lose_large(&self, from: usize, to: usize) {
        let (host, to) = (&self.hosts[from], address(to, 0).ip());
        let rules = format!(
            "add table inet cut; \
             add chain inet cut output {{ type filter hook output priority 0; policy accept; }}; \
             add rule inet cut output ip daddr {to} meta length > 1300 drop"
        );
        assert!(run("ip", &["netns", "exec", host, "nft", &rules]), "{rules}");
    }

    fn lose_nothing(&self, from: usize) {
        assert!(run("ip", &["netns", "exec", &self.hosts[from], "nft", "flush", "ruleset"]));
    }

    fn repair(&self, cut: Cut) {
        let Cut { host, network, how } = cut;
        match how {
            How::Down => ip(&format!("-n {} link set eth{network} up", self.hosts[host])),
            How::LoseSent | How::LoseReceived => self.lose_nothing(host),
        }
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        for name in self.hosts.iter().chain([&self.hub]) {
            run("ip", &["netns", "delete", name]);
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Cut {
    host: usize,
    network: u8,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Down,
    LoseSent,
    LoseReceived,
}

fn address(index: usize, network: u8) -> SocketAddr {
    let last = u8::try_from(index + 1).unwrap();
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 79, network, last)), PORT)
}

/// The replicas among each other over the first network, the client, if there is one, over both.
fn config(cluster: &Cluster) -> String {
    let hosts = cluster.nodes.len();
    let mut text = cluster.config_text("r0");
    text.truncate(text.find("  connection-mesh").unwrap());
    for index in 0..hosts {
        let own = format!("address {}; ", cluster.nodes[index].address);
        text = text.replace(&own, "");
    }
    for one in 0..SERVERS {
        for other in one + 1..hosts {
            let path = |network: u8| {
                let host = |index: usize| {
                    let (name, at) = (&cluster.nodes[index].name, address(index, network));
                    format!("host {name} address {at};")
                };
                format!("path {{ {} {} }}", host(one), host(other))
            };
            let second = if other == CLIENT { path(1) } else { String::new() };
            text += &format!("  connection {{ {} {second} }}\n", path(0));
        }
    }
    text + "}\n"
}

/// Writes and reads back without a pause until told to end; the count, and the longest wait.
fn use_on(mut client: Connection, end: &AtomicBool) -> (u64, Duration) {
    let blocks = client.export().size_bytes / 4096;
    let (mut count, mut longest) = (0_u64, Duration::ZERO);
    while !end.load(Ordering::Relaxed) {
        let offset = count * 37 % blocks * 4096;
        let mut block = [7; BLOCK];
        block[..8].copy_from_slice(&count.to_le_bytes());
        let began = now();
        client.write(offset, &block).unwrap();
        let mut found = [0; BLOCK];
        let written = now();
        client.read(offset, &mut found).unwrap();
        longest = longest.max(written.since(began)).max(now().since(written));
        assert_eq!(found, block, "what was written is read");
        count += 1;
    }
    client.flush().unwrap();
    client.close().unwrap();
    (count, longest)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Working,
    Dead,
}

/// Waits until the client sees, of the connections to these servers, the path of a network so.
#[track_caller]
fn wait_for_path(cluster: &Cluster, servers: &[usize], network: u8, wanted: Shown) {
    cluster.wait(CLIENT, "such paths", |status| {
        let mut here = status.connections.iter().filter(|connection| {
            servers.iter().any(|server| connection.name == cluster.nodes[*server].name)
        });
        here.all(|connection| {
            connection.connection_state == ConnectionState::Connected
                && connection.paths[usize::from(network)].established == (wanted == Shown::Working)
        })
    });
}

#[test]
fn client_with_two_networks_survives_the_loss_of_each() {
    let mut cluster = Cluster::prepare(SERVERS + 1, 1);
    let Some(networks) = Networks::create("paths", SERVERS + 1) else {
        skip("namespaces take root, `ip` and `nft`");
        return;
    };
    cluster.configure(&config(&cluster));
    for (node, host) in cluster.nodes.iter_mut().zip(&networks.hosts) {
        node.entry = ["ip", "netns", "exec", host].map(str::to_owned).to_vec();
    }
    cluster.begin();
    cluster.wait_connected(0);
    cluster.adm_ok(0, &["new-current-uuid", "--clear-bitmap", "r0"]);
    cluster.wait_up_to_date(CLIENT);
    let size = cluster.client(CLIENT).export().size_bytes;
    let end = Arc::new(AtomicBool::new(false));
    let (client, told) = (cluster.client(CLIENT), Arc::clone(&end));
    let user = thread::spawn(move || use_on(client, &told));
    let epoch = |index: usize| cluster.status(index).unwrap().epoch.unwrap().epoch;
    let before = epoch(CLIENT);
    for (number, how) in
        [How::Down, How::LoseReceived, How::LoseSent, How::Down].into_iter().enumerate()
    {
        // At the client, where all connections are hit; then at a server.
        for host in [CLIENT, number % SERVERS] {
            let network = u8::try_from(number % 2).unwrap();
            // The servers reach each other over the first network alone.
            let network = if host == CLIENT { network } else { 1 };
            let servers = if host == CLIENT { vec![0, 1, 2] } else { vec![host] };
            let cut = Cut { host, network, how };
            // Who has lost the other path, too, would be lost.
            for network in [0, 1] {
                wait_for_path(&cluster, &[0, 1, 2], network, Shown::Working);
            }
            networks.cut(cut);
            wait_for_path(&cluster, &servers, network, Shown::Dead);
            networks.repair(cut);
        }
    }
    wait_for_path(&cluster, &[0, 1, 2], 0, Shown::Working);
    wait_for_path(&cluster, &[0, 1, 2], 1, Shown::Working);
    end.store(true, Ordering::Relaxed);
    let (count, longest) = user.join().expect("no request fails");
    println!("{count} writes and reads over 8 cuts, the longest wait {longest:?}");
    assert!(count > 100 && longest < LONGEST_WAIT, "{count} writes, {longest:?}");
    assert_eq!(epoch(CLIENT), before, "no member was lost");
    cluster.wait_up_to_date(CLIENT);
    cluster.assert_replicas_equal(size);
}

/// So long the large packets are lost: the rests of 5 and 10 s are over by then, that of 20 s is
/// not.
const LARGE_ARE_LOST: Duration = Duration::from_secs(30);
/// A write that takes longer waited for the member that is lost: that takes 1.2 s.
const PAUSE: Duration = Duration::from_millis(800);
/// The first loss, that after the first return, and one behind each rest that was over.
const PAUSES_MAX: usize = 4;

/// Writes of 64 KiB, one after the other; how long those took that had to pause.
fn write_large(mut client: Connection, end: &AtomicBool) -> Vec<Duration> {
    let blocks = client.export().size_bytes >> 16;
    let (mut pauses, mut count) = (Vec::new(), 0_u64);
    while !end.load(Ordering::Relaxed) {
        let began = now();
        client.write((count * 37 % blocks) << 16, &vec![7; 64 << 10]).unwrap();
        let took = now().since(began);
        pauses.extend((took > PAUSE).then_some(took));
        count += 1;
    }
    client.close().unwrap();
    pauses
}

/// The connection came up each time, the replica was admitted, and the first write to it stuck
/// until it was lost again: writes stood still for as long as that lasted.
#[test]
fn network_that_loses_large_packets_costs_a_pause_for_each_rest() {
    let mut cluster = Cluster::prepare(SERVERS, 0);
    let Some(networks) = Networks::create("large", SERVERS) else {
        skip("namespaces take root, `ip` and `nft`");
        return;
    };
    cluster.configure(&config(&cluster));
    for (node, host) in cluster.nodes.iter_mut().zip(&networks.hosts) {
        node.entry = ["ip", "netns", "exec", host].map(str::to_owned).to_vec();
    }
    cluster.begin();
    cluster.wait_connected(0);
    cluster.adm_ok(0, &["new-current-uuid", "--clear-bitmap", "r0"]);
    cluster.wait_up_to_date(0);
    let size = cluster.client(0).export().size_bytes;
    let end = Arc::new(AtomicBool::new(false));
    let (client, told) = (cluster.client(0), Arc::clone(&end));
    let user = thread::spawn(move || write_large(client, &told));
    let name = cluster.nodes[2].name.clone();
    let rests = |status: &api::status::ResourceStatus| {
        status.connections.iter().any(|it| it.name == name && it.lost_again.is_some())
    };
    let lost_at = now();
    networks.lose_large(0, 2);
    cluster.wait(0, "its rest", |status| rests(status));
    cluster.wait(0, "its connection", |status| {
        rests(status)
            && status.connections.iter().all(|it| it.connection_state == ConnectionState::Connected)
    });
    let told = cluster.adm_told(0, &["explain", "r0"]);
    let sentence = format!("{name} rests for ");
    assert!(told.contains(&sentence) && told.contains("ping -M do -s 1472 10.79.0.3"), "{told}");
    cluster.poll(0, "the time", || (now().since(lost_at) > LARGE_ARE_LOST).then_some(()));
    end.store(true, Ordering::Relaxed);
    let pauses = user.join().expect("no request fails");
    println!("pauses of {pauses:?} in {LARGE_ARE_LOST:?}");
    assert!((1..=PAUSES_MAX).contains(&pauses.len()), "{pauses:?}");
    networks.lose_nothing(0);
    cluster.wait_up_to_date(0);
    cluster.assert_replicas_equal(size);
}
