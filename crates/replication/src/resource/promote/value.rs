//! The value that a promotion proposes: PROTOCOL.md 7.3.

use std::collections::BTreeMap;

use format::config::{
    Config, InSync, Primary, Purpose, Tenure, VolumeConfig, Voter as VoterConfig,
};
use format::ids::{Epoch, NodeId, Nonce, ValueId, VoteStoreId};
use format::message::Sealed;
use format::space::Place;

use super::Memory;
use crate::contract::PromoteMode;
use crate::limits;
use crate::lineage::relation::{Began, next_branch};
use crate::resource::Resource;
use crate::resource::propose::Attempt;
use crate::resource::volumes::names as names_volume;
use crate::resource::voters::has_renewed;

impl Resource {
    pub(super) fn promoted_config(
        &mut self,
        base: &Config,
        sealed: &BTreeMap<NodeId, Sealed>,
        mode: PromoteMode,
        memory: Memory,
    ) -> Config {
        let mut config = base.clone();
        let promotion = self.promotion.as_ref().expect("asked by a promotion");
        let (nonce, purpose) = (promotion.nonce, promotion.purpose);
        config.epoch = base.epoch.next();
        config.previous = base.value_id;
        config.value_id = ValueId(self.random.next_u64());
        config.primary = Some(Primary { node: self.me(), nonce, purpose });
        config.tenure = self.tenure_of(base, nonce, purpose);
        config.clean = false;
        config.by_receipt = self.by_receipt_of(purpose);
        config.followers = self.followers_of(purpose, sealed.keys().copied().collect());
        let is_forced = mode != PromoteMode::Normal;
        let gives_up = is_forced && base.epoch != Epoch(0);
        let loses = memory == Memory::MayBeLost || gives_up;
        config.losses += u32::from(loses);
        config.losses = self.next_losses(&config);
        config.awaits_reopen |= loses || self.is_untold();
        let is_alone = self.attempt.as_ref().is_some_and(Attempt::is_alone);
        if base.epoch == Epoch(0) {
            config.voters = self.voters_at_birth(&base.voters);
        }
        if is_forced || is_alone {
            // No two values share (branch, epoch): what is forced, or decided without a quorum,
            // begins another line (I19).
            let own = VoterConfig { node: self.me(), store: self.voter.register.store };
            let branch = self.new_branch(Began::Anew);
            let next = next_branch(base, branch, own);
            config.branch = next.branch;
            config.ancestors = next.ancestors;
            if is_alone {
                (config.voters, config.voters_old) = (next.voters, next.voters_old);
            }
        }
        let epoch = config.epoch;
        if config.space().is_empty() {
            config.volumes = self.volumes_at_birth(&config, sealed);
        } else if !is_forced && !is_alone {
            config.volumes.extend(self.added_volumes(base, sealed));
        }
        let first = config.volumes.first_mut().expect("a config has its volume");
        let old = std::mem::take(&mut first.insync);
        let in_sync: Vec<InSync> = sealed
            .iter()
            .map(|(&node, report)| {
                let incarnation = report.replica.incarnation;
                let kept = old.iter().find(|member| member.node == node).copied();
                let kept = kept.filter(|_| mode == PromoteMode::Normal);
                kept.unwrap_or(InSync { node, incarnation, joined: epoch })
            })
            .collect();
        // A replica is in sync as a whole.
        for volume in &mut config.volumes {
            volume.insync.clone_from(&in_sync);
        }
        config
    }

    /// A node that served clients last goes on with its tenure, if it is the voter that it was:
    /// what its clients wrote may have been given up with its vote (9.6).
    fn tenure_of(&self, base: &Config, nonce: Nonce, purpose: Purpose) -> Option<Tenure> {
        let me = self.me();
        let is_own = base.tenure.is_some_and(|tenure| tenure.node == me);
        let is_same = !has_renewed(base, me, self.voter.register.store);
        match purpose {
            Purpose::Clients if !is_own || !is_same => Some(Tenure { node: me, id: nonce }),
            Purpose::Clients | Purpose::Resync => base.tenure,
        }
    }

    /// Volumes that were added to the replicas while these were down. Each made its blocks zeroes,
    /// also one that is away now, and returns only with the volume: all are equal, but for what
    /// the slots mark from now on.
    fn added_volumes(&self, base: &Config, sealed: &BTreeMap<NodeId, Sealed>) -> Vec<VolumeConfig> {
        let known = base.space();
        let mut all = self.volumes_at_birth(base, sealed);
        all.retain(|volume| {
            let place = Place::new(volume.number).unwrap_or(Place::FIRST);
            // One that a value names has members that made it ready: they are asked again.
            volume.size_bytes > 0 && known.blocks_at(place) == 0 && !names_volume(base, place)
        });
        all
    }

    /// The vote stores that answered get their names into the first value; the others match any.
    fn voters_at_birth(&self, voters: &[VoterConfig]) -> Vec<VoterConfig> {
        let stores = self.attempt.as_ref().map_or(&[][..], |attempt| &attempt.answered);
        let store_of = |node: NodeId| {
            let answered = stores.iter().find(|&&(voter, _)| voter == node);
            answered.map_or(VoteStoreId(0), |&(_, store)| store)
        };
        voters.iter().map(|voter| VoterConfig { store: store_of(voter.node), ..*voter }).collect()
    }

    /// The volumes that all of those have who are in sync from the first day; each as large as the
    /// smallest disk for it that is there.
    fn volumes_at_birth(
        &self,
        base: &Config,
        sealed: &BTreeMap<NodeId, Sealed>,
    ) -> Vec<VolumeConfig> {
        let held = sealed.values().map(|report| report.replica.space);
        let held = held.reduce(|one, other| one.common(&other)).unwrap_or_default();
        let members = self.connected().and(self.diskful());
        let there = || members.iter().filter_map(|node| Some(self.replica_of(node)?.space));
        let lanes = base.volumes.first().map_or(limits::LANES_DEFAULT, |volume| volume.lanes);
        let volume = |place: Place| {
            let sizes = there().map(|space| space.bytes_at(place)).filter(|&size| size > 0);
            let size_bytes = sizes.min().unwrap_or(0).min(held.bytes_at(place));
            VolumeConfig { number: place.number().into(), size_bytes, lanes, insync: Vec::new() }
        };
        let further = held.places().filter(|&place| place != Place::FIRST);
        std::iter::once(Place::FIRST).chain(further).map(volume).collect()
    }
}
