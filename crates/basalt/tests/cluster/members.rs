//! A witness that nobody asked for, and members that come and go under a client.

use std::fs;

use api::role::Role;
use api::status::ResourceStatus;

use crate::BLOCK;
use crate::harness::{Cluster, own_port, with_sections};

pub(crate) fn voters(status: &ResourceStatus) -> Vec<String> {
    let votes = status.quorum_votes.as_ref().unwrap();
    votes.voters.iter().map(|voter| voter.name.clone()).collect()
}

/// Gives these nodes a configuration with `members`; the last one's complaint, if it has one.
fn adjust(cluster: &Cluster, nodes: &[usize], members: &[usize]) {
    cluster.configure(&cluster.config_text_of("r0", members));
    for &node in nodes {
        cluster.adm_ok(node, &["adjust", "r0"]);
    }
}

#[test]
fn two_replicas_and_a_diskless_node_survive_the_death_of_either() {
    let mut cluster = Cluster::start_in_sync(3, 1);
    let status = cluster.status(0).unwrap();
    assert_eq!(voters(&status), ["n0", "n1", "n2"]);
    let witness = status.quorum_votes.unwrap().voters.remove(2);
    assert!(witness.witness && witness.present);
    let mut client = cluster.client(0);
    client.write(0, &[7; BLOCK]).unwrap();
    cluster.kill(1);
    client.write(4096, &[8; BLOCK]).unwrap();
    cluster.launch(1);
    cluster.wait_up_to_date(0);
    cluster.kill(0);
    let mut client = cluster.client(1);
    let mut block = [0; BLOCK];
    client.read(4096, &mut block).unwrap();
    assert_eq!(block, [8; BLOCK]);
    client.write(8192, &[9; BLOCK]).unwrap();
}

/// The last of the nodes is in no configuration.
fn prepare_three_of_four() -> Cluster {
    let cluster = Cluster::prepare(4, 0);
    cluster.configure(&cluster.config_text_of("r0", &[0, 1, 2]));
    cluster
}

fn start_three_of_four(cluster: &mut Cluster) {
    (0..4).for_each(|index| cluster.launch(index));
    (0..3).for_each(|index| cluster.adm_ok(index, &["up", "r0"]));
    cluster.wait_connected(0);
    cluster.adm_ok(0, &["primary", "--force", "r0"]);
    cluster.wait_up_to_date(0);
}

#[test]
fn members_come_and_go_under_a_client() {
    let mut cluster = prepare_three_of_four();
    start_three_of_four(&mut cluster);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &[7; BLOCK]).unwrap();

    adjust(&cluster, &[0, 1, 2], &[0, 1, 2, 3]);
    cluster.adm_ok(3, &["up", "r0"]);
    cluster.wait(0, "fourth voter", |status| voters(status) == ["n0", "n1", "n2", "n3"]);
    cluster.wait_up_to_date(0);
    client.write(4096, &[8; BLOCK]).unwrap();
    assert_eq!(cluster.role(0), Role::Primary);

    // Each in turn, and once more what had to wait for the others.
    adjust(&cluster, &[0, 2, 3, 0, 2, 3], &[0, 2, 3]);
    cluster.wait(0, "voters without the second", |status| voters(status) == ["n0", "n2", "n3"]);
    let said = cluster.adm_refused(1, &["adjust", "r0"]);
    assert!(said.contains("basalt adm down r0"), "{said}");
    cluster.adm_ok(1, &["down", "r0"]);
    assert_eq!(cluster.status(0).unwrap().connections.len(), 2);
    client.write(8192, &[9; BLOCK]).unwrap();
    cluster.kill(2);
    client.write(12288, &[10; BLOCK]).unwrap();
    cluster.launch(2);
    cluster.wait_up_to_date(0);
    assert_eq!(cluster.status(2).unwrap().connections.len(), 2, "it starts as it was told");
    client.close().unwrap();
    let (first, last) = (cluster.data(0, size), cluster.data(3, size));
    assert!(first == last && cluster.data(2, size) == first);
}

