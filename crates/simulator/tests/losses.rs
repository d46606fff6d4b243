//! What is written down of members that are lost, and who says so of which loss.

use std::time::Duration;

use simulator::cluster::SlowDisk;
use simulator::scenario::Scenario;

/// The Primary, which has no disk.
const CLIENT: usize = 3;

/// Node 2 is lost, is back before anything came of it, and is lost once more. What node 0 says of
/// the first loss comes late, and is no word about the second: it has not heard of that, nor of the
/// write that node 2 misses, and loses its connections before it does. That of a member that is
/// back is not repeated, for its value is chosen.
#[test]
fn a_late_word_about_a_loss_is_none_about_the_next() {
    let ms = Duration::from_millis;
    for offset in (0..8).map(|step| Duration::from_micros(130 * step)) {
        let mut it = Scenario::new(4, 1, CLIENT);
        it.must_write(CLIENT, 7, 1);
        it.run(ms(300));
        it.cluster.delay_lane(0, CLIENT, 0, ms(60));
        it.cluster.reset_link(CLIENT, 2);
        it.until("the first loss", |it| it.explains(CLIENT, "losses: {n2: Recording}"));
        it.until("its end", |it| it.explains(CLIENT, "losses: {}"));
        it.run(ms(5) + offset);
        it.cluster.delay_lane(CLIENT, 0, 0, ms(500));
        it.cluster.silence(CLIENT, 2, 0);
        let part = it.write(CLIENT, 5 * 1024, 2);
        it.cluster.reset_link(CLIENT, 2);
        it.cluster.cut_link(CLIENT, 2);
        it.until("the second loss", |it| !it.is_in_sync(CLIENT, 2));
        it.cluster.slow[1] = SlowDisk { save: ms(200), ..SlowDisk::default() };
        it.cluster.delay_lane(CLIENT, 0, 0, ms(0));
        it.cluster.reset_link(CLIENT, 0);
        it.until("the write", |it| it.ended(part).is_some());
        it.cluster.slow[1] = SlowDisk::default();
        it.cluster.heal_link(CLIENT, 2);
        it.until("the return of node 2", |it| it.is_in_sync(CLIENT, 2));
        assert_eq!(it.on_disk(2, 5 * 1024), 2, "{offset:?}");
    }
}
