//! Many real files: the sources that cargo unpacked, as often as it takes.

use anyhow::{Context as _, Result, ensure};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// More copies than this say that there are hardly any sources.
const COPIES_MAX: usize = 20;
/// Larger files are left out, so that the tree fits whatever a machine has built before.
const FILE_BYTES_MAX: u64 = 64 << 10;

pub(super) struct Tree {
    pub(super) root: PathBuf,
    /// Relative to the root, every parent before its children.
    pub(super) folders: Vec<PathBuf>,
    pub(super) files: Vec<PathBuf>,
}

impl Tree {
    /// Copies sources to `root` until there are `files_min` files.
    pub(super) fn of_cargo_sources(root: &Path, files_min: usize) -> Result<Self> {
        let sources = cargo_home()?.join("registry/src");
        let mut tree = Self { root: root.to_owned(), folders: Vec::new(), files: Vec::new() };
        fs::create_dir(root).with_context(|| format!("cannot make {}", root.display()))?;
        for copy in 0..COPIES_MAX {
            if tree.files.len() >= files_min {
                break;
            }
            tree.add(&sources, PathBuf::from(format!("copy-{copy}")), files_min)?;
        }
        ensure!(
            tree.files.len() >= files_min,
            "{COPIES_MAX} copies of {} have {} files, {files_min} are wanted; `cargo fetch` \
             fills it",
            sources.display(),
            tree.files.len()
        );
        Ok(tree)
    }

    /// Copies a folder with all that is in it, but for links, odd names and large files, and no
    /// folder more once there are `files_min` files.
    fn add(&mut self, source: &Path, place: PathBuf, files_min: usize) -> Result<()> {
        let mut left = vec![(source.to_owned(), place)];
        while let Some((source, place)) = left.pop() {
            if self.files.len() >= files_min {
                break;
            }
            let folder = self.root.join(&place);
            fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            let entries = fs::read_dir(&source);
            for entry in entries.with_context(|| format!("cannot list {}", source.display()))? {
                let entry = entry.with_context(|| format!("cannot list {}", source.display()))?;
                if !is_plain(&entry.file_name()) {
                    continue;
                }
                let (kind, place) = (entry.file_type()?, place.join(entry.file_name()));
                if kind.is_dir() {
                    left.push((entry.path(), place));
                } else if kind.is_file() && entry.metadata()?.len() <= FILE_BYTES_MAX {
                    fs::copy(entry.path(), self.root.join(&place))
                        .with_context(|| format!("cannot copy {}", entry.path().display()))?;
                    self.files.push(place);
                }
            }
            self.folders.push(place);
        }
        Ok(())
    }

    /// The tree in the language of `mkfs.xfs -p`: what is in a folder stands between its name and a
    /// `$`; the first two lines are there for history.
    pub(super) fn xfs_prototype(&self) -> String {
        let mut entries: Vec<(&Path, Kind)> = Vec::new();
        entries.extend(self.folders.iter().map(|path| (path.as_path(), Kind::Folder)));
        entries.extend(self.files.iter().map(|path| (path.as_path(), Kind::File)));
        // In this order a folder's content follows it, before its next sibling.
        entries.sort_by(|a, b| a.0.cmp(b.0));
        let mut text = String::from("/dev/null\n0 0\nd--755 0 0\n");
        let mut depth = 0;
        for (path, kind) in entries {
            let level = path.components().count() - 1;
            (level..depth).for_each(|_| text.push_str("$\n"));
            depth = level;
            let name = path.file_name().unwrap_or_default().display();
            match kind {
                Kind::Folder => {
                    depth += 1;
                    writeln!(text, "{name} d--755 0 0")
                }
                Kind::File => {
                    writeln!(text, "{name} ---644 0 0 {}", self.root.join(path).display())
                }
            }
            .expect("writing to a string");
        }
        (0..=depth).for_each(|_| text.push_str("$\n"));
        text
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Folder,
    File,
}

/// The language of `mkfs.xfs -p` has words between spaces, and `$` as an end.
fn is_plain(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| !name.contains(char::is_whitespace) && !name.contains('$'))
}

fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME").filter(|home| !home.is_empty()) {
        return Ok(PathBuf::from(home));
    }
    let home = std::env::var_os("HOME").context("neither CARGO_HOME nor HOME is set")?;
    Ok(PathBuf::from(home).join(".cargo"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prototype_closes_each_folder_after_its_content() {
        let path = |text: &str| PathBuf::from(text);
        let tree = Tree {
            root: path("/r"),
            folders: ["a", "a/b", "c"].map(path).to_vec(),
            files: ["a/b/x", "a/y", "c/z"].map(path).to_vec(),
        };
        let wanted = "/dev/null\n0 0\nd--755 0 0\n\
                      a d--755 0 0\nb d--755 0 0\nx ---644 0 0 /r/a/b/x\n$\n\
                      y ---644 0 0 /r/a/y\n$\nc d--755 0 0\nz ---644 0 0 /r/c/z\n$\n$\n";
        assert_eq!(tree.xfs_prototype(), wanted);
    }
}
