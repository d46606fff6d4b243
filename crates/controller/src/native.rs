//! The native API, `/basalt/v1`, and whether the controller is there and ready.

use std::sync::Arc;
use std::time::Duration;

use api::cluster::{
    Attach, ClusterView, Created, Grow, NewPool, NewReplica, NewVolume, NewWord, NodeView,
    OperationState, OperationView, PoolView, VolumeView, WordView,
};
use axum::body::Bytes;
use axum::extract::{Path, Query, Request, State as Given};
use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{delete, get, post};
use axum::{Router, extract::DefaultBodyLimit};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::authority::{SECRET_BYTES, digest_of};
use crate::core::State;
use crate::model::{Change, Object, Word};
use crate::refusal::Refusal;
use crate::{Controller, changes, life, views};

/// A request is no longer.
pub(crate) const BODY_BYTES_MAX: usize = 64 << 10;
/// Longest time that a question about an operation is kept.
const WAIT_MAX: Duration = Duration::from_secs(20);
const WORD_SECONDS_MAX: u32 = 30 * 24 * 3600;
const WORD_USES_MAX: u32 = 1000;

type Shared = Given<Arc<Controller>>;
type Answer<T> = Result<Json<T>, Refusal>;

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code().0).expect("each row has a status of HTTP");
        (status, Json(self.answer())).into_response()
    }
}

pub(crate) fn router(controller: Arc<Controller>) -> Router {
    let v1 = Router::new()
        .route("/cluster", get(cluster))
        .route("/cluster/restored", post(restored))
        .route("/nodes", get(nodes))
        .route("/pools", get(pools).post(new_pool))
        .route("/volumes", get(volumes).post(new_volume))
        .route("/volumes/{name}", get(volume).delete(delete_volume))
        .route("/volumes/{name}/attach", post(attach))
        .route("/volumes/{name}/detach", post(detach))
        .route("/volumes/{name}/grow", post(grow))
        .route("/volumes/{name}/replicas", post(add_replica))
        .route("/volumes/{name}/replicas/{node}", delete(drop_replica))
        .route("/nodes/{name}", delete(lose_node))
        .route("/operations", get(operations))
        .route("/operations/{id}", get(operation))
        .route("/words", post(new_word));
    Router::new()
        .nest("/basalt/v1", v1)
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(async || "ok\n"))
        .fallback(nothing_there)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(controller)
}

/// A browser asks in the name of any page that is open in it, and says of which: none of them is
/// served. A name that is not of this machine was made to lead here.
pub(crate) async fn of_this_machine(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let text = |name: HeaderName| headers.get(name).map(|it| it.to_str().unwrap_or("?"));
    let is_here = |host: &str| {
        let bare =
            host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|it| it.is_ascii_digit()));
        let bare = bare.map_or(host, |(name, _)| name).trim_matches(['[', ']']);
        let ip = bare.parse::<std::net::IpAddr>();
        bare.eq_ignore_ascii_case("localhost") || ip.is_ok_and(|ip| ip.is_loopback())
    };
    let is_of_page =
        text(ORIGIN).is_some() || headers.get("sec-fetch-site").is_some_and(|site| site != "none");
    match text(HOST) {
        Some(host) if !is_here(host) => {
            Refusal::OtherHost { host: host.to_owned() }.into_response()
        }
        Some(_) | None if is_of_page => Refusal::OfAPage.into_response(),
        Some(_) | None => next.run(request).await,
    }
}

async fn nothing_there(uri: Uri) -> Refusal {
    Refusal::NoRoute { path: uri.path().to_owned() }
}

/// The refusal of what cannot be read is a row of ours, too.
pub(crate) fn read<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Refusal> {
    serde_json::from_slice(bytes).map_err(|error| Refusal::BadJson { reason: error.to_string() })
}

/// On a thread that may wait for the store.
pub(crate) async fn off_loop<T: Send + 'static>(
    controller: Arc<Controller>,
    work: impl FnOnce(&Controller) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(move || work(&controller)).await;
    done.unwrap_or_else(|error| Err(Refusal::Failed { reason: error.to_string() }))
}

async fn cluster(Given(controller): Shared) -> Json<ClusterView> {
    Json(controller.core.look(|state, _| ClusterView {
        id: controller.core.cluster.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: state.desired.revision,
        nodes: state.desired.nodes.len(),
        volumes: state.desired.volumes.len(),
    }))
}

/// The new revision.
async fn restored(Given(controller): Shared) -> Answer<u64> {
    off_loop(controller, |controller| controller.core.go_on_restored()).await.map(Json)
}

async fn nodes(Given(controller): Shared) -> Json<Vec<NodeView>> {
    Json(controller.core.look(|state, now| {
        let mut told: Vec<_> =
            state.desired.nodes.values().map(|it| views::node(state, it, now)).collect();
        told.sort_by(|a, b| a.name.cmp(&b.name));
        told
    }))
}

async fn pools(Given(controller): Shared) -> Json<Vec<PoolView>> {
    Json(controller.core.look(|state, _| {
        let mut told: Vec<_> =
            state.desired.pools.values().map(|it| views::pool(state, it)).collect();
        told.sort_by(|a, b| (&a.name, &a.node).cmp(&(&b.name, &b.node)));
        told
    }))
}

async fn new_pool(Given(controller): Shared, body: Bytes) -> Answer<PoolView> {
    let wish: NewPool = read(&body)?;
    let told = off_loop(controller, move |controller| {
        controller.core.change(|state, _| changes::new_pool(state, &wish))?;
        controller.core.look(|state, _| {
            let node = state.desired.node_named(&wish.node);
            let mut pools = node.into_iter().flat_map(|node| state.desired.pools_of(node.id));
            let made = pools.find(|pool| pool.name.eq_ignore_ascii_case(&wish.name));
            made.map(|pool| views::pool(state, pool)).ok_or(Refusal::NoNode { name: wish.node })
        })
    });
    told.await.map(Json)
}

