//! The asking side of the admin socket: one command, one answer, both within a deadline.
//!
//! The exchange runs on a thread of its own, so that a daemon which hangs in any step, the
//! connection included, costs the caller no more than the deadline. On a timeout the connection
//! is shut down and the thread ends by itself; what the daemon does with the command is unknown.

use std::io::{self, BufReader};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::request::{Command, Request};
use crate::response::{Failure, Reply, Response};
use crate::wire::{WireError, read_message, write_message};

/// Where a daemon listens unless it was told otherwise.
pub const SOCKET_PATH_DEFAULT: &str = "/run/basalt/admin.sock";
/// Names another path, for the daemon and for its tools.
pub const SOCKET_PATH_VARIABLE: &str = "BASALT_ADMIN_SOCKET";
const CONNECT_WITHIN: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("cannot reach the node daemon at {}: {source}", socket.display())]
    Unreachable { socket: PathBuf, source: io::Error },
    #[error(
        "the node daemon at {} took no connection within {} s",
        socket.display(),
        within.as_secs()
    )]
    ConnectTimeout { socket: PathBuf, within: Duration },
    #[error(
        "the node daemon at {} gave no answer to `{verb}` within {} s",
        socket.display(),
        within.as_secs_f32()
    )]
    AnswerTimeout { socket: PathBuf, verb: &'static str, within: Duration },
    #[error("talking to the node daemon at {} about `{verb}`: {source}", socket.display())]
    Wire { socket: PathBuf, verb: &'static str, source: WireError },
    /// The daemon answered, and refused.
    #[error("{0}")]
    Refused(Failure),
}

/// Sends one command to the daemon at `socket` and waits for its answer.
///
/// A connection that is reset was closed before the daemon had read the request: where very many
/// programs come at once it lets go who was silent the longest. The request is sent once more.
///
/// # Errors
/// If the daemon is not there, does not answer in time, or refuses.
pub fn ask(socket: &Path, command: Command, answer_within: Duration) -> Result<Reply, AskError> {
    match ask_once(socket, command.clone(), answer_within) {
        Err(AskError::Wire { source: WireError::Io(error), .. }) if is_unread(&error) => {
            ask_once(socket, command, answer_within)
        }
        other => other,
    }
}

fn is_unread(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

fn ask_once(socket: &Path, command: Command, answer_within: Duration) -> Result<Reply, AskError> {
    let verb = command.verb();
    let ours = connect_within(socket)?;
    let unreachable = |source| AskError::Unreachable { socket: socket.to_owned(), source };
    let theirs = ours.try_clone().map_err(unreachable)?;
    let (answered, was_answered) = mpsc::sync_channel(1);
    let request = Request::new(command).within(answer_within);
    thread::spawn(move || {
        // A caller that gave up hears no answer, and misses none.
        drop(answered.send(exchange(&theirs, &request)));
    });
    match was_answered.recv_timeout(answer_within) {
        Ok(Ok(Response::Ok(reply))) => Ok(reply),
        Ok(Ok(Response::Err(failure))) => Err(AskError::Refused(failure)),
        Ok(Err(source)) => Err(AskError::Wire { socket: socket.to_owned(), verb, source }),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            // Ends the thread's wait; a stream that is already closed needs no ending.
            drop(ours.shutdown(Shutdown::Both));
            Err(AskError::AnswerTimeout { socket: socket.to_owned(), verb, within: answer_within })
        }
    }
}

/// A connection to the daemon, or the reason why there is none in time.
pub(crate) fn connect_within(socket: &Path) -> Result<UnixStream, AskError> {
    let (connected, was_connected) = mpsc::sync_channel(1);
    let path = socket.to_owned();
    // A caller that timed out hears nothing, and the connection is closed again.
    thread::spawn(move || drop(connected.send(UnixStream::connect(path))));
    match was_connected.recv_timeout(CONNECT_WITHIN) {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(source)) => Err(AskError::Unreachable { socket: socket.to_owned(), source }),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            Err(AskError::ConnectTimeout { socket: socket.to_owned(), within: CONNECT_WITHIN })
        }
    }
}

fn exchange(stream: &UnixStream, request: &Request) -> Result<Response, WireError> {
    write_message(stream, request)?;
    read_message(BufReader::new(stream))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::FailureCode;
    use std::io::Read;
    use std::os::unix::net::UnixListener;

    fn directory_and_listener() -> (tempfile::TempDir, PathBuf, UnixListener) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("admin.sock");
        let listener = UnixListener::bind(&path).unwrap();
        (directory, path, listener)
    }

    fn serve_one(listener: UnixListener, response: Response) -> thread::JoinHandle<Request> {
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let request = read_message(BufReader::new(&stream)).unwrap();
            write_message(&stream, &response).unwrap();
            request
        })
    }

    #[test]
    fn answer_and_refusal_come_through() {
        for response in [
            Response::Ok(Reply::done()),
            Response::Err(Failure::new(FailureCode::NoQuorum, "m", "h")),
        ] {
            let (_directory, path, listener) = directory_and_listener();
            let server = serve_one(listener, response.clone());
            let answer = ask(&path, Command::Shutdown, Duration::from_secs(20));
            let request = Request::new(Command::Shutdown).within(Duration::from_secs(20));
            assert_eq!(server.join().unwrap(), request);
            assert_eq!(request.answered_within(), Some(Duration::from_secs(18)));
            match (answer, response) {
                (Ok(reply), Response::Ok(sent)) => assert_eq!(reply, sent),
                (Err(AskError::Refused(failure)), Response::Err(sent)) => assert_eq!(failure, sent),
                (answer, sent) => panic!("sent {sent:?}, got {answer:?}"),
            }
        }
    }

    /// Beside a crowd that came later it was told that the daemon had ended.
    #[test]
    fn request_that_was_not_read_is_sent_once_more() {
        let (_directory, path, listener) = directory_and_listener();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0]).unwrap();
            // The rest is there, or comes to a closed end.
            drop(stream);
            serve_one(listener, Response::Ok(Reply::done())).join().unwrap()
        });
        let answer = ask(&path, Command::Shutdown, Duration::from_secs(20)).unwrap();
        assert_eq!(answer, Reply::done());
        assert_eq!(server.join().unwrap().command, Command::Shutdown);
    }

    #[test]
    fn missing_daemon_is_told_with_its_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none.sock");
        let error = ask(&path, Command::Shutdown, Duration::from_secs(1)).unwrap_err();
        assert!(matches!(error, AskError::Unreachable { .. }), "{error}");
        assert!(error.to_string().contains("none.sock"), "{error}");
    }

    #[test]
    fn silent_daemon_costs_no_more_than_the_deadline() {
        let (_directory, path, listener) = directory_and_listener();
        let error = ask(&path, Command::Shutdown, Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, AskError::AnswerTimeout { verb: "shutdown", .. }), "{error}");
        drop(listener);
    }
}
