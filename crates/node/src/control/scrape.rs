//! The door for Prometheus: `/metrics` over HTTP, and `/healthz`, by which load balancers ask
//! whether the daemon answers. The door takes GET and HEAD, and nothing else.
//!
//! One request for each connection, read to the end of its head; whatever the head says beyond its
//! first line does not matter. Who gets no answer is told why with 503 or 408. There is no
//! encryption and no password: the address should be one that only the monitoring reaches, best a
//! loopback one.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use api::response::Reply;
use engine::log::{Scope, log};

use crate::accepting::{Accepting, Served};
use crate::arrivals::{Answers, Arrival, Arrivals, Bounds, End, Reason, dismiss};
use crate::control::{Control, metrics, spawn};
use crate::error::NodeError;
use crate::limits::{
    SCRAPE_DEADLINE, SCRAPE_HEAD_BYTES_MAX, SCRAPES_ARRIVING_MAX, SCRAPES_MAX, SLOW_ANSWERS_MAX,
};
use crate::options::places::{Place, taken};

/// The address at which it listens, until it is closed.
#[derive(Debug)]
pub(super) struct Door {
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
    /// Has no sender any more once the address is free.
    let_go: mpsc::Receiver<()>,
}

impl Door {
    /// Has a thread `serve` whoever comes, until that ends by itself or the door is closed.
    fn open(
        listener: TcpListener,
        serve: impl FnOnce(&TcpListener, &AtomicBool) + Send + 'static,
    ) -> Result<Self, NodeError> {
        let address = listener.local_addr().map_err(|error| NodeError::System {
            what: "tell where metrics are served",
            source: error,
        })?;
        let is_closed = Arc::<AtomicBool>::default();
        let (holds, let_go) = mpsc::channel();
        let door = Self { address, is_closed: Arc::clone(&is_closed), let_go };
        spawn("metrics", move || {
            serve(&listener, &is_closed);
            drop(listener);
            drop(holds);
        })?;
        Ok(door)
    }

    /// Lets another process have the address: this one's end alone does not where a thread of it
    /// stays, for what the process has open stays then, too.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        // Whoever waits for a connection is waked by one.
        drop(TcpStream::connect_timeout(&self.address, SCRAPE_DEADLINE / 10));
        if self.let_go.recv_timeout(SCRAPE_DEADLINE / 10) == Err(mpsc::RecvTimeoutError::Timeout) {
            log!(
                Warning,
                Scope::NODE,
                "{} of the metrics is not free yet: if the next daemon does not get it, start it \
                 again",
                self.address
            );
        }
    }
}

/// Serves scrapes from a thread of its own.
pub(super) fn open(control: &Arc<Control>, address: SocketAddr) -> Result<Door, NodeError> {
    let listener = TcpListener::bind(address).map_err(|error| {
        if error.kind() == ErrorKind::AddrInUse {
            return NodeError::Refused(taken("metrics", &Place::Tcp(address)));
        }
        NodeError::Metrics { address, source: error }
    })?;
    if !address.ip().is_loopback() {
        log!(
            Warning,
            Scope::NODE,
            "metrics are served to everybody who reaches {address}: prefer a loopback address"
        );
    }
    let control = Arc::clone(control);
    Door::open(listener, move |listener, is_closed| serve(&control, listener, is_closed))
}

const BOUNDS: Bounds = Bounds {
    connections: SCRAPES_ARRIVING_MAX,
    bytes: SCRAPES_ARRIVING_MAX * SCRAPE_HEAD_BYTES_MAX,
    request_bytes: SCRAPE_HEAD_BYTES_MAX,
    deadline: Some(SCRAPE_DEADLINE),
    end: End::Mark(b"\r\n\r\n"),
};

fn serve(control: &Arc<Control>, listener: &TcpListener, is_closed: &AtomicBool) {
    let scrapes = Served::up_to(SCRAPES_MAX);
    let answers = Arc::new(Answers::of(SLOW_ANSWERS_MAX, SCRAPE_DEADLINE));
    let accepting = Accepting::new(Scope::NODE, "a scrape of the metrics");
    let mut arrivals = match Arrivals::of(listener, accepting, BOUNDS) {
        Ok(arrivals) => arrivals,
        Err(error) => {
            log!(Error, Scope::NODE, "no metrics are served: {error}; start it again");
            return;
        }
    };
    while !is_closed.load(Ordering::Acquire) {
        for arrival in arrivals.turn() {
            let arrived = match arrival {
                Arrival::Asked(stream, head) => (stream, head),
                Arrival::GivesWay(stream, reason @ Reason::Late) => {
                    turn_away(&stream, "408 Request Timeout", &reason.told(&BOUNDS));
                    continue;
                }
                Arrival::GivesWay(stream, reason @ (Reason::Silent | Reason::Large)) => {
                    turn_away(&stream, UNAVAILABLE, &reason.told(&BOUNDS));
                    continue;
                }
            };
            let (control, answers) = (Arc::clone(control), Arc::clone(&answers));
            let one_too_many = scrapes.start("scrape", arrived, move |(stream, head), place| {
                let answer = answer(&control, head);
                let sent = answers.send::<TcpListener>(stream, answer.as_bytes(), Some(place));
                if let Err(error) = sent {
                    log!(Info, Scope::NODE, "a scrape of the metrics failed: {error}");
                }
            });
            if let Some((stream, _)) = one_too_many {
                let reason = format!("{SCRAPES_MAX} scrapes are served already; try again");
                turn_away(&stream, UNAVAILABLE, &reason);
            }
        }
    }
}

