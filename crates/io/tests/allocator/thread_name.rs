//! The name of the calling thread, without an allocation.
#![expect(unsafe_code, reason = "what std has for it allocates")]

/// It ends with a zero.
pub(crate) fn thread_name() -> [u8; 16] {
    let mut name = [0_u8; 16];
    // SAFETY: it takes nothing.
    let thread = unsafe { libc::pthread_self() };
    // SAFETY: the pointer and the length describe `name`, and the calling thread lives.
    unsafe { libc::pthread_getname_np(thread, name.as_mut_ptr().cast(), name.len()) };
    name
}
