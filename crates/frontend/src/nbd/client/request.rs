//! A request of our client, as its sender is given it.

use crate::nbd::wire::Command;

/// One request. `flags` are `CMD_FLAG_` bits; the length flag of extended headers is set by the
/// sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub command: Command,
    pub flags: u16,
    /// Must differ from the cookie of every request in flight.
    pub cookie: u64,
    pub offset: u64,
    pub length: u64,
}

impl Request {
    /// Where the request ends. One that reaches past the last number is the server's to refuse.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}
