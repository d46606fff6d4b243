//! Nodes, their interfaces and their pools. A machine joins by itself; none is made from here.

use std::sync::Arc;

use api::cluster::NewPool;
use axum::extract::State as Given;
use axum::response::Response;
use serde_json::{Value, json};

use crate::Controller;
use crate::changes::{check_name, new_pool, node_named};
use crate::core::{Changed, State};
use crate::define::{drop_bag, edit_bag};
use crate::deploy::kind_of;
use crate::life::lose_node;
use crate::linstor::answer::{Answer, Done, Subject, shown};
use crate::linstor::codes::{Thing, Verb};
use crate::linstor::notes::without_effect;
use crate::linstor::reading::{Asked, Fields};
use crate::linstor::selected::{has_properties, is_named, page};
use crate::linstor::shapes::{self, DISKLESS_POOL, INTERFACE, LOCATION};
use crate::linstor::waiting::Work;
use crate::model::bag::Owner;
use crate::model::properties::{Edit, Properties};
use crate::model::{Change, Desired, Key, Node, Pool};
use crate::refusal::Refusal;

type Shared = Given<Arc<Controller>>;

pub(crate) async fn list(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, now| {
        let is_shown = |node: &&Node| {
            let properties = state.desired.bag(&Owner::Node(node.id));
            is_named(&asked, "nodes", &node.name) && has_properties(&asked, &properties)
        };
        let nodes = in_order(&state.desired).into_iter().filter(is_shown);
        page(&asked, nodes.map(|node| shapes::node(state, node, now)).collect())
    });
    shown(Thing::Node, Ok(told))
}

/// By name.
pub(crate) fn in_order(desired: &Desired) -> Vec<&Node> {
    let mut nodes: Vec<&Node> = desired.nodes.values().collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes
}

pub(crate) async fn show(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, now| {
        let node = node_named(&state.desired, asked.path("node"))?;
        Ok(shapes::node(state, node, now))
    });
    shown(Thing::Node, told)
}

pub(crate) async fn create(Given(controller): Shared, asked: Asked) -> Answer {
    let told = asked.fields().and_then(|it| it.needed("name")).and_then(|name| {
        let is_there = controller.core.look(|it, _| it.desired.node_named(&name).is_some());
        match is_there {
            true => Err(Refusal::NodeExists { name }),
            false => Err(Refusal::JoinsByItself { name }),
        }
    });
    Subject::new(Verb::Create, Thing::Node).created(told)
}

pub(crate) async fn edit(Given(controller): Shared, asked: Asked) -> Answer {
    let subject = Subject::new(Verb::Modify, Thing::Node);
    let name = asked.path("node").to_owned();
    let edit = asked.fields().and_then(|it| it.edit());
    let owner = |state: &State, name: &str| Ok(Owner::Node(node_named(&state.desired, name)?.id));
    let refs = vec![("Node", name.clone())];
    subject.ok(edited(controller, edit, refs, move |state| owner(state, &name)).await)
}

