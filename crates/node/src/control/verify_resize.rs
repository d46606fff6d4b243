//! `verify` and `resize`: from bytes of a volume, as an operator names them, to blocks of the space
//! in which all volumes of a resource lie.

use api::response::Failure;
use format::ids::BLOCK_BYTES;
use format::space::{Place, VOLUME_BLOCKS, VOLUME_BYTES};
use replication::contract::{NewArea, ResizeTask};

use crate::control::Control;
use crate::refusal::Refusal;
use engine::definition::Definition;

impl Control {
    /// The blocks that a verify is about, from the first to behind the last: bytes are those of a
    /// volume.
    pub(super) fn verified(
        &self,
        resource: &str,
        volume: Option<u16>,
        start: Option<u64>,
        stop: Option<u64>,
    ) -> Result<(u64, u64), Failure> {
        let first = start.unwrap_or(0) / BLOCK_BYTES;
        let last = stop.map(|stop| stop.div_ceil(BLOCK_BYTES));
        // Without a text it is not up, and is told so by who is asked.
        let text = self.stored_text(resource)?.unwrap_or_default();
        let Ok(definition) = Definition::from_text(&self.name, resource, &text) else {
            return Ok((first, last.unwrap_or(u64::MAX)));
        };
        let place = match (volume, definition.further.is_empty()) {
            (_, true) => return Ok((first, last.unwrap_or(u64::MAX))),
            (None, false) if start.is_none() && stop.is_none() => return Ok((0, u64::MAX)),
            (None | Some(_), false) => place_of(&definition, volume)?,
        };
        let base = place.first_block();
        let last = last.unwrap_or(VOLUME_BLOCKS).min(VOLUME_BLOCKS);
        Ok((base + first.min(VOLUME_BLOCKS), base + last))
    }

    pub(super) fn resized(
        &self,
        resource: &str,
        volume: Option<u16>,
        size: Option<u64>,
        new_area: NewArea,
    ) -> Result<ResizeTask, Failure> {
        // Without a text it is not up, and is told so by who is asked.
        let text = self.stored_text(resource)?.unwrap_or_default();
        let (place, wanted) = match Definition::from_text(&self.name, resource, &text) {
            Ok(definition) => {
                let place = place_of(&definition, volume)?;
                (place, definition.volume_options(place).and_then(|it| it.size_bytes))
            }
            Err(_) => (Place::FIRST, None),
        };
        let size_bytes = size.or(wanted).unwrap_or(0);
        if size_bytes > VOLUME_BYTES - BLOCK_BYTES {
            return Err(Refusal::VolumeTooLarge { max_bytes: VOLUME_BYTES }.into());
        }
        let size_bytes = size_bytes.next_multiple_of(BLOCK_BYTES);
        Ok(ResizeTask { place, size_bytes, new_area })
    }
}

/// The volume of that number; the only one, if none is named.
fn place_of(definition: &Definition, volume: Option<u16>) -> Result<Place, Failure> {
    let name = &definition.name;
    match volume {
        None if definition.further.is_empty() => Ok(Place::FIRST),
        None => Err(Refusal::SeveralVolumes { resource: name.clone() }.into()),
        Some(number) => {
            let known = definition.volumes().find(|volume| volume.number == number);
            let none = || Refusal::NoVolume { resource: name.clone(), volume: number };
            Ok(known.map(|volume| volume.place).ok_or_else(none)?)
        }
    }
}
