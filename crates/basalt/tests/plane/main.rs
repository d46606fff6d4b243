//! A cluster of a controller and three machines, as processes: from nothing to a written volume and
//! back to nothing, whoever dies.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod harness;
mod access;
mod dangers;
mod deaths;
mod life;
mod linstor;
mod volumes;
