//! Archives in the form that every `tar` reads (POSIX ustar): regular files alone.
//!
//! ```text
//! header   512 bytes: name 100, mode 8, owner 8, group 8, length 12, time 12, checksum 8, kind 1,
//!          link 100, "ustar" 0 "00", user 32, group 32, device 16, prefix 155, 12 of zeros
//! content  in blocks of 512 bytes, the last one filled with zeros
//! end      two blocks of zeros
//! ```
//! Numbers are octal digits. A reader takes nothing on trust: a name leads to no other folder, and
//! lengths and counts have bounds.

use std::io::{Error, ErrorKind, Read, Result, Write};

const BLOCK: usize = 512;
const NAME: std::ops::Range<usize> = 0..100;
const MODE: std::ops::Range<usize> = 100..108;
const LENGTH: std::ops::Range<usize> = 124..136;
const TIME: std::ops::Range<usize> = 136..148;
const CHECKSUM: std::ops::Range<usize> = 148..156;
const KIND: usize = 156;
const MAGIC: std::ops::Range<usize> = 257..265;
const PREFIX: std::ops::Range<usize> = 345..500;
/// The longest file that is read.
const CONTENT_BYTES_MAX: usize = 64 << 20;

/// A file of an archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its folders, and its name.
    pub(super) path: String,
    pub(super) content: Vec<u8>,
}

/// Adds a file; `time` is in seconds since 1970.
pub(super) fn write_entry(out: &mut impl Write, entry: &Entry, time: u64) -> Result<()> {
    let Entry { path, content } = entry;
    let (prefix, name) = split(path).ok_or_else(|| {
        Error::new(ErrorKind::InvalidInput, format!("{path} is too long for a name of tar"))
    })?;
    let mut header = [0; BLOCK];
    put(&mut header, NAME, name.as_bytes());
    put(&mut header, PREFIX, prefix.as_bytes());
    put(&mut header, MODE, b"0000600\0");
    for owner in [108..116, 116..124] {
        put(&mut header, owner, b"0000000\0");
    }
    put(&mut header, LENGTH, format!("{:011o}\0", content.len()).as_bytes());
    put(&mut header, TIME, format!("{time:011o}\0").as_bytes());
    header[KIND] = b'0';
    put(&mut header, MAGIC, b"ustar\x0000");
    let sum = checksum(&header);
    put(&mut header, CHECKSUM, format!("{sum:06o}\0 ").as_bytes());
    out.write_all(&header)?;
    out.write_all(content)?;
    out.write_all(&[0; BLOCK][..padding(content.len())])
}

/// Ends an archive.
pub(super) fn write_end(out: &mut impl Write) -> Result<()> {
    out.write_all(&[0; 2 * BLOCK])?;
    out.flush()
}

/// The next file; `None` at the end of the archive. One that is cut off is an error.
pub(super) fn read_entry(input: &mut impl Read) -> Result<Option<Entry>> {
    let mut header = [0; BLOCK];
    input.read_exact(&mut header)?;
    if header.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let foreign = |what: &str| Error::new(ErrorKind::InvalidData, format!("not of tar: {what}"));
    if header[MAGIC] != *b"ustar\x0000" || number(&header[CHECKSUM]) != Some(checksum(&header)) {
        return Err(foreign("a header"));
    }
    if header[KIND] != b'0' {
        return Err(foreign("no regular file"));
    }
    let (prefix, name) = (text(&header[PREFIX]), text(&header[NAME]));
    let path = match (prefix, name) {
        (Some(""), Some(name)) => name.to_owned(),
        (Some(prefix), Some(name)) => format!("{prefix}/{name}"),
        (None, _) | (_, None) => return Err(foreign("a name")),
    };
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    if !path.split('/').all(is_plain) || path.contains(|letter: char| letter.is_control()) {
        return Err(foreign("a name that leads elsewhere"));
    }
    let length = number(&header[LENGTH]).and_then(|length| usize::try_from(length).ok());
    let length = length.filter(|length| *length <= CONTENT_BYTES_MAX);
    let length = length.ok_or_else(|| foreign("a length"))?;
    let mut content = Vec::new();
    let padded = length + padding(length);
    let read = input.take(u64::try_from(padded).expect("it has a bound"));
    let mut read = read;
    read.read_to_end(&mut content)?;
    if content.len() < padded {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    content.truncate(length);
    Ok(Some(Entry { path, content }))
}

/// Folders and name, each in its room; cut at the last `/` where one of them is needed.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= NAME.len() {
        return Some(("", path));
    }
    let (prefix, name) = path.rsplit_once('/')?;
    (prefix.len() <= PREFIX.len() && name.len() <= NAME.len()).then_some((prefix, name))
}

