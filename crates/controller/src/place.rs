//! Where the replicas of a volume go: rules that refuse a pool, and an order of those that are
//! left.
//!
//! Each pool that was looked at is answered for, with the rule that took or refused it. Of a number
//! of replicas that is even, a node without one votes as a witness where there is such a node: two
//! halves that lost each other would both stop else.
//!
//! Labels are properties of nodes. A rule about one is `KEY`, or `KEY=VALUE` for nodes that have
//! this value.

use std::collections::{BTreeMap, BTreeSet};

use api::cluster::{Candidate, PoolKind};
use uuid::Uuid;

use crate::model::bag::Owner;
use crate::model::properties::Properties;
use crate::model::{Cause, Desired, Node, Placement, Pool, Stage, Tombstone};
use crate::seen::Seen;

const HAS_REPLICA: &str = "the node has a replica already";
/// A property of a node or a pool that takes it out, by the value `false`.
const TARGET: &str = "AutoplaceTarget";

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish<'a> {
    pub(crate) name: &'a str,
    pub(crate) size_bytes: u64,
    pub(crate) replicas: u8,
    /// Only pools of these names; none named: any.
    pub(crate) pools: &'a [String],
    /// Only pools of these kinds; none named: any.
    pub(crate) kinds: &'a [PoolKind],
    /// Only these nodes; none named: any.
    pub(crate) nodes: &'a [String],
    /// Nodes that have a replica already.
    pub(crate) taken: &'a [Uuid],
    /// All replicas have the same value of each of these labels.
    pub(crate) same: &'a [String],
    /// No two replicas have the same value of one of these labels.
    pub(crate) different: &'a [String],
    /// No more than so many replicas have the same value of the label.
    pub(crate) spread: &'a [(String, u32)],
    /// On no node that has a replica of one of these volumes.
    pub(crate) apart_from: &'a [String],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// `None`: not enough places.
    pub(crate) placements: Option<Vec<Placement>>,
    pub(crate) candidates: Vec<Candidate>,
}

/// A pool that no rule refuses.
struct Place<'a> {
    node: &'a Node,
    pool: &'a Pool,
    /// Of what the pool has, with the volume in it; thousandths.
    free_after: u64,
}

pub(crate) fn place(desired: &Desired, seen: &Seen, wish: Wish<'_>, now_ms: u64) -> Plan {
    let mut candidates = Vec::new();
    let mut places = Vec::new();
    for node in desired.nodes.values() {
        let mut pools = desired.pools_of(node.id).peekable();
        let refuse = |pool: Option<&Pool>, rule: String| {
            let pool = pool.map(|pool| pool.name.clone());
            Candidate { node: node.name.clone(), pool, taken: false, rule }
        };
        if pools.peek().is_none() {
            candidates.push(refuse(None, "it has no pool".to_owned()));
        }
        for pool in pools {
            let refusal = of_node(desired, node, seen, wish, now_ms);
            match refusal.map_or_else(|| of_pool(desired, pool, seen, wish), Err) {
                Ok(free_after) => places.push(Place { node, pool, free_after }),
                Err(rule) => candidates.push(refuse(Some(pool), rule)),
            }
        }
    }
    // The most room first; the fewest replicas among equals, and then by name.
    places.sort_by_cached_key(|place| {
        let replicas = desired.replicas_in(place.pool.id);
        (u64::MAX - place.free_after, replicas, place.node.name.clone(), place.pool.name.clone())
    });
    let (mut chosen, told) = choose(desired, &places, wish);
    candidates.extend(told);
    if chosen.len() < usize::from(wish.replicas) {
        candidates.iter_mut().for_each(|candidate| candidate.taken = false);
        return Plan { placements: None, candidates };
    }
    if wish.replicas.is_multiple_of(2)
        && let Some(witness) = witness(desired, seen, &chosen, now_ms)
    {
        let rule = "it votes, for the replicas are even in number".to_owned();
        candidates.push(Candidate { node: witness.name.clone(), pool: None, taken: true, rule });
        chosen.push((witness.id, None));
    }
    let placements = (0..).zip(chosen).map(|(node_id, (node, pool))| {
        let (stage, cause, since) = (Stage::In, Cause::Planned, 0);
        Placement { node, node_id, pool, stage, cause, since }
    });
    Plan { placements: Some(placements.collect()), candidates }
}

