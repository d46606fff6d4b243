//! All lanes of one resource on one shard, and what they share: the view, the activity log, the
//! device's flushes.
//!
//! `step` takes one input; `settle` runs once per turn and sends what can be said once for many
//! events. The home shard (`resource`) decides about sessions and members; see `home`.

mod attach;
pub(crate) mod durable;
pub(crate) mod flush;
mod trust;
mod receipts;
pub(crate) mod cuts;
mod congestion;
mod copying;
pub(crate) mod home;
mod peer;
pub(crate) mod slow;
mod hold;
mod resize;
mod verify;
mod inspect;
pub mod under_way;
pub(crate) mod log_room;
mod stable;

use std::num::NonZeroU8;
use std::time::Duration;

use format::ids::{BLOCK_BYTES, BootId, Epoch, LaneIndex, MemberSet, NodeId, Nonce};
use format::message::{Data, DataBody};
use format::space::Space;
use stdx::time::Time;

use crate::activity::{ActivityLog, Reach};
use crate::balance::{Balance, ReadPolicy};
use crate::contract::{
    DeviceError, DeviceResult, FromGroup, GroupAction, GroupDisk, GroupInput, LoadedPage,
    LostMember, PartId, ReplicaRole, Request, RequestError, RequestKind, RoundId, ToGroup, Token,
};
use crate::group::congestion::Watched;
use crate::group::cuts::Cuts;
use crate::group::durable::Durable;
use crate::group::flush::Flushes;
use crate::group::receipts::Receipts;
use crate::group::resize::Sizes;
use crate::group::slow::SlowWatch;
use crate::group::trust::Trust;
use crate::lane::compare::digests_of;
use crate::lane::log_room::LogRoom;
use crate::lane::shared::{CopyRate, Positions, Shared};
use crate::lane::{Common, DeviceUse, Lane, Slot, Turn, is_apply, token_lane, token_seq};
use crate::limits;
use crate::marks::Marks;
use crate::view::{NO_PROCESSES, SINCE_THE_BEGIN, View};

#[derive(Debug)]
pub struct GroupOptions {
    pub me: NodeId,
    pub boot_id: BootId,
    pub shard: u8,
    pub shards: u8,
    pub volume: u16,
    pub lanes: u8,
    pub space: Space,
    pub has_disk: bool,
    /// Extents that may be hot at a time in this group.
    pub al_slots: usize,
    pub al_next_number: u64,
    /// Members with data.
    pub tracked: MemberSet,
    pub read_policy: ReadPolicy,
    /// How long a member may take to answer before it is left behind.
    pub slow_limit: Duration,
    /// What the bitmap slots on disk hold, of the lanes of this shard.
    pub slots: Vec<LoadedPage>,
    pub slot_bases: Vec<LostMember>,
}

