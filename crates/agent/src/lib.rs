//! The agent of a node: has the data daemon of this machine do what the cluster's controller wants.
//!
//! It calls the controller, fetches what its node is to have, makes it so (`reconcile`, `pools`,
//! `daemon`), and says what there is. Its last document lies in its folder: without a controller it
//! goes on by that. The data daemon knows nothing of it, and serves while there is no agent.
#![forbid(unsafe_code)]

mod line;
mod identity;
mod pools;
mod daemon;
mod reconcile;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use api::agent::{Document, OBSERVED_EVERY_MS, Observed};
use rustix::fs::{FlockOperation, flock};
use tokio::sync::watch;
use tokio::time::timeout;

use self::daemon::Daemon;
pub use self::identity::{Identity, IdentityError, Newcomer, join};
use self::line::Line;
pub use self::line::LineError;
use self::reconcile::{Pass, Reconciler};

/// While something is under way a pass comes this soon after the last one.
const BUSY_PAUSE: Duration = Duration::from_millis(50);
/// A pass with nothing to do comes this often.
const REST: Duration = Duration::from_millis(OBSERVED_EVERY_MS);
/// A controller that did not answer is called again after this.
const RETRY: Duration = Duration::from_secs(1);
const DOCUMENT_FILE: &str = "document.json";

#[derive(Clone, Debug)]
pub struct Options {
    /// What joining left, the last document, and notes of volumes.
    pub state_dir: PathBuf,
    /// Of the data daemon.
    pub socket: PathBuf,
    /// This program, for commands of it.
    pub program: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error("cannot make {}: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("another agent runs with {}: end that one first", path.display())]
    Held { path: PathBuf },
    #[error("cannot start the runtime: {0}")]
    Runtime(std::io::Error),
}

/// Runs until the process is told to end.
///
/// # Errors
/// If it is in no cluster, or cannot start.
pub fn run(options: &Options) -> Result<(), AgentError> {
    let identity = Identity::read(&options.state_dir)?;
    // Two of them would undo each other's steps.
    let _lock = lock(&options.state_dir)?;
    let tls = Arc::new(identity::tls(&options.state_dir)?);
    let folder = options.state_dir.join("volumes");
    std::fs::create_dir_all(&folder)
        .map_err(|source| AgentError::Folder { path: folder.clone(), source })?;
    let (socket, program) = (options.socket.clone(), options.program.clone());
    let daemon = Daemon { socket, program, name: identity.name.clone() };
    let reconciler = Reconciler { daemon, folder };
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let built = builder.worker_threads(2).enable_all().build();
    let runtime = built.map_err(AgentError::Runtime)?;
    runtime.block_on(serve(identity, tls, reconciler, options.state_dir.clone()))
}

/// Held for as long as it is open.
fn lock(folder: &Path) -> Result<std::fs::File, AgentError> {
    let path = folder.join("lock");
    let opened = std::fs::OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = opened.map_err(|source| AgentError::Folder { path: path.clone(), source })?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(AgentError::Held { path: folder.to_owned() }),
        Err(error) => Err(AgentError::Folder { path, source: error.into() }),
    }
}

async fn serve(
    identity: Identity,
    tls: Arc<rustls::ClientConfig>,
    reconciler: Reconciler,
    folder: PathBuf,
) -> Result<(), AgentError> {
    let (documents, told) = watch::channel(last_document(&folder));
    let line = || Line::new(&identity.controller, Arc::clone(&tls));
    tell(&format!("node {} of the cluster {}", identity.name, identity.cluster));
    let fetching = fetch(line(), documents, folder);
    let working = work(line(), told, reconciler);
    tokio::select! {
        () = fetching => {}
        () = working => {}
        ended = ended() => ended.map_err(AgentError::Runtime)?,
    }
    Ok(())
}

