//! Events, their one order, and verdicts.
use crate::coded::coded_enum;
use crate::reason::{PuntReason, RefuseReason, RejectReason};
use crate::record::Record;

coded_enum! {
    /// Why a slot is given back.
    ReleaseKind {
        /// The engine has finished.
        Done = 0, "done";
        /// The client has left.
        Cancel = 1, "cancel";
        /// The exact validator found the body invalid after it was admitted.
        Invalid = 2, "invalid";
    }
}

/// Gives back the slot of an admitted request. One whose generation does not match changes nothing and is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Release {
    /// Slot that the verdict named.
    pub slot: u16,
    /// Generation that the verdict named.
    pub generation: u8,
    /// Why.
    pub kind: ReleaseKind,
}

/// An input of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A slot comes back.
    Release(Release),
    /// Time passes, ms; at least 1.
    Tick {
        /// Milliseconds since the last tick.
        elapsed_ms: u16,
    },
    /// Requests that begin from here on are read by the bundle of this bank.
    Switch {
        /// The bank.
        bank: bool,
    },
    /// What the exact software path found in a request that was punted.
    PuntResult(Record),
    /// What the datapath found.
    Record(Record),
}

/// Inputs that stand at the arbiter in the same clock are taken in this order.
///
/// A release comes first so that its slot is free for whatever waits; a tick
/// before requests, so that they are stamped with the time at which they are
/// decided; a switch of bundles before requests, of which none can be under the
/// new one yet; punted requests before records, as they have waited longer.
pub const INPUT_ORDER: [&str; 5] = ["release", "tick", "switch", "punt_result", "record"];

impl Input {
    /// Place in [`INPUT_ORDER`], also the code in the event log.
    pub const fn rank(&self) -> u8 {
        match self {
            Input::Release(_) => 0,
            Input::Tick { .. } => 1,
            Input::Switch { .. } => 2,
            Input::PuntResult(_) => 3,
            Input::Record(_) => 4,
        }
    }
}

/// An input as the arbiter took it: one line of the event log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// Count of events before this one since reset; wraps.
    pub seq: u32,
    /// Milliseconds since reset; a tick counts itself. Wraps.
    pub now_ms: u32,
    /// The input.
    pub input: Input,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Runs. The slot is its own until it is released with this generation.
    Admit {
        /// Slot.
        slot: u16,
        /// Generation of the slot; one more at each grant, wraps.
        generation: u8,
    },
    /// 429.
    Refuse(RefuseReason),
    /// Status of the 400 kind.
    Reject(RejectReason),
    /// No inference body.
    Pass,
    /// No verdict yet: the exact software path reads it.
    Punt(PuntReason),
}

impl Action {
    /// Name in reports and JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Action::Admit { .. } => "admit",
            Action::Refuse(_) => "refuse",
            Action::Reject(_) => "reject",
            Action::Pass => "pass",
            Action::Punt(_) => "punt",
        }
    }

    /// Code on the wire: 0 admit, 1 refuse, 2 reject, 3 pass, 4 punt.
    pub const fn code(&self) -> u8 {
        match self {
            Action::Admit { .. } => 0,
            Action::Refuse(_) => 1,
            Action::Reject(_) => 2,
            Action::Pass => 3,
            Action::Punt(_) => 4,
        }
    }

    /// Code of the reason, 0 where there is none.
    pub const fn reason_code(&self) -> u8 {
        match self {
            Action::Refuse(r) => r.code(),
            Action::Reject(r) => r.code(),
            Action::Punt(r) => r.code(),
            Action::Admit { .. } | Action::Pass => 0,
        }
    }

    /// Name of the reason, where there is one.
    pub const fn reason_name(&self) -> Option<&'static str> {
        match self {
            Action::Refuse(r) => Some(r.name()),
            Action::Reject(r) => Some(r.name()),
            Action::Punt(r) => Some(r.name()),
            Action::Admit { .. } | Action::Pass => None,
        }
    }
}

/// The answer to one `Record` or `PuntResult` event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// `seq` of the event that it answers.
    pub seq: u32,
    /// Connection of the request.
    pub connection: u16,
    /// Position of the request in its connection.
    pub index: u16,
    /// What was decided.
    pub action: Action,
    /// Level of the declared `max_tokens`; `None` unless admitted or refused.
    pub level: Option<u8>,
}
