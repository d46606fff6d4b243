//! Connections that have not asked anything yet: who connects and is silent keeps nobody waiting.
//!
//! One thread waits for all of them, and gathers what each says until its first request is whole.
//! Only then is a connection handed out, to a thread and a place of its own. Until then it costs a
//! descriptor and what it said.
//!
//! Bounds: so many connections, so many bytes of all of them, and a deadline for each, counted from
//! its beginning, so that one byte after the other gains no time. A connection too many is let in:
//! the one that was silent the longest gives way. It is handed out as well, to be told the reason.
//! Where it is no fault to be silent there is no deadline, and the number alone bounds them.
//!
//! The same of connections that do not take their answer: see `Answers`.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use ::io::process::is_writable_within;
use stdx::time::Time;

use crate::accepting::{Accepting, Place, Served};
use crate::limits::ACCEPT_REST;

/// A listener, and the connections that it takes. None of them makes a caller wait.
pub(crate) trait Listening: AsFd {
    type Stream: AsFd;

    fn wait_for_nothing(&self) -> Result<()>;
    fn accept_waiting(&self) -> Result<Self::Stream>;
    fn read(stream: &Self::Stream, bytes: &mut [u8]) -> Result<usize>;
    /// As much of it as there is room for.
    fn write(stream: &Self::Stream, bytes: &[u8]) -> Result<usize>;
}

/// What they are held to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Connections that have not asked yet.
    pub(crate) connections: usize,
    /// Bytes that all of them have said.
    pub(crate) bytes: usize,
    /// Bytes of one request; one that is longer is handed out as far as it came.
    pub(crate) request_bytes: usize,
    /// How long one may take for its request; `None` for as long as nobody needs its place.
    pub(crate) deadline: Option<Duration>,
    pub(crate) end: End,
}

/// How the end of a request is found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// It ends with these bytes. What follows them is read as well.
    Mark(&'static [u8]),
    /// How many bytes are missing of it, by what was said. Nothing behind it is read.
    Missing(fn(&[u8]) -> usize),
}

impl End {
    /// Whether what was said is a whole request; it was not, so many bytes before.
    fn is_reached(self, said: &[u8], before: usize) -> bool {
        match self {
            Self::Mark(mark) => {
                let news = &said[before.saturating_sub(mark.len() - 1)..];
                news.windows(mark.len()).any(|it| it == mark)
            }
            Self::Missing(missing) => missing(said) == 0,
        }
    }

    /// How much more may be read of one that said this.
    fn room(self, said: &[u8]) -> usize {
        match self {
            Self::Mark(_) => PIECE_BYTES,
            Self::Missing(missing) => missing(said).min(PIECE_BYTES),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Arrival<S> {
    /// It asked this, and perhaps said more. Or it ended, or said too much: then this is no whole
    /// request.
    Asked(S, Vec<u8>),
    GivesWay(S, Reason),
}

/// Why one that has not asked yet is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Its time is up.
    Late,
    /// There are too many, and it was silent the longest.
    Silent,
    /// They have said too much, and it the most.
    Large,
}

pub(crate) struct Arrivals<'a, L: Listening> {
    listener: &'a L,
    accepting: Accepting<'a>,
    bounds: Bounds,
    /// Those that have not asked yet, the one that was silent the longest first.
    waiting: Vec<Arriving<L::Stream>>,
    /// None are accepted before this, after one could not be.
    accepts_from: Time,
    /// Where what is read lies first.
    piece: Vec<u8>,
}

struct Arriving<S> {
    stream: S,
    said: Vec<u8>,
    until: Option<Time>,
}

/// Bytes that are read of one at a time, before the others have their turn.
const PIECE_BYTES: usize = 64 << 10;

impl<'a, L: Listening> Arrivals<'a, L> {
    pub(crate) fn of(listener: &'a L, accepting: Accepting<'a>, bounds: Bounds) -> Result<Self> {
        listener.wait_for_nothing()?;
        let (waiting, piece) = (Vec::new(), vec![0; PIECE_BYTES]);
        Ok(Self { listener, accepting, bounds, waiting, accepts_from: Time::ZERO, piece })
    }

