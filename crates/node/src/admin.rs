//! The admin socket: one request and one response per connection, each with a deadline; only a
//! subscriber's connection stays. Who has not asked yet has no place among those that are served.
//! What may wait for long has places of its own: however many do, somebody is told why.

use std::fs::Permissions;
use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use api::request::{Command, Request, VERSION};
use api::response::{Failure, Reply, Response};
use api::subscription::Wish;
use api::wire::{WireError, encode, read_message, write_message};
use engine::log::{self, Level, Scope, log};

use crate::accepting::{Accepting, Place, Served};
use crate::arrivals::{Answers, Arrival, Arrivals, Bounds, End, dismiss};
use crate::control::Control;
use crate::control::watch::{Subscriber, too_many_subscribers};
use crate::error::NodeError;
use crate::limits::{
    ADMIN_ARRIVING_BYTES_MAX, ADMIN_ARRIVING_MAX, ADMIN_CONNECTIONS_MAX, ADMIN_IO_DEADLINE,
    ADMIN_REQUEST_BYTES_MAX, ADMIN_WAITING_MAX, SLOW_ANSWERS_MAX, SUBSCRIBER_STALL_MAX,
    SUBSCRIBERS_MAX,
};
use crate::options::places::{self, taken};
use crate::options::sentence::Sentence;
use crate::refusal::Refusal;

/// For the daemon's own user, and for a group if one is named.
pub(crate) fn listen(path: &Path, group: Option<&str>) -> Result<UnixListener, NodeError> {
    let failed = |error: &dyn std::fmt::Display| NodeError::AdminSocket {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let group = group.map(group_id).transpose().map_err(|error| failed(&error))?;
    // Who may speak here may do anything to the resources.
    let listener = io::listen_unix(path, 0o600).map_err(|error| {
        if error.kind() == ErrorKind::AddrInUse {
            let place = places::Place::Unix(path.to_owned());
            return NodeError::Refused(taken("admin-socket", &place));
        }
        failed(&error)
    })?;
    let listener = UnixListener::from(listener);
    if let Some(group) = group {
        chown(path, None, Some(group))
            .and_then(|()| std::fs::set_permissions(path, Permissions::from_mode(0o660)))
            .map_err(|error| failed(&format!("it cannot be given to group {group}: {error}")))?;
    }
    Ok(listener)
}

/// The number of a group: it is one, or /etc/group has it.
pub(crate) fn group_id(group: &str) -> Result<u32, Sentence> {
    if let Ok(number) = group.parse() {
        return Ok(number);
    }
    let text = std::fs::read_to_string("/etc/group")
        .map_err(|error| Sentence::GroupsUnreadable { error: error.to_string() })?;
    let number = text.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == group).then(|| fields.nth(1)?.parse().ok())?
    });
    number.ok_or_else(|| Sentence::NoGroup { group: group.to_owned() })
}

/// Places of those that may stay long: they leave the others to short commands.
#[derive(Debug)]
struct Rooms {
    /// For promotions, which may wait for scripts that take minutes.
    waiting: Served,
    /// For subscribers.
    streams: Served,
    answers: Answers,
}

const BOUNDS: Bounds = Bounds {
    connections: ADMIN_ARRIVING_MAX,
    bytes: ADMIN_ARRIVING_BYTES_MAX,
    request_bytes: ADMIN_REQUEST_BYTES_MAX,
    deadline: Some(ADMIN_IO_DEADLINE),
    end: End::Mark(b"\n"),
};

