//! Inputs to the pins of the scheduler, and events and verdicts off them.
use crate::device::garbage;
use crate::scheduler_board::{Inputs, Outputs};
use forebay_device::DeviceError;
use forebay_spec::burst::{Action, Event, Input, LostReason, NodeChange, RefuseReason, Release, ReleaseKind};
use forebay_spec::burst::{Verdict, Visit};
use forebay_spec::layout::{pack, unpack};
use forebay_spec::{PuntReason, RejectReason};

crate::burst::pins::verdict_pins!(Outputs);

/// Puts an input on the pins of its kind.
pub(super) fn put(pins: &mut Inputs, input: &Input) {
    match input {
        Input::Node { node, change } => {
            (pins.node_valid, pins.node_number, pins.node_code) = (1, *node, change.code());
            pins.node_percent = if let NodeChange::Kv { percent, .. } = change { *percent } else { 0 };
        }
        Input::Release(release) => {
            (pins.release_valid, pins.release_slot, pins.release_generation) = (1, release.slot, release.generation);
            (pins.release_kind, pins.release_output_tokens) = (release.kind.code(), release.output_tokens);
        }
        Input::Tick { elapsed_ms } => (pins.tick_valid, pins.tick_elapsed_ms) = (1, *elapsed_ms),
        Input::Switch { bank } => (pins.switch_valid, pins.switch_bank) = (1, u8::from(*bank)),
        Input::PuntResult(record) => (pins.punt_valid, pins.punt_record) = (1, pack(record)),
        Input::Record(record) => (pins.record_valid, pins.record) = (1, pack(record)),
        Input::Visit(_) | Input::Bind { .. } => {}
    }
}

/// The rank of the input that is taken in this clock.
pub(super) fn taken(out: &Outputs) -> Result<Option<usize>, DeviceError> {
    let ready = [
        (0, out.node_ready),
        (1, out.release_ready),
        (2, out.tick_ready),
        (5, out.switch_ready),
        (6, out.punt_ready),
        (7, out.record_ready),
    ];
    let mut ranks = ready.into_iter().filter(|(_, ready)| *ready != 0).map(|(rank, _)| rank);
    match (ranks.next(), ranks.next()) {
        (first, None) => Ok(first),
        (first, second) => Err(garbage(&format!("inputs of ranks {first:?} and {second:?} are taken in one clock"))),
    }
}

/// Reads the event of this clock.
pub(super) fn event(out: &Outputs) -> Result<Event, DeviceError> {
    let code = out.event_code;
    let odd = || garbage(&format!("an event of kind {} with code {code}", out.event_kind));
    let record = || unpack(&out.event_record).ok_or_else(odd);
    let input = match out.event_kind {
        0 => Input::Node { node: out.event_node, change: change(code, out.event_percent).ok_or_else(odd)? },
        1 => Input::Release(Release {
            slot: out.event_slot,
            generation: out.event_generation,
            kind: ReleaseKind::from_code(code).ok_or_else(odd)?,
            output_tokens: out.event_output_tokens,
        }),
        2 => Input::Tick { elapsed_ms: out.event_elapsed_ms },
        3 => Input::Visit(Visit::from_code(code, out.event_slot).ok_or_else(odd)?),
        4 => Input::Bind { pool: code },
        5 => Input::Switch { bank: out.event_bank != 0 },
        6 => Input::PuntResult(record()?),
        _ => Input::Record(record()?),
    };
    Ok(Event { seq: out.event_seq, now_ms: out.event_now_ms, input })
}

fn change(code: u8, percent: u8) -> Option<NodeChange> {
    match code {
        0 => Some(NodeChange::Up),
        1 => Some(NodeChange::Drain),
        2 => Some(NodeChange::Gone),
        3 | 4 => Some(NodeChange::Kv { percent, own: code == 4 }),
        _ => None,
    }
}
