//! Initiators that have to prove that they know a secret.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;

use frontend::nvme::wire::{CONTROLLER_DYNAMIC, DISCOVERY_NQN, put32};

use crate::harness::Cluster;
use crate::initiator::{Digests, End, Initiator, Line, NQN, command, connect_as};
use crate::nvme_host::{CONTROLLER_SECRET, HOST, HOST_SECRET, Host};

const REQUIRED: u64 = 1 << 17;
const STATUS_HOST: u16 = 0x184;
const STATUS_REQUIRED: u16 = 0x191;
const ENABLE: &[(usize, &[u8])] = &[(44, &[0x14]), (48, &[1, 0, 0x46, 0])];

fn hosts_file(cluster: &Cluster) -> PathBuf {
    cluster.directory.path().join("hosts")
}

fn write_hosts(cluster: &Cluster, text: &str, mode: u32) {
    let (new, file) = (cluster.directory.path().join("hosts.new"), hosts_file(cluster));
    fs::write(&new, text).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(mode)).unwrap();
    fs::rename(&new, &file).unwrap();
}

fn both_secrets() -> String {
    format!("# who may\n{HOST} r0 {HOST_SECRET} {CONTROLLER_SECRET}\n")
}

/// Three nodes that are up to date, the first one Primary, all with the same hosts.
fn start(text: &str) -> Cluster {
    let mut cluster = Cluster::prepare(3, 0);
    write_hosts(&cluster, text, 0o600);
    let file = hosts_file(&cluster).display().to_string();
    for index in 0..3 {
        cluster.nodes[index].words = vec!["--nvme-auth".to_owned(), file.clone()];
    }
    cluster.begin();
    cluster.make_in_sync();
    cluster
}

fn part(kind: u8, length: usize) -> [u8; 64] {
    let mut sqe = command(0x7f, &[(4, &[kind]), (41, &[1, 1, 0xe9])]);
    put32(&mut sqe, 44, u32::try_from(length).unwrap());
    sqe
}

fn tell(line: &mut Line, message: &[u8]) {
    assert_eq!(line.run(part(5, message.len()), message, 0).status, 0);
}

fn ask(line: &mut Line) -> Vec<u8> {
    let end = line.run(part(6, 4096), &[], 4096);
    assert_eq!(end.status, 0);
    end.data
}

/// Proves itself; the message that it gets in the end.
fn prove(line: &mut Line, host: &mut Host) -> Vec<u8> {
    tell(line, &host.negotiate());
    let challenge = ask(line);
    tell(line, &host.reply(&challenge));
    let last = ask(line);
    if host.is_mutual && last[..2] == [1, 3] {
        assert!(host.is_content(&last), "the node knows another secret");
        tell(line, &host.success2());
    }
    last
}

fn open(cluster: &Cluster, index: usize, queue: u16, id: u16) -> (Line, End) {
    let mut line = Line::open(cluster.nodes[index].nvme, Digests::None);
    let (sqe, data) = connect_as(HOST, queue, id, 0, NQN);
    let end = line.run(sqe, &data, 0);
    (line, end)
}

/// A controller whose queues have proved themselves.
fn initiator(cluster: &Cluster, index: usize, host: &mut Host) -> Initiator {
    let (mut admin, end) = open(cluster, index, 0, CONTROLLER_DYNAMIC);
    assert_eq!((end.status, end.result & !0xffff), (0, REQUIRED));
    let id = u16::try_from(end.result & 0xffff).unwrap();
    assert_eq!(admin.run(command(0x7f, ENABLE), &[], 0).status, STATUS_REQUIRED);
    assert_eq!(prove(&mut admin, host)[..2], [1, 3]);
    assert_eq!(admin.run(command(0x7f, ENABLE), &[], 0).status, 0);
    let (mut io, end) = open(cluster, index, 1, id);
    assert_eq!((end.status, end.result), (0, u64::from(id) | REQUIRED));
    assert_eq!(io.run(command(0, &[(4, &[1])]), &[], 0).status, STATUS_REQUIRED);
    assert_eq!(prove(&mut io, host)[..2], [1, 3]);
    Initiator { admin, io, id, namespace: 1 }
}

#[test]
fn initiator_that_knows_the_secret_reads_and_writes() {
    let cluster = start(&both_secrets());
    let groups = [vec![0, 1, 2, 3, 4, 5], vec![0], vec![1], vec![3]];
    for (seed, groups) in (1..).zip(groups) {
        for is_mutual in [false, true] {
            let mut host = Host { groups: groups.clone(), is_mutual, ..Host::new() };
            let mut initiator = initiator(&cluster, 0, &mut host);
            let block = vec![seed; 4096];
            assert_eq!(initiator.write(0, &block), 0);
            assert_eq!(initiator.read(0, 4096), block);
            // At any time it may do so again.
            host.transaction += 1;
            assert_eq!(prove(&mut initiator.io, &mut host)[..2], [1, 3]);
            assert_eq!(prove(&mut initiator.admin, &mut host)[..2], [1, 3]);
            assert_eq!(initiator.write(4096, &block), 0);
        }
    }
    let mut other_path = initiator(&cluster, 1, &mut Host::new());
    assert_eq!(other_path.path(), 3, "inaccessible, as ever");
}

