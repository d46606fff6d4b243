//! How long a silent peer is waited for, and how often a lost one is dialled.
//!
//! Basalt's own times hold where no file says otherwise. A link is shared by the resources of a
//! pair of nodes: the most patient of them decides. Leases have times of their own (PROTOCOL.md
//! 7b), so nothing here changes what is safe, or when another node may take over.

use std::time::Duration;

use replication::limits::PEER_SILENT_MAX;

use crate::definition::link::LinkTimes;
use crate::limits::DIAL_BACKOFF_MAX;
use crate::links::Link;

impl Link {
    pub(super) fn silent_max(&self) -> Duration {
        let asked = self.asked.iter().map(|times| times.silent_max.unwrap_or(PEER_SILENT_MAX));
        asked.max().unwrap_or(PEER_SILENT_MAX)
    }

    pub(super) fn redial_max(&self) -> Duration {
        let asked = self.asked.iter().map(|times| times.redial_max.unwrap_or(DIAL_BACKOFF_MAX));
        asked.max().unwrap_or(DIAL_BACKOFF_MAX)
    }

    pub(super) fn forget_times(&mut self, times: LinkTimes) {
        if let Some(place) = self.asked.iter().position(|known| *known == times) {
            self.asked.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use config::effective::NetOptions;

    use super::*;
    use crate::limits::PEER_SILENT_MIN;
    use stdx::time::Time;

    fn times(interval: Option<u64>, answer: Option<u64>, connect: Option<u64>) -> LinkTimes {
        let text = "resource r { on a { node-id 0; address 10.0.0.1:1; volume 0 { disk /a; } }
            on b { node-id 1; address 10.0.0.2:1; volume 0 { disk /b; } } }";
        let resource = config::parse_text("r", text).unwrap();
        let options = resource.resource("r").unwrap().net_options("a", "b");
        LinkTimes::of(&NetOptions {
            ping_interval_ms: interval,
            ping_timeout_ms: answer,
            connect_interval_ms: connect,
            ..options
        })
    }

    #[test]
    fn what_is_not_said_stays_as_it_is() {
        let mut link = Link::new("b".to_owned(), Time::ZERO);
        assert_eq!(link.silent_max(), PEER_SILENT_MAX);
        link.asked.push(times(None, None, None));
        assert_eq!((link.silent_max(), link.redial_max()), (PEER_SILENT_MAX, DIAL_BACKOFF_MAX));
    }

    #[test]
    fn the_most_patient_resource_decides() {
        let mut link = Link::new("b".to_owned(), Time::ZERO);
        let patient = times(Some(15_000), Some(2_000), Some(10_000));
        link.asked = vec![times(None, Some(700), None)];
        assert_eq!(link.silent_max(), Duration::from_millis(700), "it alone may be less patient");
        link.asked = vec![times(None, Some(100), Some(2_000)), patient];
        assert_eq!(link.silent_max(), Duration::from_secs(17));
        assert_eq!(link.redial_max(), Duration::from_secs(10));
        link.forget_times(patient);
        assert_eq!(link.silent_max(), PEER_SILENT_MIN);
        assert_eq!(link.redial_max(), Duration::from_secs(2));
    }
}