/// The restart that it takes began with what is stored, and undid what waited without a word.
#[test]
fn a_change_that_takes_a_restart_undoes_none_that_waits() {
    let cluster = Cluster::start_in_sync(3, 0);
    let dropped = cluster.config_text_of("r0", &[0, 2]);
    cluster.configure(&dropped);
    let said = cluster.adm_warned(0, &["adjust", "r0"]);
    assert!(said.contains("needed still"), "{said}");
    let other = with_sections(&dropped, "disk { al-extents 127; }");
    cluster.configure(&other);
    let said = cluster.adm_refused(0, &["adjust", "r0"]);
    assert!(said.contains("an earlier change") && said.contains("n1 is needed still"), "{said}");
    cluster.configure(&dropped);
    cluster.adm_ok(2, &["adjust", "r0"]);
    cluster.wait(0, "voters without the second", |status| voters(status) == ["n0", "n2"]);
    // What waited is stored by itself, and the other change can be had.
    cluster.configure(&other);
    cluster.poll(0, "change that takes a restart", || {
        cluster.adm(0, &["adjust", "r0"]).status.success().then_some(())
    });
    assert_eq!(cluster.status(0).unwrap().connections.len(), 1);
}

#[test]
fn the_last_good_replica_is_not_given_up() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    for index in [1, 2] {
        cluster.kill(index);
    }
    cluster.launch(1);
    cluster.wait(0, "return of the second node", |status| {
        status.epoch.as_ref().is_some_and(|epoch| epoch.insync == ["n0", "n1"])
    });
    client.write(0, &[7; BLOCK]).unwrap();
    cluster.adm_ok(1, &["detach", "r0"]);
    cluster.wait(1, "loss of its replica", |status| {
        status.epoch.as_ref().is_some_and(|epoch| epoch.insync == ["n0"])
    });
    cluster.configure(&cluster.config_text_of("r0", &[1, 2]));
    let said = cluster.adm_refused(1, &["adjust", "r0"]);
    assert!(said.contains("no UpToDate replica in reach would be left"), "{said}");
}

/// What each replica notes of the others has its place on the disk, and there are as many as
/// `create-md` made.
#[test]
fn a_replica_too_many_is_refused_and_one_that_left_makes_room() {
    let mut cluster = prepare_three_of_four();
    (0..3).for_each(|index| cluster.create_md(index, "r0", &["--force", "--max-peers", "2"]));
    start_three_of_four(&mut cluster);

    cluster.configure(&cluster.config_text_of("r0", &[0, 1, 2, 3]));
    let said = cluster.adm_refused(0, &["adjust", "r0"]);
    assert!(said.contains("no room for one more replica"), "{said}");
    assert!(said.contains("--max-peers N"), "{said}");
    // A start with such a configuration leaves that replica out, and nothing else.
    cluster.adm_ok(1, &["down", "r0"]);
    cluster.adm_ok(1, &["up", "r0"]);
    cluster.wait_up_to_date(0);
    cluster.wait_for_log(1, "room for 3 members, and none for n3");

    adjust(&cluster, &[0, 1, 0, 1], &[0, 1]);
    cluster.wait(0, "voters without the third", |status| voters(status) == ["n0", "n1"]);
    cluster.adm_ok(2, &["down", "r0"]);
    cluster.configure(&cluster.config_text_of("r0", &[0, 1, 3]));
    let said = cluster.adm_refused(0, &["adjust", "r0"]);
    assert!(said.contains("free after `basalt adm down` and `up`"), "{said}");
    cluster.adm_ok(0, &["secondary", "r0"]);
    for index in [1, 0] {
        cluster.adm_ok(index, &["down", "r0"]);
        cluster.adm_ok(index, &["up", "r0"]);
    }
    cluster.adm_ok(3, &["up", "r0"]);
    cluster
        .poll(0, "its role", || cluster.adm(0, &["primary", "r0"]).status.success().then_some(()));
    cluster.wait(0, "the new replica", |status| {
        status.epoch.as_ref().is_some_and(|epoch| epoch.insync == ["n0", "n1", "n3"])
    });
    cluster.wait_for_votes(0);
    // It misses a write, and gets it by what the others noted of it.
    cluster.kill(3);
    cluster.client(0).write(0, &[7; BLOCK]).unwrap();
    cluster.kill(0);
    cluster.kill(1);
    (0..2).chain([3]).for_each(|index| cluster.launch(index));
    cluster
        .poll(0, "its role", || cluster.adm(0, &["primary", "r0"]).status.success().then_some(()));
    cluster.wait(0, "the new replica", |status| {
        status.epoch.as_ref().is_some_and(|epoch| epoch.insync == ["n0", "n1", "n3"])
    });
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    let mut block = [0; BLOCK];
    client.read(0, &mut block).unwrap();
    assert_eq!(block, [7; BLOCK]);
    client.close().unwrap();
    assert!(cluster.data(0, size) == cluster.data(3, size));
}