/// Keeps the document the newest that there is.
async fn fetch(mut line: Line, documents: watch::Sender<Option<Document>>, folder: PathBuf) {
    let mut failing = Failing::default();
    let mut after = None;
    loop {
        let path = match after {
            None => "/agent/v1/document".to_owned(),
            Some(revision) => format!("/agent/v1/document?after={revision}"),
        };
        match line.get::<Document>(&path).await {
            Ok(document) if is_older(&document, documents.borrow().as_ref()) => {
                failing.tell(&format!(
                    "the controller has revision {}, and this node was told of a later one: its \
                     store is an old copy, and nothing is done by it",
                    document.revision
                ));
                after = Some(document.revision);
            }
            Ok(document) => {
                failing.end();
                after = Some(document.revision);
                if documents.borrow().as_ref() != Some(&document) {
                    keep(&folder, &document);
                    documents.send_replace(Some(document));
                }
            }
            Err(error) => {
                failing.tell(&error.to_string());
                after = None;
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// A document of an old copy of the store may want a state that is long over: it knows no volume
/// that was made since, and would take away one that was half made then.
fn is_older(document: &Document, known: Option<&Document>) -> bool {
    known.is_some_and(|known| document.revision < known.revision)
}

/// Makes it so, and says what there is.
async fn work(
    mut line: Line,
    mut documents: watch::Receiver<Option<Document>>,
    reconciler: Reconciler,
) {
    let mut failing = Failing::default();
    let mut last = None;
    loop {
        let document = documents.borrow_and_update().clone();
        let Some(document) = document else {
            // None was ever fetched: nothing is known of what the node is to have.
            if documents.changed().await.is_err() {
                return;
            }
            continue;
        };
        let reconciler = reconciler.clone();
        let mut pass = tokio::task::spawn_blocking(move || reconciler.pass(&document));
        // A disk that hangs holds up a pass, and does not make the node look away.
        let done = loop {
            match timeout(REST, &mut pass).await {
                Ok(done) => break done,
                Err(_late) => tell_again(&mut line, last.as_ref()).await,
            }
        };
        let Ok(Pass { observed, is_settled }) = done else {
            tell("a pass ended with a panic");
            tokio::time::sleep(RETRY).await;
            continue;
        };
        match say(&mut line, &observed).await {
            Ok(()) => failing.end(),
            Err(error) => failing.tell(&error),
        }
        last = Some(observed);
        let pause = if is_settled { REST } else { BUSY_PAUSE };
        if let Ok(Err(_ended)) = timeout(pause, documents.changed()).await {
            return;
        }
    }
}

/// What fails here is told by the next word.
async fn tell_again(line: &mut Line, last: Option<&Observed>) {
    if let Some(last) = last {
        drop(say(line, last).await);
    }
}

async fn say(line: &mut Line, observed: &Observed) -> Result<(), String> {
    line.post::<()>("/agent/v1/observed", observed).await.map_err(|error| error.to_string())
}

/// Tells of what fails when it begins, and when it ends.
#[derive(Debug, Default)]
struct Failing {
    told: Option<String>,
}

impl Failing {
    fn tell(&mut self, text: &str) {
        if self.told.as_deref() != Some(text) {
            tell(text);
            self.told = Some(text.to_owned());
        }
    }

    fn end(&mut self) {
        if self.told.take().is_some() {
            tell("the controller answers again");
        }
    }
}

/// What a former agent of this node fetched last.
fn last_document(folder: &Path) -> Option<Document> {
    let text = std::fs::read(folder.join(DOCUMENT_FILE)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Without it the next start waits for the controller: nothing is lost.
fn keep(folder: &Path, document: &Document) {
    let (draft, path) = (folder.join("document.new"), folder.join(DOCUMENT_FILE));
    let text = serde_json::to_vec(document).expect("it is made of strings and numbers");
    let kept = std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, &path));
    if let Err(error) = kept {
        tell(&format!("cannot keep the document in {}: {error}", path.display()));
    }
}

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

/// A line in the log.
fn tell(text: &str) {
    // Without a standard error nobody can be told.
    drop(writeln!(std::io::stderr(), "basalt agent: {text}"));
}
