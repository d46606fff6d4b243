//! The two listeners: clear text for this machine's people and tools, TLS for agents.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ServerConfig, WebPkiClientVerifier};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::agents::Speaker;
use crate::authority::{Authority, node_of};
use crate::{ControllerError, tell};

/// Connections that are served at a time, of each listener.
const CONNECTIONS_MAX: usize = 1024;
/// A connection has to say who it is within this.
const GREETING_MAX: Duration = Duration::from_secs(10);
/// A request has to be there within this, from its first byte.
const HEADER_MAX: Duration = Duration::from_secs(30);

pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener, ControllerError> {
    TcpListener::bind(address).await.map_err(|source| ControllerError::Listen { address, source })
}

/// Who shows a certificate shows one of the cluster's; who shows none is served, too.
pub(crate) fn tls(authority: &Authority) -> Result<TlsAcceptor, ControllerError> {
    let wrong = |error: &dyn std::fmt::Display| ControllerError::Tls(error.to_string());
    let identity = authority.controller().map_err(|error| wrong(&error))?;
    let der = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes());
    let root = der(&authority.certificate).map_err(|error| wrong(&error))?;
    let own = der(&identity.certificate).map_err(|error| wrong(&error))?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes());
    let key = key.map_err(|error| wrong(&error))?;
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).map_err(|error| wrong(&error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| wrong(&error))?;
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| wrong(&error))?
        .with_client_cert_verifier(verifier)
        // The authority goes along: who joins knows it by its fingerprint alone.
        .with_single_cert(vec![own, root], key)
        .map_err(|error| wrong(&error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Serves until the task ends.
pub(crate) async fn serve(listener: TcpListener, router: Router, tls: Option<TlsAcceptor>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tell(&format!("cannot take a connection: {error}"));
                // Of files, say: they come back.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let (router, tls) = (router.clone(), tls.clone());
        tokio::spawn(async move {
            let _place = place;
            if let Err(error) = serve_one(stream, router, tls).await {
                tell(&format!("{peer}: {error}"));
            }
        });
    }
}

async fn serve_one(
    stream: TcpStream,
    router: Router,
    tls: Option<TlsAcceptor>,
) -> Result<(), String> {
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_MAX);
    let Some(tls) = tls else {
        let service = TowerToHyperService::new(router);
        let served = http.serve_connection(TokioIo::new(stream), service).await;
        // Whoever asks may go at any time.
        drop(served);
        return Ok(());
    };
    let greeted = tokio::time::timeout(GREETING_MAX, tls.accept(stream)).await;
    let stream = match greeted {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(format!("no TLS: {error}")),
        Err(_late) => return Err(format!("no TLS within {} s", GREETING_MAX.as_secs())),
    };
    let certificate = stream.get_ref().1.peer_certificates().and_then(|all| all.first());
    let speaker = Speaker(certificate.and_then(node_of));
    let service = TowerToHyperService::new(router.layer(Extension(speaker)));
    drop(http.serve_connection(TokioIo::new(stream), service).await);
    Ok(())
}
