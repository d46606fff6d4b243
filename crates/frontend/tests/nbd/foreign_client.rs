//! Clients of other make against our server: libnbd's tools, QEMU's and fio's engine.
//!
//! Each runs under `timeout`, so that a server that never answers fails the test instead of
//! hanging it. A tool that is not installed is skipped aloud.

use std::path::PathBuf;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;

use crate::ram_server::{RamDisk, RamServer};
use frontend::nbd::client::{Connection, Wishes};
use stdx::random::Random;
use stdx::testing::skip;

const SIZE: u64 = 48 << 20;

/// Runs a tool and gives what it printed; none when it is not installed.
fn run(tool: &str, arguments: &[&str]) -> Option<String> {
    let found = Process::new("sh")
        .args(["-c", &format!("command -v {tool}")])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    if !found.success() {
        skip(&format!("{tool} is not installed"));
        return None;
    }
    let output = Process::new("timeout").args(["60", tool]).args(arguments).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{tool} {arguments:?}: {}\n{told}\n{complaint}",
        output.status
    );
    Some(told)
}

/// A file that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("basalt-nbd-{}-{name}", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// An image with data, zeroes that are written and holes, not of whole blocks of 4096 bytes.
fn image(scratch: &Scratch) -> Vec<u8> {
    let mut random = Random::new(11);
    let mut bytes = vec![0; usize::try_from(SIZE).unwrap()];
    for _ in 0..40 {
        let start = usize::try_from(random.below(SIZE / 512 - 2048) * 512).unwrap();
        let length = usize::try_from(random.below(2048) * 512).unwrap();
        for chunk in bytes[start..start + length].chunks_mut(8) {
            chunk.copy_from_slice(&random.next_u64().to_le_bytes());
        }
    }
    std::fs::write(&scratch.0, &bytes).unwrap();
    bytes
}

#[test]
fn nbdinfo_sees_what_is_offered() {
    let server = RamServer::on_unix(&Arc::new(RamDisk::new(SIZE)), "info");
    let Some(told) = run("nbdinfo", &[&server.uri("r0").to_string()]) else { return };
    for line in [
        "protocol: newstyle-fixed without TLS, using structured packets",
        "export-size: 50331648 (48M)",
        "base:allocation",
        "is_read_only: false",
        "can_multi_conn: true",
        "can_fast_zero: true",
        "can_df: true",
        "can_cache: true",
        "can_flush: true",
        "can_fua: true",
        "can_trim: true",
        "can_zero: true",
        "block_size_minimum: 1",
        "block_size_preferred: 4096",
        "block_size_maximum: 33554432",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let list = run("nbdinfo", &["--list", &server.uri("").to_string()]).unwrap();
    for export in ["export=\"r0\"", "export=\"r0/0\"", "export=\"ro\"", "a disk in memory"] {
        assert!(list.contains(export), "{export}\n{list}");
    }
    let map = run("nbdinfo", &["--map", &server.uri("r0").to_string()]).unwrap();
    assert!(map.contains("50331648    3  hole,zero"), "{map}");
    assert!(run("nbdinfo", &["--is", "read-only", &server.uri("ro").to_string()]).is_some());
}

#[test]
fn nbdcopy_carries_an_image_in_and_out() {
    let server = RamServer::on_tcp(&Arc::new(RamDisk::new(SIZE)));
    let (source, back) = (Scratch::new("copy-in"), Scratch::new("copy-out"));
    let bytes = image(&source);
    let uri = server.uri("r0").to_string();
    if run("nbdcopy", &["--flush", source.path(), &uri]).is_none() {
        return;
    }
    run("nbdcopy", &["--connections=4", "--requests=64", &uri, back.path()]).unwrap();
    assert!(std::fs::read(&back.0).unwrap() == bytes);
    // The same through a copy from export to export, with block status on both sides.
    let other = RamServer::on_unix(&Arc::new(RamDisk::new(SIZE)), "other");
    run("nbdcopy", &[&uri, &other.uri("r0").to_string()]).unwrap();
    let mut client = Connection::open(&other.uri("r0"), &Wishes::default()).unwrap();
    for (piece, expected) in bytes.chunks(4 << 20).enumerate() {
        let mut read = vec![0; expected.len()];
        client.read(piece as u64 * (4 << 20), &mut read).unwrap();
        assert!(read == expected, "piece {piece}");
    }
}

#[test]
fn qemu_img_converts_maps_and_compares() {
    let server = RamServer::on_unix(&Arc::new(RamDisk::new(SIZE)), "qemu");
    let (source, back) = (Scratch::new("qemu-in"), Scratch::new("qemu-out"));
    let bytes = image(&source);
    let uri = server.uri("r0/0").to_string();
    let convert = ["convert", "-n", "-f", "raw", "-O", "raw"];
    if run("qemu-img", &[&convert[..], &[source.path(), &uri]].concat()).is_none() {
        return;
    }
    run("qemu-img", &["compare", "-f", "raw", "-F", "raw", source.path(), &uri]).unwrap();
    let map = run("qemu-img", &["map", "--output=json", "-f", "raw", &uri]).unwrap();
    assert!(map.contains("\"data\": true") && map.contains("\"data\": false"), "{map}");
    run("qemu-img", &["convert", "-f", "raw", "-O", "raw", &uri, back.path()]).unwrap();
    assert!(std::fs::read(&back.0).unwrap() == bytes);
    let bench = ["bench", "-c", "2000", "-d", "32", "-s", "4096", "-f", "raw", "-w"];
    run("qemu-img", &[&bench[..], &["--flush-interval=64", &uri]].concat()).unwrap();
}

#[test]
fn fio_verifies_what_it_wrote() {
    let disk = Arc::new(RamDisk::new(SIZE));
    let server = RamServer::on_unix(&disk, "fio");
    if run("fio", &["--version"]).is_none() {
        return;
    }
    if !run("fio", &["--enghelp"]).unwrap().contains("nbd") {
        skip("this fio has no nbd engine");
        return;
    }
    let uri = format!("--uri={}", server.uri("r0"));
    let job = ["--name=verify", "--ioengine=nbd", "--rw=randwrite", "--bsrange=512-256k"];
    let more = ["--size=48M", "--io_size=64M", "--iodepth=32", "--verify=crc32c", "--fsync=50"];
    // Without it fio leaves a file behind in the current directory.
    let tidy = "--verify_state_save=0";
    let told = run("fio", &[&job[..], &more, &[tidy, &uri]].concat()).unwrap();
    assert!(told.contains("err= 0"), "{told}");
}
