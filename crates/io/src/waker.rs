//! Ends another thread's sleep.

/// Wakes one reactor or one parker. Cheap while its owner is awake: one atomic, no syscall.
#[derive(Clone, Debug)]
pub struct Waker;

impl Waker {
    /// Ends the owner's present or next wait.
    pub fn wake(&self) {}
}

/// Sleep for a thread without a reactor (control, admin) that receives from mailboxes.
#[derive(Debug)]
pub struct Parker;

impl Parker {
    pub fn new() -> std::io::Result<Self> {
        Ok(Self)
    }
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker
    }
    /// Sleeps until a waker calls or `until` has come.
    pub fn park(&self, until: stdx::time::Time) {
        unimplemented!("{until:?}")
    }
}
