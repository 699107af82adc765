//! `/metrics`, as Prometheus reads it.
use crate::app::App;
use crate::clock::now_ms;
use crate::decision::{DeviceCounts, DeviceState, Status};
use crate::engine::{Engine, Load};
use crate::histogram::{Histogram, BOUNDS_US};
use crate::metrics::Outcome;
use forebay_decide::burst::NodeStatus;
use forebay_spec::burst::{LostReason, RefuseReason, ReleaseKind};
use std::fmt::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP forebay_{name} {help}\n# TYPE forebay_{name} {kind}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.head(name, kind, help);
        let _ = writeln!(self.0, "forebay_{name} {value}");
    }

    /// Names of labels and their values are ours: nothing of a client gets here.
    fn labelled<'a>(
        &mut self,
        (name, kind, help): (&str, &str, &str),
        label: &str,
        values: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        self.head(name, kind, help);
        for (text, value) in values {
            let _ = writeln!(self.0, "forebay_{name}{{{label}=\"{text}\"}} {value}");
        }
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.head(name, "histogram", help);
        let (bounds, count, sum_us) = histogram.totals();
        for (bound, below) in BOUNDS_US.iter().zip(bounds) {
            let _ = writeln!(self.0, "forebay_{name}_bucket{{le=\"{}\"}} {below}", *bound as f64 / 1e6);
        }
        let _ = writeln!(self.0, "forebay_{name}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(self.0, "forebay_{name}_sum {}\nforebay_{name}_count {count}", sum_us as f64 / 1e6);
    }
}

pub(super) fn page(app: &App, scheduler: Option<&Status>) -> String {
    let mut page = Page(String::with_capacity(8_192));
    requests(&mut page, app);
    connections(&mut page, app);
    decision(&mut page, app, scheduler);
    goodput(&mut page, app);
    engines(&mut page, app);
    let m = &app.metrics;
    page.histogram("decision_seconds", "From the end of a body to its decision.", &m.decision);
    page.histogram("first_token_seconds", "From the head of a request to its first token.", &m.first_token);
    page.histogram("total_seconds", "From the head of a request to the end of its reply.", &m.total);
    page.0
}

fn requests(page: &mut Page, app: &App) {
    let m = &app.metrics;
    page.one("requests_total", "counter", "Requests whose head has come.", m.requests.get());
    page.one("requests_in_progress", "gauge", "Requests that have not ended.", m.in_progress.get());
    let outcomes = Outcome::ALL.map(|o| (o.name(), m.outcome(o).get()));
    page.labelled(("outcomes_total", "counter", "Requests that have ended, each in one way."), "outcome", outcomes);
    page.labelled(("reasons_total", "counter", "Requests that did not go well, by reason."), "reason", m.reasons.all());
    page.one("cancelled_total", "counter", "Requests whose client left while an engine worked.", m.cancelled.get());
    page.one("broken_total", "counter", "Replies that an engine did not bring to their end.", m.broken.get());
    page.one("retries_total", "counter", "Attempts at another engine.", m.retries.get());
    page.one("retries_denied_total", "counter", "Retries left out for there were too many.", m.retries_denied.get());
    page.one("input_tokens_total", "counter", "Prompt tokens, as engines count.", m.input_tokens.get());
    page.one("output_tokens_total", "counter", "Tokens of replies, as engines count.", m.output_tokens.get());
    let reloads = [("taken", m.reloads[0].get()), ("refused", m.reloads[1].get())];
    page.labelled(("reloads_total", "counter", "Reloads of the configuration."), "result", reloads);
}

fn connections(page: &mut Page, app: &App) {
    let m = &app.metrics;
    page.one("connections", "gauge", "Connections open.", m.connections.get());
    page.one("connections_refused_total", "counter", "Connections over the limit.", m.connections_refused.get());
    page.one("tls_handshakes_failed_total", "counter", "TLS handshakes that failed.", m.handshakes_failed.get());
    let expired = ["header", "idle", "write"].into_iter().zip(m.connections_expired.iter().map(|c| c.get()));
    let head = ("connections_expired_total", "counter", "Connections closed by a limit of time.");
    page.labelled(head, "limit", expired);
    page.one("streams", "gauge", "Streamed replies open.", m.streams.get());
    page.one("body_bytes", "gauge", "Bytes of bodies held.", m.body_bytes.get());
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks() as u64;
    page.one("tasks", "gauge", "Tasks of the server: one a connection, and a few of its own.", tasks);
    page.one("draining", "gauge", "1 once the daemon is to be left alone.", app.leaving.load(Relaxed).into());
}

