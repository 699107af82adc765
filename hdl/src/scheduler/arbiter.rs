//! The arbiter of the burst scheduler: gives every input its place in the one order of events.
use crate::burst::INTERVAL_CLOCKS;
use rust_hdl::prelude::*;

// The place in the six clocks stands in `update`: the clock before the one in which `burst` is ready.
const _: () = assert!(INTERVAL_CLOCKS == 6);

/// Takes one input of eight at a time, by `forebay_spec::burst::INPUT_ORDER`, in the clock before `burst` takes an event,
/// and stamps it.
#[derive(LogicBlock, Default)]
pub struct Arbiter {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// `seq` and `now_ms` start again from 0.
    pub reset: Signal<In, Bit>,

    /// Something is told about a node.
    pub node_valid: Signal<In, Bit>,
    /// It is taken in this clock.
    pub node_ready: Signal<Out, Bit>,
    /// The node.
    pub node_number: Signal<In, Bits<8>>,
    /// Code of the change.
    pub node_code: Signal<In, Bits<3>>,
    /// Percent.
    pub node_percent: Signal<In, Bits<7>>,
    /// A release stands at the input.
    pub release_valid: Signal<In, Bit>,
    /// It is taken.
    pub release_ready: Signal<Out, Bit>,
    /// Slot or entry.
    pub release_slot: Signal<In, Bits<16>>,
    /// Generation.
    pub release_generation: Signal<In, Bits<8>>,
    /// What is told, by `ReleaseKind`.
    pub release_kind: Signal<In, Bits<3>>,
    /// Output tokens.
    pub release_output_tokens: Signal<In, Bits<16>>,
    /// A tick of the timer.
    pub ms_valid: Signal<In, Bit>,
    /// It is taken.
    pub ms_ready: Signal<Out, Bit>,
    /// Its milliseconds.
    pub ms_elapsed: Signal<In, Bits<16>>,
    /// A visit of the timer.
    pub visit_valid: Signal<In, Bit>,
    /// It is taken.
    pub visit_ready: Signal<Out, Bit>,
    /// Its code.
    pub visit_code: Signal<In, Bits<3>>,
    /// Its index.
    pub visit_index: Signal<In, Bits<16>>,
    /// A bind of the timer.
    pub bind_valid: Signal<In, Bit>,
    /// It is taken.
    pub bind_ready: Signal<Out, Bit>,
    /// Its pool.
    pub bind_pool: Signal<In, Bits<3>>,
    /// A switch of bundles stands at the input.
    pub switch_valid: Signal<In, Bit>,
    /// It is taken.
    pub switch_ready: Signal<Out, Bit>,
    /// The bank.
    pub switch_bank: Signal<In, Bit>,
    /// A record of the exact software path stands at the input.
    pub punt_valid: Signal<In, Bit>,
    /// It is taken.
    pub punt_ready: Signal<Out, Bit>,
    /// The record, packed.
    pub punt_record: Signal<In, Bits<209>>,
    /// A record of the datapath stands at the input.
    pub record_valid: Signal<In, Bit>,
    /// It is taken.
    pub record_ready: Signal<Out, Bit>,
    /// The record, packed.
    pub record: Signal<In, Bits<209>>,

    /// `burst` takes an event in this clock, if there is one.
    pub burst_ready: Signal<In, Bit>,
    /// An input is taken in this clock, if one stands there.
    pub open: Signal<Out, Bit>,
    /// Milliseconds since reset, those of the event included.
    pub now_ms: Signal<Out, Bits<32>>,

