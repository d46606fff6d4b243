//! Replicas that come from DRBD: their data counts, their size is kept, and there is a way back
//! until the resource is used.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use crate::BLOCK;
use crate::harness::{Cluster, DISK_BYTES};
use crate::several::second_disk;

const GENERATION: u64 = 0x1122_3344_5566_7788;
/// What DRBD leaves for data on such a disk with three slots: 4 KiB, 32 KiB and a bitmap before it.
const SIZE_BYTES: u64 = DISK_BYTES - 4096 - 32_768 - 8192;

/// Disks as DRBD 9 left them, with the same data but for a block of `different`; our metadata goes
/// to files of their own.
fn prepare(different: Option<usize>) -> Cluster {
    let mut cluster = Cluster::prepare(3, 0);
    for index in 0..3 {
        fs::remove_file(cluster.disk(index)).unwrap();
        let disk = File::create_new(cluster.disk(index)).unwrap();
        disk.set_len(DISK_BYTES).unwrap();
        disk.write_all_at(&pattern(), 1 << 20).unwrap();
        let is_different = different == Some(index);
        if is_different {
            disk.write_all_at(&[0xdd; BLOCK], 1 << 20).unwrap();
        }
        let generation = if is_different { GENERATION - 16 } else { GENERATION };
        disk.write_all_at(&superblock(index, generation), DISK_BYTES - 4096).unwrap();
        let metadata = cluster.directory.path().join(format!("metadata{index}"));
        File::create(&metadata).unwrap().set_len(8 << 20).unwrap();
        cluster.nodes[index].metadata = Some(metadata);
    }
    cluster.configure(&cluster.config_text("r0"));
    cluster
}

fn pattern() -> Vec<u8> {
    (0..1 << 20).map(|at: u32| u8::try_from(at / 512 % 251).unwrap()).collect()
}

/// Of version 9: clean, and up to date with two peers.
fn superblock(node: usize, generation: u64) -> Vec<u8> {
    let mut block = vec![0; 4096];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &(SIZE_BYTES / 512).to_be_bytes());
    put(8, &generation.to_be_bytes());
    put(56, &0x91_u32.to_be_bytes());
    put(60, &0x8374_026d_u32.to_be_bytes());
    put(68, &(-64_i32).to_be_bytes());
    put(76, &(-80_i32).to_be_bytes());
    put(80, &4096_u32.to_be_bytes());
    put(88, &3_u32.to_be_bytes());
    put(92, &u32::try_from(node).unwrap().to_be_bytes());
    put(96, &1_u32.to_be_bytes());
    put(100, &8_u32.to_be_bytes());
    for peer in 0..32 {
        let slot = if peer < 3 && peer != node { i32::try_from(peer).unwrap() } else { -1 };
        put(112 + peer * 32 + 20, &slot.to_be_bytes());
    }
    block
}

