//! The file that keeps DRBD's metadata while ours is in its place.
//!
//! ```text
//! DIR/adopted/NAME-VOLUME.saved      DRBD's metadata is safe here; the disk may be in between
//! DIR/adopted/NAME-VOLUME.adopted    ours was whole on the disk
//! DIR/adopted/NAME-VOLUME.returning  ours is being taken away again
//! ```
//! Its content is written once and never changed; a rename says how far the matter went. Pages of
//! zeroes are left out, so that the file costs what the metadata says, not what it could say.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use format::adopt_drbd::{ADOPTION_HEADER_BYTES, Adoption, decode_adoption, encode_adoption};
use format::layout::PAGE_BYTES;
use io::Uncached;
use stdx::checksum::crc32c_append;

use crate::create_md::Disk;
use crate::state_dir::sync_directory;

const HEADER_BYTES: u64 = ADOPTION_HEADER_BYTES as u64;
/// Bytes that are read at a time.
const CHUNK_BYTES: u64 = 1 << 20;

/// How far it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Saved,
    Adopted,
    Returning,
}

impl Stage {
    const ALL: [Self; 3] = [Self::Saved, Self::Adopted, Self::Returning];

    fn extension(self) -> &'static str {
        match self {
            Self::Saved => "saved",
            Self::Adopted => "adopted",
            Self::Returning => "returning",
        }
    }
}

/// The place of the file of one volume.
pub(crate) struct SavedFile {
    folder: PathBuf,
    stem: String,
}

impl SavedFile {
    pub(crate) fn new(state_dir: &Path, resource: &str, volume: u16) -> Self {
        Self { folder: state_dir.join("adopted"), stem: format!("{resource}-{volume}") }
    }

    pub(crate) fn path(&self, stage: Stage) -> PathBuf {
        self.folder.join(format!("{}.{}", self.stem, stage.extension()))
    }

    /// What is saved, if anything is.
    pub(crate) fn find(&self) -> Result<Option<(Stage, Adoption)>> {
        for stage in Stage::ALL {
            match File::open(self.path(stage)) {
                Ok(file) => {
                    let mut header = [0; ADOPTION_HEADER_BYTES];
                    file.read_exact_at(&mut header, 0)?;
                    let adoption = decode_adoption(&header).map_err(Error::other)?;
                    return Ok(Some((stage, adoption)));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Saves the area of a device durably. What was saved before is of no use any more.
    pub(crate) fn write(&self, adoption: &mut Adoption, device: &Disk) -> Result<()> {
        self.remove()?;
        fs::create_dir_all(&self.folder)?;
        if let Some(state_dir) = self.folder.parent() {
            sync_directory(state_dir)?;
        }
        let fresh = self.folder.join(format!("{}.new", self.stem));
        let file = File::create(&fresh)?;
        let (start, end) = (adoption.area_at, adoption.area_at + adoption.area_bytes);
        let mut crc = 0;
        each_page(device.uncached(), start..end, &mut |offset, page| {
            crc = crc_of_page(crc, offset - start, page);
            file.write_all_at(page, HEADER_BYTES + offset - start)
        })?;
        adoption.area_crc = crc;
        let mut header = [0; ADOPTION_HEADER_BYTES];
        encode_adoption(adoption, &mut header).map_err(Error::other)?;
        file.set_len(HEADER_BYTES + adoption.area_bytes)?;
        file.write_all_at(&header, 0)?;
        file.sync_all()?;
        fs::rename(&fresh, self.path(Stage::Saved))?;
        sync_directory(&self.folder)
    }

    pub(crate) fn advance(&self, from: Stage, to: Stage) -> Result<()> {
        if from != to {
            fs::rename(self.path(from), self.path(to))?;
        }
        sync_directory(&self.folder)
    }

    pub(crate) fn remove(&self) -> Result<()> {
        for stage in Stage::ALL {
            match fs::remove_file(self.path(stage)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        match sync_directory(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// The saved area is what was saved; otherwise nothing may be put back.
    pub(crate) fn check(&self, stage: Stage, adoption: &Adoption) -> Result<()> {
        let mut crc = 0;
        self.each_saved_page(stage, adoption, &mut |offset, page| {
            crc = crc_of_page(crc, offset - adoption.area_at, page);
            Ok(())
        })?;
        if crc == adoption.area_crc {
            return Ok(());
        }
        Err(Error::new(ErrorKind::InvalidData, "the checksum of what was saved is wrong"))
    }

    /// Shows the pages that are not all zeroes, each with its offset on the device.
    pub(crate) fn each_saved_page(
        &self,
        stage: Stage,
        adoption: &Adoption,
        look: &mut dyn FnMut(u64, &Page) -> Result<()>,
    ) -> Result<()> {
        let path = self.path(stage);
        let file = Uncached::beside(&File::open(&path)?, &path)?;
        each_page(&file, HEADER_BYTES..HEADER_BYTES + adoption.area_bytes, &mut |offset, page| {
            look(adoption.area_at + offset - HEADER_BYTES, page)
        })
    }
}

pub(crate) type Page = [u8; ADOPTION_HEADER_BYTES];

/// The device holds the area as it was saved.
pub(crate) fn is_back(device: &Disk, adoption: &Adoption) -> Result<bool> {
    let (start, end) = (adoption.area_at, adoption.area_at + adoption.area_bytes);
    let mut crc = 0;
    each_page(device.uncached(), start..end, &mut |offset, page| {
        crc = crc_of_page(crc, offset - start, page);
        Ok(())
    })?;
    Ok(crc == adoption.area_crc)
}

fn crc_of_page(crc: u32, offset: u64, page: &Page) -> u32 {
    crc32c_append(crc32c_append(crc, &offset.to_le_bytes()), page)
}

/// Shows the pages of `range` that are not all zeroes. Both ends are on whole pages.
fn each_page(
    disk: &Uncached,
    range: Range<u64>,
    look: &mut dyn FnMut(u64, &Page) -> Result<()>,
) -> Result<()> {
    let mut at = range.start;
    while let Some(data) = io::next_data(disk.file(), at..range.end)? {
        at = data.start - (data.start - range.start) % PAGE_BYTES;
        let end = range.end.min(at + (data.end - at).next_multiple_of(PAGE_BYTES));
        while at < end {
            let length = usize::try_from(CHUNK_BYTES.min(end - at)).expect("at most 1 MiB");
            let mut bytes = vec![0; length];
            disk.read_exact_at(&mut bytes, at)?;
            for page in bytes.as_chunks::<ADOPTION_HEADER_BYTES>().0 {
                if page.iter().any(|byte| *byte != 0) {
                    look(at, page)?;
                }
                at += PAGE_BYTES;
            }
        }
    }
    Ok(())
}
