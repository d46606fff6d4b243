//! The form of CHANGELOG.md (Keep a Changelog): a heading per version, the unreleased one first,
//! and under it the six known kinds of change, each with at least one entry; a kind may be cut
//! into groups by headings of the next level.
//!
//! A reader takes it in at a glance: an entry is one line of few words, and a version is short.
//! Before the first release there are only additions: a mend of what nobody was given is no
//! change to anybody.

const KINDS: [&str; 6] = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
const UNRELEASED: &str = "[Unreleased]";
/// Words of one entry. A good one has 25 or fewer.
const ENTRY_WORDS_MAX: usize = 40;
/// Bytes of one version with its heading, line ends included.
const VERSION_BYTES_MAX: usize = 12_000;

pub(super) fn examine(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut complain = |number: usize, what: &str| {
        complaints.push(format!("CHANGELOG.md:{number}: {what}"));
    };
    if text.lines().next() != Some("# Changelog") {
        complain(1, "the first line is not `# Changelog`");
    }
    let mut headings = text.lines().filter_map(|line| line.strip_prefix("## "));
    let was_released = headings.any(|version| version != UNRELEASED);
    let mut versions = 0;
    // The last heading without an entry so far, and whether a kind of change has begun.
    let mut open: Option<(usize, Empty)> = None;
    let mut is_in_kind = false;
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        let is_group = line.starts_with("#### ");
        if let (true, Some((at, empty))) = (line.starts_with('#'), open) {
            if !(is_group && empty == Empty::Kind) {
                complain(at, empty.complaint());
            }
            open = None;
        }
        if let Some(version) = line.strip_prefix("## ") {
            versions += 1;
            is_in_kind = false;
            if versions == 1 && version != UNRELEASED {
                complain(number, "the first version is not `## [Unreleased]`");
            }
            if versions > 1 && !is_release(version) {
                complain(number, "a version is not of the form `## [1.2.3] - 2000-12-31`");
            }
        } else if let Some(kind) = line.strip_prefix("### ") {
            is_in_kind = true;
            open = Some((number, Empty::Kind));
            if !KINDS.contains(&kind) {
                complain(number, &format!("a change is one of: {}", KINDS.join(", ")));
            } else if !was_released && kind != "Added" {
                complain(number, "before the first release all is `### Added`: state what is now");
            }
        } else if is_group {
            open = Some((number, Empty::Group));
        } else if line.starts_with("- ") {
            open = None;
            if versions == 0 {
                complain(number, "an entry stands under no version");
            }
            let words = line.split_whitespace().count() - 1;
            if words > ENTRY_WORDS_MAX {
                let most = format!("an entry has {words} words, of at most {ENTRY_WORDS_MAX}");
                complain(number, &format!("{most}: say what a user can do, and leave out why"));
            }
        } else if is_in_kind && !line.is_empty() {
            complain(number, "an entry is one line that begins with `- `, and this is neither");
        }
    }
    if let Some((at, empty)) = open {
        complain(at, empty.complaint());
    }
    if versions == 0 {
        complain(1, "there is no `## [Unreleased]`");
    }
    complaints.extend(too_long(text));
    complaints
}

/// A heading that has no entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Empty {
    Kind,
    Group,
}

impl Empty {
    fn complaint(self) -> &'static str {
        match self {
            Self::Kind => "a kind of change without an entry",
            Self::Group => "a group of changes without an entry",
        }
    }
}

/// Versions of more bytes than somebody reads.
fn too_long(text: &str) -> Vec<String> {
    let mut versions: Vec<(usize, &str, usize)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(version) = line.strip_prefix("## ") {
            versions.push((index + 1, version, 0));
        }
        if let Some((_, _, bytes)) = versions.last_mut() {
            *bytes += line.len() + 1;
        }
    }
    let long = versions.into_iter().filter(|(_, _, bytes)| *bytes > VERSION_BYTES_MAX);
    long.map(|(number, version, bytes)| {
        format!(
            "CHANGELOG.md:{number}: {version} has {bytes} bytes, of at most {VERSION_BYTES_MAX}: \
             put entries together, and leave out what a user does not notice"
        )
    })
    .collect()
}

