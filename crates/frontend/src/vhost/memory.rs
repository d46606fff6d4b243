//! A guest's memory: stretches of files, found by the guest's addresses.

use crate::vhost::Broken;

/// Memory that somebody else changes at the same time.
pub trait Shared {
    fn length(&self) -> u64;
    /// Copies bytes out, if they are all inside.
    fn read(&self, at: u64, into: &mut [u8]) -> Option<()>;
    /// Copies bytes in, if they all fit inside.
    fn write(&self, at: u64, from: &[u8]) -> Option<()>;
    /// An index, which says that what was stored before it is there.
    fn load(&self, at: u64) -> Option<u16>;
    /// Stores an index after everything that was written before.
    fn store(&self, at: u64, value: u16) -> Option<()>;
}

/// Where the monitor says that a stretch of memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub guest_address: u64,
    pub length: u64,
    /// Of the monitor's own mapping, by which it names the rings.
    pub user_address: u64,
    /// In the file that came with it.
    pub file_offset: u64,
}

impl Region {
    pub(crate) fn is_sound(&self) -> bool {
        self.length > 0
            && self.guest_address.checked_add(self.length).is_some()
            && self.user_address.checked_add(self.length).is_some()
            && self.file_offset.checked_add(self.length).is_some()
    }
}

#[derive(Debug)]
pub struct GuestMemory<S> {
    parts: Vec<(Region, S)>,
}

impl<S: Shared> GuestMemory<S> {
    /// Of regions, each with the memory that is mapped for it.
    pub fn new(parts: Vec<(Region, S)>) -> Result<Self, Broken> {
        for (index, (region, memory)) in parts.iter().enumerate() {
            let end = region.guest_address.saturating_add(region.length);
            let overlaps = parts[..index].iter().any(|(other, _)| {
                other.guest_address < end
                    && region.guest_address < other.guest_address.saturating_add(other.length)
            });
            if !region.is_sound() || memory.length() < region.length || overlaps {
                return Err(Broken::monitor(format!("shares memory that cannot be: {region:?}")));
            }
        }
        Ok(Self { parts })
    }

    /// What the monitor's address is to the guest.
    #[must_use]
    pub fn guest_address(&self, user_address: u64) -> Option<u64> {
        self.parts.iter().find_map(|(region, _)| {
            let within = user_address.checked_sub(region.user_address)?;
            (within < region.length).then(|| region.guest_address + within)
        })
    }

    /// Whether all of a range is memory.
    #[must_use]
    pub fn contains(&self, address: u64, length: u64) -> bool {
        self.walk(address, length, |_, _, _| Some(())).is_some()
    }

    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Broken> {
        let length = into.len();
        let mut rest = into;
        let read = self.walk(address, length as u64, |memory, at, length| {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(length);
            rest = later;
            memory.read(at, now)
        });
        read.ok_or_else(|| outside(address, length))
    }

    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), Broken> {
        let mut rest = from;
        let written = self.walk(address, rest.len() as u64, |memory, at, length| {
            let (now, later) = rest.split_at(length);
            rest = later;
            memory.write(at, now)
        });
        written.ok_or_else(|| outside(address, from.len()))
    }

    pub fn load(&self, address: u64) -> Result<u16, Broken> {
        let found = self.find(address).and_then(|(memory, at, _)| memory.load(at));
        found.ok_or_else(|| outside(address, 2))
    }

    pub fn store(&self, address: u64, value: u16) -> Result<(), Broken> {
        let stored = self.find(address).and_then(|(memory, at, _)| memory.store(at, value));
        stored.ok_or_else(|| outside(address, 2))
    }

    /// The memory at an address, the place in it, and how much of it follows.
    fn find(&self, address: u64) -> Option<(&S, u64, u64)> {
        self.parts.iter().find_map(|(region, memory)| {
            let within = address.checked_sub(region.guest_address)?;
            (within < region.length).then(|| (memory, within, region.length - within))
        })
    }

    /// Does something with each stretch of a range, which may go on in the region that follows.
    fn walk(
        &self,
        mut address: u64,
        mut length: u64,
        mut each: impl FnMut(&S, u64, usize) -> Option<()>,
    ) -> Option<()> {
        while length > 0 {
            let (memory, at, rest) = self.find(address)?;
            let now = length.min(rest);
            each(memory, at, usize::try_from(now).ok()?)?;
            length -= now;
            // No region reaches the end of all addresses.
            address = address.checked_add(now)?;
        }
        Some(())
    }
}

fn outside(address: u64, length: usize) -> Broken {
    Broken::driver(format!("names {length} bytes at {address:#x}, where there is no memory"))
}
