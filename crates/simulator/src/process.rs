//! One life of one daemon: the two machines of `replication` and what they have under way.

use std::collections::{BTreeMap, BTreeSet};

use format::ids::{
    BlockMask, BlockRange, BootId, Digest, Incarnation, KernelBootId, MemberSet, NodeId, ResourceId,
};
use format::metadata::{Slot, Superblock};
use replication::attach::{self};
use replication::balance::ReadPolicy;
use replication::contract::{
    AckWhen, GroupDisk, LoadedPage, MemberOptions, Payload, SaveId, Token,
};
use replication::group::{GroupOptions, LaneGroup};
use replication::limits::SLOW_MEMBER_LIMIT;
use replication::resource::{Comparing, Resource, ResourceOptions};
use stdx::random::Random;
use stdx::slab::Slab;
use stdx::time::Time;

use crate::cluster::options::ClusterOptions;
use crate::disk::{Disk, Snapshot};

/// The most shards that a node of a run has.
pub(crate) const SHARDS_MAX: u8 = 4;
pub(crate) struct Process {
    pub(crate) shards: u8,
    /// When it is woken next, as far as it was asked for.
    pub(crate) wakes_at: Time,
    /// Its resource did not ask for another turn at once.
    pub(crate) rests: bool,
    pub(crate) boot_id: BootId,
    pub(crate) resource: Resource,
    pub(crate) groups: Vec<LaneGroup>,
    pub(crate) payloads: Slab<Vec<u64>>,
    pub(crate) primary: bool,
    /// Inputs of each group since it settled.
    pub(crate) unsettled: Vec<u32>,
    pub(crate) disk_open: bool,
    /// Its state directory took no write: it votes no more.
    pub(crate) register_failed: bool,
    /// Whether the requests of each group reach the disk.
    pub(crate) reaches_disk: Vec<bool>,
    pub(crate) outstanding: BTreeMap<u64, Outstanding>,
    /// Of these, what is told that the disk lost its cache.
    pub(crate) doomed: BTreeSet<u64>,
    /// For the groups, of a disk that is offered to the resource.
    pub(crate) offered: Vec<GroupDisk>,
}

/// What the disk was asked for and has not answered.
#[derive(Debug, Clone)]
pub(crate) enum Outstanding {
    Read {
        shard: u8,
        token: Token,
        range: BlockRange,
        detect_zero: bool,
    },
    Digest {
        shard: u8,
        token: Token,
        range: BlockRange,
    },
    /// No matter of the disk, but of a processor that takes its time.
    Hash {
        shard: u8,
        token: Token,
        digests: Vec<Digest>,
    },
    Write {
        shard: u8,
        token: Token,
        range: BlockRange,
        /// `None` of a block that stays as it is.
        values: Vec<Option<u64>>,
        fua: bool,
    },
    Flush {
        shard: u8,
        token: Token,
        snapshot: Snapshot,
    },
    Metadata {
        shard: u8,
        token: Token,
        write: Box<replication::contract::MetadataWrite>,
    },
    /// Asked of a disk that was given up.
    Refused {
        shard: u8,
        token: Token,
    },
    Save {
        save: SaveId,
        register: Option<Box<format::metadata::Register>>,
        superblock: Option<Box<Superblock>>,
    },
}

impl Outstanding {
    /// It makes something durable: where the cache is gone, one of these is told.
    pub(crate) fn is_synchronous(&self) -> bool {
        match self {
            Self::Flush { .. } | Self::Metadata { .. } => true,
            Self::Write { fua, .. } => *fua,
            Self::Save { superblock, .. } => superblock.is_some(),
            Self::Read { .. } | Self::Digest { .. } | Self::Hash { .. } | Self::Refused { .. } => {
                false
            }
        }
    }

    /// As the groups may ask it that reach the disk; the register is elsewhere.
    pub(crate) fn checked(self, reaches_disk: &[bool]) -> Self {
        match self {
            Self::Read { shard, token, .. }
            | Self::Digest { shard, token, .. }
            | Self::Write { shard, token, .. }
            | Self::Flush { shard, token, .. }
            | Self::Metadata { shard, token, .. }
                if !reaches_disk[usize::from(shard)] =>
            {
                Self::Refused { shard, token }
            }
            asked @ (Self::Read { .. }
            | Self::Digest { .. }
            | Self::Hash { .. }
            | Self::Write { .. }
            | Self::Flush { .. }
            | Self::Metadata { .. }
            | Self::Refused { .. }
            | Self::Save { .. }) => asked,
        }
    }
}

