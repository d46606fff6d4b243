//! Commands to `/dev/ublk-control`, and the structures that go with them.
//!
//! Numbers and layouts are those of the kernel's `linux/ublk_cmd.h`, in the byte order of the
//! machine. A command's header is the caller's: here are operations and buffers.
//!
//! ```text
//! struct ublksrv_ctrl_dev_info, 64 bytes      struct ublk_params, as far as it is used, 60 bytes
//!  0 u16 queues        16 i32 server's pid     0 u32 length       24 u64 sectors
//!  2 u16 depth         24 u64 flags            4 u32 kinds        32 u64 (boundary, unused)
//!  4 u16 state         32 u64 server's own     8 u32 attributes   40 u32 discard alignment
//!  8 u32 bytes per I/O 40 u32 owner            12 4 x u8 shifts   44 u32 discard granularity
//! 12 u32 device        44 u32 group            16 u32 sectors/I/O 48 u32 sectors per discard
//!                                              20 u32 (chunk)     52 u32 sectors per zeroing
//!                                                                 56 u16 segments per discard
//! ```
#![expect(clippy::host_endian_bytes, reason = "the kernel of this machine reads and writes these")]

/// Operations, as the ioctl numbers that the driver wants.
pub mod operation {
    pub const GET_DEVICE_INFO: u32 = 0x8020_7502;
    pub const ADD: u32 = 0xc020_7504;
    /// Waits until nobody holds the device.
    pub const DELETE: u32 = 0xc020_7505;
    pub const START: u32 = 0xc020_7506;
    pub const STOP: u32 = 0xc020_7507;
    pub const SET_PARAMETERS: u32 = 0xc020_7508;
    pub const START_RECOVERY: u32 = 0xc020_7510;
    pub const END_RECOVERY: u32 = 0xc020_7511;
    pub const GET_FEATURES: u32 = 0x8020_7513;
    pub const DELETE_ASYNC: u32 = 0x8020_7514;
    /// The value is the new size in sectors. Linux 6.16.
    pub const UPDATE_SIZE: u32 = 0xc020_7515;
}

/// What the driver can do, and what a device is made with.
pub mod feature {
    /// A device outlives its server.
    pub const USER_RECOVERY: u64 = 1 << 3;
    /// What the old server did not answer is asked of the new one.
    pub const USER_RECOVERY_REISSUE: u64 = 1 << 4;
    /// Data is read and written through the character device. Linux 6.5.
    pub const USER_COPY: u64 = 1 << 7;
    /// A device that is there can get another size.
    pub const UPDATE_SIZE: u64 = 1 << 10;
}

/// What every device of ours is made with.
pub const FEATURES: u64 =
    feature::USER_RECOVERY | feature::USER_RECOVERY_REISSUE | feature::USER_COPY;

/// The longest request: a few parts, each of which lies in one buffer.
pub const REQUEST_BYTES_MAX: u32 = 1 << 20;
/// The longest discard or zeroing: 256 extents, so that it ends in a bounded time.
pub const RANGE_BYTES_MAX: u32 = 1 << 30;
pub const SECTOR_SHIFT: u8 = 9;
const BLOCK_SHIFT: u8 = 12;
const ATTRIBUTE_VOLATILE_CACHE: u32 = 1 << 2;
const ATTRIBUTE_FUA: u32 = 1 << 3;
const KIND_BASIC: u32 = 1 << 0;
const KIND_DISCARD: u32 = 1 << 1;

pub const DEVICE_INFO_BYTES: usize = 64;
pub const PARAMETERS_BYTES: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// Not started, or stopped.
    Dead,
    Live,
    /// Its server is gone: requests wait for another.
    Quiesced,
    /// A state of a newer kernel.
    Other(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    pub queues: u16,
    pub depth: u16,
    pub state: DeviceState,
    pub device: u32,
    /// The process that started it, or took it over last.
    pub server: u32,
    pub flags: u64,
    /// For the server alone: the kernel keeps it with the device.
    pub mark: u64,
}

impl DeviceInfo {
    /// The buffer of `ADD`.
    #[must_use]
    pub fn to_add(device: u32, queues: u16, depth: u16, mark: u64) -> [u8; DEVICE_INFO_BYTES] {
        let mut bytes = [0; DEVICE_INFO_BYTES];
        bytes[0..2].copy_from_slice(&queues.to_ne_bytes());
        bytes[2..4].copy_from_slice(&depth.to_ne_bytes());
        bytes[8..12].copy_from_slice(&REQUEST_BYTES_MAX.to_ne_bytes());
        bytes[12..16].copy_from_slice(&device.to_ne_bytes());
        bytes[24..32].copy_from_slice(&FEATURES.to_ne_bytes());
        bytes[32..40].copy_from_slice(&mark.to_ne_bytes());
        bytes
    }

