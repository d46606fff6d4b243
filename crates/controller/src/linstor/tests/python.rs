//! python-linstor, unmodified, against a controller with pretended agents.
//!
//! It is not a part of this repository. The test runs where the interpreter that
//! `BASALT_PYTHON_LINSTOR` names, or else `python3`, has the package; else it says that it skips.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use crate::pretended::Cluster;

const CLIENT: &str = include_str!("client.py");

#[test]
fn python_linstor_works_unmodified() {
    let python = std::env::var("BASALT_PYTHON_LINSTOR").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import linstor"]).output();
    if !found.is_ok_and(|found| found.status.success()) {
        stdx::testing::skip(&format!("{python} has no python-linstor"));
        return;
    }
    let cluster = Cluster::of(4);
    let port = cluster.address.port().to_string();
    // It is given up at once: nobody listens there while the client calls.
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let run = Command::new(&python).args(["-c", CLIENT, &port, &nobody.to_string()]).output();
    let run = run.unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{out}{err}");
    assert_eq!(out.matches(": ok\n").count(), 6, "{out}");
}
