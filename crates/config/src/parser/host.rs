//! Hosts and what they have: `on`, `floating`, `volume`, `device`, `disk`, `meta-disk`.

use crate::ast::{HostNode, Setting, Spanned, VolumeNode};
use crate::diagnostic::{Caution, Problem, Sentence, Span};
use crate::lexer::{Token, TokenKind};
use crate::limits::{HOSTS_MAX, MINOR_MAX, NODE_ID_MAX, VOLUME_MAX, VOLUMES_MAX};
use crate::model::{BackingDisk, Device, MetaDisk};
use crate::options::{ALIKE_ON_ALL_HOSTS, Place, Section};
use crate::parser::Seen;
use crate::parser::cursor::{Cursor, Lost};
use crate::parser::settings::{self, Found};

const HOST_WORDS: [&str; 11] = [
    "node-id",
    "address",
    "volume",
    "device",
    "disk",
    "meta-disk",
    "flexible-meta-disk",
    "minor",
    "options",
    "proxy",
    "skip",
];
const VOLUME_WORDS: [&str; 7] =
    ["device", "minor", "disk", "meta-disk", "flexible-meta-disk", "tiebreaker", "skip"];

/// What follows `on`: names, then the section.
pub(crate) fn on(cursor: &mut Cursor<'_, '_>) -> Result<HostNode, Lost> {
    let mut names = vec![cursor.name("the name of a host")?];
    while !cursor.is_next(TokenKind::Open) {
        names.push(cursor.name("another name of a host, or `{`")?);
        if names.len() > HOSTS_MAX {
            let many = Sentence::TooMany { max: HOSTS_MAX as u64, what: "names".to_owned() };
            return Err(cursor.fail(names[HOSTS_MAX].span, many));
        }
    }
    let mut node = HostNode {
        names,
        is_floating: false,
        node_id: None,
        address: None,
        volumes: Vec::new(),
        settings: Vec::new(),
    };
    host_section(cursor, &mut node)?;
    Ok(node)
}

/// What follows `floating`: an address, then the section.
pub(crate) fn floating(cursor: &mut Cursor<'_, '_>) -> Result<HostNode, Lost> {
    let address = cursor.address()?;
    let name = Spanned { value: address.value.to_string(), span: address.span };
    let mut node = HostNode {
        names: vec![name],
        is_floating: true,
        node_id: None,
        address: Some(address),
        volumes: Vec::new(),
        settings: Vec::new(),
    };
    host_section(cursor, &mut node)?;
    Ok(node)
}

fn host_section(cursor: &mut Cursor<'_, '_>, node: &mut HostNode) -> Result<(), Lost> {
    let mut seen = Seen::new();
    cursor.block(|cursor, word| match word.text.as_ref() {
        "node-id" => {
            let number = cursor.number("a node id", 0..=NODE_ID_MAX)?;
            cursor.expect(TokenKind::Semicolon)?;
            let id = u8::try_from(number.value).expect("a node id is at most 31");
            let id = Spanned { value: id, span: number.span };
            once(cursor, &mut node.node_id, id, "`node-id`", word.span)
        }
        "address" => {
            let address = cursor.address()?;
            cursor.expect(TokenKind::Semicolon)?;
            once(cursor, &mut node.address, address, "`address`", word.span)
        }
        "options" | "proxy" => {
            let before = node.settings.len();
            settings::option_statement(cursor, &word, &mut node.settings, &mut seen)?;
            judge_own_options(cursor, &node.names[0].value, &node.settings[before..]);
            Ok(())
        }
        _ => match volume_statement(cursor, &word, &mut node.volumes)? {
            Found::Taken => Ok(()),
            Found::Other => Err(cursor.unknown_word(&word, "the section of a host", &HOST_WORDS)),
        },
    })
}

/// The `options` of a single host: drbdadm shows them in `dump` and passes none of them on.
///
/// One that decides when a node may answer without the others is refused: it would take the quorum
/// from that node alone, in a file with which DRBD kept it. Any other one has no effect, as there.
fn judge_own_options(cursor: &mut Cursor<'_, '_>, host: &str, settings: &[Setting]) {
    for setting in settings {
        let name = setting.spec.name;
        if ALIKE_ON_ALL_HOSTS.contains(&name) {
            let sentence = Sentence::OptionOfHost { option: name, host: host.to_owned() };
            let hint = "drbdadm passes no `options` of a host on: set it in the `options` of the \
                        resource, where it counts for all hosts, or delete it here";
            cursor.report().problem(Problem::new(setting.span, sentence).hint(hint));
        } else {
            let caution = Caution::OfHostAlone { option: name, host: host.to_owned() };
            cursor.report().warn_once(name, setting.span, &caution);
        }
    }
}

