//! `show`: the configuration that runs, as drbdsetup prints it.
//!
//! What is known of this node stands in `_this_host`, a peer goes by its node id. The text is that
//! of the daemon, not of a file: what `adjust` compares a file with.

use api::connection_state::ConnectionState;
use api::response::Running;
use api::status::ResourceStatus;
use config::model::{MetaDisk, Peer, Resource, Volume};
use config::options::table::TABLE;
use config::options::value::Value;
use config::options::{OptionSpec, SECRET_OPTION, Section};
use config::side::{Options, Side};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write;

use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::outcome::{Answer, Gathering};
use crate::adm::question::{running_texts, status};
use crate::adm::status_text::{Statistics, nothing_configured};
use crate::adm::target::{Scope, names, parse_targets};
use crate::setup::arguments::Show;

/// Whether options that were not set are shown too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defaults {
    Hidden,
    Shown,
}

pub(crate) fn show(
    general: &General,
    options: &Show,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let resources = names(&parse_targets(&options.resources, Scope::Resource)?);
    let reply = running_texts(general, resources.clone())?;
    let states = status(general, resources, Statistics::Hidden)?.resources;
    if reply.resources.is_empty() {
        gathering.note(nothing_configured());
    }
    let defaults = if options.show_defaults { Defaults::Shown } else { Defaults::Hidden };
    for Running { resource, config_text } in &reply.resources {
        let file = config::parse_text(resource, config_text).map_err(AdmError::Parse)?;
        let Some(configured) = file.resource(resource) else { continue };
        let Some(side) = Side::of(configured, &reply.node) else { continue };
        let state = states.iter().find(|state| state.name == *resource);
        let shown = Shown { side, state, defaults };
        gathering.answer(&shown.text(), Answer::Json(shown.json()));
    }
    Ok(())
}

/// One resource, and how it is shown.
struct Shown<'s> {
    side: Side<'s>,
    state: Option<&'s ResourceStatus>,
    defaults: Defaults,
}

