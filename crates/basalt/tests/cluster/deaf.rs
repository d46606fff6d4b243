//! A disk that answers nothing, not even an `open`: whoever asks it waits in the kernel, and cannot
//! be killed. A file system of this process, by FUSE, that takes every request and lets it lie. It
//! takes root, `/dev/fuse`, and the program `mount`.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kernel's request to begin, which alone is answered.
const INIT: u32 = 26;
const REQUEST_BYTES_MAX: usize = (1 << 20) + 8192;

/// A file that became such a disk, until this is dropped.
pub(crate) struct Deaf {
    point: PathBuf,
}

impl Deaf {
    /// `None` where this may not be done.
    pub(crate) fn at(point: &Path) -> Option<Self> {
        let device = File::options().read(true).write(true).open("/dev/fuse").ok()?;
        let mut mount = Command::new("mount");
        mount.args(["-i", "-t", "fuse", "deaf-disk"]).arg(point);
        mount.args(["-o", "fd=0,rootmode=100600,user_id=0,group_id=0"]);
        // The mount holds on to the descriptor that the program has as its input.
        let output = mount.stdin(device.try_clone().unwrap()).output().ok()?;
        if !output.status.success() {
            return None;
        }
        std::thread::spawn(move || take_all(device));
        Some(Self { point: point.to_owned() })
    }
}

/// Until it is unmounted.
fn take_all(mut device: File) {
    let mut room = vec![0; REQUEST_BYTES_MAX];
    while let Ok(length) = device.read(&mut room) {
        if length < 40 || room[4..8] != INIT.to_le_bytes() {
            continue;
        }
        // The header of the answer, version 7.31, no flags, the largest write.
        let mut reply = vec![0; 16 + 64];
        let mut put = |at: usize, word: u32| reply[at..at + 4].copy_from_slice(&word.to_le_bytes());
        for (at, word) in [(0, 80), (16, 7), (20, 31), (36, 1 << 20)] {
            put(at, word);
        }
        reply[8..16].copy_from_slice(&room[8..16]);
        device.write_all(&reply).unwrap();
    }
}

impl Drop for Deaf {
    fn drop(&mut self) {
        // By force: all that wait get an error, and can end.
        for option in ["-f", "-l"] {
            drop(Command::new("umount").arg(option).arg(&self.point).output());
        }
    }
}
