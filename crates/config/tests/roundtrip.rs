//! Whatever can be said is written such that it reads back the same, and no text makes the reader
//! fall over or take long.
//!
//! Each case is made from a seed; a failure prints the seed, and `CONFIG_SEED=N` runs that one
//! alone.
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::fmt::Write;

use config::options::table::TABLE;
use config::options::{ALIKE_ON_ALL_HOSTS, Kind, OptionSpec, Section, Status, value::Value};
use config::{ConfigFile, limits, parse_text};

/// Chance, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(length).unwrap()).unwrap()
    }
    fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }
    fn of<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.index(items.len())]
    }
}

fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("CONFIG_SEED") {
        Ok(seed) => vec![seed.parse().expect("CONFIG_SEED is a number")],
        Err(_) => {
            // `cargo xtask fuzz` goes on from where the fixed ones end.
            let first = std::env::var("FUZZ_FIRST").ok().and_then(|first| first.parse().ok());
            let first: u64 = first.unwrap_or(0);
            (first..first + count).collect()
        }
    }
}

/// A name or string with all that may be in one.
fn text(chance: &mut Chance, length_max: u64) -> String {
    let odd =
        ['a', 'Z', '7', '/', '.', '_', '-', ' ', '"', '\\', '\n', '\t', '{', ';', '#', 'é', '€'];
    let plain = 7;
    let is_odd = chance.one_in(3);
    let length = 1 + chance.below(length_max);
    (0..length).map(|_| if is_odd { *chance.of(&odd) } else { *chance.of(&odd[..plain]) }).collect()
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n").replace('\t', "\\t"))
}

/// A value that the option accepts and that is not refused.
fn value(chance: &mut Chance, spec: &OptionSpec) -> Option<String> {
    if let Status::Refused { works } = spec.status {
        return (!works.is_empty()).then(|| (*chance.of(works)).to_owned());
    }
    Some(match spec.kind {
        Kind::Flag => (*chance.of(&["yes", "no"])).to_owned(),
        Kind::Number { min, max, .. } => match chance.below(3) {
            0 => min.to_string(),
            1 => max.to_string(),
            _ => (min + chance.below(max - min + 1)).to_string(),
        },
        Kind::Clamped { .. } => chance.below(100_000).to_string(),
        Kind::Words(words) | Kind::Letters(words) | Kind::WordsOrNumber { words, .. } => {
            chance.of(words).replace('*', "alice")
        }
        Kind::Text { bytes_max } => {
            let most = u64::try_from(bytes_max.min(limits::STRING_BYTES_MAX) / 3).unwrap();
            quoted(&text(chance, most))
        }
        Kind::Names => "alice bob".to_owned(),
    })
}

fn options(
    chance: &mut Chance,
    out: &mut String,
    keyword: &str,
    wanted: impl Fn(&OptionSpec) -> bool,
) {
    if chance.one_in(3) {
        return;
    }
    writeln!(out, "{keyword} {{").unwrap();
    for spec in TABLE.iter().filter(|spec| wanted(spec)) {
        if !chance.one_in(4) {
            continue;
        }
        let Some(value) = value(chance, spec) else { continue };
        match (spec.kind, value.as_str()) {
            (Kind::Flag, "yes") if chance.one_in(2) => writeln!(out, "{};", spec.name).unwrap(),
            (Kind::Flag, "no") if chance.one_in(2) => writeln!(out, "no-{};", spec.name).unwrap(),
            _ => writeln!(out, "{} {value};", spec.name).unwrap(),
        }
    }
    writeln!(out, "}}").unwrap();
}

fn section(chance: &mut Chance, out: &mut String, section: Section) {
    options(chance, out, section.keyword(), |spec| spec.section == section);
}

