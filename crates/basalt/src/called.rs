//! The name by which the tool was called. What it tells to be typed next goes by that name, too:
//! an operator who types `drbdsetup` may not know that there is a `basalt adm`.

use std::sync::OnceLock;

/// The tools and their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Name {
    #[default]
    BasaltAdm,
    BasaltSetup,
    Drbdadm,
    Drbdsetup,
}

static NAME: OnceLock<Name> = OnceLock::new();

/// The codes of drbdadm and of drbdsetup for words that they do not understand.
const ADM_USAGE_EXIT: u8 = 1;
const SETUP_USAGE_EXIT: u8 = 20;

/// Verbs that both tools take with the same words, those with the name of a resource alone.
const VERBS_OF_BOTH: [&str; 7] =
    ["status", "role", "down", "primary", "secondary", "events2", "show"];

/// Once, before anything is said.
pub(crate) fn set(name: Name) {
    // A second name would be an error of the program, and a wrong word in a hint is all it costs.
    NAME.set(name).ok();
}

fn name() -> Name {
    NAME.get().copied().unwrap_or_default()
}

/// As it is typed.
pub(crate) fn program() -> &'static str {
    name().text()
}

/// By a name of DRBD's tools: what scripts of theirs compare with is to be the same.
pub(crate) fn is_of_drbd() -> bool {
    matches!(name(), Name::Drbdadm | Name::Drbdsetup)
}

pub(crate) fn usage_exit() -> u8 {
    match name() {
        Name::BasaltAdm | Name::Drbdadm => ADM_USAGE_EXIT,
        Name::BasaltSetup | Name::Drbdsetup => SETUP_USAGE_EXIT,
    }
}

/// The text with the commands in it under the names of this call. They are written as
/// `basalt adm VERB` and `basalt setup VERB` everywhere, in the daemon's answers, too: in
/// backticks, or as a whole hint.
pub(crate) fn in_its_words(text: &str) -> String {
    name().in_its_words(text)
}

impl Name {
    fn text(self) -> &'static str {
        match self {
            Self::BasaltAdm => "basalt adm",
            Self::BasaltSetup => "basalt setup",
            Self::Drbdadm => "drbdadm",
            Self::Drbdsetup => "drbdsetup",
        }
    }

    /// The two tools by names of one kind.
    fn pair(self) -> (&'static str, &'static str) {
        match self {
            Self::BasaltAdm | Self::BasaltSetup => ("basalt adm", "basalt setup"),
            Self::Drbdadm | Self::Drbdsetup => ("drbdadm", "drbdsetup"),
        }
    }

    fn in_its_words(self, text: &str) -> String {
        let (adm, setup) = self.pair();
        let is_setup = matches!(self, Self::BasaltSetup | Self::Drbdsetup);
        let mut named = String::new();
        let mut rest = text;
        while let Some((before, command, behind)) = next_command(rest, text) {
            let is_of_word = |it: char| it.is_ascii_alphanumeric() || it == '-';
            let verb = behind.trim_start().split(|it| !is_of_word(it)).next().unwrap_or_default();
            let is_of_both = VERBS_OF_BOTH.contains(&verb);
            named += before;
            named += match command {
                SETUP => setup,
                _ if is_setup && is_of_both => setup,
                _ => adm,
            };
            rest = behind;
        }
        named + rest
    }
}

const ADM: &str = "basalt adm";
const SETUP: &str = "basalt setup";

/// The text in front of the next command, the command's first words, and the text behind those;
/// `text` is the rest of the whole one. A command begins the whole text, or stands behind a
/// backtick: the same words elsewhere may be the name of a file.
fn next_command<'t>(text: &'t str, whole: &str) -> Option<(&'t str, &'static str, &'t str)> {
    let is_begin = text.len() == whole.len();
    let mut starts = (0..)
        .take(usize::from(is_begin))
        .chain(text.match_indices('`').map(|(at, backtick)| at + backtick.len()));
    starts.find_map(|at| {
        let (before, from) = text.split_at(at);
        [ADM, SETUP].into_iter().find_map(|command| {
            let behind = from.strip_prefix(command)?;
            let is_whole = behind.is_empty() || behind.starts_with([' ', '\n', '`']);
            is_whole.then_some((before, command, behind))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_a_text_go_by_the_names_of_the_call() {
        let text = "by `basalt adm primary r0`, then `basalt adm adjust r0`, `basalt setup status`";
        for (name, expected) in [
            (Name::BasaltAdm, text),
            (
                Name::BasaltSetup,
                "by `basalt setup primary r0`, then `basalt adm adjust r0`, `basalt setup status`",
            ),
            (
                Name::Drbdadm,
                "by `drbdadm primary r0`, then `drbdadm adjust r0`, `drbdsetup status`",
            ),
            (
                Name::Drbdsetup,
                "by `drbdsetup primary r0`, then `drbdadm adjust r0`, `drbdsetup status`",
            ),
        ] {
            assert_eq!(name.in_its_words(text), expected, "of {name:?}");
        }
        assert_eq!(Name::Drbdadm.in_its_words("basalt adm"), "drbdadm");
        assert_eq!(Name::Drbdadm.in_its_words("basalt adm up r0"), "drbdadm up r0");
        assert_eq!(Name::Drbdadm.in_its_words("basalt node"), "basalt node");
    }

    /// A file whose name has such words in it was told under another name.
    #[test]
    fn names_of_files_stay_as_they_are() {
        for text in [
            "cannot read /srv/basalt adm/r0.res",
            "drbdadm: /srv/the basalt adm files/r0.res: no such file",
            "basalt adm.res: no such file",
            "basalt administration, `basalt adm.res`, `basalt setups`",
            "in the excerpt: pri-lost \"basalt adm down r0\";",
        ] {
            assert_eq!(Name::Drbdadm.in_its_words(text), text);
            assert_eq!(Name::Drbdsetup.in_its_words(text), text);
        }
        let told = Name::Drbdadm.in_its_words("/the basalt adm/x: `basalt adm up r0` reads it");
        assert_eq!(told, "/the basalt adm/x: `drbdadm up r0` reads it");
    }
}
