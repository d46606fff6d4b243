//! Clients that talk nonsense: their connection ends, or their request is refused, and that is all.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::cluster::{Cluster, RESOURCE};

const OPTION_MAGIC: &[u8] = b"IHAVEOPT";
const REQUEST_MAGIC: u32 = 0x2560_9513;
const OPTION_EXPORT_NAME: u32 = 1;
const OPTION_GO: u32 = 7;
const GREETING_BYTES: usize = 18;
/// Size and flags of the export, without the zeroes that nobody wants.
const EXPORT_BYTES: usize = 10;

const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;
const EOVERFLOW: u32 = 75;

struct RawClient {
    stream: TcpStream,
}

impl RawClient {
    /// Connected and greeted, nothing said yet.
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut client = Self { stream };
        let greeting = client.receive(GREETING_BYTES).unwrap();
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        client
    }

    /// In the transmission phase, in the oldest way, which answers with simple replies.
    fn transmitting(address: SocketAddr) -> Self {
        let mut client = Self::connect(address);
        client.send(&3_u32.to_be_bytes());
        client.send(&option(OPTION_EXPORT_NAME, RESOURCE.as_bytes()));
        client.receive(EXPORT_BYTES).unwrap();
        client
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).ok();
    }

    fn receive(&mut self, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        match self.stream.read_exact(&mut bytes) {
            Ok(()) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                panic!("the daemon neither answered nor closed the connection")
            }
            Err(_) => None,
        }
    }

    /// The error number of the next simple reply.
    fn answer(&mut self) -> Option<u32> {
        let reply = self.receive(16)?;
        assert_eq!(reply[..4], 0x6744_6698_u32.to_be_bytes());
        Some(u32::from_be_bytes(reply[4..8].try_into().unwrap()))
    }

    fn expect_close(mut self) {
        while self.receive(1).is_some() {}
    }
}

fn option(number: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap();
    [OPTION_MAGIC, &number.to_be_bytes(), &length.to_be_bytes(), payload].concat()
}

fn request(flags: u16, command: u16, offset: u64, length: u32) -> Vec<u8> {
    [
        &REQUEST_MAGIC.to_be_bytes()[..],
        &flags.to_be_bytes(),
        &command.to_be_bytes(),
        &7_u64.to_be_bytes(),
        &offset.to_be_bytes(),
        &length.to_be_bytes(),
    ]
    .concat()
}

#[test]
fn nonsense_of_one_client_does_not_touch_another() {
    let mut cluster = Cluster::start(3);
    let address = cluster.nodes[0].nbd;
    let mut other = cluster.nodes[0].client();
    let size_bytes = other.export().size_bytes;
    other.write(0, &[1; 4096]).unwrap();
    let mut is_well = |what: &str| {
        let mut read = [0; 4096];
        other.read(0, &mut read).unwrap_or_else(|error| panic!("after {what}: {error}"));
        assert_eq!(read, [1; 4096], "{what}");
        other.write(4096, &[2; 4096]).unwrap_or_else(|error| panic!("after {what}: {error}"));
    };

    let noise: Vec<u8> =
        (0..100_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    let flags = 3_u32.to_be_bytes();
    let mut huge_option = option(OPTION_GO, &[]);
    huge_option[12..16].copy_from_slice(&[0xff; 4]);
    for (what, bytes) in [
        ("noise for a greeting", noise.clone()),
        ("a client's words", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        ("noise for options", [&flags[..], &noise].concat()),
        ("an option of 4 GiB", [&flags[..], &huge_option].concat()),
        ("no export of that name", [&flags[..], &option(OPTION_EXPORT_NAME, b"nothing")].concat()),
    ] {
        let mut client = RawClient::connect(address);
        client.send(&bytes);
        client.stream.shutdown(std::net::Shutdown::Write).ok();
        client.expect_close();
        is_well(what);
    }

    for (what, bytes) in [
        ("noise for requests", noise),
        ("a wrong magic", [&[0; 4], &request(0, 0, 0, 4096)[4..]].concat()),
        ("a write of 4 GiB", request(0, 1, 0, u32::MAX)),
    ] {
        let mut client = RawClient::transmitting(address);
        client.send(&bytes);
        client.expect_close();
        is_well(what);
    }

    for (what, bytes, errors) in [
        ("an unknown command", request(0, 99, 0, 0), [EINVAL, EINVAL]),
        ("unknown flags", request(0x8000, 0, 0, 4096), [EINVAL, EINVAL]),
        ("a read past the end", request(0, 0, size_bytes, 4096), [EINVAL, ENOSPC]),
        ("a read that wraps around", request(0, 0, u64::MAX - 4095, 8192), [EINVAL, ENOSPC]),
        ("a trim past the end", request(0, 4, size_bytes - 4096, 8192), [EINVAL, ENOSPC]),
        ("a read of nothing", request(0, 0, 0, 0), [EINVAL, 0]),
        ("a read of 4 GiB", request(0, 0, 0, u32::MAX), [EINVAL, EOVERFLOW]),
        ("a read across no blocks", request(0, 0, 3, 7), [EINVAL, 0]),
    ] {
        let mut client = RawClient::transmitting(address);
        client.send(&bytes);
        let error = client.answer();
        assert!(error.is_none_or(|error| errors.contains(&error)), "{what}: {error:?}");
        is_well(what);
    }

    let mut client = RawClient::transmitting(address);
    client.send(&request(0, 1, size_bytes - 4096, 8192));
    client.send(&[0xee; 8192]);
    assert_eq!(client.answer(), Some(ENOSPC), "a write past the end");
    client.send(&request(0, 1, 8192, 65_536));
    client.send(&[0xee; 4096]);
    drop(client);
    is_well("a write that was cut off");
    let mut read = [0; 4096];
    other.read(size_bytes - 4096, &mut read).unwrap();
    assert_eq!(read, [0; 4096], "a refused write left something");
    assert!(!cluster.nodes[0].has_ended(), "{}", cluster.nodes[0].log());
}

/// More requests come at once than are taken at a time, and the next ones when those are done.
#[test]
fn every_request_of_a_flood_is_answered_once() {
    let cluster = Cluster::start(3);
    let mut client = RawClient::transmitting(cluster.nodes[0].nbd);
    for round in 0..4_u64 {
        let asked: Vec<u64> = (round * 1000..round * 1000 + 600).collect();
        let flush = |cookie: &u64| {
            let mut bytes = request(0, 3, 0, 0);
            bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
            bytes
        };
        client.send(&asked.iter().flat_map(flush).collect::<Vec<u8>>());
        let cookie = |_: &u64| {
            let reply = client.receive(16).expect("the session goes on");
            u64::from_be_bytes(reply[8..].try_into().unwrap())
        };
        let mut answered: Vec<u64> = asked.iter().map(cookie).collect();
        answered.sort_unstable();
        assert_eq!(answered, asked, "round {round}");
    }
}
