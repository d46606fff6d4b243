//! fio checks what it wrote, while the nodes that do not serve it are killed in turn.

use super::puppet::Puppet;
use crate::outcome::Outcome;
use crate::process::Stopwatch;
use anyhow::{Context as _, Result, ensure};
use std::process::{Child, Command};

const SIZE_MIB: u64 = 128;

/// Random writes, each read back and checked; then the other two nodes die one after the other.
pub(super) fn verify() -> Result<Outcome> {
    let mut puppet = Puppet::start(SIZE_MIB)?;
    let scratch = super::scratch::Scratch::new("fio")?;
    let mut command = Command::new("fio");
    command.current_dir(scratch.path()).args([
        "--name=verify",
        "--ioengine=nbd",
        &format!("--uri={}", puppet.local_uri(0)),
        &format!("--size={SIZE_MIB}m"),
        "--rw=randwrite",
        "--bs=4k",
        "--iodepth=16",
        // Slow enough that the nodes die under it.
        "--rate_iops=3500",
        "--verify=crc32c",
        "--verify_fatal=1",
        "--verify_backlog=2048",
        "--verify_state_save=0",
        "--output=report",
    ]);
    let fio = command.spawn().context("cannot start fio")?;
    let mut fio = Fio(fio);
    let watch = Stopwatch::start();
    let mut deaths = 0;
    for node in [1, 2] {
        puppet.kill(node)?;
        ensure!(fio.is_running()?, "fio ended before node {node} was killed");
        deaths += 1;
        puppet.restart(node)?;
        puppet.wait_until_whole(0)?;
    }
    let status = fio.0.wait().context("cannot wait for fio")?;
    let seconds = watch.elapsed().as_secs_f64();
    println!("fio ended with {status} after {seconds:.1} s and {deaths} deaths");
    ensure!(status.success(), "fio found what it had not written, or met an error: {status}");
    puppet.wait_until_whole(0)?;
    puppet.compare()?;
    Ok(Outcome::PASSED)
}

/// Ends with us, whatever happens.
struct Fio(Child);

impl Fio {
    fn is_running(&mut self) -> Result<bool> {
        Ok(self.0.try_wait().context("cannot look after fio")?.is_none())
    }
}

impl Drop for Fio {
    fn drop(&mut self) {
        // It has usually ended long ago.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