/// Reads `word` and what follows it if it is about volumes: `volume`, or a statement that makes the
/// volume 0 without saying so.
pub(crate) fn volume_statement(
    cursor: &mut Cursor<'_, '_>,
    word: &Token<'_>,
    volumes: &mut Vec<VolumeNode>,
) -> Result<Found, Lost> {
    match word.text.as_ref() {
        "volume" => {
            let volume = volume(cursor)?;
            add_volume(cursor, volumes, volume)?;
            Ok(Found::Taken)
        }
        "device" | "minor" | "disk" | "meta-disk" | "flexible-meta-disk" => {
            let position = volumes.iter().position(|volume| volume.is_implicit);
            let position = position.unwrap_or_else(|| {
                let number = Spanned { value: 0, span: word.span };
                volumes.push(VolumeNode { is_implicit: true, ..VolumeNode::new(number) });
                volumes.len() - 1
            });
            volume_part(cursor, word, &mut volumes[position])
        }
        _ => Ok(Found::Other),
    }
}

pub(crate) fn add_volume(
    cursor: &mut Cursor<'_, '_>,
    volumes: &mut Vec<VolumeNode>,
    volume: VolumeNode,
) -> Result<(), Lost> {
    let number = volume.number.value;
    if let Some(first) = volumes.iter().find(|v| !v.is_implicit && v.number.value == number) {
        let first = first.number.span;
        return Err(cursor.duplicate(&format!("volume {number}"), volume.number.span, first));
    }
    if volumes.len() >= VOLUMES_MAX {
        let many = Sentence::TooMany { max: VOLUMES_MAX as u64, what: "volumes".to_owned() };
        return Err(cursor.fail(volume.number.span, many));
    }
    volumes.push(volume);
    Ok(())
}

pub(crate) fn volume_number(cursor: &mut Cursor<'_, '_>) -> Result<Spanned<u16>, Lost> {
    let number = cursor.number("a volume number", 0..=VOLUME_MAX)?;
    let value = u16::try_from(number.value).expect("a volume number is at most 65534");
    Ok(Spanned { value, span: number.span })
}

fn volume(cursor: &mut Cursor<'_, '_>) -> Result<VolumeNode, Lost> {
    let number = volume_number(cursor)?;
    let mut node = VolumeNode::new(number);
    cursor.block(|cursor, word| match volume_part(cursor, &word, &mut node)? {
        Found::Taken => Ok(()),
        Found::Other => Err(cursor.unknown_word(&word, "a volume", &VOLUME_WORDS)),
    })?;
    Ok(node)
}

/// One statement of a volume.
fn volume_part(
    cursor: &mut Cursor<'_, '_>,
    word: &Token<'_>,
    node: &mut VolumeNode,
) -> Result<Found, Lost> {
    match word.text.as_ref() {
        "device" => {
            let device = device(cursor)?;
            once(cursor, &mut node.device, device, "`device`", word.span)?;
        }
        "minor" => {
            let minor = cursor.number("a minor", 0..=MINOR_MAX)?;
            cursor.expect(TokenKind::Semicolon)?;
            let device = Spanned { value: minor_device(minor.value), span: minor.span };
            once(cursor, &mut node.device, device, "`device`", word.span)?;
        }
        "disk" if cursor.is_next(TokenKind::Open) => {
            let more = settings::section(cursor, Place::Section(Section::Disk))?;
            settings::add_settings(cursor, &mut node.settings, more);
        }
        "disk" => {
            let path = cursor.name("a block device, a file, or `none`")?;
            cursor.expect(TokenKind::Semicolon)?;
            let value = match path.value.as_str() {
                "none" => BackingDisk::None,
                _ => BackingDisk::Path(path.value),
            };
            let disk = Spanned { value, span: path.span };
            once(cursor, &mut node.disk, disk, "`disk`", word.span)?;
        }
        "meta-disk" | "flexible-meta-disk" => {
            let meta_disk = meta_disk(cursor)?;
            once(cursor, &mut node.meta_disk, meta_disk, "`meta-disk`", word.span)?;
        }
        "tiebreaker" => {
            let answer = cursor.name("`yes` or `no`")?;
            let value = match answer.value.as_str() {
                "yes" => true,
                "no" => false,
                other => {
                    let sentence = Sentence::NoYesOrNo { text: other.to_owned() };
                    return Err(cursor.fail(answer.span, sentence));
                }
            };
            cursor.expect(TokenKind::Semicolon)?;
            let is_tiebreaker = Spanned { value, span: answer.span };
            once(cursor, &mut node.is_tiebreaker, is_tiebreaker, "`tiebreaker`", word.span)?;
        }
        _ => return Ok(Found::Other),
    }
    Ok(Found::Taken)
}

