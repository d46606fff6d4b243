//! The daemon from its start to its end: threads, resources that were up, sockets; then it serves
//! until somebody asks it to end, or a data thread fails.

use std::sync::{Arc, mpsc};

use engine::contract::{Ticket, ToShard};
use engine::definition::link::Secrecy;
use engine::limits::SHARDS_MAX;
use engine::links::{Identity, LEAD};
use engine::log::{Scope, log};
use format::ids::BootId;
use io::ListenAddr;
use io::process::{LockedPages, Termination, ThreadId};

use crate::admin;
use crate::control::addresses::{once_address_is_free, once_place_is_free};
use crate::control::credentials::keep_credentials;
use crate::control::nvme_hosts::{NvmeHostsKeeper, begin_host_checks};
use crate::control::service::Service;
use crate::control::{Control, Origin, masks, scrape, spawn};
use crate::cores::{Placement, cores_for};
use crate::desk::Desk;
use crate::devices::names::Names;
use crate::error::NodeError;
use crate::limits::{ADMIN_COMMAND_DEADLINE, PARENT_POLL_INTERVAL, START_PATIENCE};
use crate::log_writer::Writing;
use crate::options::Options;
use crate::options::owner::foreign;
use crate::options::places::{Place, taken};
use crate::patience::Patience;
use crate::start::{End, Shards, reactor_options, start_shards};
use crate::state_dir::StateDir;

#[expect(clippy::too_many_lines, reason = "a start, one step after the other")]
pub(crate) fn run(options: &Options) -> Result<(), NodeError> {
    options.check()?;
    let nvme_hosts = options.nvme_auth.clone().map(NvmeHostsKeeper::read).transpose()?;
    let system = |what| move |source| NodeError::System { what, source };
    let termination = Termination::block().map_err(system("block signals"))?;
    io::process::raise_file_limit().map_err(system("raise the limit of open files"))?;
    drop(io::process::lock_memory(LockedPages::Touched));
    let _writing = Writing::start().map_err(system("start the thread that writes the log"))?;
    let service = Service::begin()?;
    let mut patience = Patience::new(START_PATIENCE);
    let state = StateDir::open(&options.state_dir, &mut patience)?;
    if let Some(said) = foreign(&options.name, &options.state_dir) {
        log!(Warning, Scope::NODE, "{said}");
    }
    let allowed = ThreadId::own().cores().map_err(system("ask for the cores of the process"))?;
    let (end, ends) = mpsc::channel();
    let (room, room_wanted) = mpsc::channel();
    let identity = Identity {
        name: options.name.clone(),
        boot_id: BootId(io::random_u64()),
        start_count: state.start_count(),
        shards: options.shards.unwrap_or_else(|| own_count(&allowed, options, &state)),
    };
    let reactor = reactor_options(options, allowed.len())?;
    let Shards { senders, answers, parker, threads, backend, ids } =
        start_shards(&identity, reactor, &end, &state.crash_file())?;
    let control = Arc::new(Control::new(Origin {
        name: options.name.clone(),
        state,
        desk: Desk::new(senders),
        device_timeout: options.device_timeout,
        device_names: Names::new(options),
        vhost: options.vhost.clone(),
        pki: options.pki.clone(),
        nvme_hosts,
        max_parallel_resyncs: options.max_parallel_resyncs,
        backend,
        placement: Placement::new(ids, allowed, options.shards),
        room,
        service: Arc::clone(&service),
        end: end.clone(),
    }));
    let enlarging = Arc::clone(&control);
    spawn("room", move || enlarging.make_room(&room_wanted))?;
    let desk = Arc::clone(&control);
    spawn("answers", move || desk.hand_out(answers, &parker))?;
    let looking = Arc::clone(&control);
    spawn("watch", move || looking.look())?;
    let socket_path = options.admin_socket_path();
    let socket = once_place_is_free(&mut patience, || {
        admin::listen(&socket_path, options.admin_group.as_deref())
    })?;
    begin_host_checks(&control)?;
    keep_credentials(&control)?;
    control.place_threads();
    control.start_resources(&patience);
    control.recover_devices();
    heed_configuration(&control)?;
    control.listen_for_clients(options, &mut patience)?;
    let admin = Arc::clone(&control);
    spawn("admin", move || admin::serve(&admin, &socket))?;
    let open = |address| once_place_is_free(&mut patience, || scrape::open(&control, address));
    let door = options.metrics.map(open).transpose()?;
    watch(options, termination, end)?;
    log!(Notice, Scope::NODE, "node {} is ready", options.name);
    control.tell_that_ready()?;
    let why = ends.recv().expect("the control block holds a sender");
    let result = match why {
        End::Asked(reason) => {
            log!(Notice, Scope::NODE, "ending: {reason}");
            service.ending(&reason);
            control.end(threads)
        }
        End::ShardFailed(reason) => {
            service.ending(&reason);
            Err(NodeError::Shard(reason))
        }
    };
    control.handlers.end();
    control.resync_order.end();
    control.watch.end();
    drop(std::fs::remove_file(socket_path));
    if let Err(NodeError::DisksHang { .. }) = result {
        door.iter().for_each(|door| door.close());
        // Last: from here on the next daemon has it.
        control.state.unlock();
    }
    service.over();
    result
}

