//! The thread of a device whose shard has no time for it.

use std::sync::Mutex;
use std::thread;

use format::space::Place;
use frontend::ublk::control::Shape;
use io::Parker;
use io::mailbox::{Mailbox, Receiver};
use tempfile::TempDir;

use super::*;
use crate::patience::Patience;

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
        let mut patience = Patience::new(Duration::ZERO);
        let state = StateDir::open(&directory.path().join("state"), &mut patience).unwrap();
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
