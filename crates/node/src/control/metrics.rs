//! The status as metrics, in the text format of Prometheus 0.0.4.
//!
//! What drbd-reactor exports comes under its names and with its labels, so that its dashboards and
//! alerts go on working; what it does not have begins with `basalt_`. Families are in a fixed
//! order, and each is there once a resource has something for it.

use std::fmt::Write;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::latency::LatencyHistogram;
use api::replication_state::ReplicationState;
use api::role::Role;
use api::status::{
    ConnectionStatus, DeviceStatus, PeerDeviceStatus, ReadsServed, ResourceStatus, STALLED_SECONDS,
    StatusReply,
};

/// Label names and values, in the order in which they are printed.
type Labels = Vec<(&'static str, String)>;

#[derive(Clone, Copy)]
enum Kind {
    Gauge,
    Counter,
    Histogram,
}

/// The text for a status with statistics.
pub(super) fn text(status: &StatusReply) -> String {
    let mut metrics = Metrics::default();
    node_metrics(status, &mut metrics);
    for resource in &status.resources {
        resource_metrics(resource, &mut metrics);
        for device in &resource.devices {
            device_metrics(resource, device, &mut metrics);
        }
        for connection in &resource.connections {
            connection_metrics(resource, connection, &mut metrics);
            for device in &connection.peer_devices {
                peer_device_metrics(resource, connection, device, &mut metrics);
            }
        }
    }
    metrics.text()
}

fn node_metrics(status: &StatusReply, metrics: &mut Metrics) {
    let none = Labels::new;
    metrics.gauge("drbdreactor_up", "The daemon answers.", &none(), true);
    let version = &status.node.version;
    let versions = vec![("kmod", version.clone()), ("utils", version.clone())];
    metrics.gauge("drbd_version", "Versions, as labels.", &versions, true);
    let count = status.resources.len() as u64;
    metrics.gauge("drbd_resource_resources", "Resources of this node.", &none(), count);
    let name = vec![("node", status.node.name.clone()), ("version", version.clone())];
    metrics.gauge("basalt_node", "This node, as labels.", &name, true);
    let uptime = status.node.uptime_ms / 1000;
    metrics.gauge("basalt_uptime_seconds", "Time since the daemon started.", &none(), uptime);
    if let Some(end) = status.node.certificate_end {
        let help = "When other nodes stop to take this node's certificate, since 1970.";
        metrics.gauge("basalt_certificate_end_timestamp_seconds", help, &none(), end);
    }
}

fn resource_metrics(resource: &ResourceStatus, metrics: &mut Metrics) {
    let name = || vec![("name", resource.name.clone())];
    for role in Role::ALL {
        let mut labels = name();
        labels.push(("drbd_resource_role", role.to_string()));
        metrics.gauge("drbd_resource_role", "Role of this node.", &labels, resource.role == role);
    }
    let flags = [
        ("drbd_resource_suspended", "Requests are held back.", resource.suspended),
        ("drbd_resource_maypromote", "Some node may become Primary.", resource.may_promote),
        ("drbd_resource_forceiofailures", "Requests fail.", resource.force_io_failures),
    ];
    for (family, help, flag) in flags {
        metrics.gauge(family, help, &name(), flag);
    }
    let help = "How well this node would do as Primary.";
    metrics.gauge("drbd_resource_promotionscore", help, &name(), resource.promotion_score);
    // A resource that could not be brought up has a reason and no parts.
    let is_down = resource.devices.is_empty();
    metrics.gauge("basalt_resource_held_down", "It could not be brought up.", &name(), is_down);
    if let Some(votes) = &resource.quorum_votes {
        let have = u64::from(votes.have);
        metrics.gauge("basalt_quorum_votes", "Voters that answer.", &name(), have);
        let needed = u64::from(votes.needed);
        metrics.gauge("basalt_quorum_votes_needed", "Voters that must answer.", &name(), needed);
        if let Some(before) = votes.before_change {
            let help = "Voters of before the change under way that answer.";
            metrics.gauge("basalt_quorum_votes_before", help, &name(), u64::from(before.have));
            let help = "Voters of before the change under way that must answer.";
            let needed = u64::from(before.needed);
            metrics.gauge("basalt_quorum_votes_before_needed", help, &name(), needed);
        }
        for voter in &votes.voters {
            let mut labels = name();
            labels.push(("voter", voter.name.clone()));
            labels.push(("node_id", voter.node_id.to_string()));
            metrics.gauge("basalt_quorum_voter_present", "It answers.", &labels, voter.present);
        }
    }
    verify_metrics(resource, metrics);
    handler_metrics(resource, metrics);
    if let Some(epoch) = &resource.epoch {
        let help = "Number of the newest configuration that is known to be chosen.";
        metrics.gauge("basalt_epoch", help, &name(), epoch.epoch);
        let help = "For how long no quorum was in reach, nor the leader: the others are of then.";
        metrics.gauge("basalt_epoch_age_seconds", help, &name(), epoch.age_ms.unwrap_or(0) / 1000);
        let help = "Replicas that have every acknowledged write.";
        metrics.gauge("basalt_insync_replicas", help, &name(), epoch.insync.len() as u64);
        let help = "Replicas that the configuration names.";
        metrics.gauge("basalt_replicas", help, &name(), replicas(resource));
        let help = "Promotions that may have lost acknowledged writes.";
        metrics.counter("basalt_losses_total", help, &name(), epoch.losses.into());
    }
}

/// Of this node and its peers, by their first volume: all volumes have the same members.
fn replicas(resource: &ResourceStatus) -> u64 {
    let own = resource.devices.first().is_some_and(|device| !device.client);
    let has_disk =
        |it: &&ConnectionStatus| it.peer_devices.first().is_some_and(|it| !it.peer_client);
    u64::from(own) + resource.connections.iter().filter(has_disk).count() as u64
}

fn handler_metrics(resource: &ResourceStatus, metrics: &mut Metrics) {
    for handler in &resource.handlers {
        let labels = vec![("name", resource.name.clone()), ("handler", handler.name.clone())];
        let help = "Calls of a handler that ended.";
        metrics.counter("basalt_handler_calls_total", help, &labels, handler.calls);
        let help = "Those that failed, took too long or could not be made.";
        metrics.counter("basalt_handler_failures_total", help, &labels, handler.failures);
        let help = "Calls of a handler that run or wait.";
        metrics.gauge("basalt_handler_pending", help, &labels, handler.pending);
    }
}

/// Of the last comparison that this node led.
fn verify_metrics(resource: &ResourceStatus, metrics: &mut Metrics) {
    let Some(verify) = &resource.verify else { return };
    let labels = || vec![("name", resource.name.clone())];
    for state in ["waiting", "running", "done", "interrupted"] {
        let mut labels = labels();
        labels.push(("state", state.to_owned()));
        let help = "State of the last comparison of the replicas that this node led.";
        metrics.gauge("basalt_verify_state", help, &labels, verify.state == state);
    }
    let amounts = [
        ("basalt_verify_compared_bytes", "What it compared.", verify.verified),
        ("basalt_verify_skipped_bytes", "What it left out.", verify.skipped),
    ];
    for (family, help, kib) in amounts {
        metrics.gauge(family, help, &labels(), kib * 1024);
    }
    for (replica, kib) in &verify.differing {
        let mut labels = labels();
        labels.push(("replica", replica.clone()));
        let help = "What it found to differ at this replica.";
        metrics.gauge("basalt_verify_differing_bytes", help, &labels, kib * 1024);
    }
}

fn device_metrics(resource: &ResourceStatus, device: &DeviceStatus, metrics: &mut Metrics) {
    let labels = || {
        vec![
            ("name", resource.name.clone()),
            ("volume", device.volume.to_string()),
            ("minor", device.minor.to_string()),
        ]
    };
    for state in DiskState::ALL {
        let mut labels = labels();
        labels.push(("drbd_device_state", state.to_string()));
        let help = "State of the local disk.";
        metrics.gauge("drbd_device_state", help, &labels, device.disk_state == state);
    }
    let is_diskless = device.disk_state == DiskState::Diskless && !device.client;
    let flags = [
        ("drbd_device_client", "It has no disk here by configuration.", device.client),
        ("drbd_device_unintentionaldiskless", "Its disk was given up.", is_diskless),
        ("drbd_device_quorum", "A majority of the voters answers.", device.quorum),
        ("drbd_device_open", "A client has it open.", device.open),
        ("drbd_device_alsuspended", "The activity log is suspended.", device.al_suspended),
    ];
    for (family, help, flag) in flags {
        metrics.gauge(family, help, &labels(), flag);
    }
    if let Some(counted) = &device.statistics {
        let bytes = |kib: u64| kib * 1024;
        metrics.gauge("drbd_device_size_bytes", "Size.", &labels(), bytes(counted.size));
        let counters = [
            ("drbd_device_read_bytes_total", "Read from the disk.", bytes(counted.read)),
            ("drbd_device_written_bytes_total", "Written to the disk.", bytes(counted.written)),
            ("drbd_device_alwrites_total", "Writes of the activity log.", counted.al_writes),
            ("drbd_device_bmwrites_total", "Writes of the bitmap.", counted.bm_writes),
        ];
        for (family, help, count) in counters {
            metrics.counter(family, help, &labels(), count);
        }
        let upper = u64::from(counted.upper_pending);
        metrics.gauge("drbd_device_upperpending", "Requests of clients.", &labels(), upper);
        let lower = u64::from(counted.lower_pending);
        metrics.gauge("drbd_device_lowerpending", "Requests to the disk.", &labels(), lower);
    }
    if let Some(latency) = &device.write_latency {
        let help = "Writes of clients, from their last byte to their answer.";
        metrics.histogram("basalt_write_latency_seconds", help, &labels(), latency);
    }
    if let Some(reads) = &device.reads {
        let mut labels = vec![("name", resource.name.clone())];
        labels.push(("volume", device.volume.to_string()));
        labels.push(("replica", "local".to_owned()));
        read_metrics(reads, &labels, metrics);
    }
}

fn read_metrics(reads: &ReadsServed, labels: &Labels, metrics: &mut Metrics) {
    let help = "Reads of this node's clients that the replica served.";
    metrics.counter("basalt_reads_served_total", help, labels, reads.served);
    let help = "Reads of this node's clients that the replica was asked for.";
    metrics.gauge("basalt_reads_in_flight", help, labels, reads.in_flight);
    let help = "How long reads from the replica take lately.";
    let latency = seconds(reads.latency_us);
    metrics.sample("basalt_read_latency_seconds", help, Kind::Gauge, labels, &latency);
}

fn connection_labels(resource: &ResourceStatus, connection: &ConnectionStatus) -> Labels {
    vec![
        ("name", resource.name.clone()),
        ("conn_name", connection.name.clone()),
        ("peer_node_id", connection.peer_node_id.to_string()),
    ]
}

fn connection_metrics(
    resource: &ResourceStatus,
    connection: &ConnectionStatus,
    metrics: &mut Metrics,
) {
    let labels = || connection_labels(resource, connection);
    for state in ConnectionState::ALL {
        let mut labels = labels();
        labels.push(("drbd_connection_state", state.to_string()));
        let is_it = connection.connection_state == state;
        metrics.gauge("drbd_connection_state", "State of the connection.", &labels, is_it);
    }
    let help = "Both nodes went on by themselves: one has to give way.";
    metrics.gauge("basalt_connection_split_brain", help, &labels(), connection.split_brain);
    let help = "The send buffer is nearly full.";
    metrics.gauge("drbd_connection_congested", help, &labels(), connection.congested);
    let (application, resync) = (connection.ap_in_flight * 512, connection.rs_in_flight * 512);
    let help = "Writes that were sent and not acknowledged.";
    metrics.gauge("drbd_connection_apinflight_bytes", help, &labels(), application);
    let help = "Copies that were sent and not acknowledged.";
    metrics.gauge("drbd_connection_rsinflight_bytes", help, &labels(), resync);
    for path in &connection.paths {
        let mut labels = labels();
        let text = |it: &api::status::Endpoint| format!("{}:{}:{}", it.family, it.address, it.port);
        labels.push(("local", text(&path.this_host)));
        labels.push(("peer", text(&path.remote_host)));
        let help = "The path works, as far as is known.";
        metrics.gauge("basalt_path_established", help, &labels, path.established);
        metrics.gauge("basalt_path_in_use", "The path carries.", &labels, path.in_use);
    }
}

fn peer_device_metrics(
    resource: &ResourceStatus,
    connection: &ConnectionStatus,
    device: &PeerDeviceStatus,
    metrics: &mut Metrics,
) {
    let labels = || {
        let mut labels = connection_labels(resource, connection);
        labels.push(("volume", device.volume.to_string()));
        labels
    };
    let out_of_sync = device.out_of_sync * 1024;
    let help = "What the peer misses.";
    metrics.gauge("drbd_peerdevice_outofsync_bytes", help, &labels(), out_of_sync);
    let (sent, received) = (device.sent * 1024, device.received * 1024);
    metrics.counter("drbd_peerdevice_sent_bytes", "Sent to the peer.", &labels(), sent);
    let help = "Received from the peer.";
    metrics.counter("drbd_peerdevice_received_bytes", help, &labels(), received);
    for state in ReplicationState::ALL {
        let mut labels = labels();
        labels.push(("state", state.to_string()));
        let is_it = device.replication_state == state;
        metrics.gauge(
            "basalt_peerdevice_replication_state",
            "What replication does.",
            &labels,
            is_it,
        );
    }
    for state in DiskState::ALL {
        let mut labels = labels();
        labels.push(("state", state.to_string()));
        let is_it = device.peer_disk_state == state;
        metrics.gauge("basalt_peerdevice_disk_state", "State of the peer's disk.", &labels, is_it);
    }
    if let Some(done) = device.done_percent() {
        let help = "How far the resync is.";
        metrics.sample(
            "basalt_resync_done_percent",
            help,
            Kind::Gauge,
            &labels(),
            &format!("{done:.2}"),
        );
    }
    let eta = device.sync.as_ref().map(|sync| sync.estimated_seconds_to_finish);
    if let Some(seconds) = eta.filter(|seconds| *seconds != STALLED_SECONDS) {
        let help = "Estimated time to the end of the resync; absent while that is not known.";
        metrics.gauge("basalt_resync_eta_seconds", help, &labels(), seconds);
    }
    if let Some(latency) = &device.ack_latency {
        let help = "From sending a write to its acknowledgement, of one write at a time.";
        metrics.histogram("basalt_ack_latency_seconds", help, &labels(), latency);
    }
    if let Some(reads) = device.reads.as_ref().filter(|_| !device.peer_client) {
        let mut labels = vec![("name", resource.name.clone())];
        labels.push(("volume", device.volume.to_string()));
        labels.push(("replica", connection.name.clone()));
        read_metrics(reads, &labels, metrics);
    }
}

/// The families so far, in the order in which they were first met.
#[derive(Default)]
struct Metrics {
    families: Vec<Family>,
}

struct Family {
    name: &'static str,
    help: &'static str,
    kind: Kind,
    samples: String,
}

impl Metrics {
    fn gauge(
        &mut self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, String)],
        value: impl Into<u64>,
    ) {
        self.sample(name, help, Kind::Gauge, labels, &value.into().to_string());
    }

    fn counter(
        &mut self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, String)],
        value: u64,
    ) {
        self.sample(name, help, Kind::Counter, labels, &value.to_string());
    }

    fn sample(
        &mut self,
        name: &'static str,
        help: &'static str,
        kind: Kind,
        labels: &[(&'static str, String)],
        value: &str,
    ) {
        let family = self.family(name, help, kind);
        family.line(name, labels, value);
    }

    fn histogram(
        &mut self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, String)],
        latency: &LatencyHistogram,
    ) {
        let family = self.family(name, help, Kind::Histogram);
        let mut so_far = 0;
        for (step, count) in latency.counts.iter().enumerate() {
            so_far += count;
            let end = LatencyHistogram::end_of(step).map_or_else(|| "+Inf".to_owned(), seconds);
            let mut labels = labels.to_vec();
            labels.push(("le", end));
            family.line(&format!("{name}_bucket"), &labels, &so_far.to_string());
        }
        family.line(&format!("{name}_sum"), labels, &seconds(latency.sum_us));
        family.line(&format!("{name}_count"), labels, &so_far.to_string());
    }

    fn family(&mut self, name: &'static str, help: &'static str, kind: Kind) -> &mut Family {
        let place = self.families.iter().position(|family| family.name == name);
        let place = place.unwrap_or_else(|| {
            self.families.push(Family { name, help, kind, samples: String::new() });
            self.families.len() - 1
        });
        &mut self.families[place]
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for Family { name, help, kind, samples } in &self.families {
            let kind = match kind {
                Kind::Gauge => "gauge",
                Kind::Counter => "counter",
                Kind::Histogram => "histogram",
            };
            write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{samples}")
                .expect("writing to a string does not fail");
        }
        text
    }
}

impl Family {
    fn line(&mut self, name: &str, labels: &[(&'static str, String)], value: &str) {
        self.samples.push_str(name);
        if !labels.is_empty() {
            let all = labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value)));
            let all: Vec<String> = all.collect();
            write!(self.samples, "{{{}}}", all.join(",")).expect("a string takes everything");
        }
        writeln!(self.samples, " {value}").expect("a string takes everything");
    }
}

/// Microseconds as seconds, exactly.
fn seconds(us: u64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests;
