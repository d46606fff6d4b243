//! Types of the admin socket.
