//! What a verb is about: `all`, `RES`, `RES/VOL`, `RES:PEER`, `RES:PEER/VOL`. `minor-N` is named
//! by the configuration before it comes here: see `minors`.

use config::host_name::{is_same_host, meant};
use config::limits::VOLUME_MAX;

use crate::adm::failure::AdmError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    All,
    One(One),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct One {
    pub(crate) resource: String,
    pub(crate) volume: Option<u16>,
    pub(crate) peer: Option<String>,
}

impl One {
    /// A resource as a whole.
    pub(crate) fn whole(resource: &str) -> Self {
        Self { resource: resource.to_owned(), volume: None, peer: None }
    }

    /// Whether the peer of this name is named, or none is.
    pub(crate) fn means_peer(&self, name: &str) -> bool {
        self.peer.as_deref().is_none_or(|wanted| is_same_host(wanted, name))
    }

    /// The name that is said for a peer, if none of these is meant.
    pub(crate) fn unknown_peer<'n>(
        &self,
        peers: impl IntoIterator<Item = &'n str>,
    ) -> Result<Option<&str>, AdmError> {
        let Some(peer) = self.peer.as_deref() else { return Ok(None) };
        Ok(if is_peer(peer, peers)? { None } else { Some(peer) })
    }
}

/// Whether the name means one of these peers, and only one.
pub(crate) fn is_peer<'n>(
    name: &str,
    peers: impl IntoIterator<Item = &'n str>,
) -> Result<bool, AdmError> {
    let found = meant(name, peers, |peer| [*peer]);
    found.map(|peer| peer.is_some()).map_err(|ambiguous| {
        let hint = format!("the whole name: {} or {}", ambiguous.first, ambiguous.second);
        AdmError::configuration(ambiguous.to_string(), hint)
    })
}

/// Which parts of a target a verb understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Resource,
    /// Also `RES/VOL`; as a resource has a single volume, this only checks its number.
    Volume,
    /// Also `RES:PEER`.
    Connection,
    /// All of these, and `RES:PEER/VOL`.
    PeerDevice,
}

impl Scope {
    fn has_volumes(self) -> bool {
        matches!(self, Self::Volume | Self::PeerDevice)
    }

    fn has_peers(self) -> bool {
        matches!(self, Self::Connection | Self::PeerDevice)
    }
}

/// Reads the targets of a verb; none at all means `all`.
pub(crate) fn parse_targets(words: &[String], scope: Scope) -> Result<Vec<Target>, AdmError> {
    if words.is_empty() {
        return Ok(vec![Target::All]);
    }
    words.iter().map(|word| parse_target(word, scope)).collect()
}

fn parse_target(word: &str, scope: Scope) -> Result<Target, AdmError> {
    let usage = |problem: &str| AdmError::Usage(format!("target `{word}`: {problem}"));
    if word == "all" {
        return Ok(Target::All);
    }
    let (word_without_volume, volume) = match word.split_once('/') {
        Some((before, volume)) => (before, Some(volume)),
        None => (word, None),
    };
    let (resource, peer) = match word_without_volume.split_once(':') {
        Some((resource, peer)) => (resource, Some(peer)),
        None => (word_without_volume, None),
    };
    if resource.is_empty() {
        return Err(usage("the name of the resource is missing"));
    }
    if volume.is_some() && !scope.has_volumes() {
        return Err(usage("this verb is about the whole resource, not about one volume"));
    }
    let volume = match volume.map(str::parse::<u16>) {
        None => None,
        Some(Ok(volume)) => Some(volume),
        Some(Err(_)) => {
            let problem = format!("a volume number must follow the `/`, from 0 to {VOLUME_MAX}");
            return Err(usage(&problem));
        }
    };
    if peer.is_some() && !scope.has_peers() {
        return Err(usage("this verb takes no peer; leave out the `:` and what follows"));
    }
    if peer == Some("") {
        return Err(usage("the name of the peer is missing after the `:`"));
    }
    Ok(Target::One(One { resource: resource.to_owned(), volume, peer: peer.map(str::to_owned) }))
}

/// The only resource that the words name, for what is complained of.
pub(crate) fn sole_name(words: &[String]) -> Option<&str> {
    match words {
        [word] if word != "all" => Some(word),
        _ => None,
    }
}

/// The names to ask a status of: none for all.
pub(crate) fn names(targets: &[Target]) -> Vec<String> {
    let mut names = Vec::new();
    for target in targets {
        match target {
            Target::All => return Vec::new(),
            Target::One(one) if names.contains(&one.resource) => {}
            Target::One(one) => names.push(one.resource.clone()),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(resource: &str, volume: Option<u16>, peer: Option<&str>) -> Target {
        Target::One(One { resource: resource.to_owned(), volume, peer: peer.map(str::to_owned) })
    }

    #[test]
    fn every_form_of_target_is_read() {
        let parse = |word: &str, scope| parse_targets(&[word.to_owned()], scope).unwrap().remove(0);
        assert_eq!(parse("all", Scope::Resource), Target::All);
        assert_eq!(parse("r0", Scope::Resource), one("r0", None, None));
        assert_eq!(parse("r0/1", Scope::Volume), one("r0", Some(1), None));
        assert_eq!(parse("r0:bob", Scope::Connection), one("r0", None, Some("bob")));
        assert_eq!(parse("r0:bob/1", Scope::PeerDevice), one("r0", Some(1), Some("bob")));
        assert_eq!(parse_targets(&[], Scope::Resource).unwrap(), [Target::All]);
    }

    #[test]
    fn wrong_targets_are_refused_with_the_reason() {
        for (word, scope, part) in [
            ("r0:bob/0", Scope::Connection, "whole resource"),
            ("r0:bob/0", Scope::Volume, "takes no peer"),
            ("/0", Scope::Volume, "resource is missing"),
            ("r0/x", Scope::Volume, "volume number"),
            ("r0/0", Scope::Resource, "whole resource"),
            ("r0:bob", Scope::Resource, "takes no peer"),
            ("r0:", Scope::Connection, "peer is missing"),
        ] {
            let error = parse_targets(&[word.to_owned()], scope).unwrap_err().to_string();
            assert!(error.contains(part), "{word}: {error}");
        }
    }
}
