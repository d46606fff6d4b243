//! `basalt cluster`: a cluster begins on one machine, and the others join it by a word.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::time::Duration;

use agent::{IdentityError, Newcomer};
use api::agent::{JoinPool, VOLUME};
use api::cluster::{AGENT_PORT_DEFAULT, ClusterView, NewWord, PoolKind, WordView};
use config::number::number;

use crate::plane::asking::Asking;
use crate::plane::processes::{Service, has_systemd, start, until};
use crate::plane::tables::{Table, json};
use crate::plane::trouble::Trouble;
use crate::plane::{Common, Ended, Root};

/// A process that was started has to answer within this.
const START_MAX: Duration = Duration::from_secs(15);
const WORD_SECONDS: u32 = 24 * 3600;
const WORD_USES: u32 = 100;
const DATA_PORT_DEFAULT: u16 = 7789;
const NBD_PORT_DEFAULT: u16 = 10809;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make a cluster of this machine: the controller runs here
    Init(Machine),
    /// Bring this machine into a cluster
    Join {
        #[command(flatten)]
        machine: Machine,
        /// Address of the controller's machine, with or without a port
        host: String,
        /// The join word that `init` or `word` printed
        word: String,
    },
    /// Start the processes of this machine that do not run
    Start(Machine),
    /// Make a new join word
    Word {
        /// How long it lets machines in
        #[arg(long, default_value_t = WORD_SECONDS,
            value_parser = number::<u32>(1, 30 * 24 * 3600, "seconds"))]
        valid: u32,
        /// How many machines it lets in
        #[arg(long, default_value_t = WORD_USES, value_parser = number::<u32>(1, 1000, "machines"))]
        uses: u32,
    },
    /// Go on with an old copy of the controller's store, which was put back
    Restored,
    /// Show the cluster
    Show,
}

/// How this machine is called, and where it keeps and serves what it has.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Machine {
    /// Name of this machine in the cluster [default: the host name]
    #[arg(long)]
    name: Option<String>,

    /// Its address for the data of the other machines [default: that of the way to them]
    #[arg(long)]
    address: Option<IpAddr>,

    /// Folder of its first pool
    #[arg(long, value_name = "DIR", default_value = "/var/lib/basalt/pool")]
    pool: PathBuf,

    /// Port for data between machines
    #[arg(long, default_value_t = DATA_PORT_DEFAULT, value_parser = number::<u16>(1, 65535, ""))]
    data_port: u16,

    /// Port for NBD clients of this machine; where systemd keeps the daemon, `node.conf` says it
    #[arg(long, default_value_t = NBD_PORT_DEFAULT, value_parser = number::<u16>(1, 65535, ""))]
    nbd_port: u16,

    /// Port of the controller for agents
    #[arg(long, default_value_t = AGENT_PORT_DEFAULT, value_parser = number::<u16>(1, 65535, ""))]
    agent_port: u16,

    /// Start no process: something else does
    #[arg(long)]
    no_start: bool,

    /// Keep everything below this folder
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

pub(crate) fn run(verb: Command, common: &Common) -> Ended {
    let (verb, told) = match verb {
        Command::Init(machine) => ("cluster init", init(&machine, common)),
        Command::Join { machine, host, word } => {
            ("cluster join", join(&machine, common, &host, &word))
        }
        Command::Start(machine) => ("cluster start", start_all(&machine, common)),
        Command::Word { valid, uses } => ("cluster word", word(common, valid, uses)),
        Command::Restored => ("cluster restored", restored(common)),
        Command::Show => ("cluster show", show(common)),
    };
    (verb, common.form(), told)
}

impl Machine {
    fn root(&self) -> Root {
        Root(self.root.clone())
    }

    fn own_name(&self) -> Result<String, Trouble> {
        match &self.name {
            Some(name) => Ok(name.clone()),
            None => crate::adm::configuration::host_name()
                .map_err(|error| Trouble::local(error.to_string(), "--name NAME")),
        }
    }

    fn socket(&self) -> PathBuf {
        self.root().at("run/basalt/admin.sock")
    }

