//! The state directory: what a node must not lose.
//!
//! ```text
//! DIR/lock                      held (flock) by the running daemon: its process, and when it began
//! DIR/version                   number of this layout
//! DIR/starts                    starts of the daemon so far
//! DIR/admin.sock                the admin socket, unless it was told to be elsewhere
//! DIR/crashes                   aborts of late, see `crash`
//! DIR/adopted/NAME-VOLUME.*      DRBD's metadata of a replica that was taken over, see `adopt`
//! DIR/resources/NAME.res        a resource that is up, as canonical text
//! DIR/resources/NAME.register   its config register, two slots; kept after `down`
//! DIR/resources/NAME.held       why it is not brought up, though it is to be
//! DIR/resources/NAME.disk       the size of disk that its metadata was last made for, in bytes;
//!                               NAME@K.disk for that of a further volume
//! DIR/resources/NAME.data       the names of the data disk that metadata elsewhere is about, and
//!                               of which replica; NAME@K.data for that of a further volume
//! DIR/resources/NAME.device     its block device, while there is one: number, tenure, losses
//! DIR/resources/NAME.takeover   locked (flock) by whoever takes that device over, or ends it
//! DIR/resources/NAME.claim      locked by the process that claims it, before it is removed
//! *.new                         one of these that is being written; removed at a start
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use engine::log::{Scope, log};
use format::space::Place;

use crate::error::{NodeError, is_full};
use crate::holder::{holder_of, sign, signed_by};
use crate::patience::Patience;

/// Layout of the directory that this release writes, and the newest it reads.
const VERSION: u32 = 1;
/// Of any number, so that the file is as long as the first one.
const START_COUNT_DIGITS: usize = 20;
/// Where the admin socket is, unless an option says otherwise.
pub(crate) const ADMIN_SOCKET: &str = "admin.sock";
/// What the names of files end in that are being written.
const UNFINISHED: &str = "new";

#[derive(Debug)]
pub(crate) struct StateDir {
    path: PathBuf,
    /// Kept open: the lock ends with it.
    lock: File,
    start_count: u64,
}

#[cfg(test)]
impl StateDir {
    /// Of a test, below its folder.
    pub(crate) fn below(folder: &Path) -> Self {
        Self::open(&folder.join("state"), &mut Patience::of_tests()).unwrap()
    }
}