pub(crate) fn serve(control: &Arc<Control>, listener: &UnixListener) {
    let served = Served::up_to(ADMIN_CONNECTIONS_MAX);
    let rooms = Arc::new(Rooms {
        waiting: Served::up_to(ADMIN_WAITING_MAX),
        streams: Served::up_to(SUBSCRIBERS_MAX),
        answers: Answers::of(SLOW_ANSWERS_MAX, ADMIN_IO_DEADLINE),
    });
    let accepting = Accepting::new(Scope::NODE, "an admin connection");
    let mut arrivals = match Arrivals::of(listener, accepting, BOUNDS) {
        Ok(arrivals) => arrivals,
        Err(error) => {
            log!(Error, Scope::NODE, "no admin command is served: {error}; start it again");
            return;
        }
    };
    loop {
        for arrival in arrivals.turn() {
            let arrived = match arrival {
                Arrival::Asked(stream, said) => (stream, said),
                Arrival::GivesWay(stream, reason) => {
                    turn_away(&stream, Refusal::GivesWay { reason: reason.told(&BOUNDS) });
                    continue;
                }
            };
            let (control, rooms) = (Arc::clone(control), Arc::clone(&rooms));
            let one_too_many = served.start("admin-client", arrived, move |arrived, place| {
                if let Err(error) = answer(&control, arrived, place, &rooms) {
                    log!(Info, Scope::NODE, "an admin connection failed: {error}");
                }
            });
            if let Some((stream, _)) = one_too_many {
                turn_away(&stream, Refusal::ManyCommands { max: ADMIN_CONNECTIONS_MAX });
            }
        }
    }
}

/// Tells one that gets no answer why.
fn turn_away(stream: &UnixStream, why: Refusal) {
    let response = Response::Err(why.into());
    let told = encode(&response).and_then(|word| {
        dismiss::<UnixListener>(stream, word.as_bytes())?;
        Ok(())
    });
    if let Err(error) = told {
        log!(Info, Scope::NODE, "an admin connection was cut off without a word: {error}");
    }
}

fn answer(
    control: &Arc<Control>,
    (stream, said): &(UnixStream, Vec<u8>),
    mut place: Place,
    rooms: &Rooms,
) -> Result<(), WireError> {
    let mut said = &said[..];
    let response = match read_message::<Request>(&mut said) {
        Ok(request) if request.version != VERSION => {
            let tool = request.version;
            Response::Err(Refusal::OtherVersion { tool, daemon: VERSION }.into())
        }
        Ok(Request { command: Command::Events { resources, statistics }, .. }) => {
            let placed = rooms.streams.take().ok_or_else(too_many_subscribers);
            let subscribed = placed.and_then(|streaming| {
                place = streaming;
                control.subscribe(resources, statistics.into())
            });
            match subscribed {
                Ok(subscriber) => return feed(control, &subscriber, stream, said),
                Err(failure) => Response::Err(failure),
            }
        }
        Ok(request) => {
            let placed = give_way(&request.command, &mut place, &rooms.waiting);
            match placed.and_then(|()| execute(control, request, place)) {
                Ok(reply) => Response::Ok(reply),
                Err(failure) => Response::Err(failure),
            }
        }
        Err(error @ (WireError::Malformed(_) | WireError::Cut)) => {
            Response::Err(Refusal::Malformed { reason: error.to_string() }.into())
        }
        Err(error) => return Err(error),
    };
    rooms.answers.send::<UnixListener>(stream, encode(&response)?.as_bytes(), None)?;
    Ok(())
}

/// Carries it out to its end, with its place. Whoever does not wait so long is told that it goes
/// on.
fn execute(control: &Arc<Control>, request: Request, place: Place) -> Result<Reply, Failure> {
    let is_long = !request.command.is_question() && request.command != Command::Shutdown;
    let limit = request.answered_within().filter(|_| is_long);
    let command = request.command;
    let Some(limit) = limit else { return control.execute(command) };
    let (unfinished, verb) = (unfinished(&command, limit), command.verb());
    let about = command.resource().unwrap_or_default().to_owned();
    // What is not taken from it any more comes back to the one who sends it.
    let (done, is_done) = mpsc::sync_channel(0);
    let control = Arc::clone(control);
    let started = thread::Builder::new().name("admin-command".to_owned()).spawn(move || {
        let Err(late) = done.send(control.execute(command)) else { return };
        for (level, line) in late_lines(verb, late.0) {
            log::line(level, Scope::resource(&about), &line);
        }
        drop(place);
    });
    started.map_err(|error| Refusal::NoThread { error })?;
    is_done.recv_timeout(limit).unwrap_or(Err(unfinished))
}

