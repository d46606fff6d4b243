//! `report --cluster`: the reports of all nodes of the configuration, in one archive.
//!
//! Each node makes its own report, this one too: `basalt adm report --stdout`, which the command of
//! `--ssh` starts on the others. So secrets are left out where they are, and never sent. All are
//! asked at the same time, and each has the same deadline. A thread for each node reads its
//! archive; one owner writes the common one, file by file, so that a node which falls silent leaves
//! what it had said.
//!
//! ```text
//! DIR/basalt-report-cluster-SECONDS.tar
//!   basalt-report-cluster-SECONDS/README       what came of each node
//!   basalt-report-cluster-SECONDS/NODE/..      as `report` makes it
//! ```

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, SyncSender};
use std::thread;
use std::time::Duration;

use config::model::Host;
use io::clock;
use serde_json::json;
use stdx::child::HeldChild;

use crate::adm::configuration::{Configuration, NodeName, host_name, own_host};
use crate::adm::failure::AdmError;
use crate::adm::general::{General, STATE_DIR};
use crate::adm::outcome::{Answer, Gathering};
use crate::adm::question::node_name;
use crate::adm::report::secrets::without_secrets;
use crate::adm::report::tar::{self, Entry};
use crate::adm::report::told::{Missing, Told, Whole};
use crate::adm::report::{INCOMPLETE_EXIT, Report, cannot_make};
use crate::called;

/// In the place of the nodes whose names are not known.
const OTHERS: &str = "other nodes";
const NODE_WITHIN: Duration = Duration::from_secs(60);
/// A node asks its own daemon twice, and reads files; so much of the deadline is for a question.
const QUESTIONS: u32 = 6;
/// From then on standard error tells who is waited for, again and again.
const PROGRESS_AFTER: Duration = Duration::from_secs(2);
const PROGRESS_EVERY: Duration = Duration::from_secs(10);
const FILES_MAX: usize = 10_000;
const BYTES_MAX: usize = 512 << 20;
/// Of what a command says beside the report.
const WORDS_BYTES_MAX: u64 = 64 << 10;
const WORDS_SHOWN_MAX: usize = 300;
/// Files that were read and are not written yet, of all nodes.
const FILES_WAITING_MAX: usize = 4;
/// A command that ended the report has so long for its last words.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(1);

/// A node, and the words that start its report.
struct Node {
    name: String,
    words: Vec<OsString>,
}

/// A thread that reads the report of a node tells this of it.
enum Heard {
    File(Entry),
    End,
    Failed { error: std::io::Error, words: String },
}

/// A node's report, as far as it came.
struct Progress {
    name: String,
    files: usize,
    bytes: usize,
    /// None while the node is waited for.
    told: Option<Told>,
    /// It ends with this.
    command: Option<HeldChild>,
}

pub(super) fn report(
    general: &General,
    options: &Report,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let limit = general.timeout.unwrap_or(NODE_WITHIN);
    if options.ssh.trim().is_empty() {
        return Err(AdmError::Usage("--ssh needs a command".to_owned()));
    }
    let Asked { nodes, failure } = asked(general, options, limit)?;
    let time = clock::unix_time().as_secs();
    let mut archive = Archive::new(&options.dir, time)?;
    let told = archive.gather(&nodes, limit).map_err(|error| cannot_make(&archive.path, &error))?;
    let others = failure.map(|error| {
        let why = Missing::NotNamed { error: without_secrets(&error.to_string()) };
        (OTHERS.to_owned(), Told::Nothing { why })
    });
    let told: Vec<(String, Told)> = told.into_iter().chain(others).collect();
    archive.end(&told).map_err(|error| cannot_make(&archive.path, &error))?;
    let place = archive.path.display().to_string();
    let lacking: Vec<&str> = told
        .iter()
        .filter(|(_, told)| told.missing().is_some())
        .map(|(name, _)| name.as_str())
        .collect();
    let nodes: Vec<_> = told.iter().map(|(name, told)| of_node(name, told)).collect();
    let answer = json!({ "archive": place, "ok": lacking.is_empty(), "nodes": nodes });
    gathering.answer(&format!("{place}\n"), Answer::Json(answer));
    for (name, told) in told.iter().filter(|(_, told)| told.missing().is_some()) {
        gathering.warn(&called::in_its_words(&format!("{name}: {told}")));
    }
    if !lacking.is_empty() {
        gathering.warn(&Whole::Lacks { nodes: lacking.join(", ") }.to_string());
        gathering.exit_with(INCOMPLETE_EXIT);
    }
    Ok(())
}

fn of_node(name: &str, told: &Told) -> serde_json::Value {
    let reason = told.missing().map(|why| called::in_its_words(&why.to_string()));
    json!({ "name": name, "ok": reason.is_none(), "files": told.files(), "reason": reason })
}

/// The nodes that are asked.
struct Asked {
    /// This one is the first.
    nodes: Vec<Node>,
    /// Why the names of the others are not known.
    failure: Option<AdmError>,
}

