//! The arbiter: gives every input its place in the one order of events.
//!
//! Its page is `README.md` in this folder.
use forebay_spec::limits::EVENT_INTERVAL_CLOCKS_MAX;
use rust_hdl::prelude::*;

/// Clocks from one event to the next, at least.
pub const INTERVAL_CLOCKS: u32 = 4;
/// Clocks from an input that is taken to its event.
pub const LATENCY_CLOCKS: u32 = 1;

// 4 less 1 stands in `update`.
const _: () = assert!(INTERVAL_CLOCKS == 4 && INTERVAL_CLOCKS <= EVENT_INTERVAL_CLOCKS_MAX);

/// Takes one of five inputs at a time, by `forebay_spec::INPUT_ORDER`, and stamps it.
#[derive(LogicBlock, Default)]
pub struct Arbiter {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// `seq` and `now_ms` start again from 0.
    pub reset: Signal<In, Bit>,

    /// A release stands at the input.
    pub release_valid: Signal<In, Bit>,
    /// It is taken in this clock.
    pub release_ready: Signal<Out, Bit>,
    /// Slot to give back.
    pub release_slot: Signal<In, Bits<16>>,
    /// Generation that the verdict named.
    pub release_generation: Signal<In, Bits<8>>,
    /// Why, by `ReleaseKind`.
    pub release_kind: Signal<In, Bits<2>>,

    /// A tick stands at the input.
    pub tick_valid: Signal<In, Bit>,
    /// It is taken in this clock.
    pub tick_ready: Signal<Out, Bit>,
    /// Milliseconds since the last tick.
    pub tick_elapsed_ms: Signal<In, Bits<16>>,

    /// A switch of bundles stands at the input.
    pub switch_valid: Signal<In, Bit>,
    /// It is taken.
    pub switch_ready: Signal<Out, Bit>,
    /// Bank of the bundle that requests are read by from here on.
    pub switch_bank: Signal<In, Bit>,

    /// A record of the exact software path stands at the input.
    pub punt_valid: Signal<In, Bit>,
    /// It is taken in this clock.
    pub punt_ready: Signal<Out, Bit>,
    /// The record, packed.
    pub punt_record: Signal<In, Bits<209>>,

    /// A record of the datapath stands at the input.
    pub record_valid: Signal<In, Bit>,
    /// It is taken in this clock.
    pub record_ready: Signal<Out, Bit>,
    /// The record, packed.
    pub record: Signal<In, Bits<209>>,

    /// There is an event, for this one clock.
    pub event_valid: Signal<Out, Bit>,
    /// Its input, as the place in `INPUT_ORDER`.
    pub event_kind: Signal<Out, Bits<3>>,
    /// Events before this one since reset.
    pub event_seq: Signal<Out, Bits<32>>,
    /// Milliseconds since reset, a tick included.
    pub event_now_ms: Signal<Out, Bits<32>>,
    /// Of a release: the slot.
    pub event_slot: Signal<Out, Bits<16>>,
    /// Of a release: the generation.
    pub event_generation: Signal<Out, Bits<8>>,
    /// Of a release: why.
    pub event_release_kind: Signal<Out, Bits<2>>,
    /// Of a tick: its milliseconds.
    pub event_elapsed_ms: Signal<Out, Bits<16>>,
    /// Of a switch: the bank.
    pub event_bank: Signal<Out, Bit>,
    /// Of a punt result or a record: the record.
    pub event_record: Signal<Out, Bits<209>>,
    /// Of a record: clocks that it stood at the input without being taken; stops at 65,535.
    pub event_wait_clocks: Signal<Out, Bits<16>>,

    r_gap: DFF<Bits<2>>,
    /// `seq` of the next event.
    r_seq: DFF<Bits<32>>,
    r_wait_clocks: DFF<Bits<16>>,
    e_valid: DFF<Bit>,
    e_kind: DFF<Bits<3>>,
    e_seq: DFF<Bits<32>>,
    e_now_ms: DFF<Bits<32>>,
    e_slot: DFF<Bits<16>>,
    e_generation: DFF<Bits<8>>,
    e_release_kind: DFF<Bits<2>>,
    e_elapsed_ms: DFF<Bits<16>>,
    e_bank: DFF<Bit>,
    e_record: DFF<Bits<209>>,
    e_wait_clocks: DFF<Bits<16>>,

