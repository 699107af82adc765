//! The running daemon: bytes of clients into its server, bytes of engines into its relay, over loopback.
use crate::relay::{is_clean, stream as engine_stream, whole_stream, SECRETS};
use crate::target::{fuzz, Target};
use forebay_daemon::{Config, Daemon};
use forebay_testbench::agree::exact_requests;
use forebay_testbench::generate::{damage, stream, Choices};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// What an engine is to send, in pieces.
type Script = Arc<Mutex<Vec<Vec<u8>>>>;

struct World {
    daemon: Daemon,
    runtime: Runtime,
    /// Sends this to whoever asks, and closes.
    engine: Script,
    engine_address: SocketAddr,
}

/// Panics on threads of the daemon, which nobody else would hear of.
static PANICS: AtomicUsize = AtomicUsize::new(0);
const THREAD: &str = "daemon-under-fuzz";
/// The daemon's own key for its engines.
const KEY: &str = "own-key-of-the-daemon";
/// How long is waited for what has to come.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long for an answer that may not come, as the bytes are no request.
const UNSURE: Duration = Duration::from_millis(20);

const CONFIG: &str = "log.requests = false\n[[listen]]\naddress = \"127.0.0.1:0\"\n[access]\nanonymous = \"loopback\"\n\
    [limits]\nprobe_interval_ms = 0\nload_interval_ms = 0\nbreaker_failures = 1000\nretries_max = 0\nheader_bytes_max = 8192\nbody_bytes_max = 65536\n";

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() == Some(THREAD) {
                PANICS.fetch_add(1, Ordering::SeqCst);
            }
            before(panic);
        }));
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).thread_name(THREAD).enable_all().build().unwrap();
        let engine = Script::default();
        let engine_address = runtime.block_on(serve(engine.clone()));
        let mut text = CONFIG.to_owned();
        for kind in ["messages", "chat"] {
            text += &format!("[[engine]]\nname = \"{kind}\"\nkind = \"{kind}\"\nmodels = [\"{kind}\"]\n");
            text += &format!("url = \"http://{engine_address}\"\nkey_file = \"fuzz.key\"\n");
        }
        text += "[[engine]]\nname = \"echo\"\nkind = \"echo\"\n";
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(folder.join("fuzz.key"), KEY).unwrap();
        let config = Config::parse("fuzz.toml", &text, folder).unwrap();
        let daemon = runtime.block_on(Daemon::start(config)).unwrap();
        World { daemon, runtime, engine, engine_address }
    })
}

async fn serve(script: Script) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let pieces = script.lock().unwrap().clone();
            tokio::spawn(async move {
                let mut head = [0; 8_192];
                let _ = socket.read(&mut head).await;
                for piece in pieces {
                    if socket.write_all(&piece).await.is_err() {
                        return;
                    }
                    tokio::task::yield_now().await;
                }
            });
        }
    });
    address
}

/// An answer of the daemon.
struct Answer {
    status: u16,
    kind: String,
    /// The pieces of its body: chunks, or all of it.
    pieces: Vec<Vec<u8>>,
    closes: bool,
}

/// The next line without its end.
fn line<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let at = bytes.windows(2).position(|w| w == b"\r\n")?;
    let line = std::str::from_utf8(&bytes[..at]).ok()?;
    *bytes = &bytes[at + 2..];
    Some(line)
}

/// The next answer of what has come, by a reader of its own; `None` if it is not whole. A `100 Continue` is none.
fn answer(bytes: &mut &[u8]) -> Result<Option<Answer>, String> {
    let mut rest = *bytes;
    let Some(first) = line(&mut rest) else { return Ok(None) };
    let status = first.strip_prefix("HTTP/1.").and_then(|l| l.get(2..5)).and_then(|s| s.parse().ok());
    let status: u16 = status.ok_or_else(|| format!("no status line: {first:?}"))?;
    let (mut kind, mut length, mut chunked, mut closes) = (String::new(), None, false, false);
    loop {
        let Some(header) = line(&mut rest) else { return Ok(None) };
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(": ").ok_or_else(|| format!("no header: {header:?}"))?;
        match name {
            "content-type" => kind = value.to_owned(),
            "content-length" => length = value.parse::<usize>().ok(),
            "transfer-encoding" => chunked = value == "chunked",
            "connection" => closes = value == "close",
            _ => {}
        }
    }
    let mut pieces = Vec::new();
    if chunked {
        loop {
            let Some(size) = line(&mut rest) else { return Ok(None) };
            let size = usize::from_str_radix(size, 16).map_err(|e| format!("chunk {size:?}: {e}"))?;
            let Some(piece) = rest.get(..size) else { return Ok(None) };
            rest = rest.get(size + 2..).unwrap_or_default();
            if size == 0 {
                break;
            }
            pieces.push(piece.to_vec());
        }
    } else if let Some(piece) = rest.get(..length.unwrap_or(0)) {
        pieces.push(piece.to_vec());
        rest = &rest[piece.len()..];
    } else {
        return Ok(None);
    }
    *bytes = rest;
    Ok(Some(Answer { status, kind, pieces, closes }))
}

