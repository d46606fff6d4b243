//! The man pages and completions in docs are those that the program makes now.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const DIRECTORIES: [&str; 2] = ["man", "completions"];

fn files(directory: &Path) -> BTreeMap<String, String> {
    let entries = DIRECTORIES.iter().flat_map(|name| {
        let there = fs::read_dir(directory.join(name));
        there.into_iter().flatten().map(move |entry| (name, entry.unwrap()))
    });
    let mut files: BTreeMap<String, String> = entries
        .map(|(name, entry)| {
            let path = format!("{name}/{}", entry.file_name().into_string().unwrap());
            (path, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    let options = fs::read_to_string(directory.join("options.md")).unwrap();
    files.insert("options.md".to_owned(), options);
    files
}

#[test]
fn manuals_and_completions_are_current() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let fresh = tempfile::tempdir().unwrap();
    let mut make = Command::new(env!("CARGO_BIN_EXE_basalt"));
    let output = make.arg("manuals").arg(fresh.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let (fresh, kept) = (files(fresh.path()), files(&docs));
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    let advice = "run `cargo run -p basalt -- manuals docs` and commit what changes";
    assert_eq!(names(&kept), names(&fresh), "{advice}");
    for (name, text) in &fresh {
        assert!(&kept[name] == text, "docs/{name} is not what the program makes: {advice}");
    }
}

#[test]
fn every_verb_has_its_part_and_its_completion() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let files = files(&docs);
    for verb in ["adjust", "events2", "wait-connect", "explain", "sh-dev", "create-md"] {
        assert!(files["man/basalt-adm.1"].contains(&format!("\n.SS {verb}\n")), "{verb}");
        assert!(files["completions/drbdadm.bash"].contains(verb), "{verb}");
        assert!(files["completions/basalt.zsh"].contains(verb), "{verb}");
    }
    for hidden in ["fence-peer", "pri-on-incon-degr", "sh-lr-of", "initial-current-uuid"] {
        for (name, text) in files.iter().filter(|(name, _)| name.starts_with("completions/")) {
            assert!(!text.contains(hidden), "{name} offers {hidden}");
        }
    }
    assert!(files["man/basalt-setup.1"].contains("\n.SS wait-sync-resource\n"));
    assert!(files["man/basalt-node.1"].contains("metrics"));
    assert!(files["man/basalt.1"].contains("\n.SS pki issue-client\n"));
}
