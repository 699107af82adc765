//! The scheduler's ports as plain values.
use crate::burst::program::Shown;
use forebay_hdl::scheduler::Scheduler;
use forebay_spec::burst::{Event, Input, NodeChange, Release, ReleaseKind, Visit};
use forebay_spec::layout::{pack, unpack, RECORD_BITS, RECORD_WORDS};
use forebay_spec::Record;
use rust_hdl::prelude::*;

/// What stands at the inputs in a clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offered {
    pub(crate) reset: bool,
    pub(crate) word: Option<(u16, u32)>,
    pub(crate) node: Option<(u8, NodeChange)>,
    pub(crate) release: Option<Release>,
    pub(crate) tick: Option<u16>,
    pub(crate) switch: Option<bool>,
    pub(crate) punt: Option<Record>,
    pub(crate) record: Option<Record>,
}

/// What the block shows in a clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) node_ready: bool,
    pub(crate) release_ready: bool,
    pub(crate) tick_ready: bool,
    pub(crate) switch_ready: bool,
    pub(crate) punt_ready: bool,
    pub(crate) record_ready: bool,
    pub(crate) event: Option<Event>,
    pub(crate) wait_clocks: u32,
    pub(crate) shown: Option<Shown>,
}

fn bits(record: &Record) -> Bits<RECORD_BITS> {
    let words = pack(record);
    let bits: [bool; RECORD_BITS] = std::array::from_fn(|i| words[i / 32] >> (i % 32) & 1 == 1);
    Bits::Long(bits.into())
}

fn record(bits: &Bits<RECORD_BITS>) -> Record {
    let mut words = [0; RECORD_WORDS];
    (0..RECORD_BITS).for_each(|i| words[i / 32] |= u32::from(bits.get_bit(i)) << (i % 32));
    unpack(&words).expect("codes in use")
}

fn n<const W: usize>(bits: Bits<W>) -> u32 {
    u64::from(bits) as u32
}

/// Sets the inputs of a block.
pub(crate) fn put<
    const N: usize,
    const B: usize,
    const S: usize,
    const C: usize,
    const H: usize,
    const T: usize,
    const K: usize,
    const P: usize,
    const Q: usize,
>(
    b: &mut Scheduler<N, B, S, C, H, T, K, P, Q>,
    o: &Offered,
) {
    let wide = |x: u32| u64::from(x);
    b.reset.next = o.reset;
    b.cfg_valid.next = o.word.is_some();
    let (address, data) = o.word.unwrap_or_default();
    (b.cfg_address.next, b.cfg_data.next) = (wide(address.into()).into(), wide(data).into());
    b.node_valid.next = o.node.is_some();
    if let Some((node, change)) = o.node {
        (b.node_number.next, b.node_code.next) = (wide(node.into()).into(), wide(change.code().into()).into());
        let percent = if let NodeChange::Kv { percent, .. } = change { percent } else { 0 };
        b.node_percent.next = wide(percent.into()).into();
    }
    b.release_valid.next = o.release.is_some();
    if let Some(r) = o.release {
        (b.release_slot.next, b.release_generation.next) =
            (wide(r.slot.into()).into(), wide(r.generation.into()).into());
        b.release_kind.next = wide(r.kind.code().into()).into();
        b.release_output_tokens.next = wide(r.output_tokens.into()).into();
    }
    b.tick_valid.next = o.tick.is_some();
    b.tick_elapsed_ms.next = wide(o.tick.unwrap_or(0).into()).into();
    b.switch_valid.next = o.switch.is_some();
    b.switch_bank.next = o.switch == Some(true);
    b.punt_valid.next = o.punt.is_some();
    if let Some(r) = &o.punt {
        b.punt_record.next = bits(r);
    }
    b.record_valid.next = o.record.is_some();
    if let Some(r) = &o.record {
        b.record.next = bits(r);
    }
}

/// Reads the outputs of a block.
pub(crate) fn see<
    const N: usize,
    const B: usize,
    const S: usize,
    const C: usize,
    const H: usize,
    const T: usize,
    const K: usize,
    const P: usize,
    const Q: usize,
>(
    b: &Scheduler<N, B, S, C, H, T, K, P, Q>,
) -> Seen {
    let code = n(b.event_code.val()) as u8;
    let input = || match n(b.event_kind.val()) {
        0 => Input::Node { node: n(b.event_node.val()) as u8, change: change(code, n(b.event_percent.val()) as u8) },
        1 => Input::Release(Release {
            slot: n(b.event_slot.val()) as u16,
            generation: n(b.event_generation.val()) as u8,
            kind: ReleaseKind::from_code(code).expect("a kind in use"),
            output_tokens: n(b.event_output_tokens.val()) as u16,
        }),
        2 => Input::Tick { elapsed_ms: n(b.event_elapsed_ms.val()) as u16 },
        3 => Input::Visit(Visit::from_code(code, n(b.event_slot.val()) as u16).expect("a code in use")),
        4 => Input::Bind { pool: code },
        5 => Input::Switch { bank: b.event_bank.val() },
        6 => Input::PuntResult(record(&b.event_record.val())),
        _ => Input::Record(record(&b.event_record.val())),
    };
    let event = b.event_valid.val().then(|| Event {
        seq: n(b.event_seq.val()),
        now_ms: n(b.event_now_ms.val()),
        input: input(),
    });
    Seen {
        node_ready: b.node_ready.val(),
        release_ready: b.release_ready.val(),
        tick_ready: b.tick_ready.val(),
        switch_ready: b.switch_ready.val(),
        punt_ready: b.punt_ready.val(),
        record_ready: b.record_ready.val(),
        event,
        wait_clocks: n(b.event_wait_clocks.val()),
        shown: b.verdict_valid.val().then(|| shown(b)),
    }
}

/// The verdict of this clock.
fn shown<
    const N: usize,
    const B: usize,
    const S: usize,
    const C: usize,
    const H: usize,
    const T: usize,
    const K: usize,
    const P: usize,
    const Q: usize,
>(
    b: &Scheduler<N, B, S, C, H, T, K, P, Q>,
) -> Shown {
    Shown {
        evicted: b.verdict_evicted.val(),
        seq: n(b.verdict_seq.val()),
        connection: n(b.verdict_connection.val()) as u16,
        index: n(b.verdict_index.val()) as u16,
        action: n(b.verdict_action.val()) as u8,
        reason: n(b.verdict_reason.val()) as u8,
        level: b.verdict_has_level.val().then(|| n(b.verdict_level.val()) as u8),
        node: n(b.verdict_node.val()) as u8,
        slot: n(b.verdict_slot.val()) as u16,
        generation: n(b.verdict_generation.val()) as u8,
        redirected: b.verdict_redirected.val(),
        held_ms: n(b.verdict_held_ms.val()),
        retry_after_ms: n(b.verdict_retry_after_ms.val()) as u16,
        recommended: n(b.verdict_recommended.val()) as u16,
    }
}

fn change(code: u8, percent: u8) -> NodeChange {
    match code {
        0 => NodeChange::Up,
        1 => NodeChange::Drain,
        2 => NodeChange::Gone,
        _ => NodeChange::Kv { percent, own: code == 4 },
    }
}
