//! `primary --force` where `primary` would do: the ordinary way is tried first.
//!
//! By force a node begins a branch, counts a loss and asks for a `reopen`, also where nothing is
//! lost; and people type `--force` by habit. So a promotion by force begins as an ordinary one, and
//! turns to force when that is refused, or did not come through in `UNFORCED_PATIENCE`. Nobody is
//! asked for proof that others are out meanwhile: force does without.

use super::{NO_DISK, Phase, Promotion};
use crate::contract::{CommandErrorCode, PromoteMode};
use crate::limits;
use crate::resource::Resource;

impl Promotion {
    /// Force was asked for, and is not used yet.
    pub(crate) fn has_force_in_reserve(&self) -> bool {
        let is_asked = self.commands.iter().any(|&(_, asked)| asked == PromoteMode::Force);
        self.mode == PromoteMode::Normal && is_asked
    }
}

impl Resource {
    /// The ordinary way failed: from now on the promotion goes on by force, if that was asked for.
    pub(super) fn turns_to_force(&mut self) -> bool {
        let promotion = self.promotion.as_ref();
        if !promotion.is_some_and(Promotion::has_force_in_reserve) {
            return false;
        }
        if self.report().is_none() {
            self.end_promotion(CommandErrorCode::NoDisk, NO_DISK);
            return true;
        }
        self.rest_promotion(CommandErrorCode::Busy, String::new());
        let now = self.now;
        if let Some(promotion) = self.promotion.as_mut() {
            promotion.mode = PromoteMode::Force;
            promotion.deadline = now + limits::PROMOTE_DEADLINE;
            promotion.reason = None;
            promotion.phase = Phase::Resting { until: now };
        }
        true
    }
}
