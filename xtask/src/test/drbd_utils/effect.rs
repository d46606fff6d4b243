//! What drbdadm would pass on to the driver beside what Basalt takes effect from the same file.
//!
//! `drbdadm -d up` prints the commands with all options that hold for each object, wherever the
//! file says them. `basalt adm sh-effective` prints what its daemon goes by. Both are brought to
//! one unit and compared, option by option. What drbdadm passes on nothing of has to be as in a
//! file without options: so an option that only one of the two heeds in some section shows.

use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;

/// Of an object: `resource`, `peer 1`, `peer-device 1 0` or `disk 0`.
pub(super) type Options = BTreeMap<String, String>;
pub(super) type Objects = BTreeMap<String, Options>;

/// The lines of `sh-effective`.
pub(super) fn taken(lines: &str) -> Result<Objects> {
    let mut objects = Objects::new();
    for line in lines.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let count = match words[0] {
            "resource" => 1,
            "peer" | "disk" => 2,
            "peer-device" => 3,
            _ => bail!("`{line}` is about nothing that is known"),
        };
        let (object, option) = words.split_at_checked(count).context("a line is cut off")?;
        let (name, value) = option.split_first().context("a line is cut off")?;
        let options = objects.entry(object.join(" ")).or_default();
        ensure!(options.insert((*name).to_owned(), value.join(" ")).is_none(), "{line} is twice");
    }
    Ok(objects)
}

