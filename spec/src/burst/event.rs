//! Events of the burst scheduler, their one order, and its verdicts.
use crate::coded::coded_enum;
use crate::reason::{PuntReason, RejectReason};
use crate::record::Record;

coded_enum! {
    /// What is told about a slot, or about an entry of the hold buffer.
    ReleaseKind {
        /// The engine has finished: the slot is free, its output length is learned from.
        Done = 0, "done";
        /// The client has left: the slot is free.
        Cancel = 1, "cancel";
        /// The exact validator found the body invalid after it was admitted: the slot is free.
        Invalid = 2, "invalid";
        /// The first output token has come: the prompt is no debt of the node any more.
        FirstToken = 3, "first_token";
        /// The slot has been written: the engine may read it.
        Filled = 4, "filled";
        /// The client has left while its request is held. `slot` and `generation` are those of the hold verdict.
        Withdraw = 5, "withdraw";
    }
}

/// Tells what became of an admitted or held request. One whose generation does not match changes nothing and is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Release {
    /// Slot that the verdict named; entry for `Withdraw`.
    pub slot: u16,
    /// Generation that the verdict named.
    pub generation: u8,
    /// What.
    pub kind: ReleaseKind,
    /// Output tokens, of `Done` alone; 0 teaches nothing.
    pub output_tokens: u16,
}

/// What is told about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeChange {
    /// It takes requests.
    Up,
    /// It takes no more; those it has go on.
    Drain,
    /// It is gone with all that it had.
    Gone,
    /// Share of its KV cache in use.
    Kv {
        /// Percent, 0 to 100.
        percent: u8,
        /// From the engine itself. Other sources count only until the engine has spoken.
        own: bool,
    },
}

impl NodeChange {
    /// Code on the wire: 0 up, 1 drain, 2 gone, 3 KV share from elsewhere, 4 KV share from the engine.
    pub const fn code(&self) -> u8 {
        match self {
            NodeChange::Up => 0,
            NodeChange::Drain => 1,
            NodeChange::Gone => 2,
            NodeChange::Kv { own: false, .. } => 3,
            NodeChange::Kv { own: true, .. } => 4,
        }
    }
}

/// One thing that time may have changed. The timer makes these by the plan of `spec/burst.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visit {
    /// An entry of the hold buffer: over its time, late, or withdrawn.
    Entry(u16),
    /// A node: prompt work that should be done by now.
    Node(u8),
    /// A tenant: how long ago it was refused.
    Tenant(u8),
    /// The promises of a class of a pool: they fade.
    Promise {
        /// Pool.
        pool: u8,
        /// Class.
        class: u8,
    },
    /// A ticket: whose request does not come again is forgotten.
    Ticket(u16),
    /// A slot: its node is gone, or its owner.
    Slot(u16),
}

impl Visit {
    /// Code on the wire, in the order of the variants.
    pub const fn code(&self) -> u8 {
        match self {
            Visit::Entry(_) => 0,
            Visit::Node(_) => 1,
            Visit::Tenant(_) => 2,
            Visit::Promise { .. } => 3,
            Visit::Ticket(_) => 4,
            Visit::Slot(_) => 5,
        }
    }

    /// What is visited, 14 bits: the number, or `pool << 3 | class`.
    pub const fn index(&self) -> u16 {
        match *self {
            Visit::Entry(i) | Visit::Slot(i) | Visit::Ticket(i) => i,
            Visit::Node(i) | Visit::Tenant(i) => i as u16,
            Visit::Promise { pool, class } => (pool as u16) << 3 | class as u16,
        }
    }

    /// The reverse of [`Visit::code`] and [`Visit::index`]; bits of the index that are not in use count for nothing.
    pub const fn from_code(code: u8, index: u16) -> Option<Self> {
        match code {
            0 => Some(Visit::Entry(index)),
            1 => Some(Visit::Node(index as u8)),
            2 => Some(Visit::Tenant(index as u8)),
            3 => Some(Visit::Promise { pool: (index >> 3) as u8 & 7, class: index as u8 & 7 }),
            4 => Some(Visit::Ticket(index)),
            5 => Some(Visit::Slot(index)),
            _ => None,
        }
    }
}

