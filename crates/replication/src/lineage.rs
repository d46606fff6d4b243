//! What values, replicas and vote stores tell of each other: relations of what is written down.
//!
//! All of it is pure: who asks, who is connected and which session lasts makes no difference. So
//! every node that looks at the same values and disks comes to the same.

pub(crate) mod relation;
pub(crate) mod standing;
pub(crate) mod verdict;
pub(crate) mod stamp;
#[cfg(test)]
mod histories;
