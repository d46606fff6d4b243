//! Names for a device that say what it is: `/dev/basalt/by-res/RESOURCE/VOLUME`.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::devices::Plan;

const DIRECTORY: &str = "/dev/basalt/by-res";

fn link_of(resource: &str, volume: u16) -> PathBuf {
    Path::new(DIRECTORY).join(resource).join(volume.to_string())
}

fn target_of(device: u32) -> String {
    format!("../../../ublkb{device}")
}

pub(super) fn make(plan: &Plan) -> io::Result<()> {
    let link = link_of(&plan.resource, plan.volume);
    if let Some(directory) = link.parent() {
        fs::create_dir_all(directory)?;
    }
    // Beside it first, for it may be there from an earlier life.
    let fresh = link.with_extension("new");
    remove_if_there(&fresh)?;
    symlink(target_of(plan.device), &fresh)?;
    fs::rename(fresh, link)
}

/// Removes every link to a device of which nothing is known but its number.
pub(super) fn remove_all_to(device: u32) -> io::Result<()> {
    let target = Path::new("../../..").join(format!("ublkb{device}"));
    let Ok(resources) = fs::read_dir(DIRECTORY) else { return Ok(()) };
    for resource in resources {
        let resource = resource?.path();
        for link in fs::read_dir(&resource)? {
            let link = link?.path();
            if fs::read_link(&link).is_ok_and(|found| found == target) {
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

/// A link that leads elsewhere by now is another's.
pub(super) fn remove(resource: &str, volume: u16, device: u32) -> io::Result<()> {
    let link = link_of(resource, volume);
    if fs::read_link(&link).is_ok_and(|target| target == Path::new(&target_of(device))) {
        remove_if_there(&link)?;
    }
    // The directory of a resource goes with its last link; full ones stay.
    match link.parent().map(fs::remove_dir) {
        Some(Err(error)) if !is_expected(&error) => Err(error),
        Some(_) | None => Ok(()),
    }
}

/// It is full, or was never made.
fn is_expected(error: &io::Error) -> bool {
    [io::ErrorKind::DirectoryNotEmpty, io::ErrorKind::NotFound].contains(&error.kind())
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
