//! What a node serves for Prometheus has all that drbd-reactor exports, under its names and with
//! its labels, so that dashboards and alerts that are there go on working.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::harness::{Cluster, own_port};

const RESOURCE: &str = "name";
const CONNECTION: &str = "name conn_name peer_node_id";
const PEER_DEVICE: &str = "name conn_name peer_node_id volume";
const DEVICE: &str = "name volume minor";

/// Name, type and labels of each; a label of a state has the name of the metric.
const OF_REACTOR: [(&str, &str, &str); 28] = [
    ("drbdreactor_up", "gauge", ""),
    ("drbd_version", "gauge", "kmod utils"),
    ("drbd_resource_resources", "gauge", ""),
    ("drbd_resource_role", "gauge", RESOURCE),
    ("drbd_resource_suspended", "gauge", RESOURCE),
    ("drbd_resource_maypromote", "gauge", RESOURCE),
    ("drbd_resource_promotionscore", "gauge", RESOURCE),
    ("drbd_resource_forceiofailures", "gauge", RESOURCE),
    ("drbd_connection_state", "gauge", CONNECTION),
    ("drbd_connection_congested", "gauge", CONNECTION),
    ("drbd_connection_apinflight_bytes", "gauge", CONNECTION),
    ("drbd_connection_rsinflight_bytes", "gauge", CONNECTION),
    ("drbd_peerdevice_outofsync_bytes", "gauge", PEER_DEVICE),
    ("drbd_peerdevice_sent_bytes", "counter", PEER_DEVICE),
    ("drbd_peerdevice_received_bytes", "counter", PEER_DEVICE),
    ("drbd_device_state", "gauge", DEVICE),
    ("drbd_device_client", "gauge", DEVICE),
    ("drbd_device_unintentionaldiskless", "gauge", DEVICE),
    ("drbd_device_quorum", "gauge", DEVICE),
    ("drbd_device_open", "gauge", DEVICE),
    ("drbd_device_alsuspended", "gauge", DEVICE),
    ("drbd_device_size_bytes", "gauge", DEVICE),
    ("drbd_device_read_bytes_total", "counter", DEVICE),
    ("drbd_device_written_bytes_total", "counter", DEVICE),
    ("drbd_device_alwrites_total", "counter", DEVICE),
    ("drbd_device_bmwrites_total", "counter", DEVICE),
    ("drbd_device_upperpending", "gauge", DEVICE),
    ("drbd_device_lowerpending", "gauge", DEVICE),
];
const STATES: [&str; 3] = ["drbd_resource_role", "drbd_connection_state", "drbd_device_state"];

pub(crate) fn scrape(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    body.to_owned()
}

/// Of each metric its type and, of all its samples, the names of the labels.
fn families(text: &str) -> BTreeMap<&str, (&str, BTreeSet<Vec<&str>>)> {
    let mut families = BTreeMap::new();
    for line in text.lines() {
        if let Some(typed) = line.strip_prefix("# TYPE ") {
            let (name, kind) = typed.split_once(' ').unwrap();
            families.insert(name, (kind, BTreeSet::new()));
        } else if !line.starts_with('#') {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
            let (name, labels) = sample.split_once('{').unwrap_or((sample, ""));
            let labels = labels.trim_end_matches('}').split(',').filter(|it| !it.is_empty());
            let names: Vec<&str> = labels.map(|it| it.split_once('=').unwrap().0).collect();
            if let Some((_, all)) = families.get_mut(name) {
                all.insert(names);
            }
        }
    }
    families
}

#[test]
fn metrics_have_the_names_and_labels_of_drbd_reactor() {
    let mut cluster = Cluster::prepare(3, 0);
    let address = own_port();
    cluster.nodes[0].words = vec!["--metrics".to_owned(), address.to_string()];
    cluster.begin();
    cluster.make_in_sync();
    // The scrapes of a node in each role, and of one that has lost a peer.
    let secondary = scrape(address);
    let mut client = cluster.client(0);
    client.write(0, &[1; 4096]).unwrap();
    let primary = scrape(address);
    cluster.kill(2);
    for text in [&secondary, &primary, &scrape(address)] {
        let served = families(text);
        for (name, kind, labels) in OF_REACTOR {
            let (found, samples) = served.get(name).unwrap_or_else(|| panic!("no {name}"));
            assert_eq!(*found, kind, "type of {name}");
            let mut labels: Vec<&str> = labels.split_whitespace().collect();
            labels.extend(STATES.contains(&name).then_some(name));
            assert_eq!(samples, &BTreeSet::from([labels]), "labels of {name}");
        }
    }
    let is_in = |text: &str, metric: &str, labels: &[(&str, &str)]| {
        let labels: Vec<String> =
            labels.iter().map(|(name, it)| format!("{name}=\"{it}\"")).collect();
        let line = format!("{metric}{{{}}} 1", labels.join(","));
        assert!(text.lines().any(|it| it == line), "no {line} in {text}");
    };
    let device = [("name", "r0"), ("volume", "0"), ("minor", "1")];
    is_in(&secondary, "drbd_resource_role", &[("name", "r0"), ("drbd_resource_role", "Primary")]);
    is_in(&primary, "drbd_device_open", &device);
    let state = "drbd_device_state";
    is_in(&primary, state, &[&device[..], &[(state, "UpToDate")]].concat());
    let peer = [("name", "r0"), ("conn_name", "n1"), ("peer_node_id", "1")];
    let state = "drbd_connection_state";
    is_in(&primary, state, &[&peer[..], &[(state, "Connected")]].concat());
}
