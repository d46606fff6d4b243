//! Which resource a data thread works on, for the note of an abort.

use std::cell::{Cell, RefCell};

use crate::hosted_id::HostedId;

thread_local! {
    static NAMES: RefCell<Vec<(HostedId, String)>> = RefCell::default();
    static STEPPING: Cell<Option<HostedId>> = const { Cell::new(None) };
}

/// Makes the name of a resource known to this thread.
pub(crate) fn know(id: HostedId, name: &str) {
    NAMES.with_borrow_mut(|names| names.push((id, name.to_owned())));
}

pub(crate) fn forget(id: HostedId) {
    NAMES.with_borrow_mut(|names| names.retain(|(known, _)| *known != id));
}

/// This thread works on the resource, until it is told of another one.
pub(crate) fn set(id: Option<HostedId>) {
    STEPPING.set(id);
}

/// The name of the resource that this thread works on. It is asked while the thread panics: nothing
/// here may panic again.
pub fn name() -> Option<String> {
    let id = STEPPING.try_with(Cell::get).ok().flatten()?;
    let named = NAMES.try_with(|names| {
        let names = names.try_borrow().ok()?;
        names.iter().find(|(known, _)| *known == id).map(|(_, name)| name.clone())
    });
    named.ok().flatten()
}
