//! How far a resync is, in one line: percent, MiB/s and the time that is left.

use std::time::Duration;

use api::replication_state::ReplicationState;
use api::status::ResourceStatus;
use stdx::time::Time;

/// Rates are taken from what the statuses say is left, over the time since the first of them.
#[derive(Debug, Default)]
pub(crate) struct ResyncView {
    first: Option<(Time, u64)>,
}

/// What one look showed.
#[derive(Debug, PartialEq)]
pub(crate) struct Progress {
    /// From 0 to 1: of the replica that has the most to go.
    pub(crate) share: f64,
    pub(crate) text: String,
}

impl ResyncView {
    /// Looks at the nodes' statuses; none if nothing is being copied.
    pub(crate) fn look<'a>(
        &mut self,
        states: impl Iterator<Item = &'a ResourceStatus>,
        now: Time,
    ) -> Option<Progress> {
        let mut left_kib = 0;
        let mut share = 1.0;
        let mut targets = Vec::new();
        for connection in states.flat_map(|state| &state.connections) {
            for peer in &connection.peer_devices {
                if peer.replication_state == ReplicationState::SyncSource {
                    let done = peer.sync.as_ref().map(|sync| sync.percent_resync_done);
                    share = f64::min(share, done.unwrap_or(peer.percent_in_sync) / 100.0);
                    left_kib += peer.out_of_sync;
                    targets.push(connection.name.as_str());
                }
            }
        }
        if targets.is_empty() {
            self.first = None;
            return None;
        }
        // Right after a node's return what it missed is still being counted.
        let first = self.first.filter(|(_, kib_then)| left_kib <= *kib_then);
        let (since, kib_then) = first.unwrap_or((now, left_kib));
        self.first = Some((since, kib_then));
        let pace = pace(kib_then, left_kib, now.since(since));
        let percent = share * 100.0;
        let text = format!("resync of {}: {percent:.1} %, {pace}", targets.join(" and "));
        Some(Progress { share, text })
    }
}

/// Rate and remaining time, once they can be known.
fn pace(kib_then: u64, kib_now: u64, elapsed: Duration) -> String {
    let copied_mib = mib(kib_then.saturating_sub(kib_now));
    let rate = copied_mib / elapsed.as_secs_f64();
    if elapsed < Duration::from_millis(200) || rate < 0.01 {
        return format!("{:.0} MiB left", mib(kib_now));
    }
    format!("{rate:.0} MiB/s, {:.0} s left", mib(kib_now) / rate)
}

#[expect(clippy::cast_precision_loss, reason = "a size for people to read")]
fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::status::{ConnectionStatus, PeerDeviceStatus};

    fn source_of(name: &str, out_of_sync: u64, percent_in_sync: f64) -> ResourceStatus {
        let replication_state = ReplicationState::SyncSource;
        let peer = PeerDeviceStatus {
            replication_state,
            out_of_sync,
            percent_in_sync,
            ..PeerDeviceStatus::default()
        };
        let connection = ConnectionStatus {
            name: name.to_owned(),
            peer_devices: vec![peer],
            ..ConnectionStatus::default()
        };
        ResourceStatus { connections: vec![connection], ..ResourceStatus::default() }
    }

    #[test]
    fn rate_and_remaining_time_come_from_two_looks() {
        let mut view = ResyncView::default();
        let at = |seconds: u64| Time(seconds * 1_000_000_000);
        let idle = ResourceStatus::default();
        assert_eq!(view.look([&idle].into_iter(), at(0)), None);
        let begun = view.look([&source_of("bravo", 300 << 10, 70.0)].into_iter(), at(10)).unwrap();
        assert_eq!(begun.text, "resync of bravo: 70.0 %, 300 MiB left");
        let later = view.look([&source_of("bravo", 100 << 10, 90.0)].into_iter(), at(12)).unwrap();
        assert_eq!(later.text, "resync of bravo: 90.0 %, 100 MiB/s, 1 s left");
        assert!((later.share - 0.9).abs() < 1e-9);
    }
}
