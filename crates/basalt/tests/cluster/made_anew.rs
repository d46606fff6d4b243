//! A replica that is made anew while its peers hold the former one for up to date: none of them
//! shows the new one as that.

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::status::ResourceStatus;

use crate::BLOCK;
use crate::harness::Cluster;

/// What `status` shows of the disk of n1, while it is connected.
fn shown(status: &ResourceStatus) -> Option<DiskState> {
    let connection = status.connections.iter().find(|it| it.name == "n1")?;
    let is_connected = connection.connection_state == ConnectionState::Connected;
    is_connected.then(|| connection.peer_devices[0].peer_disk_state)
}

fn own(cluster: &Cluster, node: usize) -> DiskState {
    cluster.status(node).unwrap().devices[0].disk_state
}

/// How the node ends before its disk is formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Killed,
    Down,
}

/// Whether somebody leads meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Led {
    ByNobody,
    ByN0,
}

fn is_shown_as_it_is(ends: Ends, led: Led) {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write(0, &[7; BLOCK]).unwrap();
    let client = (led == Led::ByN0).then_some(client);
    if client.is_none() {
        cluster.poll(0, "end of its client", || {
            cluster.adm(0, &["secondary", "r0"]).status.success().then_some(())
        });
    }
    match ends {
        Ends::Killed => cluster.kill(1),
        Ends::Down => cluster.adm_ok(1, &["down", "r0"]),
    }
    // The kernel lets go of the disk of a killed process a little later.
    cluster.poll(0, "release of the disk", || {
        let words = ["create-md", "--node", "n1", "--force", "r0"];
        cluster.adm(1, &words).status.success().then_some(())
    });
    if ends == Ends::Killed {
        cluster.launch(1);
    }
    cluster.adm_ok(1, &["up", "r0"]);
    let mut looks = 0;
    cluster.poll(0, "copy to the new replica", || {
        let was_seen = shown(&cluster.status(0).unwrap()).is_some();
        let said = cluster.adm_told(0, &["explain", "r0"]);
        let views = [0, 2].map(|node| shown(&cluster.status(node).unwrap()));
        // What came after that may have come after the copy.
        let is_whole = own(&cluster, 1) == DiskState::UpToDate;
        if !is_whole {
            looks += usize::from(views.iter().all(Option::is_some));
            assert!(
                views.iter().all(|it| *it != Some(DiskState::UpToDate)),
                "{ends:?} {led:?}: shown as {views:?}, and it is {:?}",
                own(&cluster, 1)
            );
            let claim = said.lines().find(|line| line.contains("every acknowledged write is on"));
            let is_named = claim.is_some_and(|line| line.contains("n1"));
            assert!(!(was_seen && is_named), "{ends:?} {led:?}: {said}");
        }
        is_whole.then_some(())
    });
    assert!(looks > 0 || led == Led::ByN0, "it was seen before it was copied to");
    for node in 0..3 {
        cluster.wait_up_to_date(node);
    }
}

#[test]
fn replica_that_is_made_anew_after_a_crash_is_not_shown_as_up_to_date() {
    is_shown_as_it_is(Ends::Killed, Led::ByNobody);
    is_shown_as_it_is(Ends::Killed, Led::ByN0);
}

#[test]
fn replica_that_is_made_anew_after_down_is_not_shown_as_up_to_date() {
    is_shown_as_it_is(Ends::Down, Led::ByNobody);
    is_shown_as_it_is(Ends::Down, Led::ByN0);
}
