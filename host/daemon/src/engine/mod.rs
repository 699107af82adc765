//! Engines: the one that is built in, and those behind a URL.
pub mod breaker;
mod echo;
mod echo_text;
mod link;
mod upstream;

pub use echo_text::count_tokens;

use crate::clock::now_ms;
use crate::config::{EngineKind, EngineSettings, Limits};
use crate::metrics::{Count, Entered, Gauge};
use breaker::{Allow, Breaker};
use bytes::Bytes;
use forebay_messages::Api;
use hyper::HeaderMap;
use std::sync::Arc;

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
    way: Way,
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
    pub body: Bytes,
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
        self.engine.breaker.success();
    }

    /// The engine failed.
    pub fn failure(&mut self) {
        self.trial = false;
        self.engine.failures.add(1);
        self.engine.breaker.failure(now_ms());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.trial {
            self.engine.breaker.undecided();
        }
    }
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPlace {
    /// No engine has this model for this API.
    Unknown,
    /// Those that have it are all left alone by their breakers.
    Dead,
    /// Those that are alive have as many requests as they may; the sum of what they may.
    Full(u64),
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
            way,
        })
    }

    /// The API that it is asked by for a request of `api`; `None` if it cannot serve that.
    pub fn speaks(&self, api: Api) -> Option<Api> {
        match (self.settings.kind, api) {
            (EngineKind::Echo, api) => Some(api),
            (_, Api::CountTokens) => None,
            (EngineKind::Messages, Api::Messages | Api::Chat) => Some(Api::Messages),
            (EngineKind::Messages, Api::Completions) => None,
            (EngineKind::Chat, Api::Messages | Api::Chat) => Some(Api::Chat),
            (EngineKind::Chat, Api::Completions) => Some(Api::Completions),
        }
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
            Way::Echo(_) => serde_json::from_slice(&call.body).ok().map(|body| count_tokens(&body)),
            Way::Upstream(upstream) if self.settings.kind == EngineKind::Messages => upstream.count(call).await,
            Way::Upstream(_) => None,
        }
    }

    /// Asks whether it is there, and tells the breaker; that it is there closes only a breaker that waits for a trial.
    pub async fn probe(&self) {
        let open = self.breaker.is_open();
        match &self.way {
            Way::Upstream(upstream) => match upstream.probe().await {
                true if open => self.breaker.success(),
                true => {}
                false => self.breaker.failure(now_ms()),
            },
            Way::Echo(_) if open => self.breaker.success(),
            Way::Echo(_) => {}
        }
    }
}

/// Takes a place for a model on the engine that has the fewest requests, from `turn` on, and not on one of `tried`.
///
/// # Errors
/// Why there is none.
pub fn place(
    engines: &[Arc<Engine>],
    api: Api,
    model: Option<&str>,
    turn: u64,
    tried: &[Arc<str>],
) -> Result<Place, NoPlace> {
    let serves = |e: &&Arc<Engine>| e.speaks(api).is_some() && model.is_none_or(|m| e.settings.serves(m));
    let mut able: Vec<&Arc<Engine>> = engines.iter().filter(serves).collect();
    if able.is_empty() {
        return Err(NoPlace::Unknown);
    }
    able.retain(|e| !tried.contains(&e.name));
    let turn = turn as usize % able.len().max(1);
    able.rotate_left(turn);
    able.sort_by_key(|e| e.running.get());
    let mut full = 0;
    for engine in able {
        if !engine.breaker.is_alive(now_ms()) {
            continue;
        }
        let entered = engine.running.enter();
        if entered.value() > engine.settings.requests_max {
            full += engine.settings.requests_max;
            continue;
        }
        match engine.breaker.allow(now_ms()) {
            Allow::No => {}
            allow => return Ok(Place { engine: engine.clone(), _entered: entered, trial: allow == Allow::Trial }),
        }
    }
    Err(if full > 0 { NoPlace::Full(full) } else { NoPlace::Dead })
}
