//! What all requests share, and what a reload exchanges.
use crate::config::Config;
use crate::decision::{Decider, Fleet};
use crate::engine::Engine;
use crate::ids::Ids;
use crate::metrics::{Gauge, Metrics};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::watch;

/// The daemon, as requests see it.
pub struct App {
    /// Figures.
    pub metrics: Metrics,
    /// Ids of requests.
    pub ids: Ids,
    /// The way to the scheduler.
    pub decider: Decider,
    /// True once listeners are to close and connections to end.
    pub drain: watch::Sender<bool>,
    /// `/ready` says 503: nobody is to send more.
    pub leaving: AtomicBool,
    state: RwLock<Arc<State>>,
}

/// What follows from one configuration.
pub struct State {
    /// The configuration.
    pub config: Arc<Config>,
    /// Engines, in the order of the configuration.
    pub engines: Vec<Arc<Engine>>,
    /// What the scheduler is set up with.
    pub fleet: Arc<Fleet>,
    /// Tenants by their index in the policy.
    pub tenants: Vec<Arc<Tenant>>,
}

/// A tenant at work.
#[derive(Debug)]
pub struct Tenant {
    /// Its name in the policy.
    pub name: String,
    /// Declared tokens that it may have in flight.
    pub tokens_max: Option<u64>,
    /// Its answers explain the decision.
    pub debug: bool,
    /// Models that it may ask for; `None` for all.
    pub models: Option<Vec<String>>,
    /// Requests that are held or run.
    pub running: Gauge,
}

impl App {
    /// The daemon with its first configuration.
    ///
    /// # Errors
    /// What is missing on this system.
    pub fn new(decider: Decider, state: State) -> Result<Self, String> {
        Ok(App {
            metrics: Metrics::default(),
            ids: Ids::new()?,
            decider,
            drain: watch::Sender::new(false),
            leaving: AtomicBool::new(false),
            state: RwLock::new(Arc::new(state)),
        })
    }

    /// What is configured now.
    pub fn state(&self) -> Arc<State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Exchanges what is configured; requests under way keep what they began with.
    pub fn exchange(&self, state: State) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(state);
    }
}

impl State {
    /// What follows from a configuration. Engines and tenants that are as before keep their counts.
    ///
    /// # Errors
    /// What an engine cannot be reached by, such as a file of certificates.
    pub fn new(config: Arc<Config>, before: Option<&State>) -> Result<Self, String> {
        let engines = config.engines.iter().map(|settings| {
            let same =
                before.and_then(|b| b.engines.iter().find(|e| e.settings == *settings && b.same_limits(&config)));
            same.map_or_else(|| Engine::new(settings.clone(), &config.limits).map(Arc::new), |e| Ok(e.clone()))
        });
        let engines = engines.collect::<Result<Vec<_>, String>>()?;
        let tenants = config.policy.tenants().iter().map(|name| {
            let settings = config.tenants.get(name).cloned().unwrap_or_default();
            let running = before.and_then(|b| b.tenants.iter().find(|t| t.name == *name)).map(|t| t.running.clone());
            Arc::new(Tenant {
                name: name.clone(),
                tokens_max: settings.tokens_max,
                debug: settings.debug,
                models: settings.models,
                running: running.unwrap_or_default(),
            })
        });
        let fleet = Arc::new(Fleet::new(&config, engines.clone())?);
        Ok(State { tenants: tenants.collect(), engines, fleet, config })
    }

    fn same_limits(&self, config: &Config) -> bool {
        self.config.limits == config.limits
    }
}
