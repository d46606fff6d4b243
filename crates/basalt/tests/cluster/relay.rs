//! A stretch of network between two nodes that a test can break.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Open = 0,
    /// Takes everything and passes nothing on, as a cut cable does.
    Silent = 1,
    /// Resets what there is, and lets nobody in.
    Refusing = 2,
    /// Changes one bit amid the next bytes that are so many that most of them are data, and is open
    /// from then on.
    Flipping = 3,
}

/// More than what is around the data of a write.
const DATA_BYTES_MIN: usize = 16 << 10;

/// Passes connections on to `target`.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    target: SocketAddr,
    mode: AtomicU8,
    streams: Mutex<Vec<TcpStream>>,
    passed: AtomicU64,
}

impl Relay {
    pub(crate) fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mode = AtomicU8::new(Mode::Open as u8);
        let (streams, passed) = (Mutex::default(), AtomicU64::new(0));
        let shared = Arc::new(Shared { target, mode, streams, passed });
        let accepting = Arc::clone(&shared);
        // It ends with the test process.
        thread::spawn(move || listener.incoming().flatten().for_each(|one| accepting.pass(one)));
        Self { address, shared }
    }

    /// Bytes so far, both ways.
    pub(crate) fn passed(&self) -> u64 {
        self.shared.passed.load(Ordering::Relaxed)
    }

    pub(crate) fn is(&self, mode: Mode) -> bool {
        self.shared.is(mode)
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.shared.mode.store(mode as u8, Ordering::SeqCst);
        if mode == Mode::Refusing {
            for stream in self.shared.streams.lock().unwrap().drain(..) {
                stream.shutdown(Shutdown::Both).ok();
            }
        }
    }
}

impl Shared {
    fn is(&self, mode: Mode) -> bool {
        self.mode.load(Ordering::SeqCst) == mode as u8
    }

    fn pass(self: &Arc<Self>, near: TcpStream) {
        if self.is(Mode::Refusing) {
            return;
        }
        let Ok(far) = TcpStream::connect(self.target) else { return };
        for stream in [&near, &far] {
            stream.set_nodelay(true).unwrap();
            self.streams.lock().unwrap().push(stream.try_clone().unwrap());
        }
        let directions = [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)];
        for (from, to) in directions {
            let shared = Arc::clone(self);
            thread::spawn(move || shared.copy(from, to));
        }
    }

    fn copy(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            if self.is(Mode::Flipping) && length >= DATA_BYTES_MIN {
                bytes[length / 2] ^= 1 << 5;
                self.mode.store(Mode::Open as u8, Ordering::SeqCst);
            }
            if self.is(Mode::Open) || self.is(Mode::Flipping) {
                self.passed.fetch_add(length as u64, Ordering::Relaxed);
                if to.write_all(&bytes[..length]).is_err() {
                    break;
                }
            }
        }
        if !self.is(Mode::Silent) {
            to.shutdown(Shutdown::Both).ok();
        }
    }
}
