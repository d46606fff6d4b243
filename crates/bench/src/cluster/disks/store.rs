//! What a disk holds, what it would lose with the power, and what it refuses.
//!
//! The backing file has the newest bytes. Each write since the last flush is remembered with what
//! was there before, so that the power can be cut: all of them are taken back, then 4 KiB pieces
//! of them are written again, each or not, in their order. So a piece holds what it held at the
//! last flush, or what any later write put there: what a disk with a cache may leave.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use stdx::random::Random;

use super::fuse::{Contents, Durability};

/// The unit in which a write is torn.
const PIECE_BYTES: usize = 4096;
/// A cache that is full is written back, its oldest writes first.
const CACHE_BYTES_MAX: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct Store {
    file: File,
    size_bytes: u64,
    /// A flush of what lies below does nothing.
    lies_below: u64,
    unflushed: VecDeque<Write>,
    unflushed_bytes: usize,
    random: Random,
    pub(super) refusal: Option<Refusal>,
    pub(super) refused: u64,
    pub(super) lost_bytes: u64,
}

#[derive(Debug)]
struct Write {
    offset: u64,
    before: Vec<u8>,
    after: Vec<u8>,
    /// It was durable when it was answered; it is here because of the ones below it.
    is_kept: bool,
}

/// What a disk refuses, for as long as it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// One in so many.
    Reads(u64),
    Writes(u64),
    Flushes,
    Everything,
}

impl Store {
    pub(super) fn new(file: File, lies_below: u64, random: Random) -> io::Result<Self> {
        Ok(Self {
            size_bytes: file.metadata()?.len(),
            file,
            lies_below,
            unflushed: VecDeque::new(),
            unflushed_bytes: 0,
            random,
            refusal: None,
            refused: 0,
            lost_bytes: 0,
        })
    }

    pub(super) fn cut_power(&mut self) -> io::Result<()> {
        for write in self.unflushed.iter().rev() {
            self.file.write_all_at(&write.before, write.offset)?;
        }
        for write in &self.unflushed {
            let mut offset = write.offset;
            for piece in write.after.chunks(PIECE_BYTES) {
                if write.is_kept || self.random.chance(1, 2) {
                    self.file.write_all_at(piece, offset)?;
                } else {
                    self.lost_bytes += piece.len() as u64;
                }
                offset += piece.len() as u64;
            }
        }
        self.unflushed.clear();
        self.unflushed_bytes = 0;
        Ok(())
    }

    fn put(&mut self, offset: u64, bytes: &[u8], durability: Durability) -> io::Result<()> {
        let is_inside = offset + bytes.len() as u64 <= self.size_bytes;
        if !is_inside {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let before = self.bytes_at(offset, bytes.len())?;
        self.file.write_all_at(bytes, offset)?;
        let is_kept = durability == Durability::Now && offset >= self.lies_below;
        self.unflushed.push_back(Write { offset, before, after: bytes.to_vec(), is_kept });
        self.unflushed_bytes += bytes.len();
        while self.unflushed_bytes > CACHE_BYTES_MAX
            && let Some(oldest) = self.unflushed.pop_front()
        {
            self.unflushed_bytes -= oldest.after.len();
        }
        Ok(())
    }

    fn bytes_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    fn refuse(&mut self) -> io::Error {
        const EIO: i32 = 5;
        self.refused += 1;
        io::Error::from_raw_os_error(EIO)
    }
}

impl Contents for Store {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let is_refused = match self.refusal {
            Some(Refusal::Everything) => true,
            Some(Refusal::Reads(one_in)) => self.random.chance(1, one_in),
            Some(Refusal::Writes(_) | Refusal::Flushes) | None => false,
        };
        if is_refused {
            return Err(self.refuse());
        }
        self.bytes_at(offset, length)
    }

    /// A write that is refused may have been done in part.
    fn write(&mut self, offset: u64, bytes: &[u8], durability: Durability) -> io::Result<()> {
        let is_refused = match self.refusal {
            Some(Refusal::Everything) => true,
            Some(Refusal::Writes(one_in)) => self.random.chance(1, one_in),
            Some(Refusal::Reads(_) | Refusal::Flushes) | None => false,
        };
        if !is_refused {
            return self.put(offset, bytes, durability);
        }
        let pieces = (bytes.len() / PIECE_BYTES) as u64;
        let done = usize::try_from(self.random.below(pieces + 1)).expect("pieces of a write");
        self.put(offset, &bytes[..done * PIECE_BYTES], Durability::WithNextFlush)?;
        Err(self.refuse())
    }

