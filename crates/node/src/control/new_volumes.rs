//! Disks of volumes that `adjust` adds to a replica which is in use, and the refusal to take some
//! away.

use std::sync::Arc;

use api::response::{Failure, FailureCode};
use engine::contract::ToShard;
use engine::definition::Definition;
use engine::handover::NewVolume;
use engine::limits::DISK_STALL_MAX;
use format::space::Place;

use crate::attach::end_of;
use crate::attach::volumes::read_new_volume;
use crate::control::Control;
use crate::control::texts::state_failure;
use crate::limits::COMMAND_PATIENCE;
use crate::patience::Patience;
use crate::refusal::Refusal;

impl Control {
    /// The disks of volumes that come to a replica which keeps its first one; with another one
    /// those are found that belong to it.
    pub(super) fn added_disks(
        &self,
        resource: &str,
        running: &str,
        wanted: &Definition,
    ) -> Result<Vec<NewVolume>, Failure> {
        let before = Definition::from_text(&self.name, resource, running)?;
        if before.disk == wanted.disk { self.new_volumes(wanted) } else { Ok(Vec::new()) }
    }

    /// The disks of volumes that a replica in use is to have beside those that it has.
    fn new_volumes(&self, definition: &Definition) -> Result<Vec<NewVolume>, Failure> {
        let Some(first) = &definition.disk else { return Ok(Vec::new()) };
        let resource = &definition.name;
        let mut found = Vec::new();
        for volume in &definition.further {
            if !self.takes_disk(resource, volume.place)? {
                continue;
            }
            let (state, wanted) = (Arc::clone(&self.state), definition.clone());
            let (first, volume) = (first.clone(), volume.clone());
            let claim = self.disks_of(&definition.name)?;
            let patience = Patience::new(COMMAND_PATIENCE);
            let (_claim, new) = claim.done_in_time(&patience, DISK_STALL_MAX, move |patience| {
                read_new_volume(&wanted, (&first, &volume), &state, patience)
            })?;
            found.extend(new);
        }
        Ok(found)
    }

    /// Takes them into use; the text names them already, so a start in between finds them, too.
    pub(super) fn add_volumes(
        &self,
        definition: &Definition,
        volumes: Vec<NewVolume>,
    ) -> Result<(), Failure> {
        let name = &definition.name;
        let _claim = self.disks_of(name)?;
        for volume in volumes {
            let key = (name.as_str(), volume.disk.place);
            self.state
                .store_disk_size(key, end_of(&volume.opened.layout))
                .map_err(state_failure)?;
            let (resource, volume) = (name.clone(), Box::new(volume));
            self.ask(name, |ticket| ToShard::AddVolume { ticket, resource, volume })?;
        }
        self.guests.open(definition);
        Ok(())
    }

    /// A replica keeps the volumes that it has: refused before anything ends for it.
    pub(super) fn check_volumes_stay(
        &self,
        resource: &str,
        running: &str,
        wanted: &Definition,
    ) -> Result<(), Failure> {
        let before = Definition::from_text(&self.name, resource, running)?;
        for volume in before.further.iter().filter(|volume| volume.disk.is_some()) {
            let is_kept = wanted.further.iter().any(|kept| kept.place == volume.place);
            if !is_kept && !self.takes_disk(resource, volume.place)? {
                let (volume, resource) = (volume.number(), resource.to_owned());
                return Err(Refusal::VolumeStays { volume, resource }.into());
            }
        }
        Ok(())
    }

    /// Whether a replica could take a disk for this volume: not if it has it, or has no disk at all
    /// now, for then it takes all of them at once later.
    fn takes_disk(&self, resource: &str, place: Place) -> Result<bool, Failure> {
        let name = resource.to_owned();
        match self.ask(resource, |ticket| ToShard::CheckVolume { ticket, resource: name, place }) {
            Ok(_) => Ok(true),
            Err(failure) if failure.code == FailureCode::NoLocalDisk => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}
