//! What the kernel must be able to do before a reactor can run on it.

/// Why this machine cannot run a reactor, in words for an operator.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(
        "the kernel has no {feature}; it needs Linux {since} or later, and this is {running}: boot a newer kernel"
    )]
    TooOld { feature: &'static str, since: &'static str, running: String },
    #[error("the kernel refuses io_uring ({source}): {advice}")]
    Refused { advice: String, source: std::io::Error },
    #[error("cannot set up the reactor while {step}: {source}")]
    Failed { step: &'static str, source: std::io::Error },
}