type Chosen = Vec<(Uuid, Option<Uuid>)>;

/// The best places that go together. Where labels are to be the same, the values of each place are
/// tried in turn, and the first ones that give enough count; else those that give the most.
fn choose(desired: &Desired, places: &[Place<'_>], wish: Wish<'_>) -> (Chosen, Vec<Candidate>) {
    // Replicas that are there already say where the others go.
    let first = wish.taken.iter().find_map(|id| desired.nodes.get(id));
    if let Some(same) = first.and_then(|node| labels_of(desired, node, wish.same)) {
        return choose_with(desired, places, wish, &same);
    }
    let mut best = choose_with(desired, places, wish, &BTreeMap::new());
    if wish.same.is_empty() {
        return best;
    }
    let values = places.iter().map(|place| labels_of(desired, place.node, wish.same));
    let mut tried = BTreeSet::new();
    let mut most = None;
    for values in values.flatten() {
        if !tried.insert(values.clone()) {
            continue;
        }
        let told = choose_with(desired, places, wish, &values);
        let count = told.0.len();
        if most.is_none_or(|most| count > most) {
            (best, most) = (told, Some(count));
        }
        if count >= usize::from(wish.replicas) {
            break;
        }
    }
    best
}

/// The values of labels on a node; `None` if it has not all of them.
fn labels_of(desired: &Desired, node: &Node, rules: &[String]) -> Option<BTreeMap<String, String>> {
    let labels = desired.bag(&Owner::Node(node.id));
    let keys = rules.iter().map(|rule| rule.split_once('=').map_or(rule.as_str(), |it| it.0));
    keys.map(|key| Some((key.to_owned(), labels.get(key)?.to_owned()))).collect()
}

fn choose_with(
    desired: &Desired,
    places: &[Place<'_>],
    wish: Wish<'_>,
    same: &BTreeMap<String, String>,
) -> (Chosen, Vec<Candidate>) {
    let (mut chosen, mut candidates): (Chosen, _) = (Vec::new(), Vec::new());
    let mut values: BTreeMap<(String, String), u32> = BTreeMap::new();
    for node in wish.taken {
        count_labels(&desired.bag(&Owner::Node(*node)), wish, &mut values);
    }
    for place in places {
        let labels = desired.bag(&Owner::Node(place.node.id));
        let is_node_taken = chosen.iter().any(|(node, _)| *node == place.node.id);
        let rule = is_node_taken.then(|| HAS_REPLICA.to_owned());
        let rule = rule.or_else(|| of_same(&labels, wish.same, same));
        let rule = rule.or_else(|| of_different(&labels, wish, &values));
        let taken = rule.is_none() && chosen.len() < usize::from(wish.replicas);
        if taken {
            chosen.push((place.node.id, Some(place.pool.id)));
            count_labels(&labels, wish, &mut values);
        }
        let (node, pool) = (place.node.name.clone(), Some(place.pool.name.clone()));
        let rule = rule.unwrap_or_else(|| rest(place.free_after));
        candidates.push(Candidate { node, pool, taken, rule });
    }
    (chosen, candidates)
}

/// One more replica has these labels.
fn count_labels(labels: &Properties, wish: Wish<'_>, values: &mut BTreeMap<(String, String), u32>) {
    for (key, value) in apart(wish).filter_map(|(key, _)| Some((key, labels.get(key)?))) {
        *values.entry((key.to_owned(), value.to_owned())).or_default() += 1;
    }
}

/// The rule about equal labels that refuses a node.
fn of_same(
    labels: &Properties,
    rules: &[String],
    same: &BTreeMap<String, String>,
) -> Option<String> {
    rules.iter().find_map(|rule| {
        let (key, wanted) =
            rule.split_once('=').map_or((rule.as_str(), None), |(key, value)| (key, Some(value)));
        let wanted = wanted.or_else(|| same.get(key).map(String::as_str));
        match (labels.get(key), wanted) {
            (None, _) => Some(format!("it has no label {key}")),
            (Some(has), Some(wanted)) if has != wanted => {
                Some(format!("its label {key} is {has:?}, and the replicas go to {wanted:?}"))
            }
            (Some(_), _) => None,
        }
    })
}

/// Labels of which only so many replicas may have the same value.
fn apart(wish: Wish<'_>) -> impl Iterator<Item = (&str, u32)> {
    let once = wish.different.iter().map(|key| (key.as_str(), 1));
    once.chain(wish.spread.iter().map(|(key, most)| (key.as_str(), *most)))
}

/// The rule about unequal labels that refuses a node.
fn of_different(
    labels: &Properties,
    wish: Wish<'_>,
    values: &BTreeMap<(String, String), u32>,
) -> Option<String> {
    apart(wish).find_map(|(key, most)| {
        if let Some((key, shunned)) = key.split_once('=') {
            let is_shunned = labels.get(key) == Some(shunned);
            return is_shunned.then(|| format!("its label {key} is {shunned:?}"));
        }
        let Some(has) = labels.get(key) else { return Some(format!("it has no label {key}")) };
        let count = values.get(&(key.to_owned(), has.to_owned())).copied().unwrap_or(0);
        (count >= most).then(|| format!("{count} of the replicas have its label {key} {has:?}"))
    })
}

fn rest(free_after: u64) -> String {
    format!("{}.{} % of the pool stay free", free_after / 10, free_after % 10)
}

/// The rule by which a node takes none of its pools.
fn of_node(
    desired: &Desired,
    node: &Node,
    seen: &Seen,
    wish: Wish<'_>,
    now_ms: u64,
) -> Option<String> {
    if !wish.nodes.is_empty() && !wish.nodes.iter().any(|it| it.eq_ignore_ascii_case(&node.name)) {
        return Some("it is not among the nodes that were asked for".to_owned());
    }
    if wish.taken.contains(&node.id) {
        return Some(HAS_REPLICA.to_owned());
    }
    if let Some(other) = with_replica(desired, node, wish.apart_from) {
        return Some(format!("it has a replica of {other:?}, which it is to be apart from"));
    }
    if is_taken_out(&desired.bag(&Owner::Node(node.id))) {
        return Some(format!("its property {TARGET} takes it out"));
    }
    let is_left = |stone: &Tombstone| stone.node == node.id && stone.name == wish.name;
    if desired.tombstones.values().any(is_left) {
        return Some("it has still to take a former volume of this name away".to_owned());
    }
    match seen.heard_ms_ago(node.id, now_ms) {
        None => return Some("its agent did not call since the controller began".to_owned()),
        Some(ago) if !seen.is_online(node.id, now_ms) => {
            return Some(format!("it is offline: its agent called last {} s ago", ago / 1000));
        }
        Some(_) => {}
    }
    seen.problem(node.id).map(|problem| format!("its agent cannot work: {problem}"))
}

/// The first of these volumes that has a replica on a node.
fn with_replica<'a>(desired: &'a Desired, node: &Node, volumes: &[String]) -> Option<&'a str> {
    let volumes = volumes.iter().filter_map(|name| desired.volume_named(name));
    let mut here = volumes.filter(|it| it.replicas().any(|replica| replica.node == node.id));
    here.next().map(|volume| volume.name.as_str())
}

