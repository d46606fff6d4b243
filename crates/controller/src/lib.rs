//! The control plane of a cluster: which volumes there are, on which nodes, and what is done to
//! them.
//!
//! The controller keeps what the cluster is to be (`model`, `store`) and hears what it is (`seen`).
//! Agents fetch what their node is to have (`documents`) and say what it has; what follows from
//! that is decided by pure functions (`settle`, `place`). Nothing of it is on the way of a write:
//! volumes go on without a controller.
#![forbid(unsafe_code)]

mod model;
mod store;
mod seen;
mod refusal;
mod place;
mod parts;
mod settle;
mod documents;
mod core;
mod changes;
mod life;
mod define;
mod deploy;
mod views;
mod authority;
mod native;
mod linstor;
mod agents;
mod server;
#[cfg(test)]
mod course;
#[cfg(test)]
mod pretended;
#[cfg(test)]
#[path = "../../engine/src/shard/rows.rs"]
mod rows;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use self::authority::Authority;
pub use self::authority::AuthorityError;
use self::core::Core;
pub use self::store::StoreError;

/// Time goes by for operations this often.
const TICK: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub struct Options {
    /// Its store, and the keys of the cluster.
    pub state_dir: PathBuf,
    /// For people and tools, in clear text: of this machine alone.
    pub listen: SocketAddr,
    /// For agents, over TLS.
    pub agents: SocketAddr,
}

#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    #[error("cannot make the folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error(
        "{} is of a cluster and lacks {missing}: put back the files of your copy, store.redb, \
         ca.key and ca.crt. With new ones the nodes would trust this controller no more. A folder \
         that never had a cluster may be emptied",
        path.display()
    )]
    Incomplete { path: PathBuf, missing: String },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    #[error("cannot listen at {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("{0} is no address of this machine alone: whoever reaches it may do anything")]
    Open(SocketAddr),
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    #[error("cannot start the runtime: {0}")]
    Runtime(std::io::Error),
}

#[derive(Debug)]
pub(crate) struct Controller {
    pub(crate) core: Core,
    pub(crate) authority: Authority,
}

/// Runs until the process is told to end.
///
/// # Errors
/// If it cannot start.
pub fn run(options: &Options) -> Result<(), ControllerError> {
    if !api::cluster::is_loopback(&options.listen) {
        return Err(ControllerError::Open(options.listen));
    }
    let folder = &options.state_dir;
    make_folder(folder)
        .map_err(|source| ControllerError::Folder { path: folder.clone(), source })?;
    check_whole(folder)?;
    let authority = Authority::open(folder)?;
    let (core, unreadable) = Core::open(&folder.join("store.redb"))?;
    for key in unreadable {
        tell(&format!("{key} in the store cannot be read; it is left as it is"));
    }
    let runtime = tokio::runtime::Runtime::new().map_err(ControllerError::Runtime)?;
    let controller = Arc::new(Controller { core, authority });
    runtime.block_on(serve(controller, options))
}

async fn serve(controller: Arc<Controller>, options: &Options) -> Result<(), ControllerError> {
    let (people, agents) =
        (server::bind(options.listen).await?, server::bind(options.agents).await?);
    let tls = server::tls(&controller.authority)?;
    tell(&format!("people at http://{}, agents at {}", options.listen, options.agents));
    tokio::spawn(server::serve(people, for_people(&controller), None));
    tokio::spawn(server::serve(agents, agents::router(Arc::clone(&controller)), Some(tls)));
    tokio::spawn(tick(controller));
    ended().await.map_err(ControllerError::Runtime)
}

/// The native API, and LINSTOR's.
fn for_people(controller: &Arc<Controller>) -> axum::Router {
    let linstor = linstor::router().with_state(Arc::clone(controller));
    let guard = axum::middleware::from_fn(native::of_this_machine);
    native::router(Arc::clone(controller)).merge(linstor).layer(guard)
}

async fn tick(controller: Arc<Controller>) {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        let settled = native::off_loop(Arc::clone(&controller), |it| it.core.settle()).await;
        if let Err(refusal) = settled {
            tell(&refusal.to_string());
        }
    }
}

/// A process that is told to end ends at once: what was answered is durable.
async fn ended() -> Result<(), std::io::Error> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// A folder that lost a part of what a controller keeps is no beginning of a new cluster.
fn check_whole(folder: &Path) -> Result<(), ControllerError> {
    let is_there = |name: &&str| {
        std::fs::metadata(folder.join(name)).is_ok_and(|it| it.is_file() && it.len() > 0)
    };
    let missing: Vec<&str> =
        ["store.redb", "ca.key", "ca.crt"].into_iter().filter(|name| !is_there(name)).collect();
    let is_empty = missing.len() == 3;
    // The store comes first at a first start: whoever died after it goes on.
    if is_empty || missing.is_empty() {
        return Ok(());
    }
    let (path, missing) = (folder.to_owned(), missing.join(" and "));
    Err(ControllerError::Incomplete { path, missing })
}

fn make_folder(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A line in the log.
pub(crate) fn tell(text: &str) {
    // Without a standard error nobody can be told.
    drop(writeln!(std::io::stderr(), "basalt controller: {text}"));
}
