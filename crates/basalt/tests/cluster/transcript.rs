//! Runs the operator guide's chapter of typical configurations: what it shows is what happens.
//!
//! Each `##` of the chapter is a site of its own: a block `res` is the configuration, blocks
//! `console` are what is typed (`NODE# COMMAND`) and printed. `<N>` stands for a number, `<..>` for
//! any text in a line. What only looks (`status` and its like) is asked again until it prints
//! what the chapter says, for a while; everything else is done once.
//!
//! Nodes are daemons on loopback: addresses and disks of the chapter stand for free ports and files
//! of this test, between any two nodes lies a relay, so that a link can go down, and `dd` onto the
//! device writes over NBD, for which no kernel is needed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use frontend::nbd::client::uri::Uri;
use frontend::nbd::client::{Connection, Wishes};
use io::now;
use stdx::child::HeldChild;
use tempfile::TempDir;

use crate::harness::own_port;
use crate::relay::{Mode, Relay};

const CHAPTER: &str = "docs/operate/as-with-drbd.md";
const WAIT: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(50);
const DISK_BYTES: u64 = 64 << 20;
/// What `status` adds on machines that refuse io_uring; the chapter is of others.
const UNUSUAL_WAY: &str = " io:poll";
/// What only looks at the state.
const LOOKS: [&str; 5] = ["status", "role", "cstate", "dstate", "events2"];

/// One `##` of the chapter.
#[derive(Default)]
struct Section {
    title: String,
    config: String,
    steps: Vec<Step>,
}

struct Step {
    line: usize,
    node: String,
    command: String,
    printed: Vec<String>,
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut block = "";
    for (number, line) in text.lines().enumerate() {
        if let Some(kind) = line.strip_prefix("```") {
            block = if block.is_empty() { kind } else { "" };
            continue;
        }
        if let Some(title) = line.strip_prefix("## ").filter(|_| block.is_empty()) {
            sections.push(Section { title: title.to_owned(), ..Section::default() });
        }
        let Some(section) = sections.last_mut() else { continue };
        match block {
            "res" => section.config += &format!("{line}\n"),
            "console" => match line.split_once("# ") {
                Some((node, command)) if !node.is_empty() && !node.contains(' ') => {
                    section.steps.push(Step {
                        line: number + 1,
                        node: node.to_owned(),
                        command: command.to_owned(),
                        printed: Vec::new(),
                    });
                }
                Some(_) | None => {
                    section.steps.last_mut().unwrap().printed.push(line.to_owned());
                }
            },
            _ => {}
        }
    }
    sections.retain(|section| !section.steps.is_empty());
    sections
}

struct Node {
    name: String,
    folder: PathBuf,
    daemon: Option<HeldChild>,
}

/// The nodes of one section.
struct Site {
    folder: TempDir,
    nodes: Vec<Node>,
    /// An address of the chapter, its node, and what stands for it.
    addresses: Vec<(String, usize, SocketAddr)>,
    /// From a node to an address.
    relays: BTreeMap<(usize, String), Relay>,
}

/// What stands behind each `KEYWORD ` in a text, up to a blank or a semicolon.
fn words_after<'t>(text: &'t str, keyword: &str) -> Vec<&'t str> {
    let ends = |it: char| it.is_whitespace() || it == ';';
    let pieces = text.split(keyword).skip(1);
    pieces.map(|piece| piece.split(ends).next().unwrap()).collect()
}

