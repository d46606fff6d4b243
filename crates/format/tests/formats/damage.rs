//! Damaged and random input: every decoder refuses or reads it, and never panics.

use stdx::random::Random;

use format::frame::FrameReader;

use crate::golden::frame_of;
use crate::{frames, samples};

const SEED: u64 = 0x0ba5_a175;
const ROUNDS_PER_SAMPLE: usize = 2000;

/// `cargo xtask fuzz` goes on with other seeds.
pub(crate) fn seed(fixed: u64) -> u64 {
    let first = std::env::var("FUZZ_FIRST").ok().and_then(|first| first.parse::<u64>().ok());
    fixed ^ first.unwrap_or(0) << 32
}

/// Changes some bits and bytes from byte `from` on, most often few.
pub(crate) fn damage(bytes: &mut [u8], from: usize, random: &mut Random) {
    let changes = 1 + random.below(4);
    for _ in 0..changes {
        let span = (bytes.len() - from) as u64;
        let at = from + usize::try_from(random.below(span)).unwrap();
        match random.below(4) {
            0 => bytes[at] = 0xff,
            1 => bytes[at] = 0,
            2 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            _ => bytes[at] ^= 1 << random.below(8),
        }
    }
}

#[test]
fn damaged_frames_do_not_panic() {
    let mut random = Random::new(seed(SEED));
    let (mut read, mut refused) = (0, 0);
    for sample in samples::messages() {
        let whole = frame_of(&sample);
        for _ in 0..ROUNDS_PER_SAMPLE {
            let mut bytes = whole.clone();
            let from = if random.chance(1, 4) { 4 } else { 32 };
            damage(&mut bytes, from, &mut random);
            frames::reseal(&mut bytes);
            match FrameReader::new(&bytes, 64).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "both happen: {read} read, {refused} refused");
}

#[test]
fn random_messages_do_not_panic() {
    let mut random = Random::new(seed(SEED + 1));
    for tag in format::frame::message_tags() {
        for _ in 0..ROUNDS_PER_SAMPLE {
            let mut bytes = frame_of(&samples::messages().remove(0));
            bytes.resize(512, 0);
            let body = usize::try_from(random.below(512 - 44)).unwrap();
            for byte in &mut bytes[44..44 + body] {
                // Small numbers more often than not: they pass for counts and flags.
                let value = random.below(256);
                *byte = u8::try_from(if value > 200 { value } else { value & 1 }).unwrap();
            }
            bytes[8..12].copy_from_slice(&512_u32.to_le_bytes());
            bytes[32..34].copy_from_slice(&tag.to_le_bytes());
            bytes[34..36].copy_from_slice(&[0; 2]);
            bytes[36..40].copy_from_slice(&u32::try_from(body).unwrap().to_le_bytes());
            bytes[40..44].copy_from_slice(&u32::from(tag >= 0x100).to_le_bytes());
            frames::reseal(&mut bytes);
            let results: Vec<_> = FrameReader::new(&bytes, 64).unwrap().collect();
            assert!(!results.is_empty(), "tag {tag:#x}: one message is announced");
        }
    }
}
