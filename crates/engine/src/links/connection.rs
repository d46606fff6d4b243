//! One TCP stream of a link: its handshake, what it is receiving and what it is sending.

use config::host_name::{Ambiguous, is_same_host};
use format::frame;
use format::message::{FEATURE_PROBE, FEATURE_QUANTUM, FEATURES, Hello, LinkClass, LinkMessage};
use io::{Slice, SocketId};
use replication::contract::Payload;
use stdx::time::Time;

use crate::definition::link::Path;
use crate::kit::Kit;
use crate::limits::{HANDSHAKE_DEADLINE, RIVAL_SILENCE_MIN};
use crate::links::away::Away;
use crate::links::probe::Probe;
use crate::links::stage::Stage;
use crate::links::{LEAD, Link, Links, TOKEN_CONNECTION};
use crate::slab::Key;
use crate::tls::Session;

#[derive(Debug)]
pub(crate) struct Connection {
    /// Number of its link; a stranger has none yet.
    pub(super) link: Option<usize>,
    /// The peer's shard at the other end; of a stranger not known yet.
    pub(super) shard: u8,
    pub(super) class: LinkClass,
    pub(super) stage: Stage,
    /// It was accepted from the address of a peer.
    pub(super) of_peer: bool,
    /// Its handshake has to be over by then.
    pub(super) deadline: Time,
    /// The path that it uses, once that is known.
    pub(super) path: Option<Path>,
    pub(super) socket: Option<SocketId>,
    pub(super) tls: Option<Box<Session>>,
    /// Why it is over.
    pub(super) refusal: Option<Away>,
    pub(super) receiver: super::receive::Receiver,
    pub(super) sending: Sending,
    /// The quantum that this side named, in bytes.
    named_quantum: u16,
    pub(super) quanta: Quanta,
    /// What the peer knows of, as it said.
    pub(super) features: u64,
    /// How far the proof is that large packets pass; only in that stage.
    pub(super) probe: Option<Box<Probe>>,
}

/// What the parts of frames are padded to, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quanta {
    pub(super) arriving: u16,
    pub(super) leaving: u16,
}

impl Quanta {
    /// Before both sides know what the other one asks for.
    const LARGEST: Self =
        Self { arriving: frame::QUANTUM_BYTES_MAX, leaving: frame::QUANTUM_BYTES_MAX };
}

/// Messages that usually share a send; more make the lists grow.
const SEND_USUAL: usize = 64;

/// What the kernel holds of one send: given back when it is done.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) busy: bool,
    pub(super) frames: Vec<Slice>,
    pub(super) payloads: Vec<Payload>,
    pub(super) segments: Vec<Slice>,
    /// What the kernel holds instead of all these where they were sealed.
    pub(super) sealed: Vec<Slice>,
}

impl Sending {
    fn new() -> Self {
        Self {
            busy: false,
            frames: Vec::with_capacity(1),
            payloads: Vec::with_capacity(SEND_USUAL),
            segments: Vec::with_capacity(SEND_USUAL),
            sealed: Vec::new(),
        }
    }

    /// The send is done.
    pub(super) fn finish(&mut self, kit: &mut Kit) {
        self.release(kit);
        for sealed in self.sealed.drain(..) {
            kit.reactor.pool().release(sealed.buffer);
        }
        self.busy = false;
    }

    /// Nobody needs the pieces any more.
    pub(super) fn release(&mut self, kit: &mut Kit) {
        for frame in self.frames.drain(..) {
            kit.reactor.pool().release(frame.buffer);
        }
        for payload in self.payloads.drain(..) {
            kit.release(payload);
        }
        self.segments.clear();
    }
}