impl StateDir {
    /// Opens or makes the directory, for this process alone, and counts the start.
    pub(crate) fn open(path: &Path, patience: &mut Patience) -> Result<Self, NodeError> {
        let failed = |what: &'static str| {
            let path = path.to_owned();
            move |source| NodeError::StateDir { what, path, source }
        };
        fs::create_dir_all(path.join("resources")).map_err(failed("make"))?;
        // What the holder says in it stays.
        let mut open = File::options();
        let open = open.read(true).write(true).create(true).truncate(false);
        let lock = open.open(path.join("lock")).map_err(failed("open the lock file of"))?;
        let holder = || {
            let unknown = "another daemon (`fuser -v` of the file `lock` in it tells which)";
            holder_of(&lock).unwrap_or_else(|| unknown.to_owned())
        };
        let wait = || format!("state directory {} is in use by {}", path.display(), holder());
        match patience.lock_of(&lock, wait) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                let holder = holder();
                return Err(NodeError::StateDirInUse { path: path.to_owned(), holder });
            }
            Err(error) => return Err(failed("lock")(error)),
        }
        sign(&lock).map_err(failed("write the lock file of"))?;
        check_version(path)?;
        remove_unfinished(path);
        let before =
            read_number(&path.join("starts")).map_err(failed("read the start count of"))?;
        if before.is_none() {
            log!(
                Notice,
                Scope::NODE,
                "state directory {} is new, and this node has no vote yet. That is right for its \
                 first start. If it was in use before, stop this daemon and look for the directory \
                 that it had: another `state-dir`, or a file system that is not mounted",
                path.display()
            );
        }
        let start_count = before.unwrap_or(0) + 1;
        store_start_count(&path.join("starts"), start_count)
            .map_err(failed("write the start count of"))?;
        Ok(Self { path: path.to_owned(), lock, start_count })
    }

    /// Lets the next daemon have it, though this process may be kept a while. Nothing is to be
    /// written to it any more.
    pub(crate) fn unlock(&self) {
        // It ends with the process in any case.
        drop(self.lock.unlock());
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn start_count(&self) -> u64 {
        self.start_count
    }

    pub(crate) fn register_path(&self, resource: &str) -> PathBuf {
        self.path.join("resources").join(format!("{resource}.register"))
    }

    pub(crate) fn crash_file(&self) -> PathBuf {
        self.path.join("crashes")
    }

    pub(crate) fn held_path(&self, resource: &str) -> PathBuf {
        self.path.join("resources").join(format!("{resource}.held"))
    }

    /// Notes why a resource is not to be brought up.
    pub(crate) fn hold(&self, resource: &str, note: &str) -> io::Result<()> {
        write_durably(&self.held_path(resource), note.as_bytes())
    }

    /// Internal metadata stands at the end of the disk: on one that has become larger it is found
    /// by the size that the disk had.
    pub(crate) fn store_disk_size(
        &self,
        (resource, place): (&str, Place),
        size_bytes: u64,
    ) -> io::Result<()> {
        if self.disk_size((resource, place)) == Some(size_bytes) {
            return Ok(());
        }
        let text = format!("{size_bytes}\n");
        write_durably(&disk_size_path(&self.path, resource, place), text.as_bytes())
    }

    pub(crate) fn disk_size(&self, (resource, place): (&str, Place)) -> Option<u64> {
        disk_size_in(&self.path, (resource, place))
    }

    /// Which data disk the metadata on another device is about.
    pub(crate) fn store_data_disk(
        &self,
        (resource, place): (&str, Place),
        note: &str,
    ) -> io::Result<()> {
        write_durably(&self.data_disk_path(resource, place), note.as_bytes())
    }

    pub(crate) fn data_disk(&self, (resource, place): (&str, Place)) -> Option<String> {
        fs::read_to_string(self.data_disk_path(resource, place)).ok()
    }

    fn data_disk_path(&self, resource: &str, place: Place) -> PathBuf {
        self.path.join("resources").join(data_disk_name(resource, place))
    }

    fn text_path(&self, resource: &str) -> PathBuf {
        self.path.join("resources").join(format!("{resource}.res"))
    }

    /// Keeps a resource's text, so that it comes up again with the daemon.
    pub(crate) fn store_text(&self, resource: &str, text: &str) -> io::Result<()> {
        self.prepare_text(resource, text)?.take_place()
    }

    /// The same up to the last step, for which a full disk has room.
    pub(crate) fn prepare_text(&self, resource: &str, text: &str) -> io::Result<Unfinished> {
        Unfinished::write(self.text_path(resource), text.as_bytes())
    }

    pub(crate) fn forget_text(&self, resource: &str) -> io::Result<()> {
        match fs::remove_file(self.text_path(resource)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => sync_directory(&self.path.join("resources")),
        }
    }

    /// Of a resource of this name. Nobody checked the name.
    pub(crate) fn keeps_vote(&self, resource: &str) -> bool {
        !resource.contains(['/', '\0']) && self.register_path(resource).exists()
    }

    /// What there is of a resource that is down. Nobody checked the name.
    pub(crate) fn forget(&self, resource: &str) -> io::Result<()> {
        if resource.contains(['/', '\0']) {
            return Ok(());
        }
        let mut paths = vec![self.register_path(resource), self.held_path(resource)];
        for place in (0..=u16::from(u8::MAX)).map_while(|number| Place::new(number).ok()) {
            paths.push(disk_size_path(&self.path, resource, place));
            paths.push(self.data_disk_path(resource, place));
        }
        for path in paths {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        sync_directory(&self.path.join("resources"))
    }

    /// The text of a resource that is to be up. Nobody checked the name.
    pub(crate) fn stored_text(&self, resource: &str) -> io::Result<Option<String>> {
        if resource.contains(['/', '\0']) {
            return Ok(None);
        }
        let path = self.text_path(resource);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
        }
    }

    /// The resources that were up, with their texts, in order of name. One that cannot be read is
    /// no reason to leave the others.
    pub(crate) fn stored_texts(&self) -> io::Result<Vec<(String, String)>> {
        let mut texts = Vec::new();
        for entry in fs::read_dir(self.path.join("resources"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "res")
                && let Some(name) = path.file_stem().and_then(|name| name.to_str())
            {
                match self.stored_text(name) {
                    Ok(text) => texts.extend(text.map(|text| (name.to_owned(), text))),
                    Err(error) => log!(
                        Error,
                        Scope::resource(name),
                        "its stored text cannot be read, and it is left out: {error}; remove that \
                         file, and type `basalt adm up {name}`"
                    ),
                }
            }
        }
        texts.sort();
        Ok(texts)
    }
}

