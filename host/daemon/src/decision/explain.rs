//! The decision as JSON, for tenants that may see it: figures of the scheduler, and no name of an engine.
use super::scheduler::Job;
use super::Fleet;
use forebay_decide::burst::Burst;
use forebay_spec::burst::{Action, Verdict};
use serde_json::{json, Value};

pub(super) fn text(burst: &Burst, fleet: &Fleet, verdict: &Verdict, job: &Job) -> Box<str> {
    let record = &job.want.record;
    let mut out = json!({
        "action": verdict.action.name(), "seq": verdict.seq, "now_ms": burst.now_ms(), "level": verdict.level,
        "pool": job.want.pool, "prompt_tokens": record.body_bytes / 4, "max_tokens": record.max_tokens,
        "retry": record.retry, "held": burst.held(), "active_tenants": burst.active_tenants(),
    });
    let more = match verdict.action {
        Action::Admit { node, slot, generation, redirected, held_ms } => json!({"node": node, "slot": slot,
            "generation": generation, "redirected": redirected, "held_ms": held_ms}),
        Action::Refuse { reason, retry_after_ms, recommended_concurrency } => json!({"reason": reason.name(),
            "retry_after_ms": retry_after_ms, "recommended_concurrency": recommended_concurrency}),
        _ => Value::Null,
    };
    let nodes = fleet.pools.engines(job.want.pool).map(|n| {
        let node = burst.node(n);
        let kv_percent = fleet.engines.get(n).and_then(|e| e.load.known()).and_then(|load| load.kv_percent);
        json!({"node": n, "up": node.up, "overdue": node.overdue, "kv_full": node.kv_full, "kv_percent": kv_percent, "used": node.used, "slots": node.slots,
               "debt": node.debt, "gate": node.gate, "state": node.state, "rate": node.rate})
    });
    let nodes = Value::Array(nodes.collect());
    if let Value::Object(out) = &mut out {
        if let Value::Object(more) = more {
            out.extend(more);
        }
        out.insert("nodes".to_owned(), nodes);
    }
    out.to_string().into_boxed_str()
}
