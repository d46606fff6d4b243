//! Devices whose shards are slow, or which are on their way already.

use std::sync::Mutex;

use io::Parker;
use io::mailbox::{Mailbox, Receiver};
use tempfile::TempDir;

use super::*;
use crate::devices::kept::Stage;
use crate::patience::Patience;
use crate::shard::messages::Ticket;
use crate::state_dir::DeviceRecord;

const LONG: Duration = Duration::from_secs(600);

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
            let kept = Kept {
                label: label.clone(),
                resource,
                device: 0,
                news: sender.clone(),
                life: Arc::default(),
            };
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

/// They were asked one after the other: a shard that said nothing for ten seconds left no time to
/// the devices of the others.
#[test]
fn end_waits_for_no_shard_before_it_asks_the_next_one() {
    let Node { devices, mut mailboxes, news, _directory } = Node::new();
    let desk = Arc::clone(&devices.desk);
    thread::scope(|scope| {
        let ending = scope.spawn(|| devices.end_all());
        let until = io::now() + DEVICE_LOOK_DEADLINE / 2;
        let mut tickets = [None; 2];
        while tickets.contains(&None) && io::now() < until {
            for (ticket, mailbox) in tickets.iter_mut().zip(&mut mailboxes) {
                *ticket = ticket.or_else(|| asked(mailbox));
            }
            thread::yield_now();
        }
        for ticket in tickets.iter().flatten() {
            let busy = Failure::new(FailureCode::StateRefused, "it is busy", "");
            desk.hand_out(*ticket, Err(busy));
        }
        assert!(tickets.iter().all(Option::is_some), "{tickets:?}");
        for (label, news) in &news {
            assert!(matches!(news.recv_timeout(LONG), Ok(News::Leave)));
            devices.all.remove(label);
        }
        ending.join().unwrap();
    });
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

/// The command said that it was gone, and the node stepped back with it.
#[test]
fn device_that_the_driver_does_not_take_away_is_told() {
    let Node { devices, news, _directory, .. } = Node::new();
    let (label, news) = &news[0];
    let record = DeviceRecord { device: 0, tenure: 1, losses: 0 };
    devices.state.store_device(label, record).unwrap();
    thread::scope(|scope| {
        let removing = scope.spawn(|| devices.remove(label, Force::Yes));
        assert!(matches!(news.recv_timeout(LONG), Ok(News::Remove(None))));
        devices.all.remove(label);
        let failure = removing.join().unwrap().unwrap_err();
        assert!(failure.message.contains("/dev/ublkb0"), "{failure}");
    });
    assert!(!devices.remove(label, Force::No).unwrap(), "nobody keeps it any more");
}
