//! What the home of a resource does when things come in an order that is rare between processes.

mod fencing;

use std::time::Duration;

use format::config::{Config, InSync, Primary, Purpose, VolumeConfig, Voter};
use format::ids::{
    Ballot, BlockRange, BootId, Branch, Epoch, Incarnation, KernelBootId, LaneIndex, MemberSet,
    NodeId, Nonce, QuestionId, ResourceId, ValueId, VoteStoreId,
};
use format::message::{Accepted, Control, FEATURES, Sealed, SealedLane, SlotBase};
use format::metadata::{Candidate, Register, ReplicaState, Slot, Superblock, VoteStamp};
use format::space::Place;
use replication::contract::{
    AckWhen, Command, CommandDone, CommandError, CommandErrorCode, CommandId, Congestion, Demands,
    FenceVerdict, FromGroup, LostMember, MemberOptions, NewArea, Parting, PeerReport, PromoteMode,
    Readmission, Repair, ResizeTask, ResourceAction, ResourceInput, RoundId, SaveId, ToGroup,
    VerifyTask, WithoutQuorum,
};
use replication::resource::{Comparing, Resource, ResourceOptions};
use replication::{UNUSED, limits};
use stdx::time::Time;

const MINE: Incarnation = Incarnation(5);
const JOIN: Epoch = Epoch(4);
const SIZE: u64 = 1 << 40;

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

fn superblock(candidate: Option<Candidate>) -> Superblock {
    Superblock {
        resource: ResourceId(1),
        resource_name: "r".to_owned(),
        volume: 0,
        node: node(1),
        branch: Branch(1),
        incarnation: MINE,
        sealed: format::metadata::Sealed::default(),
        joined: Epoch(1),
        candidate,
        state: ReplicaState::Syncing,
        kernel_boot_id: KernelBootId(1),
        size_bytes: SIZE,
        lanes: limits::LANES_DEFAULT,
        write_counter: 1,
        clean: true,
        vote_stamp: VoteStamp::default(),
        vote: None,
        log: None,
        slots: Vec::new(),
        further: Vec::new(),
    }
}

/// Node 1 of nodes 0 and 1, connected.
fn resource(candidate: Option<Candidate>) -> Resource {
    resource_with(Some(superblock(candidate)))
}

fn resource_with(superblock: Option<Superblock>) -> Resource {
    let mut resource = Resource::new(options(superblock));
    connect(&mut resource, FEATURES);
    resource
}

fn options(superblock: Option<Superblock>) -> ResourceOptions {
    let member = |id| MemberOptions {
        node: node(id),
        diskful: true,
        may_witness: true,
        ack_when: AckWhen::Durable,
        congestion: Congestion::default(),
    };
    let register = Register {
        resource: ResourceId(1),
        store: VoteStoreId(7),
        promised: Ballot::default(),
        promised_nonce: Nonce(0),
        accepted: None,
        write_counter: 1,
        disk_left_at: None,
    };
    ResourceOptions {
        resource: ResourceId(1),
        name: "r".to_owned(),
        me: node(1),
        boot_id: BootId(1),
        kernel_boot_id: KernelBootId(1),
        shards: 1,
        log_slots: 8,
        seed: 1,
        members: vec![member(0), member(1)],
        register,
        superblock,
        slots_max: 8,
        started_at: Time(1),
        demands: Demands::default(),
        resync_rate: 0,
        comparing: Comparing::Full,
        readmission: Readmission::AtOnce,
    }
}

/// Node 0, of a release that knows of so much.
fn connect(resource: &mut Resource, features: u64) {
    connect_peer(resource, (0, features));
}

fn connect_peer(resource: &mut Resource, (peer, features): (u8, u64)) {
    let report = PeerReport { boot_id: BootId(2), shards: 1, features, replica: None };
    step(resource, ResourceInput::Connected { peer: node(peer), report: Box::new(report) });
}

fn step(resource: &mut Resource, input: ResourceInput) -> Vec<ResourceAction> {
    step_at(resource, Time(2), input)
}

fn step_at(resource: &mut Resource, now: Time, input: ResourceInput) -> Vec<ResourceAction> {
    let mut actions = Vec::new();
    resource.step(now, input, &mut actions);
    actions
}