fn is_release(heading: &str) -> bool {
    let Some((version, date)) = heading.split_once("] - ") else { return false };
    let Some(version) = version.strip_prefix('[') else { return false };
    let numbers = |text: &str, mark: char, widths: &[usize]| {
        let parts: Vec<&str> = text.split(mark).collect();
        let are_numbers = parts.iter().all(|part| part.parse::<u32>().is_ok());
        let fit = |(part, width): (&&str, &usize)| *width == 0 || part.len() == *width;
        are_numbers && parts.len() == widths.len() && parts.iter().zip(widths).all(fit)
    };
    numbers(version, '.', &[0, 0, 0]) && numbers(date, '-', &[4, 2, 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A node.\n\n\
                        ## [0.1.0] - 2000-12-31\n\n### Fixed\n- B.\n";

    fn complaint(text: &str) -> String {
        let complaints = examine(text);
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        complaints[0].clone()
    }

    #[test]
    fn good_form_passes() {
        assert_eq!(examine(GOOD), Vec::<String>::new());
        assert_eq!(examine("# Changelog\n\n## [Unreleased]\n"), Vec::<String>::new());
    }

    #[test]
    fn groups_cut_a_kind() {
        let grouped = GOOD.replace("### Added\n", "### Added\n\n#### Disks\n");
        assert_eq!(examine(&grouped), Vec::<String>::new());
        let empty = grouped.replace("- A node.\n", "- A node.\n\n#### Nets\n");
        assert!(complaint(&empty).contains(":11: a group of changes without an entry"));
        let both_empty = grouped.replace("- A node.\n", "#### Nets\n- A node.\n");
        assert!(complaint(&both_empty).contains(":7: a group of changes without an entry"));
    }

    #[test]
    fn entry_is_one_line_of_few_words() {
        let of_words = |count: usize| GOOD.replace("A node.", &vec!["word"; count].join(" "));
        assert_eq!(examine(&of_words(ENTRY_WORDS_MAX)), Vec::<String>::new());
        let complaint_of = complaint(&of_words(ENTRY_WORDS_MAX + 1));
        assert!(
            complaint_of.contains(":7: an entry has 41 words, of at most 40"),
            "{complaint_of}"
        );
        for second in ["  with more of it.", "And prose.", "* A star."] {
            let text = GOOD.replace("- A node.\n", &format!("- A node.\n{second}\n"));
            let complaint = complaint(&text);
            assert!(complaint.contains(":8: an entry is one line"), "{second}: {complaint}");
        }
    }

    #[test]
    fn version_is_short() {
        // The heading, an empty line, the kind, an empty line and an empty line behind the entries.
        let rest = "## [Unreleased]\n\n### Added\n\n\n".len();
        let entry = format!("- {}\n", "a".repeat(97));
        assert_eq!(entry.len(), 100);
        let whole = (VERSION_BYTES_MAX - rest) / entry.len();
        let last = VERSION_BYTES_MAX - rest - whole * entry.len();
        let entries = format!("{}- {}\n", entry.repeat(whole), "b".repeat(last - 3));
        let full = GOOD.replace("- A node.\n", &entries);
        assert_eq!(examine(&full), Vec::<String>::new());
        let complaint = complaint(&full.replace("- b", "- bb"));
        let expected = ":3: [Unreleased] has 12001 bytes, of at most 12000";
        assert!(complaint.contains(expected), "{complaint}");
    }

    #[test]
    fn mends_begin_with_the_first_release() {
        let first = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A node.\n";
        assert_eq!(examine(first), Vec::<String>::new());
        for kind in ["Changed", "Deprecated", "Removed", "Fixed", "Security"] {
            let complaint = complaint(&first.replace("Added", kind));
            assert!(complaint.contains(":5: before the first release"), "{kind}: {complaint}");
        }
    }

    #[test]
    fn each_fault_of_form_is_found() {
        let faults = [
            ("# Changelog\n", "# Changes\n", ":1: the first line"),
            ("[Unreleased]", "[0.2.0] - 2001-01-01", ":3: the first version"),
            ("### Added", "### New", ":5: a change is one of"),
            ("- A node.\n", "", ":5: a kind of change without an entry"),
            ("- B.\n", "", ":11: a kind of change without an entry"),
            ("0.1.0", "0.1", ":9: a version is not of the form"),
            ("2000-12-31", "2000-12-1", ":9: a version is not of the form"),
        ];
        for (old, new, expected) in faults {
            let complaint = complaint(&GOOD.replace(old, new));
            assert!(complaint.contains(expected), "{complaint}");
        }
    }

    #[test]
    fn entry_belongs_to_a_version() {
        let text = "# Changelog\n- A.\n## [Unreleased]\n";
        assert!(complaint(text).contains(":2: an entry stands under no version"));
        assert!(complaint("# Changelog\n").contains("there is no `## [Unreleased]`"));
    }
}
