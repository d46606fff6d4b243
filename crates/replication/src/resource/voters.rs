//! Who votes: quorums, and changes of the voters (PROTOCOL.md 9.1 and 9.2).
//!
//! New voters are written beside the old ones, in a value that both majorities choose; when that is
//! known to be chosen, and the lease of whoever leads holds by both, the old ones go.

use format::config::{Config, Purpose, Tenure, Voter as VoterConfig};
use format::ids::{MemberSet, NodeId, VoteStoreId};
use format::message::Accepted;

use crate::lineage::standing::insync;
use crate::quorum::{self, Tally};
use crate::resource::Resource;

/// All whose answers may count for a quorum of the value.
pub(crate) fn voters_of(config: &Config) -> MemberSet {
    config.voters.iter().chain(&config.voters_old).map(|voter| voter.node).collect()
}

/// The node has another vote store than the value names: it is a new voter.
pub(crate) fn has_renewed(config: &Config, node: NodeId, store: VoteStoreId) -> bool {
    let voters = config.voters.iter().chain(&config.voters_old);
    let mut known = voters.filter(|voter| voter.node == node).peekable();
    known.peek().is_some()
        && known.all(|voter| voter.store != store && voter.store != VoteStoreId(0))
}

impl Resource {
    /// The newest value that anyone is known to have accepted, or that of the birth.
    pub(crate) fn newest_value(&self) -> Config {
        self.newest_known().map_or_else(|| self.birth_config(), Config::clone)
    }

    /// The voters of that value: they are asked first.
    pub(crate) fn newest_voters(&self) -> MemberSet {
        self.newest_known().map_or_else(|| self.first_voters(), voters_of)
    }

    fn newest_known(&self) -> Option<&Config> {
        let peers = self.peers.values().filter_map(|peer| peer.accepted.as_ref());
        let own = self.voter.register.accepted.as_ref().map(|(ballot, value)| (*ballot, value));
        let known = peers.chain(&self.chosen).map(|Accepted { ballot, value }| (*ballot, value));
        known.chain(own).max_by_key(|(ballot, _)| *ballot).map(|(_, value)| value)
    }

    /// Votes that could be had now, this node's own included.
    pub(crate) fn votes_in_reach(&self) -> impl Iterator<Item = (NodeId, VoteStoreId)> + Clone {
        let peers = self.peers.iter().filter(|(_, peer)| peer.report.is_some());
        let peers = peers.filter_map(|(&node, peer)| Some((node, peer.store?)));
        peers.chain(self.own_store().map(|store| (self.me(), store)))
    }

    /// The voter of this node, while it has a vote to give.
    pub(crate) fn own_store(&self) -> Option<VoteStoreId> {
        (!self.voter.is_mute).then_some(self.voter.register.store)
    }

    pub(crate) fn votes_in_reach_of(&self, config: &Config) -> Tally {
        quorum::tally(config, &self.votes_in_reach())
    }

    pub(crate) fn reaches_quorum_of(&self, config: &Config) -> bool {
        self.votes_in_reach_of(config).is_quorum()
    }

    pub(crate) fn reaches_majority(&self) -> bool {
        match self.config() {
            Some(config) => self.reaches_quorum_of(config),
            None => self.reaches_quorum_of(&self.newest_value()),
        }
    }

    pub(crate) fn store_of(&self, node: NodeId) -> Option<VoteStoreId> {
        if node == self.me() {
            return Some(self.voter.register.store);
        }
        self.peers.get(&node).filter(|peer| peer.report.is_some())?.store
    }

    /// The voters of a new resource, as its configuration says: the replicas, and a witness where
    /// their number is even and there is one.
    pub(crate) fn voters_at_start(&self) -> Vec<VoterConfig> {
        let voters = self.first_voters();
        voters.iter().map(|node| VoterConfig { node, store: VoteStoreId(0) }).collect()
    }

    /// Who may vote without data.
    fn witnesses(&self) -> MemberSet {
        let able = self.options.members.iter().filter(|it| it.may_witness && !it.diskful);
        able.map(|member| member.node).collect()
    }

    fn first_voters(&self) -> MemberSet {
        let replicas = self.diskful();
        let witness = self.witnesses().first().filter(|_| replicas.len().is_multiple_of(2));
        witness.map_or(replicas, |witness| replicas.with(witness))
    }

