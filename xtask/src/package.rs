//! `package`: what an operator installs, made from one program: Debian packages, an RPM, their
//! debug files, a bill of materials and checksums.
//!
//! The same program and commit make the same bytes: times are those of the commit
//! (`SOURCE_DATE_EPOCH`), owners are root, and no name of this machine gets in.

mod program;
mod contents;
mod deb;
mod rpm;
mod materials;
mod notices;

use crate::packages::{self, Package};
use crate::test::scratch::Scratch;
use crate::{metadata, process};
use anyhow::{Context as _, Result, bail, ensure};
use contents::{Contents, Texts};
use program::Program;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

pub(crate) const PACKAGES: &[Package] = &[
    ("binutils", "debug files of packages"),
    ("dpkg-dev", "the libraries that a Debian package depends on"),
    ("rpm", "making and installing RPMs"),
];

const MAINTAINER: &str = "Basalt maintainers <maintainers@basalt.invalid>";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Deb,
    Rpm,
    All,
}

#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) kind: Kind,
    /// The program to pack; one is built where none is named.
    pub(crate) binary: Option<PathBuf>,
    /// Where the packages go.
    pub(crate) out: PathBuf,
}

/// All packages of one run are made of this.
struct Release {
    version: String,
    /// Seconds since 1970, of the commit.
    epoch: u64,
    program: Program,
    contents: Contents,
}

pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    let order = parse(words)?;
    packages::ensure(PACKAGES)?;
    for file in make(&order)? {
        println!("{}", file.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes what is ordered; the files, `SHA256SUMS` last.
pub(crate) fn make(order: &Order) -> Result<Vec<PathBuf>> {
    let binary = match &order.binary {
        Some(path) => path.clone(),
        None => built()?,
    };
    let work = Scratch::new("package")?;
    fs::create_dir_all(&order.out)
        .with_context(|| format!("cannot make {}", order.out.display()))?;
    let out = order.out.canonicalize().context("cannot find the folder that was just made")?;
    let version = metadata::version()?;
    let epoch = epoch()?;
    let program = Program::split(&binary, work.path())?;
    if program.symbols.is_none() {
        println!("{} has no debug symbols, so no package has them", binary.display());
    }
    let bill = out.join("basalt.cdx.json");
    let crates = materials::write(&bill, &version, epoch, &program)?;
    let licences = work.path().join("LICENSES");
    notices::write(&licences, &crates)?;
    let texts = Texts { bill: &bill, licences: &licences };
    let contents =
        Contents::lay_out(&work.path().join("root"), &program, texts, (&version, epoch))?;
    let release = Release { version, epoch, program, contents };
    let mut files = vec![bill];
    if order.kind != Kind::Rpm {
        files.extend(deb::make(&release, work.path(), &out)?);
    }
    if order.kind != Kind::Deb {
        files.extend(rpm::make(&release, work.path(), &out)?);
    }
    files.push(sums(&files, &out)?);
    Ok(files)
}

/// The Debian package of this program alone.
pub(crate) fn make_deb(program: &Path, out: &Path) -> Result<PathBuf> {
    let binary = Some(program.to_owned());
    let files = make(&Order { kind: Kind::Deb, binary, out: out.to_owned() })?;
    let is_it = |file: &&PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("basalt_") && name.ends_with(".deb")
    };
    files.iter().find(is_it).cloned().context("no package was made")
}

fn built() -> Result<PathBuf> {
    let words = ["build", "--release", "--locked", "--package", "basalt", "--bin", "basalt"];
    process::must_succeed(&mut process::cargo(&words)?)?;
    Ok(metadata::read()?.target_directory.join("release/basalt"))
}

/// The caller's choice, or the time of the commit.
fn epoch() -> Result<u64> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => {
            let mut git = Command::new("git");
            git.current_dir(process::repository()?).args(["log", "-1", "--format=%ct"]);
            process::output(&mut git)?
        }
    };
    let text = text.trim();
    text.parse().with_context(|| {
        format!("{text:?} is no time: set SOURCE_DATE_EPOCH to seconds since 1970")
    })
}

/// As `sha256sum --check SHA256SUMS` reads them.
fn sums(files: &[PathBuf], out: &Path) -> Result<PathBuf> {
    let mut command = Command::new("sha256sum");
    command.current_dir(out);
    for file in files {
        command.arg(file.file_name().context("a package has a name")?);
    }
    let path = out.join("SHA256SUMS");
    let text = process::output(&mut command)?;
    ensure!(text.lines().count() == files.len(), "sha256sum told of other files: {text}");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

const USAGE: &str = "cargo xtask package [deb|rpm|all] [--binary FILE] [--out DIR]";

fn parse(words: &[&str]) -> Result<Order> {
    let mut order = Order { kind: Kind::All, binary: None, out: PathBuf::from("target/packages") };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value =
            || words.next().with_context(|| format!("{word} lacks its value\n\n{USAGE}"));
        match *word {
            "deb" => order.kind = Kind::Deb,
            "rpm" => order.kind = Kind::Rpm,
            "all" => order.kind = Kind::All,
            "--binary" => order.binary = Some(PathBuf::from(value()?)),
            "--out" => order.out = PathBuf::from(value()?),
            _ => bail!("unknown word {word:?}\n\n{USAGE}"),
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_any_order() {
        let order = parse(&["--out", "there", "rpm", "--binary", "it"]).expect("good words");
        assert_eq!(order.kind, Kind::Rpm);
        assert_eq!(order.out, Path::new("there"));
        assert_eq!(order.binary.as_deref(), Some(Path::new("it")));
        assert_eq!(parse(&[]).expect("none").kind, Kind::All);
    }

    #[test]
    fn wrong_words_are_told_with_the_right_ones() {
        for words in [&["exe"][..], &["--binary"], &["deb", "--out"]] {
            let error = parse(words).expect_err("wrong words").to_string();
            assert!(error.contains(USAGE), "{error}");
        }
    }
}
