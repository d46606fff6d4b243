//! The facts by which front ends tell the shard what their clients ask.

use replication::contract::{PartId, Request};

use crate::hosted_id::HostedId;
use crate::slab::Key;

/// What clients have to say to the shard.
#[derive(Debug)]
pub(crate) enum Fact {
    Request {
        hosted: HostedId,
        request: Request,
    },
    Flush {
        hosted: HostedId,
        part: PartId,
    },
    /// Answer with `Nbd::tell_allocation`.
    Allocation {
        hosted: HostedId,
        request: Key,
        offset: u64,
        length: u64,
    },
    /// A client waits for the resource to be Primary here: answer with `Nbd::admit` or `refuse`.
    Wanted {
        hosted: HostedId,
        by: Comer,
    },
    /// A client that waited or was served is gone.
    Left {
        hosted: HostedId,
    },
}

/// Who waits for a resource; of several the greater one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Comer {
    /// An NBD client. None can tell that it was there before, so after losses none is let in.
    Export,
    /// One that knows, or is told, what it had.
    Other,
}
