//! What `basalt manuals` makes: the man pages and the list of options in docs are those of now, and
//! each completion is a program that its shell can read.
//!
//! Completions are long, and change with every word of a command: packages carry them, git does
//! not.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use stdx::testing::skip;
use tempfile::TempDir;

const COMPLETIONS: [&str; 5] =
    ["basalt.bash", "basalt.fish", "basalt.zsh", "drbdadm.bash", "drbdsetup.bash"];

fn docs() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"))
}

/// The texts of a directory by their names, sorted.
fn texts(directory: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

/// A directory with what the program makes now.
fn fresh() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut make = Command::new(env!("CARGO_BIN_EXE_basalt"));
    let output = make.arg("manuals").arg(directory.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    directory
}

#[test]
fn manuals_in_docs_are_current() {
    let fresh = fresh();
    let of = |directory: &Path| {
        let mut files = texts(&directory.join("man"));
        let options = fs::read_to_string(directory.join("options.md")).unwrap();
        files.insert("options.md".to_owned(), options);
        files
    };
    let (made, kept) = (of(fresh.path()), of(docs()));
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    let advice = "run `cargo run -p basalt -- manuals docs` and commit what changes";
    assert_eq!(names(&kept), names(&made), "{advice}");
    for (name, text) in &made {
        assert!(&kept[name] == text, "{name} in docs is not what the program makes: {advice}");
    }
}

#[test]
fn every_verb_has_its_part_and_its_completion() {
    let fresh = fresh();
    let manuals = texts(&docs().join("man"));
    let completions = texts(&fresh.path().join("completions"));
    for verb in ["adjust", "events2", "wait-connect", "explain", "sh-dev", "create-md"] {
        assert!(manuals["basalt-adm.1"].contains(&format!("\n.SS {verb}\n")), "{verb}");
        for name in ["basalt.bash", "basalt.zsh", "basalt.fish", "drbdadm.bash"] {
            assert!(completions[name].contains(verb), "{name} lacks {verb}");
        }
    }
    for hidden in ["fence-peer", "pri-on-incon-degr", "sh-lr-of", "initial-current-uuid"] {
        for (name, text) in &completions {
            assert!(!text.contains(hidden), "{name} offers {hidden}");
        }
    }
    let zsh = &completions["basalt.zsh"];
    assert!(zsh.contains("'*::words:_basalt_resources'"), "`explain` has resources");
    assert!(manuals["basalt-setup.1"].contains("\n.SS wait-sync-resource\n"));
    assert!(completions["drbdsetup.bash"].contains("wait-sync-resource"));
    assert!(manuals["basalt-node.1"].contains("metrics"));
    assert!(manuals["basalt.1"].contains("\n.SS pki issue-client\n"));
}

#[test]
fn every_completion_is_made_and_its_shell_reads_it() {
    let fresh = fresh();
    let directory = fresh.path().join("completions");
    let made: Vec<String> = texts(&directory).into_keys().collect();
    assert_eq!(made, COMPLETIONS);
    let mut absent = Vec::new();
    for name in COMPLETIONS {
        let path = directory.join(name);
        assert!(fs::metadata(&path).unwrap().len() > 10_000, "{name} is next to empty");
        let (_, shell) = name.rsplit_once('.').unwrap();
        // `-n` reads a script to its end and runs nothing of it, in all three.
        let reading = Command::new(shell).arg("-n").arg(&path).stdin(Stdio::null()).output();
        let output = match reading {
            Err(error) if error.kind() == ErrorKind::NotFound && shell != "bash" => {
                absent.push(shell);
                continue;
            }
            other => other.unwrap(),
        };
        assert!(output.status.success(), "{shell} does not read {name}: {output:?}");
        assert!(output.stderr.is_empty(), "{shell} complains of {name}: {output:?}");
    }
    if !absent.is_empty() {
        skip(&format!("{} not installed: their completions were not read", absent.join(" and ")));
    }
}

#[test]
fn completion_of_bash_offers_the_verbs() {
    let fresh = fresh();
    let script = "source \"$1\"; COMP_WORDS=(basalt adm inval); COMP_CWORD=2; \
                  _basalt basalt inval adm; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-c", script, "bash"]);
    let output = bash.arg(fresh.path().join("completions/basalt.bash")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let offered = String::from_utf8(output.stdout).unwrap();
    let mut offered: Vec<&str> = offered.lines().collect();
    offered.sort_unstable();
    assert_eq!(offered, ["invalidate", "invalidate-remote"]);
}

