//! Comparing the replicas: asked of any node, done by the one that leads.
//!
//! Where nobody leads, the node that was asked leads a session without clients for it. A pass that
//! is cut short, because the session ends, tells how far it came: another one goes on from there.

use std::collections::BTreeMap;

use format::config::Config;
use format::ids::{NodeId, Nonce};
use format::message::Control;
use format::metadata::ReplicaState;
use format::space::Space;
use stdx::time::Time;

use crate::contract::{CommandErrorCode, CommandId, Repair, ToGroup, VerifyTask};
use crate::resource::{Resource, RoundKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyState {
    /// Nobody leads yet.
    Waiting,
    Running,
    Done,
    /// The session ended first.
    Interrupted,
}

/// One pass, as an operator sees it. Positions and counts are blocks.
#[derive(Clone, Debug)]
pub struct VerifyStatus {
    pub state: VerifyState,
    pub from_block: u64,
    pub until_block: u64,
    pub repair: Repair,
    /// All before it is compared.
    pub position: u64,
    pub verified_blocks: u64,
    pub skipped_blocks: u64,
    pub differing: Vec<(NodeId, u64)>,
    pub started_at: Time,
}

#[derive(Debug)]
pub(crate) struct Verifying {
    task: VerifyTask,
    state: VerifyState,
    /// By shard.
    progress: BTreeMap<u8, Progress>,
    started_at: Time,
}

#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) position: u64,
    pub(crate) verified_blocks: u64,
    pub(crate) skipped_blocks: u64,
    pub(crate) differing: Vec<(NodeId, u64)>,
}

impl Verifying {
    pub(crate) fn status(&self) -> VerifyStatus {
        let all = || self.progress.values();
        let mut differing: BTreeMap<NodeId, u64> = BTreeMap::new();
        for &(member, count) in all().flat_map(|progress| &progress.differing) {
            *differing.entry(member).or_default() += count;
        }
        let until_block = self.task.until_block;
        let position = match self.state {
            VerifyState::Done => until_block,
            VerifyState::Waiting | VerifyState::Running | VerifyState::Interrupted => {
                all().map(|it| it.position).min().unwrap_or(self.task.from_block).min(until_block)
            }
        };
        VerifyStatus {
            state: self.state,
            from_block: self.task.from_block,
            until_block,
            repair: self.task.repair,
            position,
            verified_blocks: all().map(|progress| progress.verified_blocks).sum(),
            skipped_blocks: all().map(|progress| progress.skipped_blocks).sum(),
            differing: differing.into_iter().collect(),
            started_at: self.started_at,
        }
    }
}

impl Resource {
    pub(crate) fn on_verify(&mut self, id: CommandId, task: VerifyTask) {
        if self.stop.is_some() {
            return self.refuse(id, CommandErrorCode::Busy, "the resource is being stopped");
        }
        if self.is_verifying() {
            return self.refuse(id, CommandErrorCode::Busy, "a verify is under way already");
        }
        if self.session.is_some() {
            self.start_verify(task);
            return self.answer(id, Ok(()));
        }
        if let Some((leader, nonce)) = self.leader_in_reach() {
            let VerifyTask { from_block, until_block, repair } = task;
            let repair = repair == Repair::AtOnce;
            self.send(leader, Control::Verify { nonce, from_block, until_block, repair });
            return self.answer(id, Ok(()));
        }
        if self.replica_state() != Some(ReplicaState::InSync) || !self.reaches_majority() {
            let text = "no node leads, and this one cannot: its replica has to be up to date, \
                        and a majority of the voters in reach";
            return self.refuse(id, CommandErrorCode::NoQuorum, text);
        }
        self.verify = Some(self.verifying(task, VerifyState::Waiting));
        if self.promotion.is_none() {
            self.promote_for_resync();
        }
        self.answer(id, Ok(()));
    }

    /// Another node was asked, and knows that this one leads.
    pub(crate) fn on_verify_asked(&mut self, nonce: Nonce, task: VerifyTask) {
        if self.leads(nonce) && !self.is_verifying() {
            self.start_verify(task);
        }
    }

    /// The groups may have more blocks than the value: those of a size that members make ready for.
    fn start_verify(&mut self, task: VerifyTask) {
        let space = self.chosen_space();
        self.verify = Some(self.verifying(task, VerifyState::Running));
        let verify = |round| ToGroup::Verify { task, space: Box::new(space), round };
        self.ask_groups(RoundKind::Verified, verify);
    }

    fn chosen_space(&self) -> Space {
        self.config().map_or(Space::EMPTY, Config::space)
    }

    fn verifying(&self, mut task: VerifyTask, state: VerifyState) -> Verifying {
        let end = self.chosen_space().end();
        task.from_block = task.from_block.min(end);
        task.until_block = task.until_block.min(end);
        Verifying { task, state, progress: BTreeMap::new(), started_at: self.now }
    }

    /// This node leads now, and that is what for.
    pub(crate) fn start_wanted_verify(&mut self) {
        let wanted = self.verify.take_if(|verify| verify.state == VerifyState::Waiting);
        if let Some(Verifying { task, .. }) = wanted {
            self.start_verify(task);
        }
    }

    pub(crate) fn wants_verify(&self) -> bool {
        self.verify.as_ref().is_some_and(|verify| verify.state == VerifyState::Waiting)
    }

    pub(crate) fn is_verifying(&self) -> bool {
        self.verify.as_ref().is_some_and(|verify| verify.state == VerifyState::Running)
    }

    pub(crate) fn interrupt_verify(&mut self) {
        if let Some(verify) = self.verify.as_mut().filter(|it| it.state == VerifyState::Running) {
            verify.state = VerifyState::Interrupted;
        }
    }

    pub(crate) fn on_verify_progress(&mut self, shard: u8, progress: Progress) {
        let Some(verify) = self.verify.as_mut() else { return };
        match verify.state {
            VerifyState::Running => {
                let is_left = verify.task.repair == Repair::No;
                if let Some(session) = self.session.as_mut().filter(|_| is_left) {
                    let found = progress.differing.iter();
                    found.for_each(|&(member, _)| session.differing.insert(member));
                }
            }
            // A finding went into the marks of its member, which was lost.
            VerifyState::Done => {}
            VerifyState::Waiting | VerifyState::Interrupted => return,
        }
        verify.progress.insert(shard, progress);
    }

    pub(crate) fn on_all_verified(&mut self) {
        if let Some(verify) = self.verify.as_mut() {
            verify.state = VerifyState::Done;
        }
    }

    pub(crate) fn leader_in_reach(&self) -> Option<(NodeId, Nonce)> {
        let primary = self.config()?.primary?;
        let peer = self.peers.get(&primary.node)?;
        let leads = peer.report.is_some() && peer.session == Some(primary.nonce);
        leads.then_some((primary.node, primary.nonce))
    }
}
