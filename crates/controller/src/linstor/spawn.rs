//! A group makes volumes; and how large one could be.

use std::sync::Arc;

use axum::extract::State as Given;
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::Controller;
use crate::core::{Changed, State};
use crate::define::{NewDefinition, NewPart, group_named, new_definition, with_part};
use crate::deploy::find_places;
use crate::linstor::answer::{Answer, Note, Subject, shown};
use crate::linstor::codes::{Thing, Verb};
use crate::linstor::definitions::done;
use crate::linstor::notes::without_effect;
use crate::linstor::parts::bytes_of;
use crate::linstor::reading::{Asked, Drained, Fields};
use crate::linstor::resources::placed;
use crate::linstor::waiting::Work;
use crate::model::group::{Filter, Group};
use crate::model::properties::Edit;
use crate::model::{Change, Object, Pool, Volume};
use crate::refusal::Refusal;

type Shared = Given<Arc<Controller>>;

/// Nobody asked for a number of replicas.
const DEFINED_ONLY: &str = "it is defined, and placed nowhere";

struct Spawn {
    definition: NewDefinition,
    sizes: Vec<u64>,
    filter: Filter,
    definitions_only: bool,
    partial: bool,
}

fn spawn_of(asked: &Asked, fields: &Fields) -> Result<Spawn, Refusal> {
    let name = fields.text("resource_definition_name")?.filter(|name| !name.is_empty());
    let external_name = fields.text("resource_definition_external_name")?;
    if name.is_none() && external_name.is_none() {
        let reason = "resource_definition_name is missing".to_owned();
        return Err(Refusal::BadJson { reason });
    }
    let mut sizes = Vec::new();
    for size in fields.list("volume_sizes")?.unwrap_or_default() {
        let wrong = |_| Refusal::BadJson { reason: "volume_sizes has what is no size".to_owned() };
        sizes.push(bytes_of(size.parse().map_err(wrong)?)?);
    }
    let put = fields.map("resource_definition_props")?.unwrap_or_default();
    let properties = Edit { put, ..Edit::default() };
    let group = Some(asked.path("group").to_owned());
    let filter = fields.filter("select_filter")?;
    crate::define::check_filter(&filter)?;
    Ok(Spawn {
        definition: NewDefinition { name, external_name, group, properties },
        sizes,
        filter,
        definitions_only: fields.flag("definitions_only")?.unwrap_or(false),
        partial: fields.flag("partial")?.unwrap_or(false),
    })
}

pub(crate) async fn spawn(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let fields = asked.fields()?;
        let Spawn { definition, sizes, filter, definitions_only, partial } =
            spawn_of(&asked, &fields)?;
        let notes = without_effect(&definition.properties);
        let (work, name) = (Work::new(controller), asked.path("group").to_owned());
        let defined = work.change(move |state, _| {
            let group = group_named(&state.desired, &name)?;
            define(state, &group, &definition, (&sizes, partial))
        });
        let volume = defined.await?;
        let made = done(format!("there is {:?}", volume.name), &volume).note(notes);
        if definitions_only {
            return Ok(made.note([Note::Info(DEFINED_ONLY.to_owned())]));
        }
        // Nothing is left of what cannot be placed: whoever asked asks for the same name again.
        match placed(&work, volume.name.clone(), filter).await {
            Ok(told) if told.is_warning() => Ok(made.note([Note::Info(DEFINED_ONLY.to_owned())])),
            Ok(told) => Ok(made.note(told.into_notes())),
            Err(refusal) => {
                let id = volume.id;
                let gone = work.change(move |state, now| take_back(state, id, now)).await;
                gone.and(Err(refusal))
            }
        }
    };
    Subject::new(Verb::Create, Thing::Definition).created(told.await)
}

/// A definition with a part for each volume group, or for each size.
fn define(
    state: &State,
    group: &Group,
    definition: &NewDefinition,
    (sizes, partial): (&[u64], bool),
) -> Changed<Volume> {
    let numbers: Vec<u16> = group.templates.iter().map(|it| it.number).collect();
    let is_uneven = !numbers.is_empty() && numbers.len() != sizes.len();
    if is_uneven && !partial {
        let value = format!("{} sizes for {} volume groups", sizes.len(), numbers.len());
        return Err(Refusal::BadValue { what: "list of sizes of the group", value });
    }
    let (_, mut volume) = new_definition(state, definition)?;
    for (index, size_bytes) in sizes.iter().enumerate() {
        let template = group.templates.get(index);
        let properties = template.map(|it| it.properties.all().clone()).unwrap_or_default();
        let wish = NewPart {
            number: template.map(|it| it.number),
            size_bytes: *size_bytes,
            minor: None,
            properties: Edit { put: properties, ..Edit::default() },
        };
        volume = with_part(&state.desired, volume, &wish)?.0;
    }
    Ok((vec![Change::Put(Object::Volume(volume.clone()))], volume))
}

fn take_back(state: &State, id: uuid::Uuid, now_ms: u64) -> Changed<()> {
    let Some(volume) = state.desired.volumes.get(&id) else { return Ok((Vec::new(), ())) };
    let (changes, _) = crate::changes::delete_volume(state, &volume.name, now_ms)?;
    Ok((changes, ()))
}

