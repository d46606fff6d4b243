//! The verbs: from targets to resources, one question to the daemon each, and its answer.

use std::ffi::OsString;
use std::io::IsTerminal;

use api::request::{AdjustScope, Command};
use api::status::ResourceStatus;
use clap::CommandFactory;
use config::model::Resource;
use config::steps::steps;

use crate::adm::arguments::{
    Adjust, CommandLine, Connect, Detach, Dump, Invalidate, NewCurrentUuid, QueryVerb, Resize,
    Status, Up, Verb, Verify,
};
use crate::adm::building::BuildVerb;
use crate::adm::configuration::{Configuration, host_name, own_host};
use crate::adm::failure::AdmError;
use crate::adm::general::{General, Source};
use crate::adm::outcome::{Answer, Form, Gathering, Outcome, Steps};
use crate::adm::question::{check_names, node_name, running, states, status, tell};
use crate::adm::status_text::{
    Detail, Layout, NOTHING_CONFIGURED, Reader, Statistics, status_text,
};
use crate::adm::target::{One, Scope, Target, names, parse_targets};
use crate::adm::upkeep::UpkeepVerb;
use crate::adm::waiting::{PeerName, Wanted, Wish, wait};
use crate::adm::work::DryRun;
use crate::adm::{
    adopt, adopt_drbd, building, drbd_options, explain, helpers, metadata, promotion, queries,
    rehearsal, report, superblocks, typed_options, upkeep, words,
};

pub(crate) fn run(command_line: &CommandLine) -> Outcome {
    let general = &command_line.general;
    let verb = &command_line.verb;
    let form = if general.json { Form::Json } else { Form::Text };
    let mut gathering = Gathering::new(verb.name(), form);
    if asks_for_stacked(command_line) {
        return gathering.finish();
    }
    let done = accept(command_line).and_then(|()| perform(general, verb, &mut gathering));
    if let Err(error) = done {
        match sole_resource(verb) {
            Some(resource) => gathering.failed(&resource, &error),
            None => gathering.failed_at_all(&error),
        }
    }
    gathering.finish()
}

/// DRBD's init script asks for the names of those, too.
fn asks_for_stacked(command_line: &CommandLine) -> bool {
    let is_list = matches!(command_line.verb, Verb::Query(QueryVerb::ShResources(_)));
    command_line.stacked && is_list
}

/// Nothing was done.
pub(crate) fn failed(command_line: &CommandLine, error: &AdmError) -> Outcome {
    let form = if command_line.general.json { Form::Json } else { Form::Text };
    let mut gathering = Gathering::new(command_line.verb.name(), form);
    match sole_resource(&command_line.verb) {
        Some(resource) => gathering.failed(&resource, error),
        None => gathering.failed_at_all(error),
    }
    gathering.finish()
}

/// Options of DRBD were given with the verb.
pub(crate) fn with_options(command_line: &CommandLine, options: &[OsString]) -> Outcome {
    let verb = &command_line.verb;
    if let Verb::Upkeep(UpkeepVerb::ResourceOptions(targets)) = verb {
        let form = if command_line.general.json { Form::Json } else { Form::Text };
        let mut gathering = Gathering::new(verb.name(), form);
        let taken = typed_options::take(&command_line.general, targets, options, &mut gathering);
        if let Err(error) = taken {
            gathering.failed_at_all(&error);
        }
        return gathering.finish();
    }
    let resource = sole_resource(verb).unwrap_or_else(|| "all".to_owned());
    failed(command_line, &drbd_options::refusal(options, verb.name(), &resource))
}

/// What is said before the verb.
fn accept(command_line: &CommandLine) -> Result<(), AdmError> {
    if command_line.stacked {
        return Err(AdmError::Usage("there are no stacked resources here".to_owned()));
    }
    if let Some(option) = command_line.setup_option.first() {
        let text = format!("`-W {option}` stands by itself, not behind other letters");
        return Err(AdmError::Usage(text));
    }
    if let Some(file) = &command_line.config_to_test {
        Configuration::read(file, &command_line.general)?;
    }
    if !command_line.general.dry_run || command_line.verb.dry_run() != DryRun::Refused {
        return Ok(());
    }
    let text = "only `up`, `adjust`, `primary`, `adopt --from`, `adopt-drbd` and what takes a \
                resource up or down in steps can tell what they would do";
    Err(AdmError::Usage(text.to_owned()))
}

