//! Names for a device that say what it is: `/dev/basalt/by-res/RESOURCE/VOLUME`, and the same under
//! DRBD's directory where these are wanted (`names`).

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

pub(super) const DIRECTORY: &str = "/dev/basalt/by-res";

/// The device's own name in /dev.
pub(super) fn name_of(device: u32) -> String {
    format!("ublkb{device}")
}

#[derive(Debug)]
pub(super) struct Link {
    path: PathBuf,
    /// The name of the device in /dev.
    device: String,
}

impl Link {
    /// In a directory that is two below that of the devices.
    pub(super) fn new(directory: &Path, resource: &str, volume: u16, device: String) -> Self {
        Self { path: directory.join(resource).join(volume.to_string()), device }
    }

    pub(super) fn make(&self) -> io::Result<()> {
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory)?;
        }
        replace(&self.path, |fresh| symlink(target_of(&self.device), fresh))
    }

    /// A link that leads elsewhere by now is another's.
    pub(super) fn remove(&self) -> io::Result<()> {
        if leads_to(&self.path, &self.device) {
            remove_if_there(&self.path)?;
        }
        // The directory of a resource goes with its last link; full ones stay.
        match self.path.parent().map(fs::remove_dir) {
            Some(Err(error)) if !is_expected(&error) => Err(error),
            Some(_) | None => Ok(()),
        }
    }
}

/// Removes every link in `directory` to a device of which nothing is known but its name.
pub(super) fn remove_all_to(directory: &Path, device: &str) -> io::Result<()> {
    let Ok(resources) = fs::read_dir(directory) else { return Ok(()) };
    for resource in resources {
        let resource = resource?.path();
        for link in fs::read_dir(&resource)? {
            let link = link?.path();
            if leads_to(&link, device) {
                remove_if_there(&link)?;
            }
        }
        match fs::remove_dir(&resource) {
            Err(error) if !is_expected(&error) => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Makes `path` anew, in one step for who looks at it: beside it first, for it may be there.
pub(super) fn replace(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let fresh = path.with_extension("new");
    remove_if_there(&fresh)?;
    make(&fresh)?;
    fs::rename(fresh, path)
}

pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn target_of(device: &str) -> PathBuf {
    Path::new("../../..").join(device)
}

fn leads_to(link: &Path, device: &str) -> bool {
    fs::read_link(link).is_ok_and(|target| target == target_of(device))
}

/// It is full, or was never made.
fn is_expected(error: &io::Error) -> bool {
    [io::ErrorKind::DirectoryNotEmpty, io::ErrorKind::NotFound].contains(&error.kind())
}
