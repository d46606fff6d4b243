//! Responses to challenges: what proves that somebody knows a secret.
//!
//! ```text
//! response   HMAC of the following, with the secret's key
//!            challenge, sequence number (4), transaction (2), 0,
//!            "HostHost",   name of the host, 0, name of the subsystem      a host's
//!            "Controller", name of the subsystem, 0, name of the host      a controller's
//! challenge  as it was sent; with a shared key: HMAC of it, with the hash of the shared key
//! ```

use ring::{digest, hmac};

use crate::nvme::auth::secret::{Hash, Secret};

/// Who proves what to whom. The same secrets hold for all queues of a host at a subsystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parties {
    pub host: String,
    pub subsystem: String,
    pub host_secret: Secret,
    /// With it the controller can prove itself, too.
    pub controller_secret: Option<Secret>,
}

/// What a response answers.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub hash: Hash,
    pub transaction: u16,
    pub sequence: u32,
    pub challenge: &'a [u8],
    /// None in the null group.
    pub shared_key: Option<&'a [u8]>,
}

impl Parties {
    /// Takes as long for a wrong response as for the right one.
    #[must_use]
    pub fn is_right(&self, question: &Question<'_>, response: &[u8]) -> bool {
        let key = question.hash.key(&self.host_secret.key_of(&self.host));
        let text = question.spoken(b"HostHost", &self.host, &self.subsystem);
        hmac::verify(&key, &text, response).is_ok()
    }

    /// The controller's response, if it has a secret.
    #[must_use]
    pub fn respond(&self, question: &Question<'_>) -> Option<Vec<u8>> {
        let secret = self.controller_secret.as_ref()?;
        let key = question.hash.key(&secret.key_of(&self.subsystem));
        let text = question.spoken(b"Controller", &self.subsystem, &self.host);
        Some(hmac::sign(&key, &text).as_ref().to_vec())
    }
}

impl Question<'_> {
    fn spoken(&self, role: &[u8], speaker: &str, listener: &str) -> Vec<u8> {
        let mut text = match self.shared_key {
            None => self.challenge.to_vec(),
            Some(key) => {
                let key = digest::digest(self.hash.algorithm(), key);
                hmac::sign(&self.hash.key(key.as_ref()), self.challenge).as_ref().to_vec()
            }
        };
        text.extend_from_slice(&self.sequence.to_le_bytes());
        text.extend_from_slice(&self.transaction.to_le_bytes());
        // No secure channel is to follow.
        text.push(0);
        text.extend_from_slice(role);
        text.extend_from_slice(speaker.as_bytes());
        text.push(0);
        text.extend_from_slice(listener.as_bytes());
        text
    }
}
