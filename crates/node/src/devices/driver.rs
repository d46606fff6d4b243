//! The ublk driver's commands, with words for what goes wrong.

use std::fs::{self, File, OpenOptions};
use std::io as stdio;
use std::path::{Path, PathBuf};

use frontend::ublk::control::{
    DEVICE_INFO_BYTES, DeviceInfo, FEATURES, SECTOR_SHIFT, Shape, feature, operation, parameters,
};
use io::{Command, Commander};
use replication::contract::DeviceSize;

pub(super) const CONTROL_DEVICE: &str = "/dev/ublk-control";

#[derive(Debug)]
pub(super) struct Driver {
    commander: Commander,
    device: u32,
    /// Of the kernel's driver.
    features: u64,
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
        let commander = Commander::open(Path::new(CONTROL_DEVICE)).map_err(|error| {
            format!("cannot open {CONTROL_DEVICE}: {error}; a block device needs root")
        })?;
        let mut driver = Self { commander, device, features: 0 };
        let mut features = [0; 8];
        // The command came with user copy.
        let known = driver.call(operation::GET_FEATURES, 0, &mut features);
        #[expect(clippy::host_endian_bytes, reason = "the kernel of this machine wrote it")]
        let features = u64::from_ne_bytes(features);
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

    pub(super) fn info(&mut self) -> stdio::Result<DeviceInfo> {
        let mut buffer = [0; DEVICE_INFO_BYTES];
        self.call(operation::GET_DEVICE_INFO, 0, &mut buffer)?;
        Ok(DeviceInfo::decode(&buffer))
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

    /// Takes the block device away. Requests that were fetched have to be answered meanwhile.
    pub(super) fn stop(&mut self) -> stdio::Result<()> {
        self.call(operation::STOP, 0, &mut [])
    }

    /// Deletes it; a device that is mounted still keeps its number until it is not.
    pub(super) fn delete(&mut self) -> stdio::Result<()> {
        match self.call(operation::DELETE_ASYNC, 0, &mut []) {
            // Linux 6.9 brought it.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                self.call(operation::DELETE, 0, &mut [])
            }
            result => result,
        }
    }

    fn call(&mut self, operation: u32, value: u64, buffer: &mut [u8]) -> stdio::Result<()> {
        let command = Command { operation, device: self.device, value };
        self.commander.call(command, buffer).map(drop)
    }
}
