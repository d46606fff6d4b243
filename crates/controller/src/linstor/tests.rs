//! The contract with LINSTOR's clients, over HTTP: the status, the number of the first entry and
//! the names in it, of each request in each state of what it is about.

mod contract;
mod python;

use serde_json::Value;

use crate::linstor::codes::{Kind, Thing};
use crate::pretended::Cluster;

/// Of a first entry: its kind, its object and its code.
type Told = (Kind, Thing, u16);

fn read(entry: &Value) -> (i64, i64, i64) {
    let number = entry["ret_code"].as_i64().unwrap_or_else(|| panic!("no number: {entry}"));
    (number >> 62 & 3, number >> 18 & 0x1F, number & 0x7FFF)
}

fn numbers((kind, thing, code): Told) -> (i64, i64, i64) {
    let number =
        crate::linstor::codes::number(kind, crate::linstor::codes::Verb::Show, thing, code);
    (number >> 62 & 3, number >> 18 & 0x1F, i64::from(code))
}

impl Cluster {
    /// Asks, and compares the status, the first entry and the names in it; the answer is for more.
    #[track_caller]
    fn expect(
        &self,
        (method, path, body): (&str, &str, &str),
        (status, told): (u16, Told),
        refs: &[(&str, &str)],
    ) -> Value {
        let (seen, answer) = self.ask(method, path, body);
        let what = format!("{method} {path} {body}: {answer}");
        assert_eq!(seen, status, "{what}");
        let entries = answer.as_array().unwrap_or_else(|| panic!("no list: {what}"));
        assert_eq!(read(&entries[0]), numbers(told), "{what}");
        for (key, name) in refs {
            assert_eq!(entries[0]["obj_refs"][key], *name, "{what}");
        }
        // Where the number says error the status does, too, and the other way round.
        let is_error = |entry: &Value| read(entry).0 == 3;
        assert_eq!(entries.iter().any(is_error), status >= 400, "{what}");
        answer
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, "");
        assert_eq!(status, 200, "GET {path}: {answer}");
        answer
    }
}
