//! `disk-timeout`: a disk that stands still is given up, and its late requests harm nobody.
//!
//! A disk lies in a file system of its own, which is frozen: writes to it stand still, in the
//! kernel, until it is thawed. It takes root, and the programs `mkfs.ext4`, `mount` and `fsfreeze`;
//! without them it says so and shows nothing. Another answers nothing at all.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use api::disk_state::DiskState;
use frontend::nbd::client::{Connection, Request};
use frontend::nbd::wire::Command;
use io::now;

use crate::BLOCK;
use crate::deaf::Deaf;
use crate::frozen::Place;
use crate::harness::Cluster;
use crate::times::signal;

/// Three nodes, of which one has a disk that can stand still.
fn start(index: usize) -> Option<(Cluster, Place)> {
    start_with(index, "disk { disk-timeout 15; }")
}

fn start_with(index: usize, options: &str) -> Option<(Cluster, Place)> {
    let mut cluster = Cluster::plan(3).sections(options).prepare();
    let place = Place::of_disk(&cluster, index)?;
    cluster.begin();
    cluster.make_in_sync();
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
    cluster.wait_for_log(index, "(disk-timeout)");
    let failure = cluster.status(index).unwrap().devices[0].disk_failure.clone().unwrap();
    assert!(failure.error.contains("no answer within 1.5 s"), "{failure:?}");
    let name = cluster.nodes[index].name.clone();
    for other in (0..3).filter(|other| *other != index) {
        cluster.wait(other, "word of the failure there", |status| {
            let peer = status.connections.iter().find(|peer| peer.name == name);
            let failure = peer.and_then(|peer| peer.peer_devices[0].disk_failure.as_ref());
            failure.is_some_and(|it| it.error.contains("no answer within 1.5 s"))
                && status.reasons.iter().any(|reason| reason.contains("no answer within 1.5 s"))
        });
    }
    let mut bytes = [0; BLOCK];
    client.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [2; BLOCK]);
    // What the disk is to get late is older than this.
    client.write(0, &[3; BLOCK]).unwrap();
    place.thaw();
    cluster.adm_ok(index, &["attach", "r0"]);
    cluster.wait_up_to_date(0);
    assert_eq!(cluster.status(index).unwrap().devices[0].disk_failure, None);
    for other in (0..3).filter(|other| *other != index) {
        cluster.wait(other, "end of the failure there", |status| {
            status.connections.iter().all(|peer| peer.peer_devices[0].disk_failure.is_none())
        });
    }
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

/// The same without `disk-timeout`: nobody ever gives the disk up.
#[test]
fn down_by_force_waits_for_no_disk() {
    let Some((cluster, mut place)) = start_with(1, "") else { return };
    let mut client = cluster.client(0);
    place.freeze();
    client.write(0, &[2; BLOCK]).unwrap();
    for words in [&["status", "r0"][..], &["adjust", "r0"], &["down", "--force", "r0"]] {
        let began = now();
        cluster.adm_ok(1, words);
        assert!(now().since(began).as_secs() < 20, "{words:?}");
    }
    client.write(4096, &[3; BLOCK]).unwrap();
    place.thaw();
    cluster.poll(1, "disk that is free", || {
        cluster.adm(1, &["up", "r0"]).status.success().then_some(())
    });
    cluster.wait_up_to_date(0);
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

/// The process that waits for the disk cannot be killed: the command does not wait for it.
#[test]
fn metadata_on_a_disk_that_stands_still_costs_no_more_than_the_deadline() {
    let cluster = Cluster::prepare(1, 0);
    let Some(mut place) = Place::of_disk(&cluster, 0) else { return };
    let create = ["create-md", "--force", "--node", "n0", "r0"];
    place.freeze();
    let before = now();
    let output = cluster.adm(0, &[&["--timeout", "2"][..], &create].concat());
    assert!(now().since(before).as_secs() < 20, "it waited for the disk");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(20), "{said}");
    assert!(said.starts_with("r0: create-md: it did not end within 2 s\n"), "{said}");
    place.thaw();
    cluster.poll(0, "metadata", || cluster.adm(0, &create).status.success().then_some(()));
    cluster.adm_ok(0, &["dump-md", "--node", "n0", "r0"]);
}

