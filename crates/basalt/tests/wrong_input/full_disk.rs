//! A member whose sparse backing file can grow no more.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::cluster::{Cluster, METADATA_ROOM_BYTES, RESOURCE, VOLUME_BYTES, wait_for};
use api::disk_state::DiskState;

/// Less than the volume: the file system is full in the middle of a write.
const ROOM: &str = "6m";
const PIECE_BYTES: usize = 64 << 10;

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

/// A daemon whose disk is a sparse file on a small memory file system of its own, with metadata.
fn on_small_file_system(cluster: &Cluster, index: usize) -> Command {
    let node = &cluster.nodes[index];
    let daemon = node.command();
    let script = "mount -t tmpfs -o size=$1 small \"$2\" && truncate -s \"$3\" \"$2/disk\" && \
                  \"$4\" adm -c \"$5\" create-md --node \"$6\" \"$7\" \
                  >&2 && shift 7 && exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh", ROOM])
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

/// The write that meets the full disk is acknowledged by the two others, or not at all.
#[test]
fn full_disk_costs_its_member_and_no_write() {
    let mut cluster = Cluster::prepare(3);
    let charlie = &mut cluster.nodes[2];
    fs::create_dir(charlie.home.join("small")).unwrap();
    charlie.disk_name = "small/disk";
    cluster.configure(&cluster.text());
    for index in 0..3 {
        let command = if index == 2 {
            on_small_file_system(&cluster, index)
        } else {
            cluster.create_md(index);
            cluster.nodes[index].command()
        };
        cluster.nodes[index].start_as(command);
        cluster.adm(index, &["up", RESOURCE]).ok();
    }
    cluster.become_whole();

    let mut client = cluster.nodes[0].client();
    let size_bytes = usize::try_from(client.export().size_bytes).unwrap();
    let fill = |at: usize| u8::try_from(at / PIECE_BYTES % 251 + 1).unwrap();
    for at in (0..size_bytes).step_by(PIECE_BYTES) {
        let length = PIECE_BYTES.min(size_bytes - at);
        client.write(at as u64, &vec![fill(at); length]).unwrap();
    }
    client.flush().unwrap();
    wait_for("charlie's disk to be given up", || {
        let state = cluster.nodes[2].disk_state()?;
        [DiskState::Failed, DiskState::Diskless].contains(&state).then_some(())
    });
    cluster.nodes[2].wait_for_log("No space left on device");
    for index in [0, 1] {
        assert_eq!(cluster.nodes[index].disk_state(), Some(DiskState::UpToDate));
        let mut read = vec![0; PIECE_BYTES];
        // The other node reads its own replica.
        if index == 1 {
            cluster.adm(0, &["secondary", "--force", RESOURCE]).ok();
        }
        let mut client = cluster.nodes[index].client();
        for at in (0..size_bytes).step_by(PIECE_BYTES) {
            let read = &mut read[..PIECE_BYTES.min(size_bytes - at)];
            client.read(at as u64, read).unwrap();
            assert!(read.iter().all(|byte| *byte == fill(at)), "{index} differs at {at}");
        }
    }
}
