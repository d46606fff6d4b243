//! A client with two networks to each of three replicas, every host in a namespace of its own:
//! links go down and packets vanish, in one direction or both, and its reads and writes go on. Or a
//! network between two replicas loses what is large, and nothing else.
//!
//! It takes root, and the programs `ip` and `nft`; without them it says so and shows nothing.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use api::connection_state::ConnectionState;
use frontend::nbd::client::Connection;
use io::now;
use stdx::testing::skip;
use stdx::time::Time;

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
    fn lose_large(&self, (from, to): (usize, usize), network: u8) {
        let (host, to) = (&self.hosts[from], address(to, network).ip());
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

/// Daemons in hosts of their own, with replicas in sync; `None` where this may not be done.
fn start(test: &str, clients: usize) -> Option<(Cluster, Networks)> {
    let mut cluster = Cluster::prepare(SERVERS + clients, clients);
    let Some(networks) = Networks::create(test, SERVERS + clients) else {
        skip("namespaces take root, `ip` and `nft`");
        return None;
    };
    cluster.configure(&config(&cluster));
    for (node, host) in cluster.nodes.iter_mut().zip(&networks.hosts) {
        node.entry = ["ip", "netns", "exec", host].map(str::to_owned).to_vec();
    }
    cluster.begin();
    cluster.wait_connected(0);
    cluster.adm_ok(0, &["new-current-uuid", "--clear-bitmap", "r0"]);
    cluster.wait_up_to_date(cluster.nodes.len() - 1);
    Some((cluster, networks))
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
    let Some((cluster, networks)) = start("paths", 1) else { return };
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

/// A path counted as one to go on with, and to spread over, while only small packets passed.
#[test]
fn path_that_loses_large_packets_does_not_work() {
    let Some((cluster, networks)) = start("narrow", 1) else { return };
    let again = Cut { host: CLIENT, network: 1, how: How::Down };
    wait_for_path(&cluster, &[0, 1, 2], 1, Shown::Working);
    networks.lose_large((CLIENT, 0), 1);
    networks.cut(again);
    wait_for_path(&cluster, &[0, 1, 2], 1, Shown::Dead);
    networks.repair(again);
    wait_for_path(&cluster, &[1, 2], 1, Shown::Working);
    cluster.wait(CLIENT, "path that is too narrow", |status| {
        let mut here = status.connections.iter().filter(|it| it.name == cluster.nodes[0].name);
        here.any(|it| {
            let (wide, narrow) = (&it.paths[0], &it.paths[1]);
            let reason = narrow.reason.as_deref().unwrap_or_default();
            wide.established && reason.contains("large packets do not arrive there from here")
        })
    });
    networks.lose_nothing(CLIENT);
    wait_for_path(&cluster, &[0, 1, 2], 1, Shown::Working);
}

/// So long the large packets are lost, twice: with a rest for each return there would be three.
const LARGE_ARE_LOST: Duration = Duration::from_secs(12);
/// And so long the third node is down between both.
const NODE_IS_DOWN: Duration = Duration::from_secs(10);
/// A write that takes longer waited for the member that is lost: that takes 1.2 s.
const PAUSE: Duration = Duration::from_millis(800);
/// Tests beside this one take the processors now and then: so often both speeds are taken anew.
const ROUNDS_MAX: usize = 3;
/// Writes are counted in windows of this length.
const WINDOW: Duration = Duration::from_millis(500);

/// A write: when it was answered, and after how long.
type Answer = (Time, Duration);

/// Writes of 64 KiB, one after the other.
fn write_large(mut client: Connection, end: &AtomicBool, answers: &Mutex<Vec<Answer>>) {
    let blocks = client.export().size_bytes >> 16;
    let payload = vec![7; 64 << 10];
    for block in (0..blocks).cycle().step_by(37) {
        if end.load(Ordering::Relaxed) {
            break;
        }
        let began = now();
        client.write(block << 16, &payload).unwrap();
        answers.lock().unwrap().push((now(), now().since(began)));
    }
    client.close().unwrap();
}

/// Writes in a window while large packets are lost, and in one of two replicas alone.
fn is_as_fast((lossy, of_two): &(usize, usize)) -> bool {
    lossy * 10 >= of_two * 7
}

/// The writes in each whole window of a time, but for windows in which one paused.
fn windows(answers: &[Answer], (from, to): (Time, Time)) -> Vec<usize> {
    let mut counts = Vec::new();
    let mut begins = from;
    while begins + WINDOW <= to {
        let ends = begins + WINDOW;
        let within = |it: &&Answer| begins <= it.0 && it.0 < ends;
        let mut pauses = answers.iter().filter(|it| it.1 > PAUSE);
        if !pauses.any(|(at, took)| *at >= begins && *at < ends + *took) {
            counts.push(answers.iter().filter(within).count());
        }
        begins = ends;
    }
    counts
}

fn median(mut counts: Vec<usize>) -> usize {
    counts.sort_unstable();
    counts[counts.len() / 2]
}

/// Waits until a node says of another that large packets are lost on this way; not connected.
#[track_caller]
fn wait_for_loss(cluster: &Cluster, index: usize, peer: usize, way: &str) {
    let name = &cluster.nodes[peer].name;
    let text = format!("large packets do not arrive {way}, and small ones do (MTU)");
    cluster.wait(index, &text, |status| {
        let mut of_peer = status.connections.iter().filter(|it| it.name == *name);
        of_peer.any(|it| {
            let says = it.reason.as_ref().is_some_and(|reason| reason.contains(&text));
            says && it.connection_state == ConnectionState::Connecting
        })
    });
}

/// The connection came up each time, the replica was admitted, and the first write to it stuck
/// until it was lost again: writes stood still for as long as that lasted.
#[test]
fn network_that_loses_large_packets_costs_one_pause() {
    let Some((mut cluster, networks)) = start("large", 0) else { return };
    let size = cluster.client(0).export().size_bytes;
    let end = Arc::new(AtomicBool::new(false));
    let (client, told) = (cluster.client(0), Arc::clone(&end));
    let answers = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&answers);
    let user = thread::spawn(move || write_large(client, &told, &noted));
    let pass = |cluster: &Cluster, time: Duration| {
        let from = now();
        cluster.poll(0, "the time", || (now().since(from) > time).then_some(()));
        (from, now())
    };
    networks.lose_large((0, 2), 0);
    let first = pass(&cluster, LARGE_ARE_LOST);
    wait_for_loss(&cluster, 0, 2, "there from here");
    wait_for_loss(&cluster, 2, 0, "here from there");
    for (index, address) in [(0, "10.79.0.3"), (2, "10.79.0.1")] {
        let told = cluster.adm_told(index, &["explain", "r0"]);
        assert!(told.contains(&format!("ping -M do -s 1472 {address}")), "{told}");
        let lines = cluster.log(index).matches("large packets do not arrive").count();
        assert_eq!(lines, 1, "{}", cluster.log(index));
    }
    let mut rounds = Vec::new();
    let mut before = first;
    for _ in 0..ROUNDS_MAX {
        cluster.kill(2);
        let of_two = pass(&cluster, NODE_IS_DOWN);
        cluster.launch(2);
        wait_for_loss(&cluster, 0, 2, "there from here");
        let after = pass(&cluster, LARGE_ARE_LOST);
        let answers = answers.lock().unwrap();
        let lossy = [windows(&answers, before), windows(&answers, after)].concat();
        rounds.push((median(lossy), median(windows(&answers, of_two))));
        before = after;
        if is_as_fast(rounds.last().unwrap()) {
            break;
        }
    }
    end.store(true, Ordering::Relaxed);
    user.join().expect("no request fails");
    let answers = answers.lock().unwrap();
    let pauses: Vec<Duration> = answers.iter().map(|it| it.1).filter(|it| *it > PAUSE).collect();
    println!("pauses of {pauses:?}; writes in {WINDOW:?}, and with two replicas: {rounds:?}");
    assert_eq!(pauses.len(), 1, "{pauses:?}");
    assert!(rounds.iter().any(is_as_fast), "writes in {WINDOW:?}, of two replicas: {rounds:?}");
    networks.lose_nothing(0);
    cluster.wait_up_to_date(0);

    // What loses large packets to the Primary alone is noticed when a connection is made.
    networks.lose_large((2, 0), 0);
    cluster.kill(2);
    cluster.launch(2);
    wait_for_loss(&cluster, 0, 2, "here from there");
    wait_for_loss(&cluster, 2, 0, "there from here");
    networks.lose_nothing(2);
    cluster.wait_up_to_date(0);
    cluster.assert_replicas_equal(size);
}
