//! Locks of threads that do not panic: a panic ends the process.
//!
//! In a test it ends its thread, and the test fails by that. So what a lock guards is used as it
//! was left, and nobody is to handle a poisoned one.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

/// Waits for the lock.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// What a lock or a condition variable gave.
pub fn unpoisoned<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}
