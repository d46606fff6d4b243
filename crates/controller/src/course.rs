//! Courses of a pretended cluster: machines, agents and users that do what they like, seed by seed,
//! around the planner. After every step the wishes must be sound, and no agent may have been told
//! to take the last whole copy of a volume away; in the end, when all is well, nothing is left
//! under way.
//!
//! `BASALT_COURSES=N` runs N courses, `BASALT_COURSE=SEED` one and prints its steps.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use api::agent::{Observed, ObservedPool, ObservedState, ObservedVolume, Want, WantedVolume};
use api::cluster::{NewReplica, NewVolume, OperationState, PoolKind};
use stdx::random::Random;
use uuid::Uuid;

use crate::changes;
use crate::core::{Changed, State};
use crate::documents::document;
use crate::life;
use crate::model::{Change, Node, Object, Phase, Placement, Pool, Stage, Volume};
use crate::refusal::Refusal;
use crate::seen::{PRIMARY, UP_TO_DATE};
use crate::settle::{OPERATION_MAX_MS, settle};

const MIB: u64 = 1 << 20;
const POOL_BYTES: u64 = 64 * MIB;
const STEPS: u64 = 400;
const COURSES: u64 = 60;

/// A machine: the agent calls while it is on, and its disks stay while it is off.
#[derive(Debug, Default)]
struct Machine {
    is_on: bool,
    /// Its agent does not run, and its daemon does.
    is_silent: bool,
    parts: BTreeMap<String, Part>,
}

/// A machine's part of a volume, as its daemon has it.
#[derive(Clone, Debug, Default)]
struct Part {
    name: String,
    /// Absent of a part without data.
    disk: Option<Disk>,
    is_up: bool,
    is_primary: bool,
    is_open: bool,
    /// Names in the configuration that the daemon has, its own among them.
    hosts: BTreeSet<String>,
    size_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Disk {
    /// It has all that clients were told to be written.
    is_whole: bool,
}

struct Course {
    random: Random,
    state: State,
    now_ms: u64,
    machines: BTreeMap<Uuid, Machine>,
    /// Volumes that were born, by their ids: each must keep a whole copy until a user deletes it.
    born: BTreeSet<Uuid>,
    nodes_ever: u8,
    volumes_ever: u32,
    log: Vec<String>,
}

impl Course {
    fn new(seed: u64) -> Self {
        let mut course = Self {
            random: Random::new(seed),
            state: State::default(),
            now_ms: 1_000_000,
            machines: BTreeMap::new(),
            born: BTreeSet::new(),
            nodes_ever: 0,
            volumes_ever: 0,
            log: Vec::new(),
        };
        for _ in 0..2 + course.random.below(4) {
            course.join();
        }
        course
    }

    fn apply(&mut self, mut changes: Vec<Change>) {
        self.state.desired.stamp(&mut changes, self.state.desired.revision + 1);
        for change in changes {
            self.state.desired.apply(change);
        }
        self.state.desired.revision += 1;
    }

    /// A wish of a user; refused or taken.
    fn ask<T>(&mut self, told: &str, change: impl FnOnce(&State, u64) -> Changed<T>) {
        let answer = change(&self.state, self.now_ms);
        match answer {
            Ok((changes, _)) => {
                self.log.push(format!("{} {told}: taken", self.now_ms));
                self.apply(changes);
            }
            Err(refusal) => {
                if let Refusal::NoPlace { candidates, .. } = &refusal {
                    for node in self.state.desired.nodes.values() {
                        let is_told = candidates.iter().any(|it| it.node == node.name);
                        assert!(is_told, "no rule for {}: {refusal}", node.name);
                    }
                    assert!(candidates.iter().all(|it| !it.rule.is_empty()));
                }
                self.log.push(format!("{told}: {refusal}"));
            }
        }
    }

