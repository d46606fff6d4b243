//! Groups: how volumes that belong together are placed, and which parts they are born with.
//!
//! The filter has the words of LINSTOR's clients, and gives back what they put into it. `place`
//! says which of them are acted on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::properties::Properties;

/// The group of volumes that name none; it is always there.
pub(crate) const DEFAULT_GROUP: &str = "DfltRscGrp";
pub(crate) const DEFAULT_GROUP_ID: Uuid = Uuid::nil();

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) properties: Properties,
    pub(crate) filter: Filter,
    pub(crate) templates: Vec<Template>,
    /// Verbatim.
    pub(crate) peer_slots: Option<u32>,
}

/// A part that each volume of the group is born with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Template {
    pub(crate) number: u16,
    pub(crate) properties: Properties,
    /// Verbatim.
    pub(crate) flags: Vec<String>,
}

/// `None`: nothing was said. An empty list that was said takes away what was said before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Filter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) place_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) additional_place_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node_name_list: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) storage_pool_list: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) storage_pool_diskless_list: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_place_with_rsc: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_place_with_rsc_regex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replicas_on_same: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replicas_on_different: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) x_replicas_on_different_map: Option<BTreeMap<String, u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) layer_stack: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider_list: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diskless_on_remaining: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diskless_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) overprovision: Option<serde_json::Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) port_count: Option<u32>,
}

impl Group {
    pub(crate) fn new(id: Uuid, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            description: String::new(),
            properties: Properties::default(),
            filter: Filter::default(),
            templates: Vec::new(),
            peer_slots: None,
        }
    }
}

impl Filter {
    /// This filter over a base: a field that this one does not set is the base's.
    pub(crate) fn over(self, base: &Self) -> Self {
        let base = base.clone();
        Self {
            place_count: self.place_count.or(base.place_count),
            additional_place_count: self.additional_place_count.or(base.additional_place_count),
            node_name_list: self.node_name_list.or(base.node_name_list),
            storage_pool_list: self.storage_pool_list.or(base.storage_pool_list),
            storage_pool_diskless_list: self
                .storage_pool_diskless_list
                .or(base.storage_pool_diskless_list),
            not_place_with_rsc: self.not_place_with_rsc.or(base.not_place_with_rsc),
            not_place_with_rsc_regex: self
                .not_place_with_rsc_regex
                .or(base.not_place_with_rsc_regex),
            replicas_on_same: self.replicas_on_same.or(base.replicas_on_same),
            replicas_on_different: self.replicas_on_different.or(base.replicas_on_different),
            x_replicas_on_different_map: self
                .x_replicas_on_different_map
                .or(base.x_replicas_on_different_map),
            layer_stack: self.layer_stack.or(base.layer_stack),
            provider_list: self.provider_list.or(base.provider_list),
            diskless_on_remaining: self.diskless_on_remaining.or(base.diskless_on_remaining),
            diskless_type: self.diskless_type.or(base.diskless_type),
            overprovision: self.overprovision.or(base.overprovision),
            port_count: self.port_count.or(base.port_count),
        }
    }

    /// Of a single request, where an empty list says nothing.
    pub(crate) fn without_empty(mut self) -> Self {
        for list in [
            &mut self.node_name_list,
            &mut self.storage_pool_list,
            &mut self.storage_pool_diskless_list,
            &mut self.not_place_with_rsc,
            &mut self.replicas_on_same,
            &mut self.replicas_on_different,
            &mut self.layer_stack,
            &mut self.provider_list,
        ] {
            list.take_if(|list| list.is_empty());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_of_a_request_counts_where_it_says_something() {
        let base = Filter {
            place_count: Some(2),
            storage_pool_list: Some(vec!["fast".to_owned()]),
            ..Filter::default()
        };
        let nodes = Some(vec!["n1".to_owned()]);
        let asked = Filter {
            node_name_list: nodes.clone(),
            storage_pool_list: Some(Vec::new()),
            ..Filter::default()
        };
        let merged = asked.clone().without_empty().over(&base);
        assert_eq!(merged, Filter { node_name_list: nodes, ..base.clone() });
        assert_eq!(asked.over(&base).storage_pool_list, Some(Vec::new()), "a group is emptied");
    }
}
