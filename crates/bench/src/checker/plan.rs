//! What the load is to be: its servers and its measures, and the options that set them.

use std::time::Duration;

use frontend::nbd::client::uri::Uri;
use io::random_u64;

use crate::needs;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) servers: Vec<Uri>,
    pub(crate) seed: u64,
    /// Only this much from the start of the volume is touched.
    pub(crate) span_bytes: u64,
    pub(crate) connections: usize,
    /// Requests in flight per connection.
    pub(crate) depth: usize,
    /// An answer that takes longer ends the session.
    pub(crate) answer_limit: Duration,
    /// Without any session for this long the run has failed.
    pub(crate) reconnect_limit: Duration,
}

impl Plan {
    /// A moderate load on the first `span_bytes`.
    pub(crate) fn new(servers: Vec<Uri>, seed: u64, span_bytes: u64) -> Self {
        Self {
            servers,
            seed,
            span_bytes,
            connections: 4,
            depth: 8,
            answer_limit: Duration::from_secs(30),
            reconnect_limit: Duration::from_secs(60),
        }
    }
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LoadOptions {
    /// MiB from the start of the volume that are written and read
    #[arg(long, default_value_t = 256, value_parser = needs::size_mib(1))]
    span_mib: u64,
    /// Connections, where the server allows several
    #[arg(long, default_value_t = 4, value_parser = needs::count())]
    connections: usize,
    /// Requests in flight per connection
    #[arg(long, default_value_t = 8, value_parser = needs::count())]
    depth: usize,
    /// Seed of the mix of requests; random when left out
    #[arg(long, value_parser = needs::any("a seed"))]
    seed: Option<u64>,
    /// Seconds that a request may take before its connection is given up
    #[arg(long, default_value_t = 30, value_parser = needs::long_seconds())]
    answer_limit: u64,
    /// Seconds without any server before the run has failed
    #[arg(long, default_value_t = 60, value_parser = needs::long_seconds())]
    reconnect_limit: u64,
}

impl LoadOptions {
    pub(crate) fn plan(&self, servers: Vec<Uri>) -> Plan {
        Plan {
            servers,
            seed: self.seed.unwrap_or_else(|| random_u64() >> 32),
            span_bytes: self.span_mib << 20,
            connections: self.connections.max(1),
            depth: self.depth.max(1),
            answer_limit: Duration::from_secs(self.answer_limit),
            reconnect_limit: Duration::from_secs(self.reconnect_limit),
        }
    }
}
