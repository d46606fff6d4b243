//! The sentences about the clients of this node that have a volume open.
//!
//! `tests` prints each sentence in each situation, and docs/operate/messages has them all.

#[cfg(test)]
mod tests;

use std::fmt;

use api::status::{Holder, ResourceStatus};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sentence {
    Nobody,
    OpenBy(Who, Requests),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Client { address: String },
    Program { command: String, pid: u32 },
    Process { pid: u32 },
    Unknown,
}

/// Of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Requests {
    volume: u16,
    /// They are not answered yet.
    count: u32,
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("no client of this node has it open"),
            Self::OpenBy(who, Requests { volume, count }) => {
                write!(f, "volume {volume}: {who}, ")?;
                match count {
                    0 => f.write_str("idle"),
                    1 => f.write_str("1 request in flight"),
                    many => write!(f, "{many} requests in flight"),
                }
            }
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client { address } => write!(f, "a client at {address}"),
            Self::Program { command, pid } => write!(f, "{command} (process {pid})"),
            Self::Process { pid } => write!(f, "process {pid}, which ended or is hidden"),
            Self::Unknown => f.write_str("a client that is not known"),
        }
    }
}

pub(super) fn openers(resource: &ResourceStatus) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for device in &resource.devices {
        for holder in &device.holders {
            let requests = Requests { volume: device.volume, count: holder.requests };
            sentences.push(Sentence::OpenBy(who(holder), requests));
        }
    }
    if sentences.is_empty() {
        sentences.push(Sentence::Nobody);
    }
    sentences
}

fn who(holder: &Holder) -> Who {
    match (&holder.address, holder.pid, &holder.command) {
        (Some(address), ..) => Who::Client { address: address.clone() },
        (None, Some(pid), Some(command)) => Who::Program { command: command.clone(), pid },
        (None, Some(pid), None) => Who::Process { pid },
        (None, None, _) => Who::Unknown,
    }
}