    /// A flush that is refused loses what it was for, as a kernel does that marks pages clean.
    fn flush(&mut self) -> io::Result<()> {
        if let Some(Refusal::Flushes | Refusal::Everything) = self.refusal {
            self.cut_power()?;
            return Err(self.refuse());
        }
        let lies_below = self.lies_below;
        self.unflushed.retain(|write| write.offset < lies_below);
        self.unflushed_bytes = self.unflushed.iter().map(|write| write.after.len()).sum();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 64 * PIECE_BYTES;

    fn store(lies_below: u64, seed: u64) -> Store {
        let file = tempfile::tempfile().unwrap();
        file.set_len(BYTES as u64).unwrap();
        Store::new(file, lies_below, Random::new(seed)).unwrap()
    }

    fn all(store: &Store) -> Vec<u8> {
        store.bytes_at(0, BYTES).unwrap()
    }

    #[test]
    fn what_was_flushed_or_durable_at_once_stays_and_of_the_rest_some_goes() {
        let mut store = store(0, 1);
        store.write(0, &[1; BYTES], Durability::WithNextFlush).unwrap();
        store.flush().unwrap();
        store.write(0, &[2; BYTES / 2], Durability::WithNextFlush).unwrap();
        store.write(0, &[3; PIECE_BYTES], Durability::Now).unwrap();
        assert_eq!(all(&store)[..BYTES / 2][PIECE_BYTES..], [2; BYTES / 2 - PIECE_BYTES]);
        store.cut_power().unwrap();
        let found = all(&store);
        assert_eq!(found[..PIECE_BYTES], [3; PIECE_BYTES]);
        assert_eq!(found[BYTES / 2..], [1; BYTES / 2]);
        let pieces: Vec<&[u8]> = found[PIECE_BYTES..BYTES / 2].chunks(PIECE_BYTES).collect();
        let is_whole = |piece: &&[u8]| piece.iter().all(|byte| *byte == piece[0]);
        assert!(pieces.iter().all(is_whole));
        assert!(pieces.iter().any(|piece| piece[0] == 1) && pieces.iter().any(|p| p[0] == 2));
        assert!(store.lost_bytes > 0);
    }

    #[test]
    fn a_later_write_that_is_not_flushed_never_brings_back_what_lay_below_a_durable_one() {
        for seed in 0..50 {
            let mut store = store(0, seed);
            store.write(0, &[1; PIECE_BYTES], Durability::WithNextFlush).unwrap();
            store.write(0, &[2; PIECE_BYTES], Durability::Now).unwrap();
            store.write(0, &[3; PIECE_BYTES], Durability::WithNextFlush).unwrap();
            store.cut_power().unwrap();
            assert!([2, 3].contains(&all(&store)[0]), "seed {seed}");
        }
    }

    #[test]
    fn a_disk_that_lies_loses_what_it_said_was_durable() {
        let below = (BYTES / 2) as u64;
        let mut store = store(below, 1);
        store.write(0, &[1; BYTES / 2], Durability::Now).unwrap();
        store.write(below, &[1; BYTES / 2], Durability::WithNextFlush).unwrap();
        store.flush().unwrap();
        store.cut_power().unwrap();
        let found = all(&store);
        assert!(found[..BYTES / 2].contains(&0));
        assert_eq!(found[BYTES / 2..], [1; BYTES / 2]);
    }

    #[test]
    fn what_is_refused_says_so_and_nothing_else_does() {
        let mut store = store(0, 1);
        store.refusal = Some(Refusal::Flushes);
        store.write(0, &[1; BYTES], Durability::WithNextFlush).unwrap();
        store.read(0, BYTES).unwrap();
        assert_eq!(store.flush().unwrap_err().raw_os_error(), Some(5));
        assert!(all(&store).contains(&0), "a flush that failed has lost some");
        store.refusal = Some(Refusal::Reads(1));
        store.read(0, 1).unwrap_err();
        store.write(0, &[1; 1], Durability::Now).unwrap();
        store.refusal = Some(Refusal::Writes(1));
        store.write(0, &[1; BYTES], Durability::Now).unwrap_err();
        store.flush().unwrap();
        assert_eq!(store.refused, 3);
    }
}
