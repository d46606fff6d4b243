//! Volume definitions: the devices of a resource definition, each with a number, a size and a
//! minor.

use std::sync::Arc;

use axum::extract::State as Given;
use axum::response::Response;

use crate::Controller;
use crate::changes::volume_named;
use crate::define::{NewPart, Resized, drop_part, edit_part, new_part, resize_part};
use crate::linstor::answer::{Answer, Done, Subject, shown};
use crate::linstor::codes::{SAME_SIZE, Thing, Verb};
use crate::linstor::notes::without_effect;
use crate::linstor::reading::{Asked, Fields};
use crate::linstor::shapes;
use crate::linstor::waiting::{Work, ended};
use crate::refusal::{Refusal, SIZE_MAX};

type Shared = Given<Arc<Controller>>;

pub(crate) async fn list(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let volume = volume_named(&state.desired, asked.path("definition"))?;
        let parts = volume.parts.iter().map(|part| shapes::volume_definition(volume, part));
        Ok(parts.collect::<Vec<_>>())
    });
    shown(Thing::VolumeDefinition, told)
}

pub(crate) async fn show(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let volume = volume_named(&state.desired, asked.path("definition"))?;
        let number = asked.number("number")?;
        let none = || Refusal::NoPart { name: volume.name.clone(), number };
        let part = volume.part(number).ok_or_else(none)?;
        Ok(shapes::volume_definition(volume, part))
    });
    shown(Thing::VolumeDefinition, told)
}

/// In bytes; what is no size is refused as one.
pub(crate) fn bytes_of(kib: u64) -> Result<u64, Refusal> {
    let bytes = kib.checked_mul(1024).filter(|bytes| *bytes <= SIZE_MAX);
    bytes.ok_or_else(|| Refusal::BadSize { bytes: kib.saturating_mul(1024) })
}

fn size_of(fields: &Fields) -> Result<Option<u64>, Refusal> {
    fields.integer("size_kib")?.map(bytes_of).transpose()
}

pub(crate) async fn create(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let outer = asked.fields()?;
        let fields = outer.object("volume_definition")?;
        let missing =
            || Refusal::BadJson { reason: "volume_definition.size_kib is missing".into() };
        let wish = NewPart {
            number: fields.integer("volume_number")?,
            size_bytes: size_of(&fields)?.ok_or_else(missing)?,
            minor: outer.integer("drbd_minor_number")?,
            properties: fields.properties()?,
        };
        let notes = without_effect(&wish.properties);
        let (name, work) = (asked.path("definition").to_owned(), Work::new(controller));
        let (volume, part) = work.change(move |state, _| new_part(state, &name, &wish)).await?;
        let text = format!("{:?} has a volume {}", volume.name, part.number);
        let (number, minor) = (part.number.to_string(), part.minor.to_string());
        let refs = [("RscDfn", &*volume.name), ("VlmNr", &*number), ("VlmMinor", &*minor)];
        Ok(Done::new(text, &refs).note(notes))
    };
    Subject::new(Verb::Create, Thing::VolumeDefinition).created(told.await)
}

pub(crate) async fn edit(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let number = asked.number("number")?;
        let fields = asked.fields()?;
        let (edit, size) = (fields.edit()?, size_of(&fields)?);
        let notes = without_effect(&edit);
        let (name, work) = (asked.path("definition").to_owned(), Work::new(controller));
        let called = name.clone();
        let only_size = edit.is_empty();
        let volume = work.change(move |state, _| edit_part(state, &called, number, &edit)).await?;
        let number_text = number.to_string();
        let refs = [("RscDfn", &*volume.name), ("VlmNr", &*number_text)];
        let text = format!("volume {number} of {:?} is changed", volume.name);
        let done = Done::new(text, &refs).note(notes);
        let Some(bytes) = size else { return Ok(done) };
        let resized =
            work.change(move |state, now| resize_part(state, &name, (number, bytes), now));
        Ok(match resized.await? {
            Resized::Same if only_size => done.warning(SAME_SIZE),
            Resized::Same | Resized::Done => done,
            Resized::Begun(begun) => ended(&work, begun, done).await?,
        })
    };
    Subject::new(Verb::Modify, Thing::VolumeDefinition).ok(told.await)
}

pub(crate) async fn delete(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let number = asked.number("number")?;
        let (name, work) = (asked.path("definition").to_owned(), Work::new(controller));
        let called = name.clone();
        let gone = work.change(move |state, _| match state.desired.volume_named(&called) {
            Some(_) => drop_part(state, &called, number),
            None => Ok((Vec::new(), None)),
        });
        Ok(match gone.await? {
            Some(volume) => {
                let text = format!("{:?} has no volume {number} any more", volume.name);
                let number = number.to_string();
                Done::new(text, &[("RscDfn", &*volume.name), ("VlmNr", &*number)])
            }
            None => Done::absent(&Refusal::NoPart { name, number }),
        })
    };
    Subject::new(Verb::Delete, Thing::VolumeDefinition).ok(told.await)
}
