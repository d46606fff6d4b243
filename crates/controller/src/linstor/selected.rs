//! Which objects of a list are shown: those that the query names.

use serde_json::Value;

use crate::linstor::reading::Asked;
use crate::model::properties::Properties;

/// A list without a length: `limit=0`.
const ALL: usize = 0;

/// Whether a name is among those of a key of the query; where none is named, each is.
pub(crate) fn is_named(asked: &Asked, key: &str, name: &str) -> bool {
    let names = asked.list(key);
    names.is_empty() || names.iter().any(|it| it.eq_ignore_ascii_case(name))
}

/// Each `KEY` and `KEY=VALUE` of the query is to be there.
pub(crate) fn has_properties(asked: &Asked, properties: &Properties) -> bool {
    asked.list("props").iter().all(|wanted| match wanted.split_once('=') {
        None => properties.get(wanted).is_some(),
        Some((key, value)) => properties.get(key) == Some(value),
    })
}

/// The offset counts only where there is a limit.
pub(crate) fn page(asked: &Asked, all: Vec<Value>) -> Vec<Value> {
    let number = |key| asked.list(key).first().and_then(|text| text.parse().ok()).unwrap_or(ALL);
    match number("limit") {
        ALL => all,
        limit => all.into_iter().skip(number("offset")).take(limit).collect(),
    }
}
