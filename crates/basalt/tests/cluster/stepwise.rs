//! A resource that is taken up step by step, as the cluster manager's agent for DRBD does it.

use std::fs;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::role::Role;

use crate::BLOCK;
use crate::disks::disk_state;
use crate::harness::{Cluster, with_sections};

fn is_apart(cluster: &Cluster, index: usize) -> bool {
    let connections = cluster.status(index).unwrap().connections;
    let is_alone = |state| state == ConnectionState::StandAlone;
    connections.len() == 2 && connections.iter().all(|one| is_alone(one.connection_state))
}

/// The steps of the agent's `start`, and what is there after each.
#[track_caller]
fn start(cluster: &Cluster, index: usize) {
    for _ in 0..2 {
        cluster.adm_ok(index, &["check-resize", "r0"]);
        cluster.adm_ok(index, &["new-resource", "r0"]);
        cluster.adm_ok(index, &["new-minor", "r0"]);
        assert_eq!(disk_state(cluster, index), DiskState::Diskless);
        assert!(is_apart(cluster, index));
        assert_eq!(cluster.role(index), Role::Secondary);
    }
    for _ in 0..2 {
        cluster.adm_ok(index, &["adjust", "--skip-net", "r0"]);
        assert_ne!(disk_state(cluster, index), DiskState::Diskless);
        assert!(is_apart(cluster, index), "nobody is called yet");
    }
}

#[test]
fn steps_lead_where_up_leads() {
    let mut cluster = Cluster::prepare(3, 0);
    for index in 0..3 {
        cluster.launch(index);
        let said = cluster.adm_refused(index, &["new-minor", "r0"]);
        assert!(said.contains("(158) Unknown resource"), "{said}");
        start(&cluster, index);
    }
    for index in 0..3 {
        cluster.adm_ok(index, &["new-peer", "r0"]);
        cluster.adm_ok(index, &["new-path", "r0"]);
        cluster.adm_ok(index, &["adjust", "r0"]);
    }
    cluster.make_in_sync();
    let mut client = cluster.client(0);
    client.write(0, &[1; BLOCK]).unwrap();

    // One node leaves, misses a write, and comes back in steps.
    cluster.adm_ok(2, &["down", "r0"]);
    cluster.adm_ok(2, &["outdate", "r0"]);
    client.write(4096, &[2; BLOCK]).unwrap();
    start(&cluster, 2);
    assert_ne!(disk_state(&cluster, 2), DiskState::UpToDate, "it missed a write");
    assert_eq!(cluster.adm_told(2, &["-d", "adjust", "--skip-net", "r0"]), "");
    let both = "drbdsetup connect r0 0\ndrbdsetup connect r0 1\n";
    assert_eq!(cluster.adm_told(2, &["-d", "adjust", "r0"]), both);
    assert_eq!(cluster.adm_told(2, &["-v", "adjust", "r0:n0"]), "drbdsetup connect r0 0\n");
    let said = cluster.adm_refused(2, &["adjust", "r0:n7"]);
    assert!(said.contains("has no peer \"n7\""), "{said}");
    assert_eq!(cluster.adm_told(2, &["-v", "adjust", "r0"]), "drbdsetup connect r0 1\n");
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    assert_eq!(cluster.adm_told(0, &["peer-role", "r0"]), "Secondary\nSecondary\n");
    assert_eq!(cluster.adm_told(2, &["peer-role", "r0:n0"]), "Primary\n");
    let said = cluster.adm_refused(0, &["outdate", "r0"]);
    assert!(said.contains("this node is Primary"), "{said}");
    client.close().unwrap();
    for index in 0..3 {
        cluster.adm_ok(index, &["down", "r0"]);
    }
    cluster.assert_replicas_equal(1 << 20);
}

#[test]
fn what_was_given_up_stays_so_until_adjust_is_to_mend_it() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(1, &["detach", "r0"]);
    cluster.adm_ok(1, &["disconnect", "r0"]);
    cluster.adm_ok(1, &["adjust", "--skip-disk", "--skip-net", "r0"]);
    assert_eq!(disk_state(&cluster, 1), DiskState::Diskless);
    assert!(is_apart(&cluster, 1));
    let steps = cluster.adm_told(1, &["-d", "adjust", "r0"]);
    let lines: Vec<_> = steps.lines().collect();
    assert!(lines.len() == 4 && lines[1].starts_with("drbdsetup attach 1 "), "{steps}");
    cluster.adm_ok(1, &["adjust", "--skip-disk", "r0"]);
    cluster.wait_connected(1);
    assert_eq!(disk_state(&cluster, 1), DiskState::Diskless);
    cluster.adm_ok(1, &["adjust", "r0"]);
    cluster.wait_up_to_date(1);
    assert_eq!(cluster.adm_told(1, &["-d", "adjust", "r0"]), "");
}

/// One peer that was disconnected made all of them so, and a restart for one of them called all.
#[test]
fn a_restart_keeps_exactly_those_peers_apart_that_were() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(0, &["disconnect", "r0:n2"]);
    let states = || -> Vec<_> {
        let connections = cluster.status(0).unwrap().connections;
        connections.iter().map(|one| one.connection_state).collect()
    };
    for (extents, words) in [
        (127, &["adjust", "--skip-net", "r0"][..]),
        (61, &["disk-options", "r0"]),
        (31, &["adjust", "r0:n1"]),
    ] {
        cluster.configure(&cluster.config_with(&format!("disk {{ al-extents {extents}; }}")));
        cluster.adm_ok(0, words);
        cluster.poll(0, &format!("connection to n1 after {words:?}"), || {
            (states()[0] == ConnectionState::Connected).then_some(())
        });
        assert_eq!(states()[1], ConnectionState::StandAlone, "{words:?}");
    }
    cluster.adm_ok(0, &["adjust", "r0"]);
    cluster.wait_up_to_date(0);
}

/// A restart that left the disk alone was taken for one that needs none, and its reason was gone.
#[test]
fn why_there_is_no_disk_outlives_a_restart_that_is_not_about_it() {
    let mut cluster = Cluster::start_in_sync(2, 0);
    let path = cluster.disk(1);
    let away = path.with_extension("away");
    cluster.kill(1);
    fs::rename(&path, &away).unwrap();
    cluster.launch(1);
    let says_why = || {
        let reasons = cluster.status(1).unwrap().reasons;
        reasons.iter().any(|it| it.starts_with("its disk is not attached: cannot open disk"))
    };
    assert!(says_why());
    let text = cluster.config_text("r0");
    cluster.configure(&with_sections(&text, "disk { al-extents 127; }"));
    cluster.adm_ok(1, &["disk-options", "r0"]);
    assert_eq!(disk_state(&cluster, 1), DiskState::Diskless);
    assert!(says_why());
    // Of another disk nobody knows whether it can be had.
    let (named, other) = (path.to_str().unwrap(), format!("{}-2", path.display()));
    cluster.configure(&text.replace(&format!("{named};"), &format!("{other};")));
    cluster.adm_ok(1, &["adjust", "--skip-disk", "r0"]);
    assert_eq!(disk_state(&cluster, 1), DiskState::Diskless);
    assert!(!says_why());
    cluster.configure(&text);
    fs::rename(&away, &path).unwrap();
    cluster.adm_ok(1, &["adjust", "r0"]);
    cluster.wait_up_to_date(1);
    assert!(!says_why());
}
