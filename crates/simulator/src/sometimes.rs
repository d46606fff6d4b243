//! What a run has to come across now and then, or it proves little: rare turns of the protocol.
//!
//! A mark is seen from outside, in what the machines say; the machines know nothing of it.

use format::ids::{BlockMask, Seq};
use format::message::{Control, Data, DataBody, ReadStatus, Write, WriteKind};
use replication::contract::{AboutCuts, AboutReceipts, MetadataWrite, ToGroup};
use replication::group::LaneGroup;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// A session began while its members might differ.
    BeganUnequal,
    /// A restarted member said what only it knew.
    OwnSlotReported,
    SealRefused,
    AcceptRefused,
    LeaseRefused,
    QuorumLost,
    LossRecorded,
    /// A member that was being copied to was lost.
    SyncingLost,
    LossWithdrawn,
    /// A member was lost again soon after it returned.
    LostAgain,
    CopiedInFull,
    Resynced,
    /// What a third member misses was handed on to a returning one.
    AbsentHandedOn,
    Joined,
    /// A member refused a read that a leader sent it.
    ReadRefused,
    /// A member could not read what it was asked for.
    ReadFailed,
    ZeroesCopied,
    /// An extent was logged before a write waited for it.
    LoggedAhead,
    /// The target of a copy had some of its blocks already.
    CopiedInPart,
    /// It had all of them.
    NothingToCopy,
    PartMerged,
    BlockTorn,
    DiskGivenUp,
    Stopped,
    ShardsChanged,
    /// Data came before the group was told that the connections are up.
    DataBeforeUp,
    /// Memory that may be lost was counted in the config.
    LossesCounted,
    /// An operator gave a replica up, while others gave other commands.
    InvalidateAsked,
    /// `primary --force` was one of several commands at one moment.
    ForceAsked,
    /// By force a line began with less than all that the one before had.
    LostByForce,
    /// An operator let clients go on after that.
    ReopenAsked,
    /// A voter kept its promise to the holder of a lease.
    PrepareRefusedForLease,
    /// Two nodes wanted to be Primary at once.
    TwoCandidates,
    /// A session of clients began, and the last one's leader did not know that it was over.
    TwoPrimaries,
    /// A lease ran out while reads waited behind the fence, and was renewed.
    LeaseLapsed,
    /// Reads waited behind the fence, and another session came.
    FencedReadFailed,
    /// A read was asked of another member, for the first one was late.
    ReadAskedAgain,
    /// A leader stood down with writes under way.
    WritesCutShort,
    /// New voters beside the old ones were chosen.
    VotersJoint,
    /// ... by another session than the one that first wrote them down.
    JointInDoubt,
    /// Another session than that removed the old voters.
    JointFinishedByAnother,
    /// No quorum without the vote of a member that has no data.
    WitnessDecided,
    /// A voter that lost its store is one again.
    StoreReplaced,
    MemberAdded,
    MemberRemoved,
    /// A member came back after its removal, with the disk that it had.
    MemberAddedAgain,
    /// A member that stays one gave its vote up: it was stopped.
    VoterLeft,
    /// ... and one voter was left.
    LastStands,
    /// A Primary without a quorum went on by itself.
    WentAlone,
    /// Two lines that both went on met.
    SplitBrain,
    /// One of them gave way by the options.
    GaveWay,
    /// A member said that it received a write, which it had not written.
    Received,
    /// A flush waited for what was answered before.
    FlushAsked,
    /// Receipts began to count in the middle of a session.
    ReceiptsAllowed,
    /// A cut was whole at a follower.
    CutReleased,
    /// A session of clients ended at a follower that stayed up.
    FollowerSealed,
    /// A follower that fell too far behind was left there.
    PulledAhead,
    /// ... or disconnected.
    Congested,
}

impl Mark {
    pub const ALL: [Self; 48] = [
        Self::BeganUnequal,
        Self::OwnSlotReported,
        Self::SealRefused,
        Self::AcceptRefused,
        Self::LeaseRefused,
        Self::QuorumLost,
        Self::LossRecorded,
        Self::SyncingLost,
        Self::LossWithdrawn,
        Self::LostAgain,
        Self::CopiedInFull,
        Self::Resynced,
        Self::AbsentHandedOn,
        Self::Joined,
        Self::ReadRefused,
        Self::ReadFailed,
        Self::ZeroesCopied,
        Self::LoggedAhead,
        Self::CopiedInPart,
        Self::NothingToCopy,
        Self::PartMerged,
        Self::BlockTorn,
        Self::DiskGivenUp,
        Self::Stopped,
        Self::ShardsChanged,
        Self::DataBeforeUp,
        Self::LossesCounted,
        Self::InvalidateAsked,
        Self::ForceAsked,
        Self::LostByForce,
        Self::ReopenAsked,
        Self::PrepareRefusedForLease,
        Self::TwoCandidates,
        Self::TwoPrimaries,
        Self::LeaseLapsed,
        Self::FencedReadFailed,
        Self::ReadAskedAgain,
        Self::WritesCutShort,
        Self::VotersJoint,
        Self::JointInDoubt,
        Self::JointFinishedByAnother,
        Self::WitnessDecided,
        Self::StoreReplaced,
        Self::MemberAdded,
        Self::MemberRemoved,
        Self::MemberAddedAgain,
        Self::VoterLeft,
        Self::LastStands,
    ];

