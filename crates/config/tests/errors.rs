//! Every kind of mistake is reported, in the right place, with a way out.

use config::diagnostic::{Diagnostic, ErrorKind, Errors};
use config::{limits, parse_text};

fn errors(text: &str) -> Errors {
    match parse_text("r.res", text) {
        Ok(config) => panic!("{text}\nwas accepted as {config:?}"),
        Err(errors) => errors,
    }
}

/// The only error that `text` has.
fn error(text: &str) -> Diagnostic {
    let mut errors = errors(text);
    assert_eq!(errors.list.len(), 1, "{errors}");
    errors.list.remove(0)
}

/// A resource of two hosts with `body` in it.
fn resource(body: &str) -> String {
    format!(
        "resource r {{ volume 0 {{ disk /d; }} \
         on a {{ node-id 0; address 10.0.0.1:1; }} on b {{ node-id 1; address 10.0.0.2:1; }}\n\
         {body}\n}}"
    )
}

/// The kind, line and column of the only error.
fn place(text: &str) -> (ErrorKind, usize, usize) {
    let error = error(text);
    (error.kind, error.line, error.column)
}

#[test]
fn an_error_shows_the_line_a_mark_and_what_was_meant() {
    let text = "resource r {\n\tnet {\n\t\tprotocl C;\n\t}\n}\n";
    let errors = errors(text);
    let shown = errors.to_string();
    let start = "r.res:3:3: unknown option `protocl` in net\n    \t\tprotocl C;\n    \t\t^^^^^^^\n\
                 \x20 did you mean `protocol`?\n  allowed here: protocol, ";
    assert!(shown.starts_with(start), "{shown}");
}

/// `A` was proposed for `D`: every letter is one edit from every other.
#[test]
fn word_that_shares_no_letter_is_not_proposed() {
    let told = errors("resource r { net { protocol D; } }").to_string();
    assert!(told.contains("allowed here: A, B, C"), "{told}");
    assert!(!told.contains("did you mean"), "{told}");
    let near = errors("resource r { options { auto-promote yess; } }").to_string();
    assert!(near.contains("did you mean `yes`?"), "{near}");
}

#[test]
fn characters_that_begin_nothing() {
    let errors = errors("global { }\n  § global { minor-count=3; }");
    assert_eq!(errors.list[0].kind, ErrorKind::BadCharacter);
    assert_eq!((errors.list[0].line, errors.list[0].column), (2, 3));
    assert_eq!((errors.list[1].line, errors.list[1].column), (2, 25));
    assert!(errors.list[1].hint.as_ref().unwrap().contains("not by `=`"), "{errors}");
}

#[test]
fn strings_without_an_end() {
    let errors = errors("resource \"r {\n}\n");
    assert_eq!(errors.list[0].kind, ErrorKind::UnterminatedString);
    assert_eq!((errors.list[0].line, errors.list[0].column), (1, 10));
}

#[test]
fn words_strings_and_values_that_are_too_long() {
    let long = "x".repeat(limits::WORD_BYTES_MAX + 1);
    assert_eq!(place(&resource(&format!("options {{ cpu-mask {long}; }}"))).0, ErrorKind::TooLong);
    let long = "x".repeat(limits::STRING_BYTES_MAX + 1);
    let text = resource(&format!("handlers {{ pri-lost \"{long}\"; }}"));
    assert!(errors(&text).has(ErrorKind::TooLong));
    let long = "x".repeat(65);
    assert_eq!(place(&resource(&format!("net {{ verify-alg {long}; }}"))).0, ErrorKind::TooLong);
    let fits = "x".repeat(64);
    parse_text("r.res", &resource(&format!("net {{ verify-alg {fits}; }}"))).unwrap();
}

