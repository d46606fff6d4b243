//! The counter that register and superblock carry, and what it tells of a part that comes from an
//! older day (M4, I18); and the copy of the vote that the superblock has.

use format::ids::{Branch, Epoch, Incarnation, KernelBootId, VoteStoreId};
use format::metadata::{Register, ReplicaState, Superblock};
use format::vote::VoteCopy;
use stdx::random::Random;

use crate::lineage::relation::{Kinship, kinship};

/// In place of the counter at which a disk was given up: it has no stamp of this vote store yet.
const NEVER_STAMPED: u64 = 0;

/// Register and superblock are written in this order and carry one counter, so that a part which
/// comes from an older day shows (M4, I18).
pub(crate) fn compare_stamp(
    register: &mut Register,
    superblock: &mut Superblock,
    random: &mut Random,
) {
    let stamp = superblock.vote_stamp;
    if stamp.store == VoteStoreId(0) {
        // A new replica: it never belonged to a vote store.
        return;
    }
    let is_of_store = stamp.store == register.store;
    if was_given_up_unseen(register, superblock) {
        // Until the disk has a stamp of this voter, the register goes on saying where it was left:
        // a life may end before that.
        make_blank(superblock, random);
    } else if !is_of_store && register.disk_left_at == Some(NEVER_STAMPED) {
        // It became a new voter in an earlier life, and the disk did not hear of it yet.
    } else if !is_of_store || stamp.write_counter > register.write_counter {
        // The vote store was lost, or an old copy of it came back: it is a new voter, which no
        // config names.
        register.store = VoteStoreId(random.next_u64() | 1);
        register.disk_left_at = Some(NEVER_STAMPED);
    } else if stamp.write_counter == register.write_counter {
        // What was said of an earlier disk, or of an earlier life, is over.
        register.disk_left_at = None;
    } else if is_old_image(register, stamp.write_counter) {
        make_blank(superblock, random);
    } else if register.write_counter == stamp.write_counter + 1 {
        // An end between the two writes. The next life may end there as well, and its register be
        // two ahead: the disk counts as given up here, until it has a stamp again.
        register.disk_left_at = Some(register.write_counter);
    }
}

/// The disk failed, or was given up, in an earlier life: what its device had cached may be gone, as
/// after a loss of power (6.6).
pub(crate) fn forget_cache_of_failed(register: &Register, superblock: &mut Superblock) {
    let stamp = superblock.vote_stamp;
    if stamp.store == register.store && was_given_up(register, stamp.write_counter) {
        superblock.kernel_boot_id = KernelBootId(0);
    }
}

/// The register was written more often than a crash between the two writes explains, and not
/// because the disk was given up.
pub(crate) fn is_old_image(register: &Register, stamp: u64) -> bool {
    register.write_counter > stamp + 1 && !was_given_up(register, stamp)
}

/// The node gave its line up, and became a new voter, while it was without this disk: nobody merged
/// its slots (9.6), so nobody knows how it differs from what the node follows now. An old copy of
/// the register, for which a good disk is not given up, does not say where just this disk was left.
pub(crate) fn was_given_up_unseen(register: &Register, superblock: &Superblock) -> bool {
    let stamp = superblock.vote_stamp;
    let is_of_another = stamp.store != VoteStoreId(0) && stamp.store != register.store;
    let has_left = register.disk_left_at.is_some_and(|left| left != NEVER_STAMPED)
        && was_given_up(register, stamp.write_counter);
    let Some((_, value)) = register.accepted.as_ref().filter(|_| is_of_another && has_left) else {
        return false;
    };
    let is_ahead = superblock
        .vote
        .as_ref()
        .is_some_and(|vote| matches!(kinship(vote.value(), value), Kinship::Same | Kinship::Newer));
    superblock.branch != Branch(0) && superblock.branch != value.branch && !is_ahead
}

/// Its replica knows nothing that can be relied on.
pub(crate) fn make_blank(superblock: &mut Superblock, random: &mut Random) {
    // What is under way names the former one, and may have to be found by it.
    superblock.log = Some(superblock.log_incarnation());
    let high = u128::from(random.next_u64()) << 64;
    superblock.incarnation = Incarnation(high | u128::from(random.next_u64()));
    superblock.state = ReplicaState::Blank;
    superblock.branch = Branch(0);
    superblock.joined = Epoch(0);
    superblock.candidate = None;
}

/// The disk knows what the voter of its node accepted. A new vote store that knows nothing yet
/// leaves there what the lost one did.
pub(crate) fn copy_vote(register: &Register, superblock: &mut Superblock) {
    let Some((ballot, value)) = &register.accepted else { return };
    let is_known = superblock.vote.as_ref().is_some_and(|vote| {
        (vote.store, vote.ballot, vote.value().value_id)
            == (register.store, *ballot, value.value_id)
    });
    if !is_known {
        superblock.vote = VoteCopy::new(register.store, *ballot, value).map(Box::new);
    }
}

