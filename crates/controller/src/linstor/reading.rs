//! Requests are read as LINSTOR's clients write them: numbers may stand in quotes, `null` is as
//! good as nothing, words may have any case, and what is not known is passed over.

use std::collections::BTreeMap;

use axum::body::to_bytes;
use axum::extract::{FromRequest, RawPathParams, Request};
use axum::http::Method;
use axum::response::IntoResponse as _;
use axum::{RequestExt as _, response::Response};
use serde_json::{Map, Value};

use crate::linstor::answer::Subject;
use crate::linstor::codes::{Thing, Verb};
use crate::model::group::Filter;
use crate::model::properties::Edit;
use crate::native::BODY_BYTES_MAX;
use crate::refusal::Refusal;

/// Pairs of a query that are read.
const QUERY_MAX: usize = 1000;

/// A request, in pieces.
#[derive(Debug)]
pub(crate) struct Asked {
    path: BTreeMap<String, String>,
    query: Vec<(String, String)>,
    route: String,
    pub(crate) body: Vec<u8>,
}

impl<S: Send + Sync> FromRequest<S> for Asked {
    type Rejection = Response;

    async fn from_request(mut request: Request, _: &S) -> Result<Self, Response> {
        let verb = match *request.method() {
            Method::POST => Verb::Create,
            Method::PUT | Method::PATCH => Verb::Modify,
            Method::DELETE => Verb::Delete,
            _ => Verb::Show,
        };
        let refuse = |reason: &str| {
            let refusal = Refusal::BadJson { reason: reason.to_owned() };
            Subject::new(verb, Thing::Nothing).refusal(&refusal).into_response()
        };
        let query = pairs(request.uri().query().unwrap_or_default());
        let route = request.uri().path().to_owned();
        let Ok(path) = request.extract_parts::<RawPathParams>().await else {
            return Err(refuse("the path is no text"));
        };
        let path = path.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let Ok(body) = to_bytes(request.into_body(), BODY_BYTES_MAX).await else {
            return Err(refuse(&format!("its body has more than {BODY_BYTES_MAX} bytes")));
        };
        Ok(Self { path, query, route, body: body.into() })
    }
}

/// The body of a request that is answered without it. What is not read ends the connection, and
/// some clients do not connect again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drained;

impl<S: Send + Sync> FromRequest<S> for Drained {
    type Rejection = Response;

    async fn from_request(request: Request, _: &S) -> Result<Self, Response> {
        // Of a body that is too long the connection ends.
        drop(to_bytes(request.into_body(), BODY_BYTES_MAX).await);
        Ok(Self)
    }
}

fn pairs(query: &str) -> Vec<(String, String)> {
    let parts = query.split('&').filter(|part| !part.is_empty()).take(QUERY_MAX);
    let pair = |part: &str| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        (decoded(key), decoded(value))
    };
    parts.map(pair).collect()
}

/// `%` and two digits are a byte, `+` is a space.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|it| std::str::from_utf8(it).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                plain.push(code);
                at += 2;
            }
            (b'+', _) => plain.push(b' '),
            (other, _) => plain.push(*other),
        }
        at += 1;
    }
    String::from_utf8_lossy(&plain).into_owned()
}

impl Asked {
    /// A part of the path; the router has it whenever the request comes here.
    pub(crate) fn path(&self, key: &str) -> &str {
        self.path.get(key).map_or("", String::as_str)
    }

    pub(crate) fn number(&self, key: &str) -> Result<u16, Refusal> {
        let text = self.path(key);
        let parsed = text.parse::<u16>().ok();
        let value = || text.chars().take(32).collect();
        parsed.ok_or_else(|| Refusal::BadValue { what: "number of a volume", value: value() })
    }

    /// Whether the path has these parts in a row.
    pub(crate) fn has_parts(&self, parts: &str) -> bool {
        self.route.contains(parts)
    }

    /// All values of a key, which is repeated or has commas.
    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        let values = self.query.iter().filter(|(it, _)| it == key);
        let split = values.flat_map(|(_, value)| value.split(','));
        split.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        let value = self.query.iter().find(|(it, _)| it == key).map(|(_, value)| value.as_str());
        value.is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
    }

    /// The body as an object; none at all is an empty one.
    pub(crate) fn fields(&self) -> Result<Fields, Refusal> {
        match self.value()? {
            None | Some(Value::Null) => Ok(Fields::default()),
            Some(Value::Object(map)) => Ok(Fields { at: String::new(), map }),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                Err(bad("the body", "an object"))
            }
        }
    }

    /// The body as a list of objects; a single one is a list of one.
    pub(crate) fn each(&self) -> Result<Vec<Fields>, Refusal> {
        let list = match self.value()? {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
        };
        let fields = |value| {
            let Value::Object(map) = value else {
                return Err(bad("an element of the body", "an object"));
            };
            Ok(Fields { at: String::new(), map })
        };
        list.into_iter().map(fields).collect()
    }

    fn value(&self) -> Result<Option<Value>, Refusal> {
        if self.body.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let read = serde_json::from_slice(&self.body);
        read.map_err(|error| Refusal::BadJson { reason: error.to_string() })
    }
}

