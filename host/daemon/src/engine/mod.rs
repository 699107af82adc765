//! Engines: the one that is built in, and those behind a URL.
pub mod breaker;
mod echo;
mod echo_text;
mod link;
pub mod load;
mod parts;
mod quiet;
mod upstream;
mod voice;

pub use echo_text::count_tokens;
pub use load::Load;
pub use parts::Parts;

use crate::clock::now_ms;
use crate::config::{EngineKind, EngineSettings, Limits};
use crate::log;
use crate::metrics::{Count, Entered, Gauge};
use breaker::{Allow, Breaker};
use bytes::Bytes;
use forebay_messages::Api;
use hyper::HeaderMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use upstream::Probe;

/// An engine at work.
pub struct Engine {
    /// What the configuration says.
    pub settings: EngineSettings,
    /// Its name.
    pub name: Arc<str>,
    /// Requests that have a place on it.
    pub running: Gauge,
    /// Requests sent to it.
    pub requests: Count,
    /// Of these, those that it failed.
    pub failures: Count,
    /// Connections opened to it.
    pub connects: Arc<Count>,
    /// Its breaker.
    pub breaker: Breaker,
    /// What it says of its load.
    pub load: load::Told,
    voice: voice::Voice,
    /// Times in a row that it could not be reached, with nothing heard of it in between.
    silent: AtomicU64,
    way: Way,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Engine").field(&self.name).finish()
    }
}

enum Way {
    Echo(echo::Echo),
    Upstream(Box<upstream::Upstream>),
}

/// A request to an engine.
pub struct Call {
    /// What the body is written for.
    pub api: Api,
    /// Headers that go along: `anthropic-version`, `anthropic-beta`, the request's id.
    pub headers: HeaderMap,
    /// The body; streamed replies are asked for in it.
    pub body: Parts,
}

/// What an engine answered that is no stream.
#[derive(Debug)]
pub enum Failure {
    /// No connection, or the connection ended before a status came: nothing has been seen of the request's effect.
    Unreachable(String),
    /// A status other than 200.
    Status {
        /// The status.
        status: u16,
        /// What came with it, cut.
        body: Bytes,
        /// The wait that the engine told, ms.
        retry_after_ms: Option<u64>,
    },
}

/// What an engine sends of a reply.
pub enum Source {
    /// From the engine that is built in.
    Echo(Box<echo::EchoStream>),
    /// From a connection.
    Upstream(Box<link::Flow>),
}

impl Source {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// What broke.
    pub async fn next(&mut self) -> Result<Option<Bytes>, String> {
        match self {
            Source::Echo(stream) => stream.next().await,
            Source::Upstream(body) => body.next().await,
        }
    }
}

/// A place on an engine, until it is dropped.
#[derive(Debug)]
pub struct Place {
    /// The engine.
    pub engine: Arc<Engine>,
    _entered: Entered,
    /// The breaker waits to hear how this one went.
    trial: bool,
}

impl Place {
    /// The engine answered.
    pub fn success(&mut self) {
        self.trial = false;
        self.engine.succeeded();
    }

    /// The engine failed.
    pub fn failure(&mut self) {
        self.trial = false;
        self.engine.failures.add(1);
        self.engine.failed();
    }

    /// The engine could not be reached.
    pub fn unreachable(&mut self) {
        self.engine.silent.fetch_add(1, Relaxed);
        self.failure();
    }

    /// Does the breaker wait to hear how this one went?
    pub fn is_trial(&self) -> bool {
        self.trial
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.trial {
            self.engine.breaker.undecided();
        }
    }
}

impl Engine {
    /// An engine, not asked for anything yet.
    ///
    /// # Errors
    /// Certificates that cannot be used.
    pub fn new(settings: EngineSettings, limits: &Limits) -> Result<Self, String> {
        let connects = Arc::new(Count::default());
        let way = match settings.kind {
            EngineKind::Echo => Way::Echo(echo::Echo::new(settings.echo)),
            EngineKind::Messages | EngineKind::Chat => {
                Way::Upstream(Box::new(upstream::Upstream::new(&settings, limits, connects.clone())?))
            }
        };
        Ok(Engine {
            name: Arc::from(settings.name.as_str()),
            settings,
            running: Gauge::default(),
            requests: Count::default(),
            failures: Count::default(),
            connects,
            breaker: Breaker::new(limits.breaker_failures, limits.breaker_open_ms),
            load: load::Told::default(),
            voice: voice::Voice::default(),
            silent: AtomicU64::new(0),
            way,
        })
    }

