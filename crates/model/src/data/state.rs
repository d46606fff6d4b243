//! The state of the data model, and what has to hold in each.

/// Members with data at most, blocks at most, writes at most.
pub(super) const REPLICAS: usize = 3;
pub(super) const BLOCKS: usize = 2;
pub(super) const WRITES: usize = 3;
const NO_SESSION: u8 = u8::MAX;

/// A rule of PROTOCOL.md that may be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// I3: a write completes when all of WS acknowledged.
    AcknowledgedByAll,
    /// I4: a member that is sealed ignores every other session.
    SealFences,
    /// 5.3: a write sets the bits of who misses it.
    BitsOfAbsent,
    /// 5.6, I7: the answer of a read waits for writes that began after it.
    ReadHeld,
    /// 7b.4: the fence is checked last.
    ReadFenced,
    /// 5.9: an unclean start puts the activity log into the own slot.
    LogIntoOwnSlot,
    /// 6.1: the others record a loss before it is proposed.
    LossRecorded,
    /// 6.2: WS shrinks only when the loss is known to be chosen.
    ShrinkWhenChosen,
    /// 7.3: lower ranks are lost.
    Rank,
    /// 7.4: windows are in U.
    WindowsInU,
    /// 7.5: a member that restarted since SEALED is not taken for the one that answered.
    SameLife,
    /// 7.5: the members store U.
    Inherit,
    /// 7.5: a promotion records what the members outside of R miss.
    PromotionRecordsLoss,
    /// 7.6: what a read touches in U is copied first.
    CopyBeforeRead,
    /// 7.7: inherited blocks are kept until they are equal.
    KeepInherited,
    /// 8.1: a returning member takes its window over into its own slot.
    TakeOver,
    /// 8.2, 8.3: the missing blocks are read after WS grew.
    LoadAfterGrow,
    /// 8.4: a copy holds its lock from reading to writing.
    CopyUnderLock,
}

impl Rule {
    pub const ALL: [Self; 18] = [
        Self::AcknowledgedByAll,
        Self::SealFences,
        Self::BitsOfAbsent,
        Self::ReadHeld,
        Self::ReadFenced,
        Self::LogIntoOwnSlot,
        Self::LossRecorded,
        Self::ShrinkWhenChosen,
        Self::Rank,
        Self::WindowsInU,
        Self::SameLife,
        Self::Inherit,
        Self::PromotionRecordsLoss,
        Self::CopyBeforeRead,
        Self::KeepInherited,
        Self::TakeOver,
        Self::LoadAfterGrow,
        Self::CopyUnderLock,
    ];

    /// A space in which its absence shows.
    #[must_use]
    pub fn size(self) -> Size {
        match self {
            Self::AcknowledgedByAll
            | Self::SealFences
            | Self::BitsOfAbsent
            | Self::LogIntoOwnSlot
            | Self::LossRecorded
            | Self::ShrinkWhenChosen
            | Self::WindowsInU => Size::KILLS,
            Self::ReadHeld | Self::ReadFenced | Self::CopyBeforeRead => Size::READS,
            Self::Rank | Self::SameLife | Self::PromotionRecordsLoss => Size::POWER,
            Self::Inherit | Self::KeepInherited => Size::TAKE_OVERS,
            Self::TakeOver | Self::LoadAfterGrow | Self::CopyUnderLock => Size::EVICTIONS,
        }
    }
}

/// How much may happen.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub name: &'static str,
    pub replicas: usize,
    pub blocks: u8,
    pub writes: u8,
    /// Promotions after the first session.
    pub promotions: u8,
    pub kills: u8,
    pub power_cuts: u8,
    /// Members that are given up though they live.
    pub evictions: u8,
    pub flushes: u8,
    pub reads: u8,
}

impl Size {
    const ONE_BLOCK: Self = Self {
        name: "",
        replicas: 2,
        blocks: 1,
        writes: 2,
        promotions: 1,
        kills: 0,
        power_cuts: 0,
        evictions: 0,
        flushes: 0,
        reads: 0,
    };
    pub const KILLS: Self = Self { name: "kills", kills: 1, ..Self::ONE_BLOCK };
    pub const EVICTIONS: Self =
        Self { name: "evictions", evictions: 1, kills: 1, ..Self::ONE_BLOCK };
    pub const READS: Self = Self { name: "reads", reads: 1, ..Self::ONE_BLOCK };
    pub const POWER: Self = Self { name: "power", power_cuts: 2, flushes: 1, ..Self::ONE_BLOCK };
    pub const TAKE_OVERS: Self =
        Self { name: "take-overs", writes: 1, promotions: 2, ..Self::ONE_BLOCK };
    pub const SMALL: [Self; 5] =
        [Self::TAKE_OVERS, Self::KILLS, Self::POWER, Self::READS, Self::EVICTIONS];
    pub const LARGE: [Self; 5] = [
        Self { kills: 2, ..Self::KILLS },
        Self { blocks: 2, ..Self::EVICTIONS },
        Self { reads: 2, evictions: 1, ..Self::READS },
        Self { kills: 1, ..Self::POWER },
        Self { name: "three replicas", replicas: 3, kills: 1, evictions: 1, ..Self::ONE_BLOCK },
    ];
}

