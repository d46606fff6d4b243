//! `status`: what the shards say of their resources, and what only this side knows of them: why one
//! stays down, or is without its disk, and which process holds a device open.

use api::response::{Failure, Reply};
use api::status::{Holder, NodeStatus, ResourceStatus, StatusReply};
use stdx::mutex::lock;

use crate::control::Control;
use crate::control::asking::{About, ask_status};

impl Control {
    /// The status of the named resources, or of all; of one that is held down, why it is.
    #[expect(clippy::fn_params_excessive_bools, reason = "as the request has it")]
    pub(super) fn status(&self, names: &[String], statistics: bool) -> Result<Reply, Failure> {
        self.status_of(About::asked(names), statistics).map(Reply::Status)
    }

    #[expect(clippy::fn_params_excessive_bools, reason = "as the request has it")]
    pub(super) fn status_of(
        &self,
        about: About<'_>,
        statistics: bool,
    ) -> Result<StatusReply, Failure> {
        let is_asked = |name: &String| match about {
            About::All => true,
            About::Each(names) | About::Known(names) => names.contains(name),
        };
        let mut held_down = self.held_down().clone();
        held_down.retain(|name, _| is_asked(name));
        let is_up = |name: &&String| !held_down.contains_key(*name);
        let up: Vec<String> = about.names().iter().filter(is_up).cloned().collect();
        let resources = ask_status(&self.desk, about.of(&up), statistics)?;
        let mut status = StatusReply { node: NodeStatus::default(), resources };
        status.resources.extend(held_down.into_iter().map(|(name, failure)| ResourceStatus {
            name,
            reasons: vec![format!("it stays down: {failure}")],
            ..ResourceStatus::default()
        }));
        status.resources.sort_by(|a, b| a.name.cmp(&b.name));
        self.tell_of_missing_disks(&mut status);
        self.tell_of_handlers(&mut status);
        let devices = status.resources.iter_mut().flat_map(|resource| &mut resource.devices);
        devices.flat_map(|device| &mut device.holders).for_each(name_process);
        self.describe_node(&mut status);
        Ok(status)
    }

    fn tell_of_missing_disks(&self, status: &mut StatusReply) {
        let without_disk = lock(&self.without_disk);
        for resource in &mut status.resources {
            if let Some(failure) = without_disk.get(&resource.name) {
                let text = format!("its disk is not attached: {failure}; then `attach` it");
                resource.reasons.push(text);
            }
        }
    }

    fn describe_node(&self, status: &mut StatusReply) {
        status.node.name.clone_from(&self.name);
        env!("CARGO_PKG_VERSION").clone_into(&mut status.node.version);
        self.backend.as_str().clone_into(&mut status.node.io_backend);
        for resource in &mut status.resources {
            self.backend.as_str().clone_into(&mut resource.io_backend);
        }
        let uptime = io::now().since(self.started_at);
        status.node.uptime_ms = u64::try_from(uptime.as_millis()).unwrap_or(u64::MAX);
        status.node.certificate_end = self.credentials.ends_at();
    }
}

/// What the kernel calls the process of a client; one that ended meanwhile has no name.
fn name_process(holder: &mut Holder) {
    let comm = holder.pid.and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok());
    holder.command = comm.map(|comm| comm.trim().to_owned());
}
