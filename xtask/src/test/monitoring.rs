//! What Prometheus says to our metrics, and to the alert rules in docs/monitoring.

use super::basalt;
use super::scratch::Scratch;
use crate::outcome::Outcome;
use crate::process::{self, Stopwatch};
use anyhow::{Context as _, Result, bail, ensure};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[path = "../../../crates/bench/src/ports.rs"]
mod ports;

const START_LIMIT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

pub(super) fn run() -> Result<Outcome> {
    let rules = process::repository()?.join("docs/monitoring");
    let mut outcome = Outcome::default();
    for words in [["check", "rules", "rules.yml"], ["test", "rules", "rules_test.yml"]] {
        let mut promtool = Command::new("promtool");
        promtool.args(words).current_dir(&rules);
        outcome += Outcome::of(process::status(&mut promtool)?);
    }
    let scratch = Scratch::new("monitoring")?;
    let text = metrics_of_a_daemon(scratch.path())?;
    for family in ["drbd_device_quorum", "basalt_write_latency_seconds_bucket"] {
        ensure!(text.contains(family), "{family} is missing in {text}");
    }
    outcome += check_metrics(&text)?;
    Ok(outcome)
}

/// What a daemon exports that has one resource, whose other node is not there.
fn metrics_of_a_daemon(place: &Path) -> Result<String> {
    let claimed = ports::claim_ports(Ipv4Addr::LOCALHOST, 2)?;
    let [metrics, own] = [claimed[0], claimed[1]];
    let disk = place.join("disk");
    File::create(&disk)?.set_len(64 << 20)?;
    let config = place.join("r0.res");
    let text = format!(
        "resource r0 {{ volume 0 {{ device minor 1; disk {}; meta-disk internal; }}
           on a {{ node-id 0; address {own}; }} on b {{ node-id 1; address 127.0.0.1:1; }} }}",
        disk.display()
    );
    fs::write(&config, text)?;
    let state = place.join("state");
    let mut daemon = Command::new(basalt::program()?);
    daemon.args(["node", "--exit-with-parent", "--name", "a", "--metrics", &metrics.to_string()]);
    daemon.arg("--state-dir").arg(&state).stdin(Stdio::null());
    let daemon = daemon.spawn().context("cannot start a daemon")?;
    let _running = Running(daemon);
    wait_for(&metrics)?;
    for words in [&["create-md", "--node", "a", "r0"][..], &["up", "r0"]] {
        let mut adm = Command::new(basalt::program()?);
        adm.arg("adm").arg("-c").arg(&config).arg("--node-socket").arg(state.join("admin.sock"));
        process::must_succeed(adm.args(words))?;
    }
    scrape(&metrics)
}

/// A daemon that ends with the step.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn wait_for(address: &SocketAddr) -> Result<()> {
    let watch = Stopwatch::start();
    while watch.elapsed() < START_LIMIT {
        if TcpStream::connect(address).is_ok() {
            return Ok(());
        }
        std::thread::park_timeout(POLL_INTERVAL);
    }
    bail!("the daemon did not listen on {address} within {} s", START_LIMIT.as_secs())
}

fn scrape(address: &SocketAddr) -> Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: basalt\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the answer has no head")?;
    ensure!(head.starts_with("HTTP/1.1 200 OK\r\n"), "the answer is {head}");
    Ok(body.to_owned())
}

/// promtool exits with 3 where the names are not to its taste: those of drbd-reactor are not.
fn check_metrics(text: &str) -> Result<Outcome> {
    let mut command = Command::new("promtool");
    command.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = command.spawn().context("cannot start promtool")?;
    let mut input = promtool.stdin.take().context("a piped child has an input")?;
    input.write_all(text.as_bytes())?;
    drop(input);
    let output = promtool.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| !line.starts_with("drbd_")).collect();
    if ours.is_empty() && matches!(output.status.code(), Some(0 | 3)) {
        return Ok(Outcome::PASSED);
    }
    println!("promtool ended with {} and said: {}", output.status, ours.join("\n"));
    Ok(Outcome::FAILED)
}
