//! Which replica a read of a client goes to.
//!
//! Any in-sync member may serve any read (PROTOCOL.md 5.6): what is chosen here decides how fast a
//! read is, never what it returns. A member's weight is how long its reads took lately, times how
//! many of them are under way. What is not chosen seems a little faster with each choice, so that
//! a member that was slow once is tried again; and what happened once to all that was under way, as
//! where its process waited for a core, is no measure of what comes: its latency counts as five
//! times what it was at most, once for each round trip.

use std::time::Duration;

use format::ids::{MemberSet, NodeId};
use stdx::time::Time;

use crate::limits::{READ_LATENCY_FACTOR, READ_PATIENCE};

/// The configuration's `read-balancing`. Where DRBD chooses between the own disk and one peer, all
/// in-sync replicas are chosen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReadPolicy {
    /// The own replica; a node without one takes the lightest.
    #[default]
    PreferLocal,
    /// The lightest of the others; the own replica if there is no other.
    PreferRemote,
    RoundRobin,
    /// The fewest reads under way, the own replica if none has fewer.
    LeastPending,
    /// So many blocks from one replica, as many from the next.
    Striping {
        blocks: u32,
    },
    /// The lightest of all.
    Weighted,
}

/// What a member did for reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadLoad {
    /// Reads that it served.
    pub served: u64,
    pub in_flight: u32,
    /// How long they take lately.
    pub latency_ns: u64,
}

#[derive(Debug)]
pub(crate) struct Balance {
    pub(crate) policy: ReadPolicy,
    loads: [ReadLoad; MEMBERS],
    /// What each was asked for before then has nothing new to say of its latency.
    raised_at: [Time; MEMBERS],
    /// Members that let a read wait for long, and have answered none since.
    overdue: MemberSet,
    turn: u32,
    /// When reads that wait for long are looked for.
    pub(crate) look_at: Time,
}

const MEMBERS: usize = 32;
/// What a read costs beyond its latency: members that differ by less than this are alike.
const LATENCY_GRAIN_NS: u64 = 10_000;
/// A read counts as at most so many times what was expected: a member's latency is then five times
/// what it was.
const LATENCY_RISE: u64 = 32;

impl Balance {
    pub(crate) fn new(policy: ReadPolicy) -> Self {
        Self {
            policy,
            loads: [ReadLoad::default(); MEMBERS],
            raised_at: [Time::ZERO; MEMBERS],
            overdue: MemberSet::EMPTY,
            turn: 0,
            look_at: Time::NEVER,
        }
    }

    pub(crate) fn load(&self, member: NodeId) -> ReadLoad {
        self.loads[member.index()]
    }

    /// Whether nothing is to be chosen: the usual case, and `choose` would say the same.
    #[inline]
    pub(crate) fn stays_local(&self, me: NodeId, candidates: MemberSet) -> bool {
        self.policy == ReadPolicy::PreferLocal && candidates.minus(self.overdue).has(me)
    }

    /// The one of `candidates` to read `block` from; `None` if there are none.
    pub(crate) fn choose(
        &mut self,
        me: NodeId,
        candidates: MemberSet,
        block: u64,
    ) -> Option<NodeId> {
        let prompt = candidates.minus(self.overdue);
        let from = if prompt.is_empty() { candidates } else { prompt };
        let others = from.without(me);
        match self.policy {
            ReadPolicy::PreferLocal if from.has(me) => Some(me),
            ReadPolicy::PreferLocal | ReadPolicy::PreferRemote if !others.is_empty() => {
                self.lightest(others)
            }
            ReadPolicy::PreferLocal | ReadPolicy::PreferRemote => from.first(),
            ReadPolicy::Weighted => self.lightest(from),
            ReadPolicy::RoundRobin => self.next_of(from),
            ReadPolicy::LeastPending => {
                let pending = |member: NodeId| self.loads[member.index()].in_flight;
                from.iter().min_by_key(|&member| (pending(member), member != me))
            }
            ReadPolicy::Striping { blocks } => {
                let stripe = block / u64::from(blocks.max(1));
                let skip = stripe.checked_rem(u64::from(from.len())).unwrap_or(0);
                from.iter().nth(usize::try_from(skip).expect("fewer than members"))
            }
        }
    }

    /// The next of them in turn, whatever the policy.
    pub(crate) fn next_of(&mut self, from: MemberSet) -> Option<NodeId> {
        self.turn = self.turn.wrapping_add(1);
        let skip = self.turn.checked_rem(from.len()).unwrap_or(0);
        from.iter().nth(skip as usize)
    }

