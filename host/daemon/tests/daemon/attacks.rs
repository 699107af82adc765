//! Clients that mean harm, each with the limit that ends it; what they do to the daemon's memory and tasks is bounded.
use crate::common::client::{post, request, Connection};
use crate::common::*;
use crate::http2::{certificate, TLS_LISTEN};
use bytes::Bytes;
use forebay_daemon::{Config, Daemon};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame};
use hyper::client::conn::http2;
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// From one byte of a slow client to the next; the limits of these tests are ten times that and more.
const TRICKLE: Duration = Duration::from_millis(10);
/// What a flood may send before the daemon has to have ended it.
const FLOOD_BYTES_MAX: usize = 64 << 20;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;
/// `:method POST`, `:scheme http`, `:path /v1/messages`.
const POST: &[u8] = b"\x83\x86\x04\x0c/v1/messages";

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn start() -> Vec<u8> {
    [PREFACE, &frame(SETTINGS, 0, 0, b"")].concat()
}

async fn limited(limits: &str, echo: &str) -> Daemon {
    daemon(&format!("[limits]\nprobe_interval_ms = 0\n{limits}\n{ECHO}[engine.echo]\n{echo}\n")).await
}

fn expired(daemon: &Daemon) -> [u64; 3] {
    [0, 1, 2].map(|i| daemon.app().metrics.connections_expired[i].get())
}

/// The daemon has not been harmed: nothing is left, and others are served.
async fn unharmed(daemon: &Daemon) {
    at_rest(daemon).await;
    let connections = &daemon.app().metrics.connections;
    eventually("no connection", || (connections.get() > 0).then(|| connections.get())).await;
    assert_eq!(post(address(daemon), "/v1/messages", &messages("still there", false)).await.said(), "still there");
}

/// Sends `first` at once and then a byte at a time, until the daemon closes.
async fn trickle(daemon: &Daemon, first: &[u8], slow: impl Iterator<Item = u8>) {
    let socket = TcpStream::connect(address(daemon)).await.unwrap();
    let (mut from, mut to) = socket.into_split();
    to.write_all(first).await.unwrap();
    let send = async {
        for byte in slow {
            if to.write_all(&[byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(TRICKLE).await;
        }
        panic!("all has been sent, and the daemon is still there");
    };
    let end = async {
        let mut got = Vec::new();
        while matches!(from.read_buf(&mut got).await, Ok(n) if n > 0) {}
    };
    let closed = async {
        tokio::select! { () = send => {}, () = end => {} }
    };
    tokio::time::timeout(PATIENCE, closed).await.unwrap();
}

#[tokio::test]
async fn header_timeout_ms_against_heads_that_trickle() {
    let daemon = limited("header_timeout_ms = 100", "").await;
    let head = b"POST /v1/messages HTTP/1.1\r\nhost: t\r\nx-slow: ";
    trickle(&daemon, head, std::iter::repeat(b'a')).await;
    trickle(&daemon, b"", PREFACE.iter().copied()).await;
    // the head of a first request that is never whole: a continuation of 16,000 bytes
    let head = [start(), frame(HEADERS, 0, 1, POST), b"\x00\x3e\x80\x09\x00\x00\x00\x00\x01".to_vec()].concat();
    trickle(&daemon, &head, std::iter::repeat(0)).await;
    assert_eq!(expired(&daemon), [3, 0, 0]);
    unharmed(&daemon).await;
}

#[tokio::test]
async fn header_timeout_ms_against_a_handshake_that_never_comes() {
    let folder = tempfile::tempdir().unwrap();
    certificate(folder.path());
    let text = format!("{TLS_LISTEN}[limits]\nheader_timeout_ms = 100\n{ECHO}");
    let daemon = Daemon::start(Config::parse("t", &text, folder.path()).unwrap()).await.unwrap();
    for begun in [&b""[..], b"\x16\x03\x01\x02\x00\x01"] {
        let mut connection = Connection::open(address(&daemon)).await;
        connection.send(begun).await;
        assert!(connection.is_closed().await);
    }
    assert_eq!(daemon.app().metrics.handshakes_failed.get(), 2);
    eventually("no connection", || (daemon.app().metrics.connections.get() > 0).then_some(())).await;
}

#[tokio::test]
async fn idle_timeout_ms_against_a_second_head_that_is_never_whole() {
    let daemon = limited("idle_timeout_ms = 150", "").await;
    let mut socket = TcpStream::connect(address(&daemon)).await.unwrap();
    let first = frame(HEADERS, END_HEADERS | 1, 1, b"\x82\x86\x84");
    socket.write_all(&[start(), first, frame(HEADERS, 0, 3, POST)].concat()).await.unwrap();
    let mut got = Vec::new();
    tokio::time::timeout(PATIENCE, socket.read_to_end(&mut got)).await.unwrap().unwrap();
    assert_eq!((expired(&daemon), daemon.app().metrics.requests.get()), ([0, 1, 0], 1));
    unharmed(&daemon).await;
}

/// A body that comes for ever, a byte at a time.
struct Trickle(Pin<Box<tokio::time::Sleep>>);

impl Body for Trickle {
    type Data = Bytes;
    type Error = Infallible;
    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        std::task::ready!(self.0.as_mut().poll(cx));
        self.0 = Box::pin(tokio::time::sleep(TRICKLE));
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b" ")))))
    }
}

