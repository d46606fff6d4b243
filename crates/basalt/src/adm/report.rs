//! `report`: what somebody who is to help needs to see of this node, in a folder of its own, or as
//! an archive on standard output; of the whole cluster with `--cluster` (`report/cluster.rs`).
//!
//! ```text
//! DIR/README            what this is, and what could not be read
//! DIR/status.json       the status with all counters
//! DIR/explain.txt       the same in words
//! DIR/configured.res    the configuration file as it was understood, or why it was not
//! DIR/running.res       what the resources run with
//! DIR/state/            the state directory: config registers, notes, crashes
//! DIR/log.txt           the daemon's log
//! DIR/system.txt        the machine
//! ```
//!
//! No secrets: keys are never read, and the value of `shared-secret` is left out wherever it
//! stands (`report/secrets.rs`). A part that fails is told of in README, and does not keep the
//! others from being written; each has its deadline.

mod secrets;
mod tar;
mod place;
mod told;
mod cluster;

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use api::request::Command as NodeCommand;
use api::response::Reply;
use clap::Args;
use config::options::SECRET_OPTION;
use io::clock;

use crate::adm::configuration::Configuration;
use crate::adm::explain;
use crate::adm::failure::AdmError;
use crate::adm::general::{General, STATE_DIR};
use crate::adm::outcome::Gathering;
use crate::adm::question::{question, status};
use crate::adm::report::place::Place;
use crate::adm::report::secrets::without_secrets;
use crate::adm::status_text::Statistics;
use crate::adm::target::Target;

/// The last so many bytes of a log, and of a file in the state directory.
const LOG_BYTES_MAX: u64 = 4 << 20;
const STATE_BYTES_MAX: u64 = 1 << 20;
const STATE_FILES_MAX: usize = 4096;
const JOURNAL_LINES: &str = "20000";
const JOURNAL_WITHIN: Duration = Duration::from_secs(20);
const SYSTEM_FILES: [&str; 9] = [
    "/proc/version",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/mounts",
    "/proc/diskstats",
    "/proc/net/dev",
    "/proc/sys/kernel/io_uring_disabled",
    "/etc/os-release",
];

/// Some node of the cluster is missing, or a part of it.
const INCOMPLETE_EXIT: u8 = 20;

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Where the folder is made, or the archive
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// State directory of the daemon
    #[arg(long, value_name = "DIR", default_value = STATE_DIR)]
    pub(crate) state_dir: PathBuf,
    /// Log of the daemon [default: the journal of the unit basalt-node]
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Write it to standard output, as an archive for `tar`
    #[arg(long, conflicts_with_all = ["cluster", "dir"])]
    pub(crate) stdout: bool,
    /// Of all nodes of the configuration, in one archive for `tar`; each has 60 s, or --timeout
    #[arg(long)]
    pub(crate) cluster: bool,
    /// With --cluster: starts a command on another node; the node's name and the command are put
    /// behind these words
    #[arg(
        long,
        value_name = "WORDS",
        default_value = "ssh -o BatchMode=yes",
        requires = "cluster"
    )]
    pub(crate) ssh: String,
}

/// A report that is being written.
struct Writing {
    place: Place,
    failures: Vec<String>,
}

pub(crate) fn report(
    general: &General,
    options: &Report,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    if options.cluster {
        return cluster::report(general, options, gathering);
    }
    if options.stdout && general.json {
        return Err(AdmError::Usage("--stdout writes an archive, and no JSON".to_owned()));
    }
    let reply = status(general, Vec::new(), Statistics::Shown);
    let time = clock::unix_time().as_secs();
    let place = if options.stdout {
        Place::Archive { out: std::io::stdout(), time }
    } else {
        let node = reply.as_ref().map_or("unknown", |reply| reply.node.name.as_str());
        let path = options.dir.join(format!("basalt-report-{node}-{time}"));
        Place::new_folder(path.clone()).map_err(|error| cannot_make(&path, &error))?
    };
    let mut writing = Writing { place, failures: Vec::new() };
    match &reply {
        Ok(reply) => {
            let json = serde_json::to_string_pretty(reply).map_err(|error| error.to_string());
            writing.put("status.json", json);
            let texts: String = reply.resources.iter().map(explain::text).collect();
            writing.put("explain.txt", Ok(texts));
        }
        Err(error) => writing.failures.push(format!("status.json, explain.txt: {error}")),
    }
    writing.put("configured.res", configured(general));
    writing.put("running.res", running(general));
    writing.put("log.txt", log(options.log.as_deref()));
    writing.put("system.txt", Ok(system()));
    // The rest is there if the disk of the state directory gives no answer.
    writing.put_readme();
    let failures = writing.failures.len();
    writing.put_state(&options.state_dir);
    if writing.failures.len() > failures {
        writing.put_readme();
    }
    match &mut writing.place {
        Place::Folder(path) => gathering.line(&path.display().to_string()),
        Place::Archive { .. } => writing.place.end().map_err(|error| {
            AdmError::Usage(format!("cannot write to standard output: {error}"))
        })?,
    }
    Ok(())
}

