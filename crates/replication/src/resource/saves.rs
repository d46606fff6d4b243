//! Writes of the register and the superblock, and what waits for them.

use std::mem::{Discriminant, discriminant};

use format::ids::{Branch, Epoch, KernelBootId, NodeId, Nonce, VoteStoreId};
use format::message::{Accepted, Control};
use format::metadata::{Superblock, VoteStamp};
use format::space::Place;
use format::vote::VoteCopy;
use stdx::time::Time;

use crate::contract::{CommandId, ResourceAction, SaveId, ToGroup};
use crate::limits;
use crate::lineage::stamp::copy_vote;
use crate::resource::Resource;
use crate::voter::Voter;

/// At most one write of register and superblock is under way; what comes meanwhile shares the next.
#[derive(Debug, Default)]
pub(crate) struct Saves {
    next: u64,
    current: Option<SaveId>,
    /// When it began; of the last one where none is under way.
    began: Time,
    current_then: Vec<AfterSave>,
    /// What the voter has accepted, as the disk has it: only that is a vote.
    accepted: Option<Accepted>,
    /// The voter that this is of.
    accepted_by: VoteStoreId,
    /// The same once the current write is done, if that has the register.
    current_accepted: Option<(Option<Accepted>, VoteStoreId)>,
    /// The current write has a superblock, and one of this life is on the disk.
    stamps: bool,
    stamped: bool,
    /// What the superblock said before the current write, if that has the register.
    before: Option<Before>,
    /// A vote that is not being written yet has the replica follow it.
    turn: Option<Turn>,
    wanted_register: bool,
    wanted_superblock: bool,
    wanted_then: Vec<AfterSave>,
}

/// What a superblock is again if the register that goes before it is not written.
#[derive(Debug)]
struct Before {
    write_counter: u64,
    vote_stamp: VoteStamp,
    vote: Option<Box<VoteCopy>>,
    turn: Option<Turn>,
}

/// The replica is of another line from the day on on which the register says so (9.4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) from: Branch,
    pub(crate) to: Branch,
}

impl Turn {
    fn take_back(self, superblock: &mut Superblock) {
        if superblock.branch == self.to {
            superblock.branch = self.from;
        }
    }
}

/// What may be said or done only once the state behind it is durable.
#[derive(Clone, Debug)]
pub(crate) enum AfterSave {
    Send {
        to: NodeId,
        message: Control,
    },
    Groups(ToGroup),
    Answer(CommandId),
    /// What OPEN said of this replica does not hold any more.
    Reconnect,
    /// The data of this node is given up.
    Discarded,
    /// A flush of the device by a shard ended meanwhile.
    Doubt {
        shard: u8,
        number: u64,
    },
    Nothing,
}

impl AfterSave {
    fn is_vote(&self) -> bool {
        let Self::Send { message, .. } = self else { return false };
        matches!(message, Control::Promise { .. } | Control::Accepted { .. })
    }

    /// Nobody misses `older` beside this.
    fn replaces(&self, older: &Self) -> bool {
        match (self, older) {
            (Self::Send { to, message }, Self::Send { to: before, message: older }) => {
                to == before && subject(message) == subject(older)
            }
            (Self::Groups(ToGroup::Seal { .. }), Self::Groups(ToGroup::Seal { .. }))
            | (Self::Reconnect, Self::Reconnect) => true,
            (
                Self::Send { .. }
                | Self::Groups(_)
                | Self::Answer(_)
                | Self::Reconnect
                | Self::Discarded
                | Self::Doubt { .. }
                | Self::Nothing,
                _,
            ) => false,
        }
    }
}

/// What a message that waits for a write is about.
fn subject(message: &Control) -> (Discriminant<Control>, Option<NodeId>, Option<Place>) {
    let kind = discriminant(message);
    if let Control::SetFullDone { member, .. } = message {
        (kind, Some(*member), None)
    } else if let Control::Enlarged { place, .. } = message {
        (kind, None, Some(*place))
    } else {
        (kind, None, None)
    }
}

impl Saves {
    /// The register is as the disk has it.
    pub(crate) fn new(accepted: Option<Accepted>, accepted_by: VoteStoreId) -> Self {
        Self { accepted, accepted_by, ..Self::default() }
    }

    /// What a vote counts for: a value that is still being written is none yet.
    pub(crate) fn accepted(&self) -> Option<Accepted> {
        self.accepted.clone()
    }

    /// What the disk has of this voter is of the session of `nonce`.
    pub(crate) fn names_session(&self, voter: &Voter, nonce: Nonce) -> bool {
        let value = self.accepted.as_ref().filter(|_| self.accepted_by == voter.register.store);
        let primary = value.and_then(|known| known.value.primary);
        primary.is_some_and(|primary| primary.nonce == nonce)
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.current.is_some()
    }