    open: Signal<Local, Bit>,
    take_release: Signal<Local, Bit>,
    take_tick: Signal<Local, Bit>,
    take_switch: Signal<Local, Bit>,
    take_punt: Signal<Local, Bit>,
    take_record: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    before_punt: Signal<Local, Bit>,
    now_ms: Signal<Local, Bits<32>>,
}

impl Logic for Arbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_gap, r_seq, r_wait_clocks, e_valid, e_kind, e_seq, e_now_ms, e_slot, e_generation);
        dff_setup!(self, clock, e_release_kind, e_elapsed_ms, e_bank, e_record, e_wait_clocks);
        self.event_valid.next = self.e_valid.q.val();
        self.event_kind.next = self.e_kind.q.val();
        self.event_seq.next = self.e_seq.q.val();
        self.event_now_ms.next = self.e_now_ms.q.val();
        self.event_slot.next = self.e_slot.q.val();
        self.event_generation.next = self.e_generation.q.val();
        self.event_release_kind.next = self.e_release_kind.q.val();
        self.event_elapsed_ms.next = self.e_elapsed_ms.q.val();
        self.event_bank.next = self.e_bank.q.val();
        self.event_record.next = self.e_record.q.val();
        self.event_wait_clocks.next = self.e_wait_clocks.q.val();

        // the first that stands there, if the last one is long enough ago
        self.open.next = !self.r_gap.q.val().any() & !self.reset.val();
        self.take_release.next = self.open.val() & self.release_valid.val();
        self.take_tick.next = self.open.val() & self.tick_valid.val() & !self.release_valid.val();
        self.before_punt.next = self.release_valid.val() | self.tick_valid.val() | self.switch_valid.val();
        self.take_switch.next =
            self.open.val() & self.switch_valid.val() & !self.tick_valid.val() & !self.release_valid.val();
        self.take_punt.next = self.open.val() & self.punt_valid.val() & !self.before_punt.val();
        self.take_record.next =
            self.open.val() & self.record_valid.val() & !self.punt_valid.val() & !self.before_punt.val();
        self.take.next = self.open.val() & (self.before_punt.val() | self.punt_valid.val() | self.record_valid.val());
        self.release_ready.next = self.take_release.val();
        self.tick_ready.next = self.take_tick.val();
        self.switch_ready.next = self.take_switch.val();
        self.punt_ready.next = self.take_punt.val();
        self.record_ready.next = self.take_record.val();
        if self.take.val() {
            self.r_gap.d.next = 3.into();
        } else if self.r_gap.q.val().any() {
            self.r_gap.d.next = self.r_gap.q.val() - 1;
        }

        // time and place
        self.now_ms.next = self.e_now_ms.q.val();
        if self.take_tick.val() {
            self.now_ms.next = self.e_now_ms.q.val() + bit_cast::<32, 16>(self.tick_elapsed_ms.val());
        }
        self.e_now_ms.d.next = self.now_ms.val();
        self.e_valid.d.next = self.take.val();
        if self.take.val() {
            self.e_seq.d.next = self.r_seq.q.val();
            self.r_seq.d.next = self.r_seq.q.val() + 1;
        }

        // what it says
        if self.take_release.val() {
            self.e_kind.d.next = 0.into();
            self.e_slot.d.next = self.release_slot.val();
            self.e_generation.d.next = self.release_generation.val();
            self.e_release_kind.d.next = self.release_kind.val();
        }
        if self.take_tick.val() {
            self.e_kind.d.next = 1.into();
            self.e_elapsed_ms.d.next = self.tick_elapsed_ms.val();
        }
        if self.take_switch.val() {
            self.e_kind.d.next = 2.into();
            self.e_bank.d.next = self.switch_bank.val();
        }
        if self.take_punt.val() {
            self.e_kind.d.next = 3.into();
            self.e_record.d.next = self.punt_record.val();
        }
        if self.take_record.val() {
            self.e_kind.d.next = 4.into();
            self.e_record.d.next = self.record.val();
            self.e_wait_clocks.d.next = self.r_wait_clocks.q.val();
        }

        // how long the record has stood here
        if self.take_record.val() {
            self.r_wait_clocks.d.next = 0.into();
        } else if self.record_valid.val() & !self.r_wait_clocks.q.val().all() {
            self.r_wait_clocks.d.next = self.r_wait_clocks.q.val() + 1;
        }

        if self.reset.val() {
            self.r_gap.d.next = 0.into();
            self.r_seq.d.next = 0.into();
            self.r_wait_clocks.d.next = 0.into();
            self.e_valid.d.next = false;
            self.e_now_ms.d.next = 0.into();
        }
    }
}
