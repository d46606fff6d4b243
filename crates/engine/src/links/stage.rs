//! The stages of a connection.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The TCP handshake is under way.
    Connecting,
    /// The handshake of TLS is under way.
    Securing,
    /// Accepted: the peer speaks first.
    AwaitHello,
    AwaitWelcome,
    /// Both have greeted: large packets have to pass before it counts.
    Probing,
    Up,
    /// It is over, and the peer is being told why.
    Refused,
}
