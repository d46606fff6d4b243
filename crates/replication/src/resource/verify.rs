//! Comparing the replicas: asked of any node, done by the one that leads.
//!
//! Where nobody leads, the node that was asked leads a session without clients for it. A pass that
//! is cut short, because the session ends, tells how far it came: another one goes on from there.

use std::collections::BTreeMap;

use format::config::Config;
use format::ids::{NodeId, Nonce, QuestionId};
use format::message::{Control, FEATURE_VERIFY_ANSWER};
use format::metadata::ReplicaState;
use format::space::Space;
use stdx::time::Time;

use crate::contract::{CommandErrorCode, CommandId, Repair, ToGroup, VerifyTask};
use crate::limits;
use crate::resource::{Resource, RoundKind};

const UNDER_WAY: &str =
    "a verify is under way already: `status` of the node that leads tells of it";

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

/// Another node leads, and was asked.
#[derive(Debug)]
pub(crate) struct VerifyWish {
    command: CommandId,
    leader: NodeId,
    id: QuestionId,
    until: Time,
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
        if self.is_verifying() || self.verify_wish.is_some() {
            return self.refuse(id, CommandErrorCode::Busy, UNDER_WAY);
        }
        if self.session.is_some() {
            self.start_verify(task);
            return self.answer(id, Ok(()));
        }
        if let Some((leader, nonce)) = self.leader_in_reach() {
            let VerifyTask { from_block, until_block, repair } = task;
            let repair = repair == Repair::AtOnce;
            let until = self.now + limits::VERIFY_ANSWER_MAX;
            let (command, id) = (id, QuestionId::of(self.random.next_u64()));
            self.verify_wish = Some(VerifyWish { command, leader, id, until });
            let question = Control::Verify { nonce, from_block, until_block, repair, id };
            return self.send(leader, question);
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
    pub(crate) fn on_verify_asked(
        &mut self,
        from: NodeId,
        id: QuestionId,
        nonce: Nonce,
        task: VerifyTask,
    ) {
        if !self.leads(nonce) {
            return;
        }
        let started = !self.is_verifying();
        if started {
            self.start_verify(task);
        }
        self.send(from, Control::VerifyAnswer { nonce, started, id });
    }

    pub(crate) fn on_verify_begun(&mut self, from: NodeId, id: QuestionId) {
        if let Some(command) = self.take_verify_wish(from, id) {
            self.answer(command, Ok(()));
        }
    }

    pub(crate) fn on_verify_refused(&mut self, from: NodeId, id: QuestionId) {
        if let Some(command) = self.take_verify_wish(from, id) {
            self.refuse(command, CommandErrorCode::Busy, UNDER_WAY);
        }
    }

    fn take_verify_wish(&mut self, from: NodeId, id: QuestionId) -> Option<CommandId> {
        let is_meant = |wish: &mut VerifyWish| wish.leader == from && id.answers(wish.id);
        self.verify_wish.take_if(is_meant).map(|wish| wish.command)
    }

    /// What it was asked may not have come.
    pub(crate) fn forget_asked_for_verify(&mut self, node: NodeId) {
        if let Some(wish) = self.verify_wish.take_if(|wish| wish.leader == node) {
            let text = "the node that leads went away; ask again";
            self.refuse(wish.command, CommandErrorCode::Busy, text);
        }
    }

    /// The resource is being stopped: what the answer is nobody here will hear.
    pub(crate) fn give_up_verify_wish(&mut self) {
        if let Some(wish) = self.verify_wish.take() {
            let text = "the resource is being stopped; `status` of the node that leads tells if it \
                        began";
            self.refuse(wish.command, CommandErrorCode::Busy, text);
        }
    }

    /// A leader of an older release says nothing, and is taken at its silence.
    pub(crate) fn advance_verify_wish(&mut self) {
        let Some(wish) = self.verify_wish.take_if(|wish| self.now >= wish.until) else { return };
        let leader = self.peers.get(&wish.leader).and_then(|peer| peer.report);
        if leader.is_none_or(|report| report.features & FEATURE_VERIFY_ANSWER == 0) {
            return self.answer(wish.command, Ok(()));
        }
        let text = format!("no answer from node {}: its `status` tells if it began", wish.leader);
        self.refuse(wish.command, CommandErrorCode::TimedOut, text);
    }

    pub(crate) fn verify_wish_until(&self) -> Time {
        self.verify_wish.as_ref().map_or(Time::NEVER, |wish| wish.until)
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

    /// Nobody leads yet, and this node will not.
    pub(crate) fn interrupt_waiting_verify(&mut self) {
        if let Some(verify) = self.verify.as_mut().filter(|it| it.state == VerifyState::Waiting) {
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