#[derive(Debug)]
pub struct LaneGroup {
    pub(crate) view: View,
    pub(crate) shards: u8,
    /// The lanes numbered `shard, shard + shards, ..`, ascending.
    pub(crate) lanes: Vec<Lane>,
    /// By lane number, where that lane is in `lanes` if this group has it: its number divided by
    /// `shards`.
    positions: [u8; 256],
    pub(crate) shared: Shared,
    pub(crate) flushes: Flushes,
    trust: Trust,
    pub(crate) receipts: Receipts,
    pub(crate) cuts: Cuts,
    /// Followers that are left behind where they are too slow (`AboutCuts::WatchLag`).
    lag: Vec<Watched>,
    /// When to look next which followers have not recorded losses; `NEVER` while none has to.
    losses_due: Time,
    /// The place, among all that the group sent or asked, up to which that look goes back.
    losses_sent: u64,
    /// Answers are kept now, by `view.holding` or by a cut; follows both (`note_keeping`).
    keeps_back: bool,
    /// `settle_errands` may have something to do. Set by each message of the home, cleared when
    /// nothing is left.
    pub(crate) has_errands: bool,
    pub(crate) durable: Durable,
    /// Requests that wait until the session serves, and is neither draining nor holding.
    parked: Vec<Request>,
    /// Writes and flushes that are done, and not answered while the view is `holding`.
    held: Vec<PartId>,
    /// Extents that the activity log of this group may have hot at a time.
    al_slots: usize,
    /// Members that are being removed, and the round to answer when all have recorded that.
    pub(crate) recording: Vec<(NodeId, RoundId)>,
    /// Members that are being resynced, and the round to answer when they miss nothing.
    pub(crate) syncing: Vec<(NodeId, RoundId)>,
    /// The round of `Serve`, until no block may differ between the members.
    pub(crate) reconciling: Option<RoundId>,
    /// The round of a comparison of the members that is under way.
    pub(crate) verifying: Option<RoundId>,
    verify_due: Time,
    /// What an earlier process wrote may not be durable yet. The device is flushed before a session
    /// begins, for from then on nothing names those blocks any more (I10). Cleared by that flush.
    pub(crate) holds_former_writes: bool,
    /// The round of a seal, until it is answered.
    pub(crate) sealing: Option<RoundId>,
    pub(crate) draining: Draining,
    /// Set until the lanes are quiet.
    pub(crate) stopping: Option<Stopping>,
    /// When the home is told next how far resyncs are.
    progress_due: Time,
    /// When blocks that no member could read are read again.
    unreadable_due: Time,
    slow: SlowWatch,
    pub(crate) sizes: Sizes,
    /// A disk that is taken into use as soon as nothing of the former one is outstanding.
    attaching: Option<(Box<GroupDisk>, RoundId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draining {
    No,
    /// Waits for what is under way.
    Finishing {
        round: RoundId,
    },
    /// Everything finished; the members flush, as the volume's flush `flush`.
    Flushing {
        round: RoundId,
        flush: u32,
    },
    Done {
        round: RoundId,
    },
}

/// The home asked the group to obey no session any more, and waits for the end of this round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopping {
    Stop(RoundId),
    /// What any slot marks goes into the own slot, too.
    MergeSlots(RoundId),
}

impl LaneGroup {
    #[must_use]
    pub fn new(options: GroupOptions) -> Self {
        let mut lanes: Vec<Lane> = (options.shard..options.lanes)
            .step_by(usize::from(options.shards))
            .map(|index| {
                let lane = LaneIndex(index);
                let bases = if options.has_disk { &options.slot_bases[..] } else { &[] };
                let slots = slots_of(bases, lane, options.lanes, &options.space);
                Lane::new(lane, position_of(index.into(), options.shards), options.me, slots)
            })
            .collect();
        let view = first_view(&options);
        load_pages(&mut lanes, options.shards, options.slots);
        let reach = Reach::new(options.shard, options.shards, options.lanes, options.space);
        Self {
            view,
            shards: options.shards,
            lanes,
            positions: std::array::from_fn(|lane| position_of(lane, options.shards)),
            shared: Shared {
                activity: ActivityLog::new(reach, options.al_slots, options.al_next_number),
                room: LogRoom::new(),
                balance: Balance::new(options.read_policy),
                rate: CopyRate::NONE,
                local_losses: Vec::new(),
                touched: Positions::default(),
                stable_due: Time::NEVER,
            },
            flushes: Flushes::default(),
            trust: Trust::default(),
            receipts: Receipts::default(),
            cuts: Cuts::default(),
            lag: Vec::new(),
            losses_due: Time::NEVER,
            losses_sent: 0,
            keeps_back: false,
            has_errands: true,
            durable: Durable::new(&options.slot_bases),
            parked: Vec::new(),
            held: Vec::new(),
            al_slots: options.al_slots,
            recording: Vec::new(),
            syncing: Vec::new(),
            reconciling: None,
            verifying: None,
            verify_due: Time::NEVER,
            holds_former_writes: options.has_disk,
            sealing: None,
            draining: Draining::No,
            stopping: None,
            progress_due: Time::NEVER,
            unreadable_due: Time::NEVER,
            slow: SlowWatch::new(),
            sizes: Sizes::new(options.has_disk.then_some(options.space)),
            attaching: None,
        }
    }

    pub fn step(&mut self, now: Time, input: GroupInput, actions: &mut Vec<GroupAction>) {
        // Each goes on whole, and that is the last thing to do here: nothing is kept over the call,
        // and nothing looked through for what is to be dropped. Nearly all are of the first four.
        match &input {
            GroupInput::Request(_) => self.step_request(now, input, actions),
            GroupInput::Peer { message: Data { body: DataBody::Write(_), .. }, .. } => {
                self.step_write(now, input, actions);
            }
            GroupInput::Peer { message: Data { body: DataBody::Ack { .. }, .. }, .. } => {
                self.step_ack(now, input, actions);
            }
            GroupInput::Device { token, .. } if is_apply(*token) => {
                self.step_applied(now, input, actions);
            }
            GroupInput::Peer { .. } => self.step_peer(now, input, actions),
            GroupInput::Device { .. } => self.step_device(now, input, actions),
            GroupInput::Flush(_)
            | GroupInput::PeerUp { .. }
            | GroupInput::PeerDown { .. }
            | GroupInput::Home(_) => self.step_other(now, input, actions),
        }
    }

