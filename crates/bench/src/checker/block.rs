//! The bytes of one checked block: who wrote it, and where it belongs.
//!
//! Each of the eight 512-byte sectors of a 4 KiB block carries the whole identity, so that a block
//! put together from two writes (torn), and one that lies at a wrong place (misdirected), show.
//! All numbers are little-endian.
//!
//! ```text
//! offset  size  field
//!      0     8  magic "BSLTCHK1"
//!      8     8  run: random per run of the checker and volume
//!     16     8  block number within the volume
//!     24     8  write id, 1 and up; unique per run
//!     32     2  sector number within the block, 0..8
//!     34     2  zero
//!     36     4  CRC-32C of the other 508 bytes
//!     40   472  filler, derived from the identity
//! ```

/// The unit in which the checker reads and writes.
pub(crate) const BLOCK_BYTES: usize = 4096;

const SECTOR_BYTES: usize = 512;
const HEADER_BYTES: usize = 40;
const MAGIC: [u8; 8] = *b"BSLTCHK1";

/// The number of a write request, from 1; 0 stands for what the volume held before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WriteId(pub(crate) u64);

impl WriteId {
    pub(crate) const INITIAL: Self = Self(0);
}

/// Whose content a block is: one run of the checker on one volume, one place, one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) run: u64,
    pub(crate) block: u64,
    pub(crate) write: WriteId,
}

/// What a block read back turned out to be, seen from one run and one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Whole, of this run, in its place.
    Written(WriteId),
    /// Nothing of this run: zeroes, or what lay there before.
    Foreign,
    /// Sectors of different writes, or a sector whose CRC is wrong.
    Torn,
    /// Whole and of this run, but written to another block.
    Misdirected { from: u64, write: WriteId },
}

/// Fills `block` with the content of `stamp`.
pub(crate) fn fill(block: &mut [u8], stamp: Stamp) {
    assert_eq!(block.len(), BLOCK_BYTES);
    for (index, sector) in (0u16..).zip(block.chunks_exact_mut(SECTOR_BYTES)) {
        sector[0..8].copy_from_slice(&MAGIC);
        sector[8..16].copy_from_slice(&stamp.run.to_le_bytes());
        sector[16..24].copy_from_slice(&stamp.block.to_le_bytes());
        sector[24..32].copy_from_slice(&stamp.write.0.to_le_bytes());
        sector[32..34].copy_from_slice(&index.to_le_bytes());
        sector[34..36].fill(0);
        fill_rest(&mut sector[HEADER_BYTES..], stamp, index);
        let crc = sector_crc(sector);
        sector[36..40].copy_from_slice(&crc.to_le_bytes());
    }
}

/// Reads what [`fill`] wrote; `run` and `block` say what was asked for.
pub(crate) fn inspect(content: &[u8], run: u64, block: u64) -> Content {
    assert_eq!(content.len(), BLOCK_BYTES);
    let mut first = None;
    let mut is_mixed = false;
    let mut has_own = false;
    for (index, sector) in (0u16..).zip(content.chunks_exact(SECTOR_BYTES)) {
        let found = inspect_sector(sector, run, index);
        has_own |= found != Sector::Foreign;
        is_mixed |= *first.get_or_insert(found) != found;
    }
    match first {
        _ if !has_own => Content::Foreign,
        _ if is_mixed => Content::Torn,
        Some(Sector::Own { block: place, write }) if place == block => Content::Written(write),
        Some(Sector::Own { block: from, write }) => Content::Misdirected { from, write },
        Some(Sector::Broken | Sector::Foreign) | None => Content::Torn,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sector {
    Own {
        block: u64,
        write: WriteId,
    },
    /// It claims to be of this run and its CRC, or its place within the block, says otherwise.
    Broken,
    Foreign,
}

fn inspect_sector(sector: &[u8], run: u64, index: u16) -> Sector {
    if sector[0..8] != MAGIC || word(sector, 8) != run {
        return Sector::Foreign;
    }
    let crc = u32::from_le_bytes(sector[36..40].try_into().expect("four bytes"));
    let is_in_place = sector[32..34] == index.to_le_bytes();
    if crc != sector_crc(sector) || !is_in_place {
        return Sector::Broken;
    }
    Sector::Own { block: word(sector, 16), write: WriteId(word(sector, 24)) }
}

fn word(sector: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(sector[offset..offset + 8].try_into().expect("eight bytes"))
}

fn sector_crc(sector: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&sector[..36]), &sector[HEADER_BYTES..])
}

/// Words that differ from write to write, so that no layer below can fold blocks into one.
fn fill_rest(rest: &mut [u8], stamp: Stamp, sector: u16) {
    let mut state = (stamp.write.0 << 20) ^ (stamp.block << 4) ^ u64::from(sector) ^ stamp.run;
    for chunk in rest.chunks_exact_mut(8) {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        chunk.copy_from_slice(&state.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: u64 = 0x1234_5678_9abc_def0;

    fn filled(block: u64, write: u64) -> Vec<u8> {
        let mut bytes = vec![0; BLOCK_BYTES];
        fill(&mut bytes, Stamp { run: RUN, block, write: WriteId(write) });
        bytes
    }

    #[test]
    fn a_whole_block_names_its_write() {
        assert_eq!(inspect(&filled(9, 77), RUN, 9), Content::Written(WriteId(77)));
    }

    #[test]
    fn zeroes_and_other_runs_are_foreign() {
        assert_eq!(inspect(&[0; BLOCK_BYTES], RUN, 9), Content::Foreign);
        assert_eq!(inspect(&filled(9, 77), RUN + 1, 9), Content::Foreign);
    }

    #[test]
    fn a_block_at_a_wrong_place_is_misdirected() {
        let expected = Content::Misdirected { from: 9, write: WriteId(77) };
        assert_eq!(inspect(&filled(9, 77), RUN, 10), expected);
    }

    #[test]
    fn every_cut_between_sectors_is_torn() {
        for sectors in 1..8 {
            let cut = sectors * SECTOR_BYTES;
            let mut over_old = filled(9, 77);
            over_old[..cut].copy_from_slice(&filled(9, 78)[..cut]);
            assert_eq!(inspect(&over_old, RUN, 9), Content::Torn);
            let mut over_zeroes = vec![0; BLOCK_BYTES];
            over_zeroes[cut..].copy_from_slice(&filled(9, 78)[cut..]);
            assert_eq!(inspect(&over_zeroes, RUN, 9), Content::Torn);
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_is_never_a_whole_block() {
        for byte in 0..BLOCK_BYTES {
            let mut bytes = filled(9, 77);
            bytes[byte] ^= 0x10;
            assert_eq!(inspect(&bytes, RUN, 9), Content::Torn, "byte {byte}");
        }
    }

    #[test]
    fn sectors_in_a_wrong_order_are_torn() {
        let mut bytes = filled(9, 77);
        let (head, tail) = bytes.split_at_mut(SECTOR_BYTES);
        head.swap_with_slice(&mut tail[..SECTOR_BYTES]);
        assert_eq!(inspect(&bytes, RUN, 9), Content::Torn);
    }
}
