//! A page of a bitmap on disk: 512 words, little-endian, whose lowest bit is the first block.

use crate::superblock::SUPERBLOCK_BYTES;

/// The bits of a page.
#[must_use]
pub fn bits_of(block: &[u8; SUPERBLOCK_BYTES]) -> Box<[u64; 512]> {
    let mut bits = Box::new([0; 512]);
    for (word, bytes) in bits.iter_mut().zip(block.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    bits
}

/// The bytes of a page.
pub fn bytes_of(bits: &[u64; 512], block: &mut [u8]) {
    for (bytes, word) in block.as_chunks_mut::<8>().0.iter_mut().zip(bits) {
        *bytes = word.to_le_bytes();
    }
}
