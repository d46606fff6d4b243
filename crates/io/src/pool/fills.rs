//! Which regions the kernel is filling: a short list per buffer, its nodes from one slab.
//!
//! Almost every buffer has no fill or one, so the check that keeps looking safe is one compare.

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

#[derive(Debug, Default)]
pub(super) struct Fills {
    nodes: Vec<Node>,
    /// Places in `nodes` that are not in a list.
    free: Vec<u32>,
}

#[derive(Debug)]
struct Node {
    slice: Slice,
    next: u32,
}

impl Fills {
    pub(super) fn begin(&mut self, list: &mut FillList, slice: Slice) {
        let node = Node { slice, next: list.0 };
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

    pub(super) fn end(&mut self, list: &mut FillList, slice: Slice) {
        let mut previous = END;
        let mut index = list.0;
        while index != END {
            let node = &self.nodes[index as usize];
            let next = node.next;
            if node.slice == slice {
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
        panic!("{slice:?} was not being filled");
    }

    /// The kernel fills no byte of `slice`.
    pub(super) fn assert_none(&self, list: FillList, slice: Slice) {
        let mut index = list.0;
        while index != END {
            let node = &self.nodes[index as usize];
            let apart = slice.end() <= node.slice.offset || node.slice.end() <= slice.offset;
            assert!(apart, "the kernel is filling {:?}, {slice:?} looks at it", node.slice);
            index = node.next;
        }
    }
}