/// Ticks whenever it wants to be woken, from `now` until then.
fn tick_until(resource: &mut Resource, mut now: Time, end: Time) -> Vec<(Time, ResourceAction)> {
    let mut all = Vec::new();
    while resource.wake_at() <= end {
        assert!(resource.wake_at() > now, "it wants to be woken at {now:?} for ever");
        now = resource.wake_at();
        let actions = step_at(resource, now, ResourceInput::Tick);
        all.extend(actions.into_iter().map(|action| (now, action)));
    }
    all
}

fn from_peer(message: Control) -> ResourceInput {
    ResourceInput::Control { from: node(0), message: Box::new(message) }
}

/// Node 1 joined with the value `value_id`.
fn joined(value_id: ValueId) -> Config {
    let insync = |id, incarnation| InSync { node: node(id), incarnation, joined: JOIN };
    let voter = |id| Voter { node: node(id), store: VoteStoreId(0) };
    Config {
        resource: ResourceId(1),
        branch: Branch(1),
        ancestors: Vec::new(),
        epoch: JOIN,
        value_id,
        previous: ValueId(1),
        primary: Some(Primary { node: node(0), nonce: Nonce(9), purpose: Purpose::Clients }),
        tenure: None,
        volumes: vec![VolumeConfig {
            number: 0,
            size_bytes: SIZE,
            lanes: limits::LANES_DEFAULT,
            insync: vec![insync(0, Incarnation(4)), insync(1, MINE)],
        }],
        voters: vec![voter(0), voter(1)],
        voters_old: Vec::new(),
        members: MemberSet(0b11),
        by_receipt: MemberSet::EMPTY,
        followers: MemberSet::EMPTY,
        clean: false,
        losses: 0,
        awaits_reopen: false,
    }
}

/// A candidate that was not chosen, and another one that was, may have the same epoch: only the
/// value that the replica made itself durable for says that it is in sync.
#[test]
fn a_replica_joins_by_the_value_it_was_prepared_for_and_by_no_other() {
    for (chosen, state) in [(8, ReplicaState::InSync), (9, ReplicaState::Syncing)] {
        let mut resource = resource(Some(Candidate { epoch: JOIN, value_id: ValueId(8) }));
        let ballot = Ballot { counter: 5, random: 1 };
        let value = joined(ValueId(chosen));
        step(&mut resource, from_peer(Control::Chosen { ballot, value }));
        assert_eq!(resource.status().replica, Some(state), "value {chosen} was chosen");
    }
}

fn save(actions: &[ResourceAction]) -> Option<SaveId> {
    actions.iter().find_map(|action| {
        let ResourceAction::Save { save, .. } = action else { return None };
        Some(*save)
    })
}

/// The replica obeys session 9, and its groups are asked to become quiet.
fn seal(resource: &mut Resource) -> RoundId {
    let (ballot, nonce) = (Ballot { counter: 5, random: 1 }, Nonce(9));
    let actions = step(resource, from_peer(Control::Seal { ballot, nonce }));
    // A seal is durable first.
    let saved = ResourceInput::Saved { save: save_of(&actions) };
    let round = step(resource, saved).iter().find_map(|action| {
        let ResourceAction::Group(ToGroup::Seal { round, .. }) = action else { return None };
        Some(*round)
    });
    round.expect("the groups are asked")
}

fn quiesced(round: RoundId) -> FromGroup {
    FromGroup::Quiesced {
        is_torn: false,
        is_open: false,
        round,
        lanes: Vec::new(),
        inherited: Vec::new(),
        own_slot: Vec::new(),
    }
}

/// The replica is admitted to session 9 with this value.
fn admit(resource: &mut Resource, value: Config) {
    let round = seal(resource);
    let fact = quiesced(round);
    step_durably(resource, ResourceInput::Group { shard: 0, fact });
    let floors = Vec::new();
    step_durably(resource, from_peer(Control::Admit { nonce: Nonce(9), value, floors }));
}

