//! The configuration file, as the verbs need it: which resources there are, which of them this
//! node takes part in, and the text of one for the daemon.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use config::ConfigFile;
use config::model::{Host, Resource, Volume};

use crate::adm::failure::AdmError;
use crate::adm::general::{General, Source};
use crate::adm::outcome::Gathering;
use crate::adm::question::running_texts;
use crate::adm::target::{One, Target};

/// How long the configuration may take to be read where no `--timeout` is given.
const READ_WITHIN: Duration = Duration::from_secs(30);
const HOST_NAME_PATH: &str = "/proc/sys/kernel/hostname";
/// Ours first; a machine that comes from DRBD works unchanged with the second.
const PATHS_DEFAULT: [&str; 2] = ["/etc/basalt.conf", "/etc/drbd.conf"];

#[derive(Debug)]
pub(crate) struct Configuration {
    path: PathBuf,
    file: ConfigFile,
}

impl Configuration {
    /// Reads the named file, or the first of the usual ones that exists, or asks the daemon what it
    /// runs with.
    pub(crate) fn load(general: &General) -> Result<Self, AdmError> {
        match (&general.config_file, general.source) {
            (Some(path), _) => Self::read(path, general),
            (None, Source::Files) => Self::read(&default_path()?, general),
            (None, Source::Daemon) => Self::running(general),
        }
    }

    /// The same, and passes on what it warns of.
    pub(crate) fn load_aloud(
        general: &General,
        gathering: &mut Gathering,
    ) -> Result<Self, AdmError> {
        let configuration = Self::load(general)?;
        configuration.warnings().for_each(|warning| gathering.warn(&warning));
        Ok(configuration)
    }

    /// A file system that does not answer, such as one of the network, keeps whoever reads from
    /// it: a thread does, and is not waited for.
    pub(crate) fn read(path: &Path, general: &General) -> Result<Self, AdmError> {
        let limit = general.timeout.unwrap_or(READ_WITHIN);
        let (sender, texts) = mpsc::channel();
        let wanted = path.to_owned();
        let reads = move || drop(sender.send(config::parse_file(&wanted)));
        let started = thread::Builder::new().name("configuration".to_owned()).spawn(reads);
        started.map_err(|source| AdmError::NoProcess { source })?;
        let parsed = texts.recv_timeout(limit);
        let late = |_| AdmError::FileTimeout { path: path.to_owned(), limit };
        let file = parsed.map_err(late)?.map_err(AdmError::Parse)?;
        Ok(Self { path: path.to_owned(), file })
    }

    pub(crate) fn running(general: &General) -> Result<Self, AdmError> {
        let reply = running_texts(general, Vec::new())?;
        let texts: String = reply.resources.into_iter().map(|it| it.config_text).collect();
        let path = PathBuf::from("what the daemon runs with");
        let file = config::parse_text("running", &texts).map_err(AdmError::Parse)?;
        Ok(Self { path, file })
    }

