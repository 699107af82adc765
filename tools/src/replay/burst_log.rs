//! The burst scheduler's part of the event log: a line with its fleet, then an event a line, each with its verdicts.
//!
//! `connection << 16 | index` of a record or a verdict is the number of the request among those that the scheduler decided.
use super::events::{from_name, RecordLine};
use super::Fleet;
use forebay_bundle::Policy;
use forebay_decide::burst::{Burst, Verdicts};
use forebay_spec::burst::{Action, Event, Input, NodeChange, Release, ReleaseKind, Verdict, Visit};
use serde::{Deserialize, Serialize};

/// The first line of this part.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    scheduler: Fleet,
    /// The build is that of profile `board`, not one that just has room: slots are numbered by it.
    board: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    seq: u32,
    now_ms: u32,
    #[serde(flatten)]
    input: InputLine,
    verdicts: Vec<VerdictLine>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", content = "payload", rename_all = "snake_case")]
enum InputLine {
    Node { node: u8, change: u8, percent: u8 },
    Release { slot: u16, generation: u8, why: String, output_tokens: u16 },
    Tick { elapsed_ms: u16 },
    Visit { code: u8, index: u16 },
    Bind { pool: u8 },
    Switch { bank: bool },
    PuntResult(RecordLine),
    Record(RecordLine),
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct VerdictLine {
    connection: u16,
    index: u16,
    action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<u8>,
    /// Slot; of a hold the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redirected: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recommended_concurrency: Option<u16>,
}

impl VerdictLine {
    fn new(verdict: &Verdict) -> Self {
        let mut line = VerdictLine {
            connection: verdict.connection,
            index: verdict.index,
            action: verdict.action.name().to_owned(),
            reason: verdict.action.reason_name().map(str::to_owned),
            level: verdict.level,
            ..VerdictLine::default()
        };
        match verdict.action {
            Action::Admit { node, slot, generation, redirected, held_ms } => {
                (line.node, line.slot, line.generation) = (Some(node), Some(slot), Some(generation));
                (line.redirected, line.held_ms) = (Some(redirected), Some(held_ms));
            }
            Action::Hold { entry: slot, generation } | Action::Lost { slot, generation, .. } => {
                (line.slot, line.generation) = (Some(slot), Some(generation));
            }
            Action::Refuse { retry_after_ms, recommended_concurrency, .. } => {
                line.retry_after_ms = Some(retry_after_ms);
                line.recommended_concurrency = Some(recommended_concurrency);
            }
            Action::Reject(_) | Action::Pass | Action::Punt(_) => {}
        }
        line
    }
}

impl InputLine {
    fn new(input: &Input) -> Self {
        match input {
            Input::Node { node, change } => {
                let percent = if let NodeChange::Kv { percent, .. } = change { *percent } else { 0 };
                InputLine::Node { node: *node, change: change.code(), percent }
            }
            Input::Release(r) => InputLine::Release {
                slot: r.slot,
                generation: r.generation,
                why: r.kind.name().to_owned(),
                output_tokens: r.output_tokens,
            },
            Input::Tick { elapsed_ms } => InputLine::Tick { elapsed_ms: *elapsed_ms },
            Input::Visit(visit) => InputLine::Visit { code: visit.code(), index: visit.index() },
            Input::Bind { pool } => InputLine::Bind { pool: *pool },
            Input::Switch { bank } => InputLine::Switch { bank: *bank },
            Input::PuntResult(record) => InputLine::PuntResult(RecordLine::new(record)),
            Input::Record(record) => InputLine::Record(RecordLine::new(record)),
        }
    }

    fn input(&self) -> Result<Input, String> {
        Ok(match self {
            InputLine::Node { node, change, percent } => {
                let (node, percent) = (*node, *percent);
                let change = match change {
                    0 => NodeChange::Up,
                    1 => NodeChange::Drain,
                    2 => NodeChange::Gone,
                    3 | 4 => NodeChange::Kv { percent, own: *change == 4 },
                    other => return Err(format!("change {other} of a node has no meaning; it is 0 to 4")),
                };
                Input::Node { node, change }
            }
            InputLine::Release { slot, generation, why, output_tokens } => Input::Release(Release {
                slot: *slot,
                generation: *generation,
                kind: from_name(ReleaseKind::ALL, |kind| kind.name(), why)?,
                output_tokens: *output_tokens,
            }),
            InputLine::Tick { elapsed_ms: 0 } => return Err("a tick of 0 ms has no meaning".to_owned()),
            InputLine::Tick { elapsed_ms } => Input::Tick { elapsed_ms: *elapsed_ms },
            InputLine::Visit { code, index } => {
                let visit = Visit::from_code(*code, *index);
                Input::Visit(visit.ok_or_else(|| format!("visit {code} has no meaning; it is 0 to 5"))?)
            }
            InputLine::Bind { pool } => Input::Bind { pool: *pool },
            InputLine::Switch { bank } => Input::Switch { bank: *bank },
            InputLine::PuntResult(record) => Input::PuntResult(record.record()?),
            InputLine::Record(record) => Input::Record(record.record()?),
        })
    }
}

/// The first line for a fleet; the build is `board` where the simulation decides.
pub(super) fn head(fleet: &Fleet, simulated: bool) -> impl Serialize {
    Head { scheduler: fleet.clone(), board: simulated }
}

/// The line of an event.
pub(super) fn line(event: &Event, verdicts: &Verdicts) -> impl Serialize {
    let verdicts = verdicts.iter().map(|v| VerdictLine::new(&v)).collect();
    Line { seq: event.seq, now_ms: event.now_ms, input: InputLine::new(&event.input), verdicts }
}

/// Runs this part of a log through the twin.
pub(super) struct Checker {
    burst: Burst,
    seq: u32,
    now_ms: u32,
}

impl Checker {
    /// By the first line, if it is one; the error says what is wrong with it.
    pub(super) fn new(text: &str, policy: &Policy) -> Option<Result<Self, String>> {
        let head: Head = serde_json::from_str(text).ok()?;
        let setup = match head.scheduler.setup() {
            Ok(setup) => setup,
            Err(error) => return Some(Err(error.to_string())),
        };
        let burst = Burst::new(head.scheduler.config(&setup, policy, head.board)).map_err(|e| e.to_string());
        Some(burst.map(|burst| Checker { burst, seq: 0, now_ms: 0 }))
    }

    /// One line; how many verdicts it has, each equal to the twin's.
    pub(super) fn line(&mut self, text: &str) -> Result<u64, String> {
        let line: Line = serde_json::from_str(text).map_err(|e| format!("is no event of the burst scheduler: {e}"))?;
        let input = line.input.input()?;
        if let Input::Tick { elapsed_ms } = input {
            self.now_ms = self.now_ms.wrapping_add(u32::from(elapsed_ms));
        }
        let (seq, now_ms) = (self.seq, self.now_ms);
        if (seq, now_ms) != (line.seq, line.now_ms) {
            return Err(format!("it is stamped {}, {} ms, it should be {seq}, {now_ms} ms", line.seq, line.now_ms));
        }
        self.seq = self.seq.wrapping_add(1);
        let verdicts: Vec<_> =
            self.burst.apply(&Event { seq, now_ms, input }).iter().map(|v| VerdictLine::new(&v)).collect();
        if verdicts != line.verdicts {
            return Err(format!("it says {:?}, the twin says {verdicts:?}", line.verdicts));
        }
        self.burst.invariants().map_err(|rule| format!("after it this does not hold: {rule}"))?;
        Ok(verdicts.len() as u64)
    }
}
