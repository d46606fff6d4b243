//! Pools: where the disks of replicas are. Those of files so far.
//!
//! Each part of a replica has a folder of its own in its pool, named by the volume's id, and from
//! the second part on by its number, too: the file `data`, the file `metadata`, and `made` once
//! both are whole. A crash before leaves a folder without `made`, and the next pass begins anew. No
//! daemon has used such files: it is told of them later.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use api::agent::{ObservedPool, WantedPool};
use api::cluster::PoolKind;
use rustix::fs::{Access, FallocateFlags, access, fallocate, statvfs};

/// Metadata beside its bitmap: superblocks and activity log.
const METADATA_BASE_BYTES: u64 = 32 << 20;
/// A bit for each of so many bytes of a volume, of each member it may have.
const BYTES_PER_BIT: u64 = 4096;
const MEMBERS_MAX: u64 = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Disk {
    pub(crate) folder: PathBuf,
    /// The id of its pool, which stands in the pool's folder.
    pub(crate) pool: String,
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
        let (pools, pool) = (Path::new(&pool.location), pool.id.clone());
        let folder = match number {
            0 => pools.join(volume),
            more => pools.join(format!("{volume}.{more}")),
        };
        Ok(Self { folder, pool })
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
        let pool = self.folder.parent().unwrap_or_else(|| Path::new("/"));
        for folder in [self.folder.as_path(), pool] {
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.map_err(told("write", folder))?;
        }
        Ok(())
    }

    /// A disk is neither made nor gone where its pool is not.
    fn check_pool(&self) -> Result<(), String> {
        let folder = self.folder.parent().unwrap_or_else(|| Path::new("/"));
        let mark = fs::read_to_string(folder.join(MARK));
        match mark.is_ok_and(|id| id.trim() == self.pool) {
            true => Ok(()),
            false => Err(format!(
                "{} is not the folder of its pool: see whether its file system is mounted",
                folder.display()
            )),
        }
    }

    /// The mark goes first: what is left of the folder is not taken for a replica.
    pub(crate) fn remove(&self) -> Result<(), String> {
        self.check_pool()?;
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

/// How large a pool is. Its folder is made if it was never there: the agent notes in the folder
/// `notes` that it was.
pub(crate) fn observe(pool: &WantedPool, notes: &Path) -> ObservedPool {
    let id = pool.id.clone();
    match find(pool, notes).and_then(|()| room(Path::new(&pool.location))) {
        Ok((total_bytes, free_bytes)) => {
            ObservedPool { id, total_bytes, free_bytes, problem: None }
        }
        Err(problem) => ObservedPool { id, total_bytes: 0, free_bytes: 0, problem: Some(problem) },
    }
}

/// In the folder of a pool: the pool's id. A folder without it is not the pool, though it has the
/// pool's path: below a file system that is not mounted, say.
const MARK: &str = ".basalt-pool";

fn find(pool: &WantedPool, notes: &Path) -> Result<(), String> {
    let folder = Path::new(&pool.location);
    let (mark, note) = (folder.join(MARK), notes.join(format!("{}.pool", pool.id)));
    match fs::read_to_string(&mark) {
        Ok(id) if id.trim() == pool.id => {}
        Ok(id) => {
            let (folder, id) = (folder.display(), id.trim().to_owned());
            return Err(format!("{folder} is the folder of another pool, {id}: take another one"));
        }
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(told("read", &mark)(error));
        }
        Err(_none) if note.exists() => {
            return Err(format!(
                "{} is not the folder that it was: see whether its file system is mounted",
                folder.display()
            ));
        }
        Err(_none) => {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(told("make", folder))?;
            write_durably(&mark, &pool.id)?;
        }
    }
    if !note.exists() {
        write_durably(&note, &pool.location)?;
    }
    access(folder, Access::WRITE_OK).map_err(|error| told("write into", folder)(error.into()))
}

fn write_durably(path: &Path, text: &str) -> Result<(), String> {
    let draft = path.with_extension("new");
    let file = File::create(&draft).map_err(told("write", &draft))?;
    (&file).write_all(text.as_bytes()).map_err(told("write", &draft))?;
    file.sync_all().map_err(told("write", &draft))?;
    fs::rename(&draft, path).map_err(told("write", path))?;
    let folder = path.parent().unwrap_or_else(|| Path::new("/"));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(told("write", folder))
}

fn room(folder: &Path) -> Result<(u64, u64), String> {
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
        let (pool, notes) = (pool(folder.path()), tempfile::tempdir().unwrap());
        let disk = Disk::of(&pool, "v-1", 0).unwrap();
        disk.begin(PoolKind::FileThin, 1 << 30).unwrap_err();
        assert_eq!(observe(&pool, notes.path()).problem, None);
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
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "its mark");
        }
    }

    /// It was taken for the pool, got new volumes, and a delete that found nothing was done.
    #[test]
    fn folder_below_a_file_system_that_is_not_mounted_is_not_the_pool() {
        let (folder, notes) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let location = folder.path().join("pool");
        let pool = pool(&location);
        assert_eq!(observe(&pool, notes.path()).problem, None);
        let disk = Disk::of(&pool, "v-1", 0).unwrap();
        fs::rename(&location, folder.path().join("elsewhere")).unwrap();
        for _ in 0..2 {
            let problem = observe(&pool, notes.path()).problem.unwrap();
            assert!(problem.contains("see whether its file system is mounted"), "{problem}");
            disk.remove().unwrap_err();
            disk.begin(PoolKind::File, 4096).unwrap_err();
            fs::create_dir_all(&location).unwrap();
        }
        fs::remove_dir(&location).unwrap();
        fs::rename(folder.path().join("elsewhere"), &location).unwrap();
        assert_eq!(observe(&pool, notes.path()).problem, None);
        disk.remove().unwrap();
        let other = WantedPool { id: "q".to_owned(), ..pool };
        let problem = observe(&other, notes.path()).problem.unwrap();
        assert!(problem.contains("is the folder of another pool, p"), "{problem}");
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
        let notes = tempfile::tempdir().unwrap();
        let problem = observe(&pool(&path.join("pool")), notes.path()).problem.unwrap();
        assert!(problem.contains("Not a directory"), "{problem}");
        let known = observe(&pool(&folder.path().join("pool")), notes.path());
        assert!(known.problem.is_none() && known.total_bytes > 0);
    }
}
