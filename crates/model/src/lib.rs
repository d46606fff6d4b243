//! The rules of docs/PROTOCOL.md as models that are searched to the last state.
//!
//! A model is written from the text, not from the code: each action names the section that it
//! comes from, and each rule can be taken out, whereupon a property has to break. `register` is the
//! config register with its leases, voters and proposals in doubt; `data` is what a session does
//! with the replicas, over a register of which only the outcome is seen; `forks` is what comes of
//! lines that went on without each other.
#![forbid(unsafe_code)]

pub mod register;
pub mod data;
pub mod forks;
mod search;

pub use crate::search::{Finding, search};
