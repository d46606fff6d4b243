//! Two paths between two nodes: the other one is taken when one breaks, and clients do not notice;
//! what breaks is shown, and taken back into use when it works.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use api::connection_state::ConnectionState;
use api::status::{PathStatus, ResourceStatus};
use frontend::nbd::client::Connection;
use io::now;

use crate::BLOCK;
use crate::harness::{Cluster, own_port};
use crate::relay::{Mode, Relay};

/// A silent path is given up after 0.6 s where another one works, and that one is dialled at once;
/// the rest is for a machine that has other things to do.
const LONGEST_ABSENCE: Duration = Duration::from_millis(2200);

struct TwoPaths {
    cluster: Cluster,
    relays: [Relay; 2],
    /// Of the first node.
    own: [SocketAddr; 2],
    /// Of the second node, behind the relays.
    listening: [SocketAddr; 2],
}

/// Three nodes in sync; between the first two lie two relays.
fn start() -> TwoPaths {
    start_with("")
}

/// The same, with more in the connection of the two.
fn start_with(options: &str) -> TwoPaths {
    let cluster = Cluster::prepare(3, 0);
    let own = [cluster.nodes[0].address, own_port()];
    let listening = [cluster.nodes[1].address, own_port()];
    let relays = listening.map(Relay::to);
    let mut paths = TwoPaths { cluster, relays, own, listening };
    // The one that dials comes last.
    for index in [2, 1, 0] {
        paths.configure(index, &[0, 1], options);
        paths.cluster.launch(index);
        paths.cluster.adm_ok(index, &["up", "r0"]);
    }
    let cluster = &paths.cluster;
    cluster.make_in_sync();
    paths
}

/// Between the first two nodes, as `index` sees them.
fn paths_at(status: &ResourceStatus, index: usize) -> &[PathStatus] {
    let peer = if index == 0 { "n1" } else { "n0" };
    &status.connections.iter().find(|one| one.name == peer).unwrap().paths
}

fn used(paths: &[PathStatus]) -> Vec<bool> {
    paths.iter().map(|path| path.in_use).collect()
}

fn working(paths: &[PathStatus]) -> Vec<bool> {
    paths.iter().map(|path| path.established).collect()
}

fn epoch(cluster: &Cluster) -> u64 {
    cluster.status(0).unwrap().epoch.expect("it has a config").epoch
}

/// What a client did meanwhile.
struct Written {
    count: u64,
    longest: Duration,
}

/// Writes without a pause until told to end.
fn write_on(mut client: Connection) -> (Arc<AtomicBool>, JoinHandle<Written>) {
    let size = client.export().size_bytes;
    let end = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&end);
    let writer = thread::spawn(move || {
        let (mut count, mut longest) = (0_u64, Duration::ZERO);
        while !told.load(Ordering::Relaxed) {
            let mut block = [7; BLOCK];
            block[..8].copy_from_slice(&count.to_le_bytes());
            let began = now();
            client.write(count * 37 % (size / 4096) * 4096, &block).unwrap();
            longest = longest.max(now().since(began));
            count += 1;
        }
        client.close().unwrap();
        Written { count, longest }
    });
    (end, writer)
}

impl TwoPaths {
    /// Gives a node a configuration with these of the paths.
    fn configure(&self, index: usize, which: &[usize], options: &str) {
        let mesh = "connection-mesh { hosts n0 n1 n2; }";
        // Only the first node goes through the relays; the second listens behind them.
        let theirs =
            if index == 0 { self.relays.each_ref().map(|it| it.address) } else { self.listening };
        let path = |n: &usize| {
            format!("path {{ host n0 address {}; host n1 address {}; }}", self.own[*n], theirs[*n])
        };
        let paths: Vec<String> = which.iter().map(path).collect();
        let connection = format!("connection {{ {options} {} }} {mesh}", paths.join(" "));
        let text = self.cluster.config_text("r0").replace(mesh, &connection);
        self.cluster.configure(&text);
    }

