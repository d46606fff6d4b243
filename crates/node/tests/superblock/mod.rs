//! Superblocks that this release did not write.

use stdx::checksum::{crc32c, crc32c_append};

/// Makes a superblock one of a release that is newer than this: of an incompatible version, and
/// whole.
pub(crate) fn make_newer(block: &mut [u8]) {
    block[8..12].copy_from_slice(&9_u32.to_le_bytes());
    let crc = crc32c_append(crc32c(&block[..12]), &block[16..]);
    block[12..16].copy_from_slice(&crc.to_le_bytes());
}
