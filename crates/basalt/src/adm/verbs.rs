//! The table of verbs: for each one the function that does it, and the warnings before it.

use std::ffi::OsString;

use clap::CommandFactory;

use crate::adm::arguments::{CommandLine, QueryVerb, Verb};
use crate::adm::building::BuildVerb;
use crate::adm::configuration::Configuration;
use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::outcome::{Form, Gathering, Outcome};
use crate::adm::target::{Target, parse_targets};
use crate::adm::upkeep::UpkeepVerb;
use crate::adm::work::DryRun;
use crate::adm::{
    adopt, adopt_drbd, building, drbd_options, helpers, metadata, queries, rehearsal, report,
    showing, state_change, superblocks, typed_options, up, upkeep, waiting, words,
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
        Verb::Dump(dump) => showing::print_configuration(general, dump, gathering),
        Verb::Up(options) => up::up(general, options, gathering),
        Verb::Adjust(options) => up::adjust(general, options, gathering),
        Verb::WaitConnect(_) | Verb::WaitConInt(_) | Verb::WaitSync(_) => {
            waiting::wait_for(general, verb, gathering)
        }
        Verb::Query(query) => queries::answer(general, query, gathering),
        Verb::Build(BuildVerb::NewResource(targets)) => {
            up::new_resource(general, targets, gathering)
        }
        Verb::Build(BuildVerb::HiddenCommands) => {
            print_hidden_verbs(gathering);
            Ok(())
        }
        Verb::Build(verb) => building::build(general, verb, gathering),
        Verb::Upkeep(verb) => upkeep::keep(general, verb, gathering),
        Verb::Superblock(verb) => superblocks::run(general, verb, gathering),
        Verb::Handler(verb) => helpers::call(general, verb, gathering),
        Verb::Explain(options) => showing::print_explained(general, &options.targets, gathering),
        Verb::Report(options) => report::report(general, options, gathering),
        Verb::Primary(options) if general.dry_run => {
            showing::print_prospects(general, &options.targets, gathering)
        }
        Verb::Events2(_) => Err(AdmError::Usage("events are told as they come".to_owned())),
        Verb::Status(status) => showing::print_status(general, status, gathering),
        Verb::Role(_) => showing::print_words(general, verb, words::role, gathering),
        Verb::Cstate(_) => showing::print_words(general, verb, words::cstate, gathering),
        Verb::Dstate(_) => showing::print_words(general, verb, words::dstate, gathering),
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
        | Verb::Forget(_)
        | Verb::Resize(_)
        | Verb::Invalidate(_) => state_change::change_state(general, verb, gathering),
    }
}

/// The resource that the verb was about, if it was one.
fn sole_resource(verb: &Verb) -> Option<String> {
    let (targets, scope) = verb.targets_and_scope();
    let targets = parse_targets(targets, scope).ok()?;
    let [Target::One(one)] = &targets[..] else { return None };
    Some(one.resource.clone())
}

fn print_hidden_verbs(gathering: &mut Gathering) {
    let command = CommandLine::command();
    let hidden = command.get_subcommands().filter(|verb| verb.is_hide_set());
    hidden.for_each(|verb| gathering.line(verb.get_name()));
}
