//! What a data thread worked on when the daemon aborted, and what the next start makes of it.
//!
//! ```text
//! DIR/crashes               one line per abort: unix time, resource, what was said
//! DIR/resources/NAME.held   why the resource is not brought up, for a person
//! ```
//! A broken invariant ends the process, and its next start may meet the same state again. Two
//! aborts within a minute while the same resource was stepping hold that one down, so that the
//! others are served; `up` lifts it.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Write;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use api::response::Failure;
use engine::log::{Scope, log};
use engine::stepping;

use crate::limits::{CRASH_LINES_MAX, CRASH_LOOP_WITHIN};
use crate::log_writer::flush;
use crate::refusal::Refusal;
use crate::state_dir::StateDir;

thread_local! {
    /// Where aborts of a data thread are noted; `None` on every other thread.
    static FILE: RefCell<Option<PathBuf>> = RefCell::default();
}

/// Notes the aborts of this thread from here on.
pub(crate) fn watch_thread(file: PathBuf) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            flush();
            before(info);
            end_if_watched(info);
        }));
    });
    FILE.set(Some(file));
}

/// Runs while the thread panics: nothing here may panic again.
fn end_if_watched(info: &PanicHookInfo<'_>) {
    let file = FILE.try_with(|file| file.try_borrow().ok()?.clone());
    let Ok(Some(file)) = file else { return };
    let name = stepping::name().unwrap_or_else(|| "-".to_owned());
    let said = info.to_string().replace('\n', " ");
    let line = format!("{} {name} {said}\n", io::clock::unix_time().as_secs());
    let opened = File::options().create(true).append(true).open(file);
    // Where the note cannot be kept, the abort is all that can be done.
    drop(opened.and_then(|mut file| {
        file.write_all(line.as_bytes())?;
        file.sync_all()
    }));
    std::process::abort();
}

/// An abort as it was noted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Crash {
    at: Duration,
    resource: String,
    said: String,
}

impl Crash {
    /// A line that a crash cut off is none.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.splitn(3, ' ');
        let at = Duration::from_secs(words.next()?.parse().ok()?);
        let resource = words.next()?.to_owned();
        Some(Self { at, resource, said: words.next()?.to_owned() })
    }

    fn line(&self) -> String {
        format!("{} {} {}\n", self.at.as_secs(), self.resource, self.said)
    }
}

/// Holds down what aborted the daemon twice; each abort counts once.
pub(crate) fn judge(state: &StateDir) -> std::io::Result<()> {
    let file = state.crash_file();
    let text = match fs::read(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        bytes => bytes?,
    };
    // A line that was cut as it was written may end in the middle of a letter.
    let text = String::from_utf8_lossy(&text);
    let mut crashes: Vec<Crash> = text.lines().filter_map(Crash::read).collect();
    while let Some((first, second)) = pair(&crashes) {
        let (first, second) = (crashes[first].clone(), crashes[second].clone());
        crashes.retain(|crash| crash.resource != first.resource);
        state.hold(&second.resource, &note(&first, &second))?;
    }
    let kept = crashes.len().saturating_sub(CRASH_LINES_MAX);
    let text: String = crashes[kept..].iter().map(Crash::line).collect();
    crate::state_dir::write_durably(&file, text.as_bytes())
}

/// Two aborts that came too soon after each other, with the same resource.
fn pair(crashes: &[Crash]) -> Option<(usize, usize)> {
    let is_soon = |a: &Crash, b: &Crash| {
        a.resource == b.resource && a.resource != "-" && a.at.abs_diff(b.at) <= CRASH_LOOP_WITHIN
    };
    (0..crashes.len()).find_map(|second| {
        let first = (0..second).rev().find(|&first| is_soon(&crashes[first], &crashes[second]))?;
        Some((first, second))
    })
}

fn note(first: &Crash, second: &Crash) -> String {
    let Crash { resource, .. } = second;
    format!(
        "The daemon aborted twice within {} s while it worked on resource {resource}: it stays \
         down on this node, and the others are served.\n\nat unix time {}: {}\nat unix time {}: \
         {}\n\nThis is an error of the program: please report these lines.\n`basalt adm up \
         {resource}` brings the resource up again, and removes this note.\n",
        CRASH_LOOP_WITHIN.as_secs(),
        first.at.as_secs(),
        first.said,
        second.at.as_secs(),
        second.said,
    )
}

/// Why a resource is held down, if it is.
pub(crate) fn held(state: &StateDir, resource: &str) -> Option<Failure> {
    let path = state.held_path(resource);
    let note = match fs::read_to_string(&path) {
        Ok(note) => note,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => format!("the note cannot be read: {error}"),
    };
    let said = note.lines().rfind(|line| line.starts_with("at unix time")).unwrap_or_default();
    let why = Refusal::CrashLoop {
        within_seconds: CRASH_LOOP_WITHIN.as_secs(),
        said: said.to_owned(),
        note: path,
        resource: resource.to_owned(),
    };
    Some(why.into())
}

/// The operator wants it up: what was noted counts no more.
pub(crate) fn lift(state: &StateDir, resource: &str) {
    match remove(&state.held_path(resource)) {
        Ok(true) => log!(Notice, Scope::resource(resource), "it is not held down any more"),
        Ok(false) => {}
        Err(error) => {
            log!(Warning, Scope::resource(resource), "cannot remove the note of aborts: {error}");
        }
    }
}

fn remove(path: &Path) -> std::io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crash(at: u64, resource: &str) -> Crash {
        let said = "panicked at a.rs:1: no".to_owned();
        Crash { at: Duration::from_secs(at), resource: resource.to_owned(), said }
    }

    #[test]
    fn two_aborts_of_one_resource_within_a_minute_make_a_pair() {
        let found = |all: &[(u64, &str)]| {
            pair(&all.iter().map(|&(at, name)| crash(at, name)).collect::<Vec<_>>())
        };
        assert_eq!(found(&[(100, "r0")]), None);
        assert_eq!(found(&[(100, "r0"), (161, "r0")]), None, "too long ago");
        assert_eq!(found(&[(100, "r0"), (160, "r0")]), Some((0, 1)));
        assert_eq!(found(&[(100, "r0"), (110, "r1")]), None, "another resource");
        assert_eq!(found(&[(100, "r0"), (110, "r1"), (120, "r0")]), Some((0, 2)));
        assert_eq!(found(&[(100, "-"), (110, "-")]), None, "no resource was stepping");
        assert_eq!(found(&[(160, "r0"), (100, "r0")]), Some((0, 1)), "the clock was set back");
    }

    #[test]
    fn aborts_are_judged_once_and_lifted_by_hand() {
        let place = tempfile::tempdir().unwrap();
        let mut patience = crate::patience::Patience::of_tests();
        let state = StateDir::open(place.path(), &mut patience).unwrap();
        judge(&state).unwrap();
        let text = [crash(100, "r0"), crash(105, "r1"), crash(130, "r0")].map(|it| it.line());
        fs::write(state.crash_file(), text.concat() + "99 cut").unwrap();
        judge(&state).unwrap();
        let failure = held(&state, "r0").unwrap();
        assert!(failure.message.contains("at unix time 130: panicked at a.rs:1"), "{failure}");
        assert!(failure.hint.contains("basalt adm up r0"), "{failure}");
        assert!(held(&state, "r1").is_none());
        assert_eq!(fs::read_to_string(state.crash_file()).unwrap(), crash(105, "r1").line());
        lift(&state, "r0");
        judge(&state).unwrap();
        assert!(held(&state, "r0").is_none(), "it takes two new aborts");
    }
}
