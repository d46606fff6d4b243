//! What clients may use over NBD, by the names in their certificates.
//!
//! ```text
//! # client   volumes    ro or rw
//! backup     *          ro
//! web        r0         rw
//! web        r1/0       rw
//! ```
//!
//! `RES` means all volumes of a resource, `RES/VOLUME` that one: volume 0 too, whose export is
//! called `RES`. A client that has no line may use nothing. Where several lines fit, the first one
//! counts.

use crate::limits::GRANTS_MAX;
use crate::tls::{Session, client_domain_name};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    client: String,
    /// As in the file: all, a resource, or a volume of one.
    volumes: String,
    pub(crate) may: May,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum May {
    Read,
    ReadAndWrite,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grants(Vec<Grant>);

impl Grants {
    pub const NONE: Self = Self(Vec::new());

    pub fn parse(text: &str) -> Result<Self, String> {
        let mut grants = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            let may = match words[..] {
                [] => continue,
                [_, _, "ro"] => May::Read,
                [_, _, "rw"] => May::ReadAndWrite,
                _ => {
                    return Err(format!(
                        "line {number} is not CLIENT, RESOURCE or RESOURCE/VOLUME, and `ro` or `rw`"
                    ));
                }
            };
            if grants.len() == GRANTS_MAX {
                return Err(format!("line {number} is one more than the {GRANTS_MAX} that count"));
            }
            grants.push(Grant { client: words[0].into(), volumes: words[1].into(), may });
        }
        Ok(Self(grants))
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> &[Grant] {
        &self.0
    }

    /// What the peer of this session may use.
    pub(crate) fn of_peer(&self, session: &Session) -> Vec<Grant> {
        let is_meant = |grant: &&Grant| session.peer_has_name(&client_domain_name(&grant.client));
        self.0.iter().filter(is_meant).cloned().collect()
    }
}

/// What these grants allow with a volume of a resource.
pub(crate) fn may_use(grants: &[Grant], resource: &str, volume: u16) -> Option<May> {
    let own = format!("{resource}/{volume}");
    let fits = |grant: &&Grant| ["*", resource, &own].contains(&&*grant.volumes);
    grants.iter().find(fits).map(|grant| grant.may)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_that_fits_counts_and_no_line_is_no_access() {
        let text = "# who\nweb r0/0 rw # its own\n\n  web * ro\nbackup * ro\n";
        let Grants(all) = Grants::parse(text).unwrap();
        let web: Vec<Grant> = all.iter().filter(|grant| grant.client == "web").cloned().collect();
        assert_eq!(may_use(&web, "r0", 0), Some(May::ReadAndWrite));
        assert_eq!(may_use(&web, "r0", 1), Some(May::Read));
        assert_eq!(may_use(&web, "r1", 0), Some(May::Read));
        assert_eq!(may_use(&web[..1], "r0", 1), None);
        assert_eq!(may_use(&web[..1], "r1", 0), None);
        assert_eq!(may_use(&[], "r0", 0), None);
    }

    #[test]
    fn wrong_line_is_named() {
        for (text, number) in [("a b", 1), ("\na r0 rx", 2), ("a r0 ro\na r0 rw now", 2)] {
            let reason = Grants::parse(text).unwrap_err();
            assert!(reason.starts_with(&format!("line {number} is not")), "{reason}");
        }
        let many = "a r0 ro\n".repeat(GRANTS_MAX + 1);
        assert!(Grants::parse(&many).unwrap_err().contains("1025"));
    }
}
