//! What holds in the end, in words: a line for each option, in one unit whatever the file's was.
//!
//! ```text
//! resource quorum majority
//! peer 1 protocol C
//! peer-device 1 0 c-max-rate 104857600        bytes per second
//! disk 0 al-extents 1237
//! ```
//!
//! The lines come from what the daemon is given, not from what the file says: what is lost between
//! the two shows. A time that was not set is `own`, Basalt's; a secret is told of and not shown.

use crate::effective::{
    AckWhen, Congestion, DiskOptions, Fencing, NetOptions, OnCongestion, OnIoError, OnNoQuorum,
    Patience, Quorum, ReadBalancing,
};
use crate::model::{Host, Resource};
use crate::options::value::Value;

/// What the lines of one object begin with, and those that were made.
struct Lines {
    of: String,
    made: Vec<String>,
}

impl Lines {
    fn begin(&mut self, of: String) {
        self.of = of;
    }

    #[expect(clippy::needless_pass_by_value, reason = "words and numbers come as they are made")]
    fn add(&mut self, name: &str, value: impl ToString) {
        self.made.push(format!("{} {name} {}", self.of, value.to_string()));
    }

    /// `absent` stands for what was not set.
    fn add_or(&mut self, name: &str, value: Option<impl ToString>, absent: &str) {
        self.add(name, value.map_or_else(|| absent.to_owned(), |value| value.to_string()));
    }
}

impl Resource {
    /// The options that are in effect on the node, by object.
    #[must_use]
    pub fn effective_lines(&self, node_name: &str) -> Vec<String> {
        let mut lines = Lines { of: String::new(), made: Vec::new() };
        let Some(host) = self.host_by_name(node_name) else { return Vec::new() };
        self.add_own(&mut lines);
        for peer in self.peers_of(node_name) {
            lines.begin(format!("peer {}", peer.node_id));
            add_net(&mut lines, &self.net_options(node_name, &peer.name));
            for volume in &host.volumes {
                let number = volume.number;
                let options = self.peer_disk_options(node_name, &peer.name, number);
                lines.begin(format!("peer-device {} {number}", peer.node_id));
                lines.add_or("c-max-rate", options.c_max_rate_bytes, "unlimited");
                lines.add("peer-tiebreaker", Value::Flag(options.peer_tiebreaker));
            }
        }
        self.add_disks(&mut lines, host);
        lines.made
    }

    fn add_own(&self, lines: &mut Lines) {
        let own = self.resource_options();
        lines.begin("resource".to_owned());
        lines.add("quorum", quorum(own.quorum));
        lines.add("quorum-minimum-redundancy", quorum(own.redundancy));
        lines.add("on-no-quorum", policy(own.on_no_quorum));
        lines.add("on-no-data-accessible", policy(own.on_no_data));
        lines.add("auto-promote", Value::Flag(own.auto_promote));
        lines.add("auto-promote-timeout", own.auto_promote_ms);
        let cores = self.cpu_mask().map(|cores| {
            let cores: Vec<String> = cores.iter().map(usize::to_string).collect();
            cores.join(",")
        });
        lines.add_or("cpu-mask", cores, "none");
    }

    fn add_disks(&self, lines: &mut Lines, host: &Host) {
        for volume in host.volumes.iter().filter(|volume| !volume.is_diskless()) {
            lines.begin(format!("disk {}", volume.number));
            add_disk(lines, &self.disk_options(&host.name, volume.number));
            let after = self.resync_after(&host.name, volume.number);
            let after = after.map(|(resource, number)| format!("{resource}/{number}"));
            lines.add_or("resync-after", after, "none");
        }
    }
}

fn add_net(lines: &mut Lines, net: &NetOptions) {
    let ack_when = match net.ack_when {
        AckWhen::Sent => "A",
        AckWhen::Received => "B",
        AckWhen::Durable => "C",
    };
    lines.add("protocol", ack_when);
    let Congestion { then, fill_bytes, extents } = net.congestion;
    let then = match then {
        OnCongestion::Block => "block",
        OnCongestion::PullAhead => "pull-ahead",
        OnCongestion::Disconnect => "disconnect",
    };
    lines.add("on-congestion", then);
    lines.add("congestion-fill", fill_bytes);
    lines.add("congestion-extents", extents);
    let patience = match net.patience {
        Patience::Own => "own".to_owned(),
        Patience::Milliseconds(ms) => ms.to_string(),
        Patience::Endless => "endless".to_owned(),
    };
    lines.add("timeout-times-ko-count", patience);
    lines.add_or("connect-int", net.connect_interval_ms, "own");
    lines.add_or("ping-int", net.ping_interval_ms, "own");
    lines.add_or("ping-timeout", net.ping_timeout_ms, "own");
    lines.add_or("csums-alg", net.csums_alg.as_ref(), "none");
    lines.add("csums-after-crash-only", Value::Flag(net.csums_after_crash_only));
    lines.add("allow-remote-read", Value::Flag(net.allow_remote_read));
    lines.add("tls", Value::Flag(net.tls));
    lines.add("load-balance-paths", Value::Flag(net.load_balance_paths));
    lines.add("after-sb-0pri", &net.after_split.none);
    lines.add("after-sb-1pri", &net.after_split.one);
    lines.add("after-sb-2pri", &net.after_split.two);
    lines.add_or("sndbuf-size", net.send_buffer_bytes, "own");
    lines.add_or("rcvbuf-size", net.receive_buffer_bytes, "own");
    let fencing = match net.fencing {
        Fencing::DontCare => "dont-care",
        Fencing::ResourceOnly => "resource-only",
        Fencing::ResourceAndStonith => "resource-and-stonith",
    };
    lines.add("fencing", fencing);
    lines.add_or("cram-hmac-alg", net.cram_hmac_alg.as_ref(), "none");
    lines.add("shared-secret", if net.shared_secret.is_some() { "(hidden)" } else { "none" });
}

fn add_disk(lines: &mut Lines, disk: &DiskOptions) {
    lines.add("al-extents", disk.al_extents);
    let reads = match disk.read_balancing {
        ReadBalancing::PreferLocal => "prefer-local".to_owned(),
        ReadBalancing::PreferRemote => "prefer-remote".to_owned(),
        ReadBalancing::RoundRobin => "round-robin".to_owned(),
        ReadBalancing::LeastPending => "least-pending".to_owned(),
        ReadBalancing::Striping { kib: 1024 } => "1M-striping".to_owned(),
        ReadBalancing::Striping { kib } => format!("{kib}K-striping"),
        ReadBalancing::Weighted => "weighted".to_owned(),
    };
    lines.add("read-balancing", reads);
    let on_io_error = match disk.on_io_error {
        OnIoError::Detach => "detach",
        OnIoError::CallHandler => "call-local-io-error",
    };
    lines.add("on-io-error", on_io_error);
    lines.add_or("disk-timeout", disk.disk_timeout_ms, "none");
    lines.add_or("size", disk.size_bytes, "all");
    lines.add("block-size", disk.block_bytes);
    lines.add_or("discard-granularity", disk.discard_granularity_bytes, "own");
}

fn quorum(quorum: Quorum) -> String {
    match quorum {
        Quorum::Off => "off".to_owned(),
        Quorum::Majority => "majority".to_owned(),
        Quorum::All => "all".to_owned(),
        Quorum::AtLeast(count) => count.to_string(),
    }
}

fn policy(policy: OnNoQuorum) -> &'static str {
    match policy {
        OnNoQuorum::SuspendIo => "suspend-io",
        OnNoQuorum::IoError => "io-error",
    }
}
