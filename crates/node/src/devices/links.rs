//! Names for a device that say what it is: `/dev/basalt/by-res/RESOURCE/VOLUME`.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::devices::Plan;

const DIRECTORY: &str = "/dev/basalt/by-res";

fn link_of(plan: &Plan) -> PathBuf {
    Path::new(DIRECTORY).join(&plan.resource).join(plan.volume.to_string())
}

fn target_of(plan: &Plan) -> String {
    format!("../../../ublkb{}", plan.device)
}

pub(super) fn make(plan: &Plan) -> io::Result<()> {
    let link = link_of(plan);
    if let Some(directory) = link.parent() {
        fs::create_dir_all(directory)?;
    }
    // Beside it first, for it may be there from an earlier life.
    let fresh = link.with_extension("new");
    remove_if_there(&fresh)?;
    symlink(target_of(plan), &fresh)?;
    fs::rename(fresh, link)
}

/// A link that leads elsewhere by now is another's.
pub(super) fn remove(plan: &Plan) -> io::Result<()> {
    let link = link_of(plan);
    if fs::read_link(&link).is_ok_and(|target| target == Path::new(&target_of(plan))) {
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
