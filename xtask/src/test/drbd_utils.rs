//! `basalt adm` beside Debian's drbdadm, over the same configuration files.
//!
//! Only what needs no driver is compared: dumps, the `sh-` verbs, the steps of an `up`, and what
//! takes effect of each option ([`effect`]). The files keep to the options that Debian's version
//! has, which are fewer than DRBD's by now; those of the corpus have the shapes in which people and
//! their programs write them. A dump is the same if it means the same: each program reads what the
//! other wrote, and ours writes both alike. Beside it, replicas whose metadata drbdmeta made are
//! taken over and given back.

mod adopt;
mod effect;
mod sections;

use super::basalt;
use super::scratch::Scratch;
use crate::outcome::Outcome;
use crate::process;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Of options that drbdadm 9.22 has; HOST stands for the name of this machine, without which it
/// answers nothing.
const FILES: [(&str, &str); 4] = [
    ("two_nodes", include_str!("drbd_utils/two_nodes.res")),
    ("three_nodes", include_str!("drbd_utils/three_nodes.res")),
    ("two_volumes", include_str!("drbd_utils/two_volumes.res")),
    ("two_paths", include_str!("drbd_utils/two_paths.res")),
];
const CORPUS: &str = "xtask/src/test/drbd_utils/corpus";
const CORPUS_MIN: usize = 40;
/// Without an option, for what takes effect then.
const PLAIN: &str = "resource plain { device minor 1; disk /dev/vg/plain; meta-disk internal;
  on HOST { address 10.0.0.1:7000; } on bob { address 10.0.0.2:7000; } }";
const QUERIES: [&str; 8] = [
    "sh-resource",
    "sh-dev",
    "sh-minor",
    "sh-ll-dev",
    "sh-md-dev",
    "sh-md-idx",
    "sh-ip",
    "sh-resources",
];

pub(super) fn run() -> Result<Outcome> {
    let scratch = Scratch::new("drbd-utils")?;
    let host = process::output(Command::new("uname").arg("-n"))?;
    let mut outcome = Outcome::default();
    let mut files: Vec<(String, String)> =
        FILES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    files.extend(corpus()?);
    fs::write(scratch.path().join("plain"), PLAIN.replace("HOST", host.trim()))?;
    for (number, (name, text)) in files.iter().enumerate() {
        let path = scratch.path().join(format!("{name}.res"));
        fs::write(&path, text.replace("HOST", host.trim()))?;
        let checks = if number < FILES.len() { CHECKS.iter() } else { CORPUS_CHECKS.iter() };
        for (what, check) in checks {
            outcome += match check(&path) {
                Ok(()) => Outcome::PASSED,
                Err(error) => {
                    println!("{name}: {what}: {error:#}");
                    Outcome::FAILED
                }
            };
        }
    }
    outcome += sections::check(scratch.path(), host.trim())?;
    println!("drbdmeta of drbd-utils {}", adopt::version()?.trim());
    for number in 0..adopt::COUNT {
        let (name, result) = adopt::check(number, scratch.path());
        outcome += match result {
            Ok(()) => Outcome::PASSED,
            Err(error) => {
                println!("{name}: taken over and given back: {error:#}");
                Outcome::FAILED
            }
        };
    }
    Ok(outcome)
}

/// The files of the corpus, in order of name.
fn corpus() -> Result<Vec<(String, String)>> {
    let folder = process::repository()?.join(CORPUS);
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_stem().context("a file has a name")?.display().to_string();
        files.push((name, fs::read_to_string(&path)?));
    }
    ensure!(files.len() >= CORPUS_MIN, "{} has {} files", folder.display(), files.len());
    files.sort();
    Ok(files)
}

type Check = fn(&Path) -> Result<()>;