    /// There is an event, for this one clock.
    pub event_valid: Signal<Out, Bit>,
    /// Its input, as the place in `INPUT_ORDER`.
    pub event_kind: Signal<Out, Bits<3>>,
    /// Events before this one since reset.
    pub event_seq: Signal<Out, Bits<32>>,
    /// Of a node event: the node.
    pub event_node: Signal<Out, Bits<8>>,
    /// Code of the change, of the release, of the visit; of a bind the pool.
    pub event_code: Signal<Out, Bits<3>>,
    /// Of a node event: percent.
    pub event_percent: Signal<Out, Bits<7>>,
    /// Of a release: slot or entry; of a visit: its index.
    pub event_slot: Signal<Out, Bits<16>>,
    /// Of a release: the generation.
    pub event_generation: Signal<Out, Bits<8>>,
    /// Of a release: output tokens.
    pub event_output_tokens: Signal<Out, Bits<16>>,
    /// Of a tick: its milliseconds.
    pub event_elapsed_ms: Signal<Out, Bits<16>>,
    /// Of a switch: the bank.
    pub event_bank: Signal<Out, Bit>,
    /// Of a punt result or a record: the record.
    pub event_record: Signal<Out, Bits<209>>,
    /// Of a record: clocks that it stood at the input without being taken; stops at 65,535.
    pub event_wait_clocks: Signal<Out, Bits<16>>,

    /// Clocks since `burst` was ready; 7 before the first time.
    r_phase: DFF<Bits<3>>,
    r_seq: DFF<Bits<32>>,
    r_wait_clocks: DFF<Bits<16>>,
    e_valid: DFF<Bit>,
    e_kind: DFF<Bits<3>>,
    e_seq: DFF<Bits<32>>,
    e_now_ms: DFF<Bits<32>>,
    e_node: DFF<Bits<8>>,
    e_code: DFF<Bits<3>>,
    e_percent: DFF<Bits<7>>,
    e_slot: DFF<Bits<16>>,
    e_generation: DFF<Bits<8>>,
    e_output_tokens: DFF<Bits<16>>,
    e_elapsed_ms: DFF<Bits<16>>,
    e_bank: DFF<Bit>,
    e_record: DFF<Bits<209>>,
    e_wait_clocks: DFF<Bits<16>>,

    opens: Signal<Local, Bit>,
    by_release: Signal<Local, Bit>,
    by_ms: Signal<Local, Bit>,
    by_visit: Signal<Local, Bit>,
    by_bind: Signal<Local, Bit>,
    by_switch: Signal<Local, Bit>,
    by_punt: Signal<Local, Bit>,
    by_record: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    now: Signal<Local, Bits<32>>,
}

