//! What a connection carries before it counts: packets of the largest size, each way.
//!
//! ```text
//! HELLO -->      <-- WELCOME
//! PROBE -->      <-- PROBE       several of the largest packets that the path is said to take
//! PROBED -->     <-- PROBED      the other's came; all that follows is said over one that is up
//! ```
//!
//! The handshake is made of small packets. They pass also where large ones vanish and nobody is
//! told: a tunnel that is narrower than the networks at its ends, a switch without jumbo frames.
//! Over such a way a member would return each time, take the first full segment of a write, and
//! hold the writes of all until its silence is noticed. So a connection, a watch of a path too, is
//! up only when its PROBE came at both ends and both know.
//!
//! A PROBE has several times the segment that the kernel uses on this very connection, so that most
//! of its packets are as large as they get: 1,448 bytes on Ethernet, 8,948 with jumbo frames. All
//! of them leave at once, however far the peer is; a fixed size would be too small here and take
//! several round trips there. Its bytes do not compress, for a tunnel that does would hide what it
//! loses. Where packets have 64 KiB (loopback, InfiniBand) TCP begins with half of that.
//!
//! PROBED is the last that is said before a connection is up. So whatever a peer says over one that
//! is up there arrives where it is up, too. The deadline is that of the handshake.

use std::net::SocketAddr;

use format::message::{Hello, LinkClass, LinkMessage, PROBE_PADDING_BYTES_MAX, Probe as Padded};
use io::Class;
use stdx::random::Random;
use stdx::time::Time;

use crate::kit::Kit;
use crate::limits::{PROBE_PATIENCE, PROBE_SEGMENTS, SEGMENT_BYTES_UNKNOWN};
use crate::links::Links;
use crate::links::away::{Away, Direction};
use crate::slab::Key;

