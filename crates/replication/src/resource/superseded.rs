//! A leader that another session replaced hears of it from whoever knows: from a single voter, too,
//! where it reaches no quorum that could tell it (PROTOCOL.md 7b.4).

use std::collections::VecDeque;

use format::config::Config;
use format::ids::{NodeId, Nonce};
use format::message::{Accepted, Control};

use crate::resource::Resource;

const KNOWN_MAX: usize = 8;

/// Sessions that led by a chosen value, before another one was chosen on the same branch. The
/// newest is the last.
#[derive(Debug, Default)]
pub(crate) struct Superseded {
    sessions: VecDeque<Nonce>,
}

fn session_of(value: &Config) -> Option<Nonce> {
    value.primary.map(|primary| primary.nonce)
}

impl Resource {
    /// `newer` takes the place of the value that was known to be chosen.
    pub(crate) fn note_superseded(&mut self, newer: &Config) {
        let known = self.chosen.as_ref().map(|known| &known.value);
        let before = known.filter(|known| known.branch == newer.branch).and_then(session_of);
        let Some(before) = before.filter(|&before| session_of(newer) != Some(before)) else {
            return;
        };
        let sessions = &mut self.superseded.sessions;
        if sessions.len() == KNOWN_MAX {
            sessions.pop_front();
        }
        sessions.push_back(before);
    }

    /// Tells a peer the chosen value, if that is of a later session than the one that it leads for
    /// all it knows; true if so. Nothing it asks for in the name of that one can come to anything.
    pub(crate) fn tell_superseded(&mut self, peer: NodeId, session: Nonce) -> bool {
        let Some(Accepted { ballot, value }) = &self.chosen else { return false };
        if peer == self.me() || session_of(value) == Some(session) {
            return false;
        }
        // What its own voter accepted from that session, a later value of the branch follows.
        let theirs = self.peers.get(&peer).and_then(|peer| peer.accepted.as_ref());
        let is_passed = theirs.is_some_and(|theirs| {
            let theirs = &theirs.value;
            session_of(theirs) == Some(session)
                && theirs.branch == value.branch
                && theirs.epoch < value.epoch
        });
        if !is_passed && !self.superseded.sessions.contains(&session) {
            return false;
        }
        let chosen = Control::Chosen { ballot: *ballot, value: value.clone() };
        self.send(peer, chosen);
        true
    }
}
