//! Wrong input gets a clear answer and loses nothing.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;

use crate::BLOCK;
use crate::harness::Cluster;

/// What a daemon that must not start says.
fn refused_start(cluster: &Cluster, index: usize) -> String {
    let output = cluster.daemon_command(index).output().unwrap();
    assert!(!output.status.success(), "the daemon started");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn state_directory_is_for_one_daemon_and_not_of_the_future() {
    let mut cluster = Cluster::prepare(2, 0);
    cluster.launch(0);
    let said = refused_start(&cluster, 0);
    assert!(said.contains("in use by another daemon"), "{said}");
    cluster.kill(0);
    fs::write(cluster.state_dir(0).join("version"), "999\n").unwrap();
    let said = refused_start(&cluster, 0);
    assert!(said.contains("layout 999"), "{said}");
}

#[test]
fn disks_that_cannot_be_this_replica_are_refused() {
    let mut cluster = Cluster::prepare(2, 0);
    cluster.launch(0);
    let disk = cluster.disk(0);
    let good = fs::read(&disk).unwrap();

    fs::remove_file(&disk).unwrap();
    let said = cluster.adm_refused(0, &["up", "r0"]);
    assert!(said.contains("cannot open disk"), "{said}");

    File::create(&disk).unwrap().set_len(64 << 20).unwrap();
    let said = cluster.adm_refused(0, &["up", "r0"]);
    assert!(said.contains("no Basalt metadata") && said.contains("create-md"), "{said}");

    fs::write(&disk, &good[..32 << 20]).unwrap();
    let said = cluster.adm_refused(0, &["up", "r0"]);
    assert!(said.contains("no Basalt metadata") && said.contains("size changed"), "{said}");

    fs::copy(cluster.disk(1), &disk).unwrap();
    let said = cluster.adm_refused(0, &["up", "r0"]);
    assert!(said.contains("node 1") && said.contains("node 0"), "{said}");

    fs::write(&disk, &good).unwrap();
    cluster.adm_ok(0, &["up", "r0"]);
}

#[test]
fn port_in_use_is_named() {
    let mut cluster = Cluster::prepare(2, 0);
    let _holder = std::net::TcpListener::bind(cluster.nodes[0].address).unwrap();
    cluster.launch(0);
    let said = cluster.adm_refused(0, &["up", "r0"]);
    assert!(said.contains(&cluster.nodes[0].address.to_string()), "{said}");
}

#[test]
fn mistaken_configuration_leaves_the_running_state() {
    let cluster = Cluster::start_in_sync(2, 0);
    let good = fs::read_to_string(cluster.config()).unwrap();
    fs::write(cluster.config(), good.replace("device", "devise")).unwrap();
    let said = cluster.adm_refused(0, &["adjust", "r0"]);
    assert!(said.contains("devise"), "{said}");
    fs::write(cluster.config(), good).unwrap();
    cluster.client(0).write(0, &[3; BLOCK]).unwrap();
}

#[test]
fn garbage_on_a_port_closes_the_connection_only() {
    let cluster = Cluster::start_in_sync(2, 0);
    let mut client = cluster.client(0);
    for garbage in [&b"GET / HTTP/1.1\r\nHost: basalt\r\n\r\n"[..], &[0xff; 4096], &[0; 64]] {
        let mut stream = TcpStream::connect(cluster.nodes[0].address).unwrap();
        stream.write_all(garbage).unwrap();
        let mut answer = Vec::new();
        // A reset is as good an end as any.
        drop(stream.read_to_end(&mut answer));
        assert!(answer.is_empty(), "a daemon does not talk to strangers");
    }
    client.write(0, &[4; BLOCK]).unwrap();
    assert!(cluster.log(0).contains("garbage"), "{}", cluster.log(0));
}

#[test]
fn peer_that_calls_itself_another_node_is_refused() {
    let mut cluster = Cluster::prepare(2, 0);
    cluster.launch(0);
    cluster.launch(1);
    cluster.adm_ok(0, &["up", "r0"]);
    let text = fs::read_to_string(cluster.config()).unwrap();
    let swapped = text.replace("node-id 0", "node-id 2");
    fs::write(cluster.config(), swapped).unwrap();
    cluster.adm_ok(1, &["up", "r0"]);
    cluster.wait(0, "refusal", |status| {
        status.connections[0].reason.as_ref().is_some_and(|reason| reason.contains("node-id"))
    });
}
