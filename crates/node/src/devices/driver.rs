//! The ublk driver's commands, with words for what goes wrong.
//!
//! What the kernel cannot do just now, for want of memory or because of a signal, is tried again
//! for a while. Of a device that is gone the driver says `ENODEV`, and no other error says that.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io as stdio;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use frontend::ublk::control::{
    DEVICE_INFO_BYTES, DeviceInfo, FEATURES, SECTOR_SHIFT, Shape, feature, operation, parameters,
};
use io::{Command, Commander};
use replication::contract::DeviceSize;

use crate::limits::DEVICE_DRIVER_PATIENCE;
use crate::patience::Patience;

pub(super) const CONTROL_DEVICE: &str = "/dev/ublk-control";

/// Has the kernel carry a command out.
pub(super) type Calls = dyn FnMut(Command, &mut [u8]) -> stdio::Result<u32> + Send;

/// How one comes to the driver.
#[derive(Clone)]
pub(super) struct Access {
    open: Arc<Open>,
    /// Where the driver is, if it is there.
    control: Option<&'static Path>,
}

type Open = dyn Fn(u32) -> Result<Driver, String> + Send + Sync;

impl Access {
    pub(super) fn kernel() -> Self {
        Self { open: Arc::new(Driver::open), control: Some(Path::new(CONTROL_DEVICE)) }
    }

    #[cfg(test)]
    pub(super) fn by(open: impl Fn(u32) -> Result<Driver, String> + Send + Sync + 'static) -> Self {
        Self { open: Arc::new(open), control: None }
    }

    #[cfg(test)]
    pub(super) fn without_driver() -> Self {
        let open = Arc::new(|_| Err("there is no driver".to_owned()));
        Self { open, control: Some(Path::new("/nowhere/ublk-control")) }
    }

    /// Without the driver there are no devices, whatever the records say.
    pub(super) fn has_driver(&self) -> bool {
        self.control.is_none_or(|path| !matches!(path.try_exists(), Ok(false)))
    }

    /// For the commands of one device.
    pub(super) fn open(&self, device: u32) -> Result<Driver, String> {
        (self.open)(device)
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

pub(super) struct Driver {
    calls: Box<Calls>,
    device: u32,
    /// Of the kernel's driver.
    features: u64,
    /// For how long a command is tried again.
    patience: Duration,
}

pub(super) fn block_path(device: u32) -> PathBuf {
    PathBuf::from(format!("/dev/ublkb{device}"))
}

pub(super) fn char_path(device: u32) -> PathBuf {
    PathBuf::from(format!("/dev/ublkc{device}"))
}

impl Driver {
    /// Opens the driver for the commands of one device.
    pub(super) fn open(device: u32) -> Result<Self, String> {
        let patience = DEVICE_DRIVER_PATIENCE;
        let open = || Commander::open(Path::new(CONTROL_DEVICE));
        let mut commander = while_it_passes(device, patience, open).map_err(|error| {
            format!("cannot open {CONTROL_DEVICE}: {error}; a block device needs root")
        })?;
        let calls = move |command: Command, buffer: &mut [u8]| commander.call(command, buffer);
        Self::by(Box::new(calls), device, patience)
    }

    pub(super) fn by(calls: Box<Calls>, device: u32, patience: Duration) -> Result<Self, String> {
        let mut driver = Self { calls, device, features: 0, patience };
        let mut features = [0; 8];
        let known = driver.call(operation::GET_FEATURES, 0, &mut features);
        if let Err(error) = &known
            && is_passing(error)
        {
            return Err(format!("the kernel's ublk driver does not answer: {error}"));
        }
        #[expect(clippy::host_endian_bytes, reason = "the kernel of this machine wrote it")]
        let features = u64::from_ne_bytes(features);
        // The command came with user copy.
        if known.is_err() || features & FEATURES != FEATURES {
            return Err("the kernel's ublk driver is too old: Linux 6.5 or later is needed".into());
        }
        driver.features = features;
        Ok(driver)
    }

    /// What a device that is there does when its volume becomes larger.
    pub(super) fn size(&self) -> DeviceSize {
        match self.features & feature::UPDATE_SIZE {
            0 => DeviceSize::Stays,
            _ => DeviceSize::Follows,
        }
    }

    /// Gives it the size of its volume, where the driver can.
    pub(super) fn follow(&mut self, size_bytes: u64) -> stdio::Result<()> {
        match self.size() {
            DeviceSize::Stays => Ok(()),
            DeviceSize::Follows => {
                self.call(operation::UPDATE_SIZE, size_bytes >> SECTOR_SHIFT, &mut [])
            }
        }
    }

    /// What there is of this number; `None` if there is no such device.
    pub(super) fn info(&mut self) -> stdio::Result<Option<DeviceInfo>> {
        let mut buffer = [0; DEVICE_INFO_BYTES];
        let there = unless_gone(self.call(operation::GET_DEVICE_INFO, 0, &mut buffer))?;
        Ok(there.map(|()| DeviceInfo::decode(&buffer)))
    }

    /// The same of the device with this mark, in whose place there may be another one.
    pub(super) fn find(&mut self, mark: u64) -> stdio::Result<Option<DeviceInfo>> {
        Ok(self.info()?.filter(|info| info.mark == mark))
    }

    /// Adds the device; nobody sees a block device before it is started.
    pub(super) fn add(&mut self, queues: u16, depth: u16, mark: u64) -> stdio::Result<DeviceInfo> {
        let mut buffer = DeviceInfo::to_add(self.device, queues, depth, mark);
        self.call(operation::ADD, 0, &mut buffer)?;
        Ok(DeviceInfo::decode(&buffer))
    }

    pub(super) fn set_parameters(&mut self, size_bytes: u64, shape: Shape) -> stdio::Result<()> {
        self.call(operation::SET_PARAMETERS, 0, &mut parameters(size_bytes, shape))
    }

    /// Its file, through which requests and data come; one process at a time has it.
    pub(super) fn open_char(&self) -> stdio::Result<File> {
        OpenOptions::new().read(true).write(true).open(char_path(self.device))
    }

    /// Shows the block device; it waits until all tags of all queues are fetched for.
    pub(super) fn start(&mut self) -> stdio::Result<()> {
        self.call(operation::START, std::process::id().into(), &mut [])
    }

    pub(super) fn start_recovery(&mut self) -> stdio::Result<()> {
        self.call(operation::START_RECOVERY, 0, &mut [])
    }

    /// Takes away the scheduler that the kernel gives to every device of one queue: it sorts for
    /// heads that move, and each request pays for it. What somebody else chose stays.
    pub(super) fn drop_default_scheduler(&self) -> stdio::Result<()> {
        let path = format!("/sys/block/ublkb{}/queue/scheduler", self.device);
        if fs::read_to_string(&path)?.contains("[mq-deadline]") {
            fs::write(&path, "none")?;
        }
        Ok(())
    }

    /// Lets the requests go on; waits as `start` does.
    pub(super) fn end_recovery(&mut self) -> stdio::Result<()> {
        self.call(operation::END_RECOVERY, std::process::id().into(), &mut [])
    }

    /// Takes the block device away, if there is one. Requests that were fetched have to be answered
    /// meanwhile.
    pub(super) fn stop(&mut self) -> stdio::Result<()> {
        unless_gone(self.call(operation::STOP, 0, &mut [])).map(drop)
    }

    /// Deletes it, if it is there; a device that is mounted still keeps its number until it is not.
    pub(super) fn delete(&mut self) -> stdio::Result<()> {
        let deleted = match self.call(operation::DELETE_ASYNC, 0, &mut []) {
            // Linux 6.9 brought it.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                self.call(operation::DELETE, 0, &mut [])
            }
            result => result,
        };
        unless_gone(deleted).map(drop)
    }

    fn call(&mut self, operation: u32, value: u64, buffer: &mut [u8]) -> stdio::Result<()> {
        let command = Command { operation, device: self.device, value };
        let attempt = || (self.calls)(command, buffer).map(drop);
        while_it_passes(self.device, self.patience, attempt)
    }
}

/// An error that says nothing of the device: the same command may succeed a moment later.
pub(super) fn is_passing(error: &stdio::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM | libc::EINTR))
}

