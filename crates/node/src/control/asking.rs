//! The status of resources, as all shards put it together.
//!
//! A data thread answers a question in one turn, in which it serves no client. So no question is
//! about more than [`STATUS_SLICE_MAX`] resources, and one about all of them begins with their
//! names.

use std::collections::BTreeMap;

use api::response::{Failure, Reply};
use api::status::{ResourceStatus, StatusReply};
use engine::contract::{Ticket, ToShard};
use engine::shard::status::merge;
use stdx::time::Time;

use crate::desk::Desk;
use crate::limits::{ADMIN_COMMAND_DEADLINE, STATUS_SLICE_MAX};

/// Which resources a question is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum About<'a> {
    All,
    /// It fails if one of them is unknown.
    Each(&'a [String]),
    /// Those that are unknown are left out.
    Known(&'a [String]),
}

impl<'a> About<'a> {
    /// As operators ask: nobody named means all.
    pub(super) fn asked(names: &'a [String]) -> Self {
        if names.is_empty() { Self::All } else { Self::Each(names) }
    }

    pub(super) fn names(self) -> &'a [String] {
        match self {
            Self::All => &[],
            Self::Each(names) | Self::Known(names) => names,
        }
    }

    /// The same of these only.
    pub(super) fn of(self, names: &'a [String]) -> Self {
        match self {
            Self::All => Self::All,
            Self::Each(_) => Self::Each(names),
            Self::Known(_) => Self::Known(names),
        }
    }
}

/// What all shards say of the resources, put together: all of it by one deadline.
#[expect(clippy::fn_params_excessive_bools, reason = "as the request has it")]
pub(super) fn ask_status(
    desk: &Desk,
    about: About<'_>,
    statistics: bool,
) -> Result<Vec<ResourceStatus>, Failure> {
    ask_status_until(desk, about, statistics, io::now() + ADMIN_COMMAND_DEADLINE)
}

#[expect(clippy::fn_params_excessive_bools, reason = "as the request has it")]
fn ask_status_until(
    desk: &Desk,
    about: About<'_>,
    statistics: bool,
    until: Time,
) -> Result<Vec<ResourceStatus>, Failure> {
    let all;
    let (names, are_known) = match about {
        About::All => {
            all = ask_names(desk, until)?;
            (all.as_slice(), true)
        }
        About::Each(names) => (names, false),
        About::Known(names) => (names, true),
    };
    let mut found = Vec::with_capacity(names.len());
    for slice in names.chunks(STATUS_SLICE_MAX) {
        let resources = || slice.to_vec();
        found.extend(ask_slice(desk, until, |ticket| match are_known {
            true => ToShard::StatusOfKnown { ticket, resources: resources(), statistics },
            false => ToShard::Status { ticket, resources: resources(), statistics },
        })?);
    }
    Ok(found)
}

fn ask_names(desk: &Desk, until: Time) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for resources in ask_all(desk, until, |ticket| ToShard::Names { ticket }) {
        names.extend(resources?.into_iter().map(|resource| resource.name));
    }
    Ok(names)
}

fn ask_slice(
    desk: &Desk,
    until: Time,
    question: impl Fn(Ticket) -> ToShard,
) -> Result<impl Iterator<Item = ResourceStatus>, Failure> {
    let (mut homes, mut parts) = (BTreeMap::new(), Vec::new());
    for (shard, resources) in (0..).zip(ask_all(desk, until, question)) {
        for resource in resources? {
            if desk.home_of(&resource.name) == shard {
                homes.insert(resource.name.clone(), resource);
            } else {
                parts.push(resource);
            }
        }
    }
    for part in parts {
        if let Some(home) = homes.get_mut(&part.name) {
            merge(home, part);
        }
    }
    Ok(homes.into_values())
}

/// The answers, by shard.
fn ask_all(
    desk: &Desk,
    until: Time,
    question: impl Fn(Ticket) -> ToShard,
) -> impl Iterator<Item = Result<Vec<ResourceStatus>, Failure>> {
    let answers = desk.ask_all_until(question, until, ADMIN_COMMAND_DEADLINE).into_iter();
    answers.map(|answer| match answer? {
        Reply::Status(StatusReply { resources, .. }) => Ok(resources),
        Reply::Done { .. } | Reply::Adjusted { .. } | Reply::Running(_) => Ok(Vec::new()),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread;

    use api::response::FailureCode;
    use api::status::NodeStatus;

    use super::*;

    /// Two data threads with so many resources, which say how many each question was about.
    fn ask(count: usize, about: About<'_>) -> (Vec<String>, Vec<usize>) {
        let (desk, mut mailboxes) = Desk::with_mailboxes(2, 4);
        let known: BTreeSet<String> = (0..count).map(|number| format!("r{number}")).collect();
        let here = |name: &&String, shard| desk.home_of(name) == shard;
        let status = |name: &String| ResourceStatus { name: name.clone(), ..Default::default() };
        let (mut sizes, mut found) = (Vec::new(), Vec::new());
        thread::scope(|scope| {
            let asking = scope.spawn(|| ask_status(&desk, about, false));
            while !asking.is_finished() {
                for (shard, mailbox) in (0..).zip(&mut mailboxes) {
                    let (ticket, resources) = match mailbox.pop() {
                        Some(ToShard::Names { ticket }) => {
                            let names = known.iter().filter(|name| here(name, shard));
                            (ticket, names.map(status).collect())
                        }
                        Some(ToShard::StatusOfKnown { ticket, resources, .. }) => {
                            sizes.push(resources.len());
                            let names = resources.iter().filter(|name| known.contains(*name));
                            (ticket, names.map(status).collect())
                        }
                        Some(other) => panic!("{other:?}"),
                        None => {
                            thread::yield_now();
                            continue;
                        }
                    };
                    let reply = StatusReply { node: NodeStatus::default(), resources };
                    desk.hand_out(ticket, Ok(Reply::Status(reply)));
                }
            }
            found = asking.join().unwrap().unwrap();
        });
        let mut names: Vec<String> = found.into_iter().map(|resource| resource.name).collect();
        names.sort();
        (names, sizes)
    }

    /// A data thread described a thousand resources in one turn, and served nobody meanwhile.
    #[test]
    fn question_about_all_is_put_in_slices() {
        let (names, sizes) = ask(100, About::All);
        assert_eq!(names.len(), 100);
        assert!(sizes.iter().all(|size| *size <= STATUS_SLICE_MAX), "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), 2 * 100, "each is asked about once at each shard");
    }

    /// Each slice had a deadline of its own: with many resources nobody who asked waited so long.
    #[test]
    fn all_slices_have_one_deadline() {
        let (desk, _mailboxes) = Desk::with_mailboxes(2, 4);
        let names = ["r0".to_owned()];
        for about in [About::All, About::Each(&names), About::Known(&names)] {
            let failure = ask_status_until(&desk, about, false, io::now()).unwrap_err();
            assert_eq!(failure.code, FailureCode::Timeout);
        }
    }

    /// There was one question for each name that changed.
    #[test]
    fn names_are_asked_for_together_and_unknown_ones_left_out() {
        let asked: Vec<String> = (90..110).map(|number| format!("r{number}")).collect();
        let (names, sizes) = ask(100, About::Known(&asked));
        assert_eq!(sizes, [20, 20], "one question to each shard");
        assert_eq!(names, asked[..10]);
    }
}
