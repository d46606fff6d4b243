//! The mailboxes between the shards of a node.
//!
//! One mailbox for each ordered pair of shards: what one says to another arrives in order, whatever
//! it is about. A turn pushes what it has and publishes once, at its end. What finds a mailbox full
//! waits behind it: its number is bounded by what clients and peers have under way.

use std::collections::VecDeque;

use io::Waker;
use io::mailbox::{Mailbox, Receiver, Sender};

use crate::contract::Cross;
use crate::limits::CROSS_CAPACITY;

/// A shard's ends of all mailboxes between shards.
#[derive(Debug)]
pub struct Ways {
    pub(super) mesh: Mesh,
    /// By the shard that speaks.
    pub(super) neighbours: Vec<(u8, Receiver<Cross>)>,
}

/// Makes a mailbox for each ordered pair of shards, and gives their ends out by shard.
pub fn make_ways(wakers: &[Waker]) -> Vec<Ways> {
    let count = u8::try_from(wakers.len()).expect("few shards");
    let mut neighbours: Vec<Vec<_>> = wakers.iter().map(|_| Vec::new()).collect();
    let meshes: Vec<_> = (0..count)
        .map(|from| {
            let line = |(to, waker): (u8, &Waker)| {
                (to != from).then(|| {
                    let (sender, receiver) = Mailbox::channel(CROSS_CAPACITY, waker.clone());
                    neighbours[usize::from(to)].push((from, receiver));
                    sender
                })
            };
            Mesh::new(from, (0..).zip(wakers).map(line).collect())
        })
        .collect();
    meshes.into_iter().zip(neighbours).map(|(mesh, neighbours)| Ways { mesh, neighbours }).collect()
}

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
