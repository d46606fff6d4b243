//! Debian packages, by dpkg-deb: the program, its debug symbols, and DRBD's names for it.

use super::contents::{CONFIG, compress, debian_changelog, install, write};
use super::program::Symbols;
use super::{MAINTAINER, Release};
use crate::process;
use anyhow::{Context as _, Result};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const SCRIPTS: &str = "xtask/package/deb";
const NAMES_SCRIPTS: &str = "xtask/package/names";

/// One package: its tree is `root`, below which is `DEBIAN`.
struct Made<'a> {
    name: &'static str,
    arch: &'a str,
    root: PathBuf,
    /// The fields of its control file that differ from one package to the other.
    fields: String,
}

pub(super) fn make(release: &Release, work: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    let repository = process::repository()?;
    let build = |made: &Made<'_>| build(release, made, out);
    let program = program(release, work)?;
    let scripts = repository.join(SCRIPTS);
    for name in ["postinst", "prerm", "postrm"] {
        install(&scripts.join(name), &program.root.join("DEBIAN").join(name), 0o755)?;
    }
    install(&scripts.join("templates"), &program.root.join("DEBIAN/templates"), 0o644)?;
    let overrides = "usr/share/lintian/overrides/basalt";
    install(&scripts.join("lintian-overrides"), &program.root.join(overrides), 0o644)?;
    write(&program.root.join("DEBIAN/conffiles"), &format!("/{}\n", CONFIG.1))?;
    let names = names(release, work)?;
    for name in ["preinst", "postrm"] {
        let script = repository.join(NAMES_SCRIPTS).join(name);
        install(&script, &names.root.join("DEBIAN").join(name), 0o755)?;
    }
    let mut files = vec![build(&program)?, build(&names)?];
    if let Some(symbols) = &release.program.symbols {
        files.push(build(&symbols_of(release, symbols, work)?)?);
    }
    Ok(files)
}

fn program(release: &Release, work: &Path) -> Result<Made<'static>> {
    let root = work.join("deb");
    let mut copy = Command::new("cp");
    process::must_succeed(copy.arg("--archive").arg(&release.contents.root).arg(&root))?;
    let libraries = libraries(&release.program.stripped, work)?;
    let fields = format!(
        "Depends: {libraries}, debconf (>= 0.5) | debconf-2.0\n\
         Recommends: kmod\n\
         Suggests: basalt-drbd-names, nbd-client | libnbd-bin, nvme-cli\n\
         Description: replicated block storage in user space\n \
         Basalt keeps a volume on several machines at once. A write is answered when\n \
         all replicas that are in sync have it, and any of the machines serves the\n \
         volume: as a block device, over NBD and NVMe/TCP, or to virtual machines.\n \
         .\n \
         Files, verbs and answers are those of DRBD 9; no kernel module is needed.\n"
    );
    Ok(Made { name: "basalt", arch: release.program.arch.deb, root, fields })
}

fn symbols_of(release: &Release, symbols: &Symbols, work: &Path) -> Result<Made<'static>> {
    let root = work.join("deb-dbgsym");
    install(&symbols.file, &root.join(&symbols.place), 0o644)?;
    let folder = root.join("usr/share/doc");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // It may hold no other files than symbols; those of the program speak for it.
    symlink("basalt", folder.join("basalt-dbgsym")).context("cannot make a link")?;
    let fields = format!(
        "Depends: basalt (= {})\n\
         Auto-Built-Package: debug-symbols\n\
         Description: debug symbols for basalt\n",
        release.version
    );
    Ok(Made { name: "basalt-dbgsym", arch: release.program.arch.deb, root, fields })
}

fn names(release: &Release, work: &Path) -> Result<Made<'static>> {
    let root = work.join("deb-names");
    let folder = root.join("usr/sbin");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Their pages and completions are files of drbd-utils, which is installed beside it.
    for name in ["drbdadm", "drbdsetup"] {
        symlink("../bin/basalt", folder.join(name)).context("cannot make a link")?;
    }
    document(release, "basalt-drbd-names", &root)?;
    let fields = format!(
        "Depends: basalt (>= {})\n\
         Enhances: drbd-utils\n\
         Description: basalt under the names of the tools of DRBD\n \
         drbdadm and drbdsetup are links to basalt, for scripts and cluster managers\n \
         that call them. Those of drbd-utils, which may be installed beside it, are\n \
         moved to drbdadm.drbd-utils and drbdsetup.drbd-utils while this is installed.\n",
        release.version
    );
    Ok(Made { name: "basalt-drbd-names", arch: "all", root, fields })
}

