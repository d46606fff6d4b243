//! The data daemon of this node, as the agent uses it: its admin socket, and `create-md`, which is
//! a command of the same program.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use api::client::{AskError, ask};
use api::request::{AdjustScope, Command};
use api::response::{FailureCode, Reply};
use api::status::ResourceStatus;

const ANSWER_WITHIN: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    States,
    Statistics,
}

/// Says which vote the node may keep of a resource that comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    /// It was up here before, by this agent.
    Known,
    /// Nothing: a resource of the same name that somebody made by hand keeps its own vote.
    Fresh,
}

#[derive(Clone, Debug)]
pub(crate) struct Daemon {
    pub(crate) socket: PathBuf,
    /// This program.
    pub(crate) program: PathBuf,
    /// Of this node, as the configurations call it.
    pub(crate) name: String,
}

impl Daemon {
    /// Of all its resources; sizes of volumes are among the statistics.
    pub(crate) fn status(&self, detail: Detail) -> Result<Vec<ResourceStatus>, String> {
        let statistics = detail == Detail::Statistics;
        match self.ask(Command::Status { resources: Vec::new(), statistics })? {
            Reply::Status(status) if status.node.name == self.name => Ok(status.resources),
            Reply::Status(status) => Err(format!(
                "the data daemon calls this machine {:?}, and the cluster {:?}: put `name = {}` \
                 into /etc/basalt/node.conf, and start the daemon again",
                status.node.name, self.name, self.name
            )),
            Reply::Done { .. } | Reply::Adjusted { .. } | Reply::Running(_) => {
                Err("the daemon answered another question".to_owned())
            }
        }
    }

    pub(crate) fn up(&self, resource: &str, text: &str, vote: Vote) -> Result<(), String> {
        let (resource, config_text) = (resource.to_owned(), text.to_owned());
        let fresh = vote == Vote::Fresh;
        self.ask(Command::Up { resource, config_text, fresh }).map(drop)
    }

    pub(crate) fn adjust(&self, resource: &str, config_text: &str) -> Result<(), String> {
        let (resource, config_text) = (resource.to_owned(), config_text.to_owned());
        let scope = AdjustScope::default();
        self.ask(Command::Adjust { resource, config_text, dry_run: false, scope }).map(drop)
    }

    /// Of one that is not up, and is not to come up, there is nothing to do.
    pub(crate) fn down(&self, resource: &str) -> Result<(), String> {
        let command = Command::Down { resource: resource.to_owned(), force: false };
        match ask(&self.socket, command, ANSWER_WITHIN) {
            Err(AskError::Refused(failure)) if failure.code == FailureCode::UnknownResource => {
                Ok(())
            }
            answer => answer.map(drop).map_err(|error| error.to_string()),
        }
    }

    /// Of one that is deleted: a new one of its name begins without its vote.
    pub(crate) fn forget(&self, resource: &str) -> Result<(), String> {
        self.ask(Command::Forget { resource: resource.to_owned() }).map(drop)
    }

    pub(crate) fn primary(&self, resource: &str) -> Result<(), String> {
        self.ask(Command::Primary { resource: resource.to_owned(), force: false }).map(drop)
    }

    pub(crate) fn secondary(&self, resource: &str) -> Result<(), String> {
        self.ask(Command::Secondary { resource: resource.to_owned(), force: false }).map(drop)
    }

    /// Makes a part larger, once all replicas have room.
    pub(crate) fn resize(&self, resource: &str, part: u16, bytes: u64) -> Result<(), String> {
        let (resource, volume, size) = (resource.to_owned(), Some(part), Some(bytes));
        self.ask(Command::Resize { resource, volume, size, assume_clean: false }).map(drop)
    }

    /// All replicas are equal: they are new.
    pub(crate) fn begin_equal(&self, resource: &str) -> Result<(), String> {
        self.ask(Command::NewCurrentUuid { resource: resource.to_owned() }).map(drop)
    }

    fn ask(&self, command: Command) -> Result<Reply, String> {
        ask(&self.socket, command, ANSWER_WITHIN).map_err(|error: AskError| error.to_string())
    }

    /// Metadata for a part of the replica of this node, by the configuration in a file.
    pub(crate) fn create_md(&self, file: &Path, resource: &str, part: u16) -> Result<(), String> {
        let output = Process::new(&self.program)
            .args(["adm", "--config-file"])
            .arg(file)
            .args(["create-md", "--node", &self.name, "--", &format!("{resource}/{part}")])
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| format!("{}: {error}", self.program.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&output.stderr);
        Err(format!("create-md: {}", told.trim().replace('\n', "; ")))
    }
}
