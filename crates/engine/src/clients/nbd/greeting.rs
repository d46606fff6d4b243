//! Handshakes: from the greeting until the client is served or sent away.

use format::space::Place;
use frontend::nbd::handshake::{
    Access, Agreement, Directory, Export, Handshake, Next, Unavailable,
};
use frontend::nbd::reply::ReplyEncoder;
use frontend::nbd::transmission::Transmission;
use frontend::nbd::wire::{OPT_GO, OPTION_REPLY_MAGIC, REP_ERR_POLICY};
use io::SocketId;
use stdx::time::Time;

use crate::clients::budget::patience;
use crate::clients::fact::{Comer, Fact};
use crate::clients::nbd::client::{Client, Stage};
use crate::clients::nbd::{Nbd, Offer, TOKEN_CLIENT, full_in_words};
use crate::clients::outbox::Head;
use crate::clients::waiting::Tick;
use crate::definition::link::Secrecy;
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::{
    CLIENT_GOODBYE_DEADLINE, CLIENT_HANDSHAKE_DEADLINE, CLIENT_SURPLUS_DEADLINE,
    GREETING_HEAD_BYTES_MAX, PROMOTE_WAIT_MIN,
};
use crate::log::{Scope, log};
use crate::slab::Key;
use crate::tls::grants::{Grant, May, may_use};

/// Output is copied into buffers in pieces of this size.
const OUTPUT_PIECE: usize = 4096;

/// What becomes of one that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guest {
    Welcome,
    /// It is told that there is no place, where the protocol can say so.
    Surplus,
}

impl Nbd {
    pub(super) fn greet(
        &mut self,
        socket: SocketId,
        secrecy: Secrecy,
        guest: Guest,
        kit: &mut Kit,
    ) {
        let mut output = Vec::new();
        let machine = Box::new(match secrecy {
            Secrecy::ClearText => Handshake::start(&mut output),
            Secrecy::Tls => Handshake::start_with_tls(&mut output),
        });
        let time = match guest {
            Guest::Welcome => CLIENT_HANDSHAKE_DEADLINE,
            Guest::Surplus => CLIENT_SURPLUS_DEADLINE,
        };
        let deadline = kit.now + time;
        self.waiting.come_by(deadline);
        let key = self.clients.insert(Client::new(socket, Stage::Handshake { machine, deadline }));
        let client = self.clients.get_mut(key).expect("just put in");
        client.is_surplus = guest == Guest::Surplus;
        self.surplus += usize::from(client.is_surplus);
        // Without a buffer nothing is said, and the deadline ends the session.
        client.say(&output, kit);
        self.waiting.is_starved |= !client.receive(key.token(TOKEN_CLIENT), kit);
        self.mark(key);
    }

    pub(super) fn step_handshake(&mut self, key: Key, kit: &mut Kit) {
        loop {
            let Some(client) = self.clients.get_mut(key) else { return };
            let Some(bytes) = client.available().filter(|bytes| bytes.length > 0) else {
                return;
            };
            if client.outbox.unsent().heads >= GREETING_HEAD_BYTES_MAX {
                return;
            }
            let Stage::Handshake { machine, .. } = &mut client.stage else { return };
            let mut output = Vec::new();
            let offers = &self.offers;
            let grants = client.grants.as_deref();
            let is_surplus = client.is_surplus;
            let find = |name: &str| match is_surplus {
                true => Err(Unavailable::Refused(full_in_words())),
                false => find(offers, grants, name),
            };
            let listed: Vec<_> = offers.iter().filter_map(|offer| granted(offer, grants)).collect();
            let directory = Directory { listed: &listed, find: &find };
            let step = machine.step(kit.reactor.pool_ref().bytes(bytes), &directory, &mut output);
            client.take(u32::try_from(step.consumed).expect("not more than was given"));
            match step.next {
                Next::More => {
                    if !client.say(&output, kit) {
                        self.close(key, "no buffer is free", kit);
                        return;
                    }
                    self.mark(key);
                }
                Next::StartTls => {
                    let is_said = client.say(&output, kit);
                    if !is_said {
                        return self.close(key, "no buffer is free", kit);
                    }
                    let stage = client.take_stage();
                    if let Stage::Handshake { machine, deadline } = stage {
                        client.stage = Stage::Securing { machine, deadline };
                    }
                    self.mark(key);
                    return;
                }
                Next::Transmission(agreement) => {
                    let (hosted, place) = volume_of(&agreement);
                    let offer = self.offers.iter().find(|offer| offer.hosted == hosted);
                    let wait = offer.map_or(PROMOTE_WAIT_MIN, |offer| offer.promote_wait);
                    let deadline = kit.now + wait.max(PROMOTE_WAIT_MIN);
                    self.waiting.come_by(deadline);
                    (client.hosted, client.place) = (Some(hosted), place);
                    client.stage = Stage::Waiting { agreement, output, deadline };
                    self.facts.push_back(Fact::Wanted { hosted, by: Comer::Export });
                    return;
                }
                Next::Close(reason) => {
                    if !is_surplus {
                        log!(Info, Scope::NODE, "an NBD client was let go: {reason}");
                    }
                    client.say(&output, kit);
                    return self.leave(key, kit);
                }
            }
        }
    }

