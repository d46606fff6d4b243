//! A daemon that answers from a script: what `basalt adm` asked, and what it made of the answers.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use api::request::{Command, Request, VERSION};
use api::response::Response;
use api::wire::{WireError, read_message, write_message};
use tempfile::TempDir;

/// A directory with a socket in it, and files that a test puts there.
pub(crate) struct Place {
    directory: TempDir,
}

/// What one run of the program did.
#[derive(Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) asked: Vec<Command>,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Puts a file here; `DIR` in its content stands for this directory.
    pub(crate) fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), self.in_place(content)).unwrap();
    }

    /// Runs `basalt adm` beside a daemon that gives `answers`, one for each question, in order.
    pub(crate) fn run(&self, arguments: &[&str], answers: Vec<Response>) -> Run {
        self.run_tool("adm", arguments, answers)
    }

    pub(crate) fn run_tool(&self, tool: &str, arguments: &[&str], answers: Vec<Response>) -> Run {
        let left = Arc::new(Mutex::new(VecDeque::from(answers)));
        let of_daemon = Arc::clone(&left);
        let run = self.run_tool_beside(tool, arguments, move |_| {
            let answer = of_daemon.lock().unwrap().pop_front();
            answer.expect("no more questions than the test has answers")
        });
        let left = left.lock().unwrap();
        assert!(left.is_empty(), "answers that nobody asked for: {left:?}");
        run
    }

    /// Beside a daemon that answers each question by itself.
    pub(crate) fn run_tool_beside(
        &self,
        tool: &str,
        arguments: &[&str],
        answer: impl FnMut(&Command) -> Response + Send + 'static,
    ) -> Run {
        self.beside(answer, || self.run_tool_alone(tool, arguments))
    }

    /// `basalt adm` with this on its standard input.
    pub(crate) fn run_with_input_beside(
        &self,
        arguments: &[&str],
        input: &str,
        answer: impl FnMut(&Command) -> Response + Send + 'static,
    ) -> Run {
        self.beside(answer, || self.run_with_input(arguments, input))
    }

    fn beside(
        &self,
        answer: impl FnMut(&Command) -> Response + Send + 'static,
        run: impl FnOnce() -> Run,
    ) -> Run {
        let listener = UnixListener::bind(self.path("admin.sock")).unwrap();
        let daemon = thread::spawn(move || answer_all(&listener, answer));
        let mut run = run();
        // A connection without a question ends the daemon.
        drop(UnixStream::connect(self.path("admin.sock")).unwrap());
        run.asked = daemon.join().unwrap();
        fs::remove_file(self.path("admin.sock")).unwrap();
        run
    }

    /// Runs `basalt adm` without a daemon. In the texts, `DIR` stands for this directory.
    pub(crate) fn run_alone(&self, arguments: &[&str]) -> Run {
        self.run_tool_alone("adm", arguments)
    }

    /// Runs `basalt adm` without a daemon, and with this on its standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Run {
        self.write("input", input);
        self.run_tool_fed("adm", arguments, File::open(self.path("input")).unwrap().into())
    }

    pub(crate) fn run_tool_alone(&self, tool: &str, arguments: &[&str]) -> Run {
        self.run_tool_fed(tool, arguments, Stdio::null())
    }

    fn run_tool_fed(&self, tool: &str, arguments: &[&str], input: Stdio) -> Run {
        let arguments = arguments.iter().map(|word| self.in_place(word));
        let output = Process::new(env!("CARGO_BIN_EXE_basalt"))
            .arg(tool)
            .args(arguments)
            .env("BASALT_ADMIN_SOCKET", self.path("admin.sock"))
            .stdin(input)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| {
            let directory = self.directory.path().display().to_string();
            String::from_utf8(bytes).unwrap().replace(&directory, "DIR")
        };
        Run {
            exit: output.status.code().expect("it was not killed"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            asked: Vec::new(),
        }
    }

    fn in_place(&self, word: &str) -> String {
        word.replace("DIR", &self.directory.path().display().to_string())
    }
}

fn answer_all(
    listener: &UnixListener,
    mut answer: impl FnMut(&Command) -> Response,
) -> Vec<Command> {
    let mut asked = Vec::new();
    loop {
        let (stream, _) = listener.accept().unwrap();
        let request: Request = match read_message(BufReader::new(&stream)) {
            Ok(request) => request,
            Err(WireError::Closed) => break,
            Err(error) => panic!("a bad request: {error}"),
        };
        assert_eq!(request.version, VERSION);
        let answer = answer(&request.command);
        asked.push(request.command);
        write_message(&stream, &answer).unwrap();
    }
    asked
}

/// Listens, and never answers: the connection is taken by the kernel alone.
pub(crate) fn silent_daemon(path: &Path) -> UnixListener {
    UnixListener::bind(path).unwrap()
}
