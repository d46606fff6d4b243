//! Commands of I/O queues: judged against the volume, and made into requests.

use crate::block::{Kind, Request};
use crate::nvme::limits::{
    CAPSULE_DATA_BYTES_MAX, LBA_BYTES, RANGE_BYTES, RANGES_MAX, TRANSFER_BYTES_MAX,
};
use crate::nvme::status::Status;
use crate::nvme::wire::{
    DataPointer, IO_DATASET, IO_FLUSH, IO_READ, IO_WRITE, IO_WRITE_ZEROES, NAMESPACES_ALL, Sqe,
    le32, le64,
};

const CONTROL_FUA: u16 = 1 << 14;
const CONTROL_DEALLOCATE: u16 = 1 << 9;
const DATASET_DEALLOCATE: u32 = 1 << 2;

/// What a command of an I/O queue asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    pub what: What,
    /// Complete it when the effect is durable.
    pub fua: bool,
    pub data: Data,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Block(Request),
    /// Space may be given back; the ranges come as data.
    Deallocate {
        ranges: u32,
    },
    /// A hint that needs no answer but success.
    Nothing,
}

/// How the data of a command travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    None,
    ToHost,
    /// It came with the command.
    InCapsule,
    /// It comes when the initiator is given leave.
    OnLeave {
        length: u32,
    },
}

/// Reads a command that came with so many bytes of data; its namespace has this size, if there is
/// such a namespace.
pub fn decode(sqe: &Sqe, capsule: usize, size_bytes: Option<u64>) -> Result<Io, Status> {
    // The second half must not be carried out without the first, which is refused too.
    if sqe.is_fused() {
        return Err(Status::INVALID_FIELD);
    }
    match sqe.opcode() {
        // A flush is one of all volumes, whichever it names.
        IO_FLUSH if size_bytes.is_some() || sqe.namespace() == NAMESPACES_ALL => {
            let request = Request { kind: Kind::Flush, offset: 0, length: 0 };
            return Ok(Io { what: What::Block(request), fua: false, data: Data::None });
        }
        IO_FLUSH | IO_READ | IO_WRITE | IO_WRITE_ZEROES | IO_DATASET => {}
        _ => return Err(Status::INVALID_OPCODE),
    }
    let size_bytes = size_bytes.ok_or(Status::INVALID_NAMESPACE)?;
    if sqe.opcode() == IO_DATASET {
        return dataset(sqe, capsule);
    }
    let length = (u64::from(sqe.half(48)) + 1) * LBA_BYTES;
    let offset = offset_of(sqe.double(40), length, size_bytes)?;
    let control = sqe.half(50);
    let fua = control & CONTROL_FUA != 0;
    let (kind, data) = match sqe.opcode() {
        IO_WRITE_ZEROES => {
            (Kind::Zeroes { deallocate: control & CONTROL_DEALLOCATE != 0 }, Data::None)
        }
        IO_READ => {
            check_length(sqe, length)?;
            match sqe.data() {
                DataPointer::Transport { .. } => (Kind::Read, Data::ToHost),
                DataPointer::Capsule { .. } | DataPointer::Unknown => {
                    return Err(Status::SGL_TYPE_INVALID);
                }
            }
        }
        _ => {
            check_length(sqe, length)?;
            (Kind::Write { fua }, from_host(sqe, capsule)?)
        }
    };
    Ok(Io { what: What::Block(Request { kind, offset, length }), fua, data })
}

fn dataset(sqe: &Sqe, capsule: usize) -> Result<Io, Status> {
    let ranges = u32::from(sqe.byte(40)) + 1;
    let data = from_host(sqe, capsule)?;
    let length = match sqe.data() {
        DataPointer::Capsule { length, .. } | DataPointer::Transport { length } => length,
        DataPointer::Unknown => 0,
    };
    // Initiators may send room for more ranges than they use.
    if length < ranges * RANGE_BYTES || length > RANGES_MAX * RANGE_BYTES {
        return Err(Status::DATA_LENGTH_INVALID);
    }
    let is_wanted = sqe.word(44) & DATASET_DEALLOCATE != 0;
    let what = if is_wanted { What::Deallocate { ranges } } else { What::Nothing };
    Ok(Io { what, fua: false, data })
}

/// One range of a deallocation, out of its data; nothing if it is empty.
pub fn range(data: &[u8], index: u32, size_bytes: u64) -> Result<Option<Request>, Status> {
    let at = usize::try_from(index * RANGE_BYTES).expect("within a few KiB");
    let blocks = u64::from(le32(data, at + 4));
    if blocks == 0 {
        return Ok(None);
    }
    let length = blocks * LBA_BYTES;
    let offset = offset_of(le64(data, at + 8), length, size_bytes)?;
    Ok(Some(Request { kind: Kind::Discard, offset, length }))
}

fn offset_of(block: u64, length: u64, size_bytes: u64) -> Result<u64, Status> {
    let offset = block.checked_mul(LBA_BYTES).ok_or(Status::LBA_OUT_OF_RANGE)?;
    let end = offset.checked_add(length).ok_or(Status::LBA_OUT_OF_RANGE)?;
    if end > size_bytes {
        return Err(Status::LBA_OUT_OF_RANGE);
    }
    Ok(offset)
}

fn check_length(sqe: &Sqe, length: u64) -> Result<(), Status> {
    if length > u64::from(TRANSFER_BYTES_MAX) {
        return Err(Status::INVALID_FIELD);
    }
    match sqe.data() {
        DataPointer::Capsule { length: stated, .. } | DataPointer::Transport { length: stated } => {
            if u64::from(stated) == length {
                Ok(())
            } else {
                Err(Status::DATA_LENGTH_INVALID)
            }
        }
        DataPointer::Unknown => Err(Status::SGL_TYPE_INVALID),
    }
}

fn from_host(sqe: &Sqe, capsule: usize) -> Result<Data, Status> {
    match sqe.data() {
        DataPointer::Capsule { offset: 0, length } if usize::try_from(length) == Ok(capsule) => {
            debug_assert!(length <= CAPSULE_DATA_BYTES_MAX, "a longer capsule is not taken");
            Ok(Data::InCapsule)
        }
        DataPointer::Capsule { .. } => Err(Status::DATA_LENGTH_INVALID),
        DataPointer::Transport { length } if capsule == 0 => Ok(Data::OnLeave { length }),
        DataPointer::Transport { .. } | DataPointer::Unknown => Err(Status::SGL_TYPE_INVALID),
    }
}