/// Both probes of a connection.
#[derive(Debug)]
pub(super) struct Probe {
    /// What the peer said of itself.
    hello: Box<Hello>,
    began_at: Time,
    ours: Ours,
    theirs: Theirs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ours {
    Unsent,
    Sent { padding_bytes: u32 },
    Arrived,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theirs {
    Awaited,
    Came { padding_bytes: u32 },
    Told,
}

impl Probe {
    pub(super) fn new(hello: &Hello, now: Time) -> Self {
        Self {
            hello: Box::new(hello.clone()),
            began_at: now,
            ours: Ours::Unsent,
            theirs: Theirs::Awaited,
        }
    }

    /// What is to be said next.
    fn due(&self, segment_bytes: impl FnOnce() -> u32) -> Option<LinkMessage> {
        match (self.ours, self.theirs) {
            (Ours::Unsent, _) => {
                let padding = padding(segment_bytes());
                Some(LinkMessage::Probe(Padded { padding }))
            }
            (_, Theirs::Came { padding_bytes }) => Some(LinkMessage::Probed { padding_bytes }),
            (Ours::Sent { .. } | Ours::Arrived, Theirs::Awaited | Theirs::Told) => None,
        }
    }

    fn is_done(&self) -> bool {
        (self.ours, self.theirs) == (Ours::Arrived, Theirs::Told)
    }
}

/// Bytes that no tunnel makes fewer.
fn padding(segment_bytes: u32) -> Vec<u8> {
    let length = segment_bytes.saturating_mul(PROBE_SEGMENTS).min(PROBE_PADDING_BYTES_MAX);
    let mut random = Random::new(io::random_u64());
    let words = (0..length.div_ceil(8)).map(|_| random.next_u64());
    let mut padding: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    padding.truncate(length as usize);
    padding
}

impl Links {
    /// Both have greeted: the proof begins.
    pub(super) fn begin_probe(&mut self, key: Key, hello: &Hello, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.begin_probe(hello, kit.now);
        self.is_due = true;
        self.go_on_with_probe(key, kit);
    }

    pub(super) fn on_probe(&mut self, key: Key, probe: &Padded, kit: &mut Kit) -> Result<(), Away> {
        let Some(known) = self.probe_mut(key) else { return Ok(()) };
        if known.theirs != Theirs::Awaited {
            return Err(Away::out_of_turn("it sent a second probe"));
        }
        let length = probe.padding.len();
        let padding_bytes = u32::try_from(length).expect("its length was read from 32 bits");
        known.theirs = Theirs::Came { padding_bytes };
        self.go_on_with_probe(key, kit);
        Ok(())
    }

    pub(super) fn on_probed(
        &mut self,
        key: Key,
        padding_bytes: u32,
        kit: &mut Kit,
    ) -> Result<(), Away> {
        let Some(known) = self.probe_mut(key) else { return Ok(()) };
        if known.ours != (Ours::Sent { padding_bytes }) {
            let told = format!("{padding_bytes} bytes of a probe came there, which are not ours");
            return Err(Away::OutOfTurn { told });
        }
        known.ours = Ours::Arrived;
        self.go_on_with_probe(key, kit);
        Ok(())
    }

    fn probe_mut(&mut self, key: Key) -> Option<&mut Probe> {
        self.connections.get_mut(key)?.probe.as_deref_mut()
    }

    /// Says what is to be said, once nothing is on its way any more.
    pub(super) fn go_on_with_probe(&mut self, key: Key, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let Some(probe) = connection.probe.as_deref() else { return };
        if probe.is_done() {
            return self.end_probe(key, kit);
        }
        if connection.sending.busy || connection.tls.as_ref().is_some_and(|it| it.wants_send()) {
            return;
        }
        let segment_bytes = || {
            let known = connection.socket.and_then(|socket| kit.reactor.segment_bytes(socket));
            known.unwrap_or(SEGMENT_BYTES_UNKNOWN)
        };
        let Some(message) = probe.due(segment_bytes) else { return };
        let padding_bytes = if let LinkMessage::Probe(Padded { padding }) = &message {
            u32::try_from(padding.len()).ok()
        } else {
            None
        };
        let room_bytes = Class::Small.size_bytes() + padding_bytes.unwrap_or(0);
        if self.send_in_room(key, &message, room_bytes, kit).is_none() {
            return;
        }
        let Some(probe) = self.probe_mut(key) else { return };
        match padding_bytes {
            Some(padding_bytes) => probe.ours = Ours::Sent { padding_bytes },
            None => probe.theirs = Theirs::Told,
        }
        // The peer may be up as soon as it was told, and say more.
        if probe.is_done() {
            self.end_probe(key, kit);
        }
    }

    /// Large packets pass in both directions: the connection counts.
    fn end_probe(&mut self, key: Key, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let (Some(index), Some(probe)) = (connection.link, connection.probe.take()) else { return };
        match connection.class {
            LinkClass::Watch => self.count_watch(key, index, kit),
            LinkClass::Data | LinkClass::Bulk => self.count_in(key, index, &probe.hello, kit),
        }
    }

    /// Why a connection whose probe had its time did not come up.
    pub(super) fn lost_large(&self, key: Key, kit: &Kit) -> Option<Away> {
        let connection = self.connections.get(key)?;
        let probe = connection.probe.as_deref()?;
        let had_time = kit.now >= probe.began_at + PROBE_PATIENCE;
        if !had_time || probe.ours == Ours::Unsent {
            return None;
        }
        let known = || self.links[connection.link?].targets.first().map(|target| target.path);
        let remote = connection.path.or_else(|| connection.ends(kit)).or_else(known)?.1;
        let remote = SocketAddr::new(remote.ip().to_canonical(), remote.port());
        let way = match probe.theirs {
            Theirs::Awaited => Direction::HereFromThere,
            Theirs::Came { .. } | Theirs::Told => Direction::ThereFromHere,
        };
        Some(Away::LargePackets { way, remote })
    }
}

#[expect(clippy::disallowed_methods, reason = "the other end is the test's own")]
#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use format::ids::BootId;
    use io::{Event, now};

    use super::*;
    use crate::definition::link::{LinkTimes, PeerPaths, Spread};
    use crate::links::{Identity, LEAD};

    /// A node of one shard.
    struct End {
        links: Links,
        kit: Kit,
    }

    impl End {
        fn new(name: &str, boot: u64, peer: (&str, SocketAddr, SocketAddr)) -> Self {
            let (peer_name, local, remote) = peer;
            let name = name.to_owned();
            let identity = Identity { name, boot_id: BootId(boot), start_count: 1, shards: 1 };
            let mut end = Self { links: Links::new(identity, LEAD), kit: Kit::of_lone_shard() };
            end.kit.now = now();
            let peer = PeerPaths {
                peer_name: peer_name.to_owned(),
                paths: vec![(local, remote)],
                secrecy: crate::definition::link::Secrecy::ClearText,
                times: LinkTimes::default(),
                spread: Spread::One,
                buffers: crate::definition::link::Buffers::default(),
            };
            end.links.add_peer(&peer, end.kit.now);
            end
        }

        fn is_up(&self) -> bool {
            self.links.links[0].is_up
        }

        /// What happens within a moment.
        fn turn(&mut self) {
            let mut events = Vec::new();
            let deadline = now() + Duration::from_micros(50);
            self.kit.reactor.turn(Some(deadline), &mut events).unwrap();
            self.kit.now = now();
            let (links, kit) = (&mut self.links, &mut self.kit);
            for event in events {
                let key = |token: u64| Key::of_token(token).1;
                if let Event::Connected { token, result, .. } = event {
                    links.on_connected(key(token), result, kit);
                } else if let Event::Received { token, result, .. } = event {
                    links.on_received(key(token), result, kit);
                } else if let Event::Sent { token, result, .. } = event {
                    links.on_sent(key(token), result, kit);
                } else {
                    panic!("a link has no use for {event:?}");
                }
            }
            links.tick(kit);
            links.flush(kit);
        }
    }

    /// Two nodes whose link comes up over loopback, and how long that took.
    fn connect() -> (End, End, Duration) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let at = listener.local_addr().unwrap();
        let mut alpha = End::new("alpha", 1, ("bravo", at, at));
        let mut bravo = End::new("bravo", 2, ("alpha", at, at));
        let began = now();
        while !alpha.is_up() || !bravo.is_up() {
            assert!(now() < began + Duration::from_secs(20), "it does not come up");
            alpha.turn();
            if let Ok((stream, _)) = listener.accept() {
                let socket = bravo.kit.reactor.adopt(stream.into()).unwrap();
                bravo.links.on_accepted(socket, &mut bravo.kit);
            }
            bravo.turn();
        }
        (alpha, bravo, now().since(began))
    }

