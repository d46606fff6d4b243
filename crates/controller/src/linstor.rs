//! LINSTOR's interface, `/v1`: what its clients ask for, over the one model that there is.
//!
//! A resource definition is a volume, a volume definition a part of it, a resource a placement.
//! The file `answer` has all that clients compare exactly, and `reading` takes their loose JSON. A
//! request that is not served is refused with a list of entries, as everything else is answered.

mod codes;
mod answer;
mod reading;
mod notes;
mod selected;
mod waiting;
mod shapes;
mod controller;
mod nodes;
mod groups;
mod definitions;
mod parts;
mod resources;
mod spawn;
mod key_values;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, Uri};
use axum::routing::{delete, get, post, put};

use self::answer::{Answer, Subject};
use self::codes::{Thing, Verb};
use self::reading::Drained;
use crate::Controller;
use crate::refusal::Refusal;

type Routes = Router<Arc<Controller>>;

/// To be mounted at the root.
pub(crate) fn router() -> Routes {
    let v1 = Router::new()
        .merge(of_the_controller())
        .merge(of_nodes())
        .merge(of_groups())
        .merge(of_definitions())
        .merge(of_resources())
        .merge(of_snapshots())
        .fallback(not_served)
        .method_not_allowed_fallback(not_served);
    Router::new().nest("/v1", v1).route("/health", get(controller::health))
}

/// Each path and each method that none of ours is.
async fn not_served(method: Method, uri: Uri, _: Drained) -> Answer {
    let verb = match method {
        Method::POST => Verb::Create,
        Method::PUT | Method::PATCH => Verb::Modify,
        Method::DELETE => Verb::Delete,
        _ => Verb::Show,
    };
    let path = format!("{method} {}", uri.path().chars().take(256).collect::<String>());
    Subject::new(verb, Thing::Nothing).refusal(&Refusal::NoRoute { path })
}

fn of_the_controller() -> Routes {
    Router::new()
        .route("/controller/version", get(controller::version))
        .route("/controller/properties", get(controller::properties).post(controller::edit))
        .route("/controller/properties/{*key}", delete(controller::delete))
        .route("/error-reports", get(controller::empty_list))
        .route("/error-reports/{id}", get(controller::empty_list))
        .route("/key-value-store", get(key_values::list))
        .route(
            "/key-value-store/{store}",
            get(key_values::show).put(key_values::edit).delete(key_values::delete),
        )
        .route("/encryption/passphrase", get(controller::passphrase))
        .route("/remotes", get(controller::remotes))
        .route("/remotes/s3", get(controller::empty_list))
        .route("/remotes/linstor", get(controller::empty_list))
        .route("/remotes/ebs", get(controller::empty_list))
        .route("/schedules", get(controller::schedules))
        .route("/files", get(controller::empty_list))
        .route("/physical-storage", get(controller::empty_list))
}

fn of_nodes() -> Routes {
    Router::new()
        .route("/nodes", get(nodes::list).post(nodes::create))
        .route("/nodes/{node}", get(nodes::show).put(nodes::edit).delete(nodes::delete))
        .route("/nodes/{node}/lost", delete(nodes::delete))
        .route("/nodes/{node}/evacuate", put(nodes::evacuate))
        .route("/nodes/{node}/restore", put(nodes::restore))
        .route("/nodes/{node}/reconnect", put(nodes::reconnect))
        .route("/nodes/{node}/net-interfaces", get(nodes::interfaces).post(nodes::new_interface))
        .route(
            "/nodes/{node}/net-interfaces/{interface}",
            get(nodes::interface).put(nodes::edit_interface).delete(nodes::delete_interface),
        )
        .route("/nodes/{node}/storage-pools", get(nodes::pools).post(nodes::create_pool))
        .route(
            "/nodes/{node}/storage-pools/{pool}",
            get(nodes::pool).put(nodes::edit_pool).delete(nodes::delete_pool),
        )
        .route("/view/storage-pools", get(nodes::pools))
        .route("/storage-pool-definitions", get(nodes::pool_definitions))
        .route("/node-connections", get(controller::empty_list))
}