    /// Waits until both ends see the paths so: which works, and which is used.
    #[track_caller]
    fn wait_for(&self, working_wanted: &[bool], used_wanted: &[bool]) {
        for index in [0, 1] {
            self.cluster.wait(index, "such paths", |status| {
                let paths = paths_at(status, index);
                working(paths) == working_wanted && used(paths) == used_wanted
            });
        }
    }

    /// Breaks the path in use, and waits until the other one is.
    fn fail_over(&self, broken: usize, mode: Mode) {
        self.relays[1 - broken].set(Mode::Open);
        let before = [broken == 0, broken == 1];
        // What works again is found, and nothing goes back to it.
        self.wait_for(&[true, true], &before);
        let began = now();
        self.relays[broken].set(mode);
        let wanted = [broken == 1, broken == 0];
        self.cluster.wait(0, "other path", |status| {
            let one = status.connections.iter().find(|one| one.name == "n1").unwrap();
            one.connection_state == ConnectionState::Connected && used(&one.paths) == wanted
        });
        let absent = now().since(began);
        assert!(absent < LONGEST_ABSENCE, "{mode:?}: without the peer for {absent:?}");
        self.wait_for(&wanted, &wanted);
    }
}

#[test]
fn broken_path_gives_way_to_the_next_one() {
    let paths = start();
    let cluster = &paths.cluster;
    let size = cluster.client(0).export().size_bytes;
    paths.wait_for(&[true, true], &[true, false]);
    let (end, writer) = write_on(cluster.client(0));
    let before = epoch(cluster);
    for round in 0..3 {
        // What breaks is noticed by its end, and by its silence.
        let [first, second] = if round == 1 {
            [Mode::Silent, Mode::Refusing]
        } else {
            [Mode::Refusing, Mode::Silent]
        };
        paths.fail_over(0, first);
        cluster.wait_up_to_date(0);
        paths.fail_over(1, second);
        cluster.wait_up_to_date(0);
    }
    end.store(true, Ordering::Relaxed);
    let written = writer.join().expect("no write fails");
    assert!(written.count > 100, "{} writes", written.count);
    assert!(written.longest < LONGEST_ABSENCE, "a write took {:?}", written.longest);
    cluster.wait_up_to_date(0);
    assert_eq!(epoch(cluster), before, "nobody was lost: the sessions moved");
    cluster.assert_replicas_equal(size);
}

#[test]
fn path_that_waits_is_watched_and_disturbs_nothing() {
    let paths = start();
    let cluster = &paths.cluster;
    paths.wait_for(&[true, true], &[true, false]);
    let connected = |index: usize| cluster.log(index).matches("connected").count();
    let before = (epoch(cluster), connected(0), connected(1));
    for mode in [Mode::Silent, Mode::Refusing] {
        paths.relays[1].set(mode);
        paths.wait_for(&[true, false], &[true, false]);
        let said = cluster.adm_told(0, &["explain", "r0"]);
        let [own, relay] = [paths.own[1], paths.relays[1].address];
        assert!(
            said.contains(&format!("the path from {own} to n1 at {relay} is down for ")),
            "{said}"
        );
        assert!(said.contains("another path carries"), "{said}");
        paths.relays[1].set(Mode::Open);
        paths.wait_for(&[true, true], &[true, false]);
    }
    assert_eq!((epoch(cluster), connected(0), connected(1)), before);
}

#[test]
fn paths_come_and_go_under_a_client() {
    let paths = start();
    let cluster = &paths.cluster;
    paths.wait_for(&[true, true], &[true, false]);
    let adjust = |which: &[usize]| {
        for index in [0, 1] {
            paths.configure(index, which, "");
            cluster.adm_ok(index, &["adjust", "r0"]);
        }
    };
    let size = cluster.client(0).export().size_bytes;
    let (end, writer) = write_on(cluster.client(0));
    let connected = |index: usize| cluster.log(index).matches("connected").count();
    let before = (connected(0), connected(1));
    adjust(&[0]);
    paths.wait_for(&[true], &[true]);
    adjust(&[0, 1]);
    paths.wait_for(&[true, true], &[true, false]);
    assert_eq!((connected(0), connected(1)), before, "the session goes over a path that stayed");
    let config = epoch(cluster);
    adjust(&[1]);
    paths.wait_for(&[true], &[true]);
    cluster.wait_for_log(0, "over another path");
    paths.wait_for(&[true], &[true]);
    adjust(&[0, 1]);
    paths.wait_for(&[true, true], &[false, true]);
    assert_eq!(epoch(cluster), config, "nobody was lost");
    end.store(true, Ordering::Relaxed);
    let written = writer.join().expect("no write fails");
    assert!(written.longest < LONGEST_ABSENCE, "a write took {:?}", written.longest);
    cluster.wait_up_to_date(0);
    cluster.assert_replicas_equal(size);
}

