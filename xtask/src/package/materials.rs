//! The bill of materials of the program, in the form of CycloneDX 1.5: each crate that is linked
//! into it, with version, licence, checksum and what it needs. `cargo metadata` knows all of it.

use super::notices::Crate;
use super::program::Program;
use crate::process;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    description: Option<String>,
    license: Option<String>,
    repository: Option<String>,
    /// None for ours.
    source: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
struct EdgeKind {
    /// None is a dependency of the program itself; others are of tests and of build scripts.
    kind: Option<String>,
}

/// Writes the bill to `path`; which crates from outside it names, and where their sources are.
pub(super) fn write(
    path: &Path,
    version: &str,
    epoch: u64,
    program: &Program,
) -> Result<Vec<Crate>> {
    let platform = format!("{}-unknown-linux-gnu", program.arch.rpm);
    let words = ["metadata", "--locked", "--format-version", "1", "--filter-platform", &platform];
    let text = process::output(&mut process::cargo(&words)?)?;
    let metadata: Metadata = serde_json::from_str(&text).context("cannot read cargo metadata")?;
    let lock = fs::read_to_string(process::repository()?.join("Cargo.lock"))
        .context("cannot read Cargo.lock")?;
    let (bill, crates) = bill(&metadata, &lock, version, &timestamp(epoch)?)?;
    let mut text = serde_json::to_string_pretty(&bill).context("a bill is JSON")?;
    text.push('\n');
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(crates)
}

fn timestamp(epoch: u64) -> Result<String> {
    let mut date = Command::new("date");
    date.args(["--utc", "--date", &format!("@{epoch}"), "+%Y-%m-%dT%H:%M:%SZ"]);
    Ok(process::output(&mut date)?.trim().to_owned())
}

fn bill(
    metadata: &Metadata,
    lock: &str,
    version: &str,
    timestamp: &str,
) -> Result<(Value, Vec<Crate>)> {
    let is_ours = |package: &&Package| package.name == "basalt" && package.source.is_none();
    let root = metadata.packages.iter().find(is_ours).context("cargo knows no crate basalt")?;
    let edges: BTreeMap<&str, Vec<&str>> =
        metadata.resolve.nodes.iter().map(|node| (&*node.id, linked(node))).collect();
    let reached = reached(&root.id, &edges);
    let checksums = checksums(lock);
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (&*package.id, package)).collect();
    let named = |id: &str| packages.get(id).with_context(|| format!("cargo names no {id}"));
    let mut components = BTreeMap::new();
    let mut dependencies = BTreeMap::new();
    let mut crates = Vec::new();
    for id in &reached {
        let package = named(id)?;
        if *id != root.id {
            components.insert(address(package), component(package, &checksums)?);
        }
        if package.source.is_some() {
            let folder = package.manifest_path.parent().context("a manifest is in a folder")?;
            crates.push((format!("{} {}", package.name, package.version), folder.to_owned()));
        }
        let needs = edges.get(id).into_iter().flatten();
        let needs = needs.map(|id| Ok(address(named(id)?))).collect::<Result<BTreeSet<_>>>()?;
        let from = address(package);
        dependencies.insert(from.clone(), json!({ "ref": from, "dependsOn": needs }));
    }
    ensure!(!components.is_empty(), "cargo names nothing that the program is made of");
    let mut main = component(root, &checksums)?;
    main["type"] = json!("application");
    crates.sort_unstable();
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": timestamp,
            "tools": { "components": [
                { "type": "application", "name": "cargo xtask package", "version": version },
            ] },
            "component": main,
        },
        "components": components.into_values().collect::<Vec<_>>(),
        "dependencies": dependencies.into_values().collect::<Vec<_>>(),
    });
    Ok((bill, crates))
}

fn linked(node: &Node) -> Vec<&str> {
    let is_linked = |edge: &&Edge| edge.dep_kinds.iter().any(|of| of.kind.is_none());
    node.deps.iter().filter(is_linked).map(|edge| &*edge.pkg).collect()
}

