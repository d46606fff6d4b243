//! Proof that both ends of a resource's session know its secret (`cram-hmac-alg`, `shared-secret`).
//!
//! ```text
//! CHALLENGE -->    <-- CHALLENGE      once per connection, each 128 random bits
//! PROOF OPEN -->   <-- PROOF OPEN     for each resource that has a secret
//! ```
//!
//! A proof is an HMAC, with the secret as its key, of who says it to whom, of the resource, of the
//! OPEN that it belongs to, and of both challenges ([`spoken`]). So it is good for one OPEN of one
//! connection in one direction: recorded, or sent back to where it came from, it proves nothing.
//! The secret itself is never sent.
//!
//! It tells a peer from a stranger when they meet, and no more: whoever can change what is on its
//! way between two nodes can speak for either afterwards, and can read all of it. TLS ends that.
//!
//! Nothing is believed without its proof where there is a secret, and a proof where there is none
//! is refused too: both nodes would else not agree on what is safe.

use format::ids::{NodeId, ResourceId};
use format::message::{CloseReason, FEATURE_PROOF, LinkMessage, Open, Proof, ProofAlgorithm};
use ring::hmac;

use crate::definition::link::SharedSecret;
use crate::hosted_id::HostedId;
use crate::links::away::{Away, Unproved};
use crate::links::session::{NoProof, Session};
use crate::links::{Fact, Link, Links, Way};
use crate::log::{Scope, log};

/// What a connection knows of proofs.
#[derive(Debug, Default)]
pub(super) struct Proving {
    /// What the peer has to prove itself with; `None` of a peer that knows of no proofs.
    ours: Option<u128>,
    theirs: Option<u128>,
    /// Of the OPEN that comes next.
    presented: Option<Proof>,
}

/// The OPEN that is proved, and over which connection.
#[derive(Clone, Copy, Debug)]
struct Claim {
    sender: NodeId,
    receiver: NodeId,
    resource: ResourceId,
    handle: u32,
    challenge_of_receiver: u128,
    challenge_of_sender: u128,
}

/// What a proof is the HMAC of.
fn spoken(claim: &Claim) -> Vec<u8> {
    let mut text = b"basalt proof of a shared secret\0".to_vec();
    text.extend_from_slice(&[claim.sender.get(), claim.receiver.get()]);
    text.extend_from_slice(&claim.resource.0.to_le_bytes());
    text.extend_from_slice(&claim.handle.to_le_bytes());
    text.extend_from_slice(&claim.challenge_of_receiver.to_le_bytes());
    text.extend_from_slice(&claim.challenge_of_sender.to_le_bytes());
    text
}

impl SharedSecret {
    fn key(&self) -> hmac::Key {
        let algorithm = match self.algorithm {
            ProofAlgorithm::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            ProofAlgorithm::Sha256 => hmac::HMAC_SHA256,
            ProofAlgorithm::Sha384 => hmac::HMAC_SHA384,
            ProofAlgorithm::Sha512 => hmac::HMAC_SHA512,
        };
        hmac::Key::new(algorithm, self.secret.as_bytes())
    }

    fn prove(&self, claim: &Claim) -> Proof {
        let code = hmac::sign(&self.key(), &spoken(claim)).as_ref().to_vec();
        Proof { handle: claim.handle, algorithm: self.algorithm, code }
    }

    /// Takes as long for a wrong code as for the right one.
    fn check(&self, claim: &Claim, proof: &Proof) -> Result<(), CloseReason> {
        if proof.algorithm != self.algorithm {
            return Err(CloseReason::ProofAlgorithmDiffers);
        }
        let found = hmac::verify(&self.key(), &spoken(claim), &proof.code);
        found.or(Err(CloseReason::ProofWrong))
    }
}

impl Link {
    /// A connection with this shard of the peer is up: both sides say what they want proved.
    pub(super) fn begin_proofs(&mut self, shard: u8, features: u64) {
        let knows_of_proofs = features & FEATURE_PROOF != 0;
        let challenge = knows_of_proofs.then(io::random_u128);
        self.pipe_mut(shard).proving = Proving { ours: challenge, ..Proving::default() };
        if let Some(challenge) = challenge {
            self.push(shard, LinkMessage::Challenge { challenge });
        }
    }

