//! The bounds of everything that a configuration file can make long.
//!
//! A configuration is input like any other: no file, however odd, may take unbounded time, memory
//! or stack. The limits on words and strings are DRBD's own.

/// Bytes in a word without quotes.
pub const WORD_BYTES_MAX: usize = 128;
/// Bytes between two quotes, after escapes are undone.
pub const STRING_BYTES_MAX: usize = 255;
/// Bytes in one file, in all files together, and in text that comes from no file. A resource that
/// one file describes may be longer where everything inherited is written out.
pub const TOTAL_BYTES_MAX: u64 = 64 << 20;
/// Files read for one configuration.
pub const FILES_MAX: usize = 16_384;
/// Entries looked at in one directory while a pattern is expanded.
pub const DIRECTORY_ENTRIES_MAX: usize = 65_536;
/// How deep files may include files.
pub const INCLUDE_DEPTH_MAX: usize = 10;
/// Errors that are reported; reading stops at the last of them.
pub const ERRORS_MAX: usize = 20;
/// Characters of a source line that an error shows.
pub const SHOWN_CHARS_MAX: usize = 100;
/// Allowed words that an error lists.
pub const ALLOWED_SHOWN_MAX: usize = 80;
/// Hosts of one resource: node ids are 0..=31.
pub const HOSTS_MAX: usize = 32;
/// The highest node id.
pub const NODE_ID_MAX: u64 = 31;
/// The highest volume number.
pub const VOLUME_MAX: u64 = 65_534;
/// The highest device minor.
pub const MINOR_MAX: u64 = (1 << 20) - 1;
/// Bytes in the name of a resource.
pub const NAME_BYTES_MAX: usize = 127;
/// Bytes in the name of a host: what nodes tell each other of themselves.
pub const HOST_NAME_BYTES_MAX: usize = 64;
/// Volumes of one resource on one host.
pub const VOLUMES_MAX: usize = 256;
/// Resources of one configuration.
pub const RESOURCES_MAX: usize = 16_384;
/// Volumes of one configuration, counted on every host that has them.
pub const REPLICAS_MAX: usize = 131_072;
/// Connections of one configuration. A few words can stand for many of them.
pub const CONNECTIONS_TOTAL_MAX: usize = 131_072;
/// Connections of one resource: every pair of hosts once.
pub const CONNECTIONS_MAX: usize = HOSTS_MAX * (HOSTS_MAX - 1) / 2;
/// Paths of one connection.
pub const PATHS_MAX: usize = 16;