#[test]
fn tokens_in_the_wrong_place() {
    let cases = [
        ("net { timeout 60 }", (2, 18)),
        ("net timeout 60;", (2, 5)),
        ("net { ; }", (2, 7)),
        ("net { timeout { 60; } }", (2, 15)),
        ("connection { host a address 10.0.0.1; host b; }", (2, 37)),
        ("connection { host a 10.0.0.1:7; host b; }", (2, 21)),
        ("}", (3, 1)),
        ("net { skip }", (2, 12)),
        ("skip ;", (2, 6)),
    ];
    for (body, (line, column)) in cases {
        let expected = (ErrorKind::UnexpectedToken, line, column);
        assert_eq!(place(&resource(body)), expected, "{body}");
    }
}

#[test]
fn a_file_that_ends_too_early() {
    // The innermost section that is open is named; the others follow from it.
    assert_eq!(place("resource r {\n  net {\n    timeout 60;"), (ErrorKind::UnexpectedEnd, 2, 7));
    assert_eq!(place("resource r {\n  net {\n    timeout"), (ErrorKind::UnexpectedEnd, 3, 12));
    assert_eq!(place("resource"), (ErrorKind::UnexpectedEnd, 1, 9));
    assert_eq!(place("skip resource r {\n net {"), (ErrorKind::UnexpectedEnd, 1, 17));
    assert_eq!(place("skip include x"), (ErrorKind::UnexpectedEnd, 1, 15));
}

#[test]
fn words_that_are_unknown_where_they_stand() {
    let cases = [
        ("resorce r { }", "resource"),
        ("resource r { conection { } }", "connection"),
        ("resource r { on a { nodeid 0; } }", "node-id"),
        ("resource r { volume 0 { metadisk internal; } }", "meta-disk"),
        ("resource r { connection { hosts a; } }", "host"),
        ("resource r { connection { path { hots a; } } }", "host"),
        ("resource r { connection { volume 0 { dsk { } } } }", "disk"),
        ("resource r { connection-mesh { host a b; } }", "hosts"),
        ("resource r { disk { alextents 7; } }", "al-extents"),
        ("resource r { net { no-tcp-kork; } }", "tcp-cork"),
        ("resource r { handlers { splitbrain x; } }", "split-brain"),
        ("resource r { connection { disk { c-maxrate 7; } } }", "c-max-rate"),
        ("global { usage-cont no; }", "usage-count"),
        ("common { disks { } }", "disk"),
    ];
    for (text, meant) in cases {
        let error = error(text);
        assert_eq!(error.kind, ErrorKind::UnknownWord, "{error}");
        assert_eq!(error.suggestion.as_deref(), Some(meant), "{error}");
        assert_eq!(error.allowed[0], meant, "{error}");
    }
}

#[test]
fn options_in_the_wrong_section_are_sent_home() {
    let error_of = |body: &str| error(&resource(body)).hint.unwrap();
    assert_eq!(error_of("net { al-extents 100; }"), "it belongs into the section `disk`");
    assert_eq!(error_of("options { timeout 100; }"), "it belongs into the section `net`");
    assert_eq!(error_of("disk { no-auto-promote; }"), "it belongs into the section `options`");
    let error = error("common { on a { node-id 0; } }");
    assert_eq!(error.kind, ErrorKind::UnknownWord);
    assert_eq!(error.hint.unwrap(), "hosts, volumes and connections belong into a resource");
}

#[test]
fn values_of_the_wrong_type() {
    let cases = [
        "net { tcp-cork maybe; }",
        "net { no-timeout; }",
        "net { timeout soon; }",
        "net { timeout 10T; }",
        "net { timeout -1; }",
        "net { sndbuf-size 1.5M; }",
        "disk { c-max-rate 1s; }",
        "options { on-no-quorum freeze; }",
        "options { quorum most; }",
        "net { after-sb-0pri discard-node-; }",
        "volume 1 { device sda1; disk /e; }",
        "volume 1 { device /dev/drbd_r; disk /e; }",
        "volume x { disk /e; }",
        "volume 1 { disk /e; tiebreaker perhaps; }",
    ];
    for body in cases {
        let error = error(&resource(body));
        let is_right = match body {
            "net { no-timeout; }" => error.kind == ErrorKind::UnknownWord,
            _ => error.kind == ErrorKind::BadValue,
        };
        assert!(is_right, "{error}");
        assert_eq!(error.line, 2, "{error}");
    }
    let error = error(&resource("options { on-no-quorum suspendio; }"));
    assert_eq!(error.suggestion.as_deref(), Some("suspend-io"));
}

