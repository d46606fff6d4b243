//! A disk that stands still when a test wants it to: a file in a file system of its own, which is
//! frozen. It takes root, and the programs `mkfs.ext4`, `mount` and `fsfreeze`.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use stdx::testing::skip;

use crate::harness::Cluster;

const IMAGE_BYTES: u64 = 192 << 20;

/// A file system in a file, with the disk of a node.
pub(crate) struct Place {
    folder: PathBuf,
    is_frozen: bool,
}

pub(crate) fn run(program: &str, words: &[&str]) -> bool {
    let output = Command::new(program).args(words).output();
    output.is_ok_and(|output| output.status.success())
}

impl Place {
    /// Moves the disk of a node there; `None`, and the test is skipped, where this may not be done.
    pub(crate) fn of_disk(cluster: &Cluster, index: usize) -> Option<Self> {
        let folder = cluster.directory.path().join(format!("place{index}"));
        let image = cluster.directory.path().join(format!("image{index}"));
        fs::create_dir(&folder).unwrap();
        File::create(&image).unwrap().set_len(IMAGE_BYTES).unwrap();
        let (at, image) = (folder.to_str().unwrap(), image.to_str().unwrap());
        if !run("mkfs.ext4", &["-q", "-F", image]) || !run("mount", &["-o", "loop", image, at]) {
            skip("a file system takes root, `mkfs.ext4`, `mount` and `fsfreeze`");
            return None;
        }
        let place = Self { folder, is_frozen: false };
        let disk = cluster.disk(index);
        let moved = place.folder.join("disk");
        // All of it is there: no block has to be found for a write.
        fs::copy(&disk, &moved).unwrap();
        let file = File::options().write(true).open(&moved).unwrap();
        let length = file.metadata().unwrap().len().to_string();
        assert!(run("fallocate", &["-l", &length, moved.to_str().unwrap()]));
        fs::remove_file(&disk).unwrap();
        symlink(moved, disk).unwrap();
        Some(place)
    }

    pub(crate) fn freeze(&mut self) {
        assert!(run("fsfreeze", &["-f", self.folder.to_str().unwrap()]));
        self.is_frozen = true;
    }

    pub(crate) fn thaw(&mut self) {
        if std::mem::take(&mut self.is_frozen) {
            assert!(run("fsfreeze", &["-u", self.folder.to_str().unwrap()]));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.thaw();
        run("umount", &["-l", self.folder.to_str().unwrap()]);
    }
}
