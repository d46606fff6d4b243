//! vhost-user-blk: block devices of virtual machines, whose memory we share.
//!
//! ```text
//! unix socket   messages, with files       `wire`, `session`  features, memory, places of rings
//! guest memory  descriptors -> Chain       `memory`, `ring`   a ring for each queue of the guest
//!               Chain -> Wanted -> parts   `request`          of the core
//! kept memory   what is not answered yet   `inflight`         for a daemon that comes after us
//! ```
//!
//! State machines over bytes: the sockets, the mapped memory and the eventfds are the daemon's. The
//! guest writes its memory while we look at it, and may mean ill. So whatever is checked is copied
//! first; an address, an index or a length that cannot be right breaks the device off, with the
//! reason ([`Broken`]), and nothing else.

pub mod wire;
pub mod config;
pub mod memory;
pub mod session;
pub mod ring;
pub mod request;
pub mod inflight;

/// Why a device is broken off: what the other side did that it must not do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    #[error("the monitor {0}")]
    Monitor(String),
    #[error("the guest's driver {0}")]
    Driver(String),
}

impl Broken {
    pub(crate) fn monitor(what: impl Into<String>) -> Self {
        Self::Monitor(what.into())
    }

    pub(crate) fn driver(what: impl Into<String>) -> Self {
        Self::Driver(what.into())
    }
}
