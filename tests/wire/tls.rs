//! Certificates, against a TLS server of our own whose certificate nobody signed.

use crate::hints::{collect, finish, merged, text};
use crate::sse_model::Chat;
use mcpane::domain::model::FinishReason::Stop;
use mcpane::domain::model::{ModelErrorKind, Request};
use mcpane::provider::catalog::{Catalog, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

const URL: &str = "MCPANE_TEST_TLS_URL";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

/// Answers every connection with the same short reply. Returns its base URL.
async fn server() -> String {
    let certificate = CertificateDer::from_pem_file(fixture("cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(fixture("key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            // A client that does not trust us leaves during the handshake.
            let Ok(mut socket) = acceptor.accept(socket).await else { continue };
            let _ = socket.read(&mut [0; 4096]).await;
            let body = Chat::new().text("safe").finish("stop").bytes();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = socket.write_all(&[head.into_bytes(), body].concat()).await;
            let _ = socket.shutdown().await;
        }
    });
    format!("https://{address}/v1")
}

fn provider(base_url: String) -> Arc<dyn mcpane::provider::Provider> {
    let options = OpenOptions { base_url: Some(base_url), ..OpenOptions::default() };
    Catalog::built_in().open("openai:m", &options).unwrap()
}

#[tokio::test]
async fn an_unknown_certificate_is_refused_and_said_so() {
    let error = provider(server().await).stream(Request::default()).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Certificate, "{}", error.message);
    assert!(!error.kind.is_retryable());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_speak_tls_is_no_question_of_certificates() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    // Trust has to be there already, so that only the handshake can fail: see `child`.
    let output = child(&url);
    assert!(output.contains("kind: Network"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ssl_cert_file_is_honoured() {
    let output = child(&server().await);
    assert!(output.contains("1 passed"), "{output}");
}

/// Certificates are read once in a process, so the test runs itself in another one.
fn child(url: &str) -> String {
    let run = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tls::with_our_certificate_trusted", "--nocapture"])
            .env("SSL_CERT_FILE", fixture("cert.pem"))
            .env(URL, url)
            .output()
            .unwrap()
    };
    // The server answers from this runtime.
    let output = tokio::task::block_in_place(run);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Not a test by itself: the others run it in a process of its own, because the trusted certificates are read from the environment once.
#[tokio::test]
async fn with_our_certificate_trusted() {
    let Ok(url) = std::env::var(URL) else { return };
    match provider(url).stream(Request::default()).await {
        Ok(stream) => {
            let (events, error) = collect(stream).await;
            assert_eq!((merged(&events), error), (vec![text("safe"), finish(Stop)], None));
        }
        Err(error) => panic!("kind: {:?} {}", error.kind, error.message),
    }
}
