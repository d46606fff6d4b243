//! Questions to the daemon, each with its deadline.

use std::path::PathBuf;
use std::time::Duration;

use api::client::{SOCKET_PATH_DEFAULT, SOCKET_PATH_VARIABLE, ask};
use api::request::Command;
use api::response::{Reply, RunningReply};
use api::status::{ResourceStatus, StatusReply};
use node::PRIMARY_COMMAND_DEADLINE;

use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::status_text::Statistics;
use crate::adm::target::{One, Target};

const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// A promotion reads a quorum, seals the others and reconciles before it answers; and it may wait
/// for `fence-peer`. The daemon is the first that gives up, for it can say why.
const PRIMARY_WITHIN: Duration = PRIMARY_COMMAND_DEADLINE.saturating_add(Duration::from_secs(5));
/// It promotes and demotes.
const NEW_CURRENT_UUID_WITHIN: Duration = Duration::from_secs(60);

/// How long an answer to a question without work may take.
pub(crate) fn answer_within(general: &General) -> Duration {
    general.timeout.unwrap_or(ANSWER_WITHIN)
}

/// Where the daemon listens.
pub(crate) fn socket(general: &General) -> PathBuf {
    let named = general.node_socket.clone().or_else(|| {
        std::env::var_os(SOCKET_PATH_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
    });
    named.unwrap_or_else(|| PathBuf::from(SOCKET_PATH_DEFAULT))
}

pub(crate) fn question(general: &General, command: Command) -> Result<Reply, AdmError> {
    let usual = usual_limit(&command);
    Ok(ask(&socket(general), command, general.timeout.unwrap_or(usual))?)
}

pub(crate) fn usual_limit(command: &Command) -> Duration {
    if matches!(command, Command::Primary { .. }) {
        PRIMARY_WITHIN
    } else if matches!(command, Command::NewCurrentUuid { .. }) {
        NEW_CURRENT_UUID_WITHIN
    } else {
        ANSWER_WITHIN
    }
}

pub(crate) fn status(
    general: &General,
    resources: Vec<String>,
    statistics: Statistics,
) -> Result<StatusReply, AdmError> {
    let statistics = statistics == Statistics::Shown;
    match question(general, Command::Status { resources, statistics })? {
        Reply::Status(reply) => Ok(reply),
        Reply::Done { .. } | Reply::Adjusted { .. } | Reply::Running(_) => {
            Err(AdmError::Confused { verb: "status" })
        }
    }
}

/// The states of the named resources, or of all. One that is not up keeps no other from being told.
pub(crate) fn states(
    general: &General,
    names: Vec<String>,
    statistics: Statistics,
    mut missed: impl FnMut(&str, &AdmError),
) -> Result<Vec<ResourceStatus>, AdmError> {
    if names.is_empty() {
        return Ok(status(general, names, statistics)?.resources);
    }
    let mut resources = Vec::new();
    for name in names {
        match status(general, vec![name.clone()], statistics) {
            Ok(reply) => resources.extend(reply.resources),
            Err(error) if error.is_of_unknown_resource() => missed(&name, &error),
            Err(error) => return Err(error),
        }
    }
    Ok(resources)
}

/// The configuration that the named resources run with, or all of them.
pub(crate) fn running_texts(
    general: &General,
    resources: Vec<String>,
) -> Result<RunningReply, AdmError> {
    match question(general, Command::Show { resources })? {
        Reply::Running(reply) => Ok(reply),
        Reply::Done { .. } | Reply::Adjusted { .. } | Reply::Status(_) => {
            Err(AdmError::Confused { verb: "show" })
        }
    }
}

/// What the daemon is called.
pub(crate) fn node_name(general: &General) -> Result<String, AdmError> {
    Ok(status(general, Vec::new(), Statistics::Hidden)?.node.name)
}

/// Changes that were made, and warnings.
pub(crate) fn tell(
    general: &General,
    command: Command,
) -> Result<(Vec<String>, Vec<String>), AdmError> {
    let verb = command.verb();
    done(verb, question(general, command)?)
}

/// What an answer to a command says.
pub(crate) fn done(
    verb: &'static str,
    reply: Reply,
) -> Result<(Vec<String>, Vec<String>), AdmError> {
    match reply {
        Reply::Done { warnings } => Ok((Vec::new(), warnings)),
        Reply::Adjusted { changes, warnings } => Ok((changes, warnings)),
        Reply::Status(_) | Reply::Running(_) => Err(AdmError::Confused { verb }),
    }
}

/// The targets with `all` replaced by every resource that the daemon knows.
pub(crate) fn running(general: &General, targets: &[Target]) -> Result<Vec<One>, AdmError> {
    let mut ones = Vec::new();
    for target in targets {
        match target {
            Target::One(one) => ones.push(one.clone()),
            Target::All => {
                let reply = status(general, Vec::new(), Statistics::Hidden)?;
                let all = reply.resources.into_iter().map(|resource| resource.name);
                ones.extend(all.map(|resource| One::whole(&resource)));
            }
        }
    }
    Ok(ones)
}

/// The volume and the peer that are named must be some that the resource has. How many volumes it
/// has, where one is named.
pub(crate) fn check_names(general: &General, one: &One) -> Result<usize, AdmError> {
    if one.volume.is_none() && one.peer.is_none() {
        return Ok(0);
    }
    let reply = status(general, vec![one.resource.clone()], Statistics::Hidden)?;
    let hint = || format!("basalt adm status {}", one.resource);
    let Some(resource) = reply.resources.first() else { return Ok(0) };
    let peers = resource.connections.iter().map(|it| it.name.as_str());
    if let Some(peer) = one.unknown_peer(peers)? {
        let message = format!("the resource has no peer `{peer}`");
        return Err(AdmError::configuration(message, hint()));
    }
    let Some(number) = one.volume else { return Ok(0) };
    if resource.devices.iter().any(|device| device.volume == number) {
        return Ok(resource.devices.len());
    }
    let message = format!("the resource has no volume {number}");
    Err(AdmError::configuration(message, hint()))
}
