//! The thread of a device whose shard has no time for it, or whose driver fails.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::thread;

use format::ids::Nonce;
use format::space::Place;
use frontend::ublk::control::{FEATURES, Shape, operation};
use io::mailbox::{Mailbox, Receiver};
use io::{Command, Parker};
use replication::resource::Reign;
use tempfile::TempDir;

use super::*;

/// A node with one shard, whose mailbox is full.
struct Node {
    desk: Arc<Desk>,
    state: Arc<StateDir>,
    mailbox: Receiver<ToShard>,
    _directory: TempDir,
}

impl Node {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDir::below(directory.path());
        let (sender, mailbox) = Mailbox::channel(1, Parker::new().unwrap().waker());
        let desk = Arc::new(Desk::new(vec![Mutex::new(sender)]));
        assert!(desk.tell(0, ToShard::Exit) && !desk.tell(0, ToShard::Exit));
        Self { desk, state: Arc::new(state), mailbox, _directory: directory }
    }

    fn keeper(&self) -> Keeper {
        let plan = Plan {
            resource: "r0".to_owned(),
            volume: 0,
            place: Place::FIRST,
            device: 7,
            mark: 1,
            shape: Shape::DEFAULT,
        };
        let how = (Duration::ZERO, Names::unwanted());
        Keeper::new(Arc::clone(&self.desk), Arc::clone(&self.state), plan, how, mpsc::channel())
    }

    /// The order that the shard reads after what was there, while the keeper does something.
    fn order_of(&mut self, work: impl FnOnce(&mut Keeper) + Send) -> Option<DeviceOrder> {
        let mut keeper = self.keeper();
        thread::scope(|scope| {
            let working = scope.spawn(move || work(&mut keeper));
            let was_over = (0..100).any(|_| {
                thread::park_timeout(Duration::from_millis(1));
                working.is_finished()
            });
            assert!(matches!(self.mailbox.pop(), Some(ToShard::Exit)));
            loop {
                match self.mailbox.pop() {
                    Some(ToShard::Device { resource, order }) => {
                        assert_eq!(resource, "r0");
                        if let DeviceOrder::Leave { ticket } = &order {
                            self.desk.hand_out(*ticket, Ok(api::response::Reply::done()));
                        }
                        return Some(order);
                    }
                    Some(other) => panic!("{other:?}"),
                    None if was_over => return None,
                    None => thread::yield_now(),
                }
            }
        })
    }
}

/// A full mailbox forgot it, and the node stayed Primary for a device that was gone.
#[test]
fn role_is_given_up_though_the_shard_has_no_room_for_that() {
    let order = Node::new().order_of(|keeper| keeper.give_role_up());
    assert!(matches!(order, Some(DeviceOrder::GiveUp { place: Place::FIRST })), "{order:?}");
}

/// The device stayed, and was claimed for ever.
#[test]
fn device_is_ended_though_the_shard_has_no_room_for_that() {
    let order = Node::new().order_of(|keeper| keeper.post_end());
    assert!(matches!(order, Some(DeviceOrder::End { place: Place::FIRST })), "{order:?}");
}

/// The daemon went on to its end, and its users got errors.
#[test]
fn device_is_left_though_the_shard_has_no_room_for_that() {
    let order = Node::new().order_of(|keeper| keeper.leave());
    assert!(matches!(order, Some(DeviceOrder::Leave { .. })), "{order:?}");
}

const MARK: u64 = 1;
const RECORD: DeviceRecord = DeviceRecord { device: 7, tenure: 3, losses: 0 };

/// What the kernel's driver does with a device that was left.
#[derive(Debug, Default)]
pub(in crate::devices) struct Kernel {
    /// Of the device.
    pub(in crate::devices) mark: u64,
    /// Its answers to an operation, one after the other; the last one stays. 0 is success.
    answers: Vec<(u32, VecDeque<i32>)>,
    pub(in crate::devices) asked: Vec<u32>,
}

