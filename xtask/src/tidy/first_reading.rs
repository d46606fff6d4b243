//! What the first documents say of the repository is so: each file that they name exists, and the
//! code that they quote stands in the file that they name.

/// The documents that a newcomer reads first, from the top of the repository.
pub(super) const FIRST: [&str; 4] =
    ["README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md"];
/// Folders at the top: a word that begins with one of them is the path of a file.
const FOLDERS: [&str; 6] = ["crates/", "docs/", "examples/", "tests/", "xtask/", ".devcontainer"];

/// Complains of each link and of each path in backticks that leads nowhere.
pub(super) fn dead_paths(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        let named = line.split('`').skip(1).step_by(2);
        let paths = named.filter(|word| FOLDERS.iter().any(|it| word.starts_with(it)));
        let paths = paths.filter(|word| !word.contains([' ', '*'])).map(str::to_owned);
        let linked = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let linked = linked.filter(|link| !link.is_empty() && !link.contains("://"));
        for named in paths.chain(linked.map(|link| from_top(folder, link))) {
            if !exists(&named) {
                complaints.push(format!("{path}:{number}: names {named}, which does not exist"));
            }
        }
    }
    complaints
}

/// A link of a document in `folder`, as a path from the top.
fn from_top(folder: &str, link: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Complains of each line of Rust that the document shows, comments aside, and that does not stand
/// in the source behind the one before.
pub(super) fn changed_quotes(path: &str, text: &str, (name, source): (&str, &str)) -> Vec<String> {
    let mut source = source.lines().map(code_of);
    let mut is_shown = false;
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        if line.starts_with("```") {
            is_shown = line == "```rust";
        } else if is_shown && !code_of(line).is_empty() {
            let code = code_of(line);
            if !source.any(|it| it == code) {
                complaints
                    .push(format!("{path}:{number}: `{code}` is not in {name}, in this order"));
            }
        }
    }
    complaints
}

fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_and_paths_are_found() {
        let exists =
            |path: &str| ["docs/a.md", "crates/b", "LICENSE", "examples/c.res"].contains(&path);
        let good = "[a](docs/a.md#part) `crates/b`, `--c d`, [w](https://w.org/x) [top](#top)\n\
                    `docs/*.md` and `crates/b is here`";
        assert_eq!(dead_paths("README.md", good, exists), Vec::<String>::new());
        let beside = "[c](c.res) [a](../docs/a.md) [l](../LICENSE)";
        assert_eq!(dead_paths("examples/README.md", beside, exists), Vec::<String>::new());
        for (bad, named) in [
            ("see [a](docs/z.md)", "docs/z.md"),
            ("see `crates/z/src/a.rs`, there", "crates/z/src/a.rs"),
            ("[c](examples/../c.res)", "c.res"),
        ] {
            let text = format!("# A\n\n{bad}\n");
            let expected = format!("README.md:3: names {named}, which does not exist");
            assert_eq!(dead_paths("README.md", &text, exists), [expected]);
        }
    }

    #[test]
    fn quoted_code_is_that_of_its_file() {
        let source = "fn a() {\n    let b = 1; // one\n    // Two.\n    let c = 2;\n}\n";
        let quoted = |code: &str| {
            let text = format!("```\nsh\n```\n```rust\n{code}\n```\nprose\n");
            changed_quotes("D.md", &text, ("a.rs", source))
        };
        assert_eq!(quoted("let b = 1;   // first\n\nlet c = 2;"), Vec::<String>::new());
        assert_eq!(quoted("let b = 3;"), ["D.md:5: `let b = 3;` is not in a.rs, in this order"]);
        assert_eq!(quoted("let c = 2;\nlet b = 1;").len(), 1);
    }
}
