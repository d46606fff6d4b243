//! Reads of a disk as it is now, whoever writes to it.
//!
//! Of a block device the page cache can hold what is not on the disk any more: the kernel drops its
//! pages before a write that goes past them, and once more behind one that somebody waited for, but
//! not behind one of a ring. What is read in between stays, for as long as anybody has the device
//! open. So whatever decides by what a disk holds reads it past the page cache.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::disk_open::{Align, Direct, DiskIdentity, make_direct};

/// Right for every disk and every page of memory.
const MEMORY_ALIGN: usize = 4096;

/// A disk to be read past the page cache; through it where data threads use it so, too.
#[derive(Debug)]
pub struct Uncached {
    file: File,
    align: Option<Align>,
}

impl Uncached {
    /// The disk that was opened at `path`, for reads that do not go through `file`.
    ///
    /// # Errors
    /// As `open`; and if the path leads to another disk by now.
    pub fn beside(file: &File, path: &Path) -> io::Result<Self> {
        let again = OpenOptions::new().read(true).open(path)?;
        if DiskIdentity::of(&again)? != DiskIdentity::of(file)? {
            return Err(io::Error::other("it became another disk while it was opened"));
        }
        let align = make_direct(path, &again, Direct::Auto)?;
        Ok(Self { file: again, align })
    }

    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// # Errors
    /// As `pread`; `UnexpectedEof` behind the end.
    pub fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        bytes.copy_from_slice(&self.read_at(offset, bytes.len())?);
        Ok(())
    }

    /// The same into memory of its own, `length` bytes: without a copy of what is much.
    ///
    /// # Errors
    /// As above.
    pub fn read_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let Some(Align { mem, offset: align }) = self.align else {
            let mut bytes = vec![0; length];
            self.file.read_exact_at(&mut bytes, offset)?;
            return Ok(bytes);
        };
        let before = offset % u64::from(align);
        let start = offset - before;
        let before = usize::try_from(before).expect("less than an alignment");
        let needed = before + length;
        let (mem, align) = (MEMORY_ALIGN.max(mem as usize), align as usize);
        let whole = needed.next_multiple_of(align);
        let mut memory = vec![0; whole + mem];
        let first = memory.as_ptr().align_offset(mem);
        let aligned = &mut memory[first..first + whole];
        let mut have = 0;
        while have < needed {
            match self.file.read_at(&mut aligned[have..], start + have as u64) {
                // Less than a whole unit is there only at the end.
                Ok(count) if count % align != 0 && have + count < needed || count == 0 => {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                Ok(count) => have += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        // In the same memory: fresh one costs more than the move.
        memory.copy_within(first + before..first + needed, 0);
        memory.truncate(length);
        Ok(memory)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn scratch(what: &str) -> PathBuf {
        std::env::temp_dir().join(format!("uncached-{what}-{:x}", crate::random_u64()))
    }

    /// Whether the file system has `O_DIRECT` or not.
    #[test]
    fn any_range_is_read_as_it_is() {
        const LENGTH: u64 = 3 * 4096 + 700;
        let path = scratch("any");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        let content: Vec<u8> = (0..LENGTH).map(|at| u8::try_from(at % 251).unwrap()).collect();
        file.write_all_at(&content, 0).unwrap();
        let disk = Uncached::beside(&file, &path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for (offset, length) in [
            (0, 4096),
            (0, 512),
            (1, 1),
            (511, 2),
            (4095, 4098),
            (8192, 4796),
            (12_288, 700),
            (0, 0),
        ] {
            let mut bytes = vec![0; length];
            disk.read_exact_at(&mut bytes, offset).unwrap();
            let from = usize::try_from(offset).unwrap();
            assert!(bytes == content[from..from + length], "{offset} {length}");
        }
        // What was written through the page cache, and is not on the disk yet.
        file.write_all_at(&[7; 100], 5000).unwrap();
        let mut bytes = [0; 100];
        disk.read_exact_at(&mut bytes, 5000).unwrap();
        assert_eq!(bytes, [7; 100]);
        for (offset, length) in [(12_288, 701), (LENGTH, 1), (1 << 20, 4096)] {
            let error = disk.read_exact_at(&mut vec![0; length], offset).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{offset} {length}");
        }
    }

    #[test]
    fn another_disk_at_the_path_is_refused() {
        let (one, other) = (scratch("one"), scratch("other"));
        let file = File::create_new(&one).unwrap();
        File::create_new(&other).unwrap();
        std::fs::rename(&other, &one).unwrap();
        Uncached::beside(&file, &one).unwrap_err();
        std::fs::remove_file(&one).unwrap();
    }
}