    fn controller_words(&self, common: &Common) -> Vec<String> {
        let state_dir = self.root().at("var/lib/basalt/controller").display().to_string();
        let agents = SocketAddr::from(([0, 0, 0, 0], self.agent_port)).to_string();
        let listen = common.controller.to_string();
        words(&["controller", "--state-dir", &state_dir, "--listen", &listen, "--agents", &agents])
    }

    fn node_words(&self, name: &str) -> Vec<String> {
        let state_dir = self.root().at("var/lib/basalt/node").display().to_string();
        let socket = self.socket().display().to_string();
        let nbd = SocketAddr::from(([127, 0, 0, 1], self.nbd_port)).to_string();
        words(&[
            "node",
            "--name",
            name,
            "--state-dir",
            &state_dir,
            "--admin-socket",
            &socket,
            "--nbd",
            &nbd,
            "--drbd-names",
        ])
    }

    /// Where the data daemon serves NBD clients: by systemd it has its own file, and in that a
    /// socket.
    fn nbd_uri(&self) -> String {
        match has_systemd(&self.root()) {
            true => format!("nbd+unix:///{VOLUME}?socket=/run/basalt/nbd.sock"),
            false => format!("nbd://127.0.0.1:{}/{VOLUME}", self.nbd_port),
        }
    }

    fn agent_words(&self) -> Vec<String> {
        let state_dir = self.agent_dir().display().to_string();
        let socket = self.socket().display().to_string();
        words(&["agent", "--state-dir", &state_dir, "--node-socket", &socket])
    }

    fn agent_dir(&self) -> PathBuf {
        self.root().at("var/lib/basalt/agent")
    }

