//! Connections: one for control and one for each pair of shards, between every two nodes.
//!
//! Each carries its messages in order, each may break alone, and then all of them are closed and
//! built anew. Home and shards of a node hear of that at different times; see `contract`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use format::ids::{BootId, LaneIndex, Nonce};
use format::message::{Control, Data, DataBody, FEATURES};
use replication::contract::{GroupInput, Parting, PeerReport, ResourceInput};
use replication::limits;
use stdx::time::Time;

use crate::cluster::{Cluster, Event};
use crate::sometimes::Mark;

/// All connections between two nodes, in one life: lower node, higher node, count.
pub(super) type LinkId = (usize, usize, u64);

/// One connection of a link; the shards are those of the lower and of the higher node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Channel {
    Control,
    Data(u8, u8),
}

/// Who on a node hears of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ear {
    Home,
    Shard(u8),
}

#[derive(Debug, Default)]
pub(super) struct Link {
    /// All connections are up, or were when their builder last looked.
    current: Option<u64>,
    count: u64,
    cut: bool,
    connecting: bool,
    /// Of the current or the last life: connections that broke, and what was on them is lost.
    broken: BTreeSet<Channel>,
    /// Who was not told that the current life began.
    unaware: BTreeMap<(usize, Ear), BootId>,
    /// Who was not told that the last life ended, though it had begun for them.
    unnoticed: BTreeMap<(usize, Ear), BootId>,
    reports: BTreeMap<usize, PeerReport>,
    /// Nothing overtakes on a connection.
    last_delivery: BTreeMap<(Channel, usize), Time>,
    /// The connections of the current or the last life on which nothing more comes from a node.
    stuck: BTreeSet<(Channel, usize)>,
    /// The last life ended because one of the two nodes wanted that.
    was_closed: bool,
    /// What came for a home that was not told of the connection yet, in order.
    held: Vec<Letter>,
}

/// What travels on a connection.
#[derive(Clone, Debug)]
pub(super) enum Message {
    Control(Control),
    Data { message: Data, values: Option<Vec<u64>> },
    LeaseAsked { nonce: Nonce, sent_at: Time },
    LeaseAnswered { nonce: Nonce, sent_at: Time, granted: bool },
}

/// A message on its way.
#[derive(Debug)]
pub(super) struct Letter {
    link: LinkId,
    channel: Channel,
    from: usize,
    to: usize,
    message: Message,
}

/// How a link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// What is on the way is lost, and silence is what both sides notice.
    Silent,
    /// What is on the way may still arrive, and both sides hear of the end soon.
    Broken,
    /// The same, and one of the two nodes wants it.
    Closed,
}

impl Letter {
    pub(super) fn to(&self) -> usize {
        self.to
    }
}

impl Cluster {
    fn link(&mut self, a: usize, b: usize) -> &mut Link {
        self.links.entry((a.min(b), a.max(b))).or_default()
    }

    // ---- Faults.

    /// Nothing passes between the two any more; each side notices by silence.
    pub fn cut_link(&mut self, a: usize, b: usize) {
        if a != b {
            self.trace(|| format!("cut n{a} n{b}"));
            self.link(a, b).cut = true;
            self.tear(a, b, End::Silent);
        }
    }

    /// Both ends know.
    pub(super) fn end_link(&mut self, a: usize, b: usize) {
        self.link(a, b).cut = true;
        self.tear(a, b, End::Closed);
    }

    pub fn heal_link(&mut self, a: usize, b: usize) {
        if a != b {
            self.link(a, b).cut = false;
            self.fill_hole(a, b);
            self.fill_hole(b, a);
            self.try_connect(a, b);
        }
    }

    /// Both hear what the other says: the number of the connection over which they do.
    pub(crate) fn conversation(&self, a: usize, b: usize) -> Option<u64> {
        let link = self.links.get(&(a.min(b), a.max(b)))?;
        let knows = |a: usize, b: usize| {
            let process = self.processes[a].as_ref();
            process.is_some_and(|it| it.resource.is_connected(Self::node_id(b)))
        };
        let is_whole = link.unaware.is_empty() && !link.broken.contains(&Channel::Control);
        let is_heard = |from| !link.stuck.contains(&(Channel::Control, from));
        let is_whole = is_whole && is_heard(a) && is_heard(b);
        let hear = is_whole && !self.is_stopped(a) && !self.is_stopped(b);
        let is_honest = self.forger.is_none();
        link.current.filter(|_| hear && is_honest && knows(a, b) && knows(b, a))
    }

