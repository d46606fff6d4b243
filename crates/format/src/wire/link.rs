//! Messages of the pair of nodes.

use crate::error::{DecodeError, EncodeError};
use crate::ids::BLOCK_BYTES;
use crate::message::{
    CloseReason, DiskFailed, Heartbeat, HeartbeatAck, Hello, LeaseRequest, LinkClass, LinkMessage,
    Open, PROBE_PADDING_BYTES_MAX, Probe, Proof, ProofAlgorithm, ReplicaReport,
};
use crate::space::{Place, Space, VOLUMES_MAX};
use crate::wire::{ListItem, Reader, Wire, Writer, ids, messages, record, tags};

/// The longest name of a node, in bytes.
const NODE_NAME_BYTES_MAX: usize = 64;
/// The longest digest.
const PROOF_BYTES_MAX: usize = 64;
/// Payloads start on a multiple of the receiver's quantum, a power of two in these bounds.
pub const QUANTUM_BYTES_MIN: u16 = 64;
pub const QUANTUM_BYTES_MAX: u16 = 512;

messages!(LinkMessage, LINK_TAGS {
    0x0001 Hello(hello)
    0x0002 Welcome(hello)
    0x0003 Open(open)
    0x0004 Close { handle, reason }
    0x0005 Heartbeat(heartbeat)
    0x0006 HeartbeatAck(ack)
    0x0007 Challenge { challenge }
    0x0008 Proof(proof)
    0x0009 Probe(probe)
    0x000A Probed { padding_bytes }
    0x000B DiskFailed(failed)
});

tags!(LinkClass { 0 Data, 1 Bulk, 2 Watch });
tags!(CloseReason {
    1 UnknownResource, 2 NodeIdMismatch, 3 UnrelatedData, 4 SizeTooSmall, 5 Down,
    6 ProofMissing, 7 ProofUnexpected, 8 ProofAlgorithmDiffers, 9 ProofWrong,
});
tags!(ProofAlgorithm { 1 Sha1, 2 Sha256, 3 Sha384, 4 Sha512 });
record!(Open { handle, resource, sender, receiver, replica, resource_name });
record!(DiskFailed { handle, place, request, error, age_ms });
record!(LeaseRequest { handle, nonce, length_ms });
record!(HeartbeatAck { id, sent_at_ns, refused });

const HEARTBEAT_TAG: u16 = 0x0005;

/// Reads a link message, and the requests of a heartbeat into the memory of `leases`.
pub(crate) fn get_link(
    tag: u16,
    reader: &mut Reader<'_>,
    leases: &mut Vec<LeaseRequest>,
) -> Result<LinkMessage, DecodeError> {
    if tag == HEARTBEAT_TAG {
        Heartbeat::get_into(reader, std::mem::take(leases)).map(LinkMessage::Heartbeat)
    } else {
        LinkMessage::get_body(tag, reader)
    }
}

impl Heartbeat {
    fn get_into(
        reader: &mut Reader<'_>,
        mut leases: Vec<LeaseRequest>,
    ) -> Result<Self, DecodeError> {
        let (id, sent_at_ns) =
            (reader.field("Heartbeat.id")?, reader.field("Heartbeat.sent_at_ns")?);
        reader.list("Heartbeat.leases", &mut leases)?;
        Ok(Self { id, sent_at_ns, leases })
    }
}

impl Wire for Heartbeat {
    fn put(&self, writer: &mut Writer<'_>) {
        let Self { id, sent_at_ns, leases } = self;
        id.put(writer);
        sent_at_ns.put(writer);
        leases.put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::get_into(reader, Vec::new())
    }
}

impl Wire for Hello {
    fn put(&self, writer: &mut Writer<'_>) {
        let Self { node_name, version_min, version_max, features, boot_id, start_count, .. } = self;
        let Self { shards, shard_local, shard_remote, class, path, quantum_bytes, .. } = self;
        version_min.put(writer);
        version_max.put(writer);
        features.put(writer);
        boot_id.put(writer);
        start_count.put(writer);
        shards.put(writer);
        shard_local.put(writer);
        shard_remote.put(writer);
        class.put(writer);
        path.put(writer);
        quantum_bytes.put(writer);
        if node_name.len() > NODE_NAME_BYTES_MAX {
            let (count, max) = (node_name.len(), NODE_NAME_BYTES_MAX);
            writer.fail(EncodeError::TooLong { what: "Hello.node_name", count, max });
        }
        node_name.put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let hello = Self {
            version_min: reader.field("Hello.version_min")?,
            version_max: reader.field("Hello.version_max")?,
            features: reader.field("Hello.features")?,
            boot_id: reader.field("Hello.boot_id")?,
            start_count: reader.field("Hello.start_count")?,
            shards: reader.field("Hello.shards")?,
            shard_local: reader.field("Hello.shard_local")?,
            shard_remote: reader.field("Hello.shard_remote")?,
            class: reader.field("Hello.class")?,
            path: reader.field("Hello.path")?,
            quantum_bytes: get_quantum(reader)?,
            node_name: reader.field("Hello.node_name")?,
        };
        if hello.node_name.len() > NODE_NAME_BYTES_MAX {
            return Err(reader.out_of_range(0, hello.node_name.len() as u64));
        }
        if hello.version_min > hello.version_max {
            return Err(reader.out_of_range(0, hello.version_min.into()));
        }
        if hello.shards == 0 {
            return Err(reader.out_of_range(0, 0));
        }
        Ok(hello)
    }
}