#[tokio::test]
async fn body_timeout_ms_against_bodies_that_trickle() {
    let daemon = limited("body_timeout_ms = 150", "").await;
    let head = b"POST /v1/messages HTTP/1.1\r\nhost: t\r\ncontent-length: 99999\r\n\r\n{";
    trickle(&daemon, head, std::iter::repeat(b' ')).await;
    at_rest(&daemon).await;
    let socket = TcpStream::connect(address(&daemon)).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection);
    let body = Trickle(Box::pin(tokio::time::sleep(TRICKLE)));
    let response = sender.send_request(Request::post("http://t/v1/messages").body(body).unwrap()).await.unwrap();
    assert_eq!(response.status(), 408);
    let text = response.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&text).contains("body_timeout_ms"));
    drop(sender);
    assert_eq!(daemon.app().metrics.reasons.all()["body_timeout_ms"], 2);
    unharmed(&daemon).await;
}

/// Sends `piece` again and again behind `first`, and reads if told to, until the daemon ends the connection.
async fn flood(daemon: &Daemon, first: Vec<u8>, piece: Vec<u8>, reads: bool) -> usize {
    let socket = TcpStream::connect(address(daemon)).await.unwrap();
    let (mut from, mut to) = socket.into_split();
    let send = async {
        let mut sent = 0;
        let mut next = to.write_all(&first).await;
        while next.is_ok() {
            sent += piece.len();
            next = to.write_all(&piece).await;
        }
        sent
    };
    let read = async {
        let mut got = [0; 16_384];
        while reads && matches!(from.read(&mut got).await, Ok(n) if n > 0) {}
        if !reads {
            std::future::pending::<()>().await;
        }
    };
    tokio::pin!(read);
    let ended = async {
        tokio::pin!(send);
        tokio::select! {
            sent = &mut send => sent,
            () = &mut read => send.await,
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap()
}

#[tokio::test]
async fn a_flood_of_continuations_ends_with_its_connection() {
    let daemon = limited("", "").await;
    for filler in [&b""[..], b"\x00\x01a\x01b"] {
        let first = [start(), frame(HEADERS, 0, 1, POST)].concat();
        let sent = flood(&daemon, first, frame(CONTINUATION, 0, 1, filler).repeat(100), true).await;
        assert!(sent < FLOOD_BYTES_MAX, "{sent} bytes of a head that never ends");
    }
    assert_eq!((daemon.app().metrics.requests.get(), expired(&daemon)), (0, [0; 3]));
    unharmed(&daemon).await;
}

/// One header of 4,000 bytes, kept by the other side, and then named 10,000 times by one byte each: 40 MB of headers in 14 KB.
#[tokio::test]
async fn header_bytes_max_against_a_header_that_is_named_again_and_again() {
    let daemon = limited("", "").await;
    let value = "v".repeat(4_000);
    // a literal with a new name, to be kept: its name, its value of 127 + 3873 bytes
    let mut block = [POST, b"\x40\x01x\x7f\xa1\x1e"].concat();
    block.extend(value.bytes());
    block.extend([0x80 | 62; 10_000]);
    let mut bytes = start();
    bytes.extend(frame(HEADERS, 1 | END_HEADERS, 1, &block));
    let mut socket = TcpStream::connect(address(&daemon)).await.unwrap();
    socket.write_all(&bytes).await.unwrap();
    let mut got = Vec::new();
    tokio::time::timeout(PATIENCE, socket.read_to_end(&mut got)).await.unwrap().unwrap();
    let (said, wanted) = (String::from_utf8_lossy(&got), "header_list_way_too_large");
    assert!(said.contains(wanted), "the connection ends for this: {said}");
    assert_eq!(daemon.app().metrics.requests.get(), 0, "the list of headers is never made");
    unharmed(&daemon).await;
}

#[tokio::test]
async fn write_timeout_ms_against_floods_whose_answers_nobody_reads() {
    let daemon = limited("write_timeout_ms = 100", "").await;
    for flood_of in [frame(PING, 0, 0, b"8 bytes!"), frame(SETTINGS, 0, 0, b"\x00\x03\x00\x00\x00\x64")] {
        flood(&daemon, start(), flood_of.repeat(1_000), false).await;
    }
    assert_eq!(expired(&daemon), [0, 0, 2]);
    unharmed(&daemon).await;
}

#[tokio::test]
async fn header_timeout_ms_and_idle_timeout_ms_against_floods_without_a_request() {
    let daemon = limited("header_timeout_ms = 100\nidle_timeout_ms = 200", "").await;
    let ping = frame(PING, 0, 0, b"8 bytes!").repeat(10);
    flood(&daemon, start(), ping.clone(), true).await;
    assert_eq!(expired(&daemon), [1, 0, 0], "no request has ever come");
    let asked = [start(), frame(HEADERS, END_HEADERS | 1, 1, b"\x82\x86\x84")].concat();
    flood(&daemon, asked, ping, true).await;
    assert_eq!(expired(&daemon), [1, 1, 0], "none since the first");
    unharmed(&daemon).await;
}

#[tokio::test]
async fn a_flood_of_empty_pieces_ends_with_its_connection() {
    let daemon = limited("", "").await;
    let first = [start(), frame(HEADERS, END_HEADERS, 1, POST)].concat();
    let sent = flood(&daemon, first, frame(DATA, 0, 1, b"").repeat(100), true).await;
    assert!(sent < FLOOD_BYTES_MAX, "{sent} bytes of a body that has none");
    unharmed(&daemon).await;
}

/// A client that opens a window of some bytes and no more, for a whole reply and for a stream.
#[tokio::test]
async fn write_timeout_ms_against_windows_that_stay_shut() {
    let daemon = limited("write_timeout_ms = 100", "").await;
    let long = "word ".repeat(40_000);
    for (window, stream) in [(0, true), (0, false), (16, true), (16, false)] {
        let socket = TcpStream::connect(address(&daemon)).await.unwrap();
        let mut builder = http2::Builder::new(TokioExecutor::new());
        let (mut sender, connection) =
            builder.initial_stream_window_size(window).handshake(TokioIo::new(socket)).await.unwrap();
        tokio::spawn(connection);
        let body = serde_json::json!({"model": "m", "max_tokens": 1_000_000, "stream": stream,
            "messages": [{"role": "user", "content": &long}]});
        let before = expired(&daemon)[2];
        let request = Request::post("http://t/v1/messages").body(body.to_string()).unwrap();
        let response = sender.send_request(request).await.unwrap();
        eventually("cut off", || (expired(&daemon)[2] == before).then_some((window, stream))).await;
        drop((response, sender));
        at_rest(&daemon).await;
    }
    assert_eq!(expired(&daemon), [0, 0, 4]);
    unharmed(&daemon).await;
}

/// Those over the limit that send nothing wait for their answer, but only so many of them; the others are closed at once.
#[tokio::test]
async fn connections_max_against_a_thousand_silent_ones() {
    const SILENT: usize = 1_000;
    let _ = rlimit::increase_nofile_limit(8_192);
    let daemon = limited("connections_max = 4", "").await;
    let mut kept = Connection::open(address(&daemon)).await;
    kept.send(request("POST", "/v1/messages", &[], &messages("first", false))).await;
    assert_eq!(kept.reply().await.unwrap().said(), "first");
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let (mut silent, mut most) = (Vec::new(), 0);
    for _ in 0..SILENT {
        silent.push(TcpStream::connect(address(&daemon)).await.unwrap());
        most = most.max(tasks() - before);
    }
    let refused = &daemon.app().metrics.connections_refused;
    eventually("all have come", || (refused.get() < SILENT as u64 - 3).then(|| refused.get())).await;
    assert!(most <= 3 + 256, "{most} tasks for clients that are turned away");
    kept.send(request("POST", "/v1/messages", &[], &messages("second", false))).await;
    assert_eq!(kept.reply().await.unwrap().said(), "second", "who is in is served");
    drop((silent, kept));
    unharmed(&daemon).await;
}
