//! The systems that run at the moment: those of a row, started and filled, and kept for the next
//! one where it has them too.

use std::path::Path;

use anyhow::{Context, Result};

use super::Options;
use super::goals::{Contender, Place, Row};
use crate::cluster::directory::Directory;
use crate::cluster::{Plan, Shape};
use crate::course::Course;
use crate::fio;
use crate::placement::Cpus;
use crate::progress::Progress;
use crate::systems::{self, System};

#[derive(Debug)]
pub(super) struct Stage<'a> {
    options: &'a Options,
    cpus: Cpus,
    actors: Vec<(Contender, Place, System)>,
    /// For sockets, files of the peers and what fio writes; dropped after the actors.
    memory: Directory,
    disk: Directory,
}

impl<'a> Stage<'a> {
    pub(super) fn new(options: &'a Options, cpus: Cpus) -> Result<Self> {
        let memory = Directory::for_bench(&options.place)?;
        let disk = Directory::for_bench(&options.disk)?;
        Ok(Self { options, cpus, actors: Vec::new(), memory, disk })
    }

    /// Ends what the row does not need, and starts and fills what it lacks.
    pub(super) fn set(
        &mut self,
        row: &Row,
        progress: &mut Progress,
        course: &Course,
    ) -> Result<()> {
        self.actors.retain(|(who, place, _)| *place == row.place && row.systems.contains(who));
        for who in row.systems {
            if self.find(row, *who).is_some() {
                continue;
            }
            let system = self.start(row.place, *who, progress)?;
            let what = format!("filling {}", system.name);
            progress.say(&what);
            let target = std::slice::from_ref(&system.uri);
            let size_bytes = self.options.size_mib << 20;
            fio::fill(target, size_bytes, self.directory(row), |elapsed| {
                course.prepare(progress, elapsed, &what);
            })
            .context(system.name)?;
            self.actors.push((*who, row.place, system));
        }
        Ok(())
    }

    /// Ends everything.
    pub(super) fn clear(&mut self) {
        self.actors.clear();
    }

    pub(super) fn system(&self, row: &Row, who: Contender) -> &System {
        self.find(row, who).expect("the stage was set for this row")
    }

    pub(super) fn cpu_of_fio(&self) -> Option<usize> {
        self.cpus.front
    }

    pub(super) fn directory(&self, row: &Row) -> &Path {
        match row.place {
            Place::Memory => self.memory.path(),
            Place::Disk => self.disk.path(),
        }
    }

    fn find(&self, row: &Row, wanted: Contender) -> Option<&System> {
        let mut actors = self.actors.iter();
        let found = actors.find(|(who, place, _)| *who == wanted && *place == row.place);
        found.map(|(_, _, system)| system)
    }

    fn start(&self, place: Place, who: Contender, progress: &mut Progress) -> Result<System> {
        let options = self.options;
        let size_bytes = options.size_mib << 20;
        let (place, directory) = match place {
            Place::Memory => (&options.place, self.memory.path()),
            Place::Disk => (&options.disk, self.disk.path()),
        };
        let cpus = self.cpus;
        // Who serves without a replica is the last one.
        let plan = |shape: Shape| Plan {
            shape,
            shards: vec![options.shards],
            cpus: [vec![cpus.others; shape.replicas], vec![cpus.front]].concat(),
            ..Plan::small(place, size_bytes)
        };
        match who {
            Contender::Basalt => systems::basalt(place, size_bytes, options.shards, cpus, progress),
            Contender::BasaltClient => {
                let what = "three daemons with a replica over loopback TCP, and one without that \
                            serves";
                let shape = Shape { clients: 1, ..Shape::SMALL };
                systems::of_cluster("basalt-client", what, &plan(shape), progress)
            }
            Contender::Quorum => systems::quorum(directory, size_bytes, cpus),
            Contender::Nbdkit => systems::nbdkit(directory, size_bytes, cpus),
            Contender::BehindLinks { replicas } => {
                let name = if replicas == 1 { "basalt-1-replica" } else { "basalt-3-replicas" };
                let shape = Shape { replicas, clients: 1, has_network: true };
                systems::behind_links(name, &plan(shape), options.link_mbit, progress)
            }
        }
    }
}