/// How large a volume of a group could be now, and where it would go.
fn size_info(state: &State, group: &Group, asked: Filter, now_ms: u64) -> Result<Value, Refusal> {
    let filter = asked.without_empty().over(&group.filter);
    let replicas = filter.place_count.unwrap_or(1).clamp(1, 31);
    let replicas = u8::try_from(replicas).unwrap_or(31);
    let mut rooms = pools_of(state, &filter, now_ms);
    rooms.sort_by_key(|it| std::cmp::Reverse(it.0));
    let free_kib: u64 = rooms.iter().map(|it| it.0 / 1024).sum();
    let total_kib: u64 = rooms.iter().map(|it| it.1 / 1024).sum();
    let least = rooms.get(usize::from(replicas) - 1).map_or(0, |it| it.0);
    let size_bytes = least / 4096 * 4096;
    let probe = probe(group, size_bytes);
    let (found, _) = find_places(state, &probe, (&filter, replicas), now_ms)?;
    let max_kib = if found.is_some() { size_bytes / 1024 } else { 0 };
    let names = |it: &crate::model::Placement| {
        let pool = it.pool.and_then(|pool| state.desired.pools.get(&pool))?;
        let node = state.desired.nodes.get(&it.node)?;
        Some(json!({"node_name": node.name, "stor_pool_name": pool.name}))
    };
    let next: Vec<Value> = found.iter().flatten().filter_map(names).collect();
    let replicas = u64::from(replicas);
    Ok(json!({
        "space_info": {
            "max_vlm_size_in_kib": max_kib,
            "available_size_in_kib": free_kib / replicas,
            "capacity_in_kib": total_kib / replicas,
            "default_max_oversubscription_ratio": 1.0,
            "next_spawn_result": next,
        },
        "reports": [],
    }))
}

/// A volume that is not there, to ask where it would go.
fn probe(group: &Group, size_bytes: u64) -> Volume {
    let properties = crate::model::properties::Properties::default();
    let part =
        crate::model::Part { number: 0, size_bytes, minor: 0, properties: properties.clone() };
    Volume {
        id: uuid::Uuid::nil(),
        name: String::new(),
        external_name: None,
        group: Some(group.id),
        properties,
        parts: vec![part],
        phase: crate::model::Phase::Defined,
        placements: Vec::new(),
        attached: None,
        growth: None,
        operation: None,
        defined: true,
    }
}

/// Free and all bytes of each pool that a filter takes.
fn pools_of<'a>(state: &'a State, filter: &Filter, now_ms: u64) -> Vec<(u64, u64, &'a Pool)> {
    let names = filter.storage_pool_list.as_deref().unwrap_or_default();
    let is_taken = |pool: &&Pool| {
        names.is_empty() || names.iter().any(|name| name.eq_ignore_ascii_case(&pool.name))
    };
    let online = |pool: &&Pool| state.seen.is_online(pool.node, now_ms);
    let pools = state.desired.pools.values().filter(is_taken).filter(online);
    let room = |pool: &'a Pool| {
        let known = state.seen.pool(pool.node, pool.id).filter(|it| it.problem.is_none())?;
        let promised = state.desired.promised_bytes(pool.id);
        let free = known.total_bytes.saturating_sub(promised).min(known.free_bytes);
        Some((free, known.total_bytes, pool))
    };
    pools.filter_map(room).collect()
}

pub(crate) async fn query_size(Given(controller): Shared, asked: Asked) -> Response {
    let told = asked.fields().and_then(|it| it.filter("select_filter")).and_then(|filter| {
        controller.core.look(|state, now| {
            let group = group_named(&state.desired, asked.path("group"))?;
            size_info(state, &group, filter, now)
        })
    });
    shown(Thing::Group, told)
}

pub(crate) async fn query_all_sizes(Given(controller): Shared, asked: Asked) -> Response {
    let told = asked.fields().and_then(|_| {
        controller.core.look(|state, now| {
            let default = state.desired.group(None).into_owned();
            let mut all = Map::new();
            let others = state.desired.groups.values().filter(|it| it.id != default.id);
            for group in others.chain([&default]) {
                let told = size_info(state, group, Filter::default(), now);
                // Of a group that asks for what is not there, there is no room.
                let told = told.unwrap_or_else(|refusal| {
                    json!({"reports": [Subject::new(Verb::Show, Thing::Group)
                        .refusal(&refusal).entries.first()]})
                });
                all.insert(group.name.clone(), told);
            }
            Ok(json!({"result": all, "reports": []}))
        })
    });
    shown(Thing::Group, told)
}

/// The largest volume of each pool by name.
pub(crate) async fn query_max_size(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, now| {
        let group = group_named(&state.desired, asked.path("group"))?;
        let replicas = group.filter.place_count.unwrap_or(1).clamp(1, 31);
        let replicas = usize::try_from(replicas).unwrap_or(31);
        let mut by_name: std::collections::BTreeMap<String, Vec<(u64, &Pool)>> =
            std::collections::BTreeMap::new();
        for (free, _, pool) in pools_of(state, &group.filter, now) {
            by_name.entry(pool.name.clone()).or_default().push((free, pool));
        }
        let mut candidates = Vec::new();
        for (name, mut pools) in by_name {
            pools.sort_by_key(|it| std::cmp::Reverse(it.0));
            let Some((least, _)) = pools.get(replicas - 1) else { continue };
            let nodes = pools.iter().filter_map(|(_, pool)| state.desired.nodes.get(&pool.node));
            let nodes: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
            let is_thin = |pool: &Pool| pool.kind == api::cluster::PoolKind::FileThin;
            candidates.push(json!({
                "storage_pool": name,
                "max_volume_size_kib": least / 4096 * 4,
                "node_names": nodes,
                "all_thin": pools.iter().all(|(_, pool)| is_thin(pool)),
            }));
        }
        Ok(json!({"candidates": candidates, "default_max_oversubscription_ratio": 1.0}))
    });
    shown(Thing::Group, told)
}

/// Brings what a group has to what the group wants.
pub(crate) async fn adjust(_: Drained) -> Answer {
    let refusal = Refusal::NotBuilt { what: "volumes that follow a change of their group" };
    Subject::new(Verb::Modify, Thing::Group).refusal(&refusal)
}