    /// The resource and the number of the volume with a minor: of this node where it is a host,
    /// else of any.
    pub(crate) fn volume_of_minor(&self, minor: u32) -> Result<(String, u16), AdmError> {
        let node = NodeName::or_host(None)?;
        let mut found: Vec<(String, u16)> = Vec::new();
        for resource in &self.file.resources {
            let own = own_host(resource, &node)?;
            let hosts = resource.hosts.iter().filter(|host| own.is_none_or(|own| own == *host));
            for volume in hosts.flat_map(|host| &host.volumes) {
                let has_it = volume.device.as_ref().is_some_and(|device| device.minor == minor);
                let one = (resource.name.clone(), volume.number);
                if has_it && !found.contains(&one) {
                    found.push(one);
                }
            }
        }
        let path = self.path.display();
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(AdmError::configuration(
                format!("no volume has the minor {minor} in {path}"),
                "basalt adm sh-minor all",
            )),
            _ => {
                let all = found.iter().map(|(name, number)| format!("{name}/{number}"));
                let all: Vec<String> = all.collect();
                Err(AdmError::configuration(
                    format!("{path} gives the minor {minor} to {}", all.join(" and ")),
                    "name the resource",
                ))
            }
        }
    }

    /// Whether drbdadm's names for udev leave the number of its volume out.
    pub(crate) fn is_without_number(&self, resource: &str) -> bool {
        self.file.without_number.contains(resource)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is understood and changes nothing.
    fn warnings(&self) -> impl Iterator<Item = String> {
        self.file.warnings.iter().map(ToString::to_string)
    }

    pub(crate) fn resource(&self, name: &str) -> Result<&Resource, AdmError> {
        self.file.resource(name).ok_or_else(|| {
            let names: Vec<&str> =
                self.file.resources.iter().map(|resource| resource.name.as_str()).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            AdmError::configuration(
                format!("`{name}` is not defined in {}", self.path.display()),
                format!("one of the resources defined there: {known}"),
            )
        })
    }

    /// The targets with `all` replaced by every resource that this node is a host of. Its name is
    /// asked for only then.
    pub(crate) fn select(
        &self,
        targets: &[Target],
        node: impl Fn() -> Result<NodeName, AdmError>,
        gathering: &mut Gathering,
    ) -> Result<Vec<One>, AdmError> {
        let mut ones = Vec::new();
        for target in targets {
            match target {
                Target::One(one) => ones.push(one.clone()),
                Target::All => {
                    let node = node()?;
                    let all = self.file.resources.iter();
                    let own: Vec<One> = all
                        // One that does not say which host this node is, is refused by itself.
                        .filter(|it| !matches!(own_host(it, &node), Ok(None)))
                        .map(|resource| One::whole(&resource.name))
                        .collect();
                    if own.is_empty() {
                        let (path, name) = (self.path.display(), node.as_str());
                        let problem = format!("{path}: no resource has a host `{name}`");
                        if let NodeName::Typed(_) = node {
                            let hint = format!("--node with one of the hosts: {}", self.hosts());
                            return Err(AdmError::configuration(problem, hint));
                        }
                        gathering.warn(&problem);
                    }
                    ones.extend(own);
                }
            }
        }
        Ok(ones)
    }

    /// The names of the hosts of all resources.
    fn hosts(&self) -> String {
        let hosts = self.file.resources.iter().flat_map(|resource| &resource.hosts);
        let names: BTreeSet<&str> = hosts.map(|host| host.name.as_str()).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// Nothing in it is ambiguous to drbdadm.
    pub(crate) fn check_strictly(&self) -> Result<(), AdmError> {
        let ambiguous: Vec<String> =
            self.file.ambiguities.iter().map(ToString::to_string).collect();
        if ambiguous.is_empty() {
            return Ok(());
        }
        Err(AdmError::configuration(
            format!("{} is ambiguous:\n{}", self.path.display(), ambiguous.join("\n")),
            "say each option once, in the section that it is meant for",
        ))
    }

    pub(crate) fn resources(&self) -> &[Resource] {
        &self.file.resources
    }

    /// The resources that `dump` prints: also those of other nodes.
    pub(crate) fn dumped(&self, targets: &[Target]) -> Result<Vec<&Resource>, AdmError> {
        let mut dumped = Vec::new();
        for target in targets {
            match target {
                Target::One(one) => dumped.push(self.resource(&one.resource)?),
                Target::All => dumped.extend(&self.file.resources),
            }
        }
        Ok(dumped)
    }
}

fn default_path() -> Result<PathBuf, AdmError> {
    let existing = PATHS_DEFAULT.iter().map(Path::new).find(|path| path.exists());
    existing.map(Path::to_owned).ok_or_else(|| {
        AdmError::configuration(
            format!(
                "no configuration: neither {} nor {} exists",
                PATHS_DEFAULT[0], PATHS_DEFAULT[1]
            ),
            "write one, or name it with --config-file FILE",
        )
    })
}

/// The name by which verbs look for this node among the hosts of a resource.
#[derive(Clone, Debug)]
pub(crate) enum NodeName {
    /// An operator typed it (`--node`): no other host is meant.
    Typed(String),
    /// The machine, or its daemon, is called so; a host with an address of it may be meant, too.
    Known(String),
}

impl NodeName {
    /// The one that was typed, or else that of this machine.
    pub(crate) fn or_host(typed: Option<&str>) -> Result<Self, AdmError> {
        typed.map_or_else(|| host_name().map(Self::Known), |name| Ok(Self::Typed(name.to_owned())))
    }

    fn as_str(&self) -> &str {
        let (Self::Typed(name) | Self::Known(name)) = self;
        name
    }
}

/// The resource has no host that is this node.
pub(crate) fn not_a_host(resource: &Resource, node: &NodeName) -> AdmError {
    let names: Vec<&str> = resource.hosts.iter().map(|host| host.name.as_str()).collect();
    AdmError::configuration(
        format!("this node, `{}`, is not a host of it", node.as_str()),
        format!("--node with one of its hosts: {}", names.join(", ")),
    )
}

/// This node among the hosts of a resource: by its name, or by an address of this machine.
pub(crate) fn own_host<'a>(
    resource: &'a Resource,
    node: &NodeName,
) -> Result<Option<&'a Host>, AdmError> {
    let is_local = |address: IpAddr| UdpSocket::bind((address, 0)).is_ok();
    let by_name = resource.host_meant(node.as_str()).map_err(|ambiguous| {
        let message = format!("it does not say which host this node is: {ambiguous}");
        AdmError::configuration(message, "--node, or the daemon's --name, with the whole name")
    })?;
    Ok(by_name.or_else(|| match node {
        NodeName::Typed(_) => None,
        NodeName::Known(_) => resource.host_by_address(is_local),
    }))
}

/// The wanted volume of a resource at one host, or the only one.
pub(crate) fn own_volume<'a>(
    resource: &Resource,
    host: &'a Host,
    wanted: Option<u16>,
) -> Result<&'a Volume, AdmError> {
    let list = |numbers: &[u16]| {
        let words: Vec<String> = numbers.iter().map(u16::to_string).collect();
        words.join(", ")
    };
    let numbers = resource.volume_numbers();
    let volume = match (wanted, host.volumes.as_slice()) {
        (_, []) => {
            return Err(AdmError::configuration(
                format!("host `{}` has no volume", host.name),
                "add `volume 0 { disk PATH; meta-disk internal; device minor 0; }`",
            ));
        }
        (None, [only]) => Some(only),
        (None, _) => {
            return Err(AdmError::configuration(
                format!("the resource has the volumes {}: this is about one", list(&numbers)),
                format!("{}/{}", resource.name, numbers[0]),
            ));
        }
        (Some(number), _) => host.volume(number),
    };
    volume.ok_or_else(|| {
        let number = wanted.unwrap_or_default();
        AdmError::configuration(
            format!("the resource has no volume {number}, but volume {}", list(&numbers)),
            format!("{}/{}", resource.name, numbers.first().copied().unwrap_or_default()),
        )
    })
}

/// The name of this machine.
pub(crate) fn host_name() -> Result<String, AdmError> {
    let read = fs::read_to_string(HOST_NAME_PATH);
    let name = read.map_err(|source| AdmError::HostName { path: HOST_NAME_PATH, source })?;
    Ok(name.trim().to_owned())
}