    /// The resource is Primary here: everybody who waits for it is served.
    pub(crate) fn admit(&mut self, hosted: HostedId, kit: &mut Kit) {
        for index in 0..self.clients.end() {
            let Some(key) = self.clients.key_at(index) else { continue };
            let client = self.clients.get_mut(key).expect("a key of this slab");
            if client.hosted != Some(hosted) || !matches!(client.stage, Stage::Waiting { .. }) {
                continue;
            }
            let stage = client.take_stage();
            let Stage::Waiting { agreement, output, .. } = stage else { continue };
            if !client.say(&output, kit) {
                self.close(key, "no buffer is free", kit);
                continue;
            }
            log!(Info, Scope::resource(&agreement.export.name), "NBD client session began");
            client.replies = Some(ReplyEncoder::new(agreement.replies));
            client.stage =
                Stage::Serving { machine: Transmission::new(&agreement), agreement, write: None };
            self.mark(key);
        }
    }

    /// Sends everybody away who waits for this resource.
    pub(crate) fn refuse(&mut self, hosted: HostedId, reason: &str, kit: &mut Kit) {
        for index in 0..self.clients.end() {
            let Some(key) = self.clients.key_at(index) else { continue };
            let is_meant = self.clients.get(key).is_some_and(|c| c.hosted == Some(hosted));
            if is_meant {
                self.refuse_one(key, reason, kit);
            }
        }
    }

    fn refuse_one(&mut self, key: Key, reason: &str, kit: &mut Kit) {
        let Some(client) = self.clients.get_mut(key) else { return };
        let Stage::Waiting { agreement, output, .. } = &client.stage else { return };
        log!(Info, Scope::resource(&agreement.export.name), "an NBD client was refused: {reason}");
        // The oldest way to choose an export has no answer but the end of the connection.
        if output.starts_with(&OPTION_REPLY_MAGIC.to_be_bytes()) {
            let length = u32::try_from(reason.len()).expect("a sentence");
            let mut answer = OPTION_REPLY_MAGIC.to_be_bytes().to_vec();
            answer.extend_from_slice(&OPT_GO.to_be_bytes());
            answer.extend_from_slice(&REP_ERR_POLICY.to_be_bytes());
            answer.extend_from_slice(&length.to_be_bytes());
            answer.extend_from_slice(reason.as_bytes());
            client.say(&answer, kit);
        }
        self.leave(key, kit);
    }

    /// Takes nothing more of a client; it goes once it has heard what it is to hear, or after a
    /// while.
    pub(super) fn leave(&mut self, key: Key, kit: &Kit) {
        let Some(client) = self.clients.get_mut(key) else { return };
        let deadline = kit.now + CLIENT_GOODBYE_DEADLINE;
        client.stage = Stage::Leaving { deadline };
        self.waiting.come_by(deadline);
        self.mark(key);
    }

    pub(crate) fn deadline(&self) -> Time {
        self.waiting.deadline()
    }