/// A value of the register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Config {
    pub(super) id: u8,
    pub(super) epoch: u8,
    pub(super) session: u8,
    pub(super) insync: u8,
    pub(super) joined: [u8; REPLICAS],
    pub(super) losses: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) head: Config,
    /// Ids of all values that were chosen.
    pub(super) chosen: u16,
    pub(super) in_doubt: Option<Config>,
    pub(super) next_id: u8,
    /// The session that the voters promised last.
    pub(super) promised: u8,
    pub(super) sessions: u8,
    /// The session that has the leases of a quorum; 0 is none.
    pub(super) lease: u8,
    pub(super) members: [Member; REPLICAS],
    pub(super) leaders: [Option<Leader>; REPLICAS],
    pub(super) left: Left,
    pub(super) client: Client,
}

/// What may happen still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Left {
    pub(super) kills: u8,
    pub(super) power_cuts: u8,
    pub(super) evictions: u8,
    pub(super) flushes: u8,
    pub(super) reads: u8,
}

/// What clients know: the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Client {
    pub(super) writes: u8,
    pub(super) completed: u8,
    /// Of each write: those that completed while it was under way.
    pub(super) meanwhile: [u8; WRITES],
    /// Values that a read may return, as bits, by block.
    pub(super) candidates: [u8; BLOCKS],
    /// Values that were candidates at some time since the last flush.
    pub(super) since_flush: [u8; BLOCKS],
    pub(super) stale: bool,
}

/// M2 to M5: a replica and its process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Member {
    pub(super) alive: bool,
    /// The session that its disk is sealed to, and that its process was admitted to.
    pub(super) sealed: u8,
    pub(super) admitted: u8,
    pub(super) intact: bool,
    pub(super) rebooted: bool,
    pub(super) cached: [u8; BLOCKS],
    pub(super) durable: [u8; BLOCKS],
    /// Writes that are not known to be stable, and writes that are.
    pub(super) window: u8,
    pub(super) stable: u8,
    pub(super) inherited: u8,
    /// Durable: activity log, own slot.
    pub(super) log: u8,
    pub(super) own: u8,
    pub(super) slots: [Slot; REPLICAS],
    pub(super) joined: u8,
    pub(super) candidate: u8,
}

