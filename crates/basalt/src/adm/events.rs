//! `events2`: the state of resources, and then every change of it, a line each.
//!
//! A state that comes again after changes were lost is told as `exists` lines, like the first;
//! what is gone since then is told as `destroy` before them.

pub(crate) mod line;

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use api::client::AskError;
use api::events::{Action, Counters, events, helper_event};
use api::request::Command;
use api::status::ResourceStatus;
use api::subscription::{Next, Subscription, Update};

use crate::adm::arguments::Events2;
use crate::adm::dates::now_us;
use crate::adm::events::line::{Changes, Fields, Stamps, Style};
use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::outcome::{Form, failure_lines};
use crate::adm::question::{answer_within, socket, states};
use crate::adm::status_text::Statistics;
use crate::adm::target::{Scope, names, parse_targets, sole_name};
use crate::called;

/// The exit code.
pub(crate) fn events2(general: &General, options: &Events2) -> u8 {
    match follow(general, options) {
        Ok(()) | Err(Stop::ReaderGone) => 0,
        Err(Stop::Failed(error)) => {
            let resource = sole_name(&options.targets);
            let text = error.text(resource.unwrap_or_else(|| called::program()), "events2");
            // Without a standard error nobody can be told.
            io::stderr().write_all(text.as_bytes()).ok();
            if general.json {
                let line = failure_lines("events2", resource, &error);
                io::stdout().write_all(line.as_bytes()).ok();
            }
            error.exit()
        }
    }
}

/// Why no more is told.
enum Stop {
    ReaderGone,
    Failed(Box<AdmError>),
}

impl From<AdmError> for Stop {
    fn from(error: AdmError) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl From<AskError> for Stop {
    fn from(error: AskError) -> Self {
        AdmError::from(error).into()
    }
}

fn follow(general: &General, options: &Events2) -> Result<(), Stop> {
    let names = names(&parse_targets(&options.targets, Scope::Resource)?);
    let statistics = options.statistics;
    let mut teller = Teller {
        style: style(general, options),
        known: BTreeMap::new(),
        counters: if statistics { Counters::Compared } else { Counters::Ignored },
    };
    if options.now {
        let shown = if statistics { Statistics::Shown } else { Statistics::Hidden };
        let mut wishes = Wishes::new();
        loop {
            // One that is not up may come: that there is nothing to tell of it is no failure.
            let resources = states(general, names.clone(), shown, |_, _| {})?;
            let at_us = now_us();
            teller.known.clear();
            teller.update(Update::All { at_us, lost: 0, resources })?;
            if !options.poll || !wishes.next() {
                return Ok(());
            }
        }
    }
    let command = Command::Events { resources: names, statistics };
    let subscription = Subscription::open(&socket(general), command, answer_within(general))?;
    let input = options.poll.then(|| Input::listen(&subscription)).transpose()?;
    loop {
        let next = subscription.next(None);
        if input.as_ref().is_some_and(|input| input.is_over.load(Ordering::Acquire)) {
            return Ok(());
        }
        let Next::Update(update) = next? else { continue };
        let is_answer = matches!(update, Update::All { .. } | Update::Polled);
        teller.update(update)?;
        if let Some(input) = input.as_ref().filter(|_| is_answer) {
            // The other end is gone once the input is over.
            input.answered.send(()).ok();
        }
    }
}

fn style(general: &General, options: &Events2) -> Style {
    Style {
        form: if general.json { Form::Json } else { Form::Text },
        stamps: if options.timestamps { Stamps::Shown } else { Stamps::Hidden },
        fields: if options.full { Fields::All } else { Fields::Changed },
        changes: if options.diff { Changes::OldAndNew } else { Changes::New },
        counters: if options.statistics { line::Counters::Shown } else { line::Counters::Hidden },
    }
}

/// The input of `--poll`: each `n` is a wish, lines may end anywhere, and all else ends it.
struct Wishes {
    input: BufReader<io::Stdin>,
}

impl Wishes {
    fn new() -> Self {
        Self { input: BufReader::new(io::stdin()) }
    }

    /// Whether another one came; waits for it.
    fn next(&mut self) -> bool {
        let read = self.input.by_ref().bytes().find(|byte| !matches!(byte, Ok(b'\n')));
        matches!(read, Some(Ok(b'n')))
    }
}

/// Standard input, read beside the subscription: not before there is something to compare with,
/// and one wish at a time, so that each is answered.
struct Input {
    answered: mpsc::Sender<()>,
    is_over: Arc<AtomicBool>,
}

impl Input {
    fn listen(subscription: &Subscription) -> Result<Self, AskError> {
        let poller = subscription.poller()?;
        let (answered, answers) = mpsc::channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        thread::spawn(move || {
            let mut wishes = Wishes::new();
            while answers.recv().is_ok() && wishes.next() {
                // The whole state may have come again without a wish.
                answers.try_iter().for_each(drop);
                if poller.poll().is_err() {
                    // The reader of the subscription finds out why.
                    return;
                }
            }
            over.store(true, Ordering::Release);
            poller.end();
        });
        Ok(Self { answered, is_over })
    }
}

/// What was told so far, and how to tell more.
struct Teller {
    style: Style,
    known: BTreeMap<String, ResourceStatus>,
    counters: Counters,
}

impl Teller {
    fn update(&mut self, update: Update) -> Result<(), Stop> {
        let mut text = String::new();
        match update {
            Update::All { at_us, lost, resources } => self.all(at_us, lost, resources, &mut text),
            Update::Changed { at_us, polled, resource } => {
                let before = self.known.get(&resource.name);
                let counters = if polled { self.counters } else { Counters::Ignored };
                for event in events(before, Some(&resource), Action::Create, counters) {
                    text.extend(self.style.line(at_us, &event));
                }
                self.known.insert(resource.name.clone(), *resource);
            }
            Update::Gone { at_us, resource } => self.gone(at_us, &resource, &mut text),
            Update::Helper { at_us, call } => {
                text.extend(self.style.line(at_us, &helper_event(&call)));
            }
            Update::Polled | Update::Alive => {}
        }
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            Err(_) => Err(Stop::ReaderGone),
        }
    }

    fn all(&mut self, at_us: u64, lost: u64, resources: Vec<ResourceStatus>, text: &mut String) {
        if lost > 0 {
            text.extend(self.style.lost(at_us, lost));
            if self.style.form == Form::Text {
                let note = format!("events2: {lost} changes were not read in time\n");
                io::stderr().write_all(note.as_bytes()).ok();
            }
        }
        let is_gone = |name: &&String| !resources.iter().any(|it| it.name == **name);
        let gone: Vec<String> = self.known.keys().filter(is_gone).cloned().collect();
        for name in gone {
            self.gone(at_us, &name, text);
        }
        for resource in resources {
            for event in events(None, Some(&resource), Action::Exists, Counters::Ignored) {
                text.extend(self.style.line(at_us, &event));
            }
            self.known.insert(resource.name.clone(), resource);
        }
        text.push_str(&self.style.end_of_existing(at_us));
    }

    fn gone(&mut self, at_us: u64, name: &str, text: &mut String) {
        let Some(before) = self.known.remove(name) else { return };
        for event in events(Some(&before), None, Action::Create, Counters::Ignored) {
            text.extend(self.style.line(at_us, &event));
        }
    }
}
