//! Looks for the seed or the scenario that sees a fault, and reads what it said.

use anyhow::{Context as _, Result, ensure};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What spends so much more time of processors than the code as it is hangs. Time of the day would
/// take a busy machine for a hang, and so for a fault that was seen.
const PATIENCE: Patience = Patience { least: Duration::from_secs(60), times: 3 };
/// What waits for nothing spends no time of processors, and ends here.
const WAIT_MAX: Duration = Duration::from_secs(1800);
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// Of /proc/PID/stat, on Linux.
const TICKS_PER_SECOND: u64 = 100;
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
    /// Time of processors that the longest module of them took.
    longest: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Patience {
    least: Duration,
    times: u32,
}

impl Patience {
    fn with(self, usual: Duration) -> Duration {
        self.least.max(usual * self.times)
    }
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
        let (mut broken, mut longest) = (Vec::new(), Duration::ZERO);
        let mut rooms = rooms_of(binaries)?;
        while !rooms.is_empty() {
            let some = rooms.drain(..at_once().min(rooms.len())).collect();
            let ends = run_all(some, Duration::MAX)?;
            longest = ends.iter().map(|end| end.spent).fold(longest, Duration::max);
            broken.extend(ends.iter().filter_map(End::complaint).flat_map(failed_tests));
        }
        for name in &broken {
            println!("the scenario {name} fails without any fault, and so proves nothing");
        }
        Ok(self.scenarios.get_or_init(|| Scenarios { broken, longest }))
    }

    /// The first seed that sees the fault of a simulator.
    pub(super) fn kill_by_seed(&self, simulator: &Path) -> Result<Option<Kill>> {
        let seeds: Vec<u64> = (1..=self.seeds).collect();
        for seeds in seeds.chunks(at_once()) {
            let some = seeds.iter().map(|&seed| self.seed_of(simulator, seed)).collect();
            let ends = run_all(some, PATIENCE.least)?;
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
        let end = run(&mut self.seed_of(&self.pristine, seed), PATIENCE.least)?;
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
            let some = rooms.drain(..at_once().min(rooms.len())).collect();
            let ends = run_all(some, PATIENCE.with(self.longest))?;
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

/// How a program ended.
#[derive(Debug)]
struct End {
    /// What it said, if it failed.
    failure: Option<String>,
    /// Time of processors, up to the last look at it.
    spent: Duration,
}

impl End {
    fn complaint(&self) -> Option<&str> {
        self.failure.as_deref()
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
fn run_all(commands: Vec<Command>, patience: Duration) -> Result<Vec<End>> {
    thread::scope(|scope| {
        let start = |mut command: Command| scope.spawn(move || run(&mut command, patience));
        let running: Vec<_> = commands.into_iter().map(start).collect();
        let ends = running.into_iter().map(|it| it.join().expect("a run does not panic"));
        ends.collect()
    })
}

/// Runs a program to its end, or until it spent this much time of processors.
fn run(command: &mut Command, patience: Duration) -> Result<End> {
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
    let (mut spent, mut looks_left) = (Duration::ZERO, looks_of(WAIT_MAX));
    let text = loop {
        match receiver.recv_timeout(LOOK_INTERVAL) {
            Ok(text) => break Some(text),
            Err(_) if spent > patience || looks_left == 0 => break None,
            Err(_) => {}
        }
        looks_left -= 1;
        spent = spent.max(spent_by(child.id()));
    };
    if text.is_none() {
        child.kill().context("cannot end a program that hangs")?;
    }
    let status = child.wait().context("cannot wait for a program")?;
    reader.join().ok();
    let failure = match text {
        Some(_) if status.success() => None,
        Some(text) => Some(String::from_utf8_lossy(&text).into_owned()),
        None => Some(format!("hangs: no end after {} s of processors", spent.as_secs())),
    };
    Ok(End { failure, spent })
}

fn looks_of(wait: Duration) -> u128 {
    wait.as_millis() / LOOK_INTERVAL.as_millis()
}

/// Time of processors of a process that runs, in user mode and in the kernel; none of one that is
/// gone.
fn spent_by(process: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, in parentheses, may have blanks; the two times are fields 14 and 15.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
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
        let known = Scenarios { broken: vec!["a".to_owned()], longest: Duration::ZERO };
        assert_eq!(known.kill_of(failed), None);
    }

    #[test]
    fn a_program_that_fails_is_told_from_one_that_does_not() {
        let end = |name| run(&mut Command::new(name), Duration::MAX).expect("it starts");
        assert!(end("true").complaint().is_none());
        assert!(end("false").complaint().is_some());
    }

    /// On a busy machine whatever took long counted as a fault that was seen.
    #[test]
    fn only_who_spends_time_of_processors_hangs() {
        let shell = |script| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            run(&mut command, Duration::from_millis(300)).expect("it starts")
        };
        assert!(shell("sleep 1").complaint().is_none());
        let spinning = shell("while :; do :; done");
        assert!(spinning.complaint().is_some_and(|text| text.starts_with("hangs: ")));
        assert!(spinning.spent > Duration::from_millis(300));
    }
}
