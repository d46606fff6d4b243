//! The plain text of `status`: DRBD's lines, which people and scripts know, then our own.
//!
//! ```text
//! NAME role:R                          resource
//!   disk:S open:yes|no                 device; `volume:N` first, unless it is the single volume 0
//!       read:K written:K               statistics of the device
//!   PEER role:R                        connection; `connection:C` while it is not Connected
//!     replication:X peer-disk:S done:P peer device
//!         received:K sent:K ...        statistics of the peer device
//!           # why                      ours
//! ```
//! DRBD leaves out what is as it should be and shows all of it with `--verbose`; so do we. What
//! DRBD does not have stands on lines of its own below what it is about: reasons as `# text`,
//! which no reader of `key:value` words takes for a state; votes, paths and shard counters only on
//! request. They are deeper than all of DRBD's: by its depth a line is one of a volume or a peer.

use std::fmt;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::status::{
    Blocked, ConnectionStatus, DeviceStatus, Endpoint, PathStatus, PeerDeviceStatus,
    ResourceStatus, STALLED_SECONDS, ShardStatus, SyncDetails,
};

use crate::adm::dates::as_of;
use crate::adm::explain::{disk_failure, disk_failure_at, down_since};
use crate::called;

/// `status` prints this where no resource is up; scripts compare with DRBD's words.
pub(crate) fn nothing_configured() -> &'static str {
    if called::is_of_drbd() {
        "# No currently configured DRBD found.\n"
    } else {
        "# No resource is up on this node: `basalt adm up all` brings up those of its \
         configuration.\n"
    }
}

/// The indent of lines that DRBD does not have.
const OWN_INDENT: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What is not as it should be.
    Brief,
    /// Everything (`--verbose`).
    Verbose,
    /// Also the workings of a resync (`-vv`).
    VeryVerbose,
}

/// Who reads the text: DRBD leaves `client:` out on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Terminal,
    Program,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statistics {
    Hidden,
    Shown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) detail: Detail,
    pub(crate) statistics: Statistics,
    pub(crate) reader: Reader,
}

/// The text for one resource, with the empty line that ends it.
pub(crate) fn status_text(resource: &ResourceStatus, layout: Layout) -> String {
    let mut text = Text { layout, out: String::new() };
    text.resource(resource);
    text.out.push('\n');
    text.out
}

/// `volume:N` is left out where there is only one volume, and its number is 0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    Implied,
    Shown,
}

/// The text so far, and how to go on.
struct Text {
    layout: Layout,
    out: String,
}

impl Text {
    fn is_verbose(&self) -> bool {
        self.layout.detail != Detail::Brief
    }

    fn has_statistics(&self) -> bool {
        self.layout.statistics == Statistics::Shown
    }

