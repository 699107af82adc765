//! An engine with a fixed answer: no model, and no delay unless asked for. It listens on the loopback alone.
use bytes::Bytes;
use clap::Args;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// Of a body so many bytes at either end are looked at for `stream`: a long prompt costs nothing here.
const LOOKED_AT_BYTES: usize = 512;

/// What the engine is.
#[derive(Args)]
pub(crate) struct Options {
    /// Port of the loopback.
    #[arg(long, default_value_t = 9000)]
    port: u16,
    /// Tokens of the answer.
    #[arg(long, default_value_t = 20)]
    tokens: u32,
    /// Time to the first token, us.
    #[arg(long, default_value_t = 0)]
    first_us: u64,
    /// Time from token to token, us.
    #[arg(long, default_value_t = 0)]
    token_us: u64,
    /// Threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// An API's answers.
struct Answers {
    whole: Bytes,
    /// Events of a stream; tokens are those in the middle.
    events: Vec<Bytes>,
}

struct Engine {
    first: Duration,
    step: Duration,
    tokens: u32,
    chat: Answers,
    messages: Answers,
}

impl Options {
    /// Serves until the process is stopped.
    pub(crate) fn run(&self) -> Result<(), String> {
        let engine = Arc::new(Engine {
            first: Duration::from_micros(self.first_us),
            step: Duration::from_micros(self.token_us),
            tokens: self.tokens,
            chat: chat(self.tokens),
            messages: messages(self.tokens),
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.threads.max(1))
            .enable_all()
            .build()
            .map_err(|e| e.to_string())?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        runtime.block_on(async move {
            let listener =
                TcpListener::bind(address).await.map_err(|e| format!("{address}: {e}; choose another port"))?;
            loop {
                let (socket, _) = listener.accept().await.map_err(|e| e.to_string())?;
                // a client that has gone is noticed by the next read
                let _ = socket.set_nodelay(true);
                let engine = engine.clone();
                tokio::spawn(async move {
                    let service = service_fn(move |request| answer(engine.clone(), request));
                    let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service).await;
                });
            }
        })
    }
}

fn words(tokens: u32) -> impl Iterator<Item = String> {
    (0..tokens).map(|i| format!("word{i} "))
}

fn chat(tokens: u32) -> Answers {
    let head = r#""id":"chatcmpl-mock","created":1700000000,"model":"mock""#;
    let usage =
        format!(r#""usage":{{"prompt_tokens":10,"completion_tokens":{tokens},"total_tokens":{}}}"#, tokens + 10);
    let text: String = words(tokens).collect();
    let whole = format!(
        r#"{{{head},"object":"chat.completion","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}],{usage}}}"#
    );
    let chunk = |choices: &str, more: &str| {
        format!("data: {{{head},\"object\":\"chat.completion.chunk\",\"choices\":[{choices}]{more}}}\n\n")
    };
    let delta = |delta: &str, finish: &str| {
        chunk(&format!(r#"{{"index":0,"delta":{delta},"finish_reason":{finish}}}"#), "").into()
    };
    let mut events: Vec<Bytes> = vec![delta(r#"{"role":"assistant","content":""}"#, "null")];
    events.extend(words(tokens).map(|word| delta(&format!(r#"{{"content":"{word}"}}"#), "null")));
    events.push(delta("{}", r#""stop""#));
    events.push((chunk("", &format!(",{usage}")) + "data: [DONE]\n\n").into());
    Answers { whole: whole.into(), events }
}

fn messages(tokens: u32) -> Answers {
    let head = r#""id":"msg_mock","type":"message","role":"assistant","model":"mock""#;
    let text: String = words(tokens).collect();
    let end = r#""stop_reason":"end_turn","stop_sequence":null"#;
    let usage = format!(r#""usage":{{"input_tokens":10,"output_tokens":{tokens}}}"#);
    let whole = format!(r#"{{{head},"content":[{{"type":"text","text":"{text}"}}],{end},{usage}}}"#);
    let event = |name: &str, rest: &str| Bytes::from(format!("event: {name}\ndata: {{\"type\":\"{name}\"{rest}}}\n\n"));
    let start = format!(
        r#","message":{{{head},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":10,"output_tokens":1}}}}"#
    );
    let mut events = vec![
        event("message_start", &start),
        event("content_block_start", r#","index":0,"content_block":{"type":"text","text":""}"#),
    ];
    events.extend(words(tokens).map(|word| {
        event("content_block_delta", &format!(r#","index":0,"delta":{{"type":"text_delta","text":"{word}"}}"#))
    }));
    events.push(event("content_block_stop", r#","index":0"#));
    let stop = format!(r#","delta":{{{end}}},"usage":{{"output_tokens":{tokens}}}"#);
    events.push(event("message_delta", &stop));
    events.push(event("message_stop", ""));
    Answers { whole: whole.into(), events }
}

/// A body that is there, or one whose pieces come.
enum Reply {
    Whole(Full<Bytes>),
    Stream(mpsc::Receiver<Bytes>),
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Reply::Whole(body) => Pin::new(body).poll_frame(cx),
            Reply::Stream(pieces) => pieces.poll_recv(cx).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Reply::Whole(body) => body.size_hint(),
            Reply::Stream(_) => SizeHint::default(),
        }
    }
}

fn reply(kind: &'static str, body: Reply) -> Response<Reply> {
    let mut response = Response::new(body);
    response.headers_mut().insert("content-type", hyper::header::HeaderValue::from_static(kind));
    response
}

fn json(body: impl Into<Bytes>) -> Response<Reply> {
    reply("application/json", Reply::Whole(Full::new(body.into())))
}

fn stream(engine: Arc<Engine>, of_messages: bool) -> Response<Reply> {
    let (pieces, body) = mpsc::channel(32);
    tokio::spawn(async move {
        let events = if of_messages { &engine.messages.events } else { &engine.chat.events };
        let mut pause = engine.first;
        for event in events {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            pause = engine.step;
            // fails when the client has gone
            if pieces.send(event.clone()).await.is_err() {
                return;
            }
        }
    });
    reply("text/event-stream", Reply::Stream(body))
}

async fn answer(engine: Arc<Engine>, request: Request<Incoming>) -> Result<Response<Reply>, hyper::Error> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    let of_messages = path.ends_with("/messages");
    if of_messages || path.ends_with("/chat/completions") {
        if wants_stream(&body) {
            return Ok(stream(engine, of_messages));
        }
        let pause = engine.first + engine.step * engine.tokens;
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        return Ok(json(if of_messages { engine.messages.whole.clone() } else { engine.chat.whole.clone() }));
    }
    // what gateways ask for when they start
    Ok(json(match path.as_str() {
        "/v1/models" => {
            r#"{"object":"list","data":[{"id":"mock","object":"model","created":1700000000,"owned_by":"mock"}]}"#
        }
        "/v1/messages/count_tokens" => r#"{"input_tokens":10}"#,
        "/get_model_info" | "/model_info" => {
            r#"{"model_path":"mock","tokenizer_path":"mock","is_generation":true,"served_model_name":"mock"}"#
        }
        "/get_server_info" | "/server_info" => {
            r#"{"model_path":"mock","served_model_name":"mock","dp_size":1,"tp_size":1,"internal_states":[{}]}"#
        }
        _ => r#"{"status":"ok"}"#,
    }))
}

fn wants_stream(body: &[u8]) -> bool {
    let n = body.len().min(LOOKED_AT_BYTES);
    let says = |part: &[u8]| {
        [&b"\"stream\":true"[..], b"\"stream\": true"].iter().any(|s| part.windows(s.len()).any(|w| w == *s))
    };
    says(&body[..n]) || says(&body[body.len() - n..])
}
