//! Which regions are in the hands of others: a short list per buffer, its nodes from one slab.
//!
//! The kernel fills a region, or another thread looks at it. Almost every buffer has neither, so
//! the check that keeps looking safe is one compare.

use super::Slice;

/// The head of one buffer's list.
#[derive(Clone, Copy, Debug)]
pub(super) struct FillList(u32);

impl FillList {
    pub(super) const EMPTY: Self = Self(END);

    pub(super) fn is_empty(self) -> bool {
        self.0 == END
    }
}

const END: u32 = u32::MAX;

/// What others do with a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The kernel writes to it: nobody else may even look.
    Filled,
    /// Another thread looks at it: so may anybody, and nobody may change it.
    Lent,
}

/// What this thread wants to do with a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Look,
    Change,
}

/// Regions that are usually held at a time; more make the tables grow.
const REGIONS_USUAL: usize = 256;

#[derive(Debug)]
pub(super) struct Fills {
    nodes: Vec<Node>,
    /// Places in `nodes` that are not in a list.
    free: Vec<u32>,
}

#[derive(Debug)]
struct Node {
    slice: Slice,
    held: Held,
    next: u32,
}

impl Fills {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::with_capacity(REGIONS_USUAL), free: Vec::with_capacity(REGIONS_USUAL) }
    }

    pub(super) fn begin(&mut self, list: &mut FillList, slice: Slice, held: Held) {
        let node = Node { slice, held, next: list.0 };
        if let Some(index) = self.free.pop() {
            self.nodes[index as usize] = node;
            list.0 = index;
        } else {
            list.0 = u32::try_from(self.nodes.len()).expect("fewer fills than buffers' bytes");
            self.nodes.push(node);
            // So that ending a fill never allocates.
            self.free.reserve(self.nodes.len());
        }
    }

    pub(super) fn end(&mut self, list: &mut FillList, slice: Slice, held: Held) {
        let mut previous = END;
        let mut index = list.0;
        while index != END {
            let node = &self.nodes[index as usize];
            let next = node.next;
            if node.slice == slice && node.held == held {
                if previous == END {
                    list.0 = next;
                } else {
                    self.nodes[previous as usize].next = next;
                }
                self.free.push(index);
                return;
            }
            previous = index;
            index = next;
        }
        panic!("{slice:?} is not {held:?}");
    }

    /// Nobody has a byte of `slice` in a way that forbids the wish.
    pub(super) fn assert_free(&self, list: FillList, slice: Slice, wish: Wish) {
        let mut index = list.0;
        while index != END {
            let node = &self.nodes[index as usize];
            let apart = slice.end() <= node.slice.offset || node.slice.end() <= slice.offset;
            match node.held {
                Held::Filled => {
                    assert!(apart, "the kernel is filling {:?}, {slice:?} looks at it", node.slice);
                }
                Held::Lent => assert!(
                    apart || wish == Wish::Look,
                    "another thread looks at {:?}, {slice:?} changes it",
                    node.slice
                ),
            }
            index = node.next;
        }
    }
}
