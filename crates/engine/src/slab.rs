//! Things with short names: an index that is used again, with a generation that is not.

/// A name that a slab gave out; it never names a later thing in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub(crate) index: u32,
    /// 24 bits, so that a key fits into an event's token beside the kind of the event.
    pub(crate) generation: u32,
}

const GENERATION_MASK: u32 = (1 << 24) - 1;

impl Key {
    /// The token of a request to the reactor: kind, generation, index.
    pub(crate) fn token(self, kind: u8) -> u64 {
        u64::from(kind) << 56 | u64::from(self.generation) << 32 | u64::from(self.index)
    }

    pub(crate) fn of_token(token: u64) -> (u8, Self) {
        let bytes = token.to_le_bytes();
        let low = |range: std::ops::Range<usize>| {
            bytes[range].iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte))
        };
        (bytes[7], Self { index: low(0..4), generation: low(4..7) })
    }
}

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    thing: Option<T>,
}

#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(crate) fn insert(&mut self, thing: T) -> Key {
        if let Some(index) = self.free.pop() {
            let place = &mut self.places[index as usize];
            place.thing = Some(thing);
            return Key { index, generation: place.generation };
        }
        let index = u32::try_from(self.places.len()).expect("bounded far below 2^32");
        self.places.push(Place { generation: 0, thing: Some(thing) });
        // Room for the way back, so that removing never allocates.
        self.free.reserve(self.places.len());
        Key { index, generation: 0 }
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let place = self.places.get_mut(key.index as usize)?;
        if place.generation != key.generation {
            return None;
        }
        let thing = place.thing.take()?;
        place.generation = (place.generation + 1) & GENERATION_MASK;
        self.free.push(key.index);
        Some(thing)
    }

    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        let place = self.places.get(key.index as usize)?;
        if place.generation == key.generation { place.thing.as_ref() } else { None }
    }

    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get_mut(key.index as usize)?;
        if place.generation == key.generation { place.thing.as_mut() } else { None }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// The key of the thing at `index`, for loops that change the slab as they go.
    pub(crate) fn key_at(&self, index: usize) -> Option<Key> {
        let place = self.places.get(index)?;
        place.thing.as_ref()?;
        let index = u32::try_from(index).expect("an index of this slab");
        Some(Key { index, generation: place.generation })
    }

    /// One above the highest index in use.
    pub(crate) fn end(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        (0..self.places.len()).filter_map(|index| {
            let key = self.key_at(index)?;
            Some((key, self.get(key)?))
        })
    }
}

/// Whose turn it is to be the first of a slab: each time another one's.
#[derive(Debug, Default)]
pub(crate) struct Rotation {
    first: usize,
}

impl Rotation {
    /// The indices below `end`, once each.
    #[inline]
    pub(crate) fn next_round(&mut self, end: usize) -> impl Iterator<Item = usize> + use<> {
        self.first = (self.first + 1) % end.max(1);
        (self.first..end).chain(0..self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_of_a_removed_thing_names_nothing_later() {
        let mut slab = Slab::default();
        let old = slab.insert('a');
        assert_eq!(slab.remove(old), Some('a'));
        let new = slab.insert('b');
        assert_eq!((old.index, slab.get(old)), (new.index, None));
        assert_eq!(slab.remove(old), None);
        assert_eq!((slab.get(new), slab.len()), (Some(&'b'), 1));
    }

    #[test]
    fn token_gives_kind_and_key_back() {
        let key = Key { index: 0xfedc_ba98, generation: 0x0076_5432 };
        assert_eq!(Key::of_token(key.token(0xa5)), (0xa5, key));
    }
}
