//! The JSON Schema of what is said over the admin socket, for readers in other languages.
//!
//! Made from the types and their comments; docs/admin-socket.schema.json is what this makes. The
//! product itself carries none of it.

use std::path::Path;

use schemars::JsonSchema;

use crate::request::Request;
use crate::response::Response;
use crate::subscription::{Update, Wish};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/admin-socket.schema.json");
/// Has the test write the file.
const WRITE: &str = "BASALT_WRITE_SCHEMA";

/// The lines over the admin socket of a node: each side says its own, in this order.
#[derive(JsonSchema)]
#[schemars(title = "The admin socket of a Basalt node")]
#[expect(dead_code, reason = "its form is looked at")]
struct AdminSocket {
    /// The first line, of the tool.
    request: Request,
    /// The second line, of the daemon.
    response: Response,
    /// Each further line of the daemon, after `events`.
    update: Update,
    /// Each further line of the tool, after `events`.
    wish: Wish,
}

#[test]
fn schema_in_docs_is_current() {
    let schema = schemars::schema_for!(AdminSocket);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(FILE, &text).unwrap();
    }
    let kept = std::fs::read_to_string(Path::new(FILE)).unwrap_or_default();
    let advice = format!("run `{WRITE}=1 cargo test -p api schema` and commit what changes");
    assert!(kept == text, "docs/admin-socket.schema.json is not what the types are: {advice}");
}
