//! Which shard does what: rules that both ends of a link compute alike.
//!
//! A lane belongs to shard `lane mod shards` of each node, a resource's home is the shard of its
//! home lane. So two nodes with different numbers of shards need one connection for each pair of
//! shards that have a lane in common, and know without a word which pairs those are.

use format::ids::{BLOCK_BYTES, ResourceId, lane_of_block};
use format::message::DataBody;

/// Lanes that are told apart here: a volume has no more where a node has several shards.
pub(crate) const LANES: u8 = replication::limits::LANES_DEFAULT;

/// The lane that a resource's own messages travel with.
pub(crate) fn home_lane(resource: ResourceId) -> u8 {
    u8::try_from(resource.0 % u128::from(LANES)).expect("below the number of lanes")
}

/// The shard of the resource's config register, roles and membership.
pub fn home_shard(resource: ResourceId, shards: u8) -> u8 {
    home_lane(resource) % shards
}

/// The shard that takes a request which begins at `offset`.
pub(crate) fn shard_of_offset(offset: u64, lanes: u8, shards: u8) -> u8 {
    lane_of_block(offset / BLOCK_BYTES, lanes).0 % shards
}

/// The pairs of shards, ours first, that have a lane in common; the first one is (0, 0).
pub(crate) fn pairs(ours: u8, theirs: u8) -> Vec<(u8, u8)> {
    let mut pairs: Vec<_> = (0..LANES).map(|lane| (lane % ours, lane % theirs)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Their number: the pairs of consecutive lanes differ until both shards come round together.
pub(crate) fn pair_count(ours: u8, theirs: u8) -> usize {
    let both = (1..=LANES).find(|count| count % ours == 0 && count % theirs == 0);
    usize::from(both.unwrap_or(LANES))
}

/// The shard of the peer that a message of shard `me` is for.
pub(crate) fn shard_of_message(body: &DataBody, me: u8, theirs: u8) -> u8 {
    let number = match (body.lane(), body) {
        (Some(lane), _) => lane.0,
        (None, DataBody::FlushDone { shard, .. }) => *shard,
        // Any shard flushes the whole disk: one that has a connection with this one.
        (None, _) => me,
    };
    number % theirs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::SHARDS_MAX;

    #[test]
    fn both_ends_find_the_same_pairs_and_every_lane_has_one() {
        for ours in 1..=SHARDS_MAX {
            for theirs in 1..=SHARDS_MAX {
                let mut mirrored: Vec<_> =
                    pairs(theirs, ours).into_iter().map(|(a, b)| (b, a)).collect();
                mirrored.sort_unstable();
                let here = pairs(ours, theirs);
                assert_eq!(here, mirrored);
                assert_eq!(here[0], (0, 0));
                assert_eq!(here.len(), pair_count(ours, theirs), "{ours} and {theirs}");
                for shard in 0..ours {
                    let flush = DataBody::Flush { id: 0, shard };
                    let there = shard_of_message(&flush, shard, theirs);
                    assert!(here.contains(&(shard, there)), "a flush of {shard} finds a way");
                    let boot_id = format::ids::BootId(1);
                    let answer = DataBody::FlushDone { id: 0, shard, boot_id };
                    assert_eq!(shard_of_message(&answer, there, ours), shard);
                }
            }
        }
        assert_eq!(pairs(2, 2), [(0, 0), (1, 1)]);
        assert_eq!(pairs(1, 3).len(), 3);
        assert_eq!(pairs(2, 3).len(), 6);
    }
}
