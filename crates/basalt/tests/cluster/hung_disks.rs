//! `disk-timeout`: a disk that stands still is given up, and its late requests harm nobody.
//!
//! A disk lies in a file system of its own, which is frozen: writes to it stand still, in the
//! kernel, until it is thawed. It takes root, and the programs `mkfs.ext4`, `mount` and `fsfreeze`;
//! without them it says so and shows nothing.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use api::disk_state::DiskState;
use io::now;

use crate::BLOCK;
use crate::harness::Cluster;

const IMAGE_BYTES: u64 = 192 << 20;

/// A file system in a file, with the disk of a node.
struct Place {
    folder: PathBuf,
    is_frozen: bool,
}

fn run(program: &str, words: &[&str]) -> bool {
    let output = Command::new(program).args(words).output();
    output.is_ok_and(|output| output.status.success())
}

impl Place {
    /// Moves the disk of a node there; `None` where this may not be done.
    fn of_disk(cluster: &Cluster, index: usize) -> Option<Self> {
        let folder = cluster.directory.path().join(format!("place{index}"));
        let image = cluster.directory.path().join(format!("image{index}"));
        fs::create_dir(&folder).unwrap();
        File::create(&image).unwrap().set_len(IMAGE_BYTES).unwrap();
        let (at, image) = (folder.to_str().unwrap(), image.to_str().unwrap());
        if !run("mkfs.ext4", &["-q", "-F", image]) || !run("mount", &["-o", "loop", image, at]) {
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

    fn freeze(&mut self) {
        assert!(run("fsfreeze", &["-f", self.folder.to_str().unwrap()]));
        self.is_frozen = true;
    }

    fn thaw(&mut self) {
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

/// Three nodes, of which one has a disk that can stand still.
#[expect(clippy::print_stdout, reason = "it says that nothing was shown")]
fn start(index: usize) -> Option<(Cluster, Place)> {
    let mut cluster = Cluster::prepare(3, 0);
    let place = Place::of_disk(&cluster, index);
    let Some(place) = place else {
        println!("skipped: a file system takes root, `mkfs.ext4`, `mount` and `fsfreeze`");
        return None;
    };
    let text = cluster.config_text("r0").replacen("r0 {", "r0 { disk { disk-timeout 15; }", 1);
    fs::write(cluster.config(), text).unwrap();
    for index in 0..3 {
        cluster.launch(index);
        cluster.adm_ok(index, &["up", "r0"]);
    }
    cluster.wait_connected(0);
    cluster.adm_ok(0, &["primary", "--force", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    Some((cluster, place))
}

/// Of the Primary, and of a secondary.
fn goes_on_without(index: usize) {
    // The place goes first, and thaws: a daemon whose disk stands still does not end.
    let Some((cluster, mut place)) = start(index) else { return };
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    for block in 0..32 {
        client.write(block * 4096, &[1; BLOCK]).unwrap();
    }
    place.freeze();
    let began = now();
    client.write(0, &[2; BLOCK]).unwrap();
    let took = now().since(began);
    assert!(took.as_millis() > 1_000, "it waited for the disk: {took:?}");
    cluster.wait(index, "disk that was given up", |status| {
        matches!(status.devices[0].disk_state, DiskState::Failed | DiskState::Diskless)
    });
    assert!(cluster.log(index).contains("(disk-timeout)"), "{}", cluster.log(index));
    let mut bytes = [0; BLOCK];
    client.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [2; BLOCK]);
    // What the disk is to get late is older than this.
    client.write(0, &[3; BLOCK]).unwrap();
    place.thaw();
    cluster.adm_ok(index, &["attach", "r0"]);
    cluster.wait_up_to_date(0);
    client.write(4096, &[4; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// Nothing that an operator asks for waits for the disk.
#[test]
fn a_resource_whose_disk_stands_still_goes_down_and_comes_back() {
    let Some((cluster, mut place)) = start(1) else { return };
    let mut client = cluster.client(0);
    place.freeze();
    client.write(0, &[2; BLOCK]).unwrap();
    cluster.wait(1, "disk that was given up", |status| {
        matches!(status.devices[0].disk_state, DiskState::Failed | DiskState::Diskless)
    });
    // Its last request is with the kernel still: it is not taken again.
    cluster.adm_refused(1, &["attach", "r0"]);
    let began = now();
    cluster.adm_ok(1, &["down", "--force", "r0"]);
    assert!(now().since(began).as_secs() < 10);
    place.thaw();
    cluster.adm_ok(1, &["up", "r0"]);
    cluster.wait_up_to_date(0);
    client.write(4096, &[3; BLOCK]).unwrap();
    let size = client.export().size_bytes;
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn the_others_go_on_when_a_disk_of_a_secondary_stands_still() {
    goes_on_without(1);
}

#[test]
fn a_primary_whose_own_disk_stands_still_goes_on_with_the_others() {
    goes_on_without(0);
}
