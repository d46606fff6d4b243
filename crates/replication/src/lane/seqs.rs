//! What one turn acknowledges, as messages say it: a seq, and which of the 63 behind it.

use format::ids::Seq;

/// Some seqs, nearly always close to each other.
#[derive(Debug, Default)]
pub(crate) struct Seqs {
    /// The seq of bit 0.
    base: Seq,
    mask: u64,
    /// Those that are too far away.
    further: Vec<Seq>,
}

impl Seqs {
    pub(crate) fn is_empty(&self) -> bool {
        self.mask == 0
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, seq: Seq) {
        if self.mask == 0 {
            self.base = seq;
        }
        let place = seq.0.wrapping_sub(self.base.0);
        if place < 64 {
            self.mask |= 1 << place;
        } else {
            self.push_apart(seq);
        }
    }

    #[cold]
    fn push_apart(&mut self, seq: Seq) {
        let before = self.base.0.wrapping_sub(seq.0);
        if before <= u64::from(self.mask.leading_zeros()) {
            (self.base, self.mask) = (seq, self.mask << before | 1);
        } else {
            self.further.push(seq);
        }
    }

    /// Takes out as many as one message names.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(Seq, u64)> {
        let (base, mask) = (self.base, std::mem::take(&mut self.mask));
        if mask == 0 {
            return None;
        }
        if !self.further.is_empty() {
            self.begin_again();
        }
        Some((base, mask))
    }

    #[cold]
    fn begin_again(&mut self) {
        let mut further = std::mem::take(&mut self.further);
        further.sort_unstable();
        further.into_iter().for_each(|seq| self.push(seq));
    }

    pub(crate) fn clear(&mut self) {
        self.mask = 0;
        self.further.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use stdx::random::Random;

    fn all_of(seqs: &mut Seqs) -> (BTreeSet<u64>, usize) {
        let (mut all, mut messages) = (BTreeSet::new(), 0);
        while let Some((base, mask)) = seqs.pop() {
            messages += 1;
            all.extend((0..64).filter(|place| mask >> place & 1 == 1).map(|place| base.0 + place));
        }
        (all, messages)
    }

    #[test]
    fn what_is_close_is_one_message_in_whatever_order_it_came() {
        let mut seqs = Seqs::default();
        for seq in [70, 68, 69, 7, 131] {
            seqs.push(Seq(seq));
        }
        assert_eq!(all_of(&mut seqs), (BTreeSet::from([7, 68, 69, 70, 131]), 2));
        assert!(seqs.is_empty());
    }

    #[test]
    fn none_is_lost_and_none_invented() {
        let mut random = Random::new(5);
        let mut seqs = Seqs::default();
        for reach in [1, 10, 64, 65, 1_000, 1_000_000] {
            for count in 0..200 {
                let chosen: Vec<u64> = (0..count).map(|_| 1 + random.below(reach)).collect();
                chosen.iter().for_each(|&seq| seqs.push(Seq(seq)));
                assert_eq!(seqs.is_empty(), chosen.is_empty());
                assert_eq!(all_of(&mut seqs).0, chosen.into_iter().collect());
            }
        }
        seqs.push(Seq(1));
        seqs.push(Seq(u64::MAX));
        seqs.clear();
        assert_eq!(all_of(&mut seqs).0, BTreeSet::new());
    }
}
