//! `resync-after` and `max-parallel-resyncs`: two resources of one node are brought up to date one
//! after the other; and how fast.

use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::status::ResourceStatus;
use frontend::nbd::client::Connection;
use io::now;

use crate::BLOCK;
use crate::harness::{Cluster, own_port, with_sections};

const DIRTY_BYTES: usize = 8 << 20;

/// `r0`, of which little is copied in a second, and `r1` with these options, on the same nodes.
fn start(options: &str, words: &[&str]) -> Cluster {
    let mut cluster = Cluster::prepare(3, 0);
    let first = cluster.config_with("disk { c-max-rate 2M; }");
    let mut second = cluster.config_text("r1").replace("minor 1;", "minor 2;");
    second = second[second.find("resource").unwrap()..].to_owned();
    second = with_sections(&second, &format!("disk {{ {options} }}"));
    for index in 0..3 {
        let disk = cluster.disk(index);
        let other = disk.with_extension("r1");
        File::create(&other).unwrap().set_len(fs::metadata(&disk).unwrap().len()).unwrap();
        second = second.replace(&format!("{};", disk.display()), &format!("{};", other.display()));
        let address = cluster.nodes[index].address;
        second = second.replace(&address.to_string(), &own_port().to_string());
    }
    cluster.configure(&(first + &second));
    for index in 0..3 {
        cluster.create_md(index, "r1", &[]);
        cluster.nodes[index].words = words.iter().map(|&word| word.to_owned()).collect();
        cluster.launch(index);
        cluster.adm_ok(index, &["up", "all"]);
    }
    for resource in ["r0", "r1"] {
        wait(&cluster, 0, resource, "connections", |status| {
            status.connections.iter().all(|it| it.connection_state.to_string() == "Connected")
        });
        cluster.adm_ok(0, &["primary", "--force", resource]);
        wait(&cluster, 2, resource, "replica that is up to date", is_up_to_date);
    }
    cluster
}

fn of_name(cluster: &Cluster, index: usize, name: &str) -> Option<ResourceStatus> {
    cluster.status_of_all(index)?.into_iter().find(|resource| resource.name == name)
}

fn wait(
    cluster: &Cluster,
    index: usize,
    name: &str,
    what: &str,
    is_so: impl Fn(&ResourceStatus) -> bool,
) {
    cluster.poll(index, &format!("{what} of {name}"), || {
        of_name(cluster, index, name).filter(&is_so).map(drop)
    });
}

fn is_up_to_date(status: &ResourceStatus) -> bool {
    status.devices[0].disk_state == DiskState::UpToDate
}

fn is_suspended(status: &ResourceStatus) -> bool {
    let mut devices = status.connections.iter().flat_map(|it| &it.peer_devices);
    devices.any(|it| {
        it.replication_state == ReplicationState::PausedSyncT && it.resync_suspended == "dependency"
    })
}

/// Node 2 is down, and misses much of `r0`, after which `r1` comes. With a client of each.
fn start_with_much_to_copy() -> (Cluster, Connection, Connection) {
    let mut cluster = start("resync-after r0/0;", &[]);
    let (mut first, mut second) = (cluster.client_of(0, "r0"), cluster.client_of(0, "r1"));
    cluster.kill(2);
    for at in (0..DIRTY_BYTES).step_by(1 << 20) {
        first.write(at as u64, &vec![1; 1 << 20]).unwrap();
    }
    second.write(0, &[2; BLOCK]).unwrap();
    (cluster, first, second)
}

#[test]
fn a_resync_waits_for_the_one_that_it_comes_after() {
    let (mut cluster, mut first, second) = start_with_much_to_copy();
    cluster.launch(2);
    // Beside clients a resync keeps to its rate.
    let mut look = |name: &str| {
        first.write(0, &[3; BLOCK]).unwrap();
        of_name(&cluster, 2, name)
    };
    cluster.poll(2, "wait of r1 for its turn", || {
        let status = look("r1")?;
        let says_why = status.reasons.iter().any(|it| it.contains("`resync-after r0`"));
        (is_suspended(&status) && says_why).then_some(())
    });
    assert!(!is_up_to_date(&look("r0").unwrap()), "nothing is left to wait for");
    cluster.poll(2, "turn of r1", || {
        let second = look("r1")?;
        let first = look("r0")?;
        let is_done = is_up_to_date(&second);
        assert!(!is_done || is_up_to_date(&first), "r1 overtook: {first:#?}");
        is_done.then_some(())
    });
    first.close().unwrap();
    second.close().unwrap();
}

