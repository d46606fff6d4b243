//! The `startup` section: who is Primary when the daemons start.

use api::role::Role;

use crate::harness::Cluster;

#[test]
fn a_node_becomes_primary_at_the_start_where_the_file_says_so() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(0, &["secondary", "r0"]);
    cluster.configure(&cluster.config_with("startup { become-primary-on n1; }"));
    for index in 0..3 {
        cluster.adm_ok(index, &["adjust", "r0"]);
        assert_eq!(cluster.role(index), Role::Secondary, "not before a start");
    }
    for index in 0..3 {
        cluster.kill(index);
    }
    for index in 0..3 {
        cluster.launch(index);
    }
    cluster.wait(1, "promotion", |status| status.role == Role::Primary);
    assert_eq!((cluster.role(0), cluster.role(2)), (Role::Secondary, Role::Secondary));

    // Another node that is Primary stays so.
    cluster.kill(1);
    let client = cluster.client(0);
    cluster.launch(1);
    cluster.poll(1, "refusal", || {
        cluster.log(1).contains("not Primary here as `become-primary-on` asks").then_some(())
    });
    assert_eq!((cluster.role(0), cluster.role(1)), (Role::Primary, Role::Secondary));
    client.close().unwrap();
}
