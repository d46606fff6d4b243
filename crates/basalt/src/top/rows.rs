//! From two looks at a node to the rows of the tables: rates, order and filter.

use std::collections::BTreeMap;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::role::Role;
use api::status::{DeviceStatus, ResourceStatus, STALLED_SECONDS, StatusReply};
use stdx::time::Time;

use crate::adm::explain::{self, disk_failure};
use crate::top::wishes::{Order, Wishes};

/// A status, and when it was asked for.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) at: Time,
    pub(super) status: StatusReply,
}

/// A volume of a resource.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Volume {
    pub(super) name: String,
    pub(super) resource: String,
    pub(super) role: Role,
    pub(super) disk: DiskState,
    pub(super) has_quorum: bool,
    /// Per second, between the two looks; none with a single look, or after a restart.
    pub(super) rates: Option<Rates>,
    pub(super) in_flight: u32,
    pub(super) out_of_sync_kib: u64,
    pub(super) size_kib: u64,
    pub(super) is_open: bool,
    /// Why it is not as it should be: of the resource, of the disk here, of the connections.
    pub(super) reasons: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) writes: f64,
    pub(super) read_kib: f64,
    pub(super) written_kib: f64,
    /// Mean of the writes between the looks; none if there were none.
    pub(super) latency_us: Option<f64>,
}

/// The sums of all rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub(super) rates: Rates,
    pub(super) in_flight: u64,
    pub(super) out_of_sync_kib: u64,
    /// Rows with a reason.
    pub(super) with_reasons: usize,
}

/// What a peer has of a volume.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Peer {
    pub(super) name: String,
    pub(super) connection: ConnectionState,
    pub(super) replication: ReplicationState,
    pub(super) disk: DiskState,
    pub(super) has_tls: bool,
    pub(super) out_of_sync_kib: u64,
    pub(super) done_percent: Option<f64>,
    pub(super) seconds_left: Option<u64>,
}

pub(super) fn volumes(now: &Look, before: Option<&Look>, wishes: &Wishes) -> Vec<Volume> {
    let formers = before.into_iter().flat_map(|look| {
        look.status.resources.iter().map(|former| (former.name.as_str(), (look.at, former)))
    });
    let formers: BTreeMap<&str, (Time, &ResourceStatus)> = formers.collect();
    let mut rows = Vec::new();
    for resource in now.status.resources.iter().filter(|it| it.name.contains(&wishes.filter)) {
        let former = formers.get(resource.name.as_str()).copied();
        if resource.devices.is_empty() {
            rows.push(held_down(resource));
        }
        for device in &resource.devices {
            let former = former.and_then(|(at, same)| {
                let same = same.devices.iter().find(|it| it.volume == device.volume)?;
                Some((now.at.since(at).as_secs_f64(), same))
            });
            rows.push(volume(resource, device, former));
        }
    }
    sort(&mut rows, wishes);
    rows
}

fn held_down(resource: &ResourceStatus) -> Volume {
    Volume {
        name: resource.name.clone(),
        resource: resource.name.clone(),
        role: Role::Unknown,
        disk: DiskState::DUnknown,
        has_quorum: false,
        rates: None,
        in_flight: 0,
        out_of_sync_kib: 0,
        size_kib: 0,
        is_open: false,
        reasons: resource.reasons.clone(),
    }
}

fn volume(
    resource: &ResourceStatus,
    device: &DeviceStatus,
    former: Option<(f64, &DeviceStatus)>,
) -> Volume {
    let peers = resource.connections.iter().flat_map(|peer| &peer.peer_devices);
    let of_volume = peers.filter(|peer| peer.volume == device.volume);
    Volume {
        name: format!("{}/{}", resource.name, device.volume),
        resource: resource.name.clone(),
        role: resource.role,
        disk: device.disk_state,
        has_quorum: device.quorum,
        rates: former.and_then(|(seconds, former)| rates(device, former, seconds)),
        in_flight: device.statistics.map_or(0, |counted| counted.upper_pending),
        out_of_sync_kib: of_volume.map(|peer| peer.out_of_sync).sum(),
        size_kib: device.statistics.map_or(0, |counted| counted.size),
        is_open: device.open,
        reasons: reasons(resource, device),
    }
}

