//! `basalt top` in a real terminal, which tmux plays: beside a daemon that works, hangs and dies,
//! and beside one that answers with three hundred volumes.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::io::BufReader;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use api::request::Request;
use api::response::{Reply, Response};
use api::status::{DeviceStatus, NodeStatus, ResourceStatus, StatusReply};
use api::wire::{read_message, write_message};
use stdx::child::HeldChild;
use stdx::testing::skip;

const LIMIT: Duration = Duration::from_secs(30);

/// A server of tmux for this test alone, which ends with it.
struct Tmux<'a> {
    socket: &'a Path,
}

impl Tmux<'_> {
    fn run(&self, words: &[&str]) -> String {
        let output = Command::new("tmux").arg("-S").arg(self.socket).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until the screen has this on it.
    #[track_caller]
    fn shows(&self, part: &str) -> String {
        let deadline = io::now() + LIMIT;
        loop {
            let screen = self.run(&["capture-pane", "-p"]);
            if screen.contains(part) {
                return screen;
            }
            assert!(io::now() < deadline, "no {part:?} on the screen:\n{screen}");
            thread::park_timeout(Duration::from_millis(50));
        }
    }

    /// Starts `basalt top` in a terminal of this size.
    fn start(&self, (columns, lines): (u16, u16), admin: &Path) {
        let command = format!(
            "{} top --node-socket {}; echo ended with $?; stty -a; sleep 60",
            env!("CARGO_BIN_EXE_basalt"),
            admin.display()
        );
        let (columns, lines) = (columns.to_string(), lines.to_string());
        let words = ["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &lines];
        self.run(&[&words[..], &[&command]].concat());
    }

    fn press(&self, key: &str) {
        self.run(&["send-keys", key]);
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        // It ends by itself with its last session.
        drop(Command::new("tmux").arg("-S").arg(self.socket).arg("kill-server").output());
    }
}

fn is_missing() -> bool {
    let is_missing = Command::new("tmux").arg("-V").output().is_err();
    if is_missing {
        skip("tmux is not installed");
    }
    is_missing
}

fn signal(process: &HeldChild, name: &str) {
    let sent = Command::new("kill").args([name, &process.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn top_draws_heeds_keys_and_gives_the_terminal_back() {
    if is_missing() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state");
    let daemon = Command::new(env!("CARGO_BIN_EXE_basalt"))
        .args(["node", "--name", "alfa", "--exit-with-parent", "--shards", "1", "--state-dir"])
        .arg(&state)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let daemon = HeldChild::from(daemon);
    let socket = home.path().join("tmux");
    let tmux = Tmux { socket: &socket };
    tmux.start((80, 24), &state.join("admin.sock"));
    let screen = tmux.shows("resources 0");
    assert!(screen.starts_with("alfa  basalt"), "{screen}");
    assert!(screen.contains("no resource is up on this node"), "{screen}");
    tmux.press("?");
    tmux.shows("keys and columns");
    tmux.press("q");
    tmux.press("n");
    tmux.shows("n volumes");
    tmux.press("n");
    tmux.press("s");
    tmux.shows("sort: writes");
    tmux.press("/");
    tmux.press("x");
    tmux.shows("filter: x_");
    tmux.press("Enter");
    tmux.shows("(Esc ends it)");
    signal(&daemon, "-STOP");
    let screen = tmux.shows("no answer for ");
    assert!(screen.contains("systemctl restart basalt-node"), "{screen}");
    assert!(screen.starts_with("alfa  as of "), "{screen}");
    signal(&daemon, "-CONT");
    tmux.shows("alfa  basalt");
    drop(daemon);
    tmux.shows("cannot reach the node daemon");
    tmux.press("q");
    let screen = tmux.shows("ended with 0");
    assert!(!screen.contains("VOLUME"), "the former screen is back:\n{screen}");
    let screen = tmux.shows(" icanon");
    assert!(screen.contains(" echo "), "lines and echo are as before:\n{screen}");
}

/// Answers every question with three hundred volumes, as long as the test runs.
fn answer_with_many(listener: &UnixListener) {
    let volume = |n: u32| ResourceStatus {
        name: format!("pvc-0f3c2f9e-7b1d-4a57-9d54-2d1f0a7c{n:04}"),
        devices: vec![DeviceStatus { quorum: n != 299, ..DeviceStatus::default() }],
        reasons: vec![
            "no quorum: 1 of 3 voters answer, 2 are needed".to_owned();
            (n / 299) as usize
        ],
        ..ResourceStatus::default()
    };
    let node = NodeStatus { name: "alfa".to_owned(), ..NodeStatus::default() };
    let status = StatusReply { node, resources: (0..300).map(volume).collect() };
    for stream in listener.incoming() {
        let Ok(stream) = stream else { return };
        // The terminal may be gone in the middle of a question.
        let asked: Result<Request, _> = read_message(BufReader::new(&stream));
        if asked.is_ok() {
            write_message(&stream, &Response::Ok(Reply::Status(status.clone()))).ok();
        }
    }
}

#[test]
fn three_hundred_volumes_are_scrolled_and_named_in_terminals_of_two_sizes() {
    if is_missing() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let admin = home.path().join("admin.sock");
    let listener = UnixListener::bind(&admin).unwrap();
    thread::spawn(move || answer_with_many(&listener));
    for (size, socket) in [((80, 24), "small"), ((200, 50), "large")] {
        let socket = home.path().join(socket);
        let tmux = Tmux { socket: &socket };
        tmux.start(size, &admin);
        tmux.shows("-- pvc-0f3c2f9e-7b1d-4a57-9d54-2d1f0a7c0000/0  -- 1 of 300");
        tmux.press("End");
        tmux.shows("-- pvc-0f3c2f9e-7b1d-4a57-9d54-2d1f0a7c0299/0  -- 300 of 300");
        // A screen is drawn from its top: with its end all of it is there.
        let screen = tmux.shows("! no quorum: 1 of 3 voters answer, 2 are needed");
        assert!(screen.lines().nth(1).unwrap().starts_with("reasons 1 "), "{screen}");
        assert!(screen.lines().any(|line| line.starts_with("pvc-0") && line.contains("0299/0!")));
        tmux.press("q");
        tmux.shows("ended with 0");
    }
}

#[test]
fn top_without_a_terminal_says_what_to_use_instead() {
    let output = Command::new(env!("CARGO_BIN_EXE_basalt")).arg("top").output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no terminal; `basalt adm status`"), "{said}");
}
