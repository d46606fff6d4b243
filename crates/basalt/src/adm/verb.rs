//! The verbs of `basalt adm`, and what is known of each before anything is done: its name, its
//! targets, who does its work, and what `--dry-run` makes of it.
//!
//! Each question is one `match` over all verbs: a new verb does not compile before it has all
//! answers. What it does then is in the file that `verbs` names for it.

use crate::adm::arguments::Verb;
use crate::adm::target::Scope;
use crate::adm::work::{DryRun, Work};

impl Verb {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::CreateMd(_) => "create-md",
            Self::AdoptDrbd(_) => "adopt-drbd",
            Self::Adopt(_) => "adopt",
            Self::Up(_) => "up",
            Self::Down(_) => "down",
            Self::Adjust(_) => "adjust",
            Self::Attach(_) => "attach",
            Self::Detach(_) => "detach",
            Self::Connect(_) => "connect",
            Self::Disconnect(_) => "disconnect",
            Self::Primary(_) => "primary",
            Self::NewCurrentUuid(_) => "new-current-uuid",
            Self::Secondary(_) => "secondary",
            Self::Status(_) => "status",
            Self::Events2(_) => "events2",
            Self::Explain(_) => "explain",
            Self::Report(_) => "report",
            Self::Role(_) => "role",
            Self::Cstate(_) => "cstate",
            Self::Dstate(_) => "dstate",
            Self::Dump(_) => "dump",
            Self::WaitConnect(_) => "wait-connect",
            Self::WaitConInt(_) => "wait-con-int",
            Self::WaitSync(_) => "wait-sync",
            Self::Query(query) => query.name(),
            Self::Build(verb) => verb.name(),
            Self::Upkeep(verb) => verb.name(),
            Self::Superblock(verb) => verb.name(),
            Self::Handler(verb) => verb.name(),
            Self::Invalidate(_) => "invalidate",
            Self::Verify(_) => "verify",
            Self::SuspendIo(_) => "suspend-io",
            Self::ResumeIo(_) => "resume-io",
            Self::Reopen(_) => "reopen",
            Self::Forget(_) => "forget",
            Self::Resize(_) => "resize",
        }
    }

    /// The targets as typed, and which parts of them the verb understands.
    pub(crate) fn targets_and_scope(&self) -> (&[String], Scope) {
        match self {
            Self::CreateMd(options) => (&options.targets, Scope::Volume),
            Self::AdoptDrbd(options) => (&options.targets, Scope::Volume),
            Self::Adopt(options) => (std::slice::from_ref(&options.resource), Scope::Resource),
            Self::Up(options) => (&options.targets, Scope::Resource),
            Self::Role(targets) => (&targets.targets, Scope::Resource),
            Self::WaitConnect(options) | Self::WaitSync(options) => {
                (&options.targets, Scope::Connection)
            }
            Self::Query(query) => {
                let targets = query.targets().map_or(&[][..], |query| &query.targets);
                (targets, Scope::Volume)
            }
            Self::Down(options) | Self::Primary(options) | Self::Secondary(options) => {
                (&options.targets, Scope::Resource)
            }
            Self::Adjust(options) => (&options.targets, Scope::PeerDevice),
            Self::Build(verb) => (verb.targets(), verb.scope()),
            Self::Upkeep(verb) => (verb.targets(), Scope::PeerDevice),
            Self::Superblock(verb) => (verb.targets(), verb.scope()),
            Self::Handler(verb) => (verb.targets(), Scope::Connection),
            Self::Invalidate(options) => (&options.targets, Scope::PeerDevice),
            Self::SuspendIo(options) => (&options.targets, Scope::Volume),
            Self::Attach(targets)
            | Self::ResumeIo(targets)
            | Self::Reopen(targets)
            | Self::Forget(targets)
            | Self::Dstate(targets) => (&targets.targets, Scope::Volume),
            Self::Detach(options) => (&options.targets, Scope::Volume),
            Self::Verify(options) => (&options.targets, Scope::PeerDevice),
            Self::Resize(options) => (&options.targets, Scope::Volume),
            Self::NewCurrentUuid(options) => (&options.targets, Scope::Volume),
            Self::Connect(options) => (&options.targets, Scope::Connection),
            Self::Cstate(targets) => (&targets.targets, Scope::Connection),
            Self::Disconnect(options) => (&options.targets, Scope::Connection),
            Self::Status(options) => (&options.targets, Scope::Resource),
            Self::Events2(options) => (&options.targets, Scope::Resource),
            Self::Explain(options) => (&options.targets, Scope::Resource),
            Self::Report(_) | Self::WaitConInt(_) => (&[], Scope::Resource),
            Self::Dump(options) => (&options.targets, Scope::Resource),
        }
    }

    pub(crate) fn work(&self) -> Work {
        match self {
            Self::CreateMd(_) | Self::AdoptDrbd(_) | Self::Adopt(_) => Work::WholeMetadata,
            Self::Superblock(verb) => verb.work(),
            Self::Report(_) => Work::DaemonFiles,
            Self::Dump(_) | Self::Query(_) | Self::Handler(_) => Work::Files,
            Self::Build(verb) => verb.work(),
            Self::Upkeep(verb) => verb.work(),
            Self::Up(_)
            | Self::Down(_)
            | Self::Adjust(_)
            | Self::Attach(_)
            | Self::Detach(_)
            | Self::Connect(_)
            | Self::Disconnect(_)
            | Self::Primary(_)
            | Self::NewCurrentUuid(_)
            | Self::Secondary(_)
            | Self::Status(_)
            | Self::Events2(_)
            | Self::Explain(_)
            | Self::Role(_)
            | Self::Cstate(_)
            | Self::Dstate(_)
            | Self::WaitConnect(_)
            | Self::WaitConInt(_)
            | Self::WaitSync(_)
            | Self::Invalidate(_)
            | Self::Verify(_)
            | Self::SuspendIo(_)
            | Self::ResumeIo(_)
            | Self::Reopen(_)
            | Self::Forget(_)
            | Self::Resize(_) => Work::Daemon,
        }
    }

    pub(crate) fn dry_run(&self) -> DryRun {
        match self {
            Self::Dump(_) | Self::Query(_) | Self::Handler(_) => DryRun::Harmless,
            Self::Up(_) | Self::Adjust(_) | Self::Primary(_) | Self::AdoptDrbd(_) => DryRun::Tells,
            Self::Adopt(options) if !options.from.is_empty() => DryRun::Tells,
            Self::Attach(_)
            | Self::Detach(_)
            | Self::Connect(_)
            | Self::Disconnect(_)
            | Self::Secondary(_)
            | Self::Down(_) => DryRun::Steps,
            Self::Build(verb) => verb.dry_run(),
            Self::Adopt(_)
            | Self::CreateMd(_)
            | Self::NewCurrentUuid(_)
            | Self::Status(_)
            | Self::Events2(_)
            | Self::Explain(_)
            | Self::Report(_)
            | Self::Role(_)
            | Self::Cstate(_)
            | Self::Dstate(_)
            | Self::WaitConnect(_)
            | Self::WaitConInt(_)
            | Self::WaitSync(_)
            | Self::Upkeep(_)
            | Self::Superblock(_)
            | Self::Invalidate(_)
            | Self::Verify(_)
            | Self::SuspendIo(_)
            | Self::ResumeIo(_)
            | Self::Reopen(_)
            | Self::Forget(_)
            | Self::Resize(_) => DryRun::Refused,
        }
    }
}
