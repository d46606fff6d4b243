//! Debian packages that a command needs: which are missing, why they are wanted, and how to get
//! them. What to do is a pure decision; only `ensure` talks to apt. All of it is told on standard
//! error: standard output is for what the command finds.

use crate::process;
use anyhow::{Result, bail};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// A package and the reason why it is wanted, in the words of a sentence's end.
pub(crate) type Package = (&'static str, &'static str);

/// Installs those of `wanted` that are missing. `apt-get update` runs at most once per process,
/// and only when something has to be installed.
pub(crate) fn ensure(wanted: &[Package]) -> Result<()> {
    static LISTS: AtomicBool = AtomicBool::new(false);
    if wanted.is_empty() {
        return Ok(());
    }
    let missing = missing(wanted, &installed(wanted)?);
    for (name, why) in &missing {
        eprintln!("package {name} is missing, needed for {why}");
    }
    let lists = if LISTS.load(Ordering::Relaxed) { Lists::Fresh } else { Lists::Stale };
    match plan(&missing, user()?, lists) {
        Plan::Nothing => return Ok(()),
        Plan::Refuse(text) => bail!(text),
        Plan::Install => {}
        Plan::UpdateAndInstall => {
            apt(&["update", "--quiet"])?;
            LISTS.store(true, Ordering::Relaxed);
        }
    }
    let mut arguments = vec!["install", "--quiet", "--yes", "--no-install-recommends"];
    arguments.extend(missing.iter().map(|(name, _)| *name));
    apt(&arguments)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    Root,
    Other,
}

/// Did this process fetch the package lists already?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lists {
    Fresh,
    Stale,
}

#[derive(Debug, PartialEq, Eq)]
enum Plan {
    Nothing,
    Install,
    UpdateAndInstall,
    Refuse(String),
}

/// Decides from the answer of dpkg-query, one `name status` pair per line. A package that was
/// removed but left its configuration behind is not installed.
fn missing(wanted: &[Package], installed: &str) -> Vec<Package> {
    let is_there = |name: &str| installed.lines().any(|line| line.trim() == format!("{name} ii"));
    wanted.iter().copied().filter(|(name, _)| !is_there(name)).collect()
}

fn plan(missing: &[Package], user: User, lists: Lists) -> Plan {
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    match (names.is_empty(), user, lists) {
        (true, _, _) => Plan::Nothing,
        (false, User::Root, Lists::Fresh) => Plan::Install,
        (false, User::Root, Lists::Stale) => Plan::UpdateAndInstall,
        (false, User::Other, _) => Plan::Refuse(format!(
            "only root may install packages: run `sudo apt-get install {}`, then try again",
            names.join(" ")
        )),
    }
}

fn installed(wanted: &[Package]) -> Result<String> {
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat=${Package} ${db:Status-Abbrev}\\n"]);
    query.args(wanted.iter().map(|(name, _)| name));
    // dpkg-query complains of each package that it has never heard of; we say it better.
    query.stderr(std::process::Stdio::null());
    match query.output() {
        Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            let list: Vec<_> = wanted.iter().map(|(name, why)| format!("{name} ({why})")).collect();
            bail!(
                "cannot ask dpkg-query which packages are there: {error}; this needs Debian or a \
                 relative of it, and wants {}",
                list.join(", ")
            )
        }
    }
}

pub(crate) fn is_root() -> Result<bool> {
    Ok(process::output(Command::new("id").arg("-u"))?.trim() == "0")
}

fn user() -> Result<User> {
    Ok(if is_root()? { User::Root } else { User::Other })
}

fn apt(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    // Another apt on the machine may hold the lock for a while.
    command.args(["-o", "DPkg::Lock::Timeout=300"]).args(arguments);
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command.stdout(std::io::stderr());
    process::must_succeed(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: [Package; 2] = [("fio", "load figures"), ("xfsprogs", "xfs images")];

    #[test]
    fn installed_packages_are_not_missing() {
        assert_eq!(missing(&WANTED, "fio ii \nxfsprogs ii \n"), []);
    }

    #[test]
    fn unknown_and_removed_packages_are_missing() {
        assert_eq!(missing(&WANTED, "fio rc \n"), WANTED);
        assert_eq!(missing(&WANTED, "fio-extra ii \nxfsprogs ii \n"), WANTED[..1]);
    }

    #[test]
    fn nothing_is_done_where_nothing_is_missing() {
        assert_eq!(plan(&[], User::Other, Lists::Stale), Plan::Nothing);
    }

    #[test]
    fn lists_are_fetched_once() {
        assert_eq!(plan(&WANTED, User::Root, Lists::Stale), Plan::UpdateAndInstall);
        assert_eq!(plan(&WANTED, User::Root, Lists::Fresh), Plan::Install);
    }

    #[test]
    fn without_root_the_command_to_run_is_named() {
        let Plan::Refuse(text) = plan(&WANTED, User::Other, Lists::Stale) else {
            panic!("a user without rights must be refused");
        };
        assert!(text.contains("sudo apt-get install fio xfsprogs"), "{text}");
    }
}