    /// How often the two connected.
    pub fn connections(&mut self, a: usize, b: usize) -> u64 {
        self.link(a, b).count
    }

    /// All connections break and come back.
    pub fn reset_link(&mut self, a: usize, b: usize) {
        if a != b {
            self.trace(|| format!("reset n{a} n{b}"));
            self.tear(a, b, End::Broken);
        }
    }

    /// One of the two nodes wants all connections anew.
    pub fn renew_link(&mut self, a: usize, b: usize) {
        self.trace(|| format!("n{a} renews n{a} n{b}"));
        self.tear(a, b, End::Closed);
    }

    /// One connection loses what it carries; the others go on until somebody notices.
    pub fn break_one_connection(&mut self, a: usize, b: usize) {
        if a == b || self.link(a, b).current.is_none() {
            return;
        }
        let (low, high) = (a.min(b), a.max(b));
        let (Some(here), Some(there)) = (self.shards_of(low), self.shards_of(high)) else { return };
        let data = u64::from(here) * u64::from(there);
        let channel = match self.random.below(data + 1) {
            0 => Channel::Control,
            pick => {
                let pair = u8::try_from(pick - 1).expect("few shards");
                Channel::Data(pair / there, pair % there)
            }
        };
        self.trace(|| format!("break {channel:?} of n{a} n{b}"));
        let link = self.link(a, b);
        link.broken.insert(channel);
        let id = (low, high, link.count);
        let silent = self.random.chance(1, 2);
        let most = if silent { limits::PEER_SILENT_MAX } else { Duration::from_millis(2) };
        let delay = self.within(most);
        self.schedule(delay, Event::Torn { link: id });
    }

    /// The connection between these shards of two nodes falls silent, and nobody notices before the
    /// longest silence is over.
    pub fn silence(&mut self, a: usize, b: usize, shard: u8) {
        let (low, high) = (a.min(b), a.max(b));
        let link = self.link(low, high);
        link.broken.insert(Channel::Data(shard, shard));
        let id = (low, high, link.count);
        self.schedule(limits::PEER_SILENT_MAX, Event::Torn { link: id });
    }

    /// One of the two says nothing for `time`: the other closes if that is too long.
    pub(super) fn fall_silent(&mut self, a: usize, b: usize, time: Duration) {
        let (low, high) = (a.min(b), a.max(b));
        let id = (low, high, self.link(low, high).count);
        if time > limits::PEER_SILENT_MAX {
            self.schedule(limits::PEER_SILENT_MAX, Event::Torn { link: id });
        }
    }

    /// The first side to notice closes all.
    pub(super) fn torn(&mut self, (a, b, count): LinkId) {
        if self.link(a, b).current == Some(count) {
            self.tear(a, b, End::Broken);
        }
    }

    pub(super) fn tear(&mut self, a: usize, b: usize, end: End) {
        let (low, high) = (a.min(b), a.max(b));
        if a == b || self.link(low, high).current.is_none() {
            return;
        }
        let alive: Vec<(usize, BootId)> = [low, high]
            .into_iter()
            .filter_map(|node| Some((node, self.processes[node].as_ref()?.boot_id)))
            .collect();
        let lossy = end == End::Silent || self.random.chance(1, 2);
        let link = self.link(low, high);
        link.current = None;
        link.was_closed = end == End::Closed;
        let id = (low, high, link.count);
        let unaware = std::mem::take(&mut link.unaware);
        link.unnoticed.clear();
        for (node, boot) in alive {
            let most =
                if end == End::Silent { limits::PEER_SILENT_MAX } else { Duration::from_millis(2) };
            let noticed = self.within(most);
            for ear in self.ears_of(node) {
                if unaware.get(&(node, ear)) == Some(&boot) {
                    continue;
                }
                self.link(low, high).unnoticed.insert((node, ear), boot);
                let delay = noticed + self.mailbox_delay();
                self.schedule(delay, Event::EarDown { link: id, node, ear });
            }
        }
        if lossy {
            let channels: Vec<Channel> = self.channels(low, high);
            self.link(low, high).broken.extend(channels);
        }
        // Where nobody has to notice, nobody's noticing makes a new link.
        self.try_connect(low, high);
    }

    fn ears_of(&self, node: usize) -> Vec<Ear> {
        let shards = self.shards_of(node).unwrap_or(0);
        (0..shards).map(Ear::Shard).chain([Ear::Home]).collect()
    }

