//! From what the files say to what they mean: inheritance, expansion, and the checks that need more
//! than one statement.
//!
//! Options come from `common`, or from the template file of the resource in its place, and are
//! overridden by the resource; what a host, a volume or a connection says stays with it.

mod connections;
mod hosts;
mod ambiguous;

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{Document, ResourceNode, Setting};
use crate::diagnostic::{Caution, Problem, Report, Sentence, Span};
use crate::effective::{AckWhen, OnCongestion};
use crate::host_name::{is_same_host, label};
use crate::limits::{CONNECTIONS_TOTAL_MAX, REPLICAS_MAX, RESOURCES_MAX};
use crate::model::{MetaDisk, Resource, Volume};
use crate::options::reasons::condition_of;
use crate::options::value::Value;
use crate::options::{OptionSet, Section};

/// The resources of a document. What is wrong is reported; a resource with an error is left out.
pub(crate) fn resources(report: &mut Report, document: &Document) -> Vec<Resource> {
    let no_settings = Vec::new();
    let common = document.common.as_ref().map_or(&no_settings, |common| &common.value);
    let mut names: BTreeMap<&str, Span> = BTreeMap::new();
    let mut claims = Claims::default();
    let mut size = Size::default();
    let mut resources = Vec::new();
    for node in &document.resources {
        let first = names.insert(&node.name.value, node.name.span);
        if let Some(first) = first {
            let what = format!("the resource `{}`", node.name.value);
            let problem = report.duplicate(&what, node.name.span, first);
            report.problem(problem);
        }
        if node.is_damaged {
            continue;
        }
        if let Err(what) = size.grow(node) {
            report.problem(
                Problem::new(node.name.span, Sentence::TooMuch { what })
                    .hint("describe fewer resources, volumes or hosts in one configuration"),
            );
            break;
        }
        if let Some(resource) = resource(report, node, common) {
            // What follows from a mistake would only hide the mistake.
            if first.is_none() {
                claims.check(report, node, &resource);
            }
            resources.push(resource);
        }
    }
    resources
}

/// The resources whose volume is named by the resource alone.
pub(crate) fn without_number(document: &Document) -> BTreeSet<String> {
    let is_implicit = |node: &&ResourceNode| {
        let of_hosts = node.hosts.iter().flat_map(|host| &host.volumes);
        node.volumes.iter().chain(of_hosts).any(|volume| volume.is_implicit)
    };
    let resources = document.resources.iter().filter(|_| !document.numbers_links);
    resources.filter(is_implicit).map(|node| node.name.value.clone()).collect()
}

fn resource(report: &mut Report, node: &ResourceNode, common: &[Setting]) -> Option<Resource> {
    let inherited = node.template_settings.as_deref().unwrap_or(common);
    let options_of = |section: Section| {
        let inherited = option_set(inherited, section);
        inherited.overlaid(&option_set(&node.settings, section))
    };
    let hosts = hosts::hosts(report, node)?;
    let connections = connections::connections(report, node, &hosts)?;
    let resource = Resource {
        name: node.name.value.clone(),
        options: options_of(Section::Options),
        net: options_of(Section::Net),
        disk: options_of(Section::Disk),
        startup: options_of(Section::Startup),
        handlers: options_of(Section::Handlers),
        hosts,
        connections,
    };
    warn_of_congestion(report, node, &resource);
    warn_of_ambiguous_hosts(report, node, &resource);
    ambiguous::note(report, node, inherited);
    Some(resource)
}

/// An option whose host could be one of two names none of them.
fn warn_of_ambiguous_hosts(report: &mut Report, node: &ResourceNode, resource: &Resource) {
    let nets = resource.connections.iter().map(|connection| &connection.net);
    let words = |set: &OptionSet, option| set.given(option).map(Value::to_string);
    let discarded = [&resource.net].into_iter().chain(nets);
    let discarded = discarded.filter_map(|net| words(net, "after-sb-0pri"));
    let discarded =
        discarded.filter_map(|word| Some(word.strip_prefix("discard-node-")?.to_owned()));
    let promoted = words(&resource.startup, "become-primary-on").unwrap_or_default();
    let promoted = promoted.split_whitespace().map(|name| ("become-primary-on", name.to_owned()));
    for (option, name) in promoted.chain(discarded.map(|name| ("after-sb-0pri", name))) {
        if let Err(ambiguous) = resource.host_meant(&name) {
            report.warn_once(option, node.name.span, &Caution::AnyHost { option, ambiguous });
        }
    }
}