    #[inline(never)]
    fn step_other(&mut self, now: Time, input: GroupInput, actions: &mut Vec<GroupAction>) {
        let first = actions.len();
        match input {
            GroupInput::Request(_) | GroupInput::Peer { .. } | GroupInput::Device { .. } => {
                unreachable!("these have ways of their own")
            }
            GroupInput::Flush(part) => self.on_client_flush(part, actions),
            GroupInput::PeerUp { peer } => {
                self.view.connected.insert(peer);
                self.touch_all();
            }
            GroupInput::PeerDown { peer } => {
                self.take_stable(now, actions);
                self.view.connected.remove(peer);
                if self.view.leading && self.view.write_set.has(peer) {
                    self.view.interrupted.insert(peer);
                }
                self.shared.balance.forget(peer);
                for lane in &mut self.lanes {
                    lane.on_source_lost(peer);
                }
                self.flushes.forget_peer(peer);
                self.durable.forget_answers_to(peer);
                self.touch_all();
            }
            GroupInput::Home(message) => {
                self.has_errands = true;
                self.take_stable(now, actions);
                self.on_home(now, message, actions);
            }
        }
        self.end_step(first, actions);
    }

    #[inline(always)]
    pub(crate) fn end_step(&mut self, first: usize, actions: &mut Vec<GroupAction>) {
        self.deliver_local_losses(actions);
        self.keep_back(first, actions);
    }

    /// Answers that may not go now.
    #[inline]
    fn keep_back(&mut self, first: usize, actions: &mut Vec<GroupAction>) {
        if self.keeps_back {
            self.keep_back_some(first, actions);
        }
    }

    pub(crate) fn note_keeping(&mut self) {
        self.keeps_back = self.view.holding || self.cuts.keeps_answers;
    }

    #[cold]
    fn keep_back_some(&mut self, first: usize, actions: &mut Vec<GroupAction>) {
        if self.view.holding {
            self.hold_answers(first, actions);
        }
        if self.cuts.keeps_answers {
            self.keep_answers(first, actions);
        }
    }

    /// What is said once per turn: acknowledgements, new copies, records of the activity log.
    pub fn settle(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        debug_assert_eq!(*self.shared.activity.space(), self.covered());
        let first = actions.len();
        self.refill_copy_budget(now);
        if self.has_errands {
            self.settle_unreadable(now);
        }
        self.settle_lanes(now, actions);
        // What lanes begin waits behind what has no room, and nothing else may wake the group up.
        while self.settle_room(now, actions) {
            self.settle_lanes(now, actions);
        }
        self.deliver_local_losses(actions);
        if self.has_errands {
            self.settle_errands(now, actions);
        } else if self.shared.activity.is_waiting() {
            self.plan_activity(now, actions);
        }
        self.settle_stable(now, actions);
        self.settle_slow(now, actions);
        if self.shared.balance.look_at <= now {
            self.look_at_reads(now, actions);
        }
        self.keep_back(first, actions);
    }

    /// What the home shard wants done besides reads and writes.
    fn settle_errands(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        self.settle_attach(now, actions);
        self.settle_resize(actions);
        self.settle_stop(now, actions);
        if self.attaching.is_none() {
            if self.shared.activity.is_waiting() {
                self.plan_activity(now, actions);
            }
            self.settle_checkpoint(actions);
        }
        self.settle_facts(now, actions);
        self.has_errands = self.finds_errands();
        if !self.has_errands {
            // Nobody waits for it any more, and nothing would look at the time that it is due.
            self.unreadable_due = Time::NEVER;
        }
    }

    /// Whether something is under way that `settle_errands` goes on with. Only messages of the home
    /// begin such things.
    pub(crate) fn finds_errands(&self) -> bool {
        let is_changing = self.attaching.is_some()
            || self.sizes.is_preparing()
            || self.stopping.is_some()
            || self.sealing.is_some()
            || self.draining != Draining::No
            || self.durable.has_checkpoints();
        let is_repairing = self.reconciling.is_some()
            || self.verifying.is_some()
            || !self.recording.is_empty()
            || !self.syncing.is_empty();
        let is_followed = self.receipts.is_asked()
            || self.trust.is_asked()
            || !self.view.named_followers.is_empty()
            || !self.lag.is_empty();
        is_changing || is_repairing || is_followed
    }