/// They took a restart, which the replica that waits does without.
#[test]
fn a_resync_that_waits_and_its_rate_follow_the_configuration() {
    let (mut cluster, mut first, second) = start_with_much_to_copy();
    // Without end, so that there is no hurry.
    let change = |cluster: &Cluster, from: &str, to: &str| {
        let text = fs::read_to_string(cluster.config()).unwrap();
        assert!(text.contains(from), "{text}");
        cluster.configure(&text.replace(from, to));
    };
    change(&cluster, "c-max-rate 2M;", "c-max-rate 64K;");
    cluster.adm_ok(0, &["adjust", "r0"]);
    cluster.launch(2);
    let mut look = |name: &str| {
        first.write(0, &[3; BLOCK]).unwrap();
        of_name(&cluster, 2, name)
    };
    cluster.poll(2, "wait of r1", || look("r1").filter(is_suspended).map(drop));
    change(&cluster, "resync-after r0/0;", "");
    cluster.adm_ok(2, &["adjust", "r1"]);
    cluster.poll(2, "turn of r1", || look("r1").filter(is_up_to_date).map(drop));
    assert!(!is_up_to_date(&look("r0").unwrap()), "r1 waited for it");

    change(&cluster, "c-max-rate 64K;", "c-max-rate 0;");
    cluster.adm_ok(0, &["adjust", "r0"]);
    cluster.poll(2, "end of the resync of r0", || look("r0").filter(is_up_to_date).map(drop));
    first.close().unwrap();
    second.close().unwrap();
}

fn is_copied(status: &ResourceStatus) -> bool {
    let mut devices = status.connections.iter().flat_map(|it| &it.peer_devices);
    devices.any(|it| it.replication_state == ReplicationState::SyncTarget)
}

/// Either may be the first.
#[test]
fn no_more_resources_are_resynced_at_a_time_than_the_node_was_told() {
    let mut cluster = start("c-max-rate 2M;", &["--max-parallel-resyncs", "1"]);
    let mut clients = [cluster.client_of(0, "r0"), cluster.client_of(0, "r1")];
    cluster.kill(2);
    for client in &mut clients {
        for at in (0..DIRTY_BYTES).step_by(1 << 20) {
            client.write(at as u64, &vec![1; 1 << 20]).unwrap();
        }
    }
    cluster.launch(2);
    let mut look = || {
        for client in &mut clients {
            client.write(0, &[3; BLOCK]).unwrap();
        }
        let both = cluster.status_of_all(2)?;
        let copied = both.iter().filter(|it| is_copied(it)).count();
        assert!(copied <= 1, "two at a time: {both:#?}");
        Some(both)
    };
    cluster.poll(2, "wait of one for its turn", || {
        let both = look()?;
        let says_why = |it: &ResourceStatus| {
            is_suspended(it) && it.reasons.iter().any(|it| it.contains("`max-parallel-resyncs`"))
        };
        (both.iter().any(is_copied) && both.iter().any(says_why)).then_some(())
    });
    cluster.poll(2, "end of both", || look()?.iter().all(is_up_to_date).then_some(()));
    for client in clients {
        client.close().unwrap();
    }
}

/// How much is left, and how long it takes, are known to the one that is copied to.
fn knows_the_rest(it: &ResourceStatus) -> bool {
    let devices = it.connections.iter().flat_map(|peer| &peer.peer_devices);
    let mut targets = devices.filter(|it| it.replication_state == ReplicationState::SyncTarget);
    targets.any(|it| {
        let sync = it.sync.as_ref();
        let eta = sync.map(|sync| sync.estimated_seconds_to_finish);
        let is_known = eta.is_some_and(|seconds| (1..20).contains(&seconds));
        is_known && (1..8 << 10).contains(&it.out_of_sync) && it.percent_in_sync < 100.0
    })
}

/// Beside clients no more is copied in a second than `c-max-rate`, and not much less.
#[test]
fn a_resync_beside_a_client_keeps_to_its_rate() {
    let mut cluster = start("c-max-rate 2M;", &[]);
    let mut client = cluster.client_of(0, "r0");
    cluster.kill(2);
    for at in (0..DIRTY_BYTES).step_by(1 << 20) {
        client.write(at as u64, &vec![1; 1 << 20]).unwrap();
    }
    let is_over = AtomicBool::new(false);
    let seconds = thread::scope(|scope| {
        // A tenth of a second without a request is a client that is idle.
        let working = scope.spawn(|| {
            // A test that fails ends as well.
            let until = now() + Duration::from_secs(90);
            while now() < until && !is_over.load(Ordering::Relaxed) {
                client.write(32 << 20, &[3; BLOCK]).unwrap();
                thread::park_timeout(Duration::from_millis(5));
            }
        });
        cluster.launch(2);
        let look = || of_name(&cluster, 2, "r0");
        cluster.poll(2, "resync", || look().filter(is_copied).map(drop));
        let began = now();
        cluster.poll(2, "how far it is, at the target", || look().filter(knows_the_rest).map(drop));
        cluster.poll(2, "end of the resync", || look().filter(is_up_to_date).map(drop));
        let seconds = now().since(began).as_secs_f64();
        is_over.store(true, Ordering::Relaxed);
        working.join().unwrap();
        seconds
    });
    client.close().unwrap();
    // 8 MiB at 2 MiB/s; what is allowed at once beside it is a part of a second's worth.
    assert!((3.0..8.0).contains(&seconds), "{seconds} s");
}
