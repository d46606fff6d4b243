//! `basalt bench puppet`: a cluster that does what another program tells it, line by line.
//!
//! For tests that load the volume with tools of their own: copies, fio, file systems. Every line of
//! standard input is an order, and every line of standard output a JSON object that answers it; the
//! first one tells where the nodes are. All ends with the input.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use frontend::nbd::client::{Connection, Wishes};
use serde_json::{Value, json};

use crate::cluster::{self, Cluster, Node, replicas};
use crate::needs;
use crate::progress::Progress;
use crate::rig;

const ORDERS: &str = "\
Orders, of which NODE is 0, 1 or 2:
  kill NODE..     SIGKILL
  restart NODE..
  whole NODE      wait until all replicas are up to date, with a session at NODE: a primary leads
                  the copy, and a node is primary while it has a client
  compare         end the nodes, then compare their files";

#[derive(Debug, clap::Args)]
#[command(after_help = ORDERS)]
pub(crate) struct Options {
    /// MiB of the volume
    #[arg(long, default_value_t = 256, value_parser = needs::size_mib(1))]
    size_mib: u64,
    /// Where the three backing files go, in a directory that is removed at the end; the system's
    /// temporary folder if left out
    #[arg(long, default_value_os_t = std::env::temp_dir(), hide_default_value = true)]
    place: PathBuf,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    let volume_bytes = options.size_mib << 20;
    cluster::check_room(&options.place, volume_bytes)?;
    let mut progress = Progress::new();
    let plan = cluster::Plan::small(&options.place, volume_bytes);
    let mut cluster = rig::start_cluster(&plan, &mut progress)?;
    print(&json!({ "nodes": cluster.nodes().iter().map(describe).collect::<Vec<_>>() }))?;
    for line in std::io::stdin().lock().lines() {
        let line = line.context("cannot read the orders")?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = obey(&mut cluster, &words, &mut progress)
            .map_err(|error| cluster.with_evidence(&error.context(format!("order `{line}`"))))?;
        print(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(node: &Node) -> Value {
    json!({
        "name": node.name,
        "uri": node.uri().to_string(),
        "local-uri": node.local_uri().to_string(),
    })
}

fn print(answer: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{answer}").and_then(|()| out.flush()).context("cannot print the answer")
}

fn obey(cluster: &mut Cluster, words: &[&str], progress: &mut Progress) -> Result<Value> {
    match words {
        ["kill", nodes @ ..] => {
            indices(nodes)?.into_iter().try_for_each(|index| cluster.kill(index))?;
        }
        ["restart", nodes @ ..] => {
            indices(nodes)?.into_iter().try_for_each(|index| cluster.restart(index))?;
        }
        ["whole", server] => {
            let uri = cluster.nodes()[index(server)?].uri();
            let session = Connection::open(&uri, &Wishes::default())
                .with_context(|| format!("cannot open {uri}"))?;
            rig::wait_until_whole(cluster, progress)?;
            session.close().context("cannot close the session")?;
        }
        ["compare"] => {
            let bytes = data_bytes(cluster)?;
            // A clean end writes back everything, so the files hold all there is.
            cluster.stop()?;
            replicas::compare(&cluster.replicas(), bytes, |_| ())?;
        }
        _ => bail!("no such order; see `basalt bench puppet --help`"),
    }
    Ok(json!({ "done": words.first() }))
}

/// The size of the export: of the backing files all but their metadata.
fn data_bytes(cluster: &Cluster) -> Result<u64> {
    let states = cluster.states();
    let mut devices = states.iter().flatten().flat_map(|state| &state.devices);
    let kib = devices.find_map(|device| device.statistics.map(|statistics| statistics.size));
    Ok(kib.context("no node tells the size of the volume")? << 10)
}

/// Nodes by number; none at all is an error.
fn indices(words: &[&str]) -> Result<Vec<usize>> {
    if words.is_empty() {
        bail!("which node? They are 0, 1 and 2");
    }
    words.iter().map(|word| index(word)).collect()
}

fn index(word: &str) -> Result<usize> {
    match word.parse() {
        Ok(index) if index < cluster::NODE_NAMES.len() => Ok(index),
        Ok(_) | Err(_) => bail!("`{word}` is no node: they are 0, 1 and 2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_named_by_their_numbers() {
        assert_eq!(indices(&["2", "0"]).unwrap(), [2, 0]);
        for words in [&["3"][..], &["-1"], &["alfa"], &["0", "x"], &[]] {
            assert!(indices(words).is_err(), "{words:?}");
        }
    }
}
