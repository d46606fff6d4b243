//! Commands that make and remove block devices on their way.

use std::sync::Arc;
use std::time::Duration;

use api::response::{Failure, Reply};
use engine::contract::{Force, ToShard};
use engine::definition::Definition;
use engine::log::{Scope, log};
use replication::contract::PromoteMode;

use crate::control::{Control, spawn};

impl Control {
    /// Makes this node Primary, and the volume's block device with it: where that takes no longer
    /// than `within`, for a promotion that nobody waits for goes on.
    pub(super) fn primary(
        &self,
        resource: &str,
        mode: PromoteMode,
        within: Duration,
    ) -> Result<Reply, Failure> {
        let name = resource.to_owned();
        let question = |ticket| ToShard::Promote { ticket, resource: name, mode };
        let reply = self.desk.ask(self.desk.home_of(resource), question, within)?;
        let Reply::Done { mut warnings } = reply else { return Ok(reply) };
        warnings.extend(self.start_device(resource).err());
        Ok(Reply::Done { warnings })
    }

    /// A volume came into use beside others: it gets a block device where they have theirs.
    pub(super) fn add_devices(self: &Arc<Self>, resource: String) {
        if !self.devices.has_any(&resource) {
            return;
        }
        let control = Arc::clone(self);
        let work = move || {
            if let Err(reason) = control.start_device(&resource) {
                let scope = Scope::resource(&resource);
                log!(Warning, scope, "a new volume has no block device: {reason}");
            }
        };
        if let Err(error) = spawn("new-device", work) {
            log!(Warning, Scope::NODE, "a new volume has no block device: {error}");
        }
    }

    fn start_device(&self, resource: &str) -> Result<(), String> {
        let failed = |failure: Failure| failure.to_string();
        let Some(text) = self.stored_text(resource).map_err(failed)? else { return Ok(()) };
        let definition = Definition::from_text(&self.name, resource, &text).map_err(failed)?;
        self.devices.start(&definition)
    }

    /// Carries out a command that a resource with a block device cannot follow.
    pub(super) fn without_device(
        &self,
        resource: &str,
        force: Force,
        command: impl FnOnce(&str) -> Result<Reply, Failure>,
    ) -> Result<Reply, Failure> {
        let definition = self.stored_definition(resource);
        let had_device = self.devices.remove(resource, definition.as_ref(), force)?;
        let result = command(resource);
        if result.is_err()
            && had_device
            && let Err(reason) = self.start_device(resource)
        {
            log!(Warning, Scope::resource(resource), "{reason}");
        }
        result
    }

    /// They have DRBD's names from `up` to `down`, if somebody wants that.
    pub(super) fn name_devices(&self, resource: &str) {
        if let Some(definition) = self.stored_definition(resource) {
            self.devices.name(&definition);
        }
    }

    pub(super) fn unname_devices(&self, resource: &str) {
        if let Some(definition) = self.stored_definition(resource) {
            self.devices.unname(&definition);
        }
    }

    /// Takes over the block devices that the last daemon left.
    pub(super) fn recover_devices(&self) {
        let definitions = self.stored_definitions();
        self.devices.recover(&definitions);
        definitions.iter().for_each(|definition| self.devices.name(definition));
    }
}
