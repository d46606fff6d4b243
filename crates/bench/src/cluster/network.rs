//! A network of namespaces: one host per node, which a test can cut.
//!
//! All hosts hang on one bridge, which has a namespace of its own, so nothing of the machine's own
//! network is touched. It needs root, and the programs `ip` and `nft`. Dropping it removes all of
//! it; what a killed process left behind, the next one removes.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};

const PREFIX: &str = "basalt-net-";
/// Interface of a host; the same name in every namespace.
const INTERFACE: &str = "eth0";

/// Of this process, so that each of them has names of its own.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// In which direction packets between two hosts are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Both,
    /// What the first sends to the second.
    OneWay,
}

#[derive(Debug)]
pub(crate) struct Network {
    hub: String,
    hosts: Vec<String>,
}

impl Network {
    /// Makes a bridge and `count` hosts.
    pub(crate) fn create(count: usize) -> Result<Self> {
        remove_leftovers();
        let (process, number) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let name = |end: &str| format!("{PREFIX}{process}-{number}-{end}");
        let hub = name("hub");
        let hosts = (0..count).map(|index| name(&index.to_string())).collect();
        // Made first: what fails half way is removed with it.
        let network = Self { hub, hosts };
        network.build().context("cannot make network namespaces (it takes root)")?;
        Ok(network)
    }

    fn build(&self) -> Result<()> {
        let hub = self.hub.as_str();
        ip(&["netns", "add", hub])?;
        ip(&["-n", hub, "link", "add", "bridge", "type", "bridge"])?;
        ip(&["-n", hub, "link", "set", "bridge", "up"])?;
        for (index, host) in self.hosts.iter().enumerate() {
            let port = format!("port{index}");
            let address = format!("{}/24", Self::address(index));
            ip(&["netns", "add", host])?;
            let pair = ["link", "add", &port, "type", "veth", "peer", "name", INTERFACE];
            ip(&[&["-n", hub], &pair[..], &["netns", host]].concat())?;
            ip(&["-n", hub, "link", "set", &port, "master", "bridge", "up"])?;
            ip(&["-n", host, "link", "set", "lo", "up"])?;
            ip(&["-n", host, "address", "add", &address, "dev", INTERFACE])?;
            ip(&["-n", host, "link", "set", INTERFACE, "up"])?;
        }
        Ok(())
    }

    pub(crate) fn address(index: usize) -> IpAddr {
        let last = u8::try_from(index + 1).expect("few hosts");
        Ipv4Addr::new(10, 77, 0, last).into()
    }

    /// A command that runs on the host.
    pub(crate) fn enter(&self, index: usize) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.hosts[index]]);
        command
    }

    /// Lets the host send so much and no more, from now on.
    pub(crate) fn limit(&self, index: usize, mbit: u32) -> Result<()> {
        let rate = format!("{mbit}mbit");
        // A burst holds what the kernel hands over at once; the queue what is sent in 50 ms.
        let filter = ["rate", &rate, "burst", "256kb", "latency", "50ms"];
        let host = ["-n", &self.hosts[index]];
        let words =
            [&host[..], &["qdisc", "add", "dev", INTERFACE, "root", "tbf"], &filter].concat();
        run(Command::new("tc").args(words))
    }

    /// Loses packets between two hosts from now on.
    pub(crate) fn cut(&self, from: usize, to: usize, direction: Direction) -> Result<()> {
        self.drop_from(to, from)?;
        if direction == Direction::Both {
            self.drop_from(from, to)?;
        }
        Ok(())
    }

    /// The host vanishes: not even a reset leaves it.
    pub(crate) fn unplug(&self, index: usize) -> Result<()> {
        ip(&["-n", &self.hosts[index], "link", "set", INTERFACE, "down"])
    }

    /// Everything is as at the beginning.
    pub(crate) fn heal(&self) -> Result<()> {
        for (index, host) in self.hosts.iter().enumerate() {
            run(self.enter(index).args(["nft", "flush", "ruleset"]))?;
            ip(&["-n", host, "link", "set", INTERFACE, "up"])?;
        }
        Ok(())
    }

    fn drop_from(&self, at: usize, sender: usize) -> Result<()> {
        let sender = Self::address(sender);
        let rules = format!(
            "add table inet cut; \
             add chain inet cut input {{ type filter hook input priority 0; policy accept; }}; \
             add rule inet cut input ip saddr {sender} drop"
        );
        run(self.enter(at).args(["nft", &rules]))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in self.hosts.iter().chain([&self.hub]) {
            // One that was never made cannot be removed.
            ip(&["netns", "delete", name]).ok();
        }
    }
}

/// Best effort: namespaces whose process, named in their name, is gone.
fn remove_leftovers() {
    let Ok(output) = Command::new("ip").args(["netns", "list"]).output() else { return };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some(name) = line.split_whitespace().next() else { continue };
        let Some((pid, _)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')) else {
            continue;
        };
        if pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists() {
            ip(&["netns", "delete", name]).ok();
        }
    }
}

fn ip(words: &[&str]) -> Result<()> {
    run(Command::new("ip").args(words))
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot start {command:?}; is it installed?"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    bail!("{command:?} failed: {}", said.trim())
}