impl Kernel {
    pub(in crate::devices) fn with(answers: &[(u32, &[i32])]) -> Arc<Mutex<Self>> {
        let answers = answers.iter().map(|(of, errors)| (*of, errors.iter().copied().collect()));
        Arc::new(Mutex::new(Self { mark: MARK, answers: answers.collect(), asked: Vec::new() }))
    }

    fn carry_out(&mut self, command: Command, buffer: &mut [u8]) -> stdio::Result<u32> {
        self.asked.push(command.operation);
        let answers = self.answers.iter_mut().find(|(of, _)| *of == command.operation);
        let errno = answers.map_or(0, |(_, errors)| match errors.len() {
            1 => errors[0],
            _ => errors.pop_front().unwrap(),
        });
        if errno != 0 {
            return Err(stdio::Error::from_raw_os_error(errno));
        }
        match command.operation {
            operation::GET_FEATURES => buffer.copy_from_slice(&FEATURES.to_le_bytes()),
            operation::GET_DEVICE_INFO => {
                const QUIESCED: u8 = 2;
                buffer[4] = QUIESCED;
                buffer[32..40].copy_from_slice(&self.mark.to_le_bytes());
            }
            _ => {}
        }
        Ok(0)
    }
}

pub(in crate::devices) fn driver(kernel: &Arc<Mutex<Kernel>>) -> Driver {
    let kernel = Arc::clone(kernel);
    let calls = move |command: Command, buffer: &mut [u8]| {
        kernel.lock().unwrap().carry_out(command, buffer)
    };
    Driver::by(Box::new(calls), 7, Duration::ZERO).unwrap()
}

/// What came of an attempt, whether the record is there, and what the driver was asked for.
type Attempted = (Result<bool, String>, bool, Vec<u32>);

/// How a device that was left is taken over by a shard that is Primary.
fn recovered(answers: &[(u32, &[i32])]) -> Attempted {
    attempted(answers, answer, |keeper, driver| keeper.recover(driver, RECORD))
}

fn attempted(
    answers: &[(u32, &[i32])],
    answer: fn(&Desk, DeviceOrder),
    work: impl FnOnce(&mut Keeper, &mut Driver) -> Result<Option<Arc<File>>, String> + Send,
) -> Attempted {
    let mut node = Node::new();
    assert!(matches!(node.mailbox.pop(), Some(ToShard::Exit)));
    node.state.store_device("r0", RECORD).unwrap();
    let (kernel, mut keeper) = (Kernel::with(answers), node.keeper());
    let mut driver = driver(&kernel);
    let made = thread::scope(|scope| {
        let working = scope.spawn(move || work(&mut keeper, &mut driver));
        while !working.is_finished() {
            if let Some(ToShard::Device { order, .. }) = node.mailbox.pop() {
                answer(&node.desk, order);
            }
            thread::yield_now();
        }
        working.join().unwrap()
    });
    let asked = std::mem::take(&mut kernel.lock().unwrap().asked);
    let is_kept = node.state.device_record("r0") == Some(RECORD);
    (made.map(|file| file.is_some()), is_kept, asked)
}

/// Of a shard where this node is Primary, by the tenure of the record.
fn answer(desk: &Desk, order: DeviceOrder) {
    let tenure = Nonce(RECORD.tenure);
    match order {
        DeviceOrder::AskTenure { news } => {
            news.send(News::Tenure { last: Some(tenure), has_quorum: true }).unwrap();
        }
        DeviceOrder::Promote { ticket, .. } => {
            desk.hand_out(ticket, Ok(api::response::Reply::done()));
        }
        DeviceOrder::Prepare { news, .. } => {
            let reign = Reign { tenure, losses: RECORD.losses };
            news.send(News::Prepared(Facts { size_bytes: 4096, reign })).unwrap();
        }
        DeviceOrder::End { .. } | DeviceOrder::GiveUp { .. } => {}
        other @ (DeviceOrder::Serve { .. } | DeviceOrder::Leave { .. }) => panic!("{other:?}"),
    }
}

