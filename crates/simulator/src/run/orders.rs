//! Operators, and what they use, give commands to several nodes at one moment, in a share of the
//! runs.
//!
//! All is drawn apart from what a run draws otherwise: the runs without are what they were.

use replication::contract::{Command, PromoteMode};
use stdx::random::Random;

use crate::run::faults::ORDERS;
use crate::run::{Disks, Run};
use crate::sometimes::Mark;

/// In one of so many runs orders are given: those whose seed has this rest.
const SHARE: u64 = 7;
const REST: u64 = 3;
/// In one of so many steps; and while nobody is Primary, when people dare to.
const STEPS: u64 = 60;
const IDLE_STEPS: u64 = 10;

#[derive(Clone, Copy, Debug)]
enum Order {
    Invalidate,
    Detach,
    Attach,
    Promote,
    Adjust,
}

const ALL: [Order; 5] =
    [Order::Invalidate, Order::Detach, Order::Attach, Order::Promote, Order::Adjust];

pub(super) fn some_orders(seed: u64, disks: Disks) -> Option<Random> {
    // Disks that were given up prove nothing where the vote stores are lost.
    let is_sound = disks != Disks::OutliveVoteStores;
    (seed % SHARE == REST && is_sound).then(|| Random::new(seed ^ 0x0004_de45))
}

impl Run {
    /// A loop over the hosts says one thing on all of them; several people say another each.
    pub(super) fn order_at_once(&mut self) {
        let Some(mut random) = self.orders.take_if(|_| self.skip & 1 << ORDERS == 0) else {
            return;
        };
        let nodes = 0..usize::from(self.cluster.options.nodes);
        let is_idle = !nodes.clone().any(|node| self.cluster.is_primary(node));
        if random.chance(1, if is_idle { IDLE_STEPS } else { STEPS }) {
            self.report.orders += 1;
            let common = *random.pick(&ALL).expect("there are some");
            let is_loop = random.chance(1, 2);
            for node in nodes {
                let own = *random.pick(&ALL).expect("there are some");
                let is_there = self.cluster.is_up(node) && !self.cluster.is_stopped(node);
                if is_there && (is_loop || random.chance(3, 4)) {
                    self.order(node, if is_loop { common } else { own });
                }
            }
        }
        self.orders = Some(random);
    }

    fn order(&mut self, node: usize, order: Order) {
        match order {
            Order::Invalidate => {
                self.cluster.marks.insert(Mark::InvalidateAsked);
                self.tell(node, Command::Invalidate);
            }
            Order::Detach => self.tell(node, Command::Detach),
            Order::Attach => self.offer_disk(node),
            Order::Promote if self.is_wanted(node) && !self.clients.contains(&node) => {
                self.promote(node, PromoteMode::Normal);
            }
            Order::Promote => {}
            Order::Adjust => self.adjust(node),
        }
    }

    fn tell(&mut self, node: usize, command: Command) {
        let id = self.command_id();
        self.cluster.command(node, id, command);
    }
}
