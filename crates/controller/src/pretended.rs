//! A cluster for tests: a controller at a loopback port, and agents that are none. Each has what
//! its document wants as soon as it hears of it.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::agent::{
    Document, Observed, ObservedPool, ObservedState, ObservedVolume, Want, WantedVolume,
};
use api::cluster::PoolKind;
use serde_json::Value;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::Controller;
use crate::authority::Authority;
use crate::core::Core;
use crate::model::{Change, Node, Object, Pool};

const POOL_BYTES: u64 = 100 << 30;
const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) controller: Arc<Controller>,
    pub(crate) address: SocketAddr,
    knobs: Arc<Mutex<Knobs>>,
    _runtime: Runtime,
    _folder: tempfile::TempDir,
}

#[derive(Debug, Default)]
struct Knobs {
    /// Volumes that somebody has open, wherever they are Primary.
    open: BTreeSet<String>,
}

pub(crate) fn node_id(index: u8) -> Uuid {
    Uuid::from_u128(0x100 + u128::from(index))
}

fn pool_id(index: u8) -> Uuid {
    Uuid::from_u128(0x200 + u128::from(index))
}

impl Cluster {
    /// Nodes `n0`, `n1` and so on, each with the pool `thin`.
    pub(crate) fn of(nodes: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (core, _) = Core::open(&folder.path().join("store.redb")).unwrap();
        let authority = Authority::open(folder.path()).unwrap();
        let controller = Arc::new(Controller { core, authority });
        let knobs = Arc::new(Mutex::new(Knobs::default()));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        controller.core.change(|_, _| Ok(((0..nodes).flat_map(new_node).collect(), ()))).unwrap();
        for index in 0..nodes {
            runtime.spawn(agent(Arc::clone(&controller), index, Arc::clone(&knobs)));
        }
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let listener = runtime.block_on(async { tokio::net::TcpListener::from_std(listener) });
        let router = crate::for_people(&controller);
        runtime.spawn(crate::server::serve(listener.unwrap(), router, None));
        let it = Self { controller, address, knobs, _runtime: runtime, _folder: folder };
        it.await_pools(nodes);
        it
    }

    /// A node whose agent never called.
    pub(crate) fn add_silent_node(&self, index: u8) {
        self.controller.core.change(|_, _| Ok((new_node(index), ()))).unwrap();
    }

    fn await_pools(&self, nodes: u8) {
        let is_heard = |index| {
            let core = &self.controller.core;
            core.look(|it, _| it.seen.pool(node_id(index), pool_id(index)).is_some())
        };
        poll("pools", || (0..nodes).all(is_heard));
    }

    pub(crate) fn open(&self, volume: &str) {
        self.knobs.lock().unwrap().open.insert(volume.to_owned());
        self.await_in_use(volume, 1);
    }

    pub(crate) fn close(&self, volume: &str) {
        self.knobs.lock().unwrap().open.remove(volume);
        self.await_in_use(volume, 0);
    }

    fn await_in_use(&self, volume: &str, nodes: usize) {
        poll(volume, || {
            let in_use = self.controller.core.look(|state, _| {
                let volume = state.desired.volume_named(volume).unwrap();
                let told = |it: &crate::model::Placement| state.seen.part(volume, it);
                volume.placements.iter().filter_map(told).filter(|it| it.in_use).count()
            });
            in_use == nodes
        });
    }

    /// How many answers come to such a request with a body, and to another one after it.
    pub(crate) fn answers_on_one_connection(&self, method: &str, path: &str) -> usize {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let first =
            format!("{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n{{\"a\": 1}}");
        let last = "GET /v1/nodes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all((first + last).as_bytes()).unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).unwrap();
        answers.matches("HTTP/1.1 ").count()
    }

    /// The status and the body of an answer.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let is_json = head.to_ascii_lowercase().contains("content-type: application/json");
        assert!(is_json || path == "/health", "{method} {path}: {answer}");
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }
}

/// Until it is so.
fn poll(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..DEADLINE.as_millis() {
        if is_so() {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    panic!("{what}: nothing came of it within {DEADLINE:?}");
}

fn new_node(index: u8) -> Vec<Change> {
    vec![
        Change::Put(Object::Node(Node {
            id: node_id(index),
            name: format!("n{index}"),
            address: Ipv4Addr::new(10, 0, 0, index).into(),
            data_port: 7789,
            nbd: "nbd://127.0.0.1:10809/VOLUME".to_owned(),
            joined_ms: 0,
        })),
        Change::Put(Object::Pool(Pool {
            id: pool_id(index),
            node: node_id(index),
            name: "thin".to_owned(),
            kind: PoolKind::FileThin,
            location: "/pool".to_owned(),
        })),
    ]
}

/// Says again and again what it has.
async fn agent(controller: Arc<Controller>, index: u8, knobs: Arc<Mutex<Knobs>>) {
    let node = node_id(index);
    let mut revisions = controller.core.revisions();
    loop {
        revisions.mark_unchanged();
        let document = controller.core.document(node).unwrap();
        let observed = observed(&document, &format!("n{index}"), &knobs.lock().unwrap());
        controller.core.hear(node, observed).unwrap();
        drop(tokio::time::timeout(Duration::from_millis(20), revisions.changed()).await);
    }
}

/// As its configuration has them.
fn peers_of(wanted: &WantedVolume, name: &str) -> Vec<String> {
    let read = config::parse_text("volume", &wanted.config_text).unwrap();
    let hosts = read.resources[0].hosts.iter().map(|host| host.name.clone());
    hosts.filter(|host| host != name).collect()
}

fn observed(document: &Document, name: &str, knobs: &Knobs) -> Observed {
    let pool = |id: &str| ObservedPool {
        id: id.to_owned(),
        total_bytes: POOL_BYTES,
        free_bytes: POOL_BYTES,
        problem: None,
    };
    let volume = |wanted: &WantedVolume| {
        let is_up = !matches!(wanted.want, Want::Gone | Want::Leave);
        let peers = if is_up { peers_of(wanted, name) } else { Vec::new() };
        let role = if wanted.want == Want::Attached { "Primary" } else { "Secondary" };
        let disk = if wanted.disks.is_empty() { "Diskless" } else { "UpToDate" };
        let (disk, role) = if is_up { (disk, role) } else { ("", "") };
        ObservedVolume {
            id: wanted.id.clone(),
            state: match wanted.want {
                Want::Gone => ObservedState::Gone,
                Want::Leave => ObservedState::Making,
                Want::Up | Want::Birth | Want::Attached => ObservedState::Up,
            },
            disk: disk.to_owned(),
            role: role.to_owned(),
            in_use: role == "Primary" && knobs.open.contains(&wanted.name),
            connected: is_up,
            primary_peer: None,
            insync: peers.iter().cloned().chain([name.to_owned()]).collect(),
            peers,
            size_bytes: wanted.grow_to.map(|it| it.size_bytes),
            synced: None,
            problem: None,
        }
    };
    Observed {
        revision: document.revision,
        problem: None,
        pools: document.pools.iter().map(|it| pool(&it.id)).collect(),
        volumes: document.volumes.iter().map(volume).collect(),
    }
}
