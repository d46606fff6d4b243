//! RPMs, by rpmbuild: the program, and its debug symbols.

use super::Release;
use super::contents::{CONFIG, install, write};
use crate::process;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SPEC: &str = "xtask/package/rpm/basalt.spec";

/// The package owns these folders with all below them, some of them together with other packages.
const OWN: &[&str] = &[
    "etc/basalt",
    "etc/basalt.d",
    "usr/lib/basalt",
    "usr/share/basalt",
    "usr/share/bash-completion",
    "usr/share/doc/basalt",
    "usr/share/fish",
    "usr/share/zsh",
];

pub(super) fn make(release: &Release, work: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    let spec = process::repository()?.join(SPEC);
    let top = work.join("rpmbuild");
    let mut names = vec!["basalt"];
    let build = top.join("BUILD");
    write(&build.join("files"), &list(&release.contents.root)?)?;
    let arch = release.program.arch.rpm;
    let mut rpmbuild = Command::new("rpmbuild");
    rpmbuild.args(["-bb", "--quiet", "--target", arch]);
    let mut defines = vec![
        ("_topdir", top.display().to_string()),
        ("basalt_version", release.version.clone()),
        ("basalt_root", release.contents.root.display().to_string()),
        // Our symbols are apart already, and nothing of the tree is to be changed.
        ("debug_package", "%{nil}".to_owned()),
        ("__os_install_post", "%{nil}".to_owned()),
        ("_build_id_links", "none".to_owned()),
        // Nothing of the machine and of the hour gets in.
        ("_buildhost", "localhost".to_owned()),
        ("use_source_date_epoch_as_buildtime", "1".to_owned()),
        ("clamp_mtime_to_source_date_epoch", "1".to_owned()),
    ];
    if let Some(symbols) = &release.program.symbols {
        let root = work.join("rpm-debuginfo");
        install(&symbols.file, &root.join(&symbols.place), 0o644)?;
        let place = format!("%attr(0644, root, root) /{}\n", symbols.place);
        write(&build.join("files-debuginfo"), &place)?;
        defines.push(("basalt_symbols", root.display().to_string()));
        names.push("basalt-debuginfo");
    }
    for (name, value) in &defines {
        rpmbuild.arg("--define").arg(format!("{name} {value}"));
    }
    rpmbuild.arg(&spec).env("SOURCE_DATE_EPOCH", release.epoch.to_string());
    process::must_succeed(rpmbuild.stdout(std::io::stderr()))?;
    let mut files = Vec::new();
    for name in names {
        let name = format!("{name}-{}-1.{arch}.rpm", release.version);
        let (from, to) = (top.join("RPMS").join(arch).join(&name), out.join(&name));
        fs::copy(&from, &to).with_context(|| format!("rpmbuild made no {}", from.display()))?;
        files.push(to);
    }
    Ok(files)
}

/// `%files` of the tree: all files, and the folders that are ours.
fn list(root: &Path) -> Result<String> {
    let mut find = Command::new("find");
    find.arg(root).args(["-type", "f", "-printf", "%m %P\\n"]);
    let text = process::output(&mut find)?;
    let mut lines = text
        .lines()
        .map(|line| {
            let (mode, path) = line.split_once(' ').context("find told no mode")?;
            let config = if path == CONFIG.1 { "%config(noreplace) " } else { "" };
            Ok(format!("{config}%attr({mode}, root, root) /{path}\n"))
        })
        .collect::<Result<Vec<String>>>()?;
    let mut find = Command::new("find");
    find.arg(root).args(["-type", "d", "-printf", "%P\\n"]);
    let is_own = |path: &&str| OWN.iter().any(|own| Path::new(path).starts_with(own));
    let folders = process::output(&mut find)?;
    lines.extend(
        folders
            .lines()
            .filter(is_own)
            .map(|path| format!("%dir %attr(0755, root, root) /{path}\n")),
    );
    lines.sort_unstable();
    Ok(lines.concat())
}
