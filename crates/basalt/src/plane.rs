//! The tools of the control plane: `basalt cluster`, `volume`, `pool`, `node list`, `operation`,
//! and the two processes behind them, `controller` and `agent`.

mod asking;
mod cluster;
mod processes;
mod services;
mod tables;
mod trouble;
mod volumes;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use api::cluster::{LISTEN_DEFAULT, NewPool, NodeView, OperationView, PoolKind, PoolView};

use crate::plane::asking::Asking;
use crate::plane::tables::{Table, amount};
use crate::plane::trouble::Trouble;
use crate::refused::{self, Form, Refusal};
use crate::values::address;

/// Where the tools find the controller, and how they answer.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Common {
    /// Address of the controller
    #[arg(long, value_name = "ADDRESS:PORT", default_value = LISTEN_DEFAULT, value_parser = address,
        global = true)]
    controller: SocketAddr,

    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

impl Common {
    fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}

/// A command, for messages.
type Verb = &'static str;
/// A command that ended, and what it tells.
type Ended = (Verb, Form, Result<String, Trouble>);

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make a cluster of this machine, let others in, and look at it
    Cluster {
        #[command(subcommand)]
        verb: cluster::Command,
        #[command(flatten)]
        common: Common,
    },
    /// Create, look at and delete volumes of the cluster
    Volume {
        #[command(subcommand)]
        verb: volumes::Command,
        #[command(flatten)]
        common: Common,
    },
    /// Look at the places for volumes, and add one
    Pool {
        #[command(subcommand)]
        verb: Pool,
        #[command(flatten)]
        common: Common,
    },
    /// Look at what was asked of the cluster
    Operation {
        #[command(subcommand)]
        verb: Operation,
        #[command(flatten)]
        common: Common,
    },
    /// Run the control plane of a cluster
    Controller(services::Controller),
    /// Run the agent of this machine, which does what the controller wants
    Agent(services::Agent),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Pool {
    /// Show all pools
    List,
    /// Let volumes lie in a folder of a node
    Add {
        /// Full size from the start, and not sparse files
        #[arg(long)]
        full: bool,
        /// The node
        node: String,
        /// Name of the pool; pools of several nodes may have the same
        name: String,
        /// The folder; it is made if it is not there
        folder: String,
    },
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Operation {
    /// Show the last operations
    List,
    /// Show one, and what it waits for
    Show {
        /// Its number
        #[arg(value_parser = config::number::number::<u64>(1, u64::MAX, ""))]
        operation: u64,
    },
}

pub(crate) fn main(command: Command) -> ExitCode {
    end(match command {
        Command::Controller(options) => return services::controller(options),
        Command::Agent(options) => return services::agent(options),
        Command::Cluster { verb, common } => cluster::run(verb, &common),
        Command::Volume { verb, common } => volumes::run(verb, &common),
        Command::Pool { verb, common } => pool(verb, &common),
        Command::Operation { verb, common } => operation(&verb, &common),
    })
}

/// `basalt node list` and `lost`: the word `node` alone is the daemon.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Node {
    /// Show the nodes of the cluster
    List,
    /// Go on without a node for good: it is broken, or was installed anew
    Lost {
        /// The node
        name: String,
    },
}

pub(crate) fn node(verb: Node, common: &Common) -> ExitCode {
    let asking = Asking::of(common);
    let (verb, told) = match verb {
        Node::List => {
            let nodes = asking.get("nodes");
            ("node list", nodes.and_then(|it| told_nodes(common, it)))
        }
        Node::Lost { name } => {
            let lost = asking.delete::<()>(&format!("nodes/{}", asking::encoded(&name)));
            let text = format!(
                "{name} is no node of the cluster any more\nnext: `basalt volume list` shows which \
                 volumes have fewer replicas now\n"
            );
            let told = |()| {
                if common.json {
                    tables::json(&serde_json::json!({ "lost": name }))
                } else {
                    Ok(text)
                }
            };
            ("node lost", lost.and_then(told))
        }
    };
    end((verb, common.form(), told))
}

