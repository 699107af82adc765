//! The event log: one JSON object a line, and its replay through the twin.
//!
//! The first line says what wrote it and the tables that verdicts follow from; each further line is one event of the
//! fabric, with its verdict if it has one. Behind them comes the part of the burst scheduler (`burst_log`), if there is one.
use super::{burst_log, Fleet};
use crate::error::Error;
use forebay_bundle::Policy;
use forebay_decide::burst::Verdicts;
use forebay_decide::scheduler::{Arbiter, Scheduler};
use forebay_decide::Bundle;
use forebay_spec::burst;
use forebay_spec::limits::{BOARD, LEVELS};
use forebay_spec::record;
use forebay_spec::{Action, Disposition, Event, Input, Kind, PuntReason, Record, Release, ReleaseKind, Verdict};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};

/// Version of the format.
const VERSION: u32 = 1;
/// Its own name, as serde makes a `FIELDS` of its own.
const FIELD_COUNT: usize = record::FIELDS;

#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Header {
    forebay_events: u32,
    profile: String,
    thresholds: [u32; LEVELS - 1],
    level_limits: [u16; LEVELS],
}

impl Header {
    fn new(bundle: &Bundle) -> Self {
        let (thresholds, level_limits) = (bundle.thresholds, bundle.level_limits);
        Header { forebay_events: VERSION, profile: BOARD.name.to_owned(), thresholds, level_limits }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    seq: u32,
    now_ms: u32,
    #[serde(flatten)]
    input: InputLine,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<VerdictLine>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", content = "payload", rename_all = "snake_case")]
enum InputLine {
    Release { slot: u16, generation: u8, why: String },
    Tick { elapsed_ms: u16 },
    Switch { bank: bool },
    PuntResult(RecordLine),
    Record(RecordLine),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordLine {
    connection: u16,
    index: u16,
    disposition: String,
    punt: Option<String>,
    tenant: Option<u8>,
    model: Option<u8>,
    class: u8,
    hot: bool,
    key_known: bool,
    bank: bool,
    kinds: [String; FIELD_COUNT],
    max_tokens: u32,
    temperature_milli: u32,
    top_k: u32,
    retry: u8,
    body_bytes: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct VerdictLine {
    connection: u16,
    index: u16,
    action: String,
    reason: Option<String>,
    slot: Option<u16>,
    generation: Option<u8>,
    level: Option<u8>,
}

pub(super) fn from_name<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str, text: &str) -> Result<T, String> {
    let known = || all.iter().map(|&v| name(v)).collect::<Vec<_>>().join(", ");
    all.iter().copied().find(|&v| name(v) == text).ok_or_else(|| format!("{text:?} is none of {}", known()))
}

impl RecordLine {
    pub(super) fn new(r: &Record) -> Self {
        let (disposition, punt) = match r.disposition {
            Disposition::Decide => ("decide", None),
            Disposition::Pass => ("pass", None),
            Disposition::Punt(reason) => ("punt", Some(reason.name().to_owned())),
        };
        RecordLine {
            connection: r.connection,
            index: r.index,
            disposition: disposition.to_owned(),
            punt,
            tenant: r.tenant,
            model: r.model,
            class: r.class,
            hot: r.hot,
            key_known: r.key_known,
            bank: r.bank,
            kinds: r.kinds.map(|k| k.name().to_owned()),
            max_tokens: r.max_tokens,
            temperature_milli: r.temperature_milli,
            top_k: r.top_k,
            retry: r.retry,
            body_bytes: r.body_bytes,
        }
    }

    pub(super) fn record(&self) -> Result<Record, String> {
        let disposition = match (self.disposition.as_str(), &self.punt) {
            ("decide", None) => Disposition::Decide,
            ("pass", None) => Disposition::Pass,
            ("punt", Some(reason)) => Disposition::Punt(from_name(PuntReason::ALL, PuntReason::name, reason)?),
            (other, punt) => return Err(format!("disposition {other:?} with punt {punt:?} has no meaning")),
        };
        let mut kinds = [Kind::Missing; FIELD_COUNT];
        for (kind, name) in kinds.iter_mut().zip(&self.kinds) {
            *kind = from_name(Kind::ALL, Kind::name, name)?;
        }
        Ok(Record {
            connection: self.connection,
            index: self.index,
            disposition,
            tenant: self.tenant,
            model: self.model,
            class: self.class,
            hot: self.hot,
            key_known: self.key_known,
            bank: self.bank,
            kinds,
            max_tokens: self.max_tokens,
            temperature_milli: self.temperature_milli,
            top_k: self.top_k,
            retry: self.retry,
            body_bytes: self.body_bytes,
        })
    }
}

impl VerdictLine {
    fn new(v: &Verdict) -> Self {
        let granted = match v.action {
            Action::Admit { slot, generation } => Some((slot, generation)),
            _ => None,
        };
        VerdictLine {
            connection: v.connection,
            index: v.index,
            action: v.action.name().to_owned(),
            reason: v.action.reason_name().map(str::to_owned),
            slot: granted.map(|g| g.0),
            generation: granted.map(|g| g.1),
            level: v.level,
        }
    }
}

impl Line {
    fn new(event: &Event, verdict: Option<&Verdict>) -> Self {
        let input = match &event.input {
            Input::Release(r) => {
                InputLine::Release { slot: r.slot, generation: r.generation, why: r.kind.name().to_owned() }
            }
            Input::Tick { elapsed_ms } => InputLine::Tick { elapsed_ms: *elapsed_ms },
            Input::Switch { bank } => InputLine::Switch { bank: *bank },
            Input::PuntResult(r) => InputLine::PuntResult(RecordLine::new(r)),
            Input::Record(r) => InputLine::Record(RecordLine::new(r)),
        };
        Line { seq: event.seq, now_ms: event.now_ms, input, verdict: verdict.map(VerdictLine::new) }
    }

    fn input(&self) -> Result<Input, String> {
        Ok(match &self.input {
            InputLine::Release { slot, generation, why } => {
                let kind = from_name(ReleaseKind::ALL, ReleaseKind::name, why)?;
                Input::Release(Release { slot: *slot, generation: *generation, kind })
            }
            InputLine::Tick { elapsed_ms: 0 } => return Err("a tick of 0 ms has no meaning".to_owned()),
            InputLine::Tick { elapsed_ms } => Input::Tick { elapsed_ms: *elapsed_ms },
            InputLine::Switch { bank } => Input::Switch { bank: *bank },
            InputLine::PuntResult(r) => Input::PuntResult(r.record()?),
            InputLine::Record(r) => Input::Record(r.record()?),
        })
    }
}

/// Writes a log.
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Writes the first line.
    pub fn new(mut out: W, policy: &Policy) -> std::io::Result<Self> {
        write_line(&mut out, &Header::new(policy.bundle()))?;
        Ok(Writer { out })
    }

    /// Writes an event and its verdict.
    pub fn event(&mut self, event: &Event, verdict: Option<&Verdict>) -> std::io::Result<()> {
        write_line(&mut self.out, &Line::new(event, verdict))
    }

    /// Begins the part of the burst scheduler; `simulated` as it was scheduled.
    pub fn scheduler(&mut self, fleet: &Fleet, simulated: bool) -> std::io::Result<()> {
        write_line(&mut self.out, &burst_log::head(fleet, simulated))
    }

    /// Writes an event of the burst scheduler and its verdicts.
    pub fn burst(&mut self, event: &burst::Event, verdicts: &Verdicts) -> std::io::Result<()> {
        write_line(&mut self.out, &burst_log::line(event, verdicts))
    }

    /// Gives back what was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Hands on what is buffered.
    pub fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn write_line(out: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// What a check of a log found right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Events.
    pub events: u64,
    /// Verdicts, each equal to the twin's.
    pub verdicts: u64,
    /// Events of the burst scheduler.
    pub burst_events: u64,
    /// Its verdicts, each equal to the twin's.
    pub burst_verdicts: u64,
}

/// Runs a log through the twin; every stamp and every verdict in it has to be the twin's.
pub fn replay(name: &str, log: impl BufRead, policy: &Policy) -> Result<Checked, Error> {
    let fail = |line: usize, why: String| Error::File { file: format!("{name}:{line}"), why };
    let mut arbiter = Arbiter::default();
    let bundle = policy.bundle();
    let mut scheduler = Scheduler::new(bundle, BOARD);
    let mut burst: Option<burst_log::Checker> = None;
    let mut checked = Checked::default();
    let mut has_header = false;
    for (number, text) in log.lines().enumerate().map(|(i, text)| (i + 1, text)) {
        let text = text.map_err(|e| fail(number, format!("cannot be read: {e}")))?;
        if number == 1 {
            header(&text, bundle).map_err(|why| fail(number, why))?;
            has_header = true;
            continue;
        }
        if let Some(checker) = &mut burst {
            checked.burst_verdicts += checker.line(&text).map_err(|why| fail(number, why))?;
            checked.burst_events += 1;
            continue;
        }
        if let Some(begun) = burst_log::Checker::new(&text, policy) {
            burst = Some(begun.map_err(|why| fail(number, why))?);
            continue;
        }
        let line: Line = serde_json::from_str(&text).map_err(|e| fail(number, format!("is no event: {e}")))?;
        let event = arbiter.stamp(line.input().map_err(|why| fail(number, why))?);
        if (event.seq, event.now_ms) != (line.seq, line.now_ms) {
            let (seq, now_ms) = (event.seq, event.now_ms);
            let why = format!("it is stamped {}, {} ms, the twin stamps {seq}, {now_ms} ms", line.seq, line.now_ms);
            return Err(fail(number, why));
        }
        let verdict = scheduler.apply(&event).map(|v| VerdictLine::new(&v));
        if verdict != line.verdict {
            return Err(fail(number, format!("it says {:?}, the twin says {verdict:?}", line.verdict)));
        }
        scheduler.invariants().map_err(|rule| fail(number, format!("after it this does not hold: {rule}")))?;
        checked.events += 1;
        checked.verdicts += u64::from(verdict.is_some());
    }
    match has_header {
        true => Ok(checked),
        false => Err(fail(1, "the log is empty; write one with replay --events".to_owned())),
    }
}

fn header(text: &str, bundle: &Bundle) -> Result<(), String> {
    let found: Header = serde_json::from_str(text)
        .map_err(|e| format!("does not begin an event log: {e}; write one with replay --events"))?;
    let expected = Header::new(bundle);
    if found != expected {
        return Err(format!("the log was made with {found:?}, the policy says {expected:?}; give the same --policy"));
    }
    Ok(())
}
