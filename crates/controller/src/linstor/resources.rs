//! Resources: a definition on nodes, and its device on one of them.

use std::sync::Arc;

use axum::extract::State as Given;
use axum::response::Response;
use serde_json::{Value, json};

use crate::Controller;
use crate::changes::{node_named, volume_named};
use crate::core::State;
use crate::deploy::{
    Dropped, POOL_PROPERTY, Place, PlaceKind, Placed, autoplace as place_by_itself, check_layers,
    deploy_on, drop_replica, make_available as bring_device, replica_owner,
};
use crate::linstor::answer::{Answer, Done, Note, Subject, shown};
use crate::linstor::codes::{ALREADY_DEPLOYED, HAS_DISK, NO_EFFECT, Thing, Verb};
use crate::linstor::definitions::in_order;
use crate::linstor::nodes::edited;
use crate::linstor::reading::{Asked, Fields};
use crate::linstor::selected::{has_properties, is_named, page};
use crate::linstor::shapes;
use crate::linstor::waiting::{Waited, Work, ended};
use crate::model::bag::Owner;
use crate::model::group::Filter;
use crate::model::{Phase, Placement, Volume};
use crate::refusal::{REPLICAS_MAX, Refusal};

type Shared = Given<Arc<Controller>>;

/// All resources with their volumes: what clients ask most.
pub(crate) async fn view(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, now| {
        let mut told = Vec::new();
        for volume in in_order(state) {
            if !is_named(&asked, "resources", &volume.name) {
                continue;
            }
            let here = volume.placements.iter().filter(|it| is_shown(state, &asked, volume, it));
            told.extend(here.map(|it| shapes::resource_with_volumes(state, volume, it, now)));
        }
        page(&asked, told)
    });
    shown(Thing::Resource, Ok(told))
}

fn is_shown(state: &State, asked: &Asked, volume: &Volume, here: &Placement) -> bool {
    let pool = here.pool.and_then(|pool| state.desired.pools.get(&pool));
    let pool = pool.map_or(shapes::DISKLESS_POOL, |pool| &pool.name);
    let own = state.desired.bag(&Owner::Replica(volume.id, here.node));
    is_named(asked, "nodes", &shapes::name_of(state, here.node))
        && is_named(asked, "storage_pools", pool)
        && has_properties(asked, &own.over(&volume.properties))
}

pub(crate) async fn list(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, now| {
        let volume = volume_named(&state.desired, asked.path("definition"))?;
        let all = volume.placements.iter();
        Ok(all.map(|it| shapes::resource(state, volume, it, now)).collect::<Vec<_>>())
    });
    shown(Thing::Resource, told)
}

/// The replica of the path.
fn named<'a>(state: &'a State, asked: &Asked) -> Result<(&'a Volume, &'a Placement), Refusal> {
    let volume = volume_named(&state.desired, asked.path("definition"))?;
    let node = node_named(&state.desired, asked.path("node"))?;
    let none = || Refusal::NoReplica { name: volume.name.clone(), node: node.name.clone() };
    Ok((volume, volume.placement(node.id).ok_or_else(none)?))
}

pub(crate) async fn show(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, now| {
        let (volume, here) = named(state, &asked)?;
        Ok(shapes::resource(state, volume, here, now))
    });
    shown(Thing::Resource, told)
}

pub(crate) async fn volumes(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, now| {
        let (volume, here) = named(state, &asked)?;
        let all = volume.parts.iter();
        Ok(all.map(|part| shapes::volume(state, volume, here, part, now)).collect::<Vec<Value>>())
    });
    shown(Thing::Volume, told)
}

pub(crate) async fn volume(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, now| {
        let (volume, here) = named(state, &asked)?;
        let number = asked.number("number")?;
        let none = || Refusal::NoPart { name: volume.name.clone(), number };
        let part = volume.part(number).ok_or_else(none)?;
        Ok(shapes::volume(state, volume, here, part, now))
    });
    shown(Thing::Volume, told)
}

