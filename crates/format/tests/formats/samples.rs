//! One value of everything, with distinct bytes in every field.

use format::config::{Ancestor, Config, InSync, Primary, Purpose, Tenure, VolumeConfig, Voter};
use format::frame::{Message, PayloadRef};
use format::ids::{
    Ballot, BlockMask, BlockRange, BootId, Branch, Digest, Epoch, Incarnation, LaneIndex,
    MemberSet, NodeId, Nonce, QuestionId, ResourceId, Seq, ValueId, VoteStoreId,
};
use format::message::{
    Accepted, CloseReason, Control, Data, DataBody, DiskFailed, Heartbeat, HeartbeatAck, Hello,
    LeaseRequest, LinkClass, LinkMessage, Open, OwnReplica, Probe, Proof, ProofAlgorithm,
    ReadStatus, ReplicaReport, ResizeOutcome, ResourceMessage, Sealed, SealedLane, SlotBase,
    SlotInfo, Standing, WindowEntry, Write, WriteKind,
};
use format::metadata::Candidate;
use format::space::{Place, Space};

const NONCE: Nonce = Nonce(0x1112_1314_1516_1718);
const BOOT: BootId = BootId(0x2122_2324_2526_2728);
const QUESTION: QuestionId = QuestionId(0xe6e7_e8e9);

pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) handle: u32,
    pub(crate) message: Message,
    pub(crate) payload: Option<PayloadRef>,
}

pub(crate) fn messages() -> Vec<Sample> {
    links().into_iter().chain(controls()).chain(data()).collect()
}

pub(crate) fn node(id: u8) -> NodeId {
    NodeId::new(id).unwrap()
}

pub(crate) fn ballot(counter: u64) -> Ballot {
    Ballot { counter, random: 0x3132_3334_3536_3738 }
}

pub(crate) fn config() -> Config {
    Config {
        resource: ResourceId(0x4142_4344_4546_4748_494a_4b4c_4d4e_4f50),
        branch: Branch(0x51),
        ancestors: vec![
            Ancestor { branch: Branch(0x50), epoch: Epoch(7), value_id: ValueId(0x52) },
            Ancestor { branch: Branch(0x4f), epoch: Epoch(3), value_id: ValueId(0x53) },
        ],
        epoch: Epoch(9),
        value_id: ValueId(0x54),
        previous: ValueId(0x55),
        primary: Some(Primary { node: node(1), nonce: NONCE, purpose: Purpose::Resync }),
        tenure: Some(Tenure { node: node(31), id: Nonce(0x56) }),
        volumes: vec![VolumeConfig {
            number: 0x0102,
            size_bytes: 1 << 30,
            lanes: 16,
            insync: vec![
                InSync { node: node(1), incarnation: Incarnation(0x61), joined: Epoch(2) },
                InSync { node: node(31), incarnation: Incarnation(u128::MAX), joined: Epoch(8) },
            ],
        }],
        voters: vec![Voter { node: node(1), store: VoteStoreId(0x62) }],
        voters_old: vec![Voter { node: node(2), store: VoteStoreId(0x63) }],
        members: MemberSet::of(node(1)).with(node(31)),
        by_receipt: MemberSet::of(node(31)),
        followers: MemberSet::of(node(0)),
        clean: true,
        losses: 4,
        awaits_reopen: false,
    }
}

pub(crate) fn replica() -> ReplicaReport {
    ReplicaReport {
        incarnation: Incarnation(0x64),
        branch: Branch(0x65),
        joined: Epoch(0x66),
        candidate: Some(Candidate { epoch: Epoch(0x67), value_id: ValueId(0x68) }),
        sealed: Nonce(0x6c),
        space: Space::of_one(0x69).with(Place::new(3).unwrap(), 0x6d),
        lanes: 8,
        log_slots: 0x6e,
    }
}

fn slot_base() -> SlotBase {
    SlotBase { epoch: Epoch(0x6a), incarnation: Incarnation(0x6b) }
}

fn ranges() -> Vec<BlockRange> {
    vec![BlockRange::new(0x0102_0304, 5), BlockRange::new(1 << 40, 1)]
}

fn hello(name: &str) -> Hello {
    Hello {
        node_name: name.to_owned(),
        version_min: 1,
        version_max: 2,
        features: 0x7172_7374_7576_7778,
        boot_id: BOOT,
        start_count: 12,
        shards: 4,
        shard_local: 3,
        shard_remote: 1,
        class: LinkClass::Bulk,
        path: 2,
        quantum_bytes: 512,
    }
}

fn link(name: &'static str, message: LinkMessage) -> Sample {
    Sample { name, handle: 0, message: Message::Link(message), payload: None }
}