fn reasons(resource: &ResourceStatus, device: &DeviceStatus) -> Vec<String> {
    let mut reasons = resource.reasons.clone();
    reasons.extend(device.disk_failure.as_ref().map(disk_failure));
    for connection in &resource.connections {
        let reason = connection.reason.as_ref();
        reasons.extend(reason.map(|reason| format!("{}: {reason}", connection.name)));
    }
    reasons
}

/// Of the rows that are shown, also of those out of sight.
pub(super) fn totals(rows: &[Volume]) -> Totals {
    let mut totals = Totals::default();
    let mut spent_us = 0.0;
    for row in rows {
        if let Some(rates) = &row.rates {
            totals.rates.writes += rates.writes;
            totals.rates.read_kib += rates.read_kib;
            totals.rates.written_kib += rates.written_kib;
            spent_us += rates.writes * rates.latency_us.unwrap_or(0.0);
        }
        totals.in_flight += u64::from(row.in_flight);
        totals.out_of_sync_kib += row.out_of_sync_kib;
        totals.with_reasons += usize::from(!row.reasons.is_empty());
    }
    let writes = totals.rates.writes;
    totals.rates.latency_us = (writes > 0.0).then(|| spent_us / writes);
    totals
}

/// None where a counter went back: the resource was down in between.
fn rates(now: &DeviceStatus, before: &DeviceStatus, seconds: f64) -> Option<Rates> {
    let (counted, former) = (now.statistics?, before.statistics?);
    let writes_of = |device: &DeviceStatus| {
        device.write_latency.as_ref().map_or((0, 0), |it| (it.count(), it.sum_us))
    };
    let ((count, sum), (former_count, former_sum)) = (writes_of(now), writes_of(before));
    let writes = count.checked_sub(former_count)?;
    let spent = sum.checked_sub(former_sum)?;
    let per_second = |amount: u64| if seconds > 0.0 { real(amount) / seconds } else { 0.0 };
    Some(Rates {
        writes: per_second(writes),
        read_kib: per_second(counted.read.checked_sub(former.read)?),
        written_kib: per_second(counted.written.checked_sub(former.written)?),
        latency_us: (writes > 0).then(|| real(spent) / real(writes)),
    })
}

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
fn real(amount: u64) -> f64 {
    amount as f64
}

fn sort(rows: &mut [Volume], wishes: &Wishes) {
    let rate = |row: &Volume, of: fn(&Rates) -> f64| row.rates.as_ref().map_or(0.0, of);
    rows.sort_by(|a, b| {
        // Of figures the largest comes first.
        let by_figure = match wishes.order {
            Order::Name => std::cmp::Ordering::Equal,
            Order::Writes => rate(b, |it| it.writes).total_cmp(&rate(a, |it| it.writes)),
            Order::Latency => {
                let latency = |it: &Rates| it.latency_us.unwrap_or(0.0);
                rate(b, latency).total_cmp(&rate(a, latency))
            }
            Order::InFlight => b.in_flight.cmp(&a.in_flight),
            Order::OutOfSync => b.out_of_sync_kib.cmp(&a.out_of_sync_kib),
        };
        by_figure.then_with(|| a.name.cmp(&b.name))
    });
    if wishes.is_reversed {
        rows.reverse();
    }
}

/// A row for each peer of a volume.
pub(super) fn peers(now: &Look, volume: &Volume) -> Vec<Peer> {
    let mut rows = Vec::new();
    for resource in now.status.resources.iter().filter(|it| it.name == volume.resource) {
        for connection in &resource.connections {
            for device in &connection.peer_devices {
                if volume.name != format!("{}/{}", resource.name, device.volume) {
                    continue;
                }
                let sync = device.sync.as_ref();
                let left = sync.map(|sync| sync.estimated_seconds_to_finish);
                rows.push(Peer {
                    name: connection.name.clone(),
                    connection: connection.connection_state,
                    replication: device.replication_state,
                    disk: device.peer_disk_state,
                    has_tls: connection.tls,
                    out_of_sync_kib: device.out_of_sync,
                    done_percent: device.done_percent(),
                    seconds_left: left.filter(|seconds| *seconds != STALLED_SECONDS),
                });
            }
        }
    }
    rows
}

/// The last comparison of the replicas of a volume's resource, if this node led one.
pub(super) fn verify(now: &Look, volume: &Volume) -> Option<String> {
    let resource = now.status.resources.iter().find(|it| it.name == volume.resource)?;
    explain::verify(resource)
}
