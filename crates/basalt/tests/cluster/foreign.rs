//! A replica with data of another history than that of the others: nobody overwrites it unasked,
//! and what is typed to have it overwritten is told.

use std::fs;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;

use crate::BLOCK;
use crate::harness::Cluster;

/// The resource was made anew on two nodes of three, and the third one kept its disk.
#[test]
fn a_replica_of_another_history_stays_as_it_is_until_it_is_invalidated() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &[1; BLOCK]).unwrap();
    client.close().unwrap();
    for index in [2, 1, 0] {
        cluster.adm_ok(index, &["down", "r0"]);
        cluster.terminate(index);
        fs::remove_dir_all(cluster.state_dir(index)).unwrap();
    }
    for index in 0..2 {
        cluster.create_md(index, "r0", &["--force"]);
        cluster.launch(index);
        cluster.adm_ok(index, &["up", "r0"]);
    }
    cluster.wait(0, "connection to the second", |status| {
        status.connections.iter().any(|it| it.connection_state == ConnectionState::Connected)
    });
    cluster.adm_ok(0, &["primary", "--force", "r0"]);
    let mut client = cluster.client(0);
    client.write(0, &[2; BLOCK]).unwrap();
    cluster.launch(2);
    cluster.adm_ok(2, &["up", "r0"]);
    for index in [0, 2] {
        cluster.wait(index, "word of the other history", |status| {
            let is_told = |reason: &String| {
                reason.contains("the data of n2 has another history")
                    && reason.contains("then, on n2, `basalt adm invalidate r0` gives it up")
            };
            status.reasons.iter().any(is_told)
        });
    }
    assert_ne!(cluster.status(2).unwrap().devices[0].disk_state, DiskState::UpToDate);
    assert_eq!(cluster.data(2, size)[..BLOCK], [1; BLOCK], "nobody said that it may go");
    // It is met once, and not over and over.
    let told = cluster.log(0).matches("its data has another history").count();
    assert!(told <= 3, "{told} times: {}", cluster.log(0));
    cluster.adm_ok(2, &["invalidate", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    assert_eq!(cluster.data(2, size)[..BLOCK], [2; BLOCK]);
}