/// Tells one that gets no answer why.
fn turn_away(stream: &TcpStream, status: &str, reason: &str) {
    let word = reply(Method::Other, status, TEXT, &format!("{reason}\n"));
    if let Err(error) = dismiss::<TcpListener>(stream, word.as_bytes()) {
        log!(Info, Scope::NODE, "a scrape of the metrics was cut off without a word: {error}");
    }
}

fn answer(control: &Control, head: &[u8]) -> String {
    let (method, route) = route(head);
    let (status, kind, body) = match route {
        Route::Metrics => metrics_of(control),
        Route::Health => ("200 OK", TEXT, "ok\n".to_owned()),
        Route::Elsewhere => ("404 Not Found", TEXT, "ask for /metrics or /healthz\n".to_owned()),
        Route::OtherMethod => (
            "405 Method Not Allowed\r\nAllow: GET, HEAD",
            TEXT,
            "ask with GET or HEAD\n".to_owned(),
        ),
        Route::NotHttp => ("400 Bad Request", TEXT, "ask with GET /metrics\n".to_owned()),
    };
    reply(method, status, kind, &body)
}

const TEXT: &str = "text/plain";
const UNAVAILABLE: &str = "503 Service Unavailable";

fn metrics_of(control: &Control) -> (&'static str, &'static str, String) {
    match control.status(&[], true) {
        Ok(Reply::Status(reply)) => {
            ("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics::text(&reply))
        }
        Ok(Reply::Done { .. } | Reply::Adjusted { .. } | Reply::Running(_)) => {
            ("500 Internal Server Error", TEXT, "no status\n".to_owned())
        }
        Err(failure) => (UNAVAILABLE, TEXT, format!("{failure}\n")),
    }
}

/// The head of an answer with its body, which HEAD leaves out, though its length is told (RFC 9110,
/// 9.3.2).
fn reply(method: Method, status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    let body = match method {
        Method::Head => "",
        Method::Get | Method::Other => body,
    };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Get,
    Head,
    Other,
}

#[derive(Debug, PartialEq, Eq)]
enum Route {
    Metrics,
    Health,
    Elsewhere,
    OtherMethod,
    NotHttp,
}

fn route(head: &[u8]) -> (Method, Route) {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let words: Vec<&str> = line.split(' ').collect();
    let [method, target, version] = words[..] else { return (Method::Other, Route::NotHttp) };
    if !version.starts_with("HTTP/1.") {
        return (Method::Other, Route::NotHttp);
    }
    let method = match method {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        _ => return (Method::Other, Route::OtherMethod),
    };
    let route = match target.split('?').next().unwrap_or_default() {
        "/metrics" => Route::Metrics,
        "/healthz" => Route::Health,
        _ => Route::Elsewhere,
    };
    (method, route)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn get_and_head_of_metrics_and_health_are_answered_and_nothing_else() {
        let get = |route| (Method::Get, route);
        let head = |route| (Method::Head, route);
        let other = |route| (Method::Other, route);
        assert_eq!(route(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), get(Route::Metrics));
        assert_eq!(route(b"GET /metrics?x=1 HTTP/1.0\r\n\r\n"), get(Route::Metrics));
        assert_eq!(route(b"HEAD /metrics HTTP/1.1\r\n\r\n"), head(Route::Metrics));
        assert_eq!(route(b"HEAD /healthz HTTP/1.0\r\n\r\n"), head(Route::Health));
        assert_eq!(route(b"GET /healthz?verbose HTTP/1.1\r\n\r\n"), get(Route::Health));
        assert_eq!(route(b"GET / HTTP/1.1\r\n\r\n"), get(Route::Elsewhere));
        assert_eq!(route(b"HEAD / HTTP/1.1\r\n\r\n"), head(Route::Elsewhere));
        assert_eq!(route(b"POST /metrics HTTP/1.1\r\n\r\n"), other(Route::OtherMethod));
        assert_eq!(route(b"get /metrics HTTP/1.1\r\n\r\n"), other(Route::OtherMethod));
        assert_eq!(route(b"\x16\x03\x01 nonsense"), other(Route::NotHttp));
        assert_eq!(route(b""), other(Route::NotHttp));
    }

    #[test]
    fn head_is_answered_with_the_length_of_the_body_and_without_it() {
        let get = reply(Method::Get, "200 OK", TEXT, "four");
        let head = reply(Method::Head, "200 OK", TEXT, "four");
        assert!(head.contains("Content-Length: 4\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        assert_eq!(get, format!("{head}four"));
    }

    /// The process ends at once, and the thread that has the address may not run before that.
    #[test]
    fn closed_door_leaves_its_address_to_others() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let door = Door::open(listener, |listener, _| {
            drop(listener.accept());
            thread::park_timeout(SCRAPE_DEADLINE / 100);
        });
        door.unwrap().close();
        drop(TcpListener::bind(address).expect("nobody listens there"));
    }
}
