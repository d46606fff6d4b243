//! The words that nodes are asked with, and each sentence about their reports.

use super::*;
use crate::adm::explain::rows::{self, Row, variant_of};

#[test]
fn words_for_another_node_are_one_word_each_to_its_shell() {
    for (word, expected) in [
        ("--state-dir", "--state-dir"),
        ("/var/lib/basalt", "/var/lib/basalt"),
        ("/a b/$(c)", "'/a b/$(c)'"),
        ("it's", r"'it'\''s'"),
        ("", "''"),
    ] {
        assert_eq!(quoted(&OsString::from(word)), expected);
        let echoed = Command::new("sh").arg("-c").arg(format!("printf %s {expected}")).output();
        assert_eq!(String::from_utf8(echoed.unwrap().stdout).unwrap(), word);
    }
}

#[test]
fn name_of_a_node_leads_to_no_other_folder() {
    for (name, expected) in [
        ("alice.example", "alice.example"),
        ("2001:db8::1", "2001:db8::1"),
        ("../bob", ".._bob"),
        ("..", "_.."),
        ("", "_"),
    ] {
        assert_eq!(folder_of(name), expected);
    }
}

#[test]
fn rows_about_nodes_are_those_of_the_page() {
    let row = |situation: &str, told: &dyn std::fmt::Display, variant: String| Row {
        variant,
        situation: situation.to_owned(),
        sentence: told.to_string(),
    };
    let mut rows = Vec::new();
    let ended = || Missing::Ended { words: "No route to host".to_owned() };
    for (situation, told) in [
        ("the node told all", Told::Whole { files: 12 }),
        ("the node told a part", Told::Part { files: 5, why: ended() }),
        ("the node told nothing", Told::Nothing { why: ended() }),
    ] {
        rows.push(row(situation, &told, variant_of(&told)));
    }
    for (situation, why) in [
        ("the deadline came first", Missing::NotInTime { seconds: 60 }),
        ("the command ended with some words", ended()),
        ("the command ended without a word", Missing::Ended { words: String::new() }),
        (
            "there is no such command",
            Missing::NotStarted { command: "ssh".to_owned(), error: "not found".to_owned() },
        ),
        (
            "the command printed a greeting first, say",
            Missing::NotAReport { error: "not of tar: a header".to_owned(), words: String::new() },
        ),
        ("more than 10,000 files, or 512 MiB", Missing::TooMuch),
        (
            "neither the file nor the daemon tells the names of other nodes",
            Missing::NotNamed { error: "no configuration".to_owned() },
        ),
    ] {
        rows.push(row(situation, &why, variant_of(&why)));
    }
    let nodes = || "bob, carol".to_owned();
    for (situation, told) in [
        ("after 2 s, and every 10 s then", Whole::Waits { told: 1, all: 3, nodes: nodes() }),
        ("at the end, with exit code 20", Whole::Lacks { nodes: nodes() }),
        ("the README of the archive", Whole::Contents { version: "0.1.0" }),
    ] {
        rows.push(row(situation, &told, variant_of(&told)));
    }
    rows::check(("report.md", "What `report --cluster` says of nodes"), rows);
}
