//! Slots with stable indices and no allocation once warm.

/// Values by index; an index is reused after its removal.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.slots[index as usize] = Some(value);
            return index;
        }
        let index = u32::try_from(self.slots.len()).expect("a slab is bounded far below 2^32");
        self.slots.push(Some(value));
        index
    }

    pub fn remove(&mut self, index: u32) -> Option<T> {
        let value = self.slots.get_mut(index as usize)?.take()?;
        self.free.push(index);
        Some(value)
    }

    /// Removes a value without moving it.
    pub fn forget(&mut self, index: u32) {
        if let Some(slot @ Some(_)) = self.slots.get_mut(index as usize) {
            *slot = None;
            self.free.push(index);
        }
    }

    #[must_use]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.slots.get(index as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.slots.get_mut(index as usize)?.as_mut()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        // A place is free, or full.
        self.slots.len().wrapping_sub(self.free.len())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All indices are below this.
    #[must_use]
    pub fn places(&self) -> u32 {
        u32::try_from(self.slots.len()).expect("a slab is bounded far below 2^32")
    }

    /// In order of index.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0_u32..).zip(&self.slots).filter_map(|(index, slot)| Some((index, slot.as_ref()?)))
    }

    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        (0_u32..).zip(&mut self.slots).filter_map(|(index, slot)| Some((index, slot.as_mut()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_names_its_value_until_it_is_removed() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!(slab.remove(a), None);
        let c = slab.insert('c');
        assert_eq!(c, a, "the free slot is used again");
        assert_eq!(slab.iter().map(|(_, value)| *value).collect::<String>(), "cb");
        assert_eq!((slab.get(b), slab.len()), (Some(&'b'), 2));
        slab.forget(b);
        slab.forget(b);
        assert_eq!((slab.get(b), slab.len(), slab.places()), (None, 1, 2));
    }
}
