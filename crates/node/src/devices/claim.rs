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
//! closes it. It waits for this process for a while, and then lets it be: it ends once it can. That
//! may be after the daemon: so each such process of a device waits for the one before, by a lock.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self as stdio, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{self, Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use api::response::Failure;
use io::process::{is_deserted_within, is_readable_within};
use stdx::mutex::lock;
use stdx::time::Time;

use crate::devices::driver::block_path;
use crate::devices::supervisor::OWN_PROGRAM;
use crate::limits::DEVICE_BUSY_PATIENCE;
use crate::notify::leave_alone;
use crate::refusal::Refusal;

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
pub fn claim_device(device: u32, lock: &Path) -> stdio::Result<()> {
    let (_turn, (answer, file)) = claim_in_turn(lock, &block_path(device));
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

/// Claims a device once the process of the last claim has closed it: whose daemon may be dead, and
/// which would be taken for somebody else.
fn claim_in_turn(lock: &Path, path: &Path) -> (Option<File>, (Answer, Option<File>)) {
    // Where no lock can be had, it is tried as if there were no other claim.
    let turn = File::create(lock).and_then(|file| file.lock().map(|()| file));
    (turn.ok(), claim(path))
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

/// The claims of this daemon whose processes may have their devices open, by the device's label.
///
/// One that was given up has its device until the kernel answers: for as long it would be taken for
/// somebody else's. So the next claim of a device begins when the process of the last one ended.
#[derive(Debug, Default)]
pub(super) struct Claims {
    running: Mutex<BTreeMap<String, Arc<File>>>,
}

/// A process that claims a device.
#[derive(Debug)]
struct Process {
    pipe: ChildStdin,
    /// Where it answers. Its end is seen here.
    answers: Arc<File>,
}

#[derive(Debug)]
enum Begun {
    Now(Process),
    /// An earlier one has to end first, which answers there.
    After(Arc<File>),
}

impl Claims {
    /// To claim a device; `lock` is its file for that.
    pub(super) fn of(&self, label: &str, device: u32, lock: &Path) -> Claiming<'_> {
        let mut command = Command::new(OWN_PROGRAM);
        leave_alone(&mut command).arg0("basalt").args([
            "device",
            "claim",
            "--device",
            &device.to_string(),
        ]);
        command.arg("--lock").arg(path::absolute(lock).unwrap_or_else(|_| lock.to_owned()));
        self.by(command, label, block_path(device))
    }

    fn by(&self, command: Command, label: &str, path: PathBuf) -> Claiming<'_> {
        Claiming { claims: self, label: label.to_owned(), path, command, process: None }
    }

    fn begin(&self, label: &str, command: &mut Command) -> stdio::Result<Begun> {
        let mut running = lock(&self.running);
        // One that cannot be looked at is waited for: that finds out why.
        running.retain(|_, answers| !has_ended_by(answers, io::now()).unwrap_or(false));
        if let Some(earlier) = running.get(label) {
            return Ok(Begun::After(Arc::clone(earlier)));
        }
        let (process, mut child) = Process::start(command)?;
        running.insert(label.to_owned(), Arc::clone(&process.answers));
        // Without it, it is taken leave of when the daemon ends.
        let reaper = thread::Builder::new().name("claim".to_owned());
        drop(reaper.spawn(move || drop(child.wait())));
        Ok(Begun::Now(process))
    }
}

fn has_ended_by(answers: &File, until: Time) -> stdio::Result<bool> {
    is_deserted_within(answers.as_fd(), until.since(io::now()))
}

impl Process {
    fn start(command: &mut Command) -> stdio::Result<(Self, Child)> {
        // Neither a terminal's signals nor a mount that is to go concern it.
        command.process_group(0).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let pipe = child.stdin.take().expect("it was asked for above");
        let answers = child.stdout.take().expect("it was asked for above");
        Ok((Self { pipe, answers: Arc::new(File::from(OwnedFd::from(answers))) }, child))
    }
}

