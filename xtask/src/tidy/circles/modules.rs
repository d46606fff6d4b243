//! The modules of a crate, and which item of which file each path in it means.

use super::paths::{self, Path};
use std::collections::{BTreeMap, BTreeSet};

/// A way from the top of the crate.
type Module = Vec<String>;

/// So often a name may be passed on before its home is given up.
const PASSED_ON_MAX: usize = 16;

/// A file that names an item of another one.
#[derive(Debug)]
pub(super) struct Need {
    pub(super) item: String,
    pub(super) line: usize,
}

#[derive(Debug)]
pub(super) struct Crate {
    files: Vec<File>,
    /// The file in which a module's text stands.
    homes: BTreeMap<Module, usize>,
    /// What a name that a `use` brought into a module means there.
    bound: BTreeMap<(Module, String), Path>,
}

#[derive(Debug)]
struct File {
    name: String,
    module: Module,
    paths: Vec<Path>,
}

impl Crate {
    /// Reads the files of a crate, which are named without `.rs`; an error comes with its file.
    pub(super) fn read<'f>(files: &[(&'f str, &str)]) -> Result<Self, (&'f str, String)> {
        let is_library = files.iter().any(|(name, _)| *name == "lib");
        let mut read = Vec::new();
        let mut tests = BTreeSet::new();
        for (name, text) in files {
            // Beside a library `main.rs` is a crate of its own, and only a few lines.
            if is_library && *name == "main" {
                continue;
            }
            let text = paths::read(text).map_err(|error| (*name, error))?;
            let module = module_of(name);
            tests.extend(text.tests.iter().map(|test| below(&module, test)));
            read.push((*name, module, text));
        }
        let mut known = Self { files: Vec::new(), homes: BTreeMap::new(), bound: BTreeMap::new() };
        for (name, module, text) in read {
            if (0..=module.len()).any(|length| tests.contains(&module[..length])) {
                continue;
            }
            let home = known.files.len();
            known.homes.insert(module.clone(), home);
            let inline = text.inline.iter().map(|within| [&module[..], within].concat());
            known.homes.extend(inline.map(|within| (within, home)));
            for path in &text.paths {
                if let Some(name) = &path.binds {
                    let within = [&module[..], &path.within].concat();
                    known.bound.insert((within, name.clone()), path.clone());
                }
            }
            known.files.push(File { name: format!("{name}.rs"), module, paths: text.paths });
        }
        Ok(known)
    }

    pub(super) fn files(&self) -> usize {
        self.files.len()
    }

    pub(super) fn file(&self, file: usize) -> &str {
        &self.files[file].name
    }

    /// The edges from file to file, a file and its own child apart, with what is named and where.
    pub(super) fn needs(&self) -> BTreeMap<(usize, usize), Vec<Need>> {
        let mut needs: BTreeMap<(usize, usize), Vec<Need>> = BTreeMap::new();
        for (from, file) in self.files.iter().enumerate() {
            for path in &file.paths {
                let within = [&file.module[..], &path.within].concat();
                let Some((to, item)) = self.home_of(within, path) else { continue };
                if to != from && !self.is_parent(from, to) && !self.is_parent(to, from) {
                    needs.entry((from, to)).or_default().push(Need { item, line: path.line });
                }
            }
        }
        needs
    }

    fn is_parent(&self, parent: usize, child: usize) -> bool {
        let child = self.files[child].module.split_last();
        child.is_some_and(|(_, above)| above == self.files[parent].module)
    }

    /// The file that defines what a path in a module means, and the item's name; none for what is
    /// defined outside of the crate, or is no item of a module.
    fn home_of(&self, mut within: Module, path: &Path) -> Option<(usize, String)> {
        let mut segments = path.segments.clone();
        let mut binds = path.binds.clone();
        for _ in 0..PASSED_ON_MAX {
            let mut rest = segments.iter();
            let mut module = self.start(&within, &mut rest, binds.as_deref())?;
            let mut passed_on = None;
            let mut item = None;
            while let Some(name) = rest.next() {
                let deeper = below(&module, name);
                if self.homes.contains_key(&deeper) {
                    module = deeper;
                    continue;
                }
                item = Some(name.clone());
                let key = (module.clone(), name.clone());
                passed_on = self.bound.get(&key).map(|path| (path, rest.cloned().collect()));
                break;
            }
            let Some((path, rest)) = passed_on else {
                let item = item.or_else(|| module.last().cloned())?;
                return Some((self.homes[&module], item));
            };
            let rest: Vec<String> = rest;
            within = [&self.files[self.homes[&module]].module[..], &path.within].concat();
            segments = [&path.segments[..], &rest].concat();
            binds.clone_from(&path.binds);
        }
        None
    }

    /// The module in which a path begins; passes over the words that say so.
    fn start<'p>(
        &self,
        within: &[String],
        rest: &mut std::slice::Iter<'p, String>,
        binds: Option<&str>,
    ) -> Option<Module> {
        let mut module = within.to_vec();
        let first = rest.as_slice().first()?;
        match first.as_str() {
            "crate" => {
                rest.next();
                return Some(Module::new());
            }
            "self" => {
                rest.next();
            }
            "super" => {}
            name => {
                let is_child = self.homes.contains_key(&below(&module, name));
                // `use a::b as a` binds the name that it begins with to something else.
                let is_bound = binds != Some(name)
                    && self.bound.contains_key(&(module.clone(), name.to_owned()));
                return (is_child || is_bound).then_some(module);
            }
        }
        while rest.as_slice().first().is_some_and(|word| word == "super") {
            rest.next();
            module.pop()?;
        }
        Some(module)
    }
}