    fn join(&mut self) {
        let index = self.nodes_ever;
        self.nodes_ever += 1;
        let (id, pool) = (Uuid::from_u128(index.into()), Uuid::from_u128(1000 + u128::from(index)));
        let name = format!("n{index}");
        self.log.push(format!("{name} joins"));
        let node = Node {
            id,
            name,
            address: Ipv4Addr::new(10, 0, 0, index).into(),
            data_port: 7789,
            nbd: String::new(),
            joined_ms: self.now_ms,
        };
        let (kind, location) = (PoolKind::FileThin, "/pool".to_owned());
        let pool = Pool { id: pool, node: id, name: "default".to_owned(), kind, location };
        self.apply(vec![Change::Put(Object::Node(node)), Change::Put(Object::Pool(pool))]);
        self.machines.insert(id, Machine { is_on: true, ..Machine::default() });
    }

    fn node(&mut self) -> (Uuid, String) {
        let nodes: Vec<_> =
            self.state.desired.nodes.values().map(|it| (it.id, it.name.clone())).collect();
        self.random.pick(&nodes).cloned().unwrap_or_else(|| (Uuid::nil(), "nobody".to_owned()))
    }

    fn volume(&mut self) -> String {
        let mut names: Vec<String> =
            self.state.desired.volumes.values().map(|it| it.name.clone()).collect();
        names.sort();
        self.random.pick(&names).cloned().unwrap_or_else(|| "nothing".to_owned())
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..50 => self.pass(),
            50..58 => self.now_ms += self.random.below(1_500),
            58..60 => self.now_ms += self.random.below(OPERATION_MAX_MS),
            60..67 => self.switch(),
            67 => {
                let (id, name) = self.node();
                if let Some(machine) = self.machines.get_mut(&id) {
                    machine.is_silent = !machine.is_silent;
                    self.log.push(format!("the agent of {name} ends, or begins"));
                }
            }
            68..74 => self.create(),
            74..77 => {
                let name = self.volume();
                self.ask(&format!("delete {name}"), |state, now| {
                    changes::delete_volume(state, &name, now)
                });
            }
            77..82 => {
                let (name, (_, node)) = (self.volume(), self.node());
                self.ask(&format!("attach {name} on {node}"), |state, now| {
                    changes::attach(state, &name, &node, now)
                });
            }
            82..85 => {
                let name = self.volume();
                let told = format!("detach {name}");
                self.ask(&told, |state, now| changes::detach(state, &name, now));
            }
            85..88 => {
                let (name, bytes) = (self.volume(), self.random.below(24) * MIB);
                self.ask(&format!("grow {name} to {bytes}"), |state, now| {
                    life::grow(state, &name, (0, bytes), now)
                });
            }
            88..92 => {
                let (name, (_, node)) = (self.volume(), self.node());
                let wish = NewReplica { node: Some(node.clone()), ..NewReplica::default() };
                self.ask(&format!("add {name} on {node}"), |state, now| {
                    life::add_replica(state, &name, &wish, now)
                });
            }
            92..96 => {
                let (name, (_, node)) = (self.volume(), self.node());
                self.ask(&format!("drop {name} on {node}"), |state, now| {
                    life::drop_replica(state, &name, &node, now)
                });
            }
            96 => {
                let (id, node) = self.node();
                let told = format!("{node} is lost");
                self.ask(&told, |state, now| life::lose_node(state, &node, now));
                if !self.state.desired.nodes.contains_key(&id) {
                    self.machines.remove(&id);
                }
            }
            97 if self.nodes_ever < 40 => self.join(),
            _ => self.open(),
        }
        self.settle();
        self.check();
    }

    /// The planner comes to an end: the same words of agents ask for no changes for ever.
    fn settle(&mut self) {
        for _ in 0..5 {
            let changes = settle(&self.state.desired, &self.state.seen, self.now_ms);
            if changes.is_empty() {
                return;
            }
            self.apply(changes);
        }
        panic!("the planner comes to no end");
    }