/// All that is to be written is.
fn step_durably(resource: &mut Resource, input: ResourceInput) {
    let mut actions = step(resource, input);
    while let Some(save) = save(&actions) {
        actions = step(resource, ResourceInput::Saved { save });
    }
}

/// One shard of the leader lost the source of what an absent member misses, and another one, that
/// did not hear of that yet, says the former start of the slot: lanes of the first lack marks.
#[test]
fn a_slot_that_is_good_for_nothing_in_one_shard_is_so_in_all() {
    let mut resource = resource(None);
    let mut value = joined(ValueId(8));
    value.members = MemberSet(0b111);
    value.volumes[0].insync.truncate(1);
    admit(&mut resource, value.clone());
    let good = SlotBase { epoch: Epoch(3), incarnation: Incarnation(6) };
    let hear = |resource: &mut Resource, base| {
        let fact = FromGroup::RebaseSlot(LostMember { member: node(2), base });
        step_durably(resource, ResourceInput::Group { shard: 0, fact });
        resource.slot_base(node(2))
    };
    assert_eq!(hear(&mut resource, good), Some(good));
    assert_eq!(hear(&mut resource, UNUSED), Some(UNUSED));
    assert_eq!(hear(&mut resource, good), Some(UNUSED));
    // A start that is later is of another loss,
    let later = SlotBase { epoch: JOIN.next(), ..good };
    assert_eq!(hear(&mut resource, later), Some(later));
    assert_eq!(hear(&mut resource, good), Some(UNUSED));
    // and a new admission begins with nothing.
    admit(&mut resource, value);
    assert_eq!(hear(&mut resource, good), Some(good));
}

/// A node that was away may tell of a value whose session is over since.
#[test]
fn only_who_leads_is_believed_to_lead() {
    for (teller, is_led) in [(0, true), (2, false)] {
        let third = MemberOptions { node: node(2), ..options(None).members[0] };
        let mut options = options(None);
        options.members.push(third);
        let mut resource = Resource::new(options);
        for peer in [0, 2] {
            connect_peer(&mut resource, (peer, FEATURES));
        }
        let chosen =
            Control::Chosen { ballot: Ballot { counter: 5, random: 1 }, value: joined(ValueId(8)) };
        let message = Box::new(chosen);
        step(&mut resource, ResourceInput::Control { from: node(teller), message });
        let task = VerifyTask { from_block: 0, until_block: 8, repair: Repair::No };
        let actions = step(
            &mut resource,
            ResourceInput::Command { id: CommandId(1), command: Command::Verify(task) },
        );
        let asks = |action: &ResourceAction| {
            matches!(action, ResourceAction::Send { message: Control::Verify { .. }, .. })
        };
        assert_eq!(actions.iter().any(asks), is_led, "told by node {teller}: {actions:?}");
    }
}

/// It would be a candidate with what it holds of before: a seal takes that for more than it is.
#[test]
fn a_replica_that_is_sealed_and_not_admitted_prepares_no_join() {
    let mut resource = resource(None);
    let round = seal(&mut resource);
    let fact = quiesced(round);
    let join = Control::PrepareJoin { nonce: Nonce(9), epoch: JOIN, value_id: ValueId(8) };
    for before in [None, Some(ResourceInput::Group { shard: 0, fact })] {
        before.map(|input| step(&mut resource, input));
        let actions = step(&mut resource, from_peer(join.clone()));
        let asks = |action: &ResourceAction| matches!(action, ResourceAction::Group(_));
        assert!(!actions.iter().any(asks), "{actions:?}");
    }
}

/// More differs than a message holds: what is said covers it, and fits.
#[test]
fn what_a_seal_reports_is_bounded_and_covers_all() {
    let mut resource = resource(None);
    let round = seal(&mut resource);
    let count = 3 * limits::REPORT_RANGES_MAX as u64;
    let ranges: Vec<BlockRange> = (0..count).map(|i| BlockRange::new(i * 3, 1)).collect();
    let fact = FromGroup::Quiesced {
        is_torn: false,
        is_open: false,
        round,
        lanes: vec![(LaneIndex(0), SealedLane::default())],
        inherited: ranges.clone(),
        own_slot: ranges.clone(),
    };
    let actions = step(&mut resource, ResourceInput::Group { shard: 0, fact });
    let sealed: Option<&Sealed> = actions.iter().find_map(|action| {
        let ResourceAction::Send { message: Control::Sealed(sealed), .. } = action else {
            return None;
        };
        Some(&**sealed)
    });
    let sealed = sealed.expect("the seal is answered");
    for said in [&sealed.inherited, &sealed.own_slot] {
        assert!(said.len() <= limits::REPORT_RANGES_MAX, "{} ranges", said.len());
        let is_covered = |range: &BlockRange| said.iter().any(|one| one.contains(*range));
        assert!(ranges.iter().step_by(997).all(is_covered));
    }
}

