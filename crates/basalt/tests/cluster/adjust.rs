//! `adjust` tells exactly what differs, disturbs no more than it must, and goes back where the new
//! configuration cannot be used.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::role::Role;
use io::process::ThreadId;
use stdx::testing::skip;

use crate::BLOCK;
use crate::harness::{Cluster, DISK_BYTES, with_sections};

pub(crate) fn steps(cluster: &Cluster, words: &[&str]) -> Vec<String> {
    cluster.adm_told(0, words).lines().map(str::to_owned).collect()
}

#[test]
fn options_change_under_a_client_and_structure_does_not() {
    let cluster = Cluster::start_in_sync(3, 0);
    assert_eq!(steps(&cluster, &["-d", "adjust", "r0"]), [""; 0]);
    let mut client = cluster.client(0);
    client.write(0, &[7; BLOCK]).unwrap();

    let changed = cluster.config_with("options { auto-promote no; } net { max-buffers 8000; }");
    cluster.configure(&changed);
    let expected = [
        "drbdsetup resource-options r0 --set-defaults --auto-promote=no",
        "drbdsetup net-options r0 1 --set-defaults --_name=n1 --max-buffers=8000",
        "drbdsetup net-options r0 2 --set-defaults --_name=n2 --max-buffers=8000",
    ];
    assert_eq!(steps(&cluster, &["adjust", "--dry-run", "r0"]), expected);
    assert_eq!(steps(&cluster, &["adjust", "--verbose", "r0"]), expected);
    assert_eq!(steps(&cluster, &["adjust", "--verbose", "r0"]), [""; 0]);
    client.write(4096, &[8; BLOCK]).unwrap();
    assert_eq!(cluster.role(0), Role::Primary);

    // The size of its activity log is something that a running resource does not take over.
    cluster.configure(&with_sections(&changed, "disk { al-extents 127; }"));
    let expected = ["drbdsetup disk-options 1 --set-defaults --al-extents=127"];
    assert_eq!(steps(&cluster, &["adjust", "-d", "r0"]), expected);
    let said = cluster.adm_refused(0, &["adjust", "r0"]);
    assert!(said.contains("(-12) Device is held open by someone"), "{said}");
    client.close().unwrap();
    // The role that an operator gave outlives the restart that this takes.
    cluster.adm_ok(0, &["primary", "r0"]);
    assert_eq!(steps(&cluster, &["adjust", "r0"]), [""; 0]);
    assert_eq!(cluster.role(0), Role::Primary);
    assert_eq!(steps(&cluster, &["adjust", "-d", "r0"]), [""; 0]);
    // What `auto-promote no` said is in effect now.
    cluster.wait_connected(0);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let refusal = cluster.connect(0).unwrap_err().to_string();
    assert!(refusal.contains("auto-promote"), "{refusal}");
}

#[test]
fn waiting_for_peers_ends_when_they_come() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(0, &["wait-connect", "r0"]);
    cluster.adm_ok(0, &["wait-sync", "r0:n1"]);
    cluster.kill(2);
    cluster.wait(0, "loss of the last node", |status| {
        status.connections[1].connection_state != ConnectionState::Connected
    });
    cluster.adm_ok(0, &["wait-connect", "r0:n1"]);
    let output = cluster.adm(0, &["wait-connect", "--wfc-timeout", "1", "r0"]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    cluster.launch(2);
    cluster.adm_ok(0, &["--timeout", "30", "wait-connect", "r0"]);
    cluster.adm_ok(0, &["--timeout", "30", "wait-sync", "r0"]);
}

#[test]
fn data_threads_run_on_the_cores_of_the_mask() {
    let cluster = Cluster::plan(1).start();
    let all = ThreadId::own().cores().unwrap();
    assert_eq!(cores_of_data_thread(&cluster), all);
    let core = *all.iter().rfind(|core| **core < 64).unwrap();
    cluster.adjust_to(&format!("options {{ cpu-mask {:x}; }}", 1_u64 << core));
    assert_eq!(cores_of_data_thread(&cluster), [core]);
    cluster.adjust_to("");
    assert_eq!(cores_of_data_thread(&cluster), all);
}

/// As the kernel tells it: `0-3,8`.
fn cores_of_data_thread(cluster: &Cluster) -> Vec<usize> {
    let id = cluster.nodes[0].daemon.as_ref().unwrap().id();
    let mut tasks = fs::read_dir(format!("/proc/{id}/task")).unwrap().map(|task| task.unwrap());
    let thread = tasks.find(|task| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "shard-0")
    });
    let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let ranges =
        list.trim().split(',').map(|range| range.split_once('-').unwrap_or((range, range)));
    let bounds = ranges.map(|(first, last)| (first.parse().unwrap(), last.parse().unwrap()));
    bounds.flat_map(|(first, last): (usize, usize)| first..=last).collect()
}

/// It waits for the disk of the new configuration, with the resource down; what it goes back to
/// where that cannot be had is not for a resource that the operator took down meanwhile.
#[test]
fn down_in_the_middle_of_an_adjust_is_the_last_word() {
    let mut cluster = Cluster::start_in_sync(1, 0);
    let own = cluster.config_text("r0");
    let disk = cluster.disk(0);
    let other = disk.with_extension("other");
    fs::copy(&disk, &other).unwrap();
    let taken = fs::File::open(&other).unwrap();
    taken.lock().unwrap();
    let changed = own.replace(disk.to_str().unwrap(), other.to_str().unwrap());
    let mut said = String::new();
    for _ in 0..20 {
        cluster.configure(&changed);
        let output = thread::scope(|scope| {
            let adjusting = scope.spawn(|| cluster.adm(0, &["adjust", "r0"]));
            cluster.poll(0, "resource that is down for the moment", || {
                cluster.status(0).is_none().then_some(())
            });
            cluster.adm_ok(0, &["down", "r0"]);
            adjusting.join().unwrap()
        });
        assert!(cluster.status(0).is_none(), "it was taken down");
        assert!(!output.status.success());
        said = String::from_utf8(output.stderr).unwrap();
        if said.contains("taken down meanwhile") {
            break;
        }
        // It had given up before.
        cluster.configure(&own);
        cluster.adm_ok(0, &["up", "r0"]);
    }
    assert!(said.contains("taken down meanwhile"), "{said}");
    cluster.kill(0);
    cluster.launch(0);
    assert!(cluster.status(0).is_none(), "it stays down");
    drop(taken);
    cluster.adm_ok(0, &["up", "r0"]);
}