    /// A machine loses its power, or gets it back.
    fn switch(&mut self) {
        let (id, name) = self.node();
        // At most one is off, as in a cluster that is cared for.
        let is_any_off = self.machines.values().any(|it| !it.is_on);
        let Some(machine) = self.machines.get_mut(&id) else { return };
        if machine.is_on && is_any_off {
            return;
        }
        machine.is_on = !machine.is_on;
        self.log.push(format!("{name} is {}", if machine.is_on { "on" } else { "off" }));
        if machine.is_on {
            return;
        }
        for part in machine.parts.values_mut() {
            (part.is_up, part.is_primary, part.is_open) = (false, false, false);
        }
        // The machines that are up go on, and this one misses their writes.
        self.write();
    }

    /// Clients write where a volume is Primary: who is up has it, who is not is not whole.
    fn write(&mut self) {
        let is_written = |machines: &BTreeMap<Uuid, Machine>, id: &str| {
            machines.values().any(|it| it.parts.get(id).is_some_and(|part| part.is_primary))
        };
        let ids: BTreeSet<String> =
            self.machines.values().flat_map(|it| it.parts.keys().cloned()).collect();
        for id in &ids {
            let is_served = self.machines.values().any(|it| {
                let part = it.parts.get(id);
                part.is_some_and(|it| it.is_up && it.disk.is_some_and(|disk| disk.is_whole))
            });
            if !is_served || !is_written(&self.machines, id) {
                continue;
            }
            for part in self.machines.values_mut().filter_map(|it| it.parts.get_mut(id)) {
                if let Some(disk) = &mut part.disk
                    && !part.is_up
                {
                    disk.is_whole = false;
                }
            }
        }
    }

    fn create(&mut self) {
        self.volumes_ever += 1;
        let replicas = u8::try_from(1 + self.random.below(3)).unwrap();
        let attach = self.random.chance(1, 3).then(|| self.node().1);
        let wish = NewVolume {
            name: format!("v{}", self.volumes_ever),
            size_bytes: (1 + self.random.below(12)) * MIB,
            replicas,
            pool: None,
            nodes: Vec::new(),
            attach,
            dry_run: self.random.chance(1, 10),
        };
        self.ask(&format!("create {} x{replicas}", wish.name), |state, now| {
            changes::new_volume(state, &wish, now)
        });
    }

    fn open(&mut self) {
        let (id, _) = self.node();
        let Some(machine) = self.machines.get_mut(&id) else { return };
        for part in machine.parts.values_mut().filter(|it| it.is_primary) {
            part.is_open = !part.is_open;
        }
        self.write();
    }

    /// An agent fetches its document, takes a step for each volume, and tells what there is. Now
    /// and then it dies before it tells.
    fn pass(&mut self) {
        let (id, name) = self.node();
        if !self.machines.get(&id).is_some_and(|it| it.is_on && !it.is_silent) {
            return;
        }
        let document = document(&self.state.desired, id);
        for wanted in &document.volumes {
            self.take_step(id, &name, wanted);
        }
        if self.random.chance(1, 10) {
            return;
        }
        let machine = &self.machines[&id];
        let pools = document.pools.iter().map(|pool| ObservedPool {
            id: pool.id.clone(),
            total_bytes: POOL_BYTES,
            free_bytes: POOL_BYTES,
            problem: None,
        });
        let observed = Observed {
            revision: document.revision,
            problem: None,
            pools: pools.collect(),
            volumes: document.volumes.iter().map(|it| self.observed(machine, &name, it)).collect(),
        };
        self.state.seen.hear(id, observed, self.now_ms);
    }