impl Connection {
    pub(super) fn new(link: Option<usize>, shard: u8, stage: Stage, now: Time) -> Self {
        Self {
            link,
            shard,
            class: LinkClass::Data,
            stage,
            of_peer: false,
            deadline: now + HANDSHAKE_DEADLINE,
            path: None,
            socket: None,
            tls: None,
            refusal: None,
            receiver: super::receive::Receiver::default(),
            sending: Sending::new(),
            named_quantum: frame::QUANTUM_BYTES_MAX,
            quanta: Quanta::LARGEST,
            features: 0,
            probe: None,
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.stage == Stage::Up
    }

    /// Both have greeted.
    pub(super) fn begin_probe(&mut self, hello: &Hello, now: Time) {
        self.stage = Stage::Probing;
        self.probe = Some(Box::new(Probe::new(hello, now)));
    }

    /// This end of it, and the other.
    pub(super) fn ends(&self, kit: &Kit) -> Option<Path> {
        let socket = self.socket?;
        Some((kit.reactor.local_addr(socket)?, kit.reactor.peer_addr(socket)?))
    }

    pub(super) fn dispose(mut self, kit: &mut Kit) {
        if let Some(socket) = self.socket {
            kit.reactor.close(socket);
        }
        // The reactor holds references of its own for as long as the kernel uses the bytes.
        self.sending.finish(kit);
        if let Some(tls) = &mut self.tls {
            tls.dispose(kit.reactor.pool());
        }
        self.receiver.dispose(kit);
    }
}

impl Links {
    /// What this side begins a connection with shard `shard_remote` of the peer with.
    pub(super) fn greet(&mut self, key: Key, shard_remote: u8, class: LinkClass) -> Hello {
        let hello = self.hello(shard_remote, class);
        if let Some(connection) = self.connections.get_mut(key) {
            connection.named_quantum = hello.quantum_bytes;
        }
        hello
    }

    fn hello(&self, shard_remote: u8, class: LinkClass) -> Hello {
        Hello {
            node_name: self.identity.name.clone(),
            version_min: frame::FRAME_VERSION,
            version_max: frame::FRAME_VERSION,
            features: FEATURES,
            boot_id: self.identity.boot_id,
            start_count: self.identity.start_count,
            shards: self.identity.shards,
            shard_local: self.me,
            shard_remote,
            class,
            path: 0,
            quantum_bytes: if self.has_disks {
                frame::QUANTUM_BYTES_MAX
            } else {
                frame::QUANTUM_BYTES_MIN
            },
        }
    }

    /// The first message of a stranger: it becomes the connection of its link.
    pub(super) fn on_hello(&mut self, key: Key, hello: &Hello, kit: &mut Kit) -> Result<(), Away> {
        check_version(hello)?;
        if is_same_host(&hello.node_name, &self.identity.name) {
            return Err(Away::OwnName { name: hello.node_name.clone() });
        }
        let index = self.link_of_stranger(key, &hello.node_name, kit)?;
        let index = index.ok_or_else(|| Away::NotAMember { name: hello.node_name.clone() })?;
        self.check_origin(key, index, kit)?;
        if let Err(reason) = self.check_secrecy(key, index, &hello.node_name) {
            self.show_failure(index, &reason);
            return Err(reason);
        }
        if hello.class == LinkClass::Watch {
            return self.accept_watch(key, index, hello, kit);
        }
        self.check_rival(index, hello, kit.now)?;
        self.check_start(index, hello)?;
        let pair = (hello.shard_remote, hello.shard_local);
        if pair == (LEAD, LEAD) {
            if self.links[index].has_connection() {
                self.end_set(index, &Away::Replaced, kit);
            }
            self.links[index].set += 1;
            self.links[index].used.clear();
        } else {
            let link = &self.links[index];
            let is_known = (link.boot_id, link.peer_shards) == (Some(hello.boot_id), hello.shards);
            if !is_known || !link.missing.contains(&pair) {
                return Err(Away::out_of_turn(format!(
                    "node {:?} joins shards {pair:?}, which nobody waits for",
                    hello.node_name
                )));
            }
        }
        let path = self.connections.get(key).and_then(|connection| connection.path);
        self.links[index].note_used(path);
        if hello.shard_remote != LEAD {
            self.pass_on(key, index, hello, kit);
            return Ok(());
        }
        let welcome = self.greet(key, hello.shard_local, LinkClass::Data);
        self.send_alone(key, &LinkMessage::Welcome(Box::new(welcome)), kit);
        self.adopt(key, index, hello, kit);
        Ok(())
    }

