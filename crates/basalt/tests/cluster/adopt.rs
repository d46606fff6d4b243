//! State directories that are lost on a majority at once: `adopt` takes the disks for the truth.

use std::fs::{self, File, TryLockError};

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;

use crate::BLOCK;
use crate::harness::Cluster;

/// All daemons end, and these nodes lose their state directories.
fn lose(cluster: &mut Cluster, nodes: &[usize]) {
    for index in 0..cluster.nodes.len() {
        if cluster.nodes[index].daemon.is_some() {
            cluster.kill(index);
        }
    }
    for &index in nodes {
        fs::remove_dir_all(cluster.state_dir(index)).unwrap();
    }
}

fn start(cluster: &mut Cluster, nodes: &[usize]) {
    for &index in nodes {
        cluster.launch(index);
        cluster.adm_ok(index, &["up", "r0"]);
    }
}

fn read(cluster: &Cluster, index: usize, offset: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    cluster.client(index).read(offset, &mut block).unwrap();
    block
}

fn adopt(cluster: &Cluster, index: usize, words: &[&str]) -> Result<String, String> {
    let state = cluster.state_dir(index).display().to_string();
    let name = cluster.nodes[index].name.clone();
    let first = ["adopt", "--node", &name, "--state-dir", &state];
    let output = cluster.adm(index, &[&first[..], words, &["r0"]].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

fn file(cluster: &Cluster, index: usize) -> String {
    cluster.directory.path().join(format!("remains{index}")).display().to_string()
}

fn save(cluster: &Cluster, index: usize) -> String {
    adopt(cluster, index, &["--save", &file(cluster, index)]).unwrap()
}

/// `--from` with the files of these nodes, and more words.
fn from(cluster: &Cluster, at: usize, nodes: &[usize], more: &[&str]) -> Result<String, String> {
    let files: Vec<String> = nodes.iter().map(|&index| file(cluster, index)).collect();
    let words: Vec<&str> = files.iter().flat_map(|file| ["--from", file.as_str()]).collect();
    adopt(cluster, at, &[&words[..], more].concat())
}

#[test]
fn nodes_that_lost_their_state_directories_serve_again_by_their_disks() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.client(0).write(0, &[7; BLOCK]).unwrap();
    // Node 2 misses the second write, and does not know.
    cluster.kill(2);
    cluster.client(0).write(BLOCK as u64, &[8; BLOCK]).unwrap();
    lose(&mut cluster, &[0, 1, 2]);

    start(&mut cluster, &[0, 1, 2]);
    cluster.wait_connected(0);
    let said = cluster.adm_refused(2, &["primary", "r0"]);
    assert!(said.contains("adm adopt") && said.contains("do not use"), "{said}");
    let said = cluster.adm_refused(2, &["new-current-uuid", "--clear-bitmap", "r0"]);
    assert!(!said.contains("--force"), "{said}");
    let said = adopt(&cluster, 0, &["--save", &file(&cluster, 0)]).unwrap_err();
    assert!(said.contains("cannot open disk"), "the resource is up: {said}");
    for index in 0..3 {
        cluster.adm_ok(index, &["down", "r0"]);
        if index == 1 {
            // It is no register any more, and too long for one.
            let register = cluster.state_dir(index).join("resources/r0.register");
            fs::write(register, vec![0xff; 200 << 10]).unwrap();
        }
        let said = save(&cluster, index);
        assert!(said.contains("its vote store is lost"), "{said}");
    }

    let said = from(&cluster, 0, &[0, 1], &[]).unwrap_err();
    assert!(said.contains("no remains of n2") && said.contains("--without n2"), "{said}");
    let told = from(&cluster, 0, &[2, 0, 1], &["--dry-run", "--json"]).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told[0]["outcome"], &told[0]["proof"]), (&"possible".into(), &"complete".into()));
    assert_eq!(told[0]["replicas"][2]["fate"], "incremental", "{told}");
    for index in 0..3 {
        let said = from(&cluster, index, &[0, 1, 2], &[]).unwrap();
        assert!(said.contains("no acknowledged write is lost"), "{said}");
        assert!(said.contains("adopted here"), "{said}");
        let again = from(&cluster, index, &[0, 1, 2], &[]).unwrap();
        assert!(again.contains("was adopted here before"), "{again}");
        cluster.adm_ok(index, &["up", "r0"]);
    }
    cluster.wait_connected(2);
    cluster.adm_ok(2, &["primary", "r0"]);
    cluster.wait_up_to_date(2);
    assert_eq!(read(&cluster, 2, 0), [7; BLOCK]);
    assert_eq!(read(&cluster, 2, BLOCK as u64), [8; BLOCK]);
    let said = from(&cluster, 0, &[0, 1, 2], &[]).unwrap_err();
    assert!(said.contains("cannot open disk"), "{said}");
}

