//! Names of hosts: which of two names mean one host.
//!
//! A host has one name before the first dot, its label, and perhaps a domain behind it. One side
//! may leave the domain out: `alpha` and `alpha.example.com` are one host, and two domains are two.
//! No two hosts of a resource have one label, so that a name never fits two of them.
//!
//! Whoever compares names of hosts asks here: the files, the nodes when they meet, and the verbs.

use std::net::{IpAddr, SocketAddr};

/// Whether both names mean one host.
#[must_use]
pub fn is_same_host(left: &str, right: &str) -> bool {
    left == right || (label(left) == label(right) && (is_short(left) || is_short(right)))
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
}
