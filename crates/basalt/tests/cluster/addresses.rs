//! An address of the node that its machine does not have yet, or has again later: the resource is
//! up in spite of it, and its peers are there as soon as the address is.
//!
//! It takes root, and the program `ip`; without them it says so and shows nothing.

use std::net::SocketAddr;
use std::process::Command;

use stdx::testing::skip;

use crate::BLOCK;
use crate::harness::Cluster;

/// A network of its own for all daemons; dropping it removes it.
struct Network(String);

impl Network {
    fn create() -> Option<Self> {
        let network = Self(format!("basalt-addresses-{}", std::process::id()));
        let words = ["netns", "add", &network.0];
        let output = Command::new("ip").args(words).output();
        let may = output.is_ok_and(|output| output.status.success());
        may.then(|| {
            network.ip("link set lo up");
            network
        })
    }

    #[track_caller]
    fn ip(&self, words: &str) {
        let output = Command::new("ip").args(["-n", &self.0]).args(words.split(' ')).output();
        let output = output.unwrap();
        assert!(output.status.success(), "ip {words:?}: {output:?}");
    }

    fn add(&self, address: SocketAddr) {
        self.ip(&format!("address add {}/32 dev lo", address.ip()));
    }

    fn remove(&self, address: SocketAddr) {
        self.ip(&format!("address delete {}/32 dev lo", address.ip()));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        drop(Command::new("ip").args(["netns", "delete", &self.0]).output());
    }
}

fn missing(cluster: &Cluster, index: usize) -> Vec<String> {
    let reasons = cluster.status(index).map(|status| status.reasons).unwrap_or_default();
    reasons.into_iter().filter(|it| it.contains("not of this machine")).collect()
}

/// A network that came up late kept the resource down until an operator brought it up.
#[test]
fn a_resource_is_there_once_its_address_is() {
    let mut cluster = Cluster::prepare(3, 0);
    let Some(network) = Network::create() else {
        skip("namespaces take root and `ip`");
        return;
    };
    for (number, node) in (1..).zip(&mut cluster.nodes) {
        node.entry = ["ip", "netns", "exec", &network.0].map(str::to_owned).to_vec();
        node.address = SocketAddr::from(([10, 79, 7, number], 7900));
    }
    cluster.configure(&cluster.config_text("r0"));
    let addresses: Vec<_> = cluster.nodes.iter().map(|node| node.address).collect();
    // The first one dials, and the last one is dialled.
    network.add(addresses[1]);
    (0..3).for_each(|index| cluster.launch(index));
    for (index, address) in addresses.iter().enumerate() {
        let said = cluster.adm_warned(index, &["up", "r0"]);
        let is_warned = said.contains(&address.to_string()) && said.contains("ip addr");
        assert_eq!(is_warned, index != 1, "{said}");
        assert_eq!(missing(&cluster, index).len(), usize::from(index != 1));
    }
    [0, 2].into_iter().for_each(|index| network.add(addresses[index]));
    cluster.make_in_sync();
    (0..3).for_each(|index| {
        cluster.poll(index, "end of what was missing", || {
            missing(&cluster, index).is_empty().then_some(())
        });
    });
    cluster.client(0).write(0, &[7; BLOCK]).unwrap();

    // A daemon that starts before its network is there.
    for index in [0, 2] {
        cluster.kill(index);
        network.remove(addresses[index]);
        cluster.launch(index);
        cluster.wait_for_log(index, &format!("{} is not of this machine", addresses[index]));
        assert_eq!(missing(&cluster, index).len(), 1);
        network.add(addresses[index]);
        cluster.wait_up_to_date(index);
        cluster.wait_for_log(index, &format!("{} is there", addresses[index]));
    }
    // And one that goes while it is in use.
    network.remove(addresses[2]);
    network.add(addresses[2]);
    cluster.wait_up_to_date(0);
}
