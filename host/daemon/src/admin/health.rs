//! Health, and latencies of the last minute.
use crate::app::App;
use crate::clock::now_ms;
use crate::decision::{DeviceState, Status};
use crate::histogram::WINDOW_MS;
use serde_json::json;
use std::sync::atomic::Ordering::Relaxed;

/// Is it sound, and what there is.
pub(super) fn state(app: &App, scheduler: Option<&Status>) -> (bool, String) {
    let state = app.state();
    let engines: Vec<_> = state
        .engines
        .iter()
        .map(|e| {
            json!({"name": e.settings.name, "alive": e.breaker.is_alive(now_ms()), "running": e.running.get(),
                   "requests_max": e.settings.requests_max})
        })
        .collect();
    let device = scheduler.map(|s| (&s.device, &s.device_state));
    let scheduler = scheduler.map_or(Err("it does not answer"), |s| s.sound);
    let alive = state.engines.iter().any(|e| e.breaker.is_alive(now_ms()));
    let draining = app.leaving.load(Relaxed);
    let status = match (scheduler.is_ok(), alive, draining, &device) {
        (false, ..) => "scheduler not sound",
        (_, false, ..) => "no engine alive",
        (_, _, true, _) => "draining",
        (.., Some((_, DeviceState::Lost(_)))) => "device lost, the twin decides",
        _ => "ok",
    };
    let device = device.map(|(name, state)| {
        let why = if let DeviceState::Lost(why) = state { Some(why) } else { None };
        json!({"name": name, "state": state.name(), "why": why})
    });
    let body = json!({"status": status, "engines": engines, "running": app.decider.running(),
                      "device": device, "held": app.decider.gauges().held.load(Relaxed), "scheduler": scheduler.err().unwrap_or("ok"),
                      "in_progress": app.metrics.in_progress.get()});
    (scheduler.is_ok() && alive, body.to_string())
}

/// A percentile of each latency within the window.
///
/// # Errors
/// A query that asks for something else.
pub(super) fn latency(app: &App, query: &str) -> Result<String, String> {
    let asked = query.strip_prefix("latency=").and_then(|text| text.parse::<f64>().ok());
    let Some(percent) = asked.filter(|p| *p > 0.0 && *p <= 100.0) else {
        return Err("ask for /health?latency=N, N a percentile over 0 and up to 100\n".to_owned());
    };
    let now = now_ms();
    let figure = |h: &crate::histogram::Histogram| match h.percentile(percent, now) {
        Some((us, count)) => json!({"us": us, "count": count}),
        None => json!({"us": null, "count": 0}),
    };
    let body = json!({"percentile": percent, "window_ms": WINDOW_MS, "decision": figure(&app.metrics.decision),
                      "first_token": figure(&app.metrics.first_token), "total": figure(&app.metrics.total)});
    Ok(body.to_string())
}