fn below(module: &[String], name: &str) -> Module {
    let mut below = module.to_vec();
    below.push(name.to_owned());
    below
}

fn module_of(file: &str) -> Module {
    if file == "lib" || file == "main" {
        return Module::new();
    }
    file.split('/').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each edge as `from -> to: items`.
    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let read = Crate::read(files).expect("tokens");
        let told = |((from, to), needs): (&(usize, usize), &Vec<Need>)| {
            let items: Vec<&str> = needs.iter().map(|need| need.item.as_str()).collect();
            format!("{} -> {}: {}", read.file(*from), read.file(*to), items.join(" "))
        };
        read.needs().iter().map(told).collect()
    }

    #[test]
    fn paths_lead_to_the_file_of_their_item() {
        let files = [
            ("lib", "mod a; mod b;"),
            ("a", "use super::b::{self, Bee}; fn f() { crate::b::go(); b::c::deep(); }"),
            ("b", "mod c;"),
            ("b/c", "use self::Local; use super::super::a::Aye; use std::fs;"),
        ];
        assert_eq!(
            edges(&files),
            ["a.rs -> b.rs: b Bee go", "a.rs -> b/c.rs: deep", "b/c.rs -> a.rs: Aye"]
        );
    }

    #[test]
    fn names_that_are_passed_on_lead_to_their_home() {
        let files = [
            ("lib", "mod a; mod b; pub use b::Bee; pub use b::c::See as Sea;"),
            ("a", "use crate::{Bee, Sea}; fn f() { Sea::new() }"),
            ("b", "mod c; pub struct Bee;"),
            ("b/c", "pub struct See;"),
        ];
        assert_eq!(
            edges(&files),
            ["lib.rs -> b/c.rs: See", "a.rs -> b.rs: Bee", "a.rs -> b/c.rs: See See"]
        );
    }

    #[test]
    fn module_inside_of_a_file_stands_for_the_file() {
        let files = [
            ("lib", "mod a; mod b;"),
            ("a", "pub mod inner { use super::super::b::Bee; use super::Own; }"),
            ("b", "fn f() { crate::a::inner::go() }"),
        ];
        assert_eq!(edges(&files), ["a.rs -> b.rs: Bee", "b.rs -> a.rs: go"]);
    }

    #[test]
    fn names_that_lead_nowhere_or_round_and_round_are_left() {
        let files = [
            ("lib", "mod a; mod b;"),
            ("a", "use crate::b::X; use anyhow::Result; fn f() { Vec::new() }"),
            ("b", "use crate::a::X;"),
        ];
        assert_eq!(edges(&files), Vec::<String>::new());
    }

    #[test]
    fn program_beside_a_library_is_left_out() {
        let files = [("lib", "mod a;"), ("a", ""), ("main", "use crate::a::Aye;")];
        assert_eq!(edges(&files), Vec::<String>::new());
    }
}