async fn volumes(Given(controller): Shared) -> Json<Vec<VolumeView>> {
    Json(controller.core.look(|state, now| {
        let mut told: Vec<_> =
            state.desired.volumes.values().map(|it| views::volume(state, it, now)).collect();
        told.sort_by(|a, b| a.name.cmp(&b.name));
        told
    }))
}

async fn volume(Given(controller): Shared, Path(name): Path<String>) -> Answer<VolumeView> {
    let told = controller.core.look(|state, now| {
        state.desired.volume_named(&name).map(|it| views::volume(state, it, now))
    });
    told.map(Json).ok_or(Refusal::NoVolume { name })
}

async fn new_volume(Given(controller): Shared, body: Bytes) -> Result<Response, Refusal> {
    let wish: NewVolume = read(&body)?;
    let created = off_loop(controller, move |controller| {
        controller.core.change(|state, now| changes::new_volume(state, &wish, now))
    });
    created.await.map(told_created)
}

async fn delete_volume(
    Given(controller): Shared,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    changed(controller, move |state, now| changes::delete_volume(state, &name, now)).await
}

async fn attach(
    Given(controller): Shared,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let Attach { node } = read(&body)?;
    changed(controller, move |state, now| changes::attach(state, &name, &node, now)).await
}

async fn detach(Given(controller): Shared, Path(name): Path<String>) -> Result<Response, Refusal> {
    changed(controller, move |state, now| changes::detach(state, &name, now)).await
}

async fn grow(
    Given(controller): Shared,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let Grow { size_bytes } = read(&body)?;
    changed(controller, move |state, now| life::grow(state, &name, (0, size_bytes), now)).await
}

async fn add_replica(
    Given(controller): Shared,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let wish: NewReplica = read(&body)?;
    let created = off_loop(controller, move |controller| {
        controller.core.change(|state, now| life::add_replica(state, &name, &wish, now))
    });
    created.await.map(told_created)
}

async fn drop_replica(
    Given(controller): Shared,
    Path((name, node)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    changed(controller, move |state, now| life::drop_replica(state, &name, &node, now)).await
}

async fn lose_node(Given(controller): Shared, Path(name): Path<String>) -> Answer<()> {
    let lost = off_loop(controller, move |controller| {
        controller.core.change(|state, now| life::lose_node(state, &name, now))
    });
    lost.await.map(Json)
}

fn told_created(created: Created) -> Response {
    let is_begun = created.operation.is_some();
    let status = if is_begun { StatusCode::ACCEPTED } else { StatusCode::OK };
    (status, Json(created)).into_response()
}

async fn changed(
    controller: Arc<Controller>,
    change: impl FnOnce(&State, u64) -> crate::core::Changed<api::cluster::Begun> + Send + 'static,
) -> Result<Response, Refusal> {
    let begun = off_loop(controller, move |controller| controller.core.change(change)).await?;
    Ok((StatusCode::ACCEPTED, Json(begun)).into_response())
}

async fn operations(Given(controller): Shared) -> Json<Vec<OperationView>> {
    Json(controller.core.look(|state, now| {
        let all = state.desired.operations.values();
        all.map(|it| views::operation(state, it, now)).collect()
    }))
}

#[derive(Debug, Deserialize)]
struct Wait {
    /// How long to wait for its end, in milliseconds.
    #[serde(default)]
    wait_ms: u64,
}

async fn operation(
    Given(controller): Shared,
    Path(id): Path<u64>,
    Query(Wait { wait_ms }): Query<Wait>,
) -> Answer<OperationView> {
    let mut revisions = controller.core.revisions();
    let until = tokio::time::Instant::now() + Duration::from_millis(wait_ms).min(WAIT_MAX);
    loop {
        let told = controller.core.look(|state, now| {
            let known = state.desired.operations.get(&id);
            known.map(|it| views::operation(state, it, now))
        });
        let told = told.ok_or(Refusal::NoOperation { id })?;
        let is_over = told.state != OperationState::Running;
        if is_over || tokio::time::timeout_at(until, revisions.changed()).await.is_err() {
            return Ok(Json(told));
        }
    }
}

async fn new_word(Given(controller): Shared, body: Bytes) -> Answer<WordView> {
    let NewWord { valid_seconds, uses } = read(&body)?;
    if !(1..=WORD_SECONDS_MAX).contains(&valid_seconds) {
        let what = "a life, in seconds,";
        return Err(Refusal::BadWord { what, least: 1, most: WORD_SECONDS_MAX });
    }
    if !(1..=WORD_USES_MAX).contains(&uses) {
        return Err(Refusal::BadWord { what: "a number of uses", least: 1, most: WORD_USES_MAX });
    }
    let told = off_loop(controller, move |controller| {
        let secret: [u8; SECRET_BYTES] = io::random_u128().to_le_bytes();
        let digest = digest_of(&secret);
        let expires_ms = controller.core.change(|state, now| {
            let expires_ms = now + u64::from(valid_seconds) * 1000;
            // Those that expired are of no more use to anybody.
            let old = state.desired.words.values().filter(|word| word.expires_ms <= now);
            let mut changes: Vec<Change> =
                old.map(|word| Change::Drop(Object::Word(word.clone()).key())).collect();
            let word = Word { digest, expires_ms, uses_left: uses };
            changes.push(Change::Put(Object::Word(word)));
            Ok((changes, expires_ms))
        })?;
        Ok(WordView { word: controller.authority.word(&secret), expires_ms, uses })
    });
    told.await.map(Json)
}
