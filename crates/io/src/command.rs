//! Commands to a control device, one at a time: how ublk devices are made, started and removed.
//!
//! Such a command is a request of a ring of its own with entries of 128 bytes, and takes as long as
//! the kernel needs: the thread that asks waits. It is not for a shard.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use io_uring::{IoUring, cqueue, opcode, squeue, types};

/// A control device that is open.
pub struct Commander {
    ring: IoUring<squeue::Entry128, cqueue::Entry>,
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
        let ring = IoUring::<squeue::Entry128, cqueue::Entry>::builder().dontfork().build(2)?;
        Ok(Self { ring, device })
    }

    /// Carries a command out; the kernel reads `buffer`, or writes its answer there.
    pub fn call(&mut self, command: Command, buffer: &mut [u8]) -> io::Result<u32> {
        let bytes = control_command(command, buffer);
        let device = types::Fd(self.device.as_raw_fd());
        let request = opcode::UringCmd80::new(device, command.operation).cmd(bytes).build();
        // SAFETY: the buffer is borrowed mutably until the completion was taken, which is below.
        unsafe { self.ring.submission().push(&request) }
            .expect("the queue has room, for one command is under way at a time");
        loop {
            match self.ring.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The kernel may hold the buffer: nobody could say until when.
                Err(error) => panic!("a ring of our own does not work: {error}"),
            }
            if let Some(completion) = self.ring.completion().next() {
                let result = completion.result();
                return u32::try_from(result)
                    .map_err(|_negative| io::Error::from_raw_os_error(-result));
            }
        }
    }
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

    #[test]
    fn command_that_no_device_knows_is_an_error_and_the_next_one_too() {
        // /dev/null takes no commands, or takes them without looking.
        let mut commander = Commander::open(Path::new("/dev/null")).unwrap();
        let command = Command { operation: 1, device: 7, value: 0 };
        let first = commander.call(command, &mut []).is_ok();
        assert_eq!(commander.call(command, &mut [0; 64]).is_ok(), first);
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