    /// One line: `indent` spaces, then the words with one space between them.
    fn line(&mut self, indent: usize, words: &[String]) {
        if words.is_empty() {
            return;
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.out.push_str(&words.join(" "));
        self.out.push('\n');
    }

    fn resource(&mut self, resource: &ResourceStatus) {
        let mut words = vec![resource.name.clone()];
        if self.is_verbose() {
            words.push(format!("node-id:{}", resource.node_id));
        }
        words.push(format!("role:{}", resource.role));
        let suspended = resource.suspended_word();
        if self.is_verbose() || suspended != "no" {
            words.push(format!("suspended:{suspended}"));
        }
        if self.is_verbose() || resource.force_io_failures {
            words.push(format!("force-io-failures:{}", YesNo(resource.force_io_failures)));
        }
        let is_usual = matches!(&resource.io_backend[..], "io_uring" | "");
        if !is_usual || self.is_verbose() && !resource.io_backend.is_empty() {
            words.push(format!("io:{}", resource.io_backend));
        }
        self.line(0, &words);
        if self.is_verbose() && self.has_statistics() {
            self.line(4, &[format!("write-ordering:{}", resource.write_ordering)]);
        }
        if self.is_verbose() {
            self.line(OWN_INDENT, &chain_words(resource));
            self.line(OWN_INDENT, &verify_words(resource));
        }
        for reason in &resource.reasons {
            let reason = called::in_its_words(reason);
            self.line(OWN_INDENT, &[format!("# {reason}")]);
        }
        if let Some(age_ms) = resource.epoch.as_ref().and_then(|epoch| epoch.age_ms) {
            self.line(
                OWN_INDENT,
                &[format!(
                    "# of the others it knows as of {}: neither a quorum nor the leader is in \
                     reach",
                    as_of(age_ms)
                )],
            );
        }
        let is_single_zero = matches!(&resource.devices[..], [device] if device.volume == 0);
        let numbering = if is_single_zero && !self.is_verbose() {
            Numbering::Implied
        } else {
            Numbering::Shown
        };
        for device in &resource.devices {
            self.device(device, numbering);
        }
        for connection in &resource.connections {
            self.connection(connection, numbering);
        }
        if self.has_statistics() {
            for shard in &resource.shards {
                self.line(OWN_INDENT, &shard_words(shard));
            }
        }
    }

    fn device(&mut self, device: &DeviceStatus, numbering: Numbering) {
        self.device_words(device, numbering);
        if let Some(failure) = &device.disk_failure {
            self.line(OWN_INDENT, &[format!("# {}", disk_failure(failure))]);
        }
    }

    fn device_words(&mut self, device: &DeviceStatus, numbering: Numbering) {
        let mut words = Vec::new();
        if numbering == Numbering::Shown {
            words.push(format!("volume:{}", device.volume));
        }
        if self.is_verbose() {
            words.push(format!("minor:{}", device.minor));
        }
        words.push(format!("disk:{}", device.disk_state));
        if device.disk_state == DiskState::Diskless && self.tells_clients() {
            words.push(format!("client:{}", YesNo(device.client)));
        }
        if self.is_verbose() {
            let path = device.backing_dev.as_deref().unwrap_or("none");
            words.push(format!("backing_dev:{path}"));
        }
        if self.is_verbose() || !device.quorum {
            words.push(format!("quorum:{}", YesNo(device.quorum)));
        }
        words.push(format!("open:{}", YesNo(device.open)));

        let blocked = (self.is_verbose() || device.blocked != Blocked::No)
            .then(|| format!("blocked:{}", device.blocked.as_str()));
        if !self.has_statistics() {
            words.extend(blocked);
            self.line(2, &words);
            return;
        }
        self.line(2, &words);
        let mut words = Vec::new();
        if let Some(statistics) = &device.statistics {
            if self.is_verbose() {
                words.push(format!("size:{}", statistics.size));
            }
            words.push(format!("read:{}", statistics.read));
            words.push(format!("written:{}", statistics.written));
            if self.is_verbose() {
                words.push(format!("al-writes:{}", statistics.al_writes));
                words.push(format!("bm-writes:{}", statistics.bm_writes));
                words.push(format!("upper-pending:{}", statistics.upper_pending));
                words.push(format!("lower-pending:{}", statistics.lower_pending));
                words.push(format!("al-suspended:{}", YesNo(device.al_suspended)));
            }
        }
        words.extend(blocked);
        self.line(6, &words);
    }

    fn connection(&mut self, connection: &ConnectionStatus, numbering: Numbering) {
        let is_connected = connection.connection_state == ConnectionState::Connected;
        let mut words = vec![connection.name.clone()];
        if self.is_verbose() {
            words.push(format!("node-id:{}", connection.peer_node_id));
        }
        if self.is_verbose() || !is_connected {
            words.push(format!("connection:{}", connection.connection_state));
        }
        if self.is_verbose() || is_connected {
            words.push(format!("role:{}", connection.peer_role));
            if self.is_verbose() || connection.tls {
                words.push(format!("tls:{}", YesNo(connection.tls)));
            }
            let protocol = connection.protocol.iter();
            words.extend(protocol.map(|letter| format!("protocol:{letter}")));
        }
        if self.is_verbose() || connection.congested {
            words.push(format!("congested:{}", YesNo(connection.congested)));
            words.push(format!("ap-in-flight:{}", connection.ap_in_flight));
            words.push(format!("rs-in-flight:{}", connection.rs_in_flight));
        }
        self.line(2, &words);
        if let Some(reason) = &connection.reason {
            let reason = called::in_its_words(reason);
            let since = down_since(connection).map(|when| format!(" (since {when})"));
            self.line(OWN_INDENT, &[format!("# {reason}{}", since.unwrap_or_default())]);
        }
        if let Some(known) = &connection.lost_again {
            let (seconds, losses) = (known.rest_ms.div_ceil(1000), known.losses);
            self.line(4, &[format!(
                "# rests for {seconds} s: lost {losses} times soon after it returned; `explain` \
                 says what to try"
            )]);
        }
        if self.is_verbose() && connection.paths.len() > 1 {
            for path in &connection.paths {
                self.line(OWN_INDENT, &path_words(path));
            }
        }
        if self.is_verbose() || self.has_statistics() || is_connected {
            for peer_device in &connection.peer_devices {
                self.peer_device(&connection.name, peer_device, numbering);
            }
        }
    }

    fn peer_device(&mut self, name: &str, peer_device: &PeerDeviceStatus, numbering: Numbering) {
        let mut words = Vec::new();
        if numbering == Numbering::Shown {
            words.push(format!("volume:{}", peer_device.volume));
        }
        if self.is_verbose() || peer_device.replication_state > ReplicationState::Established {
            words.push(format!("replication:{}", peer_device.replication_state));
        }
        let is_known = peer_device.replication_state != ReplicationState::Off
            || peer_device.peer_disk_state != DiskState::DUnknown;
        if !(is_known || self.is_verbose() || self.has_statistics()) {
            self.line(4, &words);
            return;
        }
        words.push(format!("peer-disk:{}", peer_device.peer_disk_state));
        if peer_device.peer_disk_state == DiskState::Diskless && self.tells_clients() {
            words.push(format!("peer-client:{}", YesNo(peer_device.peer_client)));
        }
        if let Some(done) = peer_device.done_percent() {
            words.push(format!("done:{done:.2}"));
        }
        if self.is_verbose() || peer_device.resync_suspended != "no" {
            words.push(format!("resync-suspended:{}", peer_device.resync_suspended));
        }
        self.line(4, &words);
        if let Some(failure) = &peer_device.disk_failure {
            self.line(OWN_INDENT, &[format!("# {}", disk_failure_at(name, failure))]);
        }
        if self.has_statistics() {
            let words = self.peer_statistics_words(peer_device);
            self.line(8, &words);
        }
    }

    fn peer_statistics_words(&self, peer_device: &PeerDeviceStatus) -> Vec<String> {
        let mut words = vec![
            format!("received:{}", peer_device.received),
            format!("sent:{}", peer_device.sent),
            format!("out-of-sync:{}", peer_device.out_of_sync),
        ];
        if self.is_verbose() {
            words.push(format!("pending:{}", peer_device.pending));
            words.push(format!("unacked:{}", peer_device.unacked));
        }
        if let Some(sync) = &peer_device.sync {
            if self.layout.detail == Detail::VeryVerbose {
                words.extend(resync_words(sync));
            }
            words.push(format!("dbdt1:{:.2}", sync.rate_recent));
            words.push(if sync.estimated_seconds_to_finish == STALLED_SECONDS {
                "eta:nan".to_owned()
            } else {
                format!("eta:{}", sync.estimated_seconds_to_finish)
            });
        }
        words
    }

    fn tells_clients(&self) -> bool {
        self.is_verbose() || self.layout.reader == Reader::Program
    }
}

/// As `events2` has them.
fn path_words(path: &PathStatus) -> [String; 4] {
    let place = |end: &Endpoint| match end.family.as_str() {
        "ipv6" => format!("ipv6:[{}]:{}", end.address, end.port),
        family => format!("{family}:{}:{}", end.address, end.port),
    };
    [
        "path".to_owned(),
        format!("local:{}", place(&path.this_host)),
        format!("peer:{}", place(&path.remote_host)),
        format!("established:{}", YesNo(path.established)),
    ]
}

/// Where the resource stands in its config chain, who votes, and whether reads are covered.
fn chain_words(resource: &ResourceStatus) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(epoch) = &resource.epoch {
        words.push(format!("epoch:{}", epoch.epoch));
        words.push(format!("branch:{}", epoch.branch));
        words.push(format!("insync:{}", list_word(epoch.insync.iter().map(String::as_str))));
        words.push(format!("losses:{}", epoch.losses));
        if epoch.awaits_reopen {
            words.push("awaits-reopen:yes".to_owned());
        }
        if let Some(age_ms) = epoch.age_ms {
            words.push(format!("as-of:{}", as_of(age_ms)));
        }
    }
    if let Some(votes) = &resource.quorum_votes {
        words.push(format!("votes:{}/{}", votes.have, votes.staying().count()));
        words.push(format!("votes-needed:{}", votes.needed));
        if let Some(before) = votes.before_change {
            words.push(format!("votes-before:{}/{}", before.have, votes.former().count()));
            words.push(format!("votes-before-needed:{}", before.needed));
        }
        let absent = votes.voters.iter().filter(|voter| !voter.present);
        words.push(format!("voters-absent:{}", list_word(absent.map(|voter| voter.name.as_str()))));
    }
    if let Some(lease) = &resource.lease {
        words.push(format!("lease:{}", YesNo(lease.held)));
        words.push(format!("lease-ms:{}", lease.remaining_ms));
    }
    words
}

