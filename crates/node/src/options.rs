//! The options of the daemon.

pub(crate) mod sentence;
pub(crate) mod check;
pub(crate) mod places;
pub(crate) mod owner;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use config::host_name::flaw;
use engine::limits::SHARDS_MAX;
use engine::log::Format as LogFormat;
use io::CongestionWish;

use crate::error::NodeError;
use crate::options::sentence::Sentence;
use crate::remark::Remark;

/// How a daemon is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name that `on` sections call this node.
    pub name: String,
    pub state_dir: PathBuf,
    /// `None`: in the state directory.
    pub admin_socket: Option<PathBuf>,
    /// Who may use it beside the daemon's user: the name of a group, or its number.
    pub admin_group: Option<String>,
    pub nbd: Vec<SocketAddr>,
    /// Where clients have to use TLS.
    pub nbd_tls: Vec<SocketAddr>,
    pub nbd_unix: Vec<PathBuf>,
    pub nvme: Vec<SocketAddr>,
    /// The hosts that may use NVMe/TCP, with their secrets; any may without such a file.
    pub nvme_auth: Option<PathBuf>,
    /// Where virtual machines find a socket for each volume; nowhere by default.
    pub vhost: Option<PathBuf>,
    /// Where Prometheus may ask for metrics; nowhere by default.
    pub metrics: Option<SocketAddr>,
    /// Where certificates and keys are, if there are any.
    pub pki: PathBuf,
    /// Data threads; `None` is one for each core that there is for them, at most 8.
    pub shards: Option<u8>,
    /// How long a data thread whose clients ask for little at a time looks for the next event
    /// before it sleeps. Zero: not at all, as on a machine with one core.
    pub spin: Duration,
    /// Congestion control of all TCP connections that carry data.
    pub congestion: CongestionWish,
    /// How long the users of a block device wait for the next daemon when this one died.
    pub device_timeout: Duration,
    /// Resources of this node that are brought up to date at a time; `None` is any number.
    pub max_parallel_resyncs: Option<NonZeroU32>,
    /// Volumes that are up have DRBD's names in /dev, too.
    pub drbd_names: bool,
    pub log_format: LogFormat,
    /// End when the process that started this one does.
    pub exit_with_parent: bool,
}

impl Options {
    /// Whether a daemon may start with what can be told before anything is done.
    pub(crate) fn check(&self) -> Result<(), NodeError> {
        if let Some(flaw) = self.flaws().into_iter().next() {
            return Err(NodeError::Refused(flaw));
        }
        self.refuse_vhost()
    }

    /// The mistakes with which no start is tried, all of them: they stay until somebody changes an
    /// option, whatever the machine does.
    #[must_use]
    pub fn flaws(&self) -> Vec<Remark> {
        let judged = [("name", self.refuse_name()), ("shards", self.refuse_shards())];
        let wrong = |(option, judged): (_, Result<(), NodeError>)| {
            let said = Sentence::Refused(judged.err()?.to_string());
            Some(Remark::wrong(option, None, &said))
        };
        judged.into_iter().filter_map(wrong).chain(self.flaws_of_places()).collect()
    }

    fn refuse_shards(&self) -> Result<(), NodeError> {
        match self.shards.filter(|shards| !(1..=SHARDS_MAX).contains(shards)) {
            Some(shards) => Err(NodeError::TooManyShards(shards)),
            None => Ok(()),
        }
    }

    fn refuse_name(&self) -> Result<(), NodeError> {
        flaw(&self.name).map_or(Ok(()), |flaw| Err(NodeError::BadName(flaw)))
    }

    fn refuse_vhost(&self) -> Result<(), NodeError> {
        match self.vhost.as_ref().filter(|folder| !folder.is_dir()) {
            Some(folder) => {
                let folder = folder.clone();
                Err(NodeError::Listen(Sentence::NoVhostFolder { folder }.to_string()))
            }
            None => Ok(()),
        }
    }
}
