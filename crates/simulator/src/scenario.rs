//! A cluster that a test leads step by step; every invariant is checked after every event.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use format::ids::{BLOCK_BYTES, EXTENT_BLOCKS, MemberSet, NodeId};
use format::metadata::{Content, FurtherDisk, ReplicaState};
use format::space::{Place, Space};
use replication::adoption::{Obstacle, Verdict};
use replication::balance::ReadPolicy;
use replication::contract::{
    AfterSplit, Command, CommandDone, CommandError, CommandId, Congestion, Demands, GroupInput,
    Meanwhile, PartId, PromoteMode, Readmission, Request, RequestError, RequestKind, WithoutQuorum,
};
use replication::group::LaneGroup;
use replication::group::under_way::UnderWay;
use replication::resource::{Reign, Status};

use crate::checker::Checker;
use crate::cluster::{BadDisk, Cluster, ClusterOptions, Outcome, Quirks, Replaced};
use crate::contents::SECTOR_BYTES;

/// How a part of a request ended: a read brings the contents of its blocks.
pub type Ended = Result<Option<Vec<u64>>, RequestError>;

#[expect(missing_debug_implementations, reason = "it is watched by what it asserts")]
pub struct Scenario {
    pub cluster: Cluster,
    checker: Checker,
    next: u64,
    ended: BTreeMap<PartId, Ended>,
    answered: BTreeMap<u64, Result<CommandDone, CommandError>>,
    /// What operators were told: the node, and whether it has one.
    told_of_quorum: Vec<(usize, bool)>,
}

/// How far the disks of a scenario can be enlarged at most: `Cluster::backing` says how far now.
pub const SPARE_BYTES: u64 = 40 * 4096 * 1024;

const PATIENCE: Duration = Duration::from_secs(60);
/// Extents that an activity log holds.
const LOG_SLOTS: usize = 8;

impl Scenario {
    /// Nodes of which the last `clients` have no disk; `primary` leads, all replicas are in sync.
    #[must_use]
    pub fn new(nodes: u8, clients: u8, primary: usize) -> Self {
        Self::with_shards(nodes, clients, primary, 1)
    }

    #[must_use]
    pub fn with_shards(nodes: u8, clients: u8, primary: usize, shards: u8) -> Self {
        let shards = (vec![shards; usize::from(nodes)], LOG_SLOTS);
        Self::build((nodes, clients, 0), primary, shards, WithoutQuorum::Wait)
    }

    /// Replicas with so many shards each, of which the first leads, and small activity logs.
    #[must_use]
    pub fn with_unequal_shards(shards: &[u8]) -> Self {
        let nodes = u8::try_from(shards.len()).expect("a few");
        Self::build((nodes, 0, 0), 0, (shards.to_vec(), LOG_SLOTS / 2), WithoutQuorum::Wait)
    }

    /// Node 0 leads; the nodes before the last `clients` are no members yet.
    #[must_use]
    pub fn with_spares(nodes: u8, clients: u8, spares: u8) -> Self {
        let shards = (vec![1; usize::from(nodes)], LOG_SLOTS);
        Self::build((nodes, clients, spares), 0, shards, WithoutQuorum::Wait)
    }

    /// `quorum off`: who reaches no quorum goes on alone. Node 0 leads.
    #[must_use]
    pub fn with_quorum_off(nodes: u8, clients: u8) -> Self {
        let shards = (vec![1; usize::from(nodes)], LOG_SLOTS);
        Self::build((nodes, clients, 0), 0, shards, WithoutQuorum::GoOn)
    }

    /// Node 0 leads; each node counts these members once they received a write.
    #[must_use]
    pub fn counting_receipts(nodes: u8, clients: u8, members: &[u8], shards: u8) -> Self {
        let shards = (vec![shards; usize::from(nodes)], LOG_SLOTS);
        let mut options = Self::options((nodes, clients, 0), shards, WithoutQuorum::Wait);
        let members: MemberSet = members.iter().filter_map(|&node| NodeId::new(node)).collect();
        options.by_receipt = vec![members; usize::from(nodes)];
        Self::begin(options, 0)
    }