    pub(super) fn channels(&self, low: usize, high: usize) -> Vec<Channel> {
        // More than there are does no harm.
        let most = |node| self.shards_of(node).unwrap_or(crate::process::SHARDS_MAX);
        let (here, there) = (most(low), most(high));
        let pairs = (0..here).flat_map(|x| (0..there).map(move |y| Channel::Data(x, y)));
        pairs.chain([Channel::Control]).collect()
    }

    // ---- Beginning and end.

    pub(super) fn try_connect(&mut self, a: usize, b: usize) {
        if a == b || !self.is_up(a) || !self.is_up(b) {
            return;
        }
        let delay = Duration::from_micros(500 + self.random.below(20_000));
        if !self.are_peers(a, b) || self.are_kept_apart(a, b) {
            return;
        }
        let link = self.link(a, b);
        if link.cut || link.connecting || link.current.is_some() || !link.unnoticed.is_empty() {
            return;
        }
        link.connecting = true;
        self.schedule(delay, Event::LinkUp { a: a.min(b), b: a.max(b) });
    }

    pub(super) fn link_up(&mut self, a: usize, b: usize) {
        let reports = [self.peer_report(a), self.peer_report(b)];
        let are_peers = self.are_peers(a, b) && !self.are_kept_apart(a, b);
        let link = self.link(a, b);
        link.connecting = false;
        if !are_peers || link.cut || link.current.is_some() || !link.unnoticed.is_empty() {
            return;
        }
        let [Some(of_a), Some(of_b)] = reports else { return };
        link.count += 1;
        link.current = Some(link.count);
        link.broken.clear();
        link.stuck.clear();
        link.last_delivery.clear();
        link.held.clear();
        link.reports = BTreeMap::from([(a, of_b), (b, of_a)]);
        link.unaware.clear();
        let id = (a, b, link.count);
        self.trace(|| format!("link n{a} n{b} up"));
        for (node, boot) in [(a, of_a.boot_id), (b, of_b.boot_id)] {
            for ear in self.ears_of(node) {
                self.link(a, b).unaware.insert((node, ear), boot);
                if ear != Ear::Home {
                    let delay = self.mailbox_delay();
                    self.schedule(delay, Event::EarUp { link: id, node, ear });
                }
            }
        }
    }

    /// Each of them knows the other as a member.
    fn are_peers(&self, a: usize, b: usize) -> bool {
        self.peers[a].has(Self::node_id(b)) && self.peers[b].has(Self::node_id(a))
    }

    fn peer_report(&self, node: usize) -> Option<PeerReport> {
        let process = self.processes[node].as_ref()?;
        let replica = process.resource.report();
        let (boot_id, shards, features) = (process.boot_id, process.shards, FEATURES);
        Some(PeerReport { boot_id, shards, features, replica })
    }

    pub(super) fn ear_up(&mut self, id: LinkId, node: usize, ear: Ear) {
        let other = if node == id.0 { id.1 } else { id.0 };
        let boot = self.processes[node].as_ref().map(|process| process.boot_id);
        let link = self.link(id.0, id.1);
        if link.current != Some(id.2) || boot.is_none() {
            return;
        }
        if link.unaware.get(&(node, ear)).copied() != boot {
            return;
        }
        link.unaware.remove(&(node, ear));
        let report = link.reports.get(&node).copied();
        let shards_wait = link.unaware.keys().any(|&(at, ear)| at == node && ear != Ear::Home);
        let peer = Self::node_id(other);
        match ear {
            Ear::Shard(shard) => self.step_group(node, shard, GroupInput::PeerUp { peer }),
            Ear::Home => {
                if let Some(report) = report {
                    let report = Box::new(report);
                    self.step_resource(node, ResourceInput::Connected { peer, report });
                }
                let (mine, others) = std::mem::take(&mut self.link(id.0, id.1).held)
                    .into_iter()
                    .partition(|letter| letter.to == node);
                self.link(id.0, id.1).held = others;
                let mine: Vec<Letter> = mine;
                for letter in mine {
                    self.deliver_letter(letter);
                }
            }
        }
        if ear != Ear::Home && !shards_wait {
            let delay = self.mailbox_delay();
            self.schedule(delay, Event::EarUp { link: id, node, ear: Ear::Home });
        }
    }

