//! How a command ends: the status field of a completion, and why a connection is given up.

use std::fmt;

/// Type, code and "do not retry", as they stand above the phase bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(u16);

impl Status {
    pub const SUCCESS: Self = Self(0);
    pub const INVALID_OPCODE: Self = Self::last(0x001);
    pub const INVALID_FIELD: Self = Self::last(0x002);
    pub const INTERNAL: Self = Self(0x006);
    pub const INVALID_NAMESPACE: Self = Self::last(0x00b);
    pub const SEQUENCE_ERROR: Self = Self::last(0x00c);
    pub const DATA_LENGTH_INVALID: Self = Self::last(0x00f);
    pub const SGL_TYPE_INVALID: Self = Self::last(0x011);
    /// A data digest was wrong: worth another try.
    pub const TRANSPORT_ERROR: Self = Self(0x022);
    pub const LBA_OUT_OF_RANGE: Self = Self::last(0x080);
    pub const EVENT_LIMIT: Self = Self::last(0x105);
    pub const INVALID_LOG_PAGE: Self = Self::last(0x109);
    pub const NOT_CHANGEABLE: Self = Self::last(0x10e);
    pub const CONNECT_FORMAT: Self = Self::last(0x180);
    pub const CONNECT_BUSY: Self = Self(0x181);
    pub const CONNECT_INVALID: Self = Self::last(0x182);
    /// The same of a subsystem that is not here now, and may be later: an initiator that was
    /// connected goes on trying.
    pub const CONNECT_UNKNOWN: Self = Self(0x182);
    /// The host is not one that may connect.
    pub const CONNECT_HOST: Self = Self::last(0x184);
    pub const AUTHENTICATION_REQUIRED: Self = Self::last(0x191);
    pub const WRITE_FAULT: Self = Self::last(0x280);
    pub const READ_ERROR: Self = Self::last(0x281);
    /// Another path serves the namespace: look at the ANA log, and send it there.
    pub const PATH_INACCESSIBLE: Self = Self(0x302);

    const DO_NOT_RETRY: u16 = 1 << 14;

    const fn last(code: u16) -> Self {
        Self(code | Self::DO_NOT_RETRY)
    }

    /// As it stands in a completion, the phase bit being zero.
    #[must_use]
    pub fn field(self) -> u16 {
        self.0 << 1
    }
}

/// The stream makes no sense any more: the initiator is told why, and the connection closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fatal {
    pub(crate) code: u16,
    /// Where in the PDU the trouble is.
    pub(crate) at: u32,
    what: &'static str,
}

impl Fatal {
    pub(crate) fn header(at: u32, what: &'static str) -> Self {
        Self { code: 1, at, what }
    }

    /// A PDU, or a command, that may not come now.
    #[must_use]
    pub fn sequence(what: &'static str) -> Self {
        Self { code: 2, at: 0, what }
    }

    pub(crate) fn header_digest() -> Self {
        Self { code: 3, at: 0, what: "the digest of a header is wrong" }
    }

    pub(crate) fn range(what: &'static str) -> Self {
        Self { code: 4, at: 0, what }
    }

    pub(crate) fn too_long() -> Self {
        Self { code: 5, at: 0, what: "a PDU is longer than was agreed" }
    }
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}