    fn settle_lanes(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        let touched = std::mem::take(&mut self.shared.touched);
        if touched.is_empty() {
            return;
        }
        let (lanes, mut turn) = self.turn(now, actions);
        touched.for_each(|position| lanes[position].settle(&mut turn));
    }

    /// When `settle` is to run at the latest, though nothing happened.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        let budget_due = self.copy_budget_due();
        let progress_due = self.progress_due.min(self.verify_due).min(self.unreadable_due);
        let look_at = self.slow.look_at().min(self.shared.balance.look_at).min(self.losses_due);
        self.shared.stable_due.min(progress_due).min(budget_due).min(look_at)
    }

    /// What is under way, for a person who looks for what hangs.
    #[must_use]
    pub fn explain(&self) -> String {
        let is_copying =
            |it: &Lane| it.leader.iter().flat_map(|leader| &leader.resyncs).any(|it| !it.done);
        let is_busy = |it: &&Lane| !it.is_idle() || !it.replica.window.is_empty() || is_copying(it);
        let busy = self.lanes.iter().filter(is_busy);
        let lanes: Vec<String> = busy
            .map(|lane| {
                let window = &lane.replica.window;
                let leader = lane.leader.as_ref().map(|leader| {
                    let resyncs: Vec<_> = leader.resyncs.iter().map(|it| it.explain()).collect();
                    let operations = &leader.operations;
                    format!(
                        "{operations:?} {:?} {resyncs:?} stalled {}",
                        leader.reads, leader.stalled
                    )
                });
                format!("lane {:?}: window {window:?} {leader:?}", lane.index)
            })
            .collect();
        let Self { syncing, recording, view, shared, draining, flushes, .. } = self;
        let activity = &shared.activity;
        format!(
            "{view:?} {activity:?} {draining:?} {flushes:?} {syncing:?} {recording:?} {lanes:?}"
        )
    }

    #[inline(never)]
    #[expect(clippy::needless_pass_by_value, reason = "`step` hands it on whole")]
    fn step_request(&mut self, now: Time, input: GroupInput, actions: &mut Vec<GroupAction>) {
        let GroupInput::Request(request) = input else { unreachable!("`step` looked at it") };
        let first = actions.len();
        self.on_request(now, &request, actions);
        self.end_step(first, actions);
    }

    #[inline(always)]
    fn on_request(&mut self, now: Time, request: &Request, actions: &mut Vec<GroupAction>) {
        self.shared.rate.on_request(now);
        if !self.view.leading || self.view.fail_requests {
            let error = if self.view.leading { RequestError::Io } else { RequestError::NotPrimary };
            return refuse(*request, error, actions);
        }
        if !self.view.serving || self.view.draining || self.view.holding {
            return self.parked.push(*request);
        }
        let position = self.position_of(request.offset / BLOCK_BYTES);
        let (lanes, mut turn) = self.turn(now, actions);
        lanes[position].on_request(&mut turn, request);
    }

    pub(crate) fn unpark(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        for request in std::mem::take(&mut self.parked) {
            self.on_request(now, &request, actions);
        }
    }

    #[inline(never)]
    fn step_applied(&mut self, now: Time, input: GroupInput, actions: &mut Vec<GroupAction>) {
        let GroupInput::Device { token, result } = input else {
            unreachable!("what was applied is of a device")
        };
        let seq = token_seq(token);
        let position = self.position_of_lane(token_lane(token));
        if result.is_err() {
            self.view.disk_failed = true;
        }
        let lane = &mut self.lanes[position];
        let (view, flushes_started) = (&self.view, self.flushes.started());
        let common = Common { view, shared: &mut self.shared, flushes_started };
        if lane.on_applied(common, seq, done(&result), actions) {
            let (first, me) = (actions.len(), self.view.me);
            let (lanes, mut turn) = self.turn(now, actions);
            lanes[position].on_acknowledged(&mut turn, me, seq);
            self.end_step(first, actions);
        }
    }

