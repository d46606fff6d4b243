//! A member whose sparse backing file can grow no more, as a thin volume cannot whose pool is full.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::cluster::{Cluster, METADATA_ROOM_BYTES, Node, RESOURCE, VOLUME_BYTES, wait_for};
use api::disk_state::DiskState;
use api::role::Role;
use stdx::testing::skip;

const PIECE_BYTES: usize = 64 << 10;
const SESSIONS: usize = 4;

/// The file for the text of the resource is one that no other can take the place of.
fn with_a_text_that_stays(cluster: &Cluster) -> Command {
    let node = &cluster.nodes[0];
    let daemon = node.command();
    let script = "mkdir -p \"$1\" && file=\"$1/$2.res\" && : > \"$file\" && \
                  mount --bind \"$file\" \"$file\" && \
                  shift 2 && exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(node.state_dir().join("resources"))
        .arg(RESOURCE)
        .arg(daemon.get_program())
        .args(daemon.get_args());
    node.quiet(&mut command);
    command
}

/// It was up then, and no command but `down` knew it.
#[test]
fn resource_whose_text_cannot_be_stored_does_not_stay_up() {
    let mut cluster = Cluster::prepare(1);
    cluster.create_md(0);
    let command = with_a_text_that_stays(&cluster);
    cluster.nodes[0].start_as(command);
    for verb in ["up", "adjust", "up"] {
        let said = cluster.adm(0, &[verb, RESOURCE]);
        said.refused_with(20, &["the state directory", "busy"]);
        assert!(cluster.nodes[0].status().is_none(), "{}", cluster.nodes[0].log());
    }
}

/// It was taken down, and the next start of the daemon brought it up, which found the text in its
/// place.
#[test]
fn resource_whose_text_is_stored_stays_up_though_that_may_not_last() {
    let mut cluster = Cluster::prepare(1);
    cluster.create_md(0);
    // As root it could list any directory, which it opens to sync it.
    let daemon = cluster.nodes[0].command();
    let mut command = Command::new("setpriv");
    command
        .args(["--bounding-set", "-dac_override,-dac_read_search"])
        .arg(daemon.get_program())
        .args(daemon.get_args());
    cluster.nodes[0].quiet(&mut command);
    cluster.nodes[0].start_as(command);
    for verb in ["up", "down"] {
        cluster.adm(0, &[verb, RESOURCE]).ok();
    }
    let directory = cluster.nodes[0].state_dir().join("resources");
    let allow = |mode| fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o300);
    let said = cluster.adm(0, &["up", RESOURCE]);
    said.refused_with(20, &["the state directory", "denied", "it stays up"]);
    assert!(cluster.nodes[0].status().is_some(), "{}", cluster.nodes[0].log());
    allow(0o700);
    cluster.nodes[0].stop();
    cluster.nodes[0].start();
    assert!(cluster.nodes[0].status().is_some(), "{}", cluster.nodes[0].log());
}

/// Where a sparse backing file lies that can grow no more after some of its volume was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Small {
    /// Written at once: the error comes with the call.
    Memory,
    /// Written past the page cache: the error comes later, as that of a thin volume does.
    Disk,
}

impl Small {
    /// Makes the file system `$1`, with a file that fills it but for some MiB.
    fn script(self) -> &'static str {
        match self {
            Self::Memory => {
                "mount -t tmpfs -o size=32m small \"$1\" && head -c 26M /dev/zero > \"$1/filler\""
            }
            Self::Disk => {
                "truncate -s 40M \"$1.img\" && \
                 mkfs.ext4 -q -O ^has_journal -m 0 \"$1.img\" && \
                 mount -o loop \"$1.img\" \"$1\" && head -c 30M /dev/zero > \"$1/filler\""
            }
        }
    }
}

/// A daemon whose disk is such a file, with metadata.
fn on_small_file_system(cluster: &Cluster, index: usize, small: Small) -> Command {
    let node = &cluster.nodes[index];
    let daemon = node.command();
    let script = format!(
        "{} && truncate -s \"$2\" \"$1/disk\" && \
         \"$3\" adm -c \"$4\" create-md --node \"$5\" \"$6\" >&2 && \
         shift 6 && exec \"$@\"",
        small.script()
    );
    let mut command = Command::new("unshare");
    if small == Small::Memory {
        command.arg("--map-root-user");
    }
    command
        .args(["--mount", "sh", "-c", &script, "sh"])
        .arg(node.home.join("small"))
        .arg((VOLUME_BYTES + METADATA_ROOM_BYTES).to_string())
        .arg(env!("CARGO_BIN_EXE_basalt"))
        .arg(&cluster.config)
        .args([node.name, RESOURCE])
        .arg(daemon.get_program())
        .args(daemon.get_args());
    node.quiet(&mut command);
    command
}

/// Of each piece of the volume something else.
fn fill(at: usize) -> u8 {
    u8::try_from(at / PIECE_BYTES % 251 + 1).unwrap()
}

/// Several sessions write all of the volume at the same time; each write is acknowledged.
fn write_all(node: &Node, size_bytes: usize) {
    std::thread::scope(|scope| {
        for session in 0..SESSIONS {
            scope.spawn(move || {
                let mut client = node.client();
                for at in (0..size_bytes).step_by(PIECE_BYTES).skip(session).step_by(SESSIONS) {
                    let length = PIECE_BYTES.min(size_bytes - at);
                    client.write(at as u64, &vec![fill(at); length]).unwrap();
                }
                client.flush().unwrap();
            });
        }
    });
}

