//! Which hosts may use which resource, and the secrets that they prove themselves with.
//!
//! ```text
//! # host          resource   its secret       this node's, if the host asks for a proof
//! nqn.2014-08...  r0         DHHC-1:01:...:   DHHC-1:01:...:
//! nqn.2014-08...  *          DHHC-1:01:...:
//! ```
//!
//! A host that has no line for a resource may not connect to it. Where several lines fit, the first
//! one counts.

use std::sync::{Arc, mpsc};

use frontend::nvme::auth::Task;
use frontend::nvme::auth::proof::Parties;
use frontend::nvme::auth::secret::Secret;
use frontend::nvme::wire::SUBSYSTEM_NQN_PREFIX;

use crate::limits::NVME_HOSTS_MAX;
use crate::slab::Key;

/// What the front end has to check hosts with.
#[derive(Debug)]
pub struct HostCheck {
    pub hosts: Arc<Hosts>,
    /// Who does what takes long.
    pub prover: mpsc::Sender<Job>,
}

/// The work of a queue's exchange.
#[derive(Debug)]
pub struct Job {
    pub shard: u8,
    pub queue: Key,
    pub task: Task,
    /// It counts for as long as it is there.
    pub count: Arc<()>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Hosts(Vec<Line>);

#[derive(Debug, PartialEq, Eq)]
struct Line {
    host: String,
    resource: String,
    secret: Secret,
    controller_secret: Option<Secret>,
}

impl Hosts {
    /// What is wrong names the line, and nothing of what stands there.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            let (host, resource, secret, controller_secret) = match words[..] {
                [] => continue,
                [host, resource, secret] => (host, resource, secret, None),
                [host, resource, secret, other] => (host, resource, secret, Some(other)),
                _ => {
                    let form = "HOST-NQN RESOURCE SECRET, and perhaps a second secret";
                    return Err(format!("line {number} is not {form}"));
                }
            };
            if lines.len() == NVME_HOSTS_MAX {
                return Err(format!(
                    "line {number} is one more than the {NVME_HOSTS_MAX} that count"
                ));
            }
            let read = |text: &str, which: &str| {
                Secret::parse(text)
                    .map_err(|error| format!("the {which} secret of line {number}: {error}"))
            };
            lines.push(Line {
                host: host.to_owned(),
                resource: resource.to_owned(),
                secret: read(secret, "first")?,
                controller_secret: controller_secret.map(|it| read(it, "second")).transpose()?,
            });
        }
        Ok(Self(lines))
    }

    fn line(&self, host: &str, resource: &str) -> Option<&Line> {
        let fits =
            |line: &&Line| line.host == host && (line.resource == "*" || line.resource == resource);
        self.0.iter().find(fits)
    }

    pub(crate) fn may_use(&self, host: &str, resource: &str) -> bool {
        self.line(host, resource).is_some()
    }

    /// What a host has to prove before it uses a resource; none if it may not.
    pub(crate) fn parties(&self, host: &str, resource: &str) -> Option<Arc<Parties>> {
        let line = self.line(host, resource)?;
        Some(Arc::new(Parties {
            host: host.to_owned(),
            subsystem: format!("{SUBSYSTEM_NQN_PREFIX}{resource}"),
            host_secret: line.secret.clone(),
            controller_secret: line.controller_secret.clone(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";

    #[test]
    fn first_line_that_fits_counts_and_no_line_is_no_access() {
        let text = format!("# who\nweb r0 {SECRET} {SECRET} # both\n\nweb * {SECRET}\n");
        let hosts = Hosts::parse(&text).unwrap();
        let both = hosts.parties("web", "r0").unwrap();
        assert!(both.controller_secret.is_some());
        assert_eq!(both.subsystem, "nqn.2026-01.local.basalt:r0");
        assert!(hosts.parties("web", "r1").unwrap().controller_secret.is_none());
        assert!(hosts.may_use("web", "r1") && !hosts.may_use("we", "r1"));
        assert!(hosts.parties("other", "r0").is_none());
    }

    #[test]
    fn wrong_line_is_named_and_not_shown() {
        let wrong = [
            ("a r0".to_owned(), "line 1 is not"),
            (format!("\na r0 {SECRET} {SECRET} more"), "line 2 is not"),
            ("a r0 hush".to_owned(), "the first secret of line 1"),
            (format!("a r0 {SECRET} hush"), "the second secret of line 1"),
            (format!("a r0 {SECRET}\n").repeat(NVME_HOSTS_MAX + 1), "line 1025 is one more"),
        ];
        for (text, start) in wrong {
            let reason = Hosts::parse(&text).unwrap_err();
            assert!(reason.starts_with(start), "{reason}");
            assert!(!reason.contains("hush"), "{reason}");
        }
    }
}