fn volume(chance: &mut Chance, out: &mut String, number: u64, minor: u64, host: usize) {
    writeln!(out, "volume {number} {{").unwrap();
    match chance.below(4) {
        0 => writeln!(out, "device /dev/drbd{minor};").unwrap(),
        1 => writeln!(out, "device minor {minor};").unwrap(),
        2 => writeln!(out, "device {} minor {minor};", quoted("/dev/my disk")).unwrap(),
        _ => {}
    }
    if chance.one_in(4) {
        writeln!(out, "disk none;").unwrap();
    } else {
        let path = format!("/{number}/{host}/{}", text(chance, 40));
        writeln!(out, "disk {};", quoted(&path)).unwrap();
        match chance.below(4) {
            0 => writeln!(out, "meta-disk internal;").unwrap(),
            1 => writeln!(out, "meta-disk {};", quoted(&text(chance, 40))).unwrap(),
            2 => writeln!(out, "meta-disk {} [{number}];", quoted(&text(chance, 40))).unwrap(),
            _ => {}
        }
    }
    if chance.one_in(5) {
        writeln!(out, "tiebreaker {};", chance.of(&["yes", "no"])).unwrap();
    }
    section(chance, out, Section::Disk);
    writeln!(out, "}}").unwrap();
}

fn address(chance: &mut Chance, host: usize, net: usize) -> String {
    let port = 1 + chance.below(65_535);
    match chance.below(3) {
        0 => format!("10.{net}.0.{host}:{port}"),
        1 => format!("ipv4 10.{net}.0.{host}:{port}"),
        _ => format!("ipv6 [fd00:{net}::{host}]:{port}"),
    }
}

fn connections(chance: &mut Chance, out: &mut String, names: &[String]) {
    let is_mesh = chance.one_in(2);
    for left in 0..names.len() {
        for right in 0..left {
            if chance.one_in(if is_mesh { 2 } else { 8 }) {
                continue;
            }
            let mut ends = [left, right];
            if chance.one_in(2) {
                ends.swap(0, 1);
            }
            writeln!(out, "connection {{").unwrap();
            for path in 0..=chance.index(3) {
                writeln!(out, "path {{").unwrap();
                for end in ends {
                    let address = address(chance, end, path);
                    writeln!(out, "host {} address {address};", quoted(&names[end])).unwrap();
                }
                writeln!(out, "}}").unwrap();
            }
            section(chance, out, Section::Net);
            options(chance, out, "disk", |spec| spec.is_per_peer);
            if chance.one_in(3) {
                writeln!(out, "volume 0 {{").unwrap();
                options(chance, out, "disk", |spec| spec.is_per_peer);
                writeln!(out, "}}").unwrap();
            }
            writeln!(out, "}}").unwrap();
        }
    }
    if is_mesh && names.len() > 1 {
        let hosts: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        writeln!(out, "connection-mesh {{ hosts {};", hosts.join(" ")).unwrap();
        section(chance, out, Section::Net);
        writeln!(out, "}}").unwrap();
    } else {
        // So that there is a connection whatever chance left out above.
        writeln!(out, "connection-mesh {{ hosts {} {}; }}", quoted(&names[0]), quoted(&names[1]))
            .unwrap();
    }
}

/// A configuration that is right, and says as much as possible.
fn configuration(chance: &mut Chance) -> String {
    let mut out = String::new();
    if chance.one_in(2) {
        out.push_str("common {\n");
        for kind in Section::OF_RESOURCE {
            section(chance, &mut out, kind);
        }
        out.push_str("}\n");
    }
    writeln!(out, "resource r{} {{", chance.below(1000)).unwrap();
    let host_count = 2 + chance.index(5);
    // What comes before the first dot tells hosts apart, and a name has no blank.
    let mut name = |host| format!("{host}{}", text(chance, 30).replace([' ', '\t', '\n'], "+"));
    let names: Vec<String> = (0..host_count).map(&mut name).collect();
    let first_id = chance.below(20);
    let volume_count = 1 + chance.below(3);
    for (host, name) in names.iter().enumerate() {
        let other = if chance.one_in(6) { format!(" other{host}") } else { String::new() };
        writeln!(out, "on {}{other} {{ node-id {};", quoted(name), first_id + host as u64).unwrap();
        writeln!(out, "address {};", address(chance, host, 99)).unwrap();
        // The parser refuses these in the section of a single host.
        options(chance, &mut out, "options", |spec| {
            spec.section == Section::Options && !ALIKE_ON_ALL_HOSTS.contains(&spec.name)
        });
        for number in 0..volume_count {
            volume(chance, &mut out, number, first_id + number, host);
        }
        out.push_str("}\n");
    }
    connections(chance, &mut out, &names);
    for kind in Section::OF_RESOURCE {
        section(chance, &mut out, kind);
    }
    out.push_str("}\n");
    out
}