/// A disk takes its time to become larger, and more than the next try was to wait.
#[test]
fn a_replica_whose_disk_is_being_enlarged_sleeps_until_it_is() {
    let mut resource = resource(None);
    let mut value = joined(ValueId(8));
    value.volumes[0].size_bytes = 2 * SIZE;
    let ballot = Ballot { counter: 5, random: 1 };
    let actions = step(&mut resource, from_peer(Control::Chosen { ballot, value }));
    let is_ask = |it: &ResourceAction| matches!(it, ResourceAction::EnlargeDisk { .. });
    assert!(actions.iter().any(is_ask), "{actions:?}");
    let late = Time(2) + 3 * limits::ROOM_RETRY;
    let all = tick_until(&mut resource, Time(2), late);
    assert!(!all.iter().any(|(_, it)| is_ask(it)), "{all:?}");
    // There is no room: it tries again in a while.
    let place = Place::FIRST;
    let enlarged = ResourceInput::DiskEnlarged { place, size_bytes: SIZE };
    let mut again = step_at(&mut resource, late, enlarged);
    let later = tick_until(&mut resource, late, late + limits::ROOM_RETRY);
    again.extend(later.into_iter().map(|(_, it)| it));
    assert!(again.iter().any(is_ask), "{again:?}");
}

fn superblock_of(actions: &[ResourceAction]) -> &Superblock {
    let saved = actions.iter().find_map(|action| {
        let ResourceAction::Save { superblock, .. } = action else { return None };
        superblock.as_deref()
    });
    saved.expect("a superblock is saved")
}

fn save_of(actions: &[ResourceAction]) -> SaveId {
    save(actions).expect("something is made durable")
}

/// A disk stands still, and peers ask again and again: when it goes on each hears the answer to
/// what it asked last, and nothing else was kept for it.
#[test]
fn what_waits_for_a_write_does_not_grow_with_what_peers_ask() {
    let mut resource = resource(None);
    let ballot = |counter| Ballot { counter, random: 1 };
    let ask = |resource: &mut Resource, counter| {
        let (ballot, nonce) = (ballot(counter), Nonce(counter));
        let mut actions = step(resource, from_peer(Control::Prepare { ballot, nonce }));
        actions.extend(step(resource, from_peer(Control::Seal { ballot, nonce })));
        actions
    };
    let first = save_of(&ask(&mut resource, 1));
    for counter in 2..=1000 {
        ask(&mut resource, counter);
    }
    let next = save_of(&step(&mut resource, ResourceInput::Saved { save: first }));
    let said = step(&mut resource, ResourceInput::Saved { save: next });
    let promises: Vec<Ballot> = said
        .iter()
        .filter_map(|action| {
            let ResourceAction::Send { message, .. } = action else { return None };
            let Control::Promise { ballot, .. } = message else { return None };
            Some(*ballot)
        })
        .collect();
    assert_eq!(promises, [ballot(1000)]);
    let is_seal = |it: &&ResourceAction| matches!(it, ResourceAction::Group(ToGroup::Seal { .. }));
    assert_eq!(said.iter().filter(is_seal).count(), 1);
}

