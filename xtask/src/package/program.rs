//! The program that is packed: for which processor it is, and its debug symbols apart from it.

use crate::process;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug)]
pub(super) struct Program {
    pub(super) arch: Arch,
    /// As it was given; it makes manuals and completions.
    pub(super) whole: PathBuf,
    /// Without symbols.
    pub(super) stripped: PathBuf,
    /// None if the program was built without.
    pub(super) symbols: Option<Symbols>,
}

/// The symbols alone.
#[derive(Debug)]
pub(super) struct Symbols {
    pub(super) file: PathBuf,
    /// Where debuggers look for it, below the root: by the build id of the program.
    pub(super) place: String,
}

/// A processor, by its names in the kinds of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arch {
    pub(super) deb: &'static str,
    pub(super) rpm: &'static str,
}

/// By the field `e_machine` of ELF.
const ARCHES: [(u16, Arch); 2] =
    [(62, Arch { deb: "amd64", rpm: "x86_64" }), (183, Arch { deb: "arm64", rpm: "aarch64" })];

impl Program {
    pub(super) fn split(whole: &Path, work: &Path) -> Result<Self> {
        let name = whole.display();
        let bytes = fs::read(whole).with_context(|| {
            format!("cannot read the program {name}: build it with `cargo build --release`")
        })?;
        let arch = arch_of(&bytes).with_context(|| format!("cannot pack {name}"))?;
        let stripped = work.join("basalt");
        let mut objcopy = Command::new("objcopy");
        objcopy.arg("--strip-all");
        let sections = process::output(Command::new("readelf").args(["-SW"]).arg(whole))?;
        if !sections.contains(" .debug_line ") {
            process::must_succeed(objcopy.arg(whole).arg(&stripped))?;
            return Ok(Self { arch, whole: whole.to_owned(), stripped, symbols: None });
        }
        // The program holds the name of this file, and debuggers compare it.
        let file = work.join("basalt.debug");
        let mut keep = Command::new("objcopy");
        keep.args(["--only-keep-debug", "--compress-debug-sections"]).arg(whole).arg(&file);
        process::must_succeed(&mut keep)?;
        objcopy.arg(format!("--add-gnu-debuglink={}", file.display()));
        process::must_succeed(objcopy.arg(whole).arg(&stripped))?;
        let notes = process::output(Command::new("readelf").arg("--notes").arg(&stripped))?;
        let build_id = build_id_in(&notes).with_context(|| {
            format!("{name} has no build id: link it with `-C link-arg=-Wl,--build-id`")
        })?;
        let (first, rest) = build_id.split_at(2);
        let place = format!("usr/lib/debug/.build-id/{first}/{rest}.debug");
        let symbols = Some(Symbols { file, place });
        Ok(Self { arch, whole: whole.to_owned(), stripped, symbols })
    }
}

fn arch_of(bytes: &[u8]) -> Result<Arch> {
    if bytes.get(..6) != Some(b"\x7fELF\x02\x01") {
        bail!("it is no program for Linux on a little-endian machine of 64 bits");
    }
    let machine = bytes.get(18..20).context("its ELF header ends early")?;
    let machine = u16::from_le_bytes([machine[0], machine[1]]);
    let arch = ARCHES.iter().find(|(number, _)| *number == machine);
    let (_, arch) = arch.with_context(|| format!("no package is for ELF machine {machine}"))?;
    Ok(*arch)
}

/// As `readelf --notes` prints it.
fn build_id_in(notes: &str) -> Option<&str> {
    let id = notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: "))?;
    (id.len() > 2 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_is_read_from_the_program() {
        let mut header = [0; 64];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        for (machine, deb) in [(62, "amd64"), (183, "arm64")] {
            header[18] = machine;
            assert_eq!(arch_of(&header).expect("a known one").deb, deb);
        }
        header[18] = 3;
        assert!(arch_of(&header).expect_err("i386").to_string().contains("machine 3"));
        arch_of(b"#!/bin/sh\n").expect_err("a script");
    }

    #[test]
    fn build_id_is_found_among_the_notes() {
        let notes = "Owner  Data size\n  GNU  0x14  NT_GNU_BUILD_ID\n    Build ID: f27811c5\n";
        assert_eq!(build_id_in(notes), Some("f27811c5"));
        assert_eq!(build_id_in("Build ID: none\n"), None);
        assert_eq!(build_id_in(""), None);
    }
}
