//! Wherever a client leaves, whatever its engine does: all gauges come back to zero, no task is left, the sums hold.
use crate::common::client::{get, request, Connection};
use crate::common::fake::{chat_said, said, stream, Fake};
use crate::common::*;
use bytes::Bytes;
use forebay_daemon::Daemon;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

/// What has been when a client leaves.
#[derive(Clone, Copy, Debug)]
enum Leave {
    /// So many bytes of what it has to send have gone.
    Sent(usize),
    /// All has been sent, and so many ms have passed.
    Waited(u64),
    /// The head of the reply has come, and so many pieces of its body.
    Pieces(usize),
    /// It stays to the end.
    Stayed,
}

#[derive(Clone, Debug)]
struct Client {
    http2: bool,
    chat: bool,
    stream: bool,
    tenant: bool,
    /// The connection is reset, or the stream of HTTP/2 is; else the connection is closed.
    resets: bool,
    /// Name of the model, which is that of the engine.
    engine: &'static str,
    /// What the engine does after so many bytes, if it is one that is told.
    does: &'static str,
    at: usize,
    leave: Leave,
}

/// Engines, of which each serves the model of its name: echoes with a fault, and fakes that do as they are told. Two
/// serve `pair`, so that the second is asked when the first fails.
const ENGINES: [&str; 8] = ["echo", "stall", "cut", "garbage", "error", "messages", "chat", "pair"];

fn clients() -> impl Strategy<Value = Client> {
    let leave = prop_oneof![
        3 => (0_usize..700).prop_map(Leave::Sent),
        2 => (0_u64..12).prop_map(Leave::Waited),
        3 => (0_usize..10).prop_map(Leave::Pieces),
        2 => Just(Leave::Stayed),
    ];
    let at = prop_oneof![0_usize..200, 0_usize..1_500];
    let does = prop::sample::select(vec!["whole", "kill", "stall", "garbage", "slow"]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (flags, prop::sample::select(ENGINES.to_vec()), does, at, leave).prop_map(
        |((http2, chat, stream, tenant, resets), engine, does, at, leave)| Client {
            http2,
            chat,
            stream,
            tenant,
            resets,
            engine,
            does,
            at,
            leave,
        },
    )
}

struct World {
    daemon: Daemon,
    fakes: Vec<Fake>,
    /// The daemon alone runs here.
    runtime: Runtime,
    /// Tasks of it when nothing runs.
    tasks: usize,
    /// Clients that there were.
    clients: AtomicU64,
    /// Replies whose head a client has seen.
    heads: AtomicU64,
}

fn clients_runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap())
}

/// Short limits of time, few places, so that all of them are reached; breakers that never open.
const LIMITS: &str = "policy = \"p.toml\"\n[limits]\nprobe_interval_ms = 0\n\
    breaker_failures = 1000\nfirst_event_timeout_ms = 120\nevent_timeout_ms = 100\nstream_head_ms = 40\nbody_timeout_ms = 200\n\
    header_timeout_ms = 200\nretry_percent_max = 100\nrequests_max = 7\nstreams_max = 5\n[[tenant]]\nname = \"t\"\nrequests_max = 3\n";

async fn fakes() -> Vec<Fake> {
    let text = ["one ", "two ", "three ", "four "];
    let gone = Fake::start(|_| async {}).await;
    vec![
        Fake::told(stream(&said(&text))).await,
        Fake::told(stream(&chat_said(&text))).await,
        gone,
        Fake::told(stream(&said(&text))).await,
    ]
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let fakes = clients_runtime().block_on(fakes());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let policy = "[[tenant]]\nname = \"t\"\nkey = \"k1\"\n[levels]\nlimits = [6, 6, 6, 6, 6, 6, 6, 6]\n";
        std::fs::write(folder.path().join("p.toml"), policy).unwrap();
        let mut text = LIMITS.to_owned();
        for name in &ENGINES[..5] {
            let fault =
                if *name == "echo" { String::new() } else { format!("fault = \"{name}\"\nfault_after_tokens = 2\n") };
            text += &format!("[[engine]]\nname = \"{name}\"\nkind = \"echo\"\nmodels = [\"{name}\"]\n[engine.echo]\n");
            text += &format!("first_token_ms = 2\noutput_token_ms = 2\n{fault}");
        }
        let behind = [
            ("messages", "messages", "messages"),
            ("chat", "chat", "chat"),
            ("gone", "messages", "pair"),
            ("well", "messages", "pair"),
        ];
        for ((name, kind, model), fake) in behind.into_iter().zip(&fakes) {
            text += &(engine(name, kind, fake.address) + &format!("models = [\"{model}\"]\nrequests_max = 4\n"));
        }
        let daemon = runtime.block_on(daemon_in(&text, folder.path()));
        runtime.block_on(tokio::task::yield_now());
        let tasks = runtime.metrics().num_alive_tasks();
        World { daemon, fakes, runtime, tasks, clients: AtomicU64::new(0), heads: AtomicU64::new(0) }
    })
}