/// All whole answers in what has come; a HEAD has no body, and so ends what can be read.
fn answers(mut bytes: &[u8]) -> Result<Vec<Answer>, String> {
    let mut all = Vec::new();
    while let Some(answer) = answer(&mut bytes)? {
        all.push(answer);
    }
    Ok(all)
}

/// An error of the daemon: JSON of either API, with nothing internal in it. The HTTP reader's own answers are bare.
fn check_error(world: &World, answer: &Answer) -> Result<(), String> {
    let body = answer.pieces.concat();
    if body.is_empty() && matches!(answer.status, 400 | 414 | 431) {
        return Ok(());
    }
    let value: Value = serde_json::from_slice(&body).map_err(|e| format!("{e}: {}", body.escape_ascii()))?;
    let message = value["error"]["message"].as_str().ok_or_else(|| format!("no message: {value}"))?;
    let internal = [world.engine_address.to_string().as_str(), KEY].iter().any(|text| message.contains(text));
    if message.is_empty() || internal {
        return Err(format!("{}: {message:?}", answer.status));
    }
    is_clean(message)
}

/// Sends all and reads until `done` says so of what has come, then ends, and reads to the end.
async fn exchange(
    world: &World,
    pieces: &[&[u8]],
    done: impl Fn(&[u8]) -> bool,
    wait: Duration,
) -> Result<Vec<u8>, String> {
    let socket = TcpStream::connect(world.daemon.addresses()[0]).await.map_err(|e| e.to_string())?;
    let (mut from, mut to) = socket.into_split();
    let mut got = Vec::new();
    let send = async {
        for piece in pieces {
            // the daemon may close before it has all
            if to.write_all(piece).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let read = async {
        let mut piece = [0; 16_384];
        while !done(&got) {
            match from.read(&mut piece).await {
                Ok(n) if n > 0 => got.extend_from_slice(&piece[..n]),
                _ => return,
            }
        }
    };
    let _ = tokio::time::timeout(wait, async { tokio::join!(send, read) }).await;
    let _ = to.shutdown().await;
    let end = async { while matches!(from.read_buf(&mut got).await, Ok(n) if n > 0) {} };
    tokio::time::timeout(PATIENCE, end).await.map_err(|_| "the daemon keeps the connection of a client that left")?;
    Ok(got)
}

/// Nothing is left, the sums hold, nothing has panicked.
async fn settled(world: &World) -> Result<(), String> {
    let app = world.daemon.app();
    let state = app.state();
    let rest = || {
        app.metrics.at_rest()?;
        let gauges = app.decider.gauges();
        gauges.check()?;
        let rules = [
            (app.metrics.connections.get() == 0, "no connection"),
            (gauges.in_progress.load(Ordering::Relaxed) == 0, "nobody held and no slot taken"),
            (state.engines.iter().all(|e| e.running.get() == 0), "no place taken"),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(*rule))
    };
    let end = tokio::time::Instant::now() + PATIENCE;
    while let Err(rule) = rest() {
        if tokio::time::Instant::now() > end {
            return Err(format!("does not hold: {rule}"));
        }
        tokio::time::sleep(Duration::from_micros(100)).await;
    }
    match PANICS.load(Ordering::SeqCst) {
        0 => Ok(()),
        panics => Err(format!("{panics} panics in the daemon")),
    }
}

/// Bytes of an input that say where it is cut, and more.
const HEAD_BYTES: usize = 12;

fn cut<'a>(c: &mut Choices<'_>, mut rest: &'a [u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(if c.spent() { rest.len() } else { c.between(1, 300).min(rest.len()) });
        pieces.push(piece);
        rest = more;
    }
    pieces
}