/// The disk failed or was detached at this stamp, and the voter went on without it: what it holds
/// is its last state, and the others know what it missed since.
fn was_given_up(register: &Register, stamp: u64) -> bool {
    register.disk_left_at.is_some_and(|left| (left.saturating_sub(1)..=left).contains(&stamp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::ids::{Ballot, NodeId, Nonce, ResourceId};
    use format::metadata::{Sealed as SealedTo, VoteStamp};

    fn pair(file: u64, stamp: u64, stamp_store: u64) -> (Register, Superblock) {
        let register = Register {
            resource: ResourceId(1),
            store: VoteStoreId(7),
            promised: Ballot::default(),
            promised_nonce: Nonce(0),
            accepted: None,
            write_counter: file,
            disk_left_at: None,
        };
        let superblock = Superblock {
            resource: ResourceId(1),
            resource_name: "r".to_owned(),
            volume: 0,
            node: NodeId::new(0).unwrap(),
            branch: Branch(1),
            incarnation: Incarnation(5),
            sealed: SealedTo::default(),
            joined: Epoch(3),
            candidate: None,
            state: ReplicaState::InSync,
            kernel_boot_id: KernelBootId(0),
            size_bytes: 1 << 30,
            lanes: 16,
            write_counter: 9,
            clean: false,
            vote_stamp: VoteStamp {
                store: VoteStoreId(stamp_store),
                promised: Ballot::default(),
                epoch: Epoch(3),
                write_counter: stamp,
            },
            vote: None,
            log: None,
            slots: Vec::new(),
            further: Vec::new(),
        };
        (register, superblock)
    }

    fn compared(file: u64, stamp: u64, stamp_store: u64) -> (bool, bool) {
        let (mut register, mut superblock) = pair(file, stamp, stamp_store);
        compare_stamp(&mut register, &mut superblock, &mut Random::new(1));
        (register.store == VoteStoreId(7), superblock.incarnation == Incarnation(5))
    }

    #[test]
    fn a_disk_that_was_given_up_is_no_old_image_of_itself() {
        let given_up = |left, stamp| {
            let (mut register, mut superblock) = pair(20, stamp, 7);
            register.disk_left_at = Some(left);
            compare_stamp(&mut register, &mut superblock, &mut Random::new(1));
            superblock.incarnation == Incarnation(5)
        };
        assert!(given_up(8, 8), "the last save was done");
        assert!(given_up(8, 7), "it failed, and the register was written before");
        assert!(!given_up(8, 6), "an older image");
        assert!(!given_up(8, 9), "of a day when the disk was in use again");
    }

    /// It may have voted with the new store already: another one each time would lose votes.
    #[test]
    fn a_new_voter_whose_disk_takes_no_stamp_stays_that_voter() {
        let (mut register, mut superblock) = pair(4, 4, 8);
        compare_stamp(&mut register, &mut superblock, &mut Random::new(1));
        let (store, mut random) = (register.store, Random::new(2));
        register.write_counter += 3;
        compare_stamp(&mut register, &mut superblock, &mut random);
        assert_eq!(register.store, store);
        superblock.vote_stamp.store = store;
        superblock.vote_stamp.write_counter = register.write_counter;
        compare_stamp(&mut register, &mut superblock, &mut random);
        superblock.vote_stamp.store = VoteStoreId(8);
        compare_stamp(&mut register, &mut superblock, &mut random);
        assert_ne!(register.store, store, "an old copy of the vote store");
    }

    /// A disk that was given up once, taken back, and fails again before its next stamp.
    #[test]
    fn what_was_said_of_a_disk_ends_when_it_has_the_newest_stamp() {
        let (mut register, mut superblock) = pair(20, 20, 7);
        register.disk_left_at = Some(8);
        compare_stamp(&mut register, &mut superblock, &mut Random::new(1));
        assert_eq!(register.disk_left_at, None);
    }

    /// A register that was written, and then a crash before the superblock was: life after life.
    #[test]
    fn a_disk_that_misses_its_stamp_twice_is_no_old_image() {
        let (mut register, mut superblock) = pair(5, 4, 7);
        compare_stamp(&mut register, &mut superblock, &mut Random::new(1));
        register.write_counter += 1;
        compare_stamp(&mut register, &mut superblock, &mut Random::new(1));
        assert_eq!(superblock.incarnation, Incarnation(5));
    }

    #[test]
    fn an_old_vote_store_is_a_new_voter_and_an_old_disk_a_blank_replica() {
        assert_eq!(compared(4, 4, 7), (true, true), "both of one day");
        assert_eq!(compared(5, 4, 7), (true, true), "a crash between the two writes");
        assert_eq!(compared(6, 4, 7), (true, false), "an old image of the disk");
        assert_eq!(compared(4, 5, 7), (false, true), "an old copy of the vote store");
        assert_eq!(compared(4, 4, 8), (false, true), "another vote store");
        assert_eq!(compared(9, 0, 0), (true, true), "a new replica");
    }
}
