//! `SSL_CERT_FILE`, `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, against a TLS server and a proxy of our own. They are read once in a process, so each case
//! runs this test program again with its own.

use crate::rig::{Rig, entry, reason};
use mcpane::domain::server::{ServerState, Timeouts, Transport};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

const URL: &str = "MCPANE_TEST_MCP_URL";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

/// TLS in front of a server on this machine; its port.
async fn tls(port: u16) -> u16 {
    let certificate = CertificateDer::from_pem_file(file("cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut socket) = acceptor.accept(socket).await else { return };
                let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let _ = copy_bidirectional(&mut socket, &mut server).await;
            });
        }
    });
    own
}

/// A proxy that connects to whatever it is asked for; its address and how often it was asked.
async fn proxy() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let mut client = BufReader::new(socket);
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    client.read_until(b'\n', &mut head).await.unwrap();
                }
                let head = String::from_utf8(head).unwrap();
                let target = head.strip_prefix("CONNECT ").and_then(|rest| rest.split(' ').next()).unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                let mut server = TcpStream::connect(target).await.unwrap();
                client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (url, asked)
}

/// What became of a server at `url` in these surroundings: `ready`, or the state and the reason.
async fn child(url: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "surroundings::in_these_surroundings", "--nocapture"]).env(URL, url);
    for name in
        ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"]
    {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let output = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let line = output.lines().find_map(|line| line.strip_prefix("became "));
    line.unwrap_or_else(|| panic!("{output}")).to_owned()
}

#[tokio::test]
async fn certificates_are_those_of_ssl_cert_file() {
    let rig = Rig::new();
    let web = rig.web("s", &[], &[]);
    let url = format!("https://localhost:{}/mcp", tls(web.port()).await);
    let cert = file("cert.pem").display().to_string();
    assert_eq!(child(&url, &[("SSL_CERT_FILE", &cert)]).await, "ready");
    let became = child(&url, &[]).await;
    assert!(became.starts_with("StartFailed") && became.contains("is not trusted"), "{became}");
}

#[tokio::test]
async fn proxies_are_those_of_the_environment_and_not_used_where_it_says_so() {
    let rig = Rig::new();
    let web = rig.web("s", &[], &[]);
    let url = format!("https://localhost:{}/mcp", tls(web.port()).await);
    let cert = file("cert.pem").display().to_string();
    let (proxy, asked) = proxy().await;
    let by_proxy = [("SSL_CERT_FILE", cert.as_str()), ("HTTPS_PROXY", proxy.as_str())];
    assert_eq!(child(&url, &by_proxy).await, "ready");
    assert!(asked.swap(0, Ordering::SeqCst) > 0, "it went by");
    let direct = [by_proxy[0], by_proxy[1], ("NO_PROXY", "localhost")];
    assert_eq!(child(&url, &direct).await, "ready");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    // A proxy that is not there is named as what cannot be reached; plain HTTP to this machine never uses one.
    let became = child(&url, &[("HTTPS_PROXY", "http://127.0.0.1:1"), by_proxy[0]]).await;
    assert!(became.starts_with("StartFailed") && became.contains("cannot be reached"), "{became}");
    assert_eq!(child(&format!("{}/mcp", web.url), &[("HTTP_PROXY", "http://127.0.0.1:1")]).await, "ready");
    // The fixture server takes whole addresses, as a proxy has to.
    assert_eq!(child("http://far.example/mcp", &[("HTTP_PROXY", &web.url)]).await, "ready");
}

/// Not a test by itself: the others run it in a process of its own.
#[tokio::test]
async fn in_these_surroundings() {
    let Ok(url) = std::env::var(URL) else { return };
    let mut rig = Rig::new();
    let mut entry = entry("s", Transport::Http { url, headers: Vec::new() });
    entry.timeouts = Timeouts { start: 20, init: 20, ..Timeouts::default() };
    rig.mcp.configure(vec![entry]);
    let status = rig
        .status("s", |status| {
            status.state.is_failed() || (status.state == ServerState::Ready && status.tools.is_some())
        })
        .await;
    let became = if status.state == ServerState::Ready {
        assert_eq!(rig.text("s", "echo", json!({ "text": "x" })).await, "x");
        "ready".to_owned()
    } else {
        format!("{:?} {}", status.state, reason(&status))
    };
    eprintln!("\nbecame {became}");
}