/// The last comparison of the replicas that this node led, with its times.
fn verify_words(resource: &ResourceStatus) -> Vec<String> {
    let Some(verify) = &resource.verify else { return Vec::new() };
    let mut words = vec![
        format!("verify:{}", verify.state),
        format!("began:{}", as_of(verify.age_ms)),
        format!("took-ms:{}", verify.took_ms),
    ];
    words.extend(verify.ended_age_ms.map(|age_ms| format!("ended:{}", as_of(age_ms))));
    words.push(format!("verified:{}", verify.verified));
    words.push(format!("skipped:{}", verify.skipped));
    words.push(format!("differing:{}", verify.differing.iter().map(|it| it.1).sum::<u64>()));
    words
}

fn shard_words(shard: &ShardStatus) -> Vec<String> {
    let mut words = vec![
        format!("shard:{}", shard.shard),
        format!("turns:{}", shard.turns),
        format!("enters:{}", shard.enters),
    ];
    words.extend(shard.peers.iter().map(|peer| format!("sendmsg[{}]:{}", peer.name, peer.sendmsg)));
    words
}

fn resync_words(sync: &SyncDetails) -> Vec<String> {
    vec![format!(
        "rs-total:{} rs-failed:{} rs-same-csum:{} rs-paused-ms:{} want:{:.2} dbdt:{:.2} \
         dbdt0:{:.2}",
        sync.rs_total,
        sync.rs_failed,
        sync.rs_same_csum,
        sync.rs_paused_ms,
        sync.want,
        sync.rate_overall,
        sync.rate_tick,
    )]
}

fn list_word<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(",") }
}

struct YesNo(bool);

impl fmt::Display for YesNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "yes" } else { "no" })
    }
}

#[cfg(test)]
mod tests;
