//! Questions to the groups of all shards, each answered when every shard has.

use format::ids::{NodeId, Nonce};

use crate::contract::{RoundId, ToGroup};
use crate::resource::Resource;

/// A question to the groups, which is answered when all shards have.
#[derive(Debug)]
pub(crate) struct Round {
    id: RoundId,
    kind: RoundKind,
    answered: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoundKind {
    Inherited(Nonce),
    LossRecorded(NodeId),
    FullSet(NodeId),
    Admitted,
    Synced(NodeId),
    Reconciled,
    SlotsDurable,
    SlotsMerged,
    Counted(NodeId),
    Drained,
    Suspended,
    Stopped,
    Quiesced,
    Floors,
    StoodDown(Nonce),
    Attached,
    Verified,
    SizePrepared,
    ReceiptsAllowed,
    CutNoted,
    CutWritten,
    /// As a follower.
    Holding(Nonce),
    /// For a flush that this shard has.
    ReceiptsSettled {
        shard: u8,
        number: u32,
    },
    /// For a flush of the device by this shard.
    FlushDoubted {
        shard: u8,
        number: u64,
    },
}

impl Resource {
    /// A new question to the groups: answers to an earlier one of its kind do not count.
    pub(crate) fn ask_groups(&mut self, kind: RoundKind, message: impl FnOnce(RoundId) -> ToGroup) {
        let round = self.start_round(kind);
        self.tell_groups(message(round));
    }

    pub(crate) fn start_round(&mut self, kind: RoundKind) -> RoundId {
        self.rounds.retain(|round| round.kind != kind);
        let id = self.unheard_round();
        self.rounds.push(Round { id, kind, answered: 0 });
        id
    }

    /// The name of a question whose answers nobody waits for.
    pub(crate) fn unheard_round(&mut self) -> RoundId {
        self.next_round = self.next_round.wrapping_add(1);
        RoundId(self.next_round)
    }

    pub(crate) fn drop_round(&mut self, kind: RoundKind) {
        self.rounds.retain(|round| round.kind != kind);
    }

    /// Seals and sessions that end go on, and so does what concerns the disk alone.
    pub(crate) fn drop_rounds_of_session(&mut self) {
        self.rounds.retain(|round| {
            matches!(
                round.kind,
                RoundKind::Quiesced
                    | RoundKind::StoodDown(_)
                    | RoundKind::Attached
                    | RoundKind::FlushDoubted { .. }
            )
        });
    }

    pub(crate) fn is_asked(&self, kind: RoundKind) -> bool {
        self.rounds.iter().any(|round| round.kind == kind)
    }

    pub(crate) fn kind_of(&self, id: RoundId) -> Option<RoundKind> {
        self.rounds.iter().find(|round| round.id == id).map(|round| round.kind)
    }

    pub(crate) fn is_open(&self, id: RoundId, kind: RoundKind) -> bool {
        self.rounds.iter().any(|round| round.id == id && round.kind == kind)
    }

    /// What was asked, for the last shard that answers a question that is still open.
    pub(crate) fn all_answered(&mut self, shard: u8, id: RoundId) -> Option<RoundKind> {
        let all = (1_u32 << self.options.shards) - 1;
        let round = self.rounds.iter_mut().find(|round| round.id == id)?;
        round.answered |= 1 << shard;
        let (kind, complete) = (round.kind, round.answered == all);
        if !complete {
            return None;
        }
        self.rounds.retain(|round| round.id != id);
        Some(kind)
    }

    /// Every shard answered.
    pub(crate) fn on_round(&mut self, kind: RoundKind) {
        match kind {
            RoundKind::Inherited(nonce) => self.on_inherited(nonce),
            RoundKind::LossRecorded(member) => self.on_loss_recorded(member),
            RoundKind::FullSet(member) => self.on_full_set(member),
            RoundKind::Admitted => self.on_groups_admitted(),
            RoundKind::Synced(member) => self.on_synced(member),
            RoundKind::Reconciled => self.on_reconciled(),
            RoundKind::SlotsDurable => self.on_slots_durable(),
            RoundKind::SlotsMerged => self.on_slots_merged(),
            RoundKind::Drained => self.on_drained(),
            RoundKind::Suspended => self.on_suspended(),
            RoundKind::Stopped => self.on_stopped(),
            RoundKind::StoodDown(nonce) => self.on_stood_down(nonce),
            RoundKind::Attached => self.on_groups_attached(),
            RoundKind::Verified => self.on_all_verified(),
            RoundKind::SizePrepared => self.on_size_prepared(),
            RoundKind::ReceiptsAllowed => self.on_receipts_allowed(),
            RoundKind::CutNoted => self.on_cut_noted(),
            RoundKind::CutWritten => self.on_cut_written(),
            RoundKind::Holding(nonce) => self.on_holding(nonce),
            RoundKind::ReceiptsSettled { shard, number } => {
                self.on_receipts_settled(shard, number);
            }
            RoundKind::FlushDoubted { shard, number } => self.believe_flush(shard, number),
            RoundKind::Quiesced | RoundKind::Floors | RoundKind::Counted(_) => {
                unreachable!("these bring more than a word")
            }
        }
    }
}