    /// What the kernel answered to `ADD` or `GET_DEVICE_INFO`.
    #[must_use]
    pub fn decode(bytes: &[u8; DEVICE_INFO_BYTES]) -> Self {
        Self {
            queues: u16::from_ne_bytes(at(bytes, 0)),
            depth: u16::from_ne_bytes(at(bytes, 2)),
            state: match u16::from_ne_bytes(at(bytes, 4)) {
                0 => DeviceState::Dead,
                1 => DeviceState::Live,
                2 => DeviceState::Quiesced,
                other => DeviceState::Other(other),
            },
            device: u32::from_ne_bytes(at(bytes, 12)),
            server: u32::from_ne_bytes(at(bytes, 16)),
            flags: u64::from_ne_bytes(at(bytes, 24)),
            mark: u64::from_ne_bytes(at(bytes, 32)),
        }
    }
}

/// What the options of a volume say of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The unit of requests: 512 or 4096.
    pub logical_bytes: u32,
    /// The unit of discards; 0 is a device without them.
    pub discard_bytes: u32,
}

impl Shape {
    pub const DEFAULT: Self =
        Self { logical_bytes: 1 << SECTOR_SHIFT, discard_bytes: 1 << BLOCK_SHIFT };
}

/// The buffer of `SET_PARAMETERS` for a volume of this size: 4 KiB blocks, a volatile cache with
/// FUA, and zeroes.
#[must_use]
pub fn parameters(size_bytes: u64, shape: Shape) -> [u8; PARAMETERS_BYTES] {
    let logical_shift = if shape.logical_bytes > 512 { BLOCK_SHIFT } else { SECTOR_SHIFT };
    let sectors = |bytes: u32| (bytes >> SECTOR_SHIFT).to_ne_bytes();
    let mut bytes = [0; PARAMETERS_BYTES];
    let length = u32::try_from(PARAMETERS_BYTES).expect("a small constant");
    bytes[0..4].copy_from_slice(&length.to_ne_bytes());
    bytes[4..8].copy_from_slice(&(KIND_BASIC | KIND_DISCARD).to_ne_bytes());
    bytes[8..12].copy_from_slice(&(ATTRIBUTE_VOLATILE_CACHE | ATTRIBUTE_FUA).to_ne_bytes());
    // Logical block, physical block, best I/O, smallest good I/O.
    bytes[12..16].copy_from_slice(&[logical_shift, BLOCK_SHIFT, BLOCK_SHIFT, BLOCK_SHIFT]);
    bytes[16..20].copy_from_slice(&sectors(REQUEST_BYTES_MAX));
    bytes[24..32].copy_from_slice(&(size_bytes >> SECTOR_SHIFT).to_ne_bytes());
    let discards = if shape.discard_bytes == 0 { 0 } else { RANGE_BYTES_MAX };
    // The driver wants a granularity of a device without discards, too.
    let granularity = shape.discard_bytes.max(1 << BLOCK_SHIFT);
    bytes[44..48].copy_from_slice(&granularity.to_ne_bytes());
    bytes[48..52].copy_from_slice(&sectors(discards));
    bytes[52..56].copy_from_slice(&sectors(RANGE_BYTES_MAX));
    bytes[56..58].copy_from_slice(&1_u16.to_ne_bytes());
    bytes
}

fn at<const N: usize>(bytes: &[u8; DEVICE_INFO_BYTES], place: usize) -> [u8; N] {
    *bytes[place..].first_chunk().expect("a field lies inside its structure")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_info_goes_there_and_back() {
        let mut bytes = DeviceInfo::to_add(3, 2, 128, 0x0102_0304_0506_0708);
        let info = DeviceInfo::decode(&bytes);
        assert_eq!((info.device, info.queues, info.depth), (3, 2, 128));
        assert_eq!((info.state, info.mark), (DeviceState::Dead, 0x0102_0304_0506_0708));
        assert_eq!(info.flags, 0x98);
        bytes[16] = 42;
        assert_eq!(DeviceInfo::decode(&bytes).server, 42);
        for (number, state) in
            [(1, DeviceState::Live), (2, DeviceState::Quiesced), (3, DeviceState::Other(3))]
        {
            bytes[4] = number;
            assert_eq!(DeviceInfo::decode(&bytes).state, state);
        }
    }

    /// A little-endian machine is assumed, as every one is that this runs on today.
    #[test]
    fn parameters_lie_where_the_kernel_looks() {
        let bytes = parameters(1 << 30, Shape::DEFAULT);
        assert_eq!(bytes[0..8], [60, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(bytes[8..16], [12, 0, 0, 0, 9, 12, 12, 12]);
        assert_eq!(bytes[16..24], [0, 8, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[24..32], (1_u64 << 21).to_le_bytes());
        assert_eq!(bytes[40..48], [0, 0, 0, 0, 0, 16, 0, 0]);
        assert_eq!(bytes[48..60], [0, 0, 32, 0, 0, 0, 32, 0, 1, 0, 0, 0]);
        let large = parameters(1 << 30, Shape { logical_bytes: 4096, discard_bytes: 1 << 20 });
        assert_eq!(large[8..16], [12, 0, 0, 0, 12, 12, 12, 12]);
        assert_eq!(large[40..60], [&[0, 0, 0, 0, 0, 0, 16, 0][..], &bytes[48..60]].concat());
        let without = parameters(1 << 30, Shape { discard_bytes: 0, ..Shape::DEFAULT });
        assert_eq!(without[40..52], [0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0]);
        assert_eq!(without[52..60], bytes[52..60], "zeroes are another thing");
    }
}
