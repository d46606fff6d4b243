//! Places of commands, of streams of events and of scrapes: who waits leaves others theirs.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use api::request::Request;
use api::response::Response;
use api::wire::{read_message, write_message};

use super::*;
use crate::admin;
use crate::limits::{ADMIN_ARRIVING_MAX, ADMIN_CONNECTIONS_MAX, SCRAPES_MAX, SUBSCRIBERS_MAX};

/// A node whose admin socket is served, and where that is.
fn served(text: &str) -> (Node, PathBuf) {
    let node = Node::with(text);
    let path = node.directory.path().join("admin");
    let listener = admin::listen(&path, None).unwrap();
    let control = Arc::clone(&node.control);
    thread::spawn(move || admin::serve(&control, &listener));
    (node, path)
}

fn begin(path: &Path, command: Command) -> UnixStream {
    let stream = UnixStream::connect(path).unwrap();
    write_message(&stream, &Request::new(command)).unwrap();
    stream
}

fn response(stream: &UnixStream) -> Response {
    read_message(BufReader::new(stream)).unwrap()
}

fn status_of_r0() -> Command {
    Command::Status { resources: vec!["r0".to_owned()], statistics: false }
}

/// They held all places for as long as `fence-peer` may take, and `status` was refused.
#[test]
fn commands_that_wait_leave_their_places_to_others() {
    let (mut node, path) = served(&text(""));
    let mut waiting = Vec::new();
    while waiting.len() < ADMIN_CONNECTIONS_MAX {
        let primary = Command::Primary { resource: "r0".to_owned(), force: false };
        let stream = begin(&path, primary);
        let message = std::iter::repeat_with(|| node.mailbox.pop()).flatten().next().unwrap();
        waiting.push((stream, ticket_of(&message)));
    }
    let stream = begin(&path, status_of_r0());
    let told = node.serve(|_| response(&stream), &mut nothing);
    assert!(matches!(told, Response::Ok(Reply::Status(_))), "{told:?}");
    for (stream, ticket) in waiting {
        node.control.desk.hand_out(ticket, Err(failed("no quorum")));
        let told = response(&stream);
        assert!(matches!(told, Response::Err(_)), "{told:?}");
    }
}

/// Whoever asked heard nothing, and was told that the daemon may hang.
#[test]
fn command_that_takes_long_goes_on_when_its_asker_has_been_told_so() {
    let (mut node, path) = served(&text(""));
    let wanted = text("options { quorum majority; }");
    let (resource, scope) = ("r0".to_owned(), AdjustScope::default());
    let config_text = wanted.clone();
    let adjust = Command::Adjust { resource, config_text, dry_run: false, scope };
    let stream = UnixStream::connect(&path).unwrap();
    let request = Request::new(adjust).within(Duration::from_millis(500));
    write_message(&stream, &request).unwrap();
    let Response::Err(failure) = response(&stream) else { panic!("nobody answers it yet") };
    assert_eq!(failure.code, FailureCode::Unfinished, "{failure}");
    assert!(failure.message.contains("goes on"), "{failure}");
    assert!(failure.hint.contains("`basalt adm status r0`"), "{failure}");
    let is_stored = |control: &Control| {
        while control.stored_text("r0").unwrap().as_ref() != Some(&wanted) {
            thread::yield_now();
        }
    };
    node.serve(is_stored, &mut nothing);
}

/// They held half of the places of commands.
#[test]
fn streams_of_events_leave_the_places_of_commands_to_these() {
    let (mut node, path) = served(&text(""));
    let events = || Command::Events { resources: Vec::new(), statistics: false };
    let mut streams = Vec::new();
    for _ in 0..SUBSCRIBERS_MAX {
        let stream = begin(&path, events());
        assert!(matches!(response(&stream), Response::Ok(_)));
        streams.push(stream);
    }
    let Response::Err(failure) = response(&begin(&path, events())) else { panic!("one too many") };
    let told = format!("{SUBSCRIBERS_MAX} programs are watching already");
    assert_eq!((failure.code, failure.message), (FailureCode::StateRefused, told));
    // Who has not said what it wants has no place.
    let connect = |_| UnixStream::connect(&path).unwrap();
    let silent: Vec<_> = (0..ADMIN_ARRIVING_MAX).map(connect).collect();
    let stream = begin(&path, status_of_r0());
    let told = node.serve(|_| response(&stream), &mut nothing);
    assert!(matches!(told, Response::Ok(Reply::Status(_))), "{told:?}");
    drop((streams, silent));
}

/// The place is that of the work: each waits for the data thread, and has asked before.
#[test]
fn command_too_many_is_told_so_and_finds_a_place_when_another_one_is_done() {
    let (mut node, path) = served(&text(""));
    let begin_one = |node: &mut Node| {
        let stream = begin(&path, status_of_r0());
        let message = std::iter::repeat_with(|| node.mailbox.pop()).flatten().next().unwrap();
        (stream, ticket_of(&message))
    };
    let mut working = Vec::new();
    while working.len() < ADMIN_CONNECTIONS_MAX {
        working.push(begin_one(&mut node));
    }
    let Response::Err(failure) = response(&begin(&path, status_of_r0())) else {
        panic!("one too many")
    };
    let told = format!("{ADMIN_CONNECTIONS_MAX} admin commands are served already");
    assert_eq!((failure.code, failure.message), (FailureCode::StateRefused, told));
    assert!(failure.hint.contains("fuser -v"), "{}", failure.hint);
    for (stream, ticket) in working {
        node.control.desk.hand_out(ticket, Err(failed("it was not to be")));
        assert!(matches!(response(&stream), Response::Err(_)));
    }
    // The last thread may not have ended yet.
    let until = io::now() + Duration::from_secs(60);
    let told = loop {
        let stream = begin(&path, status_of_r0());
        let told = node.serve(|_| response(&stream), &mut nothing);
        if matches!(told, Response::Ok(_)) || io::now() > until {
            break told;
        }
    };
    assert!(matches!(told, Response::Ok(Reply::Status(_))), "{told:?}");
}

/// It was cut off without a word.
#[test]
fn scrape_too_many_is_told_so() {
    let mut node = Node::with(&text(""));
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let door = scrape::open(&node.control, address).unwrap();
    let ask = || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        stream
    };
    let answer = |mut stream: TcpStream| {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let begin_one = |_| {
        let stream = ask();
        let message = std::iter::repeat_with(|| node.mailbox.pop()).flatten().next().unwrap();
        (stream, ticket_of(&message))
    };
    let working: Vec<_> = (0..SCRAPES_MAX).map(begin_one).collect();
    let told = answer(ask());
    assert!(told.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{told}");
    assert!(told.contains("4 scrapes are served already"), "{told}");
    for (stream, ticket) in working {
        node.control.desk.hand_out(ticket, Err(failed("it was not to be")));
        assert!(answer(stream).contains("it was not to be"));
    }
    door.close();
}
