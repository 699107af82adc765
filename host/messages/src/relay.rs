//! From the bytes of an engine to the bytes of a client.
use crate::{
    api::{Api, Dialect},
    assemble::{split_chat, split_messages, ChatReply, MessagesReply},
    convert::{ChatToMessages, MessagesToChat},
    error::{ApiError, ErrorKind},
    sse::{self, Parser},
    stream::{ChatGuard, ChatOptions, MessagesGuard, MessagesOptions, Seen, Sink},
};

/// What a relay has to know of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayOptions {
    /// The API that the engine answers in: [`Api::Messages`], [`Api::Chat`] or [`Api::Completions`].
    pub engine: Api,
    /// The API that the client has asked in; the same ones.
    pub client: Api,
    /// Does the client get an event stream, or a whole reply?
    pub stream: bool,
    /// Id of the reply where the engine has none of the right form: `msg_...`, `chatcmpl-...`, `cmpl-...`.
    pub id: String,
    /// Id of the request, for errors.
    pub request_id: String,
    /// The model by the name that the client asked for.
    pub model: String,
    /// When the reply was made, in seconds since 1970; only chat and completions say so.
    pub created_s: u64,
    /// Does a chat client want the usage at the end of its stream? Whole replies always have it.
    pub include_usage: bool,
    /// Input tokens, if they are known before the engine says them.
    pub input_tokens: Option<u64>,
    /// Replies that were asked for, `n`.
    pub choices: u32,
    /// Stop sequences that the engine may let through; of chat and completions engines only. Empty: it does not.
    pub stop: Vec<String>,
    /// Each delta of the engine repeats the text so far; of chat and completions engines only.
    pub cumulative: bool,
}

impl RelayOptions {
    /// For a client that gets a stream of the API that the engine speaks, with nothing known beforehand.
    pub fn new(engine: Api, client: Api, stream: bool) -> Self {
        RelayOptions {
            engine,
            client,
            stream,
            id: String::new(),
            request_id: String::new(),
            model: String::new(),
            created_s: 0,
            include_usage: false,
            input_tokens: None,
            choices: 1,
            stop: Vec::new(),
            cumulative: false,
        }
    }
}

/// What a step has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The first token came in this step (see [`Seen::first_token`]).
    pub first_token: bool,
    /// The reply is at its end, right or wrong: the client has all that it gets. If the engine still sends, it may be
    /// cut off.
    pub ended: bool,
}

enum Guard {
    Messages(MessagesGuard),
    Chat(ChatGuard),
}

enum Converter {
    None,
    ToChat(MessagesToChat),
    ToMessages(ChatToMessages),
}

enum Tail {
    Stream,
    Messages(MessagesReply),
    Chat(ChatReply),
}

struct Pipe {
    guard: Guard,
    converter: Converter,
    tail: Tail,
}

/// One reply on its way.
///
/// Nothing is written before the first token, or the end: until then an error still becomes an answer with a status of
/// its own, and the request may still go to another engine. [`Relay::release`] writes the head earlier.
///
/// ```
/// use forebay_messages::{Api, Relay, RelayOptions};
///
/// let mut relay = Relay::new(&RelayOptions::new(Api::Chat, Api::Messages, true))?;
/// let mut out = Vec::new();
/// let chunk = br#"{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}"#;
/// relay.push(b"data: ", &mut out)?;
/// relay.push(chunk, &mut out)?;
/// assert!(out.is_empty());
/// let progress = relay.push(b"\n\ndata: [DONE]\n\n", &mut out)?;
/// assert!(progress.first_token && progress.ended);
/// assert!(out.starts_with(b"event: message_start\n") && out.ends_with(b"data: {\"type\":\"message_stop\"}\n\n"));
/// # Ok::<(), forebay_messages::ApiError>(())
/// ```
pub struct Relay {
    parser: Parser,
    pipe: Pipe,
    client: Api,
    request_id: String,
    stream: bool,
    /// What is written before the first token.
    held: Vec<u8>,
    /// The client has got, or is getting, something.
    open: bool,
    done: bool,
}