    pub(super) fn on_welcome(
        &mut self,
        key: Key,
        hello: &Hello,
        kit: &mut Kit,
    ) -> Result<(), Away> {
        check_version(hello)?;
        let index = self.connections.get(key).and_then(|c| c.link);
        let index = index.expect("a connection that was dialled has a link");
        let expected = &self.links[index].name;
        if !is_same_host(&hello.node_name, expected) {
            let (expected, name) = (expected.clone(), hello.node_name.clone());
            return Err(Away::OtherNode { expected, name });
        }
        self.link_called_so(&hello.node_name).map_err(|ambiguous| needs_domain(&ambiguous))?;
        self.check_secrecy(key, index, &hello.node_name)?;
        self.check_start(index, hello)?;
        if self.connections.get(key).is_some_and(|it| it.class == LinkClass::Watch) {
            return self.watch_answered(key, index, hello, kit);
        }
        let expected = self.connections.get(key).map(|connection| connection.shard);
        if (hello.shard_remote, Some(hello.shard_local)) != (self.me, expected) {
            return Err(Away::out_of_turn(format!(
                "its shard {} answers for shard {}, which is not what was asked",
                hello.shard_local, hello.shard_remote
            )));
        }
        self.adopt(key, index, hello, kit);
        Ok(())
    }

    /// The link that a stranger says it is for.
    fn link_of_stranger(
        &mut self,
        key: Key,
        name: &str,
        kit: &mut Kit,
    ) -> Result<Option<usize>, Away> {
        let ambiguous = match self.link_called_so(name) {
            Ok(index) => return Ok(index),
            Err(ambiguous) => ambiguous,
        };
        let reason = needs_domain(&ambiguous);
        let connection = self.connections.get(key);
        let remote = connection.and_then(|connection| connection.ends(kit)).map(|(_, it)| it.ip());
        if let Some(index) = remote.and_then(|remote| self.missing_at(remote)) {
            self.show_failure(index, &reason);
        }
        Err(reason)
    }

    /// Who is not at an address of the member it claims to be is somebody else.
    fn check_origin(&mut self, key: Key, index: usize, kit: &Kit) -> Result<(), Away> {
        let connection = self.connections.get_mut(key).expect("the connection that spoke");
        let link = &self.links[index];
        let Some((local, remote)) = connection.ends(kit) else {
            return Err(Away::NoAddress);
        };
        if !link.is_reached_at(remote.ip()) {
            return Err(Away::OtherAddress {
                remote: remote.ip().to_canonical(),
                name: link.name.clone(),
                addresses: link.addresses(),
            });
        }
        connection.path = link.path_of(local, remote.ip());
        Ok(())
    }

    /// A process that was heard a moment ago is not replaced by another one of the same name: of a
    /// node that died the kernel, or a silence, tells first.
    fn check_rival(&self, index: usize, hello: &Hello, now: Time) -> Result<(), Away> {
        let link = &self.links[index];
        if self.is_heard(link, now) && link.boot_id != Some(hello.boot_id) {
            return Err(Away::Rival { name: link.name.clone() });
        }
        Ok(())
    }

    /// Whether one of this shard's connections of the link brought something a moment ago.
    fn is_heard(&self, link: &Link, now: Time) -> bool {
        link.pipes.iter().any(|pipe| {
            let connection = pipe.connection.and_then(|key| self.connections.get(key));
            let is_lively = now < pipe.heart.heard_at + RIVAL_SILENCE_MIN;
            let has_greeted = |it: &Connection| matches!(it.stage, Stage::Probing | Stage::Up);
            connection.is_some_and(has_greeted) && is_lively
        })
    }