    #[expect(clippy::wildcard_enum_match_arm, reason = "most messages are no mark")]
    pub(crate) fn of_control(message: &Control) -> Option<Self> {
        match message {
            Control::NewEpoch { inherited, .. } if !inherited.is_empty() => {
                Some(Self::BeganUnequal)
            }
            Control::Sealed(sealed) if !sealed.own_slot.is_empty() => Some(Self::OwnSlotReported),
            Control::SealRefused { .. } => Some(Self::SealRefused),
            Control::AcceptRefused { .. } => Some(Self::AcceptRefused),
            Control::SetFull { .. } => Some(Self::CopiedInFull),
            Control::PrepareRefused { lease_held: true, .. } => Some(Self::PrepareRefusedForLease),
            _ => None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "most messages are no mark")]
    pub(crate) fn of_data(message: &Data) -> Option<Self> {
        match &message.body {
            DataBody::ReadDone { status: ReadStatus::Refused, .. } => Some(Self::ReadRefused),
            DataBody::ReadDone { status: ReadStatus::DeviceError, .. } => Some(Self::ReadFailed),
            DataBody::Received { .. } => Some(Self::Received),
            DataBody::Write(Write { kind: WriteKind::Copy { given, zeroes }, range, .. })
                if (*given | *zeroes) != BlockMask::all(range.count) =>
            {
                Some(Self::CopiedInPart)
            }
            // Nothing was sent before it.
            DataBody::Clear { seq: Seq(0), .. } => Some(Self::NothingToCopy),
            DataBody::Write(Write { kind: WriteKind::Copy { zeroes, .. }, .. })
                if !zeroes.is_empty() =>
            {
                Some(Self::ZeroesCopied)
            }
            _ => None,
        }
    }

    /// What a group is about to hear, for what it has under way.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most messages are no mark")]
    pub(crate) fn of_fence(message: &ToGroup, group: &LaneGroup) -> Option<Self> {
        match message {
            ToGroup::Lease { .. } if group.has_lapsed_reads() => Some(Self::LeaseLapsed),
            ToGroup::Lease { .. } if group.awaits_late_reads() => Some(Self::ReadAskedAgain),
            ToGroup::StandDown { .. } if group.has_lapsed_reads() => Some(Self::FencedReadFailed),
            ToGroup::StandDown { .. } if group.has_sent_writes() => Some(Self::WritesCutShort),
            _ => None,
        }
    }

    pub(crate) fn of_record(write: &MetadataWrite, group: &LaneGroup) -> Option<Self> {
        let MetadataWrite::Activity(record) = write else { return None };
        let mut extents = record.changes.iter().filter_map(|change| change.extent);
        extents.any(|extent| !group.has_write_in(extent)).then_some(Self::LoggedAhead)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "most messages are no mark")]
    pub(crate) fn of_home(message: &ToGroup) -> Option<Self> {
        match message {
            ToGroup::Lose { lost, .. } if lost.base.epoch == replication::KEEP => {
                Some(Self::SyncingLost)
            }
            ToGroup::Lose { .. } => Some(Self::LossRecorded),
            ToGroup::Resend { .. } => Some(Self::LossWithdrawn),
            ToGroup::Resync { absent, .. } if !absent.is_empty() => Some(Self::AbsentHandedOn),
            ToGroup::Resync { .. } => Some(Self::Resynced),
            ToGroup::Joined { .. } => Some(Self::Joined),
            ToGroup::OnNoQuorum { .. } => Some(Self::QuorumLost),
            ToGroup::Receipts(AboutReceipts::Settle { .. }) => Some(Self::FlushAsked),
            ToGroup::Receipts(AboutReceipts::Allow { .. }) => Some(Self::ReceiptsAllowed),
            ToGroup::Cuts(AboutCuts::Release { .. }) => Some(Self::CutReleased),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_mark_is_listed_once() {
        let listed: BTreeSet<Mark> = Mark::ALL.into_iter().collect();
        assert_eq!(listed.len(), Mark::ALL.len());
        assert_eq!(Mark::ALL.last(), Some(&Mark::LastStands));
        assert_eq!(Mark::LastStands as usize + 1, Mark::ALL.len());
    }
}
