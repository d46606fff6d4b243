//! Remarks on the options of a daemon before it starts, made without a change of anything.
//!
//! The start itself refuses with the same functions wherever it has one. What may be there by the
//! time of the start, or may be missing, is a note: an address of a network that is not up yet, a
//! folder that systemd makes.

use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, TcpListener};
use std::path::Path;

use crate::admin::group_id;
use crate::error::NodeError;
use crate::key_files::{read_credentials, read_hosts};
use crate::limits::START_PATIENCE;
use crate::options::Options;
use crate::options::owner::foreign;
use crate::options::places::Place;
use crate::options::sentence::Sentence;
use crate::remark::Remark;
use crate::start::congestion;

/// Folders below are made anew after each start of the machine.
const MADE_AT_START: &str = "/run";
/// The unit of the daemon makes it.
const OF_UNIT: &str = "/run/basalt";

impl Options {
    /// Looks at all of them.
    #[must_use]
    pub fn remarks(&self) -> Vec<Remark> {
        let flaws = self.flaws();
        let taken = self.taken_places(&flaws);
        let mut found = Found(flaws);
        found.refusal(self.refuse_vhost(), "vhost");
        found.refusal(congestion(&self.congestion).map(drop), "tcp-congestion");
        found.state_directory(&self.state_dir);
        if let Some(said) = foreign(&self.name, &self.state_dir) {
            found.note("name", None, &said);
        }
        let admin_socket = self.admin_socket.iter().map(|path| ("admin-socket", path));
        let nbd_sockets = self.nbd_unix.iter().map(|path| ("nbd-unix", path));
        let sockets = admin_socket.chain(nbd_sockets);
        // The start makes that folder.
        for (option, socket) in sockets.filter(|(_, it)| !it.starts_with(&self.state_dir)) {
            found.folder_of(option, socket);
        }
        if let Some(Err(said)) = self.admin_group.as_deref().map(group_id) {
            found.wrong("admin-group", None, &said);
        }
        if let Some(path) = &self.nvme_auth
            && let Err(error) = read_hosts(path)
        {
            let (path, error) = (path.clone(), error.to_string());
            found.wrong("nvme-auth", None, &Sentence::HostsUnusable { path, error });
        }
        self.certificates(&mut found);
        found.0.extend(taken);
        self.addresses(&mut found);
        found.0
    }

    fn certificates(&self, found: &mut Found) {
        let (folder, name) = (self.pki.clone(), self.name.clone());
        let said = match read_credentials(&self.pki) {
            Ok(None) if !self.nbd_tls.is_empty() => Sentence::NoCertificate { folder, name },
            Ok(_) => return,
            Err(error) => Sentence::CertificatesUnused { error: error.to_string(), name },
        };
        found.note("pki", None, &said);
    }