/// A socket that breaks when so many bytes have been written.
struct Short {
    socket: TcpStream,
    left: usize,
}

impl AsyncRead for Short {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl AsyncWrite for Short {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.left == 0 && !buf.is_empty() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let piece = &buf[..buf.len().min(self.left)];
        let result = Pin::new(&mut self.socket).poll_write(cx, piece);
        if let Poll::Ready(Ok(written)) = &result {
            self.left -= written;
        }
        result
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

impl Client {
    fn body(&self) -> String {
        let text = format!("do={} at={} and as many words as make some pieces", self.does, self.at);
        serde_json::json!({"model": self.engine, "max_tokens": 64, "stream": self.stream,
            "messages": [{"role": "user", "content": text}]})
        .to_string()
    }

    fn target(&self) -> &'static str {
        if self.chat {
            "/v1/chat/completions"
        } else {
            "/v1/messages"
        }
    }

    /// The end of what a client got that stayed: of a stream it must be an end.
    fn check_end(&self, status: u16, kind: &str, body: &[u8]) {
        let text = String::from_utf8(body.to_vec()).unwrap();
        if !kind.starts_with("text/event-stream") {
            let value: serde_json::Value =
                serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {self:?}: {text}"));
            assert_eq!(value["error"].is_object(), status != 200, "{self:?}: {text}");
            return;
        }
        let last = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
        let is_end = ["message_stop", "[DONE]", "\"error\""].iter().any(|end| last.contains(end));
        assert!(text.ends_with("\n\n") && is_end, "{self:?}: {text}");
    }

    async fn run(&self, world: &World) {
        let socket = TcpStream::connect(address(&world.daemon)).await.unwrap();
        if self.resets {
            socket.set_zero_linger().unwrap();
        }
        if self.http2 {
            self.run_http2(world, socket).await;
        } else {
            self.run_http1(world, socket).await;
        }
    }

    async fn run_http1(&self, world: &World, socket: TcpStream) {
        let headers: &[_] = if self.tenant { &[("x-api-key", "k1")] } else { &[] };
        let text = request("POST", self.target(), headers, &self.body());
        let mut connection = Connection::new(socket);
        let bytes = if let Leave::Sent(n) = self.leave { n.min(text.len()) } else { text.len() };
        if connection.socket.write_all(&text.as_bytes()[..bytes]).await.is_err() {
            return;
        }
        let pieces = match self.leave {
            Leave::Sent(_) => return,
            Leave::Waited(ms) => return tokio::time::sleep(Duration::from_millis(ms)).await,
            Leave::Pieces(n) => n,
            Leave::Stayed => {
                let reply = connection.reply().await.unwrap_or_else(|| panic!("no whole reply: {self:?}"));
                world.heads.fetch_add(1, Relaxed);
                return self.check_end(reply.status, reply.header("content-type").unwrap_or_default(), &reply.body);
            }
        };
        let Some(head) = connection.head().await else { panic!("no head: {self:?}") };
        world.heads.fetch_add(1, Relaxed);
        if head.header("transfer-encoding") == Some("chunked") {
            for _ in 0..pieces {
                if connection.chunk().await.is_none_or(|chunk| chunk.is_empty()) {
                    return;
                }
            }
        }
    }