fn cannot_make(path: &Path, error: &std::io::Error) -> AdmError {
    let place = path.display();
    AdmError::Usage(format!("cannot make {place}: {error}; --dir names another folder"))
}

impl Writing {
    fn put(&mut self, name: &str, text: Result<String, String>) {
        let written = text.and_then(|text| {
            let text = without_secrets(&text).into_bytes();
            self.place.write(name, text).map_err(|error| error.to_string())
        });
        if let Err(reason) = written {
            self.failures.push(format!("{name}: {}", without_secrets(&reason)));
        }
    }

    /// Registers and notes; a socket or a lock has nothing to tell.
    fn put_state(&mut self, from: &Path) {
        let mut listing = String::new();
        let mut copy = || -> std::io::Result<()> {
            for folder in [from.to_owned(), from.join("resources")] {
                for entry in fs::read_dir(folder)?.take(STATE_FILES_MAX) {
                    let entry = entry?;
                    let meta = entry.metadata()?;
                    let name = entry.file_name().to_string_lossy().into_owned();
                    listing += &format!("{:>10} {name}\n", meta.len());
                    if !meta.is_file() || meta.len() > STATE_BYTES_MAX {
                        continue;
                    }
                    let bytes = fs::read(entry.path())?;
                    let bytes = match String::from_utf8(bytes) {
                        Ok(text) => without_secrets(&text).into_bytes(),
                        Err(binary) => binary.into_bytes(),
                    };
                    self.place.write(&format!("state/{name}"), bytes)?;
                }
            }
            Ok(())
        };
        let copied = copy();
        let listed = self.place.write("state/LIST", listing.into_bytes());
        if let Err(error) = copied.and(listed) {
            let from = from.display();
            self.failures.push(format!("state: {from}: {error} (--state-dir says where it is)"));
        }
    }

    fn put_readme(&mut self) {
        let mut text = format!(
            "A report of a Basalt node, made by version {}.\n\
             Keys are not in it, and the value of `{SECRET_OPTION}` is left out. It has the names \
             and addresses of hosts,\nclients and disks: look at it before you give it away.\n",
            env!("CARGO_PKG_VERSION")
        );
        for failure in &self.failures {
            text += &format!("not read: {failure}\n");
        }
        self.put("README", Ok(text));
    }
}

/// As the file says it, whatever becomes of it.
fn configured(general: &General) -> Result<String, String> {
    let configuration = Configuration::load(general).map_err(|error| error.to_string())?;
    let resources = configuration.dumped(&[Target::All]).map_err(|error| error.to_string())?;
    let texts: String = resources.iter().map(|resource| resource.to_res_text() + "\n").collect();
    Ok(format!("# {}\n{texts}", configuration.path().display()))
}

fn running(general: &General) -> Result<String, String> {
    let asked = question(general, NodeCommand::Show { resources: Vec::new() });
    match asked.map_err(|error| error.to_string())? {
        Reply::Running(reply) => {
            Ok(reply.resources.into_iter().map(|running| running.config_text + "\n").collect())
        }
        Reply::Done { .. } | Reply::Adjusted { .. } | Reply::Status(_) => {
            Err("the daemon gave another answer".to_owned())
        }
    }
}

/// Of a file if one is named, else of the journal.
fn log(file: Option<&Path>) -> Result<String, String> {
    if let Some(path) = file {
        return end_of(path).map_err(|error| format!("{}: {error}", path.display()));
    }
    let mut journal = Command::new("journalctl")
        .args(["--unit", "basalt-node", "--no-pager", "--lines", JOURNAL_LINES])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("journalctl: {error} (--log names a file instead)"))?;
    let mut output = journal.stdout.take().ok_or("journalctl has no output")?;
    let (sender, texts) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.by_ref().take(LOG_BYTES_MAX).read_to_end(&mut bytes);
        // Nobody hears of one that comes too late.
        sender.send(read.map(|_| bytes)).ok();
    });
    let read = texts.recv_timeout(JOURNAL_WITHIN);
    // It may have ended by itself; then there is nothing to kill.
    journal.kill().ok();
    journal.wait().ok();
    match read {
        Ok(Ok(bytes)) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(RecvTimeoutError::Disconnected) => Err("reading the journal failed".to_owned()),
        Err(RecvTimeoutError::Timeout) => {
            let seconds = JOURNAL_WITHIN.as_secs();
            Err(format!("waited {seconds} s in vain for journalctl"))
        }
    }
}

fn end_of(path: &Path) -> std::io::Result<String> {
    // A pipe could keep the reader waiting for ever.
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES_MAX)))?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn system() -> String {
    let mut text = String::new();
    for path in SYSTEM_FILES {
        let content = fs::read_to_string(path).unwrap_or_else(|error| format!("{error}\n"));
        text += &format!("== {path}\n{content}\n");
    }
    text
}
