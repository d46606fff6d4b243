//! Who may what: attempts that all fail.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::deaths::{ask, post};
use crate::harness::{Plane, own_port};

fn try_to_join(plane: &Plane, name: &str, word: &str) -> String {
    let words = plane.join_words(name, own_port(), word);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    plane.refused(&words)
}

#[test]
fn pages_in_browsers_and_names_that_lead_here_are_not_answered() {
    let plane = Plane::alone();
    let fine = ask(plane.listen, "GET /basalt/v1/volumes", "Host: LOCALHOST:3370\r\n", "");
    assert!(fine.starts_with("HTTP/1.1 200"), "{fine}");
    for headers in [
        "Host: evil.example\r\n",
        "Host: evil.example:3370\r\n",
        "Host: 10.0.0.1\r\n",
        "Host: localhost\r\nOrigin: http://evil.example\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
        "Host: 127.0.0.1:3370\r\nSec-Fetch-Site: cross-site\r\n",
        "Host: [::1]\r\nSec-Fetch-Site: same-site\r\n",
    ] {
        for line in ["GET /basalt/v1/volumes", "POST /basalt/v1/words", "GET /nothing"] {
            let told = ask(plane.listen, line, headers, "{}");
            assert!(told.starts_with("HTTP/1.1 403"), "{line} {headers}: {told}");
            assert!(told.contains("\"forbidden\""), "{told}");
        }
    }
}

#[test]
fn machine_joins_by_a_word_that_counts_and_by_no_other() {
    let mut plane = Plane::alone();
    let once = plane.ok(&["cluster", "word", "--uses", "1"]);
    let once = once.trim();
    let zeros = "0".repeat(32);
    let wrong_secret = format!("basalt-{zeros}{}", &once[once.len() - 32..]);
    let told = try_to_join(&plane, "n0", &wrong_secret);
    assert!(told.contains("the join word is not known: it expired, or was used up"), "{told}");
    assert!(told.contains("`basalt cluster word`"), "{told}");
    let wrong_cluster = format!("{}{zeros}", &once[..once.len() - 32]);
    let told = try_to_join(&plane, "n0", &wrong_cluster);
    assert!(
        told.contains("cannot reach the controller") && told.contains("UnknownIssuer"),
        "{told}"
    );
    let told = try_to_join(&plane, "n0", "hello");
    assert!(told.contains("\"hello\" is no join word"), "{told}");
    let words = plane.join_words("n0", own_port(), once);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    plane.ok(&words);
    let told = plane.refused(&words);
    assert!(told.contains("this node is in a cluster already"), "{told}");
    let told = try_to_join(&plane, "n1", once);
    assert!(told.contains("it expired, or was used up"), "{told}");
    let short = plane.ok(&["cluster", "word", "--valid", "1"]);
    std::thread::park_timeout(std::time::Duration::from_millis(1100));
    let told = try_to_join(&plane, "n1", short.trim());
    assert!(told.contains("it expired, or was used up"), "{told}");
    plane.join("n1");
    let told = try_to_join(&plane, "N1", &plane.word());
    assert!(told.contains("there is a node \"N1\" already"), "{told}");
    let nodes = plane.json(&["node", "list"]);
    assert_eq!(nodes.as_array().unwrap().len(), 2, "{nodes}");
}

/// Agents' endpoints are not on the clear-text port, and say nothing without a certificate.
#[test]
fn nobody_speaks_for_a_node_without_its_certificate() {
    let plane = Plane::of(1);
    let clear = post(plane.listen, "../../agent/v1/observed", "{}");
    assert!(clear.starts_with("HTTP/1.1 404"), "{clear}");
    let mut stream = TcpStream::connect(plane.agents).unwrap();
    stream.write_all(b"GET /agent/v1/document HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // It may end the connection in any way.
    stream.read_to_end(&mut answer).ok();
    assert!(!answer.starts_with(b"HTTP"), "clear text at the port of agents");
}

/// Another cluster's agent has a certificate, of another authority.
#[test]
fn agent_of_another_cluster_is_turned_away() {
    let (plane, mut other) = (Plane::of(1), Plane::of(1));
    other.kill_agent(0);
    let identity = other.root("n0").join("var/lib/basalt/agent/identity.json");
    let text = std::fs::read_to_string(&identity).unwrap();
    let moved = text.replace(&other.agents.to_string(), &plane.agents.to_string());
    assert_ne!(moved, text);
    std::fs::write(&identity, moved).unwrap();
    let log = plane.folder.path().join("stranger.log");
    let mut stranger = Command::new(env!("CARGO_BIN_EXE_basalt"))
        .args(["agent", "--node-socket", "/nobody", "--state-dir"])
        .arg(identity.parent().unwrap())
        .stdin(Stdio::null())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let told = plane.poll("its refusal", || {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.contains("cannot reach the controller").then_some(text)
    });
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    assert!(told.contains("certificate"), "{told}");
    assert_eq!(plane.json(&["node", "list"]).as_array().unwrap().len(), 1);
}

#[test]
fn controller_answers_people_of_its_own_machine_alone() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_basalt"))
        .args(["controller", "--listen", "0.0.0.0:0", "--state-dir"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("is no address of this machine alone"), "{told}");
}

#[test]
fn requests_that_are_too_long_or_no_json_are_refused_and_the_controller_goes_on() {
    let plane = Plane::alone();
    let long = post(plane.listen, "volumes", &" ".repeat(70 << 10));
    assert!(long.starts_with("HTTP/1.1 413"), "{long}");
    for body in ["", "{", "[]", "null", "{\"name\":1}", "{\"name\":\"db\",\"size_bytes\":-1}"] {
        let answer = post(plane.listen, "volumes", body);
        assert!(answer.starts_with("HTTP/1.1 400"), "{body}: {answer}");
        assert!(answer.contains("\"code\":\"bad-request\""), "{body}: {answer}");
    }
    let nowhere = post(plane.listen, "nothing", "{}");
    assert!(nowhere.starts_with("HTTP/1.1 404"), "{nowhere}");
    plane.ok(&["cluster", "show"]);
}