    #[expect(clippy::too_many_lines, reason = "an agent's steps, one after the other")]
    fn take_step(&mut self, id: Uuid, name: &str, wanted: &WantedVolume) {
        let volume: Uuid = wanted.id.parse().unwrap();
        let is_source = |machine: &Machine| {
            let part = machine.parts.get(&wanted.id);
            part.is_some_and(|it| it.is_up && it.disk.is_some_and(|disk| disk.is_whole))
        };
        let has_source = self.machines.values().any(is_source);
        let has_other =
            self.machines.iter().any(|(other, machine)| *other != id && is_source(machine));
        let is_up = |it: &Placement| {
            let part = self.machines.get(&it.node).and_then(|it| it.parts.get(&wanted.id));
            part.is_some_and(|it| it.is_up)
        };
        let known = self.state.desired.volumes.get(&volume);
        let are_all_up = known.is_some_and(|it| it.placements.iter().all(is_up));
        let is_open_anywhere = self
            .machines
            .values()
            .any(|it| it.parts.get(&wanted.id).is_some_and(|part| part.is_open));
        let is_primary_elsewhere = self.machines.iter().any(|(other, it)| {
            *other != id && it.parts.get(&wanted.id).is_some_and(|it| it.is_up && it.is_primary)
        });
        let is_deleted = known.is_none_or(|it| it.phase == Phase::Leaving);
        let here = self.state.desired.volumes.get(&volume).and_then(|it| it.placement(id));
        let is_closing = known.is_some_and(|it| matches!(it.phase, Phase::Closing { .. }));
        let is_leaving = here.is_some_and(|it| !it.stays()) || is_closing;
        let is_synced = self.random.chance(1, 2);
        let Some(machine) = self.machines.get_mut(&id) else { return };
        if wanted.want == Want::Gone {
            // The daemon refuses to take down what somebody has open.
            if machine.parts.get(&wanted.id).is_some_and(|it| !it.is_open) {
                assert!(!is_deleted || !is_open_anywhere, "{} is deleted, and open", wanted.name);
                machine.parts.remove(&wanted.id);
                self.log.push(format!("{name} takes {} away", wanted.name));
            }
            return;
        }
        if wanted.want == Want::Leave {
            if let Some(part) = machine.parts.get_mut(&wanted.id).filter(|it| !it.is_open) {
                // The others go on without it, if one of them has all; else it is as one that died.
                if let (Some(disk), true, true) = (&mut part.disk, part.is_up, has_other) {
                    disk.is_whole = false;
                }
                (part.is_up, part.is_primary) = (false, false);
                self.log.push(format!("{name} takes {} down", wanted.name));
            }
            self.write();
            return;
        }
        let is_there = machine.parts.contains_key(&wanted.id);
        if !is_there && wanted.disks.first().is_some_and(|disk| !disk.new) {
            // It was given up before it was made.
            assert!(is_leaving, "{name} lost its disk of {}", wanted.name);
            return;
        }
        let part = machine.parts.entry(wanted.id.clone()).or_default();
        part.name.clone_from(&wanted.name);
        if !wanted.disks.is_empty() && part.disk.is_none() {
            part.disk = Some(Disk { is_whole: false });
            part.size_bytes = wanted.disks.first().map_or(0, |disk| disk.size_bytes);
            return;
        }
        let hosts = hosts_of(&wanted.config_text);
        if !part.is_up || part.hosts != hosts {
            (part.is_up, part.hosts) = (true, hosts);
            return;
        }
        if let Some(disk) = &mut part.disk
            && !disk.is_whole
            && has_source
            && is_synced
        {
            disk.is_whole = true;
        }
        if let Some(bytes) = wanted.grow_to {
            part.size_bytes = bytes.size_bytes;
        }
        match wanted.want {
            Want::Birth if are_all_up && !has_source => {
                let parts =
                    self.machines.values_mut().filter_map(|it| it.parts.get_mut(&wanted.id));
                parts.filter_map(|it| it.disk.as_mut()).for_each(|it| it.is_whole = true);
            }
            Want::Attached if has_source && !is_primary_elsewhere => part.is_primary = true,
            Want::Up if !part.is_open => part.is_primary = false,
            Want::Up | Want::Birth | Want::Attached | Want::Leave | Want::Gone => {}
        }
        self.write();
    }

