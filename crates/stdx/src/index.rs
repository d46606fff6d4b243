//! A map from numbers to small numbers, in one flat table: a lookup touches one cache line.

/// Where a key is found by open addressing: at the place that it hashes to, or in the run of full
/// places behind it. At most half of the places are full, so that runs are short.
#[derive(Clone, Debug)]
pub struct Index {
    /// A key plus one, for memory that nobody touched reads as zeroes, and its value.
    places: Vec<(u64, u16)>,
    /// How far a mixed key is shifted to name a place.
    shift: u32,
    len: usize,
}

impl Index {
    /// For at most `keys` keys at a time.
    #[must_use]
    pub fn with_capacity(keys: usize) -> Self {
        let places = vec![(0, 0); (2 * keys.max(1)).next_power_of_two()];
        let shift = u64::BITS - places.len().trailing_zeros();
        Self { places, shift, len: 0 }
    }

    #[must_use]
    #[inline(always)]
    pub fn get(&self, key: u64) -> Option<u16> {
        let mut place = self.home(key);
        loop {
            let (found, value) = self.places[place];
            if found == key + 1 {
                return Some(value);
            }
            if found == 0 {
                return None;
            }
            place = self.after(place);
        }
    }

    /// # Panics
    /// If there are more keys than the index was made for.
    pub fn insert(&mut self, key: u64, value: u16) {
        let place = self.find(key);
        if self.places[place].0 == 0 {
            self.len += 1;
            assert!(2 * self.len <= self.places.len(), "an index holds what it was made for");
        }
        self.places[place] = (key + 1, value);
    }

    pub fn remove(&mut self, key: u64) -> Option<u16> {
        let mut hole = self.find(key);
        let (found, value) = self.places[hole];
        if found == 0 {
            return None;
        }
        // What follows in the run moves up, where the hole lies between it and its home.
        let mut place = hole;
        loop {
            place = self.after(place);
            let (next, _) = self.places[place];
            if next == 0 {
                break;
            }
            let distance = |from: usize| place.wrapping_sub(from) & (self.places.len() - 1);
            if distance(self.home(next - 1)) >= distance(hole) {
                self.places[hole] = self.places[place];
                hole = place;
            }
        }
        self.places[hole] = (0, 0);
        self.len -= 1;
        Some(value)
    }

    /// Where the key is, or would be.
    fn find(&self, key: u64) -> usize {
        let mut place = self.home(key);
        while self.places[place].0 != 0 && self.places[place].0 != key + 1 {
            place = self.after(place);
        }
        place
    }

    /// Multiplicative hashing: neighbours spread, and the upper bits are the mixed ones.
    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from(mixed.wrapping_shr(self.shift)).expect("as many bits as places have")
    }

    #[inline(always)]
    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeMap;

    #[test]
    fn behaves_like_a_map() {
        let mut random = Random::new(11);
        let mut index = Index::with_capacity(60);
        let mut model = BTreeMap::new();
        for round in 0..100_000_u64 {
            // Few keys, so that runs form, close and wrap around.
            let key = random.below(90);
            let value = u16::try_from(round % 65_536).unwrap();
            if random.below(2) == 0 && (model.len() < 60 || model.contains_key(&key)) {
                index.insert(key, value);
                model.insert(key, value);
            } else {
                assert_eq!(index.remove(key), model.remove(&key));
            }
            assert_eq!(index.len, model.len());
            for key in 0..90 {
                assert_eq!(index.get(key), model.get(&key).copied());
            }
        }
    }

    #[test]
    #[should_panic(expected = "an index holds what it was made for")]
    fn is_bounded() {
        let mut index = Index::with_capacity(2);
        for key in 0..9 {
            index.insert(key, 0);
        }
    }
}
