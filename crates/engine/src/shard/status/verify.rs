//! The last comparison of the replicas that this node led, as `status` shows it.

use api::status::VerifyReport;
use format::ids::{BLOCK_BYTES, NodeId};
use format::space::Place;
use replication::contract::Repair;
use replication::resource::{VerifyState, VerifyStatus};
use stdx::time::Time;

use crate::shard::hosted::Hosted;

impl Hosted {
    /// After the machine took an input: one that was under way may be over.
    pub(in crate::shard) fn note_verify(&mut self, now: Time) {
        if self.last_verify.is_open() {
            self.last_verify.note(self.resource.verify_status().as_ref(), now);
        }
    }

    /// All of it.
    pub(super) fn describe_verify(&self, verify: &VerifyStatus, now: Time) -> VerifyReport {
        let millis = |from: Time| u64::try_from(now.since(from).as_millis()).unwrap_or(u64::MAX);
        let age_ms = millis(verify.started_at);
        let ended_age_ms = self.last_verify.ended_at(verify).map(millis);
        let took_ms = age_ms.saturating_sub(ended_age_ms.unwrap_or(0));
        VerifyReport { age_ms, took_ms, ended_age_ms, ..self.result_of_verify(verify) }
    }

    /// Without its times.
    pub(super) fn result_of_verify(&self, verify: &VerifyStatus) -> VerifyReport {
        let kib = |blocks: u64| blocks * (BLOCK_BYTES / 1024);
        // Positions are those of a volume; what is behind its last block is still its.
        let place = |block: u64| Place::of_block(block).unwrap_or(Place::FIRST);
        let at = |block: u64| kib(block - place(block).first_block());
        let end = verify.until_block.max(verify.from_block + 1);
        let until = |block: u64| at(block.max(1) - 1) + kib(1);
        let is_of_one = place(verify.from_block) == place(end - 1);
        let is_one_of_several = is_of_one && !self.definition.further.is_empty();
        let state = match verify.state {
            VerifyState::Waiting => "waiting",
            VerifyState::Running => "running",
            VerifyState::Done => "done",
            VerifyState::Interrupted => "interrupted",
        };
        let name = |node: NodeId| {
            let member = self.definition.members.iter().find(|member| member.node == node);
            member.map_or_else(String::new, |member| member.name.clone())
        };
        let differing = verify.differing.iter();
        VerifyReport {
            state: state.to_owned(),
            volume: is_one_of_several.then(|| place(verify.from_block).number().into()),
            start: at(verify.from_block),
            stop: until(end),
            position: if verify.position < end { at(verify.position) } else { until(end) },
            verified: kib(verify.verified_blocks),
            skipped: kib(verify.skipped_blocks),
            repaired: verify.repair == Repair::AtOnce,
            differing: differing.map(|&(node, count)| (name(node), kib(count))).collect(),
            ..VerifyReport::default()
        }
    }
}
