//! A domain that stands in the configuration alone, or in the name of the daemon alone, or that
//! alone tells two hosts apart.

use std::fs;

use api::connection_state::ConnectionState;

use crate::harness::{Cluster, pattern};

/// Everything was done with success, and the nodes waited for each other for ever. The file says a
/// domain for the first node, the daemon of the second says one, and the third has none at all.
#[test]
fn a_domain_may_be_missing_on_one_side() {
    let mut cluster = Cluster::prepare(3, 0);
    let text = cluster.config_text("r0").replace("on n0 ", "on n0.example.com ");
    cluster.configure(&text);
    cluster.nodes[1].name = "n1.example.com".to_owned();
    if cluster.variant.has_tls() {
        cluster.issue_certificates();
    }
    cluster.create_md(1, "r0", &["--force"]);
    cluster.begin();
    cluster.make_in_sync();
    cluster.client(0).write(0, &pattern(0, 1)).unwrap();
    for (name, other) in [("n1", "n1.example.com"), ("n2", "n2.example.com")] {
        cluster.adm_ok(0, &["disconnect", &format!("r0:{other}")]);
        let told = cluster.adm_told(0, &["cstate", &format!("r0:{other}")]);
        assert_eq!(told.trim(), "StandAlone");
        cluster.adm_ok(0, &["connect", &format!("r0:{name}")]);
        cluster.adm_ok(0, &["wait-connect", &format!("r0:{other}")]);
    }
    cluster.wait_up_to_date(0);
    cluster.wait_up_to_date(1);
    let refused = cluster.adm_refused(1, &["disconnect", "r0:n0.example.org"]);
    assert!(refused.contains("has no peer"), "{refused}");
    for index in 0..3 {
        let status = cluster.status(index).unwrap();
        let all = status.connections.iter();
        assert!(all.clone().all(|it| it.connection_state == ConnectionState::Connected));
        let name = all.map(|it| it.name.as_str()).next();
        assert_eq!(name, Some(if index == 0 { "n1" } else { "n0.example.com" }), "as in the file");
    }
    let own = cluster.adm_told(1, &["primary", "--dry-run", "r0"]);
    assert!(own.contains("it has every acknowledged write"), "{own}");
    cluster.assert_replicas_equal(4 << 20);
}

/// Two of three hosts that differ in their domain alone, in sync.
fn twins() -> Cluster {
    let mut cluster = Cluster::prepare(3, 0);
    // The one that sorts first is not the one with the lesser id.
    for (index, name) in ["db.b.example", "db.a.example", "alpha"].iter().enumerate() {
        (*name).clone_into(&mut cluster.nodes[index].name);
    }
    if cluster.variant.has_tls() {
        cluster.issue_certificates();
    }
    cluster.configure(&cluster.config_text("r0"));
    for index in 0..3 {
        cluster.create_md(index, "r0", &["--force"]);
    }
    cluster.begin();
    cluster.make_in_sync();
    cluster
}

/// The file was refused, and DRBD takes it.
#[test]
fn two_hosts_may_differ_in_their_domain_alone() {
    let mut cluster = twins();
    cluster.client(0).write(0, &pattern(0, 1)).unwrap();
    let refused = cluster.adm_refused(2, &["disconnect", "r0:db"]);
    let told = "`db` could be db.b.example or db.a.example";
    assert!(refused.contains(told), "{refused}");
    for words in [["cstate", "r0:db"], ["wait-connect", "r0:db"], ["peer-role", "r0:db"]] {
        let refused = cluster.adm_refused(2, &words);
        assert!(refused.contains(told), "{words:?}: {refused}");
    }
    for (index, other) in [(2, "db.a.example"), (2, "db.b.example"), (0, "db.a.example")] {
        let connection = format!("r0:{other}");
        cluster.adm_ok(index, &["disconnect", &connection]);
        let states: Vec<_> =
            cluster.adm_told(index, &["cstate", "r0"]).lines().map(str::to_owned).collect();
        let apart = states.iter().filter(|state| *state == "StandAlone").count();
        assert_eq!(apart, 1, "{other} alone: {states:?}");
        cluster.adm_ok(index, &["connect", &connection]);
        cluster.adm_ok(index, &["wait-connect", &connection]);
    }
    cluster.wait_up_to_date(0);
    cluster.kill(1);
    cluster.client(0).write(8 << 12, &pattern(1, 2)).unwrap();
    cluster.launch(1);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    cluster.assert_replicas_equal(4 << 20);
}

/// A daemon that leaves the domain out could be either of them.
#[test]
fn a_daemon_says_its_whole_name_where_the_domain_alone_tells_it_apart() {
    let mut cluster = twins();
    assert_eq!(cluster.terminate(0), Some(0));
    cluster.nodes[0].name = "db".to_owned();
    if cluster.variant.has_tls() {
        cluster.issue_certificates();
    }
    cluster.launch(0);
    let refused = cluster.adm_refused(0, &["up", "r0"]);
    assert!(refused.contains("`db` could be db.b.example or db.a.example"), "{refused}");
    assert!(refused.contains("--name"), "{refused}");
    let refused = cluster.adm_refused(0, &["create-md", "--node", "db", "--force", "r0"]);
    assert!(refused.contains("`db` could be db.b.example or db.a.example"), "{refused}");
    if !cluster.variant.has_tls() {
        return;
    }
    // Nor does a certificate that leaves it out tell who shows it.
    assert_eq!(cluster.terminate(0), Some(0));
    let nodes = cluster.directory.path().join("ca/nodes");
    let whole = nodes.join("db.b.example");
    fs::remove_dir_all(&whole).unwrap();
    fs::rename(nodes.join("db"), &whole).unwrap();
    cluster.nodes[0].name = "db.b.example".to_owned();
    cluster.launch(0);
    cluster.wait_for_log(2, "its certificate is not for the whole name");
    fs::remove_dir_all(&whole).unwrap();
    assert_eq!(cluster.terminate(0), Some(0));
    cluster.issue_certificates();
    cluster.launch(0);
    cluster.wait_up_to_date(0);
}
