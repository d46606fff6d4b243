//! Whether a state directory is this node's. It holds no name: its resources say who their hosts
//! are.

use std::path::Path;

use api::response::FailureCode;
use engine::definition::Definition;

use crate::options::sentence::Sentence;
use crate::state_dir::texts_in;

/// Resources that are named at a time.
const TOLD_MAX: usize = 3;

/// What is odd about a state directory whose resources have no host of this name.
pub(crate) fn foreign(name: &str, state_dir: &Path) -> Option<Sentence> {
    let texts = texts_in(state_dir);
    let is_foreign = |(resource, text): &&(String, String)| {
        let definition = Definition::from_text(name, resource, text);
        definition.is_err_and(|failure| failure.code == FailureCode::NotOnThisNode)
    };
    let foreign: Vec<_> = texts.iter().filter(is_foreign).collect();
    let told = foreign.iter().take(TOLD_MAX).map(|(resource, text)| hosts_of(resource, text));
    let told = told.collect::<Vec<_>>().join("; ");
    let more = match foreign.len() {
        0 => return None,
        count if count > TOLD_MAX => format!("; and {} more", count - TOLD_MAX),
        _ => String::new(),
    };
    let (state_dir, name) = (state_dir.to_owned(), name.to_owned());
    Some(Sentence::Foreign { state_dir, name, told: told + &more })
}

fn hosts_of(resource: &str, text: &str) -> String {
    let file = config::parse_text(resource, text).ok();
    let hosts = file.as_ref().and_then(|file| file.resource(resource)).map(|it| &it.hosts);
    let hosts: Vec<&str> = hosts.into_iter().flatten().map(|host| host.name.as_str()).collect();
    format!("{resource} (on {})", hosts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_whose_resources_name_other_hosts_is_odd() {
        let folder = tempfile::tempdir().unwrap();
        let resources = folder.path().join("resources");
        std::fs::create_dir(&resources).unwrap();
        assert_eq!(foreign("dave", folder.path()), None, "it is new");
        let text = "resource r0 { volume 0 { disk /d; } on alice { node-id 0; address \
                    192.0.2.1:1; } on bob { node-id 1; address 192.0.2.2:1; } }";
        std::fs::write(resources.join("r0.res"), text).unwrap();
        std::fs::write(resources.join("r1.res"), "no configuration").unwrap();
        assert_eq!(foreign("alice", folder.path()), None);
        assert_eq!(foreign("bob.example.com", folder.path()), None, "one name is short");
        let told = foreign("dave", folder.path()).unwrap().to_string();
        assert!(told.contains("is called dave: r0 (on alice, bob);"), "{told}");
    }
}
