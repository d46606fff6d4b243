//! Which back end a machine gets, what the kernel must be able to do for it, and words for when it
//! cannot.
//!
//! It is `io_uring` wherever the kernel, its settings and the container let us, for that is the
//! cheaper one. Where it is refused the reactor polls; other failures to set it up (no memory, no
//! descriptors) would hit both, and are errors. For the ring the floor is Linux 6.1
//! (`DEFER_TASKRUN`). `NO_SQARRAY` (6.6) is used where it is known. The ring is made on the thread
//! that will use it, for the kernel holds the two together.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{Builder, IoUring};
use rustix::process::{Resource, getrlimit};

use crate::backend::Backend;
use crate::poll::Poller;
use crate::ring::{Naming, Ring};

/// Which back end a reactor is to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendWish {
    /// `io_uring`, or polling where that is refused.
    #[default]
    Auto,
    /// `io_uring`, or no reactor.
    IoUring,
    Poll,
}

/// Which back end a reactor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    IoUring,
    Poll,
}

impl BackendKind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Poll => "poll",
        }
    }
}

impl BackendWish {
    /// Where tests and operators say it.
    pub const VARIABLE: &'static str = "BASALT_IO_BACKEND";

    /// What the environment asks for; nothing is `Auto`.
    pub fn from_environment() -> Result<Self, SetupError> {
        let Some(value) = std::env::var_os(Self::VARIABLE) else { return Ok(Self::Auto) };
        match value.to_str() {
            Some("auto" | "") => Ok(Self::Auto),
            Some("io_uring") => Ok(Self::IoUring),
            Some("poll") => Ok(Self::Poll),
            _ => Err(SetupError::Unknown { value: value.to_string_lossy().into_owned() }),
        }
    }
}

/// Why this machine cannot run a reactor, for an operator.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(
        "this kernel, Linux {running}, has no {feature}: boot Linux {since} or later, for which \
         6.1 is the oldest that will do"
    )]
    TooOld { feature: &'static str, since: &'static str, running: String },
    #[error("the kernel refuses io_uring: {advice}")]
    Refused { advice: String, source: io::Error },
    #[error("cannot set up a reactor while {step}: {advice}")]
    Failed { step: &'static str, advice: &'static str, source: io::Error },
    #[error("{} is {value:?}: it is one of auto, io_uring, poll", BackendWish::VARIABLE)]
    Unknown { value: String },
}

/// The back end of a reactor, and why it is not the one that everybody would want.
pub(crate) fn make_backend(
    wish: BackendWish,
    queue_entries: u32,
    files_max: u32,
) -> Result<(Backend, Option<SetupError>), SetupError> {
    let refusal = match wish {
        BackendWish::Poll => None,
        BackendWish::Auto | BackendWish::IoUring => match make_ring(queue_entries, files_max) {
            Ok(ring) => return Ok((Backend::Uring(ring), None)),
            Err(refusal @ (SetupError::Refused { .. } | SetupError::TooOld { .. }))
                if wish == BackendWish::Auto =>
            {
                Some(refusal)
            }
            Err(error) => return Err(error),
        },
    };
    let poller = Poller::new(files_max.min(file_limit())).map_err(|source| SetupError::Failed {
        step: "making the poller and its threads",
        advice: "raise the limits of open files and of tasks (ulimit -n and -u, TasksMax=)",
        source,
    })?;
    Ok((Backend::Poll(poller), refusal))
}

/// Makes the ring of a reactor.
fn make_ring(queue_entries: u32, files_max: u32) -> Result<Ring, SetupError> {
    let uring = build(queue_entries)?;
    if !uring.params().is_feature_ext_arg() || !uring.params().is_feature_nodrop() {
        return Err(too_old("waiting with a timeout", "5.11"));
    }
    let files = files_max.min(file_limit());
    uring.submitter().register_files_sparse(files).map_err(|source| SetupError::Failed {
        step: "reserving the table of files",
        advice: "raise the limit of open files (ulimit -n, LimitNOFILE=)",
        source,
    })?;
    let registered = register_descriptor(&uring)?;
    Ok(Ring::new(uring, registered, files, naming_for(&running_kernel())))
}

