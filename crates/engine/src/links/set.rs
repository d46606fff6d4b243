//! The set of connections that make up a link, one for each pair of shards with a lane in common.
//!
//! ```text
//! shard 0, dialling      shard 0, dialled        the other shards
//! dial (0, 0), HELLO --> expect: older set ends
//!      expect        <-- WELCOME
//!      begin        <--> begin                   large packets pass ([`super::probe`])
//! Dial to shard i ------------------------------> connect, HELLO ...
//!                        HELLO names (i, j):
//!                        Adopt to shard i ------> take the socket, WELCOME
//! all of the set is up:  Up to every shard: resources are opened
//! one of them is lost:   Down to every shard: all are closed, and the dialler begins anew
//! ```
//!
//! Shard 0 leads. A set stands and falls as one, so that a session of a resource never misses what
//! one of its connections lost. Sets are counted, and news of an older one mean nothing.

use std::os::fd::OwnedFd;

use format::ids::BootId;
use format::message::{FEATURE_WATCH, Hello, LinkClass, LinkMessage};
use stdx::time::Time;

use crate::definition::link::Path;
use crate::kit::Kit;
use crate::limits::{DIAL_BACKOFF_MIN, HANDSHAKE_DEADLINE};
use crate::links::active::{Opened, Settled};
use crate::links::away::Away;
use crate::links::connection::Connection;
use crate::links::news::{Ending, LinkNews, News};
use crate::links::stage::Stage;
use crate::links::watch::path_text;
use crate::links::{LEAD, Links};
use crate::log::{Scope, log};
use crate::placement;
use crate::slab::Key;
use crate::tls::Session;

impl Links {
    pub(crate) fn on_news(&mut self, from: u8, message: LinkNews, kit: &mut Kit) {
        let LinkNews { peer, set, news } = message;
        let index = self.link_named(&peer, kit.now);
        match news {
            News::Dial { shard, path } => {
                self.links[index].set = set;
                self.dial_shard(index, shard, path, kit);
            }
            News::Adopt { socket, tls, hello } => {
                self.links[index].set = set;
                self.adopt_socket(index, (socket, tls), &hello, kit);
            }
            News::Up { boot_id, shards, used } => {
                let link = &mut self.links[index];
                link.set = set;
                link.boot_id = Some(boot_id);
                link.peer_shards = shards;
                link.used = used;
                self.set_is_up(index, kit);
            }
            News::Down { reason, ending } => {
                self.links[index].set = set + 1;
                self.set_is_down(index, &reason, ending, kit);
            }
            News::MovesEnd => self.end_moves(index),
            News::Path { path, state } => self.learn_path_state(index, path, state),
            News::Failed { reason } => self.links[index].failure = Some(reason),
            News::Joined { shard, boot_id, shards } => {
                if set == self.links[index].set {
                    self.on_joined(index, (from, shard), (boot_id, shards), kit);
                }
            }
            News::Lost { reason } => {
                if set == self.links[index].set {
                    self.end_set(index, &reason, kit);
                }
            }
            News::Forget => self.forget_start(index),
            News::Settled { handle, up_to } if set == self.links[index].set => {
                self.note_settled(index, (handle, up_to), kit);
            }
            News::Settled { .. } => {}
        }
    }

    pub(super) fn tell(&mut self, index: usize, shard: u8, news: News) {
        let link = &self.links[index];
        let message = LinkNews { peer: link.name.clone(), set: link.set, news };
        self.news.push_back((shard, message));
    }

    pub(super) fn tell_others(&mut self, index: usize, news: impl Fn() -> News) {
        let me = self.me;
        for shard in (0..self.identity.shards).filter(|shard| *shard != me) {
            self.tell(index, shard, news());
        }
    }

    // ---- Shard 0.

    /// This peer is at the other end of the connection of the shards 0. Once that is up there the
    /// others may follow, before it is up here.
    pub(super) fn expect_set(&mut self, index: usize, hello: &Hello, kit: &mut Kit) {
        if self.links[index].boot_id != Some(hello.boot_id) {
            // Another process knows of no session.
            self.stop_moves(index);
        }
        let link = &mut self.links[index];
        link.boot_id = Some(hello.boot_id);
        link.start_count = hello.start_count;
        link.peer_shards = hello.shards;
        link.takes_watches = hello.features & FEATURE_WATCH != 0;
        link.missing = placement::pairs(self.identity.shards, hello.shards);
        link.join_until = kit.now + 2 * HANDSHAKE_DEADLINE;
    }