#[test]
fn names_that_a_resource_cannot_have() {
    for name in ["\"\"", "a/b", "\"a@1\"", "\"a:b\"", "\"a b\"", "\"a\\nb\"", "all", ".."] {
        let text = format!("resource {name} {{ }}");
        assert_eq!(place(&text), (ErrorKind::BadValue, 1, 10), "{name}");
    }
    assert_eq!(place(&format!("resource {} {{ }}", "n".repeat(128))).0, ErrorKind::BadValue);
}

/// Nodes cannot tell each other longer ones.
#[test]
fn names_that_a_host_cannot_have() {
    let with = |name: &str| resource("").replace("on a ", &format!("on {name} "));
    for name in ["\"\"", &"n".repeat(65)] {
        assert_eq!(error(&with(name)).kind, ErrorKind::BadValue, "{name}");
    }
    parse_text("r.res", &with(&"n".repeat(64))).unwrap();
}

#[test]
fn numbers_out_of_range_name_the_range() {
    let cases = [
        ("net { timeout 0; }", "too small, the range is 1 to 600 tenths of a second"),
        ("net { timeout 601; }", "too big, the range is 1 to 600 tenths of a second"),
        ("net { sndbuf-size 129M; }", "too big, the range is 0 to 128M bytes"),
        ("disk { resync-rate 0; }", "too small, the range is 1K to 64G bytes"),
        ("disk { c-max-rate 65G; }", "too big, the range is 0 to 64G bytes"),
        ("disk { c-fill-target 1G; }", "too big, the range is 0 to 1048576s"),
        ("disk { c-max-rate 99999999999999999999; }", "99999999999999999999 is too big"),
        ("disk { c-max-rate 18446744073709551615G; }", "18446744073709551615G is too big"),
        ("options { quorum 33; }", "too big, the range is 1 to 32"),
        ("volume 65535 { disk /e; }", "too big for a volume number, the range is 0 to 65534"),
        ("volume 1 { device minor 1048576; disk /e; }", "too big for a minor"),
        ("on c { node-id 32; }", "too big for a node id, the range is 0 to 31"),
        ("connection { host a port 0; host b; }", "0 is too small for a port"),
        ("connection { host a port 65536; host b; }", "65536 is too big for a port"),
    ];
    for (body, message) in cases {
        let error = error(&resource(body));
        assert_eq!(error.kind, ErrorKind::OutOfRange, "{error}");
        assert!(error.message.contains(message), "{error}");
    }
}

#[test]
fn addresses_that_are_none() {
    let cases = [
        "bob:7789",
        "10.0.0:7789",
        "10.0.0.256:7789",
        "ipv6 10.0.0.1:7789",
        "ipv4 [::1]:7789",
        "[1:2]:7789",
        "sdp 10.0.0.1:7789",
    ];
    for address in cases {
        let text = resource(&format!("connection {{ host a address {address}; host b; }}"));
        assert_eq!(error(&text).kind, ErrorKind::BadAddress, "{address}");
    }
}

#[test]
fn what_would_be_unsafe_to_ignore_is_refused() {
    let error = error(&resource("net { allow-two-primaries; }"));
    assert_eq!((error.kind, error.line), (ErrorKind::NotSupported, 2));
    assert!(error.hint.is_some(), "{error}");
    assert!(error.message.contains("is refused: one node at a time is Primary"), "{error}");
    let harmless = "protocol c; net { no-allow-two-primaries; tls no; fencing resource-only; \
                    cram-hmac-alg sha512; shared-secret \"x y\"; } \
                    options { quorum majority; on-no-quorum io-error; \
                    quorum-minimum-redundancy 1; }";
    let demanding = "options { quorum all; quorum-minimum-redundancy majority; }";
    let by_receipt = "net { protocol b; }";
    let following = "protocol A;";
    let counted = "options { quorum 2; quorum-minimum-redundancy 2; }";
    for body in [harmless, demanding, by_receipt, following, counted] {
        let config = parse_text("r.res", &resource(body)).unwrap();
        assert_eq!(config.warnings, []);
    }
}

