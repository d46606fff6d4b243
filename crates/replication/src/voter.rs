//! One voter's part of the config register, and the leases it grants.
//!
//! The register is a compare-and-swap over a majority, without a log. A lease is a promise to
//! refuse PREPARE of strangers for a while: it makes local reads safe, and no write depends on it.

use std::time::Duration;

use format::config::{Config, Purpose};
use format::ids::{Ballot, NodeId, Nonce};
use format::message::Accepted;
use format::metadata::Register;
use stdx::time::Time;

use crate::limits;

#[derive(Debug)]
pub(crate) struct Voter {
    pub(crate) register: Register,
    lease: Option<Lease>,
    /// A voter that restarted may have granted a lease that it forgot; one that accepted a session
    /// of clients is about to grant its first.
    hold_off_until: Time,
    /// Its register takes no write: it cannot keep its word, and gives none.
    pub(crate) is_mute: bool,
}

#[derive(Clone, Copy, Debug)]
struct Lease {
    nonce: Nonce,
    holder: NodeId,
    until: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A higher or equal ballot was promised.
    Promised,
    /// Another session may still answer reads.
    LeaseHeld,
}

impl Voter {
    /// Where the session was led by this very node, its process is known to be dead.
    pub(crate) fn new(register: Register, me: NodeId, started_at: Time) -> Self {
        let primary = register.accepted.as_ref().and_then(|(_, config)| config.primary);
        let hold_off_until = match primary {
            Some(primary) if primary.node != me && primary.purpose == Purpose::Clients => {
                started_at + limits::VOTER_HOLD_OFF
            }
            Some(_) | None => Time::ZERO,
        };
        Self { register, lease: None, hold_off_until, is_mute: false }
    }

    pub(crate) fn accepted(&self) -> Option<Accepted> {
        let (ballot, value) = self.register.accepted.as_ref()?;
        Some(Accepted { ballot: *ballot, value: value.clone() })
    }

    /// Promises to refuse smaller ballots; to be made durable before it is answered.
    pub(crate) fn prepare(
        &mut self,
        now: Time,
        ballot: Ballot,
        nonce: Nonce,
    ) -> Result<(), Refusal> {
        if self.is_leased_to_another(now, nonce) {
            return Err(Refusal::LeaseHeld);
        }
        if ballot <= self.register.promised {
            return Err(Refusal::Promised);
        }
        self.register.promised = ballot;
        self.register.promised_nonce = nonce;
        Ok(())
    }

    pub(crate) fn accept(
        &mut self,
        now: Time,
        ballot: Ballot,
        nonce: Nonce,
        value: Config,
    ) -> Result<(), Refusal> {
        if self.is_leased_to_another(now, nonce) {
            return Err(Refusal::LeaseHeld);
        }
        if ballot < self.register.promised {
            return Err(Refusal::Promised);
        }
        self.register.promised = ballot;
        self.register.promised_nonce = nonce;
        // Who comes between a session and its first lease would end it under its clients.
        let serves = value.primary.filter(|primary| primary.purpose == Purpose::Clients);
        if serves.is_some_and(|primary| primary.nonce == nonce) {
            self.hold_off_until = self.hold_off_until.max(now + limits::VOTER_HOLD_OFF);
        }
        self.register.accepted = Some((ballot, value));
        Ok(())
    }

    /// Takes over a value that is known to be chosen. True if the register changed.
    pub(crate) fn learn(&mut self, ballot: Ballot, value: &Config) -> bool {
        let known = self.register.accepted.as_ref().map_or_else(Ballot::default, |known| known.0);
        if ballot < self.register.promised || ballot <= known {
            return false;
        }
        self.register.promised = ballot;
        self.register.promised_nonce = value.primary.map_or(Nonce(0), |primary| primary.nonce);
        self.register.accepted = Some((ballot, value.clone()));
        true
    }

    /// Grants a lease only to the session of the accepted value, and only while nothing is
    /// promised to another (I24).
    pub(crate) fn grant(
        &mut self,
        now: Time,
        holder: NodeId,
        nonce: Nonce,
        length: Duration,
    ) -> bool {
        let accepted = self.register.accepted.as_ref().and_then(|(_, value)| value.primary);
        let is_session = accepted.is_some_and(|primary| primary.nonce == nonce);
        if !is_session || self.register.promised_nonce != nonce || length > limits::LEASE_MAX {
            return false;
        }
        if self.is_mute {
            return false;
        }
        let margin = length * limits::LEASE_DRIFT_PERCENT / 100 + limits::LEASE_MARGIN;
        self.lease = Some(Lease { nonce, holder, until: now + length + margin });
        true
    }

    /// The session of `nonce` is over, as its leader says.
    pub(crate) fn release(&mut self, nonce: Nonce) {
        let accepted = self.register.accepted.as_ref().and_then(|(_, value)| value.primary);
        if accepted.is_some_and(|primary| primary.nonce == nonce) {
            self.hold_off_until = Time::ZERO;
        }
        if self.lease.is_some_and(|lease| lease.nonce == nonce) {
            self.lease = None;
        }
    }

    /// The node says which session it leads now: a lease of an older process of it is void, for a
    /// nonce is never used again.
    pub(crate) fn on_session_of(&mut self, node: NodeId, session: Option<Nonce>) {
        if self.lease.is_some_and(|lease| lease.holder == node && Some(lease.nonce) != session) {
            self.lease = None;
        }
        let accepted = self.register.accepted.as_ref().and_then(|(_, value)| value.primary);
        if accepted.is_some_and(|primary| primary.node == node && Some(primary.nonce) != session) {
            self.hold_off_until = Time::ZERO;
        }
    }

    fn is_leased_to_another(&self, now: Time, nonce: Nonce) -> bool {
        if self.lease.is_some_and(|lease| lease.nonce != nonce && now < lease.until) {
            return true;
        }
        let accepted = self.register.accepted.as_ref().and_then(|(_, value)| value.primary);
        now < self.hold_off_until && accepted.is_some_and(|primary| primary.nonce != nonce)
    }
}
