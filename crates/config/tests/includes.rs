//! Files that include files: what cannot be read, and what patterns match.
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::fs;
use std::path::Path;

use config::diagnostic::{Diagnostic, ErrorKind, Errors};
use config::{ConfigFile, limits, parse_file};

/// Writes files into a directory, and reads the first of them.
fn read_files(files: &[(&str, &[u8])]) -> Result<ConfigFile, Errors> {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    parse_file(&directory.path().join(files[0].0))
}

fn file_error(files: &[(&str, &[u8])]) -> Diagnostic {
    let mut errors = read_files(files).unwrap_err();
    assert_eq!(errors.list.len(), 1, "{errors}");
    errors.list.remove(0)
}

#[test]
fn files_that_cannot_be_read() {
    let errors = parse_file(Path::new("/nonexistent/drbd.conf")).unwrap_err();
    assert!(errors.to_string().starts_with("/nonexistent/drbd.conf: "), "{errors}");
    assert_eq!((errors.list[0].kind, errors.list[0].line), (ErrorKind::Unreadable, 0));
    let errors = parse_file(Path::new("/")).unwrap_err();
    assert!(errors.list[0].message.contains("not a regular file"), "{errors}");
    let error = file_error(&[("a", b"include sub;"), ("sub/x", b"")]);
    assert_eq!((error.kind, error.line, error.column), (ErrorKind::Unreadable, 1, 9));
}

#[test]
fn files_that_are_no_text() {
    let error = file_error(&[("a", b"global { }\n\xff\xfe")]);
    assert_eq!(error.kind, ErrorKind::NotText);
    assert!(error.message.ends_with("byte 11 is not UTF-8 text"), "{error}");
}

#[test]
fn files_that_are_too_large() {
    let large = vec![b' '; usize::try_from(limits::TOTAL_BYTES_MAX).unwrap() + 1];
    assert_eq!(file_error(&[("a", b"include b;"), ("b", &large)]).kind, ErrorKind::TooLarge);
    let include = b"include b;";
    let largest = &large[1 + include.len()..];
    read_files(&[("a", include), ("b", largest)]).unwrap();
    let files = [("a", &b"include b; "[..]), ("b", largest)];
    assert_eq!(file_error(&files).kind, ErrorKind::TooLarge, "one byte more in all");
}

#[test]
fn includes_that_name_nothing() {
    let error = file_error(&[("a", b"\ninclude \"no such\";")]);
    assert_eq!((error.kind, error.line, error.column), (ErrorKind::IncludeMissing, 2, 9));
    // A pattern may match nothing.
    read_files(&[("a", b"include \"none/*.res\"; include \"*.none\";")]).unwrap();
    let missing = b"resource r { template-file x; on a { node-id 0; } }";
    assert_eq!(file_error(&[("a", missing)]).kind, ErrorKind::Unreadable);
}

#[test]
fn includes_in_a_circle_or_too_deep() {
    let error = file_error(&[("a", b"include b;"), ("b", b"include ./a;")]);
    assert_eq!(error.kind, ErrorKind::IncludeDepth);
    assert!(error.message.ends_with("includes itself"), "{error}");
    let names: Vec<String> = (0..12).map(|n| format!("f{n:02}")).collect();
    let texts: Vec<String> = (1..13).map(|n| format!("include f{n:02};")).collect();
    let mut files: Vec<(&str, &[u8])> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let error = file_error(&files);
    assert_eq!(error.kind, ErrorKind::IncludeDepth);
    assert!(error.file.ends_with("f10"), "{error}");
    files.truncate(10);
    files.push(("f10", b""));
    read_files(&files).unwrap();
}

#[test]
fn patterns_match_as_in_a_shell() {
    let empty = |name: &str| format!("resource {name} {{ disk none; on a {{ node-id 0; }} }}");
    let names = ["d1/a1.res", "d1/a2.res", "d2/b1.res", "d2/.hidden.res", "e/c1.res", "d1/a1.txt"];
    let bodies: Vec<String> =
        ["a1", "a2", "b1", "hidden", "c1", "text"].iter().map(|name| empty(name)).collect();
    let cases: [(&str, &[&str]); 8] = [
        ("d1/*.res", &["a1", "a2"]),
        ("d?/*.res", &["a1", "a2", "b1"]),
        ("*/?1.res", &["a1", "b1", "c1"]),
        ("[d-e]*/[!a]*.res", &["b1", "c1"]),
        ("d[!2]/*1*", &["a1", "text"]),
        ("d2/.*.res", &["hidden"]),
        ("d1/a*[]2].res", &["a2"]),
        ("d1/*a*1*r*s*", &["a1"]),
    ];
    for (pattern, expected) in cases {
        let include = format!("include \"{pattern}\";");
        let mut files: Vec<(&str, &[u8])> = vec![("drbd.conf", include.as_bytes())];
        files.extend(names.iter().zip(&bodies).map(|(name, body)| (*name, body.as_bytes())));
        let config = read_files(&files).unwrap_or_else(|errors| panic!("{pattern}: {errors}"));
        let found: Vec<&str> = config.resources.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(found, expected, "{pattern}");
    }
}
