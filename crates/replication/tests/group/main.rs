//! One group of lanes by hand: the test is its home, its clients, its peers, and mostly its disk.
//!
//! Here stands what one message, one answer of the disk or one order too early is enough to show,
//! and what no peer of this program would send. What it takes several nodes for is the simulator's.

mod harness;
mod alone;
mod goes_on;
mod members;
mod late;
mod hostile;
mod device_errors;
mod pages;
