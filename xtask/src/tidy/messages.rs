//! Each sentence that `status`, `explain`, `top`, a refusal and a check of a configuration can
//! print is a row of an enum, and each variant has a row of docs/operate/messages, where a test
//! prints it beside its situation.

/// The files with such enums, and the page that their tests make.
pub(super) const SOURCES: [(&str, &str); 26] = [
    ("crates/basalt/src/adm/explain/role.rs", "docs/operate/messages/explain-role.md"),
    ("crates/basalt/src/adm/explain/quorum.rs", "docs/operate/messages/explain-quorum.md"),
    ("crates/basalt/src/adm/explain/data.rs", "docs/operate/messages/explain-data.md"),
    ("crates/basalt/src/adm/explain/resync.rs", "docs/operate/messages/explain-resync.md"),
    ("crates/basalt/src/adm/explain/peers.rs", "docs/operate/messages/explain-peers.md"),
    ("crates/basalt/src/adm/explain/open.rs", "docs/operate/messages/explain-open.md"),
    ("crates/basalt/src/adm/advice.rs", "docs/operate/messages/errors.md"),
    ("crates/node/src/attach/advice.rs", "docs/operate/messages/open-disk.md"),
    ("crates/node/src/attach/error.rs", "docs/operate/messages/attach.md"),
    ("crates/basalt/src/daemon/sentence.rs", "docs/operate/messages/node-conf.md"),
    ("crates/node/src/refusal.rs", "docs/operate/messages/commands.md"),
    ("crates/node/src/options/sentence.rs", "docs/operate/messages/node-start.md"),
    ("crates/node/src/error.rs", "docs/operate/messages/node-start.md"),
    ("crates/node/src/create_md/error.rs", "docs/operate/messages/create-md.md"),
    ("crates/node/src/adopt_drbd/error.rs", "docs/operate/messages/adopt-drbd.md"),
    ("crates/basalt/src/adm/explain/verify.rs", "docs/operate/messages/explain-verify.md"),
    ("crates/engine/src/shard/status/reason.rs", "docs/operate/messages/status.md"),
    ("crates/engine/src/links/away.rs", "docs/operate/messages/connections.md"),
    ("crates/engine/src/shard/refusals.rs", "docs/operate/messages/refusals.md"),
    ("crates/basalt/src/top/sentence.rs", "docs/operate/messages/top.md"),
    ("crates/basalt/src/top/keys.rs", "docs/operate/messages/top.md"),
    ("crates/basalt/src/top/columns.rs", "docs/operate/messages/top.md"),
    ("crates/basalt/src/adm/report/told.rs", "docs/operate/messages/report.md"),
    ("crates/config/src/diagnostic/sentence.rs", "docs/operate/messages/config.md"),
    ("crates/controller/src/refusal.rs", "docs/operate/messages/cluster.md"),
    ("crates/basalt/src/plane/trouble.rs", "docs/operate/messages/cluster-tools.md"),
];

pub(super) fn examine(path: &str, source: &str, page_path: &str, page: &str) -> Vec<String> {
    let rows: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("**")?.strip_suffix("**"))
        .flat_map(|row| row.split(", "))
        .collect();
    let variants = variants(source);
    if variants.is_empty() {
        return vec![format!("{path}: no enum of sentences is here")];
    }
    let missing = variants.iter().filter(|variant| !rows.contains(&variant.name));
    missing
        .map(|variant| {
            let (line, name) = (variant.line, variant.name);
            format!("{path}:{line}: no row of {page_path} prints {name}: its test has to")
        })
        .collect()
}

struct Variant<'s> {
    line: usize,
    name: &'s str,
}

/// Of all enums of a file that is formatted: one level deep, with a capital letter.
fn variants(source: &str) -> Vec<Variant<'_>> {
    let mut is_in_enum = false;
    let mut found = Vec::new();
    for (index, line) in source.lines().enumerate() {
        if line.starts_with('}') {
            is_in_enum = false;
        }
        let name = line.strip_prefix("    ").filter(|_| is_in_enum).unwrap_or_default();
        let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            found.push(Variant { line: index + 1, name: &name[..end] });
        }
        is_in_enum |= line.contains("enum ") && line.ends_with('{') && !line.starts_with("//");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
pub(super) enum Sentence {
    /// One.
    Votes { have: u32 },
    Long {
        of: u32,
    },
    Then(OneMore),
}

impl Sentence {
    Nothing
}

enum OneMore {
    Held,
}
";

    #[test]
    fn variant_that_no_row_prints_is_found() {
        let all = "# Page\n\n**Votes**\n- a\n\n> b\n\n**Long**\n\n**Then, Held**\n";
        assert_eq!(examine("a.rs", SOURCE, "p.md", all), Vec::<String>::new());
        let found = examine("a.rs", SOURCE, "p.md", &all.replace("**Long**", "Long"));
        assert_eq!(found, ["a.rs:4: no row of p.md prints Long: its test has to"]);
        let found = examine("a.rs", SOURCE, "p.md", &all.replace(", Held", ""));
        assert_eq!(found, ["a.rs:15: no row of p.md prints Held: its test has to"]);
        assert_eq!(examine("a.rs", "fn a() {}\n", "p.md", all).len(), 1);
    }
}
