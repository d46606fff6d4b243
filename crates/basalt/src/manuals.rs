//! Man pages and completions of shells, made from the definitions of the commands.
//!
//! The files in docs/man, and the list of options in docs/options.md, are what this writes; a test
//! compares them, and says how to bring them up to date. A tool with verbs has one page, with a
//! section for each verb. Completions are made for packages alone: git does not keep them.

mod completions;
mod further;
mod options_page;

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::{Arguments, adm, daemon, setup};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Where to put them: in the directories `man` and `completions` there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    let man = options.directory.join("man");
    let completions = options.directory.join("completions");
    for directory in [&man, &completions] {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
    }
    let tools = [daemon::command(), adm::arguments::CommandLine::command(), setup::command()];
    write(&man.join("basalt.1"), &page(&Arguments::command(), "basalt")?)?;
    for tool in tools {
        // `basalt adm` has the page basalt-adm.
        let name = tool.get_name().replace(' ', "-");
        write(&man.join(format!("{name}.1")), &page(&tool, &name)?)?;
    }
    write(&options.directory.join("options.md"), options_page::text().as_bytes())?;
    for (name, shell, ending, mut command) in completed() {
        let mut text = Vec::new();
        generate(shell, &mut command, name, &mut text);
        let text = completions::with_resources(name, shell, &String::from_utf8(text)?);
        write(&completions.join(format!("{name}.{ending}")), text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The programs whose words are completed, and where: ours, and its names as DRBD's tools, which
/// have a completion for bash alone.
fn completed() -> [(&'static str, Shell, &'static str, Command); 5] {
    let tool = |command: Command, name: &'static str| offered(&command).name(name);
    let adm = adm::arguments::CommandLine::command;
    // What the program passes on to a tool as words has the tool's own verbs here.
    let whole = offered(&Arguments::command())
        .mut_subcommand("node", |_| tool(daemon::command(), "node"))
        .mut_subcommand("adm", |_| tool(adm(), "adm"))
        .mut_subcommand("setup", |_| tool(setup::command(), "setup"));
    [
        ("basalt", Shell::Bash, "bash", whole.clone()),
        ("basalt", Shell::Zsh, "zsh", whole.clone()),
        ("basalt", Shell::Fish, "fish", whole),
        ("drbdadm", Shell::Bash, "bash", tool(adm(), "drbdadm")),
        ("drbdsetup", Shell::Bash, "bash", tool(setup::command(), "drbdsetup")),
    ]
}

/// What is not hidden of a command: nobody is offered the rest.
fn offered(command: &Command) -> Command {
    let subcommands = command.get_subcommands().filter(|it| !it.is_hide_set()).map(offered);
    let arguments = command.get_arguments().filter(|it| !it.is_hide_set()).cloned();
    // clap keeps names for ever; so does this run, which ends with the files.
    let kept = |name: &str| -> &'static str { name.to_owned().leak() };
    let aliases: Vec<&str> = command.get_visible_aliases().map(kept).collect();
    let name = kept(command.get_name());
    let shown = Command::new(name).args(arguments).subcommands(subcommands);
    let shown = shown.visible_aliases(aliases);
    match command.get_about() {
        Some(about) => shown.about(about.clone()),
        None => shown,
    }
}

/// One page; a verb's part has its own name, and its headings are one level lower.
fn page(command: &Command, name: &str) -> Result<Vec<u8>> {
    let mut command = command.clone().disable_help_subcommand(true);
    command.build();
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone()).title(name).date("").source(format!("basalt {version}"));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for (index, (verb_name, verb)) in verbs(&command, "").into_iter().enumerate() {
        if index == 0 {
            page.extend(b".SH VERBS\n");
        }
        let verb_man = Man::new(verb.clone().mut_args(|arg| {
            let is_of_all = arg.is_global_set() || arg.get_id() == "help";
            arg.hide(is_of_all)
        }));
        let mut part = Vec::new();
        verb_man.render_synopsis_section(&mut part)?;
        verb_man.render_description_section(&mut part)?;
        verb_man.render_options_section(&mut part)?;
        page.extend(format!(".SS {verb_name}\n").as_bytes());
        page.extend(verb_part(&String::from_utf8(part)?).as_bytes());
    }
    let after_help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    page.extend(further::sections(name, &after_help).as_bytes());
    Ok(page)
}

/// The verbs that are not hidden, each with its name and before its own verbs.
fn verbs<'c>(command: &'c Command, before: &str) -> Vec<(String, &'c Command)> {
    let offered = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let with_its_own = |verb: &'c Command| {
        let name = format!("{before}{}", verb.get_name());
        let own = verbs(verb, &format!("{name} "));
        iter::once((name, verb)).chain(own)
    };
    offered.flat_map(with_its_own).collect()
}

/// The sections of a verb without headings of their own, and without options that all verbs have.
fn verb_part(text: &str) -> String {
    let lines = text.lines().filter(|line| {
        let is_preamble = line.starts_with(".ie ") || line.starts_with(".el ");
        !is_preamble
    });
    lines
        .map(|line| if line.starts_with(".SH ") { ".PP\n".to_owned() } else { format!("{line}\n") })
        .collect()
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
