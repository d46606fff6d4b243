//! The `resource` section.

use crate::ast::ResourceNode;
use crate::diagnostic::{NameFlaw, Problem, Sentence};
use crate::lexer::{Token, TokenKind};
use crate::limits::{CONNECTIONS_MAX, HOSTS_MAX, NAME_BYTES_MAX};
use crate::parser::Seen;
use crate::parser::cursor::{Cursor, Lost};
use crate::parser::settings::{self, Found};
use crate::parser::{connection, host};

const RESOURCE_WORDS: [&str; 19] = [
    "on",
    "floating",
    "connection",
    "connection-mesh",
    "volume",
    "device",
    "minor",
    "disk",
    "meta-disk",
    "flexible-meta-disk",
    "protocol",
    "net",
    "options",
    "handlers",
    "startup",
    "syncer",
    "proxy",
    "template-file",
    "skip",
];

/// What follows `resource`.
pub(crate) fn resource(cursor: &mut Cursor<'_, '_>) -> Result<ResourceNode, Lost> {
    let losses = cursor.report().losses();
    let name = cursor.name("the name of a resource")?;
    if let Some(why) = bad_name(&name.value) {
        cursor.fail(name.span, Sentence::ResourceName { why });
    }
    let mut node = ResourceNode {
        name,
        is_damaged: false,
        template: None,
        template_settings: None,
        settings: Vec::new(),
        volumes: Vec::new(),
        hosts: Vec::new(),
        connections: Vec::new(),
        meshes: Vec::new(),
    };
    let mut seen = Seen::new();
    cursor.block(|cursor, word| statement(cursor, &word, &mut node, &mut seen))?;
    node.is_damaged = cursor.report().losses() > losses;
    Ok(node)
}

fn bad_name(name: &str) -> Option<NameFlaw> {
    // What stands behind `/` or `@` names a volume, and behind `:` a peer.
    let is_bad_char = |c: char| "/@:".contains(c) || c.is_whitespace() || c.is_control();
    if name.is_empty() {
        Some(NameFlaw::Empty)
    } else if name.len() > NAME_BYTES_MAX {
        Some(NameFlaw::LongName)
    } else if name == "all" || name == "." || name == ".." {
        Some(NameFlaw::Reserved(name.to_owned()))
    } else if name.contains(is_bad_char) {
        Some(NameFlaw::Mark)
    } else {
        None
    }
}

fn too_many(max: usize, parts: &str) -> Sentence {
    Sentence::TooMany { max: max as u64, what: format!("{parts} in one resource") }
}

fn statement(
    cursor: &mut Cursor<'_, '_>,
    word: &Token<'_>,
    node: &mut ResourceNode,
    seen: &mut Seen,
) -> Result<(), Lost> {
    match word.text.as_ref() {
        "on" | "floating" => {
            let host = match word.text.as_ref() {
                "on" => host::on(cursor)?,
                _ => host::floating(cursor)?,
            };
            if node.hosts.len() >= HOSTS_MAX {
                return Err(cursor.fail(word.span, too_many(HOSTS_MAX, "hosts")));
            }
            node.hosts.push(host);
        }
        "connection" => {
            let connection = connection::connection(cursor, word.span)?;
            if node.connections.len() >= CONNECTIONS_MAX {
                return Err(cursor.fail(word.span, too_many(CONNECTIONS_MAX, "connections")));
            }
            node.connections.push(connection);
        }
        "connection-mesh" => {
            let mesh = connection::mesh(cursor, word.span)?;
            if node.meshes.len() >= HOSTS_MAX {
                return Err(cursor.fail(word.span, too_many(HOSTS_MAX, "meshes")));
            }
            node.meshes.push(mesh);
        }
        "template-file" => {
            let file = cursor.name("the name of a file")?;
            cursor.expect(TokenKind::Semicolon)?;
            if let Some(first) = &node.template {
                cursor.duplicate("`template-file`", word.span, first.span);
            } else {
                node.template = Some(file);
            }
        }
        "stacked-on-top-of" => {
            let problem = Problem::new(word.span, Sentence::Stacked);
            let hint = "add the remote host as a further `on` section of the lower resource";
            cursor.report().problem(problem.hint(hint));
            return Err(Lost);
        }
        "disk" if !cursor.is_next(TokenKind::Open) => {
            host::volume_statement(cursor, word, &mut node.volumes)?;
        }
        _ => match settings::option_statement(cursor, word, &mut node.settings, seen)? {
            Found::Taken => {}
            Found::Other => match host::volume_statement(cursor, word, &mut node.volumes)? {
                Found::Taken => {}
                Found::Other => {
                    return Err(cursor.unknown_word(word, "a resource", &RESOURCE_WORDS));
                }
            },
        },
    }
    Ok(())
}
