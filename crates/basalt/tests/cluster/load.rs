//! `basalt bench verify` as a load: it writes, and reads back what was acknowledged.

use std::process::{Child, Command, Stdio};

use crate::harness::Cluster;

/// Of an export, at whichever of its nodes serves it.
pub(crate) struct Load(Child);

impl Load {
    pub(crate) fn start(cluster: &Cluster, export: &str, nodes: usize, seconds: u32) -> Self {
        let uris: Vec<String> =
            (0..nodes).map(|index| cluster.uri_of(index, export).to_string()).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
        command.args(["bench", "verify", "--json", "--nbd", &uris.join(",")]);
        command.args(["--span-mib", "24", "--seconds", &seconds.to_string()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        Self(child.spawn().unwrap())
    }

    /// More than so many writes were acknowledged, and none of them is lost; the whole report.
    #[track_caller]
    pub(crate) fn loses_nothing(self, writes: u64) -> serde_json::Value {
        let output = self.0.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let report: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert!(output.status.success(), "{said}");
        for field in ["lost", "stale", "torn", "misdirected"] {
            assert_eq!(report[field], 0, "{field} in {said}");
        }
        assert!(report["writes"]["count"].as_u64().unwrap() > writes, "{said}");
        report
    }
}