impl Site {
    fn build(section: &Section) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut nodes = Vec::new();
        for name in words_after(&section.config, "  on ") {
            let home = folder.path().join(name);
            fs::create_dir_all(home.join("bin")).unwrap();
            symlink(env!("CARGO_BIN_EXE_basalt"), home.join("bin/drbdadm")).unwrap();
            nodes.push(Node { name: name.to_owned(), folder: home, daemon: None });
        }
        let mut names = words_after(&section.config, "address ");
        names.sort_unstable();
        names.dedup();
        // The last number of an address is that of its node, from 1 on.
        let owner = |name: &str| {
            let host = name.split(':').next().unwrap().rsplit('.').next().unwrap();
            host.parse::<usize>().unwrap() - 1
        };
        let addresses: Vec<(String, usize, SocketAddr)> =
            names.iter().map(|name| ((*name).to_owned(), owner(name), own_port())).collect();
        let mut relays = BTreeMap::new();
        for from in 0..nodes.len() {
            for (name, _, address) in addresses.iter().filter(|(_, to, _)| *to != from) {
                relays.insert((from, name.clone()), Relay::to(*address));
            }
        }
        let mut site = Self { folder, nodes, addresses, relays };
        for index in 0..site.nodes.len() {
            site.configure(index, &section.config);
        }
        site
    }

    /// The configuration as this node has it; its disks are made.
    fn configure(&mut self, index: usize, config: &str) {
        let node = &self.nodes[index];
        for disk in words_after(config, "disk /").into_iter().map(|disk| format!("/{disk}")) {
            let path = self.local(index, &disk);
            fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
            File::create(path).unwrap().set_len(DISK_BYTES).unwrap();
        }
        let text = self.local(index, config);
        fs::write(node.folder.join("r0.res"), text).unwrap();
    }

    /// A text of the chapter as this node has to read it.
    fn local(&self, index: usize, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, owner, address) in &self.addresses {
            let relay = self.relays.get(&(index, name.clone()));
            let seen = if *owner == index { *address } else { relay.unwrap().address };
            text = text.replace(name, &seen.to_string());
        }
        let folder = self.nodes[index].folder.display();
        text.replace("/srv/", &format!("{folder}/srv/"))
    }

    /// What a program printed, as the chapter would have it.
    fn printed(&self, index: usize, text: &str) -> String {
        let folder = self.nodes[index].folder.display();
        let mut text = text.replace(&format!("{folder}/srv/"), "/srv/");
        for (name, owner, address) in &self.addresses {
            let relay = self.relays.get(&(index, name.clone()));
            let seen = if *owner == index { *address } else { relay.unwrap().address };
            text = text.replace(&seen.to_string(), name);
        }
        text
    }

    fn index(&self, name: &str) -> usize {
        self.nodes.iter().position(|node| node.name == name).expect("a node of the configuration")
    }

    /// Does what was typed at a node, and says what was printed.
    fn type_in(&mut self, index: usize, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        match words[..] {
            ["drbdadm", ..] => return self.drbdadm(index, &words[1..]),
            ["systemctl", "start", "basalt-node"] => self.launch(index),
            ["systemctl", "stop", "basalt-node"] => self.terminate(index),
            ["systemctl", "kill", "--signal=KILL", "basalt-node"] => self.kill(index),
            ["ip", "link", "set", link, way @ ("up" | "down")] => self.set_link(index, link, way),
            ["truncate", "-s", size, path] => self.truncate(index, size, path),
            ["dd", ..] => self.write(index, command),
            _ => panic!("the test does not know how to do `{command}`"),
        }
        String::new()
    }

    fn drbdadm(&self, index: usize, words: &[&str]) -> String {
        let node = &self.nodes[index];
        let mut command = Command::new(node.folder.join("bin/drbdadm"));
        command.arg("-c").arg(node.folder.join("r0.res")).args(words);
        if words[0] == "create-md" {
            command.args(["--node", &node.name]);
        }
        command.env("BASALT_ADMIN_SOCKET", node.folder.join("state/admin.sock"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        self.printed(index, &(text + &String::from_utf8(output.stderr).unwrap()))
    }

    fn launch(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        let log = File::options().create(true).append(true).open(node.folder.join("log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
        command.args(["node", "--exit-with-parent", "--shards", "1", "--name", &node.name]);
        command.arg("--state-dir").arg(node.folder.join("state"));
        command.arg("--nbd-unix").arg(node.folder.join("nbd"));
        node.daemon = Some(command.stdin(Stdio::null()).stderr(log).spawn().unwrap().into());
        let deadline = now() + WAIT;
        while self.drbdadm(index, &["status"]).contains("cannot reach") {
            assert!(now() < deadline, "the daemon does not answer");
            thread::park_timeout(POLL);
        }
    }

    fn terminate(&mut self, index: usize) {
        let mut daemon = self.nodes[index].daemon.take().expect("it was started");
        let id = daemon.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        assert!(daemon.wait().unwrap().success());
    }

    fn kill(&mut self, index: usize) {
        let mut daemon = self.nodes[index].daemon.take().expect("it was started");
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }

    /// `eth0` has the addresses 10.0.0.x, `eth1` those in 10.0.1.x.
    fn set_link(&self, index: usize, link: &str, way: &str) {
        let network = format!("10.0.{}.", link.strip_prefix("eth").unwrap());
        let mode = if way == "up" { Mode::Open } else { Mode::Silent };
        for ((from, name), relay) in &self.relays {
            let (_, to, _) = self.addresses.iter().find(|(it, ..)| it == name).unwrap();
            if name.starts_with(&network) && (*from == index || *to == index) {
                relay.set(mode);
            }
        }
    }

    fn truncate(&self, index: usize, size: &str, path: &str) {
        let mib: u64 = size.strip_suffix('M').unwrap().parse().unwrap();
        let path = self.local(index, path);
        fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        File::create(path).unwrap().set_len(mib << 20).unwrap();
    }

    /// `dd .. of=/dev/basalt/by-res/RES/VOLUME bs=1M count=N`, through the export.
    fn write(&self, index: usize, command: &str) {
        let word = |name: &str| words_after(command, name)[0].to_owned();
        assert_eq!(word("bs="), "1M");
        let export = word("of=").strip_prefix("/dev/basalt/by-res/").unwrap().to_owned();
        let count: u64 = word("count=").parse().unwrap();
        let socket = self.nodes[index].folder.join("nbd");
        let uri: Uri = format!("nbd+unix:///{export}?socket={}", socket.display()).parse().unwrap();
        let deadline = now() + WAIT;
        let mut client = loop {
            match Connection::open(&uri, &Wishes::default()) {
                Ok(client) => break client,
                Err(error) => assert!(now() < deadline, "no session of a client: {error}"),
            }
            thread::park_timeout(POLL);
        };
        for part in 0..count {
            let bytes: Vec<u8> =
                (0..1 << 20).map(|at| u8::try_from((at + part) % 251).unwrap()).collect();
            client.write(part << 20, &bytes).unwrap();
        }
        client.flush().unwrap();
        client.close().unwrap();
    }

    #[track_caller]
    fn follow(&mut self, step: &Step) {
        let index = self.index(&step.node);
        let is_look = step.command.split(' ').any(|word| LOOKS.contains(&word));
        let deadline = now() + WAIT;
        loop {
            let printed = self.type_in(index, &step.command);
            let printed = printed.replace(UNUSUAL_WAY, "");
            let lines: Vec<&str> = printed.lines().filter(|line| !line.is_empty()).collect();
            let wanted: Vec<&str> =
                step.printed.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
            let is_same = lines.len() == wanted.len()
                && lines.iter().zip(&wanted).all(|(line, wanted)| matches(wanted, line));
            if is_same {
                return;
            }
            assert!(
                is_look && now() < deadline,
                "{CHAPTER}:{}: {}# {}\nprinted:\n{printed}\nand should print:\n{}",
                step.line,
                step.node,
                step.command,
                wanted.join("\n")
            );
            thread::park_timeout(POLL);
        }
    }
}

impl Drop for Site {
    #[expect(clippy::print_stdout, reason = "what the daemons of a failed test said")]
    fn drop(&mut self) {
        for node in &mut self.nodes {
            drop(node.daemon.take());
            if thread::panicking() {
                let log = fs::read_to_string(node.folder.join("log")).unwrap_or_default();
                println!("---- {} said in {}:\n{log}", node.name, self.folder.path().display());
            }
        }
    }
}

/// Whether a line is the wanted one, with its placeholders.
fn matches(wanted: &str, line: &str) -> bool {
    let Some((before, rest)) = wanted.split_once('<') else { return wanted == line };
    let Some((kind, after)) = rest.split_once('>') else { return wanted == line };
    let Some(line) = line.strip_prefix(before) else { return false };
    match kind {
        "N" => {
            let end = line.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(line.len());
            end > 0 && matches(after, &line[end..])
        }
        ".." => {
            (0..=line.len()).any(|end| line.is_char_boundary(end) && matches(after, &line[end..]))
        }
        _ => wanted == line,
    }
}

fn run(number: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(CHAPTER);
    let text = fs::read_to_string(path).unwrap();
    let sections = sections(&text);
    assert_eq!(sections.len(), SECTIONS, "each section has a test below");
    let section = &sections[number];
    let mut site = Site::build(section);
    for step in &section.steps {
        site.follow(step);
    }
    assert!(section.steps.len() > 5, "{} is told in a few steps", section.title);
}

const SECTIONS: usize = 5;

#[test]
fn two_nodes_and_a_witness_do_what_the_guide_says() {
    run(0);
}

#[test]
fn three_nodes_do_what_the_guide_says() {
    run(1);
}

#[test]
fn client_with_two_paths_does_what_the_guide_says() {
    run(2);
}

#[test]
fn external_metadata_does_what_the_guide_says() {
    run(3);
}

#[test]
fn two_volumes_in_one_resource_do_what_the_guide_says() {
    run(4);
}

#[test]
fn placeholders_stand_for_numbers_and_text_alone() {
    assert!(matches("done:<N> of <..>.", "done:37.50 of all this."));
    assert!(!matches("done:<N>", "done:"));
    assert!(!matches("done:<N>", "done:x"));
    assert!(!matches("<..> end", "no END"));
    assert!(matches("a < b", "a < b"));
}
