//! Nodes that want to be Primary while another one is: what tries leases, fences and promotions.
//!
//! A client that did not hear of the end goes on at its node, beside that of the new Primary: the
//! oracle judges what each of them reads.

use std::time::Duration;

use replication::contract::{Command, PromoteMode};

use crate::run::Run;

/// Promotions under way at a time.
const PROMOTIONS_MAX: usize = 3;
/// Reads with which a client begins at a new Primary.
const FIRST_READS: u32 = 4;

impl Run {
    pub(super) fn be_rough(&mut self) {
        if !self.rough {
            return;
        }
        match self.random.below(8) {
            0 | 1 => self.usurp(),
            2 | 3 => {
                self.usurp();
                self.usurp();
            }
            4 | 5 => self.part_and_usurp(),
            6 => self.freeze_and_usurp(),
            _ => self.demote_at_once(),
        }
    }

    /// A node that is not Primary is told to be.
    fn usurp(&mut self) {
        let node = self.any_node();
        let is_up = self.cluster.is_up(node) && !self.cluster.is_stopped(node);
        let is_free = is_up && self.is_wanted(node);
        if is_free && !self.clients.contains(&node) && self.promoting.len() < PROMOTIONS_MAX {
            self.promote(node, PromoteMode::Normal);
        }
    }

    /// The Primary loses sight of some, or all, and goes on as long as it may.
    fn part_and_usurp(&mut self) {
        let Some(&primary) = self.clients.last() else { return };
        self.report.cuts += 1;
        let all = self.random.chance(1, 2);
        for other in 0..usize::from(self.cluster.options.nodes) {
            if all || self.random.chance(1, 2) {
                self.cluster.cut_link(primary, other);
            }
        }
        self.usurp();
    }

    /// The Primary stands still for about as long as its lease lasts.
    fn freeze_and_usurp(&mut self) {
        let Some(&primary) = self.clients.last() else { return };
        let millis = 200 + self.random.below(2_500);
        self.cluster.stop_for(primary, Duration::from_millis(millis));
        self.usurp();
    }

    /// The Primary is told to give the role up while requests are under way.
    fn demote_at_once(&mut self) {
        let Some(node) = self.clients.last().copied() else { return };
        if self.cluster.is_stopped(node) {
            return;
        }
        self.clients.retain(|&at| at != node);
        let id = self.command_id();
        self.cluster.command(node, id, Command::Demote);
    }

    /// The client of an earlier Primary comes here, and looks at what it left.
    pub(super) fn move_in(&mut self, node: usize) {
        if !self.rough {
            return;
        }
        if self.random.chance(1, 2) {
            self.clients.retain(|&at| at == node);
        }
        for _ in 0..FIRST_READS {
            self.read_at(node);
        }
        // Right after a promotion, before its first lease: somebody else.
        if self.random.chance(1, 4) {
            self.usurp();
        }
    }
}
