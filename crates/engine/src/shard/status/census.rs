//! The clients and the sessions of the resources that a question is about, gone through once for
//! all of them: a pass for each resource makes a question about a thousand of them quadratic.

use std::collections::{BTreeMap, BTreeSet};

use api::status::Holder;
use format::ids::NodeId;
use format::space::Place;

use crate::clients::nvme::HolderOfAll;
use crate::hosted_id::HostedId;
use crate::links::session::SessionFacts;
use crate::shard::Rim;

#[derive(Debug)]
pub(super) struct Census {
    /// By resource, and the number of the volume.
    holders: BTreeMap<(HostedId, u8), Vec<Holder>>,
    holders_of_all: BTreeMap<HostedId, Vec<HolderOfAll>>,
    requests: BTreeMap<(HostedId, u8), usize>,
    /// Resources that a client of this shard has open.
    open: BTreeSet<HostedId>,
    sessions: BTreeMap<(HostedId, NodeId), SessionFacts>,
}

impl Census {
    pub(super) fn take(rim: &Rim, is_asked: impl Fn(HostedId) -> bool) -> Self {
        let Rim { kit, links, nbd, nvme, vhost, .. } = rim;
        let mut census = Self {
            holders: BTreeMap::new(),
            holders_of_all: BTreeMap::new(),
            requests: BTreeMap::new(),
            open: BTreeSet::new(),
            sessions: links.session_facts(&is_asked).collect(),
        };
        for (id, place, holder) in nbd.holders(&is_asked, kit) {
            *census.requests.entry((id, place.number())).or_default() += holder.requests as usize;
            census.add(id, place, holder);
        }
        for (id, holder) in nvme.holders(&is_asked, kit) {
            census.open.insert(id);
            census.holders_of_all.entry(id).or_default().push(holder);
        }
        vhost.holders(&is_asked).for_each(|(id, place, holder)| census.add(id, place, holder));
        for (id, place) in nvme.requests_in_flight(&is_asked) {
            *census.requests.entry((id, place.number())).or_default() += 1;
        }
        census.open.extend(nvme.open(&is_asked));
        census
    }

    fn add(&mut self, id: HostedId, place: Place, holder: Holder) {
        self.open.insert(id);
        self.holders.entry((id, place.number())).or_default().push(holder);
    }

    pub(super) fn is_open(&self, id: HostedId) -> bool {
        self.open.contains(&id)
    }

    pub(super) fn holders(&self, id: HostedId, place: Place) -> Vec<Holder> {
        let mut holders = self.holders.get(&(id, place.number())).cloned().unwrap_or_default();
        let of_all = self.holders_of_all.get(&id).into_iter().flatten();
        holders.extend(of_all.map(|holder| holder.at(place)));
        holders
    }

    pub(super) fn requests_in_flight(&self, id: HostedId, place: Place) -> usize {
        self.requests.get(&(id, place.number())).copied().unwrap_or(0)
    }

    pub(super) fn session(&self, id: HostedId, peer: NodeId) -> SessionFacts {
        self.sessions.get(&(id, peer)).copied().unwrap_or_default()
    }
}
