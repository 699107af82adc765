//! What is said of one request, and its JSON.
use crate::capture::Flow;
use forebay_device::Latency;
use forebay_spec::{PuntReason, Record};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalAction {
    /// Runs.
    Admit,
    /// 429.
    Refuse,
    /// Status of the 400 kind.
    Reject,
    /// No inference body.
    Pass,
}

impl FinalAction {
    /// Name in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            FinalAction::Admit => "admit",
            FinalAction::Refuse => "refuse",
            FinalAction::Reject => "reject",
            FinalAction::Pass => "pass",
        }
    }
}

/// The final verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Final {
    /// What becomes of the request.
    pub action: FinalAction,
    /// Why it was refused or rejected.
    pub reason: Option<&'static str>,
    /// Burst level, if it got that far.
    pub level: Option<u8>,
    /// One sentence for the client, for a reject.
    pub detail: Option<String>,
}

/// Who found the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathTaken {
    /// The device.
    Fabric,
    /// The exact software path.
    Host,
}

impl PathTaken {
    /// Name in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            PathTaken::Fabric => "fabric",
            PathTaken::Host => "host",
        }
    }
}

/// Fields of a request. All are `None` where there is no sound inference body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fields {
    /// Name of the tenant whose key it carried.
    pub tenant: Option<String>,
    /// Model, as the body names it.
    pub model: Option<String>,
    /// Does the policy list it?
    pub model_known: bool,
    /// Declared output limit.
    pub max_tokens: Option<u32>,
    /// Temperature in thousandths.
    pub temperature_milli: Option<u32>,
    /// `top_k`.
    pub top_k: Option<u32>,
    /// `stream`, if it is a bool.
    pub stream: Option<bool>,
    /// `x-stainless-retry-count`.
    pub retry: u8,
}

/// What the burst scheduler said of a request in the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scheduled {
    /// `admit`, `refuse` or `lost`.
    pub action: &'static str,
    /// Why it was refused or lost.
    pub reason: Option<&'static str>,
    /// Node that it went to.
    pub node: Option<u8>,
    /// The node is not the one whose turn it was.
    pub redirected: Option<bool>,
    /// Time in the hold buffer; `None` if it was never held.
    pub held_ms: Option<u32>,
    /// When to come back.
    pub retry_after_ms: Option<u16>,
    /// Requests that its tenant may have in flight.
    pub recommended_concurrency: Option<u16>,
}

/// One request, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Capture.
    pub capture: Arc<str>,
    /// Connection.
    pub flow: Flow,
    /// Position in the connection.
    pub request_index: u64,
    /// Method.
    pub method: String,
    /// Target without its query.
    pub path: String,
    /// How the length of the body was given.
    pub framing: &'static str,
    /// Bytes of the body that came, chunk framing taken off.
    pub body_bytes: usize,
    /// What the exact validator says of an inference body.
    pub body_status: Option<&'static str>,
    /// Who found the fields.
    pub path_taken: PathTaken,
    /// Why the device handed it over; `None` on the host's path: the connection had no context.
    pub punt: Option<PuntReason>,
    /// Fields.
    pub record: Fields,
    /// Final verdict.
    pub verdict: Final,
    /// Clocks of the device, where it counts them.
    pub latency: Option<Latency>,
    /// When the fabric's scheduler decided it, ms of the replay, and the record, of those that it did decide.
    pub decided: Option<(u64, Record)>,
    /// What the burst scheduler said of it, of those that were decided.
    pub scheduled: Option<Scheduled>,
}

struct FlowJson<'a>(&'a Flow);

impl Serialize for FlowJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("ip_version", &if self.0.src.is_ipv4() { 4 } else { 6 })?;
        map.serialize_entry("src", &self.0.src.to_string())?;
        map.serialize_entry("sport", &self.0.sport)?;
        map.serialize_entry("dst", &self.0.dst.to_string())?;
        map.serialize_entry("dport", &self.0.dport)?;
        map.serialize_entry("vlan", self.0.vlan.ids())?;
        map.end()
    }
}

#[derive(Serialize)]
struct LatencyJson {
    record: u32,
    verdict: u32,
    wait: u32,
}

impl Serialize for Final {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("action", self.action.name())?;
        map.serialize_entry("reason", &self.reason)?;
        map.serialize_entry("level", &self.level)?;
        map.serialize_entry("detail", &self.detail)?;
        map.end()
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(15))?;
        map.serialize_entry("capture", &*self.capture)?;
        map.serialize_entry("flow", &FlowJson(&self.flow))?;
        map.serialize_entry("request_index", &self.request_index)?;
        map.serialize_entry("method", &self.method)?;
        map.serialize_entry("path", &self.path)?;
        map.serialize_entry("framing", self.framing)?;
        map.serialize_entry("body_bytes", &self.body_bytes)?;
        map.serialize_entry("body_status", &self.body_status)?;
        map.serialize_entry("path_taken", self.path_taken.name())?;
        map.serialize_entry("punt", &self.punt.map(PuntReason::name))?;
        map.serialize_entry("record", &self.record)?;
        map.serialize_entry("verdict", &self.verdict)?;
        map.serialize_entry("latency_clocks", &self.latency.map(|l| l.record_clocks + l.verdict_clocks))?;
        let parts =
            |l: Latency| LatencyJson { record: l.record_clocks, verdict: l.verdict_clocks, wait: l.wait_clocks };
        map.serialize_entry("latency", &self.latency.map(parts))?;
        map.serialize_entry("scheduler", &self.scheduled)?;
        map.end()
    }
}
