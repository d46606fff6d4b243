//! Online verify: do all in-sync members hold the same?
//!
//! Range by range, under the range lock, as a copy does: nothing is in flight there, all that came
//! before is applied, and so a difference is no race. Every in-sync member is asked for digests.
//! Where they differ, most members are believed, and the leader's own replica if there is no
//! majority. What differs is made equal at once under the same lock, if that was asked for;
//! otherwise it is remembered, and marked as soon as the member leaves the write set.
//!
//! A pass is about the blocks that the value had as it began. What members make ready for a larger
//! size is nobody's until that is chosen: each makes it zeroes when it can, without a lock; that
//! some have not done so yet is no difference.

use format::ids::{BlockRange, Digest, EXTENT_BLOCKS, MemberSet, NodeId};
use format::space::Space;

use crate::contract::{Repair, VerifyTask};
use crate::lane::compare::Comparison;
use crate::lane::{Lane, OperationKind, Turn};
use crate::limits;
use crate::ranges::RangeSet;

/// One pass over the blocks of this lane.
#[derive(Debug)]
pub(crate) struct Verify {
    id: u64,
    space: Space,
    until: u64,
    cursor: u64,
    repair: Repair,
    /// The range that is being compared.
    current: Option<BlockRange>,
    pub(crate) verified_blocks: u64,
    /// There was nobody to compare with.
    pub(crate) skipped_blocks: u64,
    pub(crate) differing: Vec<(NodeId, u64)>,
}

/// Blocks that a verify found to differ at an in-sync member.
#[derive(Debug)]
pub(crate) struct Differing {
    member: NodeId,
    pub(crate) ranges: RangeSet,
}

impl Verify {
    /// All before it was compared, in this lane.
    pub(crate) fn position(&self) -> u64 {
        self.current.map_or(self.cursor, |range| range.start)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.current.is_none() && self.cursor >= self.until
    }

    /// It compares nothing at the moment, and is not over.
    pub(crate) fn wants_place(&self) -> bool {
        self.current.is_none() && self.cursor < self.until
    }

    /// The next blocks of lane `lane` of `lanes`.
    fn next_range(&self, lane: u64, lanes: u64) -> Option<BlockRange> {
        let mut cursor = self.cursor;
        loop {
            let extent = cursor / EXTENT_BLOCKS;
            let ahead = (lane + lanes - extent % lanes) % lanes;
            let start = if ahead == 0 { cursor } else { (extent + ahead) * EXTENT_BLOCKS };
            let span = self.space.span_from(start).filter(|span| span.start < self.until)?;
            if span.start > start {
                // Behind the end of a volume: the next one has extents of every lane, or fewer.
                cursor = span.start;
                continue;
            }
            let extent_end = (start / EXTENT_BLOCKS + 1) * EXTENT_BLOCKS;
            let end = extent_end.min(self.until).min(span.end);
            let count = (end - start).min(limits::COPY_BLOCKS_MAX.into());
            return Some(BlockRange::new(start, u32::try_from(count).expect("within an extent")));
        }
    }
}

impl Lane {
    /// The blocks of `space` are compared: those of the chosen value.
    pub(crate) fn begin_verify(&mut self, task: VerifyTask, space: Space) {
        let Some(leader) = self.leader.as_mut() else { return };
        // Orders are never used twice, so this one is a name as well.
        let id = leader.next_order;
        leader.next_order += 1;
        leader.verify = Some(Verify {
            id,
            space,
            until: task.until_block.min(space.end()),
            cursor: task.from_block.min(space.end()),
            repair: task.repair,
            current: None,
            verified_blocks: 0,
            skipped_blocks: 0,
            differing: Vec::new(),
        });
    }

