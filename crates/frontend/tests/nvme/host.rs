//! The host's side of DH-HMAC-CHAP, as messages.

use frontend::nvme::auth::group::Group;
use frontend::nvme::wire::{le16, le32, put16, put32};
use ring::{digest, hmac};

pub(crate) const HOST: &str =
    "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555";
pub(crate) const SUBSYSTEM: &str = "nqn.2026-01.local.basalt:r0";
/// The bytes from 0 on, mixed with the name by SHA-256; and those from 100 on, by SHA-384.
pub(crate) const HOST_SECRET: &str = "DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";
pub(crate) const CONTROLLER_SECRET: &str =
    "DHHC-1:02:ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoOEhYaHiImKi4yNjo+QkZKTvGwQfg==:";

const EXPONENT: [u8; 48] = [0x5a; 48];

/// One that knows both secrets.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) hashes: Vec<u8>,
    pub(crate) groups: Vec<u8>,
    pub(crate) transaction: u16,
    pub(crate) host_key: Vec<u8>,
    pub(crate) controller_key: Vec<u8>,
    /// The controller is to prove itself, too.
    pub(crate) is_mutual: bool,
    /// What this end asked, and what has to come back.
    pub(crate) expected: Vec<u8>,
}

impl Host {
    pub(crate) fn new() -> Self {
        let bytes = |from: u8, count: u8| (from..from + count).collect::<Vec<_>>();
        let mixed = |name: &str| [name.as_bytes(), b"NVMe-over-Fabrics"].concat();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes(0, 32));
        let host_key = hmac::sign(&key, &mixed(HOST)).as_ref().to_vec();
        let key = hmac::Key::new(hmac::HMAC_SHA384, &bytes(100, 48));
        let controller_key = hmac::sign(&key, &mixed(SUBSYSTEM)).as_ref().to_vec();
        Self {
            hashes: vec![1, 2, 3],
            groups: vec![0, 1, 2, 3, 4, 5],
            transaction: 7,
            host_key,
            controller_key,
            is_mutual: false,
            expected: Vec::new(),
        }
    }

    pub(crate) fn negotiate(&self) -> Vec<u8> {
        let mut bytes = vec![0; 72];
        put16(&mut bytes, 4, self.transaction);
        (bytes[7], bytes[8]) = (1, 1);
        bytes[10] = u8::try_from(self.hashes.len()).unwrap();
        bytes[11] = u8::try_from(self.groups.len()).unwrap();
        bytes[12..12 + self.hashes.len()].copy_from_slice(&self.hashes);
        bytes[42..42 + self.groups.len()].copy_from_slice(&self.groups);
        bytes
    }

    /// Answers a Challenge.
    pub(crate) fn reply(&mut self, message: &[u8]) -> Vec<u8> {
        assert_eq!((message[0], message[1]), (1, 1), "no Challenge: {:?}", &message[..8]);
        assert_eq!(le16(message, 4), self.transaction);
        let (length, group) = (usize::from(message[6]), Group::of(message[9]).unwrap());
        assert!(self.hashes.contains(&message[8]) && self.groups.contains(&message[9]));
        let rest = &message[16..];
        let (challenge, rest) = rest.split_at(length);
        let value = &rest[..usize::from(le16(message, 10))];
        assert_eq!(value.len(), group.value_bytes());
        let shared = group.shared(value, &EXPONENT);
        let shared = shared.as_deref();
        let sequence = le32(message, 12);
        assert_ne!(sequence, 0);
        let names = [b"HostHost", HOST.as_bytes(), b"\0", SUBSYSTEM.as_bytes()].concat();
        let response =
            self.prove(message[8], &self.host_key, (challenge, sequence), shared, &names);
        let ours: Vec<u8> = challenge.iter().map(|byte| !byte).collect();
        let names = [b"Controller", SUBSYSTEM.as_bytes(), b"\0", HOST.as_bytes()].concat();
        self.expected = self.prove(message[8], &self.controller_key, (&ours, 9), shared, &names);

        let own_value = group.value(&EXPONENT);
        let mut bytes = vec![0; 16];
        (bytes[0], bytes[1], bytes[6]) = (1, 2, message[6]);
        put16(&mut bytes, 4, self.transaction);
        bytes[8] = u8::from(self.is_mutual);
        put16(&mut bytes, 10, u16::try_from(own_value.len()).unwrap());
        put32(&mut bytes, 12, 9);
        bytes.extend(response);
        bytes.extend(if self.is_mutual { ours } else { vec![0; length] });
        bytes.extend(own_value);
        bytes
    }

    fn prove(
        &self,
        hash: u8,
        key: &[u8],
        (challenge, sequence): (&[u8], u32),
        shared: Option<&[u8]>,
        names: &[u8],
    ) -> Vec<u8> {
        let (hmac_of, digest_of) = match hash {
            1 => (hmac::HMAC_SHA256, &digest::SHA256),
            2 => (hmac::HMAC_SHA384, &digest::SHA384),
            _ => (hmac::HMAC_SHA512, &digest::SHA512),
        };
        let mut text = challenge.to_vec();
        if let Some(shared) = shared {
            let key = digest::digest(digest_of, shared);
            text = hmac::sign(&hmac::Key::new(hmac_of, key.as_ref()), challenge).as_ref().to_vec();
        }
        text.extend(sequence.to_le_bytes());
        text.extend(self.transaction.to_le_bytes());
        text.push(0);
        text.extend(names);
        hmac::sign(&hmac::Key::new(hmac_of, key), &text).as_ref().to_vec()
    }

    /// Whether a Success1 shows that the controller knows its secret, where it has to.
    pub(crate) fn is_content(&self, message: &[u8]) -> bool {
        assert_eq!((message[0], message[1]), (1, 3), "no Success1: {:?}", &message[..8]);
        assert_eq!(le16(message, 4), self.transaction);
        let length = usize::from(message[6]);
        assert_eq!(message[8], u8::from(self.is_mutual));
        !self.is_mutual || message[16..16 + length] == self.expected
    }

    pub(crate) fn success2(&self) -> Vec<u8> {
        let mut bytes = vec![0; 16];
        (bytes[0], bytes[1]) = (1, 4);
        put16(&mut bytes, 4, self.transaction);
        bytes
    }

    pub(crate) fn failure2(&self) -> Vec<u8> {
        let mut bytes = vec![0; 8];
        (bytes[1], bytes[6], bytes[7]) = (0xf0, 1, 1);
        put16(&mut bytes, 4, self.transaction);
        bytes
    }
}
