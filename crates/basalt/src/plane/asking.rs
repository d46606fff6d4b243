//! Questions to the controller, over HTTP on this machine.

use std::net::SocketAddr;
use std::time::Duration;

use api::cluster::{OperationState, OperationView};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::plane::Common;
use crate::plane::tables::word;
use crate::plane::trouble::Trouble;

const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Longer than the controller keeps a question.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// One question about an operation is kept for so long.
const WAIT_MS: u64 = 2_000;
/// An operation that takes longer goes on without us.
const OPERATION_MAX: Duration = Duration::from_secs(75);

#[derive(Debug)]
pub(crate) struct Asking {
    agent: ureq::Agent,
    controller: SocketAddr,
}

impl Asking {
    pub(crate) fn of(common: &Common) -> Self {
        Self::at(common.controller)
    }

    pub(crate) fn at(controller: SocketAddr) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT_WITHIN))
            .timeout_global(Some(ANSWER_WITHIN))
            // The body says what was refused.
            .http_status_as_error(false)
            .build();
        Self { agent: config.into(), controller }
    }

    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Trouble> {
        self.read(self.agent.get(self.url(path)).call())
    }

    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Trouble> {
        self.read(self.agent.post(self.url(path)).send_json(body))
    }

    pub(crate) fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, Trouble> {
        self.read(self.agent.delete(self.url(path)).call())
    }

    /// The end of an operation; `progress` hears what it waits for.
    pub(crate) fn wait(
        &self,
        operation: u64,
        mut progress: impl FnMut(&OperationView),
    ) -> Result<OperationView, Trouble> {
        let began = io::clock::now();
        loop {
            let path = format!("operations/{operation}?wait_ms={WAIT_MS}");
            let told: OperationView = self.get(&path)?;
            match told.state {
                OperationState::Done => return Ok(told),
                OperationState::Failed => {
                    let kind = word(&told.kind);
                    return Err(Trouble::Failed { kind, object: told.object, reason: told.told });
                }
                OperationState::Running => progress(&told),
            }
            if io::clock::now() > began + OPERATION_MAX {
                return Err(Trouble::Unfinished { operation, told: told.told });
            }
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}/basalt/v1/{path}", self.controller)
    }

    fn read<T: DeserializeOwned>(
        &self,
        answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<T, Trouble> {
        let unreachable = |error: ureq::Error| Trouble::Unreachable {
            controller: self.controller,
            reason: error.to_string(),
        };
        let mut answer = answer.map_err(unreachable)?;
        let is_fine = answer.status().is_success();
        let text = answer.body_mut().read_to_string().map_err(unreachable)?;
        let not_understood =
            |error: serde_json::Error| Trouble::NotUnderstood { reason: error.to_string() };
        if is_fine {
            return serde_json::from_str(&text).map_err(not_understood);
        }
        Err(Trouble::Refused(serde_json::from_str(&text).map_err(not_understood)?))
    }
}

/// A name as a part of a URL: what the controller refuses, it is to refuse by its own rule.
pub(crate) fn encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let one = |byte: u8| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    name.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_reach_the_controller_as_they_were_typed() {
        assert_eq!(encoded("db-1_a.b"), "db-1_a.b");
        assert_eq!(encoded("a/../b?c#d %"), "a%2F..%2Fb%3Fc%23d%20%25");
    }
}
