//! The core: payload of connections in, verdicts out; see the page beside this file.
mod banks;

pub use banks::{BanksInUse, LINGER_CLOCKS};

use crate::arbiter::{self, Arbiter};
use crate::http::Http;
use crate::leaf::{Fifo, FIFO_LATENCY_CLOCKS};
use crate::router::{class_waits, model_waits, Router};
use crate::verdict::{self, Verdict};
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::layout::{RECORD, RECORD_BITS};
use forebay_spec::limits::{Profile, BOARD, FLEET, PROOF, RECORD_PATTERN_CLOCKS, VERDICT_CLOCKS_MAX};
use rust_hdl::prelude::*;

/// Clocks from a record to its verdict while nothing else waits.
pub const VERDICT_LATENCY_CLOCKS: u32 = FIFO_LATENCY_CLOCKS + verdict::LATENCY_CLOCKS;
/// Clocks from a record to its event while nothing else waits.
pub const EVENT_LATENCY_CLOCKS: u32 = FIFO_LATENCY_CLOCKS + arbiter::LATENCY_CLOCKS;

const _: () = assert!(VERDICT_LATENCY_CLOCKS <= VERDICT_CLOCKS_MAX);
// Between `http` and the queue of records there are fewer beats than words that the queue keeps free.
const _: () = assert!(RECORD_PATTERN_CLOCKS + 4 <= RECORDS_FREE);
// A bank is in use while a record of it is on its way to the queue, or from there to its verdict.
const _: () = assert!(RECORD_PATTERN_CLOCKS + 4 <= LINGER_CLOCKS && VERDICT_LATENCY_CLOCKS + 4 <= LINGER_CLOCKS);
// Where the bank stands in a record.
const _: () = assert!(RECORD[8].offset == 59);
/// Words that the queue of records still has when `http` is told to pause.
const RECORDS_FREE: u32 = 40;

/// Profile `board`, 8 bytes a clock.
pub type BoardCore8 = Core<8, 64, 8, 7, 7, { model_waits(8) }, { class_waits(8) }, 9, 10, 472, 8, 9, 16>;
/// Profile `fleet`, 64 bytes a clock.
pub type FleetCore64 = Core<64, 512, 10, 7, 7, { model_waits(64) }, { class_waits(64) }, 11, 12, 2008, 14, 15, 22>;
/// Profile `proof`, 8 bytes a clock.
pub type ProofCore8 = Core<8, 64, 2, 6, 6, { model_waits(8) }, { class_waits(8) }, 6, 7, 24, 3, 4, 11>;

const _: () = assert!(BOARD.connections == 1 << 8 && BOARD.slots == 1 << 8 && 512 - 472 == RECORDS_FREE);
const _: () = assert!(FLEET.connections == 1 << 10 && FLEET.slots == 1 << 14 && 2048 - 2008 == RECORDS_FREE);
const _: () = assert!(PROOF.connections == 1 << 2 && PROOF.slots == 1 << 3 && 64 - 24 == RECORDS_FREE);

/// Profiles that the core is built for.
pub const PROFILES: [Profile; 3] = [BOARD, FLEET, PROOF];

