//! What the exit code of `fence-peer` says of a peer that is gone, in DRBD's numbers.
//!
//! | code | the peer | is it out? |
//! |---|---|---|
//! | 3 | has a disk that is Inconsistent, or worse | yes: it has no data to go on with |
//! | 4 | is outdated: it does not become Primary until it was connected again | yes |
//! | 5 | cannot be reached, and may be dead | only with `quorum off`: nobody knows |
//! | 6 | is Primary | no |
//! | 7 | was stonithed: its machine is off, or started anew | yes |
//! | others | | no: the script failed |
//!
//! Whoever says 3, 4 or 7 of a peer that goes on makes a split brain.

use engine::contract::Unreachable;

/// Whether the peer is out, and the words for it.
pub(super) fn judge(status: u8, unreachable: Unreachable) -> (bool, &'static str) {
    match (status, unreachable) {
        (3, _) => (true, "its disk is Inconsistent: it does not go on"),
        (4, _) => (true, "it is outdated: it does not go on until it was connected"),
        (5, Unreachable::IsEnough) => (true, "it is unreachable, and taken for dead (quorum off)"),
        (5, Unreachable::IsNoProof) => {
            (false, "it is unreachable, and nobody knows whether it is dead: that is no proof")
        }
        (6, _) => (false, "it is Primary: this node does not go on"),
        (7, _) => (true, "it was stonithed: it does not go on"),
        _ => (false, "the handler fence-peer failed: nothing is known of the peer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::handlers::script;
    use std::time::Duration;

    /// What real scripts end with: one that hangs, is killed, cannot be found.
    #[test]
    fn only_what_a_script_says_at_its_end_is_proof() {
        let is_out = |text: &str| {
            let ended = script::run(text, &[], Duration::from_millis(300), |_| {});
            judge(ended.status(), Unreachable::IsEnough).0
        };
        assert!(is_out("exit 7"));
        // The number of a signal is no exit code.
        assert!(!is_out("kill -7 $$"));
        assert!(!is_out("sleep 60; exit 7"));
        assert!(!is_out("trap '' TERM; while :; do sleep 60; done; exit 7"));
        assert!(!is_out("/no/such/script"));
        assert!(!is_out("echo 7"));
    }

    #[test]
    fn exit_codes_are_drbds() {
        let out =
            |unreachable| (0..=255).filter(|&it| judge(it, unreachable).0).collect::<Vec<_>>();
        assert_eq!(out(Unreachable::IsNoProof), [3, 4, 7]);
        assert_eq!(out(Unreachable::IsEnough), [3, 4, 5, 7]);
    }
}
