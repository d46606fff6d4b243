//! The NVMe module through its public face.
#![expect(clippy::unwrap_used, reason = "all of this is test code")]

mod golden;
mod controller;
mod commands;
mod host;
mod auth;
mod fuzz;

use frontend::nvme::wire::{SQE_BYTES, Sqe};

/// Bytes out of hexadecimal digits; blanks are for the reader.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

/// A command with these bytes at these places; its data, if any, goes over the connection.
fn sqe(opcode: u8, fields: &[(usize, &[u8])]) -> Sqe {
    let mut bytes = [0; SQE_BYTES];
    bytes[0] = opcode;
    bytes[2] = 7;
    bytes[39] = 0x5a;
    for (at, field) in fields {
        bytes[*at..at + field.len()].copy_from_slice(field);
    }
    Sqe::of(&bytes)
}
