//! Looks for the seed or the scenario that sees a fault, and reads what it said.

use anyhow::{Context as _, Result, ensure};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A seed takes less than a second, the scenarios a few. What takes so long hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// Of what a checker says, as much as fits a line of the table.
const WORDS_MAX: usize = 90;

#[derive(Debug)]
pub(super) struct Hunt {
    /// The simulator of the code as it is.
    pristine: PathBuf,
    seeds: u64,
    events: u64,
    /// Set by [`Hunt::learn_scenarios`], never cleared.
    scenarios: OnceCell<Scenarios>,
    /// Seeds that the code as it is was seen to pass, or not.
    known: RefCell<BTreeMap<u64, bool>>,
}

/// What is known of the scenarios of the code as it is.
#[derive(Debug)]
pub(super) struct Scenarios {
    /// Names of those that fail without a fault: they prove nothing about one.
    broken: Vec<String>,
}

/// Where a fault was seen, and by what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kill {
    pub(super) at: String,
    pub(super) by: String,
}

impl Hunt {
    pub(super) fn new(pristine: PathBuf, seeds: u64, events: u64) -> Self {
        let (scenarios, known) = (OnceCell::new(), RefCell::default());
        Self { pristine, seeds, events, scenarios, known }
    }

    /// None before [`Hunt::learn_scenarios`].
    pub(super) fn scenarios(&self) -> Option<&Scenarios> {
        self.scenarios.get()
    }

    /// Runs test binaries of the code as it is, to tell which of their tests prove nothing.
    pub(super) fn learn_scenarios(&self, binaries: &[PathBuf]) -> Result<&Scenarios> {
        let mut broken = Vec::new();
        let mut rooms = rooms_of(binaries)?;
        while !rooms.is_empty() {
            let ends = run_all(rooms.drain(..at_once().min(rooms.len())).collect())?;
            broken.extend(ends.iter().filter_map(End::complaint).flat_map(failed_tests));
        }
        for name in &broken {
            println!("the scenario {name} fails without any fault, and so proves nothing");
        }
        Ok(self.scenarios.get_or_init(|| Scenarios { broken }))
    }

    /// The first seed that sees the fault of a simulator.
    pub(super) fn kill_by_seed(&self, simulator: &Path) -> Result<Option<Kill>> {
        let seeds: Vec<u64> = (1..=self.seeds).collect();
        for seeds in seeds.chunks(at_once()) {
            let ends = run_all(seeds.iter().map(|&seed| self.seed_of(simulator, seed)).collect())?;
            for (&seed, end) in seeds.iter().zip(&ends) {
                if let Some(text) = end.complaint()
                    && self.is_passed_by_pristine(seed)?
                {
                    return Ok(Some(Kill { at: format!("seed {seed}"), by: summary(text) }));
                }
            }
        }
        Ok(None)
    }

    fn seed_of(&self, simulator: &Path, seed: u64) -> Command {
        let mut command = Command::new(simulator);
        command.args(["--seed", &seed.to_string(), "--events", &self.events.to_string()]);
        command.arg("--rough");
        command
    }

    fn is_passed_by_pristine(&self, seed: u64) -> Result<bool> {
        if let Some(&passed) = self.known.borrow().get(&seed) {
            return Ok(passed);
        }
        let end = run(&mut self.seed_of(&self.pristine, seed))?;
        let passed = end.complaint().is_none();
        if !passed {
            println!("seed {seed} fails without any fault, and so proves nothing");
        }
        self.known.borrow_mut().insert(seed, passed);
        Ok(passed)
    }
}

impl Scenarios {
    /// The first scenario that sees a fault.
    pub(super) fn kill(&self, binaries: &[PathBuf]) -> Result<Option<Kill>> {
        let mut rooms = rooms_of(binaries)?;
        while !rooms.is_empty() {
            let ends = run_all(rooms.drain(..at_once().min(rooms.len())).collect())?;
            let mut complaints = ends.iter().filter_map(End::complaint);
            if let Some(kill) = complaints.find_map(|text| self.kill_of(text)) {
                return Ok(Some(kill));
            }
        }
        Ok(None)
    }

    /// By what a test binary said.
    fn kill_of(&self, text: &str) -> Option<Kill> {
        let failed = failed_tests(text);
        if failed.is_empty() {
            return Some(Kill { at: "scenarios".to_owned(), by: summary(text) });
        }
        let name = failed.iter().find(|name| !self.broken.contains(name))?;
        Some(Kill { at: "scenario".to_owned(), by: name.clone() })
    }
}

#[derive(Debug)]
enum End {
    Success,
    Failure(String),
}

impl End {
    fn complaint(&self) -> Option<&str> {
        match self {
            Self::Success => None,
            Self::Failure(text) => Some(text),
        }
    }
}

/// A command for each module of tests, so that what hangs is found within our patience.
fn rooms_of(binaries: &[PathBuf]) -> Result<Vec<Command>> {
    let mut commands = Vec::new();
    for binary in binaries {
        let mut listing = Command::new(binary);
        let output = listing.args(["--list", "--format", "terse"]).output();
        let output = output.with_context(|| format!("cannot start {}", binary.display()))?;
        ensure!(output.status.success(), "{} does not list its tests", binary.display());
        for names in by_module(&String::from_utf8_lossy(&output.stdout)).into_values() {
            let mut command = Command::new(binary);
            command.args(["--quiet", "--exact"]).args(names);
            commands.push(command);
        }
    }
    Ok(commands)
}

