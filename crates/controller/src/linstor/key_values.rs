//! Key-value stores: what tools keep here for themselves.

use std::sync::Arc;

use axum::extract::State as Given;
use axum::response::Response;
use serde_json::{Value, json};

use crate::Controller;
use crate::define::{check_text, drop_bag, edit_bag};
use crate::linstor::answer::{Answer, Done, Subject, shown};
use crate::linstor::codes::{Thing, Verb};
use crate::linstor::reading::Asked;
use crate::linstor::waiting::Work;
use crate::model::bag::{Bag, Owner};
use crate::refusal::Refusal;

type Shared = Given<Arc<Controller>>;

fn told(bag: &Bag) -> Value {
    json!({"name": bag.name, "props": bag.properties})
}

fn owner(name: &str) -> Owner {
    Owner::KeyValue(name.to_lowercase())
}

pub(crate) async fn list(Given(controller): Shared) -> Response {
    let all = controller.core.look(|state, _| {
        let stores = state.desired.bags.values();
        let stores = stores.filter(|bag| matches!(bag.owner, Owner::KeyValue(_)));
        stores.map(told).collect::<Vec<_>>()
    });
    shown(Thing::KeyValue, Ok(all))
}

/// A list of one.
pub(crate) async fn show(Given(controller): Shared, asked: Asked) -> Response {
    let name = asked.path("store").to_owned();
    let one = controller.core.look(|state, _| {
        let bag = state.desired.bags.get(&owner(&name));
        bag.map(|bag| [told(bag)]).ok_or_else(|| Refusal::NoKeyValue { name: name.clone() })
    });
    shown(Thing::KeyValue, one)
}

/// Makes the store, if there is none of the name.
pub(crate) async fn edit(Given(controller): Shared, asked: Asked) -> Answer {
    let done = async {
        let name = asked.path("store").to_owned();
        check_text("name of a key-value store", &name)?;
        let edit = asked.fields()?.edit()?;
        let work = Work::new(controller);
        let called = name.clone();
        work.change(move |state, _| edit_bag(state, owner(&called), &called, &edit)).await?;
        Ok(Done::new(format!("the key-value store {name:?} is changed"), &[("KVS", &*name)]))
    };
    Subject::new(Verb::Modify, Thing::KeyValue).ok(done.await)
}

pub(crate) async fn delete(Given(controller): Shared, asked: Asked) -> Answer {
    let done = async {
        let name = asked.path("store").to_owned();
        let work = Work::new(controller);
        let called = name.clone();
        Ok(match work.change(move |state, _| drop_bag(state, owner(&called))).await? {
            true => Done::new(format!("the key-value store {name:?} is gone"), &[("KVS", &*name)]),
            false => Done::absent(&Refusal::NoKeyValue { name }),
        })
    };
    Subject::new(Verb::Delete, Thing::KeyValue).ok(done.await)
}
