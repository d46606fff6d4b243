//! The machine that was measured, and how durable what lies at a place is.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) kernel: String,
    pub(crate) cpus: usize,
    pub(crate) cpu_model: String,
    pub(crate) memory_gib: u64,
}

impl Machine {
    pub(crate) fn this() -> Result<Self> {
        let read =
            |path: &str| fs::read_to_string(path).with_context(|| format!("cannot read {path}"));
        let kernel = read("/proc/sys/kernel/osrelease")?.trim().to_owned();
        let cpu_model =
            field(&read("/proc/cpuinfo")?, "model name").unwrap_or("unknown").to_owned();
        let memory = read("/proc/meminfo")?;
        let kib = field(&memory, "MemTotal").and_then(|text| text.strip_suffix(" kB"));
        let kib: u64 = kib.and_then(|kib| kib.parse().ok()).context("/proc/meminfo: MemTotal")?;
        let cpus = std::thread::available_parallelism()?.get();
        Ok(Self { kernel, cpus, cpu_model, memory_gib: (kib + (1 << 19)) >> 20 })
    }

    pub(crate) fn line(&self) -> String {
        let Self { kernel, cpus, cpu_model, memory_gib } = self;
        format!("{cpus} CPUs ({cpu_model}), {memory_gib} GiB, Linux {kernel}")
    }
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines();
    lines.find_map(|line| Some(line.strip_prefix(name)?.trim_start().strip_prefix(':')?.trim()))
}

/// What a completed write is worth when all machines lose power, for backing files at `place`.
pub(crate) fn durability(place: &Path) -> Result<String> {
    let kind = kind_of(place)?;
    if is_memory(&kind) {
        return Ok("none: every file is on tmpfs".to_owned());
    }
    Ok(format!(
        "a completed write was handed to the disk with O_DIRECT ({kind}) by every replica, and may \
         be in the disk's own cache until a flush"
    ))
}

/// One line where it is the same for all, or else one for each.
pub(crate) fn durability_lines<'a>(
    systems: impl Iterator<Item = (&'a str, String)>,
) -> Vec<String> {
    let all: Vec<(&str, String)> = systems.collect();
    match all.as_slice() {
        [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => {
            vec![format!("durability: {first}")]
        }
        several => {
            several.iter().map(|(name, what)| format!("durability of {name}: {what}")).collect()
        }
    }
}

fn is_memory(file_system: &str) -> bool {
    matches!(file_system, "tmpfs" | "ramfs")
}

fn kind_of(place: &Path) -> Result<String> {
    let place = place.canonicalize();
    let place = place.context("the place of the files is not there")?;
    let mounts = fs::read_to_string("/proc/self/mounts").context("cannot read the mounts")?;
    let kind = file_system(&mounts, &place).context("the place of the files is on no mount")?;
    Ok(kind.to_owned())
}

/// The mount whose point is the longest beginning of the path; of equal ones the last.
fn file_system<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        let (_device, point, kind) = (fields.next()?, fields.next()?, fields.next()?);
        path.starts_with(point).then_some((point.len(), kind))
    });
    mounts.max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_of_a_path_is_that_of_its_innermost_mount() {
        let mounts = "/dev/vda / ext4 rw 0 0\ntmpfs /dev tmpfs rw 0 0\nshm /dev/shm ramfs rw 0 0\n";
        let kind = |path: &str| file_system(mounts, Path::new(path));
        assert_eq!(kind("/dev/shm/a"), Some("ramfs"));
        assert_eq!(kind("/dev/shmem"), Some("tmpfs"));
        assert_eq!(kind("/var/tmp"), Some("ext4"));
    }

    #[test]
    fn durability_is_told_once_where_it_is_the_same() {
        let lines = |all: &[(&'static str, &str)]| {
            durability_lines(all.iter().map(|(name, what)| (*name, (*what).to_owned())))
        };
        assert_eq!(lines(&[("a", "none"), ("b", "none")]), ["durability: none"]);
        let different = lines(&[("a", "disk"), ("b", "memory")]);
        assert_eq!(different, ["durability of a: disk", "durability of b: memory"]);
        assert!(lines(&[]).is_empty());
    }

    #[test]
    fn this_machine_is_described() {
        let machine = Machine::this().unwrap();
        assert!(machine.memory_gib > 0 && machine.cpus > 0, "{machine:?}");
        assert_eq!(field("model name\t: Xeon\n", "model name"), Some("Xeon"));
    }
}
