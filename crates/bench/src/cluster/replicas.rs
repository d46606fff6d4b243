//! Compares the data of the replicas' backing files, byte for byte.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};

const CHUNK_BYTES: usize = 1 << 20;

/// A node's name and its backing file.
pub(crate) type Replica<'a> = (&'a str, &'a Path);

/// Compares the first `bytes` of every file; metadata lies behind. `on_progress` hears the share
/// that is done. The error names the first place that differs.
pub(crate) fn compare(
    replicas: &[Replica<'_>],
    bytes: u64,
    mut on_progress: impl FnMut(f64),
) -> Result<()> {
    let mut files = Vec::new();
    for (name, path) in replicas {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        files.push((*name, file.take(bytes)));
    }
    let (first_name, mut first_file) = files.remove(0);
    let mut expected = vec![0; CHUNK_BYTES];
    let mut found = vec![0; CHUNK_BYTES];
    let mut offset = 0;
    while offset < bytes {
        let length = usize::try_from(bytes - offset).map_or(CHUNK_BYTES, |l| l.min(CHUNK_BYTES));
        let (expected, found) = (&mut expected[..length], &mut found[..length]);
        let short = |name| move || format!("the file of {name} ends before byte {bytes}");
        first_file.read_exact(expected).with_context(short(first_name))?;
        for (name, file) in &mut files {
            file.read_exact(found).with_context(short(name))?;
            if expected != found {
                let index = expected.iter().zip(&*found).take_while(|(a, b)| a == b).count();
                let place = offset + index as u64;
                let block = place / 4096;
                bail!("{first_name} and {name} differ at byte {place} (block {block})");
            }
        }
        offset += length as u64;
        on_progress(share(offset, bytes));
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a share for people to read")]
fn share(done: u64, all: u64) -> f64 {
    done as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_differs_is_named_and_what_lies_behind_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let paths = ["a", "b", "c"].map(|name| directory.path().join(name));
        let mut content = vec![7u8; 3 << 20];
        for path in &paths {
            std::fs::write(path, &content).unwrap();
        }
        content[2_500_000] = 8;
        std::fs::write(&paths[2], &content).unwrap();
        let replicas: Vec<Replica<'_>> =
            ["a", "b", "c"].into_iter().zip(paths.iter().map(|path| path.as_path())).collect();
        compare(&replicas, 2_500_000, |_| ()).unwrap();
        let error = compare(&replicas, 3 << 20, |_| ()).unwrap_err().to_string();
        assert_eq!(error, "a and c differ at byte 2500000 (block 610)");
        let error = compare(&replicas, 4 << 20, |_| ()).unwrap_err();
        assert!(format!("{error:#}").contains("differ"), "{error:#}");
        let error = compare(&replicas[..2], 4 << 20, |_| ()).unwrap_err().to_string();
        assert_eq!(error, "the file of a ends before byte 4194304");
    }
}
