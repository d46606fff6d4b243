//! Queues of ublk devices: the kernel's block requests, one command of the ring for each tag.
//!
//! ```text
//! kernel                        ring                          owner
//! request on a tag  --------->  the tag's fetch completes --> Fetched { tag, descriptor }
//!                               copies of its data      <---- copy_from_request, copy_to_request
//! request completes <---------  commit, and fetch again <---- commit_request
//! device is stopped --------->  all fetches fail      ------> QueueEnded
//! ```
//!
//! Data goes through the character device (`UBLK_F_USER_COPY`) into and out of buffers of the pool,
//! on the shard's thread: it is a copy of memory and never waits. A fetch that waits names no
//! memory of ours, and the kernel ends it only with the device or with the ring; so dropping the
//! reactor does not wait for it, and a device that has a later server keeps its requests.
//!
//! Not here: making and starting devices (`command`), and what a request means (`frontend`).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::backend::Backend;
use crate::event::{Base, Descriptor, Event, QueueId};
use crate::memory;
use crate::operation::{Completion, Operation, Tag};
use crate::pool::Slice;

/// The most tags of a queue that the kernel knows, and bits of a tag in a ring's tag.
const DEPTH_MAX: u16 = 4096;
const TAG_BITS: u32 = 12;

// From the kernel's `linux/ublk_cmd.h`.
const FETCH: u32 = 0xc010_7520;
const COMMIT_AND_FETCH: u32 = 0xc010_7521;
const COPY_BASE: u64 = 0x8000_0000;
const COPY_TAG_SHIFT: u32 = 25;
const COPY_QUEUE_SHIFT: u32 = 41;
const DESCRIPTOR_BYTES: usize = 24;
const PAGE_BYTES: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Queues {
    table: Vec<Queue>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Queue {
    generation: u32,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    token: u64,
    /// Not a registered one: before Linux 6.13 the ring may hold on to such a file until all
    /// requests that are older than its removal have ended, and a device with an open file keeps
    /// its number.
    file: Arc<File>,
    number: u16,
    descriptors: Descriptors,
    /// Tags whose command is with the kernel.
    armed: u32,
    /// The kernel has turned a command away: the device is over.
    is_ending: bool,
    is_closing: bool,
}

impl Queues {
    /// Commands that only the end of a device or of the ring completes.
    pub(crate) fn armed(&self) -> u64 {
        let open = self.table.iter().filter_map(|queue| queue.open.as_ref());
        open.map(|open| u64::from(open.armed)).sum()
    }

    pub(crate) fn serve(
        &mut self,
        base: &mut Base,
        device: Arc<File>,
        number: u16,
        depth: u16,
        token: u64,
    ) -> io::Result<QueueId> {
        if let Backend::Poll(_) = base.backend {
            let text =
                "the kernel serves ublk devices through io_uring only, which it refuses here";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        let descriptors = Descriptors::map(&device, number, depth)?;
        let open = Open {
            token,
            file: device,
            number,
            descriptors,
            armed: 0,
            is_ending: false,
            is_closing: false,
        };
        let index = if let Some(index) = self.free.pop() {
            self.table[index as usize].open = Some(open);
            index
        } else {
            self.table.push(Queue { generation: 0, open: Some(open) });
            u32::try_from(self.table.len() - 1).expect("fewer queues than files")
        };
        assert!(index < 1 << (32 - TAG_BITS), "queues are bounded far below this");
        for tag in 0..depth {
            self.arm(base, index, tag, FETCH, 0);
        }
        Ok(QueueId { index, generation: self.table[index as usize].generation })
    }

    /// Fills `into` with the data of a write, from its byte `offset` on.
    pub(crate) fn copy_from(
        &self,
        base: &mut Base,
        id: QueueId,
        tag: u16,
        offset: u32,
        into: Slice,
    ) -> io::Result<()> {
        let open = self.find(id).ok_or_else(closed)?;
        open.file.read_exact_at(base.pool.bytes_mut(into), open.position(tag, offset))
    }

    /// Puts `from` into a read, at its byte `offset`.
    pub(crate) fn copy_to(
        &self,
        base: &Base,
        id: QueueId,
        tag: u16,
        offset: u32,
        from: Slice,
    ) -> io::Result<()> {
        let open = self.find(id).ok_or_else(closed)?;
        open.file.write_all_at(base.pool.bytes(from), open.position(tag, offset))
    }

    /// Answers a fetched request: bytes done, or a negated errno.
    pub(crate) fn commit(&mut self, base: &mut Base, id: QueueId, tag: u16, result: i32) {
        if self.find(id).is_some() {
            self.arm(base, id.index, tag, COMMIT_AND_FETCH, result);
        }
    }

    /// Commits nothing more. The place is free again when the kernel has answered all commands.
    pub(crate) fn close(&mut self, id: QueueId) {
        if self.find(id).is_some() {
            let open = self.table[id.index as usize].open.as_mut().expect("found just now");
            open.is_closing = true;
            self.free_if_answered(id.index);
        }
    }

    pub(crate) fn on_completion(&mut self, base: &mut Base, place: u32, completion: Completion) {
        let (index, tag) = of_place(place);
        let queue = &mut self.table[index as usize];
        let id = QueueId { index, generation: queue.generation };
        let open = queue.open.as_mut().expect("a queue stays while commands are with the kernel");
        open.armed -= 1;
        let token = open.token;
        if completion.result == 0 {
            if !open.is_closing {
                let descriptor = open.descriptors.read(tag);
                base.ready.push_back(Event::Fetched { token, queue: id, tag, descriptor });
            }
        } else {
            open.is_ending = true;
            if open.armed == 0 && !open.is_closing {
                base.ready.push_back(Event::QueueEnded { token, queue: id });
            }
        }
        self.free_if_answered(index);
    }

    fn arm(&mut self, base: &mut Base, index: u32, tag: u16, operation: u32, result: i32) {
        let open = self.table[index as usize].open.as_mut().expect("the queue is open");
        open.armed += 1;
        let bytes = io_command(open.number, tag, result);
        let device = open.file.as_raw_fd();
        let command = Operation::Command { device, operation, bytes };
        // SAFETY: the command carries its bytes with it and names no memory.
        unsafe { base.backend.push(command, Tag::Block(to_place(index, tag))) };
    }

    fn find(&self, id: QueueId) -> Option<&Open> {
        let queue = self.table.get(id.index as usize)?;
        let open = queue.open.as_ref()?;
        (queue.generation == id.generation && !open.is_closing).then_some(open)
    }

    fn free_if_answered(&mut self, index: u32) {
        let queue = &mut self.table[index as usize];
        if queue.open.take_if(|open| open.is_closing && open.armed == 0).is_none() {
            return;
        }
        queue.generation = queue.generation.wrapping_add(1);
        self.free.push(index);
    }
}

impl Open {
    /// Where the data of a request lies in the character device.
    fn position(&self, tag: u16, offset: u32) -> u64 {
        let queue = u64::from(self.number) << COPY_QUEUE_SHIFT;
        COPY_BASE + queue + (u64::from(tag) << COPY_TAG_SHIFT) + u64::from(offset)
    }
}

fn closed() -> io::Error {
    io::Error::from_raw_os_error(libc::EBADF)
}

fn to_place(index: u32, tag: u16) -> u32 {
    index << TAG_BITS | u32::from(tag)
}

fn of_place(place: u32) -> (u32, u16) {
    let tag = u16::try_from(place & ((1 << TAG_BITS) - 1)).expect("cut to twelve bits");
    (place >> TAG_BITS, tag)
}

/// `struct ublksrv_io_cmd`: queue, tag, result, and an address that stays zero with user copy.
#[expect(clippy::host_endian_bytes, reason = "the kernel of this machine reads it")]
fn io_command(queue: u16, tag: u16, result: i32) -> [u8; 16] {
    let mut command = [0; 16];
    command[0..2].copy_from_slice(&queue.to_ne_bytes());
    command[2..4].copy_from_slice(&tag.to_ne_bytes());
    command[4..8].copy_from_slice(&result.to_ne_bytes());
    command
}

/// The kernel's array of descriptors of a queue, one for each tag, which we only read.
#[derive(Debug)]
struct Descriptors {
    start: NonNull<u8>,
    length: usize,
    depth: u16,
}

impl Descriptors {
    fn map(device: &File, number: u16, depth: u16) -> io::Result<Self> {
        if depth == 0 || depth > DEPTH_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let bytes =
            |depth: u16| (usize::from(depth) * DESCRIPTOR_BYTES).next_multiple_of(PAGE_BYTES);
        let length = bytes(depth);
        let offset = usize::from(number) * bytes(DEPTH_MAX);
        let offset = libc::off_t::try_from(offset).expect("at most 4096 queues");
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        let start = memory::map(Some(device), length, libc::PROT_READ, flags, offset)?;
        Ok(Self { start, length, depth })
    }

    /// The kernel wrote it before it completed the tag's command, and leaves it alone until the
    /// next one.
    #[expect(clippy::host_endian_bytes, reason = "the kernel of this machine wrote it")]
    fn read(&self, tag: u16) -> Descriptor {
        assert!(tag < self.depth, "tag {tag} of {}", self.depth);
        // SAFETY: the descriptor of a tag below the depth lies inside the mapping.
        let place = unsafe { self.start.as_ptr().add(usize::from(tag) * DESCRIPTOR_BYTES) };
        // SAFETY: the mapping is readable, and bytes need no alignment; see above why they rest.
        let bytes: [u8; DESCRIPTOR_BYTES] = unsafe { place.cast::<[u8; 24]>().read_volatile() };
        let word = |at: usize| {
            u32::from_ne_bytes(*bytes[at..].first_chunk().expect("four bytes of a descriptor"))
        };
        let start = bytes[8..].first_chunk().expect("eight bytes of a descriptor");
        Descriptor {
            operation_and_flags: word(0),
            sectors: word(4),
            start_sector: u64::from_ne_bytes(*start),
        }
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `map` mapped, and nobody holds a reference into it.
        let result = unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
        assert_eq!(result, 0, "a whole mapping can be unmapped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_gives_queue_and_tag_back() {
        for (index, tag) in [(0, 0), (1, DEPTH_MAX - 1), ((1 << 20) - 1, 77)] {
            assert_eq!(of_place(to_place(index, tag)), (index, tag));
        }
    }

    #[test]
    fn command_has_the_layout_of_the_kernel() {
        let command = io_command(1, 0x0203, -5);
        assert_eq!(command[0..4], [1, 0, 3, 2]);
        assert_eq!(command[4..8], (-5_i32).to_le_bytes());
        assert_eq!(command[8..], [0; 8]);
    }
}
