//! Engines that do exactly what they are told: what they send, in which pieces, and what they saw.
use super::client::Connection;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

/// A fake engine.
#[derive(Clone)]
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    /// Heads and bodies of the requests that came, as they came.
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
    /// Connections that are open.
    pub(crate) open: Arc<AtomicUsize>,
}

impl Fake {
    /// Answers each request by this.
    pub(crate) async fn start<F, W>(answer: F) -> Fake
    where
        F: Fn(Connection<TcpStream>) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        Fake::start_with(move |connection, _| answer(connection)).await
    }

    /// Answers each request by this, which also gets its text.
    pub(crate) async fn start_with<F, W>(answer: F) -> Fake
    where
        F: Fn(Connection<TcpStream>, String) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fake = Fake { address: listener.local_addr().unwrap(), seen: Arc::default(), open: Arc::default() };
        let (seen, open, answer) = (fake.seen.clone(), fake.open.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (seen, open, answer) = (seen.clone(), open.clone(), answer.clone());
                tokio::spawn(async move {
                    open.fetch_add(1, Ordering::Relaxed);
                    let mut connection = Connection::new(socket);
                    if let Some(text) = connection.request().await {
                        seen.lock().unwrap().push(text.clone());
                        answer(connection, text).await;
                    }
                    open.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        fake
    }

    /// Sends so much of `bytes` as the prompt says, `at=N`, and then does what it says: `do=whole`, `do=kill`,
    /// `do=stall`, `do=garbage`, `do=slow` (all of it, byte by byte).
    pub(crate) async fn told(bytes: Vec<u8>) -> Fake {
        Fake::start_with(move |mut connection, text| {
            let bytes = bytes.clone();
            let word = |name: &str| text.split_once(name).map_or("", |(_, rest)| &rest[..rest.find(' ').unwrap_or(0)]);
            let at = word("at=").parse().unwrap_or(usize::MAX).min(bytes.len());
            let what = word("do=").to_owned();
            async move {
                match what.as_str() {
                    "slow" => {
                        for byte in &bytes {
                            if connection.socket.write_all(&[*byte]).await.is_err() {
                                return;
                            }
                            tokio::task::yield_now().await;
                        }
                    }
                    "whole" => drop(connection.socket.write_all(&bytes).await),
                    what => {
                        let more: &[u8] = if what == "garbage" { b"\xff\x00 data: {\r\n\r\nzz" } else { b"" };
                        let _ = connection.socket.write_all(&[&bytes[..at], more].concat()).await;
                        if what == "stall" {
                            connection.is_closed().await;
                        }
                    }
                }
            }
        })
        .await
    }

    /// Answers each request with these bytes, a piece at a time, and closes.
    pub(crate) async fn bytes(bytes: Vec<u8>, piece: usize) -> Fake {
        Fake::start(move |mut connection| {
            let bytes = bytes.clone();
            async move {
                for piece in bytes.chunks(piece) {
                    if connection.socket.write_all(piece).await.is_err() {
                        return;
                    }
                    tokio::task::yield_now().await;
                }
            }
        })
        .await
    }

    /// Sends these bytes, then nothing more, until the daemon closes the connection.
    pub(crate) async fn stall(bytes: &'static [u8]) -> Fake {
        Fake::start(move |mut connection| async move {
            connection.send(bytes).await;
            assert!(tokio::time::timeout(Duration::from_secs(60), connection.is_closed()).await.unwrap_or(false));
        })
        .await
    }

    /// How many requests came.
    pub(crate) fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

/// A reply with this body, of a known length.
pub(crate) fn whole(status: u16, kind: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\n{more}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// A stream that ends with its connection.
pub(crate) fn stream(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

/// Events of a Messages stream.
pub(crate) fn events(all: &[serde_json::Value]) -> String {
    all.iter().map(|e| format!("event: {}\ndata: {e}\n\n", e["type"].as_str().unwrap())).collect()
}

/// A Messages stream that says these pieces.
pub(crate) fn said(pieces: &[&str]) -> String {
    use serde_json::json;
    let mut all = vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "x",
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 5, "output_tokens": 0}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    for text in pieces {
        all.push(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}));
    }
    all.push(json!({"type": "content_block_stop", "index": 0}));
    all.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                    "usage": {"output_tokens": pieces.len()}}));
    all.push(json!({"type": "message_stop"}));
    events(&all)
}

/// A chat stream that says these pieces.
pub(crate) fn chat_said(pieces: &[&str]) -> String {
    use serde_json::json;
    let chunk = |delta: serde_json::Value, finish: serde_json::Value| {
        let v = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "x",
                       "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        format!("data: {v}\n\n")
    };
    let mut out = chunk(json!({"role": "assistant", "content": ""}), json!(null));
    pieces.iter().for_each(|text| out.push_str(&chunk(json!({"content": text}), json!(null))));
    out.push_str(&chunk(json!({}), json!("stop")));
    let usage = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "x", "choices": [],
        "usage": {"prompt_tokens": 5, "completion_tokens": pieces.len(), "total_tokens": 5 + pieces.len()}});
    out + &format!("data: {usage}\n\ndata: [DONE]\n\n")
}

/// Where the event that holds this text ends.
pub(crate) fn end_of(stream: &str, text: &str) -> usize {
    let at = stream.find(text).unwrap();
    at + stream[at..].find("\n\n").unwrap() + 2
}