fn of_groups() -> Routes {
    Router::new()
        .route("/resource-groups", get(groups::list).post(groups::create))
        .route(
            "/resource-groups/{group}",
            get(groups::show).put(groups::edit).delete(groups::delete),
        )
        .route(
            "/resource-groups/{group}/volume-groups",
            get(groups::templates).post(groups::create_template),
        )
        .route(
            "/resource-groups/{group}/volume-groups/{number}",
            get(groups::template).put(groups::edit_a_template).delete(groups::delete_template),
        )
        .route("/resource-groups/{group}/spawn", post(spawn::spawn))
        .route("/resource-groups/{group}/adjust", post(spawn::adjust))
        .route("/resource-groups/{group}/query-size-info", post(spawn::query_size))
        .route("/resource-groups/{group}/query-max-volume-size", get(spawn::query_max_size))
        .route("/queries/resource-groups/query-all-size-info", post(spawn::query_all_sizes))
}

fn of_definitions() -> Routes {
    Router::new()
        .route("/resource-definitions", get(definitions::list).post(definitions::create))
        .route(
            "/resource-definitions/{definition}",
            get(definitions::show).put(definitions::edit).delete(definitions::delete),
        )
        .route("/resource-definitions/{definition}/sync-status", get(definitions::sync_status))
        .route("/resource-definitions/{definition}/clone", post(definitions::clone))
        .route("/resource-definitions/{definition}/clone/{target}", get(definitions::clone_status))
        .route(
            "/resource-definitions/{definition}/volume-definitions",
            get(parts::list).post(parts::create),
        )
        .route(
            "/resource-definitions/{definition}/volume-definitions/{number}",
            get(parts::show).put(parts::edit).delete(parts::delete),
        )
}

fn of_resources() -> Routes {
    const OF: &str = "/resource-definitions/{definition}";
    let at = |rest: &str| format!("{OF}/resources/{{node}}{rest}");
    let mut routes = Router::new()
        .route("/view/resources", get(resources::view))
        .route(&format!("{OF}/autoplace"), post(resources::autoplace))
        .route(&format!("{OF}/resources"), get(resources::list).post(resources::create))
        .route(
            &at(""),
            get(resources::show)
                .post(resources::create)
                .put(resources::edit)
                .delete(resources::delete),
        )
        .route(&at("/make-available"), post(resources::make_available))
        .route(&at("/activate"), post(resources::activate))
        .route(&at("/deactivate"), post(resources::deactivate))
        .route(&at("/volumes"), get(resources::volumes))
        .route(&at("/volumes/{number}"), get(resources::volume).put(resources::edit))
        .route(&format!("{OF}/resource-connections"), get(resources::connections))
        .route(
            &format!("{OF}/resource-connections/{{a}}/{{b}}"),
            get(resources::connection).put(resources::edit_connection),
        );
    // One path of today, and those of former versions.
    for rest in [
        "/toggle-disk",
        "/toggle-disk/diskful",
        "/toggle-disk/diskful/{pool}",
        "/toggle-disk/diskless",
        "/toggle-disk/diskless/{pool}",
        "/migrate-disk/{from}",
        "/migrate-disk/{from}/{pool}",
    ] {
        routes = routes.route(&at(rest), put(resources::toggle_disk));
    }
    routes
}

fn of_snapshots() -> Routes {
    Router::new()
        .route("/view/snapshots", get(definitions::snapshots))
        .route("/actions/snapshot/multi", post(definitions::no_snapshots))
        .route(
            "/resource-definitions/{definition}/snapshots",
            get(definitions::snapshots).post(definitions::no_snapshots),
        )
        .route(
            "/resource-definitions/{definition}/snapshots/{snapshot}",
            get(definitions::snapshot).delete(definitions::delete_snapshot),
        )
        .route(
            "/resource-definitions/{definition}/snapshot-rollback/{snapshot}",
            post(definitions::no_snapshots),
        )
        .route(
            "/resource-definitions/{definition}/snapshot-restore-resource/{snapshot}",
            post(definitions::no_snapshots),
        )
        .route(
            "/resource-definitions/{definition}/snapshot-restore-volume-definition/{snapshot}",
            post(definitions::no_snapshots),
        )
}