fn reached<'a>(root: &'a str, edges: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::from([root]), vec![root]);
    while let Some(id) = open.pop() {
        for next in edges.get(id).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

/// Its package URL, the name by which tools that know of flaws look it up.
fn address(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"))
}

fn component(package: &Package, checksums: &BTreeMap<(&str, &str), &str>) -> Result<Value> {
    let license = package
        .license
        .as_deref()
        .with_context(|| format!("{} {} names no licence", package.name, package.version))?;
    // An old way of writing OR, which the form does not know.
    let license = license.replace('/', " OR ");
    let address = address(package);
    let mut component = json!({
        "type": "library",
        "bom-ref": address,
        "name": package.name,
        "version": package.version,
        "purl": address,
        "licenses": [{ "expression": license }],
    });
    if let Some(text) = &package.description {
        component["description"] = json!(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if let Some(url) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": url }]);
    }
    if package.source.is_some() {
        let sum = checksums.get(&(&*package.name, &*package.version));
        let sum = sum.with_context(|| format!("Cargo.lock has no checksum of {address}"))?;
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    Ok(component)
}

/// The checksum of each crate from outside, by name and version.
fn checksums(lock: &str) -> BTreeMap<(&str, &str), &str> {
    let field = |block: &'_ str, name: &str| -> Option<(usize, usize)> {
        let start = block.find(&format!("\n{name} = \""))? + name.len() + 5;
        let length = block[start..].find('"')?;
        Some((start, start + length))
    };
    let blocks = lock.split("[[package]]");
    blocks
        .filter_map(|block| {
            let part = |name: &str| field(block, name).map(|(from, to)| &block[from..to]);
            Some(((part("name")?, part("version")?), part("checksum")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"ours\"\nversion = \"1.0.0\"\n\n\
        [[package]]\nname = \"theirs\"\nversion = \"2.0.0+x\"\nsource = \"registry\"\n\
        checksum = \"ab12\"\n";

    fn metadata() -> Metadata {
        let package = |name: &str, source: Value| {
            json!({ "id": name, "name": name, "version": "2.0.0+x", "license": "MIT/Apache-2.0",
                "source": source, "description": "a\n b", "manifest_path": "/x/Cargo.toml" })
        };
        let edge = |to: &str, kind: Value| json!({ "pkg": to, "dep_kinds": [{ "kind": kind }] });
        serde_json::from_value(json!({
            "packages": [package("basalt", Value::Null), package("theirs", json!("registry")),
                package("tests", json!("registry"))],
            "resolve": { "nodes": [
                { "id": "basalt",
                    "deps": [edge("theirs", Value::Null), edge("tests", json!("dev"))] },
                { "id": "theirs", "deps": [] },
            ] },
        }))
        .expect("the form of cargo")
    }

    #[test]
    fn what_is_linked_is_named_and_nothing_else() {
        let (bill, crates) =
            bill(&metadata(), LOCK, "1.0.0", "1970-01-01T00:00:00Z").expect("a bill");
        assert_eq!(crates, [("theirs 2.0.0+x".to_owned(), PathBuf::from("/x"))]);
        let components = bill["components"].as_array().expect("a list");
        assert_eq!(components.len(), 1, "{components:?}");
        let theirs = &components[0];
        assert_eq!(theirs["purl"], "pkg:cargo/theirs@2.0.0%2Bx");
        assert_eq!(theirs["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(theirs["hashes"][0]["content"], "ab12");
        assert_eq!(theirs["description"], "a b");
        assert_eq!(bill["metadata"]["component"]["name"], "basalt");
        assert_eq!(bill["dependencies"][0]["dependsOn"], json!(["pkg:cargo/theirs@2.0.0%2Bx"]));
    }

    #[test]
    fn a_crate_without_a_checksum_or_a_licence_is_refused() {
        let told = |metadata: &Metadata, lock: &str| {
            bill(metadata, lock, "1.0.0", "").expect_err("it lacks something").to_string()
        };
        assert!(told(&metadata(), "").contains("no checksum of pkg:cargo/theirs"));
        let mut metadata = metadata();
        metadata.packages[1].license = None;
        assert!(told(&metadata, LOCK).contains("theirs 2.0.0+x names no licence"));
    }
}