fn assert_all_there(node: &Node, size_bytes: usize) {
    let mut client = node.client();
    let mut read = vec![0; PIECE_BYTES];
    for at in (0..size_bytes).step_by(PIECE_BYTES) {
        let read = &mut read[..PIECE_BYTES.min(size_bytes - at)];
        client.read(at as u64, read).unwrap();
        assert!(read.iter().all(|byte| *byte == fill(at)), "{} differs at {at}", node.name);
    }
    client.close().unwrap();
}

/// The writes that meet the full disk are acknowledged by the two others, or not at all. Why it is
/// out of use was told to the log alone.
fn full_disk_costs_its_replica_and_no_write(index: usize, small: Small) {
    let mut cluster = Cluster::prepare(3);
    let full = &mut cluster.nodes[index];
    fs::create_dir(full.home.join("small")).unwrap();
    full.disk_name = "small/disk";
    cluster.configure(&cluster.text());
    for other in 0..3 {
        let command = if other == index {
            on_small_file_system(&cluster, index, small)
        } else {
            cluster.create_md(other);
            cluster.nodes[other].command()
        };
        cluster.nodes[other].start_as(command);
        cluster.adm(other, &["up", RESOURCE]).ok();
    }
    cluster.become_whole();

    let client = cluster.nodes[0].client();
    let size_bytes = usize::try_from(client.export().size_bytes).unwrap();
    write_all(&cluster.nodes[0], size_bytes);
    let full = &cluster.nodes[index];
    full.wait_for_disk(DiskState::Diskless);
    full.wait_for_log("No space left on device");
    for other in (0..3).filter(|other| *other != index) {
        assert_eq!(cluster.nodes[other].disk_state(), Some(DiskState::UpToDate));
        assert_eq!(cluster.nodes[other].status().unwrap().devices[0].disk_failure, None);
    }
    assert_reason_is_shown(&cluster, index);
    // The Primary serves what its own disk did not take.
    assert_all_there(&cluster.nodes[0], size_bytes);
    client.close().unwrap();

    // There is room again: it is filled, and the reason is gone.
    let inside = format!("/proc/{}/root", full.process_id());
    let filler = full.home.join("small/filler");
    fs::remove_file(format!("{inside}{}", filler.display())).unwrap();
    cluster.adm(index, &["attach", RESOURCE]).ok();
    full.wait_for_disk(DiskState::UpToDate);
    assert_eq!(full.status().unwrap().devices[0].disk_failure, None);
    // Each is read from its own replica.
    for node in &cluster.nodes {
        wait_for("the way back to Secondary", || {
            let all = cluster.nodes.iter().map(|node| node.status().map(|it| it.role));
            all.into_iter().all(|role| role == Some(Role::Secondary)).then_some(())
        });
        assert_all_there(node, size_bytes);
    }
}

/// The status tells which request failed, on which disk, when, and what to do about it.
fn assert_reason_is_shown(cluster: &Cluster, index: usize) {
    let node = &cluster.nodes[index];
    let failure = node.status().unwrap().devices[0].disk_failure.clone().unwrap();
    assert_eq!(failure.disk, node.disk().display().to_string());
    assert!(failure.request.starts_with("a write to the "), "{failure:?}");
    assert!(failure.error.contains("No space left on device"), "{failure:?}");
    assert!(failure.hint.contains("make room"), "{failure:?}");
    assert!(failure.age_ms < 600_000, "{failure:?}");
    for words in [&["status", RESOURCE][..], &["explain", RESOURCE]] {
        let said = cluster.adm(index, words);
        for part in [&failure.disk[..], &failure.error, &failure.hint, "Z (", "adm attach"] {
            assert!(said.stdout.contains(part), "no {part:?} in {said:?}");
        }
    }
    let said = cluster.adm(index, &["status", "--json", RESOURCE]);
    assert!(said.stdout.contains("\"disk-failure\""), "{said:?}");
}

#[test]
fn full_disk_costs_its_member_and_no_write() {
    full_disk_costs_its_replica_and_no_write(2, Small::Memory);
}

#[test]
fn full_disk_of_the_primary_costs_its_replica_and_no_write() {
    full_disk_costs_its_replica_and_no_write(0, Small::Memory);
}

/// Whether file systems in files can be mounted here.
fn has_loop_devices() -> bool {
    let directory = tempfile::tempdir().unwrap();
    let mounted = Command::new("unshare")
        .args(["--mount", "sh", "-c", &format!("mkdir \"$1\" && {}", Small::Disk.script()), "sh"])
        .arg(directory.path().join("small"))
        .output();
    let is_mounted = mounted.as_ref().is_ok_and(|output| output.status.success());
    if !is_mounted {
        skip(&format!("no ext4 in a file can be mounted here: {mounted:?}"));
    }
    is_mounted
}

#[test]
fn file_system_that_is_full_costs_a_member_and_no_write() {
    if has_loop_devices() {
        full_disk_costs_its_replica_and_no_write(2, Small::Disk);
    }
}

#[test]
fn file_system_of_the_primary_that_is_full_costs_its_replica_and_no_write() {
    if has_loop_devices() {
        full_disk_costs_its_replica_and_no_write(0, Small::Disk);
    }
}
