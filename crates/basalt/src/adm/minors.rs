//! `minor-N` on the command line: DRBD's name of a volume by its device, as udev's rules have it.

use std::ffi::OsString;

use crate::adm::arguments::CommandLine;
use crate::adm::configuration::Configuration;
use crate::adm::failure::AdmError;
use crate::adm::target::Scope;

/// The words with the names in place of minors, where there are any among the targets.
pub(crate) fn named(
    command_line: &CommandLine,
    words: &[OsString],
) -> Result<Option<Vec<OsString>>, AdmError> {
    let (targets, scope) = command_line.verb.targets_and_scope();
    let mut words = words.to_vec();
    let mut is_any = false;
    for target in targets {
        let Some(minor) = minor_of(target) else { continue };
        let general = &command_line.general;
        let configuration = Configuration::load(general).or_else(|error| {
            // Without a file the daemon may know.
            Configuration::running(general).map_err(|_unreachable| error)
        })?;
        let (resource, volume) = configuration.volume_of_minor(minor)?;
        let name = match scope {
            Scope::Resource | Scope::Connection => resource,
            Scope::Volume | Scope::PeerDevice => format!("{resource}/{volume}"),
        };
        words.iter_mut().filter(|it| it.to_str() == Some(target)).for_each(|it| {
            *it = OsString::from(&name);
        });
        is_any = true;
    }
    Ok(is_any.then_some(words))
}

fn minor_of(word: &str) -> Option<u32> {
    word.strip_prefix("minor-")?.parse().ok()
}
