//! The burst scheduler with its arbiter and its timer: inputs in any clock, events and verdicts out.
//!
//! Its page is `README.md` in this folder.
mod arbiter;

pub use arbiter::Arbiter;

use crate::burst::{self, Burst};
use crate::timer::Timer;
use rust_hdl::prelude::*;

/// Clocks from an input that is taken to its event.
pub const EVENT_CLOCKS: u32 = 1;
/// Clocks from a record that is taken to its verdict.
pub const LATENCY_CLOCKS: u32 = EVENT_CLOCKS + burst::LATENCY_CLOCKS;
/// Clocks that a record waits for its place in the six, at most, while nothing else stands at the inputs.
pub const WAIT_CLOCKS_MAX: u32 = burst::INTERVAL_CLOCKS - 1;

/// The scheduler of profile `proof`.
pub type ProofScheduler = Scheduler<4, 2, 3, 1, 3, 2, 3, 1, 0>;
/// The scheduler of profile `board`.
pub type BoardScheduler = Scheduler<8, 3, 8, 5, 6, 8, 10, 3, 2>;
/// The scheduler of profile `fleet`.
pub type FleetScheduler = Scheduler<64, 6, 14, 8, 10, 8, 12, 3, 8>;

/// The block; its parameters are those of the timer.
#[derive(LogicBlock, Default)]
pub struct Scheduler<
    const N: usize,
    const B: usize,
    const S: usize,
    const C: usize,
    const H: usize,
    const T: usize,
    const K: usize,
    const P: usize,
    const Q: usize,
> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Back to the state after reset; what was configured stays. No input is taken for `2^(K + 1)` clocks.
    pub reset: Signal<In, Bit>,
    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address, by `forebay_spec::burst::word` and `forebay_spec::config::THRESHOLD`.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,

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
    /// A tick stands at the input.
    pub tick_valid: Signal<In, Bit>,
    /// It is taken; never if the timer makes its own.
    pub tick_ready: Signal<Out, Bit>,
    /// Milliseconds since the last one.
    pub tick_elapsed_ms: Signal<In, Bits<16>>,
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

    /// There is an event, for this one clock.
    pub event_valid: Signal<Out, Bit>,
    /// Its input, as the place in `INPUT_ORDER`.
    pub event_kind: Signal<Out, Bits<3>>,
    /// Events before this one since reset.
    pub event_seq: Signal<Out, Bits<32>>,
    /// Milliseconds since reset, a tick included.
    pub event_now_ms: Signal<Out, Bits<32>>,
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

    /// There is a verdict, for this one clock.
    pub verdict_valid: Signal<Out, Bit>,
    /// It is of a held request that made room for the one of the clock before.
    pub verdict_evicted: Signal<Out, Bit>,
    /// `seq` of the event that it answers.
    pub verdict_seq: Signal<Out, Bits<32>>,
    /// Connection of the request.
    pub verdict_connection: Signal<Out, Bits<16>>,
    /// Position of the request in its connection.
    pub verdict_index: Signal<Out, Bits<16>>,
    /// Code of the action.
    pub verdict_action: Signal<Out, Bits<3>>,
    /// Code of the reason; 0 where there is none.
    pub verdict_reason: Signal<Out, Bits<5>>,
    /// The verdict has a level.
    pub verdict_has_level: Signal<Out, Bit>,
    /// Level.
    pub verdict_level: Signal<Out, Bits<3>>,
    /// Of an admit: the node.
    pub verdict_node: Signal<Out, Bits<6>>,
    /// Of an admit or a lost one: the slot; of a hold: the entry.
    pub verdict_slot: Signal<Out, Bits<16>>,
    /// Generation of slot or entry.
    pub verdict_generation: Signal<Out, Bits<8>>,
    /// Of an admit: not the node whose turn it was.
    pub verdict_redirected: Signal<Out, Bit>,
    /// Of an admit: time in the hold buffer.
    pub verdict_held_ms: Signal<Out, Bits<17>>,
    /// Of a refusal: when to come back.
    pub verdict_retry_after_ms: Signal<Out, Bits<16>>,
    /// Of a refusal: requests that the tenant may have in flight.
    pub verdict_recommended: Signal<Out, Bits<16>>,

    /// Releases that changed nothing.
    pub stale_release_count: Signal<Out, Bits<32>>,
    /// Changes of nodes that are not there.
    pub stale_node_count: Signal<Out, Bits<32>>,

    arbiter: Arbiter,
    timer: Timer<N, B, S, C, H, T, K, P, Q>,
    burst: Burst<N, B, S, C, H, T, K>,
}