    /// One that does not take its answers, or does not send the rest of a write, has to make room
    /// for others.
    fn judge_stall(&mut self, key: Key, kit: &mut Kit) {
        let Some(client) = self.clients.get(key) else { return };
        let since = self.waiting.crowded_since();
        let answers = client.outbox.patience(since, kit.budget.much_of_replies());
        let answers = answers.filter(|_| kit.budget.is_crowded_with_replies());
        let rest = client.arriving().filter(|_| kit.budget.is_crowded_with_arrivals());
        let rest = rest.map(|it| patience(it.since.max(since), it.slice.length as usize));
        let reason = if answers.is_some_and(|until| kit.now >= until) {
            "it does not take its answers, and others wait for the buffers"
        } else if rest.is_some_and(|until| kit.now >= until) {
            "it does not send the rest of a write, and others wait for the buffer"
        } else {
            return;
        };
        self.close(key, reason, kit);
    }

    /// Ends handshakes and goodbyes that take too long, and says when to come again.
    pub(crate) fn tick(&mut self, kit: &mut Kit) -> Time {
        let tick = self.waiting.tick(kit);
        if tick == Tick::NotYet {
            return self.deadline();
        }
        for index in 0..self.clients.end() {
            let Some(key) = self.clients.key_at(index) else { continue };
            match self.clients.get(key).map(|client| &client.stage) {
                Some(Stage::Handshake { deadline, .. } | Stage::Securing { deadline, .. })
                    if kit.now >= *deadline =>
                {
                    let is_surplus = self.clients.get(key).is_some_and(|it| it.is_surplus);
                    // Why it was refused is said already.
                    let reason = if is_surplus { "" } else { "it chose no export in time" };
                    self.close(key, reason, kit);
                }
                Some(Stage::Waiting { deadline, .. }) if kit.now >= *deadline => {
                    let reason = "this node could not become Primary in time; see the status";
                    self.refuse_one(key, reason, kit);
                }
                Some(Stage::Leaving { deadline }) if kit.now >= *deadline => {
                    self.close(key, "it said goodbye, and did not go", kit);
                }
                Some(
                    Stage::Handshake { deadline, .. }
                    | Stage::Securing { deadline, .. }
                    | Stage::Waiting { deadline, .. }
                    | Stage::Leaving { deadline },
                ) => {
                    self.waiting.come_by(*deadline);
                }
                Some(Stage::Serving { .. }) if tick == Tick::DueInCrowd => {
                    self.judge_stall(key, kit);
                }
                Some(Stage::Serving { .. }) | None => {}
            }
        }
        self.deadline()
    }
}

impl Client {
    /// Queues bytes of the handshake; false while no buffer is free.
    fn say(&mut self, output: &[u8], kit: &mut Kit) -> bool {
        output.chunks(OUTPUT_PIECE).all(|piece| {
            let length = u32::try_from(piece.len()).expect("a piece is short");
            let write = |out: &mut [u8]| {
                out[..piece.len()].copy_from_slice(piece);
                piece.len()
            };
            self.outbox.head_of(Head::Greeting, length, kit, write).is_some()
        })
    }
}

fn volume_of(agreement: &Agreement) -> (HostedId, Place) {
    let id = agreement.export.id;
    let hosted = u32::try_from(id & u64::from(u32::MAX)).expect("cut to 32 bits");
    let place = u16::try_from(id >> 32).ok().and_then(|number| Place::new(number).ok());
    (HostedId(hosted), place.expect("an id that this module gave out"))
}

/// An export by its name, with or without the number of its volume; the empty name means the
/// only one.
fn find(offers: &[Offer], grants: Option<&[Grant]>, name: &str) -> Result<Export, Unavailable> {
    let name = name.strip_suffix("/0").unwrap_or(name);
    let offer = match offers {
        [only] if name.is_empty() => Some(only),
        _ => offers.iter().find(|offer| offer.export.name == name),
    };
    let offer = offer.ok_or(Unavailable::Unknown)?;
    if offer.export.size_bytes == 0 {
        let text = "the size of the volume is not known yet: no replica is connected";
        return Err(Unavailable::Refused(text.to_owned()));
    }
    granted(offer, grants).ok_or_else(|| {
        let text = "this client may not use it; the file `clients` of the node says who may";
        Unavailable::Refused(text.to_owned())
    })
}

