//! The `.res` grammar.
//!
//! DRBD's configuration, read, checked and written back. [`parse_file`] reads a file with all that
//! it includes; [`parse_text`] reads text, such as what [`model::Resource::to_res_text`] wrote.
//! Both report every mistake that they find, with its place and the words that would be right.
//!
//! On the way: `lexer` makes tokens, `parser` the tree of `ast`, `resolve` the [`model`]; `include`
//! finds the files; `options/table.rs` knows every option. An option that does nothing yet is
//! accepted with a warning; one that would be unsafe to ignore is an error until it works.
//!
//! Nothing here touches a disk other than to read configuration, and nothing recurses.
#![forbid(unsafe_code)]

mod ast;
pub mod diagnostic;
pub mod effective;
pub mod host_name;
mod include;
mod lexer;
pub mod limits;
pub mod model;
pub mod number;
pub mod options;
mod parser;
mod resolve;
#[cfg(test)]
#[path = "../../engine/src/shard/rows.rs"]
mod rows;
mod write;
pub mod xml;
pub mod side;
pub mod steps;

use std::collections::BTreeSet;
use std::path::Path;

use ast::Document;
use diagnostic::{Errors, Report, Warning};
use model::Resource;

/// A configuration that was read without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    pub resources: Vec<Resource>,
    /// What was accepted and changes nothing, each option once.
    pub warnings: Vec<Warning>,
    /// Overrides that drbdadm takes for mistakes; the first of them, up to a limit.
    pub ambiguities: Vec<Warning>,
    /// Resources whose only volume has no section of its own: drbdadm's names for udev leave its
    /// number out, unless the file says `udev-always-use-vnr`.
    pub without_number: BTreeSet<String>,
}

impl ConfigFile {
    #[must_use]
    pub fn resource(&self, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.name == name)
    }
}

/// Reads a file, and the files that it includes.
///
/// # Errors
/// All mistakes that were found, up to a limit.
pub fn parse_file(path: &Path) -> Result<ConfigFile, Errors> {
    let mut report = Report::default();
    let document = include::read_file(&mut report, path);
    finish(report, &document)
}

/// Reads text; `name` stands for a file name in errors. Such text cannot include files.
///
/// # Errors
/// All mistakes that were found, up to a limit.
pub fn parse_text(name: &str, text: &str) -> Result<ConfigFile, Errors> {
    let mut report = Report::default();
    let document = include::read_text(&mut report, name, text);
    finish(report, &document)
}

fn finish(mut report: Report, document: &Document) -> Result<ConfigFile, Errors> {
    let resources = resolve::resources(&mut report, document);
    let (warnings, ambiguities) = report.finish()?;
    let without_number = resolve::without_number(document);
    Ok(ConfigFile { resources, warnings, ambiguities, without_number })
}
