//! A domain that stands in the configuration alone, or in the name of the daemon alone.

use api::connection_state::ConnectionState;

use crate::harness::{Cluster, HAS_TLS, pattern};

/// Everything was done with success, and the nodes waited for each other for ever. The file says a
/// domain for the first node, the daemon of the second says one, and the third has none at all.
#[test]
fn a_domain_may_be_missing_on_one_side() {
    let mut cluster = Cluster::prepare(3, 0);
    let text = cluster.config_text("r0").replace("on n0 ", "on n0.example.com ");
    cluster.configure(&text);
    cluster.nodes[1].name = "n1.example.com".to_owned();
    if HAS_TLS {
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