/// A block device that outlives the daemon, and the tenure that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceRecord {
    pub(crate) device: u32,
    pub(crate) tenure: u64,
    pub(crate) losses: u32,
}

impl StateDir {
    fn device_path(&self, resource: &str) -> PathBuf {
        self.path.join("resources").join(format!("{resource}.device"))
    }

    pub(crate) fn store_device(&self, resource: &str, record: DeviceRecord) -> io::Result<()> {
        let DeviceRecord { device, tenure, losses } = record;
        write_durably(
            &self.device_path(resource),
            format!("{device} {tenure:016x} {losses}\n").as_bytes(),
        )
    }

    /// The file that is locked while a daemon takes a device over.
    pub(crate) fn takeover_path(&self, resource: &str) -> PathBuf {
        self.path.join("resources").join(format!("{resource}.takeover"))
    }

    /// The file that is locked while a process claims it, which may outlive its daemon.
    pub(crate) fn claim_path(&self, resource: &str) -> PathBuf {
        self.path.join("resources").join(format!("{resource}.claim"))
    }

    pub(crate) fn forget_device(&self, resource: &str) -> io::Result<()> {
        // Whoever waits for these locks waits for a device that is gone.
        drop(fs::remove_file(self.takeover_path(resource)));
        drop(fs::remove_file(self.claim_path(resource)));
        match fs::remove_file(self.device_path(resource)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// What is recorded of a device, if that can be read.
    pub(crate) fn device_record(&self, resource: &str) -> Option<DeviceRecord> {
        parse_device(&fs::read_to_string(self.device_path(resource)).ok()?)
    }

    /// The devices that an earlier daemon made and did not remove; one whose record cannot be read
    /// is nobody's.
    pub(crate) fn device_records(&self) -> Vec<(String, DeviceRecord)> {
        let Ok(entries) = fs::read_dir(self.path.join("resources")) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path());
        let records = paths.filter(|path| path.extension().is_some_and(|end| end == "device"));
        let read = |path: PathBuf| {
            let name = path.file_stem()?.to_str()?.to_owned();
            let record = self.device_record(&name)?;
            Some((name, record))
        };
        let mut records: Vec<_> = records.filter_map(read).collect();
        records.sort_by(|a, b| a.0.cmp(&b.0));
        records
    }
}

/// The texts of resources that were up, with their names in order, of a state directory that nobody
/// has to hold. One that cannot be read is left out: a start says so.
pub(crate) fn texts_in(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder.join("resources")).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let texts = paths.filter(|path| path.extension().is_some_and(|end| end == "res"));
    let read = |path: PathBuf| {
        let name = path.file_stem()?.to_str()?.to_owned();
        Some((name, fs::read_to_string(&path).ok()?))
    };
    let mut texts: Vec<_> = texts.filter_map(read).collect();
    texts.sort();
    texts
}