fn perform(general: &General, verb: &Verb, gathering: &mut Gathering) -> Result<(), AdmError> {
    if general.dry_run && verb.dry_run() == DryRun::Steps {
        let (targets, scope) = verb.targets_and_scope();
        return rehearsal::tell(general, verb, &parse_targets(targets, scope)?, gathering);
    }
    match verb {
        Verb::CreateMd(options) => metadata::create_md(general, options, gathering),
        Verb::AdoptDrbd(options) => adopt_drbd::adopt_drbd(general, options, gathering),
        Verb::Adopt(options) => adopt::run(general, options, gathering),
        Verb::Dump(dump) => print_configuration(general, dump, gathering),
        Verb::Up(up) if general.dry_run => tell_steps_up(general, up, gathering),
        Verb::Up(up) => {
            let steps = Steps::Hidden;
            parse_targets(&up.targets, Scope::Resource)?;
            configure(general, &up.targets, steps, gathering, |one, config_text| Command::Up {
                resource: one.resource,
                config_text,
            })
        }
        Verb::Adjust(options) => adjust(general, options, gathering),
        Verb::WaitConnect(_) | Verb::WaitConInt(_) | Verb::WaitSync(_) => {
            wait_for(general, verb, gathering)
        }
        Verb::Query(query) => queries::answer(general, query, gathering),
        Verb::Build(BuildVerb::NewResource(targets)) => {
            let steps = Steps::Hidden;
            parse_targets(&targets.targets, Scope::Resource)?;
            configure(general, &targets.targets, steps, gathering, |one, config_text| {
                Command::NewResource { resource: one.resource, config_text }
            })
        }
        Verb::Build(BuildVerb::HiddenCommands) => {
            print_hidden_verbs(gathering);
            Ok(())
        }
        Verb::Build(verb) => building::build(general, verb, gathering),
        Verb::Upkeep(verb) => upkeep::keep(general, verb, gathering),
        Verb::Superblock(verb) => superblocks::run(general, verb, gathering),
        Verb::Handler(verb) => helpers::call(general, verb, gathering),
        Verb::Explain(options) => print_explained(general, &options.targets, gathering),
        Verb::Report(options) => report::report(general, options, gathering),
        Verb::Primary(options) if general.dry_run => {
            print_prospects(general, &options.targets, gathering)
        }
        Verb::Events2(_) => Err(AdmError::Usage("events are told as they come".to_owned())),
        Verb::Status(status) => print_status(general, status, gathering),
        Verb::Role(_) => print_words(general, verb, words::role, gathering),
        Verb::Cstate(_) => print_words(general, verb, words::cstate, gathering),
        Verb::Dstate(_) => print_words(general, verb, words::dstate, gathering),
        Verb::Down(_)
        | Verb::Attach(_)
        | Verb::Detach(_)
        | Verb::Connect(_)
        | Verb::Disconnect(_)
        | Verb::Primary(_)
        | Verb::NewCurrentUuid(_)
        | Verb::Secondary(_)
        | Verb::Verify(_)
        | Verb::SuspendIo(_)
        | Verb::ResumeIo(_)
        | Verb::Reopen(_)
        | Verb::Resize(_)
        | Verb::Invalidate(_) => change_state(general, verb, gathering),
    }
}

/// The resource that the verb was about, if it was one.
fn sole_resource(verb: &Verb) -> Option<String> {
    let (targets, scope) = verb.targets_and_scope();
    let targets = parse_targets(targets, scope).ok()?;
    let [Target::One(one)] = &targets[..] else { return None };
    Some(one.resource.clone())
}

