//! `packages`: each Debian package that a command of this program would install, one a line, for
//! the development container. Its list, `.devcontainer/packages`, is what this prints; `tidy`
//! compares them.

use crate::packages::Package;
use crate::{bench, demo, guest, package};
use std::collections::BTreeMap;

/// The list of the container, from the top of the repository.
pub(crate) const LIST: &str = ".devcontainer/packages";
const COMMAND: &str = "cargo xtask packages";

/// The text of the list: sorted by name, each with the first reason for which it is wanted.
pub(crate) fn list(of_steps: impl Iterator<Item = Package>) -> String {
    let others =
        [guest::PACKAGES, bench::PACKAGES, bench::PEERS, demo::PACKAGES, package::PACKAGES];
    render(of_steps.chain(others.into_iter().flatten().copied()))
}

fn render(packages: impl Iterator<Item = Package>) -> String {
    let mut reasons = BTreeMap::new();
    for (name, why) in packages {
        reasons.entry(name).or_insert(why);
    }
    let lines = reasons.iter().map(|(name, why)| format!("{name:<20} # {why}\n"));
    lines.collect()
}

/// Says how the container's list differs from ours.
pub(crate) fn differences(kept: &str, wanted: &str) -> Vec<String> {
    if kept == wanted {
        return Vec::new();
    }
    let names = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        lines.map(str::to_owned).collect()
    };
    let (has, needs) = (names(kept), names(wanted));
    let without = |from: &[String], other: &[String]| {
        from.iter().filter(|name| !other.contains(name)).cloned().collect::<Vec<_>>().join(" ")
    };
    let what = match (without(&needs, &has), without(&has, &needs)) {
        (lacks, more) if lacks.is_empty() && more.is_empty() => "other reasons".to_owned(),
        (lacks, more) if more.is_empty() => format!("lacks {lacks}"),
        (lacks, more) if lacks.is_empty() => format!("has {more} as well"),
        (lacks, more) => format!("lacks {lacks}, and has {more} as well"),
    };
    vec![format!("{LIST}: not what commands install, {what}: run `{COMMAND} > {LIST}`")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::steps;

    #[test]
    fn list_has_each_package_once_in_order() {
        let packages = [("nbdkit", "a server"), ("fio", "loads"), ("nbdkit", "a peer")];
        let expected = "fio                  # loads\nnbdkit               # a server\n";
        assert_eq!(render(packages.into_iter()), expected);
        let list = steps::named_elsewhere().container;
        for name in ["fio ", "nftables ", "qemu-system-x86 ", "valgrind ", "tmux "] {
            assert_eq!(list.lines().filter(|line| line.starts_with(name)).count(), 1, "{name}");
        }
    }

    #[test]
    fn difference_is_told_by_name() {
        let wanted = "fio # loads\nnbdkit # a server\n";
        assert_eq!(differences(wanted, wanted), Vec::<String>::new());
        let told = |kept: &str| differences(kept, wanted).concat();
        assert!(told("fio # loads\n").contains("lacks nbdkit: run `cargo xtask packages >"));
        assert!(told(&format!("{wanted}tmux\n")).contains("has tmux as well: run"));
        assert!(told("tmux\nfio # loads\n").contains("lacks nbdkit, and has tmux as well"));
        assert!(told("fio # load\nnbdkit # a server\n").contains("other reasons"));
    }
}
