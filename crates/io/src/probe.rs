//! What the kernel must be able to do before a reactor can run on it, and words for when it
//! cannot.
//!
//! The floor is Linux 6.1 (`DEFER_TASKRUN`). `NO_SQARRAY` (6.6) is used where it is known. The
//! ring is made on the thread that will use it, for the kernel holds the two together.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{Builder, IoUring};

use crate::ring::Ring;

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
}

/// Makes the ring of a reactor.
pub(crate) fn make_ring(queue_entries: u32, files_max: u32) -> Result<Ring, SetupError> {
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
    Ok(Ring::new(uring, registered, files))
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
    let running = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    SetupError::TooOld { feature, since, running: running.trim().to_owned() }
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
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for one rlimit.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    assert_eq!(result, 0, "the limit of open files can be read");
    u32::try_from(limit.rlim_cur).unwrap_or(u32::MAX)
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
    fn ring_can_be_made_again_and_again_on_one_thread() {
        for _ in 0..40 {
            make_ring(8, 16).unwrap();
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