/// Properties of a resource, or of a volume of it.
pub(crate) async fn edit(Given(controller): Shared, asked: Asked) -> Answer {
    let (name, node) = (asked.path("definition").to_owned(), asked.path("node").to_owned());
    let edit = asked.fields().and_then(|it| it.edit());
    let refs = vec![("RscDfn", name.clone()), ("Node", node.clone())];
    let owner = move |state: &State| replica_owner(&state.desired, &name, &node);
    let told = edited(controller, edit, refs, owner).await;
    Subject::new(Verb::Modify, Thing::Resource).ok(told)
}

/// The filter of a request: what stands beside it overrules what stands in it.
fn filter_of(fields: &Fields) -> Result<Filter, Refusal> {
    let filter = fields.filter("select_filter")?;
    let beside = Filter {
        layer_stack: fields.list("layer_list")?.filter(|list| !list.is_empty()),
        diskless_on_remaining: fields.flag("diskless_on_remaining")?,
        ..Filter::default()
    };
    let filter = beside.over(&filter);
    crate::define::check_filter(&filter)?;
    check_layers(&filter)?;
    Ok(filter)
}

/// Wishes of a filter on which nobody acts.
fn unheard(filter: &Filter) -> Vec<Note> {
    let mut notes = Vec::new();
    if filter.not_place_with_rsc_regex.as_ref().is_some_and(|it| !it.is_empty()) {
        notes.push(Note::NoEffect("not_place_with_rsc_regex".to_owned()));
    }
    if filter.diskless_on_remaining == Some(true) {
        notes.push(Note::NoEffect("diskless_on_remaining".to_owned()));
    }
    notes
}

pub(crate) async fn autoplace(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let filter = filter_of(&asked.fields()?)?;
        let work = Work::new(controller);
        placed(&work, asked.path("definition").to_owned(), filter).await
    };
    Subject::new(Verb::Create, Thing::Resource).created(told.await)
}

/// By its filter, and its group's. A volume that is on nodes gets one replica after the other.
pub(crate) async fn placed(work: &Work, name: String, filter: Filter) -> Result<Done, Refusal> {
    let notes = unheard(&filter);
    let mut done = None;
    // One more than a volume may have: each round adds one, or is the last.
    for _ in 0..=REPLICAS_MAX {
        let (of, by) = (name.clone(), filter.clone());
        let changed = work.change(move |state, now| place_by_itself(state, &of, by.clone(), now));
        let (volume, begun) = match changed.await? {
            (volume, Placed::Begun(begun)) => (volume, begun),
            (volume, Placed::Enough { replicas }) => {
                let text = format!("{:?} is on {replicas} nodes already", volume.name);
                let refs = [("RscDfn", &*volume.name)];
                let told = || Done::new(text, &refs).warning(ALREADY_DEPLOYED);
                return Ok(done.unwrap_or_else(told).note(notes));
            }
        };
        let text = format!("{:?} is placed", volume.name);
        let told = ended(work, begun, Done::new(text, &[("RscDfn", &*volume.name)])).await?;
        // So many more were asked for, and not so many in all.
        let is_counted = filter.additional_place_count.is_some_and(|more| more > 0);
        if told.continues() || is_counted {
            return Ok(told.note(notes));
        }
        done = Some(told);
    }
    Err(Refusal::BadReplicas { count: u8::MAX })
}

/// Replicas on named nodes: one in the path, or a list of them in the body.
pub(crate) async fn create(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let node = Some(asked.path("node").to_owned()).filter(|node| !node.is_empty());
        let places = places_of(&asked, node.as_deref())?;
        let name = asked.path("definition").to_owned();
        let is_new = controller.core.look(|state, _| {
            volume_named(&state.desired, &name).map(|it| it.phase == Phase::Defined)
        })?;
        let work = Work::new(controller);
        let size = if is_new { places.len() } else { 1 };
        let nodes = places.iter().map(|it| it.node.clone()).collect::<Vec<_>>().join(", ");
        let text = format!("{name:?} is on {nodes}");
        let mut done = Done::new(text, &[("RscDfn", &*name), ("Node", &*nodes)]);
        for some in places.chunks(size) {
            let (of, some) = (name.clone(), some.to_vec());
            let changed = work.change(move |state, now| deploy_on(state, &of, &some, now));
            done = ended(&work, changed.await?.1, done).await?;
        }
        Ok(done)
    };
    Subject::new(Verb::Create, Thing::Resource).created(told.await)
}

