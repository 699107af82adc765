//! Ethernet frames in, verdicts out: `inline` in front of `core`; see the page beside this file.
mod handover;

pub use handover::{Handover, COMMAND_CLOCKS, HANDOVER_CLOCKS};

use crate::core::{Core, VERDICT_LATENCY_CLOCKS};
use crate::frame::TUPLE_BITS;
use crate::http;
use crate::inline::{Inline, FIRST_BEAT_CLOCKS};
use crate::router::{class_waits, model_waits};
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::layout::RECORD_BITS;
use forebay_spec::limits::RECORD_CLOCKS;
use rust_hdl::prelude::*;

/// Clocks from the last beat of a frame with IPv4 without tags and options to the first beat of its payload at `http`,
/// while nothing else is under way.
pub const PAYLOAD_CLOCKS: usize = FIRST_BEAT_CLOCKS + HANDOVER_CLOCKS;
/// Clocks from the last beat of such a frame, if it holds a whole request without a credential, to the verdict; beside one
/// for each lane of 8 bytes of the header and one for each beat with bytes of the body.
pub const REQUEST_CLOCKS: usize = PAYLOAD_CLOCKS
    + http::VERDICT_CLOCKS as usize
    + http::LATENCY_CLOCKS as usize
    + RECORD_CLOCKS as usize
    + VERDICT_LATENCY_CLOCKS as usize
    - 1;

/// Profile `board`, 8 bytes a clock, 16 KiB of frames.
pub type BoardFront8 = Front<8, 64, 8, 7, 7, { model_waits(8) }, { class_waits(8) }, 9, 10, 472, 8, 9, 16, 11, 12, 11>;
/// Profile `fleet`, 64 bytes a clock, 32 KiB of frames.
pub type FleetFront64 =
    Front<64, 512, 10, 7, 7, { model_waits(64) }, { class_waits(64) }, 11, 12, 2008, 14, 15, 22, 9, 10, 13>;

/// The front. `D`, `P` and `R` are those of `Inline`, all others those of `Core`; `W`, `B` and `A` those of both.
#[derive(LogicBlock, Default)]
pub struct Front<
    const W: usize,
    const B: usize,
    const A: usize,
    const PS: usize,
    const PQ: usize,
    const M: usize,
    const C: usize,
    const FA: usize,
    const FC: usize,
    const FT: usize,
    const VA: usize,
    const VC: usize,
    const VF: usize,
    const D: usize,
    const P: usize,
    const R: usize,
> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high, for both. Tables and configuration stay.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written, of either; of a bank only while `bank_busy` does not show it.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address, by `spec::config` and `spec::frame::word`.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// There is a beat of a frame.
    pub f_valid: Signal<In, Bit>,
    /// It is taken; always set.
    pub f_ready: Signal<Out, Bit>,
    /// Bytes of the frame, first one lowest.
    pub f_data: Signal<In, Bits<B>>,
    /// How many there are: `W`, or 1 to `W` in the last beat.
    pub f_count: Signal<In, Bits<7>>,
    /// Last beat of the frame.
    pub f_last: Signal<In, Bit>,
    /// Time has passed. What follows from it is done when it is taken.
    pub t_valid: Signal<In, Bit>,
    /// It is taken.
    pub t_ready: Signal<Out, Bit>,
    /// Milliseconds.
    pub t_elapsed: Signal<In, Bits<16>>,
    /// The host gives a connection back.
    pub u_valid: Signal<In, Bit>,
    /// It is taken; `connection_counts` says later whether it was in time.
    pub u_ready: Signal<Out, Bit>,
    /// The connection.
    pub u_connection: Signal<In, Bits<A>>,
    /// Its generation.
    pub u_generation: Signal<In, Bits<8>>,
    /// Where its next request begins.
    pub u_seq: Signal<In, Bits<32>>,
    /// There is something to tell the host.
    pub h_valid: Signal<Out, Bit>,
    /// It is taken.
    pub h_ready: Signal<In, Bit>,
    /// 0 opened, 1 given up, 2 closed.
    pub h_kind: Signal<Out, Bits<2>>,
    /// The connection.
    pub h_connection: Signal<Out, Bits<A>>,
    /// Its generation.
    pub h_generation: Signal<Out, Bits<8>>,
    /// Opened: whose it is, see `forebay_spec::frame::Tuple::bytes`, first byte lowest.
    pub h_tuple: Signal<Out, Bits<TUPLE_BITS>>,
    /// Given up: code of the `PuntReason`; closed: code of the `CloseCause`.
    pub h_why: Signal<Out, Bits<5>>,
    /// Given up: sequence number of the first byte that was not passed on.
    pub h_seq: Signal<Out, Bits<32>>,
    /// A segment is decided; one clock, in the order of segments.
    pub e_valid: Signal<Out, Bit>,
    /// Code of the `FrameEnd`.
    pub e_end: Signal<Out, Bits<5>>,
    /// One clock each, lowest first: opened, evicted half open, expired half open, resumed, stale resume.
    pub connection_counts: Signal<Out, Bits<5>>,
    /// A frame ends here and is no segment; one clock, in the order of the frames.
    pub x_valid: Signal<Out, Bit>,
    /// Code of the `FrameEnd`.
    pub x_end: Signal<Out, Bits<5>>,
    /// A frame has ended for which there was no room; one clock.
    pub overrun: Signal<Out, Bit>,
    /// The host gives a command about a bank of tables.
    pub command_valid: Signal<In, Bit>,
    /// It is taken: it goes behind the beats of `inline` that were taken up to this clock, and before all others.
    pub command_ready: Signal<Out, Bit>,
    /// 1: requests whose first byte comes later are read by that bank; 2: its requests end. Nothing else.
    pub command: Signal<In, Bits<2>>,
    /// The bank.
    pub command_bank: Signal<In, Bit>,
    /// A release stands at the input.
    pub release_valid: Signal<In, Bit>,
    /// It is taken.
    pub release_ready: Signal<Out, Bit>,
    /// Slot to give back.
    pub release_slot: Signal<In, Bits<16>>,
    /// Generation that the verdict named.
    pub release_generation: Signal<In, Bits<8>>,
    /// Why, by `spec::ReleaseKind`.
    pub release_kind: Signal<In, Bits<2>>,
    /// A tick stands at the input.
    pub tick_valid: Signal<In, Bit>,
    /// It is taken.
    pub tick_ready: Signal<Out, Bit>,
    /// Milliseconds since the last one.
    pub tick_elapsed_ms: Signal<In, Bits<16>>,
    /// A switch of bundles stands at the input, to be logged.
    pub switch_valid: Signal<In, Bit>,
    /// It is taken.
    pub switch_ready: Signal<Out, Bit>,
    /// The bank.
    pub switch_bank: Signal<In, Bit>,
    /// A punt result stands at the input.
    pub punt_valid: Signal<In, Bit>,
    /// It is taken.
    pub punt_ready: Signal<Out, Bit>,
    /// The record that the exact software path made.
    pub punt_record: Signal<In, Bits<RECORD_BITS>>,
    /// There is an event, for one clock.
    pub event_valid: Signal<Out, Bit>,
    /// Its input, as the place in `spec::INPUT_ORDER`.
    pub event_kind: Signal<Out, Bits<3>>,
    /// Events before it since reset.
    pub event_seq: Signal<Out, Bits<32>>,
    /// Milliseconds since reset.
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
    pub event_record: Signal<Out, Bits<RECORD_BITS>>,
    /// Of a record: clocks that it stood at the arbiter.
    pub event_wait_clocks: Signal<Out, Bits<16>>,
    /// There is a verdict, for one clock.
    pub verdict_valid: Signal<Out, Bit>,
    /// `seq` of the event that it answers.
    pub verdict_seq: Signal<Out, Bits<32>>,
    /// Connection of the request.
    pub verdict_connection: Signal<Out, Bits<16>>,
    /// Position of the request in its connection.
    pub verdict_index: Signal<Out, Bits<16>>,
    /// What was decided, by `Action::code`.
    pub verdict_action: Signal<Out, Bits<3>>,
    /// Why; 0 where there is no reason.
    pub verdict_reason: Signal<Out, Bits<5>>,
    /// Admitted or refused: `level` counts.
    pub verdict_has_level: Signal<Out, Bit>,
    /// Level of the declared `max_tokens`.
    pub verdict_level: Signal<Out, Bits<3>>,
    /// Of an admitted request: its slot.
    pub verdict_slot: Signal<Out, Bits<16>>,
    /// Of an admitted request: the generation of its slot.
    pub verdict_generation: Signal<Out, Bits<8>>,
    /// Requests that verdicts were asked for.
    pub in_count: Signal<Out, Bits<32>>,
    /// Admitted.
    pub admit_count: Signal<Out, Bits<32>>,
    /// Refused.
    pub refuse_count: Signal<Out, Bits<32>>,
    /// Rejected.
    pub reject_count: Signal<Out, Bits<32>>,
    /// Passed.
    pub pass_count: Signal<Out, Bits<32>>,
    /// Punted.
    pub punt_count: Signal<Out, Bits<32>>,
    /// Releases that did not match.
    pub stale_release_count: Signal<Out, Bits<32>>,
    /// Banks whose tables are still read, a bit for each: from the first byte of a request to its verdict, and some
    /// clocks more.
    pub bank_busy: Signal<Out, Bits<2>>,
    /// `http` has beats on their way.
    pub working: Signal<Out, Bit>,
    /// `scan` takes a beat in this clock.
    pub scan_valid: Signal<Out, Bit>,
    /// It is the last of its request.
    pub scan_last: Signal<Out, Bit>,
    /// A record is made in this clock.
    pub record_valid: Signal<Out, Bit>,
    /// `http` pauses, as the queue of records is nearly full.
    pub paused: Signal<Out, Bit>,
    inlet: Inline<W, B, D, P, A, R>,
    handover: Handover<B, A>,
    core: Core<W, B, A, PS, PQ, M, C, FA, FC, FT, VA, VC, VF>,
}

