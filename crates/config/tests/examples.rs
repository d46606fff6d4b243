//! Files as DRBD users have them parse unchanged, mean what they say, and survive being written.

use std::path::{Path, PathBuf};

use config::diagnostic::ErrorKind;
use config::effective::{AckWhen, OnNoQuorum, Quorum};
use config::model::{MetaDisk, Resource};
use config::{ConfigFile, parse_file, parse_text};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn read(name: &str) -> ConfigFile {
    let config = parse_file(&file(name)).unwrap_or_else(|errors| panic!("{errors}"));
    for resource in &config.resources {
        assert_eq!(&rewritten(resource), resource, "{name} changed on being written");
    }
    config
}

fn rewritten(resource: &Resource) -> Resource {
    let text = resource.to_res_text();
    let mut again = parse_text("written", &text).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(again.resources.len(), 1);
    let again = again.resources.remove(0);
    assert_eq!(again.to_res_text(), text, "the canonical text is not a fixed point");
    again
}

#[test]
fn two_paths_between_hosts_without_addresses() {
    let config = read("two_paths.res");
    let resource = &config.resources[0];
    assert_eq!(resource.name, "test");
    assert_eq!(resource.volume_numbers(), [1]);
    let volume = resource.host_by_name("hostB").unwrap().volume(1).unwrap();
    assert_eq!(volume.device.as_ref().unwrap().minor, 1);
    let disk = volume.disk.as_ref().unwrap();
    assert_eq!(disk.path, "/dev/vg/lv");
    assert_eq!(disk.meta_disk, MetaDisk::Internal);
    let peers = resource.peers_of("hostB");
    assert_eq!(peers.len(), 1);
    assert_eq!((peers[0].name.as_str(), peers[0].node_id), ("hostA", 0));
    let local_first = [
        ("10.0.0.2:7900".parse().unwrap(), "10.0.0.1:7900".parse().unwrap()),
        ("10.0.1.2:7900".parse().unwrap(), "10.0.1.1:7900".parse().unwrap()),
    ];
    assert_eq!(peers[0].paths, local_first);
    assert_eq!(resource.resource_options("hostA").quorum, Quorum::Majority);
    assert_eq!(resource.resource_options("hostA").on_no_quorum, OnNoQuorum::SuspendIo);
    assert_eq!(resource.net_options("hostA", "hostB").ack_when, AckWhen::Durable);
    let told: Vec<&str> = config.warnings.iter().map(|warning| warning.option.as_str()).collect();
    let expected = [
        "cpu-mask",
        "read-balancing",
        "load-balance-paths",
        "rcvbuf-size",
        "sndbuf-size",
        "max-buffers",
    ];
    assert_eq!(told, expected);
}

#[test]
fn safety_options_are_refused_until_they_work() {
    let text = "resource r { net { shared-secret s3cret; protocol A; } }";
    let errors = parse_text("r.res", text).unwrap_err();
    assert!(errors.has(ErrorKind::NotBuilt));
    assert!(!errors.to_string().contains("s3cret"), "{errors}");
}
