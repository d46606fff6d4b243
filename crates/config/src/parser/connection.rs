//! Connections: `connection`, `path`, `host`, `connection-mesh`.

use crate::ast::{ConnectionNode, EndNode, MeshNode, PathNode, Spanned, VolumeNode};
use crate::diagnostic::{Caution, Problem, Sentence, Span};
use crate::lexer::TokenKind;
use crate::limits::{HOSTS_MAX, PATHS_MAX};
use crate::options::Place;
use crate::options::Section;
use crate::parser::cursor::{Cursor, Lost};
use crate::parser::host::{add_volume, volume_number};
use crate::parser::{Seen, settings};

const CONNECTION_WORDS: [&str; 6] = ["host", "path", "net", "disk", "volume", "skip"];
const MESH_WORDS: [&str; 3] = ["hosts", "net", "skip"];

/// What follows `connection`: a name that is ignored, perhaps, then the section.
pub(crate) fn connection(
    cursor: &mut Cursor<'_, '_>,
    keyword: Span,
) -> Result<ConnectionNode, Lost> {
    if !cursor.is_next(TokenKind::Open) {
        let name = cursor.name("`{`")?;
        cursor.report().warn_once("connection name", name.span, &Caution::ConnectionName);
    }
    let losses = cursor.report().losses();
    let mut node = ConnectionNode {
        paths: Vec::new(),
        settings: Vec::new(),
        volumes: Vec::new(),
        span: keyword,
    };
    let mut bare = PathNode { ends: Vec::new(), span: keyword };
    let mut seen = Seen::new();
    cursor.block(|cursor, word| match word.text.as_ref() {
        "host" => {
            let end = end(cursor)?;
            add_end(cursor, &mut bare, end)
        }
        "path" => {
            let path = path(cursor, word.span)?;
            if node.paths.len() >= PATHS_MAX {
                let what = "paths in one connection".to_owned();
                let many = Sentence::TooMany { max: PATHS_MAX as u64, what };
                return Err(cursor.fail(word.span, many));
            }
            node.paths.push(path);
            Ok(())
        }
        "volume" => {
            let volume = peer_volume(cursor)?;
            add_volume(cursor, &mut node.volumes, volume)
        }
        "net" => section(cursor, "net", word.span, &mut node.settings, &mut seen),
        "disk" => section(cursor, "disk", word.span, &mut node.settings, &mut seen),
        _ => Err(cursor.unknown_word(&word, "a connection", &CONNECTION_WORDS)),
    })?;
    if !bare.ends.is_empty() {
        if let Some(path) = node.paths.first() {
            return Err(cursor.fail(path.span, Sentence::HostsAndPaths));
        }
        node.paths.push(bare);
    }
    if node.paths.is_empty() && cursor.report().losses() == losses {
        let problem = Problem::new(keyword, Sentence::NoHostsHere)
            .hint("name two of them: host A address 10.0.0.1:7789; host B address 10.0.0.2:7789;");
        cursor.report().problem(problem);
    }
    Ok(node)
}

/// What follows `connection-mesh`.
pub(crate) fn mesh(cursor: &mut Cursor<'_, '_>, keyword: Span) -> Result<MeshNode, Lost> {
    let losses = cursor.report().losses();
    let mut node = MeshNode { hosts: Vec::new(), settings: Vec::new(), span: keyword };
    let mut seen = Seen::new();
    cursor.block(|cursor, word| match word.text.as_ref() {
        "hosts" => {
            while !cursor.is_next(TokenKind::Semicolon) {
                let host = cursor.name("the name of a host, or `;`")?;
                if node.hosts.len() >= HOSTS_MAX {
                    let what = "hosts".to_owned();
                    let many = Sentence::TooMany { max: HOSTS_MAX as u64, what };
                    return Err(cursor.fail(host.span, many));
                }
                node.hosts.push(host);
            }
            cursor.next();
            Ok(())
        }
        "net" => section(cursor, "net", word.span, &mut node.settings, &mut seen),
        _ => Err(cursor.unknown_word(&word, "a connection-mesh", &MESH_WORDS)),
    })?;
    if node.hosts.len() < 2 && cursor.report().losses() == losses {
        let problem = Problem::new(keyword, Sentence::SmallMesh);
        cursor.report().problem(problem.hint("write `hosts A B C;`"));
    }
    Ok(node)
}

/// `net` or `disk`, once in each connection; a mesh has no `disk`, as with drbdadm.
fn section(
    cursor: &mut Cursor<'_, '_>,
    keyword: &'static str,
    span: Span,
    settings: &mut Vec<crate::ast::Setting>,
    seen: &mut Seen,
) -> Result<(), Lost> {
    if let Some(first) = seen.insert(keyword, span) {
        return Err(cursor.duplicate(&format!("the section `{keyword}`"), span, first));
    }
    let place = match keyword {
        "net" => Place::Section(Section::Net),
        _ => Place::PeerDisk,
    };
    let more = settings::section(cursor, place)?;
    settings::add_settings(cursor, settings, more);
    Ok(())
}

fn path(cursor: &mut Cursor<'_, '_>, keyword: Span) -> Result<PathNode, Lost> {
    let mut node = PathNode { ends: Vec::new(), span: keyword };
    cursor.block(|cursor, word| match word.text.as_ref() {
        "host" => {
            let end = end(cursor)?;
            add_end(cursor, &mut node, end)
        }
        _ => Err(cursor.unknown_word(&word, "a path", &["host", "skip"])),
    })?;
    Ok(node)
}

fn add_end(cursor: &mut Cursor<'_, '_>, path: &mut PathNode, end: EndNode) -> Result<(), Lost> {
    if path.ends.len() >= 2 {
        let problem = Problem::new(end.host.span, Sentence::ThirdHost);
        cursor.report().problem(problem.hint("use `connection-mesh` to connect more than two"));
        return Ok(());
    }
    path.ends.push(end);
    Ok(())
}

/// What follows `host`: `NAME [address ADDRESS] [port PORT];`
fn end(cursor: &mut Cursor<'_, '_>) -> Result<EndNode, Lost> {
    let host = cursor.name("the name of a host")?;
    let mut node = EndNode { host, address: None, port: None };
    if cursor.take_word("address") {
        node.address = Some(cursor.address()?);
    } else if cursor.take_word("port") {
        node.port = Some(cursor.port()?);
    }
    if cursor.is_next_word("via") {
        let span = cursor.peek().span;
        let problem = Problem::new(span, Sentence::Via);
        cursor.report().problem(problem.hint("give an address that is reached directly"));
        return Err(Lost);
    }
    if !cursor.is_next(TokenKind::Semicolon) {
        return Err(cursor.unexpected("`address`, `port` or `;`"));
    }
    cursor.next();
    Ok(node)
}

/// What follows `volume` in a connection: a number, then `{ disk { .. } }`.
fn peer_volume(cursor: &mut Cursor<'_, '_>) -> Result<VolumeNode, Lost> {
    let number: Spanned<u16> = volume_number(cursor)?;
    let mut node = VolumeNode::new(number);
    let mut seen = Seen::new();
    cursor.block(|cursor, word| match word.text.as_ref() {
        "disk" => section(cursor, "disk", word.span, &mut node.settings, &mut seen),
        _ => Err(cursor.unknown_word(&word, "a volume of a connection", &["disk", "skip"])),
    })?;
    Ok(node)
}