    /// The connection of the shards 0 is up: the others may follow.
    fn begin_set(&mut self, index: usize, kit: &mut Kit) {
        let link = &mut self.links[index];
        link.missing.retain(|pair| *pair != (LEAD, LEAD));
        link.join_until = kit.now + 2 * HANDSHAKE_DEADLINE;
        // The side that was dialled waits for the rest.
        if let Some(dialled) = link.dialled.filter(|_| !link.missing.is_empty()) {
            let paths = link.paths_to_spread_over(dialled, kit.now);
            for (place, (ours, theirs)) in link.missing.clone().into_iter().enumerate() {
                // The pair of the shards 0 has the first one.
                let path = paths[(place + 1) % paths.len()];
                self.links[index].note_used(Some(path));
                if ours == LEAD {
                    self.dial_shard(index, theirs, path, kit);
                } else {
                    self.tell(index, ours, News::Dial { shard: theirs, path });
                }
            }
        }
        self.complete_set(index, kit);
    }

    fn on_joined(&mut self, index: usize, pair: (u8, u8), process: (BootId, u8), kit: &mut Kit) {
        let link = &mut self.links[index];
        if (link.boot_id, link.peer_shards) != (Some(process.0), process.1) {
            return self.end_set(index, &Away::SeveralProcesses, kit);
        }
        link.missing.retain(|missing| *missing != pair);
        self.complete_set(index, kit);
    }

    fn complete_set(&mut self, index: usize, kit: &mut Kit) {
        let link = &self.links[index];
        if link.is_up || !link.missing.is_empty() {
            return;
        }
        let (boot_id, shards) = (link.boot_id.unwrap_or_default(), link.peer_shards);
        let used = link.used.clone();
        self.tell_others(index, || News::Up { boot_id, shards, used: used.clone() });
        let link = &mut self.links[index];
        link.backoff = DIAL_BACKOFF_MIN;
        link.begin_round();
        if let Some(path) = link.dialled {
            link.note_worked(path);
        }
        let used: Vec<String> = link.used.iter().map(|path| path_text(*path)).collect();
        let over =
            if used.is_empty() { String::new() } else { format!(" over {}", used.join(", ")) };
        log!(Info, Scope::peer(&link.name), "link up{over}");
        self.set_is_up(index, kit);
    }

    /// Ends all connections of the link.
    pub(super) fn end_set(&mut self, index: usize, reason: &Away, kit: &mut Kit) {
        let link = &self.links[index];
        let is_held = link.is_up || link.moving_until.is_some();
        let moves = is_held && link.has_living_path(kit.now);
        let ending = if moves { Ending::Moves } else { Ending::Lost };
        self.tell_others(index, || News::Down { reason: reason.clone(), ending });
        let link = &mut self.links[index];
        let was_up = link.is_up;
        let path = link.dialled.or_else(|| link.used.first().copied());
        // What is said of it from now on comes too late.
        link.set += 1;
        link.missing.clear();
        link.dialled = None;
        self.set_is_down(index, reason, ending, kit);
        self.note_failure(index, path, reason);
        if was_up {
            self.links[index].start_over(kit.now);
        } else {
            self.links[index].distrust_others(kit.now);
            self.links[index].back_off(kit.now);
        }
    }

    /// When the rest of a set that began is to be there.
    pub(super) fn check_set(&mut self, index: usize, kit: &mut Kit) -> Time {
        let link = &self.links[index];
        if link.missing.is_empty() {
            return Time::NEVER;
        }
        if kit.now >= link.join_until {
            self.end_set(index, &Away::Incomplete, kit);
            return kit.now;
        }
        link.join_until
    }

    /// Shows why a peer was turned away, unless the link is up with another one.
    pub(super) fn show_failure(&mut self, index: usize, failure: &Away) {
        let link = &mut self.links[index];
        if !link.is_up {
            link.failure = Some(failure.clone());
            self.tell_others(index, || News::Failed { reason: failure.clone() });
        }
    }

    /// Remembers why the link is not up, and says so once for each path.
    pub(super) fn note_failure(&mut self, index: usize, path: Option<Path>, failure: &Away) {
        let link = &mut self.links[index];
        if link.targets.is_empty() {
            return;
        }
        if link.is_news(path, &failure.to_string()) {
            log!(Warning, Scope::peer(&link.name), "{failure}");
        }
        if link.failure.as_ref() != Some(failure) {
            link.failure = Some(failure.clone());
            self.tell_others(index, || News::Failed { reason: failure.clone() });
        }
    }

    // ---- Every shard.

