//! What commands are refused with, in words.

use api::response::{Failure, FailureCode};

pub fn unknown_resource(name: &str) -> Failure {
    let message = format!("no resource {name:?} is up on this node");
    Failure::new(FailureCode::UnknownResource, message, "see `basalt adm status`")
}

pub(super) fn busy() -> Failure {
    let message = "another command is changing the resource";
    Failure::new(FailureCode::StateRefused, message, "try again when it is done")
}

pub fn address_failure(error: &std::io::Error) -> Failure {
    let hint = "is another daemon or service listening there, and is the address of this machine?";
    Failure::new(FailureCode::AddressInUse, error.to_string(), hint)
}
