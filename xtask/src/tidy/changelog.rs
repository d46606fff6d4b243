//! The form of CHANGELOG.md (Keep a Changelog): a heading per version, the unreleased one first,
//! and under it the six known kinds of change, each with at least one entry.

const KINDS: [&str; 6] = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

pub(super) fn examine(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut complain = |number: usize, what: &str| {
        complaints.push(format!("CHANGELOG.md:{number}: {what}"));
    };
    if text.lines().next() != Some("# Changelog") {
        complain(1, "the first line is not `# Changelog`");
    }
    let mut versions = 0;
    let mut open_kind = None;
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        let is_heading = line.starts_with('#');
        if let (true, Some(at)) = (is_heading, open_kind) {
            complain(at, "a kind of change without an entry");
            open_kind = None;
        }
        if let Some(version) = line.strip_prefix("## ") {
            versions += 1;
            if versions == 1 && version != "[Unreleased]" {
                complain(number, "the first version is not `## [Unreleased]`");
            }
            if versions > 1 && !is_release(version) {
                complain(number, "a version is not of the form `## [1.2.3] - 2000-12-31`");
            }
        } else if let Some(kind) = line.strip_prefix("### ") {
            if !KINDS.contains(&kind) {
                complain(number, &format!("a change is one of: {}", KINDS.join(", ")));
            }
            open_kind = Some(number);
        } else if line.starts_with("- ") {
            open_kind = None;
            if versions == 0 {
                complain(number, "an entry stands under no version");
            }
        }
    }
    if let Some(at) = open_kind {
        complain(at, "a kind of change without an entry");
    }
    if versions == 0 {
        complain(1, "there is no `## [Unreleased]`");
    }
    complaints
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
