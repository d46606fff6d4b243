//! Each sentence by which a configuration is refused or warned of, as a row of an enum.
//!
//! A variant is printed by one arm of one `Display`, and has one kind. A test prints each of them
//! with a configuration that earns it: docs/operate/messages/config.md. What to try stands beside a
//! sentence, in the hint of its problem.

use std::fmt;
use std::net::IpAddr;

use crate::diagnostic::ErrorKind;
use crate::host_name::Ambiguous;
use crate::limits::{
    FILES_MAX, INCLUDE_DEPTH_MAX, NAME_BYTES_MAX, STRING_BYTES_MAX, TOTAL_BYTES_MAX, WORD_BYTES_MAX,
};

/// A configuration with one of these is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sentence {
    // Of characters and tokens.
    Character(char),
    OpenString,
    LongWord,
    LongString,
    Unexpected { expected: String, found: String },
    EndsEarly { expected: String },
    OpenSection,
    ClosingBrace,
    // Of statements and options.
    UnknownWord { word: String, place: String },
    UnknownOption { word: String, place: &'static str },
    NotInCommon { word: String },
    Again { what: String },
    TooMany { max: u64, what: String },
    Value { option: &'static str, why: ValueFlaw },
    ValueRefused { option: &'static str, value: String, reason: &'static str },
    OptionOfHost { option: &'static str, host: String },
    NoYesOrNo { text: String },
    NoNumber { text: String, what: &'static str, min: u64, max: u64 },
    NumberBelow { text: String, what: &'static str, min: u64, max: u64 },
    NumberAbove { text: String, what: &'static str, min: u64, max: u64 },
    // Of addresses and devices.
    Family { family: String },
    OtherFamily { ip: IpAddr },
    NoIp { text: String },
    NoDevice { path: String },
    NoMinor { path: String },
    OtherMinor { minor: u64, path: String },
    // Of files.
    NoFileHere,
    NoSuchFile { path: String },
    TooDeep { path: String },
    IncludesItself { path: String },
    ManyMatches,
    File { path: String, why: FileFlaw },
    TooMuch { what: String },
    // Of a resource and its hosts.
    ResourceName { why: NameFlaw },
    Stacked,
    NoHosts { resource: String },
    HostName { flaw: String },
    AlikeHosts { first: String, second: String },
    NoNodeId { host: String },
    ImplicitVolume,
    NoDisk { volume: u16, host: String },
    EmptyPath,
    VolumeMissing { volume: u16, host: String },
    Claimed { user: String, what: String, host: String, other: String },
    // Of connections.
    HostsAndPaths,
    NoHostsHere,
    SmallMesh,
    ThirdHost,
    Via,
    PathsPart,
    SamePath,
    NoVolume { volume: u16 },
    PathEnds { count: usize },
    SelfConnected { host: String },
    AmbiguousHost(Ambiguous),
    UnknownHost { name: String },
    NoAddress { host: String },
    TwiceInMesh { host: String },
    NoConnection { hosts: usize },
}

/// Each of these keeps a text from being the value of an option. A range is in the words of the
/// option's unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ValueFlaw {
    Word { text: String },
    WordOrNumber { text: String, min: u64, max: u64 },
    Digits { text: String, range: String },
    DigitsOfBytes { text: String, range: String },
    Small { text: String, range: String },
    Big { text: String, range: String },
    Fraction { text: String, unit_bytes: u64, range: String },
    Long { bytes: usize, max: usize },
}

/// Each of these keeps a name from being that of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameFlaw {
    Empty,
    LongName,
    Reserved(String),
    Mark,
}

/// Each of these keeps a file from being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileFlaw {
    Unreadable(String),
    Irregular,
    Large,
    Foreign { byte: usize },
}

impl Sentence {
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Character(_) => ErrorKind::BadCharacter,
            Self::OpenString => ErrorKind::UnterminatedString,
            Self::LongWord | Self::LongString => ErrorKind::TooLong,
            Self::Unexpected { .. } | Self::ClosingBrace => ErrorKind::UnexpectedToken,
            Self::EndsEarly { .. } | Self::OpenSection => ErrorKind::UnexpectedEnd,
            Self::UnknownWord { .. } | Self::UnknownOption { .. } | Self::NotInCommon { .. } => {
                ErrorKind::UnknownWord
            }
            Self::TooMany { .. } | Self::ManyMatches | Self::TooMuch { .. } => ErrorKind::TooLarge,
            Self::Value { why, .. } => why.kind(),
            Self::ValueRefused { .. } | Self::OptionOfHost { .. } | Self::Stacked | Self::Via => {
                ErrorKind::NotSupported
            }
            Self::NoYesOrNo { .. }
            | Self::NoNumber { .. }
            | Self::NoDevice { .. }
            | Self::NoMinor { .. }
            | Self::ResourceName { .. }
            | Self::HostName { .. }
            | Self::EmptyPath => ErrorKind::BadValue,
            Self::NumberBelow { .. } | Self::NumberAbove { .. } => ErrorKind::OutOfRange,
            Self::Family { .. } | Self::OtherFamily { .. } | Self::NoIp { .. } => {
                ErrorKind::BadAddress
            }
            Self::NoFileHere | Self::NoSuchFile { .. } => ErrorKind::IncludeMissing,
            Self::TooDeep { .. } | Self::IncludesItself { .. } => ErrorKind::IncludeDepth,
            Self::File { why, .. } => why.kind(),
            Self::Again { .. }
            | Self::AlikeHosts { .. }
            | Self::Claimed { .. }
            | Self::SamePath
            | Self::TwiceInMesh { .. } => ErrorKind::Duplicate,
            Self::NoHosts { .. }
            | Self::NoNodeId { .. }
            | Self::NoDisk { .. }
            | Self::VolumeMissing { .. }
            | Self::NoHostsHere
            | Self::SmallMesh
            | Self::NoVolume { .. }
            | Self::PathEnds { .. }
            | Self::NoAddress { .. }
            | Self::NoConnection { .. } => ErrorKind::Missing,
            Self::OtherMinor { .. }
            | Self::ImplicitVolume
            | Self::HostsAndPaths
            | Self::ThirdHost
            | Self::PathsPart
            | Self::SelfConnected { .. } => ErrorKind::Contradiction,
            Self::AmbiguousHost(_) | Self::UnknownHost { .. } => ErrorKind::UnknownHost,
        }
    }
}

