//! What agents call, over TLS: each is known by its certificate; who has none may only join.

use std::sync::Arc;
use std::time::Duration;

use api::agent::{DOCUMENT_WAIT_MS, Document, Join, Joined, Observed};
use api::cluster::NewPool;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Extension, Query, State as Given};
use axum::http::Uri;
use axum::response::Json;
use axum::routing::{get, post};
use serde::Deserialize;
use uuid::Uuid;

use crate::Controller;
use crate::authority::{Point, digest_of, unhex};
use crate::changes::{check_name, check_uri, pool_of};
use crate::model::{Change, Node, Object, Word};
use crate::native::{off_loop, read};
use crate::refusal::Refusal;

/// Of what a node says about all of its volumes.
const OBSERVED_BYTES_MAX: usize = 8 << 20;

/// The node that the certificate of a connection names; `None`: it showed none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speaker(pub(crate) Option<Uuid>);

type Shared = Given<Arc<Controller>>;
type Answer<T> = Result<Json<T>, Refusal>;

pub(crate) fn router(controller: Arc<Controller>) -> Router {
    Router::new()
        .route("/agent/v1/join", post(join))
        .route("/agent/v1/document", get(document))
        .route("/agent/v1/observed", post(observed))
        .fallback(async |uri: Uri| Refusal::NoRoute { path: uri.path().to_owned() })
        .layer(DefaultBodyLimit::max(OBSERVED_BYTES_MAX))
        .with_state(controller)
}

/// A node that was taken out of the cluster is none any more, whatever its certificate says.
fn check_node(controller: &Controller, speaker: Speaker) -> Result<Uuid, Refusal> {
    let is_known = |id: &Uuid| controller.core.look(|it, _| it.desired.nodes.contains_key(id));
    speaker.0.filter(is_known).ok_or(Refusal::NotANode)
}

async fn join(Given(controller): Shared, body: Bytes) -> Answer<Joined> {
    let wish: Join = read(&body)?;
    off_loop(controller, move |controller| bring_in(controller, &wish)).await.map(Json)
}

fn bring_in(controller: &Controller, wish: &Join) -> Result<Joined, Refusal> {
    let secret = unhex(&wish.secret).ok_or(Refusal::UnknownWord)?;
    let point = Point::read(&wish.public_key).ok_or(Refusal::BadKey)?;
    let (id, digest) = (Uuid::new_v4(), digest_of(&secret));
    let certificate = controller.authority.node(id, &point);
    let certificate = certificate.map_err(|error| Refusal::Failed { reason: error.to_string() })?;
    controller.core.change(|state, now| {
        // Nothing is told to who does not know a word, not even which names are taken.
        let word = state.desired.words.get(&digest).filter(|word| word.expires_ms > now);
        let word = word.ok_or(Refusal::UnknownWord)?;
        check_name("node", &wish.name, 1..=200)?;
        check_uri(&wish.nbd)?;
        if state.desired.node_named(&wish.name).is_some() {
            return Err(Refusal::NodeExists { name: wish.name.clone() });
        }
        let node = Node {
            id,
            name: wish.name.clone(),
            address: wish.address,
            data_port: wish.data_port,
            nbd: wish.nbd.clone(),
            joined_ms: now,
        };
        let mut changes = vec![use_up(word)];
        if let Some(pool) = &wish.pool {
            let (name, location) = (pool.name.clone(), pool.location.clone());
            let new = NewPool { node: wish.name.clone(), name, kind: pool.kind, location };
            changes.push(Change::Put(Object::Pool(pool_of(&state.desired, &node, &new)?)));
        }
        changes.push(Change::Put(Object::Node(node)));
        Ok((changes, ()))
    })?;
    Ok(Joined {
        cluster: controller.core.cluster.to_string(),
        node: id.to_string(),
        certificate,
        authority: controller.authority.certificate.clone(),
    })
}

fn use_up(word: &Word) -> Change {
    match word.uses_left {
        0 | 1 => Change::Drop(Object::Word(word.clone()).key()),
        more => Change::Put(Object::Word(Word { uses_left: more - 1, ..word.clone() })),
    }
}

#[derive(Debug, Deserialize)]
struct After {
    /// The revision that the agent has; absent: none.
    after: Option<u64>,
}

/// The newest document, as soon as it is newer than the one that the agent has.
async fn document(
    Given(controller): Shared,
    Extension(speaker): Extension<Speaker>,
    Query(After { after }): Query<After>,
) -> Answer<Document> {
    let node = check_node(&controller, speaker)?;
    let mut revisions = controller.core.revisions();
    let until = tokio::time::Instant::now() + Duration::from_millis(DOCUMENT_WAIT_MS);
    loop {
        let revision = *revisions.borrow_and_update();
        if after != Some(revision) {
            return controller.core.document(node).map(Json);
        }
        if tokio::time::timeout_at(until, revisions.changed()).await.is_err() {
            return controller.core.document(node).map(Json);
        }
    }
}

async fn observed(
    Given(controller): Shared,
    Extension(speaker): Extension<Speaker>,
    body: Bytes,
) -> Answer<()> {
    let node = check_node(&controller, speaker)?;
    let observed: Observed = read(&body)?;
    off_loop(controller, move |controller| controller.core.hear(node, observed)).await.map(Json)
}
