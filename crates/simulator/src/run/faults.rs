//! What happens by chance while the client works.

use std::time::Duration;

use replication::contract::{Command, CommandId, PromoteMode, Repair, VerifyTask};

use crate::cluster::{BadDisk, SlowDisk};
use crate::run::protocols::Protocols;
use crate::run::standing::Standing;
use crate::run::workload::Pending;
use crate::run::{Disks, Run, STANDING};
use crate::sometimes::Mark;

/// In one of so many runs a comparison goes on to the end, and in every second one of these what
/// differs is made equal at once.
const WHOLE_PASS_SEEDS: u64 = 7;
const WHOLE_PASSES: u64 = 4;

type Fault = fn(&mut Run);

/// What happens, and how often in a thousand steps.
const FAULTS: [(u64, Fault); 12] = [
    (3, Run::kill),
    (1, Run::cut_power),
    (4, Run::cut),
    (6, Run::reset),
    (2, Run::stand_idle),
    (2, Run::stop_or_detach),
    (3, Run::spoil_disk),
    (3, Run::stop_process),
    (2, Run::drift),
    (12, Run::be_rough),
    (4, Run::change_members),
    (2, Run::lose_vote_store),
];
const _: () = assert!(FAULTS.len() == STANDING as usize, "a bit of `skip` for each");

impl Run {
    pub(super) fn act(&mut self) {
        self.look_at_size();
        self.look_at_volumes();
        self.look_at_losses();
        self.come_upon_holes();
        self.order_at_once();
        match self.random.below(1000) {
            pick @ 0..44 => self.some_fault(pick),
            783..790 if self.protocols == Protocols::Mixed => self.write_slowly(),
            790..797 if self.protocols == Protocols::Mixed => self.kill_beside_answers(),
            797..800 if self.protocols == Protocols::Mixed => self.change_protocol(),
            44..48 => self.verify(),
            48..76 => self.heal_one(),
            76..88 => self.adjust_one(),
            88..130 => self.flush(),
            130..190 if self.disks == Disks::ComeAndGo => self.move_disk(),
            130..133 if self.disks == Disks::OutliveVoteStores => self.lose_stores(),
            130..450 => self.read(),
            _ => self.write(),
        }
        self.find_primary();
    }

    /// Gives a disk up, or offers it again.
    fn move_disk(&mut self) {
        let node = self.any_node();
        if self.cluster.has_open_disk(node) && self.random.chance(1, 2) {
            let id = self.command_id();
            self.cluster.command(node, id, Command::Detach);
        } else {
            self.offer_disk(node);
        }
    }

    pub(super) fn offer_disk(&mut self, node: usize) {
        let id = self.command_id();
        if self.cluster.attach(node, id) {
            self.report.attaches += 1;
        }
    }

    /// Replicas are compared by whoever leads: they never differ in this mix of faults.
    fn verify(&mut self) {
        let node = self.any_node();
        let from_block = self.random.below(8000);
        let until_block = from_block + 1 + self.random.below(12_000);
        let seed = self.cluster.options.seed;
        let (until_block, repair) = match seed % WHOLE_PASS_SEEDS {
            WHOLE_PASSES if seed.is_multiple_of(2) => (u64::MAX, Repair::AtOnce),
            WHOLE_PASSES => (u64::MAX, Repair::No),
            _ => (until_block, Repair::No),
        };
        if self.cluster.is_up(node) {
            let id = self.command_id();
            let task = VerifyTask { from_block, until_block, repair };
            self.cluster.command(node, id, Command::Verify(task));
        }
    }

    fn some_fault(&mut self, pick: u64) {
        let mut left = pick;
        for (kind, (weight, fault)) in FAULTS.into_iter().enumerate() {
            if left < weight {
                if self.skip & 1 << kind == 0 {
                    fault(self);
                }
                return;
            }
            left -= weight;
        }
    }

    /// The client is done, for a while or until somebody else comes.
    fn stand_idle(&mut self) {
        if self.random.chance(1, 2) {
            let idle = Duration::from_millis(self.random.below(10_000));
            self.idle_until = self.cluster.now + idle;
        }
        self.demote();
    }

    fn drift(&mut self) {
        let node = self.any_node();
        if self.cluster.options.quirks.clocks {
            self.cluster.drift(node);
        }
    }

    pub(super) fn any_node(&mut self) -> usize {
        self.cluster.any_node(&mut self.random)
    }

    fn kill(&mut self) {
        let node = self.any_node();
        if self.cluster.is_up(node) {
            self.report.kills += 1;
            self.cluster.kill(node);
            self.after_death(node);
        }
    }

    fn cut_power(&mut self) {
        let all = self.random.chance(1, 4);
        let victim = self.any_node();
        for node in 0..usize::from(self.cluster.options.nodes) {
            if (all || node == victim) && self.cluster.is_up(node) {
                self.report.power_cuts += 1;
                self.cluster.cut_power(node);
                self.after_death(node);
            }
        }
    }

    pub(super) fn after_death(&mut self, node: usize) {
        let delay = Duration::from_millis(1 + self.random.below(3000));
        self.cluster.restart_later(node, delay);
        self.end_client(node);
        self.commands.retain(|_, (at, _)| *at != node);
    }

    /// Nothing that the client of `node` waits for will be answered any more.
    pub(super) fn end_client(&mut self, node: usize) {
        self.clients.retain(|&at| at != node);
        if !self.cluster.is_up(node) {
            self.promoting.retain(|_, at| *at != node);
        }
        let is_here = |pending: &Pending| pending.node() == node;
        for pending in
            self.pending.extract_if(.., |_, it| is_here(it)).map(|it| it.1).collect::<Vec<_>>()
        {
            self.give_up(&pending);
        }
    }

