//! Devices whose shards are slow, or which are on their way already.

use std::sync::Mutex;

use engine::contract::Ticket;
use frontend::ublk::control::operation;
use io::mailbox::Receiver;
use tempfile::TempDir;

use super::*;
use crate::devices::keeper::tests::{Kernel, driver};
use crate::devices::kept::Stage;

const LONG: Duration = Duration::from_secs(600);

/// A node with two shards, which answer nothing by themselves, and a device of each.
struct Node {
    kernel: Arc<Mutex<Kernel>>,
    devices: Arc<Devices>,
    mailboxes: Vec<Receiver<ToShard>>,
    news: Vec<(String, mpsc::Receiver<News>)>,
    _directory: TempDir,
}

impl Node {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(answers: &[(u32, &[i32])]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDir::below(directory.path());
        let (desk, mailboxes) = Desk::with_mailboxes(2, 4);
        let desk = Arc::new(desk);
        let news = (0..2).map(|shard| {
            let mut names = (0..100).map(|number| format!("r{number}"));
            let name = names.find(|name| desk.home_of(name) == shard).unwrap();
            (name, mpsc::channel())
        });
        let news: Vec<_> = news.collect();
        let mut devices = Devices::new(desk, Arc::new(state), Duration::ZERO, Names::unwanted());
        let kernel = Kernel::with(answers);
        let asked = Arc::clone(&kernel);
        devices.access = Access::by(move |_| Ok(driver(&asked)));
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
        Self { kernel, devices: Arc::new(devices), mailboxes, news, _directory: directory }
    }
}

const RECORD: DeviceRecord = DeviceRecord { device: 0, tenure: 1, losses: 0 };

impl Node {
    /// The first resource has a device that nobody keeps, and this definition.
    fn leave_first(&self) -> (String, Definition) {
        let name = self.news[0].0.clone();
        let text = format!(
            "resource {name} {{ on a {{ node-id 0; address 127.0.0.1:7001; volume 0 {{ device \
             minor 0; disk none; }} }} }}"
        );
        let definition = Definition::from_text("a", &name, &text).unwrap();
        self.kernel.lock().unwrap().mark = Plan::all_of(&definition)[0].mark;
        self.devices.state.store_device(&name, RECORD).unwrap();
        self.devices.all.remove(&name);
        (name, definition)
    }

    fn has_record(&self, name: &str) -> bool {
        self.devices.state.device_record(name).is_some()
    }

    fn has_asked_for(&self, operations: &[u32]) -> bool {
        let asked = &self.kernel.lock().unwrap().asked;
        operations.iter().all(|operation| asked.contains(operation))
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
    let Node { devices, mut mailboxes, news, _directory, .. } = Node::new();
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
    let Node { devices, mut mailboxes, news, _directory, .. } = Node::new();
    let (label, news) = &news[0];
    devices.all.note(label, Stage::Going);
    thread::scope(|scope| {
        let removing = scope.spawn(|| devices.remove(label, None, Force::No));
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
    let node = Node::with(&[(operation::DELETE_ASYNC, &[libc::EIO])]);
    let (label, definition) = node.leave_first();
    let failure = node.devices.remove(&label, Some(&definition), Force::Yes).unwrap_err();
    assert!(failure.message.contains("does not take /dev/ublkb0 away"), "{failure}");
    assert!(node.has_record(&label));
}

/// They knew only of devices with a thread: what a failed attempt to take one over had left stayed
/// there with users that waited, and with its record, and `down --force` said that all was well.
#[test]
fn device_without_a_thread_is_removed_by_force_and_refused_otherwise() {
    let node = Node::new();
    let (label, definition) = node.leave_first();
    let remove = |force| node.devices.remove(&label, Some(&definition), force);
    let failure = remove(Force::No).unwrap_err();
    assert!(failure.message.contains("/dev/ublkb0 was left by"), "{failure}");
    assert!(node.has_record(&label) && !node.has_asked_for(&[operation::STOP]));
    assert!(remove(Force::Yes).unwrap(), "there was one");
    assert!(node.has_asked_for(&[operation::STOP, operation::DELETE_ASYNC]));
    assert!(!node.has_record(&label));
}

/// A machine that started without the module could neither demote nor take down what had one.
#[test]
fn record_without_a_driver_stands_in_nobodys_way() {
    let mut node = Node::new();
    let (label, definition) = node.leave_first();
    let devices = Arc::get_mut(&mut node.devices).unwrap();
    devices.access = Access::without_driver();
    for force in [Force::No, Force::Yes] {
        assert!(!node.devices.remove(&label, Some(&definition), force).unwrap(), "there is none");
    }
    assert!(node.has_record(&label), "it is looked for when there is a driver");
}

#[test]
fn order_that_the_thread_of_a_device_did_not_hear_is_carried_out_after_its_end() {
    let node = Node::new();
    let (label, definition) = node.leave_first();
    let (sender, news) = mpsc::channel();
    let life = Arc::default();
    let kept =
        Kept { label: label.clone(), resource: label.clone(), device: 0, news: sender, life };
    assert!(node.devices.all.add(kept));
    thread::scope(|scope| {
        let removing = scope.spawn(|| node.devices.remove(&label, Some(&definition), Force::Yes));
        assert!(matches!(news.recv_timeout(LONG), Ok(News::Remove(None))));
        node.devices.all.remove(&label);
        assert!(removing.join().unwrap().unwrap());
    });
    assert!(node.has_asked_for(&[operation::DELETE_ASYNC]) && !node.has_record(&label));
}

/// `secondary` said that the driver does not take it away, which nobody had asked it to.
#[test]
fn device_that_comes_and_is_kept_in_the_end_is_not_told_of_as_one_that_stays() {
    let node = Node::new();
    let (label, definition) = node.leave_first();
    let (news, life) = (mpsc::channel().0, Arc::default());
    let kept = Kept { label: label.clone(), resource: label.clone(), device: 0, news, life };
    assert!(node.devices.all.add(kept));
    thread::scope(|scope| {
        let removing = scope.spawn(|| node.devices.remove(&label, Some(&definition), Force::No));
        for _ in 0..20 {
            thread::park_timeout(Duration::from_millis(1));
        }
        node.devices.all.remove(&label);
        let failure = removing.join().unwrap().unwrap_err();
        assert!(failure.message.contains("was left by"), "{failure}");
    });
}

/// It was called left behind at each start, long after the supervisor had ended it.
#[test]
fn record_of_a_device_that_is_gone_goes_where_the_driver_says_so() {
    let look = operation::GET_DEVICE_INFO;
    for (errno, is_forgotten) in [(libc::ENODEV, true), (libc::EIO, false), (0, false)] {
        for is_start in [true, false] {
            let node = Node::with(&[(look, &[errno])]);
            let (label, _) = node.leave_first();
            if is_start {
                node.devices.recover(&[]);
            } else {
                let removed = node.devices.remove(&label, None, Force::No);
                assert_eq!(removed.is_ok(), is_forgotten, "{errno}: {removed:?}");
            }
            assert_eq!(node.has_record(&label), !is_forgotten, "{errno}");
            assert!(!node.has_asked_for(&[operation::DELETE_ASYNC]), "it may be another's");
        }
    }
}