    /// A return takes one round trip more, and waits for no timer of TCP (40 ms and more).
    #[test]
    fn link_over_which_large_packets_pass_comes_up_at_once() {
        let mut times = Vec::new();
        for _ in 0..20 {
            let (alpha, bravo, took) = connect();
            times.push(took);
            for end in [alpha, bravo] {
                let (_, connection) = end.links.connections.iter().next().unwrap();
                assert!(connection.is_up() && connection.probe.is_none());
                assert_eq!(end.links.links[0].failure, None);
            }
        }
        times.sort_unstable();
        println!("up after {:?}, at most {:?}", times[10], times[19]);
        assert!(times[10] < Duration::from_millis(40), "{times:?}");
    }

    #[test]
    fn probe_has_several_of_the_largest_packets_and_leaves_at_once() {
        for (segment_bytes, bytes) in [(536, 2_144), (1_448, 5_792), (8_948, 35_792)] {
            let padding = padding(segment_bytes);
            assert_eq!(padding.len(), bytes);
            assert!(bytes < 10 * segment_bytes as usize, "what a new connection may send");
            let zeroes = padding.iter().filter(|byte| **byte == 0).count();
            assert!(zeroes < bytes / 32, "a tunnel that compresses would make it small");
        }
        assert_eq!(padding(65_483).len(), PROBE_PADDING_BYTES_MAX as usize);
    }

    /// The peer may be up, and say more, as soon as it has heard of its probe.
    #[test]
    fn connection_is_up_as_soon_as_both_know() {
        let mut probe = Probe::new(&hello(), Time::ZERO);
        probe.theirs = Theirs::Came { padding_bytes: 9 };
        assert!(matches!(probe.due(|| 100), Some(LinkMessage::Probe(_))), "ours is the first");
        probe.ours = Ours::Sent { padding_bytes: 400 };
        assert_eq!(probe.due(|| 100), Some(LinkMessage::Probed { padding_bytes: 9 }));
        probe.theirs = Theirs::Told;
        assert!(probe.due(|| 100).is_none() && !probe.is_done());
        probe.ours = Ours::Arrived;
        assert!(probe.due(|| 100).is_none() && probe.is_done());
    }

    fn hello() -> Hello {
        let name = "bravo".to_owned();
        let identity = Identity { name, boot_id: BootId(2), start_count: 1, shards: 1 };
        Links::new(identity, LEAD).greet(Key { index: 0, generation: 0 }, LEAD, LinkClass::Data)
    }
}
