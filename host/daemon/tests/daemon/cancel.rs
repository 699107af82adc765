//! Clients that leave, at every stage: nothing of them is left, and engines stop.
use crate::common::client::{request, Connection};
use crate::common::fake::Fake;
use crate::common::*;
use forebay_daemon::Daemon;
use proptest::prelude::*;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::OnceLock;
use std::time::Duration;

/// What has come of a reply when its client leaves.
#[derive(Clone, Copy, Debug)]
enum Leave {
    /// So many bytes of the request have been sent.
    Sent(usize),
    /// The head of the reply, and so many chunks.
    Chunks(usize),
}

async fn leave(daemon: &Daemon, target: &str, body: &str, when: Leave) {
    let text = request("POST", target, &[], body);
    let mut connection = Connection::open(address(daemon)).await;
    match when {
        Leave::Sent(bytes) => connection.send(&text[..bytes.min(text.len())]).await,
        Leave::Chunks(count) => {
            connection.send(&text).await;
            connection.head().await.unwrap();
            for _ in 0..count {
                connection.chunk().await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn b41_an_engine_stops_when_its_client_has_left_streamed_and_whole() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nevent: message_start\ndata: {\"type\":\"message_start\",\
        \"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[],\"stop_reason\":null,\
        \"usage\":{\"input_tokens\":1,\"output_tokens\":0}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\
        \"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: \
        {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n";
    for sent in [&b""[..], &head[..60], &head[..]] {
        for stream in [true, false] {
            let fake = Fake::stall(Box::leak(sent.to_vec().into_boxed_slice())).await;
            let daemon = daemon(&engine("fake", "messages", fake.address)).await;
            let mut connection = Connection::open(address(&daemon)).await;
            connection.send(request("POST", "/v1/messages", &[], &messages("x", stream))).await;
            eventually("the engine works", || (fake.requests() == 0).then_some(())).await;
            if stream && sent.len() == head.len() {
                assert_eq!(connection.head().await.unwrap().status, 200);
            }
            drop(connection);
            let left = tokio::time::Instant::now();
            eventually("the engine's connection is closed", || {
                let open = fake.open.load(Relaxed);
                (open > 0).then_some(open)
            })
            .await;
            assert!(left.elapsed() < PATIENCE);
            at_rest(&daemon).await;
            assert_eq!(daemon.app().metrics.cancelled.get(), 1);
        }
    }
}

#[tokio::test]
async fn clients_that_leave_while_they_wait_are_dropped_at_once() {
    for echo in ["first_token_ms = 3600000", "output_token_ms = 3600000", "fault = \"stall\""] {
        let daemon = daemon(&format!("{ECHO}[engine.echo]\n{echo}\n")).await;
        for stream in [true, false] {
            let text = request("POST", "/v1/chat/completions", &[], &chat("one two", stream));
            let mut connection = Connection::open(address(&daemon)).await;
            connection.send(&text).await;
            eventually("it runs", || (daemon.app().decider.running() == 0).then_some(())).await;
            drop(connection);
            at_rest(&daemon).await;
        }
        assert_eq!(daemon.app().metrics.cancelled.get(), 2, "{echo}");
    }
}

fn runtime() -> &'static tokio::runtime::Runtime {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Runtime::new().unwrap())
}

/// A daemon in front of an echo at a pace, shared by all cases.
fn shared() -> &'static (Daemon, Daemon) {
    static DAEMONS: OnceLock<(Daemon, Daemon)> = OnceLock::new();
    DAEMONS.get_or_init(|| {
        runtime().block_on(async {
            let echo = daemon(&format!("{ECHO}[engine.echo]\noutput_token_ms = 2\nfirst_token_ms = 2\n")).await;
            let front = daemon(&engine("echo", "chat", address(&echo))).await;
            (echo, front)
        })
    })
}

fn stages() -> impl Strategy<Value = Leave> {
    prop_oneof![(0_usize..420).prop_map(Leave::Sent), (0_usize..12).prop_map(Leave::Chunks)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_left_wherever_clients_leave(
        leaves in proptest::collection::vec((stages(), any::<bool>(), any::<bool>(), 0_u64..4), 1..8),
    ) {
        let (echo, front) = shared();
        runtime().block_on(async {
            let mut all = Vec::new();
            for (when, direct, to_chat, pause_ms) in leaves {
                let (daemon, target) = (if direct { echo } else { front }, if to_chat { "/v1/chat/completions" } else { "/v1/messages" });
                let stream = matches!(when, Leave::Chunks(_));
                all.push(async move {
                    let body = messages(&"word ".repeat(14), stream);
                    leave(daemon, target, &body, when).await;
                    tokio::time::sleep(Duration::from_millis(pause_ms)).await;
                });
            }
            let all: Vec<_> = all.into_iter().map(|one| runtime().spawn(one)).collect();
            for one in all {
                one.await.unwrap();
            }
            at_rest(front).await;
            at_rest(echo).await;
        });
    }
}
