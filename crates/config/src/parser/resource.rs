//! The `resource` section.

use crate::ast::ResourceNode;
use crate::diagnostic::{ErrorKind, Problem};
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
    if let Some(message) = bad_name(&name.value) {
        cursor.fail(ErrorKind::BadValue, name.span, message);
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

fn bad_name(name: &str) -> Option<String> {
    // What stands behind `/` or `@` names a volume, and behind `:` a peer.
    let is_bad_char = |c: char| "/@:".contains(c) || c.is_whitespace() || c.is_control();
    if name.is_empty() {
        Some("the name of a resource is empty".to_owned())
    } else if name.len() > NAME_BYTES_MAX {
        Some(format!("the name of a resource is longer than {NAME_BYTES_MAX} bytes"))
    } else if name == "all" || name == "." || name == ".." {
        Some(format!("a resource cannot be called `{name}`"))
    } else if name.contains(is_bad_char) {
        Some(
            "the name of a resource has a slash, `@`, a colon, a space or a control character"
                .to_owned(),
        )
    } else {
        None
    }
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
                let message = format!("more than {HOSTS_MAX} hosts in one resource");
                return Err(cursor.fail(ErrorKind::TooLarge, word.span, message));
            }
            node.hosts.push(host);
        }
        "connection" => {
            let connection = connection::connection(cursor, word.span)?;
            if node.connections.len() >= CONNECTIONS_MAX {
                let message = format!("more than {CONNECTIONS_MAX} connections in one resource");
                return Err(cursor.fail(ErrorKind::TooLarge, word.span, message));
            }
            node.connections.push(connection);
        }
        "connection-mesh" => {
            let mesh = connection::mesh(cursor, word.span)?;
            if node.meshes.len() >= HOSTS_MAX {
                let message = format!("more than {HOSTS_MAX} meshes in one resource");
                return Err(cursor.fail(ErrorKind::TooLarge, word.span, message));
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
            let problem = Problem::new(
                ErrorKind::NotSupported,
                word.span,
                "stacked resources are not supported",
            );
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
