//! What a leader calls stable is written at every member of its session, whatever it told its
//! clients before (PROTOCOL.md 5.4 and 10.1).

use format::ids::MemberSet;

use crate::checker::{Checker, intact, processes};
use crate::cluster::Cluster;
use crate::process::Process;
use replication::group::LaneGroup;

impl Checker {
    pub(super) fn check_stable(cluster: &Cluster) -> Result<(), String> {
        if !cluster.may_count_receipts() {
            return Ok(());
        }
        for (node, leader) in processes(cluster) {
            for group in &leader.groups {
                let Some((_, members)) = group.served() else { continue };
                check_group(cluster, (node, group), members)?;
            }
        }
        Ok(())
    }
}

fn check_group(
    cluster: &Cluster,
    (node, leader): (usize, &LaneGroup),
    members: MemberSet,
) -> Result<(), String> {
    for member in members.iter() {
        let Some(process) = intact(cluster, member) else { continue };
        for (lane, stable) in leader.stable() {
            let group = group_of_lane(process, lane.0);
            let obeys = group.session() == leader.session();
            let first = group.first_unwritten(lane).filter(|_| obeys);
            if first.is_some_and(|first| first <= stable) {
                return Err(format!(
                    "5.4: n{node} calls {stable:?} of {lane:?} stable, and n{member} has not \
                     written {first:?}"
                ));
            }
        }
    }
    Ok(())
}

fn group_of_lane(process: &Process, lane: u8) -> &LaneGroup {
    &process.groups[usize::from(lane % process.shards)]
}
