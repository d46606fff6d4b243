//! What the core's actions do to disks, links, payloads and the outside.

use format::config::{Ancestor, Config};
use format::ids::{BlockMask, NodeId};
use replication::contract::{
    AfterSplit, AfterSplitBrain, GiveWayReason, GroupAction, MetadataWrite, Payload,
    ResourceAction, Token,
};

use crate::cluster::network::{End, Message};
use crate::cluster::{Cluster, Event, Outcome, Way, digests_of};
use crate::contents::SECTOR_BYTES;
use crate::process::Outstanding;
use crate::sometimes::Mark;

impl Cluster {
    #[expect(clippy::too_many_lines, reason = "one flat match, an action each")]
    pub(super) fn perform_resource(&mut self, node: usize, action: ResourceAction) {
        match action {
            ResourceAction::Send { to, message } => {
                self.send(node, to.index(), Message::Control(message));
            }
            ResourceAction::Save { save, register, superblock } => {
                if let Some(superblock) = &superblock {
                    self.note_replica(node, superblock);
                }
                self.ask_disk(node, Outstanding::Save { save, register, superblock });
            }
            ResourceAction::Group(message) => {
                self.check_permit(node, &message);
                let Some(boot) = self.processes[node].as_ref().map(|it| it.boot_id) else { return };
                for shard in 0..self.shards_of(node).unwrap_or(0) {
                    let message = Box::new(message.clone());
                    let at = self.internal_delivery(node, shard, Way::ToGroup);
                    self.schedule_at(at, Event::ToGroup { node, boot, shard, message });
                }
            }
            ResourceAction::Reset { peer } => self.renew_link(node, peer.index()),
            ResourceAction::Misbehaved { peer, how } => {
                self.trace(|| format!("n{node} had of {peer}: {how:?}"));
                if self.forger.is_none() {
                    let text = format!("n{node} had of {peer} what no sound node says: {how:?}");
                    self.violation.get_or_insert(text);
                }
            }
            ResourceAction::CloseDisk(_) => {
                self.marks.insert(Mark::DiskGivenUp);
                self.forget_permit(node);
                if let Some(process) = self.processes[node].as_mut() {
                    process.disk_open = false;
                    process.reaches_disk.fill(false);
                }
                self.disks[node].drop_forgotten();
            }
            ResourceAction::TakeDisk { round } => self.hand_out_disk(node, round),
            ResourceAction::EnlargeDisk { place, size_bytes } => {
                self.enlarge(node, place, size_bytes);
            }
            ResourceAction::Answer { id, result } => {
                self.trace(|| format!("n{node} answers {id:?} {result:?}"));
                self.outcomes.push(Outcome::Answered { node, id, result });
            }
            ResourceAction::RoleChanged { primary } => {
                if primary && self.processes.iter().flatten().any(|process| process.primary) {
                    self.marks.insert(Mark::TwoPrimaries);
                }
                self.trace(|| format!("n{node} primary {primary}"));
                if let Some(process) = self.processes[node].as_mut() {
                    process.primary = primary;
                }
                self.outcomes.push(Outcome::Role { node, primary });
            }
            ResourceAction::ConfigChanged(config) => {
                let Config { losses, branch, epoch, value_id, .. } = *config;
                let value = Ancestor { branch, epoch, value_id };
                let space = config.space();
                self.trace(|| {
                    format!("n{node} config {epoch:?} insync {:?}", config.volumes[0].insync_set())
                });
                self.outcomes.push(Outcome::Config { node, losses, value, space });
            }
            ResourceAction::RenewLease => self.ask_leases(node),
            ResourceAction::Forget { peer } => {
                self.trace(|| format!("n{node} forgets {peer}"));
                self.peers[node].remove(peer);
                self.tear(node, peer.index(), End::Closed);
            }
            ResourceAction::AskToResync { number, .. } => self.note_question(node, number),
            ResourceAction::AskToFence { number, peer } => self.note_fence(node, number, peer),
            ResourceAction::QuorumLost => {
                self.outcomes.push(Outcome::Quorum { node, is_there: false });
            }
            ResourceAction::QuorumBack => {
                self.outcomes.push(Outcome::Quorum { node, is_there: true });
            }
            ResourceAction::WentAlone => {
                self.marks.insert(Mark::WentAlone);
                self.trace(|| format!("n{node} goes on alone"));
            }
            ResourceAction::SplitBrain { peer, fork } => {
                self.marks.insert(Mark::SplitBrain);
                self.trace(|| format!("n{node} and {peer} parted at {fork:?}"));
            }
            ResourceAction::AfterSplit { peer, outcome } => self.after_split(node, peer, outcome),
            ResourceAction::PulledAhead { member, .. } => {
                self.marks.insert(Mark::PulledAhead);
                self.trace(|| format!("n{node} leaves {member} behind"));
            }
            ResourceAction::LostAgain { member, rest, .. } => {
                self.marks.insert(Mark::LostAgain);
                self.trace(|| format!("n{node} lost {member} again: it rests {rest:?}"));
            }
            ResourceAction::Disconnect { peer } => {
                self.marks.insert(Mark::Congested);
                self.trace(|| format!("n{node} ends the connection to {peer}"));
                self.end_link(node, peer.index());
            }
            ResourceAction::Unrelated { peer, .. } => {
                self.outcomes.push(Outcome::Unrelated { node, peer });
            }
            ResourceAction::Evicted { .. } => {}
        }
    }

