//! A handler that an operator calls: in the operator's process, with what the daemon would give it.

use std::path::Path;
use std::time::Duration;

use api::status::ResourceStatus;
use config::host_name::meant;

use crate::control::handlers::environment::variables;
use crate::control::handlers::script::{Ended, run};
use crate::control::handlers::triggers::Trigger;
use crate::limits::HANDLER_DEADLINE;

/// What is called, and what about.
#[derive(Clone, Copy, Debug)]
pub struct ByHand<'a> {
    pub handler: &'static str,
    pub script: &'a str,
    pub resource: &'a str,
    pub own_name: &'a str,
    /// Where the script is from.
    pub config_file: &'a Path,
    /// What is known of the resource.
    pub state: Option<&'a ResourceStatus>,
    /// Without a name it is the only one, if there is one only.
    pub peer: Option<&'a str>,
    pub volume: Option<u16>,
    pub deadline: Option<Duration>,
}

/// How it ended.
#[derive(Debug)]
pub struct Called {
    /// As a shell would have it.
    pub status: u8,
    pub lines: Vec<String>,
    /// Where it did not end by itself.
    pub complaint: Option<String>,
}

/// Runs it to its end. What the caller's environment says in DRBD's names goes before what is
/// known.
#[must_use]
pub fn call_handler(call: &ByHand<'_>) -> Called {
    let trigger = trigger_of(call);
    let mut environment = variables(call.resource, call.own_name, call.state, &trigger);
    environment.push(("DRBD_CONF".to_owned(), call.config_file.display().to_string()));
    let given = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        let is_of_drbd = name.starts_with("DRBD_") || name == "UP_TO_DATE_NODES";
        is_of_drbd.then_some((name, value))
    });
    for (name, value) in given {
        environment.retain(|(known, _)| *known != name);
        environment.push((name, value));
    }
    let mut lines = Vec::new();
    let deadline = call.deadline.unwrap_or(HANDLER_DEADLINE);
    let ended = run(call.script, &environment, deadline, |line| lines.push(line.to_owned()));
    let complaint = match &ended {
        Ended::Exited(_) => None,
        Ended::Killed(_) | Ended::TimedOut(_) | Ended::Stuck(_) | Ended::NotStarted(_) => {
            Some(ended.to_string())
        }
    };
    Called { status: ended.status(), lines, complaint }
}

fn trigger_of(call: &ByHand<'_>) -> Trigger {
    let connections = call.state.map_or(&[][..], |state| &state.connections);
    let is_only = connections.len() == 1;
    let peer = match call.peer {
        Some(name) => meant(name, connections, |it| [it.name.as_str()]).ok().flatten(),
        None => connections.first().filter(|_| is_only),
    };
    let peer = peer.map(|it| (it.peer_node_id, it.name.clone()));
    let devices = call.state.map_or(&[][..], |state| &state.devices);
    let device = devices.iter().find(|it| call.volume == Some(it.volume));
    let volume = device.map(|device| (device.volume, device.minor));
    Trigger { peer, volume, ..Trigger::of_resource(call.handler) }
}