/// By the release of the kernel.
fn naming_for(release: &str) -> Naming {
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= (6, 13) => Naming::Places,
        // What is not known is taken for old: that costs a little, and holds nothing.
        _ => Naming::Descriptors,
    }
}

fn running_kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}

fn build(entries: u32) -> Result<IoUring, SetupError> {
    let mut builder = IoUring::builder();
    builder
        .dontfork()
        .setup_submit_all()
        .setup_cqsize(entries.saturating_mul(4).clamp(1024, 32768))
        .setup_clamp();
    let plain: Builder = builder.clone();
    builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag();
    let without_no_sqarray = builder.clone();
    builder.setup_no_sqarray();
    let result = match builder.build(entries) {
        Err(error) if is_unknown_flag(&error) => without_no_sqarray.build(entries),
        result => result,
    };
    match result {
        Ok(uring) => Ok(uring),
        Err(error) if is_unknown_flag(&error) && plain.build(entries).is_ok() => {
            Err(too_old("deferred completions (IORING_SETUP_DEFER_TASKRUN)", "6.1"))
        }
        Err(error) => Err(refused(error)),
    }
}

fn is_unknown_flag(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EINVAL)
}

fn too_old(feature: &'static str, since: &'static str) -> SetupError {
    SetupError::TooOld { feature, since, running: running_kernel() }
}

fn refused(source: io::Error) -> SetupError {
    let disabled = fs::read_to_string("/proc/sys/kernel/io_uring_disabled").ok();
    match advice(source.raw_os_error(), disabled.as_deref().map(str::trim)) {
        Some(advice) => SetupError::Refused { advice: advice.to_owned(), source },
        None => SetupError::Failed {
            step: "making the ring",
            advice: "see whether memory or file descriptors have run out",
            source,
        },
    }
}

/// What to try, from the error of the setup call and the value of `kernel.io_uring_disabled`.
fn advice(errno: Option<i32>, disabled: Option<&str>) -> Option<&'static str> {
    match (errno?, disabled) {
        (libc::EPERM, Some("2")) => Some(
            "sysctl kernel.io_uring_disabled is 2, off for everybody: set it to 0, or to 1 and \
             run with CAP_SYS_ADMIN or in the group of kernel.io_uring_group",
        ),
        (libc::EPERM, Some("1")) => Some(
            "sysctl kernel.io_uring_disabled is 1, off for the unprivileged: run with \
             CAP_SYS_ADMIN or in the group of kernel.io_uring_group, or set it to 0",
        ),
        (libc::EPERM | libc::EACCES, _) => Some(
            "a seccomp profile or security module forbids it, as container runtimes do by \
             default: allow io_uring_setup, io_uring_enter and io_uring_register in the profile, \
             or try --security-opt seccomp=unconfined",
        ),
        (libc::ENOSYS, _) => Some(
            "there is no such system call: the kernel was built without CONFIG_IO_URING, or a \
             seccomp profile of the container hides it; try --security-opt seccomp=unconfined",
        ),
        _ => None,
    }
}

/// The kernel takes no larger table of files than this.
fn file_limit() -> u32 {
    let limit = getrlimit(Resource::Nofile).current;
    limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(u32::MAX)
}

/// Has the kernel remember the ring's descriptor for this thread, which saves each enter a lookup.
fn register_descriptor(uring: &IoUring) -> Result<libc::c_int, SetupError> {
    /// `struct io_uring_rsrc_update` of the kernel.
    #[repr(C)]
    struct Update {
        offset: u32,
        reserved: u32,
        data: u64,
    }
    const REGISTER_RING_FDS: libc::c_uint = 20;
    let fd = uring.as_raw_fd();
    let data = u64::try_from(fd).expect("a descriptor is not negative");
    let mut update = Update { offset: u32::MAX, reserved: 0, data };
    // SAFETY: the descriptor is a live ring, and one update of the kernel's layout is passed.
    let result = unsafe {
        libc::syscall(libc::SYS_io_uring_register, fd, REGISTER_RING_FDS, &raw mut update, 1)
    };
    if result == 1 {
        return Ok(libc::c_int::try_from(update.offset).expect("a number below sixteen"));
    }
    Err(SetupError::Failed {
        step: "registering the ring with its thread",
        advice: "a thread holds at most 16 rings; Linux 5.18 or later is needed",
        source: io::Error::last_os_error(),
    })
}