    pub(super) fn ear_down(&mut self, id: LinkId, node: usize, ear: Ear) {
        let other = if node == id.0 { id.1 } else { id.0 };
        let boot = self.processes[node].as_ref().map(|process| process.boot_id);
        let link = self.link(id.0, id.1);
        if link.count != id.2 {
            return;
        }
        let told = link.unnoticed.remove(&(node, ear));
        let parting = if link.was_closed { Parting::Closed } else { Parting::Broken };
        let peer = Self::node_id(other);
        // A process that started since never knew of these connections.
        if told.is_some() && told == boot {
            match ear {
                Ear::Shard(shard) => self.step_group(node, shard, GroupInput::PeerDown { peer }),
                Ear::Home => {
                    self.step_resource(node, ResourceInput::Disconnected { peer, parting });
                }
            }
        }
        self.try_connect(node, other);
    }

    /// From now on nothing of `from` arrives on this connection; the life that it is of, where
    /// something did so far.
    pub(super) fn stick(&mut self, from: usize, to: usize, channel: Channel) -> Option<LinkId> {
        let link = self.link(from, to);
        link.current?;
        let id = (from.min(to), from.max(to), link.count);
        link.stuck.insert((channel, from)).then_some(id)
    }

    pub(super) fn is_stuck(&mut self, from: usize, to: usize, channel: Channel) -> bool {
        self.link(from, to).stuck.contains(&(channel, from))
    }

    // ---- Messages.

    pub(super) fn send(&mut self, from: usize, to: usize, message: Message) {
        let (Some(here), Some(there)) = (self.shards_of(from), self.shards_of(to)) else { return };
        let (channel, ear) = match &message {
            Message::Data { message, .. } => {
                let (x, y) = (shard_to(&message.body, here), shard_to(&message.body, there));
                let channel = if from < to { Channel::Data(x, y) } else { Channel::Data(y, x) };
                (channel, Ear::Shard(x))
            }
            Message::Control(_) | Message::LeaseAsked { .. } | Message::LeaseAnswered { .. } => {
                (Channel::Control, Ear::Home)
            }
        };
        let delay = self.far_apart + Duration::from_micros(20 + self.random.below(400));
        let at = self.now + delay + self.detour() + self.lateness(from, to, channel);
        let link = self.link(from, to);
        let usable = link.current.is_some() || link.unnoticed.contains_key(&(from, ear));
        if !usable || self.is_swallowed((from, to), channel, &message) {
            return;
        }
        let link = self.link(from, to);
        let last = link.last_delivery.entry((channel, from)).or_default();
        let at = at.max(*last);
        *last = at;
        let link = (from.min(to), from.max(to), link.count);
        let letter = Box::new(Letter { link, channel, from, to, message });
        self.schedule_at(at, Event::Letter(letter));
    }

    /// From now on what `from` sends to `to` about this lane, and what follows it on its
    /// connection, is late.
    pub fn delay_lane(&mut self, from: usize, to: usize, lane: u8, by: Duration) {
        self.late_lane = Some((from, to, lane, by));
    }

    fn lateness(&self, from: usize, to: usize, channel: Channel) -> Duration {
        let Some((a, b, lane, by)) = self.late_lane else { return Duration::ZERO };
        let shards = |node| self.shards_of(node).map_or(0, |shards| lane % shards);
        let (x, y) = (shards(from.min(to)), shards(from.max(to)));
        if (a, b) == (from, to) && channel == Channel::Data(x, y) { by } else { Duration::ZERO }
    }

    /// A connection may be slower than its neighbours for a while.
    fn detour(&mut self) -> Duration {
        if self.options.quirks.slow_mail && self.random.chance(1, 50) {
            Duration::from_micros(self.random.below(5_000))
        } else {
            Duration::ZERO
        }
    }

    pub(super) fn deliver_letter(&mut self, letter: Letter) {
        let Letter { link: id, channel, from, to, message } = letter;
        let ear = match &message {
            Message::Data { message, .. } => {
                let Some(shards) = self.shards_of(to) else { return };
                Ear::Shard(shard_to(&message.body, shards))
            }
            Message::Control(_) | Message::LeaseAsked { .. } | Message::LeaseAnswered { .. } => {
                Ear::Home
            }
        };
        let boot = self.processes[to].as_ref().map(|process| process.boot_id);
        let link = self.link(id.0, id.1);
        if link.count != id.2 || link.broken.contains(&channel) {
            return;
        }
        let open = link.current.is_some() || link.unnoticed.get(&(to, ear)).copied() == boot;
        if !open {
            return;
        }
        // What comes on the control connection is read once the home knows of it.
        if ear == Ear::Home && link.unaware.contains_key(&(to, ear)) {
            return link.held.push(Letter { link: id, channel, from, to, message });
        }
        self.read_letter(from, to, message);
    }

