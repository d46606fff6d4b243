//! A line to the controller: HTTP over TLS, one connection that is made anew when it breaks.

use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use hyper::{Method, Request, header};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use api::cluster::ApiError;

/// The controller in its certificate, wherever it is.
pub(crate) const CONTROLLER_NAME: &str = "controller.basalt";
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Longer than the controller keeps a question.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
const ANSWER_BYTES_MAX: usize = 16 << 20;

#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error("cannot reach the controller at {controller}: {source}")]
    Unreachable { controller: String, source: Error },
    #[error("the controller at {controller} gave no answer within {} s", ANSWER_WITHIN.as_secs())]
    Silent { controller: String },
    #[error("the connection to the controller at {controller} broke: {reason}")]
    Broken { controller: String, reason: String },
    #[error("{} ({})", .0.message, .0.to_try)]
    Refused(ApiError),
    #[error("the controller at {controller} answered what this agent cannot read: {reason}")]
    NotUnderstood { controller: String, reason: String },
}

pub(crate) struct Line {
    /// HOST:PORT
    controller: String,
    tls: TlsConnector,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("controller", &self.controller).finish_non_exhaustive()
    }
}

impl Line {
    pub(crate) fn new(controller: &str, tls: Arc<ClientConfig>) -> Self {
        Self { controller: controller.to_owned(), tls: TlsConnector::from(tls), sender: None }
    }

    pub(crate) async fn get<T: DeserializeOwned>(&mut self, path: &str) -> Result<T, LineError> {
        self.ask(Method::GET, path, Bytes::new()).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, LineError> {
        let body = serde_json::to_vec(body).expect("messages are made of strings and numbers");
        self.ask(Method::POST, path, body.into()).await
    }

    /// What went wrong once ends the connection: the next question makes a new one.
    async fn ask<T: DeserializeOwned>(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<T, LineError> {
        let mut sender = match self.sender.take().filter(|sender| !sender.is_closed()) {
            Some(sender) => sender,
            None => self.connect().await?,
        };
        let broken =
            |reason: String| LineError::Broken { controller: self.controller.clone(), reason };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, CONTROLLER_NAME)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|error| broken(error.to_string()))?;
        let exchange = async {
            // A connection takes the next question a moment after the last answer was read.
            sender.ready().await.map_err(|it| broken(it.to_string()))?;
            let answer = sender.send_request(request).await.map_err(|it| broken(it.to_string()))?;
            let is_fine = answer.status().is_success();
            let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
            let bytes = body.map_err(|error| broken(error.to_string()))?.to_bytes();
            Ok((is_fine, bytes))
        };
        let silent = |_late| LineError::Silent { controller: self.controller.clone() };
        let (is_fine, bytes) = timeout(ANSWER_WITHIN, exchange).await.map_err(silent)??;
        self.sender = Some(sender);
        let not_understood = |error: serde_json::Error| LineError::NotUnderstood {
            controller: self.controller.clone(),
            reason: error.to_string(),
        };
        if !is_fine {
            return Err(LineError::Refused(
                serde_json::from_slice(&bytes).map_err(not_understood)?,
            ));
        }
        serde_json::from_slice(&bytes).map_err(not_understood)
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, LineError> {
        let unreachable =
            |source| LineError::Unreachable { controller: self.controller.clone(), source };
        let name = ServerName::try_from(CONTROLLER_NAME).expect("it is a name");
        let stream = timeout(CONNECT_WITHIN, async {
            let stream = TcpStream::connect(&self.controller).await?;
            stream.set_nodelay(true)?;
            self.tls.connect(name, stream).await
        });
        let late = |_late| unreachable(ErrorKind::TimedOut.into());
        let stream = stream.await.map_err(late)?.map_err(unreachable)?;
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) =
            handshake.map_err(|error| unreachable(Error::other(error.to_string())))?;
        // It ends with the connection; what went wrong the question hears.
        tokio::spawn(async move { drop(connection.await) });
        Ok(sender)
    }
}
