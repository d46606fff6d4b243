//! A file system on a volume, for which no kernel is needed: an image in a file, which `mke2fs`
//! makes and `debugfs` reads and writes, as a kernel that keeps everything in memory until `sync`.
//!
//! It is read from the volume when it is mounted, and goes to it by `sync` and at the end. What is
//! not synced when the machine dies is gone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use frontend::nbd::client::uri::Uri;
use frontend::nbd::client::{Connection, Wishes};
use io::now;

const WAIT: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(50);
const PIECE: usize = 1 << 20;
const PROGRAMS: [&str; 2] = ["/usr/sbin/mke2fs", "/usr/sbin/debugfs"];

pub(crate) fn can_be_made() -> bool {
    PROGRAMS.iter().all(|program| Path::new(program).exists())
}

pub(crate) struct Mounted {
    volume: Uri,
    image: PathBuf,
    /// What the volume has.
    synced: Vec<u8>,
}

impl Mounted {
    /// Makes a file system as large as the volume, whose content is read first: what `mke2fs`
    /// leaves as it is stays so.
    pub(crate) fn make(volume: &Uri, folder: &Path) -> Self {
        let mounted = Self::load(volume, folder);
        run(PROGRAMS[0], &["-q", "-t", "ext4", "-F"], &mounted.image);
        mounted
    }

    /// Takes what is on the volume, which has to be a file system.
    pub(crate) fn mount(volume: &Uri, folder: &Path) -> Self {
        let mounted = Self::load(volume, folder);
        run(PROGRAMS[1], &["-R", "stats -h"], &mounted.image);
        mounted
    }

    fn load(volume: &Uri, folder: &Path) -> Self {
        let mut client = attach(volume);
        let mut synced = vec![0; usize::try_from(client.export().size_bytes).unwrap()];
        for (index, piece) in synced.chunks_mut(PIECE).enumerate() {
            client.read((index * PIECE) as u64, piece).unwrap();
        }
        client.close().unwrap();
        let image = folder.join("image");
        fs::write(&image, &synced).unwrap();
        Self { volume: volume.clone(), image, synced }
    }

    pub(crate) fn write(&mut self, path: &str, text: &str) {
        let source = self.image.with_extension("text");
        fs::write(&source, text).unwrap();
        // It does not write over a file that is there.
        run(PROGRAMS[1], &["-w", "-R", &format!("rm {path}")], &self.image);
        let order = format!("write {} {path}", source.display());
        run(PROGRAMS[1], &["-w", "-R", &order], &self.image);
    }

    pub(crate) fn read(&mut self, path: &str) -> String {
        run(PROGRAMS[1], &["-R", &format!("cat {path}")], &self.image)
    }

    /// Brings what changed to the volume; every in-sync replica has it then.
    pub(crate) fn sync(&mut self) {
        let bytes = fs::read(&self.image).unwrap();
        assert_eq!(bytes.len(), self.synced.len(), "the volume has its size");
        let mut client = attach(&self.volume);
        let pieces = bytes.chunks(PIECE).zip(self.synced.chunks(PIECE)).enumerate();
        for (index, (piece, _)) in pieces.filter(|(_, (piece, synced))| piece != synced) {
            client.write((index * PIECE) as u64, piece).unwrap();
        }
        client.flush().unwrap();
        client.close().unwrap();
        self.synced = bytes;
    }

    pub(crate) fn unmount(mut self) {
        self.sync();
    }
}

/// A session of a client, once the node lets it in.
pub(crate) fn attach(uri: &Uri) -> Connection {
    let deadline = now() + WAIT;
    loop {
        match Connection::open(uri, &Wishes::default()) {
            Ok(client) => return client,
            Err(error) => assert!(now() < deadline, "no session of a client: {error}"),
        }
        thread::park_timeout(POLL);
    }
}

/// What the program printed. `debugfs` ends with 0 whatever happened: what it read is judged by
/// who asked.
fn run(program: &str, words: &[&str], image: &Path) -> String {
    let mut command = Command::new(program);
    let output = command.args(words).arg(image).stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {words:?}: {errors}");
    assert!(!errors.contains("Bad magic"), "{program} {words:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}