fn unless_gone<T>(result: stdio::Result<T>) -> stdio::Result<Option<T>> {
    match result {
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(None),
        result => result.map(Some),
    }
}

fn while_it_passes<T>(
    device: u32,
    limit: Duration,
    mut attempt: impl FnMut() -> stdio::Result<T>,
) -> stdio::Result<T> {
    let mut patience = Patience::new(limit);
    loop {
        match attempt() {
            Err(error)
                if is_passing(&error)
                    && patience.rest(&format_args!("/dev/ublkb{device}: {error}")) => {}
            result => return result,
        }
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("device", &self.device).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A driver with a device of mark 7 or none, that knows what is needed of it or nothing.
    fn driver(info: Result<u64, i32>, features: Result<u64, i32>) -> Result<Driver, String> {
        let calls = move |command: Command, buffer: &mut [u8]| {
            let (answer, at) = match command.operation {
                operation::GET_FEATURES => (features, 0),
                _ => (info, 32),
            };
            let value = answer.map_err(stdio::Error::from_raw_os_error)?;
            buffer[at..at + 8].copy_from_slice(&value.to_le_bytes());
            Ok(0)
        };
        Driver::by(Box::new(calls), 0, Duration::ZERO)
    }

    #[test]
    fn device_of_another_mark_is_none_of_ours() {
        let mut driver = driver(Ok(7), Ok(FEATURES)).unwrap();
        assert!(driver.info().unwrap().is_some());
        assert!(driver.find(7).unwrap().is_some() && driver.find(8).unwrap().is_none());
    }

    #[test]
    fn device_is_gone_if_the_driver_says_so_and_no_other_error_means_that() {
        let mut gone = driver(Err(libc::ENODEV), Ok(FEATURES)).unwrap();
        assert!(gone.find(7).unwrap().is_none());
        let mut failing = driver(Err(libc::EIO), Ok(FEATURES)).unwrap();
        assert_eq!(failing.find(7).unwrap_err().raw_os_error(), Some(libc::EIO));
    }

    /// A kernel that is short of memory was called too old.
    #[test]
    fn driver_without_an_answer_is_not_taken_for_an_old_one() {
        let text = |features| driver(Ok(7), features).unwrap_err();
        assert!(text(Err(libc::EOPNOTSUPP)).contains("too old"));
        assert!(text(Ok(FEATURES & 1)).contains("too old"));
        assert!(text(Err(libc::ENOMEM)).contains("does not answer"));
    }
}
