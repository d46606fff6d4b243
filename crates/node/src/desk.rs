//! Questions of the control threads to the shards: each carries a ticket, and one thread hands the
//! answers out.

use std::collections::HashMap;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use api::response::{Failure, Reply};
use engine::contract::{Ticket, ToShard};
use engine::definition::resource_id;
use engine::placement;
use io::mailbox::Sender;
use stdx::mutex::lock;
use stdx::time::Time;

use crate::limits::{PATIENCE_LOGGED_AFTER, PATIENCE_POLL_INTERVAL};
use crate::refusal::Refusal;

/// Where questions to the shards are put, and their answers handed out.
#[derive(Debug)]
pub(crate) struct Desk {
    senders: Vec<Mutex<Sender<ToShard>>>,
    waiting: Mutex<Waiting>,
}

/// A question that was put.
#[derive(Debug)]
struct Asked {
    ticket: Ticket,
    is_sent: bool,
    answer: mpsc::Receiver<Result<Reply, Failure>>,
}

#[derive(Debug, Default)]
struct Waiting {
    next: Ticket,
    askers: HashMap<Ticket, mpsc::Sender<Result<Reply, Failure>>>,
}

impl Desk {
    pub(crate) fn new(senders: Vec<Mutex<Sender<ToShard>>>) -> Self {
        Self { senders, waiting: Mutex::default() }
    }

    /// With the mailboxes of so many shards, each with room for so many questions.
    #[cfg(test)]
    pub(crate) fn with_mailboxes(
        shards: u8,
        room: usize,
    ) -> (Self, Vec<io::mailbox::Receiver<ToShard>>) {
        let waker = io::Parker::new().unwrap().waker();
        let (senders, mailboxes) = (0..shards)
            .map(|_| io::mailbox::Mailbox::channel(room, waker.clone()))
            .map(|(sender, mailbox)| (Mutex::new(sender), mailbox))
            .unzip();
        (Self::new(senders), mailboxes)
    }

    pub(crate) fn shards(&self) -> u8 {
        u8::try_from(self.senders.len()).expect("few shards")
    }

    /// The home shard of a resource.
    pub(crate) fn home_of(&self, resource: &str) -> u8 {
        placement::home_shard(resource_id(resource), self.shards())
    }

    /// Asks a shard, and waits for its answer.
    pub(crate) fn ask(
        &self,
        shard: u8,
        question: impl FnOnce(Ticket) -> ToShard,
        deadline: Duration,
    ) -> Result<Reply, Failure> {
        let asked = self.put(shard, question);
        self.wait(asked, io::now() + deadline, deadline)
    }

    /// The same of a question that must not be lost, put by `insist`.
    pub(crate) fn ask_surely(
        &self,
        shard: u8,
        question: impl Fn(Ticket) -> ToShard,
        deadline: Duration,
        is_long: impl FnOnce(),
    ) -> Result<Reply, Failure> {
        let (ticket, answer) = self.take_ticket();
        let is_sent = self.insist(shard, || question(ticket), is_long);
        self.wait(Asked { ticket, is_sent, answer }, io::now() + deadline, deadline)
    }

    /// Asks all shards, and waits for their answers, by shard.
    pub(crate) fn ask_all(
        &self,
        question: impl Fn(Ticket) -> ToShard,
        deadline: Duration,
    ) -> Vec<Result<Reply, Failure>> {
        self.ask_all_until(question, io::now() + deadline, deadline)
    }

    /// The same of one of several questions that have `deadline` together.
    pub(crate) fn ask_all_until(
        &self,
        question: impl Fn(Ticket) -> ToShard,
        until: Time,
        deadline: Duration,
    ) -> Vec<Result<Reply, Failure>> {
        let asked: Vec<_> = (0..self.shards()).map(|shard| self.put(shard, &question)).collect();
        asked.into_iter().map(|asked| self.wait(asked, until, deadline)).collect()
    }

    /// The same of questions that must not be lost: a shard whose mailbox is full gets its one as
    /// soon as there is room, if that is before the deadline.
    pub(crate) fn ask_all_surely(
        &self,
        question: impl Fn(Ticket) -> ToShard,
        deadline: Duration,
    ) -> Vec<Result<Reply, Failure>> {
        let until = io::now() + deadline;
        let mut asked: Vec<_> =
            (0..self.shards()).map(|shard| self.put(shard, &question)).collect();
        while asked.iter().any(|it| !it.is_sent) && io::now() < until {
            thread::park_timeout(PATIENCE_POLL_INTERVAL);
            for (shard, it) in (0..).zip(&mut asked) {
                it.is_sent = it.is_sent || self.tell(shard, question(it.ticket));
            }
        }
        asked.into_iter().map(|asked| self.wait(asked, until, deadline)).collect()
    }