impl Relay {
    /// A relay for one reply. Completions can be answered by completions only: 400.
    pub fn new(options: &RelayOptions) -> Result<Self, ApiError> {
        let converter = match (options.engine, options.client) {
            (Api::Messages, Api::Messages) | (Api::Chat, Api::Chat) | (Api::Completions, Api::Completions) => {
                Converter::None
            }
            (Api::Messages, Api::Chat) => Converter::ToChat(MessagesToChat::new(options)),
            (Api::Chat, Api::Messages) => Converter::ToMessages(ChatToMessages::new(options)),
            (engine, client) => {
                let message = format!("no {} reply can be made of a {} one", client.name(), engine.name());
                return Err(ApiError::new(ErrorKind::InvalidRequest, message));
            }
        };
        let guard = match options.engine {
            Api::Messages | Api::CountTokens => Guard::Messages(MessagesGuard::new(MessagesOptions {
                id: options.id.clone(),
                model: options.model.clone(),
                input_tokens: options.input_tokens,
            })),
            Api::Chat | Api::Completions => Guard::Chat(ChatGuard::new(ChatOptions {
                completions: options.engine == Api::Completions,
                id: options.id.clone(),
                model: options.model.clone(),
                created_s: options.created_s,
                include_usage: options.include_usage || !options.stream || options.client == Api::Messages,
                input_tokens: options.input_tokens,
                choices: options.choices,
                stop: options.stop.clone(),
                cumulative: options.cumulative,
            })),
        };
        let tail = match (options.stream, options.client) {
            (true, _) => Tail::Stream,
            (false, Api::Messages | Api::CountTokens) => Tail::Messages(MessagesReply::default()),
            (false, Api::Chat | Api::Completions) => Tail::Chat(ChatReply::new(options.client == Api::Completions)),
        };
        Ok(Relay {
            parser: Parser::default(),
            pipe: Pipe { guard, converter, tail },
            client: options.client,
            request_id: options.request_id.clone(),
            stream: options.stream,
            held: Vec::new(),
            open: false,
            done: false,
        })
    }

    /// Takes bytes of the engine's event stream, cut anywhere, and appends what the client gets to `out`.
    ///
    /// An error means that the client has got nothing yet: it is the answer. Errors that come later are written into
    /// the stream, and end it.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Progress, ApiError> {
        let before = self.pipe.seen().first_token;
        self.parser.push(bytes);
        while !self.pipe.seen().ended {
            match self.parser.next() {
                Ok(None) => break,
                Ok(Some(event)) => {
                    let target = if self.open { &mut *out } else { &mut self.held };
                    self.pipe.event(event.name, event.data, target);
                }
                Err(error) => {
                    let message = format!("the engine's stream cannot be read: {error}");
                    self.pipe.fail(ApiError::new(ErrorKind::BadGateway, message));
                }
            }
        }
        self.settle(before, out)
    }

    /// The engine's stream has ended, as it should or not.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<Progress, ApiError> {
        let before = self.pipe.seen().first_token;
        let target = if self.open { &mut *out } else { &mut self.held };
        if !self.pipe.seen().ended {
            match self.parser.finish() {
                Ok(Some(event)) => self.pipe.event(event.name, event.data, target),
                Ok(None) => {}
                Err(error) => {
                    let message = format!("the engine's stream cannot be read: {error}");
                    self.pipe.fail(ApiError::new(ErrorKind::BadGateway, message));
                }
            }
        }
        self.pipe.finish(target);
        self.settle(before, out)
    }

    /// The reply cannot go on: the engine is gone, stalls, or the server stops. The client gets this error, in the
    /// stream or as the answer.
    pub fn fail(&mut self, error: ApiError, out: &mut Vec<u8>) -> Result<Progress, ApiError> {
        let before = self.pipe.seen().first_token;
        self.pipe.fail(error);
        self.settle(before, out)
    }

    /// The engine has answered with a whole reply although a stream was asked for.
    pub fn whole(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<Progress, ApiError> {
        let before = self.pipe.seen().first_token;
        let mut events = Events::default();
        let split = match &self.pipe.guard {
            Guard::Messages(_) => split_messages(body, &mut events),
            Guard::Chat(_) => split_chat(body, &mut events),
        };
        let target = if self.open { &mut *out } else { &mut self.held };
        match split {
            Ok(()) => {
                for (name, data) in &events.0 {
                    self.pipe.event(name, data, target);
                }
                self.pipe.finish(target);
            }
            Err(error) => self.pipe.fail(error),
        }
        self.settle(before, out)
    }

    /// Writes the head of a stream before the first token, for a client that has waited long. From here on an error
    /// comes inside the stream.
    pub fn release(&mut self, out: &mut Vec<u8>) {
        if self.stream && !self.done {
            self.open = true;
            if self.held.is_empty() {
                sse::comment(out);
            }
            out.append(&mut self.held);
        }
    }

    /// Appends what keeps an idle stream alive; nothing for whole replies, and nothing before the first token.
    pub fn ping(&self, out: &mut Vec<u8>) {
        if !self.open || self.done {
            return;
        }
        match self.client {
            Api::Messages if self.pipe.has_started() => sse::write(out, "ping", r#"{"type":"ping"}"#),
            _ => sse::comment(out),
        }
    }

    /// What has come from the engine so far.
    pub fn seen(&self) -> &Seen {
        self.pipe.seen()
    }

    /// Has the client got something, so that the status is out?
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Moves what is due to the client, and ends the stream if it is over.
    fn settle(&mut self, first_before: bool, out: &mut Vec<u8>) -> Result<Progress, ApiError> {
        let first_token = !first_before && self.pipe.seen().first_token;
        if self.done {
            return Ok(Progress { first_token, ended: true });
        }
        let ended = self.pipe.seen().ended;
        self.done = ended;
        if let Some(error) = self.pipe.seen().error.clone() {
            if !self.open {
                self.held.clear();
                return Err(error);
            }
            let dialect = self.client.dialect();
            let name = if dialect == Dialect::Anthropic { "error" } else { "" };
            sse::write(out, name, &error.body(dialect, &self.request_id));
            return Ok(Progress { first_token, ended });
        }
        if ended || (self.stream && self.pipe.seen().first_token) {
            self.open = true;
            out.append(&mut self.held);
        }
        if ended {
            match &mut self.pipe.tail {
                Tail::Stream => {}
                Tail::Messages(reply) => out.extend_from_slice(reply.body().as_bytes()),
                Tail::Chat(reply) => out.extend_from_slice(reply.body().as_bytes()),
            }
        }
        Ok(Progress { first_token, ended })
    }
}

/// Events of a whole reply, kept for a moment.
#[derive(Default)]
struct Events(Vec<(String, String)>);

impl Sink for Events {
    fn event(&mut self, name: &str, data: &str) {
        self.0.push((name.to_owned(), data.to_owned()));
    }
}

/// A converter and what is behind it.
struct Through<'a, C>(&'a mut C, &'a mut dyn Sink);

impl Sink for Through<'_, MessagesToChat> {
    fn event(&mut self, name: &str, data: &str) {
        self.0.event(name, data, self.1);
    }
}

