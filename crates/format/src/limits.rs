//! How much one message carries: what is longer is split before it is sent.

/// The most payload bytes of one message: a longer request is split before it is sequenced.
pub const PAYLOAD_BYTES_MAX: u32 = 128 << 10;
/// The most ranges in one list of a message: all that fits into a frame, since a replica that
/// crashed with every slot of its activity log full reports 16,384 extents that way. Longer lists
/// are sent in pieces, or coarsened.
pub const RANGES_MAX: usize = 65_536;
