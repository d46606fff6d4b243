//! A resource as XML, in the shape that `drbdadm dump-xml` has: for programs that read it there.
//!
//! What is inherited stands with the one that inherits it; there is no `common` section.

use std::fmt::{self, Write};
use std::net::SocketAddr;

use crate::model::{Connection, Host, MetaDisk, Resource, Volume};
use crate::options::OptionSet;

/// A `config` element with these resources; `file` is where they were read.
#[must_use]
pub fn to_xml(file: &str, resources: &[&Resource]) -> String {
    let mut out = Xml { text: String::new(), depth: 0 };
    write_config(&mut out, file, resources).expect("writing to a string does not fail");
    out.text
}

struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    fn line(&mut self, text: fmt::Arguments<'_>) -> fmt::Result {
        writeln!(self.text, "{:1$}{text}", "", self.depth * 4)
    }

    fn open(&mut self, tag: fmt::Arguments<'_>) -> fmt::Result {
        self.line(format_args!("<{tag}>"))?;
        self.depth += 1;
        Ok(())
    }

    fn close(&mut self, tag: &str) -> fmt::Result {
        self.depth -= 1;
        self.line(format_args!("</{tag}>"))
    }
}

fn write_config(out: &mut Xml, file: &str, resources: &[&Resource]) -> fmt::Result {
    out.open(format_args!("config file=\"{}\"", escaped(file)))?;
    for resource in resources {
        out.open(format_args!("resource name=\"{}\"", escaped(&resource.name)))?;
        for host in &resource.hosts {
            write_host(out, host)?;
        }
        for connection in &resource.connections {
            write_connection(out, connection)?;
        }
        write_section(out, "options", &resource.options)?;
        write_section(out, "net", &resource.net)?;
        write_section(out, "disk", &resource.disk)?;
        write_section(out, "startup", &resource.startup)?;
        write_section(out, "handlers", &resource.handlers)?;
        out.close("resource")?;
    }
    out.close("config")
}

fn write_host(out: &mut Xml, host: &Host) -> fmt::Result {
    out.open(format_args!("host name=\"{}\"", escaped(&host.name)))?;
    write_section(out, "options", &host.options)?;
    for volume in &host.volumes {
        write_volume(out, volume)?;
    }
    if let Some(address) = host.address {
        out.line(format_args!("{}", address_element(address)))?;
    }
    out.close("host")
}

fn write_volume(out: &mut Xml, volume: &Volume) -> fmt::Result {
    out.open(format_args!("volume vnr=\"{}\"", volume.number))?;
    write_section(out, "disk", &volume.options)?;
    if let Some(device) = &volume.device {
        let path = device.path.as_deref().map_or_else(String::new, escaped);
        out.line(format_args!("<device minor=\"{}\">{path}</device>", device.minor))?;
    }
    match &volume.disk {
        None => out.line(format_args!("<disk>none</disk>"))?,
        Some(disk) => {
            out.line(format_args!("<disk>{}</disk>", escaped(&disk.path)))?;
            match &disk.meta_disk {
                MetaDisk::Internal => out.line(format_args!("<meta-disk>internal</meta-disk>"))?,
                MetaDisk::External { path, index: None } => {
                    out.line(format_args!("<meta-disk>{}</meta-disk>", escaped(path)))?;
                }
                MetaDisk::External { path, index: Some(index) } => {
                    let path = escaped(path);
                    out.line(format_args!("<meta-disk index=\"{index}\">{path}</meta-disk>"))?;
                }
            }
        }
    }
    out.close("volume")
}

fn write_connection(out: &mut Xml, connection: &Connection) -> fmt::Result {
    out.open(format_args!("connection"))?;
    for path in &connection.paths {
        let is_single = connection.paths.len() == 1;
        if !is_single {
            out.open(format_args!("path"))?;
        }
        for (host, address) in connection.ends.iter().zip(path.addresses) {
            let (name, address) = (escaped(host), address_element(address));
            out.line(format_args!("<host name=\"{name}\">{address}</host>"))?;
        }
        if !is_single {
            out.close("path")?;
        }
    }
    write_section(out, "net", &connection.net)?;
    write_section(out, "disk", &connection.disk)?;
    for volume in &connection.volumes {
        out.open(format_args!("volume vnr=\"{}\"", volume.number))?;
        write_section(out, "disk", &volume.disk)?;
        out.close("volume")?;
    }
    out.close("connection")
}

fn write_section(out: &mut Xml, name: &str, options: &OptionSet) -> fmt::Result {
    if options.is_empty() {
        return Ok(());
    }
    out.open(format_args!("section name=\"{name}\""))?;
    for (name, value) in options.iter() {
        let value = escaped(&value.to_string());
        out.line(format_args!("<option name=\"{name}\" value=\"{value}\"/>"))?;
    }
    out.close("section")
}

fn address_element(address: SocketAddr) -> String {
    let family = if address.is_ipv4() { "ipv4" } else { "ipv6" };
    let (ip, port) = (address.ip(), address.port());
    format!("<address family=\"{family}\" port=\"{port}\">{ip}</address>")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
