//! `tests/long-tier`: which long steps were seen green, and on which state of what they guard.
//!
//! A state is one hash over the paths that a step guards, as the commit has them. So the file
//! needs no history, and says the same in a shallow clone. A step is seen while its paths are as
//! they were; whatever else changed does not count.

use super::steps::Step;
use crate::process;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const FILE: &str = "tests/long-tier";
const HEADER: &str = "\
# Long steps that were seen green: step, state of the paths that it guards, tests, seconds, commit.
# `cargo xtask test --long` writes this file; commit it with what it proves.
";

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    step: String,
    state: String,
    passed: u64,
    seconds: u64,
    commit: String,
}

/// Of the paths of a step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    Committed(String),
    /// Some of them differ from the commit: nothing can be said of them later.
    Edited,
}

impl Seen {
    pub(super) fn read() -> Result<Self> {
        let path = path()?;
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&path);
        Self::parse(&text.with_context(|| format!("cannot read {}", path.display()))?)
    }

    fn parse(text: &str) -> Result<Self> {
        let mut lines = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [step, state, passed, seconds, commit] = words[..] else {
                bail!("{FILE}: not a step, a state, tests, seconds and a commit: {line:?}");
            };
            let number = |word: &str| {
                word.parse().with_context(|| format!("{FILE}: {word:?} is no number: {line:?}"))
            };
            let (passed, seconds) = (number(passed)?, number(seconds)?);
            let (step, state) = (step.to_owned(), state.to_owned());
            lines.push(Line { step, state, passed, seconds, commit: commit.to_owned() });
        }
        Ok(Self { lines })
    }

    /// Was the step green on this very state of what it guards?
    pub(super) fn has(&self, step: &Step, state: &State) -> bool {
        let State::Committed(state) = state else { return false };
        self.lines.iter().any(|line| line.step == step.name && line.state == *state)
    }

    /// Tests and seconds of a step when it was last seen green, on whatever state.
    pub(super) fn last(&self, step: &Step) -> Option<(u64, u64)> {
        let line = self.lines.iter().find(|line| line.step == step.name)?;
        Some((line.passed, line.seconds))
    }

    /// In place of what was said of the step before.
    pub(super) fn record(
        &mut self,
        step: &Step,
        state: String,
        (passed, seconds): (u64, u64),
    ) -> Result<()> {
        let commit = git(&["rev-parse", "HEAD"])?.trim().to_owned();
        self.put(Line { step: step.name.to_owned(), state, passed, seconds, commit });
        let path = path()?;
        fs::write(&path, self.text()).with_context(|| format!("cannot write {}", path.display()))
    }

    fn put(&mut self, line: Line) {
        self.lines.retain(|other| other.step != line.step);
        self.lines.push(line);
        self.lines.sort_by(|a, b| a.step.cmp(&b.step));
    }

    fn text(&self) -> String {
        let mut text = HEADER.to_owned();
        for Line { step, state, passed, seconds, commit } in &self.lines {
            text += &format!("{step} {state} {passed} {seconds} {commit}\n");
        }
        text
    }
}

/// What a step guards, as it is now.
pub(super) fn state(step: &Step) -> Result<State> {
    let words = ["status", "--porcelain", "--"];
    if !git(&[&words[..], step.guards].concat())?.trim().is_empty() {
        return Ok(State::Edited);
    }
    let tree = git(&[&["ls-tree", "HEAD", "--"][..], step.guards].concat())?;
    let found = tree.lines().count();
    let expected = step.guards.len();
    if found != expected {
        bail!("the step {} guards {expected} paths, of which {found} exist:\n{tree}", step.name);
    }
    let mut hash = Command::new("git");
    hash.args(["hash-object", "--stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = hash.spawn().context("cannot start git")?;
    let mut stdin = child.stdin.take().context("git has an input")?;
    stdin.write_all(tree.as_bytes()).context("cannot write to git hash-object")?;
    drop(stdin);
    let output = child.wait_with_output().context("cannot wait for git")?;
    let hash = String::from_utf8(output.stdout).context("git printed no UTF-8")?;
    Ok(State::Committed(hash.trim().to_owned()))
}

fn git(words: &[&str]) -> Result<String> {
    let mut git = Command::new("git");
    git.args(words).current_dir(process::repository()?);
    process::output(&mut git)
}

fn path() -> Result<PathBuf> {
    Ok(process::repository()?.join(FILE))
}

#[cfg(test)]
mod tests {
    use super::super::steps;
    use super::*;

    fn line(step: &str, state: &str) -> Line {
        let (step, state) = (step.to_owned(), state.to_owned());
        Line { step, state, passed: 5, seconds: 7, commit: "c0ffee".to_owned() }
    }

    #[test]
    fn the_file_is_read_as_it_was_written() {
        let mut seen = Seen::default();
        seen.put(line("guest", "1"));
        seen.put(line("chaos", "2"));
        seen.put(line("guest", "3"));
        let text = seen.text();
        assert!(text.ends_with("chaos 2 5 7 c0ffee\nguest 3 5 7 c0ffee\n"), "{text}");
        assert_eq!(Seen::parse(&text).expect("readable"), seen);
        Seen::parse("guest 3 5 seven c0ffee").expect_err("no number");
        Seen::parse("guest 3").expect_err("too short");
    }

    #[test]
    fn a_step_is_seen_on_its_own_state_alone() {
        let chaos = steps::named("chaos").expect("a step");
        let seen = Seen { lines: vec![line("chaos", "2"), line("guest", "3")] };
        assert!(seen.has(chaos, &State::Committed("2".to_owned())));
        assert!(!seen.has(chaos, &State::Committed("3".to_owned())));
        assert!(!seen.has(chaos, &State::Edited));
    }

    #[test]
    fn every_step_guards_paths_that_exist() {
        for step in steps::ALL {
            assert!(!step.guards.is_empty(), "{} guards nothing", step.name);
            for path in step.guards {
                let path = process::repository().expect("a root").join(path);
                assert!(path.exists(), "{} guards {}", step.name, path.display());
            }
            state(step).expect("a state");
        }
    }
}