fn put(header: &mut [u8; BLOCK], place: std::ops::Range<usize>, bytes: &[u8]) {
    header[place][..bytes.len()].copy_from_slice(bytes);
}

/// The sum of all bytes, with blanks in the place of the sum.
fn checksum(header: &[u8; BLOCK]) -> u64 {
    let others = header[..CHECKSUM.start].iter().chain(&header[CHECKSUM.end..]);
    others.map(|byte| u64::from(*byte)).sum::<u64>() + 8 * u64::from(b' ')
}

fn padding(length: usize) -> usize {
    length.next_multiple_of(BLOCK) - length
}

fn number(digits: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(digits).ok()?;
    u64::from_str_radix(digits.trim_matches(['\0', ' ']), 8).ok()
}

/// To the first zero.
fn text(bytes: &[u8]) -> Option<&str> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn entry(path: &str, content: &[u8]) -> Entry {
        Entry { path: path.to_owned(), content: content.to_vec() }
    }

    fn archive(entries: &[Entry]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in entries {
            write_entry(&mut bytes, entry, 1_700_000_000).unwrap();
        }
        write_end(&mut bytes).unwrap();
        bytes
    }

    fn read_all(mut bytes: &[u8]) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        while let Some(entry) = read_entry(&mut bytes)? {
            entries.push(entry);
        }
        Ok(entries)
    }

    fn entries() -> Vec<Entry> {
        let long = format!("{}/{}", "folder".repeat(20), "n".repeat(99));
        vec![
            entry("README", b"text\n"),
            entry("state/none", b""),
            entry("state/whole", &[7; BLOCK]),
            entry(&long, &[0xff, 0, 1]),
        ]
    }

    #[test]
    fn written_archive_reads_back_as_it_was() {
        assert_eq!(read_all(&archive(&entries())).unwrap(), entries());
    }

    #[test]
    fn tar_itself_reads_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut tar = Command::new("tar");
        tar.args(["-x", "-f", "-", "-C"]).arg(folder.path()).stdin(Stdio::piped());
        let mut tar = tar.stderr(Stdio::piped()).spawn().unwrap();
        tar.stdin.take().unwrap().write_all(&archive(&entries())).unwrap();
        let output = tar.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        for Entry { path, content } in entries() {
            assert_eq!(std::fs::read(folder.path().join(path)).unwrap(), content);
        }
    }

    /// Each byte that is cut off or changed is noticed, or changes content alone.
    #[test]
    fn cut_and_foreign_archives_are_errors() {
        let whole = archive(&[entry("README", b"text\n")]);
        for end in 0..3 * BLOCK {
            let error = read_all(&whole[..end]).map(|_| end).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{end}");
        }
        for place in 0..BLOCK {
            let mut changed = whole.clone();
            changed[place] ^= 0x41;
            assert!(read_all(&changed).is_err(), "{place}");
        }
        for path in ["/etc/passwd", "../up", "a/../b", "a//b", "", "./a", "a\nb"] {
            assert!(read_all(&archive(&[entry(path, b"")])).is_err(), "{path:?}");
        }
        let mut link = whole;
        link[KIND] = b'2';
        let sum = checksum(link[..BLOCK].try_into().unwrap());
        link[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        assert!(read_all(&link).unwrap_err().to_string().contains("no regular file"));
    }

    #[test]
    fn name_without_room_is_refused() {
        let long = entry(&"n".repeat(101), b"");
        assert!(write_entry(&mut Vec::new(), &long, 0).is_err());
    }
}