fn decision(page: &mut Page, app: &App, status: Option<&Status>) {
    let g = app.decider.gauges();
    page.one("scheduler_lost", "gauge", "1 if it does not answer any more.", app.decider.is_lost().into());
    let sound = status.is_some_and(|s| s.sound.is_ok());
    page.one("scheduler_sound", "gauge", "1 while its rules and sums hold.", sound.into());
    page.one("asked_total", "counter", "Requests put to the scheduler.", g.asked.load(Relaxed));
    page.one("seeded_total", "counter", "Of these, requests that engines had before.", g.seeded.load(Relaxed));
    page.one("held_total", "counter", "Times that a request was held.", g.held_total.load(Relaxed));
    page.one("admitted_total", "counter", "Slots granted.", g.admit.load(Relaxed));
    page.one(
        "redirected_total",
        "counter",
        "Of these, not on the engine whose turn it was.",
        g.redirected.load(Relaxed),
    );
    let refused = RefuseReason::ALL.iter().map(|r| (r.name(), g.refused_for(*r)));
    page.labelled(("refused_total", "counter", "Requests that the scheduler refused."), "reason", refused);
    page.one("rejected_total", "counter", "Requests that the scheduler rejected.", g.reject.load(Relaxed));
    let freed = [ReleaseKind::Done, ReleaseKind::Cancel, ReleaseKind::Invalid].map(|k| (k.name(), g.released(k)));
    page.labelled(("released_total", "counter", "Slots given back."), "kind", freed);
    let returned = g.returned.load(Relaxed);
    page.one("returned_total", "counter", "Slots taken back without output: the engine was gone.", returned);
    let lost = LostReason::ALL.iter().map(|r| (r.name(), g.lost[usize::from(r.code()) - 1].load(Relaxed)));
    page.labelled(("lost_total", "counter", "Slots taken back with output."), "reason", lost);
    let levels: Vec<String> = (0..g.in_flight.len()).map(|l| l.to_string()).collect();
    let running = levels.iter().map(String::as_str).zip(g.in_flight.iter().map(|n| n.load(Relaxed)));
    page.labelled(("running", "gauge", "Requests that hold a slot."), "level", running);
    page.one("held", "gauge", "Requests held.", g.held.load(Relaxed));
    let state = app.state();
    let tenants = state.tenants.iter().map(|t| (t.name.as_str(), t.running.get()));
    page.labelled(("tenant_running", "gauge", "Requests of a tenant that are held or run."), "tenant", tenants);
    let failures = DeviceCounts::FAILURES.into_iter().zip(g.device.failures.iter().map(|n| n.load(Relaxed)));
    page.labelled(("device_failures_total", "counter", "Devices that were given up, by why."), "why", failures);
    let joined = g.device.joined.load(Relaxed);
    page.one("device_joined_total", "counter", "Times that a device began to decide.", joined);
    if let Some(status) = status {
        let lost = matches!(status.device_state, DeviceState::Lost(_));
        page.one("device_lost", "gauge", "1 if the device is lost and the twin decides.", lost.into());
        nodes(page, status);
    }
}

