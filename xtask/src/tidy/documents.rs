//! Documents that a stranger reads: lines that fit a window, and links that lead somewhere.

/// A longer line makes a reader lose its end on the way back.
const COLUMNS_MAX: usize = 100;
/// Held to it: a file, or a folder with what lies below it.
const NARROW: [&str; 5] =
    ["README.md", "ARCHITECTURE.md", "docs/glossary.md", "docs/state.md", "docs/operate/"];

/// `text_of` gives the text of a file of the repository, or nothing where there is none; an empty
/// one for a folder.
pub(super) fn examine(
    path: &str,
    text: &str,
    text_of: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut complaints = Vec::new();
    if path.ends_with(".md") {
        if NARROW.iter().any(|it| path == *it || it.ends_with('/') && path.starts_with(it)) {
            complaints.extend(wide_lines(path, text));
        }
        complaints.extend(links(path, text, &text_of));
    }
    complaints.extend(mentions(path, text, &text_of));
    complaints
}

/// The lines of a document outside of its code blocks, numbered from one.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((index + 1, line))
    })
}

/// What a program prints is as wide as it is; what we write is not.
fn wide_lines(path: &str, text: &str) -> Vec<String> {
    let columns = |line: &str| line.chars().count();
    let wide = prose(text).filter(|(_, line)| columns(line) > COLUMNS_MAX);
    wide.map(|(number, line)| {
        format!("{path}:{number}: {} columns, over {COLUMNS_MAX}", columns(line))
    })
    .collect()
}

/// Links to files of the repository, and to headings in them.
fn links(path: &str, text: &str, text_of: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in prose(text) {
        for target in line.split("](").skip(1).filter_map(|piece| piece.split(')').next()) {
            if target.contains("://") || target.starts_with("mailto:") || target.contains(' ') {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let there = if file.is_empty() {
                Some(text.to_owned())
            } else {
                beside(path, file).and_then(|file| text_of(&file))
            };
            let has_anchor =
                |text: &str| anchor.is_empty() || headings(text).any(|it| it == anchor);
            match there {
                None => complaints.push(format!("{path}:{number}: the link to {target} is dead")),
                Some(text) if !has_anchor(&text) => {
                    complaints
                        .push(format!("{path}:{number}: no heading for the link to {target}"));
                }
                Some(_) => {}
            }
        }
    }
    complaints
}

/// A path that is relative to the folder of `path`; nothing where it leaves the repository.
fn beside(path: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    Some(parts.join("/"))
}

/// The anchors of a document's headings: small letters, blanks to dashes, other signs left out.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| {
        let title = line.trim_start_matches('#').trim();
        let kept = title.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        kept.map(|it| if it == ' ' { '-' } else { it.to_ascii_lowercase() }).collect()
    })
}

/// Documents that an error, a comment or a unit names by their path from the top.
fn mentions(path: &str, text: &str, text_of: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    // Examples of dead paths, above all those in the tests below.
    if path.starts_with("xtask/src/tidy/") {
        return Vec::new();
    }
    let is_part = |it: char| it.is_ascii_alphanumeric() || "_-./".contains(it);
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in line.split(|it| !is_part(it)).filter(|word| word.starts_with("docs/")) {
            let word = word.trim_end_matches('.');
            if word.ends_with(".md") && text_of(word).is_none() {
                complaints.push(format!("{path}:{}: there is no {word}", number + 1));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(path: &str) -> Option<String> {
        let files = [
            ("docs/operate/b.md", "# B\n## A daemon, and `why` it waits\n```\n# no heading\n```\n"),
            ("docs/operate/a.md", ""),
            ("README.md", ""),
        ];
        files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned())
    }

    fn complaints(text: &str) -> Vec<String> {
        examine("docs/operate/a.md", text, text_of)
    }

    #[test]
    fn wide_line_is_found_in_prose_and_not_in_what_is_printed() {
        let fits = "ä".repeat(100);
        let text = format!("{fits}\n```\n{fits}x\n```\n{fits}x\n");
        assert_eq!(complaints(&text), ["docs/operate/a.md:5: 101 columns, over 100"]);
        assert_eq!(examine("docs/PROTOCOL.md", &text, text_of), Vec::<String>::new());
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let good = "# A\n[b](b.md) [b](./b.md#a-daemon-and-why-it-waits) [a](#a)\n\
                    [top](../../README.md) [out](https://example.org/x.md#y)\n\
                    ```\n[x](gone.md)\n```\n";
        assert_eq!(complaints(good), Vec::<String>::new());
        let bad = [
            ("[b](c.md)", "the link to c.md is dead"),
            ("[b](../b.md)", "the link to ../b.md is dead"),
            ("[b](../../../b.md)", "the link to ../../../b.md is dead"),
            ("[b](b.md#no-heading)", "no heading for the link to b.md#no-heading"),
            ("[b](#b)", "no heading for the link to #b"),
        ];
        for (link, expected) in bad {
            assert_eq!(complaints(link), [format!("docs/operate/a.md:1: {expected}")]);
        }
    }

    #[test]
    fn document_that_the_product_names_is_there() {
        let named = |text: &str| examine("crates/engine/src/shard.rs", text, text_of);
        assert_eq!(named("\"see (docs/operate/b.md).\""), Vec::<String>::new());
        assert_eq!(
            named("\n// docs/operate/c.md, for one"),
            ["crates/engine/src/shard.rs:2: there is no docs/operate/c.md"]
        );
    }
}
