//! The number by which a shard knows a resource.

/// The shard's number of a resource that it hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostedId(pub u32);
