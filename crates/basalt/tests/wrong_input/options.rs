//! The options of a daemon in a file (`--config`): what starts with it, and what is refused, with
//! the line and what to type.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cluster::{Cluster, Node, RESOURCE, Said, wait_for};

/// `basalt node` with this file, and its words.
fn with_file(file: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
    command.args(["node", "--exit-with-parent", "--config"]).arg(file).args(words);
    command.stdin(Stdio::null());
    command
}

fn said(mut command: Command) -> Said {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said {
        exit: output.status.code().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The lines of a daemon of this node.
fn lines(node: &Node) -> String {
    format!(
        "name = {}\nstate-dir = {}\npki = {}\nnbd = {} # for the test\nshards = 1\n",
        node.name,
        node.state_dir().display(),
        node.home.join("pki").display(),
        node.nbd
    )
}

#[test]
fn daemon_starts_with_a_file_alone_and_a_typed_option_replaces_its_lines() {
    let mut cluster = Cluster::start(1);
    let node = &mut cluster.nodes[0];
    node.stop();
    let file = node.home.join("node.conf");
    fs::write(&file, lines(node)).unwrap();
    let mut command = with_file(&file, &[]);
    node.quiet(&mut command);
    node.start_as(command);
    node.serves();
    node.stop();
    let other = node.home.join("other.sock");
    fs::write(&file, lines(node).replace("nbd = ", "nbd = 127.0.0.1:1\nnbd = ")).unwrap();
    let nbd = node.nbd.to_string();
    let words = ["--nbd", &nbd, "--nbd-unix", other.to_str().unwrap()];
    let mut command = with_file(&file, &words);
    node.quiet(&mut command);
    node.start_as(command);
    node.serves();
    assert!(other.exists(), "what only the command line names is served");
    let refused = std::net::TcpStream::connect("127.0.0.1:1").is_err();
    assert!(refused, "no line of the file counts beside a typed option of its name");
}

#[test]
fn mistakes_of_a_file_are_told_all_at_once_and_nothing_starts() {
    let cluster = Cluster::prepare(1);
    let node = &cluster.nodes[0];
    let file = node.home.join("node.conf");
    fs::write(&file, format!("{}metricks = 127.0.0.1:1\nspin-us = 2000\n", lines(node))).unwrap();
    let shown = file.display();
    for words in [&[][..], &["--check-config"]] {
        said(with_file(&file, words)).refused_with(
            2,
            &[
                &format!(
                    "{shown}:6: there is no option \"metricks\"\n    metricks = 127.0.0.1:1\n"
                ),
                "  did you mean `metrics`?\n",
                &format!(
                    "{shown}:7: spin-us cannot be \"2000\": it takes a number from 0 to 1000: \
                     microseconds\n"
                ),
                "  write `spin-us = MICROSECONDS`;",
            ],
        );
    }
    assert!(!node.state_dir().exists(), "nothing was made");
    let json = said(with_file(&file, &["--check-config", "--json"]));
    assert_eq!(json.exit, 2);
    let told: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let [first, second] = &told["mistakes"].as_array().unwrap()[..] else { panic!("{told}") };
    assert_eq!((&second["line"], &second["column"]), (&7.into(), &11.into()), "{second}");
    assert_eq!((&first["line"], &first["column"]), (&6.into(), &1.into()), "{first}");
    assert_eq!((&first["code"], &second["code"]), (&"unknown-option".into(), &"bad-value".into()));
    assert_eq!(first["try"], "did you mean `metrics`?");
    assert_eq!((&first["hint"], &first["file"]), (&first["try"], &json_path(&file)));
}

fn json_path(path: &Path) -> serde_json::Value {
    path.to_str().unwrap().into()
}

/// A line that could not be read hid that another one names no group, and a third one no folder.
#[test]
fn mistakes_of_all_kinds_are_told_in_one_run_each_with_its_line() {
    let cluster = Cluster::prepare(1);
    let node = &cluster.nodes[0];
    let file = node.home.join("node.conf");
    let wrong = "nonsense\nadmin-group = nobodys-group\nshards = many\nvhost = /no-such-folder\n\
                 nbd-unix = /no-such-folder/nbd.sock\nspin-us = -1\nnvme-auth = /etc/hosts\n";
    let lines = lines(node).replace("shards = 1\n", "");
    fs::write(&file, format!("{lines}{wrong}")).unwrap();
    let shown = file.display();
    for words in [&[][..], &["--check-config"]] {
        let run = said(with_file(&file, words));
        let part = |(line, text): (usize, &str)| format!("{shown}:{line}: {text}");
        let told = [
            (5, "there is no `=` in this line"),
            (6, "admin-group: there is no group \"nobodys-group\""),
            (7, "shards cannot be \"many\""),
            (8, "vhost: cannot make sockets in /no-such-folder"),
            (9, "nbd-unix: there is no folder /no-such-folder"),
            (10, "spin-us cannot be \"-1\""),
        ];
        let told = told.map(part);
        let parts: Vec<&str> = told.iter().map(String::as_str).collect();
        run.refused_with(2, &parts);
        run.refused_with(2, &[&format!("{shown}: nvme-auth is given, and there is no address")]);
    }
    let json = said(with_file(&file, &["--check-config", "--json"]));
    let told: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let mistakes = told["mistakes"].as_array().unwrap();
    let codes: Vec<_> = mistakes.iter().map(|it| it["code"].as_str().unwrap()).collect();
    let wanted = ["syntax", "configuration", "bad-value", "configuration", "configuration"];
    assert_eq!(codes[..5], wanted, "{told}");
    // Without a state directory the others are judged as well.
    fs::write(&file, "admin-group = nobodys-group\n").unwrap();
    let run = said(with_file(&file, &[]));
    run.refused_with(2, &["no group \"nobodys-group\"", "no state directory is given"]);
}

/// The daemon began to listen, and ended 25 s later without a word of the option.
#[test]
fn start_and_check_refuse_places_that_cannot_be_in_the_same_words() {
    let cluster = Cluster::prepare(1);
    let node = &cluster.nodes[0];
    let file = node.home.join("node.conf");
    let place = format!("{}:6: ", file.display());
    let admin = node.socket();
    let long = node.home.join("n".repeat(107));
    for (line, part) in [
        (format!("nbd-unix = {}", admin.display()), "asked for by admin-socket already"),
        (format!("nbd-unix = {}", long.display()), "bytes, and the path of a unix socket has 107"),
        (format!("nvme = {}", node.nbd), "is asked for by nbd already: take another port"),
        (format!("metrics = 0.0.0.0:{}", node.nbd.port()), "is asked for by nbd already ("),
        ("metrics = 127.0.0.1:0".to_owned(), "has port 0"),
    ] {
        fs::write(&file, format!("{}{line}\n", lines(node))).unwrap();
        for words in [&[][..], &["--check-config"]] {
            // Of a long line the beginning is shown.
            let shown = &line[..line.len().min(60)];
            said(with_file(&file, words)).refused_with(2, &[&place, shown, part]);
        }
        assert!(!node.state_dir().exists(), "nothing was made");
    }
}

/// Its ports and sockets are in use, by the daemon that will have them again.
#[test]
fn check_beside_the_daemon_finds_nothing_wrong_with_its_own_places() {
    let mut cluster = Cluster::start(1);
    let node = &mut cluster.nodes[0];
    let file = node.home.join("node.conf");
    let unix = node.home.join("nbd.sock");
    let text = format!("{}nbd-unix = {}\n", lines(node), unix.display());
    fs::write(&file, &text).unwrap();
    node.stop();
    let mut command = with_file(&file, &[]);
    node.quiet(&mut command);
    node.start_as(command);
    let run = said(with_file(&file, &["--check-config"]));
    assert_eq!((run.exit, &*run.stderr), (0, ""), "{run:?}");
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let line = format!("nvme = {}", other.local_addr().unwrap());
    fs::write(&file, format!("{text}{line}\n")).unwrap();
    let place = format!("{}:7: nvme: another daemon or service is listening", file.display());
    said(with_file(&file, &["--check-config"])).refused_with(2, &[&place, &line]);
    node.serves();
}

/// All resources were held down, each with a reason of its own, and nothing spoke of the name.
#[test]
fn daemon_with_another_name_than_its_resources_know_warns_of_that() {
    let mut cluster = Cluster::start(1);
    let node = &mut cluster.nodes[0];
    node.stop();
    node.name = "dave";
    let mut check = node.command();
    check.args(["--check-config"]).stderr(Stdio::piped()).stdout(Stdio::piped());
    let wanted = "is called dave: r0 (on alfa)";
    let run = said(check);
    assert!(run.exit == 0 && run.stderr.contains(wanted), "{run:?}");
    node.start();
    node.wait_for_log(wanted);
    node.stop();
    node.name = "alfa";
    node.start();
    node.serves();
    assert_eq!(node.log().matches("is called alfa").count(), 0);
}

#[test]
fn check_says_what_would_be_used_and_where_it_is_from() {
    let cluster = Cluster::prepare(1);
    let node = &cluster.nodes[0];
    let file = node.home.join("node.conf");
    let text = lines(node).replace("name = alfa\n", "");
    fs::write(&file, format!("{text}vhost = {}\n", node.home.display())).unwrap();
    let run = said(with_file(&file, &["--check-config", "--spin-us", "7"]));
    assert_eq!(run.exit, 0, "{run:?}");
    let has = |name: &str, value: &str, origin: &str| {
        let line = format!("{:<40} # {origin}\n", format!("{name} = {value}"));
        assert!(run.stdout.contains(&line), "no {line:?} in {}", run.stdout);
    };
    has("name", fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim(), "default");
    has("nbd", &node.nbd.to_string(), "line 3");
    has("spin-us", "7", "command line");
    has("device-timeout", "30", "default");
    has("drbd-names", "no", "default");
    let note = format!("note: {}:1: state-dir: ", file.display());
    assert!(run.stderr.starts_with(&note) && run.stderr.contains("no vote yet"), "{run:?}");
    assert!(!node.state_dir().exists(), "nothing was made");
    let json = said(with_file(&file, &["--check-config", "--json"]));
    let told: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let settings = told["settings"].as_array().unwrap();
    let nbd = settings.iter().find(|it| it["name"] == "nbd").unwrap();
    assert_eq!((&nbd["from"], &nbd["lines"][0]), (&"file".into(), &3.into()));
    // What it prints is a file that says the same.
    fs::write(&file, run.stdout).unwrap();
    assert_eq!(said(with_file(&file, &["--check-config"])).exit, 0);
}

#[test]
fn check_refuses_what_the_start_would_with_the_line() {
    let cluster = Cluster::prepare(1);
    let node = &cluster.nodes[0];
    let file = node.home.join("node.conf");
    let with = |line: &str| {
        fs::write(&file, format!("{}{line}\n", lines(node).replace("name = alfa", ""))).unwrap();
        said(with_file(&file, &["--check-config"]))
    };
    let place = format!("{}:6: ", file.display());
    let nbd = format!("metrics = {}", node.nbd);
    for (line, parts) in [
        ("name = \"a b\"", &["' '", "--name"][..]),
        ("vhost = /no-such-folder", &["/no-such-folder: it is no directory"]),
        ("admin-group = nobodys-group", &["no group \"nobodys-group\""]),
        ("nbd-unix = /no-such-folder/nbd.sock", &["`mkdir -p /no-such-folder`"]),
        (&nbd, &["is asked for by nbd already"]),
        ("tcp-congestion = no_such_one", &["net.ipv4.tcp_available_congestion_control"]),
    ] {
        let run = with(line);
        run.refused_with(2, parts);
        run.refused_with(2, &[&place, line]);
    }
    with("nvme-auth = /etc/hosts").refused_with(2, &["no address to serve NVMe/TCP", "nvme = "]);
    fs::write(&file, "name = a\n").unwrap();
    for words in [&[][..], &["--check-config"]] {
        let hint = "write a line `state-dir = DIR`";
        said(with_file(&file, words)).refused_with(2, &["no state directory is given", hint]);
    }
}

/// Each is told with its name at once, and read no further than a bound.
#[test]
fn file_that_is_none_is_refused_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let circle = folder.path().join("circle");
    symlink(&circle, &circle).unwrap();
    for (path, part) in [
        (file("large", &[b'#'; 1 << 20]), "more than 64 KiB"),
        (file("zeroes", &[0; 1 << 10]), ":1: this line has a control character in it"),
        (file("bytes", &[0xff; 1 << 10]), ":1: this line is not UTF-8"),
        (folder.path().to_owned(), "no regular file"),
        ("/dev/zero".into(), "no regular file"),
        (circle, "cannot read it: "),
        (folder.path().join("missing"), "cannot read it: No such file"),
    ] {
        for words in [&[][..], &["--check-config"]] {
            let run = said(with_file(&path, words));
            run.refused_with(2, &[part, &path.display().to_string()]);
            assert!(!run.stderr.contains('\0') && run.stderr.len() < 2000, "{run:?}");
        }
    }
}

/// A node name has no blank, wherever it is given.
#[test]
fn name_with_a_blank_ends_the_start() {
    let mut cluster = Cluster::prepare(1);
    let node = &mut cluster.nodes[0];
    node.name = "a b";
    let said = node.refuses_to_start(node.command());
    assert!(said.contains("' '") && said.contains("give it another one with --name"), "{said}");
    let text = cluster.text().replace("on a b ", "on \"a b\" ");
    cluster.configure(&text);
    cluster.adm(0, &["dump"]).refused_with(10, &["the name of a host has ' ' in it"]);
}

/// It waited in silence for 20 s.
#[test]
fn second_daemon_says_at_once_for_which_process_it_waits() {
    let cluster = Cluster::start(1);
    let [first] = &cluster.nodes[..] else { unreachable!("one was started") };
    let mut second = stdx::child::HeldChild::from(first.command().spawn().unwrap());
    let process = first.process_id();
    let wanted = format!("waiting for up to 20 s: state directory {}", first.state_dir().display());
    let line = wait_for("the second daemon to say for whom it waits", || {
        first.log().lines().find(|line| line.contains(&wanted)).map(str::to_owned)
    });
    assert!(second.try_wait().unwrap().is_none(), "it waits: {line}");
    let holder = format!("in use by process {process} (basalt, state ");
    assert!(line.contains(&holder) && line.contains(", running for "), "no {holder:?} in {line}");
}

#[test]
fn new_state_directory_is_told_of_at_its_first_start_alone() {
    let mut cluster = Cluster::start(3);
    let node = &mut cluster.nodes[0];
    let notice = |node: &Node| node.log().matches("has no vote yet").count();
    assert_eq!(notice(node), 1);
    assert!(node.log().contains(&format!("state directory {} is new", node.state_dir().display())));
    node.kill();
    node.start();
    assert_eq!(notice(node), 1);
    // The disk knows of a vote that is gone.
    let lost = "the disk was in use with a vote that is not in the state directory";
    assert!(!node.log().contains(lost));
    node.stop();
    fs::rename(node.state_dir(), node.home.join("former")).unwrap();
    node.start();
    assert_eq!(notice(node), 2);
    cluster.adm(0, &["up", RESOURCE]).ok();
    cluster.nodes[0].wait_for_log(lost);
    // The others take a new directory for an old copy, until they are told to forget the count.
    for peer in [1, 2] {
        cluster.wait_for_reason(peer, "alfa", "its start count is 1, but 2 was seen before");
        for verb in ["disconnect", "connect"] {
            cluster.adm(peer, &[verb, &format!("{RESOURCE}:alfa")]).ok();
        }
    }
    cluster.wait_for_connections();
    cluster.nodes[0].serves();
}
