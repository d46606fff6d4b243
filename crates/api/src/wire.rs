//! One message, one line: JSON without newlines inside, and a newline at the end.

use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest line: room for the status of thousands of volumes, and a bound for a reader.
pub const LINE_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("the other side closed the admin connection without a message")]
    Closed,
    #[error("a message longer than {LINE_BYTES_MAX} bytes, or cut off before its newline")]
    Cut,
    #[error("a message that is not of this protocol: {0}")]
    Malformed(#[source] serde_json::Error),
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Writes one message.
///
/// # Errors
/// Those of the writer.
pub fn write_message<T: Serialize>(mut writer: impl Write, message: &T) -> Result<(), WireError> {
    writer.write_all(encode(message)?.as_bytes())?;
    writer.flush()?;
    Ok(())
}

/// Reads one message, at most [`LINE_BYTES_MAX`] bytes of it.
///
/// # Errors
/// Those of the reader, and a line that is cut off, too long, or not a `T`.
pub fn read_message<T: DeserializeOwned>(reader: impl BufRead) -> Result<T, WireError> {
    let mut line = Vec::new();
    reader.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    match line.last() {
        None => Err(WireError::Closed),
        Some(b'\n') => decode(&line),
        Some(_) => Err(WireError::Cut),
    }
}

/// The line of one message, newline included: for a caller that does its own reading and writing.
///
/// # Errors
/// None for the types of this crate.
pub fn encode<T: Serialize>(message: &T) -> Result<String, WireError> {
    let mut line = serde_json::to_string(message).map_err(WireError::Malformed)?;
    line.push('\n');
    Ok(line)
}

/// The message of one line, with or without its newline.
///
/// # Errors
/// If the line is not a `T`.
pub fn decode<T: DeserializeOwned>(line: &[u8]) -> Result<T, WireError> {
    serde_json::from_slice(line).map_err(WireError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Command, Request};
    use crate::response::{Failure, FailureCode, Reply, Response};

    #[test]
    fn request_line_is_as_documented() {
        let up =
            Command::Up { resource: "r0".to_owned(), config_text: "a\nb".to_owned(), fresh: false };
        let line = encode(&Request::new(up.clone())).unwrap();
        assert_eq!(
            line,
            "{\"version\":1,\"command\":{\"verb\":\"up\",\"resource\":\"r0\",\
             \"config_text\":\"a\\nb\"}}\n"
        );
        assert_eq!(read_message::<Request>(line.as_bytes()).unwrap().command, up);
    }

    #[test]
    fn response_lines_are_as_documented() {
        let ok = Response::Ok(Reply::done());
        assert_eq!(encode(&ok).unwrap(), "{\"ok\":{\"done\":{\"warnings\":[]}}}\n");
        let failure = Failure::new(FailureCode::NoQuorum, "no", "wait");
        let line = encode(&Response::Err(failure)).unwrap();
        assert_eq!(
            line,
            "{\"err\":{\"code\":\"no-quorum\",\"message\":\"no\",\"hint\":\"wait\"}}\n"
        );
    }

    #[test]
    fn code_of_a_newer_daemon_is_readable() {
        let line = b"{\"err\":{\"code\":\"moon-phase\",\"message\":\"m\"}}\n";
        let Response::Err(failure) = read_message(&line[..]).unwrap() else {
            panic!("a failure was sent");
        };
        assert_eq!(failure, Failure::new(FailureCode::Other, "m", ""));
    }

    #[test]
    fn cut_and_empty_lines_are_told_apart() {
        assert!(matches!(read_message::<Request>(&b""[..]), Err(WireError::Closed)));
        assert!(matches!(read_message::<Request>(&b"{\"version\":1"[..]), Err(WireError::Cut)));
        assert!(matches!(
            read_message::<Request>(&b"nonsense\n"[..]),
            Err(WireError::Malformed(_))
        ));
    }
}
