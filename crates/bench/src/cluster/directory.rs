//! The temporary directory of a cluster, or of a bench.
//!
//! It is removed when it is dropped. A process that was killed cannot do that, so the next one
//! removes the directories whose process, named in the directory's name, is gone.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::disks::unmount_leftovers;

const OF_CLUSTERS: &str = "basalt-cluster-";
const OF_BENCHES: &str = "basalt-bench-";

#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    guard: Option<TempDir>,
}

impl Directory {
    pub(crate) fn create(place: &Path) -> Result<Self> {
        Self::with_prefix(OF_CLUSTERS, place)
    }

    /// For what a bench has beside its clusters.
    pub(crate) fn for_bench(place: &Path) -> Result<Self> {
        Self::with_prefix(OF_BENCHES, place)
    }

    fn with_prefix(prefix: &str, place: &Path) -> Result<Self> {
        remove_leftovers(prefix, place);
        let guard = tempfile::Builder::new()
            .prefix(&format!("{prefix}{}-", std::process::id()))
            .tempdir_in(place)
            .with_context(|| format!("cannot make a directory in {}", place.display()))?;
        Ok(Self { path: guard.path().to_owned(), guard: Some(guard) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it behind.
    pub(crate) fn keep(&mut self) -> &Path {
        if let Some(guard) = self.guard.take() {
            // Renamed, or the next run would take it for a leftover.
            let kept = self.path.with_file_name(format!(
                "kept-{}",
                self.path.file_name().unwrap_or_default().to_string_lossy()
            ));
            let path = guard.keep();
            self.path = if fs::rename(&path, &kept).is_ok() { kept } else { path };
        }
        &self.path
    }
}

/// Best effort: what cannot be read or removed is somebody else's.
fn remove_leftovers(prefix: &str, place: &Path) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(prefix)) else { continue };
        let Some((pid, _)) = rest.split_once('-') else { continue };
        if pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists() {
            unmount_leftovers(&entry.path());
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_a_process_that_is_gone_is_removed() {
        type Create = fn(&Path) -> Result<Directory>;
        let kinds: [(&str, Create); 2] =
            [(OF_CLUSTERS, Directory::create), (OF_BENCHES, Directory::for_bench)];
        for (prefix, create) in kinds {
            let place = tempfile::tempdir().unwrap();
            // Process numbers end at 2^22.
            let leftover = place.path().join(format!("{prefix}99999999-abc"));
            let strange = place.path().join("something-else");
            fs::create_dir(&leftover).unwrap();
            fs::create_dir(&strange).unwrap();
            let own = create(place.path()).unwrap();
            assert!(!leftover.exists() && strange.exists() && own.path().exists());
            let path = own.path().to_owned();
            drop(own);
            assert!(!path.exists());
        }
    }

    #[test]
    fn a_kept_directory_stays() {
        let place = tempfile::tempdir().unwrap();
        let mut own = Directory::create(place.path()).unwrap();
        let kept = own.keep().to_owned();
        drop(own);
        drop(Directory::create(place.path()).unwrap());
        assert!(kept.exists());
    }
}