/// The command of a verb that changes the state of one running resource.
fn state_command(verb: &Verb, one: One) -> Option<Command> {
    let One { resource, peer, volume } = one;
    match verb {
        Verb::Down(options) => Some(Command::Down { resource, force: options.force }),
        Verb::Attach(_) => Some(Command::Attach { resource }),
        Verb::Detach(options) => Some(Command::Detach { resource, force: options.force }),
        Verb::Connect(options) => {
            let discard_my_data = options.discard_my_data;
            Some(Command::Connect { resource, peer, discard_my_data })
        }
        Verb::Disconnect(options) => {
            Some(Command::Disconnect { resource, peer, force: options.force })
        }
        Verb::Primary(options) => Some(Command::Primary { resource, force: options.force }),
        Verb::NewCurrentUuid(_) => Some(Command::NewCurrentUuid { resource }),
        Verb::Secondary(options) => Some(Command::Secondary { resource, force: options.force }),
        Verb::Invalidate(_) => Some(Command::Invalidate { resource }),
        Verb::SuspendIo(_) => Some(Command::SuspendIo { resource }),
        Verb::ResumeIo(_) => Some(Command::ResumeIo { resource }),
        Verb::Reopen(_) => Some(Command::Reopen { resource }),
        &Verb::Verify(Verify { start, stop, repair, .. }) => {
            Some(Command::Verify { resource, volume, start, stop, repair })
        }
        &Verb::Resize(Resize { size, assume_clean, .. }) => {
            Some(Command::Resize { resource, volume, size, assume_clean })
        }
        Verb::CreateMd(_)
        | Verb::AdoptDrbd(_)
        | Verb::Adopt(_)
        | Verb::Up(_)
        | Verb::Adjust(_)
        | Verb::Status(_)
        | Verb::Events2(_)
        | Verb::Explain(_)
        | Verb::Report(_)
        | Verb::Role(_)
        | Verb::Cstate(_)
        | Verb::Dstate(_)
        | Verb::WaitConnect(_)
        | Verb::WaitConInt(_)
        | Verb::WaitSync(_)
        | Verb::Query(_)
        | Verb::Build(_)
        | Verb::Upkeep(_)
        | Verb::Superblock(_)
        | Verb::Handler(_)
        | Verb::Dump(_) => None,
    }
}

fn change_state(general: &General, verb: &Verb, gathering: &mut Gathering) -> Result<(), AdmError> {
    check_options(verb)?;
    let (targets, scope) = verb.targets_and_scope();
    for one in running(general, &parse_targets(targets, scope)?)? {
        let resource = one.resource.clone();
        let (volume, peer) = (one.volume, one.peer.clone());
        // The daemon knows the peers of a connection itself.
        let is_of_peer = scope == Scope::PeerDevice;
        let named = if is_of_peer { one.clone() } else { One { peer: None, ..one.clone() } };
        let result = check_names(general, &named).and_then(|volumes| {
            let command = state_command(verb, one).expect("only such verbs are passed to here");
            Ok((tell(general, command)?, volumes))
        });
        match result {
            Ok(((changes, mut warnings), volumes)) => {
                if let Some(peer) = peer.filter(|_| is_of_peer) {
                    let verb = verb.name();
                    warnings.push(format!("`{verb}` chooses its peers itself: not {peer} alone"));
                }
                if let Verb::Resize(options) = verb {
                    warnings.extend(options.log.without_effect());
                }
                let is_of_one = matches!(verb, Verb::Verify(_));
                if let Some(number) = volume.filter(|_| volumes > 1 && !is_of_one) {
                    warnings.push(format!(
                        "volume {number} is one of {volumes}, which share their replica: `{}` was \
                         of all of them",
                        verb.name()
                    ));
                }
                gathering.done(&resource, changes, warnings);
            }
            Err(error) if is_down_already(verb, &error) => {
                let text = "it is not up on this node: there is nothing to take down";
                match see_it_is_configured(general, &resource) {
                    Ok(()) => gathering.done(&resource, Vec::new(), vec![text.to_owned()]),
                    Err(error) => gathering.failed(&resource, &error),
                }
            }
            Err(error) => gathering.failed(&resource, &error),
        }
    }
    Ok(())
}

/// Options of DRBD's that ask for what there is not.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other verbs have no such options")]
fn check_options(verb: &Verb) -> Result<(), AdmError> {
    let (message, hint) = match verb {
        Verb::Connect(Connect { tentative: true, .. }) => (
            "a connection for a try would not last",
            "`primary --force --dry-run` tells who has what",
        ),
        Verb::Detach(Detach { diskless: true, .. }) => (
            "a node is a client for good only where the configuration says so",
            "`disk none` on this host, then `adjust`; `detach` alone until the next `attach`",
        ),
        Verb::Invalidate(Invalidate { reset_bitmap: false, .. }) => (
            "without a copy a replica that is not trusted would stay as it is",
            "`verify --repair` copies only what differs",
        ),
        Verb::NewCurrentUuid(NewCurrentUuid { force_resync: true, .. }) => (
            "a generation does not say that everything is to be copied",
            "`primary --force` at the start, `invalidate` on the other nodes later",
        ),
        Verb::NewCurrentUuid(NewCurrentUuid { clear_bitmap: false, .. }) => {
            let text = "--clear-bitmap is required: a generation begins by itself otherwise";
            return Err(AdmError::Usage(text.to_owned()));
        }
        _ => return Ok(()),
    };
    Err(AdmError::configuration(message, hint))
}

/// As with DRBD it is no failure that a resource is down already.
fn is_down_already(verb: &Verb, error: &AdmError) -> bool {
    matches!(verb, Verb::Down(_)) && error.is_of_unknown_resource()
}