/// The tests of a list, by the first part of their paths.
fn by_module(list: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut modules = BTreeMap::<&str, Vec<&str>>::new();
    for name in list.lines().filter_map(|line| line.strip_suffix(": test")) {
        let module = name.split_once("::").map_or(name, |(module, _)| module);
        modules.entry(module).or_default().push(name);
    }
    modules
}

/// How many programs run at a time.
fn at_once() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Runs programs side by side; the ends are in their order.
fn run_all(commands: Vec<Command>) -> Result<Vec<End>> {
    thread::scope(|scope| {
        let start = |mut command: Command| scope.spawn(move || run(&mut command));
        let running: Vec<_> = commands.into_iter().map(start).collect();
        let ends = running.into_iter().map(|it| it.join().expect("a run does not panic"));
        ends.collect()
    })
}

/// Runs a program to its end, or to the end of our patience.
fn run(command: &mut Command) -> Result<End> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let mut stdout = child.stdout.take().context("a piped child has an output")?;
    let mut stderr = child.stderr.take().context("a piped child has an output")?;
    let (sender, receiver) = mpsc::channel();
    let errors = thread::spawn(move || {
        let mut text = Vec::new();
        // A pipe that breaks has told what there was to tell.
        stderr.read_to_end(&mut text).ok();
        text
    });
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        stdout.read_to_end(&mut text).ok();
        let errors = errors.join().unwrap_or_default();
        text.extend(errors);
        // Nobody listens any more once patience ended.
        sender.send(text).ok();
    });
    let text = receiver.recv_timeout(PATIENCE);
    if text.is_err() {
        child.kill().context("cannot end a program that hangs")?;
    }
    let status = child.wait().context("cannot wait for a program")?;
    reader.join().ok();
    Ok(match text {
        Ok(_) if status.success() => End::Success,
        Ok(text) => End::Failure(String::from_utf8_lossy(&text).into_owned()),
        Err(_) => End::Failure(format!("hangs: no end within {} s", PATIENCE.as_secs())),
    })
}

/// What saw the fault, in one line: an assertion of the core, a checker, or the oracle.
fn summary(text: &str) -> String {
    let mut lines = text.lines();
    let panic = lines.by_ref().find_map(|line| line.split_once(" panicked at "));
    let line = match panic {
        Some((_, place)) => {
            let place = place.trim_end_matches(':').trim_start_matches("crates/");
            format!("assertion {}: {}", shorter(place), lines.next().unwrap_or_default())
        }
        None => {
            let found = text.lines().find_map(|line| line.strip_prefix("seed "));
            let found = found.and_then(|line| line.split_once(": ")).map(|(_, words)| words);
            found.or_else(|| text.lines().next()).unwrap_or("it failed silently").to_owned()
        }
    };
    line.chars().take(WORDS_MAX).collect()
}

/// A place in the sources without its column.
fn shorter(place: &str) -> &str {
    place.rsplit_once(':').map_or(place, |(file, _)| file)
}

/// Names of failed tests, from the list that libtest prints last.
fn failed_tests(text: &str) -> Vec<String> {
    let Some((_, list)) = text.rsplit_once("\nfailures:\n") else { return Vec::new() };
    let names = list.lines().take_while(|line| line.starts_with("    "));
    names.map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_saw_a_fault_is_said_in_one_line() {
        let checker = "seed 7: I8: block 3 is 1 at n2\nagain: cargo xtask sim 7\n";
        assert_eq!(summary(checker), "I8: block 3 is 1 at n2");
        let assertion = "\nthread 'main' (12) panicked at crates/replication/src/a.rs:5:9:\nI3\n";
        assert_eq!(summary(assertion), "assertion replication/src/a.rs:5: I3");
        assert_eq!(summary(""), "it failed silently");
    }

    #[test]
    fn tests_are_run_by_module() {
        let list = "members::a: test\nlate::b::c: test\nmembers::d: test\nalone: test\nx: bench\n";
        let modules = Vec::from_iter(by_module(list).into_values());
        assert_eq!(modules, [vec!["alone"], vec!["late::b::c"], vec!["members::a", "members::d"]]);
    }

    #[test]
    fn failed_tests_are_read_from_the_closing_list() {
        let text =
            "failures:\n\n---- a stdout ----\nx\n\nfailures:\n    a\n    b::c\n\ntest result";
        assert_eq!(failed_tests(text), ["a", "b::c"]);
        assert_eq!(failed_tests("error: no such file"), Vec::<String>::new());
    }

    #[test]
    fn a_scenario_that_fails_without_a_fault_kills_none() {
        let hunt = Hunt::new(PathBuf::new(), 1, 1);
        assert!(hunt.scenarios().is_none());
        hunt.learn_scenarios(&[]).expect("no binary is run");
        let known = hunt.scenarios().expect("learned");
        let failed = "\nfailures:\n    a\n";
        assert_eq!(known.kill_of(failed).map(|kill| kill.by), Some("a".to_owned()));
        let known = Scenarios { broken: vec!["a".to_owned()] };
        assert_eq!(known.kill_of(failed), None);
    }

    #[test]
    fn a_program_that_fails_is_told_from_one_that_does_not() {
        assert!(run(&mut Command::new("true")).expect("it starts").complaint().is_none());
        assert!(run(&mut Command::new("false")).expect("it starts").complaint().is_some());
    }
}