    async fn run_http2(&self, world: &World, socket: TcpStream) {
        let left = if let Leave::Sent(n) = self.leave { n } else { usize::MAX };
        let io = TokioIo::new(Short { socket, left });
        let Ok((mut sender, connection)) = http2::handshake(TokioExecutor::new(), io).await else { return };
        let connection = tokio::spawn(connection);
        let mut builder = Request::post(format!("http://test{}", self.target()));
        if self.tenant {
            builder = builder.header("x-api-key", "k1");
        }
        let answer = sender.send_request(builder.body(Full::new(Bytes::from(self.body()))).unwrap());
        let answer = match self.leave {
            Leave::Waited(ms) => tokio::time::timeout(Duration::from_millis(ms), answer).await.ok(),
            _ => Some(answer.await),
        };
        match answer {
            Some(Ok(response)) if !matches!(self.leave, Leave::Waited(_)) => {
                world.heads.fetch_add(1, Relaxed);
                let (head, mut body) = response.into_parts();
                if let Leave::Pieces(count) = self.leave {
                    for _ in 0..count {
                        if body.frame().await.is_none() {
                            break;
                        }
                    }
                    // dropped before its end it resets the stream
                } else {
                    let kind = head.headers.get("content-type").map_or("", |v| v.to_str().unwrap());
                    match body.collect().await {
                        Ok(body) => self.check_end(head.status.as_u16(), kind, &body.to_bytes()),
                        // what it could still send was enough for a request, and not for what it says of the reply
                        Err(error) => assert!(matches!(self.leave, Leave::Sent(_)), "{error}: {self:?}"),
                    }
                }
            }
            Some(Err(error)) => assert!(matches!(self.leave, Leave::Sent(_)), "{error:?}: {self:?}"),
            _ => {}
        }
        if self.resets {
            drop(sender);
        } else {
            connection.abort();
        }
    }
}

/// Nothing of any client is left: by the gauges, by the tasks, by the engines, by what operators see.
async fn nothing_is_left(world: &World) {
    at_rest(&world.daemon).await;
    let app = world.daemon.app();
    eventually("no connection", || (app.metrics.connections.get() > 0).then(|| app.metrics.connections.get())).await;
    eventually("no task", || {
        let tasks = world.runtime.metrics().num_alive_tasks();
        (tasks > world.tasks).then_some(tasks)
    })
    .await;
    eventually("engines are left alone", || {
        let open: usize = world.fakes.iter().map(|f| f.open.load(Relaxed)).sum();
        (open > 0).then_some(open)
    })
    .await;
    // the kernel may still have had a connection that the daemon had not
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        let page = get(world.daemon.admin_address().unwrap(), "/metrics").await.text();
        let Some(still) = complaint(&figures(&page)) else { return };
        assert!(std::time::Instant::now() < end, "{still}: {page}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// One round of clients at once.
fn round(world: &'static World, clients: Vec<Client>) {
    clients_runtime().block_on(async {
        world.clients.fetch_add(clients.len() as u64, Relaxed);
        let run = |c: Client| clients_runtime().spawn(async move { c.run(world).await });
        let running: Vec<_> = clients.into_iter().map(run).collect();
        for client in running {
            client.await.unwrap();
        }
        nothing_is_left(world).await;
        // of all rounds: what a client sends before it leaves may be read in the next one
        let requests = world.daemon.app().metrics.requests.get();
        let (all, heads) = (world.clients.load(Relaxed), world.heads.load(Relaxed));
        assert!((heads..=all).contains(&requests), "{requests} requests of {all} clients, {heads} of them answered");
    });
}

#[test]
fn nothing_is_left_of_clients_that_leave_anywhere() {
    let cases = if slow() { 9_600 } else { 96 };
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 64, ..Config::default() };
    let world = world();
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let rounds = TestRunner::new_with_rng(config, rng).run(&prop::collection::vec(clients(), 1..12), |clients| {
        round(world, clients);
        Ok(())
    });
    rounds.unwrap_or_else(|e| panic!("{e}"));
    // a property over stages that were never reached would say nothing
    let metrics = &world.daemon.app().metrics;
    let reasons = metrics.reasons.all();
    for reason in [
        "body_truncated",
        "client_left",
        "engine_broke",
        "engine_unreachable",
        "first_event_timeout_ms",
        "requests_max",
    ] {
        assert!(reasons.contains_key(reason), "no request ended by {reason}: {reasons:?}");
    }
    for (what, count) in [("cancelled", &metrics.cancelled), ("broken", &metrics.broken), ("retries", &metrics.retries)]
    {
        assert!(count.get() > 0, "{what}: {reasons:?}");
    }
}