/// Runs `adopt-drbd` with these words for a node; what it complains of, if it fails.
fn adopt(cluster: &Cluster, index: usize, words: &[&str]) -> Result<(), String> {
    let state = cluster.state_dir(index).display().to_string();
    let first = ["adopt-drbd", "--node", &cluster.nodes[index].name, "--state-dir", &state];
    let output = cluster.adm(index, &[&first[..], words, &["r0"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

fn start(cluster: &mut Cluster) {
    cluster.begin();
    for index in 0..3 {
        cluster.wait_connected(index);
    }
}

/// The data of DRBD, through a client, and in the exact size.
fn assert_served(cluster: &Cluster, index: usize) {
    let mut client = cluster.client(index);
    assert_eq!(client.export().size_bytes, SIZE_BYTES);
    let mut read = vec![0; 1 << 20];
    client.read(1 << 20, &mut read).unwrap();
    assert!(read == pattern(), "the data is another one");
    client.write(SIZE_BYTES - 4096, &[0x99; BLOCK]).unwrap();
    client.flush().unwrap();
    client.close().unwrap();
}

#[test]
fn equal_replicas_start_without_a_copy_and_cannot_return_after_it() {
    let mut cluster = prepare(None);
    let same = format!("{GENERATION:x}");
    for index in 0..3 {
        adopt(&cluster, index, &["--same-as", &same]).unwrap();
    }
    start(&mut cluster);
    cluster.adm_ok(1, &["new-current-uuid", "--clear-bitmap", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    assert_served(&cluster, 1);
    cluster.assert_replicas_equal(SIZE_BYTES);
    for index in 0..3 {
        cluster.adm_ok(index, &["down", "--force", "r0"]);
        let said = adopt(&cluster, index, &["--rollback"]).unwrap_err();
        assert!(said.contains("resource `r0` is in use here"), "{said}");
    }
}

#[test]
fn replica_of_another_generation_is_compared_and_copied() {
    let mut cluster = prepare(Some(2));
    let same = format!("{GENERATION:x}");
    let said = adopt(&cluster, 2, &["--same-as", &same]).unwrap_err();
    assert!(said.contains("not of 1122334455667788"), "{said}");
    for index in 0..3 {
        adopt(&cluster, index, &[]).unwrap();
    }
    start(&mut cluster);
    cluster.adm_ok(0, &["primary", "--force", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    assert_served(&cluster, 0);
    cluster.assert_replicas_equal(SIZE_BYTES);
}

/// Being up alone is no use of the data: the resource may go back whole.
#[test]
fn replicas_that_were_only_up_return_to_drbd() {
    let mut cluster = prepare(None);
    let before: Vec<Vec<u8>> = (0..3).map(|index| cluster.data(index, DISK_BYTES)).collect();
    for index in 0..3 {
        adopt(&cluster, index, &[]).unwrap();
    }
    start(&mut cluster);
    for index in 0..3 {
        let said = adopt(&cluster, index, &["--rollback"]).unwrap_err();
        assert!(said.contains("is in use by another program"), "{said}");
    }
    for (index, before) in before.iter().enumerate() {
        cluster.adm_ok(index, &["down", "r0"]);
        adopt(&cluster, index, &["--rollback"]).unwrap();
        assert!(cluster.data(index, DISK_BYTES) == *before, "disk {index} differs");
    }
}

/// The same with a second volume of DRBD's at each node, with a history of its own.
fn prepare_two() -> Cluster {
    let cluster = prepare(None);
    let mut text = fs::read_to_string(cluster.config()).unwrap();
    for index in 0..3 {
        let disk = File::create_new(second_disk(&cluster, index)).unwrap();
        disk.set_len(DISK_BYTES).unwrap();
        disk.write_all_at(&[0x22; BLOCK], 2 << 20).unwrap();
        disk.write_all_at(&superblock(index, GENERATION + 32), DISK_BYTES - 4096).unwrap();
        let metadata = |name: &str| cluster.directory.path().join(format!("{name}{index}"));
        File::create(metadata("metadata-of-second")).unwrap().set_len(8 << 20).unwrap();
        let first = format!("meta-disk {}; }}", metadata("metadata").display());
        assert!(text.contains(&first), "{first} in {text}");
        let second = format!(
            "{first} volume 1 {{ device minor 2; disk {}; meta-disk {}; }}",
            second_disk(&cluster, index).display(),
            metadata("metadata-of-second").display()
        );
        text = text.replace(&first, &second);
    }
    cluster.configure(&text);
    cluster
}

#[test]
fn volumes_of_one_resource_are_adopted_together_and_start_without_a_copy() {
    let mut cluster = prepare_two();
    let both = format!("{GENERATION:x},{:x}", GENERATION + 32);
    for index in 0..3 {
        let said = adopt(&cluster, index, &["--same-as", &format!("{GENERATION:x}")]).unwrap_err();
        assert!(said.contains("`r0` has 2 volumes"), "{said}");
        adopt(&cluster, index, &["--same-as", &both]).unwrap();
    }
    start(&mut cluster);
    cluster.adm_ok(2, &["new-current-uuid", "--clear-bitmap", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    let mut second = cluster.client_of(2, "r0/1");
    assert_eq!(second.export().size_bytes, SIZE_BYTES);
    let mut read = [0; BLOCK];
    second.read(2 << 20, &mut read).unwrap();
    assert_eq!(read, [0x22; BLOCK]);
    second.write(3 << 20, &[0x33; BLOCK]).unwrap();
    second.flush().unwrap();
    second.close().unwrap();
    assert_served(&cluster, 2);
    cluster.assert_replicas_equal(SIZE_BYTES);
    for index in 0..3 {
        let bytes = fs::read(second_disk(&cluster, index)).unwrap();
        assert!(bytes[3 << 20..][..BLOCK] == [0x33; BLOCK], "node {index}");
        cluster.adm_ok(index, &["down", "--force", "r0"]);
        let said = adopt(&cluster, index, &["--rollback"]).unwrap_err();
        assert!(said.contains("resource `r0` is in use here"), "{said}");
    }
}

#[test]
fn volumes_of_one_resource_return_together() {
    let mut cluster = prepare_two();
    let bytes = |cluster: &Cluster, index: usize| {
        (cluster.data(index, DISK_BYTES), fs::read(second_disk(cluster, index)).unwrap())
    };
    let before: Vec<_> = (0..3).map(|index| bytes(&cluster, index)).collect();
    for (index, before) in before.iter().enumerate() {
        adopt(&cluster, index, &[]).unwrap();
        assert!(bytes(&cluster, index).1 != before.1, "DRBD's signature is still there");
    }
    start(&mut cluster);
    for (index, before) in before.iter().enumerate() {
        cluster.adm_ok(index, &["down", "r0"]);
        adopt(&cluster, index, &["--rollback"]).unwrap();
        assert!(bytes(&cluster, index) == *before, "the disks of node {index} differ");
    }
}