#[test]
fn initiator_with_another_secret_is_refused_on_every_queue() {
    let cluster = start(&both_secrets());
    let wrong = || Host { host_key: vec![1; 32], ..Host::new() };
    let (mut admin, _) = open(&cluster, 0, 0, CONTROLLER_DYNAMIC);
    let last = prove(&mut admin, &mut wrong());
    assert_eq!((&last[..2], &last[6..8]), (&[0, 0xf1][..], &[1, 1][..]));
    admin.wait_for_the_end();
    cluster.wait_for_log(0, "was refused: its secret is another one");
    let mut good = initiator(&cluster, 0, &mut Host::new());
    let (mut io, _) = open(&cluster, 0, 2, good.id);
    assert_eq!(prove(&mut io, &mut wrong())[..2], [0, 0xf1]);
    io.wait_for_the_end();
    assert_eq!(good.write(0, &[1; 4096]), 0, "a stranger does not end a controller");
    // One that fails a second proof was somebody else by then.
    assert_eq!(prove(&mut good.io, &mut wrong())[..2], [0, 0xf1]);
    good.io.wait_for_the_end();
    good.admin.wait_for_the_end();
    // And a node that fails is given up by the host.
    let mut host = Host { is_mutual: true, controller_key: vec![1; 48], ..Host::new() };
    let (mut admin, _) = open(&cluster, 0, 0, CONTROLLER_DYNAMIC);
    tell(&mut admin, &host.negotiate());
    let challenge = ask(&mut admin);
    tell(&mut admin, &host.reply(&challenge));
    assert!(!host.is_content(&ask(&mut admin)));
    tell(&mut admin, &host.failure2());
    admin.wait_for_the_end();
    cluster.wait_for_log(0, "compare its --dhchap-ctrl-secret");
}

#[test]
fn hosts_may_use_what_their_lines_say_and_changes_count_for_new_connections() {
    let cluster = start(&format!("{HOST} r1 {HOST_SECRET}\n"));
    let address = cluster.nodes[0].nvme;
    let listed = || {
        let mut line = Line::open(address, Digests::None);
        let (sqe, data) = connect_as(HOST, 0, CONTROLLER_DYNAMIC, 0, DISCOVERY_NQN);
        assert_eq!(line.run(sqe, &data, 0).result & REQUIRED, 0, "discovery is open");
        let enable = command(0x7f, &[(44, &[0x14]), (48, &[1])]);
        assert_eq!(line.run(enable, &[], 0).status, 0);
        let log = line.run(command(2, &[(40, &[0x70])]), &[], 2048);
        log.data[8]
    };
    assert_eq!(listed(), 0);
    let (mut line, end) = open(&cluster, 0, 0, CONTROLLER_DYNAMIC);
    assert_eq!(end.status, STATUS_HOST);
    line.wait_for_the_end();
    cluster.wait_for_log(0, "may not use \"r0\"");
    write_hosts(&cluster, "nonsense\n", 0o600);
    cluster.poll(0, "complaint about the file", || {
        cluster.log(0).contains("line 1 is not HOST-NQN").then_some(())
    });
    assert_eq!(listed(), 0, "what was read before holds");
    write_hosts(&cluster, &format!("{HOST} * {HOST_SECRET}\n"), 0o600);
    cluster.poll(0, "resource in the list", || (listed() == 1).then_some(()));
    let mut initiator = initiator(&cluster, 0, &mut Host::new());
    write_hosts(&cluster, "# nobody\n", 0o600);
    cluster.poll(0, "empty list", || (listed() == 0).then_some(()));
    assert_eq!(initiator.write(0, &[1; 4096]), 0, "who is connected stays");
    assert_eq!(open(&cluster, 0, 2, initiator.id).1.status, STATUS_HOST);
}

#[test]
fn host_that_stalls_is_let_go_alone() {
    let cluster = start(&both_secrets());
    let mut good = initiator(&cluster, 0, &mut Host::new());
    let (mut admin, _) = open(&cluster, 0, 0, CONTROLLER_DYNAMIC);
    let (mut io, _) = open(&cluster, 0, 2, good.id);
    tell(&mut io, &Host::new().negotiate());
    assert_eq!(ask(&mut io)[..2], [1, 1]);
    // Who has proved nothing holds no number: the first to prove something has it.
    let (mut first, _) = open(&cluster, 0, 2, good.id);
    let (mut second, _) = open(&cluster, 0, 2, good.id);
    assert_eq!(prove(&mut first, &mut Host::new())[..2], [1, 3]);
    assert_eq!(prove(&mut second, &mut Host::new())[..2], [1, 3]);
    second.wait_for_the_end();
    assert_eq!(first.run(command(0, &[(4, &[1])]), &[], 0).status, 0);
    admin.wait_for_the_end();
    io.wait_for_the_end();
    cluster.wait_for_log(0, "it did not prove itself in time");
    assert_eq!(good.write(0, &[1; 4096]), 0, "it went on all the time");
    let mut latter = initiator(&cluster, 0, &mut Host::new());
    good.io.wait_for_the_end();
    assert_eq!(latter.write(0, &[2; 4096]), 0, "who has proved itself is the same host again");
}

#[test]
fn daemon_does_not_start_with_a_file_that_it_cannot_use() {
    let mut cluster = Cluster::prepare(1, 0);
    let file = hosts_file(&cluster).display().to_string();
    cluster.nodes[0].words = vec!["--nvme-auth".to_owned(), file.clone()];
    let check = |words: &str| {
        let mut command = cluster.daemon_command(0);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&file) && said.contains(words), "{said}");
        assert!(!said.contains(HOST_SECRET), "{said}");
    };
    check("cannot read it");
    write_hosts(&cluster, &both_secrets(), 0o640);
    check("use `chmod 600`");
    let damaged = both_secrets().replacen("AAEC", "AAED", 1);
    write_hosts(&cluster, &damaged, 0o600);
    check("the first secret of line 2: its checksum is wrong");
}