    /// Starts to compare the next range. Copies go first, and share their rate with it.
    pub(crate) fn continue_verify(&mut self, turn: &mut Turn<'_>) {
        let (lane, lanes) = (u64::from(self.index.0), u64::from(turn.view.lanes.get()));
        if !turn.view.serving || turn.view.draining || !self.is_reconciled() {
            return;
        }
        if Self::verified_members(turn).and(turn.view.reachable()).is_empty() {
            return;
        }
        let Some(leader) = self.leader.as_mut() else { return };
        let full = leader.copies >= limits::COPIES_PER_LANE_MAX || leader.is_full();
        let Some(verify) = leader.verify.as_mut().filter(|verify| verify.current.is_none()) else {
            return;
        };
        let Some(range) = verify.next_range(lane, lanes) else {
            verify.cursor = verify.until;
            return;
        };
        if full || turn.shared.rate.budget < range.length_bytes() {
            return;
        }
        turn.shared.rate.budget -= range.length_bytes();
        verify.cursor = range.end();
        verify.current = Some(range);
        let kind = OperationKind::Verify { id: verify.id };
        self.admit_copy(turn, kind, range);
    }

    pub(crate) fn is_verifying(&self, id: u64) -> bool {
        let verify = self.leader.as_ref().and_then(|leader| leader.verify.as_ref());
        verify.is_some_and(|verify| verify.id == id)
    }

    /// The members whose replicas are compared.
    pub(crate) fn verified_members(turn: &Turn<'_>) -> MemberSet {
        turn.view.in_sync.and(turn.view.write_set).minus(turn.view.losing)
    }

    /// Everybody answered, and the lock is held.
    pub(crate) fn on_verified(&mut self, turn: &mut Turn<'_>, index: u32) {
        let operation = *self.operation(index);
        let leader = self.leader.as_deref_mut().expect("only a leader verifies");
        let known = leader.comparisons.iter().find(|it| it.is_of(operation.order));
        let answers = known.map_or(&[][..], Comparison::digests);
        let differences = differences(answers, operation.range, turn.view.me);
        let compared: MemberSet = answers.iter().map(|(member, _)| *member).collect();
        let crate::lane::Leader { verify, differing, .. } = leader;
        let Some(verify) = verify else { return self.finish(turn, index) };
        if compared.len() < 2 {
            verify.skipped_blocks += u64::from(operation.range.count);
            return self.finish(turn, index);
        }
        verify.verified_blocks += u64::from(operation.range.count);
        for &(member, block) in &differences {
            match verify.differing.iter_mut().find(|(known, _)| *known == member) {
                Some((_, count)) => *count += 1,
                None => verify.differing.push((member, 1)),
            }
            if verify.repair == Repair::No {
                note_differing(differing, member, BlockRange::new(block, 1));
            }
        }
        if differences.is_empty() || verify.repair == Repair::No {
            return self.finish(turn, index);
        }
        // From here on it is a copy from a member that is right to all that are there.
        verify.current = None;
        let wrong: MemberSet = differences.iter().map(|(member, _)| *member).collect();
        let tried = if compared.is_subset_of(wrong) { MemberSet::EMPTY } else { wrong };
        self.operation_mut(index).kind = OperationKind::Reconcile;
        self.read_for_operation(turn, index, tried);
    }
}

fn note_differing(differing: &mut Vec<Differing>, member: NodeId, range: BlockRange) {
    match differing.iter_mut().find(|known| known.member == member) {
        Some(known) => known.ranges.insert(range),
        None => {
            let ranges = std::iter::once(range).collect();
            differing.push(Differing { member, ranges });
        }
    }
}

impl crate::lane::Leader {
    /// What a verify found to differ at `member`.
    pub(crate) fn differing_at(&self, member: NodeId) -> impl Iterator<Item = BlockRange> + '_ {
        let known = self.differing.iter().filter(move |known| known.member == member);
        known.flat_map(|known| known.ranges.iter()).flat_map(crate::lane::by_extent)
    }

    /// It is marked now, and no finding any more.
    pub(crate) fn forget_differing(&mut self, member: NodeId) {
        self.differing.retain(|known| known.member != member);
        if let Some(verify) = self.verify.as_mut().filter(|it| it.repair == Repair::No) {
            verify.differing.retain(|&(known, _)| known != member);
        }
    }

    /// The comparison of the pass that is under way is over.
    pub(crate) fn end_comparison(&mut self, id: u64) {
        if let Some(verify) = self.verify.as_mut().filter(|verify| verify.id == id) {
            verify.current = None;
        }
    }
}

