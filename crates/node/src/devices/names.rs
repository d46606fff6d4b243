//! The names that DRBD gives its devices, where the operator wants them (`--drbd-names`):
//! `/dev/drbdN`, N being the minor, and `/dev/drbd/by-res/RESOURCE/VOLUME`, which leads there.
//!
//! A device of DRBD is there from `up` to `down` and refuses to be opened on a Secondary; scripts
//! take it for the sign that a resource is up. Ours is there only on a Primary. So the name is that
//! of a device without a driver, until it leads to `/dev/ublkbN`, and again afterwards.

use std::fs;
use std::io as stdio;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::devices::Plan;
use crate::devices::links::{self, Link};
use crate::options::Options;

/// DRBD's in the kernel's list of block devices: no other driver takes it.
const MAJOR: u32 = 147;

#[derive(Clone, Debug)]
pub(crate) struct Names {
    are_wanted: bool,
    /// /dev, but for tests.
    devices: PathBuf,
    /// Where the kernel shows its block devices.
    kernel: PathBuf,
}

impl Names {
    /// Of a node where nobody wants them.
    #[cfg(test)]
    pub(super) fn unwanted() -> Self {
        Self { are_wanted: false, devices: "/dev".into(), kernel: "/sys/block".into() }
    }

    /// Of a node whose /dev and /sys/block are below `root`.
    #[cfg(test)]
    pub(crate) fn below(root: &Path) -> Self {
        Self { are_wanted: true, devices: root.join("dev"), kernel: root.join("block") }
    }

    pub(crate) fn new(options: &Options) -> Self {
        Self { are_wanted: options.drbd_names, devices: "/dev".into(), kernel: "/sys/block".into() }
    }

    /// The resource is up.
    pub(super) fn make(&self, plan: &Plan) -> stdio::Result<()> {
        if !self.are_wanted {
            return Ok(());
        }
        if !leads_to_ours(&self.path(plan.device), plan.device) {
            self.close(plan)?;
        }
        self.link(plan).make()
    }

    /// Its device is there.
    pub(super) fn open(&self, plan: &Plan) -> stdio::Result<()> {
        self.name(plan.device, |fresh| symlink(links::name_of(plan.device), fresh))
    }

    /// Its device is not there.
    pub(super) fn close(&self, plan: &Plan) -> stdio::Result<()> {
        self.name(plan.device, |fresh| io::make_block_node(fresh, MAJOR, plan.device))
    }

    /// The resource is down.
    pub(super) fn remove(&self, plan: &Plan) -> stdio::Result<()> {
        if !self.are_wanted {
            return Ok(());
        }
        self.check(plan.device)?;
        let path = self.path(plan.device);
        if leads_to_ours(&path, plan.device) || is_without_driver(&path, plan.device) {
            links::remove_if_there(&path)?;
        }
        self.link(plan).remove()
    }

    /// The daemon ends: what leads to a device that the next one takes over stays.
    pub(super) fn leave(&self, plan: &Plan) -> stdio::Result<()> {
        let is_left = leads_to_ours(&self.path(plan.device), plan.device);
        if is_left { Ok(()) } else { self.remove(plan) }
    }

    fn name(
        &self,
        device: u32,
        make: impl FnOnce(&Path) -> stdio::Result<()>,
    ) -> stdio::Result<()> {
        if !self.are_wanted {
            return Ok(());
        }
        self.check(device)?;
        links::replace(&self.path(device), make)
    }

    fn link(&self, plan: &Plan) -> Link {
        let directory = self.devices.join("drbd/by-res");
        Link::new(&directory, &plan.resource, plan.volume, name_of(plan.device))
    }

    fn path(&self, device: u32) -> PathBuf {
        self.devices.join(name_of(device))
    }

    /// A device that DRBD's own driver has under this number is not ours.
    fn check(&self, device: u32) -> stdio::Result<()> {
        if self.kernel.join(name_of(device)).exists() {
            let text = format!("/dev/drbd{device} is a device of the kernel's DRBD");
            return Err(stdio::Error::new(stdio::ErrorKind::AlreadyExists, text));
        }
        Ok(())
    }
}

/// A device is gone, and with it the daemon that gave it these names.
pub(super) fn remove_all_to(device: u32) -> stdio::Result<()> {
    let path = Path::new("/dev").join(name_of(device));
    if !leads_to_ours(&path, device) {
        return Ok(());
    }
    links::remove_if_there(&path)?;
    links::remove_all_to(Path::new("/dev/drbd/by-res"), &name_of(device))
}

fn name_of(device: u32) -> String {
    format!("drbd{device}")
}

fn leads_to_ours(path: &Path, device: u32) -> bool {
    fs::read_link(path).is_ok_and(|target| target == Path::new(&links::name_of(device)))
}

fn is_without_driver(path: &Path, device: u32) -> bool {
    io::block_node_numbers(path) == Some((MAJOR, device))
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::space::Place;
    use frontend::ublk::control::Shape;

    fn names(root: &Path) -> (Names, Plan) {
        let names = Names::below(root);
        fs::create_dir_all(&names.devices).unwrap();
        let resource = "r0".to_owned();
        let shape = Shape::DEFAULT;
        let plan = Plan { resource, volume: 1, place: Place::FIRST, device: 7, mark: 0, shape };
        (names, plan)
    }

    /// It takes the right to make special files, which not everybody has who runs this.
    fn may_make_nodes(root: &Path) -> bool {
        io::make_block_node(&root.join("probe"), MAJOR, 7).is_ok()
    }

    #[test]
    fn a_name_is_there_from_up_to_down() {
        let root = tempfile::tempdir().unwrap();
        let (names, plan) = names(root.path());
        let (name, link) = (names.devices.join("drbd7"), names.devices.join("drbd/by-res/r0/1"));
        if may_make_nodes(root.path()) {
            names.make(&plan).unwrap();
            assert!(is_without_driver(&name, 7), "nobody serves it");
        } else {
            names.open(&plan).unwrap();
            names.make(&plan).unwrap();
        }
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("../../../drbd7"));
        names.open(&plan).unwrap();
        names.make(&plan).unwrap();
        assert_eq!(fs::read_link(&name).unwrap(), Path::new("ublkb7"), "a second `up`");
        names.remove(&plan).unwrap();
        assert!(fs::symlink_metadata(&name).is_err() && fs::symlink_metadata(&link).is_err());
        assert!(!link.parent().unwrap().exists());
        names.remove(&plan).unwrap();
    }

    #[test]
    fn devices_of_the_kernels_drbd_and_of_others_keep_their_names() {
        let root = tempfile::tempdir().unwrap();
        let (names, plan) = names(root.path());
        fs::create_dir_all(names.kernel.join("drbd7")).unwrap();
        for refused in [names.open(&plan), names.make(&plan), names.remove(&plan)] {
            assert_eq!(refused.unwrap_err().kind(), stdio::ErrorKind::AlreadyExists);
        }
        fs::remove_dir(names.kernel.join("drbd7")).unwrap();
        fs::write(names.devices.join("drbd7"), "a file").unwrap();
        names.remove(&plan).unwrap();
        assert!(names.devices.join("drbd7").exists());
    }

    #[test]
    fn nothing_is_made_unless_it_is_wanted() {
        let root = tempfile::tempdir().unwrap();
        let (names, plan) = names(root.path());
        let names = Names { are_wanted: false, ..names };
        for result in [names.make(&plan), names.open(&plan), names.close(&plan)] {
            result.unwrap();
        }
        assert_eq!(fs::read_dir(&names.devices).unwrap().count(), 0);
    }
}
