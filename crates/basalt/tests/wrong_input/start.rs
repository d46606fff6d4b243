//! What a daemon refuses to start with.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use crate::cluster::{Cluster, Node, RESOURCE};
use api::disk_state::DiskState;

#[test]
fn state_directory_of_a_newer_release_is_left_alone() {
    let mut cluster = Cluster::start(1);
    let node = &mut cluster.nodes[0];
    node.stop();
    let version = node.state_dir().join("version");
    let text = node.state_dir().join("resources/r0.res");
    let before = fs::read(&text).unwrap();
    fs::write(&version, "2\n").unwrap();
    let last_words = node.fails_to_start();
    for part in ["state directory", "layout 2", "knows up to 1", "use the release"] {
        assert!(last_words.contains(part), "no {part:?} in {last_words:?}");
    }
    assert_eq!(fs::read_to_string(&version).unwrap(), "2\n");
    assert_eq!(fs::read(&text).unwrap(), before);
    fs::write(&version, "1\n").unwrap();
    node.start();
    node.serves();
}

#[test]
fn second_daemon_on_a_state_directory_gives_up_and_the_first_goes_on() {
    let cluster = Cluster::start(1);
    let last_words = cluster.nodes[0].fails_to_start();
    // The other one stands in the message by its number, as what may be ended.
    let process = cluster.nodes[0].process_id();
    let holder = format!("in use by process {process} (basalt");
    assert!(last_words.contains(&holder), "no {holder:?} in {last_words}");
    assert!(last_words.contains("--state-dir"), "{last_words}");
    let mut client = cluster.nodes[0].client();
    client.write(0, &[1; 4096]).unwrap();
}

/// The socket of another daemon is not taken away; one that nobody listens on is replaced.
#[test]
fn admin_socket_of_another_daemon_is_left_to_it() {
    let mut cluster = Cluster::start(1);
    let socket = cluster.nodes[0].socket();
    let [first] = &mut cluster.nodes[..] else { unreachable!("one was started") };
    let mut second = Command::new(env!("CARGO_BIN_EXE_basalt"));
    second.args(["node", "--name", "alfa", "--exit-with-parent", "--state-dir"]);
    second.arg(first.home.join("other")).arg("--admin-socket").arg(&socket);
    first.quiet(&mut second);
    let told = first.refuses_to_start(second);
    let wanted = "basalt node: admin-socket: another process is listening there, at ";
    assert!(told.contains(&format!("{wanted}{}", socket.display())), "{told}");
    assert!(first.status().is_some(), "the first one is still reached");
    let mode = fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "for the user of the daemon alone");
    first.kill();
    assert!(socket.exists(), "SIGKILL leaves it behind");
    first.start();
    first.serves();
}

/// The first peer would have ended the daemon that had to tell it its name.
#[test]
fn name_that_cannot_be_told_to_peers_ends_the_start() {
    let mut cluster = Cluster::start(1);
    let node = &mut cluster.nodes[0];
    node.stop();
    node.name = Box::leak("n".repeat(65).into_boxed_str());
    let said = node.refuses_to_start(node.command());
    assert!(said.contains("longer than 64 bytes; give it another one with --name"), "{said}");
}

#[test]
fn congestion_control_that_the_kernel_does_not_have_ends_the_start() {
    let mut cluster = Cluster::start(1);
    let node = &mut cluster.nodes[0];
    node.stop();
    let with = |node: &Node, name: &str| {
        let mut command = node.command();
        command.args(["--tcp-congestion", name]);
        command
    };
    let last_words = node.fails_to_start_as(with(node, "no_such_one"));
    for part in ["congestion control no_such_one", "tcp_available_congestion_control", "modprobe"] {
        assert!(last_words.contains(part), "no {part:?} in {last_words:?}");
    }
    node.start_as(with(node, "reno"));
    node.serves();
}

#[test]
fn taken_client_port_ends_the_start_with_the_address() {
    let mut cluster = Cluster::start(1);
    let node = &mut cluster.nodes[0];
    node.stop();
    let squatter = TcpListener::bind(node.nbd).unwrap();
    let told = node.refuses_to_start(node.command());
    let row = format!(
        "basalt node: nbd: another daemon or service is listening there, at {} (`ss -ltnp` tells \
         which)",
        node.nbd
    );
    assert!(told.contains(&row), "{told}");
    // The check needs no patience, and has the same words.
    let mut check = node.command();
    check.arg("--check-config");
    assert!(node.refuses_to_start(check).contains(&row), "{}", node.log());
    drop(squatter);
    node.start();
    node.serves();
}

/// The resource stays down, with the reason in the status; once the port is free it comes up.
#[test]
fn taken_peer_port_keeps_only_its_resource_down() {
    let mut cluster = Cluster::start(3);
    let address = cluster.nodes[1].peer;
    cluster.nodes[1].stop();
    let squatter = TcpListener::bind(address).unwrap();
    cluster.nodes[1].start();
    let shown = cluster.adm(1, &["status", RESOURCE]);
    assert!(shown.stdout.contains(&address.to_string()), "{shown:?}");
    cluster.adm(1, &["up", RESOURCE]).refused_with(10, &["(102)", &address.to_string(), "try: "]);
    cluster.nodes[0].client().write(0, &[2; 4096]).unwrap();
    drop(squatter);
    cluster.adm(1, &["up", RESOURCE]).ok();
    cluster.nodes[1].wait_for_disk(DiskState::UpToDate);
}

#[test]
fn admin_socket_is_for_its_user_and_a_named_group_alone() {
    let mut cluster = Cluster::prepare(1);
    let node = &mut cluster.nodes[0];
    let mode = |node: &Node| {
        let file = fs::metadata(node.socket()).unwrap();
        (file.permissions().mode() & 0o777, file.gid())
    };
    node.start();
    assert_eq!(mode(node).0, 0o600);
    node.kill();
    let group = fs::metadata(&node.home).unwrap().gid();
    let mut command = node.command();
    command.args(["--admin-group", &group.to_string()]);
    node.start_as(command);
    assert_eq!(mode(node), (0o660, group));
    node.kill();
    let output = node.command().args(["--admin-group", "nobodys-group"]).output().unwrap();
    assert!(!output.status.success());
    assert!(node.log().contains("no group \"nobodys-group\" in /etc/group"), "{}", node.log());
}
