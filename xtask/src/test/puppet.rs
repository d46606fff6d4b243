//! Three nodes on this machine that are killed and restarted at our word, while tools of other
//! people work on their volume. The nodes end when this is dropped, or with this process.

use super::basalt;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(super) struct Puppet {
    child: Child,
    /// Taken when it is to end.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    nodes: Vec<Node>,
}

struct Node {
    uri: String,
    local_uri: String,
}

impl Puppet {
    /// Three nodes with a volume, filled and up to date.
    pub(super) fn start(size_mib: u64) -> Result<Self> {
        let mut command = Command::new(basalt::program()?);
        command.args(["bench", "puppet", "--size-mib", &size_mib.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let answers = child.stdout.take().context("a piped child has an output")?;
        let orders = child.stdin.take();
        let answers = BufReader::new(answers);
        let mut puppet = Self { child, orders, answers, nodes: Vec::new() };
        let hello = puppet.answer()?;
        for node in hello["nodes"].as_array().context("a list of nodes")? {
            let text = |name: &str| node[name].as_str().map(str::to_owned).context("an address");
            puppet.nodes.push(Node { uri: text("uri")?, local_uri: text("local-uri")? });
        }
        Ok(puppet)
    }

    /// The export over TCP.
    pub(super) fn uri(&self, node: usize) -> &str {
        &self.nodes[node].uri
    }

    /// The export over a unix socket.
    pub(super) fn local_uri(&self, node: usize) -> &str {
        &self.nodes[node].local_uri
    }

    pub(super) fn kill(&mut self, node: usize) -> Result<()> {
        println!("killing node {node}");
        self.order(&format!("kill {node}")).map(drop)
    }

    pub(super) fn restart(&mut self, node: usize) -> Result<()> {
        self.order(&format!("restart {node}")).map(drop)
    }

    /// Waits until all replicas are up to date and all bitmaps are empty; `server` has a client
    /// meanwhile, and so the volume a primary, which leads the copy.
    pub(super) fn wait_until_whole(&mut self, server: usize) -> Result<()> {
        self.order(&format!("whole {server}")).map(drop)
    }

    /// Ends the nodes and compares the data of their files, byte for byte.
    pub(super) fn compare(mut self) -> Result<()> {
        self.order("compare").map(drop)
    }

    fn order(&mut self, order: &str) -> Result<Value> {
        let orders = self.orders.as_mut().context("it was ended already")?;
        // When it has ended by itself, its own words say more than a broken pipe.
        if writeln!(orders, "{order}").is_err() {
            println!("the nodes are gone");
        }
        self.answer().with_context(|| format!("order `{order}`"))
    }

    fn answer(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.answers.read_line(&mut line).context("cannot read an answer")?;
        if line.is_empty() {
            bail!("the nodes could not do it; what they said is above");
        }
        serde_json::from_str(&line).with_context(|| format!("answer {line:?}"))
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Err(error) = self.child.wait() {
            println!("cannot wait for the nodes: {error}");
        }
    }
}
