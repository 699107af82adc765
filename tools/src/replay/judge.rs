//! One final verdict, from what the device says and what the exact software path says.
use super::devices::Answer;
use super::output::{Fields, Final, FinalAction, PathTaken};
use forebay_bundle::Policy;
use forebay_decide::exact::http::Request;
use forebay_decide::exact::json::Body;
use forebay_decide::exact::request as exact;
use forebay_decide::Bundle;
use forebay_spec::{Action, Disposition, Field, Input, Kind, PuntReason, Record, RejectReason, Verdict};

/// Bytes of a model's name that are shown; a longer one is cut and gets an ellipsis.
const MODEL_SHOWN_BYTES_MAX: usize = 256;

/// What the software path makes of a request.
pub(super) struct Reading<'a> {
    bundle: &'a Bundle,
    pub(super) body: Body<'a>,
    pub(super) record: Record,
    /// Set for what cannot be decided, or breaks a rule of a field.
    pub(super) reject: Option<RejectReason>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(request: &'a Request, policy: &'a Policy, connection: u16, index: u16) -> Self {
        let body = exact::body(request, policy.bundle());
        let record = exact::record(request, &body, policy.bundle(), false, connection, index);
        let broken = exact::check_body(request, &body);
        let cut = (!request.complete).then_some(RejectReason::BodyTruncated);
        let field = request.inference.then(|| exact::check(&record)).flatten();
        Reading { bundle: policy.bundle(), body, record, reject: broken.or(cut).or(field) }
    }

    /// May the body be decided on, as far as JSON and HTTP go?
    fn is_sound(&self, request: &Request) -> bool {
        request.error.is_none() && request.complete && exact::check_body(request, &self.body).is_none()
    }
}

/// How a request comes to its verdict.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// As the device said.
    Fabric(Verdict),
    /// Rejected by the software path; the device's slot is given back if it had granted one.
    Reject(RejectReason),
    /// Passes.
    Pass,
    /// The device has to decide what the software path read.
    Submit,
}

/// Chooses the way; the error says how the device breaks the rules. Without an answer it is the host's request.
pub(super) fn way(answer: Option<&Answer>, reading: &Reading<'_>, request: &Request) -> Result<Way, String> {
    let Some((record, verdict)) = answer.and_then(record_and_verdict) else {
        return Ok(on_host(reading, request));
    };
    match record.disposition {
        Disposition::Punt(_) => Ok(on_host(reading, request)),
        _ if request.error.is_some() => {
            let error = request.error.as_ref().map(ToString::to_string).unwrap_or_default();
            Err(format!("the device read it as sound, the software path says: {error}"))
        }
        _ if !request.complete => Err("the device read it as whole, the software path found it cut short".to_owned()),
        Disposition::Pass if request.inference => Err("the device let an inference request pass".to_owned()),
        Disposition::Pass => Ok(Way::Pass),
        Disposition::Decide if !request.inference => Err("the device decided a request that is none".to_owned()),
        Disposition::Decide if reading.is_sound(request) && record != reading.record => {
            Err(format!("the device read {record:?}, the software path {:?}", reading.record))
        }
        Disposition::Decide => Ok(match reading.reject {
            Some(reason) => Way::Reject(reason),
            None => Way::Fabric(verdict),
        }),
    }
}

fn on_host(reading: &Reading<'_>, request: &Request) -> Way {
    match reading.reject {
        Some(reason) if !reading.is_sound(request) => Way::Reject(reason),
        _ if request.inference => Way::Submit,
        _ => Way::Pass,
    }
}

/// The record that a device put out, and what it said of it.
pub(super) fn record_and_verdict(answer: &Answer) -> Option<(Record, Verdict)> {
    match answer.event.input {
        Input::Record(record) | Input::PuntResult(record) => answer.verdict.map(|v| (record, v)),
        Input::Release(_) | Input::Tick { .. } | Input::Switch { .. } => None,
    }
}

/// Why the device handed a request over.
pub(super) fn punt_of(answer: &Answer) -> Option<PuntReason> {
    match record_and_verdict(answer)?.0.disposition {
        Disposition::Punt(reason) => Some(reason),
        Disposition::Decide | Disposition::Pass => None,
    }
}

pub(super) const fn path_taken(answer: Option<&Answer>, punt: Option<PuntReason>) -> PathTaken {
    match (answer, punt) {
        (Some(_), None) => PathTaken::Fabric,
        _ => PathTaken::Host,
    }
}

/// Has the scheduler decided, so that the burst scheduler would have?
pub(super) const fn is_decided(verdict: &Final) -> bool {
    matches!(verdict.action, FinalAction::Admit | FinalAction::Refuse)
}

/// The final verdict that a verdict of the device stands for; `None` for a punt, which is none.
pub(super) fn final_of(verdict: &Verdict, reading: &Reading<'_>, request: &Request) -> Option<Final> {
    let action = match verdict.action {
        Action::Admit { .. } => FinalAction::Admit,
        Action::Refuse(_) => FinalAction::Refuse,
        Action::Reject(reason) => return Some(reject(reason, reading, request)),
        Action::Pass => FinalAction::Pass,
        Action::Punt(_) => return None,
    };
    Some(Final { action, reason: verdict.action.reason_name(), level: verdict.level, detail: None })
}

/// A reject with its sentence for the client.
pub(super) fn reject(reason: RejectReason, reading: &Reading<'_>, request: &Request) -> Final {
    let detail = match &request.error {
        Some(error) if reason == RejectReason::Http => error.to_string(),
        _ => exact::reject_text(reason, &reading.body, reading.bundle),
    };
    Final { action: FinalAction::Reject, reason: Some(reason.name()), level: None, detail: Some(detail) }
}

/// The fields for a reader of the output.
pub(super) fn fields(reading: &Reading<'_>, policy: &Policy) -> Fields {
    let record = &reading.record;
    let number = |field, value| (record.kind(field) == Kind::Number).then_some(value);
    Fields {
        tenant: record.tenant.and_then(|t| policy.tenant_name(t)).map(str::to_owned),
        model: exact::model(&reading.body).map(|name| shown(&name)),
        model_known: record.model.is_some(),
        max_tokens: number(Field::MaxTokens, record.max_tokens),
        temperature_milli: number(Field::Temperature, record.temperature_milli),
        top_k: number(Field::TopK, record.top_k),
        stream: match record.kind(Field::Stream) {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        },
        retry: record.retry,
    }
}

fn shown(name: &[u8]) -> String {
    match name.get(..MODEL_SHOWN_BYTES_MAX) {
        Some(front) if front.len() < name.len() => format!("{}...", String::from_utf8_lossy(front)),
        _ => String::from_utf8_lossy(name).into_owned(),
    }
}
