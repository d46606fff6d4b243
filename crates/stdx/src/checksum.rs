//! CRC-32C (Castagnoli), the one checksum of all formats and protocols.
//!
//! The crate `crc-fast` uses the processor's carry-less multiplication where there is one: 4 KiB in
//! 0.13 us on a core with AVX-512, half of what the CRC instruction takes.

use crc_fast::{CrcAlgorithm, Digest};

/// The checksum of `bytes`.
#[must_use]
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

/// The checksum of `before` and then `bytes`, where `crc` is the checksum of `before`.
#[must_use]
pub fn crc32c_append(crc: u32, bytes: &[u8]) -> u32 {
    let state = u64::from(!crc);
    let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, state);
    digest.update(bytes);
    u32::try_from(digest.finalize()).expect("a checksum of 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value that the catalogue of CRCs gives for CRC-32/ISCSI, and RFC 3720, B.4.
    #[test]
    fn checksum_is_castagnoli() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c_append(crc32c(b"1234"), b"56789"), 0xe306_9283);
    }

    /// Each way of the crate begins at a length of its own, and none may depend on where bytes lie.
    #[test]
    fn checksum_is_that_of_another_implementation_at_every_length_and_place() {
        let bytes: Vec<u8> =
            (0..140_000_u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let lengths = (0..=2_100).chain([4_095, 4_096, 4_097, 65_536, 131_072, 131_073]);
        for length in lengths {
            for start in [0, 1, 7, 64, 4_093] {
                let part = &bytes[start..start + length];
                let expected = crc32c::crc32c(part);
                assert_eq!(crc32c(part), expected, "{length} bytes at {start}");
                let (before, after) = part.split_at(length / 3);
                assert_eq!(crc32c_append(crc32c(before), after), expected, "{length} at {start}");
            }
        }
    }
}