    /// Node 0 leads; each node calls these members followers.
    #[must_use]
    pub fn with_followers(nodes: u8, clients: u8, members: &[u8], shards: u8) -> Self {
        let shards = (vec![shards; usize::from(nodes)], LOG_SLOTS);
        let mut options = Self::options((nodes, clients, 0), shards, WithoutQuorum::Wait);
        let members: MemberSet = members.iter().filter_map(|&node| NodeId::new(node)).collect();
        options.followers = vec![members; usize::from(nodes)];
        Self::begin(options, 0)
    }

    /// The same three nodes without clients, where a follower that falls behind is not waited for.
    #[must_use]
    pub fn with_congestion(follower: u8, shards: u8, congestion: Congestion) -> Self {
        let shards = (vec![shards; 3], LOG_SLOTS);
        let mut options = Self::options((3, 0, 0), shards, WithoutQuorum::Wait);
        options.followers =
            vec![NodeId::new(follower).map_or_else(Default::default, MemberSet::of); 3];
        options.quirks.congestion = congestion;
        Self::begin(options, 0)
    }

    /// Whether the replica of `node`, which is up, says that it lost nothing.
    #[must_use]
    pub fn is_intact(&self, node: usize) -> bool {
        self.cluster.processes[node].as_ref().is_some_and(|it| it.resource.is_intact())
    }

    /// Whether `member` is a follower that clients write without, as `node` knows.
    #[must_use]
    pub fn is_behind(&self, node: usize, member: usize) -> bool {
        self.status(node).is_some_and(|status| {
            status.members.iter().any(|it| it.node.index() == member && it.is_behind)
        })
    }

    /// `fencing`: who reaches no quorum asks for proof that the other voter is out. Node 0 leads.
    #[must_use]
    pub fn with_fencing(nodes: u8, clients: u8) -> Self {
        let shards = (vec![1; usize::from(nodes)], LOG_SLOTS);
        Self::build((nodes, clients, 0), 0, shards, WithoutQuorum::Prove(Meanwhile::Hold))
    }

    fn build(
        counts: (u8, u8, u8),
        primary: usize,
        shards: (Vec<u8>, usize),
        without_quorum: WithoutQuorum,
    ) -> Self {
        Self::begin(Self::options(counts, shards, without_quorum), primary)
    }

    fn options(
        (nodes, clients, spares): (u8, u8, u8),
        (shards, al_slots): (Vec<u8>, usize),
        without_quorum: WithoutQuorum,
    ) -> ClusterOptions {
        ClusterOptions {
            seed: 1,
            nodes,
            clients,
            spares,
            shards: shards.into_iter().map(|count| vec![count]).collect(),
            space: Space::of_one(20 * 1024),
            spare_bytes: SPARE_BYTES,
            al_slots,
            trace: std::env::var_os("TRACE").is_some(),
            trace_lane: None,
            reads: Some(ReadPolicy::default()),
            quirks: Quirks::default(),
            demands: Demands { without_quorum, ..Demands::default() },
            by_receipt: Vec::new(),
            followers: Vec::new(),
            readmission: Readmission::AtOnce,
        }
    }

    fn begin(options: ClusterOptions, primary: usize) -> Self {
        let mut scenario = Self {
            cluster: Cluster::new(options),
            checker: Checker::default(),
            next: 1,
            ended: BTreeMap::new(),
            answered: BTreeMap::new(),
            told_of_quorum: Vec::new(),
        };
        scenario.run(Duration::from_millis(100));
        let birth = scenario.command(0, Command::Promote(PromoteMode::ForceAllEqual));
        scenario.until("birth", |it| it.succeeded(birth));
        if primary != 0 {
            scenario.demote_and_promote(0, primary);
        }
        scenario.run(Duration::from_millis(50));
        scenario
    }

