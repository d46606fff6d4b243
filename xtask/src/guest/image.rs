//! The image that guests boot from: built once, outside of the clone, and again when the recipe
//! changes.

use crate::process;
use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug)]
pub(super) struct Image {
    directory: PathBuf,
}

/// The text that the image was built by lies beside it, under this name; it is written last.
const RECIPE: &str = "recipe";

impl Image {
    /// Builds it if it is not there; two who want it at once build it once.
    pub(super) fn ensure() -> Result<Self> {
        let directory = process::cache_directory()?.join("guest");
        fs::create_dir_all(&directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        let script = process::repository()?.join("tests/guest/build-image");
        let recipe = fs::read_to_string(&script)
            .with_context(|| format!("cannot read {}", script.display()))?;

        let lock = directory.join("lock");
        let lock =
            File::create(&lock).with_context(|| format!("cannot open {}", lock.display()))?;
        lock.lock().context("cannot lock the folder of the guest's image")?;
        if !is_current(&directory, &recipe) {
            println!("building the guest's image in {} (2 min)", directory.display());
            let old = directory.join(RECIPE);
            if old.exists() {
                fs::remove_file(&old)
                    .with_context(|| format!("cannot remove {}", old.display()))?;
            }
            process::must_succeed(Command::new("bash").arg(&script).arg(&directory))?;
            fs::write(&old, &recipe).with_context(|| format!("cannot write {}", old.display()))?;
        }
        Ok(Self { directory })
    }

    pub(super) fn kernel(&self) -> PathBuf {
        self.directory.join("kernel")
    }

    pub(super) fn initrd(&self) -> PathBuf {
        self.directory.join("initrd")
    }

    pub(super) fn root(&self) -> PathBuf {
        self.directory.join("root.img")
    }
}

fn is_current(directory: &Path, recipe: &str) -> bool {
    fs::read_to_string(directory.join(RECIPE)).is_ok_and(|built| built == recipe)
}
