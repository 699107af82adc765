//! Puts the TCP segments of connections in order: their payload for `http`, events for the host; see the page beside this file.
mod compare;
mod context;
mod decide;
mod find;
mod hash;
mod judge;
mod order;
mod send;

pub use compare::{Compare, RANGE_BITS};
pub use context::{ContextPack, ContextUnpack, CONTEXT_BITS};
pub use decide::{Decide, DECIDE_CLOCKS};
pub use find::{Find, FIND_CLOCKS};
pub use hash::{FlowHash, RangeHash, FLOW_HASH_CLOCKS, RANGE_HASH_CLOCKS};
pub use judge::Judge;
pub use order::{Order, ORDER_CLOCKS};
pub use send::Send;

use crate::frame::TUPLE_BITS;
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::frame::{word, IDLE_MIN_MS, IDLE_MS, RECORDS, RECORD_BYTES_BITS, TICK_STEP_MS_MAX, WINDOW_BITS};
use rust_hdl::prelude::*;

// numbers that the blocks write out
const _: () = assert!(RECORDS == 8 && RECORD_BYTES_BITS == 14 && WINDOW_BITS == 20 && TICK_STEP_MS_MAX == 32);
const _: () = assert!(word::FLOW_KEY == 68 && word::IDLE_MS == 72 && word::IDLE_MIN_MS == 73);
const _: () = assert!(IDLE_MS == 300_000 && IDLE_MIN_MS == 10_000);

/// Clocks from a segment that is shown, while nothing else is under way, to where it is taken,
pub const TAKEN_CLOCKS: usize = 8;
/// and to where it is decided, if it opens no connection and lies not behind.
pub const DECIDED_CLOCKS: usize = 27;
/// Clocks more for the one that opens a connection.
pub const OPEN_CLOCKS: usize = 4;
/// Clocks that a segment takes at least.
pub const SEGMENT_CLOCKS: usize = 10;
/// Clocks from one decision to the next if each goes alone.
pub const ALONE_CLOCKS: usize = 20;
/// Clocks that no segment of up to eight bytes goes beyond, whatever it repeats.
pub const REPEAT_CLOCKS_MAX: usize = 300;

/// The block: `B` is `8 * W`, `A` the width of a connection number, 2 to 12, and `R` is `A + 3`.
#[derive(LogicBlock, Default)]
pub struct Connection<const W: usize, const B: usize, const A: usize, const R: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high. No connection survives it; `2^A` clocks later the next segment is read.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// There is a segment, see `Frame`, as for all up to `p_last`.
    pub d_valid: Signal<In, Bit>,
    /// It is taken.
    pub d_ready: Signal<Out, Bit>,
    /// Its connection.
    pub d_tuple: Signal<In, Bits<TUPLE_BITS>>,
    /// Its sequence number.
    pub d_seq: Signal<In, Bits<32>>,
    /// FIN, SYN, RST, ACK, lowest first.
    pub d_flags: Signal<In, Bits<4>>,
    /// Bytes of its payload.
    pub d_bytes: Signal<In, Bits<14>>,
    /// A range of its payload is wanted:
    pub r_valid: Signal<Out, Bit>,
    /// it will come,
    pub r_ready: Signal<In, Bit>,
    /// bytes before it,
    pub r_skip: Signal<Out, Bits<14>>,
    /// its bytes, possibly none,
    pub r_bytes: Signal<Out, Bits<14>>,
    /// nothing more is wanted of this segment.
    pub r_last: Signal<Out, Bit>,
    /// There is a beat of a range.
    pub p_valid: Signal<In, Bit>,
    /// It is taken.
    pub p_ready: Signal<Out, Bit>,
    /// Bytes, first one lowest.
    pub p_data: Signal<In, Bits<B>>,
    /// How many.
    pub p_count: Signal<In, Bits<7>>,
    /// Last beat of the range.
    pub p_last: Signal<In, Bit>,
    /// Time has passed. What follows from it is done when it is taken.
    pub t_valid: Signal<In, Bit>,
    /// It is taken.
    pub t_ready: Signal<Out, Bit>,
    /// Milliseconds.
    pub t_elapsed: Signal<In, Bits<16>>,
    /// The host gives a connection back.
    pub u_valid: Signal<In, Bit>,
    /// It is taken; `counts` says later whether it was in time.
    pub u_ready: Signal<Out, Bit>,
    /// The connection.
    pub u_connection: Signal<In, Bits<A>>,
    /// Its generation.
    pub u_generation: Signal<In, Bits<8>>,
    /// Where its next request begins.
    pub u_seq: Signal<In, Bits<32>>,
    /// There is a beat for `http`.
    pub s_valid: Signal<Out, Bit>,
    /// It is taken.
    pub s_ready: Signal<In, Bit>,
    /// Bytes of the connection's stream, first one lowest.
    pub s_data: Signal<Out, Bits<B>>,
    /// How many there are, 0 to `W`.
    pub s_count: Signal<Out, Bits<7>>,
    /// Connection.
    pub s_connection: Signal<Out, Bits<A>>,
    /// A stream begins, with these bytes or with later ones.
    pub s_start: Signal<Out, Bit>,
    /// It ends; only on a beat without bytes.
    pub s_close: Signal<Out, Bit>,
    /// 0, or 3 on a beat without bytes: the connection is given up.
    pub s_command: Signal<Out, Bits<2>>,
    /// Why: code of the `PuntReason`.
    pub s_reason: Signal<Out, Bits<5>>,
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
    /// Opened: whose it is, see `d_tuple`.
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
    pub counts: Signal<Out, Bits<5>>,
    find: Find<A>,
    decide: Decide<A>,
    compare: Compare<A, R>,
    send: Send<W, B, A, R>,
    key: [DFF<Bits<32>>; 4],
    /// Differences from the defaults.
    idle_ms: DFF<Bits<20>>,
    idle_min_ms: DFF<Bits<20>>,
    key_1: Signal<Local, Bits<128>>,
    key_2: Signal<Local, Bits<128>>,
    key_3: Signal<Local, Bits<128>>,
    whole_key: Signal<Local, Bits<128>>,
}

