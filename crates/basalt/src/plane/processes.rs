//! The processes of a machine in a cluster: the data daemon, the agent, and on one machine the
//! controller. Where systemd runs, it keeps them; elsewhere they are started here, each in a
//! session of its own, with its log in a file.

use std::fs::{self, File, OpenOptions};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::plane::Root;
use crate::plane::trouble::Trouble;

/// A process of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Controller,
    Node,
    Agent,
}

impl Service {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Controller => "basalt-controller",
            Self::Node => "basalt-node",
            Self::Agent => "basalt-agent",
        }
    }
}

/// Whether systemd is what keeps services here.
pub(crate) fn has_systemd(root: &Root) -> bool {
    root.0 == Path::new("/") && Path::new("/run/systemd/system").exists()
}

/// Starts it, unless it runs.
pub(crate) fn start(root: &Root, service: Service, words: &[String]) -> Result<(), Trouble> {
    if has_systemd(root) {
        return by_systemd(service);
    }
    let pid_file = root.at(&format!("run/basalt/{}.pid", service.name()));
    if is_running(&pid_file) {
        return Ok(());
    }
    let log = root.at(&format!("var/log/basalt/{}.log", service.name()));
    let trouble = |error: std::io::Error| {
        let to_try = format!("look at {}", log.display());
        Trouble::local(format!("cannot start {}: {error}", service.name()), to_try)
    };
    for folder in [&pid_file, &log].into_iter().filter_map(|path| path.parent()) {
        fs::create_dir_all(folder).map_err(trouble)?;
    }
    let file = OpenOptions::new().create(true).append(true).open(&log).map_err(trouble)?;
    let program = std::env::current_exe().map_err(trouble)?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).process_group(0);
    command.stdout(clone(&file).map_err(trouble)?).stderr(file);
    let child = command.spawn().map_err(trouble)?;
    fs::write(&pid_file, format!("{}\n", child.id())).map_err(trouble)
}

fn clone(file: &File) -> std::io::Result<File> {
    file.try_clone()
}

/// The process that the file names is one of this program.
fn is_running(pid_file: &Path) -> bool {
    let Ok(text) = fs::read_to_string(pid_file) else { return false };
    let Ok(pid) = text.trim().parse::<u32>() else { return false };
    let name = fs::read_to_string(format!("/proc/{pid}/comm"));
    name.is_ok_and(|name| name.trim() == "basalt")
}

fn by_systemd(service: Service) -> Result<(), Trouble> {
    let unit = format!("{}.service", service.name());
    let done = Command::new("systemctl").args(["enable", "--now", &unit]).status();
    match done {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Trouble::local(
            format!("systemd did not start {unit}"),
            format!("`systemctl status {unit}`"),
        )),
    }
}

/// Looks until it is so, for a while.
pub(crate) fn until(within: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let began = io::clock::now();
    while !is_so() {
        if io::clock::now() > began + within {
            return false;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    true
}