impl Shown<'_> {
    fn resource(&self) -> &Resource {
        self.side.resource
    }

    fn connection_state(&self, peer: &Peer) -> ConnectionState {
        let connections = self.state.iter().flat_map(|state| &state.connections);
        let mut own = connections.filter(|connection| connection.peer_node_id == peer.node_id);
        own.next().map_or(ConnectionState::StandAlone, |connection| connection.connection_state)
    }

    /// What was given, or with the defaults all that belongs into `section`.
    fn filled(&self, given: &Options, belongs: impl Fn(&OptionSpec) -> bool) -> Vec<Shape> {
        let shape = |(name, value): &(&'static str, Value)| Shape {
            name,
            value: value.clone(),
            is_default: false,
        };
        let mut shapes: Vec<Shape> = given.iter().map(shape).collect();
        if self.defaults == Defaults::Shown {
            let missing = TABLE
                .iter()
                .filter(|spec| belongs(spec) && !given.iter().any(|(name, _)| *name == spec.name));
            shapes.extend(missing.filter_map(|spec| {
                let value = config::options::OptionSet::default().value(spec.name)?;
                Some(Shape { name: spec.name, value, is_default: true })
            }));
        }
        shapes
    }

    fn options(&self) -> Vec<Shape> {
        let given = self.side.resource_options();
        self.filled(&given, |spec| spec.section == Section::Options)
    }

    fn net(&self, peer: &Peer) -> Vec<Shape> {
        let mut shapes =
            vec![Shape { name: "_name", value: Value::Text(peer.name.clone()), is_default: false }];
        let mut given = self.side.net_options(peer);
        given.retain(|(name, _)| *name != SECRET_OPTION);
        shapes.extend(self.filled(&given, |spec| spec.section == Section::Net));
        shapes
    }

    fn disk(&self, volume: &Volume) -> Vec<Shape> {
        let given = self.side.disk_options(volume);
        self.filled(&given, |spec| spec.section == Section::Disk && !spec.is_per_peer)
    }

    fn peer_disk(&self, peer: &Peer, number: u16) -> Vec<Shape> {
        let given = self.side.peer_device_options(peer, number);
        self.filled(&given, |spec| spec.section == Section::Disk && spec.is_per_peer)
    }

    fn text(&self) -> String {
        let mut out = Text::default();
        out.open(&format!("resource \"{}\"", self.resource().name));
        out.section("options", &self.options());
        out.open("_this_host");
        out.line(&format!("node-id\t\t\t{};", self.side.host.node_id));
        for volume in &self.side.host.volumes {
            out.open(&format!("volume {}", volume.number));
            if let Some(device) = &volume.device {
                out.line(&format!("device\t\t\tminor {};", device.minor));
            }
            if let Some(disk) = &volume.disk {
                out.line(&format!("disk\t\t\t\"{}\";", disk.path));
                out.line(&format!("meta-disk\t\t\t{};", meta_text(&disk.meta_disk)));
                out.section("disk", &self.disk(volume));
            } else {
                out.line("disk\t\t\tnone;");
            }
            out.close();
        }
        out.close();
        for peer in &self.side.peers {
            out.open("connection");
            out.line(&format!("_peer_node_id {};", peer.node_id));
            for (local, remote) in &peer.paths {
                out.open("path");
                out.line(&format!("_this_host {};", address_text(*local)));
                out.line(&format!("_remote_host {};", address_text(*remote)));
                out.close();
            }
            out.line(&format!("_cstate {};", self.connection_state(peer)));
            out.section("net", &self.net(peer));
            if self.side.net_options(peer).iter().any(|(name, _)| *name == SECRET_OPTION) {
                out.line("# its shared-secret is not shown");
            }
            for volume in &self.side.host.volumes {
                let options = self.peer_disk(peer, volume.number);
                if !options.is_empty() {
                    out.open(&format!("volume {}", volume.number));
                    out.section("disk", &options);
                    out.close();
                }
            }
            out.close();
        }
        out.close();
        out.text.push('\n');
        out.text
    }

    fn json(&self) -> Json {
        let volumes = self.side.host.volumes.iter().map(|volume| {
            let mut object = json!({ "volume_nr": volume.number });
            if let Some(device) = &volume.device {
                object["device_minor"] = device.minor.into();
            }
            match &volume.disk {
                None => object["backing-disk"] = "none".into(),
                Some(disk) => {
                    object["backing-disk"] = disk.path.as_str().into();
                    object["meta-disk"] = meta_text(&disk.meta_disk).replace('"', "").into();
                    object["disk"] = section_json(&self.disk(volume));
                }
            }
            object
        });
        let connections = self.side.peers.iter().map(|peer| {
            let paths = peer.paths.iter().map(|(local, remote)| {
                json!({
                    "_this_host": address_text(*local), "_remote_host": address_text(*remote),
                })
            });
            let volumes = self.side.host.volumes.iter().map(|volume| {
                let options = section_json(&self.peer_disk(peer, volume.number));
                json!({ "volume_nr": volume.number, "disk": options })
            });
            json!({
                "_peer_node_id": peer.node_id,
                "paths": paths.collect::<Vec<_>>(),
                "_cstate": self.connection_state(peer).as_str(),
                "net": section_json(&self.net(peer)),
                "volumes": volumes.collect::<Vec<_>>(),
            })
        });
        json!({
            "resource": self.resource().name,
            "options": section_json(&self.options()),
            "_this_host": {
                "node-id": self.side.host.node_id,
                "volumes": volumes.collect::<Vec<_>>(),
            },
            "connections": connections.collect::<Vec<_>>(),
        })
    }
}

/// One option as it is shown.
struct Shape {
    name: &'static str,
    value: Value,
    is_default: bool,
}

fn section_json(options: &[Shape]) -> Json {
    let value = |value: &Value| match value {
        Value::Flag(flag) => Json::Bool(*flag),
        Value::Number { .. } | Value::Word(_) | Value::Text(_) => value.to_string().into(),
    };
    let all = options.iter().map(|shape| (shape.name.to_owned(), value(&shape.value)));
    Json::Object(all.collect::<Map<String, Json>>())
}

fn meta_text(meta_disk: &MetaDisk) -> String {
    match meta_disk {
        MetaDisk::Internal => "internal".to_owned(),
        MetaDisk::External { path, index: None } => format!("\"{path}\""),
        MetaDisk::External { path, index: Some(index) } => format!("\"{path}\" [ {index} ]"),
    }
}

fn address_text(address: std::net::SocketAddr) -> String {
    let family = if address.is_ipv4() { "ipv4" } else { "ipv6" };
    format!("{family} {address}")
}

#[derive(Default)]
struct Text {
    text: String,
    depth: usize,
}

impl Text {
    fn line(&mut self, line: &str) {
        let indent = self.depth * 4;
        writeln!(self.text, "{:indent$}{line}", "").expect("writing to a string does not fail");
    }

    fn open(&mut self, header: &str) {
        self.line(&format!("{header} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn section(&mut self, name: &str, options: &[Shape]) {
        if options.is_empty() {
            return;
        }
        self.open(name);
        for Shape { name, value, is_default } in options {
            let value = match value {
                Value::Text(text) => format!("\"{text}\""),
                Value::Flag(_) | Value::Number { .. } | Value::Word(_) => value.to_string(),
            };
            let comment = if *is_default { " # default" } else { "" };
            self.line(&format!("{name:<16}\t{value};{comment}"));
        }
        self.close();
    }
}