/// A claim that was asked for. Dropped, it ends by itself as soon as it can.
#[derive(Debug)]
pub(super) struct Claiming<'a> {
    claims: &'a Claims,
    label: String,
    path: PathBuf,
    command: Command,
    /// None while an earlier one may have the device.
    process: Option<Process>,
}

impl Claiming<'_> {
    /// Begins; false while an earlier claim may have the device.
    pub(super) fn start(&mut self) -> Result<bool, Failure> {
        if let Begun::Now(process) = self.begin()? {
            self.process = Some(process);
        }
        Ok(self.process.is_some())
    }

    /// Waits for the claim; `None` if there is no device yet, or no longer.
    pub(super) fn wait(mut self, until: Time) -> Result<Option<Claim>, Failure> {
        let Process { pipe, answers } = self.process_by(until)?;
        let path = &self.path;
        let mut bytes = [0; ANSWER_BYTES];
        let read = match is_readable_within(answers.as_fd(), until.since(io::now())) {
            Ok(true) => (&*answers).read(&mut bytes),
            Ok(false) => return Err(late(path)),
            Err(error) => Err(error),
        };
        let length = read.map_err(|error| unknown(path, error))?;
        let answer = str::from_utf8(&bytes[..length]).ok().and_then(Answer::decode);
        let answer = answer.ok_or_else(|| {
            unknown(path, stdio::Error::other("the process that looks for it ended"))
        })?;
        match answer {
            Answer::Held => Ok(Some(Claim { pipe: Some(pipe), answers })),
            Answer::Refused(libc::ENOENT | libc::ENODEV | libc::ENXIO) => Ok(None),
            Answer::Refused(errno) => Err(refused(path, errno)),
            Answer::Unwritten(errno) => Err(unwritten(path, errno)),
        }
    }

    /// Its process, which begins after that of an earlier claim.
    fn process_by(&mut self, until: Time) -> Result<Process, Failure> {
        if let Some(process) = self.process.take() {
            return Ok(process);
        }
        loop {
            match self.begin()? {
                Begun::Now(process) => return Ok(process),
                Begun::After(earlier) => match has_ended_by(&earlier, until) {
                    Ok(true) => {}
                    Ok(false) => return Err(late(&self.path)),
                    Err(error) => return Err(unknown(&self.path, error)),
                },
            }
        }
    }

    fn begin(&mut self) -> Result<Begun, Failure> {
        let begun = self.claims.begin(&self.label, &mut self.command);
        begun.map_err(|error| unknown(&self.path, error))
    }
}

/// A device that nobody else can use, and of which nothing is unwritten. Dropped, it is let go.
#[derive(Debug)]
pub(crate) struct Claim {
    pipe: Option<ChildStdin>,
    answers: Arc<File>,
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
        return unknown(path, stdio::Error::from_raw_os_error(errno));
    }
    Refusal::DeviceInUse { path: path.to_owned() }.into()
}

/// Whether it is in use is not known: somebody may have written what only he can sync.
fn unknown(path: &Path, error: stdio::Error) -> Failure {
    Refusal::DeviceUnknown { path: path.to_owned(), error }.into()
}

fn unwritten(path: &Path, errno: i32) -> Failure {
    let error = stdio::Error::from_raw_os_error(errno);
    Refusal::DeviceUnwritten { path: path.to_owned(), error }.into()
}

