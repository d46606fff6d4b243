//! The addresses of this node that a resource names: taken by something else, or missing here.

use std::net::{TcpListener, UdpSocket};

use api::response::{Failure, FailureCode, Reply};
use engine::definition::Definition;
use engine::links::listening::{is_missing, missing_address};
use engine::shard::addresses::own_addresses;
use engine::shard::refusals::address_failure;

use crate::control::Control;
use crate::control::texts::state_failure;
use crate::error::NodeError;
use crate::patience::Patience;

impl Control {
    /// Refuses an address of a new member or path that something else has: a resource that runs
    /// cannot go back. One that the machine does not have yet is waited for.
    pub(super) fn check_addresses(&self, wanted: &Definition) -> Result<(), Failure> {
        // What waits to be stored is listened for, too.
        let mut texts = self.state.stored_texts().map_err(state_failure)?;
        texts.extend(self.unsettled.all());
        let running = texts
            .iter()
            .filter_map(|(resource, text)| Definition::from_text(&self.name, resource, text).ok());
        let known: Vec<_> = running.flat_map(|definition| own_addresses(&definition)).collect();
        for address in own_addresses(wanted).iter().filter(|address| !known.contains(address)) {
            if let Err(error) = TcpListener::bind(address)
                && !is_missing(&error)
            {
                let text = format!("cannot listen on {address}: {error}");
                return Err(address_failure(&std::io::Error::new(error.kind(), text)));
            }
        }
        Ok(())
    }
}

/// Tries again while an address that is to be listened on is taken.
pub(super) fn once_address_is_free(
    patience: &mut Patience,
    mut attempt: impl FnMut(&mut Patience) -> Result<Reply, Failure>,
) -> Result<Reply, Failure> {
    loop {
        match attempt(patience) {
            Err(failure)
                if failure.code == FailureCode::AddressInUse && patience.rest(&failure) => {}
            result => return result,
        }
    }
}

/// The same of one that this thread listens at itself.
pub(super) fn once_place_is_free<T>(
    patience: &mut Patience,
    mut attempt: impl FnMut() -> Result<T, NodeError>,
) -> Result<T, NodeError> {
    loop {
        match attempt() {
            Err(error @ NodeError::Refused(_)) if patience.rest(&error) => {}
            result => return result,
        }
    }
}

/// Warnings of addresses of this node that its machine does not have.
pub(super) fn missing_addresses(definition: &Definition) -> impl Iterator<Item = String> {
    let is_absent = |it: &std::net::SocketAddr| {
        UdpSocket::bind((it.ip(), 0)).is_err_and(|error| is_missing(&error))
    };
    own_addresses(definition).into_iter().filter(is_absent).map(missing_address)
}
