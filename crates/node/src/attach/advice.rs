//! What helps where a disk cannot be opened, by the error of the system. docs/operate/messages has
//! the rows in open-disk.md.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use api::response::{Failure, FailureCode};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    NotThere { path: PathBuf },
    NotAllowed { path: PathBuf },
    InUse { path: PathBuf },
    WriteProtected { path: PathBuf },
    LookAtLog { path: PathBuf },
}

impl Advice {
    fn of(path: &Path, error: &Error) -> Self {
        let (path, kind) = (path.to_owned(), error.kind());
        if kind == ErrorKind::NotFound {
            Self::NotThere { path }
        } else if kind == ErrorKind::PermissionDenied {
            Self::NotAllowed { path }
        } else if kind == ErrorKind::ResourceBusy {
            Self::InUse { path }
        } else if kind == ErrorKind::ReadOnlyFilesystem {
            Self::WriteProtected { path }
        } else {
            Self::LookAtLog { path }
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere { path } => write!(
                f,
                "check `disk` and `meta-disk` of this host: `ls -lL {}` shows whether it is there",
                path.display()
            ),
            Self::NotAllowed { path } => write!(
                f,
                "let the user of the daemon read and write it: `ls -lL {}` shows who may",
                path.display()
            ),
            Self::InUse { path } => write!(
                f,
                "`fuser -v {}` tells who uses it: a daemon of Basalt gives it back by `basalt adm \
                 down` of the resource, a mount by `umount`",
                path.display()
            ),
            Self::WriteProtected { path } => write!(
                f,
                "take the write protection off: of a device by `blockdev --setrw {}`, of a file by \
                 `mount -o remount,rw` of the file system that `findmnt -T {}` names",
                path.display(),
                path.display()
            ),
            Self::LookAtLog { path } => write!(
                f,
                "look at the kernel's log (`dmesg | tail`), and at what {} is: a block device, or \
                 a file of its final size",
                path.display()
            ),
        }
    }
}

/// The disk at `path` cannot be opened: an error of the system, or one that says so already.
pub(super) fn cannot_open(path: &Path, error: &Error) -> Failure {
    let text = error.to_string();
    let is_said = text.starts_with("cannot open disk ");
    let message =
        if is_said { text } else { format!("cannot open disk {}: {text}", path.display()) };
    Failure::new(FailureCode::DiskFailed, message, Advice::of(path, error).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{self, Row};

    const KINDS: [(&str, ErrorKind); 6] = [
        ("nothing is at the path", ErrorKind::NotFound),
        ("the daemon may not open it", ErrorKind::PermissionDenied),
        ("another program has it", ErrorKind::ResourceBusy),
        ("it is write-protected", ErrorKind::ReadOnlyFilesystem),
        ("the path is a folder", ErrorKind::IsADirectory),
        ("another error", ErrorKind::Other),
    ];

    #[test]
    fn rows_of_disks_are_those_of_the_page() {
        let rows = KINDS.into_iter().map(|(situation, kind)| {
            let advice = Advice::of(Path::new("/dev/vg/r0"), &kind.into());
            let (variant, situation) = (rows::variant_of(&advice), situation.to_owned());
            Row { variant, situation, sentence: advice.to_string() }
        });
        let title = "What helps where a disk cannot be opened";
        rows::check(("open-disk.md", title), rows.collect());
    }

    /// Whoever may open it was told of for a disk that another program had.
    #[test]
    fn only_a_disk_in_use_is_said_to_be_in_use() {
        for (situation, kind) in KINDS {
            let failure = cannot_open(Path::new("/dev/vg/r0"), &kind.into());
            assert!(failure.message.starts_with("cannot open disk /dev/vg/r0: "), "{failure}");
            let (is_busy, is_missing) =
                (kind == ErrorKind::ResourceBusy, kind == ErrorKind::NotFound);
            assert_eq!(failure.hint.contains("fuser"), is_busy, "{situation}: {failure}");
            assert_eq!(failure.hint.contains("is there"), is_missing, "{situation}: {failure}");
        }
    }
}