/// What the names of devices begin with; the minor follows where a device has no other name.
const DEVICE_STEM: &str = "drbd";

/// `/dev/drbdN;`, `drbdN;`, `PATH minor N;` or `minor N;`
fn device(cursor: &mut Cursor<'_, '_>) -> Result<Spanned<Device>, Lost> {
    let path = match cursor.is_next_word("minor") {
        true => None,
        false => Some(cursor.name("a device or `minor`")?),
    };
    let Some(path) = path else {
        cursor.next();
        let minor = cursor.number("a minor", 0..=MINOR_MAX)?;
        cursor.expect(TokenKind::Semicolon)?;
        return Ok(Spanned { value: minor_device(minor.value), span: minor.span });
    };
    // Such a name is one of /dev: `drbd1` is `/dev/drbd1`.
    let path = match path.value.starts_with(DEVICE_STEM) {
        true => Spanned { value: format!("/dev/{}", path.value), span: path.span },
        false => path,
    };
    if !path.value.starts_with('/') {
        let problem = Problem::new(path.span, Sentence::NoDevice { path: path.value })
            .hint("write `device /dev/drbd1;` or `device minor 1;`");
        cursor.report().problem(problem);
        return Err(Lost);
    }
    let digits = path.value.strip_prefix("/dev/").and_then(|it| it.strip_prefix(DEVICE_STEM));
    let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let from_name = digits.and_then(|digits| digits.parse::<u64>().ok());
    let minor = match cursor.take_word("minor") {
        true => {
            let minor = cursor.number("a minor", 0..=MINOR_MAX)?;
            if let Some(named) = from_name.filter(|named| *named != minor.value) {
                let sentence = Sentence::OtherMinor { minor: minor.value, path: path.value };
                let problem = Problem::new(minor.span, sentence)
                    .hint(format!("write `device minor {};`, or `minor {named}`", minor.value));
                cursor.report().problem(problem);
                return Err(Lost);
            }
            Some(minor.value)
        }
        false => from_name.filter(|minor| *minor <= MINOR_MAX),
    };
    let Some(minor) = minor else {
        let problem = Problem::new(path.span, Sentence::NoMinor { path: path.value })
            .hint("write `device /dev/drbd1;`, `device minor 1;` or `device /dev/NAME minor 1;`");
        cursor.report().problem(problem);
        return Err(Lost);
    };
    cursor.expect(TokenKind::Semicolon)?;
    let is_implied = path.value == format!("/dev/{DEVICE_STEM}{minor}");
    let Device { minor, .. } = minor_device(minor);
    let value = Device { minor, path: (!is_implied).then_some(path.value) };
    Ok(Spanned { value, span: path.span })
}

fn minor_device(minor: u64) -> Device {
    let minor = u32::try_from(minor).expect("a minor is below 2^20");
    Device { minor, path: None }
}

/// `internal;`, `PATH;` or `PATH [INDEX];`
fn meta_disk(cursor: &mut Cursor<'_, '_>) -> Result<Spanned<MetaDisk>, Lost> {
    let path = cursor.name("`internal`, a block device or a file")?;
    let mut index = None;
    if cursor.is_next(TokenKind::BracketOpen) {
        cursor.next();
        let number = cursor.number("an index", 0..=MINOR_MAX)?.value;
        index = Some(u32::try_from(number).expect("an index is below 2^20"));
        cursor.expect(TokenKind::BracketClose)?;
    }
    cursor.expect(TokenKind::Semicolon)?;
    let value = match path.value.as_str() {
        "internal" if index.is_none() => MetaDisk::Internal,
        _ => MetaDisk::External { path: path.value, index },
    };
    Ok(Spanned { value, span: path.span })
}

/// Fills `slot`, unless it is filled already.
fn once<T>(
    cursor: &mut Cursor<'_, '_>,
    slot: &mut Option<Spanned<T>>,
    value: Spanned<T>,
    what: &str,
    statement: Span,
) -> Result<(), Lost> {
    match slot {
        Some(first) => {
            // The statement is complete, so that the next one follows.
            cursor.duplicate(what, statement, first.span);
        }
        None => *slot = Some(value),
    }
    Ok(())
}
