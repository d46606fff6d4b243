//! A queue whose ends, and whose n-th value, are found by a mask: no search, no division, no
//! allocation once warm.

use std::fmt;

/// Values in the order in which they came.
#[derive(Clone)]
pub struct Ring<T> {
    /// None, or a power of two of them. Those behind the last value hold what was there before.
    places: Box<[T]>,
    /// The place of the first value, and how often the ring was gone round.
    first: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Box::default(), first: 0, len: 0 }
    }
}

impl<T: Copy> Ring<T> {
    #[inline(always)]
    pub fn push_back(&mut self, value: T) {
        if self.len == self.places.len() {
            self.grow(value);
        }
        let place = self.place(self.len);
        self.places[place] = value;
        // There was a place for it.
        self.len = self.len.wrapping_add(1);
    }

    /// Takes out the first value, if it is one that is `wanted`.
    #[inline(always)]
    pub fn pop_front_if(&mut self, wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let value = *self.front().filter(|value| wanted(value))?;
        self.len -= 1;
        self.first = self.first.wrapping_add(1);
        Some(value)
    }

    /// Puts the last value before the one that is at `position`.
    #[cold]
    pub fn move_last_to(&mut self, position: usize) {
        for at in (position + 1..self.len).rev() {
            let (place, former) = (self.place(at), self.place(at - 1));
            self.places.swap(place, former);
        }
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let mut kept = 0;
        for position in 0..self.len {
            let value = self.places[self.place(position)];
            if keep(&value) {
                let place = self.place(kept);
                self.places[place] = value;
                kept += 1;
            }
        }
        self.len = kept;
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    #[must_use]
    #[inline(always)]
    pub fn get(&self, position: usize) -> Option<&T> {
        if position >= self.len {
            return None;
        }
        self.places.get(self.place(position))
    }

    #[inline(always)]
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        if position >= self.len {
            return None;
        }
        let place = self.place(position);
        self.places.get_mut(place)
    }

    #[must_use]
    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    #[must_use]
    #[inline(always)]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len.wrapping_sub(1))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|position| &self.places[self.place(position)])
    }

    /// Where the values begin that are not `before`, if all that are come first.
    pub fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low.midpoint(high);
            if before(&self.places[self.place(middle)]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    #[inline(always)]
    fn place(&self, position: usize) -> usize {
        self.first.wrapping_add(position) & self.places.len().wrapping_sub(1)
    }

    /// Makes room; `filler` is for places that nobody reads.
    #[cold]
    fn grow(&mut self, filler: T) {
        let mut places = Vec::with_capacity((2 * self.len).max(4));
        places.extend(self.iter());
        places.resize((2 * self.len).max(4), filler);
        (self.places, self.first) = (places.into_boxed_slice(), 0);
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::VecDeque;

    #[test]
    fn behaves_like_a_queue() {
        let mut random = Random::new(5);
        let (mut ring, mut model) = (Ring::default(), VecDeque::new());
        for round in 0..50_000_u64 {
            match random.below(9) {
                0..=3 => {
                    ring.push_back(round);
                    model.push_back(round);
                }
                4 => assert_eq!(ring.pop_front_if(|_| false), None),
                5..=6 => assert_eq!(ring.pop_front_if(|_| true), model.pop_front()),
                7 => {
                    let position = usize::try_from(random.below(model.len() as u64 + 1)).unwrap();
                    ring.push_back(round);
                    ring.move_last_to(position);
                    model.insert(position, round);
                }
                _ if round % 64 == 0 => {
                    ring.retain(|value| value % 3 != 0);
                    model.retain(|value| value % 3 != 0);
                }
                _ => {
                    let position = usize::try_from(random.below(40)).unwrap();
                    assert_eq!(ring.get_mut(position), model.get_mut(position));
                }
            }
            assert_eq!((ring.len(), ring.is_empty()), (model.len(), model.is_empty()));
            assert_eq!((ring.front(), ring.back()), (model.front(), model.back()));
            assert!(ring.iter().eq(&model));
        }
        ring.clear();
        assert_eq!((ring.back(), ring.get(0)), (None, None));
        assert_eq!(ring.front(), None);
    }

    #[test]
    fn the_border_of_what_comes_first_is_found() {
        let mut ring = Ring::default();
        for value in 0..23 {
            ring.push_back(value);
        }
        (0..9).for_each(|value| assert_eq!(ring.pop_front_if(|_| true), Some(value)));
        for border in 0..=30 {
            let expected = usize::try_from(border).unwrap().clamp(9, 23) - 9;
            assert_eq!(ring.partition_point(|&value| value < border), expected);
        }
        assert_eq!(format!("{ring:?}"), format!("{:?}", (9..23).collect::<Vec<_>>()));
    }
}
