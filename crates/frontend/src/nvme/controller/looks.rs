//! What an initiator has seen of the namespaces since acknowledged writes may have been lost (C5).
//!
//! Such a loss gives the namespaces other names. An initiator that knew one by its former name
//! drops it when it compares the two, which nobody hears of. But it goes on with the ones that it
//! takes: Linux reads the descriptors with the name, then the namespace, compares, and reads the
//! namespace of one that it keeps once more.
//!
//! ```text
//! Identify 03 (name)  -> Identify 00 -> the names are compared -> Identify 00 -> it is taken
//! ```

use crate::nvme::view::Subsystem;

/// Namespaces are bits, by their number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    /// Those are its names that the initiator reads.
    losses: u32,
    named: u64,
    described: u64,
    taken: u64,
}

impl Looks {
    fn follow(&mut self, subsystem: &Subsystem) {
        if self.losses != subsystem.losses {
            *self = Self { losses: subsystem.losses, ..Self::default() };
        }
    }

    /// It was told the name.
    pub(super) fn on_name(&mut self, number: u32, subsystem: &Subsystem) {
        self.follow(subsystem);
        self.named |= bit(number);
    }

    /// It was told of the namespace itself.
    pub(super) fn on_description(&mut self, number: u32, subsystem: &Subsystem) {
        self.follow(subsystem);
        self.taken |= self.described & bit(number);
        self.described |= self.named & bit(number);
    }

    pub(super) fn have_begun(&self, subsystem: &Subsystem) -> bool {
        self.losses == subsystem.losses && self.named | self.described != 0
    }

    pub(super) fn have_taken_all(&self, subsystem: &Subsystem) -> bool {
        let all = subsystem.namespaces.iter().fold(0, |all, it| all | bit(it.number));
        self.losses == subsystem.losses && all & !self.taken == 0
    }
}

fn bit(number: u32) -> u64 {
    1_u64.checked_shl(number).unwrap_or(0)
}
