//! The sections of a man page that clap knows nothing of: examples, files, other pages.

/// Of one page.
pub(super) struct Further {
    /// Of the page, as `basalt-adm`.
    pub(super) page: &'static str,
    /// A line to type, and what it does.
    pub(super) examples: &'static [(&'static str, &'static str)],
    /// A path, and what is there.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Other pages, with their sections.
    pub(super) see_also: &'static [&'static str],
}

const CONFIGURATION: (&str, &str) = (
    "/etc/basalt.conf",
    "The resources, in DRBD's language; /etc/drbd.conf where it is not there.",
);
const SOCKET: (&str, &str) = (
    "/run/basalt/admin.sock",
    "The admin socket of the daemon; $BASALT_ADMIN_SOCKET names another.",
);
const STATE: (&str, &str) = (
    "/var/lib/basalt",
    "The state directory: this node's votes. It belongs to the node as its disks do; never copy it \
     to another one.",
);
const PKI: (&str, &str) = ("/etc/basalt/pki", "The certificates of this node.");
const UNIT_CONFIGURATION: (&str, &str) =
    ("/etc/basalt/node.conf", "The options of the daemon, as the unit basalt-node passes them.");

pub(super) const PAGES: [Further; 4] = [
    Further {
        page: "basalt",
        examples: &[
            ("basalt demo", "Watch a volume of three nodes survive the loss of its nodes."),
            ("basalt explain r0", "Say in words why r0 is as it is, and what to do."),
            ("basalt top", "Watch the volumes of this node while they are in use."),
            (
                "basalt pki issue alice",
                "Make the certificate of the node alice, on the machine with the CA.",
            ),
        ],
        files: &[CONFIGURATION, UNIT_CONFIGURATION, SOCKET, STATE, PKI],
        see_also: &["basalt-adm(1)", "basalt-node(1)", "basalt-setup(1)"],
    },
    Further {
        page: "basalt-adm",
        examples: &[
            (
                "basalt adm create-md r0",
                "Write fresh metadata on this node's disks of r0, before its first `up` here.",
            ),
            ("basalt adm up r0", "Take r0 into use on this node, and connect to its peers."),
            ("basalt adm primary r0", "Serve r0 from this node. One node at a time does."),
            ("basalt adm status r0 --verbose", "Show roles, disks, connections and votes."),
            (
                "basalt adm --dry-run adjust all",
                "Tell what a changed configuration would change. Nothing is done yet.",
            ),
            ("basalt adm wait-sync r0", "Wait until no replica of r0 is being copied."),
            ("basalt adm verify r0", "Compare the replicas of r0 while they are in use."),
            ("basalt adm status --json", "Answer a program: DRBD's JSON, and fields of ours."),
        ],
        files: &[CONFIGURATION, SOCKET, STATE],
        see_also: &["basalt(1)", "basalt-node(1)", "basalt-setup(1)"],
    },
    Further {
        page: "basalt-node",
        examples: &[
            ("basalt node --config /etc/basalt/node.conf", "Run the daemon as its unit does."),
            (
                "basalt node --config /etc/basalt/node.conf --check-config",
                "Say what is wrong with that file, or what the daemon would use; nothing starts.",
            ),
            (
                "basalt node --name alice --state-dir /var/lib/basalt --nbd-unix /run/nbd.sock",
                "Run the daemon of the node alice without a file.",
            ),
        ],
        files: &[UNIT_CONFIGURATION, STATE, SOCKET, PKI],
        see_also: &["basalt(1)", "basalt-adm(1)"],
    },
    Further {
        page: "basalt-setup",
        examples: &[
            ("basalt setup status r0", "Show what runs, without a look at the configuration."),
            ("basalt setup events2 --now r0", "Tell the state of r0 once, a line for each part."),
            ("basalt setup show r0", "Show the options that are in effect."),
        ],
        files: &[SOCKET],
        see_also: &["basalt(1)", "basalt-adm(1)"],
    },
];

/// The sections in the language of man pages. `after_help` is what `--help` says at its end: exit
/// codes, and what else there is to know.
pub(super) fn sections(page: &str, after_help: &str) -> String {
    let (notes, exits) = after_help.split_once("Exit codes: ").unwrap_or((after_help, ""));
    let further = PAGES.iter().find(|further| further.page == page);
    let (examples, files): (&[_], &[_]) =
        further.map_or((&[], &[]), |further| (further.examples, further.files));
    let see_also = further.map_or(String::new(), |further| further.see_also.join(", "));
    let paragraph = |text: &str| format!("{}\n", escaped(text.trim()));
    let list = |rows: &[(&str, &str)]| {
        let row = |(term, text): &(&str, &str)| {
            format!(".TP\n\\fB{}\\fR\n{}\n", escaped(term), escaped(text))
        };
        rows.iter().map(row).collect::<String>()
    };
    let sections = [
        ("NOTES", paragraph(notes)),
        ("EXIT STATUS", paragraph(exits)),
        ("EXAMPLES", list(examples)),
        ("FILES", list(files)),
        ("SEE ALSO", paragraph(&see_also)),
    ];
    let filled = sections.iter().filter(|(_, text)| !text.trim().is_empty());
    filled.map(|(head, text)| format!(".SH {head}\n{text}")).collect()
}

/// Text as it is: a line that begins with a dot or an apostrophe would be a command.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    let line =
        |line: &str| if line.starts_with('.') { format!("\\&{line}") } else { line.to_owned() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::{Arguments, adm, daemon, setup};

    /// An operator may type each line that a page shows.
    #[test]
    fn examples_are_taken_by_the_commands() {
        let tools = [
            ("basalt", Arguments::command()),
            ("basalt-adm", adm::arguments::CommandLine::command()),
            ("basalt-node", daemon::command()),
            ("basalt-setup", setup::command()),
        ];
        for (page, tool) in tools {
            let further = PAGES.iter().find(|further| further.page == page).unwrap();
            assert!(!further.examples.is_empty(), "{page}");
            for (example, _) in further.examples {
                // `basalt adm` is one name.
                let words = example.split(' ').skip(page.split('-').count());
                let words = std::iter::once(page).chain(words);
                let taken = tool.clone().try_get_matches_from(words);
                assert!(taken.is_ok(), "{example}: {}", taken.unwrap_err());
            }
        }
    }

    #[test]
    fn sections_are_told_where_there_is_something_for_them() {
        let text =
            sections("basalt-setup", "Options may be cut short.\nExit codes: 0 done, 5 not.");
        let heads: Vec<&str> = text.lines().filter(|line| line.starts_with(".SH")).collect();
        let all = [".SH NOTES", ".SH EXIT STATUS", ".SH EXAMPLES", ".SH FILES", ".SH SEE ALSO"];
        assert_eq!(heads, all, "{text}");
        assert!(text.contains(".SH EXIT STATUS\n0 done, 5 not.\n"), "{text}");
        assert_eq!(sections("other", ""), "");
        assert_eq!(escaped(".a 'b'\n\\c"), "\\&.a \\(aqb\\(aq\n\\ec");
    }
}
