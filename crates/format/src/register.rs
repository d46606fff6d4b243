//! The file of a voter's config register: two slots, written in turn.
//!
//! ```text
//!  0 magic(8) "BASALTRG"   8 version(4)  12 crc(4)
//! 16 length of the record(4)  20 the record, in the order of docs/formats.md
//! ```
//! The checksum covers what is written, the record padded with zeroes to 4 KiB, not the whole slot:
//! a small value costs one block. The version with write counter n is in slot n mod 2, so that the
//! one before it survives a torn write.

use crate::block::{CONTENT_AT, Kind, seal};
use crate::error::{DecodeError, EncodeError};
use crate::metadata::Register;
use crate::wire::{CONFIG_BYTES_MAX, Reader, Wire, Writer};

/// Bytes of one slot.
pub const REGISTER_SLOT_BYTES: usize = 64 << 10;
/// Bytes of the file.
pub const REGISTER_FILE_BYTES: usize = 2 * REGISTER_SLOT_BYTES;

const KIND: Kind = Kind { what: "config register", magic: *b"BASALTRG", version: 1 };
const RECORD_AT: usize = CONTENT_AT + 4;
/// The unit of writes to the file.
const PAGE: usize = 4096;

const _: () = assert!(
    RECORD_AT + 16 + 8 + 16 + 8 + 1 + 16 + CONFIG_BYTES_MAX + 8 <= REGISTER_SLOT_BYTES,
    "the largest value fits into a slot"
);

/// Where in the file the version with this write counter is.
#[must_use]
pub fn register_slot_offset(write_counter: u64) -> u64 {
    write_counter % 2 * REGISTER_SLOT_BYTES as u64
}

/// Fills the front of a slot, and returns how many bytes of it are to be written.
///
/// # Errors
/// `TooLong` if a list of the value is.
pub fn encode_register(
    register: &Register,
    slot: &mut [u8; REGISTER_SLOT_BYTES],
) -> Result<usize, EncodeError> {
    let mut writer = Writer::new(slot, RECORD_AT);
    register.put(&mut writer);
    let end = writer.finish()?;
    let written = end.next_multiple_of(PAGE);
    let bytes = &mut slot[..written];
    let mut writer = KIND.begin(bytes);
    u32::try_from(end - RECORD_AT).expect("a record fits into its slot").put(&mut writer);
    register.put(&mut writer);
    writer.finish()?;
    seal(bytes);
    Ok(written)
}

/// Reads one slot.
///
/// # Errors
/// `NewerVersion` if a newer release wrote it; all others mean that it is torn, damaged or empty.
pub fn decode_register(slot: &[u8; REGISTER_SLOT_BYTES]) -> Result<Register, DecodeError> {
    // How much is checksummed has to be known first; a damaged length fails the checksum.
    let mut reader = Reader::new(slot, CONTENT_AT, "config register length");
    let length = u32::get(&mut reader)?;
    let end = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(RECORD_AT);
    let written = end.checked_next_multiple_of(PAGE).unwrap_or(usize::MAX);
    let bytes = slot.get(..written).unwrap_or(&slot[..PAGE]);
    KIND.open(bytes)?;
    if written > slot.len() {
        return Err(reader.out_of_range(4, length.into()));
    }
    let mut record = Reader::new(&slot[..end], RECORD_AT, KIND.what);
    let register = Register::get(&mut record)?;
    record.finish()?;
    Reader::new(bytes, end, KIND.what).finish_zeroes()?;
    Ok(register)
}

/// The newest good version in a register file.
///
/// # Errors
/// `NewerVersion` if any slot says so, else the first slot's error if neither is good: then the
/// vote store is lost, and the node has to become a new voter.
pub fn newest_register(file: &[u8]) -> Result<Register, DecodeError> {
    let (what, length) = (KIND.what, file.len());
    let slots: &[[u8; REGISTER_SLOT_BYTES]] = file.as_chunks().0;
    let [first, second] = slots else {
        return Err(match REGISTER_FILE_BYTES.checked_sub(length) {
            Some(missing) => DecodeError::Truncated { what, offset: length, value: missing as u64 },
            None => {
                let value = (length - REGISTER_FILE_BYTES) as u64;
                DecodeError::Trailing { what, offset: REGISTER_FILE_BYTES, value }
            }
        });
    };
    match (decode_register(first), decode_register(second)) {
        (Err(newer @ DecodeError::NewerVersion { .. }), _)
        | (_, Err(newer @ DecodeError::NewerVersion { .. })) => Err(newer),
        (Ok(first), Ok(second)) => {
            let is_second = second.write_counter > first.write_counter;
            Ok(if is_second { second } else { first })
        }
        (Ok(good), Err(_)) | (Err(_), Ok(good)) => Ok(good),
        (Err(fault), Err(_)) => Err(fault),
    }
}
