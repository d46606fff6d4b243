//! Addresses of exports.

use std::path::PathBuf;

use frontend::nbd::client::ClientError;
use frontend::nbd::client::uri::{Address, Uri};

fn tcp(host: &str, port: u16, export: &str) -> Uri {
    Uri { address: Address::Tcp { host: host.into(), port }, export: export.into() }
}

fn unix(path: &str, export: &str) -> Uri {
    Uri { address: Address::Unix(PathBuf::from(path)), export: export.into() }
}

#[test]
fn every_form_is_understood_and_printed_back() {
    let cases = [
        ("nbd://127.0.0.1:7000/r0", tcp("127.0.0.1", 7000, "r0"), None),
        ("nbd://host/r0/1", tcp("host", 10809, "r0/1"), Some("nbd://host:10809/r0/1")),
        ("nbd://host", tcp("host", 10809, ""), Some("nbd://host:10809/")),
        ("nbd://[::1]:7000/r0", tcp("::1", 7000, "r0"), None),
        ("nbd://[::1]/r0", tcp("::1", 10809, "r0"), Some("nbd://[::1]:10809/r0")),
        ("nbd+unix:///r0?socket=/run/b.sock", unix("/run/b.sock", "r0"), None),
        ("nbd+unix:///?socket=/run/b%20c.sock", unix("/run/b c.sock", ""), None),
        ("nbd://h:1/a%20b", tcp("h", 1, "a b"), None),
    ];
    for (text, uri, printed) in cases {
        assert_eq!(text.parse::<Uri>().unwrap(), uri, "{text}");
        assert_eq!(uri.to_string(), printed.unwrap_or(text));
    }
}

#[test]
fn a_wrong_address_is_refused_with_the_reason() {
    let cases = [
        ("http://host/r0", "neither"),
        ("nbds://host/r0", "neither"),
        ("nbd+unix:///r0", "no `?socket=PATH`"),
        ("nbd+unix:///r0?socket=", "no `?socket=PATH`"),
        ("nbd+unix:///r0?path=/a", "no `?socket=PATH`"),
        ("nbd+unix://host?socket=/a", "host is named"),
        ("nbd://:7000/r0", "no host"),
        ("nbd://host:70000/r0", "port"),
        ("nbd://host:/r0", "port"),
        ("nbd://[::1/r0", "not closed"),
        ("nbd://host/r0?socket=/a", "no `?` parameters"),
        ("nbd://host/%4", "hexadecimal"),
        ("nbd://host/%ff", "UTF-8"),
    ];
    for (text, reason) in cases {
        let error = text.parse::<Uri>().unwrap_err();
        assert!(matches!(error, ClientError::Uri { .. }));
        let told = error.to_string();
        assert!(told.contains(reason) && told.contains("nbd://HOST:PORT"), "{text}: {told}");
    }
}
