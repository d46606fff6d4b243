//! Sockets of monitors of virtual machines: one for each volume, in a folder of the operator's.
//!
//! A thread for each socket takes one monitor after the other, for a volume has one writer; the
//! next one waits for its turn. What a monitor says is dealt with there (`session`), for it takes
//! files and maps memory; the rings are served by the shards.

mod session;

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::admin::bind;
use crate::definition::Definition;
use crate::desk::Desk;
use crate::guests::session::Monitor;
use crate::log::{Scope, log};
use crate::vhost::SessionNumber;

#[derive(Debug)]
pub(crate) struct Guests {
    desk: Arc<Desk>,
    /// Where the sockets lie; without it there are none.
    folder: Option<PathBuf>,
    /// By resource.
    sockets: Mutex<BTreeMap<String, Arc<Socket>>>,
    next_session: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Socket {
    resource: String,
    path: PathBuf,
    is_ending: AtomicBool,
    /// The monitor that is served now.
    present: Mutex<Option<Arc<UnixStream>>>,
}

impl Guests {
    pub(crate) fn new(desk: Arc<Desk>, folder: Option<PathBuf>) -> Self {
        Self { desk, folder, sockets: Mutex::default(), next_session: Arc::default() }
    }

    /// Takes monitors for a resource that is up, if it does not yet.
    pub(crate) fn open(&self, definition: &Definition) {
        let Some(folder) = &self.folder else { return };
        let resource = definition.name.clone();
        let mut sockets = self.lock();
        if sockets.contains_key(&resource) {
            return;
        }
        let path = folder.join(format!("{resource}-{}.sock", definition.volume));
        match self.listen(&resource, &path) {
            Ok(socket) => drop(sockets.insert(resource, socket)),
            Err(error) => {
                let scope = Scope::resource(&resource);
                log!(Error, scope, "no virtual machine can use it at {}: {error}", path.display());
            }
        }
    }

    fn listen(&self, resource: &str, path: &Path) -> std::io::Result<Arc<Socket>> {
        // The folder, and its group, say who may come here.
        let listener = bind(path, 0o660)?;
        let socket = Arc::new(Socket {
            resource: resource.to_owned(),
            path: path.to_owned(),
            is_ending: AtomicBool::new(false),
            present: Mutex::default(),
        });
        let (desk, next, served) =
            (Arc::clone(&self.desk), Arc::clone(&self.next_session), Arc::clone(&socket));
        thread::Builder::new().name("guests".to_owned()).spawn(move || {
            served.serve(&listener, &desk, &next);
        })?;
        log!(
            Notice,
            Scope::resource(resource),
            "virtual machines may use it at {}",
            path.display()
        );
        Ok(socket)
    }

    /// Takes no monitor for a resource any more, and lets the present one go.
    pub(crate) fn close(&self, resource: &str) {
        let Some(socket) = self.lock().remove(resource) else { return };
        socket.end();
    }

    pub(crate) fn close_all(&self) {
        for socket in std::mem::take(&mut *self.lock()).into_values() {
            socket.end();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Socket>>> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Socket {
    fn serve(&self, listener: &UnixListener, desk: &Arc<Desk>, next_session: &AtomicU64) {
        let scope = Scope::resource(&self.resource);
        for stream in listener.incoming() {
            if self.is_ending.load(Ordering::Acquire) {
                return;
            }
            let stream = match stream {
                Ok(stream) => Arc::new(stream),
                Err(error) => {
                    log!(Warning, scope, "a virtual machine's monitor was not accepted: {error}");
                    continue;
                }
            };
            *self.lock() = Some(Arc::clone(&stream));
            let number = SessionNumber(next_session.fetch_add(1, Ordering::Relaxed));
            Monitor::new(Arc::clone(desk), self.resource.clone(), stream, number).run();
            *self.lock() = None;
        }
    }

    fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        if let Some(stream) = self.lock().as_ref() {
            // It may just have ended by itself.
            drop(stream.shutdown(Shutdown::Both));
        }
        // Wakes the thread, which finds that it is to end.
        drop(UnixStream::connect(&self.path));
        if let Err(error) = std::fs::remove_file(&self.path) {
            let scope = Scope::resource(&self.resource);
            log!(Warning, scope, "the socket {} stays: {error}", self.path.display());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<UnixStream>>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
