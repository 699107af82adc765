//! From the device's words to pins, and back.
use crate::model::{Pins, Seen};
use forebay_device::DeviceError;
use forebay_spec::layout;
use forebay_spec::{Action, Event, Input, PuntReason, RefuseReason, RejectReason, Release, ReleaseKind, Verdict};

/// `s_command`: requests that begin from here on are of the bank.
pub(crate) const COMMAND_SWITCH: u8 = 1;
/// `s_command`: requests of the bank end.
pub(crate) const COMMAND_EXPIRE: u8 = 2;
/// `s_command`: the connection is given up.
pub(crate) const COMMAND_ABORT: u8 = 3;

/// Puts a host input on its pins.
pub(crate) fn put_input(pins: &mut Pins, input: &Input) {
    match input {
        Input::Release(r) => pins.release = Some((r.slot, r.generation, r.kind.code())),
        Input::Tick { elapsed_ms } => pins.tick = Some(*elapsed_ms),
        Input::Switch { bank } => pins.switch = Some(*bank),
        Input::PuntResult(record) | Input::Record(record) => pins.punt = Some(layout::pack(record)),
    }
}

/// Takes host inputs off their pins.
pub(crate) fn clear_input(pins: &mut Pins) {
    (pins.release, pins.tick, pins.switch, pins.punt) = (None, None, None, None);
}

/// Was the host input on the pins taken?
pub(crate) fn input_taken(pins: &Pins, out: &Seen) -> bool {
    pins.release.is_some() && out.release_ready != 0
        || pins.tick.is_some() && out.tick_ready != 0
        || pins.switch.is_some() && out.switch_ready != 0
        || pins.punt.is_some() && out.punt_ready != 0
}

fn garbage(what: String) -> DeviceError {
    DeviceError::Garbage { what }
}

/// Reads the event that the core logs in this clock.
pub(crate) fn event(out: &Seen) -> Result<Event, DeviceError> {
    let record = || {
        layout::unpack(&out.event_record)
            .ok_or_else(|| garbage(format!("a record with a code that is not in use: {:08x?}", out.event_record)))
    };
    let input = match out.event_kind {
        0 => Input::Release(Release {
            slot: out.event_slot,
            generation: out.event_generation,
            kind: ReleaseKind::from_code(out.event_release_kind)
                .ok_or_else(|| garbage(format!("release kind {}", out.event_release_kind)))?,
        }),
        1 => Input::Tick { elapsed_ms: out.event_elapsed_ms },
        2 => Input::Switch { bank: out.event_bank != 0 },
        3 => Input::PuntResult(record()?),
        4 => Input::Record(record()?),
        kind => return Err(garbage(format!("event kind {kind}"))),
    };
    Ok(Event { seq: out.event_seq, now_ms: out.event_now_ms, input })
}

/// Reads the verdict that the core gives in this clock.
pub(crate) fn verdict(out: &Seen) -> Result<Verdict, DeviceError> {
    let code = out.verdict_reason;
    let odd = || garbage(format!("action {} with reason {code}", out.verdict_action));
    let action = match out.verdict_action {
        0 => Action::Admit { slot: out.verdict_slot, generation: out.verdict_generation },
        1 => Action::Refuse(RefuseReason::from_code(code).ok_or_else(odd)?),
        2 => Action::Reject(RejectReason::from_code(code).ok_or_else(odd)?),
        3 => Action::Pass,
        4 => Action::Punt(PuntReason::from_code(code).ok_or_else(odd)?),
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
