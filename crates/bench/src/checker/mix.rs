//! Which request comes next: a seeded mix that makes requests overlap.

use std::ops::Range;

use stdx::random::Random;

/// Blocks of the hot part: small, so that many requests in flight meet in it.
const HOT_BLOCKS: u64 = 64;
/// How many blocks a request has; 4 KiB is the most frequent.
const LENGTHS: [u64; 8] = [1, 1, 1, 1, 2, 4, 8, 16];

/// One request to be sent; blocks are numbered from the start of the volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    Read(Range<u64>),
    Write { blocks: Range<u64>, durability: Durability },
    Flush,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    WithNextFlush,
    /// FUA: durable when acknowledged.
    Now,
}

/// Which of the writes are durable when they are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// A few: the others may be lost when all replicas lose their power at once.
    Mixed,
    All,
}

/// The next request on a span of `span_blocks` blocks.
pub(crate) fn next_intent(random: &mut Random, span_blocks: u64, writes: Writes) -> Intent {
    let dice = random.below(100);
    if dice < 2 {
        return Intent::Flush;
    }
    let blocks = next_range(random, span_blocks);
    if dice < 40 {
        return Intent::Read(blocks);
    }
    let durability = if dice < 46 || writes == Writes::All {
        Durability::Now
    } else {
        Durability::WithNextFlush
    };
    Intent::Write { blocks, durability }
}

fn next_range(random: &mut Random, span_blocks: u64) -> Range<u64> {
    let length = *random.pick(&LENGTHS).expect("the list is not empty");
    let length = length.min(span_blocks);
    let reach = if random.chance(1, 5) { span_blocks.min(HOT_BLOCKS) } else { span_blocks };
    let start = random.below(reach).min(span_blocks - length);
    start..start + length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_lies_within_the_span() {
        let mut random = Random::new(3);
        for span in [1, 5, 16, 1000] {
            for _ in 0..1000 {
                match next_intent(&mut random, span, Writes::Mixed) {
                    Intent::Read(blocks) | Intent::Write { blocks, .. } => {
                        assert!(blocks.start < blocks.end && blocks.end <= span);
                    }
                    Intent::Flush => {}
                }
            }
        }
    }

    #[test]
    fn every_kind_of_request_comes() {
        let mut random = Random::new(4);
        let intents: Vec<Intent> =
            (0..1000).map(|_| next_intent(&mut random, 10_000, Writes::Mixed)).collect();
        let count = |test: fn(&Intent) -> bool| intents.iter().filter(|one| test(one)).count();
        assert!(count(|one| matches!(one, Intent::Flush)) > 5);
        assert!(count(|one| matches!(one, Intent::Read(_))) > 300);
        let is_fua =
            |one: &Intent| matches!(one, Intent::Write { durability: Durability::Now, .. });
        assert!(count(is_fua) > 20);
    }
}