/// This node, and all others of the configuration.
fn asked(general: &General, options: &Report, limit: Duration) -> Result<Asked, AdmError> {
    // A daemon that does not answer keeps nothing from being gathered.
    let own_name = node_name(general).or_else(|_| host_name())?;
    let (names, failure) = match others(general, &own_name) {
        Ok(names) => (names, None),
        Err(error) => (BTreeSet::new(), Some(error)),
    };
    let words = own_words(general, options, limit);
    let program = std::env::current_exe().map_err(|source| AdmError::NoProcess { source })?;
    let own = std::iter::once(program.into_os_string()).chain(words.iter().cloned());
    let mut nodes = vec![Node { name: own_name, words: own.collect() }];
    let remote: Vec<String> =
        std::iter::once("basalt".to_owned()).chain(words.iter().map(quoted)).collect();
    nodes.extend(names.into_iter().map(|name| {
        let command = options.ssh.split_whitespace().map(OsString::from);
        let words = command.chain([OsString::from(&name), remote.join(" ").into()]).collect();
        Node { name, words }
    }));
    Ok(Asked { nodes, failure })
}

/// By the file, or else by what the daemon runs with.
fn others(general: &General, own_name: &str) -> Result<BTreeSet<String>, AdmError> {
    let configuration = match Configuration::load(general) {
        Ok(configuration) => configuration,
        // What is wrong with the file says more than that nothing runs.
        Err(error) => Configuration::running(general).or(Err(error))?,
    };
    let mut names = BTreeSet::new();
    let own_node = NodeName::Known(own_name.to_owned());
    for resource in configuration.resources() {
        // Where it is ambiguous, all are asked.
        let own = own_host(resource, &own_node).ok().flatten();
        let others = resource.hosts.iter().filter(|host| own.is_none_or(|own| own != *host));
        names.extend(others.map(address));
    }
    names.remove(own_name);
    Ok(names)
}

/// Where the node is reached: a floating host has no other name than its address.
fn address(host: &Host) -> String {
    match host.address {
        Some(address) if host.is_floating => address.ip().to_string(),
        Some(_) | None => host.name.clone(),
    }
}

/// The words behind the program: what this command was told of the node is true of all of them.
fn own_words(general: &General, options: &Report, limit: Duration) -> Vec<OsString> {
    let seconds = (limit / QUESTIONS).as_secs().max(1);
    let mut words: Vec<OsString> =
        ["adm", "report", "--stdout", "--timeout"].map(OsString::from).to_vec();
    words.push(seconds.to_string().into());
    let mut add = |option: &str, path: Option<&Path>| {
        if let Some(path) = path {
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            words.extend([option.into(), whole.into_os_string()]);
        }
    };
    add("--config-file", general.config_file.as_deref());
    add("--node-socket", general.node_socket.as_deref());
    let state_dir = Some(options.state_dir.as_path());
    add("--state-dir", state_dir.filter(|path| *path != Path::new(STATE_DIR)));
    add("--log", options.log.as_deref());
    words
}

