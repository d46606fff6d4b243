//! The configuration texts of resources: the stored ones, with which resources come up when the
//! daemon starts, and those that run.

use api::response::{Failure, Reply, Running, RunningReply};
use engine::definition::Definition;
use engine::shard::refusals::unknown_resource;

use crate::control::Control;
use crate::control::up_lock::UpPermit;
use crate::refusal::Refusal;
use crate::state_dir::Unfinished;

/// A text that a resource is to run with, by the permit of the command that gave it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewText<'a> {
    pub(super) resource: &'a str,
    pub(super) text: &'a str,
    pub(super) permit: &'a UpPermit,
}

impl Control {
    pub(crate) fn stored_text(&self, resource: &str) -> Result<Option<String>, Failure> {
        self.state.stored_text(resource).map_err(state_failure)
    }

    pub(super) fn stored_definition(&self, resource: &str) -> Option<Definition> {
        let text = self.stored_text(resource).ok()??;
        Definition::from_text(&self.name, resource, &text).ok()
    }

    /// What is to be up here.
    pub(super) fn stored_definitions(&self) -> Vec<Definition> {
        let texts = self.state.stored_texts().unwrap_or_default();
        let definition =
            |(name, text): &(String, String)| Definition::from_text(&self.name, name, text).ok();
        texts.iter().filter_map(definition).collect()
    }

    /// From here on it comes up with the daemon, with this text.
    pub(super) fn store_text(&self, new: NewText<'_>) -> Result<(), Failure> {
        let NewText { resource, text, permit } = new;
        let store = || match self.stored_text(resource)?.as_deref() == Some(text) {
            true => Ok(()),
            false => self.state.store_text(resource, text).map_err(state_failure),
        };
        permit.note(|| self.unsettled.end_with(resource, store))
    }

    pub(super) fn keep_text(
        &self,
        resource: &str,
        text: Unfinished,
        permit: &UpPermit,
    ) -> Result<(), Failure> {
        let keep = || text.take_place().map_err(state_failure);
        permit.note(|| self.unsettled.end_with(resource, keep))
    }

    /// Devices and data threads follow what is stored.
    pub(super) fn follow_text(&self, resource: &str, permit: &UpPermit) {
        drop(permit.unless_over(|| self.name_devices(resource)));
        self.place_threads();
    }

    /// The texts that the named resources run with, or all.
    pub(super) fn show(&self, names: &[String]) -> Result<Reply, Failure> {
        let mut resources = Vec::new();
        for (resource, config_text) in self.state.stored_texts().map_err(state_failure)? {
            let is_asked = names.is_empty() || names.contains(&resource);
            if is_asked && self.is_up(&resource).is_some() {
                resources.push(Running { resource, config_text });
            }
        }
        let is_shown = |name: &&String| resources.iter().any(|running| running.resource == **name);
        match names.iter().find(|name| !is_shown(name)) {
            Some(unknown) => Err(unknown_resource(unknown)),
            None => Ok(Reply::Running(RunningReply { node: self.name.clone(), resources })),
        }
    }
}

/// The model of a stored or given text.
pub(super) fn read_text(resource: &str, text: &str) -> Result<config::model::Resource, Failure> {
    let read = config::parse_text(resource, text);
    let wrong = |reason| Refusal::WrongText { reason, resource: resource.to_owned() };
    let file = read.map_err(|errors| wrong(errors.to_string()))?;
    let found = file.resource(resource).cloned();
    Ok(found.ok_or_else(|| wrong("it says nothing of this resource".to_owned()))?)
}

pub(super) fn state_failure(error: std::io::Error) -> Failure {
    Refusal::StateDirectory { error }.into()
}
