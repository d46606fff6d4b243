//! What a group writes besides data: records of the activity log and bitmap pages.
//!
//! Bits live in memory and reach the disk late: before the extent that covers them leaves the
//! activity log, or at a checkpoint (a seal's answer, a join, a stop). A page is written once at a
//! time, so that an older copy never lands on a newer one. When a session begins, marks of the own
//! slot give way to marks in the other slots, and no log names their extents. So a page of the own
//! slot is written only when the disk has the same page of all other slots.

use std::collections::{BTreeSet, VecDeque};

use format::ids::{EXTENT_BLOCKS, LaneIndex, NodeId, QuestionId};
use format::message::{Data, DataBody};
use stdx::slab::Slab;
use stdx::time::Time;

use crate::activity::{Hold, Waiter};
use crate::contract::{
    DeviceError, FromGroup, GroupAction, LostMember, MetadataWrite, RoundId, Token,
};
use crate::group::{LaneGroup, answer};
use crate::lane::group_token;
use crate::limits;

const PAGE_WRITES_MAX: usize = 16;

#[derive(Debug)]
pub(crate) struct Durable {
    /// What the group asked of the device and is not answered, by token; each with a number that
    /// counts the questions.
    uses: Slab<(DurableUse, u64)>,
    next_use: u64,
    /// Pages whose write is outstanding.
    saving: BTreeSet<PageId>,
    /// The checkpoint that is under way.
    checkpoint: Option<Checkpoint>,
    /// Checkpoints that begin after it, in this order.
    waiting: VecDeque<CheckpointReason>,
    /// One for each slot.
    headers: Vec<Header>,
}

pub(crate) type PageId = (NodeId, LaneIndex, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DurableUse {
    Flush,
    Record,
    Page(PageId),
    /// New blocks become zeroes.
    Zeroes,
}

/// Why everything that is dirty now is to reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckpointReason {
    /// A round of the home is answered when it is done.
    Round(RoundId),
    Stop(RoundId),
    /// The own slot was emptied: a restart is not to find its former marks.
    OwnSlotEmpty,
    /// Its round is of an older session, and not answered any more.
    Void,
}

#[derive(Debug)]
struct Checkpoint {
    reason: CheckpointReason,
    /// Pages that are still to be written.
    pages: Vec<PageId>,
    /// Pages that it waits for: those being written when it began, and those written for it. It
    /// does not wait for others, which never end while the activity log moves on.
    awaited: BTreeSet<PageId>,
    flushed: bool,
}

/// The newest base of a slot, and the answers that wait until its header is durable.
#[derive(Debug)]
struct Header {
    slot: LostMember,
    durable: bool,
    /// How many bases the home was asked to make durable, and has not.
    asked: u32,
    waiting: Vec<Waiting>,
}

/// An answer that waits until a base of a slot is durable. There may be a newer base by then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) slot: LostMember,
    /// The question that is answered, and the member that asked it.
    pub(crate) id: QuestionId,
    pub(crate) by: NodeId,
    pub(crate) lane: LaneIndex,
}

impl Durable {
    pub(crate) fn new(bases: &[LostMember]) -> Self {
        let header = |&slot| Header { slot, durable: true, asked: 0, waiting: Vec::new() };
        Self {
            uses: Slab::default(),
            next_use: 0,
            saving: BTreeSet::new(),
            checkpoint: None,
            waiting: VecDeque::new(),
            headers: bases.iter().map(header).collect(),
        }
    }

    pub(crate) fn token(&mut self, durable_use: DurableUse) -> Token {
        let number = self.next_use;
        self.next_use += 1;
        group_token(u64::from(self.uses.insert((durable_use, number))))
    }

    /// The number of the next question to the device.
    pub(crate) fn next_use(&self) -> u64 {
        self.next_use
    }

    /// Whether a question with a number below this is not answered.
    pub(crate) fn has_use_before(&self, number: u64) -> bool {
        self.uses.values().any(|&(_, known)| known < number)
    }

