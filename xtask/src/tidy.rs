//! `tidy`: the rules of STYLE.md and ARCHITECTURE.md that a program can hold for us.
//!
//! Each rule is a pure function from a text (or from the crates that cargo names) to complaints,
//! with a test that sees it complain. This file walks the repository and feeds the rules. It also
//! runs as a test of this package, so that nobody can forget it.

mod crates;
mod source;
mod words;
mod changelog;
mod first_reading;
mod coverage;
mod documents;
mod runbooks;
mod architecture;
mod circles;
mod reached;
mod messages;

use crate::container;
use crate::guest;
use crate::metadata;
use crate::process;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What the program knows and the documents of the repository speak of.
#[derive(Debug)]
pub(crate) struct Named {
    /// The steps of `test`, by name.
    pub(crate) steps: Vec<&'static str>,
    /// The list of packages of the dev container.
    pub(crate) container: String,
}

pub(crate) fn run(named: &Named) -> Result<ExitCode> {
    let findings = examine(named)?;
    print(&findings);
    if findings.complaints.is_empty() {
        println!("tidy: {} files are in order", findings.files);
        return Ok(ExitCode::SUCCESS);
    }
    println!("tidy: {} complaints", findings.complaints.len());
    Ok(ExitCode::FAILURE)
}

#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Each `where: what`; one is enough to fail.
    pub(crate) complaints: Vec<String>,
    /// What grows towards a limit; never fails.
    pub(crate) notes: Vec<String>,
    pub(crate) files: usize,
}

pub(crate) fn print(findings: &Findings) {
    for note in &findings.notes {
        println!("note: {note}");
    }
    for complaint in &findings.complaints {
        println!("tidy: {complaint}");
    }
}

/// Applies every rule to the whole repository.
pub(crate) fn examine(named: &Named) -> Result<Findings> {
    let root = process::repository()?;
    let mut findings = Findings::default();
    let files = files_under(&root)?;
    let mut sources = Vec::new();
    let text_of = |path: &str| text_of(&root.join(path));
    for path in &files {
        let bytes = fs::read(root.join(path)).with_context(|| format!("cannot read {path}"))?;
        // Golden bytes and the like are nobody's prose.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        findings.files += 1;
        if path != "Cargo.lock" {
            findings.complaints.extend(words::machine_paths(path, &text));
        }
        findings.complaints.extend(documents::examine(path, &text, text_of));
        if path.ends_with(".rs") {
            source::examine(path, &text, &mut findings);
            findings.complaints.extend(words::banned(path, &text));
            findings.complaints.extend(words::swallowed_skips(path, &text));
            sources.push((path.clone(), text));
        }
    }
    findings.complaints.extend(circles::examine(&sources));
    findings.complaints.extend(reached::examine(&sources, text_of));
    let read = |name: &str| {
        fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"))
    };
    findings.complaints.extend(changelog::examine(&read("CHANGELOG.md")?));
    for path in first_reading::FIRST {
        let exists = |named: &str| root.join(named).exists();
        findings.complaints.extend(first_reading::dead_paths(path, &read(path)?, exists));
    }
    let scenario = ("examples/scenario.rs", &*read("examples/scenario.rs")?);
    let guide = read("CONTRIBUTING.md")?;
    findings.complaints.extend(first_reading::changed_quotes("CONTRIBUTING.md", &guide, scenario));
    findings.complaints.extend(container::differences(&read(container::LIST)?, &named.container));
    let chapters: Vec<&str> = guest::chapters().collect();
    findings.complaints.extend(coverage::examine(
        &read("docs/TESTING.md")?,
        &read("docs/coverage.md")?,
        &coverage::Named {
            text_of: |path: &str| fs::read_to_string(root.join("crates").join(path)).ok(),
            steps: &named.steps,
            chapters: &chapters,
        },
    ));
    let pages = named_below(&files, runbooks::FOLDER);
    let pages = pages
        .map(|page| Ok((page.to_owned(), read(&format!("{}{page}", runbooks::FOLDER))?)))
        .collect::<Result<Vec<(String, String)>>>()?;
    let rules = read(runbooks::RULES)?;
    findings.complaints.extend(runbooks::examine(&rules, &pages));
    findings.complaints.extend(runbooks::examine_tests(&rules, &read(runbooks::TESTS)?));
    for (source, page) in messages::SOURCES {
        findings.complaints.extend(messages::examine(source, &read(source)?, page, &read(page)?));
    }
    let decisions = named_below(&files, "docs/decisions/").map(str::to_owned).collect::<Vec<_>>();
    let tree = architecture::Tree { text_of, decisions: &decisions };
    findings.complaints.extend(architecture::measure(&read(architecture::DOCUMENT)?));
    for document in [architecture::DOCUMENT, architecture::WALKS] {
        findings.complaints.extend(architecture::examine(document, &read(document)?, &tree));
    }
    let workspace = metadata::read()?;
    let edges = crates::examine(&read("ARCHITECTURE.md")?, &workspace.packages);
    findings.complaints.extend(edges);
    let decisions = read("docs/decisions/0001-dependencies.md")?;
    findings.complaints.extend(crates::undecided(&decisions, &workspace.packages));
    Ok(findings)
}

/// The text of a file; an empty one for a folder, or where it is none.
fn text_of(path: &Path) -> Option<String> {
    if path.is_dir() {
        return Some(String::new());
    }
    Some(String::from_utf8(fs::read(path).ok()?).unwrap_or_default())
}

/// The files below a folder, by their names in it.
fn named_below<'f>(files: &'f [String], folder: &'f str) -> impl Iterator<Item = &'f str> {
    files.iter().filter_map(move |file| file.strip_prefix(folder))
}

/// Every file of the repository by its path from the top, sorted; what is built or belongs to git
/// is left out, and links are not followed.
fn files_under(root: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(root)];
    while let Some(folder) = folders.pop() {
        let context = || format!("cannot read the folder {}", folder.display());
        for entry in fs::read_dir(&folder).with_context(context)? {
            let entry = entry.with_context(context)?;
            let kind = entry.file_type().with_context(context)?;
            let path = entry.path();
            if kind.is_dir() {
                if entry.file_name() != "target" && entry.file_name() != ".git" {
                    folders.push(path);
                }
            } else if kind.is_file() {
                let relative = path.strip_prefix(root).context("a file lies under its folder")?;
                let relative = relative.to_str().context("a file name is not UTF-8")?;
                // In a linked work tree `.git` is a file that names a path of this machine.
                if relative != ".git" {
                    files.push(relative.to_owned());
                }
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::steps;

    #[test]
    fn repository_is_tidy() {
        let findings = examine(&steps::named_elsewhere()).expect("the repository can be read");
        assert!(findings.files > 20, "only {} files were seen", findings.files);
        assert!(findings.complaints.is_empty(), "{}", findings.complaints.join("\n"));
    }

    #[test]
    fn walk_sees_sources_and_leaves_out_what_is_built() {
        let files = files_under(&process::repository().expect("a root")).expect("a walk");
        assert!(files.iter().any(|path| path == "xtask/src/tidy.rs"));
        assert!(!files.iter().any(|path| path.starts_with("target/")));
    }
}
