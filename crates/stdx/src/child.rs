//! A process that ends with the value that holds it.

use std::ops::{Deref, DerefMut};
use std::process::Child;

/// SIGKILL when it is dropped, and gone after it.
#[derive(Debug)]
pub struct HeldChild(Child);

impl From<Child> for HeldChild {
    fn from(child: Child) -> Self {
        Self(child)
    }
}

impl Deref for HeldChild {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for HeldChild {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for HeldChild {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