    /// A node that was set back to an older state must not be believed.
    fn check_start(&self, index: usize, hello: &Hello) -> Result<(), Away> {
        let seen = self.links[index].start_count;
        if hello.start_count >= seen {
            return Ok(());
        }
        Err(Away::OldStart { now: hello.start_count, seen })
    }

    /// Takes a connection whose peer said who it is into the set of its link.
    pub(super) fn adopt(&mut self, key: Key, index: usize, hello: &Hello, kit: &mut Kit) {
        let shard = hello.shard_local;
        let pipe = self.links[index].pipe_mut(shard);
        let older = pipe.connection.replace(key).filter(|older| *older != key);
        pipe.heart.restart(kit.now);
        if let Some(older) = older {
            self.close_connection(older, &Away::Replaced, kit);
        }
        self.is_due = true;
        let connection = self.connections.get_mut(key).expect("the connection that spoke");
        connection.link = Some(index);
        connection.shard = shard;
        if hello.features & FEATURE_QUANTUM != 0 {
            let arriving = connection.named_quantum;
            connection.quanta = Quanta { arriving, leaving: hello.quantum_bytes };
        }
        connection.features = hello.features;
        self.links[index].peer_features = hello.features;
        self.links[index].called = Some(hello.node_name.clone());
        self.size_buffers(index, key, kit);
        if (self.me, shard) == (LEAD, LEAD) {
            self.expect_set(index, hello, kit);
        }
        if hello.features & FEATURE_PROBE != 0 {
            self.begin_probe(key, hello, kit);
        } else {
            self.count_in(key, index, hello, kit);
        }
    }

    /// The connection carries what it has to: it is up.
    pub(super) fn count_in(&mut self, key: Key, index: usize, hello: &Hello, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.stage = Stage::Up;
        self.is_due = true;
        let link = &mut self.links[index];
        link.pipe_mut(hello.shard_local).heart.restart(kit.now);
        link.begin_proofs(hello.shard_local, hello.features);
        self.has_joined(index, hello, kit);
    }

    pub(super) fn token(key: Key) -> u64 {
        key.token(TOKEN_CONNECTION)
    }
}

fn needs_domain(ambiguous: &Ambiguous) -> Away {
    Away::Ambiguous { told: ambiguous.to_string() }
}

fn check_version(hello: &Hello) -> Result<(), Away> {
    if hello.version_min <= frame::FRAME_VERSION && frame::FRAME_VERSION <= hello.version_max {
        return Ok(());
    }
    Err(Away::Versions {
        name: hello.node_name.clone(),
        theirs: (hello.version_min, hello.version_max),
        ours: frame::FRAME_VERSION,
    })
}

#[expect(clippy::disallowed_methods, reason = "the other end is the test's own")]
#[cfg(test)]
mod tests {
    use std::net::{IpAddr, TcpListener, TcpStream};
    use std::time::Duration;

    use format::ids::BootId;

    use super::*;
    use crate::limits::{STRANGERS_MAX, TURNED_AWAY_LOG_INTERVAL, TURNED_AWAY_LOGGED_MAX};
    use crate::links::Identity;
    use crate::links::fixture::connected;
    use crate::links::paths::Target;

    fn accept(listener: &TcpListener, links: &mut Links, kit: &mut Kit) -> TcpStream {
        let outside = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let socket = kit.reactor.adopt(listener.accept().unwrap().0.into()).unwrap();
        links.on_accepted(socket, kit);
        outside
    }

