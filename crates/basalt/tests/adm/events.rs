//! `events2` over states from a script: the lines, in every style.

use std::io::BufReader;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::events::promotion;
use api::replication_state::ReplicationState;
use api::request::{Command, Request};
use api::response::{FailureCode, Reply, Response};
use api::role::Role;
use api::status::{
    ConnectionStatus, DeviceStatistics, DeviceStatus, NodeStatus, PathStatus, PeerDeviceStatus,
    ResourceStatus, StatusReply, SyncDetails,
};
use api::subscription::{Update, Wish};
use api::wire::{WireError, read_message, write_message};

use crate::fake_node::Place;
use crate::{quiet, refused, status};

/// 2026-01-31 12:00:00.123456
pub(crate) const AT_US: u64 = 1_769_860_800_123_456;

pub(crate) fn with_score(mut resource: ResourceStatus) -> ResourceStatus {
    (resource.may_promote, resource.promotion_score) = promotion(&resource);
    resource
}

fn secondary() -> ResourceStatus {
    let endpoint = |last: u8| std::net::SocketAddr::from(([10, 0, 0, last], 7900)).into();
    with_score(ResourceStatus {
        name: "r0".to_owned(),
        role: Role::Secondary,
        devices: vec![DeviceStatus {
            minor: 1,
            disk_state: DiskState::UpToDate,
            quorum: true,
            backing_dev: Some("/dev/vg/lv".to_owned()),
            statistics: Some(DeviceStatistics { size: 1024, ..DeviceStatistics::default() }),
            ..DeviceStatus::default()
        }],
        connections: vec![ConnectionStatus {
            peer_node_id: 1,
            name: "bob".to_owned(),
            connection_state: ConnectionState::Connected,
            peer_role: Role::Secondary,
            paths: vec![PathStatus {
                this_host: endpoint(1),
                remote_host: endpoint(2),
                established: true,
                in_use: true,
                ..PathStatus::default()
            }],
            peer_devices: vec![PeerDeviceStatus {
                replication_state: ReplicationState::Established,
                peer_disk_state: DiskState::UpToDate,
                ..PeerDeviceStatus::default()
            }],
            ..ConnectionStatus::default()
        }],
        ..ResourceStatus::default()
    })
}

fn syncing_primary() -> ResourceStatus {
    let mut resource = secondary();
    resource.role = Role::Primary;
    let bob = &mut resource.connections[0].peer_devices[0];
    bob.replication_state = ReplicationState::SyncSource;
    bob.peer_disk_state = DiskState::Inconsistent;
    let sync = SyncDetails { percent_resync_done: 37.5, ..SyncDetails::default() };
    *bob = bob.clone().with_sync(sync);
    with_score(resource)
}

fn all(resources: Vec<ResourceStatus>, lost: u64) -> Update {
    Update::All { at_us: AT_US, lost, resources }
}

fn changed(resource: ResourceStatus) -> Update {
    Update::Changed { at_us: AT_US, polled: false, resource: Box::new(resource) }
}

/// What `events2` tells of the updates, and what it complains of when the daemon ends.
pub(crate) fn told(arguments: &[&str], updates: Vec<Update>) -> (String, String, Command) {
    let place = Place::new();
    let listener = UnixListener::bind(place.path("admin.sock")).unwrap();
    let daemon = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let request: Request = read_message(BufReader::new(&stream)).unwrap();
        write_message(&stream, &Response::Ok(Reply::done())).unwrap();
        for update in &updates {
            write_message(&stream, update).unwrap();
        }
        request.command
    });
    let run = place.run_alone(arguments);
    assert_eq!(run.exit, 20, "the daemon ended: {run:?}");
    (run.stdout, run.stderr, daemon.join().unwrap())
}