impl Process {
    /// Starts as the daemon does: recovers the metadata first, then builds the machines.
    pub(crate) fn start(
        options: &ClusterOptions,
        (node, shards, members): (NodeId, u8, MemberSet),
        disk: &mut Disk,
        (boot_id, kernel_boot_id, seed): (BootId, KernelBootId, u64),
        now: Time,
    ) -> Self {
        let diskful = options.is_diskful(node);
        add_slots(options, disk, (node, members));
        let pages = if diskful { recover(disk) } else { Vec::new() };
        let resource = Resource::new(ResourceOptions {
            resource: ResourceId(1),
            name: "r0".to_owned(),
            me: node,
            boot_id,
            kernel_boot_id,
            shards,
            log_slots: u16::try_from(log_slots(options)).expect("a few"),
            seed,
            members: member_options(options, node, members),
            register: disk.register.clone(),
            superblock: diskful.then(|| disk.superblock.clone()),
            slots_max: options.slots_max(node),
            started_at: now,
            demands: options.demands,
            resync_rate: 0,
            comparing: match seed % 4 {
                0 | 2 => Comparing::Always,
                1 => Comparing::AfterCrash,
                _ => Comparing::Full,
            },
            readmission: options.readmission,
        });
        let identity = (boot_id, options.reads.unwrap_or_else(|| some_policy(seed)));
        let groups = (0..shards)
            .map(|shard| {
                let here = (shard, shards);
                let tracked = members.iter().filter(|&node| options.is_diskful(node)).collect();
                LaneGroup::new(group_options(
                    options,
                    (node, tracked),
                    disk,
                    here,
                    identity,
                    &pages,
                ))
            })
            .collect();
        Self {
            shards,
            wakes_at: Time::NEVER,
            rests: true,
            boot_id,
            resource,
            groups,
            payloads: Slab::default(),
            primary: false,
            unsettled: vec![0; usize::from(shards)],
            disk_open: diskful,
            register_failed: false,
            reaches_disk: vec![diskful; usize::from(shards)],
            outstanding: BTreeMap::new(),
            doomed: BTreeSet::new(),
            offered: Vec::new(),
        }
    }

    /// The group that has `block`.
    pub(crate) fn group_of(&self, block: u64) -> &LaneGroup {
        let lane = format::ids::lane_of_block(block, replication::limits::LANES_DEFAULT);
        &self.groups[usize::from(lane.0 % self.shards)]
    }

    pub(crate) fn explain(&self) -> String {
        let groups: Vec<String> = self.groups.iter().map(LaneGroup::explain).collect();
        format!("{}\n{}", self.resource.explain(), groups.join("\n"))
    }

    /// Leaves only these blocks of a payload.
    pub(crate) fn keep_blocks(&mut self, payload: Payload, keep: BlockMask) {
        let blocks = self.payloads.get_mut(payload.0).expect("it is not released");
        let mut place = 0;
        blocks.retain(|_| {
            place += 1;
            keep.has(place - 1)
        });
    }

    pub(crate) fn payload(&self, payload: Payload) -> &[u64] {
        self.payloads.get(payload.0).expect("the core uses a payload until it releases it")
    }
}

pub(crate) fn member_options(
    options: &ClusterOptions,
    me: NodeId,
    members: MemberSet,
) -> Vec<MemberOptions> {
    let of_me = |sets: &[MemberSet]| sets.get(me.index()).copied().unwrap_or_default();
    let (by_receipt, followers) = (of_me(&options.by_receipt), of_me(&options.followers));
    let ack_when = |node| match (followers.has(node), by_receipt.has(node)) {
        (true, _) => AckWhen::Sent,
        (false, true) => AckWhen::Received,
        (false, false) => AckWhen::Durable,
    };
    let member = |node| MemberOptions {
        node,
        diskful: options.is_diskful(node),
        may_witness: !options.quirks.no_witness,
        ack_when: ack_when(node),
        congestion: options.quirks.congestion,
    };
    members.iter().map(member).collect()
}