fn places_of(asked: &Asked, node: Option<&str>) -> Result<Vec<Place>, Refusal> {
    let mut places = Vec::new();
    for wish in asked.each()? {
        let layer_stack = wish.list("layer_list")?;
        check_layers(&Filter { layer_stack, ..Filter::default() })?;
        let fields = wish.object("resource")?;
        let flags = fields.list("flags")?.unwrap_or_default();
        let is_diskless = |flag: &String| {
            ["DISKLESS", "DRBD_DISKLESS", "DRBD_CLIENT", "NVME_INITIATOR", "TIE_BREAKER"]
                .iter()
                .any(|word| flag.eq_ignore_ascii_case(word))
        };
        let pool = fields.map("props")?.and_then(|mut props| props.remove(POOL_PROPERTY));
        let is_no_disk = pool.as_deref() == Some(shapes::DISKLESS_POOL);
        let kind = match is_no_disk || flags.iter().any(is_diskless) {
            true => PlaceKind::Diskless,
            false => PlaceKind::Replica,
        };
        let node = match node {
            Some(node) => node.to_owned(),
            None => fields.needed("node_name")?,
        };
        places.push(Place { node, pool, kind });
    }
    if places.is_empty() {
        match node {
            Some(node) => {
                let (node, kind) = (node.to_owned(), PlaceKind::Replica);
                places.push(Place { node, pool: None, kind });
            }
            None => return Err(Refusal::BadJson { reason: "the list is empty".to_owned() }),
        }
    }
    Ok(places)
}

pub(crate) async fn delete(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let (name, node) = (asked.path("definition").to_owned(), asked.path("node").to_owned());
        let work = Work::new(controller);
        let text = format!("{name:?} is no more on {node}");
        let done = Done::new(text, &[("RscDfn", &*name), ("Node", &*node)]);
        let mut was_there = false;
        loop {
            let (of, on) = (name.clone(), node.clone());
            let changed = work.change(move |state, now| match state.desired.volume_named(&of) {
                Some(_) => drop_replica(state, &of, &on, now),
                None => Ok((Vec::new(), Dropped::Absent)),
            });
            return match changed.await? {
                Dropped::Absent if was_there => Ok(done),
                Dropped::Absent => Ok(Done::absent(&Refusal::NoReplica { name, node })),
                Dropped::Witness => {
                    let text = format!("{node} votes for {name:?}, and goes by itself");
                    Ok(Done::new(text, &[("RscDfn", &*name)]).warning(NO_EFFECT))
                }
                Dropped::Begun(begun) => ended(&work, begun, done).await,
                Dropped::Detaching(begun) => match work.wait(begun).await? {
                    Waited::Continues(operation) => Err(Refusal::Busy { name, operation }),
                    Waited::Done => {
                        was_there = true;
                        continue;
                    }
                },
            };
        }
    };
    Subject::new(Verb::Delete, Thing::Resource).ok(told.await)
}

/// The device on a node. When it is answered with success the device is there: whoever asks opens
/// it next.
pub(crate) async fn make_available(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let layer_stack = asked.fields()?.list("layer_list")?;
        check_layers(&Filter { layer_stack, ..Filter::default() })?;
        let (name, node) = (asked.path("definition").to_owned(), asked.path("node").to_owned());
        let (of, on) = (name.clone(), node.clone());
        let work = Work::new(controller);
        let changed = work.change(move |state, now| bring_device(state, &of, &on, now));
        let (volume, begun) = changed.await?;
        if let Some(begun) = begun
            && let Waited::Continues(operation) = work.wait(begun).await?
        {
            return Err(Refusal::Busy { name: volume.name, operation });
        }
        let text = format!("the device of {:?} is on {node}", volume.name);
        Ok(Done::new(text, &[("RscDfn", &*volume.name), ("Node", &*node)]))
    };
    Subject::new(Verb::Modify, Thing::Resource).ok(told.await)
}

/// A replica that is up needs nothing to be up.
pub(crate) async fn activate(Given(controller): Shared, asked: Asked) -> Answer {
    let told = controller.core.look(|state, _| named(state, &asked).map(|(it, _)| it.name.clone()));
    let told = told.map(|name| Done::new(format!("{name:?} is up"), &[("RscDfn", &*name)]));
    Subject::new(Verb::Modify, Thing::Resource).ok(told)
}

