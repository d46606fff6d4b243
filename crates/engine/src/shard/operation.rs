//! What a shard asks of the disks of a replica, and these disks.

use std::io as stdio;

use format::ids::{BlockRange, Incarnation, NodeId, Nonce};
use format::layout::Layout;
use format::space::Place;
use io::{DiskId, Slice};
use replication::contract::{
    DeviceError, DeviceResult, GroupAction, GroupInput, Payload, SaveId, Token,
};
use stdx::time::Time;

use crate::hosted_id::HostedId;
use crate::shard::{Input, Rim};
use crate::slab::Key;

/// Kind of the reactor's tokens that belong to disks.
pub(crate) const TOKEN_DISK: u8 = 5;

/// The backing disk of a replica.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) data: DiskId,
    pub(crate) meta: DiskId,
    pub(crate) layout: Layout,
    /// What the records of its activity log name.
    pub(crate) log: Incarnation,
    pub(crate) mem_align: u32,
    /// Slot index of each member in the bitmap area.
    pub(crate) slots: Vec<NodeId>,
    /// Of the volumes behind the first.
    pub(crate) further: Vec<Further>,
    /// A read failed, which the log has.
    pub(crate) read_error_logged: bool,
    /// Writes of metadata that wait while it is moved.
    pub(crate) held: Option<Vec<GroupAction>>,
    pub(crate) counters: DiskCounters,
}

/// What one volume behind the first is kept on.
#[derive(Debug)]
pub(crate) struct Further {
    pub(crate) place: Place,
    pub(crate) data: DiskId,
    pub(crate) meta: DiskId,
    pub(crate) layout: Layout,
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DiskCounters {
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) al_writes: u64,
    pub(crate) bm_writes: u64,
    pub(crate) in_flight: u32,
}

/// A device request that is under way.
#[derive(Debug)]
pub(crate) struct Operation {
    hosted: HostedId,
    /// The volume on whose disk it is.
    pub(crate) place: Place,
    pub(crate) kind: Kind,
    pub(crate) since: Time,
    /// It took too long, and was answered for: only the kernel has it still.
    is_abandoned: bool,
}

/// Who waited for an operation.
#[derive(Debug)]
pub(crate) enum Waiting {
    Core(Token),
    Copy(Key),
    Save(SaveId),
}

#[derive(Debug)]
pub(crate) enum Kind {
    Read {
        token: Token,
        payload: Payload,
        detect_zero: bool,
    },
    Digest {
        token: Token,
        buffer: Slice,
        key: Nonce,
    },
    /// `payload` is a reference of the operation's own.
    Write {
        token: Token,
        payload: Payload,
    },
    /// One of the requests that make up a copy, or a flush of several disks.
    PartOfCopy {
        copy: Key,
        work: Work,
    },
    /// A copy that was made for alignment, or a block of metadata.
    WriteBuffer {
        token: Token,
        buffer: Slice,
        area: Area,
    },
    Zero {
        token: Token,
        data: DiskId,
        fua: bool,
    },
    Flush {
        token: Token,
    },
    Register {
        save: SaveId,
        buffer: Slice,
    },
    Superblock {
        save: SaveId,
        buffer: Slice,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Write,
    Flush,
}

/// What part of a replica is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    Data,
    Metadata,
}

impl Kind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Read { .. } | Self::Digest { .. } => "a read of the disk",
            Self::Write { .. }
            | Self::Zero { .. }
            | Self::PartOfCopy { work: Work::Write, .. }
            | Self::WriteBuffer { area: Area::Data, .. } => "a write to the disk",
            Self::WriteBuffer { area: Area::Metadata, .. } | Self::Superblock { .. } => {
                "a write to the metadata"
            }
            Self::Flush { .. } | Self::PartOfCopy { work: Work::Flush, .. } => {
                "a flush of the disk"
            }
            Self::Register { .. } => "a write to the register file in the state directory",
        }
    }
}

