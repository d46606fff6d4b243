//! Pools: where the disks of replicas are. Those of files so far.
//!
//! Each part of a replica has a folder of its own in its pool, named by the volume's id, and from
//! the second part on by its number, too: the file `data`, the file `metadata`, and `made` once
//! both are whole. A crash before leaves a folder without `made`, and the next pass begins anew. No
//! daemon has used such files: it is told of them later.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use api::agent::{ObservedPool, WantedPool};
use api::cluster::PoolKind;
use rustix::fs::{FallocateFlags, fallocate, statvfs};

/// Metadata beside its bitmap: superblocks and activity log.
const METADATA_BASE_BYTES: u64 = 32 << 20;
/// A bit for each of so many bytes of a volume, of each member it may have.
const BYTES_PER_BIT: u64 = 4096;
const MEMBERS_MAX: u64 = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Disk {
    pub(crate) folder: PathBuf,
}

impl Disk {
    /// Of a part of a volume, by the volume's id, which is checked: it becomes part of a path.
    pub(crate) fn of(pool: &WantedPool, volume: &str, number: u16) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if volume.is_empty() || volume.len() > 64 || !volume.chars().all(is_plain) {
            return Err(format!("{volume:?} is no id of a volume"));
        }
        if !pool.location.starts_with('/') {
            return Err(format!("{:?} is no whole path", pool.location));
        }
        let folder = Path::new(&pool.location);
        Ok(Self {
            folder: match number {
                0 => folder.join(volume),
                more => folder.join(format!("{volume}.{more}")),
            },
        })
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub(crate) fn metadata(&self) -> PathBuf {
        self.folder.join("metadata")
    }

    fn mark(&self) -> PathBuf {
        self.folder.join("made")
    }

    pub(crate) fn is_made(&self) -> bool {
        self.mark().exists()
    }

    /// New files of the right size. What a pass that was interrupted left is made anew.
    pub(crate) fn begin(&self, kind: PoolKind, size_bytes: u64) -> Result<(), String> {
        self.remove()?;
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(told("make", &self.folder))?;
        for (path, bytes) in self.files(size_bytes) {
            let opened = OpenOptions::new().write(true).create_new(true).open(&path);
            lengthen(&opened.map_err(told("make", &path))?, &path, bytes, kind)?;
        }
        Ok(())
    }

    /// Longer files for a volume that grows. What is in them stays, and so does one that is long
    /// enough.
    pub(crate) fn grow(&self, kind: PoolKind, size_bytes: u64) -> Result<(), String> {
        for (path, bytes) in self.files(size_bytes) {
            let is_long = fs::metadata(&path).map_err(told("look at", &path))?.len() >= bytes;
            if !is_long {
                let opened = OpenOptions::new().write(true).open(&path);
                lengthen(&opened.map_err(told("open", &path))?, &path, bytes, kind)?;
            }
        }
        Ok(())
    }

    /// The metadata has room for the bits of a volume of this size.
    fn files(&self, size_bytes: u64) -> [(PathBuf, u64); 2] {
        let bits = size_bytes.div_ceil(BYTES_PER_BIT);
        let metadata_bytes = METADATA_BASE_BYTES + bits.div_ceil(8) * MEMBERS_MAX * 2;
        [(self.metadata(), metadata_bytes), (self.data(), size_bytes)]
    }

    /// It is whole now.
    pub(crate) fn finish(&self) -> Result<(), String> {
        let mark = self.mark();
        let made = File::create(&mark).and_then(|file| file.sync_all());
        made.map_err(told("make", &mark))?;
        let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
        synced.map_err(told("write", &self.folder))
    }

    /// The mark goes first: what is left of the folder is not taken for a replica.
    pub(crate) fn remove(&self) -> Result<(), String> {
        let gone = |result: Result<(), Error>| match result {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Err(_) | Ok(()) => Ok(()),
        };
        gone(fs::remove_file(self.mark())).map_err(told("remove", &self.mark()))?;
        gone(fs::remove_dir_all(&self.folder)).map_err(told("remove", &self.folder))
    }
}

fn lengthen(file: &File, path: &Path, bytes: u64, kind: PoolKind) -> Result<(), String> {
    if kind == PoolKind::File {
        let given = fallocate(file, FallocateFlags::empty(), 0, bytes);
        given.map_err(|error| told("find room for", path)(error.into()))?;
    }
    file.set_len(bytes).map_err(told("enlarge", path))?;
    file.sync_all().map_err(told("write", path))
}

/// How large a pool is. Its folder is made if it is not there.
pub(crate) fn observe(pool: &WantedPool) -> ObservedPool {
    let id = pool.id.clone();
    match room(Path::new(&pool.location)) {
        Ok((total_bytes, free_bytes)) => {
            ObservedPool { id, total_bytes, free_bytes, problem: None }
        }
        Err(problem) => ObservedPool { id, total_bytes: 0, free_bytes: 0, problem: Some(problem) },
    }
}

fn room(folder: &Path) -> Result<(u64, u64), String> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(told("make", folder))?;
    let known = statvfs(folder).map_err(|error| told("look at", folder)(error.into()))?;
    Ok((known.f_blocks * known.f_frsize, known.f_bavail * known.f_frsize))
}

fn told(action: &'static str, path: &Path) -> impl Fn(Error) -> String {
    move |error| format!("cannot {action} {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn pool(folder: &Path) -> WantedPool {
        let location = folder.to_str().unwrap().to_owned();
        WantedPool { id: "p".to_owned(), kind: PoolKind::FileThin, location }
    }

    #[test]
    fn disk_that_was_not_finished_is_made_anew_and_one_that_was_goes_whole() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::of(&pool(folder.path()), "v-1", 0).unwrap();
        disk.begin(PoolKind::FileThin, 1 << 30).unwrap();
        assert!(!disk.is_made());
        let data = fs::metadata(disk.data()).unwrap();
        assert_eq!((data.len(), data.blocks()), (1 << 30, 0), "a thin one takes no room");
        fs::write(disk.data(), "old").unwrap();
        disk.begin(PoolKind::File, 1 << 20).unwrap();
        let data = fs::metadata(disk.data()).unwrap();
        assert_eq!((data.len(), data.blocks()), (1 << 20, 2048));
        disk.finish().unwrap();
        assert!(disk.is_made());
        for _ in 0..2 {
            disk.remove().unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn ids_that_would_leave_the_pool_are_refused() {
        let pool = pool(Path::new("/pool"));
        for id in ["", "..", "a/b", "/", ".", "a\0", &"a".repeat(65)] {
            assert!(Disk::of(&pool, id, 0).is_err(), "{id:?}");
        }
        let relative = WantedPool { location: "pool".to_owned(), ..pool };
        Disk::of(&relative, "a", 0).unwrap_err();
    }

    #[test]
    fn pool_that_cannot_be_made_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        let problem = observe(&pool(&path.join("pool"))).problem.unwrap();
        assert!(problem.starts_with("cannot make "), "{problem}");
        let known = observe(&pool(&folder.path().join("pool")));
        assert!(known.problem.is_none() && known.total_bytes > 0);
    }
}