/// The export as the client may use it.
fn granted(offer: &Offer, grants: Option<&[Grant]>) -> Option<Export> {
    let mut export = offer.export.clone();
    let resource = export.name.split('/').next().unwrap_or_default();
    match grants.map(|grants| may_use(grants, resource, offer.volume)) {
        None | Some(Some(May::ReadAndWrite)) => {}
        Some(Some(May::Read)) => export.access = Access::ReadOnly,
        Some(None) => return None,
    }
    Some(export)
}

#[cfg(test)]
mod tests {
    use frontend::nbd::wire::{
        FLAG_SEND_FAST_ZERO, FLAG_SEND_WRITE_ZEROES, HANDSHAKE_FIXED_NEWSTYLE,
    };

    use super::*;
    use crate::clients::nbd::export_of;
    use crate::tls::grants::Grants;

    fn offer(name: &str, place: u16, volume: u16) -> Offer {
        let (hosted, place) = (HostedId(0), Place::new(place).unwrap());
        let export = export_of(name, (hosted, place), 1 << 20, 512);
        Offer { hosted, place, volume, export, promote_wait: PROMOTE_WAIT_MIN }
    }

    /// Whether a client with these lines is refused, or may read, or write.
    fn access(offers: &[Offer], lines: &str, name: &str) -> Option<Access> {
        let grants = Grants::parse(lines).unwrap();
        match find(offers, Some(grants.all()), name) {
            Ok(export) => Some(export.access),
            Err(Unavailable::Refused(_)) => None,
            Err(other) => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn grant_of_one_volume_opens_no_other() {
        let offers = [offer("r0", 0, 0), offer("r0/1", 1, 1)];
        let (read, write) = (Some(Access::ReadOnly), Some(Access::ReadWrite));
        for (lines, first, second) in [
            ("web r0/0 rw", write, None),
            ("web r0/1 rw", None, write),
            ("web r0 rw", write, write),
            ("web r0/0 rw\nweb r0 ro", write, read),
            ("web r0 ro\nweb r0/1 rw", read, read),
            ("web r0/1 rw\nweb * ro", read, write),
            ("web * ro\nweb r0/1 rw", read, read),
            ("web r1 rw\nweb r/0 rw", None, None),
        ] {
            for name in ["r0", "r0/0"] {
                assert_eq!(access(&offers, lines, name), first, "{name} by {lines:?}");
            }
            assert_eq!(access(&offers, lines, "r0/1"), second, "r0/1 by {lines:?}");
        }
    }

    #[test]
    fn only_volume_is_meant_by_its_number_and_not_by_its_place() {
        let offers = [offer("r0", 0, 5)];
        assert_eq!(access(&offers, "web r0/0 rw", "r0"), None);
        assert_eq!(access(&offers, "web r0/5 rw", "r0"), Some(Access::ReadWrite));
    }

    /// What `GO` is told of an export, as transmission flags.
    fn told_flags(offer: &Offer) -> u16 {
        let mut output = Vec::new();
        let mut machine = Handshake::start(&mut output);
        let mut input = u32::from(HANDSHAKE_FIXED_NEWSTYLE).to_be_bytes().to_vec();
        let request = [&2_u32.to_be_bytes()[..], b"r0", &0_u16.to_be_bytes()].concat();
        let length = u32::try_from(request.len()).unwrap();
        input.extend_from_slice(b"IHAVEOPT");
        input.extend_from_slice(&OPT_GO.to_be_bytes());
        input.extend_from_slice(&length.to_be_bytes());
        input.extend_from_slice(&request);
        let offers = [offer.clone()];
        let find = |name: &str| find(&offers, None, name);
        let directory = Directory { listed: &[], find: &find };
        let mut at = 0;
        loop {
            let step = machine.step(&input[at..], &directory, &mut output);
            at += step.consumed;
            match step.next {
                Next::Transmission(agreement) => return agreement.flags,
                Next::More if at < input.len() => {}
                Next::More | Next::StartTls | Next::Close(_) => panic!("{at} of {input:?}"),
            }
        }
    }

    /// Clients were promised that zeroes which are written fail at once, and they did not.
    #[test]
    fn zeroes_are_offered_and_not_promised_to_be_fast() {
        let flags = told_flags(&offer("r0", 0, 0));
        assert_eq!(flags & (FLAG_SEND_WRITE_ZEROES | FLAG_SEND_FAST_ZERO), FLAG_SEND_WRITE_ZEROES);
    }
}