/// An input of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Something is told about a node.
    Node {
        /// Which.
        node: u8,
        /// What.
        change: NodeChange,
    },
    /// Something is told about a slot or a held request.
    Release(Release),
    /// Time passes, ms; at least 1.
    Tick {
        /// Milliseconds since the last tick.
        elapsed_ms: u16,
    },
    /// Something is looked at because time has passed.
    Visit(Visit),
    /// The head of a pool's best FIFO is offered to its nodes.
    Bind {
        /// Pool.
        pool: u8,
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
/// What frees a node comes first, then time and what it ends, then those who wait, then the newcomers. A switch of
/// bundles comes before requests, of which none can be under the new one yet; punted requests come before records, as
/// they have waited longer.
pub const INPUT_ORDER: [&str; 8] = ["node", "release", "tick", "visit", "bind", "switch", "punt_result", "record"];

impl Input {
    /// Place in [`INPUT_ORDER`], also the code in the event log.
    pub const fn rank(&self) -> u8 {
        match self {
            Input::Node { .. } => 0,
            Input::Release(_) => 1,
            Input::Tick { .. } => 2,
            Input::Visit(_) => 3,
            Input::Bind { .. } => 4,
            Input::Switch { .. } => 5,
            Input::PuntResult(_) => 6,
            Input::Record(_) => 7,
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

coded_enum! {
    /// Why a sound request is answered with 429. Each limit has a name of its own.
    RefuseReason {
        /// The tenant has as many requests in flight as it may.
        TenantRequests = 1, "tenant_requests";
        /// The tenant's declared tokens in flight leave no room for this request.
        TenantTokens = 2, "tenant_tokens";
        /// No node of the pool takes it now, and requests are not held.
        Busy = 3, "busy";
        /// No node takes it now, and the pool's part of the hold buffer is full.
        HoldFull = 4, "hold_full";
        /// It was held and gave way to a request of a better class.
        Evicted = 5, "evicted";
        /// It was held for as long as is allowed.
        HoldExpired = 6, "hold_expired";
        /// No node of the pool is up.
        NoNode = 7, "no_node";
        /// Its node has gone before the first token, and there is no room to hold it.
        NodeGone = 8, "node_gone";
        /// The client has left while it was held; nobody reads this answer.
        Withdrawn = 9, "withdrawn";
    }
}

coded_enum! {
    /// Why an admitted request ends without a release.
    LostReason {
        /// Its node is gone.
        NodeGone = 1, "node_gone";
        /// Its owner has not been heard of for too long.
        Watchdog = 2, "watchdog";
    }
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Runs. The slot is its own until it is released with this generation.
    Admit {
        /// Node.
        node: u8,
        /// Slot, counted over all nodes: `node * slots_per_node + slot of the node`.
        slot: u16,
        /// Generation of the slot; one more at each grant, wraps.
        generation: u8,
        /// The node is not the one whose turn it was.
        redirected: bool,
        /// Time in the hold buffer; 0 for one that was not held.
        held_ms: u32,
    },
    /// Waits for a node; another verdict follows. Of a request that was admitted: its node is gone, it waits again.
    Hold {
        /// Entry of the hold buffer.
        entry: u16,
        /// Generation of the entry; one more at each use, wraps.
        generation: u8,
    },
    /// 429.
    Refuse {
        /// Why.
        reason: RefuseReason,
        /// When to come back, `RETRY_AFTER_MS_MIN` to `RETRY_AFTER_MS_MAX`.
        retry_after_ms: u16,
        /// Requests that the tenant may have in flight with what is free now; at least what it has. Information, not a limit.
        recommended_concurrency: u16,
    },
    /// Status of the 400 kind.
    Reject(RejectReason),
    /// No inference body.
    Pass,
    /// Was admitted and ends without an answer.
    Lost {
        /// Slot that it had; it is free again.
        slot: u16,
        /// Generation that it had.
        generation: u8,
        /// Why.
        reason: LostReason,
    },
    /// No verdict yet: the exact software path reads it.
    Punt(PuntReason),
}

impl Action {
    /// Name in reports and JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Action::Admit { .. } => "admit",
            Action::Hold { .. } => "hold",
            Action::Refuse { .. } => "refuse",
            Action::Reject(_) => "reject",
            Action::Pass => "pass",
            Action::Lost { .. } => "lost",
            Action::Punt(_) => "punt",
        }
    }

    /// Code on the wire: 0 admit, 1 refuse, 2 reject, 3 pass, 4 punt, 5 hold, 6 lost.
    pub const fn code(&self) -> u8 {
        match self {
            Action::Admit { .. } => 0,
            Action::Refuse { .. } => 1,
            Action::Reject(_) => 2,
            Action::Pass => 3,
            Action::Punt(_) => 4,
            Action::Hold { .. } => 5,
            Action::Lost { .. } => 6,
        }
    }

    /// Code of the reason, 0 where there is none.
    pub const fn reason_code(&self) -> u8 {
        match self {
            Action::Refuse { reason, .. } => reason.code(),
            Action::Reject(r) => r.code(),
            Action::Punt(r) => r.code(),
            Action::Lost { reason, .. } => reason.code(),
            Action::Admit { .. } | Action::Hold { .. } | Action::Pass => 0,
        }
    }

    /// Name of the reason, where there is one.
    pub const fn reason_name(&self) -> Option<&'static str> {
        match self {
            Action::Refuse { reason, .. } => Some(reason.name()),
            Action::Reject(r) => Some(r.name()),
            Action::Punt(r) => Some(r.name()),
            Action::Lost { reason, .. } => Some(reason.name()),
            Action::Admit { .. } | Action::Hold { .. } | Action::Pass => None,
        }
    }
}

/// An answer to one request; an event gives up to two, of different requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// `seq` of the event that gave it.
    pub seq: u32,
    /// Connection of the request.
    pub connection: u16,
    /// Position of the request in its connection.
    pub index: u16,
    /// What was decided.
    pub action: Action,
    /// Level of the declared `max_tokens`; `None` for rejects, passes and punts.
    pub level: Option<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_round_trip() {
        let visits = [
            Visit::Entry(1_023),
            Visit::Node(63),
            Visit::Tenant(255),
            Visit::Promise { pool: 7, class: 5 },
            Visit::Ticket(4_095),
            Visit::Slot(16_383),
        ];
        for (code, visit) in visits.into_iter().enumerate() {
            assert_eq!(usize::from(visit.code()), code);
            assert!(visit.index() < 1 << 14);
            assert_eq!(Visit::from_code(visit.code(), visit.index()), Some(visit));
        }
        assert_eq!(Visit::from_code(6, 0), None);
    }
}
