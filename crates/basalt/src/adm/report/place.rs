//! A place that a report is written to: a folder, or an archive on standard output.

use std::fs::{self, DirBuilder};
use std::io::{Result, Stdout};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use crate::adm::report::tar::{self, Entry};

pub(super) enum Place {
    /// One that is there for its owner alone.
    Folder(PathBuf),
    Archive {
        out: Stdout,
        /// Of its files, in seconds since 1970.
        time: u64,
    },
}

impl Place {
    pub(super) fn new_folder(path: PathBuf) -> Result<Self> {
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self::Folder(path))
    }

    /// Writes a file; its folder is made where it is missing.
    pub(super) fn write(&mut self, path: &str, content: Vec<u8>) -> Result<()> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(path);
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(path, content)
            }
            Self::Archive { out, time } => {
                let entry = Entry { path: path.to_owned(), content };
                tar::write_entry(out, &entry, *time)
            }
        }
    }

    pub(super) fn end(&mut self) -> Result<()> {
        match self {
            Self::Folder(_) => Ok(()),
            Self::Archive { out, .. } => tar::write_end(out),
        }
    }
}
