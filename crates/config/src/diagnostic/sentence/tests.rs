//! The rows of docs/operate/messages/config.md: each sentence, and a configuration that earns it.

use std::fs;

use super::*;
use crate::diagnostic::Report;
use crate::include::{read_file, read_text};
use crate::resolve;
use crate::rows::{Row, check, variant_of};

const TITLE: &str = "What a `.res` file is refused for, or warned of";
/// In place of the folder of a test.
const FOLDER: &str = "/etc/drbd.d";

/// A resource of two hosts with these statements in it.
fn resource(body: &str) -> String {
    format!(
        "resource r0 {{ volume 0 {{ disk /d; }} on alice {{ node-id 0; address 10.0.0.1:1; }} on \
         bob {{ node-id 1; address 10.0.0.2:1; }} {body} }}"
    )
}

/// What a configuration is refused for and warned of, in order, each with what to try.
fn rows_of(situation: &str, report: &Report) -> Vec<Row> {
    let row = |variant, sentence| Row { variant, situation: situation.to_owned(), sentence };
    let problems = report.problems.iter().map(|problem| {
        let hint = problem.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        row(variant_of(&problem.sentence), format!("{}{hint}", problem.sentence))
    });
    let cautions =
        report.cautions.iter().map(|caution| row(variant_of(caution), caution.to_string()));
    problems.chain(cautions).collect()
}

fn of_text(situation: &str, text: &str) -> Vec<Row> {
    let mut report = Report::default();
    let document = read_text(&mut report, "r0.res", text);
    resolve::resources(&mut report, &document);
    let rows = rows_of(situation, &report);
    assert!(!rows.is_empty(), "nothing is said of {text}");
    rows
}

/// In `net`, `options` and so on, of a resource, and the same words as the situation.
fn of_bodies(bodies: &[&str]) -> Vec<Row> {
    bodies.iter().flat_map(|body| of_text(&format!("`{body}`"), &resource(body))).collect()
}

fn of_texts(texts: &[&str]) -> Vec<Row> {
    texts.iter().flat_map(|text| of_text(&format!("`{text}`"), text)).collect()
}

fn of_statements() -> Vec<Row> {
    let long = "w".repeat(WORD_BYTES_MAX + 1);
    let longer = "s".repeat(STRING_BYTES_MAX + 1);
    let mut rows = of_text("a word of 129 characters", &resource(&format!("net {{ {long}; }}")));
    rows.retain(|row| row.variant == "LongWord");
    let long = resource(&format!("handlers {{ pri-lost \"{longer}\"; }}"));
    let string = of_text("a string of 256 bytes", &long);
    rows.extend(string.into_iter().filter(|row| row.variant == "LongString"));
    rows.extend(of_texts(&[
        "resource r0 { net { ping-int = 5; } }",
        "resource \"r0 {",
        "resource r0 {",
        "resource",
        "}",
        "resorce r0 { }",
        "common { on alice { } }",
        "common { } common { }",
        "resource r0 { }",
        "resource all { on alice { node-id 0; } }",
        "resource \"\" { on alice { node-id 0; } }",
        "resource r0/0 { on alice { node-id 0; } }",
        "resource upper { stacked-on-top-of r0 { } }",
        "include more.res;",
        "require-drbd-module-version-ge 9.2; ",
    ]));
    let long = format!("resource {} {{ on alice {{ node-id 0; }} }}", "n".repeat(128));
    rows.extend(of_text("a name of 128 bytes", &long));
    rows
}

fn of_options() -> Vec<Row> {
    let mut rows = of_bodies(&[
        "net { timeout 60 }",
        "net { protocl C; }",
        "net { protocol D; }",
        "net { timeout soon; }",
        "net { timeout 0; }",
        "net { timeout 601; }",
        "net { sndbuf-size large; }",
        "disk { c-max-rate 1s; }",
        "options { quorum most; }",
        "net { allow-two-primaries yes; }",
        "disk { disk-barrier yes; }",
        "net { timeout 60; timeout 70; }",
        "net { on-congestion pull-ahead; }",
        "proxy { }",
    ]);
    let long = format!("net {{ verify-alg {}; }}", "a".repeat(65));
    rows.extend(of_text("`net { verify-alg .. }` with 65 bytes", &resource(&long)));
    rows
}