/// Any error to look counted as the end of the device: its record went, and nobody took it over.
#[test]
fn only_the_driver_says_that_a_device_is_gone() {
    let look = operation::GET_DEVICE_INFO;
    for errno in [libc::EIO, libc::EPERM, libc::EINVAL] {
        let (made, is_kept, asked) = recovered(&[(look, &[errno])]);
        assert!(made.unwrap_err().contains("is kept as it is"), "{errno}");
        assert!(is_kept && !asked.contains(&operation::DELETE_ASYNC), "{errno}: {asked:?}");
    }
    let (made, is_kept, _) = recovered(&[(look, &[libc::ENODEV])]);
    assert!(!made.unwrap() && !is_kept);
}

#[test]
fn look_that_fails_for_a_moment_is_repeated() {
    let errors = [libc::EAGAIN, libc::ENOMEM, libc::EINTR, libc::ENODEV];
    let (made, is_kept, asked) = recovered(&[(operation::GET_DEVICE_INFO, &errors)]);
    assert!(!made.unwrap() && !is_kept);
    assert_eq!(asked.len(), 5, "{asked:?}");
}

/// It was stopped, and its users got errors.
#[test]
fn device_that_the_driver_does_not_let_be_taken_waits_for_another_attempt() {
    let errors = [libc::EBUSY, libc::EAGAIN, libc::ENOMEM, libc::EINTR, libc::EIO];
    let (made, is_kept, asked) = recovered(&[(operation::START_RECOVERY, &errors)]);
    let text = made.unwrap_err();
    assert!(text.contains("does not let it be taken") && text.contains("kept as it is"), "{text}");
    let attempts = asked.iter().filter(|it| **it == operation::START_RECOVERY).count();
    assert_eq!((attempts, is_kept), (errors.len(), true));
    assert!(!asked.contains(&operation::STOP) && !asked.contains(&operation::DELETE_ASYNC));
}

/// Its users got errors where the shard had not let the last attempt's device go.
#[test]
fn device_that_the_shard_refuses_waits_and_one_that_was_overtaken_goes() {
    fn refuse(desk: &Desk, order: DeviceOrder) {
        let DeviceOrder::Prepare { news, .. } = order else { return answer(desk, order) };
        news.send(News::Occupied).unwrap();
    }
    fn overtake(desk: &Desk, order: DeviceOrder) {
        let DeviceOrder::AskTenure { news } = order else { return answer(desk, order) };
        let last = Some(Nonce(RECORD.tenure + 1));
        news.send(News::Tenure { last, has_quorum: true }).unwrap();
    }
    for (answer, is_kept) in [(refuse as fn(&Desk, DeviceOrder), true), (overtake, false)] {
        let recover = |keeper: &mut Keeper, driver: &mut Driver| keeper.recover(driver, RECORD);
        let (made, was_kept, asked) = attempted(&[], answer, recover);
        assert_eq!((made.is_err(), was_kept), (true, is_kept), "{made:?}");
        assert_eq!(asked.contains(&operation::DELETE_ASYNC), !is_kept, "{asked:?}");
    }
}

/// Its supervisor had it for the moment of a look, and its users got errors.
#[test]
fn lock_that_is_held_for_a_moment_is_waited_for() {
    let recover = |keeper: &mut Keeper, driver: &mut Driver| {
        let lock = File::create(keeper.state.takeover_path("r0")).unwrap();
        lock.lock().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::park_timeout(Duration::from_millis(100));
                lock.unlock().unwrap();
            });
            keeper.recover(driver, RECORD)
        })
    };
    let errors = [(operation::START_RECOVERY, &[libc::EIO][..])];
    let (made, is_kept, asked) = attempted(&errors, answer, recover);
    assert!(made.unwrap_err().contains("does not let it be taken") && is_kept);
    assert!(asked.contains(&operation::START_RECOVERY), "{asked:?}");
}

