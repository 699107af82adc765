//! Events to the pins of the burst scheduler, and verdicts off them.
use crate::burst_board::{Inputs, Outputs};
use forebay_device::DeviceError;
use forebay_spec::burst::{Action, Event, Input, LostReason, NodeChange, RefuseReason, Verdict};
use forebay_spec::layout::pack;
use forebay_spec::{PuntReason, RejectReason};

/// An event on the pins, offered.
pub(super) fn offered(event: &Event) -> Inputs {
    let mut pins = Inputs {
        event_valid: 1,
        event_kind: event.input.rank(),
        event_seq: event.seq,
        event_now_ms: event.now_ms,
        ..Inputs::default()
    };
    match &event.input {
        Input::Node { node, change } => {
            (pins.event_node, pins.event_code) = (*node, change.code());
            if let NodeChange::Kv { percent, .. } = change {
                pins.event_percent = *percent;
            }
        }
        Input::Release(release) => {
            (pins.event_slot, pins.event_generation) = (release.slot, release.generation);
            (pins.event_code, pins.event_output_tokens) = (release.kind.code(), release.output_tokens);
        }
        Input::Visit(visit) => (pins.event_code, pins.event_slot) = (visit.code(), visit.index()),
        Input::Bind { pool } => pins.event_code = *pool,
        Input::Tick { .. } | Input::Switch { .. } => {}
        Input::PuntResult(record) | Input::Record(record) => pins.event_record = pack(record),
    }
    pins
}

/// Makes the function that reads the verdict which is given in a clock; the models have outputs of the same names.
macro_rules! verdict_pins {
    ($outputs:ty) => {
        /// Reads the verdict that is given in this clock.
        pub(crate) fn verdict(out: &$outputs) -> Result<Verdict, DeviceError> {
            let code = out.verdict_reason;
            let odd = || DeviceError::Garbage { what: format!("action {} with reason {code}", out.verdict_action) };
            let action = match out.verdict_action {
                0 => Action::Admit {
                    node: out.verdict_node,
                    slot: out.verdict_slot,
                    generation: out.verdict_generation,
                    redirected: out.verdict_redirected != 0,
                    held_ms: out.verdict_held_ms,
                },
                1 => Action::Refuse {
                    reason: RefuseReason::from_code(code).ok_or_else(odd)?,
                    retry_after_ms: out.verdict_retry_after_ms,
                    recommended_concurrency: out.verdict_recommended,
                },
                2 => Action::Reject(RejectReason::from_code(code).ok_or_else(odd)?),
                3 => Action::Pass,
                4 => Action::Punt(PuntReason::from_code(code).ok_or_else(odd)?),
                5 => Action::Hold { entry: out.verdict_slot, generation: out.verdict_generation },
                6 => Action::Lost {
                    slot: out.verdict_slot,
                    generation: out.verdict_generation,
                    reason: LostReason::from_code(code).ok_or_else(odd)?,
                },
                _ => return Err(odd()),
            };
            Ok(Verdict {
                seq: out.verdict_seq,
                connection: out.verdict_connection,
                index: out.verdict_index,
                action,
                level: (out.verdict_has_level != 0).then_some(out.verdict_level),
            })
        }
    };
}
pub(crate) use verdict_pins;

verdict_pins!(Outputs);