    fn cut(&mut self) {
        let (a, b) = (self.any_node(), self.any_node());
        if self.random.chance(1, 3) {
            for other in 0..usize::from(self.cluster.options.nodes) {
                self.cluster.cut_link(a, other);
            }
        } else {
            self.cluster.cut_link(a, b);
        }
        self.report.cuts += 1;
    }

    fn heal_one(&mut self) {
        let (a, b) = (self.any_node(), self.any_node());
        self.cluster.heal_link(a, b);
        self.cluster.slow[a] = SlowDisk::default();
        if self.random.chance(1, 4) {
            self.attach(a);
        }
    }

    fn reset(&mut self) {
        let (a, b) = (self.any_node(), self.any_node());
        if self.random.chance(1, 2) {
            self.cluster.reset_link(a, b);
        } else {
            self.cluster.break_one_connection(a, b);
        }
    }

    pub(super) fn demote(&mut self) {
        if !self.pending.is_empty() {
            return;
        }
        for node in std::mem::take(&mut self.clients) {
            let id = self.command_id();
            self.cluster.command(node, id, Command::Demote);
        }
    }

    /// An operator looks at the data after losses, and types `reopen` somewhere.
    fn look_at_losses(&mut self) {
        let mut processes = self.cluster.processes.iter().flatten();
        if !processes.any(|process| process.resource.awaits_reopen()) || !self.random.chance(1, 60)
        {
            return;
        }
        let (node, id) = (self.any_node(), self.command_id());
        if self.cluster.is_up(node) {
            self.cluster.marks.insert(Mark::ReopenAsked);
            self.cluster.command(node, id, Command::Reopen);
        }
    }

    pub(super) fn command_id(&mut self) -> CommandId {
        self.next_command += 1;
        CommandId(self.next_command)
    }

    pub(super) fn promote(&mut self, node: usize, mode: PromoteMode) {
        let id = self.command_id();
        self.promoting.insert(id, node);
        self.cluster.command(node, id, Command::Promote(mode));
    }

    pub(super) fn find_primary(&mut self) {
        if !self.clients.is_empty() {
            return;
        }
        let is_wanted = self.cluster.now >= self.idle_until;
        if is_wanted && self.promoting.is_empty() && self.random.chance(1, 5) {
            let node = self.any_node();
            if self.is_wanted(node) && self.cluster.is_up(node) && !self.cluster.is_stopped(node) {
                self.promote(node, PromoteMode::Normal);
            }
        }
    }

    /// The daemon is told to end, or to give its disk up.
    fn stop_or_detach(&mut self) {
        let node = self.any_node();
        let command = if self.random.chance(1, 2) { Command::Stop } else { Command::Detach };
        self.give(node, command);
    }

    fn give(&mut self, node: usize, command: Command) {
        let asked = self.commands.values().any(|&(at, _)| at == node);
        if asked || !self.cluster.is_up(node) || self.cluster.is_stopped(node) {
            return;
        }
        if command == Command::Stop {
            if !self.may_leave() {
                return;
            }
            // A front end that is told to go admits nothing more.
            self.clients.retain(|&at| at != node);
        }
        self.report.stops += 1;
        let id = self.command_id();
        self.commands.insert(id, (node, command));
        self.cluster.command(node, id, command);
    }

    pub(super) fn after_command(&mut self, node: usize, command: Command) {
        if command == Command::Stop {
            self.cluster.marks.insert(Mark::Stopped);
            self.cluster.kill(node);
            self.after_death(node);
            self.stop_more();
        }
    }

    /// An operator who stops one node often stops the next, until the last one stands alone.
    fn stop_more(&mut self) {
        let node = self.any_node();
        if self.random.chance(1, 2) && self.standing == Standing::Nothing {
            self.give(node, Command::Stop);
        }
    }

    /// A disk that was given up is attached again: with a new process.
    pub(super) fn attach(&mut self, node: usize) {
        if self.cluster.lost_its_disk(node) {
            self.cluster.kill(node);
            self.after_death(node);
        }
    }

    fn spoil_disk(&mut self) {
        let node = self.any_node();
        self.report.disk_errors += 1;
        let bad = &mut self.cluster.bad[node];
        match self.random.below(8) {
            0 => bad.write = true,
            1..4 => bad.read = true,
            4 => bad.flush = true,
            5 => bad.metadata = true,
            6 => bad.save = true,
            _ => {
                *bad = BadDisk::default();
                let millis = self.random.below(300);
                let slow = Duration::from_millis(millis);
                // Often longer than a read waits before another member is asked.
                let read = slow * 8;
                self.cluster.slow[node] =
                    SlowDisk { read, save: slow, flush: slow, write: slow, metadata: slow };
            }
        }
        if self.rough && self.random.chance(1, 3) {
            self.cluster.bad[node].register = true;
        }
    }

    /// A voter that says nothing more votes again in another process.
    pub(super) fn unmute(&mut self, node: usize) {
        if self.cluster.is_mute(node) {
            self.cluster.kill(node);
            self.after_death(node);
        }
    }

    fn stop_process(&mut self) {
        let node = self.any_node();
        let most = if self.random.chance(1, 3) { 4_000 } else { 300 };
        let millis = 1 + self.random.below(most);
        self.cluster.stop_for(node, Duration::from_millis(millis));
    }
}