impl<
        const W: usize,
        const B: usize,
        const A: usize,
        const PS: usize,
        const PQ: usize,
        const M: usize,
        const C: usize,
        const FA: usize,
        const FC: usize,
        const FT: usize,
        const VA: usize,
        const VC: usize,
        const VF: usize,
        const D: usize,
        const P: usize,
        const R: usize,
    > Logic for Front<W, B, A, PS, PQ, M, C, FA, FC, FT, VA, VC, VF, D, P, R>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, inlet, handover, core);
        self.inlet.reset.next = self.reset.val();
        self.handover.reset.next = self.reset.val();
        self.core.reset.next = self.reset.val();
        self.inlet.cfg_valid.next = self.cfg_valid.val();
        self.inlet.cfg_address.next = self.cfg_address.val();
        self.inlet.cfg_data.next = self.cfg_data.val();
        self.core.cfg_valid.next = self.cfg_valid.val();
        self.core.cfg_address.next = self.cfg_address.val();
        self.core.cfg_data.next = self.cfg_data.val();

        // frames, time, what the host gives back and is told
        self.inlet.f_valid.next = self.f_valid.val();
        self.f_ready.next = self.inlet.f_ready.val();
        self.inlet.f_data.next = self.f_data.val();
        self.inlet.f_count.next = self.f_count.val();
        self.inlet.f_last.next = self.f_last.val();
        self.inlet.t_valid.next = self.t_valid.val();
        self.t_ready.next = self.inlet.t_ready.val();
        self.inlet.t_elapsed.next = self.t_elapsed.val();
        self.inlet.u_valid.next = self.u_valid.val();
        self.u_ready.next = self.inlet.u_ready.val();
        self.inlet.u_connection.next = self.u_connection.val();
        self.inlet.u_generation.next = self.u_generation.val();
        self.inlet.u_seq.next = self.u_seq.val();
        self.h_valid.next = self.inlet.h_valid.val();
        self.inlet.h_ready.next = self.h_ready.val();
        self.h_kind.next = self.inlet.h_kind.val();
        self.h_connection.next = self.inlet.h_connection.val();
        self.h_generation.next = self.inlet.h_generation.val();
        self.h_tuple.next = self.inlet.h_tuple.val();
        self.h_why.next = self.inlet.h_why.val();
        self.h_seq.next = self.inlet.h_seq.val();
        self.e_valid.next = self.inlet.e_valid.val();
        self.e_end.next = self.inlet.e_end.val();
        self.connection_counts.next = self.inlet.counts.val();
        self.x_valid.next = self.inlet.x_valid.val();
        self.x_end.next = self.inlet.x_end.val();
        self.overrun.next = self.inlet.overrun.val();

        // payload and commands
        self.handover.s_valid.next = self.inlet.s_valid.val();
        self.inlet.s_ready.next = self.handover.s_ready.val();
        self.handover.s_data.next = self.inlet.s_data.val();
        self.handover.s_count.next = self.inlet.s_count.val();
        self.handover.s_connection.next = self.inlet.s_connection.val();
        self.handover.s_start.next = self.inlet.s_start.val();
        self.handover.s_close.next = self.inlet.s_close.val();
        self.handover.s_command.next = self.inlet.s_command.val();
        self.handover.s_reason.next = self.inlet.s_reason.val();
        self.handover.command_valid.next = self.command_valid.val();
        self.handover.command.next = self.command.val();
        self.handover.command_bank.next = self.command_bank.val();
        self.command_ready.next = self.handover.command_ready.val();
        self.core.s_valid.next = self.handover.m_valid.val();
        self.handover.m_ready.next = self.core.s_ready.val();
        self.core.s_data.next = self.handover.m_data.val();
        self.core.s_count.next = self.handover.m_count.val();
        self.core.s_connection.next = self.handover.m_connection.val();
        self.core.s_start.next = self.handover.m_start.val();
        self.core.s_close.next = self.handover.m_close.val();
        self.core.s_command.next = self.handover.m_command.val();
        self.core.s_reason.next = self.handover.m_reason.val();
        self.core.s_bank.next = self.handover.m_bank.val();

        // events and verdicts
        self.core.release_valid.next = self.release_valid.val();
        self.release_ready.next = self.core.release_ready.val();
        self.core.release_slot.next = self.release_slot.val();
        self.core.release_generation.next = self.release_generation.val();
        self.core.release_kind.next = self.release_kind.val();
        self.core.tick_valid.next = self.tick_valid.val();
        self.tick_ready.next = self.core.tick_ready.val();
        self.core.tick_elapsed_ms.next = self.tick_elapsed_ms.val();
        self.core.switch_valid.next = self.switch_valid.val();
        self.switch_ready.next = self.core.switch_ready.val();
        self.core.switch_bank.next = self.switch_bank.val();
        self.core.punt_valid.next = self.punt_valid.val();
        self.punt_ready.next = self.core.punt_ready.val();
        self.core.punt_record.next = self.punt_record.val();
        self.event_valid.next = self.core.event_valid.val();
        self.event_kind.next = self.core.event_kind.val();
        self.event_seq.next = self.core.event_seq.val();
        self.event_now_ms.next = self.core.event_now_ms.val();
        self.event_slot.next = self.core.event_slot.val();
        self.event_generation.next = self.core.event_generation.val();
        self.event_release_kind.next = self.core.event_release_kind.val();
        self.event_elapsed_ms.next = self.core.event_elapsed_ms.val();
        self.event_bank.next = self.core.event_bank.val();
        self.event_record.next = self.core.event_record.val();
        self.event_wait_clocks.next = self.core.event_wait_clocks.val();
        self.verdict_valid.next = self.core.verdict_valid.val();
        self.verdict_seq.next = self.core.verdict_seq.val();
        self.verdict_connection.next = self.core.verdict_connection.val();
        self.verdict_index.next = self.core.verdict_index.val();
        self.verdict_action.next = self.core.verdict_action.val();
        self.verdict_reason.next = self.core.verdict_reason.val();
        self.verdict_has_level.next = self.core.verdict_has_level.val();
        self.verdict_level.next = self.core.verdict_level.val();
        self.verdict_slot.next = self.core.verdict_slot.val();
        self.verdict_generation.next = self.core.verdict_generation.val();
        self.in_count.next = self.core.in_count.val();
        self.admit_count.next = self.core.admit_count.val();
        self.refuse_count.next = self.core.refuse_count.val();
        self.reject_count.next = self.core.reject_count.val();
        self.pass_count.next = self.core.pass_count.val();
        self.punt_count.next = self.core.punt_count.val();
        self.stale_release_count.next = self.core.stale_release_count.val();
        self.scan_valid.next = self.core.scan_valid.val();
        self.scan_last.next = self.core.scan_last.val();
        self.record_valid.next = self.core.record_valid.val();
        self.paused.next = self.core.paused.val();

        // a command that waits makes both banks busy, as one that `http` has taken does
        self.working.next = self.core.working.val() | self.handover.working.val();
        self.bank_busy.next = self.core.bank_busy.val();
        if self.handover.commands.val() {
            self.bank_busy.next = 3.into();
        }
    }
}