#[test]
fn what_is_not_supported_at_all_says_so() {
    let stacked = "resource up { stacked-on-top-of low { address 10.0.0.1:1; } }";
    assert_eq!(place(stacked), (ErrorKind::NotSupported, 1, 15));
    let proxied = resource("connection { host a via proxy on a { inside 1.2.3.4:5; } host b; }");
    assert_eq!(place(&proxied), (ErrorKind::NotSupported, 2, 21));
}

#[test]
fn a_secret_does_not_get_into_errors() {
    let line = "net { allow-two-primaries; shared-secret hushhush; sndbuf-size 1T; }";
    let errors = errors(&resource(line));
    assert_eq!(errors.list.len(), 2);
    assert!(!errors.to_string().contains("hushhush"), "{errors}");
}

#[test]
fn what_is_given_twice() {
    let cases = [
        "net { timeout 60; timeout 60; }",
        "net { } net { }",
        "protocol C; net { protocol C; }",
        "volume 1 { disk /e; } volume 1 { disk /f; }",
        "volume 1 { disk /e; disk /f; }",
        "on a { node-id 7; }",
        "on c { node-id 1; }",
        "connection { host a; host b; } connection { host b; host a; }",
        "connection { path { host a; host b; } path { host b; host a; } }",
        "connection { host a; host b; net { } net { } }",
        "connection-mesh { hosts a b a; }",
        "connection-mesh { hosts a b; } connection-mesh { hosts b a; }",
        "template-file x; template-file y;",
    ];
    for body in cases {
        let errors = errors(&resource(body));
        assert_eq!(errors.list[0].kind, ErrorKind::Duplicate, "{body}: {errors}");
    }
    let error = error("common { }\ncommon { }");
    assert_eq!(error.hint.as_deref(), Some("it was first given at r.res:1"));
    let again = format!("{0}\n{0}", resource(""));
    assert_eq!(place(&again), (ErrorKind::Duplicate, 4, 10));
}

#[test]
fn a_minor_is_used_once_on_a_host() {
    let one = |name: &str, minor: u32, disk: &str| {
        format!(
            "resource {name} {{ device minor {minor}; disk {disk}; \
             on a {{ address 10.0.0.1:1; }} on b {{ address 10.0.0.2:1; }} }}\n"
        )
    };
    parse_text("r.res", &(one("x", 1, "/x") + &one("y", 2, "/y"))).unwrap();
    let errors = errors(&(one("x", 1, "/x") + &one("y", 1, "/y")));
    assert!(errors.list.iter().all(|error| error.kind == ErrorKind::Duplicate));
    let expected = "volume 0 of y has the device minor 1 on host a, as volume 0 of x has";
    assert_eq!(errors.list[0].message, expected);
}

/// Two resources on one disk were two warnings of the daemon's, and `dump` said nothing.
#[test]
fn a_disk_is_used_once_on_a_host() {
    let one = |name: &str, port: u16, host: &str, disks: &str| {
        format!(
            "resource {name} {{ volume 0 {{ disk {disks}; }} on {host} {{ node-id 0; address \
             10.0.0.1:{port}; }} on b {{ node-id 1; address 10.0.0.2:{port}; }} }}\n"
        )
    };
    for (left, right) in [
        ("/x", "/x"),
        ("/x; meta-disk /m", "/y; meta-disk /m"),
        ("/x; meta-disk /m [1]", "/y; meta-disk /m [1]"),
        ("/x; meta-disk /y", "/y"),
    ] {
        for host in ["a", "a.example.com"] {
            let errors = errors(&(one("p", 1, "a", left) + &one("q", 2, host, right)));
            let first = &errors.list[0];
            assert_eq!((first.kind, first.line), (ErrorKind::Duplicate, 2), "{errors}");
            assert!(first.message.contains("volume 0 of q has the disk /"), "{errors}");
            assert!(first.hint.as_ref().unwrap().contains("r.res:1"), "{errors}");
            assert_eq!(errors.list.len(), 2, "on both hosts: {errors}");
        }
    }
    for (left, right) in [
        ("/x; meta-disk /m [1]", "/y; meta-disk /m [2]"),
        ("none", "none"),
        // Where a disk of another host is, LINSTOR does not say.
        ("/dev/drbd/this/is/not/used", "/dev/drbd/this/is/not/used"),
    ] {
        parse_text("r.res", &(one("p", 1, "a", left) + &one("q", 2, "a", right))).unwrap();
    }
    for error in errors(&resource("volume 1 { disk /d; }")).list {
        assert!(error.message.starts_with("volume 1 of r has the disk /d on host "), "{error}");
    }
    // The first `a` is another machine.
    let other = one("p", 1, "a.example.org", "/x").replace("on b ", "on c ");
    parse_text("r.res", &(other + &one("q", 2, "a.example.com", "/x"))).unwrap();
}

