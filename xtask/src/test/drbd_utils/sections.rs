//! drbdadm's answers in the table of sections and places, which `config` tests for its own.

use super::theirs;
use crate::outcome::Outcome;
use crate::process;
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const TABLE: &str = "crates/config/tests/sections.txt";

/// Each row is a check.
pub(super) fn check(scratch: &Path, host: &str) -> Result<Outcome> {
    let table = fs::read_to_string(process::repository()?.join(TABLE))?;
    let texts = |kind: &str| -> BTreeMap<&str, &str> {
        table.lines().filter_map(|line| line.strip_prefix(kind)?.split_once(' ')).collect()
    };
    let (places, sections) = (texts("place "), texts("section "));
    let mut outcome = Outcome::default();
    for row in table.lines().filter_map(|line| line.strip_prefix("row ")) {
        let words: Vec<&str> = row.split(' ').collect();
        let [place, section, expected, ..] = words[..] else { continue };
        let text = places.get(place).context("a place that is not described")?;
        let section = sections.get(section).context("a section that is not described")?;
        let file = scratch.join("section");
        // Of floating hosts the addresses have to tell which one is this.
        let global = if place.starts_with("floating") { "" } else { "disable-ip-verification;" };
        let text = text.replace("SECTION", section).replace("HOST", host);
        fs::write(&file, format!("global {{ {global} }}\n{text}"))?;
        outcome += match answer(&file, section)? {
            found if found == expected => Outcome::PASSED,
            found => {
                println!("sections: {row}: it is {found}");
                Outcome::FAILED
            }
        };
    }
    ensure!(outcome != Outcome::default(), "{TABLE} has no rows");
    Ok(outcome)
}

/// What drbdadm does with the only option of this section.
fn answer(file: &Path, section: &str) -> Result<&'static str> {
    let words: Vec<&str> = section.split(' ').collect();
    let [keyword, "{", name, value, "}"] = words[..] else {
        anyhow::bail!("`{section}` is no section with one option");
    };
    let Ok(dump) = theirs(file, &["dump"]) else { return Ok("refused") };
    let is_passed_on = !matches!(keyword, "handlers" | "startup");
    if !is_passed_on {
        return Ok(if dump.contains(name) { "in-dump" } else { "ignored" });
    }
    let option = format!("--{name}={}", value.trim_end_matches(';'));
    let commands = theirs(file, &["-d", "up", "r"])?;
    Ok(if commands.contains(&option) { "passed-on" } else { "ignored" })
}
