//! What was chosen is known to all who are in reach of one that knows (PROTOCOL.md 7d): so no
//! replica goes on taking itself for up to date beside one that knows better.

use std::collections::BTreeMap;
use std::time::Duration;

use stdx::time::Time;

use crate::checker::{Checker, processes};
use crate::cluster::Cluster;
use crate::process::Process;

/// How long news may take from one to the other.
const ON_THE_WAY_MAX: Duration = Duration::from_secs(1);

/// Who knows, who does not, and the connection between the two, with the time since when.
#[derive(Debug, Default)]
pub(super) struct News {
    late: BTreeMap<(usize, usize, u64), Time>,
}

impl Checker {
    pub(super) fn check_news(&mut self, cluster: &Cluster) -> Result<(), String> {
        let before = std::mem::take(&mut self.news.late);
        for (from, knower) in processes(cluster) {
            for (to, other) in processes(cluster) {
                if !knows_more(knower, other) {
                    continue;
                }
                let Some(connection) = cluster.conversation(from, to) else { continue };
                let key = (from, to, connection);
                let since = before.get(&key).copied().unwrap_or(cluster.now);
                if cluster.now.since(since) > ON_THE_WAY_MAX {
                    let epoch = |it: &Process| it.resource.chosen().map(|value| value.epoch);
                    return Err(format!(
                        "7d: n{from} knows of {:?}, and does not tell n{to}, which knows of {:?}",
                        epoch(knower),
                        epoch(other),
                    ));
                }
                self.news.late.insert(key, since);
            }
        }
        Ok(())
    }
}

/// Which of two lines goes on, nodes find out otherwise.
fn knows_more(knower: &Process, other: &Process) -> bool {
    let known = knower.resource.chosen().zip(other.resource.chosen());
    known.is_some_and(|(known, other)| known.branch == other.branch && known.epoch > other.epoch)
}
