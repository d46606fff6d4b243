//! Commands to a control device, one at a time: how ublk devices are made, started and removed.
//!
//! Such a command is a request of a ring of its own with entries of 128 bytes, and takes as long as
//! the kernel needs: the thread that asks waits. It is not for a shard.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use io_uring::{IoUring, cqueue, opcode, squeue, types};

/// How often, and after which pauses, a command is tried that the kernel has no memory for.
const ATTEMPTS_MAX: u32 = 100;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(10);

type Ring = IoUring<squeue::Entry128, cqueue::Entry>;

/// A control device that is open.
pub struct Commander {
    /// None after a command that the kernel did not take: it is still in the queue of its ring.
    ring: Option<Ring>,
    device: File,
}

/// What a command is about; what it carries beside this lies in its buffer.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    pub operation: u32,
    pub device: u32,
    pub value: u64,
}

impl Commander {
    pub fn open(path: &Path) -> io::Result<Self> {
        let device = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Self { ring: Some(make_ring()?), device })
    }

    /// Carries a command out; the kernel reads `buffer`, or writes its answer there.
    pub fn call(&mut self, command: Command, buffer: &mut [u8]) -> io::Result<u32> {
        let mut ring = match self.ring.take() {
            Some(ring) => ring,
            None => make_ring()?,
        };
        let bytes = control_command(command, buffer);
        let device = types::Fd(self.device.as_raw_fd());
        let request = opcode::UringCmd80::new(device, command.operation).cmd(bytes).build();
        // SAFETY: the buffer is borrowed mutably until the completion was taken, which is below, or
        // the ring is gone, whose request the kernel has not seen.
        unsafe { ring.submission().push(&request) }
            .expect("the queue has room, for one command is under way at a time");
        submit(&mut ring)?;
        let result = wait(&mut ring);
        self.ring = Some(ring);
        u32::try_from(result).map_err(|_negative| io::Error::from_raw_os_error(-result))
    }
}

fn make_ring() -> io::Result<Ring> {
    IoUring::<squeue::Entry128, cqueue::Entry>::builder().dontfork().build(2)
}

/// Has the kernel take the request of a ring. On error it has not looked at it.
fn submit(ring: &mut Ring) -> io::Result<()> {
    let mut attempts = 0;
    loop {
        let result = ring.submit();
        if ring.submission().is_empty() {
            return Ok(());
        }
        attempts += 1;
        match result {
            Err(error) if attempts == ATTEMPTS_MAX || !is_passing(&error) => return Err(error),
            Ok(_) if attempts == ATTEMPTS_MAX => {
                return Err(io::Error::from_raw_os_error(libc::EAGAIN));
            }
            Ok(_) | Err(_) => thread::park_timeout(ATTEMPT_PAUSE),
        }
    }
}

/// Waits for the result of a request that the kernel has.
fn wait(ring: &mut Ring) -> i32 {
    loop {
        if let Some(completion) = ring.completion().next() {
            return completion.result();
        }
        match ring.submit_and_wait(1) {
            Ok(_) => {}
            Err(error) if is_passing(&error) => thread::park_timeout(ATTEMPT_PAUSE),
            // The kernel holds the buffer: nobody could say until when.
            Err(error) => panic!("a ring of our own does not work: {error}"),
        }
    }
}

/// The kernel has no memory just now, or a signal came.
fn is_passing(error: &io::Error) -> bool {
    let errno = error.raw_os_error();
    matches!(errno, Some(libc::EAGAIN | libc::EBUSY | libc::EINTR | libc::ENOMEM))
}

/// `struct ublksrv_ctrl_cmd`: device, queue (none), length and address of the buffer, a value.
#[expect(clippy::host_endian_bytes, reason = "the kernel of this machine reads it")]
fn control_command(command: Command, buffer: &mut [u8]) -> [u8; 80] {
    const NO_QUEUE: u16 = u16::MAX;
    let length = u16::try_from(buffer.len()).expect("control structures are short");
    let address = if buffer.is_empty() { 0 } else { buffer.as_mut_ptr().expose_provenance() };
    let address = u64::try_from(address).expect("an address has at most 64 bits");
    let mut bytes = [0; 80];
    bytes[0..4].copy_from_slice(&command.device.to_ne_bytes());
    bytes[4..6].copy_from_slice(&NO_QUEUE.to_ne_bytes());
    bytes[6..8].copy_from_slice(&length.to_ne_bytes());
    bytes[8..16].copy_from_slice(&address.to_ne_bytes());
    bytes[16..24].copy_from_slice(&command.value.to_ne_bytes());
    bytes
}

impl std::fmt::Debug for Commander {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Commander").field("device", &self.device).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::refuse;

    #[test]
    fn command_that_no_device_knows_is_an_error_and_the_next_one_too() {
        // /dev/null takes no commands, or takes them without looking.
        let mut commander = Commander::open(Path::new("/dev/null")).unwrap();
        let command = Command { operation: 1, device: 7, value: 0 };
        let first = commander.call(command, &mut []).is_ok();
        assert_eq!(commander.call(command, &mut [0; 64]).is_ok(), first);
    }

    /// It ended the daemon.
    #[test]
    fn command_that_the_kernel_has_no_memory_for_is_refused() {
        let thread = thread::spawn(|| {
            let mut commander = Commander::open(Path::new("/dev/null")).unwrap();
            refuse(libc::SYS_io_uring_enter, libc::EAGAIN);
            let command = Command { operation: 1, device: 7, value: 0 };
            for _ in 0..2 {
                let error = commander.call(command, &mut [0; 64]).unwrap_err();
                assert_eq!(error.raw_os_error(), Some(libc::EAGAIN));
            }
        });
        thread.join().unwrap();
    }

    #[test]
    fn command_has_the_layout_of_the_kernel() {
        let mut buffer = [0; 64];
        let command = Command { operation: 1, device: 7, value: 9 };
        let bytes = control_command(command, &mut buffer);
        assert_eq!(bytes[0..8], [7, 0, 0, 0, 0xff, 0xff, 64, 0]);
        assert_eq!(bytes[16..24], [9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[24..], [0; 56]);
    }
}