/// M4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    pub(super) base: u8,
    pub(super) bits: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Sealing,
    Recording,
    Proposing,
    Announcing,
    Serving,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leader {
    pub(super) session: u8,
    pub(super) phase: Phase,
    /// The config that it builds on, or leads.
    pub(super) config: Config,
    /// Members that answered what is asked now, in this life of theirs.
    pub(super) answered: u8,
    /// Members that live on since they were sealed.
    pub(super) there: u8,
    pub(super) ws: u8,
    pub(super) u: u8,
    /// What the lost may miss: U before it was emptied.
    pub(super) missed: u8,
    pub(super) losses: u8,
    pub(super) losing: u8,
    /// The id of what it proposed.
    pub(super) proposed: u8,
    pub(super) in_flight: u8,
    pub(super) stable: u8,
    /// Blocks that a copy made equal.
    pub(super) reconciled: u8,
    pub(super) acks: [u8; WRITES],
    /// Of each write in flight: who has to have it, and who misses it.
    pub(super) needed: [u8; WRITES],
    pub(super) absent: [u8; WRITES],
    pub(super) copy: Option<Copying>,
    pub(super) resync: Option<Resync>,
    pub(super) read: Option<Reading>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Copying {
    pub(super) block: u8,
    pub(super) value: u8,
    pub(super) targets: u8,
    pub(super) done: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Resync {
    pub(super) member: u8,
    pub(super) bits: u8,
    pub(super) loaded: bool,
    pub(super) joining: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reading {
    pub(super) block: u8,
    pub(super) value: Option<u8>,
    /// What it may return: what could be read when it began, and what was written since.
    pub(super) legal: u8,
    /// Writes that it overlaps.
    pub(super) meanwhile: u8,
}

pub(super) fn bit(index: u8) -> u8 {
    1 << index
}

pub(super) fn member_bit(m: usize) -> u8 {
    1 << m
}

pub(super) fn bits(set: u8) -> impl Iterator<Item = u8> + Clone {
    (0..8).filter(move |index| set & bit(*index) != 0)
}

/// The block that a write goes to: in turn.
pub(super) fn block_of(write: u8, blocks: u8) -> u8 {
    (write - 1) % blocks
}

impl State {
    pub(super) fn new(size: &Size) -> Self {
        let every = (1 << size.replicas) - 1;
        let member = |m: usize| Member {
            alive: m < size.replicas,
            sealed: 1,
            admitted: 1,
            intact: true,
            joined: 1,
            ..Member::default()
        };
        let head =
            Config { id: 0, epoch: 1, session: 1, insync: every, joined: [1; REPLICAS], losses: 0 };
        let leader = Leader { phase: Phase::Serving, ws: every, ..Leader::new(1, head) };
        Self {
            head,
            chosen: 1,
            in_doubt: None,
            next_id: 1,
            promised: 1,
            sessions: 1,
            lease: 0,
            members: std::array::from_fn(member),
            leaders: [Some(leader), None, None],
            left: Left {
                kills: size.kills,
                power_cuts: size.power_cuts,
                evictions: size.evictions,
                flushes: size.flushes,
                reads: size.reads,
            },
            client: Client {
                writes: 0,
                completed: 0,
                meanwhile: [0; WRITES],
                candidates: [1; BLOCKS],
                since_flush: [1; BLOCKS],
                stale: false,
            },
        }
    }

    pub(super) fn leads(&self, n: usize) -> bool {
        self.leaders[n].is_some()
    }

    pub(super) fn writes(&self) -> u8 {
        self.client.writes
    }

    pub(super) fn was_chosen(&self, id: u8) -> bool {
        self.chosen & 1 << id != 0
    }

    /// The leader that serves the session of the newest value.
    fn current(&self) -> Option<&Leader> {
        let mut leaders = self.leaders.iter().flatten();
        leaders.find(|it| it.phase == Phase::Serving && it.session == self.head.session)
    }

    /// In-sync members that obey the session that serves.
    fn serving_members(&self) -> impl Iterator<Item = &Member> {
        let session = self.current().map_or(NO_SESSION, |leader| leader.session);
        let insync = self.head.insync;
        let members = (0..).zip(&self.members).filter(move |(m, _)| insync & bit(*m) != 0);
        members.map(|(_, member)| member).filter(move |it| it.alive && it.admitted == session)
    }

    /// Whatever an in-sync member holds may be read.
    pub(super) fn keeps_acknowledged(&self) -> bool {
        self.serving_members().all(|member| {
            let held = member.cached.iter().zip(&self.client.candidates);
            held.into_iter().all(|(value, candidates)| candidates & bit(*value) != 0)
        })
    }

    pub(super) fn is_equal(&self) -> bool {
        let Some(leader) = self.current() else { return true };
        let is_open = |block: usize| {
            let mask = 1 << block;
            leader.u & mask != 0
                || leader.copy.is_some_and(|copy| usize::from(copy.block) == block)
                || leader.in_flight != 0
        };
        (0..BLOCKS).filter(|&block| !is_open(block)).all(|block| {
            let mut values = self.serving_members().map(|member| member.cached[block]);
            let first = values.next();
            values.all(|value| Some(value) == first)
        })
    }

    pub(super) fn has_stale_read(&self) -> bool {
        self.client.stale
    }

    pub(super) fn is_served_by_another(&self) -> bool {
        self.current().is_some_and(|leader| leader.session > 1)
    }

    pub(super) fn has_rejoined(&self) -> bool {
        self.serving_members().any(|member| member.joined > 1)
    }
}

impl Leader {
    /// Nobody waits for them any more.
    pub(super) fn forget(&mut self, members: u8) {
        self.ws &= !members;
        self.losing &= !members;
        self.missed = 0;
        self.answered = 0;
        self.needed.iter_mut().for_each(|needed| *needed &= !members);
        if self.resync.is_some_and(|resync| members & bit(resync.member) != 0) {
            self.resync = None;
        }
    }

    pub(super) fn new(session: u8, config: Config) -> Self {
        Self {
            session,
            phase: Phase::Sealing,
            config,
            answered: 0,
            there: 0,
            ws: 0,
            u: 0,
            missed: 0,
            losses: config.losses,
            losing: 0,
            proposed: 0,
            in_flight: 0,
            stable: 0,
            reconciled: 0,
            acks: [0; WRITES],
            needed: [0; WRITES],
            absent: [0; WRITES],
            copy: None,
            resync: None,
            read: None,
        }
    }
}