/// A resource of this machine and of two others.
fn resource(name: &str) -> String {
    let host = Command::new("uname").arg("-n").output().unwrap();
    let host = String::from_utf8(host.stdout).unwrap();
    let (host, minor) = (host.trim(), name.len());
    format!(
        "resource {name} {{
           volume 0 {{ device minor {minor}; disk /dev/{name}; meta-disk internal; }}
           on {host} {{ node-id 0; address 127.0.0.1:1; }}
           on bob {{ node-id 1; address 127.0.0.2:1; }}
           on bruno-{name} {{ node-id 2; address 127.0.0.3:1; }}
           connection-mesh {{ hosts {host} bob bruno-{name}; }} }}\n"
    )
}

/// The program of a completion asks for the names; here it has a configuration of the test, and
/// another one for lines that name it.
#[test]
fn completions_know_the_resources_and_their_peers() {
    let fresh = fresh();
    let write = |name: &str, text: String| {
        let path = fresh.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let config = write("all.res", resource("web") + &resource("wiki1") + &resource("db"));
    let other = write("an other.res", resource("warehouse"));
    // With -c among its words it has no configuration of its own.
    let program = format!(
        "basalt() {{ local tool=$1 own=(-c {config}); shift; [[ $1 == -c ]] && own=(); {} \
         \"$tool\" \"${{own[@]}}\" \"$@\"; }}",
        env!("CARGO_BIN_EXE_basalt"),
    );
    let offered = |name: &str, words: &[&str]| {
        let function = format!("_{name}_and_resources");
        let script = format!(
            "{program}\nsource \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($#-1));
             {function} \"$1\" \"${{@: -1}}\" \"${{@: -2:1}}\"
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("bash");
        bash.args(["--norc", "--noprofile", "-c", &script, "bash"]);
        let completion = fresh.path().join("completions").join(format!("{name}.bash"));
        let output = bash.arg(completion).args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let offered = String::from_utf8(output.stdout).unwrap();
        offered.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(offered("basalt", &["basalt", "adm", "up", "w"]), ["web", "wiki1"]);
    assert_eq!(offered("basalt", &["basalt", "explain", "d"]), ["db"]);
    assert_eq!(offered("drbdadm", &["drbdadm", "primary", "wi"]), ["wiki1"]);
    assert_eq!(offered("basalt", &["basalt", "top", "w"]), [""; 0]);
    // As they are typed, and as bash cuts them.
    let (quoted, escaped) = (format!("\"{other}\""), other.replace(' ', "\\ "));
    for file in [
        &["-c", &quoted][..],
        &["-c", &escaped],
        &[&format!("-c{escaped}")],
        &["--config-file", &quoted],
        &["--config-file", "=", &quoted],
        &[&format!("--config-file={escaped}")],
    ] {
        let adm = [&["basalt", "adm"][..], file].concat();
        let up = [&adm[..], &["up", "w"]].concat();
        assert_eq!(offered("basalt", &up), ["warehouse"], "{file:?}");
        let peers = [&adm[..], &["connect", "warehouse", ":", "b"]].concat();
        assert_eq!(offered("basalt", &peers), ["bob", "bruno-warehouse"], "{file:?}");
    }
    let before_the_verb = ["drbdadm", "-c", &quoted, "up", "w"];
    assert_eq!(offered("drbdadm", &before_the_verb), ["warehouse"]);
    let peers =
        |words: &[&str]| offered("basalt", &[&["basalt", "adm", "connect"], words].concat());
    assert_eq!(peers(&["db", ":"]), ["bob", "bruno-db"]);
    assert_eq!(peers(&["web", ":", "br"]), ["bruno-web"]);
    assert_eq!(peers(&["db:br"]), ["db:bruno-db"], "where `:` breaks no words");
    assert_eq!(peers(&["none", ":"]), [""; 0]);
    assert_eq!(offered("basalt", &["basalt", "adm", "-c", "w"]), [""; 0], "it is a file");
    let options = offered("basalt", &["basalt", "adm", "up", "--ver"]);
    assert!(options.iter().all(|word| word.starts_with("--ver")), "{options:?}");
}
