//! `--dry-run` of the verbs that take a resource up or down in steps: the lines that drbdadm gives
//! to drbdsetup. The daemon is not asked; scripts make lines of their own of them.

use config::model::Resource;
use config::side::Side;
use config::steps::{Skipped, attach_steps, connect_step, steps_but};

use crate::adm::arguments::Verb;
use crate::adm::building::BuildVerb;
use crate::adm::configuration::{Configuration, NodeName, not_a_host, own_host};
use crate::adm::failure::{AdmError, no_peer};
use crate::adm::general::General;
use crate::adm::outcome::{Gathering, Steps};
use crate::adm::target::{One, Target};

pub(crate) fn tell(
    general: &General,
    verb: &Verb,
    targets: &[Target],
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let configuration = Configuration::load(general)?;
    let node = NodeName::or_host(None)?;
    for one in configuration.select(targets, || Ok(node.clone()), gathering)? {
        let told = configuration.resource(&one.resource).and_then(|resource| {
            let host = own_host(resource, &node)?.ok_or_else(|| not_a_host(resource, &node))?;
            lines(verb, resource, &host.name, &one)
        });
        match told {
            Ok(lines) => gathering.stepped(&one.resource, Steps::Shown, lines, Vec::new()),
            Err(error) => gathering.failed(&one.resource, &error),
        }
    }
    Ok(())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "`Verb::dry_run` has sorted the others out")]
fn lines(verb: &Verb, resource: &Resource, node: &str, one: &One) -> Result<Vec<String>, AdmError> {
    let Some(side) = Side::of(resource, node) else { return Ok(Vec::new()) };
    let name = &resource.name;
    let peers: Vec<u8> = side
        .peers
        .iter()
        .filter(|peer| one.means_peer(&peer.name))
        .map(|peer| peer.node_id)
        .collect();
    if let Some(peer) = one.unknown_peer(side.peers.iter().map(|peer| peer.name.as_str()))? {
        let names: Vec<&str> = side.peers.iter().map(|peer| peer.name.as_str()).collect();
        return Err(no_peer(peer, &names));
    }
    let minors = side.host.volumes.iter().filter(|volume| {
        volume.disk.is_some() && one.volume.is_none_or(|wanted| wanted == volume.number)
    });
    let minors = minors.filter_map(|volume| volume.device.as_ref().map(|device| device.minor));
    let of_peers = |words: &str, more: &str| {
        peers.iter().map(|peer| format!("drbdsetup {words} {name} {peer}{more}")).collect()
    };
    let with_force = |is_forced| if is_forced { " --force" } else { "" };
    Ok(match verb {
        Verb::Down(_) => vec![format!("drbdsetup down {name}")],
        Verb::Secondary(options) => {
            vec![format!("drbdsetup secondary {name}{}", with_force(options.force))]
        }
        Verb::Attach(_) => attach_steps(resource, node).into_iter().map(|step| step.text).collect(),
        Verb::Detach(options) => {
            let force = with_force(options.force);
            minors.map(|minor| format!("drbdsetup detach {minor}{force}")).collect()
        }
        Verb::Connect(options) => {
            let discard = if options.discard_my_data { " --discard-my-data" } else { "" };
            let step = |peer: &u8| connect_step(name, *peer).text + discard;
            peers.iter().map(step).collect()
        }
        Verb::Disconnect(options) => of_peers("disconnect", with_force(options.force)),
        Verb::Build(BuildVerb::DelPeer(options)) => of_peers("del-peer", with_force(options.force)),
        Verb::Build(verb) => {
            let start = format!("drbdsetup {} {name} ", verb.name());
            let skipped = Skipped { disks: true, connections: true };
            let all = steps_but(None, resource, node, skipped).into_iter().map(|step| step.text);
            let is_of_peer = |line: &String| {
                let id = line[start.len()..].split(' ').next().and_then(|id| id.parse().ok());
                one.peer.is_none() || id.is_some_and(|id: u8| peers.contains(&id))
            };
            all.filter(|line| line.starts_with(&start)).filter(is_of_peer).collect()
        }
        _ => Vec::new(),
    })
}
