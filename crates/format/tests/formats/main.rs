//! The bytes of all formats: golden files, refusals, and damaged input.
//!
//! The golden files say what releases agreed on. `UPDATE_GOLDEN=1 cargo test -p format` writes
//! those that are missing or differ; a difference in a released format needs a new version.

#[cfg(test)]
mod golden;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod frames;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod foreign;
#[cfg(test)]
mod records;
#[cfg(test)]
mod drbd;
