//! The verdict: slots, levels, and the answer to each request.
//!
//! Its page is `README.md` in this folder.
mod rules;
mod slots;

pub use rules::Rules;
pub use slots::{Slots, INTERVAL_CLOCKS};

use crate::arbiter;
use crate::leaf::RecordUnpack;
use forebay_spec::config;
use forebay_spec::limits::{LEVELS, VERDICT_CLOCKS_MAX};
use rust_hdl::prelude::*;

/// Clocks from an event to its verdict.
pub const EVENT_LATENCY_CLOCKS: u32 = 3;
/// Clocks from a record at the arbiter's input to its verdict, while nothing else waits.
pub const LATENCY_CLOCKS: u32 = arbiter::LATENCY_CLOCKS + EVENT_LATENCY_CLOCKS;

const _: () = assert!(arbiter::INTERVAL_CLOCKS >= INTERVAL_CLOCKS && LATENCY_CLOCKS <= VERDICT_CLOCKS_MAX);
// The addresses stand in `update` of the parts as literals.
const _: () = assert!(config::THRESHOLD == 0 && config::LEVEL_LIMIT == 8 && LEVELS == 8);

/// The verdict block of profile `board`.
pub type BoardVerdict = Verdict<8, 9, 16>;
/// The verdict block of profile `proof`.
pub type ProofVerdict = Verdict<3, 4, 11>;

/// Decides on events, with `1 << A` slots; `C` is `A + 1` and `F` is `A + 8`.
#[derive(LogicBlock, Default)]
pub struct Verdict<const A: usize, const C: usize, const F: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// All slots are free and were never used; all counts are 0. What was configured stays.
    pub reset: Signal<In, Bit>,

    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address, by `forebay_spec::config`; other blocks' addresses are passed over.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,

    /// There is an event.
    pub event_valid: Signal<In, Bit>,
    /// Its input, as the place in `INPUT_ORDER`.
    pub event_kind: Signal<In, Bits<3>>,
    /// Its `seq`.
    pub event_seq: Signal<In, Bits<32>>,
    /// Of a release: the slot.
    pub event_slot: Signal<In, Bits<16>>,
    /// Of a release: the generation.
    pub event_generation: Signal<In, Bits<8>>,
    /// Of a punt result or a record: the record.
    pub event_record: Signal<In, Bits<209>>,

    /// There is a verdict, for this one clock.
    pub verdict_valid: Signal<Out, Bit>,
    /// `seq` of the event that it answers.
    pub verdict_seq: Signal<Out, Bits<32>>,
    /// Connection of the request.
    pub verdict_connection: Signal<Out, Bits<16>>,
    /// Position of the request in its connection.
    pub verdict_index: Signal<Out, Bits<16>>,
    /// Code of the action.
    pub verdict_action: Signal<Out, Bits<3>>,
    /// Code of the reason; 0 for an admit and a pass.
    pub verdict_reason: Signal<Out, Bits<5>>,
    /// The verdict has a level: admitted or refused.
    pub verdict_has_level: Signal<Out, Bit>,
    /// Level; 0 without one.
    pub verdict_level: Signal<Out, Bits<3>>,
    /// Slot of an admit; else 0.
    pub verdict_slot: Signal<Out, Bits<16>>,
    /// Generation of an admit; else 0.
    pub verdict_generation: Signal<Out, Bits<8>>,

    /// Requests that came in: records and punt results.
    pub in_count: Signal<Out, Bits<32>>,
    /// Requests admitted.
    pub admit_count: Signal<Out, Bits<32>>,
    /// Requests refused.
    pub refuse_count: Signal<Out, Bits<32>>,
    /// Requests rejected.
    pub reject_count: Signal<Out, Bits<32>>,
    /// Requests without an inference body.
    pub pass_count: Signal<Out, Bits<32>>,
    /// Requests handed to the exact software path.
    pub punt_count: Signal<Out, Bits<32>>,
    /// Releases that changed nothing.
    pub stale_release_count: Signal<Out, Bits<32>>,

    unpack: RecordUnpack,
    rules: Rules,
    slots: Slots<A, C, F>,
    s1_request: DFF<Bit>,
    s1_seq: DFF<Bits<32>>,
    s1_connection: DFF<Bits<16>>,
    s1_index: DFF<Bits<16>>,
    s1_bank: DFF<Bit>,
    s2_bank: DFF<Bit>,
    s2_request: DFF<Bit>,
    s2_seq: DFF<Bits<32>>,
    s2_connection: DFF<Bits<16>>,
    s2_index: DFF<Bits<16>>,
    s3_request: DFF<Bit>,
    s3_seq: DFF<Bits<32>>,
    s3_connection: DFF<Bits<16>>,
    s3_index: DFF<Bits<16>>,
    s3_action: DFF<Bits<3>>,
    s3_reason: DFF<Bits<5>>,
    s3_has_level: DFF<Bit>,
    s3_level: DFF<Bits<3>>,
    /// Requests by action code, then stale releases, then all requests.
    counts: [DFF<Bits<32>>; 7],
    is_request: Signal<Local, Bit>,
    ask: Signal<Local, Bit>,
}

