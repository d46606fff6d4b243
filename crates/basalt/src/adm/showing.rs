//! Verbs that show the state of resources, or their configuration, and change nothing.

use std::io::IsTerminal;

use api::status::ResourceStatus;

use crate::adm::arguments::{Dump, Status, Verb};
use crate::adm::configuration::Configuration;
use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::outcome::{Answer, Gathering};
use crate::adm::question::{states, status};
use crate::adm::status_text::{
    Detail, Layout, Reader, Statistics, nothing_configured, status_text,
};
use crate::adm::target::{One, Scope, Target, names, parse_targets};
use crate::adm::{explain, promotion, words};

pub(crate) fn print_status(
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
        gathering.note(nothing_configured());
    }
    for resource in resources {
        let text = status_text(&resource, layout);
        gathering.answer(&text, Answer::Status(Box::new(resource)));
    }
    Ok(())
}

pub(crate) fn print_explained(
    general: &General,
    targets: &[String],
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let names = names(&parse_targets(targets, Scope::Resource)?);
    let is_of_all = names.is_empty();
    let shown = Statistics::Shown;
    let resources = states(general, names, shown, |name, error| gathering.failed(name, error))?;
    if resources.is_empty() && is_of_all {
        gathering.note(nothing_configured());
    }
    for resource in &resources {
        let answers = explain::explain(resource);
        let answer = Answer::Explained { resource: resource.name.clone(), answers };
        gathering.answer(&explain::text(resource), answer);
    }
    Ok(())
}

/// `primary --dry-run`.
pub(crate) fn print_prospects(
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

pub(crate) fn print_words(
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

pub(crate) fn print_configuration(
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
