//! A leader whose own replica is the only one: nobody else is to be waited for.

use format::ids::EXTENT_BLOCKS;
use replication::contract::{GroupAction, RequestError, ToGroup};
use replication::group::GroupOptions;
use stdx::time::Time;

use crate::harness::{Disk, Group, WRITE, options};

/// Node 0 and its disk, which does at once what it is asked.
fn alone(al_slots: usize) -> Group {
    let options = GroupOptions { al_slots, ..options(0, &[0]) };
    Group::new(Disk::Works, options).into_leader(&[0])
}

/// How many writes succeeded, which is all that happened.
fn written(actions: &[GroupAction]) -> usize {
    let mut count = 0;
    for action in actions {
        if let GroupAction::Complete { result, .. } = action {
            assert_eq!(*result, Ok(None));
            count += 1;
        } else {
            let is_expected = matches!(action, GroupAction::Release(_) | GroupAction::Home(_));
            assert!(is_expected, "a write needs nothing like {action:?}");
        }
    }
    count
}

/// A write is stable as soon as the one replica has it, and its extent may leave the log, though
/// its lane has no further write that would say so.
#[test]
fn a_small_log_makes_room_at_once() {
    let mut alone = alone(2);
    for extent in 0..60 {
        alone.ask(extent, WRITE, extent * EXTENT_BLOCKS);
    }
    assert_eq!(written(&alone.actions), 60);
}

/// What is stable is missed by nobody who is lost afterwards.
#[test]
fn a_loss_finds_nothing_that_is_stable() {
    let mut alone = alone(64);
    for extent in 0..5 {
        alone.ask(extent, WRITE, extent * EXTENT_BLOCKS);
    }
    assert!((0..5).any(|extent| alone.lanes.holds_unequal(extent * EXTENT_BLOCKS)));
    alone.step(ToGroup::Lease { until: Time::NEVER });
    assert!(!(0..5).any(|extent| alone.lanes.holds_unequal(extent * EXTENT_BLOCKS)));
    assert_eq!(written(&alone.actions), 5);
}

/// A front end may know of a size before a lane does.
#[test]
fn what_is_asked_of_blocks_behind_the_end_fails() {
    let mut alone = alone(64);
    let behind = options(0, &[0]).space.blocks();
    alone.ask(1, WRITE, behind);
    let ends: Vec<_> =
        alone.actions.iter().filter(|it| !matches!(it, GroupAction::Home(_))).collect();
    assert!(
        matches!(
            ends[..],
            [GroupAction::Complete { result: Err(RequestError::Io), .. }, GroupAction::Release(_)]
        ),
        "{ends:?}"
    );
}
