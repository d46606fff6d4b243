//! SipHash-2-4 with a result of 128 bits, by Jean-Philippe Aumasson and Daniel J. Bernstein.
//!
//! Keyed: who does not know the key cannot make two inputs that collide. Good for finding out
//! whether two nodes hold the same bytes; no signature.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashKey(pub u64, pub u64);

#[must_use]
pub fn siphash128(HashKey(k0, k1): HashKey, bytes: &[u8]) -> u128 {
    let mut state = State {
        v0: k0 ^ 0x736f_6d65_7073_6575,
        v1: k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee,
        v2: k0 ^ 0x6c79_6765_6e65_7261,
        v3: k1 ^ 0x7465_6462_7974_6573,
    };
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        state.absorb(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    // The lowest byte of the length is the highest of the last word.
    last[7] = bytes.len().to_le_bytes()[0];
    state.absorb(u64::from_le_bytes(last));
    state.v2 ^= 0xee;
    let low = state.squeeze();
    state.v1 ^= 0xdd;
    let high = state.squeeze();
    u128::from(high) << 64 | u128::from(low)
}

struct State {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
}

impl State {
    fn absorb(&mut self, word: u64) {
        self.v3 ^= word;
        self.round();
        self.round();
        self.v0 ^= word;
    }

    fn squeeze(&mut self) -> u64 {
        for _ in 0..4 {
            self.round();
        }
        self.v0 ^ self.v1 ^ self.v2 ^ self.v3
    }

    fn round(&mut self) {
        self.v0 = self.v0.wrapping_add(self.v1);
        self.v2 = self.v2.wrapping_add(self.v3);
        self.v1 = self.v1.rotate_left(13) ^ self.v0;
        self.v3 = self.v3.rotate_left(16) ^ self.v2;
        self.v0 = self.v0.rotate_left(32);
        self.v2 = self.v2.wrapping_add(self.v1);
        self.v0 = self.v0.wrapping_add(self.v3);
        self.v1 = self.v1.rotate_left(17) ^ self.v2;
        self.v3 = self.v3.rotate_left(21) ^ self.v0;
        self.v2 = self.v2.rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: HashKey = HashKey(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);

    /// The first of the reference's vectors: inputs 0, 1, 2 .. with the key 0, 1, .. 15.
    #[test]
    fn results_are_those_of_the_reference() {
        let expected: [[u8; 16]; 2] = [
            *b"\xa3\x81\x7f\x04\xba\x25\xa8\xe6\x6d\xf6\x72\x14\xc7\x55\x02\x93",
            *b"\xda\x87\xc1\xd8\x6b\x99\xaf\x44\x34\x76\x59\x11\x9b\x22\xfc\x45",
        ];
        for (length, expected) in (0..).zip(expected) {
            let input: Vec<u8> = (0..length).collect();
            assert_eq!(siphash128(KEY, &input).to_le_bytes(), expected, "{length} bytes");
        }
    }

    #[test]
    fn every_byte_and_the_key_count() {
        let block = [7; 4096];
        let hash = siphash128(KEY, &block);
        for place in 0..block.len() {
            let mut other = block;
            other[place] ^= 0x80;
            assert_ne!(siphash128(KEY, &other), hash, "byte {place}");
        }
        assert_ne!(siphash128(HashKey(1, 2), &block), hash);
        assert_ne!(siphash128(KEY, &block[1..]), hash);
    }
}
