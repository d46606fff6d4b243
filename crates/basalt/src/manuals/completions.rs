//! Names of resources and peers in the completions: clap's are of words that are known when they
//! are made.
//!
//! The shell asks `basalt adm sh-resources` at each press of the key, and `sh-peers` behind `RES:`.
//! Both read the configuration that the line names with `-c`, and need no daemon.

use clap_complete::Shell;

/// The completion of the program `name`, with the resources where a verb has its targets.
pub(super) fn with_resources(name: &str, shell: Shell, text: &str) -> String {
    match shell {
        Shell::Bash => format!("{text}{}", in_bash(name)),
        Shell::Zsh => in_zsh(text),
        Shell::Fish => format!("{text}{IN_FISH}"),
        Shell::Elvish | Shell::PowerShell | _ => text.to_owned(),
    }
}

/// Behind the words of clap's function. bash breaks words at `=` and `:`, unless the user told it
/// otherwise; quotes and backslashes are in them as they were typed.
const IN_BASH: &str = r#"
_NAME_and_resources() {
    _NAME "$@"
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local at typed file=() resource= start=$word kept=
    if [[ $word == -* || $before == -c || $before == --config-file || ! ( BEHIND ) ]]; then
        return
    fi
    for (( at = 1; at < COMP_CWORD; at++ )); do
        typed=
        case ${COMP_WORDS[at]} in
            -c|--config-file)
                typed=${COMP_WORDS[at+1]}
                [[ $typed == = ]] && typed=${COMP_WORDS[at+2]}
                ;;
            -c?*) typed=${COMP_WORDS[at]#-c} ;;
            --config-file=*) typed=${COMP_WORDS[at]#*=} ;;
        esac
        typed=${typed//[\"\'\\]/}
        [[ -n $typed ]] && file=(-c "${typed/#\~\//$HOME/}")
    done
    if [[ $word == : ]]; then
        resource=$before start=
    elif [[ $before == : ]]; then
        resource=${COMP_WORDS[COMP_CWORD-2]}
    elif [[ $word == *:* ]]; then
        resource=${word%%:*} start=${word#*:} kept=${word%%:*}:
    fi
    if [[ -n $resource ]]; then
        typed=$(basalt adm "${file[@]}" sh-peers "$resource" 2>/dev/null)
        COMPREPLY=( $(compgen -P "$kept" -W "$typed" -- "$start") )
    else
        typed=$(basalt adm "${file[@]}" sh-resources 2>/dev/null)
        COMPREPLY+=( $(compgen -W "$typed" -- "$word") )
    fi
}
complete -F _NAME_and_resources -o bashdefault -o default NAME
"#;

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
    IN_BASH.replace("NAME", name).replace("BEHIND", is_behind_a_verb)
}

const IN_ZSH: &str = r#"_basalt_resources() {
    local at typed
    local -a line file names
    line=("${(@z)LBUFFER}")
    for (( at = 1; at < $#line; at++ )); do
        typed=
        case ${line[at]} in
            -c|--config-file) typed=${line[at+1]} ;;
            -c?*) typed=${line[at]#-c} ;;
            --config-file=*) typed=${line[at]#*=} ;;
        esac
        typed=${(Q)typed}
        [[ -n $typed ]] && file=(-c "${typed/#\~\//$HOME/}")
    done
    if [[ $PREFIX == *:* ]]; then
        names=(${=$(basalt adm $file sh-peers ${PREFIX%%:*} 2>/dev/null)})
        compset -P '*:'
        _describe -t peers peer names
    else
        names=(${=$(basalt adm $file sh-resources 2>/dev/null)})
        _describe -t resources resource names
    fi
}
"#;

/// clap has files for the targets of a verb, and for the words of `explain`, which are none.
fn in_zsh(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let targets = ["'*::targets -- ", "':target -- ", "'*::words:"];
        let is_target = targets.iter().any(|begin| line.starts_with(begin));
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
            out.insert_str(place + 1, IN_ZSH);
            out
        }
        None => out + IN_ZSH,
    }
}

const IN_FISH: &str = r#"
function __basalt_targets
    set -l typed (commandline -opc)
    set -l word (commandline -ct)
    set -l file
    for at in (seq (count $typed))
        set -l next (math $at + 1)
        switch $typed[$at]
            case -c --config-file
                if test $next -le (count $typed)
                    set file -c $typed[$next]
                end
            case '--config-file=*'
                set file -c (string replace -- --config-file= '' $typed[$at])
            case '-c?*'
                set file -c (string sub -s 3 -- $typed[$at])
        end
    end
    if string match -q -- '*:*' $word
        set -l resource (string replace -r ':.*' '' -- $word)
        for peer in (basalt adm $file sh-peers $resource 2>/dev/null)
            echo $resource:$peer
        end
    else
        basalt adm $file sh-resources 2>/dev/null | string split ' '
    end
end
for verb in adm explain
    set -l here "__fish_basalt_using_subcommand $verb"
    complete -c basalt -n $here -f -a "(__basalt_targets)" -d resource
end
"#;
