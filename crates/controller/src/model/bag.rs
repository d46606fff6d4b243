//! Properties of what is no object of its own: the controller, a node, a pool, a part of a volume
//! on a node, a connection, and the key-value stores of tools.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::properties::Properties;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bag {
    pub(crate) owner: Owner,
    /// As it was written first; the owner has it in small letters.
    pub(crate) name: String,
    pub(crate) properties: Properties,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Owner {
    Controller,
    Node(Uuid),
    Pool(Uuid),
    /// A way to a node, beside the one that it joined with.
    Interface(Uuid, String),
    /// A volume on a node.
    Replica(Uuid, Uuid),
    /// A volume between two nodes, the lower id first.
    Connection(Uuid, Uuid, Uuid),
    NodeConnection(Uuid, Uuid),
    KeyValue(String),
}

impl Owner {
    pub(crate) fn connection(volume: Uuid, a: Uuid, b: Uuid) -> Self {
        Self::Connection(volume, a.min(b), a.max(b))
    }

    /// As a key of the store.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Controller => "controller".to_owned(),
            Self::Node(id) => format!("node/{id}"),
            Self::Pool(id) => format!("pool/{id}"),
            Self::Interface(node, name) => format!("interface/{node}/{name}"),
            Self::Replica(volume, node) => format!("replica/{volume}/{node}"),
            Self::Connection(volume, a, b) => format!("connection/{volume}/{a}/{b}"),
            Self::NodeConnection(a, b) => format!("node-connection/{a}/{b}"),
            Self::KeyValue(name) => format!("key-value/{name}"),
        }
    }
}
