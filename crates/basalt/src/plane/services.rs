//! `basalt controller` and `basalt agent`: the processes.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use api::client::SOCKET_PATH_DEFAULT;
use api::cluster::LISTEN_DEFAULT;

use crate::values::address;

#[derive(Debug, clap::Args)]
pub(crate) struct Controller {
    /// Folder for the store and the keys of the cluster
    #[arg(long, value_name = "DIR", default_value = "/var/lib/basalt/controller")]
    state_dir: PathBuf,

    /// Answer people and tools of this machine here, without a password
    #[arg(long, value_name = "ADDRESS:PORT", default_value = LISTEN_DEFAULT,
        value_parser = address)]
    listen: SocketAddr,

    /// Answer agents here, over TLS
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:3372",
        value_parser = address)]
    agents: SocketAddr,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Agent {
    /// Folder that `basalt cluster join` made
    #[arg(long, value_name = "DIR", default_value = "/var/lib/basalt/agent")]
    state_dir: PathBuf,

    /// Admin socket of the data daemon
    #[arg(long, value_name = "PATH", default_value = SOCKET_PATH_DEFAULT)]
    node_socket: PathBuf,
}

pub(crate) fn controller(options: Controller) -> ExitCode {
    let Controller { state_dir, listen, agents } = options;
    end("controller", controller::run(&controller::Options { state_dir, listen, agents }))
}

pub(crate) fn agent(options: Agent) -> ExitCode {
    let Agent { state_dir, node_socket } = options;
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return end("agent", Err::<(), _>(error)),
    };
    end("agent", agent::run(&agent::Options { state_dir, socket: node_socket, program }))
}

fn end<E: std::fmt::Display>(name: &str, result: Result<(), E>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    // Without a standard error nobody can be told.
    drop(writeln!(std::io::stderr(), "basalt {name}: {error}"));
    ExitCode::FAILURE
}
