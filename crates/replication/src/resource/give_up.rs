//! Giving the local replica up by an operator's word: `invalidate` and `detach` (PROTOCOL.md 9.3).
//!
//! What was last heard of the others decides nothing: they may be told the same at this moment. The
//! replica goes once a value that is known to be chosen does not have it in sync, which always has
//! another one. Nobody takes the last one out, so two that are to go at once never both do.

use format::ids::{MemberSet, NodeId, Nonce};
use format::message::{Control, OwnReplica};
use format::metadata::ReplicaState;
use stdx::time::Time;

use crate::contract::{CommandErrorCode, CommandId, DiskEnd, ReplicaRole};
use crate::limits;
use crate::lineage::stamp::make_blank;
use crate::lineage::standing::{behind, insync};
use crate::resource::leave::{GiveUp, Leave, LeaveEnd};
use crate::resource::{AfterSave, Resource};

impl Resource {
    pub(crate) fn on_give_up(&mut self, id: CommandId, how: GiveUp) {
        if self.stop.is_some() {
            return self.refuse(id, CommandErrorCode::Busy, "the resource is being stopped");
        }
        if self.leave.is_some() {
            let message = "the replica of this node is being given up already";
            return self.refuse(id, CommandErrorCode::Busy, message);
        }
        if let Some((code, message)) = self.obstacle_to_giving_up(how) {
            return self.refuse(id, code, message);
        }
        if !self.may_be_in_sync() {
            return self.give_up(how, id);
        }
        let until = self.now + limits::GIVE_UP_DEADLINE;
        self.leave = Some(Leave { until, end: LeaveEnd::GiveUp(how, id) });
        self.caretake_at = Time::NEVER;
        self.tell_leave();
    }

    pub(crate) fn advance_giving_up(&mut self, how: GiveUp, id: CommandId, until: Time) {
        if let Some((code, message)) = self.obstacle_to_giving_up(how) {
            self.keep_replica(code, message);
        } else if !self.may_be_in_sync() {
            self.leave = None;
            self.give_up(how, id);
        } else if self.now >= until && how == GiveUp::Detach && self.saves.is_stuck(self.now) {
            // Its vote is needed, perhaps, and waits for the disk: that counts as one that failed.
            self.leave = None;
            self.give_up(how, id);
        } else if self.now >= until {
            let message = "no majority of the votes agreed in time that this replica is not \
                           needed: it stays as it is; `status` shows who is missing";
            self.keep_replica(CommandErrorCode::NoQuorum, message);
        }
    }

    /// The replica stays as it is, if one was to be given up.
    pub(crate) fn keep_replica(&mut self, code: CommandErrorCode, message: &str) {
        let Some(Leave { end: LeaveEnd::GiveUp(_, id), .. }) = self.leave else { return };
        self.leave = None;
        for peer in self.connected().without(self.me()).iter() {
            self.send(peer, Control::OwnReplica(OwnReplica::Stays));
        }
        self.refuse(id, code, message);
    }

    fn obstacle_to_giving_up(&self, how: GiveUp) -> Option<(CommandErrorCode, &'static str)> {
        let others = self.others_up_to_date();
        match how {
            GiveUp::Invalidate if self.report().is_none() => {
                Some((CommandErrorCode::NoDisk, "there is no disk to invalidate"))
            }
            GiveUp::Detach if self.report().is_none() => {
                Some((CommandErrorCode::NoDisk, "there is no disk to detach"))
            }
            // Its session counts on what the replica has: it would lose the others, and keep this.
            GiveUp::Invalidate if self.serves_clients() || self.is_candidate() => {
                let message = "this node is Primary: make it Secondary before its data is given up";
                Some((CommandErrorCode::Busy, message))
            }
            GiveUp::Invalidate if others.is_empty() => {
                let message = "no other UpToDate replica is connected";
                Some((CommandErrorCode::NoUpToDateData, message))
            }
            GiveUp::Detach if others.is_empty() && self.may_be_in_sync() => {
                let message = "it is the last UpToDate replica in reach";
                Some((CommandErrorCode::NoUpToDateData, message))
            }
            GiveUp::Invalidate | GiveUp::Detach => None,
        }
    }

    /// Other replicas in reach that are in sync, and have all that was answered.
    fn others_up_to_date(&self) -> MemberSet {
        let Some(config) = self.config() else { return MemberSet::EMPTY };
        let complete = insync(config).minus(behind(config)).without(self.me());
        // One that was made anew has nothing of what the config means.
        let is_there =
            |&node: &NodeId| self.replica_of(node).is_some() && self.holds_replica_of(config, node);
        complete.iter().filter(is_there).collect()
    }

    /// A value that was chosen, or may be, has this node in sync.
    fn may_be_in_sync(&self) -> bool {
        let named = self.config().is_some_and(|config| insync(config).has(self.me()));
        // A value that it did not hear of yet made it so.
        let is_in_sync = self.replica_state() == Some(ReplicaState::InSync);
        named || is_in_sync || self.may_be_joining()
    }

    fn give_up(&mut self, how: GiveUp, id: CommandId) {
        match how {
            GiveUp::Invalidate => self.invalidate(id),
            GiveUp::Detach => {
                self.end_disk(DiskEnd::Detached);
                self.answer(id, Ok(()));
            }
        }
    }

    /// Makes the local replica another one, which knows nothing: it is copied in full.
    fn invalidate(&mut self, id: CommandId) {
        self.yield_role();
        let superblock = self.superblock.as_mut().expect("looked for before");
        make_blank(superblock, &mut self.random);
        // Whoever leads, or is going to, has to hear which replica is here now, and must not take
        // it for the one that went away.
        superblock.sealed.nonce = Nonce(0);
        self.forget_seal();
        self.save_superblock(AfterSave::Answer(id));
        self.save_superblock(AfterSave::Reconnect);
        self.set_role(ReplicaRole::Syncing);
    }
}
