//! The controller itself: its version, its properties, and what it has nothing of.

use std::sync::Arc;

use axum::extract::State as Given;
use axum::response::{IntoResponse, Json, Response};
use serde_json::{Value, json};

use crate::Controller;
use crate::define::edit_bag;
use crate::linstor::answer::{Answer, Done, Subject, shown};
use crate::linstor::codes::{Thing, Verb};
use crate::linstor::notes::without_effect;
use crate::linstor::reading::Asked;
use crate::linstor::waiting::Work;
use crate::model::bag::Owner;
use crate::model::properties::Edit;
use crate::refusal::Refusal;

/// The version of the interface whose requests are served; clients ask for more by it.
const API_VERSION: &str = "1.28.0";

type Shared = Given<Arc<Controller>>;

/// Clients read a time from it, and compare the version of the interface alone.
pub(crate) async fn version() -> Json<Value> {
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "git_hash": "basalt",
        "build_time": "1970-01-01T00:00:00+00:00",
        "rest_api_version": API_VERSION,
    }))
}

pub(crate) async fn properties(Given(controller): Shared) -> Response {
    let told = controller.core.look(|it, _| json!(it.desired.bag(&Owner::Controller).all()));
    shown(Thing::Controller, Ok(told))
}

pub(crate) async fn edit(Given(controller): Shared, asked: Asked) -> Answer {
    let subject = Subject::new(Verb::Modify, Thing::Controller);
    subject.created(edited(controller, asked.fields().and_then(|it| it.edit())).await)
}

pub(crate) async fn delete(Given(controller): Shared, asked: Asked) -> Answer {
    let subject = Subject::new(Verb::Delete, Thing::Controller);
    let edit = Edit { drop: vec![asked.path("key").to_owned()], ..Edit::default() };
    subject.ok(edited(controller, Ok(edit)).await)
}

async fn edited(controller: Arc<Controller>, edit: Result<Edit, Refusal>) -> Result<Done, Refusal> {
    let edit = edit?;
    let notes = without_effect(&edit);
    let work = Work::new(controller);
    work.change(move |state, _| edit_bag(state, Owner::Controller, "", &edit)).await?;
    Ok(Done::new("the controller's properties are changed".to_owned(), &[]).note(notes))
}

/// Of reports of errors, files, schedules and more: none.
pub(crate) async fn empty_list() -> Response {
    Json(json!([])).into_response()
}

pub(crate) async fn remotes() -> Response {
    Json(json!({"s3_remotes": [], "linstor_remotes": [], "ebs_remotes": []})).into_response()
}

pub(crate) async fn passphrase() -> Response {
    Json(json!({"status": "unset"})).into_response()
}

pub(crate) async fn schedules() -> Response {
    Json(json!({"data": []})).into_response()
}

pub(crate) async fn health() -> &'static str {
    "ok\n"
}
