//! `basalt adm adopt-drbd` on metadata that Debian's drbdmeta made, and drbdmeta on what came back.
//!
//! drbdmeta writes fresh metadata only; a dump of it with the fields of a replica in use is what
//! `restore-md` makes one of. Everything lies in sparse files, which drbdmeta takes with `--force`.

use crate::process;
use crate::test::basalt;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MIB: u64 = 1 << 20;
const GENERATION: &str = "1122334455667788";

/// Where DRBD keeps its metadata, where ours goes, and how large all is.
struct Form {
    name: &'static str,
    version: &'static str,
    peers: Option<&'static str>,
    disk_bytes: u64,
    /// Of the other file, and what drbdmeta calls a place in it.
    other: Option<(u64, &'static str)>,
    /// Ours goes to a file of its own.
    is_beside: bool,
    sectors: u64,
}

const FORMS: [Form; 6] = [
    Form {
        name: "v09-in-place",
        version: "v09",
        peers: Some("31"),
        disk_bytes: 8192 * MIB,
        other: None,
        is_beside: false,
        sectors: 8000 * MIB / 512,
    },
    Form {
        name: "v09-beside",
        version: "v09",
        peers: Some("2"),
        disk_bytes: 64 * MIB,
        other: None,
        is_beside: true,
        sectors: 130_000,
    },
    Form {
        name: "v09-external",
        version: "v09",
        peers: Some("7"),
        disk_bytes: 64 * MIB,
        other: Some((8 * MIB, "flex-external")),
        is_beside: false,
        sectors: 64 * MIB / 512,
    },
    Form {
        name: "v09-indexed",
        version: "v09",
        peers: Some("1"),
        disk_bytes: 64 * MIB,
        other: Some((300 * MIB, "1")),
        is_beside: true,
        sectors: 64 * MIB / 512,
    },
    Form {
        name: "v08-beside",
        version: "v08",
        peers: None,
        disk_bytes: 64 * MIB,
        other: None,
        is_beside: true,
        sectors: 130_000,
    },
    Form {
        name: "v08-external",
        version: "v08",
        peers: None,
        disk_bytes: 64 * MIB,
        other: Some((8 * MIB, "flex-external")),
        is_beside: false,
        sectors: 64 * MIB / 512,
    },
];

/// Each form by itself, and two of them in one resource.
pub(super) const COUNT: usize = FORMS.len() + 1;

/// The check with this number: its name, and what came of it.
pub(super) fn check(number: usize, scratch: &Path) -> (&'static str, Result<()>) {
    let Some(form) = FORMS.get(number) else { return ("two-volumes", check_two(scratch)) };
    let folder = scratch.join(form.name);
    let place = Place { form, folder };
    (form.name, place.check())
}

/// Two volumes of one resource, each with metadata in a form of its own: they go together, or
/// stay together, and return together.
fn check_two(scratch: &Path) -> Result<()> {
    let folder = scratch.join("two-volumes");
    fs::create_dir(&folder)?;
    let places = [&FORMS[1], &FORMS[2]].map(|form| Place { form, folder: folder.join(form.name) });
    for place in &places {
        fs::create_dir(&place.folder)?;
        place.make()?;
    }
    fs::write(folder.join("r0.res"), config(&[places[0].volume(0), places[1].volume(1)]))?;
    let states = || -> Result<Vec<_>> {
        places.iter().map(|it| Ok((it.dump()?, it.data()?, it.metadata()?))).collect()
    };
    let [_, second] = &places;
    let fresh = states()?;
    second.drbdmeta(&["outdate"])?;
    let refused = run_adopt(&folder, &[])?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    ensure!(refused.status.code() == Some(10) && said.contains("was Outdated"), "{said}");
    ensure!(states()?[0] == fresh[0], "the volume before the one that is refused was written");
    fs::remove_file(second.path("drbd"))?;
    second.make()?;

    let before = states()?;
    let both = format!("{GENERATION},{GENERATION}");
    let report = answers(&run_adopt(&folder, &["--same-as", &both])?)?;
    for number in 0..2 {
        let one = &report[number];
        ensure!(one["volume"] == number && one["outcome"] == "adopted", "{report}");
        ensure!(one["settled"] == true, "{report}");
        let dump = places[number].run_drbdmeta(&["dump-md"])?;
        ensure!(!dump.status.success(), "drbdmeta still takes volume {number} for DRBD's");
    }
    let report = answers(&run_adopt(&folder, &["--rollback"])?)?;
    ensure!((0..2).all(|number| report[number]["outcome"] == "returned"), "{report}");
    ensure!(states()? == before, "the volumes are not what they were");
    Ok(())
}

fn config(volumes: &[String]) -> String {
    let volumes = volumes.join(" ");
    format!(
        "resource r0 {{\n  on alice {{ node-id 0; address 127.0.0.1:7001; {volumes} }}\n  \
         on bob {{ node-id 1; address 127.0.0.1:7002; {volumes} }}\n}}\n"
    )
}

/// With the configuration and the state directory of this folder.
fn run_adopt(folder: &Path, words: &[&str]) -> Result<Output> {
    let mut command = Command::new(basalt::program()?);
    command.args(["adm", "--json", "-c"]).arg(folder.join("r0.res"));
    command.args(["adopt-drbd", "--node", "alice", "--state-dir"]).arg(folder.join("state"));
    let output = command.args(words).arg("r0").output();
    output.with_context(|| format!("cannot start {command:?}"))
}

fn answers(output: &Output) -> Result<Value> {
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "adopt-drbd: {said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

struct Place {
    form: &'static Form,
    folder: PathBuf,
}

impl Place {
    fn check(&self) -> Result<()> {
        fs::create_dir(&self.folder)?;
        self.make()?;
        self.is_refused_until_it_is_clean()?;
        self.goes_and_returns()?;
        self.is_refused_when_it_is_not_up_to_date()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn make(&self) -> Result<()> {
        let sparse = |name: &str, bytes| File::create(self.path(name))?.set_len(bytes);
        sparse("disk", self.form.disk_bytes)?;
        File::options().write(true).open(self.path("disk"))?.write_all_at(&[0x5a; 4096], 0)?;
        if let Some((bytes, _)) = self.form.other {
            sparse("drbd", bytes)?;
        }
        sparse("ours", 8 * MIB)?;
        fs::write(self.path("r0.res"), config(&[self.volume(0)]))?;
        let peers: Vec<&str> = self.form.peers.into_iter().collect();
        self.drbdmeta(&[&["create-md"][..], &peers].concat())?;
        let fresh = self.dump()?;
        let used = self.of_a_replica_in_use(&fresh)?;
        fs::write(self.path("dump"), used)?;
        let dump = self.path("dump");
        self.drbdmeta(&["restore-md", dump.to_str().context("a path in UTF-8")?])?;
        Ok(())
    }

    fn volume(&self, number: u8) -> String {
        let meta = match (self.form.is_beside, self.form.other) {
            (true, _) => self.path("ours").display().to_string(),
            (false, None) => "internal".to_owned(),
            (false, Some(_)) => self.path("drbd").display().to_string(),
        };
        let disk = self.path("disk");
        format!("volume {number} {{ disk {}; meta-disk {meta}; }}", disk.display())
    }

    /// A dump with a size, a generation, the flags Consistent, WasUpToDate and (v09) that the log
    /// is applied, and in v09 with node id 0 and a slot for node 1.
    fn of_a_replica_in_use(&self, dump: &str) -> Result<String> {
        let mut used = String::new();
        let mut peer = None;
        for line in dump.lines() {
            if let Some(rest) = line.strip_prefix("peer[") {
                peer = rest.split(']').next().and_then(|number| number.parse::<u8>().ok());
            }
            let line = match line.trim() {
                "node-id -1;" => "node-id 0;".to_owned(),
                "current-uuid 0x0000000000000004;" => format!("current-uuid 0x{GENERATION};"),
                "flags 0x00000080;" => "flags 0x00000091;".to_owned(),
                "flags 0x00000000;" if self.form.version == "v08" => "flags 0x00000011;".to_owned(),
                "la-size-sect 0;" => format!("la-size-sect {};", self.form.sectors),
                "bitmap-index -1;" if peer == Some(1) => "bitmap-index 0;".to_owned(),
                _ => line.replace("0x0000000000000004;", &format!("0x{GENERATION};")),
            };
            used += &format!("{line}\n");
        }
        ensure!(used.contains(GENERATION), "drbdmeta dumps in another form: {dump}");
        Ok(used)
    }

    fn goes_and_returns(&self) -> Result<()> {
        let before = (self.dump()?, self.data()?, self.metadata()?);
        let told = self.adopt(&["--dry-run"])?;
        ensure!(told["outcome"] == "possible", "{told}");
        ensure!((self.dump()?, self.data()?, self.metadata()?) == before, "a dry run wrote");

        let report = self.adopt(&["--same-as", GENERATION])?;
        let size_bytes = self.form.sectors * 512;
        ensure!(report["outcome"] == "adopted" && report["settled"] == true, "{report}");
        ensure!(report["size-bytes"] == size_bytes, "{report}");
        ensure!(report["drbd-format"] == self.form.version, "{report}");
        ensure!(self.data()? == before.1, "data was written over");
        let dump = self.run_drbdmeta(&["dump-md"])?;
        ensure!(!dump.status.success(), "drbdmeta still takes the disk for DRBD's");
        let again = self.adopt(&[])?;
        ensure!(again["outcome"] == "adopted-before", "{again}");

        let report = self.adopt(&["--rollback"])?;
        ensure!(report["outcome"] == "returned", "{report}");
        let after = (self.dump()?, self.data()?, self.metadata()?);
        ensure!(after.0 == before.0, "drbdmeta dumps:\n{}\nand before:\n{}", after.0, before.0);
        ensure!(after == before, "the files are not what they were");
        Ok(())
    }

    /// As after a crash: the flag that the log is applied is missing.
    fn is_refused_until_it_is_clean(&self) -> Result<()> {
        let (path, at) = self.superblock()?;
        let file = File::options().write(true).read(true).open(path)?;
        file.write_all_at(&[0, 0, 0, 0x11], at + 56)?;
        let said = self.refusal()?;
        ensure!(said.contains("apply-al"), "{said}");
        self.drbdmeta(&["apply-al"])?;
        ensure!(self.adopt(&["--dry-run"])?["outcome"] == "possible", "apply-al is not enough");
        Ok(())
    }

    fn is_refused_when_it_is_not_up_to_date(&self) -> Result<()> {
        for (verb, word) in [("outdate", "was Outdated"), ("invalidate", "was Inconsistent")] {
            self.drbdmeta(&[verb])?;
            let said = self.refusal()?;
            ensure!(said.contains(word), "after {verb}: {said}");
        }
        Ok(())
    }

    /// The file with DRBD's metadata, and the place of the superblock in it.
    fn superblock(&self) -> Result<(PathBuf, u64)> {
        let (path, at) = match self.form.other {
            None => (self.path("disk"), self.form.disk_bytes - 4096),
            Some((_, "flex-external")) => (self.path("drbd"), 0),
            Some((_, index)) => (self.path("drbd"), index.parse::<u64>()? * 128 * MIB),
        };
        Ok((path, at))
    }

    fn data(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; 1 << 20];
        File::open(self.path("disk"))?.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// The last MiB of each file: the whole of them is compared by drbdmeta's dump.
    fn metadata(&self) -> Result<Vec<Vec<u8>>> {
        let mut parts = Vec::new();
        for name in ["disk", "drbd", "ours"] {
            let Ok(file) = File::open(self.path(name)) else { continue };
            let mut bytes = vec![0; 1 << 20];
            file.read_exact_at(&mut bytes, file.metadata()?.len() - (1 << 20))?;
            parts.push(bytes);
        }
        Ok(parts)
    }

    fn run_adopt(&self, words: &[&str]) -> Result<Output> {
        let Some((_, index)) = self.form.other.filter(|(_, index)| *index != "flex-external")
        else {
            return run_adopt(&self.folder, words);
        };
        let place = format!("{}[{index}]", self.path("drbd").display());
        run_adopt(&self.folder, &[&["--drbd-meta-disk", &place], words].concat())
    }

    fn adopt(&self, words: &[&str]) -> Result<Value> {
        let answers = answers(&self.run_adopt(words)?).with_context(|| format!("{words:?}"))?;
        Ok(answers[0].clone())
    }

    fn refusal(&self) -> Result<String> {
        let output = self.run_adopt(&[])?;
        ensure!(output.status.code() == Some(10), "it was not refused: {output:?}");
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn run_drbdmeta(&self, words: &[&str]) -> Result<Output> {
        let (path, index) = match self.form.other {
            None => (self.path("disk"), "internal"),
            Some((_, index)) => (self.path("drbd"), index),
        };
        let mut command = Command::new("drbdmeta");
        command.args(["--force", "0", self.form.version]).arg(path).arg(index).args(words);
        command.output().with_context(|| format!("cannot start {command:?}"))
    }

    fn drbdmeta(&self, words: &[&str]) -> Result<String> {
        let output = self.run_drbdmeta(words)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "drbdmeta {words:?}: {said}");
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Without the comments, which have the time.
    fn dump(&self) -> Result<String> {
        let dump = self.drbdmeta(&["dump-md"])?;
        let lines = dump.lines().filter(|line| !line.trim_start().starts_with('#'));
        Ok(lines.map(|line| format!("{line}\n")).collect())
    }
}

/// Which drbdmeta this is, for the record of the run.
pub(super) fn version() -> Result<String> {
    let mut query = Command::new("dpkg-query");
    process::output(query.args(["--show", "--showformat=${Version}", "drbd-utils"]))
}