    /// What it writes to does not answer.
    pub(crate) fn is_stuck(&self, now: Time) -> bool {
        self.is_busy() && now >= self.began + limits::SAVE_PATIENCE
    }

    /// The next write of the register, and the superblock with it, say so. Where that is not done,
    /// the disk has what the replica was before the first of several turns.
    pub(crate) fn note_turn(&mut self, turn: Turn) {
        let earlier = self.turn.filter(|earlier| earlier.to == turn.from);
        let from = earlier.map_or(turn.from, |earlier| earlier.from);
        self.turn = Some(Turn { from, to: turn.to });
    }

    /// Another voter took the place of the one whose votes were to be written.
    pub(crate) fn forget_votes(&mut self) {
        self.wanted_then.retain(|then| !then.is_vote());
    }

    /// The disk of the replica failed: nothing is said that was to be written there first.
    pub(crate) fn forget_replica(&mut self) {
        self.wanted_then.retain(|then| !matches!(then, AfterSave::Send { .. }) || then.is_vote());
    }

    /// The register is not written any more: what it says of a voter that is another one by now,
    /// of a line that was left, says nothing.
    fn settle_accepted(&mut self, voter: &Voter) {
        if voter.is_mute && self.accepted_by != voter.register.store {
            self.accepted = None;
        }
    }

    /// The current write begins anew, without a vote.
    fn repeat_without_votes(&mut self) {
        self.current = None;
        self.current_accepted = None;
        let later =
            std::mem::replace(&mut self.wanted_then, std::mem::take(&mut self.current_then));
        later.into_iter().for_each(|then| self.remember(then));
        self.forget_votes();
        self.wanted_superblock = true;
    }

    /// Who asked anew waits for no answer of before: however long a write takes, no more is kept
    /// of what peers ask for than there are peers, members and volumes.
    fn remember(&mut self, then: AfterSave) {
        if matches!(then, AfterSave::Nothing) {
            return;
        }
        self.wanted_then.retain(|known| !then.replaces(known));
        self.wanted_then.push(then);
    }

    /// Another disk: what the register says of the day when the last one went holds until this one
    /// is stamped.
    pub(crate) fn forget_stamp(&mut self) {
        self.stamped = false;
        self.before = None;
    }
}

impl Resource {
    pub(crate) fn save_register(&mut self, then: AfterSave) {
        self.saves.wanted_register = true;
        self.saves.remember(then);
    }

    pub(crate) fn save_superblock(&mut self, then: AfterSave) {
        self.saves.wanted_superblock = true;
        self.saves.remember(then);
    }

    pub(crate) fn start_save(&mut self) {
        let saves = &mut self.saves;
        if saves.current.is_some() || !(saves.wanted_register || saves.wanted_superblock) {
            return;
        }
        let save = SaveId(saves.next);
        saves.next += 1;
        (saves.current, saves.began) = (Some(save), self.now);
        saves.current_then = std::mem::take(&mut saves.wanted_then);
        let with_register = std::mem::take(&mut saves.wanted_register) && !self.voter.is_mute;
        saves.wanted_superblock = false;
        saves.settle_accepted(&self.voter);
        if with_register {
            let register = &mut self.voter.register;
            let has_disk = self.superblock.is_some() && !self.member.disk_failed;
            // What was said of an older life holds until the disk has a stamp of this one.
            if saves.stamped || !has_disk && register.disk_left_at.is_none() {
                register.disk_left_at = (!has_disk).then_some(register.write_counter);
                saves.stamped = has_disk;
            }
            register.write_counter += 1;
        }
        let is_mute = self.voter.is_mute;
        let keeps_vote = self.lost_vote().is_some();
        let saves = &mut self.saves;
        let stamp = &self.voter.register;
        let superblock = self.superblock.as_mut().filter(|_| !self.member.disk_failed);
        let known = superblock.as_ref().filter(|_| with_register);
        let turn = saves.turn.take_if(|_| with_register);
        saves.before = known.map(|known| {
            let Superblock { write_counter, vote_stamp, ref vote, .. } = **known;
            Before { write_counter, vote_stamp, vote: vote.clone(), turn }
        });
        let superblock = superblock.map(|superblock| {
            superblock.write_counter += 1;
            if is_mute {
                return Box::new(superblock.clone());
            }
            superblock.vote_stamp.store = stamp.store;
            superblock.vote_stamp.promised = stamp.promised;
            superblock.vote_stamp.write_counter = stamp.write_counter;
            superblock.vote_stamp.epoch =
                stamp.accepted.as_ref().map_or(Epoch(0), |(_, value)| value.epoch);
            if !keeps_vote {
                copy_vote(stamp, superblock);
            }
            Box::new(superblock.clone())
        });
        saves.stamps = superblock.is_some();
        saves.current_accepted =
            with_register.then(|| (self.voter.accepted(), self.voter.register.store));
        let register = with_register.then(|| Box::new(self.voter.register.clone()));
        self.actions.push(ResourceAction::Save { save, register, superblock });
    }

