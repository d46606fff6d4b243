//! A descriptor of the kernel as a request, and a request in parts.

use std::ops::Range;

/// Parts end on multiples of this in the volume, as those of the other front ends do.
pub const PART_BYTES: u64 = 128 << 10;
/// What the core tracks: discards and zeroes cover whole ones, or are written.
pub const BLOCK_BYTES: u64 = 4096;
/// A discard or zeroing goes to the core extent by extent.
pub const EXTENT_BYTES: u64 = 4 << 20;
const SECTOR_BYTES: u64 = 512;

const FLAG_FUA: u32 = 1 << 13;
const FLAG_NO_UNMAP: u32 = 1 << 15;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub kind: Kind,
    pub offset: u64,
    pub length: u64,
}

/// How a request is refused, or fails; as the kernel's errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errno {
    Io,
    NoMemory,
    NotSupported,
}

impl Errno {
    /// What the kernel is told.
    #[must_use]
    pub fn result(self) -> i32 {
        match self {
            Self::Io => -5,
            Self::NoMemory => -12,
            Self::NotSupported => -95,
        }
    }
}

impl Request {
    /// Reads a descriptor of a device with `size_bytes`.
    pub fn decode(
        operation_and_flags: u32,
        start_sector: u64,
        sectors: u32,
        size_bytes: u64,
    ) -> Result<Self, Errno> {
        let has = |flag| operation_and_flags & flag != 0;
        let kind = match operation_and_flags & 0xff {
            0 => Kind::Read,
            1 => Kind::Write { fua: has(FLAG_FUA) },
            2 => return Ok(Self { kind: Kind::Flush, offset: 0, length: 0 }),
            3 => Kind::Discard,
            5 => Kind::Zeroes { deallocate: !has(FLAG_NO_UNMAP) },
            _ => return Err(Errno::NotSupported),
        };
        let offset = start_sector.checked_mul(SECTOR_BYTES).ok_or(Errno::Io)?;
        let length = u64::from(sectors) * SECTOR_BYTES;
        let end = offset.checked_add(length).ok_or(Errno::Io)?;
        if length == 0 || end > size_bytes {
            return Err(Errno::Io);
        }
        Ok(Self { kind, offset, length })
    }

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

    /// What the kernel is told of a request that succeeded.
    #[must_use]
    pub fn success(&self) -> i32 {
        match self.kind {
            Kind::Read | Kind::Write { .. } => i32::try_from(self.length).unwrap_or(i32::MAX),
            Kind::Flush | Kind::Discard | Kind::Zeroes { .. } => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 64 << 20;

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
    fn operations_and_flags_are_read() {
        let decode = |word| Request::decode(word, 8, 8, SIZE).map(|request| request.kind);
        assert_eq!(decode(0), Ok(Kind::Read));
        assert_eq!(decode(1), Ok(Kind::Write { fua: false }));
        assert_eq!(decode(1 | 1 << 13), Ok(Kind::Write { fua: true }));
        assert_eq!(decode(2 | 1 << 13), Ok(Kind::Flush));
        assert_eq!(decode(3), Ok(Kind::Discard));
        assert_eq!(decode(5), Ok(Kind::Zeroes { deallocate: true }));
        assert_eq!(decode(5 | 1 << 15), Ok(Kind::Zeroes { deallocate: false }));
        for unknown in [4, 6, 7, 255] {
            assert_eq!(decode(unknown), Err(Errno::NotSupported));
        }
    }

    #[test]
    fn request_outside_of_the_volume_is_refused() {
        let last = SIZE / SECTOR_BYTES - 1;
        Request::decode(0, last, 1, SIZE).unwrap();
        for (start, sectors) in
            [(last, 2), (last + 1, 1), (u64::MAX, 1), (u64::MAX / 512, 8), (0, 0)]
        {
            assert_eq!(Request::decode(0, start, sectors, SIZE), Err(Errno::Io), "{start}");
        }
    }

    #[test]
    fn data_is_cut_where_parts_end_in_the_volume() {
        let write = Request { kind: Kind::Write { fua: false }, offset: 512, length: 1 << 20 };
        let cut = pieces(&write);
        assert_eq!(cut.len(), 9);
        assert_eq!(cut[0], 512..PART_BYTES);
        assert_eq!(cut[8], (1 << 20)..(1 << 20) + 512);
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