impl Wire for Proof {
    fn put(&self, writer: &mut Writer<'_>) {
        let Self { handle, algorithm, code } = self;
        handle.put(writer);
        algorithm.put(writer);
        if code.len() > PROOF_BYTES_MAX {
            let (count, max) = (code.len(), PROOF_BYTES_MAX);
            writer.fail(EncodeError::TooLong { what: "Proof.code", count, max });
        }
        code.put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let proof = Self {
            handle: reader.field("Proof.handle")?,
            algorithm: reader.field("Proof.algorithm")?,
            code: reader.field("Proof.code")?,
        };
        if proof.code.len() > PROOF_BYTES_MAX {
            return Err(reader.out_of_range(0, proof.code.len() as u64));
        }
        Ok(proof)
    }
}

/// A list of bytes, taken in one piece.
impl Wire for Probe {
    fn put(&self, writer: &mut Writer<'_>) {
        let (count, max) = (self.padding.len(), PROBE_PADDING_BYTES_MAX as usize);
        let Some(length) = u32::try_from(count).ok().filter(|it| *it <= PROBE_PADDING_BYTES_MAX)
        else {
            return writer.fail(EncodeError::TooLong { what: "Probe.padding", count, max });
        };
        length.put(writer);
        writer.slice(&self.padding);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let length: u32 = reader.field("Probe.padding")?;
        if length > PROBE_PADDING_BYTES_MAX {
            return Err(reader.out_of_range(4, length.into()));
        }
        Ok(Self { padding: reader.slice(length as usize)?.to_vec() })
    }
}

fn get_quantum(reader: &mut Reader<'_>) -> Result<u16, DecodeError> {
    let quantum: u16 = reader.field("Hello.quantum_bytes")?;
    if quantum.is_power_of_two() && (QUANTUM_BYTES_MIN..=QUANTUM_BYTES_MAX).contains(&quantum) {
        Ok(quantum)
    } else {
        Err(reader.out_of_range(2, quantum.into()))
    }
}

impl Wire for ReplicaReport {
    fn put(&self, writer: &mut Writer<'_>) {
        let Self { incarnation, branch, joined, candidate, sealed, space, lanes, log_slots } = self;
        incarnation.put(writer);
        branch.put(writer);
        joined.put(writer);
        sealed.put(writer);
        space.bytes_at(Place::FIRST).put(writer);
        lanes.put(writer);
        candidate.put(writer);
        further_of(space).put(writer);
        log_slots.put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let incarnation = reader.field("ReplicaReport.incarnation")?;
        let branch = reader.field("ReplicaReport.branch")?;
        let joined = reader.field("ReplicaReport.joined")?;
        let sealed = reader.field("ReplicaReport.sealed")?;
        let size_bytes: u64 = reader.field("ReplicaReport.size_bytes")?;
        let lanes = ids::get_lanes(reader)?;
        let candidate = reader.field("ReplicaReport.candidate")?;
        let further: Vec<FurtherSize> = reader.field("ReplicaReport.further")?;
        let first = Space::of_one(size_bytes / BLOCK_BYTES);
        let space = further.iter().fold(first, |space, it| space.with(it.place, it.blocks));
        let log_slots = reader.field("ReplicaReport.log_slots")?;
        Ok(Self { incarnation, branch, joined, candidate, sealed, space, lanes, log_slots })
    }
}

/// A volume behind the first.
struct FurtherSize {
    place: Place,
    blocks: u64,
}

fn further_of(space: &Space) -> Vec<FurtherSize> {
    let places = space.places().filter(|&place| place != Place::FIRST);
    places.map(|place| FurtherSize { place, blocks: space.blocks_at(place) }).collect()
}

record!(FurtherSize { place, blocks });

impl ListItem for FurtherSize {
    const COUNT_MAX: usize = VOLUMES_MAX - 1;
}

/// The blocks of one volume.
struct VolumeBlocks {
    place: Place,
    blocks: u64,
}

record!(VolumeBlocks { place, blocks });

impl ListItem for VolumeBlocks {
    const COUNT_MAX: usize = VOLUMES_MAX;
}

/// The volumes that have blocks.
impl Wire for Space {
    fn put(&self, writer: &mut Writer<'_>) {
        let volumes = self.places().map(|place| (place, self.blocks_at(place)));
        volumes
            .map(|(place, blocks)| VolumeBlocks { place, blocks })
            .collect::<Vec<_>>()
            .put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let volumes: Vec<VolumeBlocks> = reader.field("Space.volumes")?;
        Ok(volumes.iter().fold(Self::EMPTY, |space, it| space.with(it.place, it.blocks)))
    }
}

/// One per resource of the pair.
impl ListItem for LeaseRequest {
    const COUNT_MAX: usize = 16_384;
}