#[test]
fn what_is_missing_has_to_be_named_and_old_remains_are_refused() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.client(0).write(0, &[7; BLOCK]).unwrap();
    lose(&mut cluster, &[0]);
    (0..3).for_each(|index| drop(save(&cluster, index)));
    let said = from(&cluster, 1, &[0, 1, 2], &[]).unwrap_err();
    assert!(said.contains("n1, n2 are a quorum"), "{said}");
    fs::remove_dir_all(cluster.state_dir(1)).unwrap();
    fs::remove_dir_all(cluster.state_dir(2)).unwrap();
    save(&cluster, 1);
    let said = from(&cluster, 1, &[1], &["--without", "n0,n2", "--dry-run"]).unwrap();
    assert!(said.contains("acknowledged writes may be lost: n0, n2 may have gone"), "{said}");
    let said = from(&cluster, 1, &[1], &["--without", "n0,n2"]).unwrap_err();
    assert!(
        said.contains("n0, n2 may have gone on alone") && said.contains("--in-doubt"),
        "{said}"
    );

    // The disk was in use since: what was saved of it says nothing any more.
    start(&mut cluster, &[1]);
    cluster.adm_ok(1, &["primary", "--force", "r0"]);
    cluster.kill(1);
    let said = from(&cluster, 1, &[1], &["--without", "n0,n2", "--in-doubt"]).unwrap_err();
    assert!(said.contains("not any more as it was when its remains were saved"), "{said}");

    save(&cluster, 1);
    save(&cluster, 2);
    // What was forced goes on with the line that the disk names.
    let said = from(&cluster, 2, &[1, 2], &["--without", "n0"]).unwrap_err();
    assert!(said.contains("n1 are a quorum: they go on by themselves"), "{said}");
    let said = from(&cluster, 2, &[2], &["--without", "n0,n1", "--in-doubt"]).unwrap();
    assert!(said.contains("adopted here"), "{said}");
    start(&mut cluster, &[2]);
    cluster.adm_ok(2, &["primary", "r0"]);
    cluster.adm_ok(2, &["reopen", "r0"]);
    assert_eq!(read(&cluster, 2, 0), [7; BLOCK]);
    let state = cluster.status(2).unwrap().devices[0].disk_state;
    assert_eq!(state, DiskState::UpToDate);
}

/// `adopt` holds off for as long as a lease may be in use: a daemon that starts meanwhile is to get
/// what it writes, and not what was there.
#[test]
fn a_witness_that_starts_while_it_is_adopted_keeps_its_vote() {
    let mut cluster = Cluster::start_in_sync(3, 1);
    cluster.client(0).write(0, &[7; BLOCK]).unwrap();
    lose(&mut cluster, &[0, 1]);
    (0..3).for_each(|index| drop(save(&cluster, index)));
    from(&cluster, 0, &[0, 1, 2], &[]).unwrap();
    let state = cluster.state_dir(2).display().to_string();
    let mut words = vec!["adopt".to_owned(), "--node".into(), "n2".into(), "--state-dir".into()];
    words.push(state);
    for index in 0..3 {
        words.extend(["--from".to_owned(), file(&cluster, index)]);
    }
    words.push("r0".to_owned());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut adopting = cluster.adm_started(2, &words);
    // Once it has read the register it holds off.
    let register = File::open(cluster.state_dir(2).join("resources/r0.register")).unwrap();
    cluster.poll(2, "lock of its register", || {
        let is_held = matches!(register.try_lock(), Err(TryLockError::WouldBlock));
        register.unlock().unwrap();
        is_held.then_some(())
    });
    cluster.launch(2);
    assert!(adopting.wait().unwrap().success());
    start(&mut cluster, &[0]);
    cluster.wait(0, "its witness", |status| {
        status.connections.iter().any(|it| it.connection_state == ConnectionState::Connected)
    });
    cluster.adm_ok(0, &["primary", "r0"]);
    assert_eq!(read(&cluster, 0, 0), [7; BLOCK]);
}