/// What the scheduler has of engines and pools.
fn nodes(page: &mut Page, status: &Status) {
    let each = |value: fn(&NodeStatus) -> u64| status.nodes.iter().map(move |(name, n)| (name.as_str(), value(n)));
    let open = each(|n| (n.up && !n.gone && !n.overdue && !n.kv_full).into());
    page.labelled(
        ("node_open", "gauge", "1 if the scheduler gives it requests while there are slots."),
        "engine",
        open,
    );
    page.labelled(("node_used", "gauge", "Slots in use."), "engine", each(|n| n.used.into()));
    page.labelled(("node_slots", "gauge", "Slots."), "engine", each(|n| n.slots.into()));
    page.labelled(("node_debt_tokens", "gauge", "Prompt tokens not worked off."), "engine", each(|n| n.debt.into()));
    page.labelled(("node_gate_tokens", "gauge", "Prompt tokens that it may have."), "engine", each(|n| n.gate.into()));
    page.labelled(("node_kv_full", "gauge", "1 if its KV cache is full."), "engine", each(|n| n.kv_full.into()));
    let seeded = status.nodes.iter().zip(&status.seeded).map(|((name, _), seeded)| (name.as_str(), *seeded));
    page.labelled(("node_seeded", "gauge", "Slots of requests that its engine had before."), "engine", seeded);
    let rate = each(|n| n.rate.into());
    page.labelled(("node_prefill_tokens_per_second", "gauge", "As learned so far."), "engine", rate);
    let pools: Vec<String> = (0..status.held.len()).map(|p| p.to_string()).collect();
    let held = pools.iter().map(String::as_str).zip(status.held.iter().map(|n| *n as u64));
    page.labelled(("pool_held", "gauge", "Requests held, by pool of engines."), "pool", held);
    page.one("active_tenants", "gauge", "In flight, or refused of late.", status.active_tenants.into());
}

fn goodput(page: &mut Page, app: &App) {
    let goodput = &app.metrics.goodput;
    let counts = goodput.all();
    page.labelled(("goodput_total", "counter", "Decided requests, by how they were served."), "result", counts);
    page.head(
        "burst_compliance_ratio",
        "gauge",
        "Share of them that were served well; clients that left do not count.",
    );
    let _ = writeln!(page.0, "forebay_burst_compliance_ratio {:.4}", goodput.ratio());
}

fn engines(page: &mut Page, app: &App) {
    let state = app.state();
    let all = &state.engines;
    let each = |value: fn(&crate::engine::Engine) -> u64| all.iter().map(move |e| (e.settings.name.as_str(), value(e)));
    let alive = each(|e| e.breaker.is_alive(now_ms()).into());
    page.labelled(("engine_alive", "gauge", "1 if it gets requests."), "engine", alive);
    page.labelled(("engine_running", "gauge", "Requests on it."), "engine", each(|e| e.running.get()));
    page.labelled(("engine_requests_total", "counter", "Requests sent to it."), "engine", each(|e| e.requests.get()));
    page.labelled(("engine_failures_total", "counter", "Those that it failed."), "engine", each(|e| e.failures.get()));
    let head = ("engine_connects_total", "counter", "Connections opened to it.");
    page.labelled(head, "engine", each(|e| e.connects.get()));
    loads(page, all);
    page.head("engine_reuse_ratio", "gauge", "Share of its requests that found an open connection.");
    for engine in all {
        let (requests, connects) = (engine.requests.get(), engine.connects.get());
        let reused = requests.saturating_sub(connects) as f64 / requests.max(1) as f64;
        let _ = writeln!(page.0, "forebay_engine_reuse_ratio{{engine=\"{}\"}} {reused:.4}", engine.settings.name);
    }
}

/// What engines say of their load: a line for those that do.
fn loads(page: &mut Page, engines: &[Arc<Engine>]) {
    let told = |value: fn(&Engine, Load) -> Option<u64>| {
        let value = move |e: &'_ Arc<Engine>| e.load.known().and_then(|load| value(e, load));
        engines.iter().filter_map(move |e| Some((e.settings.name.as_str(), value(e)?)))
    };
    let age = told(|e, _| e.load.age_ms());
    page.labelled(("engine_load_age_milliseconds", "gauge", "Age of what it says of its load."), "engine", age);
    let running = told(|_, load| Some(load.running));
    page.labelled(("engine_load_running", "gauge", "Requests on it, as it says."), "engine", running);
    let waiting = told(|_, load| Some(load.waiting));
    page.labelled(("engine_load_waiting", "gauge", "Requests that wait in it, as it says."), "engine", waiting);
    let kv = told(|_, load| load.kv_percent.map(u64::from));
    page.labelled(("engine_kv_percent", "gauge", "Share of its KV cache in use, as it says."), "engine", kv);
    let failures = engines.iter().map(|e| (e.settings.name.as_str(), e.load.failures.get()));
    let head = ("engine_load_failures_total", "counter", "Times that it was asked for its load and did not say.");
    page.labelled(head, "engine", failures);
}
