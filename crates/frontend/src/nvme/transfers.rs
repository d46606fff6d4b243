//! Writes whose data is on its way: what the initiator was given leave to send.

use crate::nvme::receive::DataHead;
use crate::nvme::status::Fatal;

/// The transfers of one queue, by their tags; `K` is the daemon's name for a request.
#[derive(Debug)]
pub struct Transfers<K> {
    places: Vec<Option<Transfer<K>>>,
}

#[derive(Clone, Copy, Debug)]
struct Transfer<K> {
    request: K,
    command: u16,
    /// What came, and how much will.
    received: u32,
    length: u32,
}

impl<K: Copy> Transfers<K> {
    /// Room for so many.
    #[must_use]
    pub fn new(most: u16) -> Self {
        Self { places: (0..most).map(|_| None).collect() }
    }

    /// Nothing is on its way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.iter().all(Option::is_none)
    }

    /// Begins one, and gives its tag; none when there is no room.
    pub fn begin(&mut self, request: K, command: u16, length: u32) -> Option<u16> {
        let place = self.places.iter().position(Option::is_none)?;
        self.places[place] = Some(Transfer { request, command, received: 0, length });
        u16::try_from(place).ok()
    }

    /// Whose data a PDU brings; it must go on where the last one ended.
    pub fn on_data(&mut self, head: &DataHead) -> Result<K, Fatal> {
        let place = self.places.get_mut(usize::from(head.tag)).and_then(Option::as_mut);
        let transfer = place
            .filter(|transfer| transfer.command == head.command)
            .ok_or_else(|| Fatal::header(10, "data comes that nobody asked for"))?;
        if head.offset != transfer.received || head.length > transfer.length - transfer.received {
            return Err(Fatal::range("data comes for a place that is not the next one"));
        }
        transfer.received += head.length;
        Ok(transfer.request)
    }

    /// Whether all of it came, counting what the last PDU announced; then it is over.
    pub fn end_if_whole(&mut self, tag: u16) -> bool {
        let Some(place) = self.places.get_mut(usize::from(tag)) else { return false };
        let is_whole = place.as_ref().is_some_and(|it| it.received == it.length);
        if is_whole {
            *place = None;
        }
        is_whole
    }
}
