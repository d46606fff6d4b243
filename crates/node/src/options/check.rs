//! Remarks on the options of a daemon before it starts, made without a change of anything.
//!
//! The start itself refuses with the same functions wherever it has one. What may be there by the
//! time of the start, or may be missing, is a note: an address of a network that is not up yet, a
//! folder that systemd makes.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;

use crate::admin::group_id;
use crate::error::NodeError;
use crate::key_files::{read_credentials, read_hosts};
use crate::limits::START_PATIENCE;
use crate::options::Options;
use crate::start::congestion;

/// Folders below are made anew after each start of the machine.
const MADE_AT_START: &str = "/run";

/// A mistake in an option, or a note that is worth a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The name of the option: that of the flag, without its dashes.
    pub option: &'static str,
    /// The value that is meant, of an option that may have several.
    pub value: Option<String>,
    pub weight: Weight,
    /// The remark in words, with the command to type.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The daemon would not start.
    Wrong,
    /// It would start.
    Note,
}

impl Options {
    /// Looks at all of them.
    #[must_use]
    pub fn remarks(&self) -> Vec<Remark> {
        let mut found = Found(Vec::new());
        found.refusal(self.refuse_name(), "name");
        found.refusal(self.refuse_shards(), "shards");
        found.refusal(self.refuse_vhost(), "vhost");
        found.refusal(congestion(&self.congestion).map(drop), "tcp-congestion");
        found.state_directory(&self.state_dir);
        let admin_socket = self.admin_socket.iter().map(|path| ("admin-socket", path));
        let nbd_sockets = self.nbd_unix.iter().map(|path| ("nbd-unix", path));
        let sockets = admin_socket.chain(nbd_sockets);
        // The start makes that folder.
        for (option, socket) in sockets.filter(|(_, it)| !it.starts_with(&self.state_dir)) {
            found.folder_of(option, socket);
        }
        if let Some(Err(reason)) = self.admin_group.as_deref().map(group_id) {
            found.wrong("admin-group", None, reason);
        }
        if let Some(path) = &self.nvme_auth
            && let Err(error) = read_hosts(path)
        {
            let text = format!("{} cannot be used: {error}", path.display());
            found.wrong("nvme-auth", None, text);
        }
        self.certificates(&mut found);
        self.addresses(&mut found);
        found.0
    }

    fn certificates(&self, found: &mut Found) {
        let folder = self.pki.display();
        let text = match read_credentials(&self.pki) {
            Ok(None) if !self.nbd_tls.is_empty() => format!(
                "{folder} has no certificate of this node, and clients of nbd-tls are refused \
                 until it has one: `basalt pki issue`"
            ),
            Ok(_) => return,
            Err(error) => format!("the certificates are not used as they are: {error}"),
        };
        found.note("pki", None, text);
    }

    fn addresses(&self, found: &mut Found) {
        let several = [("nbd", &self.nbd), ("nbd-tls", &self.nbd_tls), ("nvme", &self.nvme)];
        let several = several.iter().flat_map(|(name, them)| them.iter().map(|it| (*name, *it)));
        let all = several.chain(self.metrics.iter().map(|it| ("metrics", *it)));
        let mut taken: BTreeMap<SocketAddr, &str> = BTreeMap::new();
        for (option, address) in all {
            let value = Some(address.to_string());
            let proves = option == "nbd-tls" || (option == "nvme" && self.nvme_auth.is_some());
            if address.port() == 0 {
                let text = format!("{address} has port 0: write the port behind the colon");
                found.wrong(option, value, text);
            } else if let Some(first) = taken.insert(address, option) {
                let text = format!("{address} is asked for by {first} already: take another port");
                found.wrong(option, value, text);
            } else if !is_own(address.ip()) {
                let (ip, seconds) = (address.ip(), START_PATIENCE.as_secs());
                let text = format!(
                    "no interface of this machine has {ip} now (`ip address`); a start waits \
                     {seconds} s for it"
                );
                found.note(option, value, text);
            } else if !proves && !address.ip().is_loopback() {
                let text = format!(
                    "whoever reaches {address} is served in clear text, and has to prove nothing"
                );
                found.note(option, value, text);
            }
        }
    }
}

/// Whether this machine has it now.
fn is_own(address: IpAddr) -> bool {
    let tried = TcpListener::bind((address, 0));
    tried.err().is_none_or(|error| error.kind() != ErrorKind::AddrNotAvailable)
}

struct Found(Vec<Remark>);

impl Found {
    fn refusal(&mut self, judged: Result<(), NodeError>, option: &'static str) {
        if let Err(error) = judged {
            self.wrong(option, None, error.to_string());
        }
    }

    fn wrong(&mut self, option: &'static str, value: Option<String>, text: String) {
        self.0.push(Remark { option, value, weight: Weight::Wrong, text });
    }

    fn note(&mut self, option: &'static str, value: Option<String>, text: String) {
        self.0.push(Remark { option, value, weight: Weight::Note, text });
    }