/// What the replica was about to say of its slots was not written.
#[test]
fn a_replica_whose_disk_failed_says_nothing_that_was_to_be_durable() {
    let mut resource = resource(None);
    seal(&mut resource);
    let nonce = Nonce(9);
    let full = Control::SetFull {
        nonce,
        member: node(0),
        incarnation: Incarnation(4),
        base_epoch: Epoch(1),
    };
    let asked = step(&mut resource, from_peer(full));
    let round = asked.iter().find_map(|action| {
        let ResourceAction::Group(ToGroup::SetFull { round, .. }) = action else { return None };
        Some(*round)
    });
    let round = round.expect("the groups are asked");
    let before = save_of(&asked);
    let fact = FromGroup::Answer { round };
    step(&mut resource, ResourceInput::Group { shard: 0, fact });
    let last = save_of(&step(&mut resource, ResourceInput::SaveFailed { save: before }));
    let said = step(&mut resource, ResourceInput::Saved { save: last });
    let is_answer = |it: &ResourceAction| {
        matches!(it, ResourceAction::Send { message: Control::SetFullDone { .. }, .. })
    };
    assert!(!said.iter().any(is_answer), "{said:?}");
}

/// The vote is not said, and what else was to be durable with it is repeated without.
#[test]
fn a_voter_whose_register_failed_is_mute_and_its_replica_is_not() {
    let mut resource = resource(None);
    let (ballot, nonce) = (Ballot { counter: 5, random: 1 }, Nonce(9));
    let asked = step(&mut resource, from_peer(Control::Prepare { ballot, nonce }));
    let failed = superblock_of(&asked);
    let save = save_of(&asked);
    step(&mut resource, from_peer(Control::Seal { ballot, nonce }));
    let actions = step(&mut resource, ResourceInput::RegisterFailed { save });
    let is_vote =
        |it: &ResourceAction| matches!(it, ResourceAction::Save { register: Some(_), .. });
    assert!(!actions.iter().any(is_vote), "{actions:?}");
    let repeated = superblock_of(&actions);
    assert_eq!(repeated.vote_stamp, VoteStamp::default(), "the disk is not ahead of the register");
    // The next number would be written over the newest copy that the disk has.
    assert_eq!(repeated.write_counter, failed.write_counter, "nothing was written as that one");
    let said = step(&mut resource, ResourceInput::Saved { save: save_of(&actions) });
    let is_vote = |it: &ResourceAction| {
        matches!(it, ResourceAction::Send { message: Control::Promise { .. }, .. })
    };
    assert!(!said.iter().any(is_vote), "{said:?}");
    let is_seal = |it: &ResourceAction| matches!(it, ResourceAction::Group(ToGroup::Seal { .. }));
    assert!(said.iter().any(is_seal), "{said:?}");
    let ballot = Ballot { counter: 6, random: 1 };
    assert!(step(&mut resource, from_peer(Control::Prepare { ballot, nonce })).is_empty());
}

/// The file of this node does not name the member whose misses the disk has marked; the value does,
/// which nobody has told yet.
#[test]
fn a_disk_that_is_attached_keeps_what_it_marks_for_whom_the_file_does_not_name() {
    let mut it = resource_with(None);
    let mut disk = superblock(None);
    disk.slots = vec![Slot {
        member: node(2),
        base_epoch: Epoch(5),
        base_incarnation: Incarnation(6),
        in_use: true,
    }];
    let attach =
        ResourceInput::Attach { id: CommandId(1), superblock: Box::new(disk), slots_max: 8 };
    let mut rounds = Vec::new();
    for action in step(&mut it, attach) {
        if let ResourceAction::TakeDisk { round } = action {
            rounds.push(round);
        }
    }
    let [round] = rounds[..] else { panic!("nothing keeps it from the disk: {rounds:?}") };
    let fact = FromGroup::Answer { round };
    let mut told = 0;
    for action in step(&mut it, ResourceInput::Group { shard: 0, fact }) {
        let ResourceAction::Group(ToGroup::Track { members, slots }) = action else { continue };
        assert!(slots.iter().all(|&member| members.has(member)), "{members:?} of {slots:?}");
        told += 1;
    }
    assert!(told > 0, "the groups hear of the slots");
}

// ---- What another node is asked, which leads.

