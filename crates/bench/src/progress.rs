//! How a long command shows that it lives: a bar on a terminal, a line now and then elsewhere.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use io::clock;
use stdx::time::Time;

/// How often a line is printed where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(2);

/// Progress goes to standard error, so that standard output holds the result alone.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    next_line: Time,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(1000);
            let style = ProgressStyle::with_template("{elapsed_precise} {bar:30} {msg}");
            bar.set_style(style.expect("the template is fixed and valid"));
            bar
        });
        Self { bar, next_line: clock::now() + LINE_INTERVAL }
    }

    /// A line that stays.
    pub(crate) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => print_line(text),
        }
    }

    /// Where the work is: a share from 0 to 1, if it has a known end, and what is worth knowing.
    pub(crate) fn show(&mut self, share: Option<f64>, text: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(per_mille(share.unwrap_or(0.0)));
            bar.set_message(text());
        } else if clock::now() >= self.next_line {
            self.next_line = clock::now() + LINE_INTERVAL;
            match share {
                Some(share) => print_line(&format!("{:>3}% {}", per_mille(share) / 10, text())),
                None => print_line(&format!("     {}", text())),
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=1000 before"
)]
fn per_mille(share: f64) -> u64 {
    (share * 1000.0).clamp(0.0, 1000.0) as u64
}

/// Nobody listening to the progress is no reason to stop the work.
fn print_line(text: &str) {
    writeln!(std::io::stderr(), "{text}").ok();
}