/// Has the kernel answer a system call with an error, on this thread and for ever.
#[cfg(test)]
pub(crate) fn refuse(call: libc::c_long, errno: i32) {
    let load = libc::sock_filter {
        code: u16::try_from(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS).unwrap(),
        jt: 0,
        jf: 0,
        k: 0,
    };
    let is_meant = libc::sock_filter {
        code: u16::try_from(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K).unwrap(),
        jt: 0,
        jf: 1,
        k: u32::try_from(call).unwrap(),
    };
    let answer = |k| libc::sock_filter {
        code: u16::try_from(libc::BPF_RET | libc::BPF_K).unwrap(),
        jt: 0,
        jf: 0,
        k,
    };
    let refuse = answer(libc::SECCOMP_RET_ERRNO | errno.cast_unsigned());
    let mut program = [load, is_meant, refuse, answer(libc::SECCOMP_RET_ALLOW)];
    let program = libc::sock_fprog { len: 4, filter: program.as_mut_ptr() };
    // SAFETY: no pointer is passed.
    let result = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(result, 0);
    // SAFETY: the program lives during the call, which copies it.
    let result =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_refuse_is_told_apart() {
        let text = |errno, disabled| advice(Some(errno), disabled).unwrap();
        assert!(text(libc::EPERM, Some("2")).contains("io_uring_disabled is 2"));
        assert!(text(libc::EPERM, Some("1")).contains("CAP_SYS_ADMIN"));
        assert!(text(libc::EPERM, Some("0")).contains("seccomp"));
        assert!(text(libc::EPERM, None).contains("seccomp"));
        assert!(text(libc::ENOSYS, None).contains("CONFIG_IO_URING"));
        assert_eq!(advice(Some(libc::ENOMEM), None), None);
    }

    #[test]
    fn reactor_polls_where_a_seccomp_profile_refuses_the_ring() {
        for errno in [libc::EPERM, libc::ENOSYS] {
            let thread = std::thread::spawn(move || {
                let (backend, refusal) = make_backend(BackendWish::Auto, 8, 16).unwrap();
                assert!(matches!(backend, Backend::Uring(_)) && refusal.is_none());
                refuse(libc::SYS_io_uring_setup, errno);
                let (backend, refusal) = make_backend(BackendWish::Auto, 8, 16).unwrap();
                assert!(matches!(backend, Backend::Poll(_)));
                assert!(refusal.unwrap().to_string().contains("seccomp"));
                let error = make_backend(BackendWish::IoUring, 8, 16).unwrap_err();
                assert!(matches!(error, SetupError::Refused { .. }), "who insists is told");
            });
            thread.join().unwrap();
        }
    }

    #[test]
    fn ring_can_be_made_again_and_again_on_one_thread() {
        for _ in 0..40 {
            make_ring(8, 16).unwrap();
        }
    }

    #[test]
    fn files_are_named_by_descriptors_on_kernels_that_hold_them() {
        for old in ["6.1.0-13-amd64", "6.12.9+bpo", "5.14.0-503.el9", "", "rolling"] {
            assert_eq!(naming_for(old), Naming::Descriptors, "{old:?}");
        }
        for new in ["6.13.0", "6.18.44-fc", "7.0", "10.2.1-amd64"] {
            assert_eq!(naming_for(new), Naming::Places, "{new:?}");
        }
    }

    #[test]
    fn file_table_is_bounded_and_reused() {
        let mut ring = make_ring(8, 2).unwrap();
        let file = fs::File::open("/dev/null").unwrap();
        let first = ring.install(file.as_raw_fd()).unwrap();
        let second = ring.install(file.as_raw_fd()).unwrap();
        assert_eq!(ring.install(file.as_raw_fd()).unwrap_err().raw_os_error(), Some(libc::EMFILE));
        ring.uninstall(first);
        assert_eq!(ring.install(file.as_raw_fd()).unwrap().0, first.0);
        ring.uninstall(second);
    }
}
