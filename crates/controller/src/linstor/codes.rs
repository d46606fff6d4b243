//! Numbers of answers: a kind, what was done, to which object, and a code, in one integer of 64
//! bits. JSON has it with its sign: the top bit is that of errors and warnings.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Success,
    Info,
    Warning,
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Nothing changes.
    Show,
    Create,
    Modify,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    /// Of no object.
    Nothing,
    Node,
    Definition,
    Resource,
    VolumeDefinition,
    Volume,
    Connection,
    Interface,
    PoolDefinition,
    Pool,
    Controller,
    Snapshot,
    KeyValue,
    Group,
    VolumeGroup,
}

pub(crate) const CREATED: u16 = 1;
pub(crate) const DELETED: u16 = 2;
pub(crate) const MODIFIED: u16 = 3;
pub(crate) const UNKNOWN_ERROR: u16 = 998;
pub(crate) const NOT_IMPLEMENTED: u16 = 999;
pub(crate) const SNAPSHOTS_UNSUPPORTED: u16 = 994;
pub(crate) const ALREADY_DEPLOYED: u16 = 1006;
pub(crate) const HAS_DISK: u16 = 1007;
pub(crate) const SAME_SIZE: u16 = 1023;
pub(crate) const ABSENT: u16 = 3000;
pub(crate) const NO_EFFECT: u16 = 3001;
pub(crate) const NOTHING_TO_DO: u16 = 10_007;

impl Kind {
    const fn bits(self) -> i64 {
        match self {
            Self::Success => 0,
            Self::Info => 1 << 62,
            Self::Warning => i64::MIN,
            Self::Error => i64::MIN | (1 << 62),
        }
    }
}

impl Verb {
    const fn bits(self) -> i64 {
        match self {
            Self::Show => 0,
            Self::Create => 1 << 24,
            Self::Modify => 2 << 24,
            Self::Delete => 3 << 24,
        }
    }

    /// The code of a success.
    pub(crate) const fn done(self) -> u16 {
        match self {
            Self::Show => 0,
            Self::Create => CREATED,
            Self::Modify => MODIFIED,
            Self::Delete => DELETED,
        }
    }
}

impl Thing {
    const fn bits(self) -> i64 {
        let number = match self {
            Self::Nothing => 0,
            Self::Snapshot => 3,
            Self::Controller => 4,
            Self::Pool => 5,
            Self::PoolDefinition => 6,
            Self::Interface => 7,
            Self::Connection => 9,
            Self::Volume => 11,
            Self::VolumeDefinition => 12,
            Self::Resource => 13,
            Self::Definition => 14,
            Self::Node => 15,
            Self::KeyValue => 16,
            Self::Group => 17,
            Self::VolumeGroup => 18,
        };
        number << 18
    }
}

pub(crate) fn number(kind: Kind, verb: Verb, thing: Thing, code: u16) -> i64 {
    kind.bits() | verb.bits() | thing.bits() | i64::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients compare the bits: a number without its sign does not fit Go's int64.
    #[test]
    fn numbers_have_the_bits_that_clients_look_at() {
        let absent = number(Kind::Error, Verb::Show, Thing::Definition, 301);
        assert_eq!(absent, -4_611_686_018_427_387_904 | 0x0038_0000 | 301);
        let made = number(Kind::Success, Verb::Create, Thing::Node, CREATED);
        assert_eq!(made, 0x0100_0000 | 0x003C_0000 | 1);
        let gone = number(Kind::Warning, Verb::Delete, Thing::Group, ABSENT);
        assert_eq!(gone, i64::MIN | 0x0300_0000 | 0x0044_0000 | 3000);
        assert_eq!(number(Kind::Info, Verb::Modify, Thing::KeyValue, 0), 0x4000_0000_0240_0000);
        for (thing, bits) in [
            (Thing::Resource, 0x34_0000),
            (Thing::VolumeDefinition, 0x30_0000),
            (Thing::Volume, 0x2C_0000),
            (Thing::Connection, 0x24_0000),
            (Thing::Interface, 0x1C_0000),
            (Thing::PoolDefinition, 0x18_0000),
            (Thing::Pool, 0x14_0000),
            (Thing::Controller, 0x10_0000),
            (Thing::Snapshot, 0x0C_0000),
            (Thing::VolumeGroup, 0x48_0000),
            (Thing::Nothing, 0),
        ] {
            assert_eq!(thing.bits(), bits, "{thing:?}");
        }
    }
}