fn bad(what: &str, wanted: &str) -> Refusal {
    Refusal::BadJson { reason: format!("{what} is not {wanted}") }
}

/// An object of JSON, with where it stands in the body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    at: String,
    map: Map<String, Value>,
}

impl Fields {
    fn get(&self, key: &str) -> Option<&Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn name(&self, key: &str) -> String {
        if self.at.is_empty() { key.to_owned() } else { format!("{}.{key}", self.at) }
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, Refusal> {
        self.get(key).map(|value| self.word(key, value)).transpose()
    }

    fn word(&self, key: &str, value: &Value) -> Result<String, Refusal> {
        match value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(flag) => Ok(flag.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => Err(bad(&self.name(key), "a text")),
        }
    }

    /// With a sentence of what is missing.
    pub(crate) fn needed(&self, key: &str) -> Result<String, Refusal> {
        let told = self.text(key)?;
        told.ok_or_else(|| Refusal::BadJson { reason: format!("{} is missing", self.name(key)) })
    }

    pub(crate) fn integer<T: TryFrom<i64>>(&self, key: &str) -> Result<Option<T>, Refusal> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let number = number.and_then(|number| T::try_from(number).ok());
        let wrong = || bad(&self.name(key), "a whole number of that size");
        number.map(Some).ok_or_else(wrong)
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, Refusal> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(_) => Err(bad(&self.name(key), "true or false")),
        }
    }

    /// A single text is a list of one.
    pub(crate) fn list(&self, key: &str) -> Result<Option<Vec<String>>, Refusal> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Array(list)) => {
                list.iter().map(|value| self.word(key, value)).collect::<Result<_, _>>().map(Some)
            }
            Some(one) => Ok(Some(vec![self.word(key, one)?])),
        }
    }

    pub(crate) fn map(&self, key: &str) -> Result<Option<BTreeMap<String, String>>, Refusal> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Object(map)) => {
                let inner = Self { at: self.name(key), map: map.clone() };
                let pair = |key: &String| Ok((key.clone(), inner.text(key)?.unwrap_or_default()));
                map.keys().map(pair).collect::<Result<_, _>>().map(Some)
            }
            Some(_) => Err(bad(&self.name(key), "an object")),
        }
    }

    /// An empty one where there is none.
    pub(crate) fn object(&self, key: &str) -> Result<Self, Refusal> {
        match self.get(key) {
            None => Ok(Self { at: self.name(key), map: Map::new() }),
            Some(Value::Object(map)) => Ok(Self { at: self.name(key), map: map.clone() }),
            Some(_) => Err(bad(&self.name(key), "an object")),
        }
    }

    pub(crate) fn objects(&self, key: &str) -> Result<Vec<Self>, Refusal> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(list)) => {
                let one = |value: &Value| {
                    let map = value.as_object().cloned();
                    let map = map.ok_or_else(|| bad(&self.name(key), "a list of objects"))?;
                    Ok(Self { at: self.name(key), map })
                };
                list.iter().map(one).collect()
            }
            Some(_) => Err(bad(&self.name(key), "a list of objects")),
        }
    }

    /// Properties of a new object.
    pub(crate) fn properties(&self) -> Result<Edit, Refusal> {
        Ok(Edit { put: self.map("props")?.unwrap_or_default(), ..Edit::default() })
    }

    /// The changes of the properties of an object.
    pub(crate) fn edit(&self) -> Result<Edit, Refusal> {
        Ok(Edit {
            put: self.map("override_props")?.unwrap_or_default(),
            drop: self.list("delete_props")?.unwrap_or_default(),
            drop_below: self.list("delete_namespaces")?.unwrap_or_default(),
        })
    }

    /// One pool is a list of one.
    pub(crate) fn filter(&self, key: &str) -> Result<Filter, Refusal> {
        let it = self.object(key)?;
        let pools = match (it.list("storage_pool_list")?, it.text("storage_pool")?) {
            (None, Some(pool)) if !pool.is_empty() => Some(vec![pool]),
            (list, _) => list,
        };
        let spread = it.object("x_replicas_on_different_map")?;
        let counts = spread.map.keys().map(|key| Ok((key.clone(), spread.integer(key)?)));
        let counts = counts.collect::<Result<Vec<(String, Option<u32>)>, Refusal>>()?;
        let counts = counts.into_iter().filter_map(|(key, count)| Some((key, count?))).collect();
        let ratio = it.get("overprovision").and_then(|value| match value {
            Value::Number(number) => Some(number.clone()),
            Value::String(text) => text.parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        });
        Ok(Filter {
            place_count: it.integer("place_count")?,
            additional_place_count: it.integer("additional_place_count")?,
            node_name_list: it.list("node_name_list")?,
            storage_pool_list: pools,
            storage_pool_diskless_list: it.list("storage_pool_diskless_list")?,
            not_place_with_rsc: it.list("not_place_with_rsc")?,
            not_place_with_rsc_regex: it.text("not_place_with_rsc_regex")?,
            replicas_on_same: it.list("replicas_on_same")?,
            replicas_on_different: it.list("replicas_on_different")?,
            x_replicas_on_different_map: it
                .get("x_replicas_on_different_map")
                .is_some()
                .then_some(counts),
            layer_stack: it.list("layer_stack")?,
            provider_list: it.list("provider_list")?,
            diskless_on_remaining: it.flag("diskless_on_remaining")?,
            diskless_type: it.text("diskless_type")?,
            overprovision: ratio,
            port_count: it.integer("port_count")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Fields {
        let (path, query) = (BTreeMap::new(), Vec::new());
        Asked { path, query, route: String::new(), body: text.as_bytes().to_vec() }
            .fields()
            .unwrap()
    }

    #[test]
    fn values_are_read_as_clients_write_them() {
        let it = fields(
            r#"{"count": "2", "size": 7, "none": null, "empty": "", "yes": "True", "on": true,
                "one": "a", "many": ["a", 1], "map": {"k": "v", "n": 5, "z": null}, "x": {}}"#,
        );
        assert_eq!(it.integer::<u32>("count"), Ok(Some(2)));
        assert_eq!(it.integer::<u64>("size"), Ok(Some(7)));
        for key in ["none", "nowhere", "empty"] {
            assert_eq!(it.integer::<u32>(key), Ok(None), "{key}");
        }
        assert_eq!((it.flag("yes"), it.flag("on")), (Ok(Some(true)), Ok(Some(true))));
        assert_eq!(it.flag("none"), Ok(None));
        assert_eq!(it.list("one"), Ok(Some(vec!["a".to_owned()])));
        assert_eq!(it.list("many"), Ok(Some(vec!["a".to_owned(), "1".to_owned()])));
        let map = it.map("map").unwrap().unwrap();
        assert_eq!((map["k"].as_str(), map["n"].as_str(), map["z"].as_str()), ("v", "5", ""));
        for refused in [
            it.integer::<u32>("map").unwrap_err(),
            it.integer::<u32>("one").unwrap_err(),
            it.flag("size").map(drop).unwrap_err(),
            it.map("one").map(drop).unwrap_err(),
            it.text("x").map(drop).unwrap_err(),
            it.needed("nowhere").map(drop).unwrap_err(),
            fields(r#"{"size": -1}"#).integer::<u32>("size").unwrap_err(),
        ] {
            assert!(matches!(refused, Refusal::BadJson { .. }), "{refused}");
        }
    }

    #[test]
    fn query_has_repeated_keys_commas_and_codes() {
        let query = pairs("nodes=n1&nodes=n2,n3&props=Aux%2Fa%3Db&cached=true&x=%zz&y=a+b&&z");
        let asked = Asked { path: BTreeMap::new(), query, route: String::new(), body: Vec::new() };
        assert_eq!(asked.list("nodes"), ["n1", "n2", "n3"]);
        assert_eq!(asked.list("props"), ["Aux/a=b"]);
        assert!(asked.flag("cached") && !asked.flag("nodes"));
        assert_eq!((asked.list("x"), asked.list("y")), (vec!["%zz".into()], vec!["a b".into()]));
    }

    #[test]
    fn filter_takes_one_pool_and_counts_in_quotes() {
        let it = fields(
            r#"{"select_filter": {"place_count": "2", "storage_pool": "fast",
                "x_replicas_on_different_map": {"Aux/rack": "2"}, "nothing_known": 1}}"#,
        );
        let filter = it.filter("select_filter").unwrap();
        assert_eq!(filter.place_count, Some(2));
        assert_eq!(filter.storage_pool_list, Some(vec!["fast".to_owned()]));
        assert_eq!(filter.x_replicas_on_different_map.unwrap()["Aux/rack"], 2);
        assert_eq!(fields("{}").filter("select_filter"), Ok(Filter::default()));
    }
}
