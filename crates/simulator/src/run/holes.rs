//! Ways that swallow messages, in a share of the runs.
//!
//! All is drawn apart from what a run draws otherwise: the runs without are what they were.

use stdx::random::Random;

use crate::cluster::Hole;
use crate::run::{HOLES, Run};

/// In one of so many runs ways have holes: those whose seed has this rest.
const SHARE: u64 = 7;
const REST: u64 = 5;
/// In so many steps a hole comes, and another one goes.
const STEPS: u64 = 150;
/// Less than a block; and more than one, so that some writes pass.
const SIZES: [usize; 2] = [1448, 5000];

pub(super) fn some_holes(seed: u64) -> Option<Random> {
    (seed % SHARE == REST).then(|| Random::new(seed ^ 0x401e))
}

/// Every other of these runs is of nodes that know of no probes, where connections come back
/// through holes.
pub(super) fn has_probes(seed: u64) -> bool {
    seed % SHARE != REST || (seed / SHARE).is_multiple_of(2)
}

impl Run {
    pub(super) fn come_upon_holes(&mut self) {
        let Some(random) = self.holes.as_mut().filter(|_| self.skip & 1 << HOLES == 0) else {
            return;
        };
        let nodes = u64::from(self.cluster.options.nodes);
        let mut node = || usize::try_from(random.below(nodes)).expect("few nodes");
        let (from, to) = (node(), node());
        match random.below(STEPS) {
            0 => {
                let hole = match random.below(3) {
                    0 => Hole::All,
                    _ => Hole::Larger(*random.pick(&SIZES).expect("there are some")),
                };
                self.report.holes += 1;
                self.cluster.make_hole(from, to, hole);
            }
            1 => self.cluster.fill_hole(from, to),
            _ => {}
        }
    }
}
