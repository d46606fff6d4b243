//! `resource-options --on-no-quorum=io-error`: options that are typed, not read from the file.
//!
//! The daemon takes them over as by an `adjust`: with the text that it runs with, and these values
//! in its `options`. They stay until `adjust` or `up` takes those of the file. An option that says
//! when a node may answer without the others is not typed: it holds for all nodes or for none.

use std::borrow::Cow;
use std::ffi::OsString;

use api::request::{AdjustScope, Command};
use config::diagnostic::Errors;
use config::options::{Kind, OptionSet, spec_of};
use config::steps::{Reach, steps};

use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::outcome::{Gathering, Steps};
use crate::adm::question::{running, running_texts, tell};
use crate::adm::target::{Scope, parse_targets};
use crate::adm::upkeep::OptionTargets;

/// What decides when a node may answer without the others.
const OF_ALL_NODES: [&str; 2] = ["quorum", "quorum-minimum-redundancy"];

/// Gives the resources these options, with what stands for values among the words.
pub(crate) fn take(
    general: &General,
    options: &OptionTargets,
    typed: &[OsString],
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let typed = values(typed)?;
    let targets = parse_targets(&options.targets, Scope::Resource)?;
    let is_told = general.verbose > 0 || general.dry_run;
    let shown = if is_told { Steps::Shown } else { Steps::Hidden };
    for one in running(general, &targets)? {
        match change(general, &one.resource, &typed, options) {
            Ok((changes, warnings)) => {
                gathering.stepped(&one.resource, shown, changes, warnings);
            }
            Err(error) => gathering.failed(&one.resource, &error),
        }
    }
    Ok(())
}

fn change(
    general: &General,
    name: &str,
    typed: &OptionSet,
    options: &OptionTargets,
) -> Result<(Vec<String>, Vec<String>), AdmError> {
    let reply = running_texts(general, vec![name.to_owned()])?;
    let node = reply.node;
    let text: String = reply.resources.into_iter().map(|it| it.config_text).collect();
    let file = config::parse_text("running", &text).map_err(AdmError::Parse)?;
    let before = file.resource(name).ok_or(AdmError::Confused { verb: "show" })?;
    let mut after = before.clone();
    let kept = if options.set_defaults { OptionSet::default() } else { before.options.clone() };
    after.options = kept.overlaid(typed);
    let of_all = OF_ALL_NODES.iter().find(|it| before.options.given(it) != after.options.given(it));
    if let Some(option) = of_all {
        return Err(AdmError::configuration(
            format!("`{option}` holds for all nodes: it is not typed at one of them"),
            format!("set it in the configuration of each node, then `basalt adm adjust {name}`"),
        ));
    }
    if let Some(step) =
        steps(Some(before), &after, &node).iter().find(|it| it.reach != Reach::Options)
    {
        return Err(AdmError::configuration(
            format!("a resource that is up does not change so: {}", step.text),
            format!("set it in the configuration, then `basalt adm adjust {name}`"),
        ));
    }
    let scope = AdjustScope { skip_disk: true, skip_net: true, peer: None };
    let (resource, config_text) = (name.to_owned(), after.to_res_text());
    let (changes, mut warnings) =
        tell(general, Command::Adjust { resource, config_text, dry_run: general.dry_run, scope })?;
    if !changes.is_empty() && !general.dry_run {
        warnings.push(format!(
            "it counts on this node alone, until `basalt adm adjust {name}` takes what the \
             configuration says"
        ));
    }
    Ok((changes, warnings))
}

/// The options with their values, as the file would say them.
fn values(typed: &[OsString]) -> Result<OptionSet, AdmError> {
    let mut said = String::new();
    let mut words = typed.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        let word = word.strip_prefix("--").unwrap_or(&word);
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None if takes_value(word) => (word.to_owned(), words.next().map(Cow::into_owned)),
            None => (word.to_owned(), None),
        };
        said += &match value {
            Some(value) => format!("{name} {}; ", quoted(&value)),
            None => format!("{name}; "),
        };
    }
    let text = format!(
        "resource typed {{ options {{ {said}}}\n on this {{ node-id 0; address 127.0.0.1:1; volume \
         0 {{ disk none; }} }} }}"
    );
    let wrong = |errors: Errors| {
        let first = errors.list.first().map(|error| error.message.clone());
        AdmError::Usage(first.unwrap_or_default())
    };
    let file = config::parse_text("the command line", &text).map_err(wrong)?;
    Ok(file.resources.into_iter().next().map(|it| it.options).unwrap_or_default())
}

fn takes_value(name: &str) -> bool {
    spec_of(name).is_some_and(|spec| spec.kind != Kind::Flag)
}

/// As it stands in a file.
fn quoted(value: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if !value.is_empty() && value.chars().all(is_word) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}