impl ValueFlaw {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Word { .. }
            | Self::WordOrNumber { .. }
            | Self::Digits { .. }
            | Self::DigitsOfBytes { .. }
            | Self::Fraction { .. } => ErrorKind::BadValue,
            Self::Small { .. } | Self::Big { .. } => ErrorKind::OutOfRange,
            Self::Long { .. } => ErrorKind::TooLong,
        }
    }
}

impl FileFlaw {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreadable(_) | Self::Irregular => ErrorKind::Unreadable,
            Self::Large => ErrorKind::TooLarge,
            Self::Foreign { .. } => ErrorKind::NotText,
        }
    }
}

impl fmt::Display for Sentence {
    #[expect(clippy::too_many_lines, reason = "a line or two for each sentence")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(c) => write!(f, "unexpected character `{}`", c.escape_debug()),
            Self::OpenString => f.write_str("a string has no closing quote"),
            Self::LongWord => write!(f, "a word is longer than {WORD_BYTES_MAX} characters"),
            Self::LongString => write!(f, "a string is longer than {STRING_BYTES_MAX} bytes"),
            Self::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::EndsEarly { expected } => {
                write!(f, "expected {expected}, found the end of the file")
            }
            Self::OpenSection => f.write_str("this section is not closed before the file ends"),
            Self::ClosingBrace => f.write_str("a closing brace without an opening one"),
            Self::UnknownWord { word, place } => write!(f, "unknown word `{word}` in {place}"),
            Self::UnknownOption { word, place } => write!(f, "unknown option `{word}` in {place}"),
            Self::NotInCommon { word } => write!(f, "`{word}` cannot stand in common"),
            Self::Again { what } => write!(f, "{what} is given a second time"),
            Self::TooMany { max, what } => write!(f, "more than {max} {what}"),
            Self::Value { option, why } => write!(f, "bad value of `{option}`: {why}"),
            Self::ValueRefused { option, value, reason } => {
                write!(f, "`{option} {value}` is refused: {reason}")
            }
            Self::OptionOfHost { option, host } => {
                write!(f, "`{option}` cannot be set for the host {host} alone")
            }
            Self::NoYesOrNo { text } => {
                write!(f, "`{}` is neither yes nor no", text.escape_debug())
            }
            Self::NoNumber { text, what, min, max } => {
                write!(f, "`{}` is not {what}, the range is {min} to {max}", text.escape_debug())
            }
            Self::NumberBelow { text, what, min, max } => {
                write!(f, "{text} is too small for {what}, the range is {min} to {max}")
            }
            Self::NumberAbove { text, what, min, max } => {
                write!(f, "{text} is too big for {what}, the range is {min} to {max}")
            }
            Self::Family { family } => {
                write!(f, "addresses of the family {family} are not supported")
            }
            Self::OtherFamily { ip } => {
                write!(f, "{ip} is not of the family that is named before it")
            }
            Self::NoIp { text } => write!(f, "`{}` is not an IP address", text.escape_debug()),
            Self::NoDevice { path } => {
                write!(f, "`{}` is not the path of a device", path.escape_debug())
            }
            Self::NoMinor { path } => {
                write!(f, "the device `{}` does not say its minor", path.escape_debug())
            }
            Self::OtherMinor { minor, path } => write!(f, "minor {minor} is not that of `{path}`"),
            Self::NoFileHere => {
                f.write_str("files cannot be included here, this text is not in a file")
            }
            Self::NoSuchFile { path } => write!(f, "{path} does not exist"),
            Self::TooDeep { path } => {
                write!(f, "{path} is included through more than {INCLUDE_DEPTH_MAX} files")
            }
            Self::IncludesItself { path } => write!(f, "{path} includes itself"),
            Self::ManyMatches => write!(f, "the pattern matches more than {FILES_MAX} files"),
            Self::File { path, why } => write!(f, "{path}: {why}"),
            Self::TooMuch { what } => write!(f, "the configuration has more than {what}"),
            Self::ResourceName { why } => why.fmt(f),
            Self::Stacked => f.write_str("stacked resources are not supported"),
            Self::NoHosts { resource } => write!(f, "the resource {resource} has no hosts"),
            Self::HostName { flaw } => f.write_str(flaw),
            Self::AlikeHosts { first, second } => write!(
                f,
                "`{first}` and `{second}` are two hosts with one name, for one of them has no \
                 domain"
            ),
            Self::NoNodeId { host } => write!(f, "the host {host} has no node-id"),
            Self::ImplicitVolume => f.write_str(
                "this makes a volume 0, but the host has other volumes with sections of their own",
            ),
            Self::NoDisk { volume, host } => {
                write!(f, "volume {volume} has no disk on host {host}")
            }
            Self::EmptyPath => f.write_str("the path is empty"),
            Self::VolumeMissing { volume, host } => {
                write!(f, "volume {volume} is missing on host {host}")
            }
            Self::Claimed { user, what, host, other } => {
                write!(f, "{user} has {what} on host {host}, as {other} has")
            }
            Self::HostsAndPaths => {
                f.write_str("a connection has either `host` statements or `path` sections")
            }
            Self::NoHostsHere => f.write_str("a connection without hosts"),
            Self::SmallMesh => f.write_str("a connection-mesh of fewer than two hosts"),
            Self::ThirdHost => f.write_str("a connection is between two hosts, this is a third"),
            Self::Via => {
                f.write_str("`via` is not supported: there is no proxy and no address translation")
            }
            Self::PathsPart => f.write_str("the paths of a connection join different hosts"),
            Self::SamePath => f.write_str("the same two addresses are the path already"),
            Self::NoVolume { volume } => write!(f, "the resource has no volume {volume}"),
            Self::PathEnds { count } => write!(f, "a path joins two hosts, here are {count}"),
            Self::SelfConnected { host } => write!(f, "the host {host} is connected to itself"),
            Self::AmbiguousHost(ambiguous) => ambiguous.fmt(f),
            Self::UnknownHost { name } => {
                write!(f, "the resource has no host `{}`", name.escape_debug())
            }
            Self::NoAddress { host } => write!(f, "no address is given for host {host}"),
            Self::TwiceInMesh { host } => write!(f, "the host {host} is in the mesh twice"),
            Self::NoConnection { hosts } => {
                write!(f, "{hosts} hosts, but no connection between them")
            }
        }
    }
}