impl<const W: usize, const B: usize, const A: usize, const R: usize> Logic for Connection<W, B, A, R> {
    // tidy: long because it joins the ports of four parts
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, idle_ms, idle_min_ms);
        clock!(self, clock, find, decide, compare, send);
        self.find.reset.next = self.reset.val();
        self.decide.reset.next = self.reset.val();
        self.compare.reset.next = self.reset.val();
        self.send.reset.next = self.reset.val();

        // configuration; bit 15 chooses a bank, and the host writes the same to both
        for i in 0..4 {
            self.key[i].clock.next = self.clock.val();
            self.key[i].d.next = self.key[i].q.val();
        }
        if self.cfg_valid.val() {
            match bit_cast::<15, ADDRESS_BITS>(self.cfg_address.val()).index() {
                68 => {
                    self.key[0].d.next = self.cfg_data.val();
                }
                69 => {
                    self.key[1].d.next = self.cfg_data.val();
                }
                70 => {
                    self.key[2].d.next = self.cfg_data.val();
                }
                71 => {
                    self.key[3].d.next = self.cfg_data.val();
                }
                72 => {
                    self.idle_ms.d.next = self.cfg_data.val().get_bits::<20>(0) ^ 300000;
                }
                73 => {
                    self.idle_min_ms.d.next = self.cfg_data.val().get_bits::<20>(0) ^ 10000;
                }
                _ => {}
            }
        }
        self.key_1.next = bit_cast::<128, 32>(self.key[1].q.val()) << 32;
        self.key_2.next = bit_cast::<128, 32>(self.key[2].q.val()) << 64;
        self.key_3.next = bit_cast::<128, 32>(self.key[3].q.val()) << 96;
        self.whole_key.next =
            bit_cast::<128, 32>(self.key[0].q.val()) | self.key_1.val() | self.key_2.val() | self.key_3.val();
        self.find.key.next = self.whole_key.val();
        self.send.key.next = self.whole_key.val();
        self.find.idle_ms.next = self.idle_ms.q.val() ^ 300000;
        self.find.idle_min_ms.next = self.idle_min_ms.q.val() ^ 10000;

        // the search
        self.find.d_valid.next = self.d_valid.val();
        self.d_ready.next = self.find.d_ready.val();
        self.find.d_tuple.next = self.d_tuple.val();
        self.find.d_seq.next = self.d_seq.val();
        self.find.d_flags.next = self.d_flags.val();
        self.find.d_bytes.next = self.d_bytes.val();
        self.find.t_valid.next = self.t_valid.val();
        self.t_ready.next = self.find.t_ready.val();
        self.find.t_elapsed.next = self.t_elapsed.val();
        self.find.u_valid.next = self.u_valid.val();
        self.u_ready.next = self.find.u_ready.val();
        self.find.u_connection.next = self.u_connection.val();
        self.find.u_generation.next = self.u_generation.val();
        self.find.u_seq.next = self.u_seq.val();
        self.find.pause.next = self.decide.pause.val();
        self.find.done.next = self.decide.done.val();
        self.find.write.next = self.decide.write.val();
        self.find.write_at.next = self.decide.write_at.val();
        self.find.write_state.next = self.decide.write_state.val();
        self.find.write_entry.next = self.decide.write_entry.val();
        self.find.write_used.next = self.decide.write_used.val();
        self.find.peek.next = self.decide.peek.val();
        self.find.peek_at.next = self.decide.at.val();
        self.find.r_take.next = self.decide.r_take.val();

        // the decision
        self.decide.r_valid.next = self.find.r_valid.val();
        self.decide.r_kind.next = self.find.r_kind.val();
        self.decide.r_seq.next = self.find.r_seq.val();
        self.decide.r_flags.next = self.find.r_flags.val();
        self.decide.r_bytes.next = self.find.r_bytes.val();
        self.decide.r_found.next = self.find.r_found.val();
        self.decide.r_at.next = self.find.r_at.val();
        self.decide.r_choice.next = self.find.r_choice.val();
        self.decide.r_age.next = self.find.r_age.val();
        self.decide.r_limit.next = self.find.r_limit.val();
        self.decide.peek_ready.next = self.find.peek_ready.val();
        self.decide.compare_done.next = self.compare.done.val();
        self.decide.compare_equal.next = self.compare.equal.val();
        self.decide.send_ready.next = self.send.ready.val();
        self.decide.send_idle.next = self.send.idle.val();
        self.e_valid.next = self.decide.e_valid.val();
        self.e_end.next = self.decide.e_end.val();
        self.counts.next = self.decide.counts.val();

        // ranges of payload: to be compared, or the last one of a segment
        self.compare.begin_compare.next = self.decide.begin_compare.val();
        self.compare.at.next = self.decide.at.val();
        self.compare.behind.next = self.decide.behind.val();
        self.compare.old.next = self.decide.old.val();
        self.compare.ranges.next = self.decide.ranges.val();
        self.compare.newest.next = self.decide.newest.val();
        self.compare.hash_valid.next = self.send.hash_valid.val();
        self.compare.hash.next = self.send.hash.val();
        self.compare.write.next = self.send.write.val();
        self.compare.write_at.next = self.send.write_at.val();
        self.compare.write_bytes.next = self.send.write_bytes.val();
        self.compare.write_hash.next = self.send.hash.val();
        self.compare.ask_ready.next = self.r_ready.val();
        self.decide.ask_ready.next = self.r_ready.val();
        self.r_valid.next = self.decide.ask_valid.val() | self.compare.ask_valid.val();
        self.r_last.next = self.decide.ask_valid.val();
        self.r_skip.next = self.compare.ask_skip.val();
        self.r_bytes.next = self.compare.ask_bytes.val();
        if self.decide.ask_valid.val() {
            self.r_skip.next = self.decide.ask_skip.val();
            self.r_bytes.next = self.decide.ask_bytes.val();
        }

        // what is sent
        self.send.only_hash.next = self.decide.comparing.val();
        self.send.p_valid.next = self.p_valid.val();
        self.p_ready.next = self.send.p_ready.val();
        self.send.p_data.next = self.p_data.val();
        self.send.p_count.next = self.p_count.val();
        self.send.p_last.next = self.p_last.val();
        self.send.load.next = self.decide.load.val();
        self.send.connection.next = self.decide.at.val();
        self.send.generation.next = self.decide.generation.val();
        self.send.begins.next = self.decide.begins.val();
        self.send.passes.next = self.decide.passes.val();
        self.send.bytes.next = self.decide.bytes.val();
        self.send.index.next = self.decide.index.val();
        self.send.gives_up.next = self.decide.gives_up.val();
        self.send.overlap.next = self.decide.overlap.val();
        self.send.seq.next = self.decide.next_seq.val();
        self.send.ends.next = self.decide.ends.val();
        self.send.tells.next = self.decide.tells.val();
        self.send.cause.next = self.decide.cause.val();
        self.s_valid.next = self.send.s_valid.val();
        self.send.s_ready.next = self.s_ready.val();
        self.s_data.next = self.send.s_data.val();
        self.s_count.next = self.send.s_count.val();
        self.s_connection.next = self.send.s_connection.val();
        self.s_start.next = self.send.s_start.val();
        self.s_close.next = self.send.s_close.val();
        self.s_command.next = self.send.s_command.val();
        self.s_reason.next = self.send.s_reason.val();

        // the host; nothing is being sent when a connection opens
        self.h_valid.next = self.send.h_valid.val() | self.decide.open_valid.val();
        self.send.h_ready.next = self.h_ready.val();
        self.decide.open_ready.next = self.h_ready.val();
        self.h_kind.next = self.send.h_kind.val();
        self.h_connection.next = self.send.h_connection.val();
        self.h_generation.next = self.send.h_generation.val();
        self.h_tuple.next = self.find.peek_tuple.val();
        self.h_why.next = self.send.h_why.val();
        self.h_seq.next = self.send.h_seq.val();
        if self.decide.open_valid.val() {
            self.h_kind.next = 0.into();
            self.h_connection.next = self.decide.at.val();
            self.h_generation.next = self.decide.generation.val();
        }
    }
}
