//! Programs that connect to a node's own sockets and ask nothing, or ask more than is served at a
//! time: whoever asks is answered, or told at once why not.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use api::request::{Command, Request};
use api::response::Response;
use api::wire::{encode, read_message};
use io::now;

use crate::deaf::Deaf;
use crate::harness::{Cluster, own_port};
use crate::metrics::scrape;

/// Far below what one that asks nothing has for its request.
const AT_ONCE: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(15);

/// How one behaves that is connected.
#[derive(Clone, Copy, Debug)]
enum Habit {
    Silent,
    /// It sent a part of a request.
    HalfSent,
    /// It sends one byte after the other.
    ByteByByte,
    /// It was there, and ended what it has to say.
    Ended,
}

const HABITS: [Habit; 4] = [Habit::Silent, Habit::HalfSent, Habit::ByteByByte, Habit::Ended];
/// More than are served at a time, and more than may be there at all.
const CROWDS: [usize; 2] = [200, 600];

/// Connections, which last until this is dropped. One of them may be told to go.
struct Crowd {
    all: Vec<Box<dyn Write + Send>>,
}

impl Crowd {
    fn of(count: usize, habit: Habit, connect: &dyn Fn() -> Box<dyn Write + Send>) -> Self {
        let mut all = Vec::new();
        for _ in 0..count {
            let mut one = connect();
            if let Habit::HalfSent = habit {
                drop(one.write_all(b"{\"version\":1,"));
            }
            all.push(one);
        }
        if let Habit::Ended = habit {
            all.clear();
        }
        Self { all }
    }

    /// Goes on while `work` is done.
    fn beside(&mut self, habit: Habit, work: impl FnOnce()) {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            if let Habit::ByteByByte = habit {
                let (all, is_over) = (&mut self.all, &is_over);
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        all.iter_mut().for_each(|one| drop(one.write_all(b" ")));
                        thread::park_timeout(Duration::from_millis(20));
                    }
                });
            }
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            is_over.store(true, Ordering::Relaxed);
            outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
    }
}

/// A node that serves metrics.
fn node_with_metrics() -> (Cluster, SocketAddr) {
    let mut cluster = Cluster::prepare(1, 0);
    let address = own_port();
    cluster.nodes[0].words = vec!["--metrics".to_owned(), address.to_string()];
    cluster.begin();
    (cluster, address)
}

/// They held all places for as long as they had for a request, or longer.
#[test]
fn who_asks_nothing_keeps_no_admin_command_waiting() {
    let cluster = Cluster::plan(1).start();
    let socket = cluster.admin_socket(0);
    for habit in HABITS {
        for count in CROWDS {
            let connect =
                || -> Box<dyn Write + Send> { Box::new(UnixStream::connect(&socket).unwrap()) };
            let mut crowd = Crowd::of(count, habit, &connect);
            crowd.beside(habit, || {
                for _ in 0..3 {
                    let before = now();
                    cluster.adm_ok(0, &["role", "r0"]);
                    let took = now().since(before);
                    assert!(took < AT_ONCE, "{count} that are {habit:?}: {took:?}");
                }
            });
        }
    }
}

#[test]
fn who_asks_nothing_keeps_no_scrape_waiting() {
    let (_cluster, address) = node_with_metrics();
    for habit in HABITS {
        for count in CROWDS {
            let connect =
                || -> Box<dyn Write + Send> { Box::new(TcpStream::connect(address).unwrap()) };
            let mut crowd = Crowd::of(count, habit, &connect);
            crowd.beside(habit, || {
                for _ in 0..3 {
                    let before = now();
                    assert!(scrape(address).contains("drbd_resource_role"));
                    let took = now().since(before);
                    assert!(took < AT_ONCE, "{count} that are {habit:?}: {took:?}");
                }
            });
        }
    }
}

/// Sends all of it, one byte at a time.
fn send_slowly(stream: &mut impl Write, bytes: &[u8]) -> std::io::Result<()> {
    for byte in bytes {
        stream.write_all(&[*byte])?;
        thread::park_timeout(Duration::from_millis(2));
    }
    Ok(())
}

#[test]
fn requests_that_come_byte_by_byte_are_answered() {
    let (cluster, address) = node_with_metrics();
    let mut stream = UnixStream::connect(cluster.admin_socket(0)).unwrap();
    let status = Command::Status { resources: vec!["r0".to_owned()], statistics: false };
    send_slowly(&mut stream, encode(&Request::new(status)).unwrap().as_bytes()).unwrap();
    assert!(matches!(read_message(BufReader::new(&stream)).unwrap(), Response::Ok(_)));
    let mut stream = TcpStream::connect(address).unwrap();
    send_slowly(&mut stream, b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

/// The one that was silent the longest is told why it has to go, and by the command line, too.
#[test]
fn who_asks_nothing_for_too_long_is_told_why_it_gives_way() {
    let (cluster, address) = node_with_metrics();
    let connect = |_| UnixStream::connect(cluster.admin_socket(0)).unwrap();
    let held: Vec<UnixStream> = (0..257).map(connect).collect();
    held[0].set_read_timeout(Some(PATIENCE)).unwrap();
    let Response::Err(failure) = read_message(BufReader::new(&held[0])).unwrap() else {
        panic!("it asked nothing")
    };
    let what = "256 connections that have not asked anything yet are open already";
    assert!(failure.message.contains(what), "{failure}");
    assert!(failure.hint.contains("fuser -v"), "{failure}");
    let mut held: Vec<TcpStream> = (0..65).map(|_| TcpStream::connect(address).unwrap()).collect();
    held[0].set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answer = String::new();
    held[0].read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{answer}");
    assert!(answer.contains("64 connections that have not asked anything yet"), "{answer}");
}

/// Commands that wait for a disk which answers nothing hold all places.
#[test]
fn an_admin_command_too_many_is_told_so() {
    let mut cluster = Cluster::prepare(1, 0);
    let Some(deaf) = Deaf::at(&cluster.disk(0)) else { return };
    cluster.launch(0);
    let config_text = std::fs::read_to_string(cluster.config()).unwrap();
    let up = || {
        let up = Command::Up {
            resource: "r0".to_owned(),
            config_text: config_text.clone(),
            fresh: false,
        };
        let mut stream = UnixStream::connect(cluster.admin_socket(0)).unwrap();
        stream.write_all(encode(&Request::new(up)).unwrap().as_bytes()).unwrap();
        stream
    };
    let held: Vec<UnixStream> = (0..64).map(|_| up()).collect();
    let before = now();
    let said = cluster.adm_refused(0, &["status"]);
    assert!(now().since(before) < AT_ONCE, "{said}");
    assert!(said.contains("64 admin commands are served already"), "{said}");
    assert!(said.contains("fuser -v"), "{said}");
    drop((held, deaf));
    cluster.poll(0, "room", || cluster.adm(0, &["status"]).status.success().then_some(()));
}
