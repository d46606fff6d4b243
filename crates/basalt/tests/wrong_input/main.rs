//! Wrong input and rough treatment, against real daemons: each gets a clear answer and loses
//! nothing.
//!
//! A daemon is a process of this build on a loopback address of its own, with its files in a
//! temporary directory. What is waited for is asked of its status, with a deadline.

#![expect(clippy::print_stderr, reason = "a failed test shows the logs of its daemons")]
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod cluster;
#[path = "../../../bench/src/ports.rs"]
mod ports;
mod start;
mod options;
mod service;
mod restart;
mod crash_loop;
mod disks;
mod full_disk;
mod configuration;
mod verbs;
mod peers;
mod probes;
mod fake_peer;
mod clients;
mod secrets;
mod secure;
mod secure_clients;
