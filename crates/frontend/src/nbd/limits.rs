//! What one client may make a server hold or wait for.

/// The most bytes of an option that are kept: a name and some queries of the longest kind.
pub const OPTION_BYTES_MAX: usize = 16 * 1024;

/// A longer option up to this is read past and refused; a still longer one ends the connection.
pub const OPTION_DRAIN_BYTES_MAX: u32 = 1 << 20;

/// A client that has not chosen an export by then is not looking for one.
pub const OPTIONS_MAX: u32 = 1024;

/// The most bytes of one read or write, unless an export says less.
pub const PAYLOAD_BYTES_MAX: u32 = 32 << 20;

/// A longer write up to this is read past and refused; a still longer one ends the connection.
pub const PAYLOAD_DRAIN_BYTES_MAX: u64 = 128 << 20;

/// What an export demands and prefers, unless it says otherwise.
pub const BLOCK_MIN_BYTES: u32 = 1;
pub const BLOCK_PREFERRED_BYTES: u32 = 4096;

/// The size of the pieces into which a long read or write is split.
pub const PART_BYTES: u32 = 128 * 1024;

/// The most parts of one request: its ends need not lie on a boundary of parts.
pub const PARTS_MAX: u16 = 257;

/// The most of an error's text that is sent.
pub const MESSAGE_BYTES_MAX: usize = 128;

const _: () = {
    assert!(PART_BYTES as u64 == crate::block::PART_BYTES);
    assert!(PAYLOAD_BYTES_MAX / PART_BYTES + 1 == PARTS_MAX as u32);
    assert!(OPTION_BYTES_MAX > 2 * crate::nbd::wire::STRING_BYTES_MAX);
    assert!(OPTION_BYTES_MAX < OPTION_DRAIN_BYTES_MAX as usize);
    assert!(PAYLOAD_DRAIN_BYTES_MAX > PAYLOAD_BYTES_MAX as u64);
    assert!(BLOCK_MIN_BYTES.is_power_of_two() && BLOCK_PREFERRED_BYTES >= BLOCK_MIN_BYTES);
};
