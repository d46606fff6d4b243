//! Commands of I/O queues against the bounds of a volume.

use frontend::block::{Kind, Request};
use frontend::nvme::command::{Data, Io, What, decode, range};
use frontend::nvme::status::Status;
use frontend::nvme::wire::Sqe;

use crate::sqe;

const SIZE: u64 = 64 << 20;

/// A command for these blocks, with data over the connection.
fn blocks(opcode: u8, first: u64, count: u32, control: u16) -> Sqe {
    let last = u16::try_from(count - 1).unwrap().to_le_bytes();
    let length = (count * 512).to_le_bytes();
    let (first, control) = (first.to_le_bytes(), control.to_le_bytes());
    let fields: [(usize, &[u8]); 5] =
        [(4, &[1]), (32, &length), (40, &first), (48, &last), (50, &control)];
    sqe(opcode, &fields)
}

fn kind_of(io: Result<Io, Status>) -> Kind {
    match io.unwrap().what {
        What::Block(request) => request.kind,
        other @ (What::Deallocate { .. } | What::Nothing) => panic!("{other:?}"),
    }
}

#[test]
fn reads_and_writes_are_understood() {
    let io = decode(&blocks(2, 8, 16, 0), 0, Some(SIZE)).unwrap();
    let request = Request { kind: Kind::Read, offset: 4096, length: 8192 };
    assert_eq!(io, Io { what: What::Block(request), fua: false, data: Data::ToHost });
    let io = decode(&blocks(1, 8, 16, 1 << 14), 0, Some(SIZE)).unwrap();
    let request = Request { kind: Kind::Write { fua: true }, offset: 4096, length: 8192 };
    let data = Data::OnLeave { length: 8192 };
    assert_eq!(io, Io { what: What::Block(request), fua: true, data });
    assert_eq!(
        kind_of(decode(&blocks(8, 0, 8, 0), 0, Some(SIZE))),
        Kind::Zeroes { deallocate: false }
    );
    let zeroes = decode(&blocks(8, 0, 8, 1 << 9 | 1 << 14), 0, Some(SIZE)).unwrap();
    assert!(zeroes.fua);
    assert_eq!(kind_of(Ok(zeroes)), Kind::Zeroes { deallocate: true });
    assert_eq!(kind_of(decode(&sqe(0, &[(4, &[1])]), 0, Some(SIZE))), Kind::Flush);
    assert_eq!(kind_of(decode(&sqe(0, &[(4, &[0xff; 4])]), 0, Some(SIZE))), Kind::Flush);
}

#[test]
fn what_is_outside_of_the_volume_is_refused() {
    let last = SIZE / 512 - 1;
    decode(&blocks(2, last, 1, 0), 0, Some(SIZE)).unwrap();
    for (first, count) in [(last, 2), (last + 1, 1), (u64::MAX, 1), (1 << 55, 1)] {
        for opcode in [1, 2, 8] {
            let refused = decode(&blocks(opcode, first, count, 0), 0, Some(SIZE));
            assert_eq!(refused, Err(Status::LBA_OUT_OF_RANGE), "{first}+{count}");
        }
    }
}

#[test]
fn lengths_must_agree() {
    decode(&blocks(2, 0, 2048, 0), 0, Some(SIZE)).unwrap();
    assert_eq!(decode(&blocks(2, 0, 2049, 0), 0, Some(SIZE)), Err(Status::INVALID_FIELD), "MDTS");
    decode(&blocks(8, 0, 1 << 16, 0), 0, Some(SIZE)).unwrap();
    let short = sqe(1, &[(4, &[1]), (32, &[0, 1])]);
    assert_eq!(decode(&short, 0, Some(SIZE)), Err(Status::DATA_LENGTH_INVALID));
    let capsule = |length: &[u8]| sqe(1, &[(4, &[1]), (32, length), (39, &[1])]);
    assert_eq!(decode(&capsule(&[0, 2]), 512, Some(SIZE)).unwrap().data, Data::InCapsule);
    assert_eq!(decode(&capsule(&[0, 2]), 511, Some(SIZE)), Err(Status::DATA_LENGTH_INVALID));
    assert_eq!(decode(&capsule(&[0, 2]), 0, Some(SIZE)), Err(Status::DATA_LENGTH_INVALID));
    let keyed = sqe(2, &[(4, &[1]), (32, &[0, 2]), (39, &[0x40])]);
    assert_eq!(decode(&keyed, 0, Some(SIZE)), Err(Status::SGL_TYPE_INVALID));
}

#[test]
fn other_commands_and_namespaces_are_refused() {
    for opcode in [0x03, 0x04, 0x05, 0x0c, 0x0d, 0x11, 0x7e, 0xff] {
        assert_eq!(decode(&sqe(opcode, &[(4, &[1])]), 0, Some(SIZE)), Err(Status::INVALID_OPCODE));
    }
    for namespace in [[0; 4], [2, 0, 0, 0], [0xff; 4]] {
        let read = sqe(2, &[(4, &namespace), (32, &[0, 2])]);
        assert_eq!(decode(&read, 0, None), Err(Status::INVALID_NAMESPACE));
        let flushed = decode(&sqe(0, &[(4, &namespace)]), 0, None);
        assert_eq!(flushed.is_ok(), namespace == [0xff; 4], "a flush of all needs no other name");
    }
}

/// The write of a compare-and-write was carried out, though its compare was refused.
#[test]
fn half_of_a_fused_pair_is_refused() {
    for fuse in [1, 2, 3] {
        for opcode in [0, 1, 2, 5, 8, 9] {
            let half = sqe(opcode, &[(1, &[0x40 | fuse]), (4, &[1]), (32, &[0, 2])]);
            assert_eq!(decode(&half, 0, Some(SIZE)), Err(Status::INVALID_FIELD), "{opcode}");
        }
    }
    decode(&sqe(1, &[(1, &[0x40]), (4, &[1]), (32, &[0, 2])]), 0, Some(SIZE)).unwrap();
}

#[test]
fn ranges_are_read_one_by_one() {
    let dataset = |count: u8, length: u32, attributes: u8| {
        let length = length.to_le_bytes();
        sqe(9, &[(4, &[1]), (32, &length), (40, &[count - 1]), (44, &[attributes])])
    };
    let io = decode(&dataset(2, 4096, 4), 0, Some(SIZE)).unwrap();
    assert_eq!(io.what, What::Deallocate { ranges: 2 });
    assert_eq!(io.data, Data::OnLeave { length: 4096 });
    assert_eq!(decode(&dataset(2, 32, 3), 0, Some(SIZE)).unwrap().what, What::Nothing);
    assert_eq!(decode(&dataset(2, 31, 4), 0, Some(SIZE)), Err(Status::DATA_LENGTH_INVALID));
    assert_eq!(decode(&dataset(2, 8192, 4), 0, Some(SIZE)), Err(Status::DATA_LENGTH_INVALID));
    let mut ranges = vec![0; 48];
    ranges[4..8].copy_from_slice(&16_u32.to_le_bytes());
    ranges[8..16].copy_from_slice(&8_u64.to_le_bytes());
    ranges[36..40].copy_from_slice(&1_u32.to_le_bytes());
    ranges[40..48].copy_from_slice(&(SIZE / 512).to_le_bytes());
    let first = Request { kind: Kind::Discard, offset: 4096, length: 8192 };
    assert_eq!(range(&ranges, 0, SIZE), Ok(Some(first)));
    assert_eq!(range(&ranges, 1, SIZE), Ok(None), "a range may be empty");
    assert_eq!(range(&ranges, 2, SIZE), Err(Status::LBA_OUT_OF_RANGE));
}