fn must_parse(seed: u64, text: &str) -> ConfigFile {
    parse_text("r.res", text)
        .unwrap_or_else(|errors| panic!("CONFIG_SEED={seed}\n{errors}\nof\n{text}"))
}

#[test]
fn what_is_written_reads_back_the_same() {
    let mut options_seen = 0;
    for seed in seeds(300) {
        let text = configuration(&mut Chance(seed));
        let config = must_parse(seed, &text);
        let resource = &config.resources[0];
        options_seen += resource.net.iter().count();
        let written = resource.to_res_text();
        let again = must_parse(seed, &written);
        assert_eq!(&again.resources[0], resource, "CONFIG_SEED={seed} changed on being written");
        assert_eq!(again.resources[0].to_res_text(), written, "CONFIG_SEED={seed}");
    }
    assert!(options_seen > 0, "the configurations set nothing");
}

#[test]
fn every_value_of_every_option_is_written_as_it_is_read() {
    for spec in TABLE.iter().filter(|spec| spec.section != Section::Global) {
        for seed in 0..50 {
            let chance = &mut Chance(seed);
            let Some(value) = value(chance, spec) else { continue };
            let section = spec.section.keyword();
            let text = format!(
                "resource r {{ on a {{ node-id 0; }} {section} {{ {} {value}; }} }}",
                spec.name
            );
            let config = must_parse(seed, &text);
            let again = must_parse(seed, &config.resources[0].to_res_text());
            assert_eq!(again.resources, config.resources, "{} {value}", spec.name);
        }
    }
}

