//! Whether a goal is met: by the median of the rounds, with the range that they were in beside it.

use serde::Serialize;

use super::Figures;
use super::goals::Goal;
use crate::measure::median;

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct GoalReport {
    pub(super) what: String,
    /// The median of the rounds, and the range of these; none where it was not counted.
    found: Option<f64>,
    least: Option<f64>,
    most: Option<f64>,
    /// None if it cannot be judged.
    is_met: Option<bool>,
    not_judged: Option<&'static str>,
}

/// Ours are the first system's rounds, `others` the last one's, which a ratio is to; `handicap`
/// says what keeps that system from being what it could be: then no ratio to it is a verdict.
pub(super) fn judge(
    goal: &Goal,
    ours: &[Figures],
    others: &[Figures],
    handicap: Option<&'static str>,
) -> GoalReport {
    let pairs = || ours.iter().zip(others);
    let (found, not_judged): (Vec<f64>, _) = match goal {
        Goal::CpuAtMost(_) => (ours.iter().map(|one| one.server_cpu_us).collect(), None),
        Goal::EntersAtMost(_) => {
            let counted: Option<Vec<f64>> = ours.iter().map(|one| one.enters).collect();
            let missing = counted.is_none().then_some("nobody counted");
            (counted.unwrap_or_default(), missing)
        }
        Goal::RateAtLeast(_) => {
            (pairs().map(|(one, other)| one.iops / other.iops).collect(), handicap)
        }
        Goal::LatencyAtMost(_) => {
            (pairs().map(|(one, other)| one.mean_us / other.mean_us).collect(), handicap)
        }
    };
    let (least, most) =
        (found.iter().copied().reduce(f64::min), found.iter().copied().reduce(f64::max));
    let found = median(found);
    GoalReport {
        what: goal.to_string(),
        found,
        least,
        most,
        is_met: found.filter(|_| not_judged.is_none()).map(|found| goal.is_met(found)),
        not_judged,
    }
}

impl GoalReport {
    pub(super) fn line(&self) -> String {
        let found = match (self.found, self.least, self.most) {
            (Some(found), Some(least), Some(most)) => {
                format!("{found:.2} ({least:.2} to {most:.2}), ")
            }
            _ => String::new(),
        };
        let verdict = match (self.is_met, self.not_judged) {
            (Some(true), _) => "met".to_owned(),
            (Some(false), _) => "MISSED".to_owned(),
            (None, why) => format!("not judged: {}", why.unwrap_or("nothing was measured")),
        };
        format!("{}: {found}{verdict}", self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(iops: f64, mean_us: f64, enters: Option<f64>) -> Figures {
        Figures { iops, mean_us, server_cpu_us: 1e6 / iops, enters, ..Figures::default() }
    }

    /// A machine that is slower in the second round, mostly for ours.
    fn rounds() -> [Vec<Figures>; 2] {
        let ours = vec![figures(100.0, 10.0, Some(0.4)), figures(50.0, 20.0, Some(0.6))];
        let others = vec![figures(20.0, 50.0, None), figures(12.5, 80.0, None)];
        [ours, others]
    }

    #[test]
    fn ratios_are_taken_in_each_round_and_their_range_is_told() {
        let [ours, others] = rounds();
        let line = |goal: Goal| {
            let line = judge(&goal, &ours, &others, None).line();
            line.rsplit_once(": ").map(|(_, found)| found.to_owned()).unwrap()
        };
        assert_eq!(line(Goal::RateAtLeast(4.5)), "4.50 (4.00 to 5.00), met");
        assert_eq!(line(Goal::RateAtLeast(4.6)), "4.50 (4.00 to 5.00), MISSED");
        assert_eq!(line(Goal::LatencyAtMost(0.23)), "0.23 (0.20 to 0.25), met");
        assert_eq!(line(Goal::EntersAtMost(0.5)), "0.50 (0.40 to 0.60), met");
        assert_eq!(line(Goal::CpuAtMost(14_999.0)), "15000.00 (10000.00 to 20000.00), MISSED");
    }

    #[test]
    fn a_ratio_to_a_system_that_is_held_back_is_no_verdict() {
        let [ours, others] = rounds();
        let report = judge(&Goal::RateAtLeast(4.0), &ours, &others, Some("needs root"));
        assert_eq!((report.is_met, report.not_judged), (None, Some("needs root")));
        assert!(report.line().ends_with("(4.00 to 5.00), not judged: needs root"), "{report:?}");
        // What ours costs is no ratio.
        let report = judge(&Goal::CpuAtMost(20_000.0), &ours, &others, Some("needs root"));
        assert_eq!((report.is_met, report.not_judged), (Some(true), None));
    }

    #[test]
    fn a_figure_that_nobody_counted_is_not_judged() {
        let report = judge(&Goal::EntersAtMost(0.5), &[figures(1.0, 1.0, None)], &[], None);
        assert!(report.found.is_none() && report.is_met.is_none(), "{report:?}");
        assert!(report.line().ends_with("not judged: nobody counted"), "{report:?}");
    }
}
