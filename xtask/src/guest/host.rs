//! Nodes on the host, for a guest whose disk one of them serves.
//!
//! A bash script keeps them, in a network of its own; it does what the guest asks for through the
//! shared folder, and ends with its standard input.

use crate::process;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

#[derive(Debug)]
pub(super) struct Host {
    script: Child,
    work: PathBuf,
}

impl Host {
    /// Starts the nodes; they are ready when this returns.
    pub(super) fn start(shared: &Path, chapter: &str, program: &Path) -> Result<Self> {
        let script = process::repository()?.join("tests/guest/vhost.host.sh");
        let work = shared.join("nodes");
        let folder = program.parent().context("a program lies in a folder")?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(
            std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path)),
        )?;
        fs::create_dir_all(&work).context("cannot make a folder in a new one")?;
        let mut command = Command::new("unshare");
        command.args(["--net", "--", "bash"]).arg(&script);
        command.env("PATH", path).env("LAB", shared).env("WORK", &work);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.spawn().with_context(|| format!("cannot start {}", script.display()))?;
        let mut lines = BufReader::new(child.stdout.take().context("a piped child has an output")?);
        let host = Self { script: child, work };
        let mut line = String::new();
        while lines.read_line(&mut line)? > 0 {
            if line.trim_end() == "ready" {
                // What it says from now on is of its end.
                let chapter = chapter.to_owned();
                thread::spawn(move || {
                    let lines = lines.lines().map_while(Result::ok);
                    lines.for_each(|line| println!("    {chapter}: {line}"));
                });
                return Ok(host);
            }
            print!("    {chapter}: {line}");
            line.clear();
        }
        bail!("the nodes on the host did not start; see above")
    }

    /// Where the first node serves the volume.
    pub(super) fn socket(&self) -> PathBuf {
        self.work.join("alice.vhost/r0-0.sock")
    }
}

impl Drop for Host {
    /// The nodes end with their script, and the script with its input.
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        self.script.wait().ok();
    }
}
