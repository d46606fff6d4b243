//! What every metadata block begins with, in all versions: magic, version, checksum.
//!
//! ```text
//!  0 magic(8)   8 version(4)  12 crc(4), CRC-32C of the block without these four bytes
//! 16 content, then zeroes to the end of the block
//! ```
//! These 16 bytes never change, so that any release can tell damage from a newer format.

use crate::error::DecodeError;
use crate::wire::{Reader, Writer};
use stdx::checksum::{crc32c, crc32c_append};

/// Where the content starts.
pub(crate) const CONTENT_AT: usize = 16;
const CRC_AT: usize = 12;

/// A kind of block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) what: &'static str,
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
}

impl Kind {
    /// Clears the block and starts it.
    pub(crate) fn begin(self, bytes: &mut [u8]) -> Writer<'_> {
        bytes.fill(0);
        let mut writer = Writer::new(bytes, 0);
        writer.slice(&self.magic);
        writer.slice(&self.version.to_le_bytes());
        writer.slice(&[0; 4]);
        writer
    }

    /// The content of a block whose magic, checksum and version are right.
    pub(crate) fn open(self, bytes: &[u8]) -> Result<Reader<'_>, DecodeError> {
        let what = self.what;
        let mut reader = Reader::new(bytes, 0, what);
        let magic: &[u8; 8] = reader.array()?;
        if *magic != self.magic {
            let value = u64::from_le_bytes(*magic);
            return Err(DecodeError::WrongMagic { what, offset: 0, value });
        }
        let version: u32 = reader.field(what)?;
        let stored: u32 = reader.field(what)?;
        // Before the version: a version that a flipped bit made is damage, not a newer release.
        if stored != checksum(bytes) {
            let value = stored.into();
            return Err(DecodeError::WrongChecksum { what, offset: CRC_AT, value });
        }
        if version > self.version {
            return Err(DecodeError::NewerVersion { what, offset: 8, value: version.into() });
        }
        if version != self.version {
            return Err(DecodeError::OutOfRange { what, offset: 8, value: version.into() });
        }
        Ok(reader)
    }
}

/// Ends a block: nothing may change afterwards.
pub(crate) fn seal(bytes: &mut [u8]) {
    let crc = checksum(bytes);
    bytes[CRC_AT..CONTENT_AT].copy_from_slice(&crc.to_le_bytes());
}

fn checksum(bytes: &[u8]) -> u32 {
    let (before, after) = bytes.split_at(CRC_AT.min(bytes.len()));
    crc32c_append(crc32c(before), after.get(4..).unwrap_or_default())
}