impl<
        const N: usize,
        const B: usize,
        const S: usize,
        const C: usize,
        const H: usize,
        const T: usize,
        const K: usize,
        const P: usize,
        const Q: usize,
    > Logic for Scheduler<N, B, S, C, H, T, K, P, Q>
{
    // tidy: long because it joins the ports of three parts
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, arbiter, timer, burst);
        self.arbiter.reset.next = self.reset.val();
        self.timer.reset.next = self.reset.val();
        self.burst.reset.next = self.reset.val();
        self.timer.cfg_valid.next = self.cfg_valid.val();
        self.timer.cfg_address.next = self.cfg_address.val();
        self.timer.cfg_data.next = self.cfg_data.val();
        self.burst.cfg_valid.next = self.cfg_valid.val();
        self.burst.cfg_address.next = self.cfg_address.val();
        self.burst.cfg_data.next = self.cfg_data.val();

        // what comes from outside
        self.arbiter.node_valid.next = self.node_valid.val();
        self.node_ready.next = self.arbiter.node_ready.val();
        self.arbiter.node_number.next = self.node_number.val();
        self.arbiter.node_code.next = self.node_code.val();
        self.arbiter.node_percent.next = self.node_percent.val();
        self.arbiter.release_valid.next = self.release_valid.val();
        self.release_ready.next = self.arbiter.release_ready.val();
        self.arbiter.release_slot.next = self.release_slot.val();
        self.arbiter.release_generation.next = self.release_generation.val();
        self.arbiter.release_kind.next = self.release_kind.val();
        self.arbiter.release_output_tokens.next = self.release_output_tokens.val();
        self.timer.tick_valid.next = self.tick_valid.val();
        self.tick_ready.next = self.timer.tick_ready.val();
        self.timer.tick_elapsed_ms.next = self.tick_elapsed_ms.val();
        self.arbiter.switch_valid.next = self.switch_valid.val();
        self.switch_ready.next = self.arbiter.switch_ready.val();
        self.arbiter.switch_bank.next = self.switch_bank.val();
        self.arbiter.punt_valid.next = self.punt_valid.val();
        self.punt_ready.next = self.arbiter.punt_ready.val();
        self.arbiter.punt_record.next = self.punt_record.val();
        self.arbiter.record_valid.next = self.record_valid.val();
        self.record_ready.next = self.arbiter.record_ready.val();
        self.arbiter.record.next = self.record.val();

        // what the timer makes
        self.arbiter.ms_valid.next = self.timer.ms_valid.val();
        self.arbiter.ms_elapsed.next = self.timer.ms_elapsed.val();
        self.timer.ms_ready.next = self.arbiter.ms_ready.val();
        self.arbiter.visit_valid.next = self.timer.visit_valid.val();
        self.arbiter.visit_code.next = self.timer.visit_code.val();
        self.arbiter.visit_index.next = self.timer.visit_index.val();
        self.timer.visit_ready.next = self.arbiter.visit_ready.val();
        self.arbiter.bind_valid.next = self.timer.bind_valid.val();
        self.arbiter.bind_pool.next = self.timer.bind_pool.val();
        self.timer.bind_ready.next = self.arbiter.bind_ready.val();
        self.timer.binds_due.next = self.burst.binds_due.val();
        self.timer.open.next = self.arbiter.open.val();
        self.timer.now_ms.next = self.arbiter.now_ms.val();
        self.timer.event_valid.next = self.arbiter.event_valid.val();
        self.timer.event_kind.next = self.arbiter.event_kind.val();
        self.timer.event_code.next = self.arbiter.event_code.val();
        self.timer.event_node.next = self.arbiter.event_node.val();

        // events are logged and decided
        self.arbiter.burst_ready.next = self.burst.event_ready.val();
        self.event_valid.next = self.arbiter.event_valid.val();
        self.event_kind.next = self.arbiter.event_kind.val();
        self.event_seq.next = self.arbiter.event_seq.val();
        self.event_now_ms.next = self.arbiter.now_ms.val();
        self.event_node.next = self.arbiter.event_node.val();
        self.event_code.next = self.arbiter.event_code.val();
        self.event_percent.next = self.arbiter.event_percent.val();
        self.event_slot.next = self.arbiter.event_slot.val();
        self.event_generation.next = self.arbiter.event_generation.val();
        self.event_output_tokens.next = self.arbiter.event_output_tokens.val();
        self.event_elapsed_ms.next = self.arbiter.event_elapsed_ms.val();
        self.event_bank.next = self.arbiter.event_bank.val();
        self.event_record.next = self.arbiter.event_record.val();
        self.event_wait_clocks.next = self.arbiter.event_wait_clocks.val();
        self.burst.event_valid.next = self.arbiter.event_valid.val();
        self.burst.event_kind.next = self.arbiter.event_kind.val();
        self.burst.event_seq.next = self.arbiter.event_seq.val();
        self.burst.event_now_ms.next = self.arbiter.now_ms.val();
        self.burst.event_node.next = self.arbiter.event_node.val();
        self.burst.event_code.next = self.arbiter.event_code.val();
        self.burst.event_percent.next = self.arbiter.event_percent.val();
        self.burst.event_slot.next = self.arbiter.event_slot.val();
        self.burst.event_generation.next = self.arbiter.event_generation.val();
        self.burst.event_output_tokens.next = self.arbiter.event_output_tokens.val();
        self.burst.event_record.next = self.arbiter.event_record.val();
        self.verdict_valid.next = self.burst.verdict_valid.val();
        self.verdict_evicted.next = self.burst.verdict_evicted.val();
        self.verdict_seq.next = self.burst.verdict_seq.val();
        self.verdict_connection.next = self.burst.verdict_connection.val();
        self.verdict_index.next = self.burst.verdict_index.val();
        self.verdict_action.next = self.burst.verdict_action.val();
        self.verdict_reason.next = self.burst.verdict_reason.val();
        self.verdict_has_level.next = self.burst.verdict_has_level.val();
        self.verdict_level.next = self.burst.verdict_level.val();
        self.verdict_node.next = self.burst.verdict_node.val();
        self.verdict_slot.next = self.burst.verdict_slot.val();
        self.verdict_generation.next = self.burst.verdict_generation.val();
        self.verdict_redirected.next = self.burst.verdict_redirected.val();
        self.verdict_held_ms.next = self.burst.verdict_held_ms.val();
        self.verdict_retry_after_ms.next = self.burst.verdict_retry_after_ms.val();
        self.verdict_recommended.next = self.burst.verdict_recommended.val();
        self.stale_release_count.next = self.burst.stale_release_count.val();
        self.stale_node_count.next = self.burst.stale_node_count.val();
    }
}