/// Its changelog and copyright, which each package has.
fn document(release: &Release, name: &str, root: &Path) -> Result<()> {
    let folder = root.join("usr/share/doc").join(name);
    let copyright = release.contents.root.join("usr/share/doc/basalt/copyright");
    install(&copyright, &folder.join("copyright"), 0o644)?;
    let changes = folder.join("changelog");
    write(&changes, &debian_changelog("basalt", &release.version, release.epoch)?)?;
    compress(&changes)
}

/// The libraries with the oldest versions that have what the program uses.
fn libraries(program: &Path, work: &Path) -> Result<String> {
    // The tool wants the folder of a source package around it.
    let source = work.join("shlibdeps");
    write(
        &source.join("debian/control"),
        "Source: basalt\n\nPackage: basalt\nArchitecture: any\n",
    )?;
    let mut shlibdeps = Command::new("dpkg-shlibdeps");
    shlibdeps.current_dir(&source).args(["-O", "--warnings=0"]).arg(program);
    let text = process::output(&mut shlibdeps)?;
    let depends = text.trim().strip_prefix("shlibs:Depends=");
    let depends = depends.with_context(|| {
        format!("{shlibdeps:?} told no libraries, but {text:?}: is the processor another one?")
    })?;
    Ok(depends.to_owned())
}

fn build(release: &Release, made: &Made<'_>, out: &Path) -> Result<PathBuf> {
    let section = if made.name.ends_with("-dbgsym") { "debug" } else { "admin" };
    let control = format!(
        "Package: {}\nSource: basalt\nVersion: {}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {}\nSection: {section}\nPriority: optional\n{}",
        made.name,
        release.version,
        made.arch,
        size_kib(&made.root)?,
        made.fields
    );
    let control = control.replace("Package: basalt\nSource: basalt\n", "Package: basalt\n");
    write(&made.root.join("DEBIAN/control"), &control)?;
    sums(&made.root)?;
    // Folders have the mode that the caller's umask left.
    let mut modes = Command::new("find");
    modes.arg(&made.root).args(["-type", "d", "-exec", "chmod", "0755", "{}", "+"]);
    process::must_succeed(&mut modes)?;
    let path = out.join(format!("{}_{}_{}.deb", made.name, release.version, made.arch));
    let mut dpkg = Command::new("dpkg-deb");
    dpkg.args(["--root-owner-group", "-Zxz", "--build"]).arg(&made.root).arg(&path);
    dpkg.env("SOURCE_DATE_EPOCH", release.epoch.to_string()).stdout(std::io::stderr());
    process::must_succeed(&mut dpkg)?;
    Ok(path)
}

/// As `dpkg --verify` reads them.
fn sums(root: &Path) -> Result<()> {
    let mut sums = Command::new("sh");
    sums.current_dir(root).env("LC_ALL", "C").arg("-c").arg(
        "find . -type f -not -path './DEBIAN/*' -printf '%P\\0' | sort -z | xargs -0 -r md5sum",
    );
    let text = process::output(&mut sums)?;
    write(&root.join("DEBIAN/md5sums"), &text)
}

/// By the rule of Debian: a file takes whole KiB, anything else one. A file system does not matter.
fn size_kib(root: &Path) -> Result<u64> {
    let mut find = Command::new("find");
    find.arg(root).args(["-not", "-path", "*/DEBIAN*", "-printf", "%y %s\\n"]);
    let text = process::output(&mut find)?;
    let size_of = |line: &str| match line.strip_prefix("f ") {
        Some(bytes) => bytes.parse::<u64>().map(|bytes| bytes.div_ceil(1024)),
        None => Ok(1),
    };
    let sizes = text.lines().map(size_of).collect::<Result<Vec<_>, _>>();
    Ok(sizes.with_context(|| format!("find told odd sizes: {text}"))?.iter().sum())
}
