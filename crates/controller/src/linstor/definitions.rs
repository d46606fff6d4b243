//! Resource definitions: a volume by its name, before and while it is on nodes.

use std::sync::Arc;

use axum::extract::State as Given;
use axum::response::{IntoResponse as _, Json, Response};
use serde_json::json;

use crate::Controller;
use crate::changes::{delete_volume, volume_named};
use crate::core::State;
use crate::define::{NewDefinition, edit_definition, new_definition};
use crate::deploy::check_layers;
use crate::linstor::answer::{Answer, Done, SNAPSHOTS, Subject, shown};
use crate::linstor::codes::{Thing, Verb};
use crate::linstor::notes::without_effect;
use crate::linstor::reading::{Asked, Drained, Fields};
use crate::linstor::selected::{has_properties, is_named, page};
use crate::linstor::shapes::{self, WithVolumes};
use crate::linstor::waiting::{Work, ended};
use crate::model::group::Filter;
use crate::model::{Phase, Volume};
use crate::refusal::Refusal;

type Shared = Given<Arc<Controller>>;

pub(crate) async fn list(Given(controller): Shared, asked: Asked) -> Response {
    let with = match asked.flag("with_volume_definitions") {
        true => WithVolumes::Yes,
        false => WithVolumes::No,
    };
    let told = controller.core.look(|state, _| {
        let is_shown = |volume: &&&Volume| {
            is_named(&asked, "resource_definitions", &volume.name)
                && has_properties(&asked, &volume.properties)
        };
        let volumes = in_order(state);
        let volumes = volumes.iter().filter(is_shown);
        page(&asked, volumes.map(|it| shapes::definition(state, it, with)).collect())
    });
    shown(Thing::Definition, Ok(told))
}

/// By name.
pub(crate) fn in_order(state: &State) -> Vec<&Volume> {
    let mut volumes: Vec<&Volume> = state.desired.volumes.values().collect();
    volumes.sort_by(|a, b| a.name.cmp(&b.name));
    volumes
}

pub(crate) async fn show(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let volume = volume_named(&state.desired, asked.path("definition"))?;
        Ok(shapes::definition(state, volume, WithVolumes::No))
    });
    shown(Thing::Definition, told)
}

/// Its names, as clients look for them.
pub(crate) fn refs(volume: &Volume) -> [(&'static str, String); 2] {
    [("RscDfn", volume.name.clone()), ("UUID", volume.id.to_string())]
}

pub(crate) fn done(text: String, volume: &Volume) -> Done {
    let [(name_key, name), (id_key, id)] = refs(volume);
    Done::new(text, &[(name_key, &name), (id_key, &id)])
}

pub(crate) async fn create(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let outer = asked.fields()?;
        let fields = outer.object("resource_definition")?;
        check_stack(&fields)?;
        let name = fields.text("name")?.filter(|name| !name.is_empty());
        let external_name = fields.text("external_name")?;
        if name.is_none() && external_name.is_none() {
            let reason = "resource_definition.name is missing".to_owned();
            return Err(Refusal::BadJson { reason });
        }
        let group = fields.text("resource_group_name")?.filter(|name| !name.is_empty());
        let wish = NewDefinition { name, external_name, group, properties: fields.properties()? };
        let notes = without_effect(&wish.properties);
        let work = Work::new(controller);
        let volume = work.change(move |state, _| new_definition(state, &wish)).await?;
        Ok(done(format!("there is a resource definition {:?}", volume.name), &volume).note(notes))
    };
    Subject::new(Verb::Create, Thing::Definition).created(told.await)
}

/// The layers that are asked for: as a list of objects, or of words.
fn check_stack(fields: &Fields) -> Result<(), Refusal> {
    let mut layers = Vec::new();
    for layer in fields.objects("layer_data")? {
        layers.extend(layer.text("type")?);
    }
    check_layers(&Filter { layer_stack: Some(layers), ..Filter::default() })
}

