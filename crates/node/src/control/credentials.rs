//! The certificates of this node: read at the start, when a resource needs them, and when they
//! change on disk.
//!
//! The shards are told of what is new and use it for new connections; those that are there stay.
//! Files that cannot be used leave what was read before in place, and the log says why. A shard
//! that cannot be told is told at the next look.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use api::response::Failure;
use engine::contract::ToShard;
use engine::definition::Definition;
use engine::log::{Scope, log};
use engine::tls::credentials::{Credentials, CredentialsError, Files};
use stdx::mutex::lock;
use stdx::time::Time;

use crate::control::{Control, spawn};
use crate::desk::Desk;
use crate::error::NodeError;
use crate::key_files::read_credentials;
use crate::limits::{CERTIFICATE_RENEWAL, CERTIFICATE_WARNING_INTERVAL, CREDENTIALS_LOOK_INTERVAL};
use crate::refusal::Refusal;

#[derive(Debug)]
pub(super) struct CredentialsKeeper {
    folder: PathBuf,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// What all shards have.
    files: Option<Files>,
    /// Why the files of now are not used, as it was logged.
    failure: Option<String>,
    /// The end of the certificate that the shards have, in seconds of the Unix epoch.
    ends_at: Option<u64>,
    warn_at: Time,
}

impl CredentialsKeeper {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, kept: Mutex::default() }
    }

    /// Looks whether there is something new. Whether this node has credentials in the end.
    fn look(&self, node: &str, desk: &Desk) -> Result<bool, CredentialsError> {
        let mut kept = lock(&self.kept);
        let found = read_credentials(&self.folder).and_then(|files| match files {
            Some(files) if kept.files.as_ref() != Some(&files) => {
                Credentials::of(&files, node).map(|credentials| Some((files, credentials)))
            }
            Some(_) | None => Ok(None),
        });
        let found = found.and_then(|found| match found {
            Some((files, credentials)) => kept.tell(files, credentials, desk).map(Some),
            None => Ok(None),
        });
        match found {
            Ok(Some(what)) => {
                let folder = self.folder.display();
                log!(Info, Scope::NODE, "the certificates in {folder} were {what}");
                kept.failure = None;
            }
            Ok(None) => kept.failure = None,
            Err(error) => {
                let text = error.to_string();
                if kept.failure.as_ref() != Some(&text) {
                    log!(Error, Scope::NODE, "the certificates of this node: {text}");
                    kept.failure = Some(text);
                }
                return Err(error);
            }
        }
        let now = io::now();
        let soon = (io::clock::unix_time() + CERTIFICATE_RENEWAL).as_secs();
        if kept.ends_at.is_some_and(|end| end < soon) && now >= kept.warn_at {
            kept.warn_at = now + CERTIFICATE_WARNING_INTERVAL;
            let text = "this node's certificate ends within 30 days; then no other node will \
                        connect to it: issue a new one with `basalt pki issue`";
            log!(Warning, Scope::NODE, "{text}");
        }
        Ok(kept.files.is_some())
    }

    /// When the certificate that the shards have ends, in seconds of the Unix epoch.
    pub(super) fn ends_at(&self) -> Option<u64> {
        lock(&self.kept).ends_at
    }
}

impl Kept {
    /// Has the shards use them, or leaves it to the next look. What became of them.
    fn tell(
        &mut self,
        files: Files,
        credentials: Credentials,
        desk: &Desk,
    ) -> Result<&'static str, CredentialsError> {
        let credentials = Arc::new(credentials);
        if !desk.tell_all(|| ToShard::Credentials(Arc::clone(&credentials))) {
            // Some may have these and some the ones of before: neither is what all have.
            self.files = None;
            return Err(CredentialsError::Untold);
        }
        if let Some(failure) = credentials.grants_failure() {
            let text = format!("no client may use NBD over TLS: in `clients`, {failure}");
            log!(Error, Scope::NODE, "{text}");
        }
        self.ends_at = Some(credentials.ends_at());
        self.warn_at = Time::ZERO;
        let is_first = self.files.replace(files).is_none();
        Ok(if is_first { "read" } else { "read anew, for new connections" })
    }
}

