//! What a question to a disk or a member names, for the answer to name it again.
//!
//! Operations and reads lie in places that are used again. A member, or a disk, that is taken out
//! still owes answers, and gives them when it is back: in the same session, and as the same
//! process. So a question names the order of who asks beside its place, and an answer to one that
//! is over finds nobody.

use crate::lane::Lane;

/// An operation or a read of the leader that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    index: u32,
    /// The low bits of its order.
    order: u64,
}

const INDEX_BITS: u32 = 14;
/// In a token, which a disk may give back after any time.
const TOKEN_ORDER_BITS: u32 = 30;
const GENERATION_SHIFT: u32 = INDEX_BITS + TOKEN_ORDER_BITS;
/// On the wire. A seal ends what a member was asked before it (`drop_unsubmitted`); so only an
/// answer that was on its way by then, over another connection, can be late.
const WIRE_ORDER_BITS: u32 = 17;
/// The low bit of an id on the wire says that an operation asks, for which zeroes are looked for.
const FOR_OPERATION: u32 = 1;

const fn low_bits(count: u32) -> u64 {
    (1 << count) - 1
}

impl Asked {
    /// # Panics
    ///
    /// With an index that is kept from being: of a read by `READ_PLACES_MAX`, of an operation by
    /// `OPERATIONS_PER_LANE_MAX` and what one request can need.
    #[inline(always)]
    pub(crate) fn new(index: u32, order: u64) -> Self {
        assert!(u64::from(index) <= low_bits(INDEX_BITS), "the operations of a lane are bounded");
        Self { index, order: order & low_bits(TOKEN_ORDER_BITS) }
    }

    #[inline(always)]
    pub(crate) fn in_token(self, generation: u8) -> u64 {
        u64::from(self.index) | self.order << INDEX_BITS | u64::from(generation) << GENERATION_SHIFT
    }

    #[inline(always)]
    pub(crate) fn of_token(value: u64) -> (Self, u8) {
        let index = u32::try_from(value & low_bits(INDEX_BITS)).expect("masked");
        let order = value >> INDEX_BITS & low_bits(TOKEN_ORDER_BITS);
        let generation = u8::try_from(value >> GENERATION_SHIFT & 0xff).expect("masked");
        (Self { index, order }, generation)
    }

    #[inline(always)]
    fn is_of(self, order: u64) -> bool {
        (self.order ^ order) & low_bits(TOKEN_ORDER_BITS) == 0
    }
}

/// Who asked another member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Operation { index: u32 },
    Client { index: u32 },
}

/// The id of a question to another member.
#[inline(always)]
pub(crate) fn wire_id(asker: Asker, order: u64) -> u32 {
    let (index, flag) = match asker {
        Asker::Operation { index } => (index, FOR_OPERATION),
        Asker::Client { index } => (index, 0),
    };
    let Asked { index, order } = Asked::new(index, order);
    let order = u32::try_from(order & low_bits(WIRE_ORDER_BITS)).expect("masked");
    flag | index << 1 | order << (1 + INDEX_BITS)
}

/// Whether the leader asks for an operation of its own.
#[inline(always)]
pub(crate) fn is_for_operation(id: u32) -> bool {
    id & FOR_OPERATION != 0
}

impl Lane {
    /// The operation that the device was asked for, if it still has its place.
    #[inline(always)]
    pub(crate) fn operation_asked(&self, asked: Asked, generation: u8) -> Option<u32> {
        let leader = self.leader.as_ref().filter(|_| generation == self.generation)?;
        let operation = leader.operations.get(asked.index)?;
        asked.is_of(operation.order).then_some(asked.index)
    }

    /// The same of a client's read.
    #[inline(always)]
    pub(crate) fn read_asked(&self, asked: Asked, generation: u8) -> Option<u32> {
        let leader = self.leader.as_ref().filter(|_| generation == self.generation)?;
        let read = leader.reads.get(asked.index)?;
        asked.is_of(read.order).then_some(asked.index)
    }

    /// Who asked another member by this id, if it still has its place.
    #[inline(always)]
    pub(crate) fn asker(&self, id: u32) -> Option<Asker> {
        let leader = self.leader.as_ref()?;
        let index = id >> 1 & u32::try_from(low_bits(INDEX_BITS)).expect("few bits");
        let (asker, order) = if is_for_operation(id) {
            (Asker::Operation { index }, leader.operations.get(index)?.order)
        } else {
            (Asker::Client { index }, leader.reads.get(index)?.order)
        };
        (wire_id(asker, order) == id).then_some(asker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_one_of_those_that_had_the_place() {
        let ids = |asker| [7, 8, (1 << 17) - 1].map(|order| wire_id(asker, order));
        let [operations, reads] =
            [Asker::Operation { index: 16_383 }, Asker::Client { index: 16_383 }].map(ids);
        assert!(operations.iter().all(|&id| is_for_operation(id)));
        assert!(reads.iter().all(|&id| !is_for_operation(id)));
        let all: std::collections::BTreeSet<u32> = operations.into_iter().chain(reads).collect();
        assert_eq!(all.len(), 6);
    }

    #[test]
    fn what_a_token_holds_is_of_one_order() {
        let (asked, generation) = Asked::of_token(Asked::new(5, 1 << 40 | 9).in_token(3));
        assert_eq!(generation, 3);
        assert!(asked.is_of(9) && !asked.is_of(10) && !asked.is_of(1 << 29 | 9));
    }
}