    /// Waits until something happens to one of them, and hands out whoever has asked or gives way.
    pub(crate) fn turn(&mut self) -> Vec<Arrival<L::Stream>> {
        let readable = self.wait();
        let mut out = Vec::new();
        // Those that have asked are out before one of them would give way.
        self.hear(&readable, &mut out);
        if readable.last() == Some(&true) {
            self.accept(&mut out);
        }
        self.let_go(::io::now(), &mut out);
        out
    }

    /// Who has something to read, the listener last.
    fn wait(&mut self) -> Vec<bool> {
        let now = ::io::now();
        let may_accept = self.accepts_from <= now;
        let streams = self.waiting.iter().map(|it| it.stream.as_fd());
        let listener = may_accept.then(|| self.listener.as_fd());
        let descriptors: Vec<_> = streams.chain(listener).collect();
        let deadlines = self.waiting.iter().filter_map(|it| it.until);
        let next = deadlines.chain((!may_accept).then_some(self.accepts_from)).min();
        let waited = ::io::wait_for_input_of_any(&descriptors, next.map(|it| it.since(now)));
        let mut readable = match waited {
            Ok(readable) => readable,
            Err(error) => {
                let nobody: Option<()> = self.accepting.take(Err(error));
                assert_eq!(nobody, None, "an error is nobody");
                Vec::new()
            }
        };
        readable.resize(self.waiting.len() + 1, false);
        readable
    }

    fn hear(&mut self, readable: &[bool], out: &mut Vec<Arrival<L::Stream>>) {
        let waiting = std::mem::take(&mut self.waiting);
        let mut spoke = Vec::new();
        for (mut arriving, &is_readable) in waiting.into_iter().zip(readable) {
            if !is_readable {
                self.waiting.push(arriving);
                continue;
            }
            let room = self.bounds.end.room(&arriving.said);
            let came = match L::read(&arriving.stream, &mut self.piece[..room]) {
                Ok(came) => came,
                Err(error) if is_for_now(error.kind()) => {
                    self.waiting.push(arriving);
                    continue;
                }
                // It is gone.
                Err(_) => continue,
            };
            let before = arriving.said.len();
            arriving.said.extend_from_slice(&self.piece[..came]);
            let is_at_its_end = came == 0;
            if is_at_its_end && before == 0 {
                continue;
            }
            let is_whole = self.bounds.end.is_reached(&arriving.said, before)
                || arriving.said.len() >= self.bounds.request_bytes;
            if is_at_its_end || is_whole {
                out.push(Arrival::Asked(arriving.stream, arriving.said));
            } else {
                spoke.push(arriving);
            }
        }
        self.waiting.append(&mut spoke);
    }

    fn accept(&mut self, out: &mut Vec<Arrival<L::Stream>>) {
        let accepted = self.listener.accept_waiting();
        if accepted.as_ref().is_err_and(|error| is_for_now(error.kind())) {
            return;
        }
        let now = ::io::now();
        let Some(stream) = self.accepting.note(accepted) else {
            self.accepts_from = now + ACCEPT_REST;
            return;
        };
        if self.waiting.len() == self.bounds.connections {
            out.push(Arrival::GivesWay(self.waiting.remove(0).stream, Reason::Silent));
        }
        let until = self.bounds.deadline.map(|deadline| now + deadline);
        self.waiting.push(Arriving { stream, said: Vec::new(), until });
    }

