//! `resync-after`: two resources of one node are brought up to date one after the other.

use std::fs::{self, File};

use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::status::ResourceStatus;
use frontend::nbd::client::{Connection, Wishes};

use crate::BLOCK;
use crate::harness::{Cluster, own_port};

const DIRTY_BYTES: usize = 8 << 20;

/// `r0`, of which little is copied in a second, and `r1`, which comes after it, on the same nodes.
fn start() -> Cluster {
    let mut cluster = Cluster::prepare(3, 0);
    let slow = "r0 {\n  disk { c-max-rate 2M; }";
    let first = cluster.config_text("r0").replacen("r0 {", slow, 1);
    let mut second = cluster.config_text("r1").replace("minor 1;", "minor 2;");
    second = second[second.find("resource").unwrap()..].to_owned();
    second = second.replacen("r1 {", "r1 {\n  disk { resync-after r0/0; }", 1);
    for index in 0..3 {
        let disk = cluster.disk(index);
        let other = disk.with_extension("r1");
        File::create(&other).unwrap().set_len(fs::metadata(&disk).unwrap().len()).unwrap();
        second = second.replace(&format!("{};", disk.display()), &format!("{};", other.display()));
        let address = cluster.nodes[index].address;
        second = second.replace(&address.to_string(), &own_port().to_string());
    }
    fs::write(cluster.config(), first + &second).unwrap();
    for index in 0..3 {
        let name = cluster.nodes[index].name.clone();
        cluster.adm_ok(index, &["create-md", "--node", &name, "r1"]);
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

fn client(cluster: &Cluster, name: &str) -> Connection {
    let text = format!("nbd+unix:///{name}?socket={}", cluster.nbd_socket(0).display());
    let uri = text.parse().unwrap();
    cluster.poll(0, "NBD session", || Connection::open(&uri, &Wishes::default()).ok())
}

fn is_suspended(status: &ResourceStatus) -> bool {
    let mut devices = status.connections.iter().flat_map(|it| &it.peer_devices);
    devices.any(|it| {
        it.replication_state == ReplicationState::PausedSyncT && it.resync_suspended == "dependency"
    })
}

#[test]
fn a_resync_waits_for_the_one_that_it_comes_after() {
    let mut cluster = start();
    let (mut first, mut second) = (client(&cluster, "r0"), client(&cluster, "r1"));
    cluster.kill(2);
    for at in (0..DIRTY_BYTES).step_by(1 << 20) {
        first.write(at as u64, &vec![1; 1 << 20]).unwrap();
    }
    second.write(0, &[2; BLOCK]).unwrap();
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
