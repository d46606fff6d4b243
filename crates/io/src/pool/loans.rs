//! Memory that one pool lends to the pool of another thread, to look at.
//!
//! ```text
//! owner                    message                 borrower
//! lend_out(slice)   -----  Loan  ----------------> borrow(loan): a slice like any other
//! must not change it                               counted; disk and sockets may use it
//! take_back(loan)   <----  Loan  ----------------- pop_returned(), after the last release
//! ```
//!
//! A loan that never comes back costs its memory and nothing else: the pool of the owner then
//! leaves its mappings in place when it ends.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{BufferId, Held, Pool, Slice, Wish};

/// Room that a pool makes with its first loan; more loans at a time make it grow.
const LOANS_USUAL: usize = 1024;

/// The class of buffers that belong to another pool.
const CLASS_BORROWED: u8 = u8::MAX;

pub(super) fn is_borrowed(buffer: BufferId) -> bool {
    buffer.class == CLASS_BORROWED
}

/// A region of a pool's memory, on its way to another thread or back.
#[derive(Debug)]
#[must_use = "a loan goes to another pool, or back"]
pub struct Loan {
    /// Of the first byte of the slice.
    address: *const u8,
    slice: Slice,
    owner: u32,
    tag: u64,
}

impl Loan {
    /// What the owner calls it.
    #[must_use]
    pub fn tag(&self) -> u64 {
        self.tag
    }
}

// SAFETY: the address stays valid as long as any loan is out, and what it points to does not change
// until `take_back` (every way to change it asserts that), so any thread may read it.
unsafe impl Send for Loan {}

/// What a pool has borrowed.
#[derive(Debug)]
pub(super) struct Borrowed {
    /// Number of the pool, in this process.
    me: u32,
    entries: Vec<Entry>,
    free: Vec<u32>,
    returned: Vec<Loan>,
}

#[derive(Debug)]
struct Entry {
    loan: Option<Loan>,
    holders: u32,
}

impl Pool {
    /// Lends a region. Until it is taken back, changing it asserts; its buffer is held. `tag` comes
    /// back with the loan.
    ///
    /// # Panics
    /// As [`Pool::bytes`], and if the region is itself borrowed.
    pub fn lend_out(&mut self, slice: Slice, tag: u64) -> Loan {
        assert!(!is_borrowed(slice.buffer), "{slice:?} belongs to another pool");
        let address = self.checked_start(slice, Wish::Look);
        self.retain(slice.buffer);
        self.lent += 1;
        let class = &mut self.classes[usize::from(slice.buffer.class)];
        self.fills.begin(class.fills_mut(slice.buffer.index), slice, Held::Lent);
        Loan { address, slice, owner: self.borrowed.me, tag }
    }

    /// Ends a loan.
    ///
    /// # Panics
    /// If another pool made the loan.
    #[expect(clippy::needless_pass_by_value, reason = "the loan ends here")]
    pub fn take_back(&mut self, loan: Loan) {
        let Loan { slice, owner, .. } = loan;
        assert_eq!(owner, self.borrowed.me, "a loan goes back to the pool that made it");
        let class = &mut self.classes[usize::from(slice.buffer.class)];
        self.fills.end(class.fills_mut(slice.buffer.index), slice, Held::Lent);
        self.lent -= 1;
        self.release(slice.buffer);
    }

    /// Takes a loan in, with one holder.
    pub fn borrow(&mut self, loan: Loan) -> Slice {
        let Slice { offset, length, .. } = loan.slice;
        let index = self.borrowed.insert(loan);
        Slice { buffer: BufferId { class: CLASS_BORROWED, index }, offset, length }
    }

    /// A loan that nobody here holds any more: it is to go back to its owner.
    pub fn pop_returned(&mut self) -> Option<Loan> {
        self.borrowed.returned.pop()
    }
}

impl Borrowed {
    pub(super) fn new() -> Self {
        static POOLS: AtomicU32 = AtomicU32::new(0);
        let me = POOLS.fetch_add(1, Ordering::Relaxed);
        Self { me, entries: Vec::new(), free: Vec::new(), returned: Vec::new() }
    }

    fn insert(&mut self, loan: Loan) -> u32 {
        let entry = Entry { loan: Some(loan), holders: 1 };
        if let Some(index) = self.free.pop() {
            self.entries[index as usize] = entry;
            return index;
        }
        if self.entries.is_empty() {
            self.entries.reserve(LOANS_USUAL);
        }
        self.entries.push(entry);
        // So that giving back never allocates.
        self.free.reserve(self.entries.len());
        self.returned.reserve(self.entries.len());
        u32::try_from(self.entries.len() - 1).expect("fewer than 4 Gi loans")
    }

    pub(super) fn retain(&mut self, buffer: BufferId) {
        let entry = &mut self.entries[buffer.index as usize];
        assert!(entry.holders > 0, "nobody holds {buffer:?}");
        entry.holders += 1;
    }