/// As the daemon does when it attaches a disk: a slot for whom the configuration names.
fn add_slots(options: &ClusterOptions, disk: &mut Disk, (me, members): (NodeId, MemberSet)) {
    let room = usize::from(options.slots_max(me));
    let slots = &mut disk.superblock.slots;
    let known: MemberSet = slots.iter().map(|slot| slot.member).collect();
    for member in members.minus(known).iter().filter(|&node| options.is_diskful(node)) {
        if slots.len() >= room {
            continue;
        }
        let (base_epoch, base_incarnation) = (replication::FULL, Incarnation(0));
        slots.push(Slot { member, base_epoch, base_incarnation, in_use: false });
    }
}

fn some_policy(seed: u64) -> ReadPolicy {
    let all = [
        ReadPolicy::PreferLocal,
        ReadPolicy::PreferRemote,
        ReadPolicy::RoundRobin,
        ReadPolicy::LeastPending,
        ReadPolicy::Striping { blocks: 8 },
        ReadPolicy::Weighted,
    ];
    *Random::new(seed ^ 0xba1a).pick(&all).expect("there are policies")
}

/// The pages of the bitmaps, after what an end without notice leaves to be done.
pub(crate) fn recover(disk: &mut Disk) -> Vec<LoadedPage> {
    let superblock = &disk.superblock;
    let slots = superblock.slots.iter();
    let read: MemberSet = slots
        .filter(|slot| attach::may_have_marks(superblock, slot))
        .map(|slot| slot.member)
        .collect();
    let pages = disk.pages.iter().filter(|&(&(member, ..), _)| read.has(member));
    let mut pages: Vec<LoadedPage> = pages
        .map(|(&(member, lane, page), bits)| LoadedPage { member, lane, page, bits: bits.clone() })
        .collect();
    if !disk.superblock.clean {
        disk.replay_log();
        let active = disk.activity.values().copied().collect();
        let members: Vec<NodeId> = disk.superblock.slots.iter().map(|slot| slot.member).collect();
        let lanes = disk.superblock.lanes;
        let space = disk.superblock.space();
        for page in attach::recover(&mut pages, &active, &members, lanes, &space) {
            let slots = disk.superblock.slots.iter_mut();
            for slot in slots.filter(|slot| slot.member == page.member) {
                slot.in_use = true;
            }
            disk.pages.insert((page.member, page.lane, page.page), page.bits);
        }
    }
    disk.activity.clear();
    pages
}

/// What each group needs of the disk of a node that runs without it.
pub(crate) fn group_disks(disk: &mut Disk, shards: u8) -> Vec<GroupDisk> {
    let pages = recover(disk);
    let of_shard = |shard| {
        let here = |page: &&LoadedPage| page.lane.0 % shards == shard;
        GroupDisk {
            space: disk.superblock.space(),
            al_next_number: disk.next_number(shard),
            slots: pages.iter().filter(here).cloned().collect(),
            slot_bases: attach::slot_bases(&disk.superblock),
        }
    };
    (0..shards).map(of_shard).collect()
}

/// Few, so that writes wait for slots; yet one for each shard of a leader.
fn log_slots(options: &ClusterOptions) -> usize {
    options.al_slots.max(usize::from(SHARDS_MAX))
}

fn group_options(
    options: &ClusterOptions,
    (node, tracked): (NodeId, MemberSet),
    disk: &Disk,
    (shard, shards): (u8, u8),
    (boot_id, read_policy): (BootId, ReadPolicy),
    pages: &[LoadedPage],
) -> GroupOptions {
    let diskful = options.is_diskful(node);
    let lanes = disk.superblock.lanes;
    let here = |page: &&LoadedPage| diskful && page.lane.0 % shards == shard;
    GroupOptions {
        me: node,
        boot_id,
        shard,
        shards,
        volume: 0,
        lanes,
        space: disk.superblock.space(),
        has_disk: diskful,
        al_slots: log_slots(options),
        al_next_number: disk.next_number(shard),
        tracked,
        read_policy,
        slow_limit: SLOW_MEMBER_LIMIT,
        slots: pages.iter().filter(here).cloned().collect(),
        slot_bases: if diskful { attach::slot_bases(&disk.superblock) } else { vec![] },
    }
}
