//! The operator tells a Primary without a quorum to be Primary: whoever is missing is gone.
//!
//! So its session goes on alone as with `quorum off` (PROTOCOL.md 9.4), and what it holds
//! completes: all that was acknowledged here is on this replica. What others acknowledged who went
//! on without it is not, and is lost if they never come back, as behind a forced promotion; the
//! value tells those of their clients that cannot know (C5). A word is of now: it ends with a
//! quorum, with the session, and when it could not be followed in time.

use stdx::time::Time;

use crate::contract::{CommandErrorCode, CommandId, WithoutQuorum};
use crate::limits;
use crate::resource::Resource;
use crate::resource::change::Change;

const MUTE: &str = "no quorum, and this node cannot go on alone: its vote is lost until the state \
                    directory takes writes and the daemon is restarted; then type `primary \
                    --force` again";
const TOO_LATE: &str = "no quorum, and this node could not go on alone in time: type `down \
                        --force`, `up`, and `primary --force`; requests that wait fail";

/// An operator's word that is not followed yet, and the commands that are answered when it is.
#[derive(Debug)]
pub(crate) struct Word {
    commands: Vec<CommandId>,
    pub(super) until: Time,
}

impl Resource {
    /// The operator typed `primary --force`, and this node is Primary already.
    pub(crate) fn force_session(&mut self, id: CommandId) {
        if !self.waits_for_quorum() {
            return self.go_on_as_primary(id);
        }
        if let Some((code, reason)) = self.obstacle_to_going_alone() {
            return self.refuse(id, code, reason);
        }
        let until = self.now + limits::PROMOTE_DEADLINE;
        let session = self.session.as_mut().expect("it is Primary");
        let word = session.word.get_or_insert(Word { commands: Vec::new(), until });
        word.commands.push(id);
        word.until = until;
    }

    /// No quorum is in reach, or none says that this node leads.
    fn waits_for_quorum(&self) -> bool {
        self.lacks_quorum() || self.session.as_ref().is_some_and(|it| it.misses_lease(self.now))
    }

    fn obstacle_to_going_alone(&self) -> Option<(CommandErrorCode, &'static str)> {
        let is_draining = self.session.as_ref().is_some_and(|session| session.is_draining());
        if is_draining || self.is_discarding() {
            return Some((CommandErrorCode::Busy, "this node is about to be Primary no more"));
        }
        if self.voter.is_mute {
            return Some((CommandErrorCode::NoQuorum, MUTE));
        }
        if self.report().is_none() {
            let reason = "no quorum, and this node has no disk to go on with alone: `attach` one \
                          while the others are there, or type `down --force` here, and `primary \
                          --force` on a node with data";
            return Some((CommandErrorCode::NoDisk, reason));
        }
        if !self.has_data_of_session() {
            let reason = "no quorum, and the replica of this node lacks what others have: to take \
                          it for the truth all the same, type `down --force`, `up`, and `primary \
                          --force`; requests that wait fail";
            return Some((CommandErrorCode::NoQuorum, reason));
        }
        None
    }

    /// The operator said that the members which are missing are gone.
    pub(crate) fn is_to_go_alone(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.word.is_some())
    }

    /// Only the operator's word lets this session go on alone. By the options it would wait, for
    /// other members may have gone on.
    pub(crate) fn goes_alone_by_word(&self) -> bool {
        self.is_to_go_alone() && self.options.demands.without_quorum != WithoutQuorum::GoOn
    }

    /// Answers a word that was followed, or that a quorum made needless. Refuses it where it was
    /// not followed in time, or cannot be.
    pub(crate) fn advance_word(&mut self) {
        let (waits, now, is_mute) = (self.waits_for_quorum(), self.now, self.voter.is_mute);
        let Some(session) = &mut self.session else { return };
        // What may be chosen already is waited for, unless this life never hears of it.
        let is_in_doubt = session.change == Some(Change::Alone) && !is_mute;
        let is_over = |word: &mut Word| !waits || is_mute || now >= word.until;
        let Some(word) = session.word.take_if(|word| !is_in_doubt && is_over(word)) else {
            return;
        };
        if waits {
            let reason = if is_mute { MUTE } else { TOO_LATE };
            return self.refuse_word(word, reason);
        }
        for id in word.commands {
            self.answer(id, Ok(()));
        }
    }

    pub(crate) fn refuse_word(&mut self, word: Word, reason: &str) {
        for id in word.commands {
            self.refuse(id, CommandErrorCode::NoQuorum, reason);
        }
    }
}
