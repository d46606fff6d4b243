//! Messages to a resource's home shard.

use crate::limits::RANGES_MAX;
use crate::message::{
    Accepted, Control, OwnReplica, ResizeOutcome, Sealed, SealedLane, SlotBase, SlotInfo, Standing,
    WindowEntry,
};
use crate::wire::{ListItem, Wire, messages, record, tags};

/// Tags of control messages start here.
pub(crate) const CONTROL_TAG_MIN: u16 = 0x0100;

messages!(Control, CONTROL_TAGS {
    0x0101 Prepare { ballot, nonce }
    0x0102 Promise { ballot, store, accepted }
    0x0103 PrepareRefused { ballot, promised, lease_held, accepted }
    0x0104 Accept { ballot, nonce, value }
    0x0105 Accepted { ballot, store, value_id }
    0x0106 AcceptRefused { ballot, promised }
    0x0107 Chosen { ballot, value }
    0x013a News { ballot, value }
    0x013b Touch { nonce, has_quorum }
    0x013c Copying { nonce, left, copied_blocks }
    0x0108 LeaseRelease { nonce }
    0x0110 Seal { ballot, nonce }
    0x0111 Sealed(sealed)
    0x0112 SealRefused { ballot, sealed }
    0x0113 NewEpoch { ballot, nonce, value, inherited }
    0x0114 NewEpochDone { nonce, epoch, boot_id }
    0x0120 Admit { nonce, value, floors }
    0x0121 Admitted { nonce, boot_id, replica }
    0x0122 SlotQuery { nonce }
    0x0123 SlotInfo { nonce, slots }
    0x0124 SetFull { nonce, member, incarnation, base_epoch }
    0x0125 SetFullDone { nonce, member, boot_id }
    0x0126 PrepareJoin { nonce, epoch, value_id }
    0x0127 JoinPrepared { nonce, epoch, boot_id }
    0x0128 ReplicaFailed { nonce }
    0x0129 Report { store, session, accepted, members }
    0x012a Verify { nonce, from_block, until_block, repair, id }
    0x0138 VerifyAnswer { nonce, started, id }
    0x012b Leave
    0x0139 OwnReplica(what)
    0x0135 Following { nonce }
    0x0132 Standing(standing)
    0x0133 GiveWay { standing, against }
    0x0134 GiveWayAnswer { standing, agreed }
    0x0136 LineLost { nonce, losses }
    0x0137 LineLostDone { nonce }
    0x012c Resize { nonce, place, size_bytes, zeroes, id }
    0x012d ResizeAnswer { outcome, member, size_bytes, id }
    0x012e Enlarge { nonce, place, size_bytes }
    0x012f Enlarged { nonce, boot_id, place, size_bytes }
    0x0130 PrepareSize { nonce, id, place, from_bytes, to_bytes, absent, zeroes }
    0x0131 SizePrepared { nonce, id, boot_id }
});

tags!(ResizeOutcome {
    0 UnderWay, 1 SameSize, 2 Busy, 3 DiskTooSmall, 4 Smaller, 5 TimedOut,
    6 NoVolume, 7 Device,
});
tags!(OwnReplica { 0 Stays, 1 Leaves, 2 Gone });
record!(Accepted { ballot, value });
record!(Standing { id, head, against, is_primary, changed_blocks, policy });
record!(Sealed { ballot, nonce, boot_id, rank, replica, lanes, inherited, own_slot });
record!(SealedLane { nonce, stable, applied, window });
record!(WindowEntry { seq, range });
record!(SlotBase { epoch, incarnation });
record!(SlotInfo { member, base });

/// One per lane.
impl ListItem for SealedLane {
    const COUNT_MAX: usize = 256;
}
impl ListItem for WindowEntry {
    const COUNT_MAX: usize = RANGES_MAX;
}
impl ListItem for SlotInfo {
    const COUNT_MAX: usize = crate::ids::NODES_MAX as usize;
}