const EXISTING: &str = "\
exists resource name:r0 role:Secondary suspended:no force-io-failures:no may_promote:yes \
promotion_score:10102
exists connection name:r0 peer-node-id:1 conn-name:bob connection:Connected role:Secondary
exists device name:r0 volume:0 minor:1 backing_dev:/dev/vg/lv disk:UpToDate client:no open:no \
quorum:yes
exists peer-device name:r0 peer-node-id:1 conn-name:bob volume:0 replication:Established \
peer-disk:UpToDate peer-client:no resync-suspended:no
exists path name:r0 peer-node-id:1 conn-name:bob local:ipv4:10.0.0.1:7900 \
peer:ipv4:10.0.0.2:7900 established:yes
exists -
";

#[test]
fn state_comes_first_and_then_what_differs() {
    let updates = vec![all(vec![secondary()], 0), changed(syncing_primary())];
    let (stdout, stderr, command) = told(&["events2", "r0"], updates);
    let expected = format!(
        "{EXISTING}\
change resource name:r0 role:Primary may_promote:no promotion_score:10101
change peer-device name:r0 peer-node-id:1 conn-name:bob volume:0 replication:SyncSource \
peer-disk:Inconsistent peer-client:no done:37.50
"
    );
    assert_eq!(stdout, expected);
    assert_eq!(
        stderr,
        "basalt adm: talking to the node daemon at DIR/admin.sock about `events2`: the other side \
         closed the admin connection without a message\n  try: the daemon ended meanwhile: \
         `systemctl status basalt-node` and its log say why; the command can be repeated\n"
    );
    let resources = vec!["r0".to_owned()];
    assert_eq!(command, Command::Events { resources, statistics: false });
}

#[test]
fn full_diff_and_timestamps_are_drbds() {
    let updates = || vec![all(vec![secondary()], 0), changed(syncing_primary())];
    let (full, ..) = told(&["events2", "--full"], updates());
    assert_eq!(
        full.lines().nth(6).unwrap(),
        "change resource name:r0 role:Primary suspended:no force-io-failures:no may_promote:no \
         promotion_score:10101"
    );
    let (diff, ..) = told(&["events2", "--diff", "--timestamps"], updates());
    let lines: Vec<&str> = diff.lines().skip(5).collect();
    assert_eq!(
        lines,
        [
            "2026-01-31T12:00:00.123456+00:00 exists -",
            "2026-01-31T12:00:00.123456+00:00 change resource name:r0 role:Secondary->Primary \
             may_promote:yes->no promotion_score:10102->10101",
            "2026-01-31T12:00:00.123456+00:00 change peer-device name:r0 peer-node-id:1 \
             conn-name:bob volume:0 replication:Established->SyncSource \
             peer-disk:UpToDate->Inconsistent peer-client:no done:UNKNOWN->37.50",
        ]
    );
}

#[test]
fn counters_are_told_on_request_and_after_a_poll() {
    let mut later = secondary();
    later.devices[0].statistics.as_mut().unwrap().written = 8;
    let polled = Update::Changed { at_us: AT_US, polled: true, resource: Box::new(later.clone()) };
    let updates = || vec![all(vec![secondary()], 0), changed(later.clone()), polled.clone()];
    let (hidden, ..) = told(&["events2"], updates());
    assert_eq!(hidden, EXISTING);
    // The change itself is none, so that the poll has nothing new to tell either.
    let updates = vec![all(vec![secondary()], 0), polled];
    let (shown, _, command) = told(&["events2", "--statistics"], updates);
    assert_eq!(
        shown.lines().nth(2).unwrap(),
        "exists device name:r0 volume:0 minor:1 backing_dev:/dev/vg/lv disk:UpToDate client:no \
         open:no quorum:yes size:1024 read:0 written:0 al-writes:0 bm-writes:0 upper-pending:0 \
         lower-pending:0 al-suspended:no blocked:no"
    );
    assert_eq!(
        shown.lines().last().unwrap(),
        "change device name:r0 volume:0 minor:1 size:1024 read:0 written:8 al-writes:0 \
         bm-writes:0 upper-pending:0 lower-pending:0 al-suspended:no blocked:no"
    );
    assert_eq!(command, Command::Events { resources: Vec::new(), statistics: true });
}