/// How many data threads there are if nobody says: one for each core that there is for them.
fn own_count(allowed: &[usize], options: &Options, state: &StateDir) -> u8 {
    let cores = cores_for(allowed, &masks(&options.name, state)).len();
    u8::try_from(cores).unwrap_or(u8::MAX).min(SHARDS_MAX)
}

/// What configurations ask for beside the volumes.
fn heed_configuration(control: &Arc<Control>) -> Result<(), NodeError> {
    let handling = Arc::clone(control);
    spawn("handlers", move || handling.watch_for_handlers())?;
    let starting = Arc::clone(control);
    spawn("startup", move || starting.promote_at_start())
}

/// Ends the daemon on a signal, or with its parent.
fn watch(
    options: &Options,
    termination: Termination,
    end: mpsc::Sender<End>,
) -> Result<(), NodeError> {
    let signals = end.clone();
    spawn("signals", move || {
        drop(signals.send(End::Asked(format!("{} was received", termination.wait()))));
    })?;
    if options.exit_with_parent {
        let parent = io::process::Parent::of_this_process();
        spawn("parent", move || {
            parent.wait(PARENT_POLL_INTERVAL);
            drop(end.send(End::Asked("the process that started this one is gone".to_owned())));
        })?;
    }
    Ok(())
}

impl Control {
    fn listen_for_clients(
        &self,
        options: &Options,
        patience: &mut Patience,
    ) -> Result<(), NodeError> {
        let tcp = options.nbd.iter().map(|address| ("nbd", Place::Tcp(*address)));
        let unix = options.nbd_unix.iter().map(|path| ("nbd-unix", Place::Unix(path.clone())));
        let clear = tcp.chain(unix).map(|it| (it, Secrecy::ClearText));
        let tls = options.nbd_tls.iter().map(|address| ("nbd-tls", Place::Tcp(*address)));
        let tls = tls.map(|it| (it, Secrecy::Tls));
        for address in options.nbd.iter().filter(|address| !address.ip().is_loopback()) {
            log!(
                Warning,
                Scope::NODE,
                "NBD clients at {address} are served in clear text, and any that comes may write; \
                 `--nbd-tls` asks for certificates"
            );
        }
        for (place, secrecy) in clear.chain(tls) {
            self.listen(patience, place, |ticket, address| ToShard::ListenNbd {
                ticket,
                address,
                secrecy,
            })?;
        }
        let is_open = options.nvme_auth.is_none();
        for address in options.nvme.iter().filter(|it| is_open && !it.ip().is_loopback()) {
            log!(
                Warning,
                Scope::NODE,
                "NVMe initiators at {address} prove nothing, and any that comes may write; \
                 `--nvme-auth` asks for secrets"
            );
        }
        for address in &options.nvme {
            let place = ("nvme", Place::Tcp(*address));
            self.listen(patience, place, |ticket, address| ToShard::ListenNvme {
                ticket,
                address,
            })?;
        }
        Ok(())
    }

    fn listen(
        &self,
        patience: &mut Patience,
        (option, place): (&'static str, Place),
        question: impl Fn(Ticket, ListenAddr) -> ToShard,
    ) -> Result<(), NodeError> {
        let address = match &place {
            Place::Tcp(address) => ListenAddr::Tcp(*address),
            Place::Unix(path) => ListenAddr::Unix(path.clone()),
        };
        let question = |ticket| question(ticket, address.clone());
        let ask = |_: &mut Patience| self.desk.ask(LEAD, question, ADMIN_COMMAND_DEADLINE);
        once_address_is_free(patience, ask).map(drop).map_err(|failure| match place.is_taken() {
            true => NodeError::Refused(taken(option, &place)),
            // A network that is not up, say: the next start may find it.
            false => NodeError::Listen(failure.to_string()),
        })
    }
}