/// The first node told to do without another one needs it until all were told: what runs there is
/// stored once that is so.
#[test]
fn a_member_that_is_needed_still_is_told_of_and_forgotten_once_it_is_not() {
    let mut cluster = Cluster::start_in_sync(4, 0);
    cluster.configure(&cluster.config_text_of("r0", &[0, 1, 2]));
    let said = cluster.adm_told(0, &["--json", "adjust", "r0"]);
    assert!(said.contains("n3 of") && said.contains("is needed still"), "{said}");
    assert!(said.contains("a restart takes the former configuration"), "{said}");
    let stored = cluster.state_dir(0).join("resources/r0.res");
    let names_it = || fs::read_to_string(&stored).unwrap().contains("n3");
    assert!(names_it());
    for index in [1, 2] {
        cluster.adm_ok(index, &["adjust", "r0"]);
    }
    cluster.adm_ok(3, &["down", "r0"]);
    cluster.poll(0, "stored configuration", || (!names_it()).then_some(()));
    cluster.kill(0);
    cluster.launch(0);
    cluster.wait_connected(0);
    assert_eq!(cluster.status(0).unwrap().connections.len(), 2);
}

/// It said "ok" of a change of which nothing had been done.
#[test]
fn an_adjust_of_which_nothing_can_be_done_fails() {
    let mut cluster = Cluster::prepare(3, 0);
    if !cluster.directory.path().join("ca").exists() {
        cluster.issue_certificates();
    }
    let pair = cluster.config_text_of("r0", &[0, 1]);
    let other = cluster.config_text_of("r1", &[0, 2]);
    let other = &other[other.find("resource r1 {").unwrap()..];
    let mut other = with_sections(other, "net { tls no; }").replace("minor 1;", "minor 7;");
    for index in [0, 2] {
        let disk = format!("disk {}; meta-disk internal;", cluster.disk(index).display());
        other = other.replace(&disk, "disk none;");
        other = other.replace(&cluster.nodes[index].address.to_string(), &own_port().to_string());
    }
    cluster.configure(&format!("{pair}{other}"));
    cluster.launch(0);
    cluster.adm_ok(0, &["up", "all"]);
    let mesh = "connection-mesh { hosts n0 n1 n2; }";
    let three = cluster.config_text_of("r0", &[0, 1, 2]);
    assert!(three.contains(mesh), "{three}");
    let three = three.replace(
        mesh,
        "connection { host n0; host n1; } connection { host n1; host n2; }
         connection { host n0; host n2; net { tls yes; } }",
    );
    cluster.configure(&format!("{three}{other}"));
    let said = cluster.adm_refused(0, &["adjust", "r0"]);
    assert!(said.contains("the link to n2 is used in clear"), "{said}");
    let output = cluster.adm(0, &["--json", "adjust", "r0"]);
    assert_eq!(output.status.code(), Some(11), "{output:?}");
}
