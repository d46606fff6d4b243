//! Sockets of monitors of virtual machines: one for each volume, in a folder of the operator's.
//!
//! A thread for each socket takes one monitor after the other, for a volume has one writer; the
//! next one waits for its turn, which comes to those that have asked something (`comers`). What a
//! monitor says is dealt with there (`session`), for it takes files and maps memory; the rings are
//! served by the shards.

mod comers;
mod session;

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use engine::clients::vhost::SessionNumber;
use engine::clients::vhost::addresses::Addresses;
use engine::definition::Definition;
use engine::log::{Scope, log};
use engine::memory::MACHINE_BYTES;
use format::space::Place;
use stdx::mutex::lock;

use crate::accepting::Accepting;
use crate::arrivals::{Arrival, Arrivals};
use crate::desk::Desk;
use crate::guests::comers::{BOUNDS, Comer, Door};
use crate::guests::session::{Monitor, Present};

#[derive(Debug)]
pub(crate) struct Guests {
    desk: Arc<Desk>,
    /// Where the sockets lie; without it there are none.
    folder: Option<PathBuf>,
    /// By resource, one for each of its volumes.
    sockets: Mutex<BTreeMap<String, Vec<Arc<Socket>>>>,
    next_session: Arc<AtomicU64>,
    /// Where their memory is mapped.
    addresses: Addresses,
}

#[derive(Debug)]
struct Socket {
    resource: String,
    place: Place,
    path: PathBuf,
    is_ending: AtomicBool,
    /// The monitor that is served now.
    present: Mutex<Option<Arc<Present>>>,
}

impl Guests {
    pub(crate) fn new(desk: Arc<Desk>, folder: Option<PathBuf>) -> Self {
        let machine_bytes = ::io::process::machine_memory().unwrap_or(MACHINE_BYTES);
        let addresses = Addresses::of_all_guests(machine_bytes);
        let (sockets, next_session) = (Mutex::default(), Arc::default());
        Self { desk, folder, sockets, next_session, addresses }
    }

    /// Takes monitors for a resource that is up, if it does not yet.
    pub(crate) fn open(&self, definition: &Definition) {
        let Some(folder) = &self.folder else { return };
        let resource = definition.name.clone();
        let mut sockets = self.lock();
        let opened = sockets.entry(resource.clone()).or_default();
        for volume in definition.volumes() {
            if opened.iter().any(|socket| socket.place == volume.place) {
                continue;
            }
            let path = folder.join(format!("{resource}-{}.sock", volume.number));
            match self.listen((&resource, volume.place), &path) {
                Ok(socket) => opened.push(socket),
                Err(error) => {
                    let (scope, path) = (Scope::resource(&resource), path.display());
                    log!(Error, scope, "no virtual machine can use it at {path}: {error}");
                }
            }
        }
    }

    fn listen(
        &self,
        (resource, place): (&str, Place),
        path: &Path,
    ) -> std::io::Result<Arc<Socket>> {
        // The folder, and its group, say who may come here.
        let door = Door(::io::listen_unix(path, 0o660)?.into());
        let socket = Arc::new(Socket {
            resource: resource.to_owned(),
            place,
            path: path.to_owned(),
            is_ending: AtomicBool::new(false),
            present: Mutex::default(),
        });
        let (desk, next, served) =
            (Arc::clone(&self.desk), Arc::clone(&self.next_session), Arc::clone(&socket));
        let addresses = self.addresses.clone();
        thread::Builder::new().name("guests".to_owned()).spawn(move || {
            served.serve(&door, &desk, &next, &addresses);
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
        let sockets = self.lock().remove(resource).unwrap_or_default();
        sockets.iter().for_each(|socket| socket.end());
    }

    /// A volume is larger now: the machine that uses it hears of that, if there is one. It may take
    /// its time, so a thread of its own tells it.
    pub(crate) fn grow(&self, resource: &str, place: Place, size_bytes: u64) {
        let sockets = self.lock();
        let socket = sockets.get(resource).into_iter().flatten().find(|it| it.place == place);
        let Some(present) = socket.and_then(|socket| socket.lock().clone()) else { return };
        let (desk, name) = (Arc::clone(&self.desk), resource.to_owned());
        let told = thread::Builder::new().name("guest-size".to_owned()).spawn(move || {
            let Err(reason) = present.grow(&desk, size_bytes) else { return };
            let scope = Scope::resource(&name);
            log!(
                Warning,
                scope,
                "a virtual machine sees the new size when it is started anew: {reason}"
            );
        });
        if let Err(error) = told {
            let scope = Scope::resource(resource);
            log!(Warning, scope, "a virtual machine does not hear of the new size: {error}");
        }
    }

    pub(crate) fn close_all(&self) {
        for socket in std::mem::take(&mut *self.lock()).into_values().flatten() {
            socket.end();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Arc<Socket>>>> {
        lock(&self.sockets)
    }
}

impl Socket {
    fn serve(
        &self,
        door: &Door,
        desk: &Arc<Desk>,
        next_session: &AtomicU64,
        addresses: &Addresses,
    ) {
        let scope = Scope::resource(&self.resource);
        let accepting = Accepting::new(scope, "a virtual machine's monitor");
        let mut arrivals = match Arrivals::of(door, accepting, BOUNDS) {
            Ok(arrivals) => arrivals,
            Err(error) => {
                let path = self.path.display();
                log!(Error, scope, "no virtual machine can use it at {path}: {error}");
                return;
            }
        };
        while !self.is_ending.load(Ordering::Acquire) {
            for arrival in arrivals.turn() {
                match arrival {
                    Arrival::Asked(comer, said) => {
                        let session = next_session.fetch_add(1, Ordering::Relaxed);
                        self.serve_one((comer, said), desk, SessionNumber(session), addresses);
                    }
                    Arrival::GivesWay(_, reason) => {
                        let reason = reason.told(&BOUNDS);
                        log!(Info, scope, "a virtual machine's monitor was let go: {reason}");
                    }
                }
            }
        }
    }

    /// Serves one that has asked something, until it goes or is let go.
    fn serve_one(
        &self,
        (comer, said): (Comer, Vec<u8>),
        desk: &Arc<Desk>,
        session: SessionNumber,
        addresses: &Addresses,
    ) {
        let (stream, first) = match comer.into_session(said) {
            Ok(parts) => parts,
            Err(error) => {
                let scope = Scope::resource(&self.resource);
                log!(Warning, scope, "the socket of a virtual machine cannot be used: {error}");
                return;
            }
        };
        let present = Arc::new(Present::new(session, stream));
        *self.lock() = Some(Arc::clone(&present));
        // Who ends it sees the monitor, or is seen here.
        if !self.is_ending.load(Ordering::Acquire) {
            let volume = (self.resource.clone(), self.place);
            let addresses = addresses.clone();
            Monitor::new(Arc::clone(desk), volume, (present, first), addresses).run();
        }
        *self.lock() = None;
    }

    fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        if let Some(present) = self.lock().as_ref() {
            // It may just have ended by itself.
            drop(present.stream().shutdown(Shutdown::Both));
        }
        // Wakes the thread, which finds that it is to end.
        drop(UnixStream::connect(&self.path));
        if let Err(error) = std::fs::remove_file(&self.path) {
            let scope = Scope::resource(&self.resource);
            log!(Warning, scope, "the socket {} stays: {error}", self.path.display());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Present>>> {
        lock(&self.present)
    }
}

#[cfg(test)]
mod tests;
