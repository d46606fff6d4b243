//! Devices whose shards are slow, or which are on their way already.

use std::sync::Mutex;

use io::Parker;
use io::mailbox::{Mailbox, Receiver};
use tempfile::TempDir;

use super::*;
use crate::patience::Patience;
use crate::shard::messages::Ticket;

/// A node with two shards, which answer nothing by themselves, and a device of each.
struct Node {
    devices: Arc<Devices>,
    mailboxes: Vec<Receiver<ToShard>>,
    news: Vec<(String, mpsc::Receiver<News>)>,
    _directory: TempDir,
}

impl Node {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut patience = Patience::new(Duration::ZERO);
        let state = StateDir::open(&directory.path().join("state"), &mut patience).unwrap();
        let waker = Parker::new().unwrap().waker();
        let (senders, mailboxes) = (0..2)
            .map(|_| Mailbox::channel(4, waker.clone()))
            .map(|(it, end)| (Mutex::new(it), end))
            .unzip();
        let desk = Arc::new(Desk::new(senders));
        let news = (0..2).map(|shard| {
            let mut names = (0..100).map(|number| format!("r{number}"));
            let name = names.find(|name| desk.home_of(name) == shard).unwrap();
            (name, mpsc::channel())
        });
        let news: Vec<_> = news.collect();
        let devices = Devices::new(desk, Arc::new(state), Duration::ZERO, Names::unwanted());
        for (resource, (sender, _)) in &news {
            let (label, resource) = (resource.clone(), resource.clone());
            let kept = Kept { label: label.clone(), resource, device: 0, news: sender.clone() };
            assert!(devices.all.add(kept));
            devices.all.note(&label, Stage::There);
        }
        let news = news.into_iter().map(|(name, (_, news))| (name, news)).collect();
        Self { devices: Arc::new(devices), mailboxes, news, _directory: directory }
    }
}

/// The next question to a shard.
fn asked(mailbox: &mut Receiver<ToShard>) -> Option<Ticket> {
    match mailbox.pop() {
        Some(ToShard::Status { ticket, .. }) => Some(ticket),
        Some(other) => panic!("{other:?}"),
        None => None,
    }
}

/// It was claimed once more, and was in use by the first claim.
#[test]
fn device_that_is_to_go_already_is_waited_for() {
    let Node { devices, mut mailboxes, news, _directory } = Node::new();
    let (label, news) = &news[0];
    devices.all.note(label, Stage::Going);
    thread::scope(|scope| {
        let removing = scope.spawn(|| devices.remove(label, Force::No));
        for _ in 0..50 {
            thread::park_timeout(Duration::from_millis(1));
        }
        devices.all.remove(label);
        removing.join().unwrap().unwrap();
    });
    assert_eq!(asked(&mut mailboxes[0]), None, "whether it can be written out");
    assert!(news.try_recv().is_err(), "it was told before");
}
