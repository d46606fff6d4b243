//! Secrets as operators write them, `DHHC-1:HH:BASE64:`, which `nvme gen-dhchap-key` makes.
//!
//! ```text
//! HH        00: the key itself; 01, 02, 03: the key is mixed with the name of its owner
//! BASE64    the key (32, 48 or 64), and its CRC-32 in little-endian order
//! ```

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crc_fast::crc32_iso_hdlc;
use ring::{digest, hmac};

/// As the protocol numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    Sha256 = 1,
    Sha384 = 2,
    Sha512 = 3,
}

impl Hash {
    /// The one that is taken first.
    pub const PREFERRED: [Self; 3] = [Self::Sha512, Self::Sha384, Self::Sha256];

    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        Self::PREFERRED.into_iter().find(|hash| hash.number() == number)
    }

    #[must_use]
    pub fn length(self) -> usize {
        self.algorithm().output_len()
    }

    pub(super) fn algorithm(self) -> &'static digest::Algorithm {
        match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        }
    }

    pub(super) fn key(self, bytes: &[u8]) -> hmac::Key {
        let algorithm = match self {
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha384 => hmac::HMAC_SHA384,
            Self::Sha512 => hmac::HMAC_SHA512,
        };
        hmac::Key::new(algorithm, bytes)
    }
}

/// A key that is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    mixed_by: Option<Hash>,
    key: Vec<u8>,
}

/// Why a text is no secret. It does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error("it is not of the form `DHHC-1:HH:BASE64:`, as `nvme gen-dhchap-key` makes it")]
    Form,
    #[error("after `DHHC-1:` comes none of 00, 01, 02 and 03")]
    Hash,
    #[error("its key has neither 32 nor 48 nor 64 bytes")]
    Length,
    #[error("its checksum is wrong: it was not copied whole, or a letter changed")]
    Checksum,
}

impl Secret {
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let rest = text.strip_prefix("DHHC-1:").and_then(|rest| rest.strip_suffix(':'));
        let (hash, key) = rest.and_then(|rest| rest.split_once(':')).ok_or(SecretError::Form)?;
        let mixed_by = match hash {
            "00" => None,
            "01" => Some(Hash::Sha256),
            "02" => Some(Hash::Sha384),
            "03" => Some(Hash::Sha512),
            _ => return Err(SecretError::Hash),
        };
        let mut key = STANDARD.decode(key).map_err(|_no_base64| SecretError::Form)?;
        if !matches!(key.len(), 36 | 52 | 68) {
            return Err(SecretError::Length);
        }
        let stated = key.split_off(key.len() - 4);
        if crc32_iso_hdlc(&key).to_le_bytes() != stated[..] {
            return Err(SecretError::Checksum);
        }
        Ok(Self { mixed_by, key })
    }

    /// The key that the owner of this name proves itself with.
    pub(super) fn key_of(&self, owner: &str) -> Vec<u8> {
        let Some(hash) = self.mixed_by else { return self.key.clone() };
        let text = [owner.as_bytes(), b"NVMe-over-Fabrics"].concat();
        hmac::sign(&hash.key(&self.key), &text).as_ref().to_vec()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(a secret)")
    }
}
