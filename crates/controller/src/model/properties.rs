//! Properties: words that people and their tools keep with an object, verbatim and bounded. A few
//! of them say something to the controller; it looks those up by their names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Of one object.
pub(crate) const COUNT_MAX: usize = 512;
pub(crate) const KEY_BYTES_MAX: usize = 256;
pub(crate) const VALUE_BYTES_MAX: usize = 16 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Properties(BTreeMap<String, String>);

/// An edit of the properties of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) put: BTreeMap<String, String>,
    pub(crate) drop: Vec<String>,
    /// All keys below each of these.
    pub(crate) drop_below: Vec<String>,
}

impl Edit {
    pub(crate) fn is_empty(&self) -> bool {
        self.put.is_empty() && self.drop.is_empty() && self.drop_below.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn put(key: &str, value: &str) -> Self {
        let put = BTreeMap::from([(key.to_owned(), value.to_owned())]);
        Self { put, ..Self::default() }
    }
}

impl Properties {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub(crate) fn all(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// Of two pairs with the same key the more specific one counts.
    pub(crate) fn over(&self, base: &Self) -> Self {
        let mut all = base.0.clone();
        all.extend(self.0.iter().map(|(key, value)| (key.clone(), value.clone())));
        Self(all)
    }

    /// An edit drops keys first, so that a key that it also puts is there after it. The error is a
    /// sentence that says which bound the edit breaks.
    pub(crate) fn edited(&self, edit: &Edit) -> Result<Self, String> {
        let mut all = self.0.clone();
        for key in &edit.drop {
            all.remove(plain(key));
        }
        for space in &edit.drop_below {
            let space = plain(space).trim_end_matches('/');
            let is_below = |key: &str| {
                key.strip_prefix(space).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            all.retain(|key, _| !is_below(key));
        }
        for (key, value) in &edit.put {
            let key = plain(key);
            if key.is_empty() || key.len() > KEY_BYTES_MAX || key.contains(char::is_control) {
                return Err(format!(
                    "a key has 1 to {KEY_BYTES_MAX} bytes, none of them a control"
                ));
            }
            if value.len() > VALUE_BYTES_MAX || value.contains('\0') {
                return Err(format!(
                    "the value of {key:?} has more than {VALUE_BYTES_MAX} bytes, or a zero in it"
                ));
            }
            all.insert(key.to_owned(), value.clone());
        }
        if all.len() > COUNT_MAX {
            return Err(format!("an object has {COUNT_MAX} of them at most"));
        }
        Ok(Self(all))
    }
}

/// Some clients begin each key with a slash, and expect it without one.
fn plain(key: &str) -> &str {
    key.trim_start_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(pairs: &[(&str, &str)]) -> Properties {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Properties(pairs.iter().map(owned).collect())
    }

    #[test]
    fn edit_keeps_what_it_does_not_name() {
        let old = properties(&[("Aux/a", "1"), ("Aux/b", "2"), ("Auxiliary", "3"), ("c", "4")]);
        let mut edit = Edit::put("/Aux/a", "5");
        edit.drop.push("/c".to_owned());
        let edited = old.edited(&edit).unwrap();
        assert_eq!(edited, properties(&[("Aux/a", "5"), ("Aux/b", "2"), ("Auxiliary", "3")]));
        edit.drop_below.push("Aux/".to_owned());
        assert_eq!(old.edited(&edit).unwrap(), properties(&[("Aux/a", "5"), ("Auxiliary", "3")]));
    }

    #[test]
    fn edit_out_of_bounds_is_refused_and_says_which() {
        let old = Properties::default();
        for key in ["", "/", "a\nb", &"k".repeat(KEY_BYTES_MAX + 1)] {
            assert!(old.edited(&Edit::put(key, "v")).unwrap_err().contains("a key"), "{key:?}");
        }
        let long = "v".repeat(VALUE_BYTES_MAX + 1);
        assert!(old.edited(&Edit::put("k", &long)).unwrap_err().contains("\"k\""));
        assert!(old.edited(&Edit::put("k", "a\0b")).unwrap_err().contains("a zero"));
        let many = (0..=COUNT_MAX).map(|at| (at.to_string(), String::new())).collect();
        let many = Edit { put: many, ..Edit::default() };
        assert!(old.edited(&many).unwrap_err().contains("512 of them"));
    }
}