fn is_taken_out(properties: &Properties) -> bool {
    properties.get(TARGET).is_some_and(|value| value.eq_ignore_ascii_case("false"))
}

/// What stays free of a pool with the volume in it, in thousandths; or the rule that refuses it.
fn of_pool(desired: &Desired, pool: &Pool, seen: &Seen, wish: Wish<'_>) -> Result<u64, String> {
    let is_named = wish.pools.iter().any(|name| name.eq_ignore_ascii_case(&pool.name));
    if !wish.pools.is_empty() && !is_named {
        return Err("it is not the pool that was asked for".to_owned());
    }
    if !wish.kinds.is_empty() && !wish.kinds.contains(&pool.kind) {
        return Err("it is of another kind than was asked for".to_owned());
    }
    if is_taken_out(&desired.bag(&Owner::Pool(pool.id))) {
        return Err(format!("its property {TARGET} takes it out"));
    }
    free_after(desired, pool, seen, wish.size_bytes)
}

/// Whether a pool has room for so many bytes more; the candidate that it is not, else.
pub(crate) fn room_for(
    desired: &Desired,
    pool: &Pool,
    seen: &Seen,
    bytes: u64,
) -> Result<(), Candidate> {
    let refused = |rule| {
        let node = desired.nodes.get(&pool.node).map_or_else(String::new, |it| it.name.clone());
        Candidate { node, pool: Some(pool.name.clone()), taken: false, rule }
    };
    free_after(desired, pool, seen, bytes).map(drop).map_err(refused)
}