    /// The proof that goes with our OPEN of this handle, where one is needed.
    pub(super) fn prove(&self, place: usize, handle: u32) -> Result<Option<Proof>, NoProof> {
        let session = &self.sessions[place];
        let Some(secret) = &session.secret else { return Ok(None) };
        let home = usize::from(session.home_at(self));
        let proving = self.pipes.get(home).map(|pipe| &pipe.proving).ok_or(NoProof::Waits)?;
        let ours = proving.ours.ok_or(NoProof::Unknown)?;
        let theirs = proving.theirs.ok_or(NoProof::Waits)?;
        Ok(Some(secret.prove(&Claim {
            sender: session.me,
            receiver: session.peer,
            resource: session.resource,
            handle,
            challenge_of_receiver: theirs,
            challenge_of_sender: ours,
        })))
    }

    /// Whether the peer that sent `open` knows what it has to know; if not, what it is told.
    pub(super) fn check_proof(
        &mut self,
        place: usize,
        shard: u8,
        open: &Open,
    ) -> Option<CloseReason> {
        let set = self.set;
        let proving = &mut self.pipe_mut(shard).proving;
        let presented = proving.presented.take().filter(|proof| proof.handle == open.handle);
        let (ours, theirs) = (proving.ours, proving.theirs);
        let session = &mut self.sessions[place];
        let Err(reason) = session.judge(open, presented.as_ref(), set, (ours, theirs)) else {
            session.proved = session.secret.as_ref().map(|_| (set, open.handle));
            session.turned_away = None;
            return None;
        };
        self.turn_away(place, if ours.is_none() { Unproved::Release } else { unproved(reason) });
        // An older peer knows no better word for it.
        Some(if ours.is_none() { CloseReason::Down } else { reason })
    }

    /// Says why the peer is refused, once.
    pub(super) fn turn_away(&mut self, place: usize, why: Unproved) {
        let session = &mut self.sessions[place];
        if session.turned_away.replace(why) != Some(why) {
            let scope = Scope { resource: &session.resource_name, peer: &self.name };
            log!(Error, scope, "{why}");
        }
    }
}

impl Session {
    fn judge(
        &self,
        open: &Open,
        presented: Option<&Proof>,
        set: u64,
        (ours, theirs): (Option<u128>, Option<u128>),
    ) -> Result<(), CloseReason> {
        let (secret, proof) = match (&self.secret, presented) {
            (None, None) => return Ok(()),
            (None, Some(_)) => return Err(CloseReason::ProofUnexpected),
            (Some(_), None) => return Err(CloseReason::ProofMissing),
            (Some(secret), Some(proof)) => (secret, proof),
        };
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            return Err(CloseReason::ProofMissing);
        };
        // Handles count up over a connection: what comes again was heard by somebody else.
        if self.proved.is_some_and(|(then, last)| then == set && open.handle <= last) {
            return Err(CloseReason::ProofWrong);
        }
        secret.check(
            &Claim {
                sender: open.sender,
                receiver: open.receiver,
                resource: open.resource,
                handle: open.handle,
                challenge_of_receiver: ours,
                challenge_of_sender: theirs,
            },
            proof,
        )
    }
}

impl Links {
    pub(super) fn on_challenge(&mut self, way: Way, challenge: u128) -> Result<(), Away> {
        let link = &mut self.links[way.link];
        let proving = &mut link.pipe_mut(way.shard).proving;
        if proving.theirs.replace(challenge).is_some() {
            return Err(Away::out_of_turn("it sent a second challenge"));
        }
        if !link.is_up {
            return Ok(());
        }
        let waits = |it: &&Session| it.secret.is_some() && it.home_at(link) == way.shard;
        for session in link.sessions.iter().filter(waits) {
            let (hosted, peer) = (session.hosted, session.peer);
            self.facts.push_back(Fact::OpenDue { hosted, peer });
        }
        Ok(())
    }

    pub(super) fn on_proof(&mut self, way: Way, proof: Proof) {
        self.links[way.link].pipe_mut(way.shard).proving.presented = Some(proof);
    }

    /// What is asked of this member from now on. A session that is up stays up.
    pub(crate) fn set_secret(
        &mut self,
        hosted: HostedId,
        peer: NodeId,
        secret: Option<&SharedSecret>,
    ) {
        let sessions = self.links.iter_mut().flat_map(|link| &mut link.sessions);
        let mut changed = sessions.filter(|session| {
            session.hosted == hosted && session.peer == peer && session.secret.as_ref() != secret
        });
        if let Some(session) = changed.next() {
            session.secret = secret.cloned();
            session.turned_away = None;
            self.facts.push_back(Fact::OpenDue { hosted, peer });
        }
    }
}