fn late(path: &Path) -> Failure {
    Refusal::DeviceLate { path: path.to_owned() }.into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use api::response::FailureCode;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn claiming<'a>(claims: &'a Claims, label: &str, script: &str) -> Claiming<'a> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut claiming = claims.by(command, label, "/dev/ublkb0".into());
        claiming.start().unwrap();
        claiming
    }

    fn answer(script: &str) -> Result<Option<Claim>, Failure> {
        claiming(&Claims::default(), "r0", script).wait(io::now() + LONG)
    }

    fn failure_of(script: &str) -> Failure {
        answer(script).unwrap_err()
    }

    /// The daemon waited for the device itself, for as long as its peers were away.
    #[test]
    fn device_that_answers_nothing_is_waited_for_until_the_deadline() {
        let place = tempfile::tempdir().unwrap();
        let ended = place.path().join("ended");
        let claims = Claims::default();
        let claiming = claiming(&claims, "r0", &format!("cat; echo > {}", ended.display()));
        let failure = claiming.wait(io::now()).unwrap_err();
        assert_eq!(failure.code, FailureCode::Timeout, "{failure}");
        assert!(failure.to_string().contains("/dev/ublkb0"), "{failure}");
        let until = io::now() + LONG;
        while !ended.exists() && io::now() < until {
            thread::yield_now();
        }
        assert!(ended.exists(), "its process ends when nobody waits");
    }

    /// The second command was told that another layer has the device, which had it for the first.
    #[test]
    fn claim_begins_when_the_last_one_of_its_device_has_ended() {
        let place = tempfile::tempdir().unwrap();
        let (begun, written) = (place.path().join("begun"), place.path().join("written"));
        let claims = Claims::default();
        let (there, end) = (place.path().display(), written.display());
        // Not longer than the test, should that fail.
        let wait = format!("while [ -e {there} ] && [ ! -e {end} ]; do sleep 0.01; done");
        let first = claiming(&claims, "r0", &wait);
        first.wait(io::now()).unwrap_err();

        let hold = format!("echo > {}; printf held; cat", begun.display());
        let until = io::now() + Duration::from_millis(200);
        let failure = claiming(&claims, "r0", &hold).wait(until).unwrap_err();
        assert_eq!(failure.code, FailureCode::Timeout, "{failure}");
        assert!(failure.message.contains("is not written out yet"), "{failure}");
        assert!(!begun.exists(), "its device was open");
        let other = claiming(&claims, "r1", "printf held; cat").wait(io::now() + LONG);
        assert!(other.unwrap().is_some(), "it is about another device");

        let next = claiming(&claims, "r0", &hold);
        std::fs::write(&written, "").unwrap();
        assert!(next.wait(io::now() + LONG).unwrap().is_some());
        assert!(begun.exists());
    }

    #[test]
    fn claim_is_held_until_it_is_dropped() {
        let place = tempfile::tempdir().unwrap();
        let ended = place.path().join("ended");
        let script = format!("printf held; cat; echo > {}", ended.display());
        let claim = answer(&script).unwrap().expect("there is a device");
        assert!(!ended.exists());
        drop(claim);
        assert!(ended.exists(), "its end is waited for");
    }

    #[test]
    fn why_a_device_is_not_claimed_is_told_apart() {
        for errno in [libc::ENOENT, libc::ENODEV, libc::ENXIO] {
            let claim = answer(&format!("printf 'open {errno}'"));
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

    /// The process of a claim outlives its daemon, for as long as the device answers nothing: the
    /// next daemon was told that another layer has the device.
    #[test]
    fn claim_waits_for_the_process_of_a_daemon_that_died() {
        let place = tempfile::tempdir().unwrap();
        let (lock, device) = (place.path().join("r0.claim"), place.path().join("ublkb0"));
        let earlier = File::create(&lock).unwrap();
        earlier.lock().unwrap();
        let (_turn, (answer, file)) = thread::scope(|scope| {
            let claiming = scope.spawn(|| claim_in_turn(&lock, &device));
            for _ in 0..50 {
                thread::park_timeout(Duration::from_millis(1));
            }
            File::create(&device).unwrap();
            drop(earlier);
            claiming.join().unwrap()
        });
        assert!(answer == Answer::Held && file.is_some(), "{answer:?}");
        let nowhere = place.path().join("none").join("r0.claim");
        assert_eq!(claim_in_turn(&nowhere, &device).1.0, Answer::Held, "it is no reason to refuse");
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