/// Those that look at disks without the daemon. The process that waits for such a disk cannot be
/// killed; the command does not wait for that process.
#[test]
fn commands_that_look_at_a_disk_that_answers_nothing_end_in_time() {
    let cluster = Cluster::prepare(1, 0);
    let state = cluster.state_dir(0);
    let Some(_disk) = Deaf::at(&cluster.disk(0)) else { return };
    let state = state.to_str().unwrap();
    for words in [
        &["create-md", "--force", "--node", "n0", "r0"][..],
        &["dump-md", "--node", "n0", "r0"],
        &["get-gi", "--node", "n0", "r0"],
        &["wipe-md", "--force", "--node", "n0", "r0"],
        &["adopt-drbd", "--node", "n0", "--state-dir", state, "r0"],
        &["adopt-drbd", "--rollback", "--node", "n0", "--state-dir", state, "r0"],
        &["adopt", "--node", "n0", "--state-dir", state, "r0"],
    ] {
        let before = now();
        let output = cluster.adm(0, &[&["--timeout", "1"][..], words].concat());
        let took = now().since(before);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(took.as_secs() < 20, "{words:?} took {took:?}: {said}");
        assert_eq!(output.status.code(), Some(20), "{words:?}: {said}");
        assert!(said.contains("it did not end within "), "{words:?}: {said}");
    }
}

/// One node with `r0` and `r1`, each on a disk of its own.
pub(crate) fn prepare_two_resources() -> Cluster {
    let cluster = Cluster::prepare(1, 0);
    let other_disk = cluster.directory.path().join("other-disk");
    fs::File::create(&other_disk).unwrap().set_len(crate::harness::DISK_BYTES).unwrap();
    let text = cluster.config_text("r0");
    let disk = cluster.disk(0).display().to_string();
    let more = text.replace("resource r0", "resource r1").replace("minor 1", "minor 2");
    let more = more.replace(&disk, other_disk.to_str().unwrap());
    let port = crate::harness::own_port().to_string();
    let more = more.replace(&cluster.nodes[0].address.to_string(), &port);
    cluster.configure(&(text + &more));
    cluster.create_md(0, "r1", &[]);
    cluster
}

/// Each ends in time, and is done or not.
fn all_end(cluster: &Cluster, commands: &[(&[&str], bool)]) {
    for (words, is_done) in commands {
        let (was_done, said) = ends(cluster, words);
        assert_eq!(was_done, *is_done, "{words:?}: {said}");
    }
}

/// The daemon has more than one disk to see to.
#[test]
fn a_disk_that_answers_nothing_holds_up_its_own_resource_alone() {
    let mut cluster = prepare_two_resources();
    cluster.launch(0);
    let Some(_disk) = Deaf::at(&cluster.disk(0)) else { return };
    let commands: [(&[&str], bool); 8] = [
        (&["--timeout", "3", "up", "r0"], false),
        (&["--timeout", "3", "up", "r0"], false),
        (&["status"], true),
        (&["--timeout", "10", "up", "r1"], true),
        (&["--timeout", "10", "primary", "--force", "r1"], true),
        (&["--timeout", "10", "down", "--force", "r0"], true),
        (&["--timeout", "10", "down", "--force", "r0"], true),
        (&["--timeout", "10", "down", "r1"], true),
    ];
    all_end(&cluster, &commands);
}

/// Whichever of them comes first as the daemon starts.
#[test]
fn a_disk_that_answers_nothing_at_the_start_holds_up_its_own_resource_alone() {
    let mut cluster = prepare_two_resources();
    let disks = [cluster.disk(0), cluster.directory.path().join("other-disk")];
    cluster.launch(0);
    cluster.adm_ok(0, &["up", "all"]);
    for (disk, other) in disks.iter().zip(["r1", "r0"]) {
        cluster.kill(0);
        let Some(disk) = Deaf::at(disk) else { return };
        let before = cluster.log(0).len();
        cluster.spawn(0);
        let up = format!(" {other}: up\n");
        cluster
            .poll(0, "the other resource", || cluster.log(0)[before..].contains(&up).then_some(()));
        let said = cluster.log(0).split_off(before);
        assert!(!said.contains("without its disk"), "the disk was given up before: {said}");
        drop(disk);
        cluster.wait_for_answer(0);
    }
}