/// A replica that is kept, and is down.
pub(crate) async fn deactivate(Given(controller): Shared, asked: Asked) -> Answer {
    refused(&controller, &asked, "a replica that is kept and is down")
}

/// A node gets a disk for the volume; that it loses it, or that one moves, is refused.
pub(crate) async fn toggle_disk(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let fields = asked.fields()?;
        let operation = fields.text("operation")?.unwrap_or_default().to_ascii_uppercase();
        let is_disk = asked.has_parts("/toggle-disk/diskful") || operation == "INTO_DRBD_DISKFUL";
        let is_move = fields.text("migrate_from")?.is_some_and(|from| !from.is_empty());
        if !is_disk || is_move {
            let what = "a disk that is taken from a node, or moved: add a replica, then drop one";
            return Err(Refusal::NotBuilt { what });
        }
        let pool = match asked.path("pool") {
            "" => fields.text("storage_pool")?,
            pool => Some(pool.to_owned()),
        };
        let (name, node) = (asked.path("definition").to_owned(), asked.path("node").to_owned());
        let places = [Place { node: node.clone(), pool, kind: PlaceKind::Replica }];
        let (of, work) = (name.clone(), Work::new(controller));
        let refs = [("RscDfn", &*name), ("Node", &*node)];
        match work.change(move |state, now| deploy_on(state, &of, &places, now)).await {
            Ok((_, begun)) => {
                let done = Done::new(format!("{node} gets a replica of {name:?}"), &refs);
                ended(&work, begun, done).await
            }
            Err(refusal @ Refusal::ReplicaExists { .. }) => {
                Ok(Done::new(refusal.to_string(), &refs).warning(HAS_DISK))
            }
            Err(refusal) => Err(refusal),
        }
    };
    Subject::new(Verb::Modify, Thing::Resource).ok(told.await)
}

fn refused(controller: &Controller, asked: &Asked, what: &'static str) -> Answer {
    let known = controller.core.look(|state, _| named(state, asked).map(drop));
    let refusal = known.err().unwrap_or(Refusal::NotBuilt { what });
    Subject::new(Verb::Modify, Thing::Resource).refusal(&refusal)
}

/// Between two nodes of a definition, in either order.
pub(crate) async fn connections(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let volume = volume_named(&state.desired, asked.path("definition"))?;
        let mut told = Vec::new();
        for (index, a) in volume.placements.iter().enumerate() {
            let peers = volume.placements.iter().skip(index + 1);
            told.extend(peers.map(|b| connection_of(state, volume, a.node, b.node)));
        }
        Ok(told)
    });
    shown(Thing::Connection, told)
}

fn connection_of(state: &State, volume: &Volume, a: uuid::Uuid, b: uuid::Uuid) -> Value {
    let props = state.desired.bag(&Owner::connection(volume.id, a, b));
    let (node_a, node_b) = (shapes::name_of(state, a), shapes::name_of(state, b));
    json!({"node_a": node_a, "node_b": node_b, "props": *props, "flags": []})
}

/// The ends of a connection: each has to have the volume, or to be about to have it.
fn ends(state: &State, asked: &Asked) -> Result<(Volume, uuid::Uuid, uuid::Uuid), Refusal> {
    let volume = volume_named(&state.desired, asked.path("definition"))?;
    let node = |key| node_named(&state.desired, asked.path(key)).map(|it| it.id);
    Ok((volume.clone(), node("a")?, node("b")?))
}

pub(crate) async fn connection(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let (volume, a, b) = ends(state, &asked)?;
        Ok(connection_of(state, &volume, a, b))
    });
    shown(Thing::Connection, told)
}

pub(crate) async fn edit_connection(Given(controller): Shared, asked: Asked) -> Answer {
    let edit = asked.fields().and_then(|it| it.edit());
    let refs = vec![("RscDfn", asked.path("definition").to_owned())];
    let owner = move |state: &State| {
        let (volume, a, b) = ends(state, &asked)?;
        Ok(Owner::connection(volume.id, a, b))
    };
    let told = edited(controller, edit, refs, owner).await;
    Subject::new(Verb::Modify, Thing::Connection).ok(told)
}
