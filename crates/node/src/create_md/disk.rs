//! A disk as the verbs for metadata see it.

use std::collections::BTreeSet;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{Error, ErrorKind, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use format::error::DecodeError;
use format::foreign::{PROBE_BYTES, detect_foreign};
use format::layout::{Layout, MetadataPlace, Placement};
use format::metadata::Superblock;
use format::superblock::{SUPERBLOCK_BYTES, decode_superblock};
use io::Uncached;

use crate::create_md::CreateMdError;
use crate::limits::COMMAND_PATIENCE;
use crate::patience::Patience;
use crate::sectors;

/// Bytes that are read and erased at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// A superblock of ours that is on the disk already, of whatever resource and in whatever shape.
pub(crate) struct OldSuperblock {
    pub(crate) offset_bytes: u64,
    pub(crate) what: String,
    /// `None` if it cannot be read.
    pub(crate) superblock: Option<(Superblock, Layout)>,
    /// A newer release wrote it, where metadata of this disk is.
    pub(super) newer: Option<DecodeError>,
    /// It is where metadata of a disk of this size has one, as itself or the other copy says.
    pub(crate) is_in_place: bool,
}

/// A disk or file, outside of the daemon.
pub(crate) struct Disk {
    pub(crate) path: PathBuf,
    file: File,
    reads: Uncached,
    pub(crate) size_bytes: u64,
}

impl Disk {
    /// Exclusively.
    pub(crate) fn open(path: &Path) -> Result<Self, CreateMdError> {
        let disk = || path.to_owned();
        let kind = kind_of(path)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        if kind.is_block_device() {
            // The kernel grants this to one at a time, and not while it is mounted.
            options.custom_flags(libc::O_EXCL);
        }
        let file = options.open(path).map_err(|source| {
            if source.kind() == ErrorKind::ResourceBusy {
                CreateMdError::InUse { disk: disk() }
            } else {
                failed("opening", path, source)
            }
        })?;
        // A daemon that was just killed, or starts a handler just now, may keep a lock a moment.
        match Patience::new(COMMAND_PATIENCE).lock(&file) {
            Ok(()) => Self::measured(path, file),
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                Err(CreateMdError::InUse { disk: disk() })
            }
            Err(source) => Err(failed("locking", path, source)),
        }
    }

    /// To read, also while it is in use.
    pub(crate) fn open_to_read(path: &Path) -> Result<Self, CreateMdError> {
        kind_of(path)?;
        let opened = File::open(path);
        let file = opened.map_err(|source| failed("opening", path, source))?;
        Self::measured(path, file)
    }

    fn measured(path: &Path, mut file: File) -> Result<Self, CreateMdError> {
        let size = file.seek(SeekFrom::End(0));
        let size_bytes = size.map_err(|source| failed("measuring", path, source))?;
        let reads = Uncached::beside(&file, path).map_err(|it| failed("opening", path, it))?;
        Ok(Self { path: path.to_owned(), file, reads, size_bytes })
    }

    /// Looks in every place where a superblock can be, as older metadata may have had other
    /// numbers of slots and lanes, and one copy may be damaged.
    pub(crate) fn superblocks(
        &self,
        placement: Placement,
    ) -> Result<Vec<OldSuperblock>, CreateMdError> {
        let mut found = Vec::new();
        let mut lost = Vec::new();
        let mut block = [0; SUPERBLOCK_BYTES];
        let places = Layout::superblock_places(placement);
        // Whatever the layout, the last page is one of them.
        let mut known: BTreeSet<u64> = places.first().copied().into_iter().collect();
        let mut in_place: BTreeSet<u64> = BTreeSet::new();
        for &offset_bytes in &places {
            if !self.read_unless_lost(offset_bytes, &mut block)? {
                lost.push(offset_bytes);
                continue;
            }
            let mut is_in_place = false;
            let mut newer = None;
            let (what, superblock) = match decode_superblock(&block) {
                Ok((superblock, layout)) => {
                    let [_, last] = layout.superblock_offsets;
                    is_in_place = layout.superblock_offsets.contains(&offset_bytes)
                        && (layout.metadata == MetadataPlace::External
                            || places.first() == Some(&last));
                    if is_in_place {
                        in_place.extend(layout.superblock_offsets);
                    }
                    let Superblock { resource_name, volume, .. } = &superblock;
                    let what = format!("metadata of resource `{resource_name}`, volume {volume}");
                    (what, Some((superblock, layout)))
                }
                Err(DecodeError::WrongMagic { .. }) => continue,
                Err(error) => {
                    newer = Some(error).filter(|it| matches!(it, DecodeError::NewerVersion { .. }));
                    (format!("metadata that cannot be read ({error})"), None)
                }
            };
            found.push(OldSuperblock { offset_bytes, what, superblock, newer, is_in_place });
        }
        known.extend(&in_place);
        // Elsewhere it is data that cannot be read, and stays so; or data of whatever release.
        lost.retain(|offset_bytes| known.contains(offset_bytes));
        let is_data = |offset_bytes| {
            matches!(placement, Placement::Internal { .. }) && !known.contains(&offset_bytes)
        };
        for old in found.iter_mut().filter(|old| is_data(old.offset_bytes)) {
            old.newer = None;
        }
        found.extend(lost.into_iter().map(|offset_bytes| OldSuperblock {
            offset_bytes,
            what: "metadata that cannot be read (the disk has lost it)".to_owned(),
            superblock: None,
            newer: None,
            is_in_place: in_place.contains(&offset_bytes),
        }));
        Ok(found)
    }

    /// What an older copy says beside one of a newer release is not how things stand.
    pub(crate) fn refuse_newer(&self, found: &[OldSuperblock]) -> Result<(), CreateMdError> {
        match found.iter().find_map(|old| old.newer) {
            Some(source) => Err(CreateMdError::Newer { disk: self.path.clone(), source }),
            None => Ok(()),
        }
    }

    pub(crate) fn uncached(&self) -> &Uncached {
        &self.reads
    }

    /// A file system, a partition table or the like.
    pub(crate) fn foreign(&self) -> Result<Option<&'static str>, CreateMdError> {
        let length = usize::try_from(self.size_bytes).unwrap_or(usize::MAX).min(PROBE_BYTES);
        let (mut head, mut tail) = (vec![0; length], vec![0; length]);
        let is_whole = self.read_unless_lost(0, &mut head)?
            && self.read_unless_lost(self.size_bytes - length as u64, &mut tail)?;
        if !is_whole {
            // Of whom is not known, and so who else may count on the rest.
            return Ok(Some("sectors that cannot be read"));
        }
        Ok(detect_foreign(&head, &tail))
    }

    /// False if sectors of it cannot be read.
    fn read_unless_lost(
        &self,
        offset_bytes: u64,
        buffer: &mut [u8],
    ) -> Result<bool, CreateMdError> {
        match sectors::read(&self.reads, offset_bytes, buffer) {
            Ok(()) => Ok(true),
            Err(source) if sectors::is_unreadable(&source) => Ok(false),
            Err(source) => Err(self.failed("reading", source)),
        }
    }

    pub(crate) fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), CreateMdError> {
        sectors::read(&self.reads, offset_bytes, buffer)
            .map_err(|source| self.failed("reading", source))
    }

    pub(crate) fn write(&self, offset_bytes: u64, bytes: &[u8]) -> Result<(), CreateMdError> {
        sectors::write(&self.file, offset_bytes, bytes)
            .map_err(|source| self.failed("writing", source))
    }

    pub(crate) fn sync(&self) -> Result<(), CreateMdError> {
        self.file.sync_all().map_err(|source| self.failed("flushing", source))
    }

    /// Makes an area read as zeroes, also where it could not be read. What reads so already is not
    /// written, so that a sparse file stays sparse.
    pub(crate) fn erase(&self, area: Range<u64>) -> Result<(), CreateMdError> {
        let mut buffer = vec![0; CHUNK_BYTES];
        let zeroes = vec![0; CHUNK_BYTES];
        let mut at = area.start;
        let next_data = |from| io::next_data(&self.file, from..area.end);
        while let Some(data) = next_data(at).map_err(|source| self.failed("reading", source))? {
            at = data.start;
            while at < data.end {
                let left = usize::try_from(data.end - at).unwrap_or(usize::MAX);
                let length = left.min(CHUNK_BYTES);
                let is_whole = self.read_unless_lost(at, &mut buffer[..length])?;
                if !is_whole || buffer[..length] != zeroes[..length] {
                    self.write(at, &zeroes[..length])?;
                }
                at += length as u64;
            }
        }
        Ok(())
    }

    pub(crate) fn failed(&self, action: &'static str, source: Error) -> CreateMdError {
        failed(action, &self.path, source)
    }
}

fn kind_of(path: &Path) -> Result<FileType, CreateMdError> {
    let disk = || path.to_owned();
    match fs::metadata(path).map(|metadata| metadata.file_type()) {
        Ok(kind) if kind.is_file() || kind.is_block_device() => Ok(kind),
        Ok(_) => Err(CreateMdError::WrongKind { disk: disk() }),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(CreateMdError::Missing { disk: disk() })
        }
        Err(source) => Err(failed("looking at", path, source)),
    }
}

fn failed(action: &'static str, path: &Path, source: Error) -> CreateMdError {
    CreateMdError::Io { action, disk: path.to_owned(), source }
}