/// Disks are enlarged beside each other: one that hangs meanwhile keeps no other one small.
#[test]
fn a_disk_that_falls_silent_while_it_grows_holds_up_its_own_resource_alone() {
    let mut cluster = prepare_two_resources();
    cluster.launch(0);
    let Some(disk) = Deaf::in_time(&cluster.disk(0)) else { return };
    for resource in ["r0", "r1"] {
        cluster.adm_ok(0, &["up", resource]);
        cluster.adm_ok(0, &["primary", "--force", resource]);
    }
    disk.fall_silent_after_opens(0);
    let mut asked = cluster.adm_started(0, &["--timeout", "60", "resize", "--size", "80M", "r0"]);
    cluster.poll(0, "an open that waits", || disk.is_silent().then_some(()));
    all_end(&cluster, &[(&["--timeout", "20", "resize", "--size", "80M", "r1"], true)]);
    cluster.adm_ok(0, &["down", "--force", "r0"]);
    drop(disk);
    asked.wait().unwrap();
}

/// The same where it answers whoever reads its metadata, and falls silent before the data threads
/// have it: they serve the other resource, too.
#[test]
fn a_disk_that_falls_silent_while_it_is_taken_into_use_holds_up_its_own_resource_alone() {
    let mut cluster = prepare_two_resources();
    cluster.launch(0);
    for begins in [&["up", "r0"][..], &["attach", "r0"]] {
        let Some(disk) = Deaf::in_time(&cluster.disk(0)) else { return };
        if begins[0] == "attach" {
            cluster.adm_ok(0, &["up", "r0"]);
            cluster.adm_ok(0, &["detach", "r0"]);
        }
        disk.fall_silent_after_opens(1);
        let begins = [&["--timeout", "3"], begins].concat();
        let commands: [(&[&str], bool); 6] = [
            (&begins, false),
            (&["--timeout", "10", "status"], true),
            (&["--timeout", "10", "up", "r1"], true),
            (&["--timeout", "10", "primary", "--force", "r1"], true),
            (&["--timeout", "10", "down", "r1"], true),
            (&["--timeout", "10", "down", "--force", "r0"], true),
        ];
        all_end(&cluster, &commands);
        drop(disk);
        cluster.poll(0, "disk that is free", || {
            cluster.adm(0, &["up", "r0"]).status.success().then_some(())
        });
        cluster.adm_ok(0, &["down", "r0"]);
    }
}

/// Whether it was done, and what it said.
fn ends(cluster: &Cluster, words: &[&str]) -> (bool, String) {
    let before = now();
    let output = cluster.adm(0, words);
    let took = now().since(before);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(took.as_secs() < 25, "{words:?} took {took:?}: {said}");
    (output.status.success(), said)
}

/// What it does without being asked is done in time, too: the start after a disk was lost so.
#[test]
fn a_daemon_starts_without_a_disk_that_answers_nothing() {
    let mut cluster = Cluster::plan(1).start();
    cluster.adm_ok(0, &["primary", "--force", "r0"]);
    cluster.kill(0);
    let Some(disk) = Deaf::at(&cluster.disk(0)) else { return };
    cluster.launch(0);
    let status = cluster.status(0).unwrap();
    assert_eq!(status.devices[0].disk_state, DiskState::Diskless, "{status:#?}");
    let (was_done, said) = ends(&cluster, &["attach", "r0"]);
    assert!(!was_done && said.contains("an earlier command still waits for the disk"), "{said}");
    cluster.adm_ok(0, &["down", "--force", "r0"]);
    let (was_done, said) = ends(&cluster, &["up", "r0"]);
    assert!(!was_done && said.contains("an earlier command still waits for the disk"), "{said}");
    drop(disk);
    cluster.poll(0, "disk that is free", || {
        cluster.adm(0, &["up", "r0"]).status.success().then_some(())
    });
    assert_eq!(cluster.status(0).unwrap().devices[0].disk_state, DiskState::UpToDate);
}

/// The configuration lies on a file system that answers nothing, such as one of the network.
#[test]
fn a_configuration_that_cannot_be_read_costs_no_more_than_the_deadline() {
    let cluster = Cluster::plan(1).start();
    let Some(_file) = Deaf::stopped_at(&cluster.config()) else { return };
    for words in [&["up", "r0"][..], &["adjust", "r0"], &["create-md", "r0"], &["dump", "r0"]] {
        let (was_done, said) = ends(&cluster, &[&["--timeout", "1"][..], words].concat());
        assert!(!was_done, "{words:?}: {said}");
        let told = format!("the configuration file {} was not read", cluster.config().display());
        assert!(
            said.contains(&told) || said.contains("it did not end within"),
            "{words:?}: {said}"
        );
    }
    // What the daemon alone has to know takes no file.
    for words in [&["status"][..], &["role", "r0"], &["down", "--force", "r0"]] {
        let (was_done, said) = ends(&cluster, &[&["--timeout", "2"][..], words].concat());
        assert!(was_done, "{words:?}: {said}");
    }
}