    fn start_members(&self, name: &str) -> Result<(), Trouble> {
        if self.no_start {
            return Ok(());
        }
        start(&self.root(), Service::Node, &self.node_words(name))?;
        let socket = self.socket();
        if !until(START_MAX, || std::os::unix::net::UnixStream::connect(&socket).is_ok()) {
            return Err(Trouble::local(
                "the data daemon does not answer",
                format!("look at {}", self.root().at("var/log/basalt/basalt-node.log").display()),
            ));
        }
        start(&self.root(), Service::Agent, &self.agent_words())
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn init(machine: &Machine, common: &Common) -> Result<String, Trouble> {
    let name = machine.own_name()?;
    let address = match machine.address {
        Some(address) => address,
        None => way_to("192.0.2.1:9")?,
    };
    if !machine.no_start {
        start(&machine.root(), Service::Controller, &machine.controller_words(common))?;
    }
    let asking = Asking::of(common);
    let mut seen = None;
    if !until(START_MAX, || {
        seen = asking.get::<ClusterView>("cluster").ok();
        seen.is_some()
    }) {
        let log = machine.root().at("var/log/basalt/basalt-controller.log");
        let to_try = format!("look at {}", log.display());
        return Err(Trouble::local("the controller does not answer", to_try));
    }
    let own = new_word(&asking, 60, 1)?;
    let controller = format!("127.0.0.1:{}", machine.agent_port);
    enter(machine, (&name, address), &controller, &own.word)?;
    machine.start_members(&name)?;
    let word = new_word(&asking, WORD_SECONDS, WORD_USES)?;
    if common.json {
        return json(&word);
    }
    let port = match machine.agent_port {
        AGENT_PORT_DEFAULT => String::new(),
        port => format!(":{port}"),
    };
    Ok(format!(
        "{name} is the first node of a new cluster\non each other machine, within a day:\n  basalt \
         cluster join {address}{port} {}\nthen: basalt volume create NAME --size 10G\n",
        word.word
    ))
}

fn join(machine: &Machine, common: &Common, host: &str, word: &str) -> Result<String, Trouble> {
    let name = machine.own_name()?;
    let has_port = host.parse::<SocketAddr>().is_ok()
        || host.rsplit_once(':').is_some_and(|(name, _)| !name.contains(':'));
    let controller = match (has_port, host.parse::<IpAddr>()) {
        (true, _) => host.to_owned(),
        (false, Ok(IpAddr::V6(ip))) => format!("[{ip}]:{}", machine.agent_port),
        (false, _) => format!("{host}:{}", machine.agent_port),
    };
    let address = match machine.address {
        Some(address) => address,
        None => way_to(&controller)?,
    };
    enter(machine, (&name, address), &controller, word)?;
    machine.start_members(&name)?;
    if common.json {
        return json(&serde_json::json!({ "node": name, "address": address }));
    }
    Ok(format!("{name} is a node of the cluster of {host}\n"))
}

/// The address that this machine has on its way to another one. Nothing is sent.
fn way_to(target: &str) -> Result<IpAddr, Trouble> {
    let socket = UdpSocket::bind(("0.0.0.0", 0));
    let found = socket.and_then(|socket| {
        socket.connect(target)?;
        socket.local_addr()
    });
    let usable = found.ok().map(|it| it.ip()).filter(|it| !it.is_unspecified());
    usable.ok_or_else(|| {
        Trouble::local("no address of this machine is known", "--address with the one for data")
    })
}

fn enter(
    machine: &Machine,
    (name, address): (&str, IpAddr),
    controller: &str,
    word: &str,
) -> Result<(), Trouble> {
    let location = machine.root().at(&machine.pool.display().to_string()).display().to_string();
    let newcomer = Newcomer {
        state_dir: machine.agent_dir(),
        controller: controller.to_owned(),
        word: word.to_owned(),
        name: name.to_owned(),
        address,
        data_port: machine.data_port,
        nbd: machine.nbd_uri(),
        pool: Some(JoinPool { name: "default".to_owned(), kind: PoolKind::FileThin, location }),
    };
    let joined = agent::join(&newcomer);
    joined.map(drop).map_err(|error| {
        let to_try = match &error {
            IdentityError::Word { .. } => "copy it whole, as it was printed".to_owned(),
            IdentityError::Member { .. } => {
                "`basalt cluster start` starts what does not run".to_owned()
            }
            IdentityError::Line(agent::LineError::Refused(refused)) => refused.to_try.clone(),
            IdentityError::Line(_) => {
                format!(
                    "is {controller} the controller's machine, and its port {} open?",
                    machine.agent_port
                )
            }
            IdentityError::NoMember { .. }
            | IdentityError::File { .. }
            | IdentityError::Damaged { .. }
            | IdentityError::Key(_)
            | IdentityError::Tls(_)
            | IdentityError::Runtime(_) => {
                "is there room, and may this user write there?".to_owned()
            }
        };
        Trouble::local(error.to_string(), to_try)
    })
}

fn start_all(machine: &Machine, common: &Common) -> Result<String, Trouble> {
    let identity = agent::Identity::read(&machine.agent_dir());
    let identity = identity
        .map_err(|error| Trouble::local(error.to_string(), "`basalt cluster init`, or `join`"))?;
    let root = machine.root();
    if root.at("var/lib/basalt/controller/store.redb").exists() {
        start(&root, Service::Controller, &machine.controller_words(common))?;
    }
    machine.start_members(&identity.name)?;
    Ok(format!("the processes of {} run\n", identity.name))
}

fn new_word(asking: &Asking, valid_seconds: u32, uses: u32) -> Result<WordView, Trouble> {
    asking.post("words", &NewWord { valid_seconds, uses })
}

fn word(common: &Common, valid_seconds: u32, uses: u32) -> Result<String, Trouble> {
    let word = new_word(&Asking::of(common), valid_seconds, uses)?;
    if common.json { json(&word) } else { Ok(format!("{}\n", word.word)) }
}

fn restored(common: &Common) -> Result<String, Trouble> {
    let revision: u64 = Asking::of(common).post("cluster/restored", &serde_json::json!({}))?;
    if common.json {
        return json(&serde_json::json!({ "revision": revision }));
    }
    Ok(format!(
        "the nodes go on by the store as it is, revision {revision}\nnext: `basalt volume list`; a \
         volume made after the copy runs on, and the cluster does not know it\n"
    ))
}

fn show(common: &Common) -> Result<String, Trouble> {
    let cluster: ClusterView = Asking::of(common).get("cluster")?;
    if common.json {
        return json(&cluster);
    }
    let mut table = Table::new(["CLUSTER", "VERSION", "NODES", "VOLUMES", "CHANGES"]);
    table.row([
        cluster.id,
        cluster.version,
        cluster.nodes.to_string(),
        cluster.volumes.to_string(),
        cluster.revision.to_string(),
    ]);
    Ok(table.text())
}