#[test]
fn balanced_traffic_uses_all_paths_that_work() {
    let paths = start_with("net { load-balance-paths yes; }");
    let cluster = &paths.cluster;
    // One pair of shards keeps to one path.
    let both = [true, cluster.nodes[0].shards > 1];
    paths.wait_for(&[true, true], &both);
    let size = cluster.client(0).export().size_bytes;
    let (end, writer) = write_on(cluster.client(0));
    let passed = paths.relays.each_ref().map(Relay::passed);
    for _ in 0..2 {
        paths.relays[0].set(Mode::Silent);
        paths.wait_for(&[false, true], &[false, true]);
        paths.relays[0].set(Mode::Open);
        paths.wait_for(&[true, true], &[both[1], true]);
        paths.relays[1].set(Mode::Silent);
        paths.wait_for(&[true, false], &[true, false]);
        paths.relays[1].set(Mode::Open);
        paths.wait_for(&[true, true], &both);
    }
    end.store(true, Ordering::Relaxed);
    let written = writer.join().expect("no write fails");
    assert!(written.longest < LONGEST_ABSENCE, "a write took {:?}", written.longest);
    for (relay, before) in paths.relays.iter().zip(passed) {
        let data = u64::try_from(BLOCK).unwrap() * written.count / 20;
        assert!(relay.passed() - before > data, "{} of {data} bytes", relay.passed() - before);
    }
    cluster.wait_up_to_date(0);
    cluster.assert_replicas_equal(size);
}

#[test]
fn both_ends_listen_on_every_path_and_show_it() {
    let paths = start();
    for address in paths.listening {
        drop(std::net::TcpStream::connect(address).unwrap());
    }
    paths.wait_for(&[true, true], &[true, false]);
    let status = paths.cluster.status(1).unwrap();
    let ports: Vec<u16> = paths_at(&status, 1).iter().map(|path| path.this_host.port).collect();
    assert_eq!(ports, paths.listening.map(|address| address.port()));
    let said = paths.cluster.adm_told(0, &["status", "--verbose", "r0"]);
    let line = |index: usize, established: &str| {
        format!("peer:ipv4:{} established:{established}", paths.relays[index].address)
    };
    assert!(said.contains(&line(0, "yes")) && said.contains(&line(1, "yes")), "{said}");
}

/// The checksum of TCP does not see everything, and that of TLS is not always there.
#[test]
fn data_that_changes_on_the_way_reaches_no_disk() {
    let paths = start();
    let cluster = &paths.cluster;
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    paths.relays.iter().for_each(|relay| relay.set(Mode::Flipping));
    let mut round = 0;
    while paths.relays.iter().all(|relay| relay.is(Mode::Flipping)) {
        assert!(round < 100, "no write of 128 KiB went through a relay");
        client.write(round << 17, &[7; 128 << 10]).unwrap();
        round += 1;
    }
    paths.relays.iter().for_each(|relay| relay.set(Mode::Open));
    let is_told = |log: &str| log.contains("the network or the memory of a node corrupts data");
    // TLS sees it first where there is some, and ends the connection likewise.
    if !cluster.variant.has_tls() {
        cluster.poll(1, "word of the bit", || is_told(&cluster.log(1)).then_some(()));
    }
    cluster.wait_connected(0);
    client.write(0, &[8; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.wait_up_to_date(0);
    cluster.assert_replicas_equal(size);
}
