//! Answers that are kept: a write that too few replicas have is done, and not answered
//! (PROTOCOL.md 6.3).

use stdx::time::Time;

use crate::contract::GroupAction;
use crate::group::{LaneGroup, fail_part};

impl LaneGroup {
    pub(crate) fn stop_holding(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        self.view.holding = false;
        self.note_keeping();
        for part in std::mem::take(&mut self.held) {
            actions.push(GroupAction::Complete { part, result: Ok(None) });
        }
        self.unpark(now, actions);
    }

    /// Of what was done since `first`. Reads bring what every member has, and go on.
    pub(crate) fn hold_answers(&mut self, first: usize, actions: &mut Vec<GroupAction>) {
        let is_done = |action: &mut GroupAction| {
            matches!(action, GroupAction::Complete { result: Ok(None), .. })
        };
        for action in actions.extract_if(first.., is_done) {
            if let GroupAction::Complete { part, .. } = action {
                self.held.push(part);
            }
        }
        if self.view.fail_requests {
            self.fail_held(actions);
        }
    }

    pub(crate) fn fail_held(&mut self, actions: &mut Vec<GroupAction>) {
        for part in std::mem::take(&mut self.held) {
            fail_part(part, actions);
        }
        self.fail_kept(actions);
    }
}
