//! Opening disks.

/// Whether a disk is used past the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direct {
    /// `O_DIRECT` where the file system has it, the page cache elsewhere.
    #[default]
    Auto,
    /// `O_DIRECT`, or opening fails.
    Required,
    /// The page cache.
    Never,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct DiskOptions {
    /// Nobody else may have it open this way: `O_EXCL` of a device, `flock` of a file.
    pub exclusive: bool,
    pub read_only: bool,
    pub direct: Direct,
}

/// How requests reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathMode {
    /// `O_DIRECT` through the ring.
    Direct,
    /// Memory file system: `pwritev2` and `preadv2` on the shard's thread.
    InlineMemory,
    /// Page cache: cached writes and cache hits on the shard's thread, the rest by the ring's workers.
    InlineBuffered,
}

#[derive(Clone, Copy, Debug)]
pub struct DiskInfo {
    pub size_bytes: u64,
    /// Memory must start at a multiple of this.
    pub mem_align: u32,
    /// Offset and length must be multiples of this.
    pub offset_align: u32,
    pub path_mode: PathMode,
    pub is_block_device: bool,
}
