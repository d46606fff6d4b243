//! What block devices are asked for, whoever asks: requests of the kernel, guests and NVMe
//! initiators, and the parts in which the core gets them.

use std::ops::Range;

/// Parts of data end on multiples of this in the volume.
pub const PART_BYTES: u64 = 128 << 10;
/// What the core tracks: discards and zeroes cover whole ones, or are written.
pub const BLOCK_BYTES: u64 = 4096;
/// A discard or zeroing goes to the core extent by extent.
pub const EXTENT_BYTES: u64 = 4 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write {
        fua: bool,
    },
    Flush,
    Discard,
    Zeroes {
        /// Space may be given back.
        deallocate: bool,
    },
}

/// In bytes, within a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub kind: Kind,
    pub offset: u64,
    pub length: u64,
}

impl Request {
    /// What the pieces are to cover: of a discard the whole blocks, of the others everything.
    #[must_use]
    pub fn covered(&self) -> Range<u64> {
        let end = self.offset + self.length;
        match self.kind {
            Kind::Read | Kind::Write { .. } | Kind::Flush | Kind::Zeroes { .. } => self.offset..end,
            Kind::Discard => {
                let start = self.offset.next_multiple_of(BLOCK_BYTES);
                start..start.max(end / BLOCK_BYTES * BLOCK_BYTES)
            }
        }
    }

    /// The piece that begins at `start`, of those up to `end`: a part of data, or whole blocks of
    /// one extent, or a part of one block.
    #[must_use]
    pub fn piece(&self, start: u64, end: u64) -> Range<u64> {
        let next = |unit: u64| (start / unit + 1) * unit;
        match self.kind {
            Kind::Read | Kind::Write { .. } | Kind::Flush => start..end.min(next(PART_BYTES)),
            Kind::Discard | Kind::Zeroes { .. } => {
                let last_block = end / BLOCK_BYTES * BLOCK_BYTES;
                if !start.is_multiple_of(BLOCK_BYTES) || last_block <= start {
                    return start..end.min(next(BLOCK_BYTES));
                }
                start..last_block.min(next(EXTENT_BYTES))
            }
        }
    }

    /// Which part of a read or a write begins at this place of the volume.
    ///
    /// # Panics
    /// If that is more than 2^16 parts away from the first one.
    #[must_use]
    pub fn part_at(&self, place: u64) -> u16 {
        let number = place / PART_BYTES - self.offset / PART_BYTES;
        u16::try_from(number).expect("a request with data is short")
    }

    /// What that part covers.
    #[must_use]
    pub fn part(&self, number: u16) -> Range<u64> {
        let first = (self.offset / PART_BYTES + u64::from(number)) * PART_BYTES;
        self.piece(first.max(self.offset), self.offset + self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(request: &Request) -> Vec<Range<u64>> {
        let Range { mut start, end } = request.covered();
        let mut pieces = Vec::new();
        while start < end {
            let piece = request.piece(start, end);
            assert!(piece.start == start && piece.end > start && piece.end <= end, "{piece:?}");
            start = piece.end;
            pieces.push(piece);
        }
        pieces
    }

    #[test]
    fn data_is_cut_where_parts_end_in_the_volume() {
        let write = Request { kind: Kind::Write { fua: false }, offset: 512, length: 1 << 20 };
        let cut = pieces(&write);
        assert_eq!(cut.len(), 9);
        assert_eq!(cut[0], 512..PART_BYTES);
        assert_eq!(cut[8], (1 << 20)..(1 << 20) + 512);
        for (number, piece) in (0..).zip(&cut) {
            assert_eq!((write.part_at(piece.start), &write.part(number)), (number, piece));
        }
    }

    #[test]
    fn discard_covers_whole_blocks_and_zeroes_everything() {
        let discard = Request { kind: Kind::Discard, offset: 512, length: 3 * 4096 };
        assert_eq!(pieces(&discard), vec![4096..3 * 4096; 1]);
        let nothing = Request { kind: Kind::Discard, offset: 512, length: 4096 };
        assert!(pieces(&nothing).is_empty());
        let zeroes = Request { kind: Kind::Zeroes { deallocate: true }, ..discard };
        assert_eq!(pieces(&zeroes), [512..4096, 4096..3 * 4096, 3 * 4096..3 * 4096 + 512]);
        let within = Request { kind: Kind::Zeroes { deallocate: true }, offset: 512, length: 1024 };
        assert_eq!(pieces(&within), vec![512..1536; 1]);
        let long = Request { kind: Kind::Discard, offset: 4096, length: 2 * EXTENT_BYTES };
        let cut = [
            4096..EXTENT_BYTES,
            EXTENT_BYTES..2 * EXTENT_BYTES,
            2 * EXTENT_BYTES..2 * EXTENT_BYTES + 4096,
        ];
        assert_eq!(pieces(&long), cut);
    }
}
