//! Flushes of a session that answers writes by receipt (protocol B, PROTOCOL.md 10.1).
//!
//! A flush finds in every member's device what was answered before it, which is no longer so where
//! answers rest on memory. So it waits first for the writes that were answered early, in the lanes
//! of every shard: the home asks all groups, and each answers once what it had answered by then is
//! written everywhere.

use crate::contract::{AboutReceipts, FromGroup, GroupAction, PartId, RoundId};
use crate::group::{LaneGroup, answer, fail_part};

#[derive(Debug, Default)]
pub(crate) struct Receipts {
    /// In this session some group may answer a write that is not written everywhere.
    may_answer_early: bool,
    /// The question that the home was asked last.
    number: u32,
    /// Flushes that its answer lets go, and those that came after it.
    asking: Vec<PartId>,
    waiting: Vec<PartId>,
    /// Questions of the home, and the operations that had been sent when it asked.
    settling: Vec<(RoundId, u64)>,
}

impl Receipts {
    pub(crate) fn may_answer_early(&self) -> bool {
        self.may_answer_early
    }

    pub(crate) fn is_asked(&self) -> bool {
        !self.settling.is_empty()
    }
}

impl LaneGroup {
    pub(crate) fn on_receipts(&mut self, about: AboutReceipts, actions: &mut Vec<GroupAction>) {
        match about {
            AboutReceipts::Count(members) => {
                self.view.by_receipt = members;
                self.view.is_early |= !members.is_empty();
                self.view.tells_receipt = members.has(self.view.me);
            }
            AboutReceipts::Allow { round } => {
                self.receipts.may_answer_early = true;
                actions.push(answer(round));
            }
            AboutReceipts::Settle { round } => {
                self.receipts.settling.push((round, self.shared.room.sent()));
            }
            AboutReceipts::Settled { shard, number } => self.on_settled(shard, number, actions),
        }
    }

    /// A session begins, in which members count by receipt or do not.
    pub(crate) fn begin_receipts(&mut self) {
        self.receipts.may_answer_early = !self.view.by_receipt.is_empty();
        self.receipts.settling.clear();
    }

    pub(crate) fn flush_after_receipts(&mut self, part: PartId, actions: &mut Vec<GroupAction>) {
        self.receipts.waiting.push(part);
        self.ask_for_settling(actions);
    }

    fn ask_for_settling(&mut self, actions: &mut Vec<GroupAction>) {
        let receipts = &mut self.receipts;
        if !receipts.asking.is_empty() || receipts.waiting.is_empty() {
            return;
        }
        std::mem::swap(&mut receipts.asking, &mut receipts.waiting);
        receipts.number = receipts.number.wrapping_add(1);
        let number = receipts.number;
        actions.push(GroupAction::Home(FromGroup::SettleReceipts { number }));
    }

    /// What all groups had answered when they were asked is written everywhere.
    fn on_settled(&mut self, shard: u8, number: u32, actions: &mut Vec<GroupAction>) {
        if shard != self.view.shard || number != self.receipts.number {
            return;
        }
        for part in std::mem::take(&mut self.receipts.asking) {
            self.flush_for_client(part, actions);
        }
        self.ask_for_settling(actions);
    }

    pub(crate) fn settle_receipts(&mut self, actions: &mut Vec<GroupAction>) {
        let (lanes, followers) = (&self.lanes, self.view.followers);
        self.receipts.settling.retain(|&(round, sent)| {
            let is_early = lanes.iter().any(|lane| lane.is_early(sent, followers));
            if !is_early {
                actions.push(answer(round));
            }
            is_early
        });
    }

    pub(crate) fn fail_waiting_flushes(&mut self, actions: &mut Vec<GroupAction>) {
        let Self { receipts, .. } = self;
        for part in receipts.asking.drain(..).chain(receipts.waiting.drain(..)) {
            fail_part(part, actions);
        }
        // The answer to what was asked finds nobody any more.
        receipts.number = receipts.number.wrapping_add(1);
    }
}