impl fmt::Display for ValueFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word { text } => {
                write!(f, "`{}` is not one of its values", text.escape_debug())
            }
            Self::WordOrNumber { text, min, max } => write!(
                f,
                "`{}` is not one of its values, nor a number from {min} to {max}",
                text.escape_debug()
            ),
            Self::Digits { text, range } => {
                write!(f, "`{}` is not a number, the range is {range}", text.escape_debug())
            }
            Self::DigitsOfBytes { text, range } => write!(
                f,
                "`{}` is not a number, with or without one of the suffixes K, M, G, s; the range \
                 is {range}",
                text.escape_debug()
            ),
            Self::Small { text, range } => write!(f, "{text} is too small, the range is {range}"),
            Self::Big { text, range } => write!(f, "{text} is too big, the range is {range}"),
            Self::Fraction { text, unit_bytes, range } => write!(
                f,
                "{text} is not a whole number of {unit_bytes} bytes, its unit; the range is {range}"
            ),
            Self::Long { bytes, max } => write!(f, "{bytes} bytes are too long, at most {max}"),
        }
    }
}

impl fmt::Display for NameFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the name of a resource is empty"),
            Self::LongName => {
                write!(f, "the name of a resource is longer than {NAME_BYTES_MAX} bytes")
            }
            Self::Reserved(name) => write!(f, "a resource cannot be called `{name}`"),
            Self::Mark => f.write_str(
                "the name of a resource has a slash, `@`, a colon, a space or a control character",
            ),
        }
    }
}