    /// Has shard 0 forget how often the peer had started, unless that peer is there.
    pub(super) fn forget_start(&mut self, index: usize) {
        if self.me != LEAD {
            self.tell(index, LEAD, News::Forget);
        } else if !self.links[index].has_connection() {
            self.links[index].start_count = 0;
        }
    }

    fn dial_shard(&mut self, index: usize, shard: u8, path: Path, kit: &mut Kit) {
        match self.connect_to(index, (shard, path), LinkClass::Data, kit) {
            Ok(key) => self.links[index].pipe_mut(shard).connection = Some(key),
            Err(failure) => self.lose_set(index, &failure, kit),
        }
    }

    fn adopt_socket(
        &mut self,
        index: usize,
        (socket, tls): (OwnedFd, Option<Box<Session>>),
        hello: &Hello,
        kit: &mut Kit,
    ) {
        let socket = match kit.reactor.adopt(socket) {
            Ok(socket) => socket,
            Err(error) => {
                let reason = Away::CannotHandOver { error: (&error).into() };
                return self.lose_set(index, &reason, kit);
            }
        };
        let shard = hello.shard_local;
        let mut connection = Connection::new(Some(index), shard, Stage::AwaitHello, kit.now);
        connection.socket = Some(socket);
        connection.tls = tls;
        let key = self.connections.insert(connection);
        let welcome = self.greet(key, shard, LinkClass::Data);
        self.send_alone(key, &LinkMessage::Welcome(Box::new(welcome)), kit);
        self.adopt(key, index, hello, kit);
        self.start_receive(key, kit);
    }

    /// A connection of the set is up on this shard.
    pub(super) fn has_joined(&mut self, index: usize, hello: &Hello, kit: &mut Kit) {
        let (shard, boot_id, shards) = (hello.shard_local, hello.boot_id, hello.shards);
        if self.me != LEAD {
            self.tell(index, LEAD, News::Joined { shard, boot_id, shards });
        } else if shard == LEAD {
            self.begin_set(index, kit);
        } else {
            self.on_joined(index, (LEAD, shard), (boot_id, shards), kit);
        }
    }

    /// A connection of the set is lost on this shard, and the set with it.
    pub(super) fn lose_set(&mut self, index: usize, reason: &Away, kit: &mut Kit) {
        if self.me == LEAD {
            self.end_set(index, reason, kit);
        } else {
            self.tell(index, LEAD, News::Lost { reason: reason.clone() });
        }
    }

    fn set_is_up(&mut self, index: usize, kit: &mut Kit) {
        self.is_due = true;
        let link = &mut self.links[index];
        link.is_up = true;
        link.forget_failures();
        self.paths_changed(index);
        self.sessions_due(index, kit.now);
    }

    fn set_is_down(&mut self, index: usize, reason: &Away, ending: Ending, kit: &mut Kit) {
        self.is_due = true;
        let link = &mut self.links[index];
        if std::mem::replace(&mut link.is_up, false) {
            link.down_since = kit.now;
        }
        if link.has_no_handles() {
            // Handles of this set mean nothing in the next one.
            link.next_handle = 1;
        }
        link.settled = Settled::default();
        link.opened = Opened::default();
        let connections: Vec<Key> =
            link.pipes.iter_mut().filter_map(|pipe| pipe.connection.take()).collect();
        for key in connections {
            self.close_connection(key, reason, kit);
        }
        match ending {
            Ending::Lost => self.sessions_down(index),
            Ending::Moves => self.hold_sessions(index, kit.now),
        }
        for pipe in &mut self.links[index].pipes {
            pipe.clear(kit);
        }
    }

    /// Passes a socket on to the shard that the peer named in its HELLO.
    pub(super) fn pass_on(&mut self, key: Key, index: usize, hello: &Hello, kit: &mut Kit) {
        let Some(mut connection) = self.connections.remove(key) else { return };
        let Some(socket) = connection.socket.take() else { return };
        let mut tls = connection.tls.take();
        let is_idle = tls.as_mut().is_none_or(|tls| tls.detach(kit.reactor.pool()));
        if connection.sending.busy || !is_idle {
            kit.reactor.close(socket);
            connection.dispose(kit);
            let told = "a connection cannot be passed on: more than a HELLO came over it";
            return self.end_set(index, &Away::out_of_turn(told), kit);
        }
        connection.dispose(kit);
        match kit.reactor.give_up(socket) {
            Ok(socket) => {
                let news = News::Adopt { socket, tls, hello: Box::new(hello.clone()) };
                self.tell(index, hello.shard_remote, news);
            }
            Err(error) => {
                self.end_set(index, &Away::CannotHandOver { error: (&error).into() }, kit);
            }
        }
    }
}