fn links() -> Vec<Sample> {
    let open = Open {
        handle: 0x81,
        resource: ResourceId(0x82),
        resource_name: "database".to_owned(),
        sender: node(1),
        receiver: node(2),
        replica: Some(replica()),
    };
    let diskless = Open { replica: None, resource_name: String::new(), ..open.clone() };
    let lease = LeaseRequest { handle: 0x83, nonce: NONCE, length_ms: 1500 };
    let heartbeat = Heartbeat { id: 5, sent_at_ns: 0x84, leases: vec![lease, lease] };
    let failed = DiskFailed {
        handle: 0x81,
        place: Place::new(3).unwrap(),
        request: "a write to the disk".to_owned(),
        error: "Input/output error (os error 5)".to_owned(),
        age_ms: 0xb2,
    };
    let code = (0x88..0x9c).collect();
    let proof = Proof { handle: 0x81, algorithm: ProofAlgorithm::Sha1, code };
    let ack = HeartbeatAck { id: 5, sent_at_ns: 0x84, refused: vec![0x83, 0x85] };
    vec![
        link("hello", LinkMessage::Hello(Box::new(hello("alpha")))),
        link("welcome", LinkMessage::Welcome(Box::new(hello("süd-2")))),
        link("open", LinkMessage::Open(Box::new(open))),
        link("open_diskless", LinkMessage::Open(Box::new(diskless))),
        link("close", LinkMessage::Close { handle: 0x81, reason: CloseReason::SizeTooSmall }),
        link("heartbeat", LinkMessage::Heartbeat(heartbeat)),
        link("heartbeat_ack", LinkMessage::HeartbeatAck(ack)),
        link("challenge", LinkMessage::Challenge { challenge: 0x86 << 120 | 0x87 }),
        link("proof", LinkMessage::Proof(proof)),
        link("probe", LinkMessage::Probe(Probe { padding: (0x9c..0xb1).collect() })),
        link("disk_failed", LinkMessage::DiskFailed(Box::new(failed))),
        link("probed", LinkMessage::Probed { padding_bytes: 0xb1 }),
    ]
}

pub(crate) fn control(name: &'static str, message: Control) -> Sample {
    let message = Message::Resource(ResourceMessage::Control(Box::new(message)));
    Sample { name, handle: 0x91, message, payload: None }
}

fn controls() -> Vec<Sample> {
    register_messages().into_iter().chain(session_messages()).chain(member_messages()).collect()
}

fn register_messages() -> Vec<Sample> {
    let accepted = Some(Accepted { ballot: ballot(2), value: config() });
    let (ballot, promised, store) = (ballot(3), ballot(4), VoteStoreId(0x92));
    let (value, nonce, value_id) = (config(), NONCE, ValueId(0x93));
    let left = Space::EMPTY.with(Place::new(3).unwrap(), 0x94).with(Place::new(15).unwrap(), 0x95);
    vec![
        control("prepare", Control::Prepare { ballot, nonce }),
        control("promise", Control::Promise { ballot, store, accepted: accepted.clone() }),
        control("promise_empty", Control::Promise { ballot, store, accepted: None }),
        control(
            "prepare_refused",
            Control::PrepareRefused { ballot, promised, lease_held: true, accepted },
        ),
        control("accept", Control::Accept { ballot, nonce, value: value.clone() }),
        control("accepted", Control::Accepted { ballot, store, value_id }),
        control("accept_refused", Control::AcceptRefused { ballot, promised }),
        control("chosen", Control::Chosen { ballot, value: value.clone() }),
        control("news", Control::News { ballot, value }),
        control("touch", Control::Touch { nonce, has_quorum: true }),
        control("copying", Control::Copying { nonce, left: Box::new(left), copied_blocks: 0x96 }),
        control("touch_lost", Control::Touch { nonce, has_quorum: false }),
        control("lease_release", Control::LeaseRelease { nonce }),
    ]
}

fn report(store: Option<VoteStoreId>) -> Control {
    let accepted = store.map(|_| Accepted { ballot: ballot(6), value: config() });
    let members = MemberSet(0b111);
    Control::Report { store, session: store.map(|_| NONCE), accepted, members }
}