    /// A start makes it, with the folders above it.
    fn state_directory(&mut self, path: &Path) {
        let shown = path.display();
        let text = match fs::read_dir(path).map(Iterator::count) {
            Ok(1..) => return,
            Ok(0) => format!("{shown} is empty: the node has no vote yet"),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                format!("{shown} is not there: the start makes it, and the node has no vote yet")
            }
            Err(error) => {
                let text = format!("{shown} cannot be the state directory: {error}");
                return self.wrong("state-dir", None, text);
            }
        };
        self.note("state-dir", None, text);
    }

    fn folder_of(&mut self, option: &'static str, socket: &Path) {
        let folder = socket.parent().filter(|it| !it.as_os_str().is_empty() && !it.is_dir());
        let Some(folder) = folder else { return };
        let (value, shown) = (Some(socket.display().to_string()), folder.display());
        if folder.starts_with(MADE_AT_START) {
            let text = format!("{shown} is not there yet; the unit makes /run/basalt");
            self.note(option, value, text);
        } else {
            let text = format!("there is no folder {shown} for the socket: `mkdir -p {shown}`");
            self.wrong(option, value, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use io::CongestionWish;

    use super::*;

    /// Of a daemon that can start, with its state directory in `folder`.
    fn good(folder: &Path) -> Options {
        fs::create_dir_all(folder.join("state/resources")).unwrap();
        Options {
            name: "alice".to_owned(),
            state_dir: folder.join("state"),
            admin_socket: Some(folder.join("admin.sock")),
            admin_group: Some("0".to_owned()),
            nbd: vec!["127.0.0.1:10809".parse().unwrap()],
            nbd_tls: Vec::new(),
            nbd_unix: vec![folder.join("nbd.sock")],
            nvme: vec!["127.0.0.1:4420".parse().unwrap()],
            nvme_auth: None,
            vhost: Some(folder.to_owned()),
            metrics: Some("127.0.0.1:9942".parse().unwrap()),
            pki: folder.join("pki"),
            shards: Some(1),
            spin: Duration::ZERO,
            congestion: CongestionWish::System,
            device_timeout: Duration::from_secs(30),
            max_parallel_resyncs: None,
            drbd_names: false,
            log_format: engine::log::Format::Text,
            exit_with_parent: false,
        }
    }

    #[test]
    fn options_of_a_daemon_that_can_start_leave_nothing_to_say() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(good(folder.path()).remarks(), []);
    }

    #[test]
    fn each_option_that_keeps_a_daemon_from_starting_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let missing = folder.path().join("no/s.sock");
        let with = |change: &dyn Fn(&mut Options)| {
            let mut options = good(folder.path());
            change(&mut options);
            options.remarks()
        };
        let hosts: PathBuf = folder.path().join("hosts");
        for (option, part, remarks) in [
            ("name", "' '", with(&|it| it.name = "a b".to_owned())),
            ("shards", "0 shards", with(&|it| it.shards = Some(0))),
            ("vhost", "no directory", with(&|it| it.vhost = Some(file.clone()))),
            ("state-dir", "cannot be", with(&|it| it.state_dir = file.clone())),
            ("admin-socket", "mkdir -p", with(&|it| it.admin_socket = Some(missing.clone()))),
            ("nbd-unix", "mkdir -p", with(&|it| it.nbd_unix.push(missing.clone()))),
            ("admin-group", "no group", with(&|it| it.admin_group = Some("no-one".to_owned()))),
            ("nvme-auth", "cannot read", with(&|it| it.nvme_auth = Some(hosts.clone()))),
            ("metrics", "by nbd already", with(&|it| it.metrics = Some(it.nbd[0]))),
            ("nvme", "port 0", with(&|it| it.nvme[0].set_port(0))),
            (
                "tcp-congestion",
                "no_such_one",
                with(&|it| it.congestion = CongestionWish::Named("no_such_one".to_owned())),
            ),
        ] {
            let [remark] = &remarks[..] else { panic!("{option}: {remarks:?}") };
            assert_eq!((remark.option, remark.weight), (option, Weight::Wrong), "{remark:?}");
            assert!(remark.text.contains(part), "no {part:?} in {remark:?}");
        }
    }

    #[test]
    fn what_may_be_there_by_the_start_is_a_note() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = good(folder.path());
        options.state_dir = folder.path().join("later");
        options.admin_socket = Some(PathBuf::from("/run/not-there-basalt/admin.sock"));
        options.nbd_tls = vec!["192.0.2.1:10810".parse().unwrap()];
        options.metrics = Some("0.0.0.0:9942".parse().unwrap());
        let remarks = options.remarks();
        let named: Vec<_> = remarks.iter().map(|it| it.option).collect();
        assert_eq!(named, ["state-dir", "admin-socket", "pki", "nbd-tls", "metrics"]);
        assert!(remarks.iter().all(|it| it.weight == Weight::Note), "{remarks:?}");
    }
}
