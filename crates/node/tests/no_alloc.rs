//! Neither a write nor a read costs an allocation on the threads that carry data, after a warm-up.
//!
//! Three daemons in this process replicate 100,000 writes of 4 KiB, 32 at a time, while the links
//! beat and leases are renewed: half of them with one shard each, the rest with two, between which
//! every other write and its answer pass. Then they serve as many reads, from all replicas in turn.
//! What the shard threads allocate meanwhile is counted.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::cell::Cell;
use std::fs::File;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use api::client::ask;
use api::request::Command;
use api::response::Reply;
use frontend::nbd::client::{Connection, Receiver, Request, Sender, Wishes};
use frontend::nbd::wire;
use node::create_md::{CreateMdOptions, Overwrite, create_md};
use node::{CongestionWish, Options};

#[path = "../../bench/src/ports.rs"]
mod ports;
#[path = "../../io/tests/allocator/counting.rs"]
mod counting;
#[path = "../../io/tests/allocator/thread_name.rs"]
mod thread_name;

use crate::counting::Counting;
use crate::thread_name::thread_name;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether this is a shard's thread; not known before its first allocation.
    static IS_SHARD: Cell<Option<bool>> = const { Cell::new(None) };
}

fn count() {
    let is_shard = IS_SHARD.try_with(|known| {
        known.get().unwrap_or_else(|| {
            let is_shard = thread_name().starts_with(b"shard-");
            known.set(Some(is_shard));
            is_shard
        })
    });
    if is_shard == Ok(true) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting(count);

const NODES: usize = 3;
const DISK_BYTES: u64 = 64 << 20;
const WARM_UP: u64 = 20_000;
/// Of writes, and of reads, with each number of shards.
const REQUESTS: u64 = 50_000;
/// Blocks that are written: half of the volume, so that all extents are hot after the warm-up.
const BLOCKS: u64 = 8_000;

#[test]
fn hundred_thousand_writes_and_as_many_reads_allocate_nothing() {
    for shards in [1, 2] {
        check(shards);
    }
}

fn check(shards: u8) {
    let place = tempfile::tempdir().unwrap();
    let text = prepare(place.path());
    let mut daemons = Vec::new();
    for index in 0..NODES {
        let options = Options {
            name: format!("n{index}"),
            state_dir: state_dir(place.path(), index),
            admin_socket: None,
            admin_group: None,
            nbd: Vec::new(),
            nbd_tls: Vec::new(),
            nbd_unix: vec![place.path().join(format!("nbd{index}"))],
            nvme: Vec::new(),
            nvme_auth: None,
            vhost: None,
            metrics: None,
            pki: place.path().join("pki"),
            shards: Some(shards),
            device_timeout: Duration::from_secs(30),
            spin: Duration::from_micros(30),
            congestion: CongestionWish::Unpaced,
            max_parallel_resyncs: None,
            drbd_names: false,
            log_format: node::LogFormat::Text,
            exit_with_parent: false,
        };
        daemons.push(thread::spawn(move || node::run(&options).unwrap()));
    }
    for index in 0..NODES {
        let up =
            || Command::Up { resource: "r0".to_owned(), config_text: text.clone(), fresh: false };
        until("resource up", || command(place.path(), index, up()).is_some());
    }
    until("origin", || {
        let force = Command::Primary { resource: "r0".to_owned(), force: true };
        command(place.path(), 0, force).is_some()
    });
    until("replicas in sync", || in_sync(place.path()) == NODES);

    let uri = format!("nbd+unix:///r0?socket={}", place.path().join("nbd0").display());
    let client = Connection::open(&uri.parse().unwrap(), &Wishes::default()).unwrap();
    let (mut sender, mut receiver, _) = client.split();
    for kind in [wire::Command::Write, wire::Command::Read] {
        let mut ask_for = |load, count| ask_for((kind, load), &mut sender, &mut receiver, count);
        ask_for(FILLING_LANES, WARM_UP);
        ask_for(SPREAD, WARM_UP);
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        ask_for(SPREAD, REQUESTS);
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        assert_eq!(allocations, 0, "allocations in {REQUESTS} of {kind:?} with {shards} shards");
    }
    sender.send_disconnect().unwrap();
    for index in 0..NODES {
        command(place.path(), index, Command::Shutdown);
    }
    for daemon in daemons {
        daemon.join().unwrap();
    }
}

/// Requests in flight, and the blocks from one to the next.
#[derive(Clone, Copy)]
struct Load {
    depth: u64,
    stride: u64,
}

const SPREAD: Load = Load { depth: 32, stride: 7919 };
/// So many in a row meet in one lane, and at each replica, as the other load has in flight at all:
/// what grows with them has grown.
const FILLING_LANES: Load = Load { depth: 96, stride: 1 };

fn ask_for(
    (kind, load): (wire::Command, Load),
    sender: &mut Sender,
    receiver: &mut Receiver,
    count: u64,
) {
    let payload = if kind == wire::Command::Write { &[0x5a; 4096][..] } else { &[] };
    for index in 0..count + load.depth {
        if index >= load.depth {
            receiver.recv_reply().unwrap();
        }
        if index < count {
            let request = Request {
                command: kind,
                flags: 0,
                cookie: index,
                offset: index * load.stride % BLOCKS * 4096,
                length: 4096,
            };
            sender.send_request(&request, payload).unwrap();
        }
    }
}

fn state_dir(place: &Path, index: usize) -> PathBuf {
    place.join(format!("state{index}"))
}

/// Formats the disks, and gives the configuration.
fn prepare(place: &Path) -> String {
    let addresses = ports::claim_ports(Ipv4Addr::LOCALHOST, NODES).unwrap();
    let mut text = "resource r0 {\n  disk { read-balancing round-robin; }\n".to_owned();
    for (index, address) in addresses.iter().enumerate() {
        let disk = place.join(format!("disk{index}"));
        File::create(&disk).unwrap().set_len(DISK_BYTES).unwrap();
        let options = CreateMdOptions {
            disk: disk.clone(),
            metadata_disk: None,
            resource_name: "r0".to_owned(),
            volume: 0,
            first: None,
            node_id: u8::try_from(index).unwrap(),
            member_ids: vec![0, 1, 2],
            size_bytes: None,
            peers_max: None,
            former_bytes: None,
            overwrite: Overwrite::Refuse,
        };
        create_md(&options).unwrap();
        let disk = disk.display();
        text += &format!(
            "on n{index} {{ node-id {index}; address {address}; \
             volume 0 {{ device minor 1; disk {disk}; meta-disk internal; }} }}\n"
        );
    }
    text + "connection-mesh { hosts n0 n1 n2; }\n}\n"
}

fn command(place: &Path, index: usize, command: Command) -> Option<Reply> {
    let socket = state_dir(place, index).join("admin.sock");
    ask(&socket, command, Duration::from_secs(30)).ok()
}

fn in_sync(place: &Path) -> usize {
    let status = Command::Status { resources: Vec::new(), statistics: false };
    match command(place, 0, status) {
        Some(Reply::Status(status)) => {
            status.resources[0].epoch.as_ref().map_or(0, |epoch| epoch.insync.len())
        }
        _ => 0,
    }
}

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = io::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(io::now() < deadline, "no {what}");
        thread::park_timeout(Duration::from_millis(20));
    }
}
