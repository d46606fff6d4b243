//! The licences and notices of the crates in the program, which whoever passes the program on has
//! to pass on too: the texts that the crates bring along, each once, with the crates that it is of.

use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// How the name of such a file begins, in capitals.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// A crate that brings no text has to be looked at by a person. This one was: it is a part of
/// `asn1-rs`, whose texts it is under.
const WITHOUT: [&str; 1] = ["asn1-rs-impl"];

/// A crate from outside: its name and version, and its folder.
pub(super) type Crate = (String, PathBuf);

pub(super) fn write(path: &Path, crates: &[Crate]) -> Result<()> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for (name, folder) in crates {
        let found = texts_in(folder)?;
        if found.is_empty() && !WITHOUT.iter().any(|it| name.starts_with(&format!("{it} "))) {
            without.push(name.as_str());
        }
        for text in found {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    if !without.is_empty() {
        bail!(
            "no licence comes with {}: find its text, then name the crate in {}",
            without.join(", "),
            file!()
        );
    }
    fs::write(path, told(&texts)).with_context(|| format!("cannot write {}", path.display()))
}

fn told(texts: &BTreeMap<String, Vec<String>>) -> String {
    // By the first crate, as a reader looks for it.
    let mut blocks: Vec<(&Vec<String>, &String)> =
        texts.iter().map(|(text, names)| (names, text)).collect();
    blocks.sort_unstable();
    let line = "=".repeat(80);
    let mut whole = "The program basalt holds the following software.\n".to_owned();
    for (names, text) in blocks {
        write!(whole, "\n{line}\n{}\n{line}\n\n{}\n", names.join("\n"), text.trim_end())
            .expect("a text takes more text");
    }
    whole
}

/// The texts of a folder, in the order of the names of their files.
fn texts_in(folder: &Path) -> Result<Vec<String>> {
    let context = || format!("cannot read {}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if NAMES.iter().any(|start| name.starts_with(start)) && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    files.sort_unstable();
    let read = |file: PathBuf| {
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
    };
    files.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::scratch::Scratch;

    #[test]
    fn each_text_is_told_once_with_all_of_its_crates() {
        let scratch = Scratch::new("notices").expect("a folder");
        let crate_with = |name: &str, files: &[(&str, &str)]| {
            let folder = scratch.path().join(name);
            fs::create_dir(&folder).expect("a folder");
            for (file, text) in files {
                fs::write(folder.join(file), text).expect("a file");
            }
            (format!("{name} 1.0.0"), folder)
        };
        let crates = [
            crate_with("a", &[("LICENSE-MIT", "do as you like\n"), ("lib.rs", "fn f() {}")]),
            crate_with("b", &[("license.txt", "do as you like\n"), ("NOTICE", "by b")]),
        ];
        let path = scratch.path().join("told");
        write(&path, &crates).expect("texts");
        let text = fs::read_to_string(&path).expect("texts");
        assert_eq!(text.matches("do as you like").count(), 1, "{text}");
        assert!(text.contains("a 1.0.0\nb 1.0.0\n=") && text.contains("by b"), "{text}");
        assert!(!text.contains("fn f"), "{text}");

        let bare = [crate_with("c", &[("README", "hello")])];
        let error = write(&path, &bare).expect_err("no licence").to_string();
        assert!(error.contains("no licence comes with c 1.0.0"), "{error}");
    }
}