    /// Who opened 64 connections and said nothing kept all peers out.
    #[test]
    fn silent_strangers_keep_nobody_out() {
        let (mut kit, (mut links, _)) = (Kit::of_lone_shard(), connected());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sockets = |links: &Links| -> Vec<SocketId> {
            links.connections.iter().filter_map(|(_, connection)| connection.socket).collect()
        };
        let mut outside = Vec::new();
        for _ in 0..STRANGERS_MAX {
            outside.push(accept(&listener, &mut links, &mut kit));
            kit.now = kit.now + Duration::from_millis(1);
        }
        let before = sockets(&links);
        assert_eq!(before.len(), STRANGERS_MAX);
        outside.push(accept(&listener, &mut links, &mut kit));
        let after = sockets(&links);
        assert_eq!(after.len(), STRANGERS_MAX, "there are no more of them");
        let lost: Vec<_> = before.iter().filter(|socket| !after.contains(socket)).collect();
        assert_eq!(lost, [&before[0]], "the one that said nothing for the longest time");

        links.links[0].targets.push(Target::new((address, address), kit.now));
        for _ in 0..STRANGERS_MAX {
            outside.push(accept(&listener, &mut links, &mut kit));
        }
        let with_peers = sockets(&links);
        assert_eq!(with_peers.len(), 2 * STRANGERS_MAX, "where a peer is, one may come");
        outside.push(accept(&listener, &mut links, &mut kit));
        assert_eq!(sockets(&links), with_peers, "and who came there first is heard first");
    }

    /// Each attempt comes from another port: a line of the log for each of them told nothing new.
    #[test]
    fn who_dials_again_is_turned_away_with_the_same_words() {
        let (mut kit, (mut links, _)) = (Kit::of_lone_shard(), connected());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut words = Vec::new();
        let mut outside = Vec::new();
        for _ in 0..2 {
            outside.push(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
            let socket = listener.accept().unwrap().0;
            let mut connection = Connection::new(None, 0, Stage::AwaitHello, kit.now);
            connection.socket = Some(kit.reactor.adopt(socket.into()).unwrap());
            let key = links.connections.insert(connection);
            let origin = links.check_origin(key, 0, &kit).unwrap_err();
            words.push((origin, links.accept_tls(key, &mut kit).unwrap_err()));
        }
        let [origin, tls] = [&words[0].0, &words[0].1].map(ToString::to_string);
        assert!(origin.contains("127.0.0.1") && tls.contains("127.0.0.1"));
        assert_eq!(words[0], words[1]);
    }

    /// A node that no resource names, or with a wrong address, was a line a second.
    #[test]
    fn who_is_turned_away_again_is_not_logged_again() {
        let (mut links, _) = connected();
        let address = |host: u8| IpAddr::from([10, 0, 0, host]);
        let now = Time::ZERO;
        let mut lines = 0;
        for _ in 0..9 {
            for reason in ["garbage", "another name"] {
                lines += u32::from(links.is_news(address(1), reason, now));
            }
        }
        assert_eq!(lines, 2);
        assert!(links.is_news(address(2), "garbage", now), "another one");
        let later = now + TURNED_AWAY_LOG_INTERVAL;
        assert!(links.is_news(address(1), "garbage", later), "it still comes");
        assert!(!links.is_news(address(1), "garbage", later));
        for host in 0..=255 {
            assert!(links.is_news(address(host), "no name", later));
        }
        assert_eq!(links.turned_away.len(), TURNED_AWAY_LOGGED_MAX);
    }

    #[test]
    fn only_a_node_without_disks_takes_payloads_anywhere() {
        let name = "alpha".to_owned();
        let identity = Identity { name, boot_id: BootId(1), start_count: 1, shards: 1 };
        let mut links = Links::new(identity, 0);
        assert_eq!(links.hello(0, LinkClass::Data).quantum_bytes, frame::QUANTUM_BYTES_MIN);
        links.note_disk();
        assert_eq!(links.hello(0, LinkClass::Data).quantum_bytes, frame::QUANTUM_BYTES_MAX);
    }
}
