//! The packages of this program, made and tried: two runs make the same bytes, lintian has no
//! error to tell, and each chapter of tests/packages passes in a Debian root of its own.

use super::basalt;
use super::scratch::Scratch;
use crate::outcome::Outcome;
use crate::package::{self, Kind, Order};
use crate::{packages, process};
use anyhow::{Context as _, Result, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "tests/packages";
/// Scripts of the folder.
const CHAPTERS: [&str; 4] = ["deb", "rpm", "systemd", "examples"];
/// No chapter waits for longer than that, in seconds, whatever happens.
const LIMIT_S: &str = "120";

pub(super) fn run() -> Result<Outcome> {
    let scratch = Scratch::new("packages")?;
    let made = scratch.path().join("made");
    let mut outcome = Outcome::default();
    outcome += is_reproduced(&made, &scratch.path().join("again"))?;
    outcome += judged(&made)?;
    outcome += read_by_shellcheck()?;
    if !packages::is_root()? {
        println!("only root installs packages: the chapters are skipped");
        outcome.skipped += CHAPTERS.len() as u64;
        return Ok(outcome);
    }
    let root = root()?;
    for chapter in CHAPTERS {
        let work = scratch.path().join(chapter);
        fs::create_dir(&work).with_context(|| format!("cannot make {}", work.display()))?;
        println!("chapter {chapter}");
        outcome += tried(chapter, &root, &made, &work)?;
    }
    Ok(outcome)
}

/// Makes the packages twice.
fn is_reproduced(made: &Path, again: &Path) -> Result<Outcome> {
    let sums = |out: &Path| -> Result<String> {
        let binary = Some(basalt::program()?);
        package::make(&Order { kind: Kind::All, binary, out: out.to_owned() })?;
        fs::read_to_string(out.join("SHA256SUMS")).context("cannot read the sums of the packages")
    };
    let (first, second) = (sums(made)?, sums(again)?);
    ensure!(first.contains(".deb\n") && first.contains(".rpm\n"), "no packages in {first}");
    if first == second {
        return Ok(Outcome::PASSED);
    }
    println!("the same program makes other packages the second time:\n{first}{second}");
    Ok(Outcome::FAILED)
}

/// lintian judges the Debian packages; only errors count.
fn judged(made: &Path) -> Result<Outcome> {
    let mut lintian = Command::new("lintian");
    lintian.args(["--allow-root", "--fail-on", "error", "--tag-display-limit", "0"]);
    for entry in fs::read_dir(made).context("cannot read the folder of packages")? {
        let path = entry.context("cannot read the folder of packages")?.path();
        if path.extension().is_some_and(|ending| ending == "deb") {
            lintian.arg(path);
        }
    }
    Ok(Outcome::of(process::status(&mut lintian)?))
}

/// Scripts by the shell that runs them, with what shellcheck cannot know: files of other packages,
/// variables and functions of `lib.sh`, and formats of dpkg in single quotes.
const SCRIPTS: [(&str, &str, &str); 2] = [
    (
        "sh",
        "SC1091",
        "xtask/package/node xtask/package/deb/p* xtask/package/names/* examples/install.sh",
    ),
    ("bash", "SC1090,SC1091,SC2016,SC2154,SC2317", "tests/packages/*"),
];

fn read_by_shellcheck() -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for (shell, unknown, files) in SCRIPTS {
        let mut shellcheck = Command::new("sh");
        shellcheck.current_dir(process::repository()?).arg("-c");
        shellcheck.arg(format!("shellcheck --shell={shell} --exclude={unknown} {files}"));
        outcome += Outcome::of(process::status(&mut shellcheck)?);
    }
    Ok(outcome)
}

/// The Debian root of the chapters, built once outside of the clone; two who want it at once build
/// it once.
fn root() -> Result<PathBuf> {
    let folder = process::cache_directory()?.join("packages");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let script = process::repository()?.join(FOLDER).join("build-root");
    let wanted =
        fs::read_to_string(&script).with_context(|| format!("cannot read {}", script.display()))?;
    let lock = File::create(folder.join("lock")).context("cannot make the lock of the root")?;
    lock.lock().context("cannot lock the folder of the root")?;
    // The text that it was built by is written last.
    let (root, recipe) = (folder.join("root.tar"), folder.join("recipe"));
    if !fs::read_to_string(&recipe).is_ok_and(|built| built == wanted) {
        println!("building {} (1 min)", root.display());
        let part = folder.join("part.tar");
        process::must_succeed(Command::new("bash").arg(&script).arg(&part))?;
        fs::rename(&part, &root).context("cannot move the root")?;
        fs::write(&recipe, &wanted).context("cannot write the recipe of the root")?;
    }
    Ok(root)
}

/// Runs a chapter in name spaces, which end all of its processes and mounts with it.
fn tried(chapter: &str, root: &Path, made: &Path, work: &Path) -> Result<Outcome> {
    let folder = process::repository()?.join(FOLDER);
    let mut bash = Command::new("timeout");
    bash.args(["--kill-after=5", LIMIT_S, "unshare", "--mount", "--net", "--uts", "--cgroup"]);
    bash.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
    bash.args(["bash", "-euo", "pipefail"]).arg(folder.join(format!("{chapter}.sh")));
    bash.env("LIB", folder.join("lib.sh")).env("ROOT_TAR", root);
    bash.env("EXAMPLES", process::repository()?.join("examples"));
    bash.env("PACKAGES", made).env("WORK", work);
    Ok(Outcome::of(process::status(&mut bash)?))
}
