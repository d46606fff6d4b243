//! A simulator scenario: the Primary dies with a write under way, another node takes over, and no
//! answered write is lost. `cargo test -p simulator --test scenario` runs it.

use simulator::scenario::Scenario;

#[test]
fn a_takeover_keeps_what_was_answered() {
    // Three nodes, none of them without a disk; node 0 is Primary, and all are in sync.
    let mut it = Scenario::new(3, 0, 0);
    // Block 7 has the value 1 now, and its writer heard so.
    it.must_write(0, 7, 1);

    // A write is sent to the others, and the Primary dies before it could answer anybody.
    it.write(0, 7, 2);
    it.cluster.kill(0);
    // A majority is left. Simulated time goes on until the promotion succeeded, or fails the test.
    it.promote(1);
    // The write may be there or not. From the first read on it is the same for all, for ever.
    let seen = it.must_read(1, 7);
    assert!(seen == 1 || seen == 2, "block 7 has {seen}, which nobody wrote last");
    it.must_write(1, 8, 3);

    // The dead node comes back, is sent what it missed, and has the same blocks.
    it.cluster.start(0);
    it.until("the return of node 0", |it| it.is_in_sync(1, 0));
    assert_eq!((it.on_disk(0, 7), it.on_disk(0, 8)), (seen, 3));
}
