//! A configuration of thousands of resources is read in a moment.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::fmt::Write;
use std::fs;

use config::parse_file;

const RESOURCES: u64 = 10_000;
/// Fewer than resources: to write files takes longer than to read them.
const FILES: u64 = 2_000;
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

#[test]
fn ten_thousand_resources_of_one_file_are_read_within_a_second() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.res");
    fs::write(&path, text(RESOURCES)).unwrap();
    let began = processor_time();
    let config = parse_file(&path).unwrap();
    let took = processor_time() - began;
    assert_eq!(config.resources.len() as u64, RESOURCES);
    assert!(took < NANOSECONDS_MAX, "{took} ns");
}

#[test]
fn files_take_no_longer_for_being_many() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.conf");
    fs::write(&path, "include \"d/*.res\";").unwrap();
    fs::create_dir(directory.path().join("d")).unwrap();
    for (number, one) in text(FILES).split_inclusive("\n}\n").enumerate() {
        fs::write(directory.path().join(format!("d/{number}.res")), one).unwrap();
    }
    let began = processor_time();
    let config = parse_file(&path).unwrap();
    let took = processor_time() - began;
    assert_eq!(config.resources.len() as u64, FILES);
    assert!(took < NANOSECONDS_MAX / RESOURCES * FILES, "{took} ns");
}
