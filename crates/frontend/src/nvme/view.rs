//! What a controller shows: a subsystem as this node knows it, or what there is to connect to.

use std::net::SocketAddr;

use crate::nvme::wire::SUBSYSTEM_NQN_PREFIX;

/// A resource as initiators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subsystem {
    pub name: String,
    /// The same on every node: it names the namespaces, and makes the serial number.
    pub id: u128,
    /// Which range of controller ids this node has.
    pub node: u8,
    /// One for each volume, in order. All have the same path: the volumes of a resource have one
    /// role.
    pub namespaces: Vec<Namespace>,
    pub path: Path,
    /// How often `path` changed.
    pub changes: u64,
    /// How often acknowledged writes may have been lost: a part of the names of the namespaces, so
    /// that nobody goes on with one as if nothing had been.
    pub losses: u32,
}

/// A volume as initiators see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// From 1 on.
    pub number: u32,
    /// 0: not known yet.
    pub size_bytes: u64,
}

/// What this node is good for as a way to the volume, in the words of the ANA log.
///
/// A node says `Optimized` only while it is Primary, which it is only after every replica has
/// promised to ignore what an earlier one wrote: a command that is sent again on this path never
/// meets its own late copy from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// It serves the volume.
    Optimized,
    /// Nobody is known to serve it: a command that comes here makes this node try to.
    NonOptimized,
    /// Another node serves it, or this one may not.
    Inaccessible,
}

impl Path {
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Optimized => 1,
            Self::NonOptimized => 2,
            Self::Inaccessible => 3,
        }
    }
}

impl Subsystem {
    #[must_use]
    pub fn nqn(&self) -> String {
        format!("{SUBSYSTEM_NQN_PREFIX}{}", self.name)
    }

    #[must_use]
    pub fn namespace(&self, number: u32) -> Option<Namespace> {
        self.namespaces.iter().copied().find(|it| it.number == number)
    }

    /// The highest number that a namespace has.
    #[must_use]
    pub fn last_number(&self) -> u32 {
        self.namespaces.last().map_or(1, |last| last.number)
    }

    /// The size of some volume is known.
    #[must_use]
    pub fn has_volume(&self) -> bool {
        self.namespaces.iter().any(|it| it.size_bytes > 0)
    }

    /// The same namespace has it on every path that knows of the same losses.
    #[must_use]
    pub fn nguid(&self, namespace: Namespace) -> [u8; 16] {
        let name = self.id.wrapping_add(u128::from(namespace.number - 1));
        (name ^ u128::from(self.losses) << 64).to_be_bytes()
    }

    /// 20 letters.
    #[must_use]
    pub fn serial(&self) -> String {
        let short = self.id ^ self.id >> 80;
        format!("{:020x}", short & ((1 << 80) - 1))
    }
}

/// A subsystem that can be connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub nqn: String,
    pub address: SocketAddr,
}

/// What a controller speaks of.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    Volume(&'a Subsystem),
    /// `changes` is how often the records changed.
    Discovery {
        records: &'a [Record],
        changes: u64,
    },
}