/// Requests of clients, right and damaged: each answer is whole, none is a failure of the daemon.
#[test]
fn daemon_requests() {
    fuzz(&Target {
        name: "daemon_requests",
        executions: 500,
        make: |c| {
            let mut input: Vec<u8> = (0..HEAD_BYTES).map(|_| c.byte()).collect();
            let mut bytes = if c.percent(15) { c.rest().to_vec() } else { stream(c).0 };
            if c.percent(50) {
                damage(c, &mut bytes);
            }
            input.extend(bytes);
            input
        },
        check: |input| {
            let world = world();
            let (head, bytes) = input.split_at(input.len().min(HEAD_BYTES));
            let pieces = cut(&mut Choices::new(head), bytes);
            let expected = exact_requests(bytes).iter().filter(|r| r.error.is_none() && r.complete).count();
            let done = |got: &[u8]| answers(got).map_or(true, |all| all.len() >= expected.max(1));
            world.runtime.block_on(async {
                let got = exchange(world, &pieces, done, UNSURE).await?;
                for answer in answers(&got)? {
                    match answer.status {
                        100 | 200 => {}
                        400..=499 | 503 => check_error(world, &answer)?,
                        status => return Err(format!("status {status}")),
                    }
                }
                settled(world).await
            })
        },
    });
}

/// The head of an engine's answer, and how its body is framed.
fn engine_head(c: &mut Choices<'_>, body: &[u8]) -> Vec<u8> {
    let status = c.pick::<str>(&[
        "200 OK", "200 OK", "200 OK", "200 OK", "400 Bad", "429 Busy", "500 No", "503 No", "302 Go", "999 X",
    ]);
    let length = format!("content-length: {}", body.len());
    let framing = match c.below(4) {
        0 => length.as_str(),
        1 => "content-length: 99999",
        _ => "connection: close",
    };
    let secret = SECRETS[c.below(SECRETS.len())];
    format!("HTTP/1.1 {status}\r\ncontent-type: text/event-stream\r\nserver: {secret}\r\n{framing}\r\n\r\n")
        .into_bytes()
}

fn engine_answer(c: &mut Choices<'_>, chat: bool) -> Vec<u8> {
    if c.percent(5) {
        return c.rest().to_vec();
    }
    let secret = SECRETS[c.below(SECRETS.len())];
    let body = match c.below(6) {
        0 => format!(r#"{{"error":{{"type":"BadRequestError","message":"not by {secret} today"}}}}"#).into_bytes(),
        1 => format!(r#"{{"detail":"at {secret}"}}"#).into_bytes(),
        _ => engine_stream(c, chat),
    };
    let mut answer = engine_head(c, &body);
    if c.percent(10) {
        damage(c, &mut answer);
    }
    answer.extend(body);
    answer
}

fn check_reply(world: &World, answer: &Answer, stream: bool, to_chat: bool) -> Result<(), String> {
    if answer.kind.starts_with("text/event-stream") {
        if answer.pieces.iter().any(|piece| std::str::from_utf8(piece).is_err()) {
            return Err("a chunk ends in the middle of a character".to_owned());
        }
        return whole_stream(&answer.pieces.concat(), to_chat).map(drop);
    }
    match answer.status {
        200 if stream => Err("no stream".to_owned()),
        200 => serde_json::from_slice::<Value>(&answer.pieces.concat()).map(drop).map_err(|e| e.to_string()),
        _ => check_error(world, answer),
    }
}

/// Answers of engines, right and damaged, through the daemon: the client gets a whole reply or an error of ours.
#[test]
fn daemon_replies() {
    fuzz(&Target {
        name: "daemon_replies",
        executions: 500,
        make: |c| {
            let mut input: Vec<u8> = (0..HEAD_BYTES).map(|_| c.byte()).collect();
            let from_chat = input[0] & 1 > 0;
            input.extend(engine_answer(c, from_chat));
            input
        },
        check: |input| {
            let world = world();
            let (head, bytes) = input.split_at(input.len().min(HEAD_BYTES));
            let mut c = Choices::new(head);
            let flags = c.byte();
            let (from_chat, to_chat, stream) = (flags & 1 > 0, flags & 2 > 0, flags & 4 > 0);
            *world.engine.lock().unwrap() = cut(&mut c, bytes).into_iter().map(<[u8]>::to_vec).collect();
            let (target, model) = (
                if to_chat { "/v1/chat/completions" } else { "/v1/messages" },
                if from_chat { "chat" } else { "messages" },
            );
            let body = format!(
                r#"{{"model":"{model}","max_tokens":9,"stream":{stream},"messages":[{{"role":"user","content":"x"}}]}}"#
            );
            let length = body.len();
            let text = format!("POST {target} HTTP/1.1\r\nhost: f\r\ncontent-length: {length}\r\n\r\n{body}");
            world.runtime.block_on(async {
                let done = |got: &[u8]| answers(got).map_or(true, |all| !all.is_empty());
                let got = exchange(world, &[text.as_bytes()], done, PATIENCE).await?;
                match answers(&got)?.as_slice() {
                    [answer] if !answer.closes => check_reply(world, answer, stream, to_chat)?,
                    all => return Err(format!("{} answers: {}", all.len(), got.escape_ascii())),
                }
                settled(world).await
            })
        },
    });
}