impl Operation {
    /// Whether it belongs to a save of the resource's home.
    pub(crate) fn is_of_save(&self) -> bool {
        matches!(self.kind, Kind::Register { .. } | Kind::Superblock { .. })
    }

    pub(crate) fn is_of_metadata(&self) -> bool {
        let Self { kind, .. } = self;
        matches!(kind, Kind::WriteBuffer { area: Area::Metadata, .. } | Kind::Superblock { .. })
    }

    /// Reads that fail cost no replica: others have what they were to bring.
    pub(crate) fn costs_replica(&self, error: &stdio::Error) -> bool {
        let is_read = matches!(self.kind, Kind::Read { .. } | Kind::Digest { .. });
        !is_read || io::has_shrunk(error)
    }

    pub(crate) fn hosted(&self) -> HostedId {
        self.hosted
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_abandoned
    }

    /// It takes too long: nobody waits for it any more. What it holds stays with the kernel.
    pub(crate) fn abandon(&mut self) -> Waiting {
        self.is_abandoned = true;
        match self.kind {
            Kind::Read { token, .. }
            | Kind::Digest { token, .. }
            | Kind::Write { token, .. }
            | Kind::WriteBuffer { token, .. }
            | Kind::Zero { token, .. }
            | Kind::Flush { token } => Waiting::Core(token),
            Kind::PartOfCopy { copy, .. } => Waiting::Copy(copy),
            Kind::Register { save, .. } | Kind::Superblock { save, .. } => Waiting::Save(save),
        }
    }

    /// The register is not on the disk of the replica.
    pub(crate) fn is_of_register(&self) -> bool {
        matches!(self.kind, Kind::Register { .. })
    }

    /// Gives back what it holds; its resource is gone.
    pub(crate) fn discard(self, rim: &mut Rim) {
        let pool = rim.kit.reactor.pool();
        match self.kind {
            Kind::PartOfCopy { copy, .. } => rim.discard_part_of_copy(copy),
            Kind::Read { payload, .. } | Kind::Write { payload, .. } => {
                rim.kit.payloads.release(payload, pool);
            }
            Kind::WriteBuffer { buffer, .. }
            | Kind::Digest { buffer, .. }
            | Kind::Register { buffer, .. }
            | Kind::Superblock { buffer, .. } => pool.release(buffer.buffer),
            Kind::Zero { .. } | Kind::Flush { .. } => {}
        }
    }
}

impl Rim {
    pub(crate) fn start(&mut self, (hosted, place): (HostedId, Place), kind: Kind) -> u64 {
        let since = self.kit.now;
        let operation = Operation { hosted, place, kind, since, is_abandoned: false };
        self.operations.insert(operation).token(TOKEN_DISK)
    }

    pub(crate) fn answer(
        &mut self,
        hosted: HostedId,
        token: Token,
        result: Result<DeviceResult, DeviceError>,
    ) {
        self.inbox.push_back((hosted, Input::Group(GroupInput::Device { token, result })));
    }
}

pub(crate) fn token_of(action: &GroupAction) -> Option<Token> {
    match action {
        GroupAction::ReadDevice { token, .. }
        | GroupAction::DigestDevice { token, .. }
        | GroupAction::WriteDevice { token, .. }
        | GroupAction::CopyDevice { token, .. }
        | GroupAction::ZeroDevice { token, .. }
        | GroupAction::FlushDevice { token }
        | GroupAction::WriteMetadata { token, .. } => Some(*token),
        GroupAction::Send { .. }
        | GroupAction::SendWrite { .. }
        | GroupAction::Overlay { .. }
        | GroupAction::DigestPayload { .. }
        | GroupAction::KeepBlocks { .. }
        | GroupAction::Complete { .. }
        | GroupAction::Release(_)
        | GroupAction::Home(_) => None,
    }
}

pub(crate) fn place_of(range: BlockRange) -> Place {
    Place::of_block(range.start).unwrap_or(Place::FIRST)
}