    fn read_letter(&mut self, from: usize, to: usize, message: Message) {
        let Some(forger) = self.forger.as_mut() else { return self.hear(from, to, message) };
        for message in forger.forge(message) {
            self.hear(from, to, message);
        }
    }

    fn hear(&mut self, from: usize, to: usize, message: Message) {
        let peer = Self::node_id(from);
        match message {
            Message::Control(message) => {
                self.marks.extend(Mark::of_control(&message));
                if matches!(message, Control::Prepare { .. }) {
                    let processes = self.processes.iter().flatten();
                    let candidates = processes.filter(|process| process.resource.is_candidate());
                    if candidates.count() > 1 {
                        self.marks.insert(Mark::TwoCandidates);
                    }
                }
                self.trace(|| format!("n{from} -> n{to} {}", brief(&message)));
                if self.deaf_to[to].is_some_and(|name| brief(&message).starts_with(name)) {
                    self.deaf_to[to] = None;
                    return self.tear(from, to, End::Broken);
                }
                self.step_resource(
                    to,
                    ResourceInput::Control { from: peer, message: Box::new(message) },
                );
            }
            Message::Data { message, values } => self.deliver_data(from, to, message, values),
            Message::LeaseAsked { nonce, sent_at } => {
                let now = self.local_time(to);
                let Some(process) = self.processes[to].as_mut() else { return };
                let granted = process.resource.grant(now, peer, nonce, limits::LEASE);
                if granted && process.resource.promised() != nonce {
                    let text = format!("I24: n{to} promised another, and grants to {nonce:?}");
                    self.violation = Some(text);
                    self.changes.any = true;
                }
                let written = self.disks[to].register.accepted.as_ref();
                let written = written.and_then(|(_, value)| value.primary);
                if granted && written.is_none_or(|primary| primary.nonce != nonce) {
                    let text = format!("7b.2: n{to} grants to {nonce:?}, its disk has {written:?}");
                    self.violation = Some(text);
                    self.changes.any = true;
                }
                self.send(to, from, Message::LeaseAnswered { nonce, sent_at, granted });
            }
            Message::LeaseAnswered { nonce, sent_at, granted } => {
                if !granted {
                    self.marks.insert(Mark::LeaseRefused);
                }
                self.step_resource(to, ResourceInput::Lease { peer, nonce, sent_at, granted });
            }
        }
    }

    fn deliver_data(&mut self, from: usize, to: usize, message: Data, values: Option<Vec<u64>>) {
        let Some(shards) = self.shards_of(to) else { return };
        let shard = shard_to(&message.body, shards);
        self.marks.extend(Mark::of_data(&message));
        if self.link(from, to).unaware.contains_key(&(to, Ear::Shard(shard))) {
            self.marks.insert(Mark::DataBeforeUp);
        }
        if self.options.trace_lane.is_some_and(|lane| message.body.lane() == Some(LaneIndex(lane)))
        {
            self.trace(|| format!("n{from} => n{to} {:?} {values:?}", message.body));
        }
        let payload = values.and_then(|values| self.payload(to, values));
        let from = Self::node_id(from);
        self.step_group(to, shard, GroupInput::Peer { from, message, payload });
    }

    pub(super) fn ask_leases(&mut self, node: usize) {
        let sent_at = self.local_time(node);
        let Some(nonce) = self.processes[node].as_ref().and_then(|it| it.resource.lease_wanted())
        else {
            return;
        };
        for to in 0..self.processes.len() {
            if to != node {
                self.send(node, to, Message::LeaseAsked { nonce, sent_at });
            }
        }
    }
}

/// The shard of a node with `shards` that a message is for, or comes from.
fn shard_to(body: &DataBody, shards: u8) -> u8 {
    let (DataBody::Flush { shard, .. } | DataBody::FlushDone { shard, .. }) = body else {
        return body.lane().expect("of one lane").0 % shards;
    };
    shard % shards
}

pub(super) fn brief(message: &Control) -> String {
    let text = format!("{message:?}");
    text.chars().take(110).collect()
}
