//! How far a bench is: who runs when, how much of what is to be measured was, and how long the rest
//! will take.

use std::time::Duration;

use crate::progress::Progress;

/// What fio needs to start and to end, for the estimate of the time that is left.
const START_AND_END: Duration = Duration::from_millis(700);

/// Runs of the same length, one after the other.
#[derive(Debug)]
pub(crate) struct Course {
    each: Duration,
    done: usize,
    all: usize,
}

impl Course {
    pub(crate) fn new(all: usize, warm_up: Duration, time: Duration) -> Self {
        Self { each: warm_up + time + START_AND_END, done: 0, all }
    }

    /// The next run begins.
    pub(crate) fn go_on(&mut self) {
        self.done += 1;
    }

    /// So many runs are over, or will not be made.
    pub(crate) fn reach(&mut self, done: usize) {
        self.done = done;
    }

    /// Shows where it is, `within` the current run from 0 to 1.
    pub(crate) fn show(&self, progress: &mut Progress, within: f64, what: impl FnOnce() -> String) {
        let share = (float(self.done) + within) / float(self.all.max(1));
        progress.show(Some(share), || format!("{} left: {}", minutes(self.left(share)), what()));
    }

    /// Shows what has to be done before the next run, which takes as long as it takes.
    pub(crate) fn prepare(&self, progress: &mut Progress, elapsed: Duration, what: &str) {
        self.show(progress, 0.0, || format!("{what}, {} s", elapsed.as_secs()));
    }

    fn left(&self, share: f64) -> Duration {
        self.each.mul_f64((float(self.all) * (1.0 - share)).max(0.0))
    }
}

/// Who runs in a round, by number: there and back again, for whoever runs later may meet what the
/// ones before left behind.
pub(crate) fn turns(round: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |turn| if round.is_multiple_of(2) { turn } else { count - 1 - turn })
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02} min", seconds / 60, seconds % 60)
}

#[expect(clippy::cast_precision_loss, reason = "a share for people to read")]
fn float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_in_minutes() {
        assert_eq!(minutes(Duration::from_millis(200_900)), "3:20 min");
        let course = Course::new(10, Duration::from_secs(1), Duration::from_millis(4300));
        assert_eq!([0.0, 0.5, 1.0].map(|share| course.left(share).as_secs()), [60, 30, 0]);
    }

    #[test]
    fn every_other_round_runs_in_the_reverse_order() {
        let orders = [0, 1, 2].map(|round| turns(round, 3).collect::<Vec<_>>());
        assert_eq!(orders, [[0, 1, 2], [2, 1, 0], [0, 1, 2]]);
        assert_eq!(turns(1, 0).count(), 0);
    }
}
