//! A configuration of thousands of resources is read in a moment.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use config::parse_file;

const RESOURCES: u64 = 10_000;
const NANOSECONDS_MAX: u64 = 1_000_000_000;

/// What this thread has had of a processor, in nanoseconds: other load does not count.
fn processor_time() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// Of three hosts each, as a generator writes them.
fn text(resources: u64) -> String {
    let mut text = String::from("common { net { protocol C; verify-alg crc32c; } }\n");
    for number in 0..resources {
        writeln!(text, "resource \"volume-{number}\" {{").unwrap();
        writeln!(text, "  options {{ quorum majority; on-no-quorum suspend-io; }}").unwrap();
        writeln!(text, "  net {{ max-buffers 8000; ping-timeout 8; }}").unwrap();
        for (id, host) in ["alpha", "bravo.example.com", "charlie"].into_iter().enumerate() {
            writeln!(text, "  on {host} {{ node-id {id}; address 192.0.2.{id}:7000;").unwrap();
            writeln!(text, "    volume 0 {{ device minor {number}; disk /dev/vg/v{number};")
                .unwrap();
            writeln!(text, "      meta-disk internal; disk {{ al-extents 257; }} }} }}").unwrap();
        }
        writeln!(text, "  connection-mesh {{ hosts alpha bravo charlie; }}\n}}").unwrap();
    }
    text
}

/// The least processor time of three readings, each of which finds all resources: the caches and
/// cores that other tests share make one reading up to twice as long.
fn assert_is_read_within_a_second(path: &Path) {
    let took = (0..3).map(|_| {
        let began = processor_time();
        let config = parse_file(path).unwrap();
        let took = processor_time() - began;
        assert_eq!(config.resources.len() as u64, RESOURCES);
        took
    });
    let took = took.min().unwrap();
    assert!(took < NANOSECONDS_MAX, "{took} ns");
}

#[test]
fn ten_thousand_resources_of_one_file_are_read_within_a_second() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.res");
    fs::write(&path, text(RESOURCES)).unwrap();
    assert_is_read_within_a_second(&path);
}

#[test]
fn files_take_no_longer_for_being_many() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.conf");
    fs::write(&path, "include \"d/*.res\";").unwrap();
    fs::create_dir(directory.path().join("d")).unwrap();
    for (number, one) in text(RESOURCES).split_inclusive("\n}\n").enumerate() {
        fs::write(directory.path().join(format!("d/{number}.res")), one).unwrap();
    }
    assert_is_read_within_a_second(&path);
}
