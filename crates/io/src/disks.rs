//! The disks of a reactor, and the requests on them.
//!
//! A request completes once, whole or failed: short transfers and passing errors are continued
//! inside. Which way it takes depends on what `disk_open` found:
//!
//! ```text
//! path mode        read                     write              flush   zero
//! Direct           ring                     ring               ring    ring
//! InlineMemory     inline                   inline             (none)  inline if short, else ring
//! Persistent       inline                   stores             (none)  stores
//! Mapped           inline                   stores             (none)  stores
//! InlineBuffered   inline if cached, ring   inline, FUA ring   ring    ring
//! ```
//!
//! Inline means a syscall on this thread now; the completion is delivered by the next turn without
//! one more. Zeroing always ends with zeroes on the disk: what the file system cannot do is tried
//! another way, and at last written. What a file answers that became shorter meanwhile is no answer
//! but an error (`length`).

mod request;
mod inline;
pub(crate) mod persistent;
mod length;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;

use crate::disk_open::{self, DiskInfo, DiskOptions, PathMode};
use crate::event::{Base, DiskId, Event, to_result};
use crate::memory::Mapping;
use crate::operation::{Completion, Operation, Place, Tag};
use crate::pool::Slice;
use persistent::{Durable, Region};
use request::{Progress, Request};

pub use length::has_shrunk;
pub(crate) use request::Work;

/// When a write counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The disk has it, perhaps in a volatile cache: durable after the next flush.
    Cached,
    /// It survives a loss of power.
    Fua,
}

/// What zeroing does to the space below. Zeroes are durable after the next flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    /// Space may be given back.
    Deallocate,
    /// Space stays reserved.
    KeepAllocated,
}

/// A passing error that comes so many times in a row is reported.
const RETRIES_MAX: u8 = 100;
/// A longer range of a memory file system is zeroed by a worker instead of this thread.
const INLINE_ZERO_MAX: u64 = 4 << 20;
/// How much is written at a time where zeroes must be written.
const ZEROES_BYTES: u32 = 1 << 20;

#[derive(Debug)]
pub(crate) struct Disks {
    table: Vec<Disk>,
    free: Vec<u32>,
    requests: Vec<Option<Pending>>,
    free_requests: Vec<u32>,
    /// Memory that nobody writes, to be written where zeroes must be.
    zeroes: Mapping,
}

#[derive(Debug)]
struct Disk {
    generation: u32,
    /// The file and its place among the registered ones; none while free.
    open: Option<Open>,
    outstanding: u32,
    is_closing: bool,
}

#[derive(Debug)]
struct Open {
    file: Arc<File>,
    place: Place,
    info: DiskInfo,
    _lock: Option<Arc<Lock>>,
    /// What holds it in memory.
    _held: Option<Mapping>,
    /// Where its writes go, on persistent memory.
    region: Option<Region>,
}

/// The `flock` of a file for this process alone, held by every reactor that has it open.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone would do so late: a worker of the kernel, or a child between its fork and
        // its exec, can hold the file a moment longer. A lock that stays would only delay the next
        // open, so a failure is not worth a word.
        drop(self.0.unlock());
    }
}

/// An open disk on its way to reactors, which use it side by side. An exclusive one stays so for
/// all of them together.
#[derive(Clone, Debug)]
pub struct SharedDisk {
    file: Arc<File>,
    info: DiskInfo,
    lock: Option<Arc<Lock>>,
    is_resident: bool,
}

impl SharedDisk {
    /// Opens a disk, which may take as long as the disk likes: not for a thread that others wait
    /// for.
    ///
    /// # Errors
    /// Whatever the kernel says, with the path.
    pub fn open(path: impl AsRef<Path>, options: DiskOptions) -> io::Result<Self> {
        let (file, info) = disk_open::open(path.as_ref(), options)?;
        let is_locked = options.exclusive && !info.is_block_device;
        let lock = if is_locked { Some(Arc::new(Lock(file.try_clone()?))) } else { None };
        let is_resident = options.resident && info.path_mode == PathMode::InlineMemory;
        Ok(Self { file: Arc::new(file), info, lock, is_resident })
    }

    /// What is known of it.
    #[must_use]
    pub fn info(&self) -> DiskInfo {
        self.info
    }
}

#[derive(Debug)]
struct Pending {
    token: u64,
    disk: DiskId,
    request: Request,
    retries: u8,
}