fn session_messages() -> Vec<Sample> {
    let (ballot, nonce, boot_id) = (ballot(5), NONCE, BOOT);
    let lane = SealedLane {
        nonce,
        stable: Seq(10),
        applied: Seq(12),
        window: vec![WindowEntry { seq: Seq(11), range: BlockRange::new(77, 2) }],
    };
    let sealed = Sealed {
        ballot,
        nonce,
        boot_id,
        rank: 3,
        replica: replica(),
        lanes: vec![lane, SealedLane::default()],
        inherited: ranges(),
        own_slot: vec![BlockRange::new(9, 9)],
    };
    let epoch = Epoch(0x94);
    vec![
        control("seal", Control::Seal { ballot, nonce }),
        control("sealed", Control::Sealed(Box::new(sealed))),
        control(
            "seal_refused",
            Control::SealRefused { ballot, sealed: Ballot { counter: 6, random: 7 } },
        ),
        control(
            "new_epoch",
            Control::NewEpoch { ballot, nonce, value: config(), inherited: ranges() },
        ),
        control("new_epoch_done", Control::NewEpochDone { nonce, epoch, boot_id }),
    ]
}

fn member_messages() -> Vec<Sample> {
    let (nonce, boot_id, member, base) = (NONCE, BOOT, node(17), slot_base());
    let (epoch, value_id, base_epoch) = (Epoch(0x95), ValueId(0x96), Epoch(0x97));
    let admit = Control::Admit { nonce, value: config(), floors: vec![Seq(1), Seq(0x98)] };
    vec![
        control("admit", admit),
        control("admitted", Control::Admitted { nonce, boot_id, replica: replica() }),
        control("slot_query", Control::SlotQuery { nonce }),
        control("slot_info", Control::SlotInfo { nonce, slots: vec![SlotInfo { member, base }] }),
        control(
            "set_full",
            Control::SetFull { nonce, member, incarnation: Incarnation(0x99), base_epoch },
        ),
        control("set_full_done", Control::SetFullDone { nonce, member, boot_id }),
        control("prepare_join", Control::PrepareJoin { nonce, epoch, value_id }),
        control("join_prepared", Control::JoinPrepared { nonce, epoch, boot_id }),
        control("replica_failed", Control::ReplicaFailed { nonce }),
        control("following", Control::Following { nonce }),
        control("verify", verify(QuestionId::UNNAMED)),
        control("verify_named", verify(QUESTION)),
        control("verify_answer", verify_answer(QuestionId::UNNAMED)),
        control("verify_answer_named", verify_answer(QUESTION)),
        control("leave", Control::Leave),
        control("own_replica_stays", Control::OwnReplica(OwnReplica::Stays)),
        control("own_replica_leaves", Control::OwnReplica(OwnReplica::Leaves)),
        control("own_replica_gone", Control::OwnReplica(OwnReplica::Gone)),
        control("standing", Control::Standing(standing())),
        control("give_way", Control::GiveWay { standing: 0xd1, against: 0xd2 }),
        control("give_way_answer", Control::GiveWayAnswer { standing: 0xd3, agreed: true }),
        control("line_lost", Control::LineLost { nonce: Nonce(0xd4), losses: 3 }),
        control("line_lost_done", Control::LineLostDone { nonce: Nonce(0xd5) }),
        control("resize", resize(QuestionId::UNNAMED)),
        control("resize_named", resize(QUESTION)),
        control("resize_answer", resize_answer(QuestionId::UNNAMED)),
        control("resize_answer_named", resize_answer(QUESTION)),
        control(
            "enlarge",
            Control::Enlarge { nonce, place: Place::new(3).unwrap(), size_bytes: 7 << 30 },
        ),
        control(
            "enlarged",
            Control::Enlarged {
                nonce,
                boot_id,
                place: Place::new(4).unwrap(),
                size_bytes: 7 << 30,
            },
        ),
        control(
            "prepare_size",
            Control::PrepareSize {
                nonce,
                id: 0x9b,
                place: Place::new(5).unwrap(),
                from_bytes: 3 << 30,
                to_bytes: 5 << 30,
                absent: MemberSet::of(member),
                zeroes: false,
            },
        ),
        control("size_prepared", Control::SizePrepared { nonce, id: 0x9c, boot_id }),
        control("report", report(Some(VoteStoreId(0x9a)))),
        control("report_without_vote", report(None)),
    ]
}

fn verify(id: QuestionId) -> Control {
    let (from_block, until_block) = (0xf3, 1 << 40);
    Control::Verify { nonce: NONCE, from_block, until_block, repair: true, id }
}

fn verify_answer(id: QuestionId) -> Control {
    Control::VerifyAnswer { nonce: NONCE, started: true, id }
}

fn resize(id: QuestionId) -> Control {
    Control::Resize { nonce: NONCE, place: Place::FIRST, size_bytes: 5 << 30, zeroes: true, id }
}

fn resize_answer(id: QuestionId) -> Control {
    let (outcome, size_bytes) = (ResizeOutcome::DiskTooSmall, 6 << 30);
    Control::ResizeAnswer { outcome, member: node(17), size_bytes, id }
}