/// What `events2 --poll` tells with this on its standard input, and how often it asked.
fn polled(input: &str) -> (String, u64) {
    let place = Place::new();
    let listener = UnixListener::bind(place.path("admin.sock")).unwrap();
    let daemon = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        // A tool that does not end is left alone, and says so.
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut reader = BufReader::new(&stream);
        let request: Request = read_message(&mut reader).unwrap();
        assert!(matches!(request.command, Command::Events { .. }));
        write_message(&stream, &Response::Ok(Reply::done())).unwrap();
        write_message(&stream, &all(vec![secondary()], 0)).unwrap();
        let mut polls = 0;
        loop {
            match read_message(&mut reader) {
                Ok(Wish::Poll) => polls += 1,
                Err(WireError::Closed) => return polls,
                Err(error) => panic!("the tool goes on: {error}"),
            }
            let mut later = secondary();
            later.devices[0].statistics.as_mut().unwrap().written = polls;
            let resource = Box::new(later);
            write_message(&stream, &Update::Changed { at_us: AT_US, polled: true, resource })
                .unwrap();
            write_message(&stream, &Update::Polled).unwrap();
        }
    });
    let run = place.run_with_input(&["events2", "--statistics", "--poll"], input);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{input:?}: {}", run.stdout);
    (run.stdout, daemon.join().unwrap())
}

/// It went on for ever, and took `nn` and `n n` for nothing.
#[test]
fn a_poll_ends_with_its_input_or_with_another_letter() {
    for (input, polls) in [
        ("", 0),
        ("\n\n", 0),
        ("n", 1),
        ("n\n", 1),
        ("nn", 2),
        ("\nn\n\nn\n", 2),
        ("q\nn\n", 0),
        ("n q", 1),
        ("n\r\nn\r\n", 1),
    ] {
        let (told, asked) = polled(input);
        assert_eq!(asked, polls, "{input:?}");
        assert!(told.starts_with("exists resource") && told.contains("\nexists -\n"), "{told}");
        let changes = told.lines().filter(|line| line.starts_with("change device")).count();
        assert_eq!(changes as u64, polls, "each wish is answered: {input:?} {told}");
    }
}

/// With `--now` each wish is for the whole state.
#[test]
fn a_poll_of_the_state_tells_all_of_it_each_time() {
    for (input, times) in [("", 1), ("n\nn\n", 3), ("nq\nn", 2)] {
        let place = Place::new();
        let run = place.run_with_input_beside(&["events2", "--now", "--poll"], input, |_| {
            let (node, resources) = (NodeStatus::default(), vec![secondary()]);
            Response::Ok(Reply::Status(StatusReply { node, resources }))
        });
        assert_eq!((run.exit, run.stdout), (0, EXISTING.repeat(times)), "{input:?}");
    }
}

#[test]
fn new_and_gone_parts_are_told_in_order() {
    let mut alone = secondary();
    alone.connections.clear();
    let updates = vec![
        all(Vec::new(), 0),
        changed(secondary()),
        changed(alone),
        Update::Gone { at_us: AT_US, resource: "r0".to_owned() },
    ];
    let (stdout, ..) = told(&["events2"], updates);
    let created = EXISTING.replace("exists ", "create ").replace("create -\n", "");
    let expected = format!(
        "exists -\n{created}\
destroy path name:r0 peer-node-id:1 conn-name:bob local:ipv4:10.0.0.1:7900 \
peer:ipv4:10.0.0.2:7900
destroy peer-device name:r0 peer-node-id:1 conn-name:bob volume:0
destroy connection name:r0 peer-node-id:1 conn-name:bob
destroy device name:r0 volume:0
destroy resource name:r0
"
    );
    assert_eq!(stdout, expected);
}

