//! Start, reload and end.
use crate::admin::Admin;
use crate::app::{App, State};
use crate::config::{Config, Limits};
use crate::decision::{Decider, Devices};
use crate::engine::breaker::Allow;
use crate::engine::Engine;
use crate::log;
use crate::server::{Handed, Listener, TlsSlot};
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet};

/// How often the end of the last connection is looked for.
const DRAIN_LOOK: Duration = Duration::from_millis(5);

/// Nobody is kept waiting longer for what engines say of their load.
const FIRST_LOAD_TIME: Duration = Duration::from_secs(1);

/// A running daemon.
pub struct Daemon {
    app: Arc<App>,
    listeners: Vec<Listener>,
    tls: Vec<Arc<TlsSlot>>,
    admin: Option<Admin>,
    probes: JoinHandle<()>,
    loads: JoinHandle<()>,
    devices: Devices,
}

impl Daemon {
    /// Binds all listeners and starts to serve.
    ///
    /// # Errors
    /// What is in the way, with what to do about it.
    pub async fn start(config: Config) -> Result<Self, String> {
        Self::start_with(config, Handed::default(), Devices::default()).await
    }

    /// The same with sockets that were handed over, for the addresses that they are bound to, and with devices that
    /// `[scheduler] device` may name.
    ///
    /// # Errors
    /// Those of [`Daemon::start`], a socket that no address of the configuration is for, and a device that is not there.
    pub async fn start_with(config: Config, mut handed: Handed, devices: Devices) -> Result<Self, String> {
        devices.check(&config.scheduler.device)?;
        handed.check(config.listen.iter().map(|l| l.address).chain(config.admin))?;
        let config = Arc::new(config);
        let state = State::new(config.clone(), None)?;
        let app = Arc::new(App::new(Decider::start(state.fleet.clone(), devices.clone())?, state)?);
        first_loads(&app).await;
        let listen = |l| Listener::start(l, app.clone(), &mut handed);
        let listeners = config.listen.iter().map(listen).collect::<Result<Vec<_>, String>>()?;
        let admin = config.admin.map(|address| Admin::start(address, app.clone(), &mut handed)).transpose()?;
        let tls = listeners.iter().filter_map(|l| l.tls.clone()).collect();
        let probes = tokio::spawn(probe(app.clone()));
        let loads = tokio::spawn(follow_loads(app.clone()));
        for listener in &listeners {
            let socket = if listener.handed { "handed over" } else { "bound" };
            log::event("info", "listening", &[("address", &listener.address.to_string()), ("socket", socket)]);
        }
        Ok(Daemon { app, listeners, tls, admin, probes, loads, devices })
    }

    /// Where clients come to, in the order of the configuration.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().map(|l| l.address).collect()
    }

    /// Where operators come to.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(|a| a.address)
    }

    /// What all requests share.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Reads the configuration and all its files again. What is not sound is refused whole: all stays as it was.
    ///
    /// # Errors
    /// What is wrong, with its line.
    pub async fn reload(&self) -> Result<(), String> {
        let before = self.app.state();
        let result = match Config::load(&before.config.file) {
            Ok(config) => self.exchange(config).await,
            Err(error) => Err(error.to_string()),
        };
        self.app.metrics.reloads[usize::from(result.is_err())].add(1);
        match &result {
            Ok(()) => log::event("info", "reloaded", &[]),
            Err(why) => log::event("error", "reload_refused", &[("why", why)]),
        }
        result
    }

    /// Takes another configuration.
    ///
    /// # Errors
    /// What it asks for that needs a restart, or what the scheduler does not take.
    pub async fn exchange(&self, config: Config) -> Result<(), String> {
        let before = self.app.state();
        let file = config.file.display().to_string();
        if config.listen != before.config.listen || config.admin != before.config.admin {
            return Err(format!(
                "{file}: an address or a certificate file of [[listen]] or [admin] differs; restart for that"
            ));
        }
        if config.threads != before.config.threads {
            return Err(format!("{file}: threads differs; restart for that"));
        }
        self.devices.check(&config.scheduler.device).map_err(|e| format!("{file}: {e}"))?;
        let config = Arc::new(config);
        let state = State::new(config, Some(&before))?;
        let certificates = self.tls.iter().map(|slot| slot.read()).collect::<Result<Vec<_>, String>>()?;
        self.app.decider.exchange(state.fleet.clone()).await?;
        self.tls.iter().zip(certificates).for_each(|(slot, config)| slot.set(config));
        self.app.exchange(state);
        Ok(())
    }

    /// Ends: no more connections, those that are there to their end, within the limits.
    pub async fn drain(self) {
        let limits = self.app.state().config.limits.clone();
        self.app.leaving.store(true, Relaxed);
        log::event("info", "draining", &[]);
        tokio::time::sleep(Limits::ms(limits.drain_wait_ms)).await;
        self.app.drain.send_replace(true);
        // the next process answers from here on; without one, this one does to its end
        let admin = self.admin.filter(|admin| !admin.handed);
        for listener in self.listeners {
            listener.closed().await;
        }
        log::event("info", "listeners_closed", &[]);
        let end = tokio::time::Instant::now() + Limits::ms(limits.drain_timeout_ms);
        while self.app.metrics.connections.get() > 0 && tokio::time::Instant::now() < end {
            tokio::time::sleep(DRAIN_LOOK).await;
        }
        self.probes.abort();
        self.loads.abort();
        drop(admin);
        let left = self.app.metrics.in_progress.get().to_string();
        log::event("info", "drained", &[("cut_off", &left)]);
    }
}

/// Asks an engine for its load, and lets the scheduler know.
async fn ask_load(app: Arc<App>, engine: Arc<Engine>) {
    if engine.read_load().await {
        app.decider.loaded(engine);
    }
}

/// Before anybody is let in: what do engines have? Whoever does not say in time is asked again later.
async fn first_loads(app: &Arc<App>) {
    let state = app.state();
    if state.config.limits.load_interval_ms == 0 {
        return;
    }
    let mut all = JoinSet::new();
    for engine in state.engines.iter().cloned() {
        all.spawn(ask_load(app.clone(), engine));
    }
    let every = async { while all.join_next().await.is_some() {} };
    if tokio::time::timeout(FIRST_LOAD_TIME, every).await.is_err() {
        log::event("info", "load_not_waited_for", &[]);
    }
}

/// Asks each engine for its load from time to time, each by a task of its own: none waits for another.
async fn follow_loads(app: Arc<App>) {
    loop {
        let interval_ms = app.state().config.limits.load_interval_ms;
        if interval_ms == 0 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            continue;
        }
        tokio::time::sleep(Duration::from_millis(interval_ms)).await;
        for engine in app.state().engines.clone() {
            tokio::spawn(ask_load(app.clone(), engine));
        }
    }
}

/// Asks each engine from time to time whether it is there.
async fn probe(app: Arc<App>) {
    loop {
        let interval_ms = app.state().config.limits.probe_interval_ms;
        if interval_ms == 0 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            continue;
        }
        tokio::time::sleep(Duration::from_millis(interval_ms)).await;
        for engine in app.state().engines.clone() {
            // an open breaker is closed by a probe only when its time is over: an engine may answer that it is well
            // and serve nobody
            if engine.breaker.allow(crate::clock::now_ms()) != Allow::No {
                tokio::spawn(async move { engine.probe().await });
            }
        }
    }
}
