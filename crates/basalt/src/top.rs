//! `basalt top`: what this node's volumes do now, in a terminal.
//!
//! A thread asks the daemon in an interval, and the terminal's thread draws what came last and
//! heeds keys: neither waits for the other, so that a daemon which hangs does not take the keys
//! with it. Rates are those between the last two answers; without an answer for a while what is
//! shown is said to be old.

mod sentence;
mod lines;
mod columns;
mod wishes;
mod keys;
mod help;
mod rows;
mod nodes;
mod cells;
mod view;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use api::client::{SOCKET_PATH_DEFAULT, SOCKET_PATH_VARIABLE, ask};
use api::request::Command;
use api::response::Reply;
use api::status::StatusReply;
use config::number::number;
use io::clock;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use stdx::time::Time;

use self::rows::Look;
use self::sentence::Sentence;
use self::wishes::{Next, Wishes};

const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// So long after the interval an answer is late, and the screen says so; it is still waited for.
const LATE_AFTER: Duration = Duration::from_secs(2);
/// How long a key may wait for the loop, and a new answer to be drawn.
const TICK: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]
    #[arg(long, value_name = "PATH")]
    node_socket: Option<PathBuf>,

    /// Seconds from one look at the daemon to the next
    #[arg(long, default_value_t = 1, value_parser = number::<u64>(1, 3600, "seconds"))]
    interval: u64,
}

/// What is known of the node.
#[derive(Debug)]
struct State {
    before: Option<Look>,
    now: Option<Look>,
    /// Why the last question was not answered; the next answer clears this.
    failure: Option<Sentence>,
    /// When the first question was asked.
    began: Time,
    interval: Duration,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    ensure!(std::io::stdout().is_terminal(), "{}", Sentence::NoTerminal);
    let named = options.node_socket.clone().or_else(|| {
        std::env::var_os(SOCKET_PATH_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
    });
    let socket = named.unwrap_or_else(|| PathBuf::from(SOCKET_PATH_DEFAULT));
    let interval = Duration::from_secs(options.interval);
    let mut state = State::new(clock::now(), interval);
    let answers = watch(socket, interval);
    // From here on the terminal is given back on every way out, a panic included.
    let mut terminal = ratatui::try_init()?;
    let result = run(&mut terminal, &answers, &mut state);
    ratatui::restore();
    result.map(|()| ExitCode::SUCCESS)
}

type Answer = Result<StatusReply, Sentence>;

/// Asks again and again; it ends with the process.
fn watch(socket: PathBuf, interval: Duration) -> Receiver<Answer> {
    // An answer that nobody has looked at yet is not piled upon.
    let (told, answers) = mpsc::sync_channel(1);
    thread::spawn(move || {
        loop {
            let command = Command::Status { resources: Vec::new(), statistics: true };
            let answer = match ask(&socket, command, ANSWER_WITHIN) {
                Ok(Reply::Status(reply)) => Ok(reply),
                Ok(_) => Err(Sentence::Confused),
                Err(error) => Err(Sentence::of(&error)),
            };
            if told.send(answer).is_err() {
                return;
            }
            thread::park_timeout(interval);
        }
    });
    answers
}

fn run(
    terminal: &mut DefaultTerminal,
    answers: &Receiver<Answer>,
    state: &mut State,
) -> Result<()> {
    let mut wishes = Wishes::default();
    loop {
        while let Ok(answer) = answers.try_recv() {
            state.take(answer, clock::now());
        }
        terminal.draw(|frame| view::draw(frame, state, clock::now(), &mut wishes))?;
        if event::poll(TICK)?
            && let Event::Key(key) = event::read()?
            && wishes.on_key(key) == Next::Quit
        {
            return Ok(());
        }
    }
}

impl State {
    fn new(began: Time, interval: Duration) -> Self {
        Self { before: None, now: None, failure: None, began, interval }
    }

    fn take(&mut self, answer: Answer, now: Time) {
        match answer {
            Ok(status) => {
                self.before = self.now.take();
                self.now = Some(Look { at: now, status });
                self.failure = None;
            }
            Err(reason) => self.failure = Some(reason),
        }
    }

    /// Why what is shown is old; none where it is of now.
    fn trouble(&self, now: Time) -> Option<Sentence> {
        let silence = now.since(self.now.as_ref().map_or(self.began, |look| look.at));
        let silent = Sentence::Silent { seconds: silence.as_secs() };
        match &self.failure {
            Some(Sentence::Silent { .. }) => Some(silent),
            Some(told) => Some(told.clone()),
            None => (silence > self.interval + LATE_AFTER).then_some(silent),
        }
    }
}

#[cfg(test)]
mod tests;
