//! A text without the values of secrets, and with everything else: a report that leaves out more
//! than it must has lost what somebody was to see.
//!
//! ```text
//! shared-secret "value";          configuration, and how a command takes it: in quotes, or a word
//! \"shared-secret\": \"value\"      JSON, also as a string in another JSON
//! name="shared-secret" value="v"  XML, as `dump-xml` writes it
//! DHHC-1:..                       a secret of a host of NVMe/TCP
//! -----BEGIN .. PRIVATE KEY-----  to its end, or as far as lines are of base64
//! ```
//! A quote stays where it is, so that JSON and configurations stay what they are. The name of the
//! option without a value behind it, as in a sentence, is no secret.

use config::options::SECRET_OPTION;

/// In place of a value that stands in quotes.
const LEFT_OUT: &str = "(left out)";
/// In place of one without: a word where one was.
const LEFT_OUT_WORD: &str = "left-out";
const NVME_SECRET: &str = "DHHC-1:";
const KEY_BEGIN: &str = "-----BEGIN ";
const KEY_END: &str = "-----END ";
const KEY_KIND: &str = "PRIVATE KEY-----";
const KEY_LEFT_OUT: &str = "(a private key was left out)";
/// A label such as `ENCRYPTED` stands between `BEGIN` and `PRIVATE KEY`.
const KEY_LABEL_MAX: usize = 32;
/// A line of a key that has no end is at least so long.
const KEY_LINE_MIN: usize = 16;

/// A secret in a text: its bytes, and the words that replace them.
struct Hidden {
    start: usize,
    end: usize,
    by: &'static str,
}

pub(super) fn without_secrets(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(hidden) = next_secret(text, at) {
        kept += &text[at..hidden.start];
        kept += hidden.by;
        at = hidden.end;
    }
    kept + &text[at..]
}

/// The first secret that begins at `from` or behind it.
fn next_secret(text: &str, from: usize) -> Option<Hidden> {
    let options = matches(text, from, SECRET_OPTION).find_map(|name| value_of(text, name));
    let nvme = matches(text, from, NVME_SECRET).map(|start| {
        let length = text[start..].find(ends_word).unwrap_or(text.len() - start);
        Hidden { start, end: start + length, by: LEFT_OUT_WORD }
    });
    let keys = matches(text, from, KEY_BEGIN).find_map(|begin| key(text, begin));
    options.into_iter().chain(nvme.take(1)).chain(keys).min_by_key(|hidden| hidden.start)
}

fn matches<'t>(text: &'t str, from: usize, what: &'t str) -> impl Iterator<Item = usize> + 't {
    text[from..].match_indices(what).map(move |(at, _)| from + at)
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | ';' | ',' | '{' | '}' | '<' | '`')
}

/// The value that stands behind the name of the option at `name`.
fn value_of(text: &str, name: usize) -> Option<Hidden> {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let before = text[..name].chars().next_back();
    let is_option = text[..name].ends_with("--");
    if before.is_some_and(is_of_word) && !is_option {
        return None;
    }
    let mut at = name + SECRET_OPTION.len();
    if text[at..].starts_with(is_of_word) {
        return None;
    }
    let quote = Quote::at(&text[at..]);
    at += quote.map_or(0, Quote::length);
    at += blank(&text[at..]);
    let is_json = quote.is_some() && text[at..].starts_with(':');
    let is_assigned = text[at..].starts_with('=');
    if is_json || is_assigned {
        at += 1;
        at += blank(&text[at..]);
    } else if quote.is_some() && text[at..].starts_with("value=") {
        at += "value=".len();
    }
    if let Some(quote) = Quote::at(&text[at..]) {
        let start = at + quote.length();
        return Some(Hidden { start, end: start + quote.inside(&text[start..]), by: LEFT_OUT });
    }
    let length = text[at..].find(ends_word).unwrap_or(text.len() - at);
    let (word, rest) = text[at..].split_at(length);
    let rest = rest.trim_start_matches([' ', '\t', '\r']);
    let is_statement = rest.is_empty() || rest.starts_with([';', '\n']);
    let is_nothing = is_json && matches!(word, "null" | "true" | "false");
    let is_value = is_json || is_assigned || is_option || is_statement;
    let hidden = Hidden { start: at, end: at + length, by: LEFT_OUT_WORD };
    match quote {
        _ if word.is_empty() || is_nothing || !is_value => None,
        // A number, say: what stands for it must be JSON, too.
        Some(quote) if is_json => Some(Hidden { by: quote.number(), ..hidden }),
        Some(_) | None => Some(hidden),
    }
}

/// How much of the text only keeps words apart: also line breaks that a JSON string has, and
/// comments.
fn blank(text: &str) -> usize {
    let mut rest = text;
    loop {
        let next = rest.trim_start();
        let next = next.strip_prefix("\\n").or_else(|| next.strip_prefix("\\t")).unwrap_or(next);
        let is_comment = next.starts_with('#');
        let next = if is_comment { next.split_once('\n').map_or("", |it| it.1) } else { next };
        if next.len() == rest.len() {
            return text.len() - rest.len();
        }
        rest = next;
    }
}

/// One that begins or ends a string, with the backslashes that a JSON string puts before it.
#[derive(Clone, Copy)]
struct Quote {
    backslashes: usize,
    mark: char,
}

impl Quote {
    fn at(text: &str) -> Option<Self> {
        let rest = text.trim_start_matches('\\');
        let mark = rest.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
        Some(Self { backslashes: text.len() - rest.len(), mark })
    }

    fn length(self) -> usize {
        self.backslashes + 1
    }

