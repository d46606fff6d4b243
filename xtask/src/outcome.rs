//! What a step of `test` came to: so many tests passed, failed and were skipped.

use std::fmt;
use std::ops::AddAssign;
use std::process::{ExitCode, ExitStatus};

/// What a step, or all of them, came to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Outcome {
    pub(crate) const PASSED: Self = Self { passed: 1, failed: 0, skipped: 0 };
    pub(crate) const FAILED: Self = Self { passed: 0, failed: 1, skipped: 0 };
    pub(crate) const SKIPPED: Self = Self { passed: 0, failed: 0, skipped: 1 };

    /// A program as one test.
    pub(crate) fn of(status: ExitStatus) -> Self {
        if status.success() { Self::PASSED } else { Self::FAILED }
    }

    /// Success needs a test that passed: a run that found nothing to do proves nothing.
    pub(crate) fn is_success(self) -> bool {
        self.failed == 0 && self.passed > 0
    }

    pub(crate) fn exit_code(self) -> ExitCode {
        if self.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

impl AddAssign for Outcome {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_prints_in_the_form_that_ci_reads() {
        let mut sum = Outcome { passed: 10, failed: 1, skipped: 2 };
        sum += Outcome::PASSED;
        assert_eq!(sum.to_string(), "11 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn nothing_passed_is_no_success() {
        assert!(!Outcome::default().is_success());
        assert!(!Outcome { skipped: 4, ..Outcome::default() }.is_success());
        assert!(!Outcome { passed: 9, failed: 1, skipped: 0 }.is_success());
        assert!(Outcome::PASSED.is_success());
    }
}