    fn observed(&self, machine: &Machine, own: &str, wanted: &WantedVolume) -> ObservedVolume {
        let part = machine.parts.get(&wanted.id);
        let state = match part {
            None if wanted.want == Want::Gone => ObservedState::Gone,
            Some(part) if part.is_up => ObservedState::Up,
            None | Some(_) => ObservedState::Making,
        };
        let up = part.filter(|it| it.is_up);
        let disk = up.map_or("", |part| match part.disk {
            Some(disk) if disk.is_whole => UP_TO_DATE,
            Some(_) => "Inconsistent",
            None => "Diskless",
        });
        let names = self.machines.iter().filter(|(_, it)| {
            it.parts.get(&wanted.id).and_then(|it| it.disk).is_some_and(|disk| disk.is_whole)
        });
        let name_of = |id: &Uuid| self.state.desired.nodes.get(id).map(|it| it.name.clone());
        let insync = names.filter_map(|(id, _)| name_of(id)).collect();
        let mut primaries = self.machines.iter().filter(|(_, it)| {
            let part = it.parts.get(&wanted.id);
            up.is_some() && part.is_some_and(|part| part.is_up && part.is_primary)
        });
        let mut primaries =
            primaries.by_ref().filter_map(|(id, _)| name_of(id)).filter(|it| it != own);
        let is_primary = up.is_some_and(|it| it.is_primary);
        let hosts = up.map(|it| it.hosts.clone()).unwrap_or_default();
        ObservedVolume {
            id: wanted.id.clone(),
            state,
            disk: disk.to_owned(),
            role: if is_primary { PRIMARY } else { "Secondary" }.to_owned(),
            in_use: up.is_some_and(|it| it.is_open),
            connected: true,
            primary_peer: primaries.next(),
            peers: hosts.into_iter().filter(|it| it != own).collect(),
            insync: if up.is_some() { insync } else { Vec::new() },
            size_bytes: up.map(|it| it.size_bytes),
            synced: (disk == "Inconsistent").then_some(500),
            problem: None,
        }
    }

    fn check(&mut self) {
        let desired = &self.state.desired;
        for volume in desired.volumes.values() {
            self.check_volume(volume);
        }
        let mut minors: Vec<u32> = desired.volumes.values().map(|it| it.parts[0].minor).collect();
        minors.sort_unstable();
        minors.dedup();
        assert_eq!(minors.len(), desired.volumes.len(), "a minor of two volumes");
        for pool in desired.pools.values() {
            assert!(desired.promised_bytes(pool.id) <= POOL_BYTES, "more than the pool has");
        }
        for operation in desired.operations.values() {
            let of = desired.volumes.values().filter(|it| it.operation == Some(operation.id));
            let is_running = operation.state == OperationState::Running;
            assert_eq!(of.count(), usize::from(is_running), "operation {operation:?}");
            let age = self.now_ms - operation.began_ms;
            assert!(!is_running || age <= OPERATION_MAX_MS, "{operation:?} has no end");
        }
        let live = desired.volumes.values().filter(|it| it.phase == Phase::Live);
        self.born.extend(live.map(|it| it.id));
    }

