//! Programs of others that a bench starts: none of them outlives it, and one that ends before its
//! time says why.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use frontend::nbd::client::uri::Uri;
use frontend::nbd::client::{ClientError, Connection, Wishes};
use stdx::child::HeldChild;

use crate::cluster::on_cpu;
use crate::waiting;

const START_LIMIT: Duration = Duration::from_secs(20);
/// Of what a server said, so much is repeated.
const SAID_BYTES: usize = 2000;

/// A command whose process is killed when the thread that starts it is gone, however that ended;
/// by `setpriv` of util-linux, for the call behind it is `unsafe`, and that stands in `io` alone.
/// Where there is none, a process stays when this one is killed. On the one CPU, if there is one.
pub(crate) fn command(program: &str, cpu: Option<usize>) -> Command {
    static CAN_FOLLOW: OnceLock<bool> = OnceLock::new();
    let follow = |program: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--", program]);
        command
    };
    let can_follow = *CAN_FOLLOW.get_or_init(|| {
        let mut trial = follow("true");
        let quiet = trial.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    });
    let words = [on_cpu(cpu), vec![program.to_owned()]].concat();
    let mut command = if can_follow { follow(&words[0]) } else { Command::new(&words[0]) };
    command.args(&words[1..]);
    command
}

/// A process that ends with this value.
#[derive(Debug)]
pub(crate) struct Server {
    program: &'static str,
    child: HeldChild,
    /// What it says.
    log: PathBuf,
}

impl Server {
    pub(crate) fn start(
        program: &'static str,
        cpu: Option<usize>,
        arguments: &[String],
        log: PathBuf,
    ) -> Result<Self> {
        let said = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let child = command(program, cpu)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .with_context(|| format!("cannot run {program}"))?;
        Ok(Self { program, child: child.into(), log })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn wait_until_it_serves(&mut self, uri: &Uri) -> Result<()> {
        let what = format!("{} to serve {uri}", self.program);
        waiting::wait_for(&what, START_LIMIT, || {
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended with {status}: {}", self.program, self.said());
            }
            let opened = Connection::open(uri, &Wishes::default());
            if matches!(opened, Err(ClientError::Connect { .. })) {
                return Ok(None);
            }
            opened?.close()?;
            Ok(Some(()))
        })
    }

    fn said(&self) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let begin = text.ceil_char_boundary(text.len().saturating_sub(SAID_BYTES));
        text[begin..].trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::nbd::client::uri::Address;

    #[test]
    fn a_server_that_ends_at_once_is_not_waited_for_and_what_it_said_is_told() {
        let place = tempfile::tempdir().unwrap();
        let arguments = ["-c".to_owned(), "echo no such driver >&2; exit 3".to_owned()];
        let mut server = Server::start("sh", None, &arguments, place.path().join("log")).unwrap();
        let socket = place.path().join("no.sock");
        let uri = Uri { address: Address::Unix(socket), export: String::new() };
        let error = format!("{:#}", server.wait_until_it_serves(&uri).unwrap_err());
        assert!(error.contains("exit status: 3: no such driver"), "{error}");
    }

    #[test]
    fn a_program_ends_with_the_thread_that_started_it() {
        let started = std::thread::spawn(|| {
            let mut child = command("sleep", None).arg("600").spawn().unwrap();
            let name = format!("/proc/{}/comm", child.id());
            let is_it = || Ok((fs::read_to_string(&name)? == "sleep\n").then_some(()));
            if let Err(error) = waiting::wait_for("setpriv to run it", START_LIMIT, is_it) {
                child.kill().unwrap();
                panic!("{error:#}");
            }
            child
        });
        let mut child = started.join().unwrap();
        let ended = waiting::wait_for("the program to end", START_LIMIT, || Ok(child.try_wait()?));
        child.kill().ok();
        child.wait().unwrap();
        assert!(!ended.unwrap().success());
    }
}