/// Without the right to lock memory the file is used as it is.
fn hold(file: &File, info: DiskInfo) -> Option<Mapping> {
    let length = usize::try_from(info.size_bytes).ok().filter(|length| *length > 0)?;
    Mapping::hold(file, length).ok()
}

/// Each reactor has a mapping of its own of a disk that they share.
fn map(file: &File, info: DiskInfo) -> io::Result<Option<Region>> {
    let durable = match info.path_mode {
        PathMode::Persistent => Durable::Yes,
        PathMode::Mapped => Durable::No,
        PathMode::Direct | PathMode::InlineMemory | PathMode::InlineBuffered => return Ok(None),
    };
    Region::map(file, info.size_bytes, durable).map(Some)
}

impl Disks {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            table: Vec::new(),
            free: Vec::new(),
            requests: Vec::with_capacity(1024),
            free_requests: Vec::with_capacity(1024),
            zeroes: Mapping::new(ZEROES_BYTES as usize)?,
        })
    }

    pub(crate) fn open(
        &mut self,
        base: &mut Base,
        path: &Path,
        options: DiskOptions,
    ) -> io::Result<DiskId> {
        self.adopt(base, SharedDisk::open(path, options)?)
    }

    pub(crate) fn adopt(&mut self, base: &mut Base, disk: SharedDisk) -> io::Result<DiskId> {
        let SharedDisk { file, info, lock, is_resident } = disk;
        let place = base.backend.install(file.as_raw_fd())?;
        let region = match map(&file, info) {
            Ok(region) => region,
            Err(error) => {
                base.backend.uninstall(place);
                return Err(error);
            }
        };
        let _held = if is_resident { hold(&file, info) } else { None };
        let open = Some(Open { file, place, info, _lock: lock, _held, region });
        if let Some(index) = self.free.pop() {
            let disk = &mut self.table[index as usize];
            disk.open = open;
            return Ok(DiskId { index, generation: disk.generation });
        }
        let index = u32::try_from(self.table.len()).expect("fewer disks than files");
        self.table.push(Disk { generation: 0, open, outstanding: 0, is_closing: false });
        Ok(DiskId { index, generation: 0 })
    }

    /// # Panics
    /// If the disk is closed.
    pub(crate) fn info(&self, id: DiskId) -> DiskInfo {
        self.find(id).expect("the disk is open").info
    }

    pub(crate) fn refresh_size(&mut self, id: DiskId) -> io::Result<u64> {
        self.find(id).ok_or_else(closed)?;
        let open = self.table[id.index as usize].open.as_mut().expect("found just now");
        let info = DiskInfo { size_bytes: disk_open::size(&open.file)?, ..open.info };
        // Before the size: what is written has to lie in the region.
        open.region = map(&open.file, info)?;
        open.info = info;
        Ok(info.size_bytes)
    }

    /// # Panics
    /// If the disk is closed.
    pub(crate) fn next_data(
        &self,
        id: DiskId,
        range: std::ops::Range<u64>,
    ) -> io::Result<Option<std::ops::Range<u64>>> {
        let open = self.find(id).expect("the disk is open");
        disk_open::next_data(&open.file, range)
    }

    /// Closing a closed disk does nothing.
    pub(crate) fn close(&mut self, base: &mut Base, id: DiskId) {
        if self.find(id).is_some() {
            self.table[id.index as usize].is_closing = true;
            self.free_if_answered(base, id.index);
        }
    }

    pub(crate) fn close_all(&mut self, base: &mut Base) {
        for index in 0..self.table.len() {
            let generation = self.table[index].generation;
            let index = u32::try_from(index).expect("indexes are 32 bits wide");
            self.close(base, DiskId { index, generation });
        }
    }

    /// Does a request on the shard's thread, if the disk is one for that and nothing has to be
    /// waited for; else `start` has to do it, from its beginning.
    pub(crate) fn do_now(
        &mut self,
        base: &mut Base,
        id: DiskId,
        work: Work,
    ) -> Option<io::Result<u32>> {
        let open = self.find(id).filter(|open| open.info.path_mode.is_inline())?;
        work.check(&open.info).ok()?;
        length::check_before(open, work).ok()?;
        let result = inline::attempt(open, &mut Request::new(work), &mut base.pool)?;
        base.counters.disk_inline += 1;
        Some(length::believed(open, work, result, &base.pool))
    }

    /// Starts a request, and finishes it at once if it can be done inline.
    pub(crate) fn start(&mut self, base: &mut Base, id: DiskId, work: Work, token: u64) {
        let checked = match self.find(id) {
            None => Err(closed()),
            Some(open) => {
                let checked = work.check(&open.info);
                checked.and_then(|()| length::check_before(open, work)).map(|()| open)
            }
        };
        let open = match checked {
            Ok(open) => open,
            Err(error) => {
                base.ready.push_back(Event::Disk { token, disk: id, result: Err(error) });
                return;
            }
        };
        let mut request = Request::new(work);
        if let Some(result) = inline::attempt(open, &mut request, &mut base.pool) {
            base.counters.disk_inline += 1;
            let result = length::believed(open, work, result, &base.pool);
            base.ready.push_back(Event::Disk { token, disk: id, result });
            return;
        }
        request.lend(&mut base.pool);
        self.table[id.index as usize].outstanding += 1;
        base.counters.disk_ring += 1;
        let pending = Some(Pending { token, disk: id, request, retries: 0 });
        let index = if let Some(index) = self.free_requests.pop() {
            self.requests[index as usize] = pending;
            index
        } else {
            self.requests.push(pending);
            // So that a completion never allocates.
            self.free_requests.reserve(self.requests.len());
            u32::try_from(self.requests.len() - 1).expect("fewer than 4 Gi requests")
        };
        self.submit(base, index);
    }

    pub(crate) fn on_completion(&mut self, base: &mut Base, index: u32, completion: Completion) {
        let pending = self.requests[index as usize].as_mut().expect("a request was outstanding");
        let result = match pending.request.advance(to_result(completion.result)) {
            Progress::Done(result) => result,
            Progress::Continue => {
                pending.retries = 0;
                self.submit(base, index);
                return;
            }
            Progress::Retry(_) if pending.retries < RETRIES_MAX => {
                pending.retries += 1;
                self.submit(base, index);
                return;
            }
            Progress::Retry(error) => Err(error),
        };
        let pending = self.requests[index as usize].take().expect("it was there just now");
        self.free_requests.push(index);
        pending.request.give_back(&mut base.pool);
        let Pending { token, disk, request, .. } = pending;
        let open = self.table[disk.index as usize].open.as_ref().expect("a request was under way");
        let result = length::believed(open, request.work, result, &base.pool);
        base.ready.push_back(Event::Disk { token, disk, result });
        self.table[disk.index as usize].outstanding -= 1;
        self.free_if_answered(base, disk.index);
    }

    fn submit(&mut self, base: &mut Base, index: u32) {
        let pending = self.requests[index as usize].as_ref().expect("a request is outstanding");
        let disk = &self.table[pending.disk.index as usize];
        let open = disk.open.as_ref().expect("a disk stays open while a request is outstanding");
        let call = pending.request.call(&base.pool, &self.zeroes);
        let operation = Operation::Disk { file: open.place, fd: open.file.as_raw_fd(), call };
        // SAFETY: the request holds a reference on its buffer, and a fill where the kernel writes,
        // until `on_completion`; the zeroes live as long as the reactor, which waits for all.
        unsafe { base.backend.push(operation, Tag::Disk(index)) };
    }

    fn find(&self, id: DiskId) -> Option<&Open> {
        let disk = self.table.get(id.index as usize)?;
        let found = disk.generation == id.generation && !disk.is_closing;
        found.then_some(disk.open.as_ref()).flatten()
    }

    fn free_if_answered(&mut self, base: &mut Base, index: u32) {
        let disk = &mut self.table[index as usize];
        if !disk.is_closing || disk.outstanding > 0 {
            return;
        }
        let open = disk.open.take().expect("a disk in use has a file");
        base.backend.uninstall(open.place);
        drop(open);
        disk.is_closing = false;
        disk.generation = disk.generation.wrapping_add(1);
        self.free.push(index);
    }
}

fn closed() -> io::Error {
    io::Error::from_raw_os_error(libc::EBADF)
}

/// Which bytes of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl Range {
    pub(crate) fn of(offset: u64, slice: Slice) -> Self {
        Self { offset, length: u64::from(slice.length) }
    }

    fn is_inside(self, info: &DiskInfo) -> bool {
        self.offset.checked_add(self.length).is_some_and(|end| end <= info.size_bytes)
    }

    fn is_aligned(self, info: &DiskInfo) -> bool {
        let align = u64::from(info.offset_align);
        self.offset.is_multiple_of(align) && self.length.is_multiple_of(align)
    }
}

impl PathMode {
    fn is_inline(self) -> bool {
        match self {
            Self::Direct => false,
            Self::InlineMemory | Self::InlineBuffered | Self::Persistent | Self::Mapped => true,
        }
    }
}