/// Reads them, and looks for newer ones for as long as the daemon lives.
pub(super) fn keep_credentials(control: &Arc<Control>) -> Result<(), NodeError> {
    // What failed was logged.
    let look = |control: &Control| drop(control.credentials.look(&control.name, &control.desk));
    look(control);
    let control = Arc::clone(control);
    spawn("credentials", move || {
        loop {
            thread::park_timeout(CREDENTIALS_LOOK_INTERVAL);
            look(&control);
            if let Some(hosts) = &control.nvme_hosts {
                hosts.look(&control.desk);
            }
        }
    })
}

impl Control {
    /// A resource with `tls yes` needs credentials; one without is warned of.
    pub(super) fn check_secrecy(&self, definition: &Definition) -> Result<(), Failure> {
        for warning in definition.clear_text_warnings() {
            log!(Warning, Scope::resource(&definition.name), "{warning}");
        }
        if definition.needs_credentials() {
            self.require_credentials(&definition.name)?;
        }
        Ok(())
    }

    fn require_credentials(&self, resource: &str) -> Result<(), Failure> {
        let refuse = |reason: &str| {
            let (resource, node) = (resource.to_owned(), self.name.clone());
            Err(Refusal::NoTls { resource, node, reason: reason.to_owned() }.into())
        };
        match self.credentials.look(&self.name, &self.desk) {
            Ok(true) => Ok(()),
            Ok(false) => {
                refuse(&format!("it has no certificate in {}", self.credentials.folder.display()))
            }
            Err(error) => refuse(&error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use engine::tls::grants::Grants;
    use engine::tls::node_domain_name;
    use io::{Mailbox, Parker};
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

    use super::*;

    fn make_files(folder: &Path) {
        let ca_key = KeyPair::generate().unwrap();
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let mut own = CertificateParams::new(vec![node_domain_name("alfa")]).unwrap();
        own.not_after = date_time_ymd(2099, 12, 31);
        let own = own.signed_by(&key, &Issuer::from_params(&ca, &ca_key)).unwrap();
        fs::write(folder.join("ca.crt"), ca.self_signed(&ca_key).unwrap().pem()).unwrap();
        fs::write(folder.join("node.crt"), own.pem()).unwrap();
        fs::write(folder.join("node.key"), key.serialize_pem()).unwrap();
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(folder.join("node.key"), private).unwrap();
    }

    /// A data thread that had no room for the news kept the lists of before, and who had lost a
    /// right had it for as long as the files did not change again.
    #[test]
    fn data_thread_that_could_not_be_told_is_told_later() {
        let folder = tempfile::tempdir().unwrap();
        make_files(folder.path());
        let parker = Parker::new().unwrap();
        let (sender, mut mailbox) = Mailbox::channel(1, parker.waker());
        let desk = Desk::new(vec![Mutex::new(sender)]);
        let keeper = CredentialsKeeper::new(folder.path().to_owned());
        let told = |mailbox: &mut io::mailbox::Receiver<ToShard>| match mailbox.pop() {
            Some(ToShard::Credentials(credentials)) => Some(credentials),
            None => None,
            Some(other) => panic!("{other:?}"),
        };

        assert!(keeper.look("alfa", &desk).unwrap());
        fs::write(folder.path().join("clients"), "web r0 rw\n").unwrap();
        keeper.look("alfa", &desk).unwrap_err();
        assert_eq!(told(&mut mailbox).unwrap().grants(), &Grants::NONE, "the first ones");
        assert!(keeper.look("alfa", &desk).unwrap());
        let now = Grants::parse("web r0 rw\n").unwrap();
        assert_eq!(told(&mut mailbox).unwrap().grants(), &now, "those of now");
        assert!(keeper.look("alfa", &desk).unwrap());
        assert!(told(&mut mailbox).is_none(), "nothing is new");
        assert_eq!(keeper.ends_at(), Some(4_102_358_400), "`date -u -d 2099-12-31 +%s`");
    }
}