pub(crate) async fn edit(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let fields = asked.fields()?;
        let layer_stack = fields.list("layer_stack")?;
        check_layers(&Filter { layer_stack, ..Filter::default() })?;
        let (edit, group) = (fields.edit()?, fields.text("resource_group")?);
        let notes = without_effect(&edit);
        let (name, work) = (asked.path("definition").to_owned(), Work::new(controller));
        let changed = work.change(move |state, _| {
            edit_definition(state, &name, &edit, group.as_deref().filter(|it| !it.is_empty()))
        });
        let volume = changed.await?;
        Ok(done(format!("the resource definition {:?} is changed", volume.name), &volume)
            .note(notes))
    };
    Subject::new(Verb::Modify, Thing::Definition).ok(told.await)
}

pub(crate) async fn delete(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let name = asked.path("definition").to_owned();
        let known = controller.core.look(|state, _| state.desired.volume_named(&name).cloned());
        let Some(volume) = known else { return Ok(Done::absent(&Refusal::NoVolume { name })) };
        let work = Work::new(controller);
        let called = volume.name.clone();
        let begun = match work.change(move |state, now| delete_volume(state, &called, now)).await {
            Ok(begun) => begun,
            // Another request was before this one, and took it away.
            Err(Refusal::NoVolume { name }) => {
                return Ok(Done::absent(&Refusal::NoVolume { name }));
            }
            Err(refusal) => return Err(refusal),
        };
        let text = format!("the resource definition {:?} goes", volume.name);
        ended(&work, begun, done(text, &volume)).await
    };
    Subject::new(Verb::Delete, Thing::Definition).ok(told.await)
}

/// Whether all replicas are up to date.
pub(crate) async fn sync_status(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, now| {
        let volume = volume_named(&state.desired, asked.path("definition"))?;
        let current = crate::seen::up_to_date(volume, &state.seen, now).count();
        let all = volume.phase == Phase::Live && volume.replicas().count() == current;
        Ok(json!({"synced_on_all": all}))
    });
    shown(Thing::Definition, told)
}

/// A copy of a definition with its data, under another name.
pub(crate) async fn clone(Given(controller): Shared, asked: Asked) -> Answer {
    let name = asked.path("definition").to_owned();
    let known = controller.core.look(|it, _| volume_named(&it.desired, &name).map(drop));
    let told = known.and(Err(Refusal::NotBuilt { what: "clones" }));
    Subject::new(Verb::Create, Thing::Definition).created(told)
}

/// Of a target that there is not clients expect 404; and no clone was ever begun here.
pub(crate) async fn clone_status(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        volume_named(&state.desired, asked.path("definition"))?;
        let name = asked.path("target").to_owned();
        Err::<(), _>(Refusal::NoVolume { name })
    });
    shown(Thing::Definition, told)
}

/// Snapshots of one definition, or of all: none.
pub(crate) async fn snapshots(Given(controller): Shared, asked: Asked) -> Response {
    let name = asked.path("definition").to_owned();
    let known = controller.core.look(|state, _| match name.as_str() {
        "" => Ok(()),
        name => volume_named(&state.desired, name).map(drop),
    });
    match known {
        Ok(()) => Json(json!([])).into_response(),
        Err(refusal) => shown(Thing::Snapshot, Err::<(), _>(refusal)),
    }
}

/// A snapshot that is not there.
pub(crate) async fn snapshot(Given(controller): Shared, asked: Asked) -> Answer {
    let name = asked.path("definition").to_owned();
    let known = controller.core.look(|state, _| volume_named(&state.desired, &name).map(drop));
    let none = || Refusal::NoSnapshot { name: asked.path("snapshot").to_owned(), of: name.clone() };
    let refusal = known.err().unwrap_or_else(none);
    Subject::new(Verb::Show, Thing::Snapshot).refusal(&refusal)
}

pub(crate) async fn delete_snapshot(asked: Asked) -> Answer {
    let (name, of) = (asked.path("snapshot").to_owned(), asked.path("definition").to_owned());
    let told = Ok(Done::absent(&Refusal::NoSnapshot { name, of }));
    Subject::new(Verb::Delete, Thing::Snapshot).ok(told)
}

/// Each request that makes or takes back a snapshot.
pub(crate) async fn no_snapshots(_: Drained) -> Answer {
    let refusal = Refusal::NotBuilt { what: SNAPSHOTS };
    Subject::new(Verb::Create, Thing::Snapshot).refusal(&refusal)
}