impl fmt::Display for FileFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "cannot read it: {error}"),
            Self::Irregular => f.write_str("it is not a regular file"),
            Self::Large => write!(f, "with it there are more than {TOTAL_BYTES_MAX} bytes in all"),
            Self::Foreign { byte } => write!(f, "byte {byte} is not UTF-8 text"),
        }
    }
}

/// A configuration with one of these is taken; each is told once for its option, but for those
/// that tell of an override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Caution {
    ConnectionName,
    NoProxy,
    NoModule,
    ChangesNothing { option: &'static str, value: String, reason: &'static str },
    OfHostAlone { option: &'static str, host: String },
    AnyHost { option: &'static str, ambiguous: Ambiguous },
    Congestion { left: String, right: String, needs: &'static str },
    Overrides { option: &'static str, inner: String, outer: String },
    MeshOver { left: String, right: String },
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectionName => {
                f.write_str("the name of a connection is ignored: it is called after its peer")
            }
            Self::NoProxy => f.write_str("`proxy` changes nothing: there is no proxy"),
            Self::NoModule => f.write_str(
                "`require-drbd-module-version` changes nothing: there is no kernel module",
            ),
            Self::ChangesNothing { option, value, reason } => {
                write!(f, "`{option} {value}` changes nothing: {reason}")
            }
            Self::OfHostAlone { option, host } => write!(
                f,
                "`{option}` changes nothing for a single host, such as {host}: drbdadm passes no \
                 `options` of a host on; the `options` of the resource count for all hosts"
            ),
            Self::AnyHost { option, ambiguous } => {
                write!(f, "`{option}` changes nothing: {ambiguous}; say the whole name")
            }
            Self::Congestion { left, right, needs } => write!(
                f,
                "`on-congestion` changes nothing between `{left}` and `{right}`: it is in effect \
                 {needs}"
            ),
            Self::Overrides { option, inner, outer } => write!(
                f,
                "`{option} {inner}` counts here, over an outer `{option} {outer}`; drbdadm calls \
                 that ambiguous, and takes no such resource up"
            ),
            Self::MeshOver { left, right } => write!(
                f,
                "the mesh covers {left} and {right}, whose own connection counts; drbdadm makes \
                 such a peer twice"
            ),
        }
    }
}

#[cfg(test)]
mod tests;
