//! The address of an export: `nbd://HOST:PORT/EXPORT` or `nbd+unix:///EXPORT?socket=PATH`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::nbd::client::ClientError;

/// Registered for NBD, used where an address names none.
pub const PORT_DEFAULT: u16 = 10809;

/// Where a server listens and which of its exports is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri {
    pub address: Address,
    /// The empty name asks for the server's default export.
    pub export: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl FromStr for Uri {
    type Err = ClientError;

    fn from_str(text: &str) -> Result<Self, ClientError> {
        parse(text).map_err(|reason| ClientError::Uri { uri: text.to_owned(), reason })
    }
}

fn parse(text: &str) -> Result<Uri, &'static str> {
    if let Some(rest) = text.strip_prefix("nbd+unix://") {
        let (path, query) = rest.split_once('?').ok_or("it has no `?socket=PATH`")?;
        let export = path.strip_prefix('/').ok_or("a host is named where a socket is meant")?;
        let socket = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("socket="))
            .filter(|socket| !socket.is_empty())
            .ok_or("it has no `?socket=PATH`")?;
        let address = Address::Unix(PathBuf::from(decode(socket)?));
        return Ok(Uri { address, export: decode(export)? });
    }
    let rest = text.strip_prefix("nbd://").ok_or("it starts neither `nbd://` nor `nbd+unix://`")?;
    let (authority, export) = rest.split_once('/').unwrap_or((rest, ""));
    if export.contains('?') {
        return Err("`nbd://` takes no `?` parameters");
    }
    let (host, port) = host_and_port(authority)?;
    Ok(Uri { address: Address::Tcp { host, port }, export: decode(export)? })
}

fn host_and_port(authority: &str) -> Result<(String, u16), &'static str> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("`[` is not closed")?;
        let port = match after {
            "" => None,
            _ => Some(after.strip_prefix(':').ok_or("`]` is followed by something else than `:`")?),
        };
        (host, port)
    } else {
        match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    if host.is_empty() {
        return Err("it names no host");
    }
    let port = match port {
        None => PORT_DEFAULT,
        Some(digits) => digits.parse().ok().ok_or("its port is not a number from 0 to 65535")?,
    };
    Ok((host.to_owned(), port))
}

/// Replaces each `%xx` by its byte.
fn decode(text: &str) -> Result<String, &'static str> {
    const BAD: &str = "`%` is not followed by two hexadecimal digits";
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16)).ok_or(BAD);
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).expect("two hexadecimal digits fit a byte"));
    }
    String::from_utf8(bytes).ok().ok_or("it is not UTF-8 after decoding")
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Address::Tcp { .. } => write!(f, "nbd://{}/{}", self.address, Encoded(&self.export)),
            Address::Unix(path) => {
                let path = path.to_string_lossy();
                write!(f, "nbd+unix:///{}?socket={}", Encoded(&self.export), Encoded(&path))
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

struct Encoded<'a>(&'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
                write!(f, "{}", char::from(byte))?;
            } else {
                write!(f, "%{byte:02X}")?;
            }
        }
        Ok(())
    }
}
