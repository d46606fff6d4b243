//! Disks that are not the right ones.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::cluster::{Cluster, METADATA_ROOM_BYTES, RESOURCE, VOLUME_BYTES};
use api::disk_state::DiskState;

/// That something left a disk as it was.
struct Untouched<'a> {
    path: &'a Path,
    content: Vec<u8>,
}

impl<'a> Untouched<'a> {
    fn of(path: &'a Path) -> Self {
        Self { path, content: fs::read(path).unwrap() }
    }
}

impl Drop for Untouched<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(fs::read(self.path).unwrap() == self.content, "the disk was written to");
        }
    }
}

#[test]
fn disk_of_another_resource_is_refused_and_stays_as_it_is() {
    let cluster = Cluster::start(1);
    cluster.adm(0, &["down", RESOURCE]).ok();
    let text = cluster.text();
    cluster.configure(&text.replace("resource r0", "resource other"));
    let disk = cluster.nodes[0].disk();
    {
        let _untouched = Untouched::of(&disk);
        let parts = ["(119)", "is of resource \"r0\"", "wanted is resource \"other\"", "try: "];
        cluster.adm(0, &["up", "other"]).refused_with(10, &parts);
        cluster.adm(0, &["up", "other"]).refused_with(10, &parts);
        let again = cluster.adm(0, &["create-md", "--node", "alfa", "other"]);
        again.refused_with(10, &["metadata of resource `r0`", "--force"]);
    }
    cluster.configure(&text);
    cluster.adm(0, &["up", RESOURCE]).ok();
    cluster.nodes[0].serves();
}

#[test]
fn disk_of_another_node_is_refused() {
    let cluster = Cluster::start(3);
    cluster.adm(1, &["down", RESOURCE]).ok();
    cluster.adm(2, &["down", RESOURCE]).ok();
    let (bravo, charlie) = (cluster.nodes[1].disk(), cluster.nodes[2].disk());
    let kept = bravo.with_extension("kept");
    fs::rename(&bravo, &kept).unwrap();
    fs::copy(&charlie, &bravo).unwrap();
    {
        let _untouched = Untouched::of(&bravo);
        cluster.adm(1, &["up", RESOURCE]).refused_with(10, &["(119)", "node 2", "node 1"]);
    }
    fs::rename(&kept, &bravo).unwrap();
    cluster.adm(1, &["up", RESOURCE]).ok();
    cluster.adm(2, &["up", RESOURCE]).ok();
    cluster.nodes[1].wait_for_disk(DiskState::UpToDate);
    cluster.nodes[2].wait_for_disk(DiskState::UpToDate);
}

/// While the daemon was down its disk became smaller, or is not there.
#[test]
fn smaller_or_missing_disk_keeps_the_resource_down_until_it_is_back() {
    let mut cluster = Cluster::start(3);
    cluster.nodes[1].kill();
    let disk = cluster.nodes[1].disk();
    let kept = disk.with_extension("kept");
    fs::rename(&disk, &kept).unwrap();

    cluster.nodes[1].start();
    let said = cluster.adm(1, &["up", RESOURCE]);
    said.refused_with(10, &["(104)", &disk.display().to_string(), "shows whether it is there"]);
    assert!(!disk.exists(), "a missing disk must not be made");
    let shown = cluster.adm(1, &["status", RESOURCE]);
    assert!(shown.stdout.contains(&disk.display().to_string()), "{shown:?}");

    let smaller = File::create(&disk).unwrap();
    smaller.set_len(VOLUME_BYTES + METADATA_ROOM_BYTES - 4096).unwrap();
    let head = vec![0; usize::try_from(VOLUME_BYTES).unwrap()];
    File::open(&kept).unwrap().read_exact_at(&mut head.clone(), 0).unwrap();
    smaller.write_all_at(&head, 0).unwrap();
    {
        let _untouched = Untouched::of(&disk);
        let parts = ["(119)", "no Basalt metadata", "its size changed"];
        cluster.adm(1, &["up", RESOURCE]).refused_with(10, &parts);
    }

    fs::rename(&kept, &disk).unwrap();
    cluster.adm(1, &["up", RESOURCE]).ok();
    cluster.nodes[1].wait_for_disk(DiskState::UpToDate);
}