    fn lightest(&mut self, from: MemberSet) -> Option<NodeId> {
        let mut found: Option<(u64, NodeId)> = None;
        for member in from.iter() {
            let load = &mut self.loads[member.index()];
            let queue = u64::from(load.in_flight) + 1;
            let weight = (load.latency_ns + LATENCY_GRAIN_NS).saturating_mul(queue);
            load.latency_ns -= load.latency_ns >> 8;
            if found.is_none_or(|(least, _)| weight < least) {
                found = Some((weight, member));
            }
        }
        found.map(|(_, member)| member)
    }

    pub(crate) fn on_asked(&mut self, now: Time, member: NodeId) {
        self.loads[member.index()].in_flight += 1;
        if self.look_at == Time::NEVER {
            self.look_at = now + READ_PATIENCE;
        }
    }

    /// It answered that it has no bytes.
    pub(crate) fn on_refused(&mut self, member: NodeId) {
        let load = &mut self.loads[member.index()];
        load.in_flight = load.in_flight.saturating_sub(1);
        self.overdue.remove(member);
    }

    /// It gave the bytes of a read that it was asked for then.
    #[inline]
    pub(crate) fn on_served(&mut self, now: Time, member: NodeId, asked_at: Time) {
        self.overdue.remove(member);
        let load = &mut self.loads[member.index()];
        load.served += 1;
        load.in_flight = load.in_flight.saturating_sub(1);
        let took_ns = now.0.saturating_sub(asked_at.0);
        if took_ns / LATENCY_RISE > load.latency_ns + LATENCY_GRAIN_NS {
            return self.raise(now, member, asked_at);
        }
        load.latency_ns = load.latency_ns - load.latency_ns / 8 + took_ns / 8;
    }

    /// It took far longer than expected.
    #[cold]
    fn raise(&mut self, now: Time, member: NodeId, asked_at: Time) {
        let (load, raised_at) =
            (&mut self.loads[member.index()], &mut self.raised_at[member.index()]);
        if asked_at >= *raised_at {
            *raised_at = now;
            load.latency_ns += (load.latency_ns + LATENCY_GRAIN_NS) * (LATENCY_RISE / 8);
        }
    }

    /// It let a read wait for so long that another is asked.
    pub(crate) fn on_overdue(&mut self, member: NodeId) {
        self.overdue.insert(member);
    }

    /// How long a read may take before another one of `members` is asked: longer where all of them
    /// are slow, for asking twice what takes long anyway makes it slower.
    pub(crate) fn patience(&self, members: MemberSet) -> Duration {
        let least = members.iter().map(|member| self.load(member).latency_ns).min();
        let least = Duration::from_nanos(least.unwrap_or(0));
        READ_PATIENCE.max(least.saturating_mul(READ_LATENCY_FACTOR))
    }

    /// Its connections are gone, and with them what it was asked.
    pub(crate) fn forget(&mut self, member: NodeId) {
        self.loads[member.index()].in_flight = 0;
        self.overdue.remove(member);
    }

