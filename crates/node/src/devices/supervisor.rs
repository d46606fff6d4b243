//! The daemon's end of a device's supervisor: a process that lives until the device is gone.
//!
//! It is the daemon's own program, started again in the daemon's place of the file system, in a
//! session of its own; a pipe tells it that the daemon is gone. If it dies itself while the daemon
//! lives the daemon hears of it, and starts another one.

use std::fs;
use std::io::{self as stdio, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use engine::clients::ublk::News;
use engine::log;

use crate::devices::supervise::{DISMISSED, Supervised};
use crate::limits::DEVICE_SUPERVISOR_REST;
use crate::notify::leave_alone;

/// The program of this process, also when its file was replaced meanwhile.
pub(super) const OWN_PROGRAM: &str = "/proc/self/exe";

/// Dropped without a word it takes the daemon for dead, and looks after the device by itself.
#[derive(Debug)]
pub(super) struct Supervisor {
    pipe: ChildStdin,
}

impl Supervisor {
    /// Starts it; [`News::Unsupervised`] tells when it has ended.
    pub(super) fn start(supervised: &Supervised, news: Sender<News>) -> stdio::Result<Self> {
        let mut command = Command::new(OWN_PROGRAM);
        leave_alone(&mut command).arg0("basalt").args(["device", "supervise"]);
        command.args(["--device", &supervised.device.to_string()]);
        command.args(["--mark", &supervised.mark.to_string()]);
        command.args(["--resource", &supervised.resource]);
        command.args(["--volume", &supervised.volume.to_string()]);
        command.args(["--server", &supervised.server.to_string()]);
        command.args(["--timeout", &supervised.timeout.as_secs().to_string()]);
        command.arg("--lock").arg(
            fs::canonicalize(supervised.lock.parent().unwrap_or_else(|| Path::new(".")))?
                .join(supervised.lock.file_name().unwrap_or_default()),
        );
        // Neither a terminal's signals nor a mount that is to go concern it.
        command.process_group(0).current_dir("/");
        command.env(log::FORMAT_VARIABLE, log::format().word());
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn()?;
        let pipe = child.stdin.take().expect("it was asked for above");
        thread::Builder::new().name("supervisor".to_owned()).spawn(move || {
            let how = match child.wait() {
                Ok(status) => status.to_string(),
                Err(error) => error.to_string(),
            };
            // One that cannot live is not started again and again without a pause.
            thread::park_timeout(DEVICE_SUPERVISOR_REST);
            // The thread of a device that is gone does not listen any more.
            drop(news.send(News::Unsupervised(how)));
        })?;
        Ok(Self { pipe })
    }

    /// The device is gone.
    pub(super) fn dismiss(mut self) {
        // One that died already needs no telling.
        drop(self.pipe.write_all(&[DISMISSED]));
    }
}