    /// Whose time is up, and who said the most where all said too much.
    fn let_go(&mut self, now: Time, out: &mut Vec<Arrival<L::Stream>>) {
        for late in self.waiting.extract_if(.., |it| it.until.is_some_and(|until| until <= now)) {
            out.push(Arrival::GivesWay(late.stream, Reason::Late));
        }
        while self.waiting.iter().map(|it| it.said.len()).sum::<usize>() > self.bounds.bytes {
            let sizes = self.waiting.iter().map(|it| it.said.len()).enumerate();
            let Some((largest, _)) = sizes.max_by_key(|(_, bytes)| *bytes) else { return };
            out.push(Arrival::GivesWay(self.waiting.remove(largest).stream, Reason::Large));
        }
    }
}

/// Says a last word to one that is let go, as far as its socket takes that at once.
pub(crate) fn dismiss<L: Listening>(stream: &L::Stream, word: &[u8]) -> Result<()> {
    // What is unread when a connection is closed would keep it from hearing the word.
    if let Err(error) = L::read(stream, &mut [0; 4096])
        && !is_for_now(error.kind())
    {
        return Err(error);
    }
    match L::write(stream, word)? {
        all if all == word.len() => Ok(()),
        _ => Err(ErrorKind::WriteZero.into()),
    }
}

/// Answers connections that may take their answer slowly. Who does has no place among those that
/// work, but one among so many slow ones, and a deadline, however little it takes at a time.
#[derive(Debug)]
pub(crate) struct Answers {
    slow: Served,
    deadline: Duration,
}

impl Answers {
    pub(crate) fn of(slow_max: usize, deadline: Duration) -> Self {
        Self { slow: Served::up_to(slow_max), deadline }
    }