/// Changes properties of what is no object of its own.
pub(crate) async fn edited(
    controller: Arc<Controller>,
    edit: Result<Edit, Refusal>,
    refs: Vec<(&'static str, String)>,
    owner: impl Fn(&State) -> Result<Owner, Refusal> + Send + Sync + 'static,
) -> Result<Done, Refusal> {
    let edit = edit?;
    let notes = without_effect(&edit);
    let work = Work::new(controller);
    work.change(move |state, _| edit_bag(state, owner(state)?, "", &edit)).await?;
    let names = refs.iter().map(|(_, name)| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let refs: Vec<(&str, &str)> = refs.iter().map(|(key, name)| (*key, name.as_str())).collect();
    Ok(Done::new(format!("the properties of {names} are changed"), &refs).note(notes))
}

/// Goes on without a node that is away for good.
pub(crate) async fn delete(Given(controller): Shared, asked: Asked) -> Answer {
    let name = asked.path("node").to_owned();
    let (called, work) = (name.clone(), Work::new(controller));
    let lost = work.change(move |state, now| lose_node(state, &called, now)).await;
    let told = match lost {
        Ok(()) => {
            Ok(Done::new(format!("the node {name} is out of the cluster"), &[("Node", &name)]))
        }
        Err(refusal @ Refusal::NoNode { .. }) => Ok(Done::absent(&refusal)),
        Err(refusal) => Err(refusal),
    };
    Subject::new(Verb::Delete, Thing::Node).ok(told)
}

/// Moves what a node has to others.
pub(crate) async fn evacuate(Given(controller): Shared, asked: Asked) -> Answer {
    verb(&controller, &asked, Err(Refusal::NotBuilt { what: "a node whose replicas move away" }))
}

/// A node that was not evacuated is as it was.
pub(crate) async fn restore(Given(controller): Shared, asked: Asked) -> Answer {
    verb(&controller, &asked, Ok(Done::new("nothing was taken from it".to_owned(), &[])))
}

/// Agents call by themselves.
pub(crate) async fn reconnect(Given(controller): Shared, asked: Asked) -> Answer {
    verb(&controller, &asked, Ok(Done::new("its agent calls by itself".to_owned(), &[])))
}

fn verb(controller: &Controller, asked: &Asked, told: Result<Done, Refusal>) -> Answer {
    let name = asked.path("node");
    let known = controller.core.look(|it, _| node_named(&it.desired, name).map(drop));
    Subject::new(Verb::Modify, Thing::Node).ok(known.and(told))
}

pub(crate) async fn interfaces(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, now| {
        let node = node_named(&state.desired, asked.path("node"))?;
        Ok(shapes::node(state, node, now)["net_interfaces"].clone())
    });
    shown(Thing::Interface, told)
}

pub(crate) async fn interface(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let node = node_named(&state.desired, asked.path("node"))?;
        let name = asked.path("interface");
        if name.eq_ignore_ascii_case(INTERFACE) {
            return Ok(shapes::own_interface(node));
        }
        let bag = state.desired.bags.get(&Owner::Interface(node.id, name.to_ascii_lowercase()));
        let none = || Refusal::NoInterface { node: node.name.clone(), name: name.to_owned() };
        bag.map(|bag| shapes::interface(&bag.name, &bag.properties)).ok_or_else(none)
    });
    shown(Thing::Interface, told)
}

pub(crate) async fn new_interface(Given(controller): Shared, asked: Asked) -> Answer {
    let told = match asked.fields() {
        Ok(it) => put_interface(controller, &asked, it.needed("name"), it).await,
        Err(refusal) => Err(refusal),
    };
    Subject::new(Verb::Create, Thing::Interface).created(told)
}

pub(crate) async fn edit_interface(Given(controller): Shared, asked: Asked) -> Answer {
    let name = Ok(asked.path("interface").to_owned());
    let told = match asked.fields() {
        Ok(it) => put_interface(controller, &asked, name, it).await,
        Err(refusal) => Err(refusal),
    };
    Subject::new(Verb::Modify, Thing::Interface).ok(told)
}

async fn put_interface(
    controller: Arc<Controller>,
    asked: &Asked,
    name: Result<String, Refusal>,
    fields: Fields,
) -> Result<Done, Refusal> {
    let (node, name) = (asked.path("node").to_owned(), name?);
    check_name("interface", &name, 2..=48)?;
    if name.eq_ignore_ascii_case(INTERFACE) {
        return Err(Refusal::NotBuilt { what: "another address of a node that has joined" });
    }
    let mut edit = Edit::default();
    if let Some(address) = fields.text("address")? {
        if address.parse::<std::net::IpAddr>().is_err() {
            let value = address.chars().take(64).collect();
            return Err(Refusal::BadValue { what: "address of an interface", value });
        }
        edit.put.insert("address".to_owned(), address);
    }
    if let Some(port) = fields.integer::<u16>("satellite_port")? {
        edit.put.insert("satellite_port".to_owned(), port.to_string());
    }
    let refs = [("Node", node.clone()), ("NetIf", name.clone())];
    let work = Work::new(controller);
    let told = work.change(move |state, _| {
        let owner =
            Owner::Interface(node_named(&state.desired, &node)?.id, name.to_ascii_lowercase());
        edit_bag(state, owner, &name, &edit)
    });
    told.await?;
    let [(_, node), (_, name)] = &refs;
    let text = format!("the interface {name:?} of {node} is kept, and no data goes over it");
    Ok(Done::new(text, &[("Node", node), ("NetIf", name)]))
}