/// The members that differ from what is believed, and in which block.
fn differences(
    answers: &[(NodeId, Vec<Digest>)],
    range: BlockRange,
    me: NodeId,
) -> Vec<(NodeId, u64)> {
    let mut found = Vec::new();
    for (place, block) in range.blocks().enumerate() {
        let held = || answers.iter().filter_map(|(member, all)| Some((*member, *all.get(place)?)));
        let Some(believed) = believed(&held, me) else { continue };
        found.extend(held().filter(|&(_, it)| it != believed).map(|(member, _)| (member, block)));
    }
    found
}

/// What most members hold; without a majority what the leader holds, or the first one asked.
fn believed<I: Iterator<Item = (NodeId, Digest)>>(
    held: &impl Fn() -> I,
    me: NodeId,
) -> Option<Digest> {
    let count = held().count();
    let holders = |digest: Digest| held().filter(|&(_, it)| it == digest).count();
    let majority = held().map(|(_, digest)| digest).find(|&digest| holders(digest) * 2 > count);
    let own = || held().find(|&(member, _)| member == me).map(|(_, digest)| digest);
    majority.or_else(own).or_else(|| held().map(|(_, digest)| digest).next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u8) -> NodeId {
        NodeId::new(id).unwrap()
    }

    fn found(answers: &[&[u128]]) -> Vec<(u8, u64)> {
        let answers: Vec<(NodeId, Vec<Digest>)> = (0..)
            .zip(answers)
            .map(|(id, all)| (node(id), all.iter().map(|&it| Digest(it)).collect()))
            .collect();
        let found = differences(&answers, BlockRange::new(100, 2), node(0));
        found.into_iter().map(|(member, block)| (member.get(), block)).collect()
    }

    #[test]
    fn most_members_are_believed_and_the_leader_where_there_is_no_majority() {
        assert_eq!(found(&[&[7, 8], &[7, 8], &[7, 8]]), []);
        assert_eq!(found(&[&[7, 8], &[7, 9], &[7, 8]]), [(1, 101)]);
        assert_eq!(found(&[&[1, 8], &[7, 8], &[7, 8]]), [(0, 100)]);
        assert_eq!(found(&[&[7, 8], &[6, 8]]), [(1, 100)]);
        assert_eq!(found(&[&[7, 8], &[6, 8], &[5, 8]]), [(1, 100), (2, 100)]);
    }

    #[test]
    fn a_pass_visits_every_block_of_its_lane_once() {
        for (lane, lanes) in [(0, 4), (3, 4), (0, 1)] {
            let (from_block, until) = (700, 9 * EXTENT_BLOCKS + 77);
            let mut verify = Verify { until, ..pass(Space::of_one(until + 9), from_block) };
            let mut seen = Vec::new();
            while let Some(range) = verify.next_range(lane, lanes) {
                verify.cursor = range.end();
                seen.extend(range.blocks());
            }
            let wanted = (from_block..until).filter(|it| it / EXTENT_BLOCKS % lanes == lane);
            assert!(seen.into_iter().eq(wanted));
        }
    }

    #[test]
    fn a_pass_visits_every_volume_and_nothing_between_them() {
        let place = |number| format::space::Place::new(number).unwrap();
        let space = Space::of_one(3 * EXTENT_BLOCKS + 5)
            .with(place(1), EXTENT_BLOCKS)
            .with(place(4), 6 * EXTENT_BLOCKS - 1);
        let mut seen = Vec::new();
        for lane in 0..4 {
            let mut verify = pass(space, 700);
            while let Some(range) = verify.next_range(lane, 4) {
                assert!(space.contains(range) && range.extent() % 4 == lane);
                verify.cursor = range.end();
                seen.extend(range.blocks());
            }
        }
        seen.sort_unstable();
        let volumes = space.places().map(|it| (it.first_block(), space.blocks_at(it)));
        let all = volumes.flat_map(|(first, blocks)| first..first + blocks);
        assert!(seen.into_iter().eq(all.filter(|&block| block >= 700)));
    }

    fn pass(space: Space, from_block: u64) -> Verify {
        Verify {
            id: 1,
            space,
            until: space.end(),
            cursor: from_block,
            repair: Repair::No,
            current: None,
            verified_blocks: 0,
            skipped_blocks: 0,
            differing: Vec::new(),
        }
    }
}