    pub(super) fn release(&mut self, buffer: BufferId) {
        let entry = &mut self.entries[buffer.index as usize];
        assert!(entry.holders > 0, "nobody holds {buffer:?}");
        entry.holders -= 1;
        if entry.holders == 0 {
            self.returned.push(entry.loan.take().expect("what is held is there"));
            self.free.push(buffer.index);
        }
    }

    pub(super) fn size_of(&self, buffer: BufferId) -> u32 {
        self.entries[buffer.index as usize].loan.as_ref().map_or(0, |loan| loan.slice.end())
    }

    pub(super) fn address(&self, slice: Slice) -> *const u8 {
        let entry = &self.entries[slice.buffer.index as usize];
        let loan = entry.loan.as_ref().expect("nobody holds a loan that went back");
        let is_inside = loan.slice.offset <= slice.offset && slice.end() <= loan.slice.end();
        assert!(is_inside, "{slice:?} leaves {loan:?}");
        let skip = (slice.offset - loan.slice.offset) as usize;
        // SAFETY: just checked to lie inside the region that was lent, or at its end.
        unsafe { loan.address.add(skip) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.lent > 0 {
            self.classes.iter_mut().for_each(super::ClassPool::keep_memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::{Class, PoolOptions};
    use super::*;

    fn pools() -> (Pool, Pool) {
        let make = || Pool::new(PoolOptions::default()).unwrap();
        (make(), make())
    }

    #[test]
    fn borrowed_bytes_are_the_owners_and_go_back_after_the_last_release() {
        let (mut owner, mut borrower) = pools();
        let whole = owner.take_for(4096).unwrap();
        owner.bytes_mut(whole).fill(7);
        let loan = owner.lend_out(whole.part(512, 1024), 0);
        owner.release(whole.buffer);
        assert_eq!(owner.in_use(), 1, "the loan holds the buffer");
        let slice = borrower.borrow(loan);
        assert_eq!((slice.offset, slice.length), (512, 1024), "its place tells its alignment");
        borrower.retain(slice.buffer);
        assert_eq!(borrower.bytes(slice.part(1000, 24)), [7; 24]);
        borrower.release(slice.buffer);
        assert!(borrower.pop_returned().is_none());
        borrower.release(slice.buffer);
        owner.take_back(borrower.pop_returned().unwrap());
        assert_eq!((owner.in_use(), borrower.in_use()), (0, 0));
    }

    #[test]
    fn bytes_beside_a_loan_may_change() {
        let (mut owner, _) = pools();
        let whole = owner.take_for(4096).unwrap();
        let loan = owner.lend_out(whole.part(512, 512), 0);
        owner.bytes_mut(whole.part(1024, 10)).fill(1);
        assert_eq!(owner.bytes(whole).len(), 4096, "looking is free");
        owner.take_back(loan);
        owner.bytes_mut(whole).fill(2);
    }

    #[test]
    #[should_panic(expected = "another thread looks")]
    fn changing_what_is_lent_asserts() {
        let (mut owner, _) = pools();
        let whole = owner.take_for(4096).unwrap();
        let _loan = owner.lend_out(whole.part(512, 512), 0);
        owner.bytes_mut(whole.part(1000, 100));
    }

    #[test]
    #[should_panic(expected = "not to be changed")]
    fn changing_what_is_borrowed_asserts() {
        let (mut owner, mut borrower) = pools();
        let whole = owner.take_for(4096).unwrap();
        let slice = borrower.borrow(owner.lend_out(whole, 0));
        borrower.bytes_mut(slice);
    }

    #[test]
    #[should_panic(expected = "leaves")]
    fn looking_beside_a_loan_asserts() {
        let (mut owner, mut borrower) = pools();
        let whole = owner.take_for(4096).unwrap();
        let slice = borrower.borrow(owner.lend_out(whole.part(512, 512), 0));
        let _bytes = borrower.bytes(Slice { offset: 0, ..slice });
    }

    #[test]
    #[should_panic(expected = "the pool that made it")]
    fn loan_of_another_pool_asserts() {
        let (mut owner, mut borrower) = pools();
        let whole = owner.take_for(4096).unwrap();
        let loan = owner.lend_out(whole, 0);
        borrower.take_back(loan);
    }

    #[test]
    fn loan_outlives_its_pool_on_another_thread() {
        let (mut owner, _) = pools();
        let whole = owner.take(Class::Medium).map(|buffer| owner.whole(buffer)).unwrap();
        owner.bytes_mut(whole).fill(9);
        let loan = owner.lend_out(whole, 0);
        let reader = thread::spawn(move || {
            let mut borrower = Pool::new(PoolOptions::default()).unwrap();
            let slice = borrower.borrow(loan);
            borrower.bytes(slice).iter().all(|byte| *byte == 9)
        });
        drop(owner);
        assert!(reader.join().unwrap());
    }
}