#[test]
fn lost_changes_are_told_and_the_state_follows_again() {
    let updates = || vec![all(vec![secondary()], 0), all(vec![syncing_primary()], 300)];
    let (stdout, stderr, _) = told(&["events2"], updates());
    assert_eq!(stdout.lines().filter(|line| line.starts_with("exists resource")).count(), 2);
    assert!(stderr.starts_with("events2: 300 changes were not read in time"), "{stderr}");
    let (stdout, ..) = told(&["events2", "--json"], updates());
    assert_eq!(stdout.lines().nth(6).unwrap(), r#"{"action":"lost","object":"-","count":300}"#);
}

#[test]
fn json_tells_the_same_and_what_drbd_has_no_word_for() {
    let mut lost = syncing_primary();
    lost.reasons = vec!["no quorum: 1 of 3 voters answer, 2 are needed".to_owned()];
    let updates = vec![all(vec![syncing_primary()], 0), changed(lost)];
    let (stdout, ..) = told(&["events2", "--json", "--diff"], updates);
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(
        lines[3],
        concat!(
            r#"{"action":"exists","object":"peer-device","name":"r0","peer-node-id":1,"#,
            r#""conn-name":"bob","volume":0,"replication":"SyncSource","#,
            r#""peer-disk":"Inconsistent","peer-client":false,"resync-suspended":"no","#,
            r#""done":37.5}"#
        )
    );
    assert_eq!(lines[5], r#"{"action":"exists","object":"-"}"#);
    assert_eq!(
        lines[6],
        concat!(
            r#"{"action":"change","object":"resource","name":"r0","reasons":["no quorum: "#,
            r#"1 of 3 voters answer, 2 are needed"],"before":{"reasons":[]}}"#
        )
    );
    // The daemon of this test ends, and that is told as well.
    assert!(lines[7].starts_with(r#"{"verb":"events2","ok":false,"error":{"code":"protocol""#));
    assert_eq!(lines.len(), 8);
}

#[test]
fn now_tells_the_state_and_ends() {
    let run = Place::new().run(&["events2", "--now"], vec![status(&["r0"])]);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""));
    assert_eq!(run.asked, quiet(vec![crate::ask_status(&[])]).asked);
    let first: Vec<&str> = run.stdout.lines().map(|line| &line[..15]).take(2).collect();
    assert_eq!(first, ["exists resource", "exists connecti"]);
    assert!(run.stdout.ends_with("exists -\n"), "{}", run.stdout);
}

/// Tools follow resources by name before somebody brings them up.
#[test]
fn what_is_not_up_is_told_once_it_comes() {
    let unknown = || refused(FailureCode::UnknownResource, "no such resource is up", "");
    let ends = |resources: &[&str]| {
        let lines: Vec<String> =
            resources.iter().map(|name| format!("exists resource name:{name} ")).collect();
        move |stdout: &str| {
            let told = stdout.lines().filter(|line| line.starts_with("exists resource"));
            let told: Vec<&str> = told.collect();
            let is_told = |(line, start): (&&str, &String)| line.starts_with(start.as_str());
            told.len() == lines.len()
                && told.iter().zip(&lines).all(is_told)
                && stdout.ends_with("exists -\n")
        }
    };
    for (tool, words, answers, is_right) in [
        ("adm", &["events2", "--now", "r0"][..], vec![unknown()], ends(&[])),
        ("setup", &["events2", "--now", "r0"], vec![unknown()], ends(&[])),
        ("setup", &["events2", "r0", "--now", "--statistics"], vec![unknown()], ends(&[])),
        ("adm", &["events2", "--now", "r7", "r0"], vec![unknown(), status(&["r0"])], ends(&["r0"])),
    ] {
        let run = Place::new().run_tool(tool, words, answers);
        assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{words:?}: {run:?}");
        assert!(is_right(&run.stdout), "{words:?}: {run:?}");
    }
    let run = Place::new().run(&["events2", "--now", "--json", "r0"], vec![unknown()]);
    assert_eq!((run.exit, run.stdout.as_str()), (0, "{\"action\":\"exists\",\"object\":\"-\"}\n"));
    let (stdout, ..) = told(&["events2", "r0"], vec![all(Vec::new(), 0), changed(secondary())]);
    assert!(stdout.starts_with("exists -\ncreate resource name:r0 "), "{stdout}");
    // Another failure is one.
    let failed = refused(FailureCode::Timeout, "no answer", "");
    let run = Place::new().run(&["events2", "--now", "r0"], vec![failed]);
    assert!(run.exit == 11 && run.stdout.is_empty(), "{run:?}");
}