pub(crate) async fn delete_interface(Given(controller): Shared, asked: Asked) -> Answer {
    let subject = Subject::new(Verb::Delete, Thing::Interface);
    let (node, name) = (asked.path("node").to_owned(), asked.path("interface").to_owned());
    if name.eq_ignore_ascii_case(INTERFACE) {
        return subject.refusal(&Refusal::NotBuilt { what: "a node without its first interface" });
    }
    let (of, called) = (node.clone(), name.to_ascii_lowercase());
    let work = Work::new(controller);
    let told = work.change(move |state, _| {
        let node = node_named(&state.desired, &of)?.id;
        drop_bag(state, Owner::Interface(node, called.clone()))
    });
    subject.ok(told.await.map(|was_there| match was_there {
        true => Done::new(
            format!("the interface {name:?} is gone"),
            &[("Node", &node), ("NetIf", &name)],
        ),
        false => Done::absent(&Refusal::NoInterface { node, name }),
    }))
}

/// The pools of one node, of all, or of those that the query names.
pub(crate) async fn pools(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let of = asked.path("node");
        if !of.is_empty() {
            node_named(&state.desired, of)?;
        }
        Ok(page(&asked, all_pools(state, &asked)))
    });
    shown(Thing::Pool, told)
}

fn all_pools(state: &State, asked: &Asked) -> Vec<Value> {
    let of = asked.path("node");
    let mut told = Vec::new();
    for node in in_order(&state.desired) {
        let is_shown = (of.is_empty() || of.eq_ignore_ascii_case(&node.name))
            && is_named(asked, "nodes", &node.name);
        if !is_shown {
            continue;
        }
        if is_named(asked, "storage_pools", DISKLESS_POOL)
            && has_properties(asked, &Properties::default())
        {
            told.push(shapes::diskless_pool(node));
        }
        let mut pools: Vec<&Pool> = state.desired.pools_of(node.id).collect();
        pools.sort_by(|a, b| a.name.cmp(&b.name));
        let is_shown = |pool: &&&Pool| {
            let properties = state.desired.bag(&Owner::Pool(pool.id));
            is_named(asked, "storage_pools", &pool.name) && has_properties(asked, &properties)
        };
        let pools = pools.iter().filter(is_shown);
        told.extend(pools.map(|pool| shapes::pool(state, node, pool)));
    }
    told
}

pub(crate) async fn pool(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let node = node_named(&state.desired, asked.path("node"))?;
        let name = asked.path("pool");
        if name.eq_ignore_ascii_case(DISKLESS_POOL) {
            return Ok(shapes::diskless_pool(node));
        }
        let pool = pool_named(&state.desired, node, name)?;
        Ok(shapes::pool(state, node, pool))
    });
    shown(Thing::Pool, told)
}

fn pool_named<'a>(desired: &'a Desired, node: &Node, name: &str) -> Result<&'a Pool, Refusal> {
    let none = || Refusal::NoPool { node: node.name.clone(), name: name.to_owned() };
    desired.pool_named(node.id, name).ok_or_else(none)
}

pub(crate) async fn pool_definitions(Given(controller): Shared) -> Response {
    let told = controller.core.look(|state, _| {
        let pools = state.desired.pools.values().map(|pool| pool.name.as_str());
        let mut names: Vec<&str> = pools.chain([DISKLESS_POOL]).collect();
        names.sort_unstable();
        names.dedup_by(|a, b| a.eq_ignore_ascii_case(b));
        let told = names.iter().map(|name| json!({"storage_pool_name": name, "props": {}}));
        told.collect::<Vec<_>>()
    });
    shown(Thing::PoolDefinition, Ok(told))
}

pub(crate) async fn create_pool(Given(controller): Shared, asked: Asked) -> Answer {
    let told = match wish_of(&asked) {
        Ok(wish) => make_pool(controller, wish).await,
        Err(refusal) => Err(refusal),
    };
    Subject::new(Verb::Create, Thing::Pool).created(told)
}