/// `down --force` said that the driver does not take it away: it was kept, for the order had come
/// while the driver failed.
#[test]
fn order_that_came_while_the_driver_failed_is_carried_out() {
    for order in [News::Remove(None), News::Leave] {
        let is_removed = matches!(order, News::Remove(_));
        let kernel = Kernel::with(&[(operation::START_RECOVERY, &[libc::EIO])]);
        let asked = Arc::clone(&kernel);
        let recover = move |keeper: &mut Keeper, _: &mut Driver| {
            let (news, mut order) = (keeper.news.clone(), Some(order));
            let calls = move |command: Command, buffer: &mut [u8]| {
                if command.operation == operation::START_RECOVERY {
                    news.send(News::Grown(8192)).unwrap();
                    order.take().into_iter().for_each(|order| news.send(order).unwrap());
                }
                kernel.lock().unwrap().carry_out(command, buffer)
            };
            let mut driver = Driver::by(Box::new(calls), 7, Duration::ZERO).unwrap();
            keeper.recover(&mut driver, RECORD)
        };
        let (made, is_kept, _) = attempted(&[], answer, recover);
        assert_eq!((made.is_err(), is_kept), (is_removed, !is_removed), "{made:?}");
        let asked = &asked.lock().unwrap().asked;
        assert_eq!(asked.contains(&operation::DELETE_ASYNC), is_removed, "{asked:?}");
    }
}

/// It said to type what could not help: the kernel has the commands of the attempt until the device
/// or the daemon ends.
#[test]
fn attempt_that_fails_with_commands_in_the_kernel_names_the_restart() {
    fn occupy(desk: &Desk, order: DeviceOrder) {
        let DeviceOrder::Prepare { news, .. } = order else { return answer(desk, order) };
        news.send(News::Occupied).unwrap();
    }
    let recover = |keeper: &mut Keeper, driver: &mut Driver| keeper.recover(driver, RECORD);
    let text = attempted(&[], occupy, recover).0.unwrap_err();
    assert!(text.contains("its restart") && !text.contains("adm primary"), "{text}");
    let errors = [(operation::START_RECOVERY, &[libc::EIO][..])];
    let text = attempted(&errors, answer, recover).0.unwrap_err();
    assert!(text.contains("`basalt adm primary r0`") && !text.contains("its restart"), "{text}");
}

/// There is no other way to it while the daemon runs.
#[test]
fn primary_goes_on_with_a_device_that_was_kept() {
    let errors = [(operation::START_RECOVERY, &[libc::EIO][..])];
    let (made, is_kept, asked) = attempted(&errors, answer, Keeper::begin_or_go_on);
    assert!(made.unwrap_err().contains("does not let it be taken") && is_kept);
    assert!(asked.contains(&operation::START_RECOVERY), "{asked:?}");
    assert!(!asked.contains(&operation::ADD) && !asked.contains(&operation::STOP), "{asked:?}");
}

#[test]
fn device_that_cannot_be_looked_at_in_the_end_waits_too() {
    let errors = [0, libc::EIO];
    let (made, is_kept, asked) = recovered(&[(operation::GET_DEVICE_INFO, &errors)]);
    assert!(made.unwrap_err().contains("kept as it is"));
    assert!(is_kept && !asked.contains(&operation::START_RECOVERY), "{asked:?}");
}

/// The record went, and with it all that the next daemon knew of the device.
#[test]
fn device_that_the_driver_does_not_delete_keeps_its_record() {
    let node = Node::new();
    for (errno, is_kept) in [(libc::EIO, true), (libc::EAGAIN, true), (libc::ENODEV, false)] {
        for operation in [operation::DELETE_ASYNC, operation::GET_DEVICE_INFO] {
            node.state.store_device("r0", RECORD).unwrap();
            let mut driver = driver(&Kernel::with(&[(operation, &[errno])]));
            let taken = node.keeper().take_away(&mut driver);
            assert_eq!(
                (taken.is_err(), node.state.device_record("r0").is_some()),
                (is_kept, is_kept)
            );
        }
    }
}