/// As a shell takes it for one word: ssh hands its words to one.
fn quoted(word: &OsString) -> String {
    let text = word.to_string_lossy();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:".contains(letter);
    if text.chars().all(is_plain) && !text.is_empty() {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The archive that is being written.
struct Archive {
    path: PathBuf,
    file: File,
    /// The folder that all of it is in.
    folder: String,
    /// Of its files, in seconds since 1970.
    time: u64,
}

impl Archive {
    fn new(dir: &Path, time: u64) -> Result<Self, AdmError> {
        let folder = format!("basalt-report-cluster-{time}");
        let path = dir.join(format!("{folder}.tar"));
        let made = File::options().write(true).create_new(true).mode(0o600).open(&path);
        let file = made.map_err(|error| cannot_make(&path, &error))?;
        Ok(Self { path, file, folder, time })
    }

    fn add(&mut self, path: &str, content: Vec<u8>) -> std::io::Result<()> {
        let entry = Entry { path: format!("{}/{path}", self.folder), content };
        tar::write_entry(&mut self.file, &entry, self.time)
    }

    /// Has all nodes tell at once, and writes what comes until the deadline.
    fn gather(&mut self, nodes: &[Node], limit: Duration) -> std::io::Result<Vec<(String, Told)>> {
        let (sender, heard) = mpsc::sync_channel(FILES_WAITING_MAX);
        let start = |(index, node)| Progress::start(node, index, &sender);
        let mut all: Vec<Progress> = nodes.iter().enumerate().map(start).collect();
        let began = clock::now();
        let deadline = began + limit;
        let mut next_word = began + PROGRESS_AFTER;
        while all.iter().any(|it| it.told.is_none()) {
            let now = clock::now();
            if now >= deadline {
                break;
            }
            if now >= next_word {
                tell_progress(&all);
                next_word = now + PROGRESS_EVERY;
            }
            // This function has a sender itself: a time that runs out is all that can fail.
            let wait = next_word.min(deadline).since(now);
            if let Ok((index, heard)) = heard.recv_timeout(wait) {
                self.take(&mut all[index], heard)?;
            }
        }
        let why = Missing::NotInTime { seconds: limit.as_secs() };
        let end = |it: Progress| {
            let told = it.told.unwrap_or_else(|| incomplete(it.files, why.clone()));
            (it.name, told)
        };
        Ok(all.into_iter().map(end).collect())
    }

    fn take(&mut self, node: &mut Progress, heard: Heard) -> std::io::Result<()> {
        if node.told.is_some() {
            return Ok(());
        }
        match heard {
            Heard::File(Entry { path, content }) => {
                if node.files == FILES_MAX || node.bytes + content.len() > BYTES_MAX {
                    node.told = Some(incomplete(node.files, Missing::TooMuch));
                    drop(node.command.take());
                    return Ok(());
                }
                node.files += 1;
                node.bytes += content.len();
                self.add(&format!("{}/{path}", folder_of(&node.name)), content)?;
            }
            Heard::End => node.told = Some(Told::Whole { files: node.files }),
            Heard::Failed { error, words } => {
                let why = if error.kind() == ErrorKind::InvalidData {
                    Missing::NotAReport { error: error.to_string(), words }
                } else {
                    Missing::Ended { words }
                };
                node.told = Some(incomplete(node.files, why));
            }
        }
        Ok(())
    }

    fn end(&mut self, told: &[(String, Told)]) -> std::io::Result<()> {
        let contents = Whole::Contents { version: env!("CARGO_PKG_VERSION") };
        let nodes =
            told.iter().map(|(name, told)| format!("{}: {name}: {told}\n", folder_of(name)));
        let text = format!("{contents}\n\n{}", nodes.collect::<String>());
        self.add("README", text.into_bytes())?;
        tar::write_end(&mut self.file)
    }
}

impl Progress {
    fn start(node: &Node, index: usize, sender: &SyncSender<(usize, Heard)>) -> Self {
        let name = node.name.clone();
        let started = Self { name, files: 0, bytes: 0, told: None, command: None };
        let mut command = Command::new(&node.words[0]);
        command.args(&node.words[1..]).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = match child {
            Ok(child) => HeldChild::from(child),
            Err(error) => {
                let command = node.words[0].to_string_lossy().into_owned();
                let why = Missing::NotStarted { command, error: error.to_string() };
                return Self { told: Some(Told::Nothing { why }), ..started };
            }
        };
        let out = child.stdout.take().expect("it is piped");
        let err = child.stderr.take().expect("it is piped");
        let sender = sender.clone();
        thread::spawn(move || listen(out, err, |heard| sender.send((index, heard)).is_ok()));
        Self { command: Some(child), ..started }
    }
}

/// Reads the report of a node, until its end or until nobody wants it any more.
fn listen(out: ChildStdout, err: ChildStderr, tell: impl Fn(Heard) -> bool) {
    let (sender, words) = mpsc::channel();
    // Nobody hears of words that come too late.
    thread::spawn(move || drop(sender.send(last_words(err))));
    let mut out = BufReader::new(out);
    loop {
        match tar::read_entry(&mut out) {
            Ok(Some(entry)) => {
                if !tell(Heard::File(entry)) {
                    return;
                }
            }
            Ok(None) => {
                tell(Heard::End);
                return;
            }
            Err(error) => {
                let words = words.recv_timeout(LAST_WORDS_WITHIN).unwrap_or_default();
                tell(Heard::Failed { error, words });
                return;
            }
        }
    }
}

/// The end of what a command says beside the report, in one line and without secrets.
fn last_words(mut err: ChildStderr) -> String {
    let mut bytes = Vec::new();
    // What was read is shown, whatever becomes of the rest; a full pipe would keep the command.
    let read = err.by_ref().take(WORDS_BYTES_MAX).read_to_end(&mut bytes);
    read.and_then(|_| std::io::copy(&mut err, &mut std::io::sink())).ok();
    let text = without_secrets(&String::from_utf8_lossy(&bytes));
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters = line.chars().count();
    line.chars().skip(letters.saturating_sub(WORDS_SHOWN_MAX)).collect()
}

fn incomplete(files: usize, why: Missing) -> Told {
    if files == 0 { Told::Nothing { why } } else { Told::Part { files, why } }
}

fn tell_progress(all: &[Progress]) {
    let waited: Vec<&str> =
        all.iter().filter(|it| it.told.is_none()).map(|it| it.name.as_str()).collect();
    let told = all.len() - waited.len();
    let word = Whole::Waits { told, all: all.len(), nodes: waited.join(", ") };
    // Without a standard error nobody can be told.
    writeln!(std::io::stderr(), "{}: report: {word}", called::program()).ok();
}

/// The name of a node, as a folder may be called.
fn folder_of(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:".contains(letter);
    let plain: String =
        name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    if plain.trim_matches('.').is_empty() { format!("_{plain}") } else { plain }
}

#[cfg(test)]
mod tests;
