//! Reading the files that hold keys and secrets: nobody else may read those.

use std::fs;
use std::io as stdio;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use engine::clients::nvme::hosts::Hosts;
use engine::tls::credentials::{CA, CERTIFICATE, CLIENTS, CredentialsError, Files, KEY};

/// What a node proves itself with; `None` where this node has none at all.
pub(crate) fn read_credentials(folder: &Path) -> Result<Option<Files>, CredentialsError> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read(&path).map_err(|source| CredentialsError::Read { path, source })
    };
    let certificate = match read(CERTIFICATE) {
        Err(CredentialsError::Read { source, .. })
            if source.kind() == stdio::ErrorKind::NotFound =>
        {
            return Ok(None);
        }
        other => other?,
    };
    let key = read(KEY)?;
    let path = folder.join(KEY);
    if fs::metadata(&path).is_ok_and(|file| is_open(&file)) {
        return Err(CredentialsError::OpenKey(path));
    }
    let clients = match read(CLIENTS) {
        Err(CredentialsError::Read { source, .. })
            if source.kind() == stdio::ErrorKind::NotFound =>
        {
            Vec::new()
        }
        other => other?,
    };
    let clients = String::from_utf8_lossy(&clients).into_owned();
    Ok(Some(Files { folder: folder.to_owned(), ca: read(CA)?, certificate, key, clients }))
}

/// Why a file of hosts is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostsError {
    #[error("cannot read it: {0}")]
    Read(#[from] stdio::Error),
    #[error("it may be read by other users; use `chmod 600`")]
    Open,
    #[error("{0}")]
    Wrong(String),
}

/// The hosts that may use NVMe/TCP, with their secrets.
pub(crate) fn read_hosts(path: &Path) -> Result<Hosts, HostsError> {
    if is_open(&fs::metadata(path)?) {
        return Err(HostsError::Open);
    }
    Hosts::parse(&fs::read_to_string(path)?).map_err(HostsError::Wrong)
}

/// Other users may read it.
fn is_open(file: &fs::Metadata) -> bool {
    file.permissions().mode() & 0o077 != 0
}
