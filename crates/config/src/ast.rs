//! What the files say, before it is known what they mean.
//!
//! Nothing is inherited or expanded here, and names may still name nothing. Each part keeps its
//! place in the source, so that `resolve` can complain about it.

use std::net::SocketAddr;

use crate::diagnostic::Span;
use crate::model::{BackingDisk, Device, MetaDisk};
use crate::options::OptionSpec;
use crate::options::value::Value;

#[derive(Clone, Debug)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// One option given somewhere. Its row in the table says which section it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) spec: &'static OptionSpec,
    pub(crate) value: Value,
    pub(crate) span: Span,
}

/// All that one configuration says, over all its files.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The `common` section, if there was one, and where.
    pub(crate) common: Option<Spanned<Vec<Setting>>>,
    pub(crate) resources: Vec<ResourceNode>,
    /// Some file says `udev-always-use-vnr`.
    pub(crate) numbers_links: bool,
}

#[derive(Debug)]
pub(crate) struct ResourceNode {
    pub(crate) name: Spanned<String>,
    /// Something in it was wrong and is left out here.
    pub(crate) is_damaged: bool,
    /// Stands in for `common` if there is one.
    pub(crate) template: Option<Spanned<String>>,
    pub(crate) template_settings: Option<Vec<Setting>>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) volumes: Vec<VolumeNode>,
    pub(crate) hosts: Vec<HostNode>,
    pub(crate) connections: Vec<ConnectionNode>,
    pub(crate) meshes: Vec<MeshNode>,
}

#[derive(Clone, Debug)]
pub(crate) struct VolumeNode {
    pub(crate) number: Spanned<u16>,
    /// Made of `device`, `disk` and `meta-disk` that stand outside of a volume section.
    pub(crate) is_implicit: bool,
    pub(crate) device: Option<Spanned<Device>>,
    pub(crate) disk: Option<Spanned<BackingDisk>>,
    pub(crate) meta_disk: Option<Spanned<MetaDisk>>,
    pub(crate) is_tiebreaker: Option<Spanned<bool>>,
    pub(crate) settings: Vec<Setting>,
}

impl VolumeNode {
    pub(crate) fn new(number: Spanned<u16>) -> Self {
        Self {
            number,
            is_implicit: false,
            device: None,
            disk: None,
            meta_disk: None,
            is_tiebreaker: None,
            settings: Vec::new(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct HostNode {
    /// The names of an `on` section; of a `floating` one, its address.
    pub(crate) names: Vec<Spanned<String>>,
    pub(crate) is_floating: bool,
    pub(crate) node_id: Option<Spanned<u8>>,
    pub(crate) address: Option<Spanned<SocketAddr>>,
    pub(crate) volumes: Vec<VolumeNode>,
    pub(crate) settings: Vec<Setting>,
}

/// One end of a path: `host NAME [address ..] [port ..];`
#[derive(Debug)]
pub(crate) struct EndNode {
    pub(crate) host: Spanned<String>,
    pub(crate) address: Option<Spanned<SocketAddr>>,
    pub(crate) port: Option<u16>,
}

#[derive(Debug)]
pub(crate) struct PathNode {
    pub(crate) ends: Vec<EndNode>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct ConnectionNode {
    pub(crate) paths: Vec<PathNode>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) volumes: Vec<VolumeNode>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct MeshNode {
    pub(crate) hosts: Vec<Spanned<String>>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) span: Span,
}
