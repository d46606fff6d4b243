//! Each refusal of a command, and what helps.

use super::*;
use crate::shard::rows::{self, Row};

const KINDS: [CommandKind; 7] = [
    CommandKind::Promote,
    CommandKind::Demote,
    CommandKind::Attach,
    CommandKind::Redefine,
    CommandKind::GiveUp,
    CommandKind::Resize,
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
    WithoutDisk,
}

fn asked(kind: CommandKind, side: Side) -> Asked {
    let (is_primary, has_disk) = (side == Side::Primary, side != Side::WithoutDisk);
    let primary = Some("bob".to_owned());
    Asked { kind, resource: "r0".to_owned(), is_primary, has_disk, primary }
}

fn hint(asked: &Asked, code: CommandErrorCode) -> String {
    let message = "refused".to_owned();
    failure(CommandError { code, message }, asked).hint
}

#[test]
fn rows_of_refusals_are_those_of_the_page() {
    let sides = [
        ("on a Primary", Side::Primary),
        ("on a Secondary", Side::Secondary),
        ("without a disk", Side::WithoutDisk),
    ];
    let mut rows = Vec::new();
    for code in CODES {
        let advised = |kind, side| {
            let asked = asked(kind, side);
            (format!("{:?}", Advice::of(code, &asked)), hint(&asked, code))
        };
        let first = advised(CommandKind::Other, Side::Secondary);
        // By what differs from the usual advice for this refusal.
        let mut add = |situation: String, (variant, sentence): (String, String)| {
            rows.push(Row { variant, situation, sentence });
        };
        add(format!("{code:?}, of any command that no other row names"), first.clone());
        for kind in KINDS {
            for (place, side) in sides {
                let told = advised(kind, side);
                if told != first {
                    add(format!("{code:?}, of {kind} {place}"), told);
                }
            }
        }
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
        for side in [Side::Secondary, Side::WithoutDisk] {
            let hint = hint(&asked(kind, side), code);
            assert!(hint.contains('`') || hint.contains("type it on"), "{kind:?} {code:?}: {hint}");
        }
    }
}
