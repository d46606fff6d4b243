//! Operators, and what they use, give commands to several nodes at one moment, in a share of the
//! runs.
//!
//! All is drawn apart from what a run draws otherwise: the runs without are what they were.
//! Where `primary --force` is one of the commands, lines part, and what is acknowledged on one of
//! them may be lost by the operator's word: such runs are judged line by line (run/forks.rs).

use replication::contract::{Command, PromoteMode};
use stdx::random::Random;

use crate::run::{Disks, ORDERS, Run};
use crate::sometimes::Mark;

/// In one of so many runs orders are given: those whose seed has this rest.
const SHARE: u64 = 7;
const REST: u64 = 3;
/// In one of so many steps; and while nobody is Primary, when people dare to.
const STEPS: u64 = 60;
const IDLE_STEPS: u64 = 10;

/// In one of so many of these people force, too.
const FORCING: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Invalidate,
    Detach,
    Attach,
    Promote,
    Adjust,
    /// `primary --force`
    Force,
}

const ALL: [Order; 5] =
    [Order::Invalidate, Order::Detach, Order::Attach, Order::Promote, Order::Adjust];

/// Whether `primary --force` is one of the commands of this seed.
#[must_use]
pub fn are_forced(seed: u64) -> bool {
    seed % SHARE == REST && (seed / SHARE) % FORCING == FORCING - 1
}

pub(super) fn draws_of(seed: u64) -> Random {
    Random::new(seed ^ 0x0004_de45)
}

/// What each node is told now, if anything: a loop over the hosts says one thing on all of them;
/// several people say another each.
pub(super) fn some_at_once(
    random: &mut Random,
    nodes: usize,
    (is_idle, all): (bool, &[Order]),
) -> Vec<(usize, Order)> {
    if !random.chance(1, if is_idle { IDLE_STEPS } else { STEPS }) {
        return Vec::new();
    }
    let common = *random.pick(all).expect("there are some");
    let is_loop = random.chance(1, 2);
    let told = (0..nodes).filter_map(|node| {
        let own = *random.pick(all).expect("there are some");
        let is_told = is_loop || random.chance(3, 4);
        is_told.then_some((node, if is_loop { common } else { own }))
    });
    told.collect()
}

pub(super) fn some_orders(seed: u64, disks: Disks) -> Option<Random> {
    // Disks that were given up prove nothing where the vote stores are lost.
    let is_sound = disks != Disks::OutliveVoteStores;
    (seed % SHARE == REST && is_sound).then(|| draws_of(seed))
}

impl Run {
    pub(super) fn order_at_once(&mut self) {
        let Some(mut random) = self.orders.take_if(|_| self.skip & 1 << ORDERS == 0) else {
            return;
        };
        let nodes = usize::from(self.cluster.options.nodes);
        let is_idle = !(0..nodes).any(|node| self.cluster.is_primary(node));
        let told = some_at_once(&mut random, nodes, (is_idle, &ALL));
        self.report.orders += u64::from(!told.is_empty());
        for (node, order) in told {
            if self.cluster.is_up(node) && !self.cluster.is_stopped(node) {
                self.order(node, order);
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
            Order::Promote | Order::Force => {}
            Order::Adjust => self.adjust(node),
        }
    }

    fn tell(&mut self, node: usize, command: Command) {
        let id = self.command_id();
        self.cluster.command(node, id, command);
    }
}
