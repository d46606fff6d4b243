//! The kinds of work that verbs ask for, and what `--dry-run` makes of them: adm/verb.rs gives each
//! verb its kinds.

/// The process that does the work of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// The daemon, which has to run.
    Daemon,
    /// This process, by the configuration file. It asks the daemon for names and states at most.
    Files,
    /// A child of this process, for a disk may never answer: it reads disks of this node, or writes
    /// a few blocks.
    Disks,
    /// A child, likewise: it writes whole metadata, which takes minutes on a large disk.
    WholeMetadata,
    /// A child, likewise: it asks the daemon, and reads its log and its state directory.
    DaemonFiles,
}

/// What `--dry-run` makes of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DryRun {
    /// It is refused: nobody can tell what the verb would do.
    Refused,
    /// The verb is done as usual: it changes nothing.
    Harmless,
    /// The verb itself tells what it would do.
    Tells,
    /// `rehearsal` lists the steps, without the daemon.
    Steps,
}
