//! The state of the connection to one peer, in DRBD's words.

words! {
    /// Only `Connected` carries data.
    #[derive(PartialOrd, Ord)]
    pub enum ConnectionState {
        /// Told not to connect, or refused for good; the reason is in the status.
        #[default]
        StandAlone = "StandAlone",
        Disconnecting = "Disconnecting",
        Unconnected = "Unconnected",
        Timeout = "Timeout",
        BrokenPipe = "BrokenPipe",
        NetworkFailure = "NetworkFailure",
        ProtocolError = "ProtocolError",
        TearDown = "TearDown",
        /// Trying, again and again.
        Connecting = "Connecting",
        Connected = "Connected",
    }
}
