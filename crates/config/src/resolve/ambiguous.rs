//! Overrides that drbdadm calls ambiguous: it shows them in `dump`, and takes no such resource up.
//! Here the inner one counts, which may not be what whoever wrote both meant.

use crate::ast::{ConnectionNode, ResourceNode, Setting, VolumeNode};
use crate::diagnostic::{Caution, Report};
use crate::options::SECRET_OPTION;

/// Names what is ambiguous in a resource, but for a mesh over a connection.
pub(super) fn note(report: &mut Report, node: &ResourceNode, inherited: &[Setting]) {
    let outer = |name: &str| given(&node.settings, name).or_else(|| given(inherited, name));
    for setting in node.volumes.iter().flat_map(|volume| &volume.settings) {
        note_if_differs(report, setting, outer(setting.spec.name));
    }
    for setting in node.meshes.iter().flat_map(|mesh| &mesh.settings) {
        note_if_differs(report, setting, outer(setting.spec.name));
    }
    // What a host says of its disk counts there; what it says of its peers does not.
    for volume in node.hosts.iter().flat_map(|host| &host.volumes) {
        for setting in volume.settings.iter().filter(|setting| setting.spec.is_per_peer) {
            let name = setting.spec.name;
            note_if_differs(report, setting, of_volume(&node.volumes, volume, name));
            note_if_differs(report, setting, outer(name));
        }
    }
    for connection in &node.connections {
        note_connection(report, node, connection, &outer);
    }
}

/// A volume section of a connection is above all others.
fn note_connection<'n>(
    report: &mut Report,
    node: &'n ResourceNode,
    connection: &ConnectionNode,
    outer: &impl Fn(&str) -> Option<&'n Setting>,
) {
    let own = connection.settings.iter().filter(|setting| setting.spec.is_per_peer);
    for setting in own {
        let name = setting.spec.name;
        let mut own_volumes = connection.volumes.iter();
        if own_volumes.any(|volume| given(&volume.settings, name).is_some()) {
            continue;
        }
        note_if_differs(report, setting, outer(name));
        let of_hosts = node.hosts.iter().flat_map(|host| &host.volumes);
        for volume in node.volumes.iter().chain(of_hosts) {
            note_if_differs(report, setting, given(&volume.settings, name));
        }
    }
}

fn of_volume<'n>(
    volumes: &'n [VolumeNode],
    wanted: &VolumeNode,
    name: &str,
) -> Option<&'n Setting> {
    let volume = volumes.iter().find(|volume| volume.number.value == wanted.number.value)?;
    given(&volume.settings, name)
}

fn given<'n>(settings: &'n [Setting], name: &str) -> Option<&'n Setting> {
    settings.iter().rfind(|setting| setting.spec.name == name)
}

fn note_if_differs(report: &mut Report, inner: &Setting, outer: Option<&Setting>) {
    let Some(outer) = outer.filter(|outer| outer.value != inner.value) else { return };
    let name = inner.spec.name;
    let (inner_value, outer_value) = match name {
        SECRET_OPTION => ("(hidden)".to_owned(), "(hidden)".to_owned()),
        _ => (inner.value.to_string(), outer.value.to_string()),
    };
    let caution = Caution::Overrides { option: name, inner: inner_value, outer: outer_value };
    report.note_ambiguity(name, inner.span, (caution, outer.span));
}
