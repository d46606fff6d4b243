//! A descriptor of the kernel as a request, and the numbers that it is answered with.

use crate::block::{Kind, Request};

const SECTOR_BYTES: u64 = 512;

const FLAG_FUA: u32 = 1 << 13;
const FLAG_NO_UNMAP: u32 = 1 << 15;

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

/// Reads a descriptor of a device with `size_bytes`.
pub fn decode(
    operation_and_flags: u32,
    start_sector: u64,
    sectors: u32,
    size_bytes: u64,
) -> Result<Request, Errno> {
    let has = |flag| operation_and_flags & flag != 0;
    let kind = match operation_and_flags & 0xff {
        0 => Kind::Read,
        1 => Kind::Write { fua: has(FLAG_FUA) },
        2 => return Ok(Request { kind: Kind::Flush, offset: 0, length: 0 }),
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
    Ok(Request { kind, offset, length })
}

/// What the kernel is told of a request that succeeded.
#[must_use]
pub fn success(request: &Request) -> i32 {
    match request.kind {
        Kind::Read | Kind::Write { .. } => i32::try_from(request.length).unwrap_or(i32::MAX),
        Kind::Flush | Kind::Discard | Kind::Zeroes { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 64 << 20;

    #[test]
    fn operations_and_flags_are_read() {
        let kind = |word| decode(word, 8, 8, SIZE).map(|request| request.kind);
        assert_eq!(kind(0), Ok(Kind::Read));
        assert_eq!(kind(1), Ok(Kind::Write { fua: false }));
        assert_eq!(kind(1 | 1 << 13), Ok(Kind::Write { fua: true }));
        assert_eq!(kind(2 | 1 << 13), Ok(Kind::Flush));
        assert_eq!(kind(3), Ok(Kind::Discard));
        assert_eq!(kind(5), Ok(Kind::Zeroes { deallocate: true }));
        assert_eq!(kind(5 | 1 << 15), Ok(Kind::Zeroes { deallocate: false }));
        for unknown in [4, 6, 7, 255] {
            assert_eq!(kind(unknown), Err(Errno::NotSupported));
        }
    }

    #[test]
    fn request_outside_of_the_volume_is_refused() {
        let last = SIZE / SECTOR_BYTES - 1;
        decode(0, last, 1, SIZE).unwrap();
        for (start, sectors) in
            [(last, 2), (last + 1, 1), (u64::MAX, 1), (u64::MAX / 512, 8), (0, 0)]
        {
            assert_eq!(decode(0, start, sectors, SIZE), Err(Errno::Io), "{start}");
        }
    }
}