    #[inline(never)]
    fn step_device(&mut self, now: Time, input: GroupInput, actions: &mut Vec<GroupAction>) {
        let GroupInput::Device { token, mut result } = input else {
            unreachable!("`step` looked at it")
        };
        let first = actions.len();
        self.on_device(now, token, &mut result, actions);
        self.end_step(first, actions);
    }

    #[inline(always)]
    fn on_device(
        &mut self,
        now: Time,
        token: Token,
        result: &mut Result<DeviceResult, DeviceError>,
        actions: &mut Vec<GroupAction>,
    ) {
        let lane = self.position_of_lane(token_lane(token));
        let Some(device_use) = DeviceUse::of(token) else {
            return self.on_group_device(now, token, done(result), actions);
        };
        if self.view.disk_failed && device_use.is_read() {
            distrust(result, actions);
        }
        self.touch(lane);
        self.with_lane(now, lane, actions, |lane, turn| match device_use {
            DeviceUse::Apply { .. } => unreachable!("it was written"),
            DeviceUse::OperationRead { .. }
            | DeviceUse::ClientRead { .. }
            | DeviceUse::PeerRead { .. } => lane.on_device_read(turn, device_use, result),
            DeviceUse::OperationDigest { asked, generation } => {
                if let Some(index) = lane.operation_asked(asked, generation) {
                    let me = turn.view.me;
                    lane.on_digests(turn, index, me, digests_of(result));
                }
            }
            DeviceUse::PayloadDigest { asked, generation } => {
                if let Some(index) = lane.operation_asked(asked, generation) {
                    lane.on_bytes_hashed(turn, index, &digests_of(result));
                }
            }
            DeviceUse::PeerDigest { index } => {
                lane.on_peer_digest_done(turn, index, digests_of(result));
            }
        });
    }

    /// Tells the home shard what became true for all lanes.
    fn settle_facts(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        self.settle_seal(actions);
        if self.trust.is_asked() {
            self.settle_trust(actions);
        }
        if self.receipts.is_asked() {
            self.settle_receipts(actions);
        }
        if !self.view.named_followers.is_empty() {
            self.settle_cuts(actions);
        }
        self.settle_losses(now, actions);
        if !self.lag.is_empty() {
            self.settle_lag(now, actions);
        }
        let lanes = &self.lanes;
        if !self.recording.is_empty() {
            self.recording.retain(|&(member, round)| {
                let recorded = lanes.iter().all(|lane| lane.is_loss_recorded(member));
                if recorded {
                    actions.push(answer(round));
                }
                !recorded
            });
        }
        self.settle_synced(now, actions);
        if let Some(round) = self.reconciling
            && self.view.serving
            && lanes_are_reconciled(&self.lanes)
        {
            self.reconciling = None;
            actions.push(answer(round));
        }
        self.settle_verify(now, actions);
        self.settle_drain(actions);
    }

    pub(crate) fn touch_all(&mut self) {
        self.shared.touched = Positions::first(self.lanes.len());
    }

    pub(crate) fn position_of(&self, block: u64) -> usize {
        self.position_of_lane(format::ids::lane_of_block(block, self.view.lanes.get()))
    }

    pub(crate) fn position_of_lane(&self, lane: LaneIndex) -> usize {
        usize::from(self.positions[usize::from(lane.0)])
    }

    /// The next settle has something to do in that lane.
    pub(crate) fn touch(&mut self, position: usize) {
        self.shared.touched.insert(self.lanes[position].position);
    }

    pub(crate) fn with_lane<R>(
        &mut self,
        now: Time,
        position: usize,
        actions: &mut Vec<GroupAction>,
        visit: impl FnOnce(&mut Lane, &mut Turn<'_>) -> R,
    ) -> R {
        let (lanes, mut turn) = self.turn(now, actions);
        visit(&mut lanes[position], &mut turn)
    }

    /// The lanes, and what they may use.
    #[inline(always)]
    pub(crate) fn turn<'a>(
        &'a mut self,
        now: Time,
        actions: &'a mut Vec<GroupAction>,
    ) -> (&'a mut [Lane], Turn<'a>) {
        let turn = Turn {
            view: &self.view,
            shared: &mut self.shared,
            now,
            flushes_started: self.flushes.started(),
            actions,
        };
        (&mut self.lanes, turn)
    }

