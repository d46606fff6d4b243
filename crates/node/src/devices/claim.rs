//! Claims of block devices: nobody else can use such a device, and nothing of it is unwritten.
//!
//! ```text
//! daemon           its process (`basalt device claim`)
//! start ---------> open for itself alone, write out      may wait in the kernel for as long as
//!    <- answer --- "open ERRNO", "sync ERRNO", or "held" the device answers nothing
//! end of input --> close
//! ```
//!
//! The device is served by the daemon that asks. A thread that waits in the kernel for a device
//! cannot be ended, nor can its process: so no thread of the daemon opens one, writes it out or
//! closes it. It waits for this process for a while, and then lets it be: it ends once it can.

use std::fs::{File, OpenOptions};
use std::io::{self as stdio, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use api::response::{Failure, FailureCode};
use io::process::is_readable_within;
use stdx::time::Time;

use crate::devices::driver::block_path;
use crate::devices::supervisor::OWN_PROGRAM;
use crate::limits::DEVICE_BUSY_PATIENCE;

/// More is no answer.
const ANSWER_BYTES: usize = 32;

/// What became of a claim, as its process tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Held,
    /// It could not be opened.
    Refused(i32),
    /// What was written without a sync cannot be written out.
    Unwritten(i32),
}

impl Answer {
    fn encode(self) -> String {
        match self {
            Self::Held => "held".to_owned(),
            Self::Refused(errno) => format!("open {errno}"),
            Self::Unwritten(errno) => format!("sync {errno}"),
        }
    }

    fn decode(text: &str) -> Option<Self> {
        match text.split_once(' ') {
            None => (text == "held").then_some(Self::Held),
            Some(("open", errno)) => errno.parse().ok().map(Self::Refused),
            Some(("sync", errno)) => errno.parse().ok().map(Self::Unwritten),
            Some(_) => None,
        }
    }
}

/// Claims a block device until the input ends: what `basalt device claim` is.
///
/// # Errors
/// If nobody hears the answer.
pub fn claim_device(device: u32) -> stdio::Result<()> {
    let (answer, file) = claim(&block_path(device));
    // In one piece: the reader takes what is there for all.
    stdio::stdout().write_all(answer.encode().as_bytes())?;
    stdio::stdout().flush()?;
    if file.is_some() {
        drop(stdio::stdin().read_to_end(&mut Vec::new()));
    }
    // Its end is seen by what it leaves open: the device is closed before.
    drop(file);
    Ok(())
}

/// Opens a block device that nobody has mounted or claimed otherwise, so that nobody can, and has
/// what was written without a sync written out while it still can be.
fn claim(path: &Path) -> (Answer, Option<File>) {
    let errno = |error: &stdio::Error| error.raw_os_error().unwrap_or(libc::EIO);
    let mut open = OpenOptions::new();
    match open.read(true).write(true).custom_flags(libc::O_EXCL).open(path) {
        Err(error) => (Answer::Refused(errno(&error)), None),
        Ok(file) => match file.sync_all() {
            Err(error) => (Answer::Unwritten(errno(&error)), None),
            Ok(()) => (Answer::Held, Some(file)),
        },
    }
}

/// A claim that was asked for. Dropped, it ends by itself as soon as it can.
#[derive(Debug)]
pub(super) struct Claiming {
    path: PathBuf,
    pipe: ChildStdin,
    answers: ChildStdout,
}

impl Claiming {
    /// Starts the process of it.
    pub(super) fn start(device: u32) -> Result<Self, Failure> {
        let mut command = Command::new(OWN_PROGRAM);
        command.arg0("basalt").args(["device", "claim", "--device", &device.to_string()]);
        let path = block_path(device);
        Self::by(command, path.clone()).map_err(|error| unknown(&path, &error))
    }

    fn by(mut command: Command, path: PathBuf) -> stdio::Result<Self> {
        // Neither a terminal's signals nor a mount that is to go concern it.
        command.process_group(0).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let pipe = child.stdin.take().expect("it was asked for above");
        let answers = child.stdout.take().expect("it was asked for above");
        thread::Builder::new().name("claim".to_owned()).spawn(move || drop(child.wait()))?;
        Ok(Self { path, pipe, answers })
    }

    /// Waits for the claim; `None` if there is no device yet, or no longer.
    pub(super) fn wait(self, until: Time) -> Result<Option<Claim>, Failure> {
        let Self { path, pipe, mut answers } = self;
        let mut bytes = [0; ANSWER_BYTES];
        let read = match is_readable_within(answers.as_fd(), until.since(io::now())) {
            Ok(true) => answers.read(&mut bytes),
            Ok(false) => return Err(late(&path)),
            Err(error) => Err(error),
        };
        let length = read.map_err(|error| unknown(&path, &error))?;
        let answer = str::from_utf8(&bytes[..length]).ok().and_then(Answer::decode);
        let answer = answer.ok_or_else(|| {
            unknown(&path, &stdio::Error::other("the process that looks for it ended"))
        })?;
        match answer {
            Answer::Held => Ok(Some(Claim { pipe: Some(pipe), answers })),
            Answer::Refused(libc::ENOENT | libc::ENODEV | libc::ENXIO) => Ok(None),
            Answer::Refused(errno) => Err(refused(&path, errno)),
            Answer::Unwritten(errno) => Err(unwritten(&path, errno)),
        }
    }
}

