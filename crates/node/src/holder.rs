//! Who holds a lock, and why it does not let go.
//!
//! A process that was killed is there until its last thread leaves the kernel, and one that waits
//! for a disk does not while the disk says nothing; its locks are held for as long. Who starts next
//! is told which process that is, and on what it waits. The holder says who it is in the file that
//! it locked: its number, and when it began, for numbers are used again.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bit of SIGKILL in the masks of `/proc/PID/status`.
const KILLED: u64 = 1 << 8;
/// In which the kernel tells programs when a process began, whatever it counts in itself.
const TICKS_PER_SECOND: u64 = 100;
/// Threads that are told of; all others are like them.
const TOLD_MAX: usize = 3;
/// More is not read of a file that somebody locked.
const NOTE_BYTES: usize = 64;

/// What a thread is about, as its folder in `/proc` says.
#[derive(Debug)]
struct Thread {
    id: u32,
    name: String,
    state: char,
    began: u64,
    is_killed: bool,
    /// The function of the kernel in which it waits; empty where that is not told.
    waits_in: String,
}

/// Says in a file that this process has locked that it is this one.
pub(crate) fn sign(lock: &File) -> io::Result<()> {
    let me = thread(Path::new("/proc/self"), std::process::id());
    let note = me.map(|me| format!("{} {}\n", me.id, me.began)).unwrap_or_default();
    // Over what stands there: a disk that is full has room for that.
    lock.write_all_at(note.as_bytes(), 0)?;
    lock.set_len(note.len() as u64)
}

/// Who holds the lock of this file, what it waits for, and what to do; nothing where it did not
/// say who it is, or is of another machine or container.
pub(crate) fn holder_of(lock: &File) -> Option<String> {
    holder_in(Path::new("/proc"), lock)
}

/// The process that said in this file that it is there, if it still is.
pub(crate) fn signed_by(lock: &File) -> Option<u32> {
    signer_in(Path::new("/proc"), lock).map(|leader| leader.id)
}

fn signer_in(proc: &Path, lock: &File) -> Option<Thread> {
    let mut note = [0; NOTE_BYTES];
    let length = lock.read_at(&mut note, 0).ok()?;
    let (id, began) = str::from_utf8(&note[..length]).ok()?.trim().split_once(' ')?;
    let (id, began): (u32, u64) = (id.parse().ok()?, began.parse().ok()?);
    thread(&proc.join(id.to_string()), id).filter(|it| it.began == began)
}

fn holder_in(proc: &Path, lock: &File) -> Option<String> {
    let leader = signer_in(proc, lock)?;
    let (id, began) = (leader.id, leader.began);
    let folder = proc.join(id.to_string());
    let entries = fs::read_dir(folder.join("task")).into_iter().flatten().flatten();
    let mut threads: Vec<Thread> = entries
        .filter_map(|entry| thread(&entry.path(), entry.file_name().to_str()?.parse().ok()?))
        .collect();
    threads.sort_by_key(|thread| thread.id);
    let Thread { name, state, .. } = &leader;
    let age = age(proc, began).map(|age| format!(", running for {age}")).unwrap_or_default();
    let stuck: Vec<&Thread> = threads.iter().filter(|thread| thread.state == 'D').collect();
    let is_killed = leader.state == 'Z' || threads.iter().any(|thread| thread.is_killed);
    let told = stuck.iter().take(TOLD_MAX).map(|thread| thread.waits(&folder));
    let told = told.collect::<Vec<_>>().join("; ");
    Some(match (is_killed, stuck.is_empty()) {
        (true, false) => format!(
            "process {id} ({name}), which was killed and cannot end: {told}. It ends when what it \
             waits for answers, a disk most likely (`dmesg | tail`), or with a restart of the \
             machine; then start again with this directory, which holds the votes of the node"
        ),
        (true, true) => format!(
            "process {id} ({name}, state {state}), which was killed and is ending: start again in \
             a moment"
        ),
        (false, false) => format!(
            "process {id} ({name}{age}), which waits in the kernel: {told}. `systemctl stop \
             basalt-node` or `kill {id}` ends it once that answers"
        ),
        (false, true) => format!(
            "process {id} ({name}, state {state}{age}); `systemctl stop basalt-node` or `kill \
             {id}` ends it"
        ),
    })
}

/// How long ago something began, at so many ticks after the start of the machine.
fn age(proc: &Path, began: u64) -> Option<String> {
    let uptime = fs::read_to_string(proc.join("uptime")).ok()?;
    let (seconds, _) = uptime.split_once('.')?;
    let age = seconds.parse::<u64>().ok()?.saturating_sub(began / TICKS_PER_SECOND);
    Some(match age {
        0..120 => format!("{age} s"),
        120..7200 => format!("{} min", age / 60),
        7200..172_800 => format!("{} h", age / 3600),
        _ => format!("{} days", age / 86_400),
    })
}