fn of_hosts() -> Vec<Row> {
    let mut rows = of_bodies(&[
        "volume 1 { disk /e; tiebreaker perhaps; }",
        "volume x { disk /e; }",
        "volume 65535 { disk /e; }",
        "volume 1 { device minor 1048576; disk /e; }",
        "volume 1 { device sda1; disk /e; }",
        "volume 1 { device /dev/drbd_r; disk /e; }",
        "volume 1 { device /dev/drbd1 minor 2; disk /e; }",
        "volume 1 { disk \"\"; }",
        "volume 1 { disk /d; }",
        "device minor 3; volume 1 { disk /e; }",
        "on carol { address 10.0.0.3:1; volume 1 { disk /e; } }",
        "on carol { node-id 2; options { quorum off; } }",
        "on alice.example.com { node-id 2; address 10.0.0.3:1; }",
        "on \"c d\" { node-id 2; address 10.0.0.3:1; }",
        "on carol { node-id 2; address sdp 10.0.0.3:1; }",
        "on carol { node-id 2; address ipv6 10.0.0.3:1; }",
        "on carol { node-id 2; address carol:1; }",
        "on carol { node-id 2; address 10.0.0.3:0; }",
    ]);
    rows.extend(of_texts(&[
        "resource r0 { on alice { node-id 0; volume 0 { } } }",
        "resource r0 { disk /d; on alice { node-id 0; } on bob { node-id 1; } }",
        "resource r0 { on alice { node-id 0; disk /d; } on bob { node-id 1; address 10.0.0.2:1; } \
         }",
        "resource r0 { disk /d; on a { node-id 0; } on b { node-id 1; } on c { node-id 2; } }",
    ]));
    let own = "options { cpu-mask 1; }";
    let text = resource("").replace("node-id 0;", &format!("node-id 0; {own}"));
    rows.extend(of_text(&format!("`{own}` of the host alice"), &text));
    let hosts: String = (0..33).map(|it| format!("on h{it} {{ node-id {}; }}", it % 32)).collect();
    let many = of_text("33 hosts", &format!("resource r0 {{ disk /d; {hosts} }}"));
    rows.extend(many.into_iter().filter(|row| row.variant == "TooMany"));
    rows
}

fn of_connections() -> Vec<Row> {
    let mut rows = of_bodies(&[
        "connection { }",
        "connection { host alice; }",
        "connection { host alice; host alice; }",
        "connection { host alice; host bob; host alice; }",
        "connection { host alice; host carol; }",
        "connection { host alice; host bob; path { host alice; host bob; } }",
        "connection { path { host alice; host bob; } path { host bob; host alice; } }",
        "connection { host alice; host bob; volume 9 { disk { } } }",
        "connection { host alice via proxy on a { inside 10.0.0.9:1; } host bob; }",
        "connection c { host alice; host bob; }",
        "connection-mesh { hosts alice; }",
        "connection-mesh { hosts alice bob alice; }",
        "connection { host alice; host bob; } connection-mesh { hosts alice bob; }",
        "net { ping-int 5; } connection-mesh { hosts alice bob; net { ping-int 6; } }",
    ]);
    let three = "resource r0 { disk /d; on alice { node-id 0; } on bob { node-id 1; } on carol { \
                 node-id 2; } connection { path { host alice address 10.0.0.1:1; host bob address \
                 10.0.0.2:1; } path { host alice address 10.0.0.1:2; host carol address \
                 10.0.0.3:1; } } }";
    rows.extend(of_text("two paths, one to bob and one to carol", three));
    let with =
        |body: &str| resource(body).replace("alice", "db.a.example").replace("bob", "db.b.example");
    for body in ["connection { host db; host db.b.example; }", "startup { become-primary-on db; }"]
    {
        let situation = format!("`{body}`, of db.a.example and db.b.example");
        rows.extend(of_text(&situation, &with(body)));
    }
    rows
}

fn of_files() -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let read = |situation: &str, name: &str| {
        let mut report = Report::default();
        read_file(&mut report, &folder.path().join(name));
        let mut rows = rows_of(situation, &report);
        assert!(!rows.is_empty(), "nothing is said of {situation}");
        let shown = folder.path().display().to_string();
        rows.iter_mut().for_each(|row| row.sentence = row.sentence.replace(&shown, FOLDER));
        rows
    };
    let mut rows = read("a configuration that is not there", "none.res");
    write("a.res", b"include none.res;");
    rows.extend(read("`include none.res;`, and there is no such file", "a.res"));
    write("b.res", b"include b.res;");
    rows.extend(read("`include b.res;` in b.res", "b.res"));
    for depth in 0..=INCLUDE_DEPTH_MAX + 1 {
        write(&format!("deep{depth}.res"), format!("include deep{}.res;", depth + 1).as_bytes());
    }
    rows.extend(read("eleven files, each in the one before", "deep0.res"));
    write("c.res", b"resource r\xe4 { }");
    rows.extend(read("a file in ISO-8859-1", "c.res"));
    fs::create_dir(folder.path().join("d.res")).unwrap();
    rows.extend(read("a folder", "d.res"));
    // Files and texts of these sizes are in tests/errors.rs and tests/includes.rs.
    for (situation, sentence) in [
        (
            "more than 64 MiB, with this file",
            Sentence::File { path: format!("{FOLDER}/r0.res"), why: FileFlaw::Large },
        ),
        ("`include *.res;` of 16,385 files", Sentence::ManyMatches),
        ("16,385 resources", Sentence::TooMuch { what: "16384 resources".to_owned() }),
    ] {
        let (variant, sentence) = (variant_of(&sentence), sentence.to_string());
        rows.push(Row { variant, situation: situation.to_owned(), sentence });
    }
    rows
}

#[test]
fn rows_of_configurations_are_those_of_the_page() {
    let all = [of_statements(), of_options(), of_hosts(), of_connections(), of_files()];
    check(("config.md", TITLE), all.into_iter().flatten().collect());
}