/// `original` with a few pieces taken out, put in or copied elsewhere.
fn mutated(chance: &mut Chance, original: &str) -> String {
    let words = [
        "{",
        "}",
        ";",
        "\"",
        "[",
        "]",
        ":",
        "\\",
        "#",
        "\n",
        " ",
        "on",
        "disk",
        "none",
        "volume 0",
        "connection",
        "path",
        "host",
        "skip",
        "no-",
        "0",
        "99999999999999999999",
        "4G",
        "\u{1f600}",
        "\0",
        "\r",
        "[::1]:5",
        "10.0.0.1:5",
        "minor",
        "include \"*\";",
        "protocol A",
        "}}}}",
        "{{{{",
    ];
    let mut text: Vec<char> = original.chars().collect();
    for _ in 0..=chance.index(6) {
        let position = chance.index(text.len());
        match chance.below(3) {
            0 => {
                let end = text.len().min(position + 1 + chance.index(20));
                text.drain(position..end);
            }
            1 => {
                let word: Vec<char> = chance.of(&words).chars().collect();
                text.splice(position..position, word);
            }
            _ => {
                let end = text.len().min(position + chance.index(200));
                let copy = text[position..end].to_vec();
                let target = chance.index(text.len());
                text.splice(target..target, copy);
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn mutated_text_is_refused_or_read_but_never_breaks_the_reader() {
    let mut accepted = 0;
    for seed in seeds(400) {
        let chance = &mut Chance(seed);
        let original = configuration(chance);
        let text = mutated(chance, &original);
        match parse_text("r.res", &text) {
            Ok(config) => {
                accepted += 1;
                for resource in &config.resources {
                    let again = must_parse(seed, &resource.to_res_text());
                    assert_eq!(&again.resources[0], resource, "CONFIG_SEED={seed}");
                }
            }
            Err(errors) => {
                assert!(!errors.list.is_empty() && errors.list.len() <= limits::ERRORS_MAX);
                assert!(errors.to_string().len() < 200_000, "CONFIG_SEED={seed}");
            }
        }
    }
    assert!(accepted < 400, "no mutation was noticed");
}

#[test]
fn random_tokens_never_break_the_reader() {
    let mut tokens: Vec<&str> = TABLE.iter().map(|spec| spec.name).collect();
    tokens.extend([
        "{",
        "{",
        "{",
        "}",
        "}",
        "}",
        ";",
        ";",
        ";",
        "[",
        "]",
        ":",
        "\"x",
        "\"y\"",
        "resource",
        "on",
        "common",
        "global",
        "net",
        "options",
        "volume",
        "connection",
        "connection-mesh",
        "hosts",
        "host",
        "address",
        "1.2.3.4:5",
        "node-id",
        "0",
        "1",
        "yes",
        "no",
        "disk",
        "none",
        "device",
        "minor",
        "floating",
        "path",
        "skip",
        "\n",
        "template-file",
        "syncer",
        "via",
        "proxy",
    ]);
    for seed in seeds(500) {
        let chance = &mut Chance(seed);
        let count = chance.index(400);
        let mut text = if chance.one_in(2) { "resource r {".to_owned() } else { String::new() };
        for _ in 0..count {
            let token = *chance.of(&tokens);
            text.push_str(token);
            text.push(' ');
        }
        if let Err(errors) = parse_text("r.res", &text) {
            assert!(!errors.to_string().is_empty(), "CONFIG_SEED={seed}");
        }
    }
}

#[test]
fn random_bytes_never_break_the_reader() {
    for seed in seeds(300) {
        let chance = &mut Chance(seed);
        let length = chance.index(2000);
        let bytes: Vec<u8> = (0..length).map(|_| chance.next().to_le_bytes()[0]).collect();
        let text = String::from_utf8_lossy(&bytes);
        if let Err(errors) = parse_text("r.res", &text) {
            assert!(!errors.to_string().is_empty(), "CONFIG_SEED={seed}");
        }
    }
}

/// A reader that recursed, or looked at anything more than a few times, would not come back from
/// these within the time that a test has.
#[test]
fn the_largest_texts_take_bounded_time_and_stack() {
    let size = 1 << 20;
    let fill = |part: &str| part.repeat(size / part.len());
    let largest = usize::try_from(limits::TOTAL_BYTES_MAX).unwrap();
    for part in ["#", "\n", "skip{", "resource r{"] {
        let read = parse_text("r.res", &part.repeat(largest / part.len()));
        assert!(read.is_err() || part == "#" || part == "\n", "{part}");
    }
    for part in ["{", "}", "[", "\"", ";", "#", "x ", "x{", "resource r{", "\\", "é", "\n", "skip{"]
    {
        let text = fill(part);
        let read = parse_text("r.res", &text);
        assert!(read.is_err() || part == "#" || part == "\n", "{part}");
    }
    let inside = |part: &str| format!("resource r {{ {}", &fill(part)[..size - 20]);
    for part in ["net { ", "on a { ", "disk { } ", "hosts a ", "{ ", "connection { path { ", "on "]
    {
        assert!(parse_text("r.res", &inside(part)).is_err(), "{part}");
    }
    let hosts =
        (0..limits::RESOURCES_MAX).map(|n| format!("resource r{n} {{ on a {{ node-id 0; }} }}\n"));
    let many: String = hosts.collect();
    assert_eq!(parse_text("r.res", &many).unwrap().resources.len(), limits::RESOURCES_MAX);
}

/// What little text describes may be long when it is written out. It is read all the same.
#[test]
fn the_largest_resource_reads_back_the_same() {
    let mut text = String::from("resource r {\n");
    for number in 0..limits::VOLUMES_MAX {
        let chance = &mut Chance(7);
        writeln!(text, "volume {number} {{ device minor {number}; disk /d{number};").unwrap();
        writeln!(text, "disk {{").unwrap();
        for spec in TABLE.iter().filter(|spec| spec.section == Section::Disk) {
            let value = value(chance, spec).unwrap();
            writeln!(text, "{} {value};", spec.name).unwrap();
        }
        writeln!(text, "}} }}").unwrap();
    }
    let mut hosts = String::new();
    for host in 0..limits::HOSTS_MAX {
        writeln!(text, "on h{host} {{ node-id {host}; address 10.0.0.{host}:1; }}").unwrap();
        write!(hosts, " h{host}").unwrap();
    }
    writeln!(text, "connection-mesh {{ hosts{hosts}; net {{ timeout 9; }} }} }}").unwrap();
    let config = must_parse(0, &text);
    let written = config.resources[0].to_res_text();
    assert!(written.len() > text.len() * 30, "nothing was written out");
    assert_eq!(must_parse(0, &written).resources, config.resources);
}

#[test]
fn the_table_is_consistent() {
    for spec in TABLE {
        let section = spec.section.keyword();
        let same_name = TABLE.iter().filter(|other| other.name == spec.name).count();
        assert_eq!(same_name, 1, "{} is there twice", spec.name);
        assert!(!spec.is_per_peer || spec.section == Section::Disk, "{}", spec.name);
        let Some(default) = spec.default else { continue };
        // A default has to be a value, and one that is neither refused nor warned about where the
        // table says what happens anyway.
        let sections = format!("{section} {{ {} {default}; }}", spec.name);
        let text = if spec.section == Section::Global {
            sections
        } else {
            format!("resource r {{ on a {{ node-id 0; }} {sections} }}")
        };
        let config = must_parse(0, &text);
        if spec.section != Section::Global {
            let resource = &config.resources[0];
            let sets = [&resource.options, &resource.net, &resource.disk, &resource.startup];
            let given = sets.iter().find_map(|set| set.given(spec.name)).unwrap();
            assert_eq!(resource.startup.value(spec.name).as_ref(), Some(given), "{}", spec.name);
        }
    }
}

#[test]
fn numbers_are_kept_in_the_unit_of_their_option() {
    let cases = [
        ("disk", "c-max-rate 1M", 1024, "1M"),
        ("disk", "c-max-rate 1500", 1500, "1500K"),
        ("disk", "c-max-rate 0", 0, "0"),
        ("disk", "c-fill-target 36k", 72, "72s"),
        ("disk", "c-fill-target 100s", 100, "100s"),
        ("disk", "c-fill-target 7", 7, "7s"),
        ("disk", "rs-discard-granularity 65536", 65_536, "64K"),
        ("disk", "rs-discard-granularity 1s", 512, "512"),
        ("net", "max-buffers 128K", 131_072, "131072"),
        ("net", "timeout 60", 60, "60"),
        ("net", "congestion-fill 10G", 20 << 20, "20971520s"),
        ("net", "congestion-fill 2048", 2048, "2048s"),
        ("options", "peer-ack-window 2M", 4096, "4096s"),
    ];
    for (section, setting, number, written) in cases {
        let text = format!("resource r {{ on a {{ node-id 0; }} {section} {{ {setting}; }} }}");
        let config = must_parse(0, &text);
        let resource = &config.resources[0];
        let name = setting.split(' ').next().unwrap();
        let sets = [&resource.options, &resource.net, &resource.disk];
        let value: &Value = sets.iter().find_map(|set| set.given(name)).unwrap();
        assert_eq!((value.as_number(), value.to_string().as_str()), (Some(number), written));
    }
}