const CHECKS: [(&str, Check); 5] = [
    ("drbdadm's dump means the same", reads_alike),
    ("our dump is one for drbdadm", is_read_by_drbdadm),
    ("the same takes effect", effects_alike),
    ("the sh- verbs say the same", queries_alike),
    ("the steps of up are the same", steps_alike),
];
/// Without the last two: drbdadm keeps the order of the file in its steps, and its `sh-` verbs fail
/// on a host without a disk.
const CORPUS_CHECKS: [(&str, Check); 3] = [CHECKS[0], CHECKS[1], CHECKS[2]];

/// What a program prints; it must exit with 0.
fn printed(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::piped()).output();
    let output = output.with_context(|| format!("cannot start {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn ours(file: &Path, words: &[&str]) -> Result<String> {
    printed(Command::new(basalt::program()?).arg("adm").arg("-c").arg(file).args(words))
}

fn theirs(file: &Path, words: &[&str]) -> Result<String> {
    printed(Command::new("drbdadm").arg("-c").arg(file).args(words))
}

/// Our dump, without the line that names the file.
fn our_dump(file: &Path) -> Result<String> {
    Ok(ours(file, &["dump"])?.lines().skip(1).map(|line| format!("{line}\n")).collect())
}

fn same(left: &str, right: &str) -> Result<()> {
    ensure!(left == right, "ours:\n{left}\ntheirs:\n{right}");
    Ok(())
}

fn reads_alike(file: &Path) -> Result<()> {
    let dump = file.with_extension("theirs");
    fs::write(&dump, theirs(file, &["dump"])?)?;
    same(&our_dump(file)?, &our_dump(&dump)?)
}

fn is_read_by_drbdadm(file: &Path) -> Result<()> {
    let dump = file.with_extension("ours");
    // Without this drbdadm wants the addresses of the file to be this machine's.
    let text = format!("global {{ disable-ip-verification; }}\n{}", our_dump(file)?);
    fs::write(&dump, text)?;
    let again = file.with_extension("again");
    fs::write(&again, theirs(&dump, &["dump"])?)?;
    same(&our_dump(file)?, &our_dump(&again)?)
}

fn queries_alike(file: &Path) -> Result<()> {
    for query in QUERIES {
        let words: &[&str] = if query == "sh-resources" { &[query] } else { &[query, "all"] };
        let (our, their) = (ours(file, words)?, theirs(file, words)?);
        same(&our, &their).with_context(|| query.to_owned())?;
    }
    Ok(())
}

/// Resource by resource: drbdadm takes all of them through each phase together.
fn steps_alike(file: &Path) -> Result<()> {
    for resource in ours(file, &["sh-resources"])?.lines() {
        let words = ["-d", "up", resource];
        same(&in_one_order(&ours(file, &words)?), &in_one_order(&theirs(file, &words)?))?;
    }
    Ok(())
}

fn effects_alike(file: &Path) -> Result<()> {
    let plain = file.with_file_name("plain");
    let plain = effect::taken(&ours(&plain, &["sh-effective", "all"])?)?;
    let all = theirs(file, &["-d", "up", "all"])?;
    for resource in ours(file, &["sh-resources"])?.lines() {
        let taken = effect::taken(&ours(file, &["sh-effective", resource])?)?;
        let passed = effect::passed_on(&theirs(file, &["-d", "up", resource])?, &all)?;
        let differences = effect::differences(&taken, &passed, &plain);
        ensure!(differences.is_empty(), "{resource}:\n{}", differences.join("\n"));
    }
    Ok(())
}

/// Options have no order of their own: drbdadm keeps that of the file, and the file's units.
fn in_one_order(steps: &str) -> String {
    let line = |line: &str| {
        let (options, words): (Vec<&str>, Vec<&str>) =
            line.split(' ').partition(|word| word.starts_with("--"));
        let mut options: Vec<String> = options.into_iter().map(effect::in_one_unit).collect();
        options.sort_unstable();
        format!("{} {}\n", words.join(" "), options.join(" "))
    };
    steps.lines().filter(|line| !line.is_empty()).map(line).collect()
}