/// The way back wanted a disk that was gone, failed like the way there, and left the resource down
/// without a word of it.
#[test]
fn a_refused_adjust_goes_back_to_what_was_there() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(1, &["detach", "r0"]);
    let disk = cluster.disk(1);
    let away = disk.with_extension("away");
    fs::rename(&disk, &away).unwrap();
    cluster.configure(&cluster.config_with("disk { al-extents 127; }"));
    let said = cluster.adm_refused(1, &["adjust", "r0"]);
    assert!(said.contains("cannot open disk"), "{said}");
    cluster.wait_connected(1);
    assert_eq!(cluster.status(1).unwrap().devices[0].disk_state, DiskState::Diskless);

    // A disk that fails on both ways: the first reason is the one that counts.
    let other = disk.with_extension("other");
    fs::File::create(&other).unwrap().set_len(DISK_BYTES).unwrap();
    let text = cluster.config_text("r0");
    let changed = text.replace(disk.to_str().unwrap(), other.to_str().unwrap());
    cluster.configure(&changed);
    let said = cluster.adm_refused(1, &["adjust", "r0"]);
    assert!(said.contains("create-md r0"), "{said}");
    cluster.wait_connected(1);

    // What cannot be had in either way stays down, and says so.
    let vote = cluster.state_dir(1).join("resources/r0.register");
    cluster.configure(&cluster.config_with("disk { al-extents 61; }"));
    fs::remove_file(&vote).unwrap();
    fs::create_dir(&vote).unwrap();
    let said = cluster.adm_refused(1, &["adjust", "r0"]);
    assert!(said.contains("the config register") && said.contains("basalt adm up r0"), "{said}");
    let reasons = cluster.status(1).unwrap().reasons;
    assert!(reasons.iter().any(|it| it.starts_with("it stays down")), "{reasons:?}");
    fs::remove_dir(&vote).unwrap();
    fs::rename(&away, &disk).unwrap();
    cluster.adm_ok(1, &["up", "r0"]);
    assert!(cluster.status(1).unwrap().reasons.iter().all(|it| !it.contains("stays down")));
}

/// The new configuration ran then while the old one was stored, and the role was gone.
#[test]
fn an_adjust_that_cannot_be_stored_changes_nothing() {
    let cluster = Cluster::start_in_sync(1, 0);
    cluster.adm_ok(0, &["primary", "r0"]);
    cluster.configure(&cluster.config_with("disk { al-extents 1237; }"));
    let planned = steps(&cluster, &["adjust", "-d", "r0"]);
    assert!(!planned.is_empty());
    let resources = cluster.state_dir(0).join("resources");
    let taken: Vec<_> = (0..256).map(|n| resources.join(format!("r0.res.{n}.new"))).collect();
    taken.iter().for_each(|path| fs::create_dir(path).unwrap());
    let said = cluster.adm_refused(0, &["adjust", "r0"]);
    assert!(said.contains("the state directory"), "{said}");
    assert_eq!(cluster.role(0), Role::Primary);
    assert_eq!(steps(&cluster, &["adjust", "-d", "r0"]), planned);
    taken.iter().for_each(|path| fs::remove_dir(path).unwrap());
    cluster.adm_ok(0, &["adjust", "r0"]);
    assert_eq!(cluster.role(0), Role::Primary);
}

/// Nothing takes the place of a file on which something is mounted.
struct Mounted(PathBuf);

impl Mounted {
    fn on(path: PathBuf) -> Option<Self> {
        let output = Command::new("mount").arg("--bind").args([&path, &path]).output();
        output.is_ok_and(|output| output.status.success()).then_some(Self(path))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.0).output());
    }
}

/// The last step of storing it failed, and from then on one configuration ran and another one was
/// stored.
#[test]
fn what_runs_is_what_is_stored_where_the_new_text_cannot_take_its_place() {
    let cluster = Cluster::start_in_sync(1, 0);
    cluster.adm_ok(0, &["primary", "r0"]);
    let Some(mounted) = Mounted::on(cluster.state_dir(0).join("resources/r0.res")) else {
        skip("a mount takes root");
        return;
    };
    for section in ["options { auto-promote no; }", "disk { al-extents 127; }"] {
        cluster.configure(&cluster.config_with(section));
        let said = cluster.adm_refused(0, &["adjust", "r0"]);
        assert!(said.contains("the state directory"), "{said}");
        assert_eq!(cluster.role(0), Role::Primary);
        cluster.adm_ok(0, &["secondary", "r0"]);
        // Whoever opens it makes it Primary, as the stored text has it.
        cluster.client(0).close().unwrap();
        cluster.adm_ok(0, &["primary", "r0"]);
    }
    drop(mounted);
    cluster.adm_ok(0, &["adjust", "r0"]);
    assert_eq!(steps(&cluster, &["adjust", "-d", "r0"]), [""; 0]);
    assert_eq!(cluster.role(0), Role::Primary);
}