/// A name that the configuration does not know, where there is one, is a mistake.
fn see_it_is_configured(general: &General, resource: &str) -> Result<(), AdmError> {
    if general.source == Source::Daemon {
        return Ok(());
    }
    Configuration::load(general).map_or(Ok(()), |file| file.resource(resource).map(drop))
}

/// `up` and `adjust`: the daemon is given the canonical text of the resource.
fn configure(
    general: &General,
    targets: &[String],
    steps: Steps,
    gathering: &mut Gathering,
    command: impl Fn(One, String) -> Command,
) -> Result<(), AdmError> {
    let targets = parse_targets(targets, Scope::PeerDevice)?;
    let configuration = Configuration::load_aloud(general, gathering)?;
    for one in configuration.select(&targets, || node_name(general), gathering)? {
        let resource = one.resource.clone();
        let result = configuration.resource(&resource).and_then(|configured| {
            see_it_has_volume(configured, one.volume)?;
            tell(general, command(one, configured.to_res_text()))
        });
        match result {
            Ok((changes, warnings)) => gathering.stepped(&resource, steps, changes, warnings),
            Err(error) => gathering.failed(&resource, &error),
        }
    }
    Ok(())
}

fn adjust(general: &General, adjust: &Adjust, gathering: &mut Gathering) -> Result<(), AdmError> {
    if adjust.discard_my_data {
        let hint = "`adjust --skip-net`, then `connect --discard-my-data`";
        return Err(AdmError::configuration("`adjust` gives up no data", hint));
    }
    let dry_run = general.dry_run;
    let is_told = dry_run || general.verbose > 0;
    let steps = if is_told { Steps::Shown } else { Steps::Hidden };
    let &Adjust { skip_disk, skip_net, .. } = adjust;
    configure(general, &adjust.targets, steps, gathering, |one, config_text| {
        let scope = AdjustScope { skip_disk, skip_net, peer: one.peer };
        Command::Adjust { resource: one.resource, config_text, dry_run, scope }
    })
}

/// A volume that is named stands for its resource, and has to be one of that.
fn see_it_has_volume(resource: &Resource, named: Option<u16>) -> Result<(), AdmError> {
    let numbers = resource.volume_numbers();
    let Some(number) = named.filter(|number| !numbers.contains(number)) else { return Ok(()) };
    let message = format!("the resource has no volume {number} in its configuration");
    Err(AdmError::configuration(message, format!("basalt adm adjust {}", resource.name)))
}

/// The steps of an `up` from nothing. The daemon is not asked.
fn tell_steps_up(general: &General, up: &Up, gathering: &mut Gathering) -> Result<(), AdmError> {
    let targets = parse_targets(&up.targets, Scope::Resource)?;
    let configuration = Configuration::load(general)?;
    let node = up.node.clone().map_or_else(host_name, Ok)?;
    for one in configuration.select(&targets, || Ok(node.clone()), gathering)? {
        let told = configuration.resource(&one.resource).and_then(|resource| {
            let host = own_host(resource, &node)?.ok_or_else(|| {
                let message = format!("this node, `{node}`, is not a host of it");
                AdmError::configuration(message, "--node with one of its hosts")
            })?;
            Ok(steps(None, resource, &host.name))
        });
        match told {
            Ok(steps) => {
                let changes = steps.into_iter().map(|step| step.text).collect();
                gathering.stepped(&one.resource, Steps::Shown, changes, Vec::new());
            }
            Err(error) => gathering.failed(&one.resource, &error),
        }
    }
    Ok(())
}

/// Waits for one resource after the other, by the times of the command line, and then those of
/// the configuration file where there is one.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others wait for nothing")]
fn wait_for(general: &General, verb: &Verb, gathering: &mut Gathering) -> Result<(), AdmError> {
    let parse = |words: &[String]| parse_targets(words, Scope::Connection);
    let (wish, targets, times) = match verb {
        Verb::WaitConnect(it) => (Wish::Connected, parse(&it.targets)?, &it.times),
        Verb::WaitSync(it) => (Wish::InSync, parse(&it.targets)?, &it.times),
        Verb::WaitConInt(it) => {
            if !it.targets.is_empty() {
                gathering.warn("`wait-con-int` is about all resources: the names change nothing");
            }
            (Wish::Connected, vec![Target::All], &it.times)
        }
        _ => return Ok(()),
    };
    let configuration = Configuration::load(general).ok();
    for one in running(general, &targets)? {
        let startup = configuration.as_ref().and_then(|it| it.resource(&one.resource).ok());
        let times = times.clone().or_startup(startup.map(|resource| &resource.startup));
        let One { resource, volume, peer } = one;
        let peer = peer.map(PeerName::Name);
        let wanted = Wanted { wish, resource: resource.clone(), peer, volume };
        match wait(general, &wanted, &times) {
            Ok(()) => gathering.done(&resource, Vec::new(), Vec::new()),
            Err(error) => gathering.failed(&resource, &error),
        }
    }
    Ok(())
}

