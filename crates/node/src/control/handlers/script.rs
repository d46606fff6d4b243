//! A script in a shell of its own, with a deadline, and its output line by line.
//!
//! It runs as the daemon's user in `/`, with the given environment and no other, and leads a group
//! of processes, which all end when the time is up. What it leaves running in the background is
//! not waited for, nor one that cannot be killed, for it waits for a device. Nothing is ever read
//! that the script does not write in time.

use std::fmt;
use std::io::{ErrorKind, PipeReader, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::limits::{
    HANDLER_KILL_PATIENCE, HANDLER_LINE_BYTES_MAX, HANDLER_LINES_MAX, HANDLER_POLL_INTERVAL,
    HANDLERS_STUCK_MAX,
};

/// Scripts that were killed and did not end.
static STUCK: AtomicUsize = AtomicUsize::new(0);

/// How a script ended.
#[derive(Debug)]
pub(super) enum Ended {
    Exited(u8),
    /// By this signal.
    Killed(u8),
    TimedOut(Duration),
    /// The same, and it is there still.
    Stuck(Duration),
    NotStarted(std::io::Error),
}

impl Ended {
    /// In one number, as a shell would have it.
    pub(super) fn status(&self) -> u8 {
        match self {
            Self::Exited(code) => *code,
            Self::Killed(signal) => 128_u8.saturating_add(*signal),
            Self::TimedOut(_) | Self::Stuck(_) => 124,
            Self::NotStarted(_) => 127,
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "ended with exit code {code}"),
            Self::Killed(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut(deadline) => {
                write!(f, "did not end within {} s: it was killed", deadline.as_secs())
            }
            Self::Stuck(deadline) => write!(
                f,
                "did not end within {} s, nor when it was killed: it waits for a device (`dmesg | \
                 tail` may say which)",
                deadline.as_secs()
            ),
            Self::NotStarted(error) => write!(f, "could not be started: {error}"),
        }
    }
}

/// Runs the script, and hands what it says to `line`.
pub(super) fn run(
    script: &str,
    variables: &[(String, String)],
    deadline: Duration,
    line: impl FnMut(&str),
) -> Ended {
    if STUCK.load(Ordering::Relaxed) >= HANDLERS_STUCK_MAX {
        let text = format!("{HANDLERS_STUCK_MAX} scripts of before cannot be killed");
        return Ended::NotStarted(std::io::Error::other(text));
    }
    let (mut child, reader) = match start(script, variables) {
        Ok(started) => started,
        Err(error) => return Ended::NotStarted(error),
    };
    let mut output = Output { reader, rest: Vec::new(), lines: 0, line };
    let until = io::now() + deadline;
    let ended = loop {
        output.read();
        match child.try_wait() {
            Ok(Some(status)) => break of_status(status),
            Ok(None) if io::now() >= until => {
                // It may have ended just now.
                drop(io::process::kill_group(child.id()));
                break match is_gone(&mut child) {
                    true => Ended::TimedOut(deadline),
                    false => Ended::Stuck(deadline),
                };
            }
            Ok(None) => thread::park_timeout(HANDLER_POLL_INTERVAL),
            Err(error) => break Ended::NotStarted(error),
        }
    };
    output.read();
    output.finish();
    if let Ended::Stuck(_) = ended {
        leave(child);
    }
    ended
}

fn start(script: &str, variables: &[(String, String)]) -> std::io::Result<(Child, PipeReader)> {
    let (reader, writer) = std::io::pipe()?;
    io::process::set_nonblocking(reader.as_fd())?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).env_clear().envs(variables.iter().cloned()).current_dir("/");
    command.process_group(0).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let child = command.spawn()?;
    // The daemon is the last to be killed when memory runs out; what it starts is not. Without
    // the right to change that it stays so.
    drop(std::fs::write(format!("/proc/{}/oom_score_adj", child.id()), "0"));
    Ok((child, reader))
}

/// Whether it ends in time, once it was killed.
fn is_gone(child: &mut Child) -> bool {
    let until = io::now() + HANDLER_KILL_PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(_)) | Err(_) => return true,
            Ok(None) if io::now() >= until => return false,
            Ok(None) => thread::park_timeout(HANDLER_POLL_INTERVAL),
        }
    }
}

/// Somebody else waits for its end.
fn leave(mut child: Child) {
    STUCK.fetch_add(1, Ordering::Relaxed);
    let reaper = thread::Builder::new().name("handler".to_owned());
    let wait = move || {
        drop(child.wait());
        STUCK.fetch_sub(1, Ordering::Relaxed);
    };
    // Without a thread it stays a process that ended, and counts.
    drop(reaper.spawn(wait));
}

