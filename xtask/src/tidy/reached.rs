//! Each Rust file is built: cargo takes it for an entry, or a `mod` line of its parent names it.
//! Else its tests never run, and nobody tells.

/// `sources` are paths with their texts; `manifest_of` gives the text of a crate's manifest.
pub(super) fn examine(
    sources: &[(String, String)],
    manifest_of: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let is_lost = |path: &&str| {
        let Some((folder, name)) = parted(path) else { return false };
        !is_entry(folder, name, sources)
            && !is_module(folder, name, sources)
            && !is_target(folder, name, &manifest_of)
            && !is_borrowed(path, sources)
    };
    let lost = sources.iter().map(|(path, _)| &**path).filter(is_lost);
    lost.map(|path| format!("{path}: no `mod` line names this file, so nobody builds it")).collect()
}

/// The folder and the name of the module in a file; that of `a/b/mod.rs` is `b`.
fn parted(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs"))?.rsplit_once('/')
}

/// Does cargo build it by its place?
fn is_entry(folder: &str, name: &str, sources: &[(String, String)]) -> bool {
    let kind = folder.rsplit('/').next();
    let main = format!("{folder}/main.rs");
    let is_of_cargo = matches!(kind, Some("tests" | "examples"))
        && sources.iter().any(|(path, _)| *path == format!("{folder}/{name}.rs"))
        && !sources.iter().any(|(path, _)| *path == main);
    is_of_cargo || ["lib", "main", "build"].contains(&name)
}

/// Does a file name it that may: the one of its folder, or an entry beside it?
fn is_module(folder: &str, name: &str, sources: &[(String, String)]) -> bool {
    let line = format!("mod {name};");
    let may_name = |path: &str| {
        path.strip_suffix(".rs").is_some_and(|it| it == folder)
            || path.rsplit_once('/').is_some_and(|(above, name)| {
                above == folder
                    && (folder.ends_with("/tests") || ["lib.rs", "main.rs"].contains(&name))
            })
    };
    let mut parents = sources.iter().filter(|(path, _)| may_name(path));
    parents.any(|(_, text)| text.lines().any(|it| is_mod_line(it, &line)))
}

/// `mod x;`, with or without `pub` and the like before it.
fn is_mod_line(text: &str, line: &str) -> bool {
    let before = text.trim().strip_suffix(line);
    before.is_some_and(|it| it.is_empty() || (it.starts_with("pub") && it.ends_with(' ')))
}

/// What the manifest of its crate names.
fn is_target(folder: &str, name: &str, manifest_of: impl Fn(&str) -> Option<String>) -> bool {
    let crate_folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    let manifest = manifest_of(&format!("{crate_folder}/Cargo.toml"));
    manifest.is_some_and(|text| text.contains(&format!("[[test]]\nname = \"{name}\"\n")))
}

/// What another crate takes in by its path, as a fixture that tests share.
fn is_borrowed(path: &str, sources: &[(String, String)]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    sources.iter().any(|(_, text)| {
        let paths = text.lines().filter_map(|line| line.trim().strip_prefix("#[path = \""));
        paths.filter_map(|it| it.split('"').next()).any(|it| it.ends_with(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[[test]]\nname = \"seeds\"\n";

    fn lost(files: &[(&str, &str)]) -> Vec<String> {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        let sources: Vec<_> = files.iter().map(own).collect();
        let complaints =
            examine(&sources, |path| (path == "a/Cargo.toml").then(|| MANIFEST.into()));
        complaints.iter().map(|it| it.split(':').next().unwrap_or(it).to_owned()).collect()
    }

    #[test]
    fn file_that_its_parent_names_is_built() {
        let files =
            [("a/src/lib.rs", "pub mod b;"), ("a/src/b.rs", "mod c;"), ("a/src/b/c.rs", "")];
        assert_eq!(lost(&files), Vec::<String>::new());
    }

    #[test]
    fn file_that_nobody_names_is_found() {
        let files =
            [("a/src/lib.rs", "// mod b;\nmod bb;"), ("a/src/b.rs", ""), ("a/src/bb.rs", "")];
        assert_eq!(lost(&files[..2]), ["a/src/b.rs"]);
        assert_eq!(lost(&files), ["a/src/b.rs"]);
    }

    #[test]
    fn file_of_tests_is_an_entry_but_beside_a_main_file() {
        assert_eq!(lost(&[("a/tests/b.rs", "")]), Vec::<String>::new());
        let files = [("a/tests/main.rs", "mod b;"), ("a/tests/b.rs", ""), ("a/tests/c.rs", "")];
        assert_eq!(lost(&files), ["a/tests/c.rs"]);
        let named = [("a/tests/main.rs", ""), ("a/tests/seeds.rs", "")];
        assert_eq!(lost(&named), Vec::<String>::new());
    }

    #[test]
    fn folder_of_a_test_is_named_by_the_test() {
        let files = [("a/tests/b.rs", "mod c;"), ("a/tests/c/mod.rs", "")];
        assert_eq!(lost(&files), Vec::<String>::new());
        assert_eq!(lost(&files[1..]), ["a/tests/c/mod.rs"]);
    }

    #[test]
    fn file_that_another_one_borrows_by_its_path_is_built() {
        let files =
            [("a/tests/d/e.rs", ""), ("b/tests/x.rs", "#[path = \"../../a/tests/d/e.rs\"]")];
        assert_eq!(lost(&files), Vec::<String>::new());
        assert_eq!(lost(&files[..1]), ["a/tests/d/e.rs"]);
    }
}