fn print_configuration(
    general: &General,
    dump: &Dump,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let targets = parse_targets(&dump.targets, Scope::Resource)?;
    let configuration = Configuration::load_aloud(general, gathering)?;
    if dump.strict {
        configuration.check_strictly()?;
    }
    gathering.note(&format!("# {}\n", configuration.path().display()));
    for resource in configuration.dumped(&targets)? {
        let config = resource.to_res_text();
        let answer = Answer::Text { resource: resource.name.clone(), config };
        gathering.answer(&format!("{}\n", resource.to_res_text()), answer);
    }
    Ok(())
}

fn print_status(
    general: &General,
    options: &Status,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let statistics = if options.statistics { Statistics::Shown } else { Statistics::Hidden };
    let detail = match general.verbose {
        0 => Detail::Brief,
        1 => Detail::Verbose,
        _ => Detail::VeryVerbose,
    };
    let reader = if std::io::stdout().is_terminal() { Reader::Terminal } else { Reader::Program };
    let layout = Layout { detail, statistics, reader };
    let targets = parse_targets(&options.targets, Scope::Resource)?;
    // Both show counters without being asked for them, as with DRBD.
    let is_told_all = general.json || detail != Detail::Brief;
    let asked = if is_told_all { Statistics::Shown } else { statistics };
    let names = names(&targets);
    let is_of_all = names.is_empty();
    let resources = states(general, names, asked, |name, error| gathering.missed(name, error))?;
    if resources.is_empty() && is_of_all {
        gathering.note(NOTHING_CONFIGURED);
    }
    for resource in resources {
        let text = status_text(&resource, layout);
        gathering.answer(&text, Answer::Status(Box::new(resource)));
    }
    Ok(())
}

fn print_explained(
    general: &General,
    targets: &[String],
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let names = names(&parse_targets(targets, Scope::Resource)?);
    let is_of_all = names.is_empty();
    let shown = Statistics::Shown;
    let resources = states(general, names, shown, |name, error| gathering.failed(name, error))?;
    if resources.is_empty() && is_of_all {
        gathering.note(NOTHING_CONFIGURED);
    }
    for resource in &resources {
        let answers = explain::explain(resource);
        let answer = Answer::Explained { resource: resource.name.clone(), answers };
        gathering.answer(&explain::text(resource), answer);
    }
    Ok(())
}

fn print_hidden_verbs(gathering: &mut Gathering) {
    let command = CommandLine::command();
    let hidden = command.get_subcommands().filter(|verb| verb.is_hide_set());
    hidden.for_each(|verb| gathering.line(verb.get_name()));
}

/// `primary --dry-run`.
fn print_prospects(
    general: &General,
    targets: &[String],
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let targets = parse_targets(targets, Scope::Resource)?;
    let reply = status(general, names(&targets), Statistics::Shown)?;
    for resource in &reply.resources {
        let sentences = promotion::prospect(resource, &reply.node.name);
        let text = format!("{}\n  {}\n", resource.name, sentences.join("\n  "));
        let answer = Answer::Prospect { resource: resource.name.clone(), sentences };
        gathering.answer(&text, answer);
    }
    Ok(())
}

fn print_words(
    general: &General,
    verb: &Verb,
    lines: impl Fn(&ResourceStatus, Option<&One>) -> Result<Vec<words::Line>, AdmError>,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let (targets, scope) = verb.targets_and_scope();
    let targets = parse_targets(targets, scope)?;
    let hidden = Statistics::Hidden;
    let resources =
        states(general, names(&targets), hidden, |name, error| gathering.failed(name, error))?;
    for target in &targets {
        for resource in &resources {
            let one = match target {
                Target::One(one) if one.resource != resource.name => continue,
                Target::One(one) => Some(one),
                Target::All => None,
            };
            match lines(resource, one) {
                Ok(lines) => {
                    for (text, answer) in lines {
                        gathering.answer(&text, answer);
                    }
                }
                Err(error) => gathering.failed(&resource.name, &error),
            }
        }
    }
    Ok(())
}
