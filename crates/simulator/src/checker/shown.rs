//! What nodes show of each other's replicas is how they are (PROTOCOL.md 7d).
//!
//! Both hear each other, and know the newest value. Then, within a bound, the one shows a disk of
//! the other exactly where it has one in use; and as in sync only the replica that the value means.

use std::collections::BTreeMap;
use std::time::Duration;

use format::config::Config;
use stdx::time::Time;

use crate::checker::{Checker, processes, register_node};
use crate::cluster::Cluster;

/// A disk that is given up, or made anew, is told of at once.
const SHOWN_WITHIN: Duration = Duration::from_secs(2);
/// All pairs are looked at only so often, in events.
const INTERVAL: u64 = 10;

#[derive(Debug, Default)]
pub(super) struct Shown {
    looked_at: u64,
    wrong: BTreeMap<(usize, usize, u64), Time>,
}

/// What there is to show of one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Replica {
    NoDisk,
    /// It is not in sync, or another one than the value means.
    Behind,
    InSync,
}

impl Checker {
    pub(super) fn check_shown(&mut self, cluster: &Cluster) -> Result<(), String> {
        let is_due = cluster.events_done >= self.shown.looked_at + INTERVAL;
        let is_one_line = self.leaves().count() == 1 && cluster.forger.is_none();
        let Some(newest) = self.newest().filter(|_| is_due && is_one_line).cloned() else {
            return Ok(());
        };
        self.shown.looked_at = cluster.events_done;
        let before = std::mem::take(&mut self.shown.wrong);
        for (by, process) in processes(cluster) {
            if process.resource.chosen() != Some(&newest) {
                continue;
            }
            for (of, _) in processes(cluster).filter(|&(of, _)| of != by) {
                let Some(connection) = cluster.conversation(by, of) else { continue };
                let status = process.resource.status();
                let Some(facts) = status.members.iter().find(|it| it.node == register_node(of))
                else {
                    continue;
                };
                let shown = match facts {
                    facts if !facts.has_replica => Replica::NoDisk,
                    facts if facts.in_sync && !facts.is_made_anew => Replica::InSync,
                    _ => Replica::Behind,
                };
                let is = replica(cluster, of, &newest);
                if shown == is {
                    continue;
                }
                let key = (by, of, connection);
                let since = before.get(&key).copied().unwrap_or(cluster.now);
                if cluster.now.since(since) > SHOWN_WITHIN {
                    return Err(format!(
                        "7d: n{by} shows the replica of n{of} as {shown:?}, and it is {is:?}"
                    ));
                }
                self.shown.wrong.insert(key, since);
            }
        }
        Ok(())
    }
}

fn replica(cluster: &Cluster, node: usize, newest: &Config) -> Replica {
    if !cluster.has_open_disk(node) {
        return Replica::NoDisk;
    }
    let meant = newest.volumes[0].insync_member(register_node(node));
    let incarnation = cluster.disks[node].superblock.incarnation;
    if meant.is_some_and(|meant| meant.incarnation == incarnation) {
        Replica::InSync
    } else {
        Replica::Behind
    }
}
