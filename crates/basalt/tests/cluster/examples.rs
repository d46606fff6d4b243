//! The NBD client in the folder `examples`, which is forty lines of Python, against a daemon.

use std::path::Path;
use std::process::{Command, Output};

use stdx::testing::skip;

use crate::BLOCK;
use crate::harness::{Cluster, own_port, pattern};

/// What the client says of this volume; `None` where there is no Python.
fn client_of(port: u16, volume: &str) -> Option<Output> {
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nbd_client.py");
    let mut command = Command::new("python3");
    let command = command.arg(client).args(["127.0.0.1", &port.to_string(), volume]);
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        output => Some(output.unwrap()),
    }
}

#[test]
fn client_in_python_writes_a_block_and_puts_back_what_was_there() {
    let mut cluster = Cluster::prepare(3, 0);
    let address = own_port();
    cluster.nodes[0].words = vec!["--nbd".to_owned(), address.to_string()];
    cluster.begin();
    cluster.make_in_sync();
    let before = pattern(0, 1);
    cluster.client(0).write(0, &before).unwrap();

    let Some(done) = client_of(address.port(), "r0") else {
        skip("python3 is not installed");
        return;
    };
    assert!(done.status.success(), "{done:?}");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "the block reads back as it was written\n");
    let mut after = [0; BLOCK];
    cluster.client(0).read(0, &mut after).unwrap();
    assert_eq!(after, before);

    let refused = client_of(address.port(), "nothing").unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.starts_with("the server refuses: "), "{said}");
}