    pub(crate) fn with_lanes(
        &mut self,
        now: Time,
        actions: &mut Vec<GroupAction>,
        mut visit: impl FnMut(&mut Lane, &mut Turn<'_>),
    ) {
        for position in 0..self.lanes.len() {
            self.touch(position);
            self.with_lane(now, position, actions, &mut visit);
        }
    }

    pub(crate) fn fail_parked(&mut self, error: RequestError, actions: &mut Vec<GroupAction>) {
        for request in std::mem::take(&mut self.parked) {
            refuse(request, error, actions);
        }
    }
}

fn position_of(lane: usize, shards: u8) -> u8 {
    u8::try_from(lane / usize::from(shards)).expect("a lane has a number below 256")
}

pub(crate) fn slots_of(
    bases: &[LostMember],
    lane: LaneIndex,
    lanes: u8,
    space: &Space,
) -> Vec<Slot> {
    bases
        .iter()
        .map(|known| {
            let bits = Marks::new(lane, lanes, space);
            let mut slot = Slot { member: known.member, base: known.base, bits };
            if known.base.epoch == crate::FULL {
                slot.bits.set_all();
            }
            slot
        })
        .collect()
}

pub(crate) fn answer(round: RoundId) -> GroupAction {
    GroupAction::Home(FromGroup::Answer { round })
}

/// Before any session.
fn first_view(options: &GroupOptions) -> View {
    View {
        me: options.me,
        boot_id: options.boot_id,
        volume: options.volume,
        shard: options.shard,
        lanes: NonZeroU8::new(options.lanes).expect("a volume has lanes"),
        space: options.space,
        tracked: options.tracked,
        nonce: Nonce(0),
        epoch: Epoch(0),
        replica: if options.has_disk { ReplicaRole::Syncing } else { ReplicaRole::None },
        disk_failed: false,
        admitted: false,
        leading: false,
        serving: false,
        write_set: MemberSet::EMPTY,
        boots: NO_PROCESSES,
        since: SINCE_THE_BEGIN,
        in_sync: MemberSet::EMPTY,
        by_receipt: MemberSet::EMPTY,
        is_early: false,
        tells_receipt: false,
        named_followers: MemberSet::EMPTY,
        followers: MemberSet::EMPTY,
        holds_writes: false,
        losing: MemberSet::EMPTY,
        interrupted: MemberSet::EMPTY,
        connected: MemberSet::EMPTY,
        lease_until: Time::ZERO,
        draining: false,
        fail_requests: false,
        holding: false,
        write_only: MemberSet::EMPTY,
        slow_limit: options.slow_limit,
    }
}

pub(crate) fn load_pages(lanes: &mut [Lane], shards: u8, pages: Vec<LoadedPage>) {
    for page in pages {
        let lane = usize::from(page.lane.0 / shards);
        let slot = lanes.get_mut(lane).and_then(|lane| lane.slot_mut(page.member));
        // What is on disk of a slot that says "everything" is older than that.
        if let Some(slot) = slot.filter(|slot| slot.base.epoch != crate::FULL) {
            slot.bits.load(page.page, page.bits);
        }
    }
}

pub(crate) fn lanes_are_reconciled(lanes: &[Lane]) -> bool {
    lanes.iter().all(Lane::is_reconciled)
}

pub(crate) fn refuse(request: Request, error: RequestError, actions: &mut Vec<GroupAction>) {
    actions.push(GroupAction::Complete { part: request.part, result: Err(error) });
    if let RequestKind::Write { payload, .. } = request.kind {
        actions.push(GroupAction::Release(payload));
    }
}

/// Takes the bytes back that a disk gave which may have lost some: whoever wanted them is to hear
/// that it cannot be read.
fn distrust(result: &mut Result<DeviceResult, DeviceError>, actions: &mut Vec<GroupAction>) {
    if let Ok(DeviceResult::Read { payload, .. }) = *result {
        actions.push(GroupAction::Release(payload));
    }
    *result = Err(DeviceError);
}

/// What a device said of a request that brings nothing.
fn done(result: &Result<DeviceResult, DeviceError>) -> Result<(), DeviceError> {
    match result {
        Ok(_) => Ok(()),
        Err(DeviceError) => Err(DeviceError),
    }
}

pub(crate) fn fail_part(part: PartId, actions: &mut Vec<GroupAction>) {
    actions.push(GroupAction::Complete { part, result: Err(RequestError::Io) });
}

impl From<ToGroup> for GroupInput {
    fn from(message: ToGroup) -> Self {
        Self::Home(message)
    }
}

const _: () = assert!(limits::LANES_DEFAULT <= limits::LANES_MAX, "a default within its bound");
