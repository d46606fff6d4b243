//! The picture of the crates in ARCHITECTURE.md against what cargo builds.
//!
//! The picture names every crate; one that is not there yet is marked `(planned)`. The `edges`
//! block below it says on which of ours a crate may depend, a planned one too. Each dependency from
//! outside is named in docs/decisions/0001-dependencies.md.

use crate::metadata::Package;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn examine(architecture: &str, packages: &[Package]) -> Vec<String> {
    let mut complaints = picture(architecture, packages);
    let Some(allowed) = edges(architecture) else {
        complaints.push("ARCHITECTURE.md: section 2 has no block ```edges".to_owned());
        return complaints;
    };
    let planned = drawn(architecture).into_iter().filter(|(_, state)| *state == State::Planned);
    let planned: BTreeSet<&str> = planned.map(|(name, _)| name).collect();
    let mut names: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    names.extend(&planned);
    for (from, targets) in &allowed {
        for name in std::iter::once(from).chain(targets).filter(|name| !names.contains(*name)) {
            complaints.push(format!("ARCHITECTURE.md: ```edges names `{name}`, no crate"));
        }
    }
    for name in planned.iter().filter(|name| !allowed.contains_key(*name)) {
        complaints.push(format!("ARCHITECTURE.md: ```edges has no line for `{name}` (planned)"));
    }
    for package in packages {
        let Some(targets) = allowed.get(package.name.as_str()) else {
            complaints
                .push(format!("ARCHITECTURE.md: ```edges has no line for `{}`", package.name));
            continue;
        };
        let own = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
        for dependency in own.filter(|dependency| !targets.contains(dependency.name.as_str())) {
            complaints.push(format!(
                "{}: depends on `{}`, an edge that ARCHITECTURE.md section 2 does not have",
                package.name, dependency.name
            ));
        }
    }
    complaints
}

/// The lines between ```` ```edges ```` and its end: a crate, then what it may use, or `-`.
fn edges(architecture: &str) -> Option<BTreeMap<&str, BTreeSet<&str>>> {
    let (_, block) = architecture.split_once("```edges\n")?;
    let (block, _) = block.split_once("```")?;
    let mut allowed = BTreeMap::new();
    for line in block.lines() {
        let mut words = line.split_whitespace();
        if let Some(from) = words.next() {
            allowed.insert(from, words.filter(|word| *word != "-").collect());
        }
    }
    Some(allowed)
}

/// Compares the crates that the picture of section 2 names with those that exist.
fn picture(architecture: &str, packages: &[Package]) -> Vec<String> {
    let drawn = drawn(architecture);
    let mut complaints = Vec::new();
    for (name, state) in &drawn {
        let exists = packages.iter().any(|package| package.name == *name);
        match (state, exists) {
            (State::Present, true) | (State::Planned, false) => {}
            (State::Present, false) => {
                complaints.push(format!("ARCHITECTURE.md: section 2 draws `{name}`, no crate"));
            }
            (State::Planned, true) => {
                complaints.push(format!("ARCHITECTURE.md: `{name}` is (planned), but is there"));
            }
        }
    }
    for package in packages.iter().filter(|package| !drawn.contains_key(package.name.as_str())) {
        complaints.push(format!("ARCHITECTURE.md: section 2 does not draw `{}`", package.name));
    }
    complaints
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Present,
    Planned,
}

/// In the first block of section 2 a line of a crate opens with an optional layer number and then
/// the name; deeper lines go on with the text of the line above.
fn drawn(architecture: &str) -> BTreeMap<&str, State> {
    let section = architecture.split("\n## 2.").nth(1).unwrap_or_default();
    let block = section.split("```").nth(1).unwrap_or_default();
    let mut drawn = BTreeMap::new();
    for line in block.lines() {
        let margin =
            line.len() - line.trim_start_matches([' ', '0', '1', '2', '3', '4', '5', '6']).len();
        if margin > 3 {
            continue;
        }
        if let Some(name) = line[margin..].split_whitespace().next() {
            let is_planned = line.contains("(planned)");
            drawn.insert(name, if is_planned { State::Planned } else { State::Present });
        }
    }
    drawn
}

/// Dependencies from outside that no decision speaks of.
pub(super) fn undecided(decisions: &str, packages: &[Package]) -> Vec<String> {
    let mut complaints = BTreeSet::new();
    for package in packages {
        let outside = package.dependencies.iter().filter(|dependency| dependency.path.is_none());
        for dependency in outside {
            if !decisions.contains(&format!("`{}`", dependency.name)) {
                complaints.insert(format!(
                    "{}: depends on `{}`, which docs/decisions/0001-dependencies.md does not name",
                    package.name, dependency.name
                ));
            }
        }
    }
    complaints.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;
    use std::path::PathBuf;

    const PICTURE: &str = "# A

## 2. Crates
```
0  stdx   words
1  format bytes
          and more bytes
4  csi    (planned) the driver
```
```edges
stdx   -
format stdx
csi    format
```
";

    fn package(name: &str, own: &[&str], outside: &[&str]) -> Package {
        let dependency = |name: &&str, path| Dependency { name: (*name).to_owned(), path };
        let own = own.iter().map(|name| dependency(name, Some(PathBuf::from("crates"))));
        let outside = outside.iter().map(|name| dependency(name, None));
        Package {
            name: name.to_owned(),
            version: String::new(),
            dependencies: own.chain(outside).collect(),
        }
    }

    fn good() -> Vec<Package> {
        vec![package("stdx", &[], &[]), package("format", &["stdx"], &["crc32c"])]
    }

    #[test]
    fn picture_that_is_true_gives_no_complaint() {
        assert_eq!(examine(PICTURE, &good()), Vec::<String>::new());
    }

    #[test]
    fn edge_that_is_not_drawn_is_found() {
        let mut packages = good();
        packages[0] = package("stdx", &["format"], &[]);
        let complaints = examine(PICTURE, &packages);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with("stdx: depends on `format`"), "{complaints:?}");
    }

    #[test]
    fn crate_must_be_drawn_and_have_a_line_of_edges() {
        let mut packages = good();
        packages.push(package("helper", &[], &[]));
        assert_eq!(examine(PICTURE, &packages).len(), 2);
    }

    #[test]
    fn drawn_crate_must_exist() {
        let complaints = examine(PICTURE, &good()[..1]);
        assert!(complaints[0].contains("section 2 draws `format`"), "{complaints:?}");
        assert!(complaints[1].contains("```edges names `format`"), "{complaints:?}");
    }

    #[test]
    fn planned_crate_must_lose_its_mark_when_it_comes() {
        let mut packages = good();
        packages.push(package("csi", &[], &[]));
        let complaints = examine(PICTURE, &packages);
        assert!(complaints[0].contains("`csi` is (planned), but is there"), "{complaints:?}");
    }

    #[test]
    fn planned_crate_has_a_line_of_edges_before_it_comes() {
        let picture = PICTURE.replace("csi    format\n", "");
        let complaints = examine(&picture, &good());
        assert_eq!(complaints, ["ARCHITECTURE.md: ```edges has no line for `csi` (planned)"]);
    }

    #[test]
    fn text_without_the_table_is_an_error() {
        let complaints = examine("# A\n", &good());
        assert!(complaints.iter().any(|line| line.contains("no block ```edges")));
    }

    #[test]
    fn dependency_without_a_decision_is_found() {
        assert_eq!(undecided("- `crc32c`: checksums", &good()), Vec::<String>::new());
        let complaints = undecided("- `crc`: checksums", &good());
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].contains("format: depends on `crc32c`"), "{complaints:?}");
    }
}
