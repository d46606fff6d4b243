//! Names of hosts: which of two names mean one host.
//!
//! A host has one name before the first dot, its label, and perhaps a domain behind it. One side
//! may leave the domain out: `alpha` and `alpha.example.com` are one host, and two domains are two.
//! Hosts whose labels are alike are told apart by their whole names alone: a name without a domain
//! could be either ([`Ambiguous`]), and is taken for neither.
//!
//! Whoever compares names of hosts asks here: the files, the nodes when they meet, and the verbs.

use std::net::{IpAddr, SocketAddr};

use crate::limits::HOST_NAME_BYTES_MAX;

/// A name that leaves the domain out where only the domain tells two hosts apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` could be {first} or {second}")]
pub struct Ambiguous {
    pub name: String,
    pub first: String,
    pub second: String,
}

/// Why no host can have this name; `None` of one that it can have.
#[must_use]
pub fn flaw(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("the name of a host is empty".to_owned());
    }
    if name.len() > HOST_NAME_BYTES_MAX {
        return Some(format!("the name of a host is longer than {HOST_NAME_BYTES_MAX} bytes"));
    }
    let wrong = name.chars().find(|c| c.is_whitespace() || c.is_control())?;
    Some(format!(
        "the name of a host has {wrong:?} in it: no blank and no control character may be"
    ))
}

/// Whether both names mean one host.
#[must_use]
pub fn is_same_host(left: &str, right: &str) -> bool {
    left == right || (label(left) == label(right) && (is_short(left) || is_short(right)))
}

/// The one of these hosts that goes by `name`; `names` tells all that a host goes by.
///
/// # Errors
/// Two of them could be meant.
pub fn meant<'n, T, N: IntoIterator<Item = &'n str>>(
    name: &str,
    hosts: impl IntoIterator<Item = T>,
    names: impl Fn(&T) -> N,
) -> Result<Option<T>, Ambiguous> {
    let mut found: Option<(T, &str)> = None;
    for host in hosts {
        let Some(own) = names(&host).into_iter().find(|own| is_same_host(own, name)) else {
            continue;
        };
        if let Some((_, first)) = found {
            let (name, first, second) = (name.to_owned(), first.to_owned(), own.to_owned());
            return Err(Ambiguous { name, first, second });
        }
        found = Some((host, own));
    }
    Ok(found.map(|(host, _)| host))
}

/// The order of two hosts, the same at both, whichever of the names leaves its domain out.
#[must_use]
pub fn comes_first(left: &str, right: &str) -> bool {
    (label(left), left) < (label(right), right)
}

/// The name without its domain.
#[must_use]
pub fn label(name: &str) -> &str {
    match name.split_once('.') {
        Some((label, _)) if !label.is_empty() && !is_address(name) => label,
        Some(_) | None => name,
    }
}

/// Whether the name has no domain.
#[must_use]
pub fn is_short(name: &str) -> bool {
    label(name) == name
}

/// Its dots stand before no domain.
fn is_address(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok() || name.parse::<SocketAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_that_no_host_can_have_is_told_with_what_is_wrong() {
        for (name, part) in [
            ("", "is empty"),
            ("a b", "' '"),
            ("a\u{a0}b", "'\\u{a0}'"),
            ("a\n", "'\\n'"),
            ("a\0", "'\\0'"),
            (&*"n".repeat(65), "longer than 64 bytes"),
        ] {
            let told = flaw(name).unwrap_or_else(|| panic!("{name:?} is no name"));
            assert!(told.contains(part), "no {part:?} in {told:?}");
        }
        for name in ["alice", "alice.example.com", "10.0.0.1", "n_1-a", "ä", &"n".repeat(64)] {
            assert_eq!(flaw(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_domain_may_be_missing_on_one_side() {
        for (left, right, is_one) in [
            ("alpha", "alpha", true),
            ("alpha", "alpha.example.com", true),
            ("alpha.example.com", "alpha.example.com", true),
            ("alpha.example.com", "alpha.example.org", false),
            ("alpha.example.com", "alpha.example", false),
            ("alpha", "alphabet", false),
            ("alpha", "alphabet.example.com", false),
            ("alpha", "bravo.alpha", false),
            ("alpha", "Alpha", false),
            ("10.0.0.1", "10.0.0.2", false),
            ("10", "10.0.0.2", false),
            ("10.0.0.1:7789", "10", false),
            (".a", ".b", false),
            ("", ".a", false),
        ] {
            assert_eq!(is_same_host(left, right), is_one, "{left} {right}");
            assert_eq!(is_same_host(right, left), is_one, "{right} {left}");
        }
    }

    #[test]
    fn a_name_that_could_be_two_hosts_is_neither() {
        let domains = ["db.a.example", "db.b.example", "alpha"];
        let one = |name| meant(name, domains, |it| [*it]);
        for (name, expected) in [
            ("db.a.example", Some("db.a.example")),
            ("db.b.example", Some("db.b.example")),
            ("db.c.example", None),
            ("alpha", Some("alpha")),
            ("alpha.a.example", Some("alpha")),
            ("a.example", None),
        ] {
            assert_eq!(one(name), Ok(expected), "{name}");
        }
        let told = one("db").unwrap_err().to_string();
        assert_eq!(told, "`db` could be db.a.example or db.b.example");
        // Two names of one host are no two hosts.
        let hosts = [vec!["alpha", "alpha.a.example"], vec!["bravo"]];
        let found = meant("alpha", &hosts, |names| names.iter().copied());
        assert_eq!(found, Ok(Some(&hosts[0])));
    }

    #[test]
    fn both_sides_agree_on_who_comes_first() {
        let pairs = [("alpha", "bravo"), ("db.a.example", "db.b.example"), ("db", "db-2.a")];
        for (left, right) in pairs {
            assert!(comes_first(left, right) && !comes_first(right, left), "{left} {right}");
        }
        // `.` sorts behind `-`: whole names would answer otherwise.
        assert!(comes_first("db.a.example", "db-2") && comes_first("db", "db-2"));
        assert!(!comes_first("db-2", "db.a.example"));
    }
}