/// A policy for a peer that is waited for anyway.
fn warn_of_congestion(report: &mut Report, node: &ResourceNode, resource: &Resource) {
    for connection in &resource.connections {
        let [left, right] = &connection.ends;
        let net = resource.net_options(left, right);
        let then = net.congestion.then;
        if then != OnCongestion::Block && net.ack_when != AckWhen::Sent {
            let needs = condition_of("on-congestion").unwrap_or_default();
            let (left, right) = (left.clone(), right.clone());
            let caution = Caution::Congestion { left, right, needs };
            report.warn_once("on-congestion", node.name.span, &caution);
        }
    }
}

/// The settings that belong to `section`; where one is given twice the later one counts.
fn option_set(settings: &[Setting], section: Section) -> OptionSet {
    let mut set = OptionSet::default();
    for setting in settings.iter().filter(|setting| setting.spec.section == section) {
        set.set(setting.spec, setting.value.clone());
    }
    set
}

/// How much the resources so far amount to once they are expanded, at most.
#[derive(Default)]
struct Size {
    resources: usize,
    replicas: usize,
    connections: usize,
}

impl Size {
    /// Counts one more resource; the limit in words if that exceeds it.
    fn grow(&mut self, node: &ResourceNode) -> Result<(), String> {
        let shared = node.volumes.len();
        let meshed = node.meshes.iter().map(|mesh| mesh.hosts.len() * mesh.hosts.len() / 2);
        self.resources += 1;
        self.replicas += node.hosts.iter().map(|host| host.volumes.len() + shared).sum::<usize>();
        self.connections += node.connections.len() + meshed.sum::<usize>();
        if self.resources > RESOURCES_MAX {
            Err(format!("{RESOURCES_MAX} resources"))
        } else if self.replicas > REPLICAS_MAX {
            Err(format!("{REPLICAS_MAX} volumes, counted on every host"))
        } else if self.connections > CONNECTIONS_TOTAL_MAX {
            Err(format!("{CONNECTIONS_TOTAL_MAX} connections"))
        } else {
            Ok(())
        }
    }
}

/// What only one volume of a host may have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    Minor(u32),
    /// Of data, or of metadata that has all of it.
    Disk(String),
    /// A slot of metadata.
    Slot(String, u32),
}

/// Who uses which device minor and which disk: on one host each may be used once, by whatever
/// resource.
#[derive(Default)]
struct Claims {
    /// By the label of the host.
    users: BTreeMap<(String, Claim), Vec<User>>,
}

struct User {
    host: String,
    volume: String,
    /// Where its resource stands.
    span: Span,
}

impl Claims {
    fn check(&mut self, report: &mut Report, node: &ResourceNode, resource: &Resource) {
        for host in &resource.hosts {
            for volume in &host.volumes {
                let user = format!("volume {} of {}", volume.number, resource.name);
                for (claim, what, hint) in claims_of(volume) {
                    let claim = (label(&host.name).to_owned(), claim);
                    let users = self.users.entry(claim).or_default();
                    let other = users.iter().find(|other| is_same_host(&other.host, &host.name));
                    if let Some(User { volume: other, span, .. }) = other {
                        let (user, host, other) = (user.clone(), host.name.clone(), other.clone());
                        let place = report.place(*span);
                        let sentence = Sentence::Claimed { user, what, host, other };
                        let problem = Problem::new(node.name.span, sentence);
                        report.problem(problem.hint(format!("{hint}; the other is at {place}")));
                    }
                    let (host, volume) = (host.name.clone(), user.clone());
                    users.push(User { host, volume, span: node.name.span });
                }
            }
        }
    }
}

/// What LINSTOR writes for every disk of another host: it names none.
const ELSEWHERE: &str = "/dev/drbd/this/is/not/used";

/// What a volume claims, what that is in words, and what would be right.
fn claims_of(volume: &Volume) -> Vec<(Claim, String, &'static str)> {
    let mut claims = Vec::new();
    if let Some(device) = &volume.device {
        let what = format!("the device minor {}", device.minor);
        claims.push((Claim::Minor(device.minor), what, "give each volume of a host its own minor"));
    }
    let Some(disk) = volume.disk.as_ref().filter(|disk| disk.path != ELSEWHERE) else {
        return claims;
    };
    let hint = "give each volume a disk of its own, and its metadata too";
    claims.push((Claim::Disk(disk.path.clone()), format!("the disk {}", disk.path), hint));
    if let MetaDisk::External { path, index } = &disk.meta_disk {
        let slot = index.map_or_else(String::new, |index| format!(" [{index}]"));
        let claim = match *index {
            Some(index) => Claim::Slot(path.clone(), index),
            None => Claim::Disk(path.clone()),
        };
        claims.push((claim, format!("the disk {path}{slot} for metadata"), hint));
    }
    claims
}