/// Node 0 leads, of a release that knows of so much.
fn led_by_peer(features: u64) -> Resource {
    let mut resource = resource_with(None);
    step(&mut resource, ResourceInput::Disconnected { peer: node(0), parting: Parting::Broken });
    connect(&mut resource, features);
    let (ballot, value) = (Ballot { counter: 5, random: 1 }, joined(ValueId(8)));
    step(&mut resource, from_peer(Control::Chosen { ballot, value: value.clone() }));
    let accepted = Some(Accepted { ballot, value });
    let members = MemberSet(0b11);
    let (store, session) = (Some(VoteStoreId(0)), Some(Nonce(9)));
    step(&mut resource, from_peer(Control::Report { store, session, accepted, members }));
    resource
}

fn ask(resource: &mut Resource, now: Time, id: u64, command: Command) -> QuestionId {
    let command = ResourceInput::Command { id: CommandId(id), command };
    let asked = step_at(resource, now, command).into_iter().find_map(|action| {
        let ResourceAction::Send { message, .. } = action else { return None };
        let (Control::Verify { id, .. } | Control::Resize { id, .. }) = message else {
            return None;
        };
        Some(id)
    });
    asked.expect("the node that leads is asked")
}

fn verify_all() -> Command {
    let (from_block, until_block) = (0, u64::MAX);
    Command::Verify(VerifyTask { from_block, until_block, repair: Repair::No })
}

type Told = Vec<(CommandId, Result<CommandDone, CommandError>)>;

fn told(actions: Vec<ResourceAction>) -> Told {
    let answer = |action| {
        let ResourceAction::Answer { id, result } = action else { return None };
        Some((id, result))
    };
    actions.into_iter().filter_map(answer).collect()
}

fn refusals(told: &Told) -> Vec<(u64, CommandErrorCode)> {
    let refusal = |(id, result): &(CommandId, Result<CommandDone, CommandError>)| {
        Some((id.0, result.as_ref().err()?.code))
    };
    told.iter().filter_map(refusal).collect()
}

/// Nobody waits for the first question any more when it is answered: that another verify is under
/// way was taken for the answer to the next one, which began.
#[test]
fn an_answer_to_the_verify_before_is_none_about_the_next() {
    let mut it = led_by_peer(FEATURES);
    let first = ask(&mut it, Time(2), 1, verify_all());
    let late = Time(2) + limits::VERIFY_ANSWER_MAX;
    step_at(&mut it, late, ResourceInput::Tick);
    let second = ask(&mut it, late, 2, verify_all());
    let nonce = Nonce(9);
    let answer = |id, started| from_peer(Control::VerifyAnswer { nonce, started, id });
    assert_eq!(told(step_at(&mut it, late, answer(first, false))), []);
    assert_eq!(
        told(step_at(&mut it, late, answer(second, true))),
        [(CommandId(2), Ok(CommandDone::AsAsked))]
    );
}

/// A question that does not come to the one that leads was told as a verify that began; of an older
/// release, which never answers, nothing else can be told.
#[test]
fn silence_of_who_leads_is_a_yes_only_of_a_release_that_cannot_answer() {
    for (features, expected) in [(FEATURES, vec![(1, CommandErrorCode::TimedOut)]), (0, vec![])] {
        let mut it = led_by_peer(features);
        ask(&mut it, Time(2), 1, verify_all());
        let before = Time(1) + limits::VERIFY_ANSWER_MAX;
        assert_eq!(told(step_at(&mut it, before, ResourceInput::Tick)), []);
        let late = Time(2) + limits::VERIFY_ANSWER_MAX;
        let told = told(step_at(&mut it, late, ResourceInput::Tick));
        assert_eq!((told.len(), refusals(&told)), (1, expected));
    }
}

/// Who had asked waited until its own deadline, on a resource that was down.
#[test]
fn who_waits_for_the_one_that_leads_hears_that_the_resource_goes_down() {
    let size = ResizeTask { place: Place::FIRST, size_bytes: 0, new_area: NewArea::Zeroed };
    for command in [verify_all(), Command::Resize(size)] {
        let mut it = led_by_peer(FEATURES);
        ask(&mut it, Time(2), 1, command);
        let stop = ResourceInput::Command { id: CommandId(2), command: Command::Stop };
        let told = told(step(&mut it, stop));
        assert_eq!(refusals(&told), [(1, CommandErrorCode::Busy)]);
    }
}