/// At the node that refuses.
fn unproved(reason: CloseReason) -> Unproved {
    match reason {
        CloseReason::ProofMissing => Unproved::NoSecret,
        CloseReason::ProofUnexpected => Unproved::HasSecret,
        CloseReason::ProofAlgorithmDiffers => Unproved::Algorithm,
        CloseReason::ProofWrong
        | CloseReason::UnknownResource
        | CloseReason::NodeIdMismatch
        | CloseReason::UnrelatedData
        | CloseReason::SizeTooSmall
        | CloseReason::Down => Unproved::Secret,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(algorithm: &str, text: &str) -> SharedSecret {
        let text = format!(
            "resource r0 {{ net {{ cram-hmac-alg {algorithm}; shared-secret \"{text}\"; }}
            on a {{ node-id 0; address 127.0.0.1:1; volume 0 {{ disk /a; meta-disk internal; }} }}
            on b {{ node-id 1; address 127.0.0.1:2; volume 0 {{ disk /b; meta-disk internal; }} }}
            connection-mesh {{ hosts a b; }} }}"
        );
        let definition = crate::definition::Definition::from_text("a", "r0", &text).unwrap();
        definition.peers().next().and_then(|peer| peer.secret.clone()).unwrap()
    }

    fn claim() -> Claim {
        Claim {
            sender: NodeId::new(0).unwrap(),
            receiver: NodeId::new(1).unwrap(),
            resource: ResourceId(0x11),
            handle: 0x22,
            challenge_of_receiver: 0x33,
            challenge_of_sender: 0x44,
        }
    }

    const WRONG: Result<(), CloseReason> = Err(CloseReason::ProofWrong);

    /// Two versions of the program have to make the same.
    #[test]
    fn proof_is_the_hmac_of_the_documented_bytes() {
        let proof = secret("sha256", "hush").prove(&claim());
        let hex: String = proof.code.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "f3395e1c7354ad46b7590a1524583ebf2475a39c253f4c7a1eb7bdca0cd02f0f");
        let proof = secret("sha1", "hush").prove(&claim());
        let hex: String = proof.code.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "899bffc12b811a77a9010ccee350281e66410dec");
    }

    #[test]
    fn proof_is_good_for_one_open_in_one_direction() {
        for (algorithm, bytes) in [("sha1", 20), ("sha256", 32), ("sha384", 48), ("sha512", 64)] {
            let secret = secret(algorithm, "hush");
            let proof = secret.prove(&claim());
            assert_eq!(proof.code.len(), bytes);
            assert_eq!(secret.check(&claim(), &proof), Ok(()));
            let reflected = Claim {
                sender: claim().receiver,
                receiver: claim().sender,
                challenge_of_receiver: claim().challenge_of_sender,
                challenge_of_sender: claim().challenge_of_receiver,
                ..claim()
            };
            let others = [
                reflected,
                Claim { sender: claim().receiver, receiver: claim().sender, ..claim() },
                Claim { resource: ResourceId(0x12), ..claim() },
                Claim { handle: 0x23, ..claim() },
                Claim { challenge_of_receiver: 0x34, ..claim() },
                Claim { challenge_of_sender: 0x45, ..claim() },
            ];
            for other in others {
                assert_eq!(secret.check(&other, &proof), WRONG, "{other:?}");
            }
        }
    }

    #[test]
    fn another_secret_code_or_digest_is_refused() {
        let own = secret("sha256", "hush");
        let proof = own.prove(&claim());
        assert_eq!(secret("sha256", "hush ").check(&claim(), &proof), WRONG);
        let differs = Err(CloseReason::ProofAlgorithmDiffers);
        assert_eq!(secret("sha1", "hush").check(&claim(), &proof), differs);
        for length in 0..proof.code.len() {
            let code = proof.code[..length].to_vec();
            assert_eq!(own.check(&claim(), &Proof { code, ..proof.clone() }), WRONG);
        }
        let mut longer = proof.clone();
        longer.code.push(0);
        assert_eq!(own.check(&claim(), &longer), WRONG);
        for place in 0..proof.code.len() {
            let mut damaged = proof.clone();
            damaged.code[place] ^= 1;
            assert_eq!(own.check(&claim(), &damaged), WRONG);
        }
    }

    #[test]
    fn secret_is_not_in_what_is_printed() {
        let printed = format!("{:?}", secret("sha512", "hushhush"));
        assert!(!printed.contains("hushhush"), "{printed}");
    }
}