    fn after_split(&mut self, node: usize, peer: NodeId, outcome: AfterSplitBrain) {
        self.trace(|| format!("n{node} and n{peer}: {outcome:?}"));
        if outcome == AfterSplitBrain::KeepsData {
            self.told_to_discard.remove(Self::node_id(node));
        }
        let AfterSplitBrain::GivesWay { by } = outcome else { return };
        let has_policy = self.options.demands.after_split != AfterSplit::NOBODY;
        if by == GiveWayReason::Policy && has_policy {
            self.marks.insert(Mark::GaveWay);
            self.told_to_discard.insert(Self::node_id(node));
        }
        let other = self.processes[peer.index()].as_ref();
        if other.is_some_and(|other| other.resource.is_discarding()) {
            self.violation = Some(format!("I19: n{node} and n{peer} give way at once"));
        }
    }

    fn write_metadata(&mut self, node: usize, shard: u8, token: Token, write: MetadataWrite) {
        if let Some(process) = self.processes[node].as_ref() {
            self.marks.extend(Mark::of_record(&write, &process.groups[usize::from(shard)]));
        }
        let write = Box::new(write);
        self.ask_disk(node, Outstanding::Metadata { shard, token, write });
    }

    pub(super) fn perform_group(&mut self, node: usize, shard: u8, action: GroupAction) {
        match action {
            GroupAction::ReadDevice { token, range, detect_zero } => {
                self.ask_disk(node, Outstanding::Read { shard, token, range, detect_zero });
            }
            GroupAction::DigestDevice { token, range, .. } => {
                self.ask_disk(node, Outstanding::Digest { shard, token, range });
            }
            GroupAction::DigestPayload { token, payload, .. } => {
                let digests = digests_of(&self.values(node, payload));
                self.ask_disk(node, Outstanding::Hash { shard, token, digests });
            }
            GroupAction::WriteDevice { token, range, payload, fua } => {
                let values = self.values(node, payload);
                assert_eq!(values.len(), range.count as usize, "a payload fits its range");
                let values = values.into_iter().map(Some).collect();
                self.ask_disk(node, Outstanding::Write { shard, token, range, values, fua });
            }
            GroupAction::CopyDevice { token, range, payload, given, zeroes, fua } => {
                let bytes = payload.map(|it| self.values(node, it)).unwrap_or_default();
                let values = copied_values(range.count, (given, zeroes), bytes);
                self.ask_disk(node, Outstanding::Write { shard, token, range, values, fua });
            }
            GroupAction::ZeroDevice { token, range, fua, .. } => {
                let values = vec![Some(0); range.count as usize];
                self.ask_disk(node, Outstanding::Write { shard, token, range, values, fua });
            }
            GroupAction::FlushDevice { token } => {
                let snapshot = self.disks[node].flush_snapshot();
                self.ask_disk(node, Outstanding::Flush { shard, token, snapshot });
            }
            GroupAction::WriteMetadata { token, write } => {
                self.write_metadata(node, shard, token, write);
            }
            GroupAction::Send { to, message, payload } => {
                let values = payload.map(|payload| self.values(node, payload));
                self.send(node, to.index(), Message::Data { message, values });
            }
            GroupAction::SendWrite { to, message, payload } => {
                let values = payload.map(|payload| self.values(node, payload));
                for to in to.iter() {
                    let (message, values) = (message.clone(), values.clone());
                    self.send(node, to.index(), Message::Data { message, values });
                }
            }
            GroupAction::Overlay { base, patch, at } => {
                self.marks.insert(Mark::PartMerged);
                let patch = self.values(node, patch);
                let at = usize::try_from(at / SECTOR_BYTES).expect("within a block");
                let process = self.processes[node].as_mut().expect("it acts");
                let blocks = process.payloads.get_mut(base.0).expect("it is not released");
                self.contents.overlay(blocks, &patch, at);
            }
            GroupAction::KeepBlocks { payload, keep } => {
                let process = self.processes[node].as_mut().expect("it acts");
                process.keep_blocks(payload, keep);
            }
            GroupAction::Complete { part, result } => {
                let result = result.map(|payload| payload.map(|payload| self.take(node, payload)));
                self.outcomes.push(Outcome::Completed { node, part, result });
            }
            GroupAction::Release(payload) => drop(self.take(node, payload)),
            GroupAction::Home(fact) => {
                let Some(boot) = self.processes[node].as_ref().map(|it| it.boot_id) else { return };
                let at = self.internal_delivery(node, shard, Way::FromGroup);
                self.schedule_at(at, Event::FromGroup { node, boot, shard, fact });
            }
        }
    }

    fn values(&self, node: usize, payload: Payload) -> Vec<u64> {
        let process = self.processes[node].as_ref().expect("it acts");
        process.payload(payload).to_vec()
    }

    fn take(&mut self, node: usize, payload: Payload) -> Vec<u64> {
        let process = self.processes[node].as_mut().expect("it acts");
        process.payloads.remove(payload.0).expect("a payload is released exactly once")
    }
}

/// What a copy makes of each block of its range; `None` where it stays as it is.
fn copied_values(
    count: u32,
    (given, zeroes): (BlockMask, BlockMask),
    bytes: Vec<u64>,
) -> Vec<Option<u64>> {
    assert_eq!(bytes.len(), given.len() as usize, "a payload fits what it gives");
    let mut bytes = bytes.into_iter();
    let value = |place| {
        let zero = zeroes.has(place).then_some(0);
        if given.has(place) { bytes.next() } else { zero }
    };
    (0..count).map(value).collect()
}
