//! What a bench needs of this machine, asked before anything is started: who measures for minutes
//! should not hear at the end of what was missing from the begin. And what its options may ask for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use config::number::{Reads, number};

use crate::cluster::NODES_MAX;

/// A program, and the Debian package that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
}

/// An hour: who asks for more has typed a digit too many.
const SECONDS_MAX: u64 = 3600;
/// A year.
const LONG_SECONDS_MAX: u64 = 365 * 24 * 3600;
/// A PiB, of which a sparse file may be; what is filled needs room beside.
const SIZE_MIB_MAX: u64 = 1 << 30;
const ROUNDS_MAX: u64 = 1000;
const LONG_ROUNDS_MAX: u64 = 1_000_000;
const DEPTH_MAX: u64 = 1024;
/// As the daemon has it.
const SHARDS_MAX: u64 = 8;

/// `--seconds`.
pub(crate) fn seconds(least: u64) -> impl Reads<u64> {
    number(least, SECONDS_MAX, "seconds")
}

/// `--seconds` of a run that may go on for days.
pub(crate) fn long_seconds() -> impl Reads<u64> {
    number(1, LONG_SECONDS_MAX, "seconds")
}

/// `--size-mib`.
pub(crate) fn size_mib(least: u64) -> impl Reads<u64> {
    number(least, SIZE_MIB_MAX, "MiB")
}

/// `--warm-up`.
pub(crate) fn warm_up() -> impl Reads<u64> {
    seconds(0)
}

/// `--repeat` and other small numbers of at least one.
pub(crate) fn count() -> impl Reads<usize> {
    number(1, ROUNDS_MAX, "how many")
}

/// `--depth`: requests in flight.
pub(crate) fn depth() -> impl Reads<u32> {
    number(1, DEPTH_MAX, "requests in flight")
}

/// A number without a bound, such as a seed.
pub(crate) fn any(what: &'static str) -> impl Reads<u64> {
    number(0, u64::MAX, what)
}

/// `--shards`: data threads of each daemon.
pub(crate) fn shards() -> impl Reads<u8> {
    number(1, SHARDS_MAX, "threads")
}

/// How often something is done, or not at all.
pub(crate) fn some() -> impl Reads<usize> {
    number(0, LONG_ROUNDS_MAX, "how many")
}

/// `--kills`.
pub(crate) fn kills() -> impl Reads<u32> {
    number(0, LONG_ROUNDS_MAX, "kills")
}

/// `--replicas` and `--clients` of a cluster on this machine.
pub(crate) fn nodes(least: u64) -> impl Reads<usize> {
    number(least, NODES_MAX as u64, "nodes")
}

/// `--link-mbit`.
pub(crate) fn mbit() -> impl Reads<u32> {
    number(1, u32::MAX.into(), "Mbit/s")
}

/// `--seconds-scale`.
pub(crate) fn scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok().filter(|scale| (0.01..=100.0).contains(scale));
    scale.ok_or_else(|| "it takes a number from 0.01 to 100: a factor".to_owned())
}

pub(crate) fn programs(wanted: &[Program]) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there =
        |name: &str| std::env::split_paths(&path).any(|place| place.join(name).is_file());
    let missing = || wanted.iter().filter(|program| !is_there(program.name));
    let names = each_once(missing().map(|program| program.name));
    let packages = each_once(missing().map(|program| program.package)).join(" ");
    let is_complete = names.is_empty();
    ensure!(is_complete, "not installed: {}; on Debian: apt install {packages}", names.join(", "));
    Ok(())
}

fn each_once(words: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    words.collect::<BTreeSet<_>>().into_iter().collect()
}

pub(crate) fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    has_root(&status)
}

/// The second of four is the one that counts.
fn has_root(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    line.and_then(|line| line.split_whitespace().nth(1)) == Some("0")
}

/// Whether so many bytes of files fit: a full tmpfs would end daemons and peers alike.
pub(crate) fn room(place: &Path, needed_bytes: u64) -> Result<()> {
    let mut df = Command::new("df");
    let output = df.args(["--output=avail", "-B1"]).arg(place).output().context("cannot run df")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let free: u64 = text
        .lines()
        .nth(1)
        .and_then(|line| line.trim().parse().ok())
        .with_context(|| format!("df does not know how much is free in {}", place.display()))?;
    ensure!(
        needed_bytes <= free,
        "{} MiB are needed in {} and {} are free: take a smaller --size-mib, or fewer volumes or \
         systems",
        needed_bytes >> 20,
        place.display(),
        free >> 20
    );
    Ok(())
}

/// Whether a file can be made there; what permissions say is not enough to know.
pub(crate) fn writable(directory: &Path) -> Result<()> {
    tempfile::Builder::new()
        .prefix("basalt-bench-")
        .tempfile_in(directory)
        .and_then(tempfile::NamedTempFile::close)
        .with_context(|| format!("cannot make a file in {}", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_at_once() {
        let program = |name, package| Program { name, package };
        programs(&[program("sh", "dash")]).unwrap();
        let (a, b) = (program("no-a", "one"), program("no-b", "one"));
        let wanted = [b, program("sh", "dash"), a, b];
        let error = programs(&wanted).unwrap_err().to_string();
        assert_eq!(error, "not installed: no-a, no-b; on Debian: apt install one");
    }

    #[test]
    fn who_acts_as_root_is_root() {
        assert!(has_root("Name:\tx\nUid:\t1000\t0\t0\t0\n"));
        assert!(!has_root("Name:\tx\nUid:\t0\t1000\t1000\t1000\n"));
        assert!(!has_root(""));
    }

    #[test]
    fn room_and_a_place_for_results_are_looked_for() {
        let place = tempfile::tempdir().unwrap();
        room(place.path(), 1).unwrap();
        let error = room(place.path(), u64::MAX).unwrap_err().to_string();
        assert!(error.contains("are free"), "{error}");
        writable(place.path()).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        writable(&place.path().join("nowhere")).unwrap_err();
    }
}