/// What the log tells of the end of a command for which nobody waited any more: all that whoever
/// asked would have been told.
fn late_lines(verb: &str, outcome: Result<Reply, Failure>) -> Vec<(Level, String)> {
    let warnings = match outcome {
        Ok(Reply::Done { warnings } | Reply::Adjusted { warnings, .. }) => warnings,
        Ok(Reply::Status(_) | Reply::Running(_)) => Vec::new(),
        Err(failure) => {
            let line = format!("`{verb}`, for which nobody waited any more, failed: {failure}");
            return vec![(Level::Warning, line)];
        }
    };
    let done = format!("`{verb}` is done, for which nobody waited any more");
    let warnings = warnings
        .into_iter()
        .map(|warning| (Level::Warning, format!("`{verb}` is done, but: {warning}")));
    std::iter::once((Level::Notice, done)).chain(warnings).collect()
}

fn unfinished(command: &Command, limit: Duration) -> Failure {
    let resource = command.resource().map(str::to_owned);
    Refusal::Unfinished { seconds: limit.as_secs_f32(), resource }.into()
}

/// A promotion may wait for scripts that take minutes: it leaves its place to others.
fn give_way(command: &Command, place: &mut Place, waiting: &Served) -> Result<(), Failure> {
    let Command::Primary { .. } = command else { return Ok(()) };
    let taken = waiting.take();
    *place = taken.ok_or(Refusal::ManyPromotions { max: ADMIN_WAITING_MAX })?;
    Ok(())
}

/// Tells a subscriber what changes, until either side ends.
fn feed(
    control: &Arc<Control>,
    subscriber: &Arc<Subscriber>,
    stream: &UnixStream,
    said: &[u8],
) -> Result<(), WireError> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(ADMIN_IO_DEADLINE))?;
    let result = hear_wishes(control, subscriber, stream, said).and_then(|()| {
        write_message(stream, &Response::Ok(Reply::done()))?;
        stream.set_write_timeout(Some(SUBSCRIBER_STALL_MAX))?;
        while let Some(update) = subscriber.next() {
            write_message(stream, &update)?;
        }
        Ok(())
    });
    control.unsubscribe(subscriber);
    // Ends the thread that hears it.
    drop(stream.shutdown(std::net::Shutdown::Both));
    match result {
        // The usual end: the other side has enough.
        Err(WireError::Io(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// A thread that reads what the subscriber says beyond what it said already, and ends the
/// subscription with the connection.
fn hear_wishes(
    control: &Arc<Control>,
    subscriber: &Arc<Subscriber>,
    stream: &UnixStream,
    said: &[u8],
) -> Result<(), WireError> {
    let (control, subscriber) = (Arc::clone(control), Arc::clone(subscriber));
    let said = Cursor::new(said.to_vec());
    let mut reader = BufReader::new(said.chain(stream.try_clone()?));
    thread::Builder::new().name("admin-wishes".to_owned()).spawn(move || {
        while let Ok(Wish::Poll) = read_message(&mut reader) {
            control.poll(&subscriber);
        }
        control.unsubscribe(&subscriber);
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use api::response::FailureCode;

    use super::*;

    /// They were nowhere: that a volume has no block device, as that it is not in use.
    #[test]
    fn log_has_the_warnings_of_a_command_for_which_nobody_waited_any_more() {
        let warnings = || vec!["no block device".to_owned(), "not in use".to_owned()];
        let adjusted =
            Reply::Adjusted { changes: vec!["new-peer".to_owned()], warnings: warnings() };
        for reply in [Reply::Done { warnings: warnings() }, adjusted] {
            let lines = late_lines("adjust", Ok(reply));
            let levels: Vec<_> = lines.iter().map(|(level, _)| *level).collect();
            assert_eq!(levels, [Level::Notice, Level::Warning, Level::Warning]);
            assert!(lines[0].1.contains("`adjust` is done"), "{lines:?}");
            assert!(lines[1].1.contains("no block device"), "{lines:?}");
            assert!(lines[2].1.contains("not in use"), "{lines:?}");
        }
        let failure = Failure::new(FailureCode::DiskFailed, "it is too small", "");
        let [(Level::Warning, line)] = &late_lines("up", Err(failure))[..] else { panic!("one") };
        assert!(line.contains("`up`") && line.contains("it is too small"), "{line}");
    }
}
