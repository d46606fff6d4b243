//! Each refusal of a command, and what helps.

use super::*;
use crate::shard::rows::{self, Row};

const KINDS: [CommandKind; 9] = [
    CommandKind::Promote,
    CommandKind::Demote,
    CommandKind::Attach,
    CommandKind::Redefine,
    CommandKind::GiveUp,
    CommandKind::Resize,
    CommandKind::Verify,
    CommandKind::Reopen,
    CommandKind::Other,
];
const CODES: [CommandErrorCode; 10] = [
    CommandErrorCode::NoQuorum,
    CommandErrorCode::VotesLost,
    CommandErrorCode::NoUpToDateData,
    CommandErrorCode::PeerPrimary,
    CommandErrorCode::Busy,
    CommandErrorCode::NoDisk,
    CommandErrorCode::TimedOut,
    CommandErrorCode::NotPrimary,
    CommandErrorCode::Size,
    CommandErrorCode::NoSlot,
];

/// Where a command is typed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Primary,
    Secondary,
    Behind,
    OutOfUse,
    WithoutDisk,
}

const SIDES: [(&str, Side); 5] = [
    ("on a Primary", Side::Primary),
    ("on a Secondary", Side::Secondary),
    ("on a Secondary that is not up to date", Side::Behind),
    ("with the disk out of use", Side::OutOfUse),
    ("without a disk", Side::WithoutDisk),
];

/// Whose votes count for the node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Votes {
    Majority,
    TooFew,
    /// Its own does not, for its state directory takes no write.
    NotItsOwn,
}

const VOTES: [(&str, Votes); 3] = [
    ("in reach of a majority", Votes::Majority),
    ("out of reach of a majority", Votes::TooFew),
    ("whose state directory takes no write", Votes::NotItsOwn),
];

fn asked(kind: CommandKind, side: Side) -> Asked {
    let primary = Some("bob".to_owned());
    Asked {
        kind,
        resource: "r0".to_owned(),
        is_primary: side == Side::Primary,
        disk: match side {
            Side::Primary | Side::Secondary | Side::Behind => OwnDisk::InUse,
            Side::OutOfUse => OwnDisk::OutOfUse,
            Side::WithoutDisk => OwnDisk::None,
        },
        is_up_to_date: matches!(side, Side::Primary | Side::Secondary),
        has_majority: true,
        is_mute: false,
        primary,
    }
}

fn asked_with(kind: CommandKind, side: Side, votes: Votes) -> Asked {
    let (has_majority, is_mute) = (votes == Votes::Majority, votes == Votes::NotItsOwn);
    Asked { has_majority, is_mute, ..asked(kind, side) }
}

fn hint(asked: &Asked, code: CommandErrorCode) -> String {
    let message = "refused".to_owned();
    failure(CommandError { code, message }, asked).hint
}

#[test]
fn rows_of_refusals_are_those_of_the_page() {
    let mut rows = Vec::new();
    for code in CODES {
        let advised_with = |kind, side, votes| {
            let asked = asked_with(kind, side, votes);
            (format!("{:?}", Advice::of(code, &asked)), hint(&asked, code))
        };
        let advised = |kind, side| advised_with(kind, side, Votes::Majority);
        let first = advised(CommandKind::Other, Side::Secondary);
        // By what differs from the usual advice for this refusal.
        let mut add = |situation: String, (variant, sentence): (String, String)| {
            rows.push(Row { variant, situation, sentence });
        };
        add(format!("{code:?}, of any command that no other row names"), first.clone());
        for kind in KINDS {
            for (place, side) in SIDES {
                let told = advised(kind, side);
                if told != first {
                    add(format!("{code:?}, of {kind} {place}"), told);
                }
            }
        }
        let is_of_votes = code == CommandErrorCode::NoQuorum;
        for (reach, votes) in VOTES.into_iter().skip(1).filter(|_| is_of_votes) {
            let all = KINDS.into_iter().flat_map(|kind| SIDES.map(|(_, side)| (kind, side)));
            let told: Vec<_> = all.map(|(kind, side)| advised_with(kind, side, votes)).collect();
            assert!(told.iter().all(|it| *it == told[0]), "it is the same for all: {told:?}");
            add(format!("{code:?}, of any command on a node {reach}"), told[0].clone());
        }
    }
    let lacking = "no quorum: 1 of 3 voters answer, 2 are needed (missing: bob, carol)".to_owned();
    for (situation, why) in [
        ("`verify` on a Primary without a quorum", VerifiesNothing::NoQuorum { lacking }),
        ("`verify` with a quorum", VerifiesNothing::NobodyElse),
    ] {
        let (variant, situation) = (rows::variant_of(&why), situation.to_owned());
        rows.push(Row { variant, situation, sentence: why.to_string() });
    }
    for (situation, kind) in [
        ("an address that another process has", ErrorKind::AddrInUse),
        ("an address that is not of this machine", ErrorKind::AddrNotAvailable),
        ("an address that cannot be had for another reason", ErrorKind::PermissionDenied),
    ] {
        let failure = address_failure(&kind.into());
        let advice = AddressAdvice::of(&kind.into());
        assert_eq!(failure.hint, advice.to_string());
        let (variant, situation) = (rows::variant_of(&advice), situation.to_owned());
        rows.push(Row { variant, situation, sentence: failure.hint });
    }
    for (situation, why) in [
        ("no file descriptor is left", NotTaken::Disk { error: Error::from_raw_os_error(24) }),
        ("a command while the daemon ends", NotTaken::DaemonEnds),
        ("`resize`, and the disk was detached meanwhile", NotTaken::GivenBack),
        (
            "`resize`, and the disk fails",
            NotTaken::OtherSize { error: ErrorKind::StorageFull.into() },
        ),
    ] {
        let (variant, situation) = (rows::variant_of(&why), situation.to_owned());
        rows.push(Row { variant, situation, sentence: Failure::from(why).to_string() });
    }
    rows::check(("refusals.md", "What helps against a refusal"), rows);
}

