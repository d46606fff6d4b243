//! A search through all states of a model: what breaks first, by the shortest way.

use std::fmt::Debug;
use std::hash::Hash;

use stateright::{Checker as _, Expectation, HasDiscoveries, Model};

/// What came of a search.
#[derive(Clone, Debug)]
pub struct Finding {
    /// States that were seen; all of them, if nothing broke.
    pub states: usize,
    /// The broken property, and the actions that lead there.
    pub broken: Option<(&'static str, Vec<String>)>,
    /// What a property says is to happen sometimes, and never did.
    pub unreached: Vec<&'static str>,
}

impl Finding {
    /// Nothing broke, and everything that is to be possible was seen.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.broken.is_none() && self.unreached.is_empty()
    }
}

/// Breadth first, in one thread: so the way to what breaks is one of the shortest.
pub fn search<M>(model: M) -> Finding
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync + 'static,
    M::Action: Clone + Debug + PartialEq + Send + Sync,
{
    let properties: Vec<(Expectation, &'static str)> =
        model.properties().into_iter().map(|it| (it.expectation, it.name)).collect();
    let checker =
        model.checker().threads(1).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let found = checker.discoveries();
    let is_always = |name: &str| {
        properties.iter().any(|(kind, known)| *kind == Expectation::Always && *known == name)
    };
    let broken = found.iter().find(|(name, _)| is_always(name)).map(|(&name, path)| {
        let actions = path.clone().into_actions();
        (name, actions.iter().map(|action| format!("{action:?}")).collect())
    });
    let unreached = properties
        .iter()
        .filter(|(kind, name)| *kind == Expectation::Sometimes && !found.contains_key(name))
        .map(|&(_, name)| name)
        .collect();
    Finding { states: checker.unique_state_count(), broken, unreached }
}