#[test]
fn what_is_missing() {
    let cases = [
        ("resource r { }", "the resource r has no hosts"),
        ("resource r { on a { node-id 0; volume 0 { } } }", "volume 0 has no disk on host a"),
        (
            "resource r { volume 0 { disk /d; } on a { node-id 0; } on b { } }",
            "the host b has no node-id",
        ),
        (
            "resource r { volume 0 { disk /d; } on a { address 10.0.0.1:1; } on b { } }",
            "no address is given for host b",
        ),
        (
            "resource r { on a { address 10.0.0.1:1; volume 0 { disk /d; } } \
             on b { address 10.0.0.2:1; } }",
            "volume 0 is missing on host b",
        ),
        (
            "resource r { disk /d; on a { node-id 0; } on b { node-id 1; } on c { node-id 2; } }",
            "3 hosts, but no connection between them",
        ),
    ];
    for (text, message) in cases {
        let error = error(text);
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Missing, message));
        assert!(error.hint.is_some(), "{error}");
    }
    let bodies = [
        ("connection { }", "a connection without hosts"),
        ("connection { host a; }", "a path joins two hosts, here are 1"),
        ("connection-mesh { hosts a; }", "a connection-mesh of fewer than two hosts"),
        ("connection { host a; host b; volume 9 { disk { } } }", "the resource has no volume 9"),
    ];
    for (body, message) in bodies {
        let error = error(&resource(body));
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Missing, message));
    }
}

#[test]
fn hosts_that_the_resource_does_not_have() {
    let cases = ["connection { host a; host bb; }", "connection-mesh { hosts a bb; }"];
    for body in cases {
        let error = error(&resource(body));
        assert_eq!(error.kind, ErrorKind::UnknownHost, "{error}");
        assert_eq!(error.suggestion.as_deref(), Some("b"));
    }
}

#[test]
fn statements_that_contradict_each_other() {
    let cases = [
        "connection { host a; host a; }",
        "connection { host a; host b; host a; }",
        "connection { host a; host b; path { host a; host b; } }",
        "device minor 3; volume 1 { disk /e; }",
        "volume 1 { device /dev/drbd1 minor 2; disk /e; }",
        "volume 1 { device drbd1 minor 2; disk /e; }",
    ];
    for body in cases {
        let errors = errors(&resource(body));
        let are_right = errors.list.iter().all(|error| error.kind == ErrorKind::Contradiction);
        assert!(are_right, "{body}: {errors}");
    }
    let text = "resource r { disk /d; on a { node-id 0; } on b { node-id 1; } on c { node-id 2; }
        connection { path { host a address 10.0.0.1:1; host b address 10.0.0.2:1; }
                     path { host a address 10.0.0.1:1; host c address 10.0.0.3:1; } } }";
    assert_eq!(place(text), (ErrorKind::Contradiction, 3, 22));
}

