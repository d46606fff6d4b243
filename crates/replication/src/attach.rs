//! What a replica does with its metadata before it says a word to anyone.
//!
//! After an unclean end the activity log names the extents that may differ from what the bitmaps
//! say. They are marked in every slot, the own one included, and these pages are durable before
//! the log is emptied and before the first message (PROTOCOL.md 5.9).

use std::collections::{BTreeMap, BTreeSet};

use format::ids::{BlockRange, EXTENT_BLOCKS, LaneIndex, NodeId};
use format::message::SlotBase;
use format::metadata::{Slot, Superblock};
use format::space::Space;

use crate::contract::{LoadedPage, LostMember};
use crate::marks::Marks;

/// What the slots of a replica are good for, as its superblock says.
#[must_use]
pub fn slot_bases(superblock: &Superblock) -> Vec<LostMember> {
    let lost = |slot: &Slot| LostMember {
        member: slot.member,
        base: SlotBase { epoch: slot.base_epoch, incarnation: slot.base_incarnation },
    };
    superblock.slots.iter().map(lost).collect()
}

/// Whether pages of a slot on disk may mark anything. Of the own one no header says so: its marks
/// come from windows and from other slots, and nobody is told where they begin.
#[must_use]
pub fn may_have_marks(superblock: &Superblock, slot: &Slot) -> bool {
    slot.in_use || slot.member == superblock.node
}

/// Marks `active_extents` in the slots of all `members`, and returns the pages that changed: these
/// are to be written durably, and then the activity log may be emptied.
pub fn recover(
    pages: &mut Vec<LoadedPage>,
    active_extents: &BTreeSet<u64>,
    members: &[NodeId],
    lanes: u8,
    space: &Space,
) -> Vec<LoadedPage> {
    let mut bitmaps: BTreeMap<(NodeId, LaneIndex), Marks> = BTreeMap::new();
    for page in pages.drain(..) {
        let key = (page.member, page.lane);
        let bitmap = bitmaps.entry(key).or_insert_with(|| Marks::new(page.lane, lanes, space));
        bitmap.load(page.page, page.bits);
    }
    for &extent in active_extents {
        let start = extent * EXTENT_BLOCKS;
        let count = space.end_behind(start).saturating_sub(start).min(EXTENT_BLOCKS);
        let range = BlockRange::new(start, u32::try_from(count).expect("within an extent"));
        let lane = format::ids::lane_of_block(start, lanes);
        for &member in members {
            let key = (member, lane);
            bitmaps.entry(key).or_insert_with(|| Marks::new(lane, lanes, space)).set(range);
        }
    }
    let mut changed = Vec::new();
    for ((member, lane), bitmap) in bitmaps {
        let unsaved: BTreeSet<u32> = bitmap.unsaved().collect();
        for (page, bits) in bitmap.take_pages() {
            let loaded = LoadedPage { member, lane, page, bits };
            if unsaved.contains(&page) {
                changed.push(loaded.clone());
            }
            pages.push(loaded);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_extents_are_marked_for_every_member() {
        let members = [NodeId::new(0).unwrap(), NodeId::new(2).unwrap()];
        let mut pages = Vec::new();
        let active = BTreeSet::from([5, 21]);
        let space = Space::of_one(1 << 18);
        let changed = recover(&mut pages, &active, &members, 16, &space);
        assert_eq!(changed.len(), 2, "both extents are of lane 5, in one page of each member");
        for page in &changed {
            assert_eq!(page.lane, LaneIndex(5));
            let ones: u32 = page.bits.iter().map(|word| word.count_ones()).sum();
            assert_eq!(ones, 2048);
        }
        let again = recover(&mut pages, &active, &members, 16, &space);
        assert!(again.is_empty(), "what is marked already needs no write");
    }
}
