//! Runs the operator guide's chapters that show what is typed: what they show is what happens.
//!
//! Each `##` of the chapter of typical configurations is a site of its own, and the first page is
//! one as a whole: a block `res` is the configuration, blocks `console` are what is typed
//! (`NODE# COMMAND`) and printed. `<N>` stands for a number, `<..>` for any text in a line. What
//! only looks (`status` and its like) is asked again until it prints what the chapter says, for a
//! while; everything else is done once.
//!
//! Nodes are daemons on loopback: addresses and disks of the chapter stand for free ports and files
//! of this test, between any two nodes lies a relay, so that a link can go down. No kernel is
//! needed for the block device: `dd` onto it writes over NBD, and `mkfs`, `mount` and what happens
//! below the mount work on an image (`mounted.rs`) that goes to the volume and comes from it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use frontend::nbd::client::uri::Uri;
use io::now;
use stdx::child::HeldChild;
use stdx::testing::skip;
use tempfile::TempDir;

use crate::harness::own_port;
use crate::mounted::{self, Mounted, attach};
use crate::relay::{Mode, Relay};

const CONFIGURATIONS: Chapter = Chapter { path: "docs/operate/as-with-drbd.md", mark: "## " };
const START: Chapter = Chapter { path: "docs/operate/start.md", mark: "# " };
const WAIT: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(50);
const DISK_BYTES: u64 = 64 << 20;
/// What `status` adds on machines that refuse io_uring; the chapter is of others.
const UNUSUAL_WAY: &str = " io:poll";
/// Where the disks of a chapter lie: below a node's own folder here.
const OWN_FOLDERS: [&str; 2] = ["/srv/", "/dev/vg/"];
/// What only looks at the state.
const LOOKS: [&str; 5] = ["status", "role", "cstate", "dstate", "events2"];

struct Chapter {
    /// From the top of the repository.
    path: &'static str,
    /// A heading that begins a section.
    mark: &'static str,
}

/// What stands behind one heading of a chapter.
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