#[test]
fn too_many_of_anything() {
    let many =
        |count: usize, part: &dyn Fn(usize) -> String| -> String { (0..count).map(part).collect() };
    let hosts = many(33, &|n| format!("on h{n} {{ node-id {}; }}\n", n % 32));
    assert_eq!(error(&format!("resource r {{ {hosts} }}")).kind, ErrorKind::TooLarge);
    let volumes = many(257, &|n| format!("volume {n} {{ disk /d{n}; }}\n"));
    assert_eq!(error(&format!("resource r {{ {volumes} }}")).kind, ErrorKind::TooLarge);
    let resources = many(limits::RESOURCES_MAX + 1, &|n| {
        format!("resource r{n} {{ on a {{ node-id 0; }} }}\n")
    });
    let error_of_all = error(&resources);
    assert_eq!((error_of_all.kind, error_of_all.line), (ErrorKind::TooLarge, 16_385));
    let volumes = many(256, &|n| format!("volume {n} {{ disk /d/R/{n}; }}\n"));
    let hosts = many(32, &|n| format!("on h{n} {{ node-id {n}; address 10.0.0.{n}:1; }}\n"));
    let resources = many(17, &|n| {
        let volumes = volumes.replace('R', &n.to_string());
        format!("resource r{n} {{ {volumes} {hosts} connection-mesh {{ hosts h0 h1; }} }}\n")
    });
    let error_of_all = error(&resources);
    assert_eq!(error_of_all.kind, ErrorKind::TooLarge, "{error_of_all}");
    assert!(error_of_all.message.contains("volumes, counted on every host"));
    let names = many(32, &|n| format!("h{n} "));
    let resources = many(260, &|n| {
        format!("resource r{n} {{ {hosts} connection-mesh {{ hosts {names}; }} }}\n")
    });
    let error_of_all = error(&resources);
    assert!(error_of_all.message.contains("131072 connections"), "{error_of_all}");
    let paths = many(17, &|n| {
        format!("path {{ host a address 10.1.{n}.1:1; host b address 10.1.{n}.2:1; }}\n")
    });
    let text = resource(&format!("connection {{ {paths} }}"));
    assert_eq!(error(&text).kind, ErrorKind::TooLarge);
    let text = " ".repeat(usize::try_from(limits::TOTAL_BYTES_MAX).unwrap() + 1);
    assert_eq!(error(&text).kind, ErrorKind::TooLarge);
}

#[test]
fn one_run_tells_all_mistakes_up_to_a_limit() {
    let text =
        "resource r {\n  net { timeot 60; protocol D; ping-int 0; }\n  on a { node-id 99; }\n}\n";
    let lines: Vec<(usize, ErrorKind)> =
        errors(text).list.iter().map(|error| (error.line, error.kind)).collect();
    let expected = [
        (2, ErrorKind::UnknownWord),
        (2, ErrorKind::BadValue),
        (2, ErrorKind::OutOfRange),
        (3, ErrorKind::OutOfRange),
    ];
    assert_eq!(lines, expected);
    let endless = errors(&"x;\n".repeat(10_000));
    assert_eq!(endless.list.len(), limits::ERRORS_MAX);
    assert!(endless.truncated);
    assert!(endless.to_string().ends_with("stopped after 20 errors, there may be more"));
}

#[test]
fn a_long_line_is_shown_in_part() {
    let text = "resource r { net { no-tls; timeot 60; } }";
    assert!(error(text).to_string().contains("timeot 60;"));
    let text = format!("resource r {{ net {{ {}timeot 60; }} }}", " ".repeat(5000));
    let shown = error(&text).to_string();
    let marked: Vec<&str> = shown.lines().take(3).collect();
    assert!(marked[0].starts_with("r.res:1:5020: "), "{shown}");
    assert!(marked[1].len() < 120 && marked[1].contains("timeot 60;"), "{shown}");
    assert_eq!(marked[1].find("timeot"), marked[2].find('^'), "{shown}");
}

#[test]
fn text_that_is_in_no_file_includes_none() {
    assert_eq!(place("include x;"), (ErrorKind::IncludeMissing, 1, 9));
    assert_eq!(place(&resource("template-file x;")), (ErrorKind::IncludeMissing, 2, 15));
}

