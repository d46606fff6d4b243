//! Sections of options: `disk`, `net`, `options`, `startup`, `handlers`, `global`, `syncer`.

use std::collections::BTreeMap;

use crate::ast::{Setting, Spanned};
use crate::diagnostic::{Caution, Problem, Sentence, Span};
use crate::lexer::{Token, TokenKind};
use crate::options::reasons::{why_nothing, why_refused};
use crate::options::value::{self, BadValue, Value, Verdict};
use crate::options::{Kind, OptionSpec, Place, Section};
use crate::parser::Seen;
use crate::parser::cursor::{Cursor, Lost};

/// Whether a statement was one of those that set options.
pub(crate) enum Found {
    Taken,
    /// Not one of these; nothing after its first word was read.
    Other,
}

/// Reads `word` and what follows it if it opens a section of options, as it may in `common` and in
/// a resource: there, each of them once.
pub(crate) fn option_statement(
    cursor: &mut Cursor<'_, '_>,
    word: &Token<'_>,
    settings: &mut Vec<Setting>,
    seen: &mut Seen,
) -> Result<Found, Lost> {
    let (keyword, place) = match word.text.as_ref() {
        "disk" => ("disk", Place::Section(Section::Disk)),
        "net" => ("net", Place::Section(Section::Net)),
        "options" => ("options", Place::Section(Section::Options)),
        "startup" => ("startup", Place::Section(Section::Startup)),
        "handlers" => ("handlers", Place::Section(Section::Handlers)),
        "syncer" => ("syncer", Place::Syncer),
        "protocol" => {
            let spec = Place::Section(Section::Net).find("protocol");
            let spec = spec.expect("the table has a row for protocol");
            let setting = setting(cursor, spec, word.span)?;
            add_settings(cursor, settings, vec![setting]);
            return Ok(Found::Taken);
        }
        "proxy" => {
            cursor.report().warn_once("proxy", word.span, &Caution::NoProxy);
            cursor.recover();
            return Ok(Found::Taken);
        }
        _ => return Ok(Found::Other),
    };
    if let Some(first) = seen.insert(keyword, word.span) {
        return Err(cursor.duplicate(&format!("the section `{keyword}`"), word.span, first));
    }
    let section = section(cursor, place)?;
    add_settings(cursor, settings, section);
    Ok(Found::Taken)
}

/// Adds to the settings of a section those of another one that belong with them.
pub(crate) fn add_settings(
    cursor: &mut Cursor<'_, '_>,
    settings: &mut Vec<Setting>,
    more: Vec<Setting>,
) {
    for setting in more {
        match settings.iter().find(|present| present.spec.name == setting.spec.name) {
            Some(first) => {
                let what = format!("the option `{}`", setting.spec.name);
                cursor.duplicate(&what, setting.span, first.span);
            }
            None => settings.push(setting),
        }
    }
}

/// `{ option .. }`
pub(crate) fn section(cursor: &mut Cursor<'_, '_>, place: Place) -> Result<Vec<Setting>, Lost> {
    let mut settings: BTreeMap<&'static str, Setting> = BTreeMap::new();
    cursor.block(|cursor, word| {
        let Some((spec, flag)) = find(place, &word.text) else {
            return Err(unknown_option(cursor, &word, place));
        };
        let setting = match flag {
            Some(no) => {
                cursor.expect(TokenKind::Semicolon)?;
                checked(cursor, spec, no, word.span, word.span)?
            }
            None => setting(cursor, spec, word.span)?,
        };
        match settings.get(spec.name) {
            Some(first) => {
                let what = format!("the option `{}`", spec.name);
                cursor.duplicate(&what, word.span, first.span);
            }
            None => {
                settings.insert(spec.name, setting);
            }
        }
        Ok(())
    })?;
    Ok(settings.into_values().collect())
}

/// The option that `name` names; with its value if the name is that of a flag after `no-`.
fn find(place: Place, name: &str) -> Option<(&'static OptionSpec, Option<Value>)> {
    if let Some(spec) = place.find(name) {
        return Some((spec, None));
    }
    let spec = place.find(name.strip_prefix("no-")?)?;
    (spec.kind == Kind::Flag).then_some((spec, Some(Value::Flag(false))))
}

/// What follows the name of an option: its value and `;`.
fn setting(
    cursor: &mut Cursor<'_, '_>,
    spec: &'static OptionSpec,
    name: Span,
) -> Result<Setting, Lost> {
    if spec.kind == Kind::Flag && cursor.is_next(TokenKind::Semicolon) {
        cursor.next();
        return checked(cursor, spec, Value::Flag(true), name, name);
    }
    let what = format!("a value of `{}`", spec.name);
    let Spanned { value: mut text, span } = cursor.name(&what)?;
    if spec.kind == Kind::Names {
        while !cursor.is_next(TokenKind::Semicolon) {
            let more = cursor.name("a name or `;`")?;
            text = format!("{text} {}", more.value);
        }
    }
    let value = match value::parse(spec.kind, &text) {
        Ok(value) => value,
        Err(bad) => {
            let problem = bad_value(spec, bad, &text, span);
            cursor.report().problem(problem);
            return Err(Lost);
        }
    };
    cursor.expect(TokenKind::Semicolon)?;
    checked(cursor, spec, value, name, span)
}

/// Accepts a value, with a warning where it changes nothing; refuses it where that is not safe.
fn checked(
    cursor: &mut Cursor<'_, '_>,
    spec: &'static OptionSpec,
    value: Value,
    name: Span,
    place: Span,
) -> Result<Setting, Lost> {
    match value::judge(spec, &value) {
        Verdict::Accepted => {}
        Verdict::ChangesNothing => {
            let (option, reason) = (spec.name, why_nothing(spec.name));
            let caution = Caution::ChangesNothing { option, value: value.to_string(), reason };
            cursor.report().warn_once(option, name, &caution);
        }
        Verdict::Refused { works } => {
            let (option, reason) = (spec.name, why_refused(spec.name));
            let sentence = Sentence::ValueRefused { option, value: value.to_string(), reason };
            let hint = format!("what works: `{}`", works.join("` or `"));
            cursor.report().refusal(Problem::new(place, sentence).hint(hint));
        }
    }
    Ok(Setting { spec, value, span: name })
}

fn bad_value(spec: &OptionSpec, bad: BadValue, text: &str, span: Span) -> Problem {
    let problem = Problem::new(span, Sentence::Value { option: spec.name, why: bad.flaw });
    let default =
        spec.default.map(|default| format!("the default of `{}` is {default}", spec.name));
    let problem = match default {
        Some(default) => problem.hint(default),
        None => problem,
    };
    if bad.words.is_empty() { problem } else { problem.allowed(text, bad.words.iter().copied()) }
}

fn unknown_option(cursor: &mut Cursor<'_, '_>, word: &Token<'_>, place: Place) -> Lost {
    let (unknown, section) = (word.text.to_string(), place.keyword());
    let sentence = Sentence::UnknownOption { word: unknown, place: section };
    let mut problem = Problem::new(word.span, sentence);
    let flag_or_name = word.text.strip_prefix("no-").unwrap_or(&word.text);
    problem = problem.allowed(flag_or_name, place.names());
    if let Some(home) = home_of(flag_or_name) {
        problem = problem.hint(format!("it belongs into the section `{}`", home.keyword()));
    }
    cursor.report().problem(problem);
    Lost
}

fn home_of(name: &str) -> Option<Section> {
    crate::options::spec_of(name).map(|spec| spec.section)
}
