//! Verbs that read and write disks without the daemon, in a process of their own.
//!
//! A disk that stands still keeps the process that waits for it: it cannot even be killed. So such
//! a verb is done by a child, and the command itself ends in time, whatever the disk does. So is
//! `report`, which reads the daemon's files.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use io::now;

use crate::adm::arguments::{CommandLine, Verb};
use crate::adm::failure::AdmError;
use crate::adm::outcome::Outcome;
use crate::adm::verbs::failed;
use crate::adm::work::Work;

/// Set for the child, which does the work.
const CHILD_VARIABLE: &str = "BASALT_DISK_WORK";
/// Metadata of a large disk takes minutes to write.
const WRITES_WITHIN: Duration = Duration::from_secs(600);
const READS_WITHIN: Duration = Duration::from_secs(30);
/// To read the log and the state directory.
const REPORT_WITHIN: Duration = Duration::from_secs(30);

/// How long a verb may take that is to be done by a child.
pub(crate) fn limit(command_line: &CommandLine) -> Option<Duration> {
    let timeout = command_line.general.timeout;
    if matches!(&command_line.verb, Verb::Report(options) if options.cluster) {
        // The node's own part of it is a command of its own.
        return None;
    }
    let limit = match command_line.verb.work() {
        Work::Daemon | Work::Files => return None,
        Work::WholeMetadata => timeout.unwrap_or(WRITES_WITHIN),
        Work::Disks => timeout.unwrap_or(READS_WITHIN),
        // Each of its questions to the daemon has the deadline of the command line.
        Work::DaemonFiles => timeout.unwrap_or(READS_WITHIN) * 2 + REPORT_WITHIN,
    };
    own_limit(limit)
}

/// None for the child, which does the work.
fn own_limit(limit: Duration) -> Option<Duration> {
    std::env::var_os(CHILD_VARIABLE).is_none().then_some(limit)
}

/// Has a child do it, with the words of this process.
pub(crate) fn run(command_line: &CommandLine, limit: Duration) -> Outcome {
    // An archive is no text: the child writes it where it is to go.
    let is_archive = matches!(&command_line.verb, Verb::Report(options) if options.stdout);
    let output = if is_archive { Output::Passed } else { Output::Gathered };
    match ended(limit, output) {
        Ok(End::Told(outcome)) => outcome,
        Ok(End::Cut { by }) => failed(command_line, &AdmError::ProcessEnded { by }),
        Ok(End::NotInTime) => failed(command_line, &AdmError::DiskTimeout { limit }),
        Err(source) => failed(command_line, &AdmError::NoProcess { source }),
    }
}

/// What came of the child.
enum End {
    Told(Outcome),
    Cut { by: String },
    NotInTime,
}

/// Where the standard output of the child goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    Gathered,
    /// To that of this process.
    Passed,
}

fn ended(limit: Duration, output: Output) -> std::io::Result<End> {
    let deadline = now() + limit;
    let mut words = std::env::args_os();
    let mut command = Command::new(std::env::current_exe()?);
    // The name says which tool it is.
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    command.args(words).env(CHILD_VARIABLE, "1");
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    command.stdout(match output {
        Output::Gathered => Stdio::piped(),
        Output::Passed => Stdio::inherit(),
    });
    let mut child = command.spawn()?;
    let (sender, texts) = mpsc::channel();
    let err = child.stderr.take().expect("it is piped");
    let (of_out, of_err) = (sender.clone(), sender);
    // Whoever gave up hears no text, and misses none.
    thread::spawn(move || drop(of_err.send((Stream::Err, read(err)))));
    let mut streams = 1;
    if let Some(out) = child.stdout.take() {
        streams += 1;
        thread::spawn(move || drop(of_out.send((Stream::Out, read(out)))));
    }
    let mut outcome = Outcome::default();
    for _ in 0..streams {
        match texts.recv_timeout(deadline.since(now())) {
            Ok((Stream::Out, text)) => outcome.output = text?,
            Ok((Stream::Err, text)) => outcome.complaints = text?,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                // It ends when the disk lets it.
                child.kill()?;
                return Ok(End::NotInTime);
            }
        }
    }
    let status = child.wait()?;
    let Some(code) = status.code().and_then(|code| u8::try_from(code).ok()) else {
        return Ok(End::Cut { by: status.to_string() });
    };
    outcome.exit = code;
    Ok(End::Told(outcome))
}

#[derive(Clone, Copy, Debug)]
enum Stream {
    Out,
    Err,
}

fn read(mut stream: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
