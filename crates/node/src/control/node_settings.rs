//! What the text of a resource asks of its node beside the volumes: scripts of handlers, and the
//! order of resyncs. It is in force from just before the resource comes up until it is down.

use engine::definition::Definition;

use crate::control::Control;
use crate::control::handlers::Scripts;
use crate::control::resync_order::Before;

/// What a resource asks of its node beside the volumes.
#[derive(Debug, Default)]
pub(super) struct NodeSettings {
    pub(super) scripts: Scripts,
    pub(super) comes_after: Vec<Before>,
}

impl Control {
    /// What its configuration asks of this node beside the volumes, from now on. Returns what it
    /// asked before.
    pub(super) fn apply_settings(&self, definition: &Definition) -> NodeSettings {
        let scripts = self.handlers.define(definition);
        NodeSettings { scripts, comes_after: self.resync_order.define(definition) }
    }

    /// The resource did not become what it was to be.
    pub(super) fn restore_settings(&self, resource: &str, before: NodeSettings) {
        self.handlers.restore(resource, before.scripts);
        self.resync_order.restore(resource, before.comes_after);
    }

    pub(super) fn forget_settings(&self, resource: &str) {
        self.handlers.forget(resource);
        self.resync_order.forget(resource);
    }
}
