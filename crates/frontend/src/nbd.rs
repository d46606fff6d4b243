//! The NBD protocol, both ends.
//!
//! ```text
//!  accept -> Handshake --Agreement--> Transmission --Request--> the volume
//!                                          |                       | parts, in any order
//!                                          v                       v
//!                                      refusal --> ReplyEncoder <-- ReadAssembly, WriteAssembly
//! ```
//!
//! The server side is state machines without input or output of their own: the daemon hands them
//! bytes, keeps every buffer, and sends what they encode. Nothing of the transmission phase
//! allocates. The client is a plain blocking one for tests, for the checker and for tools; it
//! checks the server strictly.

pub mod wire;
pub mod limits;
pub mod handshake;
pub mod transmission;
pub mod reply;
pub mod parts;
pub mod client;