    fn put(&self, shard: u8, question: impl FnOnce(Ticket) -> ToShard) -> Asked {
        let (ticket, answer) = self.take_ticket();
        let is_sent = self.tell(shard, question(ticket));
        Asked { ticket, is_sent, answer }
    }

    fn take_ticket(&self) -> (Ticket, mpsc::Receiver<Result<Reply, Failure>>) {
        let (asker, answer) = mpsc::channel();
        let mut waiting = lock(&self.waiting);
        waiting.next += 1;
        let ticket = waiting.next;
        waiting.askers.insert(ticket, asker);
        (ticket, answer)
    }

    pub(crate) fn tell(&self, shard: u8, message: ToShard) -> bool {
        let sender = &self.senders[usize::from(shard)];
        lock(sender).send(message).is_ok()
    }

    /// Tells a shard what must not be lost, and waits as long as its mailbox is full; `is_long` is
    /// called once if that takes long. False if the shard is gone.
    pub(crate) fn insist(
        &self,
        shard: u8,
        message: impl Fn() -> ToShard,
        is_long: impl FnOnce(),
    ) -> bool {
        let began_at = io::now();
        let mut is_long = Some(is_long);
        loop {
            {
                let sender = &self.senders[usize::from(shard)];
                let mut sender = lock(sender);
                if sender.is_closed() {
                    return false;
                }
                if sender.send(message()).is_ok() {
                    return true;
                }
            }
            if io::now().since(began_at) >= PATIENCE_LOGGED_AFTER
                && let Some(is_long) = is_long.take()
            {
                is_long();
            }
            thread::park_timeout(PATIENCE_POLL_INTERVAL);
        }
    }

    fn wait(&self, asked: Asked, until: Time, deadline: Duration) -> Result<Reply, Failure> {
        let Asked { ticket, is_sent, answer } = asked;
        let result = if is_sent {
            let rest = until.since(io::now());
            answer.recv_timeout(rest).unwrap_or_else(|_| Err(no_answer(deadline)))
        } else {
            Err(overloaded())
        };
        lock(&self.waiting).askers.remove(&ticket);
        result
    }

    pub(crate) fn hand_out(&self, ticket: Ticket, answer: Result<Reply, Failure>) {
        let mut waiting = lock(&self.waiting);
        if let Some(asker) = waiting.askers.remove(&ticket) {
            // The asker may have given up.
            drop(asker.send(answer));
        }
    }

    /// Tells all shards something that they do not answer; false if one of them is overloaded.
    pub(crate) fn tell_all(&self, message: impl Fn() -> ToShard) -> bool {
        (0..self.shards()).all(|shard| self.tell(shard, message()))
    }
}

pub(crate) fn overloaded() -> Failure {
    Refusal::Overloaded.into()
}

fn no_answer(deadline: Duration) -> Failure {
    Refusal::NoAnswer { seconds: deadline.as_secs() }.into()
}

#[cfg(test)]
mod tests {

    use super::*;

    /// A shard that had no room just then went on to serve while the daemon ended.
    #[test]
    fn question_that_must_not_be_lost_waits_for_room_in_the_mailbox_of_each_shard() {
        let (desk, mut mailboxes) = Desk::with_mailboxes(3, 1);
        assert!(desk.tell(0, ToShard::Exit) && desk.tell(2, ToShard::Exit));
        let stop = |ticket| ToShard::Stop { ticket };
        let answers = thread::scope(|scope| {
            let asking = scope.spawn(|| desk.ask_all_surely(stop, Duration::from_millis(500)));
            // It is asked after the first one, which has no room then; the last one never has.
            let mut reading = 1..=1;
            while !asking.is_finished() {
                for shard in reading.clone() {
                    match mailboxes[shard].pop() {
                        Some(ToShard::Stop { ticket }) => {
                            desk.hand_out(ticket, Ok(Reply::done()));
                            reading = 0..=1;
                        }
                        None | Some(ToShard::Exit) => {}
                        Some(other) => panic!("{other:?}"),
                    }
                }
                thread::yield_now();
            }
            asking.join().unwrap()
        });
        assert!(answers[0].is_ok() && answers[1].is_ok(), "{answers:?}");
        assert_eq!(answers[2], Err(overloaded()));
    }
}
