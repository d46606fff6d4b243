//! A daemon tells the service manager that it is ready, alive and going to end, and nothing while a
//! data thread stands still.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

use api::request::Command as NodeCommand;
use stdx::child::HeldChild;
use stdx::testing::skip;

use crate::cluster::{Cluster, Node, RESOURCE, wait_for};

const LIMIT: Duration = Duration::from_secs(30);

/// The socket of a manager, and the next message in it.
struct Manager(UnixDatagram);

impl Manager {
    fn of(socket: UnixDatagram) -> Self {
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        Self(socket)
    }

    fn next(&self) -> Option<String> {
        let mut bytes = [0; 4096];
        let length = self.0.recv(&mut bytes).ok()?;
        Some(String::from_utf8(bytes[..length].to_vec()).unwrap())
    }

    /// The next one with this line; what comes before is left out.
    #[track_caller]
    fn until(&self, line: &str) -> String {
        wait_for(line, || self.next().filter(|message| message.lines().any(|it| it == line)))
    }
}

fn start(node: &Node, socket: &str, watchdog: Duration) -> HeldChild {
    let mut command = node.command();
    command.env("NOTIFY_SOCKET", socket);
    command.env("WATCHDOG_USEC", watchdog.as_micros().to_string());
    HeldChild::from(command.spawn().unwrap())
}

/// Ends a daemon, which says so first.
fn end(node: &Node, mut process: HeldChild, manager: &Manager) {
    api::client::ask(&node.socket(), NodeCommand::Shutdown, LIMIT).unwrap();
    let last = manager.until("STOPPING=1");
    assert!(last.contains("\nEXTEND_TIMEOUT_USEC=60000000\n"), "{last}");
    assert!(last.contains("\nSTATUS=ending: the operator asked for it\n"), "{last}");
    let status = wait_for("the daemon to end", || process.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

#[test]
fn manager_hears_that_the_daemon_serves_that_it_lives_and_that_it_ends() {
    let mut cluster = Cluster::start(1);
    cluster.nodes[0].stop();
    let node = &cluster.nodes[0];
    let path = node.home.join("notify");
    let name = format!("@basalt-{}", node.nbd);
    let named = SocketAddr::from_abstract_name(&name[1..]).unwrap();
    for (given, socket) in [
        (path.to_str().unwrap(), UnixDatagram::bind(&path).unwrap()),
        (name.as_str(), UnixDatagram::bind_addr(&named).unwrap()),
    ] {
        let manager = Manager::of(socket);
        let process = start(node, given, Duration::from_secs(3));
        let first = manager.until("READY=1");
        // No wait is needed any more.
        let shown = cluster.adm(0, &["status", RESOURCE]);
        assert!(shown.stdout.starts_with("r0 role:"), "{shown:?}\n{}", node.log());
        let wanted = "WATCHDOG=1\nSTATUS=resources: 1 up, 0 Primary";
        assert!(first.starts_with(&format!("READY=1\n{wanted}")), "{first:?}");
        manager.until("WATCHDOG=1");
        manager.until("WATCHDOG=1");
        cluster.adm(0, &["primary", RESOURCE]).ok();
        manager.until("STATUS=resources: 1 up, 1 Primary");
        cluster.adm(0, &["down", RESOURCE]).ok();
        manager.until("STATUS=resources: 0 up, 0 Primary");
        cluster.adm(0, &["up", RESOURCE]).ok();
        end(node, process, &manager);
    }
}

/// A debugger stops one thread alone, which nothing else does.
const HOLD: &str = "
import ctypes, os, sys
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
thread = int(sys.argv[1])
SEIZE, INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000
if ptrace(SEIZE, thread, None, None) or ptrace(INTERRUPT, thread, None, None):
    print('refused:', os.strerror(ctypes.get_errno()), flush=True)
else:
    os.waitpid(thread, WALL)
    print('held', flush=True)
    sys.stdin.read()
";

/// A thread that stands still until this is dropped.
struct Held {
    _debugger: HeldChild,
    _release: ChildStdin,
}

/// `None`, and the test is skipped, where this may not be done.
fn hold(process: u32, name: &str) -> Option<Held> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let thread = threads.flatten().find(|thread| {
        fs::read_to_string(thread.path().join("comm")).is_ok_and(|comm| comm.trim() == name)
    });
    let thread = thread.unwrap().file_name();
    let mut debugger = Command::new("python3");
    debugger.args(["-c", HOLD]).arg(thread).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut debugger) = debugger.spawn() else {
        skip("there is no python3 to stop a thread with");
        return None;
    };
    let (release, says) = (debugger.stdin.take().unwrap(), debugger.stdout.take().unwrap());
    let debugger = HeldChild::from(debugger);
    let mut line = String::new();
    BufReader::new(says).read_line(&mut line).unwrap();
    if line.trim() != "held" {
        skip(&format!("no thread may be stopped here: {}", line.trim()));
        return None;
    }
    Some(Held { _debugger: debugger, _release: release })
}

/// systemd ends such a daemon: its volumes are served by nobody, and its peers wait for it.
#[test]
fn manager_hears_nothing_while_a_data_thread_stands_still() {
    let mut cluster = Cluster::start(1);
    cluster.nodes[0].stop();
    let node = &cluster.nodes[0];
    let path = node.home.join("notify");
    let manager = Manager::of(UnixDatagram::bind(&path).unwrap());
    let watchdog = Duration::from_secs(3);
    let process = start(node, path.to_str().unwrap(), watchdog);
    manager.until("READY=1");
    let Some(held) = hold(process.id(), "shard-0") else { return };
    node.wait_for_log("data thread 0 gave no answer within 1s");
    // What was said before is in the socket still.
    manager.0.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    while manager.next().is_some() {}
    manager.0.set_read_timeout(Some(watchdog)).unwrap();
    assert_eq!(manager.next(), None, "no word for as long as systemd waits");
    drop(held);
    manager.0.set_read_timeout(Some(LIMIT)).unwrap();
    manager.until("WATCHDOG=1");
    node.serves();
    end(node, process, &manager);
}