    /// No flush, record or page is being written.
    pub(crate) fn is_quiet(&self) -> bool {
        self.uses.is_empty()
    }

    pub(crate) fn has_checkpoints(&self) -> bool {
        self.checkpoint.is_some() || !self.waiting.is_empty()
    }

    /// Another session seals this member: checkpoints of an older one answer no round any more.
    pub(crate) fn void_checkpoints(&mut self) {
        let is_stop = |reason: &CheckpointReason| matches!(reason, CheckpointReason::Stop(_));
        self.waiting.retain(is_stop);
        if let Some(checkpoint) = self.checkpoint.as_mut().filter(|it| !is_stop(&it.reason)) {
            checkpoint.reason = CheckpointReason::Void;
        }
    }

    /// The same of answers to an older session: the newer one may ask the same questions.
    pub(crate) fn forget_answers(&mut self) {
        self.headers.iter_mut().for_each(|header| header.waiting.clear());
    }

    pub(crate) fn on_flushed(&mut self) {
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.flushed = true;
        }
    }

    /// The connections of `peer` are gone: it asks its questions again.
    pub(crate) fn forget_answers_to(&mut self, peer: NodeId) {
        self.headers.iter_mut().for_each(|header| header.waiting.retain(|it| it.by != peer));
    }

    /// The replica is admitted. From now on the home hears from each shard that is told so that a
    /// slot is useless, though the header may say so already.
    pub(crate) fn ask_again_of_useless(&mut self) {
        for header in self.headers.iter_mut().filter(|it| it.slot.base == crate::UNUSED) {
            header.slot.base.epoch = crate::KEEP;
        }
    }

    /// Whether the base that an answer waits for is durable. If not, keeps the answer until it is.
    pub(crate) fn is_rebased(&mut self, answer: Waiting) -> Rebase {
        let slot = answer.slot;
        let waiting: usize = self.headers.iter().map(|header| header.waiting.len()).sum();
        let known = self.headers.iter_mut().find(|header| header.slot.member == slot.member);
        let Some(header) = known else { return Rebase::Untracked };
        if slot.base.epoch == crate::KEEP {
            return Rebase::Durable;
        }
        if header.slot == slot {
            if header.durable {
                return Rebase::Durable;
            }
            if waiting >= limits::LOSSES_AT_MEMBER_MAX {
                return Rebase::TooMany;
            }
            header.waiting.push(answer);
            return Rebase::Waits;
        }
        if waiting >= limits::LOSSES_AT_MEMBER_MAX || header.asked >= limits::SLOT_STARTS_MAX {
            return Rebase::TooMany;
        }
        header.slot = slot;
        header.durable = false;
        header.asked += 1;
        header.waiting.push(answer);
        Rebase::Asks
    }

    pub(crate) fn on_rebased(&mut self, slot: LostMember) -> Vec<Waiting> {
        let known = self.headers.iter_mut().find(|header| header.slot.member == slot.member);
        let Some(header) = known else { return Vec::new() };
        header.durable |= header.slot == slot;
        header.asked = header.asked.saturating_sub(1);
        header.waiting.extract_if(.., |waiting| waiting.slot == slot).collect()
    }

    /// A slot has this base; the home makes it durable without being asked.
    pub(crate) fn set_base(&mut self, slot: LostMember) {
        let known = self.headers.iter_mut().find(|header| header.slot.member == slot.member);
        match known {
            Some(header) => {
                header.slot = slot;
                header.durable = true;
            }
            None => {
                self.headers.push(Header { slot, durable: true, asked: 0, waiting: Vec::new() });
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rebase {
    /// No slot tracks this member.
    Untracked,
    Durable,
    /// The home makes it durable already; the answer waits.
    Waits,
    /// The home has to be asked to make it durable; the answer waits.
    Asks,
    /// More answers wait than a leader ever asks for.
    TooMany,
}

impl LaneGroup {
    pub(crate) fn data(&self, body: DataBody) -> Data {
        Data { nonce: self.view.nonce, volume: self.view.volume, body }
    }

    pub(crate) fn on_group_device(
        &mut self,
        now: Time,
        token: Token,
        result: Result<(), DeviceError>,
        actions: &mut Vec<GroupAction>,
    ) {
        let index = u32::try_from(token.0).expect("tokens of the group are slab indices");
        let Some((durable_use, _)) = self.durable.uses.remove(index) else { return };
        self.view.disk_failed |= result.is_err();
        match durable_use {
            DurableUse::Flush => self.on_device_flushed(result, actions),
            DurableUse::Zeroes => self.on_zeroed(result, actions),
            DurableUse::Record | DurableUse::Page(_) if result.is_err() => {
                let fact = FromGroup::MemberFailed { member: self.view.me };
                actions.push(GroupAction::Home(fact));
            }
            DurableUse::Record => self.on_record_written(now, actions),
            DurableUse::Page(page) => {
                self.durable.saving.remove(&page);
                if let Some(checkpoint) = &mut self.durable.checkpoint {
                    checkpoint.awaited.remove(&page);
                }
            }
        }
    }

    fn on_record_written(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        let granted = self.shared.activity.on_record_written();
        self.on_granted(now, &granted, actions);
    }

    fn on_granted(&mut self, now: Time, granted: &[Waiter], actions: &mut Vec<GroupAction>) {
        for &waiter in granted {
            let position = self.position_of_lane(waiter.lane);
            self.touch(position);
            self.with_lane(now, position, actions, |lane, turn| lane.on_granted(turn, waiter));
        }
    }

    #[cold]
    pub(super) fn plan_activity(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        self.take_stable(now, actions);
        let flushes_done = self.flushes.done();
        let lanes = &self.lanes;
        let saving = &self.durable.saving;
        let (count, shards) = (u64::from(self.view.lanes.get()), u64::from(self.shards));
        let plan = self.shared.activity.plan(flushes_done, |extent| {
            let position = extent % count / shards;
            let lane = &lanes[usize::try_from(position).expect("a lane of the group")];
            lane.hold_of(extent, saving)
        });
        self.on_granted(now, &plan.granted, actions);
        if let Some(record) = plan.record {
            let token = self.durable.token(DurableUse::Record);
            let write = MetadataWrite::Activity(record);
            actions.push(GroupAction::WriteMetadata { token, write });
        }
        if plan.flush {
            self.want_activity_flush(actions);
        }
        for extent in plan.save_pages {
            let position = self.position_of(extent * EXTENT_BLOCKS);
            let lane = self.lanes[position].index;
            for page in self.lanes[position].unsaved_pages_of(extent) {
                self.save_page((page.0, lane, page.1), actions);
            }
        }
    }

    /// Writes a page, unless an older copy of it, or a page that goes before it, is being written.
    fn save_page(&mut self, page: PageId, actions: &mut Vec<GroupAction>) -> bool {
        if page.0 == self.view.me && self.saves_others_first(page, actions) {
            return false;
        }
        if !self.durable.saving.insert(page) {
            return false;
        }
        let (member, lane, number) = page;
        let position = self.position_of_lane(lane);
        let slot = self.lanes[position].slot_mut(member).expect("only known slots have pages");
        let bits = slot.bits.save(number);
        let token = self.durable.token(DurableUse::Page(page));
        let write = MetadataWrite::Bitmap { member, lane, page: number, bits };
        actions.push(GroupAction::WriteMetadata { token, write });
        true
    }

    fn is_unsaved(&self, (member, lane, number): PageId) -> bool {
        let slot = self.lanes[self.position_of_lane(lane)].slot(member);
        slot.is_some_and(|slot| slot.bits.is_unsaved(number))
    }

    /// Whether the disk lacks the same page of another slot; if so, has that written first.
    fn saves_others_first(
        &mut self,
        (me, lane, number): PageId,
        actions: &mut Vec<GroupAction>,
    ) -> bool {
        let slots = self.lanes[self.position_of_lane(lane)].replica.slots.iter();
        let others = slots.filter(|slot| slot.member != me);
        let unsaved: Vec<NodeId> = others
            .clone()
            .filter(|slot| slot.bits.is_unsaved(number))
            .map(|slot| slot.member)
            .collect();
        let is_saving = others
            .into_iter()
            .any(|slot| self.durable.saving.contains(&(slot.member, lane, number)));
        for &member in &unsaved {
            self.save_page((member, lane, number), actions);
        }
        is_saving || !unsaved.is_empty()
    }

    pub(crate) fn start_checkpoint(&mut self, reason: CheckpointReason) {
        self.durable.waiting.push_back(reason);
    }

    pub(super) fn settle_checkpoint(&mut self, actions: &mut Vec<GroupAction>) {
        if self.durable.checkpoint.is_none() {
            let Some(reason) = self.durable.waiting.pop_front() else { return };
            let pages = self.lanes.iter().flat_map(crate::lane::Lane::unsaved_pages).collect();
            let awaited = self.durable.saving.clone();
            self.durable.checkpoint = Some(Checkpoint { reason, pages, awaited, flushed: false });
            self.want_checkpoint_flush(actions);
        }
        let (mut saved, mut postponed) = (Vec::new(), Vec::new());
        while self.durable.saving.len() < PAGE_WRITES_MAX {
            let next = self.durable.checkpoint.as_mut().and_then(|it| it.pages.pop());
            let Some(page) = next else { break };
            // A page that is being written in its newest form is not written again.
            if self.save_page(page, actions) || !self.is_unsaved(page) {
                saved.push(page);
            } else {
                postponed.push(page);
            }
        }
        let Durable { checkpoint, saving, .. } = &mut self.durable;
        let Some(checkpoint) = checkpoint else { return };
        checkpoint.awaited.extend(saved.into_iter().filter(|page| saving.contains(page)));
        checkpoint.pages.extend(postponed);
        if checkpoint.pages.is_empty() && checkpoint.flushed && checkpoint.awaited.is_empty() {
            match checkpoint.reason {
                CheckpointReason::Round(round) | CheckpointReason::Stop(round) => {
                    actions.push(answer(round));
                }
                CheckpointReason::OwnSlotEmpty | CheckpointReason::Void => {}
            }
            self.durable.checkpoint = None;
            // The next checkpoint begins now: nothing else may wake the group up.
            if !self.durable.waiting.is_empty() {
                self.settle_checkpoint(actions);
            }
        }
    }
}

impl crate::lane::Lane {
    /// What keeps `extent` in the activity log, apart from its writes.
    fn hold_of(&self, extent: u64, saving: &BTreeSet<PageId>) -> Hold {
        let start = extent * EXTENT_BLOCKS;
        let unsaved = self.replica.slots.iter().any(|slot| {
            let page = slot.bits.page_of(start);
            slot.bits.unsaved_page(start).is_some()
                || saving.contains(&(slot.member, self.index, page))
        });
        if unsaved { Hold::UnsavedPages } else { Hold::Nothing }
    }

    fn unsaved_pages_of(&self, extent: u64) -> Vec<(NodeId, u32)> {
        let start = extent * EXTENT_BLOCKS;
        let slots = self.replica.slots.iter();
        slots.filter_map(|slot| Some((slot.member, slot.bits.unsaved_page(start)?))).collect()
    }

    fn unsaved_pages(&self) -> impl Iterator<Item = PageId> + '_ {
        self.replica.slots.iter().flat_map(move |slot| {
            slot.bits.unsaved().map(move |page| (slot.member, self.index, page))
        })
    }
}