    /// Puts off what is to come behind a superblock that is being written; false if none is.
    pub(crate) fn after_stamp(&mut self, then: AfterSave) -> bool {
        let is_written = self.saves.current.is_some() && self.saves.stamps;
        if is_written {
            self.saves.current_then.push(then);
        }
        is_written
    }

    pub(crate) fn on_saved(&mut self, save: SaveId) {
        if self.saves.current != Some(save) {
            return;
        }
        self.saves.current = None;
        self.saves.stamped |= self.saves.stamps;
        let accepted = self.saves.current_accepted.take();
        let has_voted = accepted.is_some();
        if let Some((accepted, by)) = accepted {
            (self.saves.accepted, self.saves.accepted_by) = (accepted, by);
        }
        for then in std::mem::take(&mut self.saves.current_then) {
            match then {
                AfterSave::Send { to, message } => self.send(to, message),
                // Others wait for this one, whatever became of the disk meanwhile.
                AfterSave::Groups(message @ ToGroup::SlotRebased(_)) => self.tell_groups(message),
                // These give the replica a part: without its disk it has none.
                AfterSave::Groups(_) if self.member.disk_failed => {}
                AfterSave::Groups(ToGroup::Seal { nonce, round })
                    if self.is_overtaken(nonce, round) => {}
                AfterSave::Groups(message) => self.tell_groups(message),
                AfterSave::Answer(id) => self.answer(id, Ok(())),
                AfterSave::Reconnect => {
                    for peer in self.peers.keys().copied().collect::<Vec<_>>() {
                        self.reset(peer);
                    }
                }
                AfterSave::Discarded => self.on_discard_durable(),
                AfterSave::Doubt { shard, number } => self.doubt_flush(shard, number),
                AfterSave::Nothing => {}
            }
        }
        if has_voted {
            self.observe_chosen();
        }
    }

    /// The voter says nothing more, and is none for whoever counts; in another life it is the one
    /// that it was, as its file says. What the replica writes down goes on without it, with the
    /// last stamp that it had.
    pub(crate) fn on_register_failed(&mut self, save: SaveId) {
        if self.saves.current != Some(save) {
            return;
        }
        self.voter.is_mute = true;
        let before = self.saves.before.take();
        if let (Some(before), Some(superblock)) = (before, self.superblock.as_mut()) {
            superblock.vote_stamp = before.vote_stamp;
            superblock.vote = before.vote;
            // Nothing was written as that one. A number that is left out makes the copies take
            // turns no more, and the stamps run two ahead.
            superblock.write_counter = before.write_counter;
            // Should the disk fail in this life, nothing will tell the next one.
            superblock.kernel_boot_id = KernelBootId(0);
            // For a line that the register does not know the next life would find no data.
            let turns = [self.saves.turn.take(), before.turn];
            turns.into_iter().flatten().for_each(|turn| turn.take_back(superblock));
        }
        self.saves.repeat_without_votes();
        self.saves.settle_accepted(&self.voter);
        self.decide_nothing_alone();
        let report = self.own_report();
        for peer in self.connected().without(self.me()).iter() {
            self.send(peer, report.clone());
        }
    }

    /// The disk does not take the superblock any more: nothing that relied on it is said.
    pub(crate) fn on_save_failed(&mut self, save: SaveId) {
        if self.saves.current == Some(save) {
            self.saves.current = None;
            self.saves.current_then.clear();
            self.saves.current_accepted = None;
            self.on_member_failed(self.me());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both wait for the same write.
    #[test]
    fn of_two_turns_the_first_says_what_the_replica_is_again() {
        let mut saves = Saves::default();
        saves.note_turn(Turn { from: Branch(1), to: Branch(2) });
        saves.note_turn(Turn { from: Branch(2), to: Branch(3) });
        assert_eq!(saves.turn.map(|turn| (turn.from, turn.to)), Some((Branch(1), Branch(3))));
        // The replica is of another branch by something else since.
        saves.note_turn(Turn { from: Branch(8), to: Branch(9) });
        assert_eq!(saves.turn.map(|turn| (turn.from, turn.to)), Some((Branch(8), Branch(9))));
    }
}