    /// Notes on addresses of which nothing else is told.
    fn addresses(&self, found: &mut Found) {
        for listener in self.listeners() {
            let (option, Place::Tcp(address)) = (listener.option, listener.place) else { continue };
            let value = Some(address.to_string());
            if found.0.iter().any(|it| it.option == option && it.value == value) {
                continue;
            }
            let proves = option == "nbd-tls" || (option == "nvme" && self.nvme_auth.is_some());
            if !is_own(address.ip()) {
                // Metrics are served by a thread that does not wait for their address.
                let waits = option != "metrics";
                let (ip, seconds) = (address.ip(), waits.then(|| START_PATIENCE.as_secs()));
                found.note(option, value, &Sentence::NotHereNow { ip, seconds });
            } else if !proves && !address.ip().is_loopback() {
                found.note(option, value, &Sentence::ClearText { address });
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
            self.wrong(option, None, &Sentence::Refused(error.to_string()));
        }
    }

    fn wrong(&mut self, option: &'static str, value: Option<String>, said: &Sentence) {
        self.0.push(Remark::wrong(option, value, said));
    }

    fn note(&mut self, option: &'static str, value: Option<String>, said: &Sentence) {
        self.0.push(Remark::note(option, value, said));
    }

    /// A start makes it, with the folders above it.
    fn state_directory(&mut self, path: &Path) {
        let found = fs::read_dir(path).map(Iterator::count);
        let path = path.to_owned();
        let said = match found {
            Ok(1..) => return,
            Ok(0) => Sentence::StateDirEmpty { path },
            Err(error) if error.kind() == ErrorKind::NotFound => Sentence::StateDirMissing { path },
            Err(error) => {
                let said = Sentence::StateDirUnusable { path, error: error.to_string() };
                return self.wrong("state-dir", None, &said);
            }
        };
        self.note("state-dir", None, &said);
    }

    fn folder_of(&mut self, option: &'static str, socket: &Path) {
        let folder = socket.parent().filter(|it| !it.as_os_str().is_empty() && !it.is_dir());
        let Some(folder) = folder else { return };
        let (value, is_of_unit) =
            (Some(socket.display().to_string()), folder == Path::new(OF_UNIT));
        let (is_of_start, folder) = (folder.starts_with(MADE_AT_START), folder.to_owned());
        if is_of_unit {
            self.note(option, value, &Sentence::FolderOfUnit { folder });
        } else if is_of_start {
            self.note(option, value, &Sentence::FolderGoesAtReboot { folder });
        } else {
            self.wrong(option, value, &Sentence::NoFolder { folder });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;
    use std::time::Duration;

    use io::CongestionWish;

    use super::*;
    use crate::remark::Weight;

    /// Addresses at which nobody listens: no other test uses this one of the loopback's.
    fn free<const N: usize>() -> [SocketAddr; N] {
        let listeners = [(); N].map(|()| TcpListener::bind("127.3.0.1:0").unwrap());
        listeners.map(|listener| listener.local_addr().unwrap())
    }

    /// Of a daemon that can start, with its state directory in `folder`.
    fn good(folder: &Path) -> Options {
        fs::create_dir_all(folder.join("state/resources")).unwrap();
        let [nbd, nvme, metrics] = free();
        Options {
            name: "alice".to_owned(),
            state_dir: folder.join("state"),
            admin_socket: Some(folder.join("admin.sock")),
            admin_group: Some("0".to_owned()),
            nbd: vec![nbd],
            nbd_tls: Vec::new(),
            nbd_unix: vec![folder.join("nbd.sock")],
            nvme: vec![nvme],
            nvme_auth: None,
            vhost: Some(folder.to_owned()),
            metrics: Some(metrics),
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
        let long = folder.path().join("l".repeat(107));
        fs::create_dir(&long).unwrap();
        let any = |it: &Options| SocketAddr::new([0, 0, 0, 0].into(), it.nbd[0].port());
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
            ("nbd", "asked for by nbd already: take", with(&|it| it.nbd.push(it.nbd[0]))),
            ("metrics", "asked for by nbd already (127.3", with(&|it| it.metrics = Some(any(it)))),
            (
                "nbd-unix",
                "by admin-socket already: take another path",
                with(&|it| it.nbd_unix[0] = it.admin_socket.clone().unwrap()),
            ),
            (
                "nbd-unix",
                "by admin-socket already (",
                with(&|it| {
                    it.admin_socket = None;
                    it.nbd_unix[0] = it.state_dir.join("../state/admin.sock");
                }),
            ),
            ("nbd-unix", "nbd-unix already", with(&|it| it.nbd_unix.push(it.nbd_unix[0].clone()))),
            ("nbd-unix", "107 at most", with(&|it| it.nbd_unix[0] = long.join("n.sock"))),
            ("admin-socket", "107 at most", with(&|it| it.admin_socket = Some(long.join("a")))),
            ("vhost", "107 bytes", with(&|it| it.vhost = Some(long.clone()))),
            ("nbd-unix", "no socket: remove it", with(&|it| it.nbd_unix[0] = file.clone())),
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

    /// A daemon waited for 20 s with a place that another one has, and then said why.
    #[test]
    fn place_that_somebody_has_is_told_unless_it_is_the_daemon_of_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let options = good(folder.path());
        let _tcp = TcpListener::bind(options.nvme[0]).unwrap();
        let _unix = UnixListener::bind(&options.nbd_unix[0]).unwrap();
        // One that nobody listens on any more is taken over by the start.
        drop(UnixListener::bind(folder.path().join("admin.sock")).unwrap());
        let told = options.remarks();
        let wrong: Vec<_> = told.iter().map(|it| (it.option, it.weight)).collect();
        assert_eq!(wrong, [("nvme", Weight::Wrong), ("nbd-unix", Weight::Wrong)], "{told:?}");
        assert!(told[0].text.contains("is listening there, at 127.3.0.1:"), "{told:?}");
        assert_eq!(options.flaws(), [], "they may be free by the start");
        // As a daemon does, which this process is then.
        let lock = fs::File::create(options.state_dir.join("lock")).unwrap();
        crate::holder::sign(&lock).unwrap();
        assert_eq!(options.remarks(), []);
    }

    #[test]
    fn address_of_a_stored_resource_is_not_for_clients() {
        let folder = tempfile::tempdir().unwrap();
        let options = good(folder.path());
        let text = format!(
            "resource r0 {{ volume 0 {{ disk /d; }} on alice {{ node-id 0; address {}; }} on bob \
             {{ node-id 1; address 192.0.2.2:1; }} }}",
            options.nbd[0]
        );
        fs::write(options.state_dir.join("resources/r0.res"), text).unwrap();
        let [flaw] = &options.remarks()[..] else { panic!("{:?}", options.remarks()) };
        assert_eq!(flaw.option, "nbd");
        assert!(flaw.text.contains("asked for by the resource r0 already"), "{flaw:?}");
    }

    #[test]
    fn resources_of_other_nodes_are_a_note_about_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { name: "dave".to_owned(), ..good(folder.path()) };
        let text = "resource r0 { volume 0 { disk /d; } on alice { node-id 0; address \
                    192.0.2.1:1; } on bob { node-id 1; address 192.0.2.2:1; } }";
        fs::write(options.state_dir.join("resources/r0.res"), text).unwrap();
        let [note] = &options.remarks()[..] else { panic!("{:?}", options.remarks()) };
        assert_eq!((note.option, note.weight), ("name", Weight::Note));
        assert!(note.text.contains("is called dave: r0 (on alice, bob)"), "{note:?}");
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

    /// A folder that no unit makes was said to be made by one, a start without the address of
    /// metrics to wait for it, and a file in the way was to be removed whatever it is.
    #[test]
    fn notes_promise_no_more_than_a_start_does() {
        let folder = tempfile::tempdir().unwrap();
        let state_dir = folder.path().join("state");
        fs::create_dir_all(state_dir.join("resources")).unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let options = Options {
            state_dir,
            admin_socket: Some("/run/not-there-basalt/admin.sock".into()),
            nbd_unix: vec![file],
            metrics: Some("192.0.2.1:9942".parse().unwrap()),
            ..good(folder.path())
        };
        let remarks = options.remarks();
        let said = |option| remarks.iter().find(|it| it.option == option).unwrap().text.clone();
        assert!(said("admin-socket").contains("`mkdir -p /run/not-there-basalt` after each start"));
        assert!(said("metrics").contains("is given up at once"), "{remarks:?}");
        assert!(said("nbd-unix").contains("remove it if nobody needs it"), "{remarks:?}");
    }
}
