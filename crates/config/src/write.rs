//! A resource as text: canonical, complete in itself, in the shape that `drbdadm dump` has.
//!
//! What is written reads back to an equal [`Resource`], and the same resource is always the same
//! text, so that texts may be compared and stored.

use std::fmt::{self, Write};
use std::net::SocketAddr;

use crate::lexer::is_word_char;
use crate::limits::WORD_BYTES_MAX;
use crate::model::{Connection, Host, MetaDisk, Path, Resource, Volume};
use crate::options::value::Value;
use crate::options::{Kind, OptionSet, spec_of};

impl Resource {
    /// `resource NAME { .. }`, with everything inherited written out and a newline at the end.
    #[must_use]
    pub fn to_res_text(&self) -> String {
        let mut text = String::new();
        write_resource(&mut Indented { out: &mut text, depth: 0 }, self)
            .expect("writing to a string does not fail");
        text
    }
}

struct Indented<'o> {
    out: &'o mut String,
    depth: usize,
}

impl Indented<'_> {
    fn line(&mut self, text: fmt::Arguments<'_>) -> fmt::Result {
        writeln!(self.out, "{:1$}{text}", "", self.depth * 4)
    }

    /// `NAME      VALUE;`
    fn statement(&mut self, name: &str, value: &str) -> fmt::Result {
        self.line(format_args!("{name:<16} {value};"))
    }

    fn open(&mut self, header: &str) -> fmt::Result {
        self.line(format_args!("{header} {{"))?;
        self.depth += 1;
        Ok(())
    }

    fn close(&mut self) -> fmt::Result {
        self.depth -= 1;
        self.line(format_args!("}}"))
    }
}

fn write_resource(out: &mut Indented<'_>, resource: &Resource) -> fmt::Result {
    out.open(&format!("resource {}", quoted(&resource.name)))?;
    for host in &resource.hosts {
        write_host(out, host)?;
    }
    for connection in &resource.connections {
        write_connection(out, connection)?;
    }
    write_options(out, "options", &resource.options)?;
    write_options(out, "net", &resource.net)?;
    write_options(out, "disk", &resource.disk)?;
    write_options(out, "startup", &resource.startup)?;
    write_options(out, "handlers", &resource.handlers)?;
    out.close()
}

fn write_host(out: &mut Indented<'_>, host: &Host) -> fmt::Result {
    match host.address {
        Some(address) if host.is_floating => {
            out.open(&format!("floating {}", address_text(address)))?;
        }
        _ => {
            let others = host.other_names.iter().map(|name| quoted(name));
            let names: Vec<String> = std::iter::once(quoted(&host.name)).chain(others).collect();
            out.open(&format!("on {}", names.join(" ")))?;
        }
    }
    out.statement("node-id", &host.node_id.to_string())?;
    write_options(out, "options", &host.options)?;
    for volume in &host.volumes {
        write_volume(out, volume)?;
    }
    if let Some(address) = host.address.filter(|_| !host.is_floating) {
        out.statement("address", &address_text(address))?;
    }
    out.close()
}

fn write_volume(out: &mut Indented<'_>, volume: &Volume) -> fmt::Result {
    out.open(&format!("volume {}", volume.number))?;
    if let Some(device) = &volume.device {
        let path = device.path.as_ref().map_or_else(String::new, |path| quoted(path) + " ");
        out.statement("device", &format!("{path}minor {}", device.minor))?;
    }
    match &volume.disk {
        None => out.statement("disk", "none")?,
        Some(disk) => {
            out.statement("disk", &quoted(&disk.path))?;
            out.statement("meta-disk", &meta_disk_text(&disk.meta_disk))?;
        }
    }
    if let Some(is_tiebreaker) = volume.is_tiebreaker {
        out.statement("tiebreaker", if is_tiebreaker { "yes" } else { "no" })?;
    }
    write_options(out, "disk", &volume.options)?;
    out.close()
}

fn meta_disk_text(meta_disk: &MetaDisk) -> String {
    match meta_disk {
        MetaDisk::Internal => "internal".to_owned(),
        MetaDisk::External { path, index: None } => quoted(path),
        MetaDisk::External { path, index: Some(index) } => format!("{} [{index}]", quoted(path)),
    }
}

fn write_connection(out: &mut Indented<'_>, connection: &Connection) -> fmt::Result {
    out.open("connection")?;
    match connection.paths.as_slice() {
        [only] => write_path(out, connection, only)?,
        several => {
            for path in several {
                out.open("path")?;
                write_path(out, connection, path)?;
                out.close()?;
            }
        }
    }
    write_options(out, "net", &connection.net)?;
    write_options(out, "disk", &connection.disk)?;
    for volume in &connection.volumes {
        out.open(&format!("volume {}", volume.number))?;
        write_options(out, "disk", &volume.disk)?;
        out.close()?;
    }
    out.close()
}

fn write_path(out: &mut Indented<'_>, connection: &Connection, path: &Path) -> fmt::Result {
    for (host, address) in connection.ends.iter().zip(path.addresses) {
        let value = format!("{:<16} address {}", quoted(host), address_text(address));
        out.statement("host", &value)?;
    }
    Ok(())
}

fn write_options(out: &mut Indented<'_>, section: &str, options: &OptionSet) -> fmt::Result {
    if options.is_empty() {
        return Ok(());
    }
    out.open(section)?;
    for (name, value) in options.iter() {
        out.statement(name, &value_text(name, value))?;
    }
    out.close()
}

fn value_text(name: &str, value: &Value) -> String {
    let are_names = spec_of(name).is_some_and(|spec| spec.kind == Kind::Names);
    match value {
        Value::Text(names) if are_names => {
            names.split(' ').map(quoted).collect::<Vec<String>>().join(" ")
        }
        Value::Text(text) => quoted(text),
        Value::Flag(_) | Value::Number { .. } | Value::Word(_) => value.to_string(),
    }
}

fn address_text(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => format!("ipv4 {address}"),
        SocketAddr::V6(address) => format!("ipv6 [{}]:{}", address.ip(), address.port()),
    }
}

/// As it is where it is a word, in quotes otherwise.
fn quoted(text: &str) -> String {
    let is_word = !text.is_empty() && text.len() <= WORD_BYTES_MAX;
    if is_word && text.chars().all(is_word_char) {
        return text.to_owned();
    }
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
