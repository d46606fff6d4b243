//! The tree of files that a package installs, the same for every kind of package.

use super::MAINTAINER;
use super::program::Program;
use crate::process;
use anyhow::{Context as _, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files that are copied as they are: from the repository, to the machine, with this mode.
const COPIED: &[(&str, &str, u32)] = &[
    ("xtask/package/node", "usr/lib/basalt/node", 0o755),
    ("docs/systemd/basalt-node.service", "usr/lib/systemd/system/basalt-node.service", 0o644),
    (
        "docs/systemd/basalt-controller.service",
        "usr/lib/systemd/system/basalt-controller.service",
        0o644,
    ),
    ("docs/systemd/basalt-agent.service", "usr/lib/systemd/system/basalt-agent.service", 0o644),
    ("docs/systemd/basalt-verify.service", "usr/lib/systemd/system/basalt-verify.service", 0o644),
    ("docs/systemd/basalt-verify.timer", "usr/lib/systemd/system/basalt-verify.timer", 0o644),
    // Asked for by machines that swap onto volumes: on others it could lower what the kernel takes.
    ("docs/systemd/basalt-sysctl.conf", "usr/share/basalt/sysctl/60-basalt.conf", 0o644),
    ("docs/monitoring/dashboard.json", "usr/share/basalt/monitoring/dashboard.json", 0o644),
    ("docs/monitoring/rules.yml", "usr/share/basalt/monitoring/rules.yml", 0o644),
    ("README.md", "usr/share/doc/basalt/README.md", 0o644),
    ("xtask/package/copyright", "usr/share/doc/basalt/copyright", 0o644),
];

/// The daemon's file, which belongs to whoever administers the machine.
pub(super) const CONFIG: (&str, &str) = ("docs/systemd/node.conf", "etc/basalt/node.conf");

/// Every file of these folders, with the mode that it has.
const FOLDERS: &[(&str, &str)] = &[("examples", "usr/share/doc/basalt/examples")];

/// An operator puts `.res` files here; the file that `basalt pki` writes includes them.
const EMPTY: &str = "etc/basalt.d";

/// Completions by the place of each shell.
const COMPLETIONS: &[(&str, &str)] = &[
    ("basalt.bash", "usr/share/bash-completion/completions/basalt"),
    ("basalt.zsh", "usr/share/zsh/vendor-completions/_basalt"),
    ("basalt.fish", "usr/share/fish/vendor_completions.d/basalt.fish"),
];

#[derive(Debug)]
pub(super) struct Contents {
    /// The root of the tree.
    pub(super) root: PathBuf,
}

/// Files that were made for this release.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) bill: &'a Path,
    pub(super) licences: &'a Path,
}

impl Contents {
    pub(super) fn lay_out(
        root: &Path,
        program: &Program,
        texts: Texts<'_>,
        (version, epoch): (&str, u64),
    ) -> Result<Self> {
        let repository = process::repository()?;
        install(&program.stripped, &root.join("usr/bin/basalt"), 0o755)?;
        // A folder, as the file would be whose folder it is.
        folder_of(&root.join(EMPTY).join("file"))?;
        for (from, to, mode) in COPIED {
            install(&repository.join(from), &root.join(to), *mode)?;
        }
        install(&repository.join(CONFIG.0), &root.join(CONFIG.1), 0o644)?;
        for (from, to) in FOLDERS {
            copy_folder(&repository.join(from), &root.join(to))?;
        }
        let notes = root.join("usr/share/doc/basalt/CHANGELOG.md");
        install(&repository.join("CHANGELOG.md"), &notes, 0o644)?;
        let materials = root.join("usr/share/doc/basalt/basalt.cdx.json");
        install(texts.bill, &materials, 0o644)?;
        let licences = root.join("usr/share/doc/basalt/LICENSES");
        install(texts.licences, &licences, 0o644)?;
        let changes = root.join("usr/share/doc/basalt/changelog");
        write(&changes, &debian_changelog("basalt", version, epoch)?)?;
        for file in [&notes, &materials, &licences, &changes] {
            compress(file)?;
        }
        let contents = Self { root: root.to_owned() };
        contents.add_manuals(program)?;
        Ok(contents)
    }

    fn add_manuals(&self, program: &Program) -> Result<()> {
        let made = self.root.with_file_name("manuals");
        process::must_succeed(Command::new(&program.whole).arg("manuals").arg(&made))?;
        for page in files_of(&made.join("man"))? {
            let name = page.file_name().context("a page has a name")?;
            let place = self.root.join("usr/share/man/man1").join(name);
            install(&page, &place, 0o644)?;
            compress(&place)?;
        }
        for (name, place) in COMPLETIONS {
            install(&made.join("completions").join(name), &self.root.join(place), 0o644)?;
        }
        Ok(())
    }
}

/// A changelog in Debian's form: which version this is; what is new in it stands elsewhere.
pub(super) fn debian_changelog(package: &str, version: &str, epoch: u64) -> Result<String> {
    let mut date = Command::new("date");
    date.args(["--utc", "--rfc-email", "--date", &format!("@{epoch}")]).env("LC_ALL", "C");
    let date = process::output(&mut date)?;
    Ok(format!(
        "{package} ({version}) unstable; urgency=medium\n\n  \
         * This version; /usr/share/doc/basalt/CHANGELOG.md.gz tells what is new.\n\n \
         -- {}  {}\n",
        MAINTAINER,
        date.trim()
    ))
}

/// Copies a file, and makes the folders above it.
pub(super) fn install(from: &Path, to: &Path, mode: u32) -> Result<()> {
    folder_of(to)?;
    fs::copy(from, to)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    set_mode(to, mode)
}

pub(super) fn write(to: &Path, text: &str) -> Result<()> {
    folder_of(to)?;
    fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))?;
    set_mode(to, 0o644)
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .with_context(|| format!("cannot set the mode of {}", path.display()))
}

fn folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().context("a file stands in a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// With neither name nor time of the file in it.
pub(super) fn compress(path: &Path) -> Result<()> {
    process::must_succeed(Command::new("gzip").args(["--best", "--no-name"]).arg(path))
}

/// Sorted, so that nothing depends on the order in a folder.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let context = || format!("cannot read the folder {}", folder.display());
    let entries = fs::read_dir(folder).with_context(context)?;
    let mut files = entries
        .map(|entry| Ok(entry.with_context(context)?.path()))
        .collect::<Result<Vec<PathBuf>>>()?;
    files.sort_unstable();
    Ok(files)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    let mut folders = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = folders.pop() {
        for file in files_of(&from)? {
            let place = to.join(file.file_name().context("a file has a name")?);
            if file.is_dir() {
                folders.push((file, place));
                continue;
            }
            let mode = fs::metadata(&file)?.permissions().mode();
            install(&file, &place, if mode & 0o100 == 0 { 0o644 } else { 0o755 })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changelog_has_debians_form() {
        let text = debian_changelog("basalt", "0.1.0", 0).expect("a date");
        assert!(text.starts_with("basalt (0.1.0) unstable; urgency=medium\n\n  * "), "{text}");
        assert!(text.ends_with(">  Thu, 01 Jan 1970 00:00:00 +0000\n"), "{text}");
    }

    #[test]
    fn sources_of_all_files_are_there() {
        let root = process::repository().expect("a root");
        let folders = FOLDERS.iter().map(|(from, _)| *from);
        let copied = COPIED.iter().map(|(from, ..)| *from);
        for from in copied.chain([CONFIG.0]).chain(folders) {
            assert!(root.join(from).exists(), "{from}");
        }
    }
}