    /// The API that it is asked by for a request of `api`; `None` if it cannot serve that.
    pub fn speaks(&self, api: Api) -> Option<Api> {
        self.settings.speaks(api)
    }

    /// Sends a request; comes back when the engine has said that it will stream.
    ///
    /// # Errors
    /// What it said instead.
    pub async fn send(&self, call: Call) -> Result<Source, Failure> {
        self.requests.add(1);
        match &self.way {
            Way::Echo(echo) => echo.send(&call).map(|stream| Source::Echo(Box::new(stream))),
            Way::Upstream(upstream) => upstream.send(call).await.map(|flow| Source::Upstream(Box::new(flow))),
        }
    }

    /// Asks for a count of tokens; `None` if the engine does not count.
    pub async fn count(&self, call: Call) -> Option<u64> {
        match &self.way {
            Way::Echo(_) => serde_json::from_slice(&call.body.whole()).ok().map(|body| count_tokens(&body)),
            Way::Upstream(upstream) if self.settings.kind == EngineKind::Messages => upstream.count(call).await,
            Way::Upstream(_) => None,
        }
    }

    fn succeeded(&self) {
        if self.breaker.success() {
            self.say("info", "engine_up");
        }
    }

    fn failed(&self) {
        if self.breaker.failure(now_ms()) {
            self.say("error", "engine_down");
        }
    }

    /// Its state has changed.
    fn say(&self, level: &str, what: &str) {
        let mut line = log::start(level, what);
        log::text(&mut line, "engine", &self.name);
        log::number(&mut line, "failures", self.failures.get());
        log::number(&mut line, "repeats", self.voice.repeats());
        log::finish(line);
    }

    /// What a request has come to on it, which no client is told: a line, unless the same has had one of late.
    pub fn note(&self, request_id: &str, why: &str) {
        let Some(repeats) = self.voice.line(why, now_ms()) else {
            return;
        };
        let mut line = log::start("warn", "engine");
        log::text(&mut line, "engine", &self.name);
        log::text(&mut line, "request_id", request_id);
        log::text(&mut line, "why", why);
        log::number(&mut line, "repeats", repeats);
        log::finish(line);
    }

    /// Something has come from it.
    pub fn heard(&self) {
        // mostly it is 0 as it is, and the line stays shared
        if self.silent.load(Relaxed) != 0 {
            self.silent.store(0, Relaxed);
        }
    }

    /// It is gone with all that it had: left alone by its breaker, and as often as that takes it could not even be
    /// reached, nor has anything come of what runs on it. One that answers badly, or late, is not gone.
    pub fn is_gone(&self) -> bool {
        self.breaker.is_open() && self.silent.load(Relaxed) >= self.breaker.failures_max()
    }

    /// A place for a request that the scheduler has given it.
    pub fn enter(self: &Arc<Self>, now_ms: u64) -> Place {
        let trial = self.breaker.allow(now_ms) == Allow::Trial;
        Place { _entered: self.running.enter(), trial, engine: self.clone() }
    }

    /// Asks for its load; true if there is something new to say of it. One that is being asked is not asked again.
    pub async fn read_load(&self) -> bool {
        match &self.way {
            Way::Upstream(upstream) => self.load.read(&self.name, |page| upstream.page(page)).await,
            Way::Echo(_) => false,
        }
    }

    /// Asks whether it is there, and tells the breaker; that it is there closes only a breaker that waits for a trial.
    pub async fn probe(&self) {
        let open = self.breaker.is_open();
        match &self.way {
            Way::Upstream(upstream) => match upstream.probe().await {
                Probe::Well => {
                    self.heard();
                    if open {
                        self.succeeded();
                    }
                }
                Probe::Ill => {
                    self.heard();
                    self.failed();
                }
                Probe::Late => self.failed(),
                Probe::Unreachable => {
                    self.silent.fetch_add(1, Relaxed);
                    self.failed();
                }
            },
            Way::Echo(_) if open => self.succeeded(),
            Way::Echo(_) => {}
        }
    }
}
