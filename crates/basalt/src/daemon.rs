//! `basalt node`: the daemon.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Runs the daemon of this machine: it keeps the resources that were brought up with
/// `basalt adm up`, and serves their volumes over NBD.
#[derive(Debug, Parser)]
#[command(name = "basalt node", version)]
struct Arguments {
    /// Name of this node, as in the `on` sections of the configuration.
    #[arg(long)]
    name: String,

    /// Directory for what the node must not lose; it is made if it is not there.
    #[arg(long, value_name = "DIR")]
    state_dir: PathBuf,

    /// Serve NBD clients on this address; may be given more than once.
    #[arg(long, value_name = "ADDRESS:PORT")]
    nbd: Vec<SocketAddr>,

    /// Serve NBD clients on this unix socket; may be given more than once.
    #[arg(long, value_name = "PATH")]
    nbd_unix: Vec<PathBuf>,

    /// Threads that carry data; as many as the machine has cores, at most 8, if not given.
    #[arg(long)]
    shards: Option<u8>,

    /// End when the process that started the daemon ends.
    #[arg(long)]
    exit_with_parent: bool,
}

/// Runs `basalt node` with the words that follow `node`.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words = std::iter::once(OsString::from("basalt node")).chain(arguments);
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            let exit = if error.use_stderr() { 2 } else { 0 };
            return if error.print().is_ok() { ExitCode::from(exit) } else { ExitCode::FAILURE };
        }
    };
    let options = node::Options {
        name: arguments.name,
        state_dir: arguments.state_dir,
        nbd: arguments.nbd,
        nbd_unix: arguments.nbd_unix,
        shards: arguments.shards.unwrap_or_else(node::default_shards),
        exit_with_parent: arguments.exit_with_parent,
    };
    match node::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            node::log_fatal(&error);
            ExitCode::FAILURE
        }
    }
}
