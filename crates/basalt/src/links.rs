//! The program under DRBD's names: links, and what `drbdadm` takes that `basalt adm` does not.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::called::Name;

const NAMES: [&str; 2] = ["drbdadm", "drbdsetup"];
/// The version of DRBD's tools and driver whose words these are: scripts ask for it.
const DRBD_VERSION: &str = "9.3.3";
const DRBD_VERSION_CODE: u32 = 0x09_03_03;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Where to make them; it must be there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Replace what is there under these names
    #[arg(long)]
    force: bool,
}

/// Makes the links; those that are right already are left alone.
pub(crate) fn install(options: &Options) -> Result<ExitCode> {
    let program = std::env::current_exe().context("cannot learn the path of this program")?;
    for name in NAMES {
        let link = options.directory.join(name);
        if is_link_to(&link, &program) {
            continue;
        }
        if fs::symlink_metadata(&link).is_ok() {
            if !options.force {
                bail!(
                    "{} is there and no link to {}: remove it, or use --force to replace it",
                    link.display(),
                    program.display()
                );
            }
            fs::remove_file(&link).with_context(|| format!("cannot remove {}", link.display()))?;
        }
        let made = symlink(&program, &link);
        made.with_context(|| format!("cannot make {}; is the directory there?", link.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn is_link_to(link: &Path, program: &Path) -> bool {
    fs::read_link(link).is_ok_and(|target| target == program)
}

/// `drbdadm`: as `basalt adm`, but for `--version`, which answers in variables of a shell.
pub(crate) fn drbdadm(words: Vec<OsString>) -> ExitCode {
    if !words.iter().any(|word| word == "--version" || word == "-V") {
        return crate::adm::main(Name::Drbdadm, words);
    }
    let text = format!(
        "DRBDADM_BUILDTAG=basalt\\ {}\nDRBDADM_API_VERSION=2\n\
         DRBD_KERNEL_VERSION_CODE={DRBD_VERSION_CODE:#08x}\nDRBD_KERNEL_VERSION={DRBD_VERSION}\n\
         DRBDADM_VERSION_CODE={DRBD_VERSION_CODE:#08x}\nDRBDADM_VERSION={DRBD_VERSION}\n",
        env!("CARGO_PKG_VERSION")
    );
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
