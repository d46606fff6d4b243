//! Which cores the data threads run on.
//!
//! The threads are the node's, and each resource is spread over all of them. So the masks of the
//! resources that are up count together: the threads run on the cores that any of them names, one
//! each in turn. Where no resource has a mask, threads whose number was left to the daemon have a
//! core each; a number that was given says that somebody else shares the machine, and the kernel
//! places them.

use std::collections::BTreeSet;
use std::io::Result;

use io::process::ThreadId;

/// How many threads there are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// As many as there are cores for.
    Own,
    Given,
}

/// The threads, by shard.
#[derive(Debug)]
pub(crate) struct Placement {
    threads: Vec<ThreadId>,
    /// Where the daemon may run at all.
    allowed: Vec<usize>,
    count: Count,
}

impl Placement {
    pub(crate) fn new(threads: Vec<ThreadId>, allowed: Vec<usize>, given: Option<u8>) -> Self {
        let count = if given.is_some() { Count::Given } else { Count::Own };
        Self { threads, allowed, count }
    }

    /// Puts each thread where the masks of the resources that are up want it.
    pub(crate) fn apply(&self, masks: &[Vec<usize>]) -> Result<()> {
        let placed = places(&self.allowed, self.count, self.threads.len(), masks);
        self.threads.iter().zip(placed).try_for_each(|(thread, cores)| thread.run_on(&cores))
    }
}

/// The cores that there are for data threads.
pub(crate) fn cores_for(allowed: &[usize], masks: &[Vec<usize>]) -> Vec<usize> {
    let named: BTreeSet<usize> = masks.iter().flatten().copied().collect();
    let cores: Vec<usize> = allowed.iter().copied().filter(|core| named.contains(core)).collect();
    // A mask of cores that this machine does not have, or none.
    if cores.is_empty() { allowed.to_vec() } else { cores }
}

fn places(
    allowed: &[usize],
    count: Count,
    threads: usize,
    masks: &[Vec<usize>],
) -> Vec<Vec<usize>> {
    let cores = cores_for(allowed, masks);
    let is_free = masks.is_empty() && (count == Count::Given || threads > cores.len());
    let place = |thread: usize| {
        if is_free { cores.clone() } else { vec![cores[thread % cores.len()]] }
    };
    (0..threads).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_a_core_each_unless_their_number_was_given() {
        let allowed = [0, 1, 2, 3];
        assert_eq!(places(&allowed, Count::Own, 4, &[]), [[0], [1], [2], [3]]);
        assert_eq!(places(&allowed, Count::Given, 2, &[]), [allowed, allowed]);
        assert_eq!(places(&[5], Count::Own, 2, &[]), [[5], [5]]);
    }

    #[test]
    fn masks_count_together_and_only_within_what_is_allowed() {
        let allowed = [0, 1, 2, 3];
        let masks = [vec![1], vec![3, 9]];
        assert_eq!(places(&allowed, Count::Given, 3, &masks), [[1], [3], [1]]);
        assert_eq!(places(&allowed, Count::Own, 2, &[vec![70]]), [[0], [1]]);
        assert_eq!(cores_for(&allowed, &masks), [1, 3]);
    }
}