/// The share of a pool that stays free with so many bytes more in it, in thousandths; or the rule
/// that refuses them.
fn free_after(desired: &Desired, pool: &Pool, seen: &Seen, bytes: u64) -> Result<u64, String> {
    let Some(known) = seen.pool(pool.node, pool.id) else {
        return Err("its agent did not say yet how large it is".to_owned());
    };
    if let Some(problem) = &known.problem {
        return Err(problem.clone());
    }
    // What was promised is kept, though thin volumes do not have it yet.
    let promised = desired.promised_bytes(pool.id);
    let room = known.total_bytes.saturating_sub(promised);
    if bytes > room || bytes > known.free_bytes {
        return Err(format!(
            "no room: {} bytes are asked for, {} are free and {} of {} promised to other volumes",
            bytes, known.free_bytes, promised, known.total_bytes
        ));
    }
    let free_after = u128::from(room - bytes) * 1000 / u128::from(known.total_bytes.max(1));
    Ok(u64::try_from(free_after).expect("a thousand at most"))
}

/// A node that has none of the replicas.
fn witness<'a>(
    desired: &'a Desired,
    seen: &Seen,
    chosen: &[(Uuid, Option<Uuid>)],
    now_ms: u64,
) -> Option<&'a Node> {
    let is_chosen = |node: &Node| chosen.iter().any(|(id, _)| *id == node.id);
    let mut nodes = desired.nodes.values().filter(|node| {
        !is_chosen(node) && seen.is_online(node.id, now_ms) && seen.problem(node.id).is_none()
    });
    nodes.next()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use api::agent::{Observed, ObservedPool};
    use api::cluster::PoolKind;

    use super::*;
    use crate::model::bag::Bag;
    use crate::model::properties::Edit;
    use crate::model::{Change, Object};

    const GIB: u64 = 1 << 30;

    /// A node for each size of a pool.
    fn cluster(pools_gib: &[u64]) -> (Desired, Seen) {
        let (mut desired, mut seen) = (Desired::default(), Seen::default());
        for (index, gib) in (0u8..).zip(pools_gib) {
            let (node, pool) =
                (Uuid::from_u128(index.into()), Uuid::from_u128(100 + u128::from(index)));
            desired.apply(Change::Put(Object::Node(Node {
                id: node,
                name: format!("n{index}"),
                address: Ipv4Addr::new(10, 0, 0, index).into(),
                data_port: 7789,
                nbd: String::new(),
                joined_ms: 0,
            })));
            desired.apply(Change::Put(Object::Pool(Pool {
                id: pool,
                node,
                name: "default".to_owned(),
                kind: PoolKind::FileThin,
                location: "/pool".to_owned(),
            })));
            let (total_bytes, free_bytes) = (gib * GIB, gib * GIB);
            let id = pool.to_string();
            let known = ObservedPool { id, total_bytes, free_bytes, problem: None };
            let observed = Observed { pools: vec![known], ..Observed::default() };
            seen.hear(node, observed, 0);
        }
        (desired, seen)
    }

    fn wish(replicas: u8) -> Wish<'static> {
        Wish { name: "db", size_bytes: GIB, replicas, ..Wish::default() }
    }

    fn nodes(plan: &Plan) -> Vec<u128> {
        plan.placements.as_ref().unwrap().iter().map(|it| it.node.as_u128()).collect()
    }

    #[test]
    fn replicas_go_where_the_largest_share_stays_free() {
        let (desired, seen) = cluster(&[10, 40, 20, 30]);
        let plan = place(&desired, &seen, wish(3), 0);
        assert_eq!(nodes(&plan), [1, 3, 2]);
        assert_eq!(plan.candidates.len(), 4);
        let refused: Vec<_> = plan.candidates.iter().filter(|it| !it.taken).collect();
        assert_eq!(
            (refused[0].node.as_str(), refused[0].rule.as_str()),
            ("n0", "90.0 % of the pool stay free")
        );
    }

    #[test]
    fn even_number_of_replicas_gets_a_witness_where_there_is_a_node_for_it() {
        let (desired, seen) = cluster(&[10, 10, 10]);
        let plan = place(&desired, &seen, wish(2), 0);
        let placements = plan.placements.unwrap();
        assert_eq!(placements.len(), 3);
        assert_eq!(placements[2].pool, None);
        let (desired, seen) = cluster(&[10, 10]);
        assert_eq!(place(&desired, &seen, wish(2), 0).placements.unwrap().len(), 2);
    }

    #[test]
    fn each_pool_that_is_refused_has_the_rule_that_did_it() {
        let (mut desired, mut seen) = cluster(&[10, 10, 10, 10]);
        seen.hear(Uuid::from_u128(1), Observed::default(), 0);
        let problem = Some("no daemon".to_owned());
        seen.hear(Uuid::from_u128(2), Observed { problem, ..Observed::default() }, 0);
        desired.apply(Change::Drop(crate::model::Key::Pool(Uuid::from_u128(103))));
        let large = Wish { size_bytes: 11 * GIB, ..wish(1) };
        let plan = place(&desired, &seen, large, 0);
        assert_eq!(plan.placements, None);
        let rules: Vec<_> = plan.candidates.iter().map(|it| it.rule.as_str()).collect();
        assert!(rules[0].starts_with("no room: 11811160064 bytes"), "{rules:?}");
        assert_eq!(rules[1], "its agent did not say yet how large it is");
        assert_eq!(rules[2], "its agent cannot work: no daemon");
        assert_eq!(rules[3], "it has no pool");
        let late = place(&desired, &seen, wish(1), 60_000);
        assert!(late.candidates[0].rule.contains("called last 60 s ago"), "{late:?}");
    }

    /// Thin volumes that are full at once would stop each other else.
    #[test]
    fn what_is_promised_to_thin_volumes_is_no_room_for_others() {
        let (mut desired, seen) = cluster(&[10]);
        let placement = Placement {
            node: Uuid::from_u128(0),
            node_id: 0,
            pool: Some(Uuid::from_u128(100)),
            since: 0,
            stage: Stage::In,
            cause: Cause::Planned,
        };
        desired.apply(Change::Put(Object::Volume(crate::model::Volume {
            placements: vec![placement],
            ..crate::model::samples::volume("db", 9 * GIB)
        })));
        assert!(place(&desired, &seen, wish(1), 0).placements.is_some());
        let two = Wish { size_bytes: 2 * GIB, ..wish(1) };
        assert!(place(&desired, &seen, two, 0).placements.is_none());
    }

    /// Gives nodes labels: one value for each, in order; none where it is empty.
    fn label(desired: &mut Desired, key: &str, values: &[&str]) {
        for (index, value) in (0u8..).zip(values).filter(|(_, value)| !value.is_empty()) {
            let owner = Owner::Node(Uuid::from_u128(index.into()));
            let properties = desired.bag(&owner).edited(&Edit::put(key, value)).unwrap();
            let bag = Bag { owner, name: String::new(), properties };
            desired.apply(Change::Put(Object::Bag(bag)));
        }
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn replicas_share_a_label_even_where_the_most_room_has_another_value() {
        let (mut desired, seen) = cluster(&[90, 30, 20, 80, 50]);
        label(&mut desired, "Aux/site", &["a", "b", "b", "", "a"]);
        let same = words(&["Aux/site"]);
        let two = Wish { same: &same, ..wish(2) };
        let plan = place(&desired, &seen, two, 0);
        assert_eq!(nodes(&plan)[..2], [0, 4]);
        let rule = |plan: &Plan, node: &str| {
            plan.candidates.iter().find(|it| it.node == node).unwrap().rule.clone()
        };
        assert_eq!(rule(&plan, "n3"), "it has no label Aux/site");
        assert_eq!(rule(&plan, "n1"), "its label Aux/site is \"b\", and the replicas go to \"a\"");
        let same = words(&["Aux/site=b"]);
        let plan = place(&desired, &seen, Wish { same: &same, ..wish(2) }, 0);
        assert_eq!(nodes(&plan)[..2], [1, 2]);
        let same = words(&["Aux/site"]);
        let plan = place(&desired, &seen, Wish { same: &same, ..wish(3) }, 0);
        assert_eq!(plan.placements, None, "no site has three");
    }

    /// The site with the most room has one node, and the next one two.
    #[test]
    fn values_of_a_label_are_tried_until_one_gives_enough_places() {
        let (mut desired, seen) = cluster(&[90, 30, 20]);
        label(&mut desired, "Aux/site", &["a", "b", "b"]);
        let same = words(&["Aux/site"]);
        let plan = place(&desired, &seen, Wish { same: &same, ..wish(2) }, 0);
        assert_eq!(nodes(&plan)[..2], [1, 2]);
    }

    #[test]
    fn replicas_are_kept_apart_by_labels() {
        let (mut desired, seen) = cluster(&[90, 80, 70, 60]);
        label(&mut desired, "Aux/rack", &["a", "a", "b", ""]);
        let different = words(&["Aux/rack"]);
        let plan = place(&desired, &seen, Wish { different: &different, ..wish(2) }, 0);
        assert_eq!(nodes(&plan)[..2], [0, 2]);
        let rules: Vec<_> = plan.candidates.iter().map(|it| it.rule.as_str()).collect();
        assert_eq!(rules[1], "1 of the replicas have its label Aux/rack \"a\"");
        assert_eq!(rules[3], "it has no label Aux/rack");
        let spread = [("Aux/rack".to_owned(), 2)];
        let plan = place(&desired, &seen, Wish { spread: &spread, ..wish(3) }, 0);
        assert_eq!(nodes(&plan), [0, 1, 2]);
        let taken = [Uuid::from_u128(0)];
        let one_more =
            Wish { spread: &spread[..0], different: &different, taken: &taken, ..wish(1) };
        assert_eq!(nodes(&place(&desired, &seen, one_more, 0))[..1], [2], "one is there already");
        let different = words(&["Aux/rack=a"]);
        let plan = place(&desired, &seen, Wish { different: &different, ..wish(2) }, 0);
        assert_eq!(nodes(&plan)[..2], [2, 3]);
    }

    #[test]
    fn replicas_keep_away_from_another_volume_and_from_what_was_taken_out() {
        let (mut desired, seen) = cluster(&[90, 80, 70, 60]);
        label(&mut desired, TARGET, &["", "False"]);
        let placement = Placement {
            node: Uuid::from_u128(0),
            node_id: 0,
            pool: Some(Uuid::from_u128(100)),
            since: 0,
            stage: Stage::In,
            cause: Cause::Planned,
        };
        desired.apply(Change::Put(Object::Volume(crate::model::Volume {
            placements: vec![placement],
            ..crate::model::samples::volume("log", GIB)
        })));
        let apart_from = words(&["LOG", "nosuch"]);
        let plan = place(&desired, &seen, Wish { apart_from: &apart_from, ..wish(1) }, 0);
        assert_eq!(nodes(&plan), [2]);
        let rules: Vec<_> = plan.candidates.iter().map(|it| it.rule.as_str()).collect();
        assert_eq!(rules[0], "it has a replica of \"log\", which it is to be apart from");
        assert_eq!(rules[1], "its property AutoplaceTarget takes it out");
    }
}