#[test]
fn smaller_disk_beside_its_external_metadata_is_refused_with_both_sizes() {
    let cluster = Cluster::prepare(1);
    let node_disk = cluster.nodes[0].disk();
    let meta = node_disk.with_extension("meta");
    File::create(&meta).unwrap().set_len(METADATA_ROOM_BYTES).unwrap();
    let external = format!("meta-disk \"{}\"", meta.display());
    cluster.configure(&cluster.text().replace("meta-disk internal", &external));
    let cluster = cluster.bring_up();

    cluster.adm(0, &["down", RESOURCE]).ok();
    let disk = OpenOptions::new().write(true).open(&node_disk).unwrap();
    let right_size = disk.metadata().unwrap().len();
    disk.set_len(right_size - 4096).unwrap();
    let sizes = [(right_size - 4096).to_string(), right_size.to_string()];
    let parts = ["(104)", &sizes[0], &sizes[1], "restore its size"];
    cluster.adm(0, &["up", RESOURCE]).refused_with(10, &parts);
    disk.set_len(right_size).unwrap();
    cluster.adm(0, &["up", RESOURCE]).ok();
    cluster.nodes[0].serves();
}

#[test]
fn disk_with_a_file_system_is_overwritten_with_force_only() {
    let cluster = Cluster::prepare(1);
    let disk = cluster.nodes[0].disk();
    // The magic number of an ext file system, in its superblock.
    OpenOptions::new().write(true).open(&disk).unwrap().write_all_at(&[0x53, 0xef], 1080).unwrap();
    {
        let _untouched = Untouched::of(&disk);
        let refusal = cluster.adm(0, &["create-md", "--node", "alfa", RESOURCE]);
        refusal.refused_with(10, &["ext", &disk.display().to_string(), "--force"]);
    }
    let forced = cluster.adm(0, &["create-md", "--force", "--node", "alfa", RESOURCE]);
    assert_eq!(forced.exit, 0, "{forced:?}");
    assert!(forced.stdout.contains("over"), "{forced:?}");
}

#[test]
fn disk_in_use_by_a_daemon_is_not_formatted_even_with_force() {
    let cluster = Cluster::start(1);
    let refusal = cluster.adm(0, &["create-md", "--force", "--node", "alfa", RESOURCE]);
    refusal.refused_with(10, &["in use", &cluster.nodes[0].disk().display().to_string()]);
    cluster.nodes[0].client().write(0, &[3; 4096]).unwrap();
}

#[test]
fn disk_without_metadata_is_told_with_the_way_to_make_it() {
    let mut cluster = Cluster::prepare(1);
    cluster.nodes[0].start();
    let disk = cluster.nodes[0].disk();
    let _untouched = Untouched::of(&disk);
    let without = "`basalt adm adjust --skip-disk r0` brings it up without its disk";
    let parts = ["(119)", "no Basalt metadata", "basalt adm create-md r0", without];
    for verb in ["up", "adjust"] {
        cluster.adm(0, &[verb, RESOURCE]).refused_with(10, &parts);
        assert!(cluster.nodes[0].status().is_none(), "a refused `{verb}` leaves nothing up");
    }
    cluster.adm(0, &["adjust", "--skip-disk", RESOURCE]).ok();
    assert_eq!(cluster.nodes[0].disk_state(), Some(DiskState::Diskless));
    let parts = ["(119)", "no Basalt metadata", "basalt adm create-md r0"];
    for verb in ["up", "attach", "adjust"] {
        cluster.adm(0, &[verb, RESOURCE]).refused_with(10, &parts);
        assert_eq!(cluster.nodes[0].disk_state(), Some(DiskState::Diskless));
    }
}