impl Sink for Through<'_, ChatToMessages> {
    fn event(&mut self, _: &str, data: &str) {
        self.0.event(data, self.1);
    }
}

impl Pipe {
    fn seen(&self) -> &Seen {
        match &self.guard {
            Guard::Messages(guard) => guard.seen(),
            Guard::Chat(guard) => guard.seen(),
        }
    }

    fn has_started(&self) -> bool {
        match &self.guard {
            Guard::Messages(guard) => guard.has_started(),
            Guard::Chat(_) => true,
        }
    }

    fn fail(&mut self, error: ApiError) {
        match &mut self.guard {
            Guard::Messages(guard) => guard.fail(error),
            Guard::Chat(guard) => guard.fail(error),
        }
    }

    fn event(&mut self, name: &str, data: &str, out: &mut Vec<u8>) {
        self.step(out, |guard, sink| match guard {
            Guard::Messages(guard) => guard.event(name, data, sink),
            Guard::Chat(guard) => guard.event(data, sink),
        });
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.step(out, |guard, sink| match guard {
            Guard::Messages(guard) => guard.finish(sink),
            Guard::Chat(guard) => guard.finish(sink),
        });
    }

    fn step(&mut self, out: &mut Vec<u8>, run: impl FnOnce(&mut Guard, &mut dyn Sink)) {
        let tail: &mut dyn Sink = match &mut self.tail {
            Tail::Stream => out,
            Tail::Messages(reply) => reply,
            Tail::Chat(reply) => reply,
        };
        match &mut self.converter {
            Converter::None => run(&mut self.guard, tail),
            Converter::ToChat(converter) => run(&mut self.guard, &mut Through(converter, tail)),
            Converter::ToMessages(converter) => run(&mut self.guard, &mut Through(converter, tail)),
        }
    }
}
