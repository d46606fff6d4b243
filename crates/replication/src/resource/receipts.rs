//! Members that count for a client's answer once they received a write (protocol B, PROTOCOL.md
//! 10.1): whom the configuration names, and what the value says. A promotion judges by that
//! (`lineage::standing`).
//!
//! The configuration of the node that leads decides alone. The value names a member before its
//! first receipt counts, and until the session ends: a promotion has to know whose memory answers
//! may have rested on. Such a member that restarted may lack what a client was told is done.

use format::config::{Config, Purpose};
use format::ids::{MemberSet, NodeId};

use crate::contract::{AboutReceipts, AckWhen, RoundId, ToGroup};
use crate::resource::{Resource, RoundKind};

/// How far the groups are prepared for members that the value does not name yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Preparing {
    #[default]
    No,
    Asked,
    /// No flush leaves out what another group answered early.
    Done,
}

impl Resource {
    /// Those whom this node's configuration names. Its own replica is no matter of a connection.
    fn wanted_by_receipt(&self) -> MemberSet {
        let members = self.options.members.iter();
        let wanted = members.filter(|it| it.diskful && it.ack_when == AckWhen::Received);
        wanted.map(|member| member.node).collect::<MemberSet>().without(self.me())
    }

    /// What a value with which a session of this node begins says.
    pub(crate) fn by_receipt_of(&self, purpose: Purpose) -> MemberSet {
        match purpose {
            Purpose::Clients => self.wanted_by_receipt(),
            // Nobody is answered.
            Purpose::Resync => MemberSet::EMPTY,
        }
    }

    pub(crate) fn tell_by_receipt(&mut self, members: MemberSet) {
        if std::mem::replace(&mut self.told_by_receipt, members) != members {
            self.tell_groups(ToGroup::Receipts(AboutReceipts::Count(members)));
        }
    }

    /// As the leader: whose receipts count now.
    pub(crate) fn count_receipts(&mut self) {
        let Some(known) = self.config().map(|config| config.by_receipt) else { return };
        if self.serves_clients() {
            self.tell_by_receipt(known.and(self.wanted_by_receipt()));
        }
    }

    /// By what the groups were told while this node leads, else by the value.
    pub(crate) fn counts_by_receipt(&self, member: NodeId) -> bool {
        let named = self.config().is_some_and(|config| config.by_receipt.has(member));
        named && (self.session.is_none() || self.told_by_receipt.has(member))
    }

    /// As a member of the session of `value`: whether its leader counts receipts.
    pub(crate) fn follow_receipts(&mut self, value: &Config) {
        let leads = self.session.is_some() || self.nonce_of_lead().is_some();
        if !leads {
            self.tell_by_receipt(value.by_receipt);
        }
    }

    /// The configuration names somebody whom the value does not: the groups hear of it first.
    pub(crate) fn prepare_receipts(&mut self) {
        let wanted = self.wanted_by_receipt();
        if wanted.is_empty() || !self.serves_clients() {
            return;
        }
        let is_known = self.config().is_none_or(|config| wanted.is_subset_of(config.by_receipt));
        let Some(session) = self.session.as_mut().filter(|_| !is_known) else { return };
        if session.receipts == Preparing::No {
            session.receipts = Preparing::Asked;
            let allow = |round: RoundId| ToGroup::Receipts(AboutReceipts::Allow { round });
            self.ask_groups(RoundKind::ReceiptsAllowed, allow);
        }
    }

    pub(crate) fn on_receipts_allowed(&mut self) {
        if let Some(session) = self.session.as_mut() {
            session.receipts = Preparing::Done;
        }
    }

    /// What the next value says: a name goes with the session alone, for what was answered early
    /// may not be written yet.
    pub(crate) fn next_by_receipt(&self, config: &Config) -> MemberSet {
        let is_ready = self.session.as_ref().is_some_and(|it| it.receipts == Preparing::Done);
        if is_ready { config.by_receipt | self.wanted_by_receipt() } else { config.by_receipt }
    }

    /// A flush of a shard waits for what the groups answered early.
    pub(crate) fn on_flush_asks(&mut self, shard: u8, number: u32) {
        if self.session.is_some() {
            let kind = RoundKind::ReceiptsSettled { shard, number };
            let settle = |round: RoundId| ToGroup::Receipts(AboutReceipts::Settle { round });
            self.ask_groups(kind, settle);
        }
    }

    pub(crate) fn on_receipts_settled(&mut self, shard: u8, number: u32) {
        self.tell_groups(ToGroup::Receipts(AboutReceipts::Settled { shard, number }));
    }
}