impl Logic for Arbiter {
    // tidy: long because each of eight inputs has fields of its own
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_phase, r_seq, r_wait_clocks, e_valid, e_kind, e_seq, e_now_ms, e_node, e_code);
        dff_setup!(self, clock, e_percent, e_slot, e_generation, e_output_tokens, e_elapsed_ms, e_bank, e_record);
        dff_setup!(self, clock, e_wait_clocks);
        self.event_valid.next = self.e_valid.q.val();
        self.event_kind.next = self.e_kind.q.val();
        self.event_seq.next = self.e_seq.q.val();
        self.now_ms.next = self.e_now_ms.q.val();
        self.event_node.next = self.e_node.q.val();
        self.event_code.next = self.e_code.q.val();
        self.event_percent.next = self.e_percent.q.val();
        self.event_slot.next = self.e_slot.q.val();
        self.event_generation.next = self.e_generation.q.val();
        self.event_output_tokens.next = self.e_output_tokens.q.val();
        self.event_elapsed_ms.next = self.e_elapsed_ms.q.val();
        self.event_bank.next = self.e_bank.q.val();
        self.event_record.next = self.e_record.q.val();
        self.event_wait_clocks.next = self.e_wait_clocks.q.val();

        // the clock before `burst` is ready
        if !self.r_phase.q.val().all() {
            self.r_phase.d.next = self.r_phase.q.val() + 1;
        }
        if self.burst_ready.val() {
            self.r_phase.d.next = 0.into();
        }
        self.opens.next = (self.r_phase.q.val() == 4) & !self.reset.val();
        self.open.next = self.opens.val();

        // the first that stands there; each `by` is the clock, if nothing stands before it
        self.by_release.next = self.opens.val() & !self.node_valid.val();
        self.by_ms.next = self.by_release.val() & !self.release_valid.val();
        self.by_visit.next = self.by_ms.val() & !self.ms_valid.val();
        self.by_bind.next = self.by_visit.val() & !self.visit_valid.val();
        self.by_switch.next = self.by_bind.val() & !self.bind_valid.val();
        self.by_punt.next = self.by_switch.val() & !self.switch_valid.val();
        self.by_record.next = self.by_punt.val() & !self.punt_valid.val();
        self.takes.next = self.opens.val() & !(self.by_record.val() & !self.record_valid.val());
        self.node_ready.next = self.opens.val() & self.node_valid.val();
        self.release_ready.next = self.by_release.val() & self.release_valid.val();
        self.ms_ready.next = self.by_ms.val() & self.ms_valid.val();
        self.visit_ready.next = self.by_visit.val() & self.visit_valid.val();
        self.bind_ready.next = self.by_bind.val() & self.bind_valid.val();
        self.switch_ready.next = self.by_switch.val() & self.switch_valid.val();
        self.punt_ready.next = self.by_punt.val() & self.punt_valid.val();
        self.record_ready.next = self.by_record.val() & self.record_valid.val();

        // time and place
        self.e_valid.d.next = self.takes.val();
        if self.takes.val() {
            self.e_seq.d.next = self.r_seq.q.val();
            self.r_seq.d.next = self.r_seq.q.val() + 1;
        }
        self.now.next = self.e_now_ms.q.val() + bit_cast::<32, 16>(self.ms_elapsed.val());
        if self.ms_ready.val() {
            self.e_now_ms.d.next = self.now.val();
        }

        // what it says
        if self.node_ready.val() {
            self.e_kind.d.next = 0.into();
            self.e_node.d.next = self.node_number.val();
            self.e_code.d.next = self.node_code.val();
            self.e_percent.d.next = self.node_percent.val();
        }
        if self.release_ready.val() {
            self.e_kind.d.next = 1.into();
            self.e_slot.d.next = self.release_slot.val();
            self.e_generation.d.next = self.release_generation.val();
            self.e_code.d.next = self.release_kind.val();
            self.e_output_tokens.d.next = self.release_output_tokens.val();
        }
        if self.ms_ready.val() {
            self.e_kind.d.next = 2.into();
            self.e_elapsed_ms.d.next = self.ms_elapsed.val();
        }
        if self.visit_ready.val() {
            self.e_kind.d.next = 3.into();
            self.e_code.d.next = self.visit_code.val();
            self.e_slot.d.next = self.visit_index.val();
        }
        if self.bind_ready.val() {
            self.e_kind.d.next = 4.into();
            self.e_code.d.next = self.bind_pool.val();
        }
        if self.switch_ready.val() {
            self.e_kind.d.next = 5.into();
            self.e_bank.d.next = self.switch_bank.val();
        }
        if self.punt_ready.val() {
            self.e_kind.d.next = 6.into();
            self.e_record.d.next = self.punt_record.val();
        }
        if self.record_ready.val() {
            self.e_kind.d.next = 7.into();
            self.e_record.d.next = self.record.val();
            self.e_wait_clocks.d.next = self.r_wait_clocks.q.val();
        }

        // how long the record has stood here
        if self.record_valid.val() & !self.r_wait_clocks.q.val().all() {
            self.r_wait_clocks.d.next = self.r_wait_clocks.q.val() + 1;
        }
        if self.record_ready.val() {
            self.r_wait_clocks.d.next = 0.into();
        }

        if self.reset.val() {
            self.r_phase.d.next = 7.into();
            self.r_seq.d.next = 0.into();
            self.r_wait_clocks.d.next = 0.into();
            self.e_valid.d.next = false;
            self.e_now_ms.d.next = 0.into();
        }
    }
}
