//! Names of resources in the completions: clap's are of words that are known when they are made.
//!
//! The shell asks `basalt adm sh-resources` at each press of the key, which reads the configuration
//! and needs no daemon.

use clap_complete::Shell;

/// Prints the names, each on its line or with spaces between them; nothing where there are none.
const ASK: &str = "adm sh-resources 2>/dev/null";

/// The completion of the program `name`, with the resources where a verb has its targets.
pub(super) fn with_resources(name: &str, shell: Shell, text: &str) -> String {
    match shell {
        Shell::Bash => format!("{text}{}", in_bash(name)),
        Shell::Zsh => in_zsh(text),
        Shell::Fish => format!("{text}{}", in_fish()),
        Shell::Elvish | Shell::PowerShell | _ => text.to_owned(),
    }
}

/// The words of clap's function, and the resources behind a verb.
fn in_bash(name: &str) -> String {
    // `basalt adm VERB RES` and `basalt explain RES`, `drbdadm VERB RES`.
    let is_behind_a_verb = match name {
        "basalt" => {
            "${COMP_WORDS[1]} == adm && COMP_CWORD -gt 2 \
             || ${COMP_WORDS[1]} == explain && COMP_CWORD -gt 1"
        }
        "drbdadm" => "COMP_CWORD -gt 1",
        _ => return String::new(),
    };
    let word = "${COMP_WORDS[COMP_CWORD]}";
    format!(
        "\n_{name}_and_resources() {{\n    _{name} \"$@\"\n    \
         if [[ {word} != -* && ( {is_behind_a_verb} ) ]]; then\n        \
         COMPREPLY+=( $(compgen -W \"$(basalt {ASK})\" -- \"{word}\") )\n    fi\n}}\n\
         complete -F _{name}_and_resources -o bashdefault -o default {name}\n"
    )
}

/// clap has files for the targets of a verb, which are none.
fn in_zsh(text: &str) -> String {
    let function = format!(
        "_basalt_resources() {{\n    local -a names\n    names=(${{=\"$(basalt {ASK})\"}})\n    \
         _describe -t resources resource names\n}}\n"
    );
    let mut out = String::new();
    for line in text.lines() {
        let is_target = line.starts_with("'*::targets -- ") || line.starts_with("':target -- ");
        if is_target && let Some((head, tail)) = line.rsplit_once(":_default'") {
            out.push_str(&format!("{head}:_basalt_resources'{tail}\n"));
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    // Before its last lines, which call the completion or name it.
    match out.rfind("\nif [ \"$funcstack[1]\"") {
        Some(place) => {
            out.insert_str(place + 1, &function);
            out
        }
        None => out + &function,
    }
}

fn in_fish() -> String {
    format!(
        "complete -c basalt -n \"__fish_basalt_using_subcommand adm; or \
         __fish_basalt_using_subcommand explain\" -f -a \"(basalt {ASK} | string split ' ')\" -d \
         resource\n"
    )
}