/// drbdadm 9.22 reads such options, shows them in `dump`, and passes none on (`drbdadm -d up`).
#[test]
fn options_of_a_single_host_never_come_to_life() {
    let with = |own: &str| {
        format!(
            "resource r {{ volume 0 {{ disk /d; }} options {{ quorum majority; }}\n\
             on a {{ node-id 0; address 10.0.0.1:1; options {{ {own} }} }}\n\
             on b {{ node-id 1; address 10.0.0.2:1; }} }}"
        )
    };
    for unsafe_alone in [
        "quorum off;",
        "quorum-minimum-redundancy off;",
        "on-no-quorum io-error;",
        "on-no-data-accessible suspend-io;",
        "on-suspended-primary-outdated force-secondary;",
    ] {
        let error = error(&with(unsafe_alone));
        assert_eq!((error.kind, error.line, error.column), (ErrorKind::NotSupported, 2, 49));
        assert!(error.message.ends_with("cannot be set for the host a alone"), "{error}");
        assert!(error.hint.unwrap().contains("of the resource"));
    }
    for harmless in ["auto-promote no;", "cpu-mask 3;", "auto-promote-timeout 7;"] {
        let config = parse_text("r.res", &with(harmless)).unwrap();
        let plain = parse_text("r.res", &with("")).unwrap();
        let (it, other) = (config.resource("r").unwrap(), plain.resource("r").unwrap());
        assert_eq!(it.resource_options(), other.resource_options(), "{harmless}");
        assert_eq!(it.cpu_mask(), None);
        let [warning] = &config.warnings[..] else { panic!("{harmless}: {:?}", config.warnings) };
        assert!(warning.message.contains("for a single host, such as a"), "{warning}");
    }
    for refused_by_drbd in ["net { protocol A; }", "startup { wfc-timeout 3; }", "handlers { }"] {
        let text = with("").replace("options {  }", refused_by_drbd);
        assert_eq!(error(&text).kind, ErrorKind::UnknownWord, "{refused_by_drbd}");
    }
}

/// A name without a domain could be every host with its label.
#[test]
fn hosts_that_could_be_taken_for_each_other() {
    let text = |left: &str, right: &str, more: &str| {
        format!(
            "resource r {{ volume 0 {{ disk /d; }}\n on {left} {{ node-id 0; address 10.0.0.1:1; \
             }}\n on {right} {{ node-id 1; address 10.0.0.2:1; }}\n {more} }}"
        )
    };
    for (left, right) in [
        ("alpha", "alpha.b"),
        ("alpha.b", "alpha"),
        ("alpha.a", "alpha.a"),
        ("alpha.a alpha", "alpha.b"),
        ("alpha bravo.a", "charlie bravo"),
    ] {
        let error = error(&text(left, right, ""));
        assert_eq!((error.kind, error.line), (ErrorKind::Duplicate, 3), "{error}");
        let hint = error.hint.as_ref().unwrap();
        assert!(hint.contains(" stands at r.res:2;") || left == right, "{error}");
        assert!(hint.contains("whole names") || left == right, "{error}");
    }
    for (left, right) in [
        ("alpha.a", "alpha.b"),
        ("alpha bravo.a", "charlie bravo.b"),
        ("alpha.a", "bravo.a"),
        ("alpha alpha.a", "bravo bravo.a"),
        ("10.0.0.1", "10.0.0.2"),
    ] {
        parse_text("r.res", &text(left, right, "")).unwrap();
    }
    assert_eq!(error(&text("alpha", "alpha", "")).kind, ErrorKind::Duplicate);
    assert_eq!(error(&text("alpha alpha.a alpha.a", "bravo", "")).line, 2);
    let connection = "connection { host alpha; host alpha.b; }";
    let error = error(&text("alpha.a", "alpha.b", connection));
    assert_eq!((error.kind, error.line), (ErrorKind::UnknownHost, 4), "{error}");
    assert_eq!(error.message, "`alpha` could be alpha.a or alpha.b");
    assert_eq!(error.hint.as_deref(), Some("say the whole name"));
}