    /// The session is over, and nothing is asked any more.
    pub(crate) fn forget_all(&mut self) {
        self.loads.iter_mut().for_each(|load| load.in_flight = 0);
        self.overdue = MemberSet::EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: u8 = 0;

    fn node(id: u8) -> NodeId {
        NodeId::new(id).expect("a small id")
    }

    /// Asks members 0, 1 and 2 for `reads` blocks, `depth` at a time: who was asked, and when (us).
    /// `ends_at` tells of a member and the time when it is asked (us) when its answer comes.
    fn asked(
        policy: ReadPolicy,
        depth: usize,
        reads: u64,
        ends_at: impl Fn(usize, u64) -> u64,
    ) -> Vec<(u64, NodeId)> {
        let mut balance = Balance::new(policy);
        let mut asked = Vec::new();
        let mut under_way: Vec<(u64, NodeId, u64)> = Vec::new();
        let mut now_us = 0;
        for block in 0..reads {
            if under_way.len() == depth {
                under_way.sort_by_key(|&(done, ..)| std::cmp::Reverse(done));
                let (done, member, asked) = under_way.pop().expect("some are under way");
                now_us = done;
                balance.on_served(Time(now_us * 1000), member, Time(asked * 1000));
            }
            let all = MemberSet(0b111);
            let member = balance.choose(node(ME), all, block).expect("there are candidates");
            balance.on_asked(Time(now_us * 1000), member);
            asked.push((now_us, member));
            under_way.push((ends_at(member.index(), now_us), member, now_us));
        }
        asked
    }

    fn shares_of(asked: &[(u64, NodeId)]) -> [usize; 3] {
        [0, 1, 2].map(|id| asked.iter().filter(|(_, member)| *member == node(id)).count())
    }

    /// The same for members that take so many microseconds for a read.
    fn shares(policy: ReadPolicy, latency_us: [u64; 3], depth: usize) -> [usize; 3] {
        shares_of(&asked(policy, depth, 3000, |member, now| now + latency_us[member]))
    }

    #[test]
    fn each_policy_chooses_as_it_says() {
        assert_eq!(shares(ReadPolicy::PreferLocal, [100; 3], 8)[1..], [0, 0]);
        let [own, left, right] = shares(ReadPolicy::PreferRemote, [100; 3], 8);
        assert!(own == 0 && left.abs_diff(right) < 300, "{left} and {right}");
        assert!(shares(ReadPolicy::RoundRobin, [10, 100, 500], 8).iter().all(|it| *it > 980));
        let [own, ..] = shares(ReadPolicy::LeastPending, [100; 3], 1);
        assert_eq!(own, 3000, "nothing is under way: the own replica");
        assert!(shares(ReadPolicy::LeastPending, [100; 3], 8).iter().all(|it| *it > 700));
    }

    #[test]
    fn stripes_alternate_between_all_members() {
        let mut balance = Balance::new(ReadPolicy::Striping { blocks: 8 });
        let from = MemberSet(0b111);
        let chosen: Vec<u8> = (0..32)
            .map(|block| balance.choose(node(ME), from, block).expect("there are three").get())
            .collect();
        assert_eq!(chosen, [[0; 8], [1; 8], [2; 8], [0; 8]].concat());
    }

    #[test]
    fn weights_spread_over_equals_and_leave_little_to_the_slow() {
        let equal = shares(ReadPolicy::Weighted, [100; 3], 16);
        assert!(equal.iter().all(|served| *served > 900), "{equal:?}");
        let [_, _, slow] = shares(ReadPolicy::Weighted, [100, 100, 5000], 16);
        assert!((1..200).contains(&slow), "{slow} of 3000: rarely, and not never");
    }

    /// A process that waits for a core answers all that it was asked late, and then as before.
    #[test]
    fn a_member_that_paused_once_goes_on_soon() {
        let pause = 20_000..50_000;
        let asked = asked(ReadPolicy::Weighted, 16, 12_000, |member, now| {
            let end = now + 100;
            if member == 1 && end > pause.start && now < pause.end {
                pause.end.max(end)
            } else {
                end
            }
        });
        let (before, rest) = asked.split_at(asked.partition_point(|(at, _)| *at < pause.start));
        let after = &rest[rest.partition_point(|(at, _)| *at < pause.end)..];
        assert!(shares_of(before)[1] * 4 > before.len());
        let [_, share, _] = shares_of(&after[..512]);
        assert!(share > 512 / 4, "{share} of the 512 reads after the pause");
        let [_, during, _] = shares_of(&rest[..rest.len() - after.len()]);
        assert!(during <= 16, "{during} reads waited for the pause");
    }

    #[test]
    fn patience_follows_the_fastest() {
        let mut balance = Balance::new(ReadPolicy::Weighted);
        let millis = |count: u64| Time(count * 1_000_000);
        (0..100)
            .for_each(|it| balance.on_served(millis(100 * (it + 1)), node(1), millis(100 * it)));
        let both = MemberSet(0b110);
        assert_eq!(balance.patience(both), READ_PATIENCE, "nothing is known of member 2");
        assert!(balance.patience(MemberSet(0b010)) > Duration::from_millis(700));
        (0..100).for_each(|it| balance.on_served(millis(it + 1), node(2), millis(it)));
        assert_eq!(balance.patience(both), READ_PATIENCE);
    }

    #[test]
    fn an_overdue_member_is_asked_last() {
        let mut balance = Balance::new(ReadPolicy::PreferLocal);
        balance.on_asked(Time::ZERO, node(ME));
        balance.on_overdue(node(ME));
        assert_eq!(balance.choose(node(ME), MemberSet(0b11), 0), Some(node(1)));
        assert_eq!(balance.choose(node(ME), MemberSet(0b01), 0), Some(node(ME)));
        balance.on_refused(node(ME));
        assert_eq!(balance.choose(node(ME), MemberSet(0b11), 0), Some(node(ME)));
        assert_eq!(balance.choose(node(ME), MemberSet::EMPTY, 0), None);
    }
}