/// A device that nobody else can use, and of which nothing is unwritten. Dropped, it is let go.
#[derive(Debug)]
pub(crate) struct Claim {
    pipe: Option<ChildStdin>,
    answers: ChildStdout,
}

impl Drop for Claim {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // A device that somebody has open is not deleted. One that hangs is let be.
        drop(is_readable_within(self.answers.as_fd(), DEVICE_BUSY_PATIENCE));
    }
}

fn refused(path: &Path, errno: i32) -> Failure {
    if errno != libc::EBUSY {
        return unknown(path, &stdio::Error::from_raw_os_error(errno));
    }
    let message = format!("{} is mounted, or in use by another layer", path.display());
    let hint = "unmount it first (`lsblk` and `fuser -v` show what holds it); --force cuts it off";
    Failure::new(FailureCode::DeviceInUse, message, hint)
}

/// Whether it is in use is not known: somebody may have written what only he can sync.
fn unknown(path: &Path, error: &stdio::Error) -> Failure {
    let message = format!("cannot tell whether {} is in use: {error}", path.display());
    let hint = "`lsblk` shows what holds it; try again, or cut it off with --force";
    Failure::new(FailureCode::DeviceInUse, message, hint)
}

fn unwritten(path: &Path, errno: i32) -> Failure {
    let error = stdio::Error::from_raw_os_error(errno);
    let message = format!("cannot write out what {} holds: {error}", path.display());
    Failure::new(FailureCode::DiskFailed, message, "--force gives it up")
}

fn late(path: &Path) -> Failure {
    let message = format!("what {} holds is not written out yet", path.display());
    let hint = "`status` tells what the resource waits for; try again, or give it up with --force";
    Failure::new(FailureCode::Timeout, message, hint)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn claiming(script: &str) -> Claiming {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Claiming::by(command, "/dev/ublkb0".into()).unwrap()
    }

    fn failure_of(script: &str) -> Failure {
        claiming(script).wait(io::now() + LONG).unwrap_err()
    }

    /// The daemon waited for the device itself, for as long as its peers were away.
    #[test]
    fn device_that_answers_nothing_is_waited_for_until_the_deadline() {
        let place = tempfile::tempdir().unwrap();
        let ended = place.path().join("ended");
        let claiming = claiming(&format!("cat; echo > {}", ended.display()));
        let failure = claiming.wait(io::now()).unwrap_err();
        assert_eq!(failure.code, FailureCode::Timeout, "{failure}");
        assert!(failure.to_string().contains("/dev/ublkb0"), "{failure}");
        let until = io::now() + LONG;
        while !ended.exists() && io::now() < until {
            thread::yield_now();
        }
        assert!(ended.exists(), "its process ends when nobody waits");
    }

    #[test]
    fn claim_is_held_until_it_is_dropped() {
        let place = tempfile::tempdir().unwrap();
        let ended = place.path().join("ended");
        let script = format!("printf held; cat; echo > {}", ended.display());
        let claim = claiming(&script).wait(io::now() + LONG).unwrap();
        let claim = claim.expect("there is a device");
        assert!(!ended.exists());
        drop(claim);
        assert!(ended.exists(), "its end is waited for");
    }

    #[test]
    fn why_a_device_is_not_claimed_is_told_apart() {
        for errno in [libc::ENOENT, libc::ENODEV, libc::ENXIO] {
            let claim = claiming(&format!("printf 'open {errno}'")).wait(io::now() + LONG);
            assert!(claim.unwrap().is_none(), "there is none");
        }
        let failure = failure_of(&format!("printf 'open {}'", libc::EBUSY));
        assert_eq!(failure.code, FailureCode::DeviceInUse);
        assert!(failure.message.contains("mounted"), "{failure}");
        let failure = failure_of(&format!("printf 'sync {}'", libc::EIO));
        assert_eq!(failure.code, FailureCode::DiskFailed, "{failure}");
    }

    /// Any failure to look was taken for a device that is gone, which was then cut off.
    #[test]
    fn device_that_cannot_be_looked_at_counts_as_one_in_use() {
        for script in ["true", "printf 'open x'", "printf nonsense", "printf 'open 13'"] {
            let failure = failure_of(script);
            assert_eq!(failure.code, FailureCode::DeviceInUse, "{failure}");
            assert!(failure.to_string().contains("cannot tell whether"), "{failure}");
        }
    }

    #[test]
    fn claim_says_what_it_found() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(claim(&place.path().join("ublkb0")).0, Answer::Refused(libc::ENOENT));
        assert_eq!(claim(place.path()).0, Answer::Refused(libc::EISDIR));
        std::fs::write(place.path().join("file"), "some").unwrap();
        let (answer, file) = claim(&place.path().join("file"));
        assert!(answer == Answer::Held && file.is_some());
        for answer in [Answer::Held, Answer::Refused(2), Answer::Unwritten(5)] {
            assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        }
    }
}
