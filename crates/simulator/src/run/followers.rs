//! What a follower holds is a state that all replicas could have been in (PROTOCOL.md 10.1): if it
//! has a write, it has all that was answered before that one was asked for.
//!
//! Looked at whenever an intact follower says where it stands: then nothing of a cut is half
//! applied, and a promotion may take it as it is.

use std::collections::{BTreeMap, BTreeSet};

use format::ids::NodeId;

use crate::contents::SECTORS;
use crate::run::Run;
use crate::sometimes::Mark;

/// Every write since the last promotion that gave some up.
#[derive(Debug, Default)]
pub(super) struct Answers {
    clock: u64,
    by_sector: BTreeMap<u64, Vec<Life>>,
    /// Followers that were looked at where they stand.
    looked_at: BTreeSet<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Life {
    id: u64,
    invoked: u64,
    answered: Option<u64>,
}

impl Answers {
    pub(super) fn invoke(&mut self, sectors: &[(u64, u64)]) {
        self.clock += 1;
        for &(sector, id) in sectors {
            let life = Life { id, invoked: self.clock, answered: None };
            self.by_sector.entry(sector).or_default().push(life);
        }
    }

    pub(super) fn answer(&mut self, sectors: &[(u64, u64)]) {
        self.clock += 1;
        for &(sector, id) in sectors {
            let lives = self.by_sector.entry(sector).or_default().iter_mut();
            if let Some(life) = lives.rev().find(|it| it.id == id && it.answered.is_none()) {
                life.answered = Some(self.clock);
            }
        }
    }

    /// What was answered until now may be gone.
    pub(super) fn forget(&mut self) {
        self.by_sector.clear();
    }

    /// `holds` says what is in a sector.
    fn check(&self, holds: impl Fn(u64) -> u64) -> Result<(), String> {
        let held: BTreeMap<u64, u64> =
            self.by_sector.keys().map(|&sector| (sector, holds(sector))).collect();
        // An erasure leaves no name: it may be any one.
        let lives = self.by_sector.iter().flat_map(|(sector, lives)| {
            lives.iter().filter(|it| it.id != 0 && held[sector] == it.id)
        });
        let newest = lives.map(|it| it.invoked).max().unwrap_or(0);
        for (sector, lives) in &self.by_sector {
            let id = held[sector];
            let of_id = || lives.iter().filter(|it| it.id == id);
            let is_older = |than: &Life| {
                of_id().all(|it| it.answered.is_some_and(|answered| answered < than.invoked))
            };
            let due = lives.iter().filter(|it| it.answered.is_some_and(|at| at < newest));
            if let Some(missing) = due.filter(|it| it.id != id).find(|it| is_older(it)) {
                return Err(format!(
                    "10.1: holds {id} in sector {sector}, not {missing:?}, and what was asked for \
                     at {newest}"
                ));
            }
        }
        Ok(())
    }
}

impl Run {
    pub(super) fn check_followers(&mut self) -> Result<(), String> {
        if !self.cluster.may_follow() {
            return Ok(());
        }
        let Some(newest) = self.checker.newest().filter(|newest| !newest.clean) else {
            return Ok(());
        };
        let followers = newest.followers.and(newest.volumes[0].insync_set());
        let sources = self.checker.sources(&self.cluster);
        for node in 0..self.cluster.processes.len() {
            let is_one = u8::try_from(node).ok().and_then(NodeId::new);
            let is_one = is_one.is_some_and(|it| followers.has(it) && sources.has(it));
            let process = self.cluster.processes[node].as_ref().filter(|_| is_one);
            if !process.is_some_and(|process| process.resource.is_at_rest()) {
                self.answers.looked_at.remove(&node);
                continue;
            }
            if !self.answers.looked_at.insert(node) {
                continue;
            }
            self.cluster.marks.insert(Mark::FollowerSealed);
            let (disk, contents) = (&self.cluster.disks[node], &self.cluster.contents);
            let holds = |sector: u64| {
                let sectors = contents.sectors(disk.read(sector / SECTORS as u64));
                let place = usize::try_from(sector % SECTORS as u64).expect("within a block");
                sectors.into_iter().nth(place).expect("all sectors of a block")
            };
            let checked = self.answers.check(holds);
            checked.map_err(|text| format!("n{node} {text} ({:?})", self.cluster.now))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 is answered, then 20 is asked for elsewhere.
    fn two_writes() -> Answers {
        let mut answers = Answers::default();
        answers.invoke(&[(1, 10)]);
        answers.answer(&[(1, 10)]);
        answers.invoke(&[(2, 20)]);
        answers
    }

    #[test]
    fn what_came_later_alone_is_no_cut() {
        let answers = two_writes();
        let holds = |one: u64, two: u64| {
            answers.check(move |sector| if sector == 1 { one } else { two }).is_ok()
        };
        assert!(holds(0, 0) && holds(10, 0) && holds(10, 20));
        assert!(!holds(0, 20));
    }

    #[test]
    fn writes_that_overlap_may_be_in_any_order() {
        let mut answers = two_writes();
        answers.invoke(&[(1, 11)]);
        answers.answer(&[(2, 20)]);
        answers.answer(&[(1, 11)]);
        let holds = |one: u64| answers.check(move |sector| if sector == 1 { one } else { 20 });
        assert!(holds(10).is_ok() && holds(11).is_ok());
        assert!(holds(0).is_err());
    }
}
