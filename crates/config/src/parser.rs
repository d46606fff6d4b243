//! From tokens to the tree of `ast`.
//!
//! The grammar nests to a fixed depth, so each section is one function that calls those of the
//! sections in it; nothing recurses. A statement that goes wrong is reported, skipped up to its
//! `;` or its closing brace, and the reading goes on with the next one.

mod connection;
mod cursor;
mod host;
mod resource;
mod settings;

use std::collections::BTreeMap;

use crate::ast::{ResourceNode, Setting, Spanned};
use crate::diagnostic::{Caution, Problem, Report, Sentence, Span};
use crate::lexer::{Token, TokenKind};
use crate::options::value::Value;
use crate::options::{Place, Section};
use cursor::{Cursor, Lost};

/// What one file says.
#[derive(Debug, Default)]
pub(crate) struct FileNode {
    pub(crate) commons: Vec<Spanned<Vec<Setting>>>,
    pub(crate) resources: Vec<ResourceNode>,
    pub(crate) includes: Vec<Spanned<String>>,
    /// It says `udev-always-use-vnr`.
    pub(crate) numbers_links: bool,
}

/// Once-only statements that were met, by what names them, and where.
pub(crate) type Seen = BTreeMap<&'static str, Span>;

const TOP_WORDS: [&str; 11] = [
    "resource",
    "common",
    "global",
    "include",
    "skip",
    "require-drbd-module-version-eq",
    "require-drbd-module-version-ne",
    "require-drbd-module-version-gt",
    "require-drbd-module-version-ge",
    "require-drbd-module-version-lt",
    "require-drbd-module-version-le",
];

/// Reads a file of the configuration.
pub(crate) fn file(report: &mut Report, source: usize, text: &str) -> FileNode {
    let mut cursor = Cursor::new(report, source, text);
    let mut node = FileNode::default();
    cursor.statements_of_file(|cursor, word| top_statement(cursor, &word, &mut node));
    node
}

/// Reads the file that a `template-file` names: one `common` section.
pub(crate) fn template(report: &mut Report, source: usize, text: &str) -> Vec<Setting> {
    let mut cursor = Cursor::new(report, source, text);
    let mut settings = Vec::new();
    let mut seen = Seen::new();
    cursor.statements_of_file(|cursor, word| {
        if word.text != "common" {
            return Err(cursor.unknown_word(&word, "a template file", &["common"]));
        }
        cursor.block(|cursor, inner| common_statement(cursor, &inner, &mut settings, &mut seen))
    });
    settings
}

fn top_statement(
    cursor: &mut Cursor<'_, '_>,
    word: &Token<'_>,
    node: &mut FileNode,
) -> Result<(), Lost> {
    match word.text.as_ref() {
        "resource" => node.resources.push(resource::resource(cursor)?),
        "common" => {
            let mut value = Vec::new();
            let mut seen = Seen::new();
            cursor
                .block(|cursor, inner| common_statement(cursor, &inner, &mut value, &mut seen))?;
            node.commons.push(Spanned { value, span: word.span });
        }
        "global" => {
            let settings = settings::section(cursor, Place::Section(Section::Global))?;
            node.numbers_links |= settings.iter().any(|setting| {
                setting.spec.name == "udev-always-use-vnr" && setting.value == Value::Flag(true)
            });
        }
        "include" => {
            let name = cursor.name("a file name or a pattern")?;
            cursor.expect(TokenKind::Semicolon)?;
            node.includes.push(name);
        }
        _ if word.text.starts_with("require-drbd-module-version-") => {
            cursor.expect(TokenKind::Word)?;
            cursor.expect(TokenKind::Semicolon)?;
            let option = "require-drbd-module-version";
            cursor.report().warn_once(option, word.span, &Caution::NoModule);
        }
        _ => return Err(cursor.unknown_word(word, "the file", &TOP_WORDS)),
    }
    Ok(())
}

const COMMON_WORDS: [&str; 9] =
    ["disk", "net", "options", "startup", "handlers", "proxy", "protocol", "syncer", "skip"];

fn common_statement(
    cursor: &mut Cursor<'_, '_>,
    word: &Token<'_>,
    settings: &mut Vec<Setting>,
    seen: &mut Seen,
) -> Result<(), Lost> {
    if matches!(word.text.as_ref(), "on" | "floating" | "volume" | "connection" | "device") {
        let sentence = Sentence::NotInCommon { word: word.text.to_string() };
        cursor.report().problem(
            Problem::new(word.span, sentence)
                .hint("hosts, volumes and connections belong into a resource")
                .allowed(&word.text, COMMON_WORDS),
        );
        return Err(Lost);
    }
    match settings::option_statement(cursor, word, settings, seen)? {
        settings::Found::Taken => Ok(()),
        settings::Found::Other => Err(cursor.unknown_word(word, "common", &COMMON_WORDS)),
    }
}
