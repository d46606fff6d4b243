//! `wait-connect` and `wait-sync`: until the state is so, or the time is up.
//!
//! The time is that of the `startup` section, by what is known: `degr-wfc-timeout` where some
//! replica was not in sync before, `outdated-wfc-timeout` where this one is outdated,
//! `wfc-timeout` else. As with DRBD 0 is no end, unless `--timeout` sets one. A connection that is
//! StandAlone does not come by itself: waiting for it ends at once, but with `--wait-after-sb`.

use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::request::Command;
use api::status::{ConnectionStatus, PeerDeviceStatus, ResourceStatus};
use api::subscription::{Next, Subscription, Update};
use config::host_name::is_same_host;
use config::options::OptionSet;
use io::now;

use crate::adm::arguments::{Verb, WaitTimes};
use crate::adm::configuration::Configuration;
use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::outcome::Gathering;
use crate::adm::question::{answer_within, running, socket, status};
use crate::adm::status_text::Statistics;
use crate::adm::target::{One, Scope, Target, is_peer, parse_targets};

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Connected,
    InSync,
}

/// Whose state counts: of all peers and volumes, or of the named ones.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) wish: Wish,
    pub(crate) resource: String,
    pub(crate) peer: Option<PeerName>,
    pub(crate) volume: Option<u16>,
}

#[derive(Clone, Debug)]
pub(crate) enum PeerName {
    Name(String),
    Id(u8),
}

/// Waits for one resource after the other, by the times of the command line, and then those of
/// the configuration file where there is one.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others wait for nothing")]
pub(crate) fn wait_for(
    general: &General,
    verb: &Verb,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let parse = |words: &[String]| parse_targets(words, Scope::Connection);
    let (wish, targets, times) = match verb {
        Verb::WaitConnect(it) => (Wish::Connected, parse(&it.targets)?, &it.times),
        Verb::WaitSync(it) => (Wish::InSync, parse(&it.targets)?, &it.times),
        Verb::WaitConInt(it) => {
            if !it.targets.is_empty() {
                gathering.warn("`wait-con-int` is about all resources: the names change nothing");
            }
            (Wish::Connected, vec![Target::All], &it.times)
        }
        _ => return Ok(()),
    };
    let configuration = Configuration::load(general).ok();
    for one in running(general, &targets)? {
        let startup = configuration.as_ref().and_then(|it| it.resource(&one.resource).ok());
        let times = times.clone().or_startup(startup.map(|resource| &resource.startup));
        let One { resource, volume, peer } = one;
        let peer = peer.map(PeerName::Name);
        let wanted = Wanted { wish, resource: resource.clone(), peer, volume };
        match wait(general, &wanted, &times) {
            Ok(()) => gathering.done(&resource, Vec::new(), Vec::new()),
            Err(error) => gathering.failed(&resource, &error),
        }
    }
    Ok(())
}

/// Waits for one resource.
pub(crate) fn wait(general: &General, wanted: &Wanted, times: &WaitTimes) -> Result<(), AdmError> {
    let names = vec![wanted.resource.clone()];
    let reply = status(general, names.clone(), Statistics::Hidden)?;
    let Some(first) = reply.resources.first() else { return Ok(()) };
    wanted.check_names(first)?;
    let command = Command::Events { resources: names, statistics: false };
    let subscription = Subscription::open(&socket(general), command, answer_within(general))?;
    let started = now();
    let mut limit = None;
    let mut is_down = false;
    let mut last = first.clone();
    loop {
        let within = limit.map(|limit: Duration| limit.saturating_sub(now().since(started)));
        if within == Some(Duration::ZERO) {
            return Err(wanted.timed_out(limit.unwrap_or_default(), &last));
        }
        let resource = match subscription.next(within)? {
            Next::Update(Update::All { resources, .. }) => {
                is_down = resources.is_empty();
                resources.into_iter().next()
            }
            Next::Update(Update::Changed { resource, .. }) => Some(*resource),
            Next::Update(Update::Gone { .. }) => {
                is_down = true;
                None
            }
            Next::Update(Update::Helper { .. } | Update::Polled | Update::Alive)
            | Next::Nothing => None,
        };
        if is_down {
            return Err(AdmError::configuration("it went down", "basalt adm up"));
        }
        let Some(resource) = resource else { continue };
        if wanted.holds(&resource) {
            return Ok(());
        }
        limit = general.timeout.or_else(|| time_limit(&resource, times));
        last = resource;
        let resource = &last;
        if let Some(vain) = wanted.vain(resource).filter(|_| !times.wait_after_sb) {
            let connect = || format!("basalt adm connect {}", resource.name);
            // A split brain says itself what ends it.
            let said = vain.reason.clone().filter(|_| vain.split_brain);
            return Err(AdmError::WaitTimeout {
                what: wanted.what(),
                reason: format!("{} is StandAlone and does not come by itself", vain.name),
                hint: said.unwrap_or_else(connect),
            });
        }
    }
}

/// `None` is without end.
fn time_limit(resource: &ResourceStatus, times: &WaitTimes) -> Option<Duration> {
    let is_outdated =
        resource.devices.iter().any(|device| device.disk_state == DiskState::Outdated);
    let voters = resource.quorum_votes.as_ref().map_or(0, |votes| votes.staying().count());
    let is_degraded = resource.epoch.as_ref().is_some_and(|epoch| epoch.insync.len() < voters);
    let seconds = match (is_outdated, is_degraded) {
        (true, _) => times.outdated_wfc_timeout.or(times.wfc_timeout),
        (false, true) => times.degr_wfc_timeout.or(times.wfc_timeout),
        (false, false) => times.wfc_timeout,
    };
    seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs)
}

