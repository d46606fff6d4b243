//! A replica that asks its node before it is brought up to date (`before-resync-target`,
//! `resync-after`).
//!
//! Once it is admitted, a replica takes new writes and copies, and is an image of no moment any
//! more: what is to be kept of it (a snapshot) is kept before. So its answer to `Admit` waits,
//! where the options say so, until the node allows it. The leader gives an admission up that takes
//! long, seals the replica and asks again: the newest question is the one that is answered. The
//! replica votes, and answers everything else, as it always does. One that was admitted before it
//! joined (`Syncing`) is no image already, and asks no more, unless the options are about its turn
//! (`resync-after`).
//!
//! A permission is for the replica as it is: it ends with the disk, and where the replica becomes
//! in sync in another way.

use format::config::Config;
use format::ids::{NodeId, Nonce, Seq};
use format::message::Control;
use format::metadata::ReplicaState;
use stdx::time::Time;

use crate::contract::{Readmission, ResourceAction};
use crate::limits;
use crate::resource::Resource;

#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: GateState,
    /// The node answers with the number of the question.
    number: u64,
    held: Option<Held>,
    /// It gave its data up after a split brain, and still has them: an image, though `Syncing`.
    has_given_up: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum GateState {
    #[default]
    Closed,
    /// Until then: a question, or its answer, may get lost between the core and its node.
    Asking(Time),
    /// For one admission.
    Open,
}

/// An admission that waits.
#[derive(Debug)]
struct Held {
    from: NodeId,
    nonce: Nonce,
    value: Config,
    floors: Vec<Seq>,
}

impl Resource {
    /// Whether an admission may go on; otherwise it waits for the answer of the node.
    pub(crate) fn passes_gate(
        &mut self,
        from: NodeId,
        nonce: Nonce,
        value: &Config,
        floors: &[Seq],
    ) -> bool {
        let is_image = self.is_image();
        let asks = match self.options.readmission {
            Readmission::AtOnce => false,
            Readmission::Ask => is_image,
            Readmission::AskAlways => true,
        };
        if !asks || self.gate.state == GateState::Open {
            self.gate = Gate::default();
            return true;
        }
        self.gate.held = Some(Held { from, nonce, value: value.clone(), floors: floors.to_vec() });
        let is_asked = match self.gate.state {
            GateState::Closed | GateState::Open => false,
            GateState::Asking(until) => self.now < until,
        };
        if !is_asked {
            self.gate.state = GateState::Asking(self.now + limits::RESYNC_QUESTION_PATIENCE);
            // Another life of the resource may be answered late: its numbers are others.
            let number = self.random.next_u64();
            self.gate.number = number;
            self.actions.push(ResourceAction::AskToResync { number, from, is_image });
        }
        false
    }

    /// No copy has begun that would make the replica one of no moment.
    fn is_image(&self) -> bool {
        self.gate.has_given_up || self.replica_state() != Some(ReplicaState::Syncing)
    }

    pub(crate) fn on_resync_allowed(&mut self, number: u64) {
        if self.asks_to_resync() && self.gate.number == number {
            self.gate.state = GateState::Open;
            self.release();
        }
    }

    /// Whoever leads asks again.
    pub(crate) fn on_resync_refused(&mut self, number: u64) {
        if self.asks_to_resync() && self.gate.number == number {
            self.gate.state = GateState::Closed;
            self.gate.held = None;
        }
    }

    /// The options changed.
    pub(crate) fn on_readmission(&mut self, readmission: Readmission) {
        self.options.readmission = readmission;
        if readmission == Readmission::AtOnce {
            self.gate.state = GateState::Closed;
            self.release();
        }
    }

    /// What waits goes on, unless that session is over: nothing may begin for it.
    fn release(&mut self) {
        let Some(Held { from, nonce, value, floors }) = self.gate.held.take() else { return };
        let leader = self.config().and_then(|config| config.primary);
        if leader.is_some_and(|leader| leader.nonce == nonce) {
            self.on_control(from, Control::Admit { nonce, value, floors });
        }
    }

    /// The replica is sealed anew: who asked before asks again.
    pub(crate) fn forget_held_admission(&mut self) {
        self.gate.held = None;
    }

    /// Whoever led is not in reach: nothing may begin for it.
    pub(crate) fn drop_admission_of(&mut self, node: NodeId) {
        self.gate.held.take_if(|held| held.from == node);
    }

    /// The replica is another one, or in sync: what was asked and allowed is over.
    pub(crate) fn close_gate(&mut self) {
        self.gate = Gate::default();
    }

    /// The replica is to follow another line, and what it holds stays until it is admitted there.
    pub(crate) fn note_data_given_up(&mut self) {
        self.gate.has_given_up = self.is_image();
    }

    pub(crate) fn asks_to_resync(&self) -> bool {
        matches!(self.gate.state, GateState::Asking(_))
    }
}
