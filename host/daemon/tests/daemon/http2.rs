//! HTTP/2 by prior knowledge and over TLS, and TLS itself.
use crate::common::client::{request, Connection};
use crate::common::*;
use bytes::Bytes;
use forebay_daemon::{Config, Daemon};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

type Sender = http2::SendRequest<Full<Bytes>>;

async fn connect<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(socket: S) -> Sender {
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection);
    sender
}

async fn send(sender: &mut Sender, path: &str, body: String) -> Response<hyper::body::Incoming> {
    let request = Request::post(format!("http://test{path}")).body(Full::new(Bytes::from(body))).unwrap();
    sender.send_request(request).await.unwrap()
}

async fn text(response: Response<hyper::body::Incoming>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn prior_knowledge_with_many_streams_at_once() {
    let daemon = daemon(&format!("{ECHO}[engine.echo]\noutput_token_ms = 1\n")).await;
    let sender = connect(TcpStream::connect(address(&daemon)).await.unwrap()).await;
    let all: Vec<_> = (0..30)
        .map(|i| {
            let mut sender = sender.clone();
            tokio::spawn(async move {
                let response = send(&mut sender, "/v1/messages", messages(&format!("number {i}"), i % 2 == 0)).await;
                assert_eq!(response.status(), StatusCode::OK);
                let text = text(response).await;
                assert!(text.contains("number ") && text.contains(&i.to_string()), "{text}");
            })
        })
        .collect();
    for one in all {
        one.await.unwrap();
    }
    let response = send(&mut sender.clone(), "/v1/messages", "{}".to_owned()).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(daemon.app().metrics.connections.get(), 1);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn a_stream_that_is_reset_gives_all_back() {
    let daemon = daemon(&format!("{ECHO}[engine.echo]\noutput_token_ms = 3600000\n")).await;
    let mut sender = connect(TcpStream::connect(address(&daemon)).await.unwrap()).await;
    let response = send(&mut sender, "/v1/messages", messages("one two", true)).await;
    assert_eq!(daemon.app().decider.running(), 1);
    drop(response);
    at_rest(&daemon).await;
    let response = send(&mut sender, "/v1/messages", messages("one two", true)).await;
    drop(sender);
    drop(response);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn rapid_resets_end_the_connection_and_nothing_else() {
    let daemon = daemon(&format!("{ECHO}[engine.echo]\nfirst_token_ms = 3600000\n")).await;
    let mut socket = TcpStream::connect(address(&daemon)).await.unwrap();
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00".to_vec();
    for stream in (1_u32..4_001).step_by(2) {
        // :method POST, :scheme http, :path /, then the reset
        bytes.extend([0, 0, 3, 1, 4]);
        bytes.extend(stream.to_be_bytes());
        bytes.extend([0x83, 0x86, 0x84]);
        bytes.extend([0, 0, 4, 3, 0]);
        bytes.extend(stream.to_be_bytes());
        bytes.extend([0, 0, 0, 8]);
    }
    // the daemon may close before it has read all
    let _ = socket.write_all(&bytes).await;
    let mut connection = Connection::new(socket);
    while !connection.is_closed().await {
        connection = Connection::new(connection.socket);
    }
    at_rest(&daemon).await;
}

#[tokio::test]
async fn connection_streams_max_is_told_to_the_client() {
    let limits = "[limits]\nprobe_interval_ms = 0\nconnection_streams_max = 2\n";
    let daemon = daemon(&format!("{limits}{ECHO}[engine.echo]\noutput_token_ms = 3600000\n")).await;
    let mut sender = connect(TcpStream::connect(address(&daemon)).await.unwrap()).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(send(&mut sender, "/v1/messages", messages("one two", true)).await);
    }
    let third = {
        let mut sender = sender.clone();
        tokio::spawn(async move { send(&mut sender, "/v1/messages", messages("x", false)).await.status() })
    };
    eventually("two run", || (daemon.app().metrics.requests.get() != 2).then_some(())).await;
    held.pop();
    assert_eq!(third.await.unwrap(), StatusCode::OK, "the third waits in the client until one ends");
}

#[tokio::test]
async fn a_client_that_opens_no_window_is_cut_off() {
    let limits = "[limits]\nprobe_interval_ms = 0\nwrite_timeout_ms = 100\n";
    let daemon = daemon(&format!("{limits}{ECHO}")).await;
    let socket = TcpStream::connect(address(&daemon)).await.unwrap();
    let (mut sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(16)
        .handshake(TokioIo::new(socket))
        .await
        .unwrap();
    tokio::spawn(connection);
    let response = send(&mut sender, "/v1/messages", messages("one two three four", true)).await;
    assert_eq!(response.status(), StatusCode::OK);
    eventually("cut off", || (daemon.app().metrics.connections_expired[2].get() == 0).then_some(())).await;
    at_rest(&daemon).await;
    drop(response);
}

/// A certificate for `localhost`, in files; the certificate itself as PEM.
pub(crate) fn certificate(folder: &Path) -> String {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("chain.pem"), cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
    cert.pem()
}

async fn tls(
    address: std::net::SocketAddr,
    pem: &str,
    protocol: &[u8],
) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(rustls::pki_types::CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let socket = TcpStream::connect(address).await.unwrap();
    tokio_rustls::TlsConnector::from(Arc::new(config)).connect("localhost".try_into().unwrap(), socket).await
}

pub(crate) const TLS_LISTEN: &str = "log.requests = false\n[[listen]]\naddress = \"127.0.0.1:0\"\ncertificate_file = \"chain.pem\"\nkey_file = \"key.pem\"\n";

#[tokio::test]
async fn tls_with_both_protocols_and_a_new_certificate_by_reload() {
    let folder = tempfile::tempdir().unwrap();
    let first = certificate(folder.path());
    std::fs::write(folder.path().join("f.toml"), format!("{TLS_LISTEN}{ECHO}")).unwrap();
    let daemon = Daemon::start(Config::load(&folder.path().join("f.toml")).unwrap()).await.unwrap();
    let at = address(&daemon);
    let mut plain = Connection::new(tls(at, &first, b"http/1.1").await.unwrap());
    plain.send(request("POST", "/v1/messages", &[], &messages("over tls", true))).await;
    assert_eq!(plain.reply().await.unwrap().said(), "over tls");
    let mut sender = connect(tls(at, &first, b"h2").await.unwrap()).await;
    assert!(text(send(&mut sender, "/v1/messages", messages("over tls", false)).await).await.contains("over tls"));
    let second = certificate(folder.path());
    daemon.reload().await.unwrap();
    assert!(tls(at, &first, b"h2").await.is_err(), "the old certificate is gone");
    let mut sender = connect(tls(at, &second, b"h2").await.unwrap()).await;
    assert_eq!(send(&mut sender, "/v1/messages", messages("x", false)).await.status(), StatusCode::OK);
    plain.send(request("POST", "/v1/messages", &[], &messages("still", true))).await;
    assert_eq!(plain.reply().await.unwrap().said(), "still", "connections of before go on");
    std::fs::write(folder.path().join("key.pem"), "no key").unwrap();
    let error = daemon.reload().await.unwrap_err();
    assert!(error.contains("f.toml:2:") && error.contains("key.pem"), "{error}");
    tls(at, &second, b"h2").await.unwrap();
    // what is no TLS gets none
    let mut other = Connection::open(at).await;
    other.send("GET / HTTP/1.1\r\n\r\n").await;
    assert!(other.head().await.is_none());
    at_rest(&daemon).await;
}

#[tokio::test]
async fn an_engine_behind_tls_is_checked_by_its_authority() {
    let folder = tempfile::tempdir().unwrap();
    certificate(folder.path());
    let text = format!("{TLS_LISTEN}{ECHO}");
    let behind = Daemon::start(Config::parse("t", &text, folder.path()).unwrap()).await.unwrap();
    let port = address(&behind).port();
    let front = |ca: &str| {
        format!(
            "[[engine]]\nname = \"e\"\nkind = \"messages\"\nurl = \"https://localhost:{port}\"\nca_file = \"{ca}\"\n"
        )
    };
    let daemon = daemon_in(&front("chain.pem"), folder.path()).await;
    let reply = crate::common::client::post(address(&daemon), "/v1/messages", &messages("through tls", true)).await;
    assert_eq!(reply.said(), "through tls", "{}", reply.text());
    let stranger = tempfile::tempdir().unwrap();
    certificate(stranger.path());
    let daemon = daemon_in(&front("chain.pem"), stranger.path()).await;
    let reply = crate::common::client::post(address(&daemon), "/v1/messages", &messages("x", true)).await;
    assert_eq!(reply.status, 502);
}