fn wish_of(asked: &Asked) -> Result<(NewPool, Edit), Refusal> {
    let fields = asked.fields()?;
    let word = fields.needed("provider_kind")?;
    let is_known = ["LVM", "LVMTHIN", "ZFS", "ZFSTHIN", "DISKLESS", "SPDK", "REMOTESPDK"];
    let plain = word.to_ascii_uppercase().replace('_', "");
    let kind = match kind_of(&word) {
        Some(kind) => kind,
        None if is_known.contains(&plain.as_str()) => {
            return Err(Refusal::NotBuilt { what: "pools of other kinds than FILE and FILE_THIN" });
        }
        None => return Err(Refusal::BadValue { what: "kind of a pool", value: word }),
    };
    let mut edit = fields.properties()?;
    let location = edit.put.remove(LOCATION).or_else(|| edit.put.remove("StorDriver/FileDir"));
    let missing = || Refusal::BadJson { reason: format!("props.{LOCATION} is missing") };
    let location = location.ok_or_else(missing)?;
    let (node, name) = (asked.path("node").to_owned(), fields.needed("storage_pool_name")?);
    Ok((NewPool { node, name, kind, location }, edit))
}

async fn make_pool(
    controller: Arc<Controller>,
    (wish, edit): (NewPool, Edit),
) -> Result<Done, Refusal> {
    let notes = without_effect(&edit);
    let work = Work::new(controller);
    let (node, name) = (wish.node.clone(), wish.name.clone());
    work.change(move |state, _| new_pool(state, &wish)).await?;
    if !edit.is_empty() {
        let (node, name) = (node.clone(), name.clone());
        work.change(move |state, _| {
            let node = node_named(&state.desired, &node)?;
            let pool = pool_named(&state.desired, node, &name)?;
            edit_bag(state, Owner::Pool(pool.id), "", &edit)
        })
        .await?;
    }
    let text = format!("{node} has the pool {name:?}");
    Ok(Done::new(text, &[("Node", &node), ("StorPool", &name)]).note(notes))
}

pub(crate) async fn edit_pool(Given(controller): Shared, asked: Asked) -> Answer {
    let subject = Subject::new(Verb::Modify, Thing::Pool);
    let (node, name) = (asked.path("node").to_owned(), asked.path("pool").to_owned());
    let edit = asked.fields().and_then(|it| it.edit());
    let refs = vec![("Node", node.clone()), ("StorPool", name.clone())];
    let owner = move |state: &State| {
        let node = node_named(&state.desired, &node)?;
        Ok(Owner::Pool(pool_named(&state.desired, node, &name)?.id))
    };
    subject.ok(edited(controller, edit, refs, owner).await)
}

pub(crate) async fn delete_pool(Given(controller): Shared, asked: Asked) -> Answer {
    let (node, name) = (asked.path("node").to_owned(), asked.path("pool").to_owned());
    let (of, called) = (node.clone(), name.clone());
    let work = Work::new(controller);
    let told = work.change(move |state, _| drop_pool(state, &of, &called)).await;
    Subject::new(Verb::Delete, Thing::Pool).ok(told.map(|was_there| match was_there {
        true => {
            let text = format!("the pool {name:?} of {node} is gone; its folder stays");
            Done::new(text, &[("Node", &node), ("StorPool", &name)])
        }
        false => Done::absent(&Refusal::NoPool { node, name }),
    }))
}

/// Whether it was there.
fn drop_pool(state: &State, node: &str, name: &str) -> Changed<bool> {
    let desired = &state.desired;
    let node = node_named(desired, node)?;
    let Some(pool) = desired.pool_named(node.id, name) else { return Ok((Vec::new(), false)) };
    let left = desired.tombstones.values().filter(|stone| stone.pool == Some(pool.id)).count();
    let count = desired.replicas_in(pool.id) + left;
    if count > 0 {
        let (node, name) = (node.name.clone(), pool.name.clone());
        return Err(Refusal::PoolHasReplicas { node, name, count });
    }
    Ok((vec![Change::Drop(Key::Pool(pool.id))], true))
}