fn standing() -> Standing {
    Standing {
        id: 0xd4,
        head: ValueId(0xd5),
        against: ValueId(0xd6),
        is_primary: true,
        changed_blocks: 0xd7,
        policy: 0xd8,
    }
}

pub(crate) fn write(kind: WriteKind) -> Write {
    Write {
        lane: LaneIndex(5),
        seq: Seq(0xa1a2_a3a4_a5a6_a7a8),
        order: 0xb1b2,
        range: BlockRange::new(0x0102_0304_0500, 2),
        kind,
        fua: true,
        stable: Seq(0xa1a2_a3a4_a5a6_a700),
        absent: MemberSet(0xc1c2_c3c4),
    }
}

fn datum(name: &'static str, body: DataBody, length_bytes: Option<u32>) -> Sample {
    let data = Data { nonce: NONCE, volume: 0x0d0e, body };
    Sample {
        name,
        handle: 0x91,
        message: Message::Resource(ResourceMessage::Data(data)),
        payload: length_bytes.map(|length_bytes| PayloadRef { length_bytes, crc: 0xd1d2_d3d4 }),
    }
}

fn data() -> Vec<Sample> {
    let (lane, boot_id, seq, id, shard) = (LaneIndex(5), BOOT, Seq(0xe1), 0xe2e3_e4e5, 3);
    let (member, slot, base, range) = (node(6), node(7), slot_base(), BlockRange::new(1026, 4));
    let done = |status, length_bytes, zeroes| {
        let zeroes = BlockMask(zeroes);
        DataBody::ReadDone { lane, id, status, length_bytes, zeroes }
    };
    let digested = |status, digests: &[u128]| {
        let digests = digests.iter().copied().map(Digest).collect();
        DataBody::DigestDone { lane, id, status, digests }
    };
    let loss = |id| DataBody::Loss { lane, member, base, ranges: ranges(), id };
    let loss_done = |id| DataBody::LossDone { lane, member, boot_id, id };
    let copy =
        |given, zeroes| WriteKind::Copy { given: BlockMask(given), zeroes: BlockMask(zeroes) };
    vec![
        datum("write_data", DataBody::Write(write(WriteKind::Data)), Some(8192)),
        datum("write_copy", DataBody::Write(write(copy(0b01, 0b10))), Some(4096)),
        datum("write_copy_whole", DataBody::Write(write(copy(0b11, 0))), Some(8192)),
        datum("write_copy_zeroes", DataBody::Write(write(copy(0, 0b01))), None),
        datum("write_discard", DataBody::Write(write(WriteKind::Discard)), None),
        datum("write_zeroes", DataBody::Write(write(WriteKind::Zeroes)), None),
        datum("ack", DataBody::Ack { lane, base: seq, mask: 0xf1 << 56, boot_id }, None),
        datum("received", DataBody::Received { lane, base: seq, mask: 0xf2 << 55, boot_id }, None),
        datum("stable", DataBody::Stable { lane, stable: seq }, None),
        datum(
            "cut",
            DataBody::Cut { lane, number: 0xc1, seq, stable: Seq(0xc2), skipped: 0xc3 },
            None,
        ),
        datum("read", DataBody::Read { lane, id, range }, None),
        datum("read_done", done(ReadStatus::Ok, 16_384, 0), Some(16_384)),
        datum("read_done_zero", done(ReadStatus::Ok, 8192, 0b10), Some(8192)),
        datum("read_done_refused", done(ReadStatus::Refused, 0, 0), None),
        datum("digest", DataBody::Digest { lane, id, range }, None),
        datum("digest_done", digested(ReadStatus::Ok, &[1, u128::MAX - 2]), None),
        datum("digest_done_failed", digested(ReadStatus::DeviceError, &[]), None),
        datum("flush", DataBody::Flush { id, shard }, None),
        datum("flush_done", DataBody::FlushDone { id, shard, boot_id }, None),
        datum("loss", loss(QuestionId::UNNAMED), None),
        datum("loss_named", loss(QUESTION), None),
        datum("loss_done", loss_done(QuestionId::UNNAMED), None),
        datum("loss_done_named", loss_done(QUESTION), None),
        datum("slot_read", DataBody::SlotRead { lane, slot, from: 0xf2 }, None),
        datum("slot_data", slot_data(Some(0xf3)), None),
        datum("slot_data_end", slot_data(None), None),
        datum("clear", DataBody::Clear { lane, seq, slot, range }, None),
    ]
}

fn slot_data(next: Option<u64>) -> DataBody {
    DataBody::SlotData { lane: LaneIndex(5), slot: node(7), from: 0xf2, ranges: ranges(), next }
}