    /// Delivers one event and checks everything.
    fn step(&mut self, limit: Duration) -> bool {
        let until = self.cluster.now + limit;
        let delivered = self.cluster.step(until);
        for outcome in std::mem::take(&mut self.cluster.outcomes) {
            match outcome {
                Outcome::Completed { part, result, .. } => {
                    self.ended.insert(part, result);
                }
                Outcome::Answered { id, result, .. } => {
                    self.answered.insert(id.0, result);
                }
                Outcome::Quorum { node, is_there } => self.told_of_quorum.push((node, is_there)),
                Outcome::Role { .. } | Outcome::Config { .. } | Outcome::Unrelated { .. } => {}
            }
        }
        let checked = self.checker.check(&mut self.cluster);
        assert_eq!(checked, Ok(()), "at {:?}", self.cluster.now);
        delivered
    }

    pub fn run(&mut self, time: Duration) {
        let end = self.cluster.now + time;
        while self.cluster.now < end && self.step(end.since(self.cluster.now)) {}
    }

    /// Goes on until something holds, and fails if it never does.
    pub fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = self.cluster.now + PATIENCE;
        while !holds(self) {
            let went_on = self.step(PATIENCE) && self.cluster.now < end;
            assert!(went_on, "waited in vain for {what}: {}", self.explain());
        }
    }

    /// Goes on from the disks; all have to be down for as long as a lease lasts.
    ///
    /// # Errors
    /// Where no value follows from them.
    pub fn adopt(&mut self, given_up: MemberSet) -> Result<Verdict, Obstacle> {
        let verdict = self.cluster.adopt(given_up)?;
        assert_eq!(self.checker.note_adopted(&verdict), Ok(()));
        Ok(verdict)
    }

    pub fn command(&mut self, node: usize, command: Command) -> CommandId {
        let id = CommandId(self.number());
        self.cluster.command(node, id, command);
        id
    }

    /// Offers `node` its disk until it is taken.
    pub fn attach(&mut self, node: usize) {
        for _ in 0..1000 {
            let id = CommandId(self.number());
            if self.cluster.attach(node, id) {
                self.until("an answer to attach", |it| it.answered.contains_key(&id.0));
                if self.succeeded(id) {
                    return;
                }
            }
            self.run(Duration::from_millis(5));
        }
        panic!("the disk of node {node} is not taken: {}", self.explain());
    }

    /// Gives these nodes a configuration with exactly `members`; a new one starts.
    pub fn configure(&mut self, nodes: &[usize], members: &[u8]) {
        let members = members.iter().filter_map(|&node| NodeId::new(node)).collect();
        for &node in nodes {
            self.cluster.configure(node, members);
            self.cluster.start(node);
        }
    }

    /// The voters of the newest value that `node` knows to be chosen; nobody while they change.
    #[must_use]
    pub fn voters(&self, node: usize) -> Vec<u8> {
        let config = self.status(node).and_then(|status| status.config);
        let config = config.filter(|config| config.voters_old.is_empty());
        let voters = config.map_or_else(Vec::new, |config| config.voters);
        voters.iter().map(|voter| voter.node.get()).collect()
    }

    /// The places of the volumes that the newest value names which `node` knows to be chosen.
    #[must_use]
    pub fn volumes(&self, node: usize) -> Vec<Place> {
        let config = self.status(node).and_then(|status| status.config);
        config.map_or_else(Vec::new, |config| config.space().places().collect())
    }

    /// Gives these nodes, which are down, the disk of one more volume, which reads as zeroes.
    pub fn add_volume(&mut self, nodes: &[usize], place: Place, blocks: u64) {
        self.cluster.options.space = self.cluster.options.space.with(place, blocks);
        for &node in nodes {
            assert!(self.cluster.processes[node].is_none(), "it is down");
            let superblock = &mut self.cluster.disks[node].superblock;
            let disk = FurtherDisk {
                place,
                incarnation: superblock.incarnation,
                size_bytes: blocks * BLOCK_BYTES,
                content: Content::Zeroes,
            };
            superblock.further.push(disk);
        }
    }

    /// Gives a node the disk of one more volume, whether it is up or down.
    pub fn add_disk(&mut self, node: usize, place: Place, blocks: u64) {
        self.cluster.options.space = self.cluster.options.space.with(place, blocks);
        let id = CommandId(self.number());
        self.cluster.add_disk(node, id, place);
    }

    /// A node that is down gets new disks, one of them for one more volume; this block of it is
    /// not zeroes.
    pub fn replace_with_volume(&mut self, node: usize, (place, blocks): (Place, u64), block: u64) {
        let known = self.cluster.options.space;
        self.cluster.options.space = known.with(place, blocks);
        self.cluster.replace(node, Replaced::Node);
        self.cluster.options.space = known;
        self.cluster.disks[node].write_durably(block, u64::MAX);
    }

    /// Ends the process of `node` as an operator does, and waits for that.
    pub fn stop(&mut self, node: usize) {
        let id = self.command(node, Command::Stop);
        self.until("a stop", |it| it.succeeded(id));
        self.cluster.kill(node);
    }

    /// Whether the disk of `node` says that others may have gone on without it.
    #[must_use]
    pub fn knows_that_it_left(&self, node: usize) -> bool {
        self.cluster.disks[node].superblock.state == ReplicaState::Outdated
    }

    /// Blocks that were copied to `member` until it was in sync, as `node` tells it.
    pub fn copied_until_in_sync(&mut self, node: usize, member: usize) -> u64 {
        let most = Cell::new(0);
        self.until("the member to be in sync", |it| {
            let status = it.status(node).expect("the node is up");
            let known = status.members.iter().find(|known| known.node.index() == member);
            most.set(most.get().max(known.map_or(0, |known| known.copied_blocks)));
            it.is_in_sync(node, member)
        });
        most.get()
    }

    #[must_use]
    pub fn succeeded(&self, id: CommandId) -> bool {
        matches!(self.answered.get(&id.0), Some(Ok(_)))
    }

    /// How a command succeeded.
    #[must_use]
    pub fn how(&self, id: CommandId) -> Option<CommandDone> {
        self.answered.get(&id.0)?.as_ref().ok().copied()
    }

    #[must_use]
    pub fn failed(&self, id: CommandId) -> bool {
        self.refusal(id).is_some()
    }

    /// Why a command failed.
    #[must_use]
    pub fn refusal(&self, id: CommandId) -> Option<&str> {
        Some(&self.answered.get(&id.0)?.as_ref().err()?.message)
    }

    /// What the operator of `node` was told since it led: whether it has a quorum.
    #[must_use]
    pub fn told_of_quorum(&self, node: usize) -> Vec<bool> {
        let told = self.told_of_quorum.iter().filter(|(at, _)| *at == node);
        told.map(|&(_, is_there)| is_there).collect()
    }

    pub fn promote(&mut self, node: usize) {
        let id = self.command(node, Command::Promote(PromoteMode::Normal));
        self.until("a promotion", |it| it.succeeded(id));
    }

    /// Makes `node` Primary with whatever its replica has.
    pub fn force(&mut self, node: usize) {
        let id = self.command(node, Command::Promote(PromoteMode::Force));
        self.until("a forced promotion", |it| it.succeeded(id));
    }

    pub fn demote(&mut self, node: usize) {
        let id = self.command(node, Command::Demote);
        self.until("the end of the session", |it| it.succeeded(id));
    }

    /// From now on this is asked for at all nodes.
    pub fn demand(&mut self, demands: Demands) {
        for node in 0..self.cluster.processes.len() {
            self.cluster.demand(node, demands);
        }
    }

    /// The same for these options, with `quorum off`.
    pub fn demand_after_split(&mut self, after_split: AfterSplit) {
        let without_quorum = WithoutQuorum::GoOn;
        self.demand(Demands { without_quorum, after_split, ..Demands::default() });
    }

    pub fn write(&mut self, node: usize, block: u64, value: u64) -> PartId {
        let payload = self.cluster.payload(node, vec![value]).expect("the node is up");
        self.submit(node, block, RequestKind::Write { payload, fua: false })
    }

    /// Writes the first sector of `block`: the others have to be read for it.
    pub fn write_sector(&mut self, node: usize, block: u64, value: u64) -> PartId {
        let payload = self.cluster.payload(node, vec![value]).expect("the node is up");
        let kind = RequestKind::Write { payload, fua: false };
        self.submit_bytes(node, block, SECTOR_BYTES, kind)
    }

    /// Writes and waits for the answer.
    pub fn must_write(&mut self, node: usize, block: u64, value: u64) {
        let part = self.write(node, block, value);
        self.until("a write", |it| it.ended(part).is_some());
        assert_eq!(self.ended(part), Some(&Ok(None)));
    }

    pub fn read(&mut self, node: usize, block: u64) -> PartId {
        self.submit(node, block, RequestKind::Read)
    }

    pub fn must_read(&mut self, node: usize, block: u64) -> u64 {
        let part = self.read(node, block);
        self.until("a read", |it| it.ended(part).is_some());
        match self.ended(part) {
            Some(Ok(Some(values))) => values[0],
            other => panic!("the read of block {block} ended with {other:?}"),
        }
    }

    /// Where the reads of `node` go from now on.
    pub fn balance_reads(&mut self, node: usize, policy: ReadPolicy) {
        self.cluster.balance_reads(node, policy);
    }

    /// Reads that `member` served for `node`.
    #[must_use]
    pub fn served(&self, node: usize, member: usize) -> u64 {
        let member = u8::try_from(member).ok().and_then(NodeId::new).expect("a node");
        let process = self.cluster.processes[node].as_ref();
        let groups = process.into_iter().flat_map(|process| &process.groups);
        groups.map(|group| group.read_load(member).served).sum()
    }

    /// What is under way between `node` and `member` in the first volume.
    #[must_use]
    pub fn under_way(&self, node: usize, member: usize) -> Vec<UnderWay> {
        let member = u8::try_from(member).ok().and_then(NodeId::new).expect("a node");
        let process = self.cluster.processes[node].as_ref();
        let groups = process.into_iter().flat_map(|process| &process.groups);
        groups.map(|group| group.under_way(member, Place::FIRST)).collect()
    }

    /// Those who wait at `node` for a flush of its disk.
    #[must_use]
    pub fn flushes_waiting(&self, node: usize) -> usize {
        let process = self.cluster.processes[node].as_ref();
        let groups = process.into_iter().flat_map(|process| &process.groups);
        groups.map(LaneGroup::flushes_waiting).sum()
    }

    /// Writes a block that is durable before it is answered.
    pub fn write_durably(&mut self, node: usize, block: u64, value: u64) -> PartId {
        let payload = self.cluster.payload(node, vec![value]).expect("the node is up");
        self.submit(node, block, RequestKind::Write { payload, fua: true })
    }

    /// Writes `count` blocks at once.
    pub fn write_blocks(&mut self, node: usize, block: u64, count: u32, value: u64) -> PartId {
        let values = vec![value; count as usize];
        let payload = self.cluster.payload(node, values).expect("the node is up");
        let length = count * u32::try_from(BLOCK_BYTES).expect("a small number");
        self.submit_bytes(node, block, length, RequestKind::Write { payload, fua: false })
    }

    /// Whether `node` counts `member` once it received a write.
    #[must_use]
    pub fn counts_by_receipt(&self, node: usize, member: usize) -> bool {
        self.status(node).is_some_and(|status| {
            status.members.iter().any(|it| it.node.index() == member && it.by_receipt)
        })
    }

    /// Whether `node` waits for `member` with no answer.
    #[must_use]
    pub fn follows(&self, node: usize, member: usize) -> bool {
        self.status(node).is_some_and(|status| {
            status.members.iter().any(|it| it.node.index() == member && it.follows)
        })
    }

    /// Another node becomes Primary.
    pub fn demote_and_promote(&mut self, from: usize, to: usize) {
        let demoted = self.command(from, Command::Demote);
        self.until("the end of the session", |it| it.succeeded(demoted));
        self.promote(to);
    }

    /// Whether `node` is giving its data up.
    #[must_use]
    pub fn gives_up(&self, node: usize) -> bool {
        let process = self.cluster.processes[node].as_ref();
        process.is_some_and(|process| process.resource.is_discarding())
    }

    /// What clients of `node` hold on to.
    #[must_use]
    pub fn reign(&self, node: usize) -> Option<Reign> {
        self.cluster.processes[node].as_ref()?.resource.reign()
    }

    /// How often a promotion may have lost writes, as `node` knows.
    #[must_use]
    pub fn losses(&self, node: usize) -> u32 {
        let config = self.status(node).and_then(|status| status.config);
        config.map_or(0, |config| config.losses)
    }

    /// Clients that cannot tell of losses have to wait, as `node` knows.
    #[must_use]
    pub fn awaits_reopen(&self, node: usize) -> bool {
        self.cluster.processes[node].as_ref().is_some_and(|it| it.resource.awaits_reopen())
    }

    pub fn flush(&mut self, node: usize) -> PartId {
        self.flush_by(node, 0)
    }

    /// Flushes the volume by the shard that has `block`.
    pub fn flush_by(&mut self, node: usize, block: u64) -> PartId {
        let part = PartId(self.number());
        self.cluster.request(node, block, GroupInput::Flush(part));
        part
    }

    #[must_use]
    pub fn ended(&self, part: PartId) -> Option<&Ended> {
        self.ended.get(&part)
    }

    #[must_use]
    pub fn status(&self, node: usize) -> Option<Status> {
        Some(self.cluster.processes[node].as_ref()?.resource.status())
    }

    /// Who leads a session, by what `node` knows.
    #[must_use]
    pub fn leader(&self, node: usize) -> Option<NodeId> {
        self.status(node)?.leader
    }

    /// Whether `member` is in sync by what `node` knows.
    #[must_use]
    pub fn is_in_sync(&self, node: usize, member: usize) -> bool {
        self.status(node).is_some_and(|status| {
            status.members.iter().any(|it| it.node.index() == member && it.in_sync)
        })
    }

    /// Whether `node` sees that its line and that of `peer` parted.
    #[must_use]
    pub fn is_split(&self, node: usize, peer: usize) -> bool {
        self.status(node).is_some_and(|status| {
            status.members.iter().any(|it| it.node.index() == peer && it.split.is_some())
        })
    }

    /// Cuts the nodes of one side off from those of the other.
    pub fn part(&mut self, one: &[usize], other: &[usize]) {
        for (&a, &b) in one.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
            self.cluster.cut_link(a, b);
        }
    }

    pub fn meet(&mut self, one: &[usize], other: &[usize]) {
        for (&a, &b) in one.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
            self.cluster.heal_link(a, b);
        }
    }

    /// What `node` wrote since its line and that of `peer` parted is given up.
    pub fn discard(&mut self, node: usize, peer: usize) {
        let peer = u8::try_from(peer).ok().and_then(NodeId::new);
        let id = self.command(node, Command::DiscardData { peer });
        self.until("the answer", |it| it.succeeded(id));
    }

    /// `node` gives its line up for that of `peer`, and its register, which takes no write from
    /// then on, hears of it or not: the write that fails may have happened.
    pub fn give_way_with_a_mute_voter(&mut self, node: usize, peer: usize) {
        self.begin_to_give_way_with_a_mute_voter(node, peer);
        self.until("its return", |it| it.is_in_sync(peer, node));
        assert!(self.cluster.is_mute(node));
    }

    /// The same as far as that its disk says that it is about to be in sync.
    pub fn almost_return_with_a_mute_voter(&mut self, node: usize, peer: usize) {
        self.begin_to_give_way_with_a_mute_voter(node, peer);
        // By the line that it gives up it may be about to join, too.
        self.until("the end of that", |it| !it.is_about_to_join(node));
        self.until("its candidacy", |it| it.is_about_to_join(node));
        assert!(self.cluster.is_mute(node));
    }

    fn begin_to_give_way_with_a_mute_voter(&mut self, node: usize, peer: usize) {
        self.meet(&[node], &[peer]);
        self.until("the split brain", |it| it.is_split(node, peer) && it.is_split(peer, node));
        self.spoil_register(node);
        self.discard(node, peer);
    }

    /// The voter of `node` fails its next write.
    pub fn spoil_register(&mut self, node: usize) {
        self.cluster.bad[node] = BadDisk { register: true, ..BadDisk::default() };
    }

    /// Node 2 of three goes on alone with block 5000, while node 0 leads nodes 0 and 1 and writes
    /// block 7 to both, of which the log of node 1 says nothing in the end.
    pub fn part_node_2_that_goes_on(&mut self) {
        self.part(&[0, 1], &[2]);
        self.promote(2);
        self.must_write(2, 5000, 30);
        self.demote(2);
        self.must_write(0, 7, 100);
        for extent in 6..20 {
            self.must_write(0, extent * EXTENT_BLOCKS, 11);
        }
    }

    /// Whether what is under way at `node` reads like `text`.
    #[must_use]
    pub fn explains(&self, node: usize, text: &str) -> bool {
        self.cluster.processes[node].as_ref().is_some_and(|it| it.explain().contains(text))
    }

    /// The name that the replica was given when it was made, or made anew.
    #[must_use]
    pub fn incarnation(&self, node: usize) -> u128 {
        self.cluster.disks[node].superblock.incarnation.0
    }

    /// The epoch of the value that the node's voter has accepted, as its disk has it.
    #[must_use]
    pub fn accepted(&self, node: usize) -> u64 {
        let register = &self.cluster.disks[node].register;
        register.accepted.as_ref().map_or(0, |(_, value)| value.epoch.0)
    }

    /// Whether the disk of a node says that it is about to be in sync, and not that it is.
    #[must_use]
    pub fn is_about_to_join(&self, node: usize) -> bool {
        self.cluster.disks[node].superblock.candidate.is_some()
    }

    /// Whose loss the disk of a node has a record of.
    #[must_use]
    pub fn recorded_losses(&self, node: usize) -> MemberSet {
        let slots = &self.cluster.disks[node].superblock.slots;
        slots.iter().filter(|slot| slot.base_epoch.0 > 0).map(|slot| slot.member).collect()
    }

    /// Whether the disk of a node has room for marks of what `member` misses.
    #[must_use]
    pub fn has_slot(&self, node: usize, member: usize) -> bool {
        let slots = &self.cluster.disks[node].superblock.slots;
        slots.iter().any(|slot| slot.member.index() == member)
    }

    /// Whether the slot for `member` may have marks on the disk of a node: only one that has none
    /// is given to another member.
    #[must_use]
    pub fn uses_slot(&self, node: usize, member: usize) -> bool {
        let slots = &self.cluster.disks[node].superblock.slots;
        slots.iter().any(|slot| slot.member.index() == member && slot.in_use)
    }

    #[must_use]
    pub fn on_disk(&self, node: usize, block: u64) -> u64 {
        self.cluster.disks[node].read(block)
    }

    /// Whether the durable activity log of a disk names `extent`.
    #[must_use]
    pub fn is_logged(&self, node: usize, extent: u64) -> bool {
        self.cluster.disks[node].activity.values().any(|&logged| logged == extent)
    }

    fn submit(&mut self, node: usize, block: u64, kind: RequestKind) -> PartId {
        self.submit_bytes(node, block, 4096, kind)
    }

    fn submit_bytes(&mut self, node: usize, block: u64, length: u32, kind: RequestKind) -> PartId {
        let part = PartId(self.number());
        let request = Request { part, kind, offset: block * 4096, length };
        self.cluster.request(node, block, GroupInput::Request(request));
        part
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn explain(&self) -> String {
        let processes = self.cluster.processes.iter().flatten();
        processes.map(|process| process.explain()).collect::<Vec<_>>().join("\n")
    }
}
