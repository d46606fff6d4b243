//! Two paths between two nodes: the other one is taken when one breaks, and clients do not notice.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use api::connection_state::ConnectionState;
use frontend::nbd::client::Connection;
use io::now;

use crate::BLOCK;
use crate::harness::Cluster;
use crate::relay::{Mode, Relay};

/// A silent peer is lost after 1.2 s, another path is dialled within 50 ms; the rest is for a
/// machine that has other things to do.
const LONGEST_ABSENCE: Duration = Duration::from_millis(3200);

struct TwoPaths {
    cluster: Cluster,
    relays: [Relay; 2],
    /// Of the second node, behind the relays.
    listening: [SocketAddr; 2],
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Three nodes in sync; between the first two lie two relays.
fn start() -> TwoPaths {
    let mut cluster = Cluster::prepare(3, 0);
    let own = [cluster.nodes[0].address, free_address()];
    let listening = [cluster.nodes[1].address, free_address()];
    let relays = listening.map(Relay::to);
    let mesh = "connection-mesh { hosts n0 n1 n2; }";
    let text = cluster.config_text("r0");
    // The one that dials comes last.
    for index in [2, 1, 0] {
        // Only the first node goes through the relays; the second listens behind them.
        let theirs = if index == 0 { relays.each_ref().map(|it| it.address) } else { listening };
        let path = |n: usize| {
            format!("path {{ host n0 address {}; host n1 address {}; }}", own[n], theirs[n])
        };
        let connection = format!("connection {{ {} {} }} {mesh}", path(0), path(1));
        fs::write(cluster.config(), text.replace(mesh, &connection)).unwrap();
        cluster.launch(index);
        cluster.adm_ok(index, &["up", "r0"]);
    }
    cluster.wait_connected(0);
    cluster.adm_ok(0, &["primary", "--force", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    TwoPaths { cluster, relays, listening }
}

/// Which of the paths between the first two nodes are in use, as `index` sees it.
fn established(cluster: &Cluster, index: usize) -> Vec<bool> {
    let status = cluster.status(index).unwrap();
    let peer = if index == 0 { "n1" } else { "n0" };
    let connection = status.connections.iter().find(|one| one.name == peer).unwrap();
    connection.paths.iter().map(|path| path.established).collect()
}

/// Writes without a pause until told to end.
fn write_on(mut client: Connection) -> (Arc<AtomicBool>, JoinHandle<u64>) {
    let size = client.export().size_bytes;
    let end = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&end);
    let writer = thread::spawn(move || {
        let mut count = 0_u64;
        while !told.load(Ordering::Relaxed) {
            let mut block = [7; BLOCK];
            block[..8].copy_from_slice(&count.to_le_bytes());
            client.write(count * 37 % (size / 4096) * 4096, &block).unwrap();
            count += 1;
        }
        client.close().unwrap();
        count
    });
    (end, writer)
}

impl TwoPaths {
    /// Breaks the path in use, and waits until the other one is.
    fn fail_over(&self, broken: usize, mode: Mode) {
        self.relays[1 - broken].set(Mode::Open);
        let began = now();
        self.relays[broken].set(mode);
        let wanted = [broken == 1, broken == 0];
        self.cluster.wait(0, "other path", |status| {
            let one = status.connections.iter().find(|one| one.name == "n1").unwrap();
            let used: Vec<bool> = one.paths.iter().map(|path| path.established).collect();
            one.connection_state == ConnectionState::Connected && used == wanted
        });
        let absent = now().since(began);
        assert!(absent < LONGEST_ABSENCE, "{mode:?}: without the peer for {absent:?}");
        assert_eq!(established(&self.cluster, 1), wanted);
    }
}

#[test]
fn broken_path_gives_way_to_the_next_one() {
    let paths = start();
    let cluster = &paths.cluster;
    let size = cluster.client(0).export().size_bytes;
    for index in [0, 1] {
        assert_eq!(established(cluster, index), [true, false], "the first one is preferred");
    }
    let (end, writer) = write_on(cluster.client(0));
    for round in 0..2 {
        // What breaks is noticed by its end, and by its silence.
        let [first, second] = if round == 0 {
            [Mode::Refusing, Mode::Silent]
        } else {
            [Mode::Silent, Mode::Refusing]
        };
        paths.fail_over(0, first);
        cluster.wait_up_to_date(0);
        paths.fail_over(1, second);
        cluster.wait_up_to_date(0);
    }
    end.store(true, Ordering::Relaxed);
    let written = writer.join().expect("no write fails");
    assert!(written > 100, "{written} writes");
    cluster.wait_up_to_date(0);
    cluster.assert_replicas_equal(size);
}

#[test]
fn both_ends_listen_on_every_path_and_show_it() {
    let paths = start();
    for address in paths.listening {
        drop(std::net::TcpStream::connect(address).unwrap());
    }
    let status = paths.cluster.status(1).unwrap();
    let connection = status.connections.iter().find(|one| one.name == "n0").unwrap();
    let ports: Vec<u16> = connection.paths.iter().map(|path| path.this_host.port).collect();
    assert_eq!(ports, paths.listening.map(|address| address.port()));
    let said = paths.cluster.adm(0, &["status", "--verbose", "r0"]);
    let said = String::from_utf8(said.stdout).unwrap();
    let line = |index: usize, established: &str| {
        format!("peer:ipv4:{} established:{established}", paths.relays[index].address)
    };
    assert!(said.contains(&line(0, "yes")) && said.contains(&line(1, "no")), "{said}");
}
