//! From the device's words to pins, and back.
use crate::core::{Inputs, Outputs};
use forebay_decide::Bundle;
use forebay_device::DeviceError;
use forebay_spec::config::{
    HASH_KEY, LEVEL_LIMIT, MODEL_BYTES, MODEL_NAME, MODEL_STRIDE, TENANT, TENANT_STRIDE, THRESHOLD,
};
use forebay_spec::layout;
use forebay_spec::limits::{MODELS_MAX, MODEL_NAME_BYTES_MAX, TENANTS_MAX};
use forebay_spec::{Action, Event, Input, PuntReason, RefuseReason, RejectReason, Release, ReleaseKind, Verdict};

/// Configuration words of a bundle: every word, so that nothing of an earlier bundle is left.
pub(crate) fn config_words(bundle: &Bundle) -> Vec<(u16, u32)> {
    let mut words = Vec::new();
    let mut put = |at: u16, value: u32| words.push((at, value));
    for (i, t) in (0..).zip(bundle.thresholds) {
        put(THRESHOLD + i, t);
    }
    for (i, l) in (0..).zip(bundle.level_limits) {
        put(LEVEL_LIMIT + i, u32::from(l));
    }
    for (i, word) in (0..).zip(words_of(&bundle.hash_key)) {
        put(HASH_KEY + i, word);
    }
    for i in 0..TENANTS_MAX {
        let at = TENANT + TENANT_STRIDE * i as u16;
        let tag = bundle.tenant_tags.get(i);
        for (k, word) in (0..).zip(words_of(tag.unwrap_or(&[0; 16]))) {
            put(at + k, word);
        }
        put(at + 4, u32::from(tag.is_some()));
    }
    for i in 0..MODELS_MAX {
        let name = bundle.models.get(i).map_or(&[][..], |m| m.as_bytes());
        let mut bytes = [0; MODEL_NAME_BYTES_MAX];
        bytes[..name.len()].copy_from_slice(name);
        put(MODEL_BYTES + i as u16, name.len() as u32);
        for (k, word) in (0..).zip(words_of(&bytes)) {
            put(MODEL_NAME + MODEL_STRIDE * i as u16 + k, word);
        }
    }
    words
}

fn words_of(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks(4).map(|c| c.iter().rev().fold(0, |word, b| word << 8 | u32::from(*b)))
}

/// Puts a host input on its pins.
pub(crate) fn put_input(pins: &mut Inputs, input: &Input) {
    match input {
        Input::Release(r) => {
            pins.release_valid = 1;
            pins.release_slot = r.slot;
            pins.release_generation = r.generation;
            pins.release_kind = r.kind.code();
        }
        Input::Tick { elapsed_ms } => {
            pins.tick_valid = 1;
            pins.tick_elapsed_ms = *elapsed_ms;
        }
        Input::PuntResult(record) | Input::Record(record) => {
            pins.punt_valid = 1;
            pins.punt_record = layout::pack(record);
        }
    }
}

/// Takes host inputs off their pins.
pub(crate) fn clear_input(pins: &mut Inputs) {
    pins.release_valid = 0;
    pins.tick_valid = 0;
    pins.punt_valid = 0;
}

/// Was the host input on the pins taken?
pub(crate) fn input_taken(pins: &Inputs, out: &Outputs) -> bool {
    (pins.release_valid & out.release_ready) | (pins.tick_valid & out.tick_ready) | (pins.punt_valid & out.punt_ready)
        != 0
}

fn garbage(what: String) -> DeviceError {
    DeviceError::Garbage { what }
}

/// Reads the event that the core logs in this clock.
pub(crate) fn event(out: &Outputs) -> Result<Event, DeviceError> {
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
        2 => Input::PuntResult(record()?),
        3 => Input::Record(record()?),
        kind => return Err(garbage(format!("event kind {kind}"))),
    };
    Ok(Event { seq: out.event_seq, now_ms: out.event_now_ms, input })
}

/// Reads the verdict that the core gives in this clock.
pub(crate) fn verdict(out: &Outputs) -> Result<Verdict, DeviceError> {
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