/// The daemon that has a state directory now.
pub(crate) fn daemon_of(folder: &Path) -> Option<u32> {
    signed_by(&File::open(folder.join("lock")).ok()?)
}

fn parse_device(text: &str) -> Option<DeviceRecord> {
    let mut words = text.split_whitespace();
    let device = words.next()?.parse().ok()?;
    let tenure = u64::from_str_radix(words.next()?, 16).ok()?;
    let losses = words.next()?.parse().ok()?;
    Some(DeviceRecord { device, tenure, losses })
}

fn check_version(path: &Path) -> Result<(), NodeError> {
    let file = path.join("version");
    let failed = |what, source| NodeError::StateDir { what, path: path.to_owned(), source };
    match read_number(&file).map_err(|e| failed("read the version of", e))? {
        None => {
            let text = format!("{VERSION}\n");
            write_durably(&file, text.as_bytes()).map_err(|e| failed("write the version of", e))
        }
        Some(found) if found > u64::from(VERSION) => {
            Err(NodeError::NewerStateDir { path: path.to_owned(), found, known: VERSION })
        }
        Some(_) => Ok(()),
    }
}

fn read_number(path: &Path) -> io::Result<Option<u64>> {
    match fs::read_to_string(path) {
        Ok(text) => text.trim().parse().map(Some).map_err(|error| {
            let text = format!("{} holds {text:?} and not a number: {error}", path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The size that metadata of a disk was made for, of a state directory that nobody has to hold.
pub(crate) fn disk_size_in(folder: &Path, (resource, place): (&str, Place)) -> Option<u64> {
    read_number(&disk_size_path(folder, resource, place)).ok().flatten()
}

fn disk_size_path(folder: &Path, resource: &str, place: Place) -> PathBuf {
    folder.join("resources").join(disk_size_name(resource, place))
}

pub(crate) fn disk_size_name(resource: &str, place: Place) -> String {
    format!("{}.disk", volume_name(resource, place))
}

pub(crate) fn data_disk_name(resource: &str, place: Place) -> String {
    format!("{}.data", volume_name(resource, place))
}

fn volume_name(resource: &str, place: Place) -> String {
    match place {
        Place::FIRST => resource.to_owned(),
        further => format!("{resource}@{}", further.number()),
    }
}

/// Over what stands there: a disk that is full keeps no daemon from starting. It is all in one
/// sector, which a crash leaves as it was or as it is to be; but for a shorter file, as earlier
/// releases left it, whose length may be stored before or after what it has.
fn store_start_count(path: &Path, start_count: u64) -> io::Result<()> {
    let text = format!("{start_count:>START_COUNT_DIGITS$}\n");
    let write_over = || {
        let file = OpenOptions::new().write(true).open(path)?;
        file.write_all_at(text.as_bytes(), 0)?;
        file.sync_all()
    };
    let fits = fs::metadata(path).is_ok_and(|it| it.len() == text.len() as u64);
    if fits {
        return write_over();
    }
    match write_durably(path, text.as_bytes()) {
        Err(error) if is_full(&error) && path.exists() => write_over(),
        result => result,
    }
}

/// The file has the new content or, after a crash, the old one.
pub(crate) fn write_durably(path: &Path, content: &[u8]) -> io::Result<()> {
    Unfinished::write(path.to_owned(), content)?.take_place()
}

/// A file that is written and has not taken its place yet; gone where it never does.
#[derive(Debug)]
pub(crate) struct Unfinished {
    fresh: PathBuf,
    place: PathBuf,
    has_taken_place: bool,
}

impl Unfinished {
    fn write(place: PathBuf, content: &[u8]) -> io::Result<Self> {
        let unfinished = Self { fresh: unfinished_path(&place), place, has_taken_place: false };
        // The text of a resource may hold its secret.
        let mut open = OpenOptions::new();
        let open = open.write(true).create(true).truncate(true).mode(0o600);
        let mut file = open.open(&unfinished.fresh)?;
        file.write_all(content)?;
        file.sync_all()?;
        Ok(unfinished)
    }

    pub(crate) fn take_place(mut self) -> io::Result<()> {
        fs::rename(&self.fresh, &self.place)?;
        self.has_taken_place = true;
        sync_directory(self.place.parent().unwrap_or_else(|| Path::new(".")))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.has_taken_place {
            drop(fs::remove_file(&self.fresh));
        }
    }
}

/// Where a file is written before it takes the place of `path`: nobody else writes there, not even
/// one who writes the same file.
fn unfinished_path(path: &Path) -> PathBuf {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}.{UNFINISHED}"));
    name.into()
}

/// What a process that died was writing is nobody's.
fn remove_unfinished(path: &Path) {
    for directory in [path.to_owned(), path.join("resources")] {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        for path in paths.filter(|path| path.extension().is_some_and(|end| end == UNFINISHED)) {
            if let Err(error) = fs::remove_file(&path) {
                log!(Warning, Scope::NODE, "cannot remove {}: {error}", path.display());
            }
        }
    }
}

pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn open(place: &tempfile::TempDir) -> Result<StateDir, NodeError> {
        StateDir::open(place.path(), &mut Patience::of_tests())
    }

    /// A new resource of the name of a deleted one waited for the votes of that.
    #[test]
    fn nothing_of_a_resource_is_left_once_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::open(folder.path(), &mut Patience::of_tests()).unwrap();
        let further = Place::new(3).unwrap();
        for name in ["r0", "r0.b"] {
            fs::write(state.register_path(name), "votes").unwrap();
            state.hold(name, "why").unwrap();
            state.store_disk_size((name, Place::FIRST), 4096).unwrap();
            state.store_data_disk((name, further), "wwid").unwrap();
        }
        for _ in 0..2 {
            state.forget("r0").unwrap();
        }
        state.forget("../starts").unwrap();
        let resources = fs::read_dir(folder.path().join("resources")).unwrap();
        let mut left: Vec<_> =
            resources.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["r0.b.disk", "r0.b.held", "r0.b.register", "r0.b@3.data"]);
    }

    #[test]
    fn device_is_remembered_until_it_is_forgotten() {
        let place = tempfile::tempdir().unwrap();
        let state = open(&place).unwrap();
        let record = DeviceRecord { device: 7, tenure: u64::MAX - 1, losses: 3 };
        state.store_device("r0", record).unwrap();
        let newer = DeviceRecord { tenure: 1, ..record };
        state.store_device("r0", newer).unwrap();
        assert_eq!(state.device_records(), [("r0".to_owned(), newer)]);
        state.forget_device("r0").unwrap();
        state.forget_device("r0").unwrap();
        assert_eq!(state.device_records(), []);
        for text in ["", "x 1 2", "1 xyz 2", "1 2"] {
            assert_eq!(parse_device(text), None, "{text:?}");
        }
    }

    #[test]
    fn directory_is_for_one_daemon_and_counts_its_starts() {
        let place = tempfile::tempdir().unwrap();
        let first = open(&place).unwrap();
        assert_eq!(first.start_count(), 1);
        let error = open(&place).unwrap_err();
        let me = format!("in use by process {} (", std::process::id());
        assert!(error.to_string().contains(&me), "{error}");
        drop(first);
        assert_eq!(open(&place).unwrap().start_count(), 2);
    }

    /// A new file in place of the old one needed room: with a full disk no daemon started.
    #[test]
    fn starts_are_counted_in_the_file_that_is_there() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("starts");
        drop(open(&place).unwrap());
        // As an earlier release left it.
        fs::write(&file, "99\n").unwrap();
        let place_of = || (fs::metadata(&file).unwrap().ino(), fs::metadata(&file).unwrap().len());
        assert_eq!(open(&place).unwrap().start_count(), 100);
        let before = place_of();
        for count in [101, 102] {
            assert_eq!(open(&place).unwrap().start_count(), count);
            assert_eq!(place_of(), (before.0, 21));
        }
        assert_eq!(read_number(&file).unwrap(), Some(102), "as an earlier release reads it");
    }

    #[test]
    fn directory_of_a_newer_release_is_refused() {
        let place = tempfile::tempdir().unwrap();
        drop(open(&place).unwrap());
        fs::write(place.path().join("version"), "2\n").unwrap();
        let error = open(&place).unwrap_err();
        assert!(matches!(error, NodeError::NewerStateDir { found: 2, .. }), "{error}");
    }

    #[test]
    fn text_that_cannot_be_read_is_left_out_and_hides_no_other() {
        let place = tempfile::tempdir().unwrap();
        let state = open(&place).unwrap();
        state.store_text("r0", "resource r0 { }").unwrap();
        fs::write(place.path().join("resources/r1.res"), [0xff]).unwrap();
        let r0 = ("r0".to_owned(), "resource r0 { }".to_owned());
        assert_eq!(state.stored_texts().unwrap(), std::slice::from_ref(&r0));
        assert_eq!(state.stored_text("r0").unwrap(), Some(r0.1));
        let error = state.stored_text("r1").unwrap_err().to_string();
        assert!(error.contains("r1.res"), "{error}");
        fs::write(place.path().join("outside.res"), "resource outside { }").unwrap();
        for name in ["r2", "../outside", "a\0b", &"n".repeat(300)] {
            assert_eq!(state.stored_text(name).unwrap(), None, "{name:?}");
        }
    }

    /// `adjust` beside a resize stored a size as the text of the resource.
    #[test]
    fn files_of_a_resource_that_are_written_at_the_same_time_keep_their_own_content() {
        let place = tempfile::tempdir().unwrap();
        let state = open(&place).unwrap();
        let text = "resource r0 { }\n".repeat(64);
        let first = ("r0", Place::FIRST);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..100).for_each(|_| state.store_text("r0", &text).unwrap()));
            }
            let sizes = scope.spawn(|| {
                for size_bytes in 1..=200 {
                    state.store_disk_size(first, size_bytes).unwrap();
                    assert_eq!(state.disk_size(first), Some(size_bytes));
                }
            });
            while !sizes.is_finished() {
                for (name, stored) in state.stored_texts().unwrap() {
                    assert_eq!((name.as_str(), &stored), ("r0", &text));
                }
            }
        });
        let names = fs::read_dir(place.path().join("resources")).unwrap();
        assert_eq!(names.count(), 2, "what was written has its place");
    }

    #[test]
    fn what_a_crash_left_unfinished_is_removed_at_a_start() {
        let place = tempfile::tempdir().unwrap();
        drop(open(&place).unwrap());
        let left = ["starts.3.new", "resources/r0.res.7.new", "resources/r0.new"];
        let left = left.map(|name| place.path().join(name));
        left.iter().for_each(|path| fs::write(path, "half").unwrap());
        drop(open(&place).unwrap());
        assert!(left.iter().all(|path| !path.exists()));
    }

    #[test]
    fn texts_are_kept_until_forgotten() {
        let place = tempfile::tempdir().unwrap();
        let state = open(&place).unwrap();
        state.store_text("r1", "b").unwrap();
        state.store_text("r0", "a").unwrap();
        let texts = state.stored_texts().unwrap();
        assert_eq!(texts, [("r0".to_owned(), "a".to_owned()), ("r1".to_owned(), "b".to_owned())]);
        state.forget_text("r1").unwrap();
        state.forget_text("r1").unwrap();
        assert_eq!(state.stored_texts().unwrap().len(), 1);
    }
}