/// A thread that waits for the disk, and requests that the kernel has, keep what is left of the
/// process; they keep neither the other resource nor the next daemon.
#[test]
fn a_daemon_ends_in_time_whatever_its_disks_do() {
    let mut cluster = prepare_two_resources();
    let metrics = crate::harness::own_port();
    cluster.nodes[0].words = vec!["--metrics".to_owned(), metrics.to_string()];
    cluster.launch(0);
    cluster.adm_ok(0, &["up", "r1"]);
    // First one that waits for an `open`, then one of requests of a client.
    for is_in_use in [false, true] {
        // It cannot end before the disk is let go: a failure would wait for it else.
        let mut old;
        let Some(disk) = Deaf::in_time(&cluster.disk(0)) else { return };
        let mut blocked = None;
        if is_in_use {
            cluster.adm_ok(0, &["up", "r0"]);
            cluster.adm_ok(0, &["primary", "--force", "r0"]);
            let mut client = cluster.client(0);
            client.write(0, &[1; BLOCK]).unwrap();
            disk.fall_silent();
            blocked = Some(thread::spawn(move || drop(client.write(0, &[2; BLOCK]))));
            cluster.poll(0, "request to the disk", || {
                let status = cluster.status(0)?;
                let statistics = status.devices[0].statistics.as_ref()?;
                (statistics.lower_pending > 0).then_some(())
            });
        } else {
            disk.fall_silent_after_opens(0);
            cluster.adm_refused(0, &["--timeout", "2", "up", "r0"]);
        }
        let began = now();
        old = cluster.tell_to_end(0);
        let disk_of =
            if is_in_use { format!("r0 ({})", cluster.disk(0).display()) } else { "r0".to_owned() };
        let told = format!("ended without waiting for disks that give no answer: {disk_of};");
        cluster.wait_for_log(0, &told);
        assert!(now().since(began).as_secs() < 30, "{:?}", now().since(began));
        // The next one is there while the old one is still kept.
        cluster.launch(0);
        let is_kept = old.try_wait().unwrap().is_none();
        assert!(is_in_use || is_kept, "the thread did not wait for the disk");
        cluster.adm_ok(0, &["primary", "--force", "r1"]);
        cluster.adm_ok(0, &["secondary", "r1"]);
        cluster.adm_ok(0, &["down", "--force", "r0"]);
        drop(disk);
        assert_eq!(old.wait().unwrap().code(), Some(3));
        if let Some(client) = blocked {
            client.join().unwrap();
        }
        let log = cluster.directory.path().join("log0");
        fs::write(log, "").unwrap();
    }
}

/// A daemon that was stopped hears of nothing meanwhile: its disk is not to blame.
#[test]
fn the_time_in_which_a_daemon_was_stopped_is_not_the_disks() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.adjust_to("disk { disk-timeout 15; }");
    let client = cluster.client(0);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let load = scope.spawn(|| write_until(client, &is_over));
        // A test that fails ends, too.
        let _end = End(&is_over);
        for _ in 0..3 {
            signal(&cluster, 1, "-STOP");
            // Longer than the limit; nobody hears of anything meanwhile.
            let until = now() + Duration::from_secs(2);
            while now() < until {
                thread::park_timeout(until.since(now()));
            }
            signal(&cluster, 1, "-CONT");
            cluster.wait_up_to_date(0);
        }
        is_over.store(true, Ordering::Relaxed);
        load.join().unwrap();
    });
    assert!(!cluster.log(1).contains("(disk-timeout)"), "{}", cluster.log(1));
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Keeps 32 writes under way.
fn write_until(client: Connection, is_over: &AtomicBool) {
    let (mut sender, mut receiver, _) = client.split();
    receiver.set_read_timeout(Duration::from_secs(60)).unwrap();
    let (mut sent, mut answered) = (0, 0);
    while answered < sent || !is_over.load(Ordering::Relaxed) {
        while sent < answered + 32 && !is_over.load(Ordering::Relaxed) {
            let offset = sent % 4096 * BLOCK as u64;
            let length = BLOCK as u64;
            let request =
                Request { command: Command::Write, flags: 0, cookie: sent, offset, length };
            sender.send_request(&request, &[7; BLOCK]).unwrap();
            sent += 1;
        }
        assert_eq!(receiver.recv_reply().unwrap().error, None);
        answered += 1;
    }
    sender.send_disconnect().unwrap();
}