    fn check_volume(&self, volume: &Volume) {
        let nodes: BTreeSet<_> = volume.placements.iter().map(|it| it.node).collect();
        assert_eq!(nodes.len(), volume.placements.len(), "two parts on one node: {volume:?}");
        let ids: BTreeSet<_> = volume.placements.iter().map(|it| it.node_id).collect();
        assert_eq!(ids.len(), volume.placements.len(), "two parts with one number: {volume:?}");
        if !matches!(volume.phase, Phase::Live) || !self.born.contains(&volume.id) {
            return;
        }
        let id = volume.id.to_string();
        let is_whole = |node: Uuid| {
            let part = self.machines.get(&node).and_then(|it| it.parts.get(&id));
            part.and_then(|it| it.disk).is_some_and(|disk| disk.is_whole)
        };
        let has_whole = volume.placements.iter().any(|it| is_whole(it.node));
        assert!(has_whole, "no whole copy is left of {volume:?}: {:#?}", self.machines);
        if let Some(node) = volume.attached {
            let part = volume.placement(node);
            assert!(part.is_some_and(Placement::stays), "attached to nothing");
        }
    }

    /// All machines that are not lost are on, nobody has anything open, and time goes by.
    fn end(&mut self) {
        for machine in self.machines.values_mut() {
            (machine.is_on, machine.is_silent) = (true, false);
            machine.parts.values_mut().for_each(|it| it.is_open = false);
        }
        for _ in 0..300 {
            let nodes: Vec<_> = self.state.desired.nodes.keys().copied().collect();
            for id in nodes {
                let name = self.state.desired.nodes[&id].name.clone();
                let document = document(&self.state.desired, id);
                document.volumes.iter().for_each(|it| self.take_step(id, &name, it));
                let machine = &self.machines[&id];
                let volumes = document.volumes.iter().map(|it| self.observed(machine, &name, it));
                let (revision, volumes) = (document.revision, volumes.collect());
                let observed = Observed { revision, volumes, ..Observed::default() };
                self.state.seen.hear(id, observed, self.now_ms);
            }
            self.now_ms += 500;
            self.settle();
            self.check();
        }
        let desired = &self.state.desired;
        assert!(desired.tombstones.is_empty(), "{:?}", desired.tombstones);
        let running = desired.operations.values().filter(|it| it.ended_ms.is_none());
        assert_eq!(running.count(), 0);
        for volume in desired.volumes.values() {
            assert_eq!(volume.phase, Phase::Live, "{volume:?}");
            assert!(volume.placements.iter().all(|it| it.stage == Stage::In), "{volume:?}");
            let replicas = volume.replicas().count();
            let parts = volume.placements.len() - replicas;
            let of_device = volume.attached.is_some();
            match replicas % 2 {
                1 => assert!(parts <= usize::from(of_device), "a witness too many: {volume:?}"),
                _ if desired.nodes.len() > replicas => assert!(parts > 0, "no witness: {volume:?}"),
                _ => {}
            }
        }
        // Nothing of what was deleted is left on any machine that is in the cluster.
        for (id, machine) in &self.machines {
            for (volume, part) in &machine.parts {
                let volume = desired.volumes.get(&volume.parse().unwrap());
                let is_wanted = volume.is_some_and(|it| it.placement(*id).is_some());
                assert!(is_wanted, "left on {id}: {part:?} of {volume:?}");
            }
        }
    }
}

fn hosts_of(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("on \""));
    names.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

#[test]
fn no_course_of_users_machines_and_agents_loses_a_copy_or_leaves_anything_behind() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let seeds = match number("BASALT_COURSE") {
        Some(seed) => seed..seed + 1,
        None => 1..1 + number("BASALT_COURSES").unwrap_or(COURSES),
    };
    let is_told = number("BASALT_COURSE").is_some();
    for seed in seeds {
        let mut course = Course::new(seed);
        let run = std::panic::AssertUnwindSafe(|| {
            for _ in 0..STEPS {
                course.step();
            }
            course.end();
        });
        let ended = std::panic::catch_unwind(run);
        if is_told || ended.is_err() {
            let shown = if is_told { usize::MAX } else { 30 };
            let skipped = course.log.len().saturating_sub(shown);
            println!("{}", course.log[skipped..].join("\n"));
        }
        assert!(ended.is_ok(), "again: BASALT_COURSE={seed} cargo test -p controller course");
    }
}
