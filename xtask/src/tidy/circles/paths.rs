//! The paths that a file of Rust names, read off its tokens: what a `use` brings in, and each
//! `a::b` in the code, in the bodies of macros too.
//!
//! Tokens are enough: comments and strings are gone, brackets pair, and a path looks the same in
//! every place. Items under `#[cfg(test)]` are passed over.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::str::FromStr as _;

/// A path, as written at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    /// The modules inside of the file (`mod a { .. }`) in which it stands.
    pub(super) within: Vec<String>,
    pub(super) segments: Vec<String>,
    /// The name that a `use` binds to it; none where code only mentions it.
    pub(super) binds: Option<String>,
    pub(super) line: usize,
}

/// What one file says about others.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) paths: Vec<Path>,
    /// The modules that have their text here, by their way from the top of the file.
    pub(super) inline: Vec<Vec<String>>,
    /// The modules of tests that have a file of their own.
    pub(super) tests: Vec<String>,
}

pub(super) fn read(text: &str) -> Result<Text, String> {
    let tokens = TokenStream::from_str(text).map_err(|error| error.to_string())?;
    let mut read = Text::default();
    // Groups of tokens that are still to be read, each with the modules around it.
    let mut open = vec![(Vec::new(), tokens)];
    while let Some((within, tokens)) = open.pop() {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        Reader { tokens: &tokens, at: 0, within: &within, read: &mut read, open: &mut open }.run();
    }
    Ok(read)
}

type Open = Vec<(Vec<String>, TokenStream)>;

struct Reader<'r> {
    tokens: &'r [TokenTree],
    at: usize,
    within: &'r [String],
    read: &'r mut Text,
    open: &'r mut Open,
}

impl Reader<'_> {
    fn run(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => self.attribute(),
                TokenTree::Ident(word) if word == "mod" => self.module(),
                TokenTree::Ident(word) if word == "use" => self.import(),
                TokenTree::Ident(_) => self.mention(),
                TokenTree::Group(group) => {
                    self.open.push((self.within.to_vec(), group.stream()));
                    self.at += 1;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.at += 1,
            }
        }
    }

    fn word(&self, at: usize) -> Option<String> {
        match self.tokens.get(at) {
            Some(TokenTree::Ident(word)) => Some(word.to_string()),
            _ => None,
        }
    }

    fn group(&self, at: usize, delimiter: Delimiter) -> Option<TokenStream> {
        match self.tokens.get(at) {
            Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group.stream()),
            _ => None,
        }
    }

    fn is_mark(&self, at: usize, mark: char) -> bool {
        matches!(self.tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
    }

    /// Does `::` stand here?
    fn is_colons(&self, at: usize) -> bool {
        is_colons(self.tokens, at)
    }

    /// Passes over an attribute, and over what it is given to where that is only for tests.
    fn attribute(&mut self) {
        self.at += 1;
        let Some(attribute) = self.group(self.at, Delimiter::Bracket) else { return };
        self.at += 1;
        if !is_for_tests(&attribute) {
            return;
        }
        while self.is_mark(self.at, '#') {
            self.at += 2;
        }
        let start = self.at;
        // An item ends with its body or with `;`; a field and an argument end with `,`.
        while self.at < self.tokens.len() {
            let is_end = self.group(self.at, Delimiter::Brace).is_some()
                || self.is_mark(self.at, ';')
                || self.is_mark(self.at, ',');
            self.at += 1;
            if is_end {
                break;
            }
        }
        let module = (start..self.at).find(|at| self.word(*at).as_deref() == Some("mod"));
        let file = module.filter(|at| self.is_mark(at + 2, ';')).and_then(|at| self.word(at + 1));
        self.read.tests.extend(file);
    }

    /// `mod a { .. }`; a module with a file of its own says nothing here.
    fn module(&mut self) {
        let body = self.group(self.at + 2, Delimiter::Brace);
        if let (Some(name), Some(body)) = (self.word(self.at + 1), body) {
            let mut within = self.within.to_vec();
            within.push(name);
            self.read.inline.push(within.clone());
            self.open.push((within, body));
            self.at += 3;
        } else {
            self.at += 1;
        }
    }

    /// The whole of `use a::{b, c as d};`, with the groups of the tree laid out.
    fn import(&mut self) {
        let start = self.at + 1;
        let length = self.tokens[start..]
            .iter()
            .position(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';'));
        // Without an end it is `impl Trait + use<'a>`.
        let Some(length) = length.filter(|_| !self.is_mark(start, '<')) else {
            self.at = start;
            return;
        };
        let mut trees = vec![(Vec::new(), self.tokens[start..start + length].to_vec())];
        while let Some((prefix, tree)) = trees.pop() {
            for branch in
                tree.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','))
            {
                self.branch(&prefix, branch, &mut trees);
            }
        }
        self.at = start + length + 1;
    }

    fn branch(
        &mut self,
        prefix: &[String],
        branch: &[TokenTree],
        trees: &mut Vec<(Vec<String>, Vec<TokenTree>)>,
    ) {
        let mut segments = prefix.to_vec();
        let mut binds = None;
        let mut line = 0;
        let mut words = branch.iter();
        while let Some(token) = words.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    binds = words.next().map(ToString::to_string);
                }
                TokenTree::Ident(word) => {
                    line = word.span().start().line;
                    segments.push(word.to_string());
                }
                TokenTree::Group(group) => {
                    trees.push((segments, group.stream().into_iter().collect()));
                    return;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
        // `a::{self}` is `a`.
        if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
            segments.pop();
        }
        let Some(last) = segments.last() else { return };
        let binds = Some(binds.unwrap_or_else(|| last.clone()));
        self.read.paths.push(Path { within: self.within.to_vec(), segments, binds, line });
    }

    /// `a::b::c` in the code.
    fn mention(&mut self) {
        let TokenTree::Ident(first) = &self.tokens[self.at] else { return };
        let is_later_part = self.at >= 2 && self.is_colons(self.at - 2);
        // `pub(in crate::a)` says who may see an item, and needs none.
        let is_visibility = self.at == 1 && self.word(0).as_deref() == Some("in");
        let line = first.span().start().line;
        let mut segments = vec![first.to_string()];
        self.at += 1;
        while self.is_colons(self.at) {
            let Some(word) = self.word(self.at + 2) else { break };
            segments.push(word);
            self.at += 3;
        }
        if segments.len() > 1 && !is_later_part && !is_visibility {
            let within = self.within.to_vec();
            self.read.paths.push(Path { within, segments, binds: None, line });
        }
    }
}

fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    match (tokens.get(at), tokens.get(at + 1)) {
        (Some(TokenTree::Punct(first)), Some(TokenTree::Punct(second))) => {
            first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':'
        }
        _ => false,
    }
}

/// Is it `cfg(test)`, alone or with other conditions?
fn is_for_tests(attribute: &TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        let read = read(text).expect("tokens");
        let mut paths: Vec<String> =
            read.paths.iter().map(|path| path.segments.join("::")).collect();
        paths.sort();
        paths
    }

    #[test]
    fn trees_of_imports_are_laid_out() {
        let text = "use crate::{a::{self, B, c::*}, d as e};";
        assert_eq!(named(text), ["crate::a", "crate::a::B", "crate::a::c", "crate::d"]);
        let bound = read("use crate::d as e;").expect("tokens").paths;
        assert_eq!(bound[0].binds.as_deref(), Some("e"));
    }

    #[test]
    fn paths_in_code_are_seen_in_macros_and_calls_too() {
        let text = "fn a(x: super::B) -> u8 { println!(\"{}\", crate::c::D::new()); e::<F>::g() }";
        assert_eq!(named(text), ["crate::c::D::new", "super::B"]);
        assert_eq!(named("fn a() { ::std::fs::read(); <A as B>::c::d(); }"), Vec::<String>::new());
        assert_eq!(named("pub(in crate::a) fn b() { for c in d::e() {} }"), ["d::e"]);
        assert_eq!(named("fn a<'a>() -> impl B + use<'a> { c::d() }"), ["c::d"]);
    }

    #[test]
    fn path_knows_the_module_and_the_line_that_it_stands_in() {
        let read = read("mod a {\n    mod b {\n        use super::C;\n    }\n}").expect("tokens");
        assert_eq!(read.paths[0].within, ["a", "b"]);
        assert_eq!(read.paths[0].line, 3);
        assert_eq!(read.inline, [vec!["a"], vec!["a", "b"]]);
    }

    #[test]
    fn items_for_tests_are_passed_over() {
        let text = "#[cfg(test)]\n#[path = \"x\"]\npub(crate) mod tests;\nuse a::b;\n\
                    #[cfg(all(test, c))]\nuse d::e;\n#[cfg(not(test))]\nuse f::g;";
        assert_eq!(named(text), ["a::b", "f::g"]);
        assert_eq!(read(text).expect("tokens").tests, ["tests"]);
        assert_eq!(named("struct A { #[cfg(test)] b: c::D, e: f::G }"), ["f::G"]);
    }
}