/// It was advised to try again, which never helps while the node is Primary.
#[test]
fn primary_that_is_to_give_its_data_up_is_made_secondary_first() {
    let hint = hint(&asked(CommandKind::GiveUp, Side::Primary), CommandErrorCode::Busy);
    assert!(hint.contains("`basalt adm secondary r0`"), "{hint}");
}

#[test]
fn refusal_always_names_a_command_or_a_place() {
    for (code, kind) in CODES.into_iter().flat_map(|code| KINDS.map(|kind| (code, kind))) {
        for (_, side) in SIDES {
            let hint = hint(&asked(kind, side), code);
            assert!(hint.contains('`') || hint.contains("type it on"), "{kind:?} {code:?}: {hint}");
        }
    }
}

/// A node without a replica was told to make its data the truth, by the advice and by the refusal.
#[test]
fn force_is_proposed_only_to_a_node_that_has_a_replica() {
    let messages = [
        (
            "no replica is UpToDate yet: `primary --force` makes this one the first",
            "no replica is UpToDate yet",
        ),
        (
            "this replica is not UpToDate, and no other one is in reach: connect one, or take this \
             one for the truth with `primary --force`",
            "no replica that is up to date is in reach",
        ),
        (
            "only asynchronous followers (protocol A) are in reach, which may lack what was \
             answered last: n1 needed; `primary --force` goes on without that",
            "only asynchronous followers (protocol A) are in reach, which may lack what was \
             answered last: n1 needed",
        ),
        (
            "no UpToDate replica is reachable: n1 needed",
            "no UpToDate replica is reachable: n1 needed",
        ),
    ];
    for ((text, without), (place, side)) in
        messages.into_iter().flat_map(|message| SIDES.map(|side| (message, side)))
    {
        let error =
            CommandError { code: CommandErrorCode::NoUpToDateData, message: text.to_owned() };
        let refusal = failure(error, &asked(CommandKind::Promote, side));
        let has_replica = !matches!(side, Side::OutOfUse | Side::WithoutDisk);
        assert_eq!(refusal.message, if has_replica { text } else { without }, "{place}");
        assert_eq!(refusal.hint.contains("--force"), has_replica, "{place}: {}", refusal.hint);
    }
}

/// To connect nodes helps no replica that is behind, and to wait for a copy brings no votes.
#[test]
fn want_of_a_quorum_is_answered_by_what_is_missing() {
    for kind in [CommandKind::Verify, CommandKind::Resize, CommandKind::Reopen] {
        for ((_, side), (_, votes)) in
            SIDES.into_iter().flat_map(|side| VOTES.map(|votes| (side, votes)))
        {
            let hint = hint(&asked_with(kind, side, votes), CommandErrorCode::NoQuorum);
            let is_behind = !matches!(side, Side::Primary | Side::Secondary);
            let expected = match votes {
                Votes::Majority if is_behind => "type it on a node whose replica is up to date",
                Votes::Majority => "`basalt adm status r0` says what is missing",
                Votes::TooFew => "connect more nodes: ",
                Votes::NotItsOwn => "mend the state directory of this node",
            };
            assert!(hint.starts_with(expected), "{kind:?}: {hint}");
            // A node without a replica in use is never in sync.
            let waits = hint.contains("wait-sync");
            assert_eq!(waits, side == Side::Behind && votes == Votes::Majority, "{kind:?}: {hint}");
        }
    }
}