/// The core. `W` bytes a beat, `B` is `8 * W`, `A` that of a connection number; `PS`, `PQ`, `M` and `C` are those of
/// the router; the queue of records has `1 << FA` words, `FC` is `FA + 1`, `FT` its threshold; there are `1 << VA` slots,
/// `VC` is `VA + 1`, `VF` is `VA + 8`.
#[derive(LogicBlock, Default)]
pub struct Core<
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
> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high. Tables stay as they were configured.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written; into the bank that no request in flight has.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address, by `spec::config`.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// There is a beat at the input.
    pub s_valid: Signal<In, Bit>,
    /// It is taken.
    pub s_ready: Signal<Out, Bit>,
    /// Bytes of the connection's stream, first one lowest.
    pub s_data: Signal<In, Bits<B>>,
    /// How many there are, 0 to `W`.
    pub s_count: Signal<In, Bits<7>>,
    /// Connection.
    pub s_connection: Signal<In, Bits<A>>,
    /// First beat of a new connection.
    pub s_start: Signal<In, Bit>,
    /// The connection ends; only on a beat without bytes.
    pub s_close: Signal<In, Bit>,
    /// On a beat without bytes: 1 switches to the bank of `s_bank`, 2 ends the requests of that bank, 3 gives the
    /// connection up.
    pub s_command: Signal<In, Bits<2>>,
    /// The bank.
    pub s_bank: Signal<In, Bit>,
    /// Why it is given up, by `spec::PuntReason`.
    pub s_reason: Signal<In, Bits<5>>,
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
    http: Http<W, B, A>,
    router: Router<W, B, A, PS, PQ, M, C>,
    records: Fifo<RECORD_BITS, FA, FC, FT>,
    arbiter: Arbiter,
    verdict: Verdict<VA, VC, VF>,
    banks: BanksInUse,
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
    > Logic for Core<W, B, A, PS, PQ, M, C, FA, FC, FT, VA, VC, VF>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, http, router, records, arbiter, verdict, banks);
        self.http.reset.next = self.reset.val();
        self.router.reset.next = self.reset.val();
        self.records.reset.next = self.reset.val();
        self.arbiter.reset.next = self.reset.val();
        self.verdict.reset.next = self.reset.val();
        self.banks.reset.next = self.reset.val();
        self.http.cfg_valid.next = self.cfg_valid.val();
        self.http.cfg_address.next = self.cfg_address.val();
        self.http.cfg_data.next = self.cfg_data.val();
        self.router.cfg_valid.next = self.cfg_valid.val();
        self.router.cfg_address.next = self.cfg_address.val();
        self.router.cfg_data.next = self.cfg_data.val();
        self.verdict.cfg_valid.next = self.cfg_valid.val();
        self.verdict.cfg_address.next = self.cfg_address.val();
        self.verdict.cfg_data.next = self.cfg_data.val();
        // payload in
        self.http.s_valid.next = self.s_valid.val();
        self.http.s_data.next = self.s_data.val();
        self.http.s_count.next = self.s_count.val();
        self.http.s_connection.next = self.s_connection.val();
        self.http.s_start.next = self.s_start.val();
        self.http.s_close.next = self.s_close.val();
        self.http.s_command.next = self.s_command.val();
        self.http.s_bank.next = self.s_bank.val();
        self.http.s_reason.next = self.s_reason.val();
        self.s_ready.next = self.http.s_ready.val();
        self.http.pause.next = self.records.almost_full.val();
        self.paused.next = self.records.almost_full.val();
        // bodies to their fields
        self.router.valid.next = self.http.m_valid.val();
        self.router.first.next = self.http.m_first.val();
        self.router.last.next = self.http.m_last.val();
        self.router.connection.next = self.http.m_connection.val();
        self.router.bank.next = self.http.m_bank.val();
        self.router.data.next = self.http.m_data.val();
        self.router.keep.next = self.http.m_keep.val();
        self.router.head.next = self.http.m_head.val();
        self.scan_valid.next = self.http.m_valid.val();
        self.scan_last.next = self.http.m_valid.val() & self.http.m_last.val();
        // records wait their turn
        self.record_valid.next = self.router.record_valid.val();
        self.records.write.next = self.router.record_valid.val();
        self.records.data_in.next = self.router.record.val();
        self.records.read.next = self.arbiter.record_ready.val();
        self.arbiter.record_valid.next = self.records.valid.val();
        self.arbiter.record.next = self.records.data_out.val();
        self.banks.requests.next = self.http.bank_busy.val();
        self.banks.write.next = self.router.record_valid.val();
        self.banks.write_bank.next = self.router.record.val().get_bit(59);
        self.banks.read.next = self.records.valid.val() & self.arbiter.record_ready.val();
        self.banks.read_bank.next = self.records.data_out.val().get_bit(59);
        self.bank_busy.next = self.banks.in_use.val();
        self.working.next = self.http.working.val();
        self.arbiter.release_valid.next = self.release_valid.val();
        self.arbiter.release_slot.next = self.release_slot.val();
        self.arbiter.release_generation.next = self.release_generation.val();
        self.arbiter.release_kind.next = self.release_kind.val();
        self.arbiter.tick_valid.next = self.tick_valid.val();
        self.arbiter.tick_elapsed_ms.next = self.tick_elapsed_ms.val();
        self.arbiter.switch_valid.next = self.switch_valid.val();
        self.arbiter.switch_bank.next = self.switch_bank.val();
        self.switch_ready.next = self.arbiter.switch_ready.val();
        self.arbiter.punt_valid.next = self.punt_valid.val();
        self.arbiter.punt_record.next = self.punt_record.val();
        self.release_ready.next = self.arbiter.release_ready.val();
        self.tick_ready.next = self.arbiter.tick_ready.val();
        self.punt_ready.next = self.arbiter.punt_ready.val();
        // events are logged and decided
        self.event_valid.next = self.arbiter.event_valid.val();
        self.event_kind.next = self.arbiter.event_kind.val();
        self.event_seq.next = self.arbiter.event_seq.val();
        self.event_now_ms.next = self.arbiter.event_now_ms.val();
        self.event_slot.next = self.arbiter.event_slot.val();
        self.event_generation.next = self.arbiter.event_generation.val();
        self.event_release_kind.next = self.arbiter.event_release_kind.val();
        self.event_elapsed_ms.next = self.arbiter.event_elapsed_ms.val();
        self.event_bank.next = self.arbiter.event_bank.val();
        self.event_record.next = self.arbiter.event_record.val();
        self.event_wait_clocks.next = self.arbiter.event_wait_clocks.val();
        self.verdict.event_valid.next = self.arbiter.event_valid.val();
        self.verdict.event_kind.next = self.arbiter.event_kind.val();
        self.verdict.event_seq.next = self.arbiter.event_seq.val();
        self.verdict.event_slot.next = self.arbiter.event_slot.val();
        self.verdict.event_generation.next = self.arbiter.event_generation.val();
        self.verdict.event_record.next = self.arbiter.event_record.val();
        self.verdict_valid.next = self.verdict.verdict_valid.val();
        self.verdict_seq.next = self.verdict.verdict_seq.val();
        self.verdict_connection.next = self.verdict.verdict_connection.val();
        self.verdict_index.next = self.verdict.verdict_index.val();
        self.verdict_action.next = self.verdict.verdict_action.val();
        self.verdict_reason.next = self.verdict.verdict_reason.val();
        self.verdict_has_level.next = self.verdict.verdict_has_level.val();
        self.verdict_level.next = self.verdict.verdict_level.val();
        self.verdict_slot.next = self.verdict.verdict_slot.val();
        self.verdict_generation.next = self.verdict.verdict_generation.val();
        self.in_count.next = self.verdict.in_count.val();
        self.admit_count.next = self.verdict.admit_count.val();
        self.refuse_count.next = self.verdict.refuse_count.val();
        self.reject_count.next = self.verdict.reject_count.val();
        self.pass_count.next = self.verdict.pass_count.val();
        self.punt_count.next = self.verdict.punt_count.val();
        self.stale_release_count.next = self.verdict.stale_release_count.val();
    }
}