fn end((verb, form, told): Ended) -> ExitCode {
    match told {
        // In JSON the answer is the controller's own.
        Ok(text) => refused::done(verb, &text, Form::Text),
        Err(trouble) => {
            let refusal = Refusal {
                verb,
                code: trouble.code(),
                file: None,
                message: trouble.to_string(),
                to_try: trouble.to_try(),
                exit: 1,
            };
            refused::tell(&[refusal], form)
        }
    }
}

fn told_nodes(common: &Common, nodes: Vec<NodeView>) -> Result<String, Trouble> {
    if common.json {
        return tables::json(&nodes);
    }
    let mut table = Table::new(["NODE", "ADDRESS", "STATE", "POOLS", "FREE"]);
    for node in nodes {
        let state = match (node.online, node.heard_ms_ago, node.problem) {
            (true, _, Some(problem)) => problem,
            (true, _, None) => "online".to_owned(),
            (false, Some(ago), _) => format!("offline for {} s", ago / 1000),
            (false, None, _) => "offline".to_owned(),
        };
        let names: Vec<_> = node.pools.iter().map(|pool| pool.name.as_str()).collect();
        let free: Option<u64> = node.pools.iter().map(|pool| pool.free_bytes).sum();
        let free = free.map_or_else(|| "-".to_owned(), amount);
        table.row([node.name, node.address, state, names.join(", "), free]);
    }
    Ok(table.text())
}

fn pool(verb: Pool, common: &Common) -> Ended {
    let asking = Asking::of(common);
    match verb {
        Pool::List => {
            let pools = asking.get("pools");
            ("pool list", common.form(), pools.and_then(|it| told_pools(common, it)))
        }
        Pool::Add { full, node, name, folder } => {
            let kind = if full { PoolKind::File } else { PoolKind::FileThin };
            let made = asking.post("pools", &NewPool { node, name, kind, location: folder });
            ("pool add", common.form(), made.and_then(|it: PoolView| told_pools(common, vec![it])))
        }
    }
}

fn told_pools(common: &Common, pools: Vec<PoolView>) -> Result<String, Trouble> {
    if common.json {
        return tables::json(&pools);
    }
    let mut table =
        Table::new(["POOL", "NODE", "KIND", "SIZE", "FREE", "PROMISED", "REPLICAS", "FOLDER"]);
    for pool in pools {
        let bytes = |it: Option<u64>| it.map_or_else(|| "-".to_owned(), amount);
        let kind = match pool.kind {
            PoolKind::File => "FILE",
            PoolKind::FileThin => "FILE_THIN",
        };
        table.row([
            pool.name,
            pool.node,
            kind.to_owned(),
            bytes(pool.total_bytes),
            bytes(pool.free_bytes),
            amount(pool.promised_bytes),
            pool.replicas.to_string(),
            pool.location,
        ]);
    }
    Ok(table.text())
}

fn operation(verb: &Operation, common: &Common) -> Ended {
    let asking = Asking::of(common);
    match verb {
        Operation::List => {
            let all = asking.get("operations");
            ("operation list", common.form(), all.and_then(|it| told_operations(common, it)))
        }
        Operation::Show { operation } => {
            let one = asking.get(&format!("operations/{operation}"));
            let told = one.and_then(|it: OperationView| told_operations(common, vec![it]));
            ("operation show", common.form(), told)
        }
    }
}

fn told_operations(common: &Common, operations: Vec<OperationView>) -> Result<String, Trouble> {
    if common.json {
        return tables::json(&operations);
    }
    let mut table = Table::new(["OPERATION", "KIND", "VOLUME", "STATE", "TOOK", "TOLD"]);
    for it in operations {
        let took = it.ended_ms.map_or_else(
            || "-".to_owned(),
            |ended| {
                format!(
                    "{:.1} s",
                    std::time::Duration::from_millis(ended.saturating_sub(it.began_ms))
                        .as_secs_f64()
                )
            },
        );
        let words = [tables::word(&it.kind), tables::word(&it.state)];
        let [kind, state] = words;
        table.row([it.id.to_string(), kind, it.object, state, took, it.told]);
    }
    Ok(table.text())
}

/// Where a machine keeps what belongs to Basalt.
#[derive(Clone, Debug)]
pub(crate) struct Root(PathBuf);

impl Root {
    fn at(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }
}
