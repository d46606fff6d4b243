//! NVMe over TCP, the controller's end: a Linux initiator connects to every node of a resource.
//!
//! ```text
//!  accept -> Receiver --ICReq, Connect--> admin queue -> Controller -> answers, log pages
//!                 |            (Exchange: a queue proves itself first, where hosts have to)
//!                 |                  \--> I/O queue   -> Io          -> the volume
//!                 +--data of a write--> Transfers --------------------> the volume
//!                                        Encoder <--- what is read, completions
//! ```
//!
//! A resource is one subsystem with one namespace, and each of its nodes one port: the nodes give
//! the namespace one name (NGUID) and keep to controller ids of their own, so that an initiator
//! takes them for paths to the same thing. Which path is good is told by the ANA log (`view`).
//!
//! Only meaning is here: bytes to commands, commands to answers. The sockets, the buffers and the
//! clock are the daemon's; nothing of an I/O queue allocates.

pub mod wire;
pub mod limits;
pub mod status;
pub mod receive;
pub mod send;
pub mod connect;
pub mod auth;
pub mod view;
pub mod controller;
pub mod command;
pub mod transfers;