    /// Bytes before the quote that ends the string; to the end of the line if none does.
    ///
    /// A string of JSON puts as many backslashes again, and one, before each of those inside of
    /// it: one that ends the string has those of the one that began it, and pairs of others.
    fn inside(self, text: &str) -> usize {
        let mut backslashes = 0;
        for (at, c) in text.char_indices() {
            let over = backslashes % (2 * self.length());
            match c {
                '\n' => return at,
                '\\' => backslashes += 1,
                _ if c == self.mark && over == self.backslashes => return at - self.backslashes,
                _ => backslashes = 0,
            }
        }
        text.len()
    }

    /// A number that is none of the secret's.
    fn number(self) -> &'static str {
        if self.mark == '"' { "0" } else { LEFT_OUT_WORD }
    }
}

/// The key that begins at `begin`, with the lines that say so.
fn key(text: &str, begin: usize) -> Option<Hidden> {
    let label = begin + KEY_BEGIN.len();
    let kind = label + text[label..].find(KEY_KIND)?;
    if kind - label > KEY_LABEL_MAX {
        return None;
    }
    let body = kind + KEY_KIND.len();
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let closed = text[body..].find(KEY_END).map(|end| body + end);
    let closed = closed.and_then(|end| Some(end + text[end..].find(KEY_KIND)? + KEY_KIND.len()));
    let mut end = body;
    if let Some(closed) = closed {
        end = closed;
    } else {
        loop {
            let line = end + blank(&text[end..]);
            let length = text[line..].find(|c| !is_base64(c)).unwrap_or(text.len() - line);
            if length < KEY_LINE_MIN {
                break;
            }
            end = line + length;
        }
    }
    Some(Hidden { start: begin, end, by: KEY_LEFT_OUT })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Each text, and the rest of it that a report has.
    const TEXTS: [(&str, &str); 25] = [
        ("net { shared-secret \"hunter2\"; } a", "net { shared-secret \"(left out)\"; } a"),
        ("net { shared-secret hunter2; } a", "net { shared-secret left-out; } a"),
        ("shared-secret  hunter2 ; } a", "shared-secret  left-out ; } a"),
        ("shared-secret\n  \"hunter2\"; a", "shared-secret\n  \"(left out)\"; a"),
        ("shared-secret # why\n hunter2; a", "shared-secret # why\n left-out; a"),
        (r#"shared-secret "hunter2 \"it\" \\"; a"#, r#"shared-secret "(left out)"; a"#),
        ("shared-secret \"hunter2; a\nb", "shared-secret \"(left out)\nb"),
        ("shared-secret \"hunter2", "shared-secret \"(left out)"),
        ("shared-secret hunter2", "shared-secret left-out"),
        ("shared-secret hunter2\nb", "shared-secret left-out\nb"),
        ("--shared-secret=hunter2 --a", "--shared-secret=left-out --a"),
        ("--shared-secret='hunter2 x' a", "--shared-secret='(left out)' a"),
        ("--shared-secret hunter2 --a", "--shared-secret left-out --a"),
        (
            r#"<option name="shared-secret" value="hunter2"/>"#,
            r#"<option name="shared-secret" value="(left out)"/>"#,
        ),
        ("a DHHC-1:00:aHVudGVyMg==: b", "a left-out b"),
        ("its shared-secret is not shown", "its shared-secret is not shown"),
        ("set `cram-hmac-alg` and `shared-secret` on both", ""),
        ("its `shared-secret` is another one, or \"somebody\"", ""),
        ("[\"shared-secret\", \"verify-alg\"]", ""),
        ("file /etc/shared-secret.key, my-shared-secret x; shared-secrets y;", ""),
        ("{\"shared-secret\": null, \"a\": 1}", ""),
        (
            "a -----BEGIN EC PRIVATE KEY-----\nbytes\n-----END EC PRIVATE KEY-----\nc",
            "a (a private key was left out)\nc",
        ),
        (
            "{\"key\":\"-----BEGIN PRIVATE KEY-----\\nbytes\\n-----END PRIVATE KEY-----\\n\",\
             \"a\":1}",
            "{\"key\":\"(a private key was left out)\\n\",\"a\":1}",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIHVudGVyMg==\nand no more",
            "(a private key was left out)\nand no more",
        ),
        ("a file with -----BEGIN CERTIFICATE----- and a PRIVATE KEY of its own", ""),
    ];

    /// An empty expectation means that nothing is left out.
    #[test]
    fn values_of_secrets_are_left_out_and_nothing_else() {
        for (text, expected) in TEXTS {
            let expected = if expected.is_empty() { text } else { expected };
            let kept = without_secrets(text);
            assert_eq!(kept, expected, "of {text}");
            assert_eq!(without_secrets(&kept), kept, "a second time");
        }
    }

    /// Each line that had the word was cut behind it, and what was left was no JSON.
    #[test]
    fn json_stays_json_however_deep_a_secret_stands_in_it() {
        let secret = "hunter2 \"x\" \\ \\\\ y";
        let quoted = secret.replace('\\', "\\\\").replace('"', "\\\"");
        let mut inner = format!("net {{\n shared-secret \"{quoted}\";\n}} the-rest");
        for depth in 0..3 {
            let value = json!({ "config": inner, "reasons": ["`shared-secret` is another one"],
                "shared-secret": secret, "a": 1 });
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let kept = without_secrets(&text);
                assert!(!kept.contains("hunter2"), "at {depth}: {kept}");
                assert!(kept.contains("the-rest"), "at {depth}: {kept}");
                let read: Value = serde_json::from_str(&kept).unwrap();
                assert_eq!(read["shared-secret"], LEFT_OUT);
                assert_eq!(read["reasons"], value["reasons"]);
                assert_eq!(read["a"], 1);
            }
            inner = value.to_string();
        }
    }
}