impl Thread {
    fn waits(&self, process: &Path) -> String {
        let Self { id, name, waits_in, .. } = self;
        let place = if waits_in.is_empty() { "a function that is not told" } else { waits_in };
        let stack = process.join(format!("task/{id}/stack"));
        format!("thread {id} ({name}) is in state D, in {place} (`cat {}`)", stack.display())
    }
}

fn thread(folder: &Path, id: u32) -> Option<Thread> {
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let stat = text("stat")?;
    // The name may hold anything, brackets and spaces too.
    let (head, tail) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = tail.split_whitespace().collect();
    let status = text("status").unwrap_or_default();
    let masks = status.lines().filter_map(|line| {
        let mask = line.strip_prefix("SigPnd:").or_else(|| line.strip_prefix("ShdPnd:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    });
    let waits_in = text("wchan").unwrap_or_default();
    let waits_in = waits_in.trim();
    Some(Thread {
        id,
        name: name.to_owned(),
        state: fields.first()?.chars().next()?,
        began: fields.get(19)?.parse().ok()?,
        is_killed: masks.fold(0, |all, mask| all | mask) & KILLED != 0,
        waits_in: if waits_in == "0" { String::new() } else { waits_in.to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new(note: &str) -> (Self, File) {
            let machine = Self(tempfile::tempdir().unwrap());
            fs::write(machine.0.path().join("lock"), note).unwrap();
            let lock = File::open(machine.0.path().join("lock")).unwrap();
            (machine, lock)
        }

        fn put(&self, folder: &str, name: &str, state: char, (pending, waits_in): (&str, &str)) {
            let folder = self.0.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            let zeroes = "0 ".repeat(18);
            fs::write(folder.join("stat"), format!("1 ({name}) {state} {zeroes}7000 0\n")).unwrap();
            let status = format!("Name:\t{name}\nSigPnd:\t0000000000000000\nShdPnd:\t{pending}\n");
            fs::write(folder.join("status"), status).unwrap();
            fs::write(folder.join("wchan"), waits_in).unwrap();
        }

        fn holder(&self, lock: &File) -> Option<String> {
            holder_in(self.0.path(), lock)
        }
    }

    const KILL: &str = "0000000000000100";
    const NOTHING: &str = "0000000000000000";

    #[test]
    fn a_killed_process_is_told_with_the_thread_that_keeps_it() {
        let (machine, lock) = Machine::new("31 7000\n");
        machine.put("31", "basalt", 'Z', (KILL, "0"));
        machine.put("31/task/31", "basalt", 'Z', (KILL, "0"));
        machine.put("31/task/40", "disk (r0) 1", 'D', (KILL, "blk_mq_get_tag"));
        machine.put("31/task/41", "log", 'Z', (KILL, "0"));
        let said = machine.holder(&lock).unwrap();
        for part in [
            "process 31 (basalt), which was killed and cannot end",
            "thread 40 (disk (r0) 1) is in state D, in blk_mq_get_tag",
            "/31/task/40/stack`",
            "dmesg",
            "with this directory",
        ] {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert!(!said.contains("thread 41"), "{said}");
        // The last thread left.
        machine.put("31/task/40", "disk (r0) 1", 'Z', (KILL, "0"));
        assert!(machine.holder(&lock).unwrap().contains("is ending: start again"));
    }

    #[test]
    fn a_process_that_runs_is_told_with_what_ends_it() {
        let (machine, lock) = Machine::new("31 7000\n");
        machine.put("31", "basalt", 'S', (NOTHING, "0"));
        machine.put("31/task/31", "basalt", 'S', (NOTHING, "ep_poll"));
        let said = machine.holder(&lock).unwrap();
        assert!(said.contains("process 31 (basalt, state S)") && said.contains("`kill 31`"));
        for (uptime, age) in [
            ("71.90 8.1", "1 s"),
            ("189.99 8", "119 s"),
            ("7269.0 8", "119 min"),
            ("7270.0 8", "2 h"),
        ] {
            fs::write(machine.0.path().join("uptime"), uptime).unwrap();
            let said = machine.holder(&lock).unwrap();
            let wanted = format!("process 31 (basalt, state S, running for {age})");
            assert!(said.contains(&wanted), "no {wanted:?} in {said}");
        }
        machine.put("31/task/31", "basalt", 'D', (NOTHING, ""));
        let said = machine.holder(&lock).unwrap();
        assert!(said.contains("waits in the kernel: thread 31 (basalt) is in state D"), "{said}");
    }

    #[test]
    fn a_number_that_another_process_has_now_is_nobody() {
        for note in ["", "31", "31 6999", "x y", "32 7000"] {
            let (machine, lock) = Machine::new(note);
            machine.put("31", "basalt", 'S', (NOTHING, "0"));
            assert_eq!(machine.holder(&lock), None, "{note:?}");
        }
    }
}