impl WaitTimes {
    /// What the command line does not say, the `startup` section does.
    pub(crate) fn or_startup(mut self, startup: Option<&OptionSet>) -> Self {
        let given = |name: &str| startup?.given(name)?.as_number();
        self.wfc_timeout = self.wfc_timeout.or_else(|| given("wfc-timeout"));
        self.degr_wfc_timeout = self.degr_wfc_timeout.or_else(|| given("degr-wfc-timeout"));
        self.outdated_wfc_timeout =
            self.outdated_wfc_timeout.or_else(|| given("outdated-wfc-timeout"));
        self
    }
}

impl Wanted {
    fn connections<'s>(
        &'s self,
        resource: &'s ResourceStatus,
    ) -> impl Iterator<Item = &'s ConnectionStatus> + 's {
        resource.connections.iter().filter(|connection| match &self.peer {
            None => true,
            Some(PeerName::Name(name)) => is_same_host(&connection.name, name),
            Some(PeerName::Id(id)) => connection.peer_node_id == *id,
        })
    }

    fn check_names(&self, resource: &ResourceStatus) -> Result<(), AdmError> {
        let hint = || format!("basalt adm status {}", resource.name);
        let mut peers = resource.connections.iter();
        let is_known = match &self.peer {
            None => true,
            Some(PeerName::Id(id)) => peers.any(|peer| peer.peer_node_id == *id),
            Some(PeerName::Name(name)) => is_peer(name, peers.map(|peer| peer.name.as_str()))?,
        };
        if !is_known {
            return Err(AdmError::configuration("the resource has no such peer", hint()));
        }
        let mut devices = resource.devices.iter();
        match self.volume {
            Some(number) if !devices.any(|device| device.volume == number) => {
                let message = format!("the resource has no volume {number}");
                Err(AdmError::configuration(message, hint()))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn holds(&self, resource: &ResourceStatus) -> bool {
        let is_wanted = |volume: u16| self.volume.is_none_or(|wanted| wanted == volume);
        let is_visible = |device: &PeerDeviceStatus| {
            self.volume.is_none()
                || device.replication_state >= ReplicationState::Established
                || device.peer_client
        };
        match self.wish {
            Wish::Connected => self.connections(resource).all(|connection| {
                let mut devices = connection.peer_devices.iter();
                connection.connection_state == ConnectionState::Connected
                    && devices.all(|device| !is_wanted(device.volume) || is_visible(device))
            }),
            Wish::InSync => {
                let devices = resource.devices.iter().filter(|it| is_wanted(it.volume));
                let is_whole = devices.clone().all(|device| {
                    matches!(device.disk_state, DiskState::UpToDate | DiskState::Diskless)
                });
                let mut peers =
                    self.connections(resource).flat_map(|connection| &connection.peer_devices);
                is_whole
                    && peers.all(|device| {
                        !is_wanted(device.volume)
                            || (!device.replication_state.has_progress()
                                && device.peer_disk_state != DiskState::Inconsistent)
                    })
            }
        }
    }

    /// One that does not come by itself; a split brain before what `connect` ends.
    fn vain<'s>(&'s self, resource: &'s ResourceStatus) -> Option<&'s ConnectionStatus> {
        let is_alone = |it: &&ConnectionStatus| it.connection_state == ConnectionState::StandAlone;
        self.connections(resource).filter(is_alone).max_by_key(|it| it.split_brain)
    }

    fn what(&self) -> &'static str {
        match self.wish {
            Wish::Connected => "the connections",
            Wish::InSync => "the end of the resync",
        }
    }

    /// Whom it waits for, in the words of `status`.
    fn missing(&self, resource: &ResourceStatus) -> Vec<String> {
        let connections = self.connections(resource);
        if self.wish == Wish::Connected {
            let missing =
                connections.filter(|it| it.connection_state != ConnectionState::Connected);
            return missing.map(|it| format!("{} is {}", it.name, it.connection_state)).collect();
        }
        let devices = resource.devices.iter().map(|it| ("this node", it.volume, it.disk_state));
        let of_peers = connections.flat_map(|it| {
            it.peer_devices.iter().map(|peer| (&it.name[..], peer.volume, peer.peer_disk_state))
        });
        let all = devices.chain(of_peers).filter(|(_, volume, state)| {
            let is_wanted = self.volume.is_none_or(|wanted| wanted == *volume);
            is_wanted && !matches!(state, DiskState::UpToDate | DiskState::Diskless)
        });
        all.map(|(name, volume, state)| format!("{name} is {state} in volume {volume}")).collect()
    }

    fn timed_out(&self, limit: Duration, last: &ResourceStatus) -> AdmError {
        let missing = self.missing(last);
        let missing = if missing.is_empty() {
            String::new()
        } else {
            format!(", and {}", missing.join(", "))
        };
        AdmError::WaitTimeout {
            what: self.what(),
            reason: format!("{} s are up{missing}", limit.as_secs_f32()),
            hint: format!("basalt adm status {}", self.resource),
        }
    }
}