    /// The voters that there should be: every replica that votes already or is in sync, each with
    /// the vote store that it has now; and a witness where their number is even. A voter that this
    /// node's configuration does not name (yet) stays; one that is about to stop does not.
    fn wanted_voters(&self, config: &Config) -> MemberSet {
        let is_known = |&node: &NodeId| self.as_voter(config, node).is_some();
        let votes = config.voters.iter().map(|voter| voter.node).collect::<MemberSet>();
        let replicas = votes | self.diskful().and(insync(config));
        let stopping = self.stopping(config);
        let replicas = replicas.minus(self.gone() | stopping).minus(self.diskless());
        let replicas: MemberSet = replicas.iter().filter(is_known).collect();
        if !replicas.len().is_multiple_of(2) {
            return replicas;
        }
        // The witness that there is, as long as it is a member.
        let able = self.witnesses().minus(self.gone() | stopping);
        let witness = votes.and(able).first().or_else(|| able.iter().find(is_known));
        witness.map_or(replicas, |witness| replicas.with(witness))
    }

    /// With the store that the node has now, as far as is known: one that lost its store is a new
    /// voter in place of the one that it was (I18).
    fn as_voter(&self, config: &Config, node: NodeId) -> Option<VoterConfig> {
        let known = config.voters.iter().find(|voter| voter.node == node).copied();
        match (known, self.store_of(node)) {
            (Some(known), Some(store)) if known.store != VoteStoreId(0) => {
                Some(VoterConfig { store, ..known })
            }
            (Some(known), _) => Some(known),
            (None, store) => store.map(|store| VoterConfig { node, store }),
        }
    }

    /// What the value should say of voters next, if that can be chosen now.
    pub(crate) fn next_voters(&self, config: &Config) -> Option<Config> {
        if config.voters.iter().any(|voter| self.is_nameable(voter)) {
            let mut next = config.clone();
            self.name_stores(&mut next);
            return self.reaches_quorum_of(config).then_some(next);
        }
        if !config.voters_old.is_empty() {
            let may_go = self.reaches_quorum_of(config) && self.leases_by_both(config);
            return may_go.then(|| Config { voters_old: Vec::new(), ..config.clone() });
        }
        let wanted = self.wanted_voters(config);
        let votes = config.voters.iter().map(|voter| voter.node).collect::<MemberSet>();
        let stays = |voter: &VoterConfig| self.as_voter(config, voter.node) == Some(*voter);
        if wanted.is_empty() || wanted == votes && config.voters.iter().all(stays) {
            return None;
        }
        let mut next = config.clone();
        let wanted = wanted.iter().filter_map(|node| self.as_voter(config, node)).collect();
        next.voters_old = std::mem::replace(&mut next.voters, wanted);
        next.tenure.take_if(|tenure| self.is_given_up(config, *tenure));
        self.reaches_quorum_of(&next).then_some(next)
    }

    /// Its node is another voter since, and later nothing would tell. While it leads, it knew.
    fn is_given_up(&self, config: &Config, tenure: Tenure) -> bool {
        let serves = config.primary.filter(|primary| primary.purpose == Purpose::Clients);
        let leads = serves.is_some_and(|primary| primary.node == tenure.node);
        let store = self.store_of(tenure.node);
        !leads && store.is_some_and(|store| has_renewed(config, tenure.node, store))
    }

    fn is_nameable(&self, voter: &VoterConfig) -> bool {
        voter.store == VoteStoreId(0) && self.store_of(voter.node).is_some()
    }

    /// One that was away at birth has its vote store named when that is known. Quorums before and
    /// after meet, for it has no vote before.
    pub(crate) fn name_stores(&self, next: &mut Config) {
        for voter in next.voters.iter_mut().filter(|voter| self.is_nameable(voter)) {
            voter.store = self.store_of(voter.node).unwrap_or(voter.store);
        }
    }

    /// A lease that was had from the old voters alone would not keep others away from the new ones
    /// (9.2). One that holds by the value with both outlasts it.
    fn leases_by_both(&self, config: &Config) -> bool {
        self.session.as_ref().is_none_or(|session| {
            session.purpose == Purpose::Resync
                || session.lease_by == Some(config.value_id)
                || self.now >= session.lease_until
        })
    }
}