impl<const A: usize, const C: usize, const F: usize> Logic for Verdict<A, C, F> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s1_request, s1_seq, s1_connection, s1_index, s1_bank, s2_bank);
        dff_setup!(self, clock, s2_request, s2_seq, s2_connection, s2_index);
        dff_setup!(self, clock, s3_request, s3_seq, s3_connection, s3_index, s3_action, s3_reason);
        dff_setup!(self, clock, s3_has_level, s3_level);
        clock!(self, clock, rules, slots);
        self.slots.reset.next = self.reset.val();
        self.rules.cfg_valid.next = self.cfg_valid.val();
        self.rules.cfg_address.next = self.cfg_address.val();
        self.rules.cfg_data.next = self.cfg_data.val();
        self.slots.cfg_valid.next = self.cfg_valid.val();
        self.slots.cfg_address.next = self.cfg_address.val();
        self.slots.cfg_data.next = self.cfg_data.val();

        // clock 0: the event
        self.is_request.next = self.event_valid.val() & (self.event_kind.val() >= 3);
        self.unpack.record.next = self.event_record.val();
        self.rules.disposition.next = self.unpack.disposition.val();
        self.rules.bank.next = self.unpack.bank.val().any();
        self.rules.kinds.next = self.unpack.kinds.val();
        self.rules.max_tokens.next = self.unpack.max_tokens.val();
        self.slots.free_valid.next = self.event_valid.val() & (self.event_kind.val() == 0);
        self.slots.free_slot.next = self.event_slot.val();
        self.slots.free_generation.next = self.event_generation.val();
        self.s1_request.d.next = self.is_request.val();
        self.s1_seq.d.next = self.event_seq.val();
        self.s1_connection.d.next = self.unpack.connection.val();
        self.s1_index.d.next = self.unpack.index.val();
        self.s1_bank.d.next = self.unpack.bank.val().any();

        // clock 1: rules
        self.s2_request.d.next = self.s1_request.q.val();
        self.s2_seq.d.next = self.s1_seq.q.val();
        self.s2_connection.d.next = self.s1_connection.q.val();
        self.s2_index.d.next = self.s1_index.q.val();
        self.s2_bank.d.next = self.s1_bank.q.val();

        // clock 2: level and slot
        self.ask.next = self.s2_request.q.val() & self.rules.decide.val();
        self.slots.ask.next = self.ask.val();
        self.slots.ask_level.next = self.rules.level.val();
        self.slots.ask_bank.next = self.s2_bank.q.val();
        self.s3_request.d.next = self.s2_request.q.val();
        self.s3_seq.d.next = self.s2_seq.q.val();
        self.s3_connection.d.next = self.s2_connection.q.val();
        self.s3_index.d.next = self.s2_index.q.val();
        self.s3_has_level.d.next = self.ask.val();
        self.s3_level.d.next = 0.into();
        self.s3_action.d.next = self.rules.action.val();
        self.s3_reason.d.next = self.rules.reason.val();
        if self.ask.val() {
            self.s3_level.d.next = self.rules.level.val();
            if self.slots.granted.val() {
                self.s3_action.d.next = 0.into();
                self.s3_reason.d.next = 0.into();
            } else {
                self.s3_action.d.next = 1.into();
                self.s3_reason.d.next = 2.into();
                if self.slots.level_full.val() {
                    self.s3_reason.d.next = 1.into();
                }
            }
        }

        // clock 3: the verdict
        self.verdict_valid.next = self.s3_request.q.val();
        self.verdict_seq.next = self.s3_seq.q.val();
        self.verdict_connection.next = self.s3_connection.q.val();
        self.verdict_index.next = self.s3_index.q.val();
        self.verdict_action.next = self.s3_action.q.val();
        self.verdict_reason.next = self.s3_reason.q.val();
        self.verdict_has_level.next = self.s3_has_level.q.val();
        self.verdict_level.next = self.s3_level.q.val();
        self.verdict_slot.next = self.slots.slot.val();
        self.verdict_generation.next = self.slots.generation.val();

        // counts, by action code
        for k in 0..7 {
            self.counts[k].clock.next = self.clock.val();
            self.counts[k].d.next = self.counts[k].q.val();
        }
        for k in 0..5 {
            if self.s3_request.q.val() & (self.s3_action.q.val().index() == k) {
                self.counts[k].d.next = self.counts[k].q.val() + 1;
            }
        }
        if self.slots.stale.val() {
            self.counts[5].d.next = self.counts[5].q.val() + 1;
        }
        if self.is_request.val() {
            self.counts[6].d.next = self.counts[6].q.val() + 1;
        }
        self.admit_count.next = self.counts[0].q.val();
        self.refuse_count.next = self.counts[1].q.val();
        self.reject_count.next = self.counts[2].q.val();
        self.pass_count.next = self.counts[3].q.val();
        self.punt_count.next = self.counts[4].q.val();
        self.stale_release_count.next = self.counts[5].q.val();
        self.in_count.next = self.counts[6].q.val();

        if self.reset.val() {
            self.s1_request.d.next = false;
            self.s2_request.d.next = false;
            self.s3_request.d.next = false;
            for k in 0..7 {
                self.counts[k].d.next = 0.into();
            }
        }
    }
}
