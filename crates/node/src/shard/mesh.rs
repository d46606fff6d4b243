//! The mailboxes between the shards of a node.
//!
//! One mailbox for each ordered pair of shards: what one says to another arrives in order, whatever
//! it is about. A turn pushes what it has and publishes once, at its end. What finds a mailbox full
//! waits behind it: its number is bounded by what clients and peers have under way.

use std::collections::VecDeque;

use io::mailbox::Sender;

use crate::contract::Cross;

#[derive(Debug)]
struct Line {
    sender: Sender<Cross>,
    backlog: VecDeque<Cross>,
}

/// A shard's ways to the other shards.
#[derive(Debug)]
pub(crate) struct Mesh {
    me: u8,
    /// By shard; none to itself.
    lines: Vec<Option<Line>>,
}

impl Mesh {
    /// `senders` by shard, with none at the place of `me`.
    pub(crate) fn new(me: u8, senders: Vec<Option<Sender<Cross>>>) -> Self {
        let line =
            |sender: Option<_>| sender.map(|sender| Line { sender, backlog: VecDeque::new() });
        Self { me, lines: senders.into_iter().map(line).collect() }
    }

    pub(crate) fn me(&self) -> u8 {
        self.me
    }

    pub(crate) fn shards(&self) -> u8 {
        u8::try_from(self.lines.len()).expect("few shards")
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.lines.len() == 1
    }

    pub(crate) fn others(&self) -> impl Iterator<Item = u8> + Clone + use<> {
        let me = self.me;
        (0..self.shards()).filter(move |shard| *shard != me)
    }

    /// Queues a message; it leaves with `publish`.
    pub(crate) fn send(&mut self, to: u8, message: Cross) {
        let line = self.lines[usize::from(to)].as_mut().expect("nobody writes to itself");
        if !line.backlog.is_empty() {
            line.backlog.push_back(message);
        } else if let Err(message) = line.sender.push(message) {
            line.backlog.push_back(message);
        }
    }

    pub(crate) fn publish(&mut self) {
        for line in self.lines.iter_mut().flatten() {
            while let Some(message) = line.backlog.pop_front() {
                if let Err(message) = line.sender.push(message) {
                    line.backlog.push_front(message);
                    break;
                }
            }
            line.sender.publish();
        }
    }

    /// Whether something waits for room: nobody tells when there is some.
    pub(crate) fn has_backlog(&self) -> bool {
        self.lines.iter().flatten().any(|line| !line.backlog.is_empty())
    }
}