/// The options in the commands of `drbdadm -d up`, by the objects of `sh-effective`. `all` is of
/// all resources: one may name a volume of another by its minor.
pub(super) fn passed_on(commands: &str, all: &str) -> Result<Objects> {
    let mut objects = Objects::new();
    let mut volumes = BTreeMap::new();
    let minors: BTreeMap<&str, String> = all
        .lines()
        .filter_map(|line| {
            let line = line.strip_prefix("drbdsetup new-minor ")?;
            let mut words = line.split(' ');
            let (resource, minor, volume) = (words.next()?, words.next()?, words.next()?);
            Some((minor, format!("{resource}/{volume}")))
        })
        .collect();
    for command in commands.lines() {
        let words = split(command);
        let (options, words): (Vec<String>, Vec<String>) =
            words.into_iter().partition(|word| word.starts_with("--"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let object = match words[..] {
            ["drbdsetup", "new-resource", ..] => "resource".to_owned(),
            ["drbdsetup", "new-minor", _, minor, volume] => {
                volumes.insert(minor.to_owned(), volume.to_owned());
                continue;
            }
            ["drbdsetup", "new-peer", _, peer] => format!("peer {peer}"),
            ["drbdsetup", "peer-device-options", _, peer, volume] => {
                format!("peer-device {peer} {volume}")
            }
            ["drbdsetup", "attach", minor, ..] => {
                format!("disk {}", volumes.get(minor).context("a disk of no volume")?)
            }
            ["drbdsetup", "new-path" | "connect", ..] | ["drbdmeta", ..] | [] => continue,
            _ => bail!("`{command}` is no command that is known"),
        };
        let options = options.iter().map(|option| {
            let option = option.trim_start_matches('-');
            let (name, value) = option.split_once('=').unwrap_or((option, "yes"));
            let volume = minors.get(value).filter(|_| name == "resync-after");
            (name.to_owned(), volume.map_or(value, String::as_str).to_owned())
        });
        objects.entry(object).or_default().extend(options);
    }
    Ok(objects)
}

/// The words of a command as a shell reads them.
fn split(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_escaped = false;
    for c in command.chars() {
        match c {
            ' ' if !is_escaped => words.push(String::new()),
            '\\' if !is_escaped => {
                is_escaped = true;
                continue;
            }
            _ => words.last_mut().expect("there is a first word").push(c),
        }
        is_escaped = false;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What differs, one line for each option; `plain` is of a file without options.
pub(super) fn differences(taken: &Objects, passed: &Objects, plain: &Objects) -> Vec<String> {
    let none = Options::new();
    let mut differences = Vec::new();
    for (object, options) in taken {
        let kind = object.split(' ').next().unwrap_or_default();
        let defaults = plain.iter().find(|(of, _)| of.split(' ').next() == Some(kind));
        let passed = passed.get(object).unwrap_or(&none);
        for (name, value) in options {
            let default = defaults.and_then(|(_, options)| options.get(name));
            let wanted = wanted(name, passed, default.map_or("", String::as_str));
            if *value != wanted {
                differences.push(format!("{object}: {name} is {value} here, and {wanted} there"));
            }
        }
    }
    let unknown = passed.keys().filter(|object| !taken.contains_key(*object));
    differences.extend(unknown.map(|object| format!("{object} is not there here")));
    differences
}

/// In the words of `sh-effective`: what drbdadm passes on as this option, or `default`.
fn wanted(name: &str, passed: &Options, default: &str) -> String {
    let given = |name: &str| passed.get(name).map(String::as_str).filter(|value| !value.is_empty());
    match name {
        "timeout-times-ko-count" => {
            let (timeout, count) = (given("timeout"), given("ko-count"));
            if timeout.or(count).is_none() {
                return default.to_owned();
            }
            let number =
                |value: Option<&str>, default| value.map_or(Some(default), |it| number(it, 1));
            match (number(timeout, 60), number(count, 7)) {
                (_, Some(0)) => "endless".to_owned(),
                (Some(tenths), Some(count)) => (tenths * 100 * count).to_string(),
                _ => "no number".to_owned(),
            }
        }
        "load-balance-paths" if given("transport") == Some("lb-tcp") => "yes".to_owned(),
        _ => given(name).map_or_else(|| default.to_owned(), |value| in_our_words(name, value)),
    }
}

fn in_our_words(name: &str, value: &str) -> String {
    // A bare number in the unit of `sh-effective`; what 0 stands for.
    let (unit, zero) = match name {
        "auto-promote-timeout" | "ping-timeout" => (100, "0"),
        "connect-int" | "ping-int" => (1000, "0"),
        "disk-timeout" => (100, "none"),
        "c-max-rate" => (unit_bytes(name), "unlimited"),
        "size" => (unit_bytes(name), "all"),
        "sndbuf-size" | "rcvbuf-size" => (unit_bytes(name), "own"),
        "al-extents" | "congestion-extents" | "congestion-fill" => (unit_bytes(name), "0"),
        _ => return in_words(name, value),
    };
    match number(value, unit) {
        Some(0) => zero.to_owned(),
        Some(number) => number.to_string(),
        None => format!("{value}, which is no number"),
    }
}

/// Values that Basalt has another word for.
fn in_words(name: &str, value: &str) -> String {
    match (name, value) {
        ("shared-secret", _) => "(hidden)".to_owned(),
        ("on-io-error", "pass_on") => "detach".to_owned(),
        ("read-balancing", "when-congested-remote") => "prefer-local".to_owned(),
        ("cpu-mask", mask) => {
            let mask = u64::from_str_radix(&mask.replace(',', ""), 16).unwrap_or_default();
            let cores = (0..64).filter(|core| mask >> core & 1 == 1);
            cores.map(|core: u32| core.to_string()).collect::<Vec<_>>().join(",")
        }
        _ => value.to_owned(),
    }
}

/// An option with its number, if it has one, in bytes.
pub(super) fn in_one_unit(option: &str) -> String {
    let Some((name, value)) = option.split_once('=') else { return option.to_owned() };
    let bytes = number(value, unit_bytes(name.trim_start_matches('-')));
    bytes.map_or_else(|| option.to_owned(), |bytes| format!("{name}={bytes}"))
}

/// What a bare number counts: `unit_prefix` of `drbdsetup xml-help`.
fn unit_bytes(name: &str) -> u64 {
    match name {
        "c-max-rate" | "c-min-rate" | "resync-rate" => 1024,
        "c-fill-target" | "congestion-fill" | "size" | "peer-ack-window" => 512,
        _ => 1,
    }
}

/// With a suffix in bytes, without one in `unit`.
fn number(text: &str, unit: u64) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => unit,
        "s" => 512,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}
