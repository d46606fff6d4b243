//! What options come to: of a volume, of a connection, and where one is another word for another.

use config::model::Resource;
use config::parse_text;

/// Two replicas and a third host without a disk, which is connected to each of them.
fn resource(disk: &str, net: &str, third: &str) -> Resource {
    let text = format!(
        "resource r {{ disk {{ {disk} }} net {{ {net} }} device minor 1;
  on a {{ node-id 0; disk /d; address 10.0.0.1:1; }}
  on b {{ node-id 1; disk /d; address 10.0.0.2:1; }}
  on c {{ node-id 2; disk none; address 10.0.0.3:1; }}
  connection {{ host a; host b; }}
  connection {{ host a; host c; {third} }}
  connection {{ host b; host c; }} }}"
    );
    let mut file = parse_text("r.res", &text).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(file.warnings, []);
    file.resources.remove(0)
}

#[test]
fn options_of_a_volume_are_sizes_of_bytes() {
    let plain = resource("", "", "").disk_options("a", 0);
    assert_eq!((plain.size_bytes, plain.disk_timeout_ms), (None, None));
    assert_eq!((plain.block_bytes, plain.discard_granularity_bytes), (512, None));
    let disk = "size 10M; disk-timeout 15; block-size 4096; discard-granularity 64K;";
    let said = resource(disk, "", "").disk_options("a", 0);
    assert_eq!((said.size_bytes, said.disk_timeout_ms), (Some(10 << 20), Some(1_500)));
    assert_eq!((said.block_bytes, said.discard_granularity_bytes), (4096, Some(64 << 10)));
    let none = resource("discard-granularity 0;", "", "").disk_options("a", 0);
    assert_eq!(none.discard_granularity_bytes, Some(0));
}

#[test]
fn options_of_a_connection_hold_for_its_two_hosts() {
    let said = resource("", "", "net { allow-remote-read no; sndbuf-size 96K; }");
    assert!(!said.net_options("a", "c").allow_remote_read);
    assert!(said.net_options("b", "c").allow_remote_read);
    assert_eq!(said.net_options("c", "a").send_buffer_bytes, Some(96 << 10));
    assert_eq!(said.net_options("b", "a").send_buffer_bytes, None);
    let said = resource("", "csums-alg md5; csums-after-crash-only;", "");
    assert!(said.net_options("a", "b").csums_after_crash_only);
    let third = resource("", "", "disk { peer-tiebreaker no; }");
    assert!(!third.peer_disk_options("a", "c", 0).peer_tiebreaker);
    assert!(third.peer_disk_options("b", "c", 0).peer_tiebreaker);
}

/// It says of itself what `peer-tiebreaker no` on each connection to it says.
#[test]
fn a_volume_that_is_no_tiebreaker_is_none_for_any_peer() {
    let text = "resource r { device minor 1; volume 0 { meta-disk internal; } \
         on a { node-id 0; address 10.0.0.1:1; volume 0 { disk /d; } } \
         on b { node-id 1; address 10.0.0.2:1; volume 0 { disk /d; } } \
         on c { node-id 2; address 10.0.0.3:1; volume 0 { disk none; tiebreaker no; } } \
         connection-mesh { hosts a b c; } }";
    let file = parse_text("r.res", text).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(file.warnings, []);
    let resource = &file.resources[0];
    for (from, to, holds) in [("a", "c", false), ("b", "c", false), ("a", "b", true)] {
        assert_eq!(resource.peer_disk_options(from, to, 0).peer_tiebreaker, holds, "{from} {to}");
    }
    let said = config::steps::steps(None, resource, "a");
    let told = |peer: &str| {
        said.iter().any(|it| it.text.contains(peer) && it.text.contains("--peer-tiebreaker=no"))
    };
    assert!(told("peer-device-options r 2 ") && !told("peer-device-options r 1 "), "{said:?}");
}

#[test]
fn the_transport_that_balances_uses_all_paths() {
    let balances = |net| resource("", net, "").net_options("a", "b").load_balance_paths;
    assert!(balances("transport lb-tcp;") && balances("load-balance-paths yes;"));
    assert!(!balances("transport tcp;") && !balances(""));
}
