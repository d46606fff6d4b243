//! Golden files: encoding gives these bytes, and these bytes give the value back.

use std::collections::BTreeSet;
use std::path::PathBuf;

use format::error::DecodeError;
use format::frame::{
    FRAME_HEADER_BYTES, FrameReader, FrameWriter, PayloadRef, Received, message_tags,
};

use crate::samples::{self, Sample};

const QUANTUM_BYTES: u16 = 64;

/// Compares `bytes` with the golden file `name`.
pub(crate) fn check(name: &str, bytes: &[u8]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let golden = std::fs::read(&path).unwrap_or_default();
    if golden == bytes {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_GOLDEN").is_some(),
        "{name}: the bytes differ from the golden file; if that is meant and the version says so, \
         run UPDATE_GOLDEN=1 cargo test -p format"
    );
    std::fs::write(&path, bytes).unwrap();
}

/// A frame of one message.
pub(crate) fn frame_of(sample: &Sample) -> Vec<u8> {
    let mut writer = FrameWriter::new(vec![0xaa; 64 << 10], QUANTUM_BYTES);
    writer.push(sample.handle, &sample.message, sample.payload).unwrap();
    let (mut bytes, length) = writer.finish();
    bytes.truncate(length);
    bytes
}

pub(crate) fn read_all(bytes: &[u8]) -> Result<Vec<Received>, DecodeError> {
    FrameReader::new(bytes, QUANTUM_BYTES)?.collect()
}

#[test]
fn every_message_has_its_golden_bytes() {
    for sample in samples::messages() {
        let bytes = frame_of(&sample);
        let received = read_all(&bytes).unwrap();
        let payload = sample.payload.map(|PayloadRef { length_bytes, crc }| {
            format::frame::ReceivedPayload { offset_bytes: 0, length_bytes, crc }
        });
        let expected = Received { handle: sample.handle, message: sample.message, payload };
        assert_eq!(received, [expected], "{}", sample.name);
        check(&format!("message_{}.bin", sample.name), &bytes);
    }
}

#[test]
fn every_known_message_has_a_sample() {
    let sampled: BTreeSet<u16> = samples::messages()
        .iter()
        .map(|sample| {
            let bytes = frame_of(sample);
            u16::from_le_bytes([bytes[FRAME_HEADER_BYTES], bytes[FRAME_HEADER_BYTES + 1]])
        })
        .collect();
    assert_eq!(sampled, message_tags().collect());
    let names: BTreeSet<_> = samples::messages().iter().map(|sample| sample.name).collect();
    assert_eq!(names.len(), samples::messages().len(), "names are golden file names");
}
