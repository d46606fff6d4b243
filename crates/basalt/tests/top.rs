//! `basalt top` in a real terminal of 80 columns and 24 lines, which tmux plays.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

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
            std::thread::park_timeout(Duration::from_millis(50));
        }
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

#[test]
fn top_draws_heeds_keys_and_gives_the_terminal_back() {
    if Command::new("tmux").arg("-V").output().is_err() {
        skip("tmux is not installed");
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
    let command = format!(
        "{} top --node-socket {}; echo ended with $?; stty -a; sleep 60",
        env!("CARGO_BIN_EXE_basalt"),
        state.join("admin.sock").display()
    );
    tmux.run(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", &command]);
    let screen = tmux.shows("resources 0");
    assert!(screen.starts_with("alfa  basalt"), "{screen}");
    assert!(screen.contains("VOLUME") && screen.contains("PEER"), "{screen}");
    tmux.press("?");
    tmux.shows("keys and columns");
    tmux.press("x");
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
    drop(daemon);
    tmux.shows("cannot reach the node daemon");
    tmux.press("q");
    let screen = tmux.shows("ended with 0");
    assert!(!screen.contains("VOLUME"), "the former screen is back:\n{screen}");
    let screen = tmux.shows(" icanon");
    assert!(screen.contains(" echo "), "lines and echo are as before:\n{screen}");
}

#[test]
fn top_without_a_terminal_says_what_to_use_instead() {
    let output = Command::new(env!("CARGO_BIN_EXE_basalt")).arg("top").output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no terminal; `basalt adm status`"), "{said}");
}
