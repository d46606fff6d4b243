//! What is told of the objects: the types of the native API, from the wanted and the seen.

use api::agent::VOLUME;
use api::cluster::{
    NodeView, OperationState, OperationView, PlacementKind, PlacementStage, PlacementView,
    PoolView, VolumeState, VolumeView,
};

use crate::core::State;
use crate::model::{Cause, Node, Operation, Phase, Placement, Pool, Stage, Volume};
use crate::settle::waits_for;

pub(crate) fn node(state: &State, node: &Node, now_ms: u64) -> NodeView {
    NodeView {
        id: node.id.to_string(),
        name: node.name.clone(),
        address: node.address.to_string(),
        online: state.seen.is_online(node.id, now_ms),
        heard_ms_ago: state.seen.heard_ms_ago(node.id, now_ms),
        problem: state.seen.problem(node.id).map(str::to_owned),
        pools: state.desired.pools_of(node.id).map(|it| pool(state, it)).collect(),
    }
}

pub(crate) fn pool(state: &State, pool: &Pool) -> PoolView {
    let known = state.seen.pool(pool.node, pool.id);
    PoolView {
        name: pool.name.clone(),
        node: name_of(state, pool.node),
        kind: pool.kind,
        location: pool.location.clone(),
        total_bytes: known.map(|it| it.total_bytes),
        free_bytes: known.map(|it| it.free_bytes),
        promised_bytes: state.desired.promised_bytes(pool.id),
        replicas: state.desired.replicas_in(pool.id),
    }
}

pub(crate) fn volume(state: &State, volume: &Volume, now_ms: u64) -> VolumeView {
    VolumeView {
        id: volume.id.to_string(),
        name: volume.name.clone(),
        size_bytes: volume.size_bytes(),
        state: match volume.phase {
            Phase::Birth { .. } => VolumeState::Creating,
            Phase::Live => VolumeState::Ready,
            Phase::Defined => VolumeState::Defined,
            Phase::Closing { .. } | Phase::Retreating | Phase::Leaving => VolumeState::Deleting,
        },
        operation: volume.operation,
        placements: volume
            .placements
            .iter()
            .map(|it| placement(state, volume, it, now_ms))
            .collect(),
        attached_to: volume.attached.map(|node| name_of(state, node)),
        device: format!("/dev/basalt/by-res/{}/0", volume.name),
    }
}

/// A node that is offline said nothing of now.
fn placement(state: &State, volume: &Volume, placement: &Placement, now_ms: u64) -> PlacementView {
    let is_offline = state.seen.is_offline(placement.node, now_ms);
    let known = state.seen.part(volume, placement).filter(|_| !is_offline);
    let word = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let node = state.desired.nodes.get(&placement.node);
    let is_replica = placement.pool.is_some();
    let nbd = node.filter(|_| is_replica || volume.attached == Some(placement.node));
    let nbd = nbd.map(|node| node.nbd.replace(VOLUME, &volume.name));
    PlacementView {
        node: name_of(state, placement.node),
        kind: match (is_replica, placement.cause) {
            (true, _) => PlacementKind::Replica,
            (false, Cause::Planned) => PlacementKind::Witness,
            (false, Cause::Attach) => PlacementKind::Client,
        },
        stage: match placement.stage {
            Stage::In => PlacementStage::In,
            Stage::Joining => PlacementStage::Joining,
            Stage::Leaving | Stage::Down => PlacementStage::Leaving,
        },
        pool: placement
            .pool
            .and_then(|pool| state.desired.pools.get(&pool))
            .map(|pool| pool.name.clone()),
        disk: known.and_then(|it| word(&it.disk)),
        role: known.and_then(|it| word(&it.role)),
        in_use: known.is_some_and(|it| it.in_use),
        synced: known.and_then(|it| it.synced),
        problem: match is_offline {
            true => Some("its machine is offline".to_owned()),
            false => known.and_then(|it| it.problem.clone()),
        },
        nbd: nbd.into_iter().collect(),
    }
}

pub(crate) fn operation(state: &State, operation: &Operation, now_ms: u64) -> OperationView {
    let volume = state.desired.volumes.values().find(|it| it.operation == Some(operation.id));
    let waits = volume.map(|it| waits_for(&state.desired, it, &state.seen, now_ms));
    let told = match operation.state {
        OperationState::Running => waits.unwrap_or_default(),
        OperationState::Done | OperationState::Failed => operation.reason.clone(),
    };
    OperationView {
        id: operation.id,
        kind: operation.kind,
        object: operation.object.clone(),
        state: operation.state,
        told,
        began_ms: operation.began_ms,
        ended_ms: operation.ended_ms,
    }
}

fn name_of(state: &State, node: uuid::Uuid) -> String {
    state.desired.nodes.get(&node).map_or_else(|| node.to_string(), |node| node.name.clone())
}
