//! Any sequence of messages, well formed or not, from peers: no panic, no payload used twice,
//! nothing held without bound. `cargo xtask fuzz` goes on from where these end.

use simulator::cluster::Forged;
use simulator::run::{RunOptions, run_forged};

const SEEDS: u64 = 40;

fn no_seed_breaks_a_machine(forged: Forged, test: &str) {
    let first = std::env::var("FUZZ_FIRST").ok().and_then(|first| first.parse().ok());
    let first: u64 = first.unwrap_or(1);
    let mut count = 0;
    for seed in first..first + SEEDS {
        let options = RunOptions::of(seed, 3_000);
        let again =
            || format!("FUZZ_FIRST={seed} cargo test -p simulator --test all forged::{test}");
        match std::panic::catch_unwind(|| run_forged(&options, forged)) {
            Ok(Ok(forged)) => count += forged,
            Ok(Err(text)) => panic!("{text}; again: {}", again()),
            Err(_) => panic!("a machine panicked; again: {}", again()),
        }
    }
    assert!(count > 10 * SEEDS, "{count} messages were forged");
}

/// Seed 217 has an ADMIT come once more, without a seal, while device writes are under way: the
/// member took its lanes for quiet, and ended.
#[test]
fn an_admission_that_comes_twice_does_not_touch_writes_under_way() {
    let options = RunOptions::of(217, 3_000);
    run_forged(&options, Forged::Control).expect("no bound is broken");
}

/// Messages of lanes reach the groups of every role.
#[test]
fn no_message_of_a_lane_breaks_a_group() {
    no_seed_breaks_a_machine(Forged::Data, "no_message_of_a_lane_breaks_a_group");
}

/// Messages of the register, of sessions and of admissions reach the homes of every role.
#[test]
fn no_message_of_a_home_breaks_a_resource() {
    no_seed_breaks_a_machine(Forged::Control, "no_message_of_a_home_breaks_a_resource");
}