    /// Says all of it; `work` is the place that is over with that.
    pub(crate) fn send<L: Listening>(
        &self,
        stream: &L::Stream,
        bytes: &[u8],
        work: Option<Place>,
    ) -> Result<()> {
        let until = ::io::now() + self.deadline;
        let (mut work, mut slow) = (work, None);
        let mut rest = bytes;
        while !rest.is_empty() {
            match L::write(stream, rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => rest = &rest[written..],
                Err(error) if is_for_now(error.kind()) => {
                    if slow.is_none() {
                        slow = Some(self.slow.take().ok_or(ErrorKind::ResourceBusy)?);
                        drop(work.take());
                    }
                    let left = until.since(::io::now());
                    if left.is_zero() || !is_writable_within(stream.as_fd(), left)? {
                        return Err(ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Reason {
    /// For the one that is let go.
    pub(crate) fn told(self, bounds: &Bounds) -> String {
        let Bounds { connections, bytes, deadline, .. } = bounds;
        match self {
            Self::Late => {
                let seconds = deadline.unwrap_or_default().as_secs_f32();
                format!("no whole request came within {seconds} s")
            }
            Self::Silent => format!(
                "{connections} connections that have not asked anything yet are open already, and \
                 this one was silent the longest"
            ),
            Self::Large => format!(
                "connections without a whole request yet have sent more than {bytes} bytes, and \
                 this one the most"
            ),
        }
    }
}

impl Listening for UnixListener {
    type Stream = UnixStream;

    fn wait_for_nothing(&self) -> Result<()> {
        self.set_nonblocking(true)
    }

    fn accept_waiting(&self) -> Result<UnixStream> {
        let (stream, _) = self.accept()?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }

    fn read(mut stream: &UnixStream, bytes: &mut [u8]) -> Result<usize> {
        stream.read(bytes)
    }

    fn write(mut stream: &UnixStream, bytes: &[u8]) -> Result<usize> {
        stream.write(bytes)
    }
}

impl Listening for TcpListener {
    type Stream = TcpStream;

    fn wait_for_nothing(&self) -> Result<()> {
        self.set_nonblocking(true)
    }

    fn accept_waiting(&self) -> Result<TcpStream> {
        let (stream, _) = self.accept()?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }

    fn read(mut stream: &TcpStream, bytes: &mut [u8]) -> Result<usize> {
        stream.read(bytes)
    }

    fn write(mut stream: &TcpStream, bytes: &[u8]) -> Result<usize> {
        stream.write(bytes)
    }
}

fn is_for_now(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use engine::log::Scope;
    use tempfile::TempDir;

    use super::*;

    const BOUNDS: Bounds = Bounds {
        connections: 3,
        bytes: 16,
        request_bytes: 12,
        deadline: Some(Duration::from_secs(60)),
        end: End::Mark(b".."),
    };

    struct Place {
        listener: UnixListener,
        path: PathBuf,
        _directory: TempDir,
    }

    impl Place {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("door");
            let listener = UnixListener::bind(&path).unwrap();
            Self { listener, path, _directory: directory }
        }

        fn arrivals(&self, bounds: Bounds) -> Arrivals<'_, UnixListener> {
            Arrivals::of(&self.listener, Accepting::new(Scope::NODE, "a test"), bounds).unwrap()
        }

        /// One more, that is let in.
        fn come(&self, arrivals: &mut Arrivals<'_, UnixListener>) -> UnixStream {
            let stream = UnixStream::connect(&self.path).unwrap();
            assert!(arrivals.turn().is_empty());
            stream
        }
    }

    fn say(mut stream: &UnixStream, bytes: &[u8]) {
        stream.write_all(bytes).unwrap();
    }

    /// What each of those that are out had said, or why it gives way.
    fn told(arrivals: Vec<Arrival<UnixStream>>) -> Vec<std::result::Result<Vec<u8>, Reason>> {
        let told = |arrival| match arrival {
            Arrival::Asked(_, said) => Ok(said),
            Arrival::GivesWay(_, reason) => Err(reason),
        };
        arrivals.into_iter().map(told).collect()
    }

    #[test]
    fn whole_requests_are_out_with_what_follows_them() {
        let place = Place::new();
        let mut arrivals = place.arrivals(BOUNDS);
        let [first, second] = [(); 2].map(|()| place.come(&mut arrivals));
        say(&first, b"one.");
        assert_eq!(told(arrivals.turn()), []);
        say(&second, b"two..more");
        assert_eq!(told(arrivals.turn()), [Ok(b"two..more".to_vec())]);
        say(&first, b".");
        assert_eq!(told(arrivals.turn()), [Ok(b"one..".to_vec())]);
    }

    #[test]
    fn too_long_and_cut_off_ones_are_out_and_those_that_go_are_gone() {
        let place = Place::new();
        let mut arrivals = place.arrivals(BOUNDS);
        let [long, cut, gone] = [(); 3].map(|()| place.come(&mut arrivals));
        say(&long, b"no end of it");
        assert_eq!(told(arrivals.turn()), [Ok(b"no end of it".to_vec())]);
        say(&cut, b"cut");
        assert_eq!(told(arrivals.turn()), []);
        drop(cut);
        assert_eq!(told(arrivals.turn()), [Ok(b"cut".to_vec())]);
        drop(gone);
        assert_eq!(told(arrivals.turn()), []);
        assert!(arrivals.waiting.is_empty());
    }

    #[test]
    fn one_too_many_has_the_one_give_way_that_was_silent_the_longest() {
        let place = Place::new();
        let mut arrivals = place.arrivals(BOUNDS);
        let [first, _second, _third] = [(); 3].map(|()| place.come(&mut arrivals));
        say(&first, b"1");
        assert_eq!(told(arrivals.turn()), []);
        let _fourth = UnixStream::connect(&place.path).unwrap();
        assert_eq!(told(arrivals.turn()), [Err(Reason::Silent)]);
        say(&first, b"..");
        assert_eq!(told(arrivals.turn()), [Ok(b"1..".to_vec())], "it is there yet");
    }

    /// Those that say little are not meant.
    #[test]
    fn where_all_say_too_much_the_one_that_said_the_most_gives_way() {
        let place = Place::new();
        let mut arrivals = place.arrivals(BOUNDS);
        let [small, large, larger] = [(); 3].map(|()| place.come(&mut arrivals));
        say(&large, b"seven b");
        assert_eq!(told(arrivals.turn()), []);
        say(&larger, b"eight by");
        assert_eq!(told(arrivals.turn()), []);
        say(&small, b"st");
        assert_eq!(told(arrivals.turn()), [Err(Reason::Large)]);
        say(&large, b"..");
        assert_eq!(told(arrivals.turn()), [Ok(b"seven b..".to_vec())]);
    }

    /// It held its place for as long as it liked.
    #[test]
    fn byte_after_the_other_gains_no_time() {
        let place = Place::new();
        let deadline = Duration::from_millis(50);
        let mut arrivals = place.arrivals(Bounds { request_bytes: 1 << 20, ..BOUNDS });
        arrivals.bounds.bytes = 1 << 20;
        arrivals.bounds.deadline = Some(deadline);
        let before = ::io::now();
        let slow = place.come(&mut arrivals);
        loop {
            say(&slow, b"1");
            match &told(arrivals.turn())[..] {
                [] => assert!(::io::now() < before + deadline * 100, "it is there for ever"),
                out => break assert_eq!(out, [Err(Reason::Late)]),
            }
        }
        assert!(::io::now() >= before + deadline);
    }

    /// What follows the request is for whoever is handed the connection.
    #[test]
    fn request_of_a_length_is_out_without_what_follows_it() {
        // As many bytes as the first one says.
        let missing = |said: &[u8]| match said {
            [] => 1,
            [length, rest @ ..] => usize::from(length - b'0') - rest.len(),
        };
        let place = Place::new();
        let mut arrivals =
            place.arrivals(Bounds { deadline: None, end: End::Missing(missing), ..BOUNDS });
        let [first, silent] = [(); 2].map(|()| place.come(&mut arrivals));
        say(&first, b"3ab");
        assert_eq!(told(arrivals.turn()), []);
        say(&first, b"cmore");
        // The length comes first, and then what it counts.
        let mut out = told(arrivals.turn());
        while out.is_empty() {
            out = told(arrivals.turn());
        }
        assert_eq!(out, [Ok(b"3abc".to_vec())]);
        drop(silent);
        assert_eq!(told(arrivals.turn()), []);
        assert!(arrivals.waiting.is_empty());
    }

    /// They held the places of the work, those of a scrape for ever.
    #[test]
    fn answer_that_is_not_taken_holds_no_place_of_the_work_and_ends_in_time() {
        let answers = Answers::of(1, Duration::from_millis(50));
        let long = vec![1; 16 << 20];
        let served = Served::up_to(1);
        let [first, second] = [(); 2].map(|()| UnixStream::pair().unwrap());
        first.0.set_nonblocking(true).unwrap();
        second.0.set_nonblocking(true).unwrap();
        let send = |stream: &UnixStream, work| answers.send::<UnixListener>(stream, &long, work);
        std::thread::scope(|scope| {
            let work = served.take();
            let before = ::io::now();
            let slow = scope.spawn(|| send(&first.0, work));
            while served.take().is_none() {
                std::thread::yield_now();
            }
            let refused = send(&second.0, None).unwrap_err();
            assert!(matches!(refused.kind(), ErrorKind::ResourceBusy), "{refused}");
            // A little is taken again and again.
            let mut outside = &first.1;
            while !slow.is_finished() {
                drop(outside.read(&mut [0; 1]));
            }
            let late = slow.join().unwrap().unwrap_err();
            assert_eq!(late.kind(), ErrorKind::TimedOut, "{late}");
            assert!(::io::now() >= before + answers.deadline);
        });
    }

    #[test]
    fn dismissed_one_hears_why_though_it_said_more() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut outside = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        outside.write_all(b"GET /").unwrap();
        let stream = listener.accept_waiting().unwrap();
        ::io::wait_for_input_of_any(&[stream.as_fd()], None).unwrap();
        dismiss::<TcpListener>(&stream, b"no").unwrap();
        drop(stream);
        let mut told = String::new();
        outside.read_to_string(&mut told).unwrap();
        assert_eq!(told, "no");
    }
}