fn sections(text: &str, mark: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut block = "";
    for (number, line) in text.lines().enumerate() {
        if let Some(kind) = line.strip_prefix("```") {
            block = if block.is_empty() { kind } else { "" };
            continue;
        }
        if let Some(title) = line.strip_prefix(mark).filter(|_| block.is_empty()) {
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
    power: Power,
    /// The file system that it has mounted, or made.
    mounted: Option<Mounted>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Power {
    On,
    Off,
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
            let (name, power) = (name.to_owned(), Power::On);
            nodes.push(Node { name, folder: home, daemon: None, power, mounted: None });
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
        OWN_FOLDERS.iter().fold(text, |text, own| text.replace(own, &format!("{folder}{own}")))
    }

    /// What a program printed, as the chapter would have it.
    fn printed(&self, index: usize, text: &str) -> String {
        let folder = self.nodes[index].folder.display();
        let mut text = text.replace(&folder.to_string(), "");
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
        if self.nodes[index].power == Power::Off {
            self.switch_on(index);
        }
        match words[..] {
            ["drbdadm", ..] => return self.ask(index, &words),
            ["basalt", "adm", ..] => return self.ask(index, &words),
            ["systemctl", "start", "basalt-node"]
            | ["systemctl", "enable", "--now", "basalt-node"] => self.launch(index),
            ["systemctl", "stop", "basalt-node"] => self.terminate(index),
            ["systemctl", "kill", "--signal=KILL", "basalt-node"] => self.kill(index),
            ["ip", "link", "set", link, way @ ("up" | "down")] => self.set_link(index, link, way),
            ["truncate", "-s", size, path] => self.truncate(index, size, path),
            ["dd", ..] => self.write(index, command),
            ["echo", "o", ">", "/proc/sysrq-trigger"] => self.switch_off(index),
            ["mkfs.ext4", "-q", device] => {
                let uri = self.uri(index, device);
                Mounted::make(&uri, &self.nodes[index].folder).unmount();
            }
            ["mount", device, "/mnt"] => {
                let uri = self.uri(index, device);
                let mounted = Mounted::mount(&uri, &self.nodes[index].folder);
                assert!(self.nodes[index].mounted.replace(mounted).is_none(), "it is in use");
            }
            ["echo", ..] => {
                let (text, path) = command["echo ".len()..].split_once(" > /mnt/").unwrap();
                self.mounted(index).write(path, &format!("{}\n", text.trim_matches('"')));
            }
            ["cat", path] => {
                let path = path.strip_prefix("/mnt/").unwrap().to_owned();
                return self.mounted(index).read(&path);
            }
            ["sync"] => self.mounted(index).sync(),
            ["umount", "/mnt"] => self.nodes[index].mounted.take().expect("a mount").unmount(),
            _ => panic!("the test does not know how to do `{command}`"),
        }
        String::new()
    }

    /// `drbdadm WORDS` or `basalt adm WORDS`.
    fn ask(&self, index: usize, words: &[&str]) -> String {
        let node = &self.nodes[index];
        let (mut command, words) = match words {
            ["basalt", "adm", words @ ..] => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
                command.arg("adm");
                (command, words)
            }
            words => (Command::new(node.folder.join("bin/drbdadm")), &words[1..]),
        };
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
        while self.ask(index, &["drbdadm", "status"]).contains("cannot reach") {
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

    /// As if its plug was pulled: whoever speaks to it hears nothing any more.
    fn switch_off(&mut self, index: usize) {
        self.set_network(index, Mode::Silent, |_| true);
        self.kill(index);
        self.nodes[index].power = Power::Off;
        self.nodes[index].mounted = None;
    }

    /// Its unit is enabled: the daemon starts with the machine.
    fn switch_on(&mut self, index: usize) {
        self.nodes[index].power = Power::On;
        self.set_network(index, Mode::Open, |_| true);
        self.launch(index);
    }

    /// `eth0` has the addresses 10.0.0.x, `eth1` those in 10.0.1.x.
    fn set_link(&self, index: usize, link: &str, way: &str) {
        let network = format!("10.0.{}.", link.strip_prefix("eth").unwrap());
        let mode = if way == "up" { Mode::Open } else { Mode::Silent };
        self.set_network(index, mode, |name| name.starts_with(&network));
    }

    /// The way from and to a node, by those of the chapter's addresses that `is_meant` takes.
    fn set_network(&self, index: usize, mode: Mode, is_meant: impl Fn(&str) -> bool) {
        for ((from, name), relay) in &self.relays {
            let (_, to, _) = self.addresses.iter().find(|(it, ..)| it == name).unwrap();
            if is_meant(name) && (*from == index || *to == index) {
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
        let count: u64 = word("count=").parse().unwrap();
        let mut client = attach(&self.uri(index, &word("of=")));
        for part in 0..count {
            let bytes: Vec<u8> =
                (0..1 << 20).map(|at| u8::try_from((at + part) % 251).unwrap()).collect();
            client.write(part << 20, &bytes).unwrap();
        }
        client.flush().unwrap();
        client.close().unwrap();
    }

    /// Where the volume behind a block device of the chapter is served. The device is there on the
    /// Primary alone, while a client of NBD would make the node Primary.
    fn uri(&self, index: usize, device: &str) -> Uri {
        let export = device.strip_prefix("/dev/basalt/by-res/").unwrap();
        let resource = export.split('/').next().unwrap();
        let role = self.ask(index, &["basalt", "adm", "role", resource]);
        assert_eq!(role.trim(), "Primary", "there is no {device} on a Secondary");
        let socket = self.nodes[index].folder.join("nbd");
        format!("nbd+unix:///{export}?socket={}", socket.display()).parse().unwrap()
    }

    fn mounted(&mut self, index: usize) -> &mut Mounted {
        self.nodes[index].mounted.as_mut().expect("something is mounted there")
    }

    #[track_caller]
    fn follow(&mut self, path: &str, step: &Step) {
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
                "{path}:{}: {}# {}\nprinted:\n{printed}\nand should print:\n{}",
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

fn run(chapter: &Chapter, number: usize, count: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(chapter.path);
    let text = fs::read_to_string(path).unwrap();
    let sections = sections(&text, chapter.mark);
    assert_eq!(sections.len(), count, "each section has a test below");
    let section = &sections[number];
    let mut site = Site::build(section);
    for step in &section.steps {
        site.follow(chapter.path, step);
    }
    assert!(section.steps.len() > 5, "{} is told in a few steps", section.title);
}

/// In the chapter of typical configurations.
const SECTIONS: usize = 5;

#[test]
fn first_page_does_what_it_says() {
    if !mounted::can_be_made() {
        skip("the file system of the first page takes `mke2fs` and `debugfs` of e2fsprogs");
        return;
    }
    run(&START, 0, 1);
}

#[test]
fn two_nodes_and_a_witness_do_what_the_guide_says() {
    run(&CONFIGURATIONS, 0, SECTIONS);
}

#[test]
fn three_nodes_do_what_the_guide_says() {
    run(&CONFIGURATIONS, 1, SECTIONS);
}

#[test]
fn client_with_two_paths_does_what_the_guide_says() {
    run(&CONFIGURATIONS, 2, SECTIONS);
}

#[test]
fn external_metadata_does_what_the_guide_says() {
    run(&CONFIGURATIONS, 3, SECTIONS);
}

#[test]
fn two_volumes_in_one_resource_do_what_the_guide_says() {
    run(&CONFIGURATIONS, 4, SECTIONS);
}

#[test]
fn placeholders_stand_for_numbers_and_text_alone() {
    assert!(matches("done:<N> of <..>.", "done:37.50 of all this."));
    assert!(!matches("done:<N>", "done:"));
    assert!(!matches("done:<N>", "done:x"));
    assert!(!matches("<..> end", "no END"));
    assert!(matches("a < b", "a < b"));
}
