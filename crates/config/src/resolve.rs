//! From what the files say to what they mean: inheritance, expansion, and the checks that need more
//! than one statement.
//!
//! Options come from `common`, or from the template file of the resource in its place, and are
//! overridden by the resource; what a host, a volume or a connection says stays with it.

mod connections;
mod hosts;

use std::collections::BTreeMap;

use crate::ast::{Document, ResourceNode, Setting};
use crate::diagnostic::{ErrorKind, Problem, Report, Span};
use crate::effective::{AckWhen, OnCongestion};
use crate::limits::{CONNECTIONS_TOTAL_MAX, REPLICAS_MAX, RESOURCES_MAX};
use crate::model::Resource;
use crate::options::reasons::condition_of;
use crate::options::{OptionSet, Section};

/// The resources of a document. What is wrong is reported; a resource with an error is left out.
pub(crate) fn resources(report: &mut Report, document: &Document) -> Vec<Resource> {
    let no_settings = Vec::new();
    let common = document.common.as_ref().map_or(&no_settings, |common| &common.value);
    let mut names: BTreeMap<&str, Span> = BTreeMap::new();
    let mut minors = Minors::default();
    let mut size = Size::default();
    let mut resources = Vec::new();
    for node in &document.resources {
        if let Some(first) = names.insert(&node.name.value, node.name.span) {
            let what = format!("the resource `{}`", node.name.value);
            let problem = report.duplicate(&what, node.name.span, first);
            report.problem(problem);
        }
        // What follows from a mistake would only hide the mistake.
        if node.is_damaged {
            continue;
        }
        if let Err(what) = size.grow(node) {
            let message = format!("the configuration has more than {what}");
            report.problem(
                Problem::new(ErrorKind::TooLarge, node.name.span, message)
                    .hint("describe fewer resources, volumes or hosts in one configuration"),
            );
            break;
        }
        if let Some(resource) = resource(report, node, common) {
            minors.check(report, node, &resource);
            resources.push(resource);
        }
    }
    resources
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
    Some(resource)
}

/// A policy for a peer that is waited for anyway.
fn warn_of_congestion(report: &mut Report, node: &ResourceNode, resource: &Resource) {
    for connection in &resource.connections {
        let [left, right] = &connection.ends;
        let net = resource.net_options(left, right);
        let then = net.congestion.then;
        if then != OnCongestion::Block && net.ack_when != AckWhen::Sent {
            let needs = condition_of("on-congestion").unwrap_or_default();
            let message = format!(
                "`on-congestion` changes nothing between `{left}` and `{right}`: it is in effect \
                 {needs}"
            );
            report.warn_once("on-congestion", node.name.span, message);
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

/// Who uses which device minor: on one host each may be used once, by whatever resource.
#[derive(Default)]
struct Minors {
    users: BTreeMap<(String, u32), String>,
}

impl Minors {
    fn check(&mut self, report: &mut Report, node: &ResourceNode, resource: &Resource) {
        for host in &resource.hosts {
            for volume in &host.volumes {
                let Some(device) = &volume.device else { continue };
                let user = format!("volume {} of {}", volume.number, resource.name);
                let key = (host.name.clone(), device.minor);
                let Some(other) = self.users.insert(key, user) else { continue };
                let message = format!(
                    "volume {} of {} has the device minor {} on host {}, as {other} has",
                    volume.number, resource.name, device.minor, host.name
                );
                let problem = Problem::new(ErrorKind::Duplicate, node.name.span, message);
                report.problem(problem.hint("give each volume of a host its own minor"));
            }
        }
    }
}