fn of_status(status: ExitStatus) -> Ended {
    let number = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(number(code)),
        (None, signal) => Ended::Killed(number(signal.unwrap_or(0))),
    }
}

/// What a script says.
struct Output<L> {
    reader: PipeReader,
    /// The line that has no end yet.
    rest: Vec<u8>,
    lines: usize,
    line: L,
}

impl<L: FnMut(&str)> Output<L> {
    /// Takes what there is; never waits.
    fn read(&mut self) {
        let mut bytes = [0; 4096];
        // A script that writes without end is read again after its next look at the clock.
        for _ in 0..16 {
            match self.reader.read(&mut bytes) {
                Ok(0) => return,
                Ok(length) => bytes[..length].iter().for_each(|&byte| self.take(byte)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, byte: u8) {
        if byte == b'\n' {
            self.finish();
        } else if self.rest.len() < HANDLER_LINE_BYTES_MAX {
            self.rest.push(byte);
        }
    }

    fn finish(&mut self) {
        let text = String::from_utf8_lossy(&self.rest).into_owned();
        self.rest.clear();
        if text.trim().is_empty() {
            return;
        }
        self.lines += 1;
        match self.lines {
            _ if self.lines < HANDLER_LINES_MAX => (self.line)(text.trim_end()),
            HANDLER_LINES_MAX => (self.line)("it says more, which is left out"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    fn said(script: &str, deadline: Duration) -> (Ended, Vec<String>) {
        let variables = [("DRBD_RESOURCE".to_owned(), "r0".to_owned())];
        let mut lines = Vec::new();
        let ended = run(script, &variables, deadline, |line| lines.push(line.to_owned()));
        (ended, lines)
    }

    #[test]
    fn exit_codes_signals_and_output_are_told() {
        let (ended, lines) = said("echo one; echo two >&2; exit 7", LONG);
        assert_eq!((ended.status(), lines.join(" ")), (7, "one two".to_owned()));
        let (ended, _) = said("kill -TERM $$; sleep 1000", LONG);
        assert_eq!((ended.status(), ended.to_string()), (143, "was ended by signal 15".to_owned()));
    }

    #[test]
    fn environment_is_what_is_given() {
        let (ended, lines) = said("echo $DRBD_RESOURCE ${CARGO_PKG_NAME-none} $PWD", LONG);
        assert_eq!((ended.status(), lines.join(" ")), (0, "r0 none /".to_owned()));
    }

    #[test]
    fn script_that_hangs_is_killed_with_all_that_it_started() {
        let (ended, lines) = said("sleep 1000 & echo $!; sleep 1000", Duration::from_millis(300));
        assert_eq!(ended.status(), 124);
        let child = format!("/proc/{}", lines[0]);
        let deadline = io::now() + LONG;
        // Whoever inherited it may not have looked after it yet.
        let lives = || {
            std::fs::read_to_string(format!("{child}/stat")).is_ok_and(|it| !it.contains(") Z "))
        };
        while lives() {
            assert!(io::now() < deadline, "{child} lives");
            thread::park_timeout(HANDLER_POLL_INTERVAL);
        }
    }

    /// The place of a script that cannot be killed was taken for ever; of four, all.
    #[test]
    fn a_script_that_is_there_still_is_left() {
        let (mut child, _reader) = start("exec sleep 1000", &[]).unwrap();
        let begin = io::now();
        assert!(!is_gone(&mut child));
        assert!(io::now().since(begin) < LONG);
        let id = child.id();
        leave(child);
        assert_eq!(STUCK.load(Ordering::Relaxed), 1);
        drop(io::process::kill_group(id));
        while STUCK.load(Ordering::Relaxed) > 0 {
            assert!(io::now().since(begin) < LONG, "it is not looked after");
            thread::park_timeout(HANDLER_POLL_INTERVAL);
        }
    }

    #[test]
    fn what_stays_in_the_background_is_not_waited_for() {
        let begin = io::now();
        let (ended, lines) = said("sleep 20 & echo $!", LONG);
        assert_eq!(ended.status(), 0);
        assert!(io::now().since(begin) < Duration::from_secs(10));
        let id = lines[0].parse().unwrap();
        let killed = Command::new("kill").arg(u32::to_string(&id)).status().unwrap();
        assert!(killed.success(), "it was left alone");
    }

    #[test]
    fn output_is_bounded() {
        let (ended, lines) =
            said("i=0; while [ $i -lt 500 ]; do echo line; i=$((i+1)); done", LONG);
        assert_eq!((ended.status(), lines.len()), (0, HANDLER_LINES_MAX));
        let (_, lines) = said("head -c 100000 /dev/zero | tr '\\0' x", LONG);
        assert_eq!(lines[0].len(), HANDLER_LINE_BYTES_MAX);
    }
}
