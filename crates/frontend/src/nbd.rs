//! The NBD protocol, both ends.
//!
//! The server side is two state machines without input or output of their own. The client is a
//! plain blocking one for tests, for the checker and for tools; it checks the server strictly.

pub mod wire;
pub mod client;
